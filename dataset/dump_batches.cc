// Writes an epoch's batches as NumPy files, so that they can be laid beside Keras's
// (tools/peers/keras_parity.py): OUT.images.npy, float32 [N, 3, side, side]; OUT.labels.npy, int64
// [N]; OUT.counts.npy, int64 [steps], the images of each batch. Exit code 1 on any error, 2 on bad
// usage.
#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "dataset/loader.h"

namespace {

using namespace cnn;

// NumPy's format 1.0: magic, version, length of the header, a Python dict padded to 64 bytes, data.
template <typename Value>
void WriteNpy(const std::string& path, const char* type, const std::string& shape,
              const std::vector<Value>& values) {
  std::string header =
      std::string("{'descr': '") + type + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  constexpr std::size_t kPrefix = 10;
  header.resize((kPrefix + header.size() + 64) / 64 * 64 - kPrefix, ' ');
  header.back() = '\n';
  std::ofstream file(path, std::ios::binary);
  file.write("\x93NUMPY\x01\x00", 8);
  file.put(static_cast<char>(header.size() & 255));
  file.put(static_cast<char>(header.size() >> 8));
  file << header;
  file.write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size() * sizeof(Value)));
  file.close();
  if (!file) throw std::runtime_error("cannot write '" + path + "'");
}

struct Flags {
  std::string data_dir, out;
  int side = 150;
  std::int64_t epoch = 0, steps = 1;
  LoaderOptions loader;
};

void Dump(const Flags& flags) {
  const ImageFolder folder = ScanImageFolder(flags.data_dir);
  const ImageSource source(folder, SourceKind::kFiles, flags.side);
  Loader loader(source, flags.loader);
  loader.StartEpoch(flags.epoch, flags.steps);
  std::vector<float> images;
  std::vector<std::int64_t> labels, counts;
  while (const Batch* batch = loader.Next()) {
    images.insert(images.end(), batch->images,
                  batch->images + batch->count * 3 * batch->side * batch->side);
    labels.insert(labels.end(), batch->labels, batch->labels + batch->count);
    counts.push_back(batch->count);
  }
  const std::string side = std::to_string(flags.side);
  WriteNpy(flags.out + ".images.npy", "<f4",
           std::to_string(labels.size()) + ", 3, " + side + ", " + side, images);
  WriteNpy(flags.out + ".labels.npy", "<i8", std::to_string(labels.size()) + ",", labels);
  WriteNpy(flags.out + ".counts.npy", "<i8", std::to_string(counts.size()) + ",", counts);
}

}  // namespace

int main(int argc, char** argv) {
  Flags flags;
  ScheduleOptions& schedule = flags.loader.schedule;
  flags.loader.bad_images = BadImages::kFail;
  CLI::App app("Writes the batches of an epoch as NumPy files.");
  app.add_option("--data_dir", flags.data_dir, "a folder of class folders")->required();
  app.add_option("--out", flags.out, "start of the three files' names")->required();
  app.add_option("--side", flags.side, "images are side x side")->capture_default_str();
  app.add_option("--epoch", flags.epoch)->capture_default_str();
  app.add_option("--steps", flags.steps, "batches")->capture_default_str();
  app.add_option("--batch_size", schedule.batch_size)->capture_default_str();
  app.add_option("--seed", schedule.seed)->capture_default_str();
  app.add_option("--workers", flags.loader.workers)->capture_default_str();
  app.add_option("--rng", schedule.stream, "keyed or keras")
      ->transform(CLI::CheckedTransformer(std::map<std::string, RandomStream>{
          {"keyed", RandomStream::kKeyed}, {"keras", RandomStream::kKeras}}));
  app.add_option("--keras_profile", schedule.augmentation.profile, "kp112 or keras_head")
      ->transform(CLI::CheckedTransformer(std::map<std::string, KerasProfile>{
          {"kp112", KerasProfile::kKp112}, {"keras_head", KerasProfile::kKerasHead}}));
  app.add_option("--rotation", schedule.augmentation.rotation_range, "degrees");
  app.add_option("--height_shift", schedule.augmentation.height_shift_range, "fraction");
  app.add_option("--width_shift", schedule.augmentation.width_shift_range, "fraction");
  app.add_option("--shear", schedule.augmentation.shear_range, "degrees");
  app.add_option("--zoom", schedule.augmentation.zoom_range, "fraction");
  app.add_flag("--horizontal_flip", schedule.augmentation.horizontal_flip);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    Dump(flags);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "dump_batches: %s\n", error.what());
    return dynamic_cast<const std::invalid_argument*>(&error) != nullptr ? 2 : 1;
  }
}
