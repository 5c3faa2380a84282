#include "benchmarks/csv.h"

#include <cstdio>
#include <set>

#include "fixtures/fixture.h"

namespace cnn {
namespace {

std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

// The coefficient of variation is a share, which must not be scaled like a time.
bool IsShare(const benchmark::BenchmarkReporter::Run& row) {
  return row.run_type == benchmark::BenchmarkReporter::Run::RT_Aggregate &&
         row.aggregate_unit == benchmark::StatisticUnit::kPercentage;
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
  std::string text = "name,repetition_index,iterations,real_time,cpu_time,time_unit";
  for (const std::string& name : counters) text += "," + name;
  text += ",label,error_message\n";
  for (const auto& row : rows) {
    text += Quoted(row.benchmark_name());
    if (Failed(row)) {
      text += ",,,,," + std::string(counters.size() + 1, ',') + "," + Quoted(ErrorOf(row)) + "\n";
      continue;
    }
    const bool is_share = IsShare(row);
    const bool is_aggregate = row.run_type == benchmark::BenchmarkReporter::Run::RT_Aggregate;
    text += "," + (is_aggregate ? "" : std::to_string(row.repetition_index)) + "," +
            std::to_string(row.iterations) + "," +
            Number(is_share ? row.real_accumulated_time : row.GetAdjustedRealTime()) + "," +
            Number(is_share ? row.cpu_accumulated_time : row.GetAdjustedCPUTime()) + "," +
            (is_share ? "" : benchmark::GetTimeUnitString(row.time_unit));
    for (const std::string& name : counters) {
      const auto counter = row.counters.find(name);
      text += "," + (counter == row.counters.end() ? "" : Number(counter->second));
    }
    text += "," + (row.report_label.empty() ? "" : Quoted(row.report_label)) + ",\n";
  }
  return text;
}

}  // namespace cnn
