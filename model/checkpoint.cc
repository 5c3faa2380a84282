#include "model/checkpoint.h"

#include <ATen/ATen.h>
#include <fcntl.h>
#include <torch/serialize/archive.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "dataset/hash.h"
#include "dataset/replace_file.h"
#include "dataset/text.h"
#include "model/trainer.h"

namespace cnn {
namespace {

using nlohmann::json;

// Raised when the content changes its meaning.
constexpr int kFormat = 1;

using Tensors = c10::Dict<std::string, at::Tensor>;

struct Contents {
  CheckpointInfo info;
  std::int64_t optimizer_steps = 0;
  Tensors tensors;
};

// LibTorch does not check what it reads.
std::string Checksum(const std::string& info, const Tensors& tensors) {
  Fnv1a hash;
  hash.AddMemory(info.data(), info.size());
  for (const auto& entry : tensors) {
    const at::Tensor values = entry.value().contiguous();
    hash.AddMemory(values.data_ptr(), values.nbytes());
  }
  return std::to_string(hash.hash());
}

// Writes the archive, to the disk: a crash leaves the old file or the new one. LibTorch's writer
// ends the program when it cannot write, so it never learns of that.
void Save(torch::serialize::OutputArchive& archive, const std::string& path) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  int error = file < 0 ? errno : 0;
  archive.save_to([&](const void* data, std::size_t size) {
    const auto* bytes = static_cast<const char*>(data);
    for (std::size_t done = 0; error == 0 && done < size;) {
      const ssize_t written = write(file, bytes + done, size - done);
      if (written >= 0) {
        done += static_cast<std::size_t>(written);
      } else if (errno != EINTR) {
        error = errno;
      }
    }
    return size;
  });
  if (error == 0 && fsync(file) != 0) error = errno;
  if (file >= 0 && close(file) != 0 && error == 0) error = errno;
  if (error != 0) throw std::runtime_error(std::strerror(error));
}

Contents Read(const std::string& path) {
  if (access(path.c_str(), R_OK) != 0) {
    throw std::runtime_error("cannot read the checkpoint '" + path + "': " + std::strerror(errno));
  }
  try {
    torch::serialize::InputArchive archive;
    archive.load_from(path, at::kCPU);
    c10::IValue text, state, checksum;
    archive.read("info", text);
    archive.read("state", state);
    archive.read("checksum", checksum);
    Contents contents{
        {}, 0, c10::impl::toTypedDict<std::string, at::Tensor>(state.toGenericDict())};
    if (checksum.toStringRef() != Checksum(text.toStringRef(), contents.tensors)) {
      throw std::runtime_error("its checksum is wrong");
    }
    const json info = json::parse(text.toStringRef());
    if (info.at("format") != kFormat) {
      throw std::runtime_error("it is of another version of this program");
    }
    info.at("settings").get_to(contents.info.settings);
    info.at("conditions").get_to(contents.info.conditions);
    info.at("epochs").get_to(contents.info.epochs);
    info.at("results").get_to(contents.info.results);
    info.at("optimizer_steps").get_to(contents.optimizer_steps);
    return contents;
  } catch (const std::exception& error) {
    throw std::runtime_error("'" + path + "' is no checkpoint of this program, or damaged (" +
                             FirstLine(error.what()) + ")");
  }
}

}  // namespace

void WriteCheckpoint(const std::string& path, const CheckpointInfo& info, const Trainer& trainer) {
  const std::string text = json({{"format", kFormat},
                                 {"settings", info.settings},
                                 {"conditions", info.conditions},
                                 {"epochs", info.epochs},
                                 {"results", info.results},
                                 {"optimizer_steps", trainer.OptimizerSteps()}})
                               .dump();
  Tensors tensors;
  for (const auto& [name, tensor] : trainer.State()) {
    tensors.insert(name, tensor.detach().to(at::kCPU));
  }
  try {
    torch::serialize::OutputArchive archive;
    archive.write("info", text);
    archive.write("state", c10::IValue(tensors));
    archive.write("checksum", Checksum(text, tensors));
    ReplaceFile(path, [&](const std::string& file) { Save(archive, file); });
  } catch (const std::exception& error) {
    throw std::runtime_error("cannot write the checkpoint '" + path +
                             "': " + FirstLine(error.what()));
  }
}

CheckpointInfo ReadCheckpointInfo(const std::string& path) { return Read(path).info; }

CheckpointInfo RestoreCheckpoint(const std::string& path, Trainer& trainer) {
  const Contents contents = Read(path);
  const c10::NoGradGuard no_grad;
  const auto state = trainer.State();
  for (const auto& [name, tensor] : state) {
    const auto found = contents.tensors.find(name);
    if (found == contents.tensors.end() || found->value().sizes() != tensor.sizes()) {
      throw std::runtime_error("'" + path + "' is of another network: it has no " + name +
                               " of this shape");
    }
    tensor.detach().copy_(found->value());
  }
  if (state.size() != contents.tensors.size()) {
    throw std::runtime_error("'" + path + "' is of another network: it has more tensors");
  }
  trainer.SetOptimizerSteps(contents.optimizer_steps);
  return contents.info;
}

std::string DifferenceOf(const CheckpointKeys& there, const CheckpointKeys& here) {
  const auto value_of = [](const CheckpointKeys& keys, const std::string& key) -> std::string {
    for (const auto& [name, value] : keys) {
      if (name == key) return value.empty() ? "none" : value;
    }
    return "none";
  };
  CheckpointKeys all = here;
  all.insert(all.end(), there.begin(), there.end());
  for (const auto& entry : all) {
    const std::string& key = entry.first;
    const std::string mine = value_of(here, key);
    const std::string its = value_of(there, key);
    if (mine != its) return key + " is " + its + " there and " + mine + " here";
  }
  return "";
}

}  // namespace cnn
