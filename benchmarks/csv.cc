#include "benchmarks/csv.h"

#include <set>

#include "fixtures/fixture.h"

namespace cnn {
namespace {

std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string Number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

}  // namespace

std::string Csv(const std::vector<benchmark::BenchmarkReporter::Run>& rows) {
  std::set<std::string> counters;
  for (const auto& row : rows) {
    for (const auto& [name, value] : row.counters) counters.insert(name);
  }
  std::string text = "name,iterations,real_time,cpu_time,time_unit";
  for (const std::string& name : counters) text += "," + name;
  text += ",error_message\n";
  for (const auto& row : rows) {
    text += Quoted(row.benchmark_name());
    if (Failed(row)) {
      text += ",,,," + std::string(counters.size(), ',') + "," + Quoted(ErrorOf(row)) + "\n";
      continue;
    }
    text += "," + std::to_string(row.iterations) + "," + Number(row.GetAdjustedRealTime()) + "," +
            Number(row.GetAdjustedCPUTime()) + "," + benchmark::GetTimeUnitString(row.time_unit);
    for (const std::string& name : counters) {
      const auto counter = row.counters.find(name);
      text += "," + (counter == row.counters.end() ? "" : Number(counter->second));
    }
    text += ",\n";
  }
  return text;
}

}  // namespace cnn
