#include "tools/run_record.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "tools/compare_options.h"
#include "tools/output_file.h"
#include "tools/result_file.h"

namespace cnn {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int kSchemaVersion = 1;
constexpr const char* kKind = "cnn_compare run";

std::string RecordPath(const std::string& run_folder) {
  return (fs::path(run_folder) / "run.json").string();
}

Json ToJson(const SideRecord& side) {
  return {{"program", side.program},
          {"size", side.size},
          {"fnv1a", side.fingerprint},
          {"flags", side.flags}};
}

SideRecord SideFromJson(const Json& json) {
  return {json.at("program").get<std::string>(), json.at("size").get<std::uint64_t>(),
          json.at("fnv1a").get<std::uint64_t>(), json.at("flags").get<std::vector<std::string>>()};
}

RunRecord FromJson(const Json& json) {
  if (json.at("kind") != kKind || json.at("schema_version") != kSchemaVersion) {
    throw ReadError("it is of another kind or schema version");
  }
  RunRecord record;
  record.folder = json.at("folder").get<std::string>();
  record.rounds = json.at("rounds").get<std::size_t>();
  record.completed = json.at("completed").get<std::size_t>();
  record.base = SideFromJson(json.at("base"));
  record.contender = SideFromJson(json.at("new"));
  record.judgement = json.at("judgement").get<std::vector<std::string>>();
  return record;
}

}  // namespace

bool RunRecord::IsSameTwice() const {
  return base.size == contender.size && base.fingerprint == contender.fingerprint &&
         base.flags == contender.flags;
}

void Identify(SideRecord& side) {
  constexpr std::uint64_t kOffset = 14695981039346656037U;  // of FNV-1a
  constexpr std::uint64_t kPrime = 1099511628211U;
  std::ifstream in(side.program, std::ios::binary);
  if (!in) throw ReadError(side.program + ": cannot be read");
  side.size = 0;
  side.fingerprint = kOffset;
  std::array<char, 1 << 16> block{};
  while (in.read(block.data(), block.size()) || in.gcount() > 0) {
    const auto size = static_cast<std::size_t>(in.gcount());
    for (std::size_t i = 0; i < size; ++i) {
      side.fingerprint = (side.fingerprint ^ static_cast<unsigned char>(block[i])) * kPrime;
    }
    side.size += size;
  }
}

void WriteRunRecord(const RunRecord& record, const std::string& run_folder) {
  const Json json = {{"schema_version", kSchemaVersion}, {"kind", kKind},
                     {"folder", record.folder},          {"rounds", record.rounds},
                     {"completed", record.completed},    {"base", ToJson(record.base)},
                     {"new", ToJson(record.contender)},  {"judgement", record.judgement}};
  std::string text;
  try {
    text = json.dump(2) + '\n';
  } catch (const Json::exception&) {
    throw UsageError("a path or a flag is not UTF-8, and run.json could not repeat it");
  }
  WriteOutput(RecordPath(run_folder), [&](std::ostream& out) { out << text; });
}

RunRecord ReadRunRecord(const std::string& run_folder) {
  const std::string path = RecordPath(run_folder);
  std::ifstream in(path, std::ios::binary);
  if (!in) throw ReadError(path + ": cannot be read; DIR is the folder that cnn_compare run named");
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  try {
    return FromJson(Json::parse(text));
  } catch (const std::exception& error) {
    throw ReadError(path + ": no record of a run: " + error.what());
  }
}

std::string RunFile(const std::string& run_folder, const std::string& side, std::size_t round,
                    const std::string& extension) {
  std::string number = std::to_string(round);
  if (number.size() < 2) number.insert(0, "0");
  return (fs::path(run_folder) / (side + '-' + number + extension)).string();
}

bool HoldsResults(const std::string& run_folder) {
  std::error_code error;
  fs::directory_iterator entries(run_folder, error);
  return std::any_of(begin(entries), end(entries), [](const fs::directory_entry& entry) {
    const std::string name = entry.path().filename().string();
    return name == "run.json" || name.rfind("base-", 0) == 0 || name.rfind("new-", 0) == 0;
  });
}

}  // namespace cnn
