// Runs cnn_compare as a user would: what its tests share.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

namespace cnn {

namespace fs = std::filesystem;
using Json = nlohmann::json;

inline bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

struct ProgramResult {
  int code = -1;
  std::string out;
  std::string err;
};

class CompareProgram : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("cnn_compare_" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string Slurp(const std::string& name) const {
    std::ifstream in(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }

  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }

  // `arguments` are shell text; the working folder is the test's.
  ProgramResult Run(const std::string& arguments, const std::string& environment = "") const {
    const std::string command = "cd '" + folder_.string() + "' && " + environment + " '" +
                                CNN_COMPARE_PROGRAM + "' " + arguments + " > OUT 2> ERR";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, Slurp("OUT"), Slurp("ERR")};
  }

  static Json Row(const std::string& name, double milliseconds) {
    return {{"name", name},
            {"run_name", name},
            {"run_type", "iteration"},
            {"family_index", 0},
            {"per_family_instance_index", 0},
            {"repetitions", 1},
            {"repetition_index", 0},
            {"threads", 1},
            {"iterations", 10},
            {"real_time", milliseconds},
            {"cpu_time", milliseconds},
            {"time_unit", "ms"}};
  }

  void WriteRun(const std::string& name, const Json& rows,
                const std::string& date = "2026-12-01T10:00:00+00:00") const {
    const Json context = {
        {"date", date},  {"host_name", "vm"},       {"executable", "./b"},
        {"num_cpus", 2}, {"caches", Json::array()}, {"library_build_type", "release"}};
    Write(name, Json({{"context", context}, {"benchmarks", rows}}).dump());
  }

  // base1.json … base6.json and new1.json …, in which A takes `factor` times as long.
  void WriteSides(double factor) const {
    const double noise[] = {1, 1.001, 0.999, 1.002, 1.0005, 0.998};
    for (int i = 0; i < 6; ++i) {
      const std::string number = std::to_string(i + 1) + ".json";
      const std::string hour = "2026-12-01T1" + std::to_string(i);
      WriteRun("base" + number, {Row("A", 10 * noise[i]), Row("B", 20 * noise[i])},
               hour + ":00:00+00:00");
      WriteRun("new" + number, {Row("A", factor * 10 * noise[i]), Row("B", 20 * noise[i])},
               hour + ":30:00+00:00");
    }
  }

  fs::path folder_;
};

}  // namespace cnn
