#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <stdexcept>
#include <vector>

#include "tools/export_testing.h"
#include "tools/export_text.h"

namespace cnn {
namespace {

struct Result {
  std::string name;  // without "Benchmark"
  std::int64_t iterations = 0;
  std::map<std::string, double> values;
  std::map<std::string, std::string> config;
};

struct Results {
  std::vector<Result> all;
  std::map<std::string, std::string> better;
};

// As benchstat calls a unit once it has read it.
std::string Tidied(const std::string& unit) {
  if (unit == "ns" || unit == "ns/op") return "sec" + unit.substr(2);
  return unit == "MB" || unit == "MB/s" ? "B" + unit.substr(2) : unit;
}

// The rules of the design document and of benchstat's reader; stricter where it skips what it does
// not know: such a line must be one of our comments.
class GoReader {
 public:
  Results Read(std::string_view text) {
    for (const std::string_view line : Split(text, '\n')) {
      if (line.substr(0, 9) == "Benchmark") {
        ReadBenchmark(line);
      } else if (line.substr(0, 5) == "Unit ") {
        ReadUnit(line);
      } else if (!line.empty() && line[0] >= 'a' && line[0] <= 'z') {
        ReadConfig(line);
      } else if (!line.empty() && line.substr(0, 2) != "# " && line.substr(0, 4) != "--- ") {
        throw std::runtime_error("unknown: " + std::string(line));
      }
    }
    return results_;
  }

 private:
  static double ReadNumber(std::string_view word) {
    double value = 0;
    const auto result = std::from_chars(word.data(), word.data() + word.size(), value);
    if (word.empty() || result.ptr != word.data() + word.size() || !std::isfinite(value)) {
      throw std::runtime_error("number: " + std::string(word));
    }
    return value;
  }

  void ReadBenchmark(std::string_view line) {
    const auto words = Split(line, ' ');
    if (words.size() < 4 || words.size() % 2 != 0) throw std::runtime_error("fields");
    Result result;
    result.name = words[0].substr(9);
    if (result.name.empty() || result.name[0] < 'A' || result.name[0] > 'Z') {
      throw std::runtime_error("name: " + result.name);
    }
    for (const char c : line) {
      if (c < 0x20 || c > 0x7E) throw std::runtime_error("not ASCII");
    }
    result.iterations = static_cast<std::int64_t>(ReadNumber(words[1]));
    if (words[1].find_first_not_of("0123456789") != std::string_view::npos) {
      throw std::runtime_error("iterations");
    }
    std::set<std::string> units;
    for (std::size_t i = 2; i < words.size(); i += 2) {
      const std::string unit(words[i + 1]);
      if (unit.empty()) throw std::runtime_error("unit");
      result.values.emplace(unit, ReadNumber(words[i]));
      if (!units.insert(Tidied(unit)).second) {
        throw std::runtime_error("unit twice: " + unit);
      }
    }
    result.config = config_;
    results_.all.push_back(result);
  }

  void ReadUnit(std::string_view line) {
    const auto words = Split(line, ' ');
    if (words.size() != 3 || words[1].empty() || words[2].substr(0, 7) != "better=") {
      throw std::runtime_error("unit line");
    }
    if (!results_.better.emplace(words[1], words[2].substr(7)).second) {
      throw std::runtime_error("unit described twice");
    }
  }

  void ReadConfig(std::string_view line) {
    const std::size_t colon = line.find(": ");
    if (colon == std::string_view::npos) throw std::runtime_error("configuration");
    const std::string_view key = line.substr(0, colon);
    for (const char c : key) {
      if (c == ' ' || (c >= 'A' && c <= 'Z')) throw std::runtime_error("key");
    }
    config_[std::string(key)] = line.substr(colon + 2);
    if (line.size() == colon + 2) config_.erase(std::string(key));
  }

  Results results_;
  std::map<std::string, std::string> config_;
};

// The original of a name, to show that nothing is lost.
std::string Decoded(std::string name) {
  if (name.compare(0, 2, "X_") == 0) name.erase(0, 2);
  name.erase(name.rfind("-1"));
  std::string text;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '=') {
      text += ':';
    } else if (name[i] == '%') {
      text += static_cast<char>(std::stoi(name.substr(i + 1, 2), nullptr, 16));
      i += 2;
    } else {
      text += name[i];
    }
  }
  return text;
}

Results ReadGo(const std::string& text) { return GoReader().Read(text); }

TEST(ExportGoBench, StrictReaderRefusesLooseText) {
  EXPECT_NO_THROW(ReadGo("pkg: x\nBenchmarkA-1 1 2.0 sec/op\n"));
  for (const char* text :
       {"Benchmarka 1 2 x", "BenchmarkA 1 2", "BenchmarkA 1.5 2 x", "hello", "BenchmarkA 1 x x",
        "BenchmarkA 1 2 x 3 x", "BenchmarkA 1 2 ns/op 3 sec/op", "BenchmarkA  1 2 x", "Hello",
        "BenchmarkA 1 NaN x", "Unit x", "\tBenchmarkA 1 2 x"}) {
    EXPECT_THROW(ReadGo(text), std::runtime_error) << text;
  }
}

TEST(ExportGoBench, WritesALinePerRepetition) {
  ResultRow row = TimedRow("Epoch/dogs/device:cpu/batch:20", 0.5);
  row.metrics.push_back({"items_per_second", 100});
  row.metrics.push_back({"page_faults_per_step", 3});
  row.metrics.push_back({"forward_ms", 250});
  row.metrics.push_back({"peak_memory_mb", 2});
  row.metrics.push_back({"bytes_per_second", 7});
  row.metrics.push_back({"accuracy", 0.5});
  EXPECT_EQ(Exported({File({row, TimedRow("Epoch/dogs/device:cpu/batch:20", 0.75)})}, "gobench"),
            "# run.json: commit abc123, 2026-12-01T18:36:31+00:00\n"
            "pkg: cnn_benchmarks\n"
            "cpu: Intel(R) Xeon(R), 2 cores\n"
            "Unit sec/op better=lower\n"
            "Unit cpu-sec/op better=lower\n"
            "Unit images/s better=higher\n"
            "Unit page_faults/step better=lower\n"
            "Unit forward-sec better=lower\n"
            "Unit peak_memory-bytes better=lower\n"
            "Unit B/s better=higher\n"
            "Unit accuracy better=higher\n"
            "BenchmarkEpoch/dogs/device=cpu/batch=20-1 10 0.5 sec/op 1.0 cpu-sec/op 100.0 images/s "
            "3.0 page_faults/step 0.25 forward-sec 2e+06 peak_memory-bytes 7.0 B/s "
            "0.5 accuracy\n"
            "BenchmarkEpoch/dogs/device=cpu/batch=20-1 10 0.75 sec/op 1.5 cpu-sec/op\n");
}

TEST(ExportGoBench, KeepsNamesRecoverable) {
  const Results results = ReadGo(Exported({HostileFile()}, "gobench"));
  ASSERT_EQ(results.all.size(), HostileNames().size() + 2) << "without AllWild, errors and fits";
  for (std::size_t i = 0; i < HostileNames().size(); ++i) {
    EXPECT_EQ(Decoded(results.all[i].name), HostileNames()[i]);
  }
}

TEST(ExportGoBench, LeavesOutWhatIsNotFinite) {
  const Results results = ReadGo(Exported({HostileFile()}, "gobench"));
  const Result& counters = results.all.at(HostileNames().size());
  EXPECT_EQ(counters.name, "Counters-1");
  EXPECT_EQ(counters.values.count("cpu-sec/op"), 0U);
  EXPECT_EQ(counters.values.at("forward-sec"), 0.0025);
  EXPECT_EQ(counters.values.at("forward-sec_2"), 1);
  EXPECT_EQ(counters.values.at("a%20b"), 1);
  EXPECT_DOUBLE_EQ(counters.values.at("sec/op_2"), 6e-9) << "a counter that is called ns/op";
}

TEST(ExportGoBench, TakesTheMedianOfAggregatesOnly) {
  const Results results = ReadGo(Exported({HostileFile()}, "gobench"));
  EXPECT_EQ(results.all.back().name, "Aggregates-1");
  EXPECT_EQ(results.all.back().iterations, 5);
  EXPECT_EQ(results.all.back().values.at("sec/op"), 0.5);
}

TEST(ExportGoBench, WritesFailuresAsGoDoes) {
  const std::string text =
      Exported({File({FailedRow("A/b:c", "no\nGPU"), SkippedRow("B", "why")})}, "gobench");
  EXPECT_NE(text.find("\n--- FAIL: BenchmarkA/b=c-1: no\xE2\x90\x8AGPU\n"), std::string::npos);
  EXPECT_NE(text.find("\n--- SKIP: BenchmarkB-1: why\n"), std::string::npos);
  EXPECT_TRUE(ReadGo(text).all.empty());
}

TEST(ExportGoBench, ConfiguresEachFileByMachineOnly) {
  ResultFile bare = File({TimedRow("B", 1)});
  bare.context.clear();
  const Results results = ReadGo(
      Exported({File({TimedRow("A", 1)}), With(File({TimedRow("A", 1)}), "git_commit", "x"), bare},
               "gobench"));
  ASSERT_EQ(results.all.size(), 3U);
  EXPECT_EQ(results.all[0].config, results.all[1].config) << "else benchstat splits the table";
  EXPECT_EQ(results.all[0].config.size(), 2U);
  EXPECT_TRUE(results.all[2].config.empty()) << "nothing of the file before";
}

TEST(ExportGoBench, IsEmptyWithoutFiles) { EXPECT_EQ(Exported({}, "gobench"), ""); }

}  // namespace
}  // namespace cnn
