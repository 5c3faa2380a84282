#include "tools/compare_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "tools/name_filter.h"

namespace cnn {
namespace {

namespace fs = std::filesystem;

// Stands for "--" among the files: CLI11 would drop it. No file is called so.
const std::string kSeparator("\x01--", 3);

constexpr const char* kExitCodes =
    "Exit codes: 0 nothing got worse; 1 regression; 2 bad usage, or the output could not be "
    "written;\n3 unusable or incomplete input; 4 nothing was compared.";

constexpr const char* kExamples =
    "Commands (each has its own --help):\n"
    "  run        measures two programs alternately and compares them\n"
    "  confirm    measures again, in fresh processes, what failed in a run\n"
    "  selftest   proves that a slowdown is found here, and noise is not taken for one\n"
    "  export     results in other programs' formats\n"
    "  calibrate  the noise of this machine, from six or more runs of one program\n"
    "  speedup    one axis against another: devices, workers, frameworks\n"
    "\n"
    "Examples:\n"
    "  cnn_compare base.json new.json\n"
    "  cnn_compare base*.json -- new*.json\n"
    "  cnn_compare base*.json -- new*.json --threshold=5% --filter='^Layer/' --all\n"
    "  cnn_compare base*.json -- new*.json --format=markdown --out=comment.md\n"
    "  cnn_compare base*.json -- new*.json --calibration=noise.json "
    "--metric-direction=pairs=higher\n"
    "  cnn_compare run --base=build-old/bench --new=build-new/bench\n"
    "\n"
    "One file is one process; 5 or more a side, measured alternately, make verdicts that can be\n"
    "trusted: each benchmark is a test, 5 files can reject up to 12 of them, 6 up to 46, 7 up to\n"
    "171. With one file a side verdicts are advice and fail nothing, but for --gate-single.\n"
    "\n";

constexpr const char* kRunExamples =
    "Examples:\n"
    "  cnn_compare run --base=build-old/bench --new=build-new/bench\n"
    "  cnn_compare run --base=old/bench --new=new/bench --rounds=10 -- --benchmark_filter=Layer\n"
    "  cnn_compare run --base=bench --new=bench --base-flags=--threads=1 "
    "--new-flags=\"--threads=2 --pin\"\n"
    "\n"
    "The order is AB BA AB ..., so that a drift of the machine falls on both sides alike. What\n"
    "stands after -- goes to both programs, before the flags of each. Useful are\n"
    "--benchmark_repetitions=5 --benchmark_enable_random_interleaving=true\n"
    "--benchmark_min_time=0.05. DIR keeps a result file and a log of each process, and run.json.\n"
    "An interrupt (Ctrl-C) ends the run, once the program has ended, and judges the rounds that "
    "are\n"
    "complete; a second one kills the program. What failed is best measured again: cnn_compare\n"
    "confirm DIR.\n"
    "\n"
    "Exit status 1 of a program means that some of its cases failed, and is judged. Any other but\n"
    "0, or no result file, ends the run with 3; a program that cannot be started with 2. An\n"
    "interrupted run returns 1 for a regression, else 3.\n"
    "\n";

constexpr const char* kConfirmExamples =
    "Examples:\n"
    "  cnn_compare confirm results/compare-20261202T101500Z\n"
    "  cnn_compare confirm results/compare-20261202T101500Z --undecided --rounds=10\n"
    "\n"
    "Programs, their flags and the judgement's flags are those of the run, which DIR/run.json\n"
    "records; a flag that is given here holds instead. Only what failed is measured again, into\n"
    "DIR/confirm-1 (confirm-2, ...). A regression that does not show again is inconclusive.\n"
    "\n";

constexpr const char* kSelftestExamples =
    "Examples:\n"
    "  cnn_compare selftest\n"
    "  cnn_compare selftest --program=./cnn_benchmarks\n"
    "  cnn_compare selftest --program=./cnn_benchmarks --rounds=10 -- --benchmark_filter=Model\n"
    "\n"
    "Exit code 0 when everything is as it must be, 1 when not. Flags of the program replace the\n"
    "default ones, which measure ten layers. One A/A comparison in twenty may fail by chance "
    "where\n"
    "noise is above the threshold.\n"
    "\n";

template <typename Value>
using Words = std::vector<std::pair<const char*, Value>>;

template <typename Value>
Value ParseWord(const std::string& flag, const std::string& text, const Words<Value>& words) {
  std::string known;
  for (const auto& [word, value] : words) {
    if (text == word) return value;
    known += (known.empty() ? "" : ", ") + std::string(word);
  }
  throw UsageError(flag + ": '" + text + "' is none of " + known);
}

// A number that is the whole text.
template <typename Number>
std::optional<Number> WholeNumber(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

void Declare(CLI::App& app, const std::string& flag, const std::string& kind,
             const std::string& help, const std::function<void(const std::string&)>& parse) {
  app.add_option_function<std::string>(flag, parse, help)->type_name(kind);
}

// May be given several times, one value each.
void DeclareList(CLI::App& app, const std::string& flag, const std::string& kind,
                 const std::string& help, const std::function<void(const std::string&)>& parse) {
  const auto parse_all = [parse](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) parse(text);
  };
  app.add_option_function<std::vector<std::string>>(flag, parse_all, help)
      ->type_name(kind)
      ->allow_extra_args(false);
}

std::pair<std::string, Direction> ParseMetricDirection(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) {
    throw UsageError("--metric-direction: '" + text + "' is not METRIC=DIRECTION");
  }
  try {
    return {text.substr(0, equals), ParseDirection(text.substr(equals + 1))};
  } catch (const std::invalid_argument& error) {
    throw UsageError(std::string("--metric-direction: ") + error.what());
  }
}

void CheckFilter(const std::string& pattern) {
  try {
    const NameFilter filter(pattern);
  } catch (const std::invalid_argument& error) {
    throw UsageError(std::string("--filter: ") + error.what());
  }
}

void DeclareReading(CLI::App& app, ReadOptions& read) {
  app.add_flag("--lenient", read.lenient, "skip text before and after the JSON");
  app.add_flag("--salvage", read.salvage,
               "of a file that breaks off, take the complete rows (exit code 3 all the same)");
}

void DeclareFilter(CLI::App& app, std::string& filter) {
  Declare(app, "--filter", "REGEX", "only benchmarks whose name matches; a leading '-' negates",
          [&filter](const std::string& text) {
            CheckFilter(text);
            filter = text;
          });
}

void DeclareOut(CLI::App& app, std::string& out) {
  Declare(app, "--out", "FILE", "write there instead of stdout", [&out](const std::string& text) {
    if (text.empty()) throw UsageError("--out: names no file");
    out = text;
  });
}

void DeclareDirections(CLI::App& app, std::vector<std::pair<std::string, Direction>>& directions) {
  DeclareList(
      app, "--metric-direction", "METRIC=DIRECTION",
      "lower, higher (is better), exact (any change is one), unknown (shown, no gate) or "
      "ignore; may be repeated; default: by the metric's name",
      [&directions](const std::string& text) { directions.push_back(ParseMetricDirection(text)); });
}

// What a comparison and a calibration must do alike.
void DeclareSummary(CLI::App& app, CompareOptions& options) {
  Declare(app, "--summary", "KIND",
          "what stands for a file's repetitions: default (times minimum, else median), minimum, "
          "q10, median",
          [&options](const std::string& text) {
            options.summary = ParseWord<Summary>("--summary", text,
                                                 {{"default", Summary::kDefault},
                                                  {"minimum", Summary::kMinimum},
                                                  {"q10", Summary::kQ10},
                                                  {"median", Summary::kMedian}});
          });
  DeclareList(
      app, "--ignore-key", "KEY",
      "pair benchmarks without this key of their names: workers, source, ...; may be "
      "repeated; handicap always is",
      [&options](const std::string& text) { options.pairing.ignored_keys.push_back(text); });
  Declare(app, "--duplicates", "refuse|index",
          "two benchmarks of one name in a file: refuse (default), or pair the k-th with the k-th",
          [&options](const std::string& text) {
            options.pairing.duplicates_by_index =
                ParseWord<bool>("--duplicates", text, {{"refuse", false}, {"index", true}});
          });
  DeclareDirections(app, options.directions);
}

void DeclareJudgement(CLI::App& app, CompareCommand& command) {
  CompareOptions& options = command.options;
  Declare(app, "--threshold", "SHARE",
          "change that matters: 2%, +2%, 0.02 or 1.02x; default: 2%, with one file a side 10%, "
          "with a calibration its own",
          [&options](const std::string& text) {
            options.threshold = ParseShare("--threshold", text);
            options.single_threshold = options.threshold;
            options.least_calibrated = options.threshold;
          });
  Declare(app, "--alpha", "SHARE",
          "chance of a false alarm among all times, and again among all counters; default: 5%",
          [&options](const std::string& text) {
            options.alpha = ParseShare("--alpha", text);
            if (options.alpha <= 0 || options.alpha >= 0.5) {
              throw UsageError("--alpha: '" + text + "' is not above 0 and below 50%");
            }
          });
  Declare(
      app, "--time", "auto|real|cpu",
      "the time that gates; auto: real_time of our suite's files, of threads, GPUs and names "
      "with /real_time, else cpu_time",
      [&options](const std::string& text) {
        options.time_metric = ParseWord<TimeMetric>(
            "--time", text,
            {{"auto", TimeMetric::kAuto}, {"real", TimeMetric::kReal}, {"cpu", TimeMetric::kCpu}});
      });
  DeclareList(app, "--gate-metric", "METRIC",
              "only these gate; may be repeated; default: the time, and counters that are neither "
              "parts nor functions of one",
              [&options](const std::string& text) { options.gate_metrics.push_back(text); });
  Declare(app, "--calibration", "FILE", "thresholds from cnn_compare calibrate",
          [&command](const std::string& text) { command.calibration = text; });
  app.add_flag("--gate-single", options.gate_single, "let one file a side fail, too");
  app.add_flag("--strict-context", options.strict_context,
               "exit code 3 when the contexts differ in more than what is compared");
  app.add_flag("--allow-mixed-context", options.allow_mixed_context,
               "files of one side may be of several machines or builds");
  app.add_flag("--fail-on-removed", options.fail_on_removed, "a removed benchmark is a regression");
  app.add_flag("--fail-on-skipped", options.fail_on_skipped,
               "a benchmark that is skipped now is a regression");
  app.add_flag("--fail-on-changed", options.fail_on_changed,
               "a change of an exact metric is a regression");
  Declare(app, "--require", "N", "exit code 4 when fewer benchmarks are compared; default: 1",
          [&options](const std::string& text) {
            const auto number = WholeNumber<std::size_t>(text);
            if (!number) throw UsageError("--require: '" + text + "' is not a whole number");
            options.require = *number;
          });
}

void DeclareReport(CLI::App& app, CompareCommand& command) {
  Declare(app, "--format", "table|markdown|json", "default: table",
          [&command](const std::string& text) {
            command.format = ParseWord<ReportFormat>("--format", text,
                                                     {{"table", ReportFormat::kTable},
                                                      {"markdown", ReportFormat::kMarkdown},
                                                      {"json", ReportFormat::kJson}});
          });
  app.add_flag("--all", command.report.all,
               "every row; default: those that are not the same, and the gates among them");
  Declare(app, "--color", "auto|always|never",
          "auto (default): on a terminal, unless NO_COLOR is set", [&command](const auto& text) {
            command.colour = ParseWord<Colour>(
                "--color", text,
                {{"auto", Colour::kAuto}, {"always", Colour::kAlways}, {"never", Colour::kNever}});
          });
}

std::string Wrapped(const std::string& text, std::size_t width) {
  std::string wrapped;
  std::size_t line = 0;
  std::istringstream words(text);
  for (std::string word; words >> word; line += word.size() + 1) {
    if (line > 0 && line + word.size() > width) {
      wrapped += '\n';
      line = 0;
    } else if (line > 0) {
      wrapped += ' ';
    }
    wrapped += word;
  }
  return wrapped;
}

// CLI11 before 2.3 has no other way to say how the program is called.
class UsageFormatter : public CLI::Formatter {
 public:
  explicit UsageFormatter(std::string usage) : usage_(std::move(usage)) { column_width(34); }
  std::string make_usage(const CLI::App* /*app*/, std::string /*name*/) const override {
    return usage_ + '\n';
  }
  std::string make_option_desc(const CLI::Option* option) const override {
    return Wrapped(CLI::Formatter::make_option_desc(option), 66);
  }

 private:
  std::string usage_;
};

std::unique_ptr<CLI::App> NewApp(const std::string& description, const std::string& usage,
                                 const std::string& footer) {
  auto app = std::make_unique<CLI::App>(description);
  app->footer(footer + kExitCodes);
  app->formatter(std::make_shared<UsageFormatter>(usage));
  return app;
}

void Parse(CLI::App& app, const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    // CLI11 would take the next argument for the value.
    if (argument.rfind("--", 0) == 0 && argument.find('=') == argument.size() - 1) {
      throw UsageError(argument.substr(0, argument.size() - 1) + ": no value after the '='");
    }
  }
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    throw HelpRequest{app.help()};
  } catch (const CLI::ExtrasError&) {
    throw UsageError("unknown argument '" + app.remaining().front() + "'; see --help");
  } catch (const CLI::ParseError& error) {
    throw UsageError(std::string(error.what()) + "; see --help");
  }
}

std::size_t ParseRounds(const std::string& text) {
  constexpr std::size_t kMost = 1000;
  const auto number = WholeNumber<std::size_t>(text);
  if (!number || *number == 0 || *number > kMost) {
    throw UsageError("--rounds: '" + text + "' is not a whole number from 1 to " +
                     std::to_string(kMost));
  }
  return *number;
}

// The options that were given so far, as arguments that give them again.
std::vector<std::string> GivenOptions(const std::vector<const CLI::Option*>& options) {
  std::vector<std::string> arguments;
  for (const CLI::Option* option : options) {
    const std::string name = "--" + option->get_lnames().front();
    const bool is_flag = option->get_items_expected_max() == 0;
    if (is_flag && option->count() > 0) arguments.push_back(name);
    for (const std::string& value : option->results()) {
      if (is_flag) continue;
      const bool is_path = name == "--calibration";
      arguments.push_back(name + '=' + (is_path ? fs::absolute(value).string() : value));
    }
  }
  return arguments;
}

// What decides about verdicts: declared alike for a comparison, a run and its confirmation.
void DeclareVerdicts(CLI::App& app, CompareCommand& command) {
  DeclareJudgement(app, command);
  DeclareSummary(app, command.options);
  DeclareFilter(app, command.filter);
  DeclareReading(app, command.read);
}

void RequireFiles(const std::vector<std::string>& files) {
  if (files.empty()) throw UsageError("no files; see --help");
}

// "--new-flags --pin" means "--new-flags=--pin", and "--new-flags=" no flags: CLI11 takes the one
// for two options and the other for the next argument's.
std::vector<std::string> JoinFlagValues(const std::vector<std::string>& arguments) {
  std::vector<std::string> joined;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::string argument = arguments[i];
    const bool takes_flags = argument == "--base-flags" || argument == "--new-flags";
    if (takes_flags && i + 1 < arguments.size()) argument += '=' + arguments[++i];
    if (argument != "--base-flags=" && argument != "--new-flags=") joined.push_back(argument);
  }
  return joined;
}

// Is the backslash at `i` one for a shell? In single quotes it never is, in double quotes only
// before what it could escape.
bool IsEscape(const std::string& text, std::size_t i, char quote) {
  if (quote == '\'' || i + 1 >= text.size()) return false;
  return quote == '\0' || text[i + 1] == '"' || text[i + 1] == '\\';
}

void SplitSides(const std::vector<std::string>& files, CompareCommand& command) {
  const auto separator = std::find(files.begin(), files.end(), kSeparator);
  if (separator == files.end()) {
    if (files.size() != 2) {
      throw UsageError(std::to_string(files.size()) + (files.size() == 1 ? " file" : " files") +
                       ": put -- between the base files and the new ones; see --help");
    }
    command.base = {files[0]};
    command.contender = {files[1]};
    return;
  }
  command.base.assign(files.begin(), separator);
  command.contender.assign(separator + 1, files.end());
  if (std::find(separator + 1, files.end(), kSeparator) != files.end()) {
    throw UsageError("-- stands twice; only two sides can be compared");
  }
  if (command.base.empty()) throw UsageError("no base files before the --");
  if (command.contender.empty()) throw UsageError("no new files after the --");
}

}  // namespace

CompareCommand ParseCompare(const std::vector<std::string>& arguments) {
  CompareCommand command;
  const auto app = NewApp("Judges new results of Google Benchmark against base results.",
                          "Usage: cnn_compare [OPTIONS] BASE... -- NEW...\n"
                          "       cnn_compare [OPTIONS] BASE NEW\n"
                          "       cnn_compare run|confirm|selftest|export|calibrate|speedup ...",
                          kExamples);
  std::vector<std::string> files;
  app->add_option("FILES", files, "result files; -- stands between the sides")->type_name("");
  DeclareVerdicts(*app, command);
  DeclareReport(*app, command);
  DeclareOut(*app, command.out);
  std::vector<std::string> parsed = arguments;
  std::replace(parsed.begin(), parsed.end(), std::string("--"), kSeparator);
  Parse(*app, parsed);
  SplitSides(files, command);
  return command;
}

RunCommand ParseRun(const std::vector<std::string>& arguments) {
  RunCommand command;
  const auto app = NewApp(
      "Starts two programs of Google Benchmark alternately, one process at a time, and judges the "
      "new\none against the base. They may be one program with different flags.",
      "Usage: cnn_compare run --base=PROGRAM --new=PROGRAM [OPTIONS] [-- FLAGS OF BOTH]",
      kRunExamples);
  Declare(*app, "--base", "PROGRAM", "the program to judge against",
          [&](const std::string& text) { command.base = text; });
  Declare(*app, "--new", "PROGRAM", "the program to judge",
          [&](const std::string& text) { command.contender = text; });
  Declare(
      *app, "--rounds", "N",
      "processes of each program; default: 5, or as many as the number of benchmarks needs; for "
      "a release 10",
      [&](const std::string& text) { command.rounds = ParseRounds(text); });
  const auto take_flags = [](std::vector<std::string>& flags) {
    return [&flags](const std::string& text) {
      const std::vector<std::string> more = SplitFlags(text);
      flags.insert(flags.end(), more.begin(), more.end());
    };
  };
  DeclareList(*app, "--base-flags", "FLAGS",
              "flags of the base program, split at blanks, quotes honoured; may be repeated",
              take_flags(command.base_flags));
  DeclareList(*app, "--new-flags", "FLAGS", "the same of the new program",
              take_flags(command.new_flags));
  Declare(*app, "--dir", "DIR",
          "where files and logs are kept; default: results/compare-TIME, a new one",
          [&](const std::string& text) { command.folder = text; });
  const std::size_t own = app->get_options().size();
  DeclareVerdicts(*app, command.compare);
  const std::vector<const CLI::Option*> options = std::as_const(*app).get_options();
  const std::vector<const CLI::Option*> judgement(
      options.begin() + static_cast<std::ptrdiff_t>(own), options.end());
  DeclareReport(*app, command.compare);
  DeclareOut(*app, command.compare.out);
  const auto separator = std::find(arguments.begin(), arguments.end(), "--");
  Parse(*app, JoinFlagValues({arguments.begin(), separator}));
  if (command.base.empty()) throw UsageError("--base is missing: a program; see --help");
  if (command.contender.empty()) throw UsageError("--new is missing: a program; see --help");
  for (auto* flags : {&command.base_flags, &command.new_flags}) {
    if (separator != arguments.end()) flags->insert(flags->begin(), separator + 1, arguments.end());
  }
  command.judgement = GivenOptions(judgement);
  return command;
}

SelftestCommand ParseSelftest(const std::vector<std::string>& arguments) {
  SelftestCommand command;
  const auto app = NewApp(
      "Proves that a slowdown is found here and that noise is not taken for one: on built-in data "
      "and,\nwith --program, by real runs of cnn_benchmarks with and without --handicap.",
      "Usage: cnn_compare selftest [--program=PROGRAM] [OPTIONS] [-- FLAGS OF THE PROGRAM]",
      kSelftestExamples);
  Declare(*app, "--program", "PROGRAM", "a cnn_benchmarks; default: built-in data only",
          [&](const std::string& text) { command.program = text; });
  Declare(*app, "--handicap", "SHARE", "the slowdown to be found; default: 5%",
          [&](const std::string& text) { command.handicap = ParseShare("--handicap", text); });
  Declare(*app, "--rounds", "N", "processes of each kind; default: 6",
          [&](const std::string& text) { command.rounds = ParseRounds(text); });
  Declare(*app, "--dir", "DIR",
          "where files and logs are kept; default: results/selftest-TIME, a new one",
          [&](const std::string& text) { command.folder = text; });
  const auto separator = std::find(arguments.begin(), arguments.end(), "--");
  Parse(*app, {arguments.begin(), separator});
  if (separator != arguments.end()) command.flags.assign(separator + 1, arguments.end());
  if (command.program.empty() && !command.flags.empty()) {
    throw UsageError("flags of a program without --program");
  }
  return command;
}

ConfirmCommand ParseConfirm(const std::vector<std::string>& arguments,
                            const std::vector<std::string>& judgement) {
  ConfirmCommand command;
  const auto recorded = NewApp("", "", "");
  DeclareVerdicts(*recorded, command.compare);
  try {
    Parse(*recorded, judgement);
  } catch (const UsageError& error) {
    throw ReadError(std::string("run.json: judgement: ") + error.what());
  }
  const auto app = NewApp(
      "Measures again, in fresh processes, the benchmarks that failed in a run. A regression is "
      "only\nwhat fails both times.",
      "Usage: cnn_compare confirm DIR [OPTIONS]", kConfirmExamples);
  app->add_option("DIR", command.folder, "the folder that cnn_compare run named")->type_name("");
  Declare(*app, "--rounds", "N",
          "processes of each program; default: 5, or more where it takes more to find a change",
          [&](const std::string& text) { command.rounds = ParseRounds(text); });
  app->add_flag("--undecided", command.undecided, "also the benchmarks that are inconclusive");
  DeclareVerdicts(*app, command.compare);
  DeclareReport(*app, command.compare);
  DeclareOut(*app, command.compare.out);
  Parse(*app, arguments);
  if (command.folder.empty()) throw UsageError("DIR is missing: the folder of a run; see --help");
  return command;
}

std::vector<std::string> SplitFlags(const std::string& text) {
  std::vector<std::string> flags;
  bool is_in_flag = false;
  char quote = '\0';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool is_blank = c == ' ' || c == '\t' || c == '\n';
    if (quote == '\0' && is_blank) {
      is_in_flag = false;
      continue;
    }
    if (!is_in_flag) flags.emplace_back();
    is_in_flag = true;
    if (quote == '\0' && (c == '\'' || c == '"')) {
      quote = c;
    } else if (quote != '\0' && c == quote) {
      quote = '\0';
    } else if (c == '\\' && IsEscape(text, i, quote)) {
      flags.back() += text[++i];
    } else {
      flags.back() += c;
    }
  }
  if (quote != '\0') throw UsageError("flags: a quote is not closed: " + text);
  return flags;
}

ExportCommand ParseExport(const std::vector<std::string>& arguments) {
  ExportCommand command;
  const auto app = NewApp("Results in other programs' formats.",
                          "Usage: cnn_compare export --format=F [OPTIONS] FILES...",
                          "Examples:\n"
                          "  cnn_compare export --format=csv run*.json > runs.csv\n"
                          "  cnn_compare export --format=openmetrics --out=cnn.prom run.json\n\n");
  bool has_format = false;
  std::vector<std::pair<std::string, Direction>> directions;
  app->add_option("FILES", command.files, "result files")->type_name("");
  Declare(*app, "--format", "F", ExportFormatNames(), [&](const std::string& text) {
    try {
      command.format = ParseExportFormat(text);
      has_format = true;
    } catch (const std::invalid_argument& error) {
      throw UsageError(std::string("--format: ") + error.what());
    }
  });
  DeclareFilter(*app, command.filter);
  DeclareReading(*app, command.read);
  app->add_flag("--csv-formula-guard", command.options.csv_formula_guard,
                "csv: an apostrophe before what a spreadsheet takes for a formula");
  app->add_flag("--openmetrics-timestamps", command.options.openmetrics_timestamps,
                "openmetrics: with the time of each file, to fill in history");
  DeclareDirections(*app, directions);
  DeclareOut(*app, command.out);
  Parse(*app, arguments);
  if (!has_format) throw UsageError("--format is missing: one of " + ExportFormatNames());
  RequireFiles(command.files);
  command.options.direction = [directions](std::string_view metric) {
    for (const auto& [name, direction] : directions) {
      if (name == metric) return direction;
    }
    return DefaultDirection(metric);
  };
  return command;
}

CalibrateCommand ParseCalibrate(const std::vector<std::string>& arguments) {
  CalibrateCommand command;
  const auto app = NewApp(
      "From six or more runs of one program, the threshold that each benchmark and metric "
      "needs on this machine.",
      "Usage: cnn_compare calibrate --out=FILE [OPTIONS] FILES...",
      "Examples:\n"
      "  cnn_compare calibrate --out=noise.json run*.json\n"
      "  cnn_compare base*.json -- new*.json --calibration=noise.json\n\n");
  app->add_option("FILES", command.files, "result files of one program")->type_name("");
  Declare(*app, "--floor", "SHARE", "the smallest threshold; default: 1%",
          [&](const std::string& text) { command.floor = ParseShare("--floor", text); });
  DeclareSummary(*app, command.options);
  app->add_flag("--lenient", command.read.lenient, "skip text before and after the JSON");
  DeclareOut(*app, command.out);
  Parse(*app, arguments);
  RequireFiles(command.files);
  if (command.out.empty()) throw UsageError("--out is missing: the file to write");
  return command;
}

SpeedupCommand ParseSpeedup(const std::vector<std::string>& arguments) {
  SpeedupCommand command;
  const auto app = NewApp(
      "How much faster one value of an axis is than another, and what was "
      "published beside it.",
      "Usage: cnn_compare speedup [--by=AXIS] [OPTIONS] FILES...",
      "Examples:\n"
      "  cnn_compare speedup results/published/*.json\n"
      "  cnn_compare speedup --by=workers run*.json\n\n");
  app->add_option("FILES", command.files, "result files")->type_name("");
  Declare(*app, "--by", "AXIS",
          "a key of the benchmarks' names (device, workers, ...) or of the files' context "
          "(framework, allocator, ...); default: device",
          [&](const std::string& text) { command.by = text; });
  DeclareFilter(*app, command.filter);
  DeclareReading(*app, command.read);
  DeclareOut(*app, command.out);
  Parse(*app, arguments);
  RequireFiles(command.files);
  return command;
}

double ParseShare(const std::string& flag, const std::string& text) {
  std::string_view number = text;
  if (!number.empty() && number.front() == '+') number.remove_prefix(1);
  const char unit = number.empty() ? '\0' : number.back();
  if (unit == '%' || unit == 'x') number.remove_suffix(1);
  const std::optional<double> value = WholeNumber<double>(number);
  if (!value || !std::isfinite(*value)) {
    throw UsageError(flag + ": '" + text + "' is no share: 2%, 0.02 and 1.02x are the same one");
  }
  const double share = unit == '%' ? *value / 100 : unit == 'x' ? *value - 1 : *value;
  if (share < 0) throw UsageError(flag + ": '" + text + "' is negative");
  if (unit != '%' && unit != 'x' && share >= 1) {
    throw UsageError(flag + ": is '" + text + "' " + text + "% or " + text + "x? Write which");
  }
  return share;
}

}  // namespace cnn
