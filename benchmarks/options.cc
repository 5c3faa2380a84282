#include "benchmarks/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>

#include "benchmarks/suite.h"
#include "benchmarks/version.h"
#include "fixtures/case.h"

namespace cnn {
namespace {

// Bounds that no sensible run reaches and no arithmetic of ours overflows at.
constexpr int kMaxThreads = 1024;
constexpr std::int64_t kMaxPixels = std::int64_t{1} << 30;  // OpenCV's own
constexpr double kMinHandicap = 0.001;
constexpr double kMaxHandicap = 10;

// The whole token as a number from [low, high].
template <typename Number>
Number ParseNumber(const std::string& flag, const std::string& text, Number low, Number high) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < low || value > high) {
    throw UsageError(flag + ": '" + text + "' is not a whole number from " + std::to_string(low) +
                     " to " + std::to_string(high));
  }
  return value;
}

double ParseShare(const std::string& flag, const std::string& text, double low, double high,
                  const std::string& hint) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_in_range = value >= low && value <= high;
  if (error != std::errc{} || end != text.data() + text.size() || !is_in_range) {
    throw UsageError(flag + ": '" + text + "' is not a share from " + ShareText(low) + " to " +
                     ShareText(high) + "; " + hint);
  }
  return value;
}

// A number from 1, or "seed".
std::int64_t ParseCount(const std::string& flag, const std::string& text, std::int64_t high) {
  if (text == "seed") return kPublished;
  return ParseNumber<std::int64_t>(flag + " (or 'seed')", text, 1, high);
}

std::string ParsePath(const std::string& flag, const std::string& text) {
  // "--checkpoint --resume" has forgotten it.
  if (text.empty() || text.rfind("--", 0) == 0) throw UsageError(flag + ": names no file");
  return text;
}

std::vector<std::string> SplitList(const std::string& flag, const std::string& text) {
  std::vector<std::string> items;
  std::size_t begin = 0;
  while (true) {
    const std::size_t comma = text.find(',', begin);
    items.push_back(text.substr(begin, comma - begin));
    if (items.back().empty()) throw UsageError(flag + ": empty item in '" + text + "'");
    if (comma == std::string::npos) return items;
    begin = comma + 1;
  }
}

// The items of a list, each parsed and each only once.
template <typename Item, typename Parse>
std::vector<Item> ParseList(const std::string& flag, const std::string& text, const Parse& parse) {
  std::vector<Item> items;
  for (const std::string& word : SplitList(flag, text)) {
    const Item item = parse(word);
    if (std::find(items.begin(), items.end(), item) != items.end()) {
      throw UsageError(flag + ": '" + word + "' is named twice");
    }
    items.push_back(item);
  }
  return items;
}

// The words of a flag with a few choices, the default first.
template <typename Value>
using Words = std::vector<std::pair<const char*, Value>>;

const Words<SourceKind> kSourceWords = {{"files", SourceKind::kFiles},
                                        {"bytes", SourceKind::kBytes},
                                        {"decoded", SourceKind::kDecoded}};
const Words<RandomStream> kStreamWords = {{"keyed", RandomStream::kKeyed},
                                          {"keras", RandomStream::kKeras}};
const Words<KerasProfile> kProfileWords = {{"kp112", KerasProfile::kKp112},
                                           {"keras_head", KerasProfile::kKerasHead}};
const Words<NetworkListing> kListingWords = {{"table", NetworkListing::kTable},
                                             {"json", NetworkListing::kJson}};
const Words<ShowProgress> kProgressWords = {
    {"auto", ShowProgress::kAuto}, {"on", ShowProgress::kOn}, {"off", ShowProgress::kOff}};
const Words<BadImages> kBadImagesWords = {{"skip", BadImages::kSkip}, {"fail", BadImages::kFail}};

template <typename Value>
Value ParseWord(const std::string& flag, const std::string& text, const Words<Value>& words) {
  std::string known;
  for (const auto& [word, value] : words) {
    if (text == word) return value;
    known += (known.empty() ? "" : ", ") + std::string(word);
  }
  throw UsageError(flag + ": '" + text + "' is none of " + known);
}

template <typename Value>
std::string WordOf(Value value, const Words<Value>& words) {
  for (const auto& [word, its_value] : words) {
    if (its_value == value) return word;
  }
  throw std::logic_error("a choice without a word");
}

void Declare(CLI::App& app, Options& options) {
  const auto declare = [&app](const std::string& flag, const std::string& kind,
                              const std::string& help, auto&& parse) {
    app.add_option_function<std::string>(flag, parse, help)->type_name(kind);
  };
  declare("--devices", "LIST", "cpu, cuda, cuda:N; default: every device that is present",
          [&](const std::string& text) {
            options.devices = ParseList<Device>("--devices", text, [](const std::string& word) {
              try {
                return ParseDevice(word);
              } catch (const std::invalid_argument& error) {
                throw UsageError(std::string("--devices: ") + error.what());
              }
            });
          });
  declare("--batches", "LIST", "batch sizes; default: the published ones, 32 and 20",
          [&](const std::string& text) {
            options.batches =
                ParseList<std::int64_t>("--batches", text, [](const std::string& word) {
                  return ParseNumber<std::int64_t>("--batches", word, 1, kMaxBatch);
                });
          });
  declare("--workers", "LIST",
          "loader threads of Pipeline, Epoch and Train, 0 for none; default: a few that fit the "
          "cores",
          [&](const std::string& text) {
            options.workers = ParseList<int>("--workers", text, [](const std::string& word) {
              return ParseNumber("--workers", word, 0, kMaxThreads);
            });
          });
  declare("--networks", "LIST",
          "of eight_kinds and dogs_vs_cats, or of those that --network has; default: all",
          [&](const std::string& text) {
            options.networks = ParseList<std::string>("--networks", text,
                                                      [](const std::string& word) { return word; });
          });
  declare("--network", "FILE.json",
          "networks of your own instead of the published ones: layers, loss, optimizer, input size "
          "and augmentation in the form of --print_networks=json",
          [&](const std::string& text) {
            if (text.empty()) throw UsageError("--network: names no file");
            options.network_file = text;
          });
  declare("--steps", "N|seed",
          "steps of an epoch; seed: as published (1000, 100); default: " +
              std::to_string(kDefaultSteps) + ", of Train " + std::to_string(kDefaultTrainSteps),
          [&](const std::string& text) { options.steps = ParseCount("--steps", text, kMaxSteps); });
  declare(
      "--epochs", "N|seed",
      "epochs of Train; seed: as published (5; 30 plain, 100 augmented); default: " +
          std::to_string(kDefaultTrainEpochs),
      [&](const std::string& text) { options.epochs = ParseCount("--epochs", text, kMaxEpochs); });
  declare("--target_accuracy", "SHARE",
          "of Train's validation, 0.75 for 75 %: its closing row says how long it took",
          [&](const std::string& text) {
            options.target_accuracy =
                ParseShare("--target_accuracy", text, 0, 1, "0.75 is 75 % right");
          });
  declare("--checkpoint", "FILE",
          "Train writes weights and optimiser to FILE after each epoch; for one case",
          [&](const std::string& text) { options.checkpoint = ParsePath("--checkpoint", text); });
  app.add_flag("--resume", options.resume,
               "Train goes on from the --checkpoint file, as if it had not been interrupted");
  declare(
      "--trace", "FILE",
      "timeline of Train's second epoch (of the only one, if there is one): what each thread did "
      "when, for ui.perfetto.dev; for one case",
      [&](const std::string& text) { options.trace = ParsePath("--trace", text); });
  declare("--progress", "auto|on|off",
          "a line on stderr that says how far an epoch of Train or Epoch is; auto: on a terminal "
          "(default); on: also elsewhere, every ten seconds and after each epoch of Train",
          [&](const std::string& text) {
            options.progress = ParseWord("--progress", text, kProgressWords);
          });
  declare("--threads", "N",
          "threads inside an operation of LibTorch; default: the cores that the workers leave",
          [&](const std::string& text) {
            options.threads = ParseNumber("--threads", text, 1, kMaxThreads);
          });
  declare("--seed", "N", "of weights, order and augmentation; default: 42",
          [&](const std::string& text) {
            options.seed = ParseNumber<std::uint64_t>("--seed", text, 0, UINT64_MAX);
          });
  declare("--data_dir", "DIR",
          "DIR/train/<class>/ and DIR/test/<class>/ with images: 2 classes for dogs_vs_cats, other "
          "numbers for eight_kinds, and only that network runs unless --networks names both; with "
          "--network as many classes as the network tells apart; "
          "default: a synthetic set in the user's cache folder",
          [&](const std::string& text) {
            if (text.empty()) throw UsageError("--data_dir: names no folder");
            options.data_dir = text;
          });
  declare("--source", "LIST",
          "where Pipeline, Epoch and Train take images from: files, bytes (encoded, in memory), "
          "decoded "
          "(at the network's size, in memory); default: files",
          [&](const std::string& text) {
            options.sources = ParseList<SourceKind>("--source", text, [](const std::string& word) {
              return ParseWord("--source", word, kSourceWords);
            });
          });
  declare(
      "--rng", "keyed|keras",
      "random numbers of order and augmentation. keyed: each sample's depend on seed, epoch and "
      "image only (default); keras: those that numpy gives keras_preprocessing with this seed",
      [&](const std::string& text) { options.stream = ParseWord("--rng", text, kStreamWords); });
  declare("--keras_profile", "kp112|keras_head",
          "geometry of the augmentation. kp112: keras_preprocessing up to 1.1.2, as published "
          "(default); keras_head: Keras 3",
          [&](const std::string& text) {
            options.profile = ParseWord("--keras_profile", text, kProfileWords);
          });
  declare(
      "--bad_images", "skip|fail",
      "skip: replace a bad image by the next good one of its class, give up above 1 % of a class "
      "(default); fail: stop the case at the first",
      [&](const std::string& text) {
        options.bad_images = ParseWord("--bad_images", text, kBadImagesWords);
      });
  declare("--max_pixels", "N",
          "an image of more pixels is bad; default: " + std::to_string(kDefaultMaxPixels),
          [&](const std::string& text) {
            options.max_pixels = ParseNumber<std::int64_t>("--max_pixels", text, 1, kMaxPixels);
          });
  declare("--allocator", "system|keep",
          "keep: jemalloc that keeps freed memory (default); system: the C library's own",
          [&](const std::string& text) {
            if (text != "system" && text != "keep") {
              throw UsageError("--allocator: '" + text + "' is neither system nor keep");
            }
            options.allocator = text;
          });
  declare("--handicap", "SHARE",
          "each timed step is followed by a busy wait of this share of its time, 0.05 for 5 %; "
          "names and context say so: to prove that a comparison finds it",
          [&](const std::string& text) {
            options.handicap = ParseShare("--handicap", text, kMinHandicap, kMaxHandicap,
                                          "0.05 makes each step 5 % slower");
          });
  app.add_flag("--list_devices", options.list_devices,
               "print libraries and devices, or why there is no GPU, and exit");
  app.add_option_function<std::string>(
         "--print_networks",
         [&](const std::string& text) {
           options.print_networks = ParseWord("--print_networks", text, kListingWords);
         },
         "print each network and exit. table: layers, parameters, FLOPs and bytes (default); json: "
         "what --network reads")
      ->type_name("table|json")
      ->expected(0, 1)
      ->default_str("table");
  app.add_flag("--verify_data", options.verify_data,
               "read and decode every image, report those that are bad, and exit: 1 if there are");
  app.set_version_flag("--version", std::string("cnn_benchmarks ") + kProjectVersion + " (" +
                                        kGitCommit + (kGitDirty ? ", modified)" : ")"));
}

}  // namespace

std::string SourceName(SourceKind kind) { return WordOf(kind, kSourceWords); }
std::string StreamName(RandomStream stream) { return WordOf(stream, kStreamWords); }
std::string ProfileName(KerasProfile profile) { return WordOf(profile, kProfileWords); }
std::string BadImagesName(BadImages policy) { return WordOf(policy, kBadImagesWords); }

Options ParseOptions(int argc, const char* const* argv) {
  Options options;
  CLI::App app;
  app.set_help_flag();  // benchmark::Initialize has seen to --help
  Declare(app, options);
  for (int i = 1; i < argc; ++i) {
    // CLI11 would take the next argument for the value.
    const std::string argument = argv[i];
    if (argument.rfind("--", 0) == 0 && argument.find('=') == argument.size() - 1) {
      throw UsageError(argument.substr(0, argument.size() - 1) + ": no value after the '='");
    }
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForVersion& version) {
    std::puts(version.what());
    std::exit(0);
  } catch (const CLI::ExtrasError&) {
    const std::string first = app.remaining().front();
    if (first.rfind("--benchmark_", 0) == 0) {
      throw UsageError("'" + first + "': no such flag of Google Benchmark, or not such a value");
    }
    throw UsageError("unknown argument '" + first + "'; see --help");
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
  if (options.resume && options.checkpoint.empty()) {
    throw UsageError("--resume: which training? name its file with --checkpoint=FILE");
  }
  // Each batch takes the next of numpy's seeds, which have 32 bits.
  constexpr std::uint64_t kMaxKerasSeed = UINT32_MAX - kMaxSteps;
  if (options.stream == RandomStream::kKeras && options.seed > kMaxKerasSeed) {
    throw UsageError("--seed: with --rng=keras at most " + std::to_string(kMaxKerasSeed));
  }
  return options;
}

void PrintOptionsHelp() {
  Options unused;
  CLI::App app;
  app.set_help_flag();
  Declare(app, unused);
  std::printf(
      "cnn_benchmarks: how fast convolutional networks train, and where the time goes.\n\n"
      "  cnn_benchmarks --benchmark_filter=Epoch\n"
      "  cnn_benchmarks --benchmark_filter='Layer/eight_kinds/conv.*backward' --batches=1,32,256\n"
      "  cnn_benchmarks --benchmark_filter='Train/eight' --epochs=seed --steps=seed "
      "--checkpoint=eight.ckpt\n"
      "  cnn_benchmarks --benchmark_filter='Epoch/dogs' --data_dir=photos --workers=0,1,4 "
      "--steps=seed\n"
      "\nFamilies (a name is its own --benchmark_filter, a leading '-' negates; "
      "--benchmark_list_tests prints all):\n%s"
      "\n%s\n"
      "Results go to stdout as a table and as JSON to results/latest.json, or where "
      "--benchmark_out says.\n"
      "Exit codes: 0 all selected cases ran; 1 a case failed, results could not be written, or\n"
      "--verify_data found a bad image; "
      "2 bad usage, or nothing could be run; 130 interrupted, with what was finished in the file.\n"
      "\nGoogle Benchmark's flags:\n",
      DescribeFamilies().c_str(), app.help().c_str());
}

}  // namespace cnn
