#include "benchmarks/table.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ostream>
#include <vector>

#include "fixtures/fixture.h"

namespace cnn {
namespace {

struct Column {
  const char* counter;
  const char* heading;
  double scale;
};
constexpr Column kImages = {"items_per_second", "images/s", 1};
constexpr Column kFlops = {"flops_per_second", "GFLOP/s", 1e-9};
constexpr Column kBytes = {"bytes_per_second", "GB/s", 1e-9};
constexpr Column kStep = {"ms_per_step", "ms/step", 1};
constexpr Column kWait = {"wait_ms", "wait ms", 1};
constexpr Column kCopy = {"copy_ms", "copy ms", 1};
constexpr Column kForward = {"forward_ms", "fwd ms", 1};
constexpr Column kBackward = {"backward_ms", "bwd ms", 1};
constexpr Column kOptimizer = {"optimizer_ms", "optim ms", 1};
constexpr Column kBusy = {"worker_busy_ms", "busy ms", 1};
constexpr Column kBlocked = {"worker_wait_ms", "block ms", 1};
constexpr Column kFirstLoss = {"first_loss", "1st loss", 1};
constexpr Column kLoss = {"loss", "loss", 1};
constexpr Column kAccuracy = {"accuracy", "accuracy", 1};
constexpr Column kTrainImages = {"train_images_per_second", "images/s", 1};
constexpr Column kValidation = {"val_seconds", "val s", 1};
constexpr Column kValLoss = {"val_loss", "val loss", 1};
constexpr Column kValAccuracy = {"val_accuracy", "val acc", 1};
constexpr Column kFaults = {"page_faults_per_step", "faults", 1};

// The columns of a family; each counter is explained in results/README.md.
std::vector<Column> ColumnsOf(const std::string& family) {
  if (family == "Layer") return {kImages, kFlops, kBytes, kFaults};
  if (family == "Model") return {kImages, kFlops, kForward, kBackward, kOptimizer, kFaults};
  if (family == "Pipeline") return {kImages, kWait, kBusy, kBlocked, kFaults};
  if (family == "Epoch") {
    return {kImages,   kStep,      kWait,      kBlocked, kCopy,     kForward,
            kBackward, kOptimizer, kFirstLoss, kLoss,    kAccuracy, kFaults};
  }
  if (family == "Train") {
    return {kTrainImages, kStep, kWait,     kForward, kBackward,    kOptimizer,
            kValidation,  kLoss, kAccuracy, kValLoss, kValAccuracy, kFaults};
  }
  return {kImages, kFaults};
}

constexpr int kWidth = 8;

// Four significant digits, without an exponent where that is readable.
std::string Number(double value) {
  char text[32];
  const double size = std::fabs(value);
  if (size != 0 && (size < 1e-3 || size >= 1e7)) {
    std::snprintf(text, sizeof text, "%.3g", value);
  } else {
    const int digits = size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : size >= 1 ? 3 : 4;
    std::snprintf(text, sizeof text, "%.*f", digits, value);
  }
  return size == 0 ? "0" : text;
}

void PrintCell(std::ostream& out, const std::string& text, int width = kWidth) {
  char cell[64];
  std::snprintf(cell, sizeof cell, " %*s", width, text.c_str());
  out << cell;
}

}  // namespace

bool Table::ReportContext(const Context& context) {
  name_width_ = context.name_field_width;
  return true;
}

void Table::ReportRuns(const std::vector<Run>& runs) {
  for (const Run& run : runs) {
    const std::string name = run.benchmark_name();
    name_width_ = std::max(name_width_, name.size());
    const std::string family = name.substr(0, name.find('/'));
    if (family != family_ && !Failed(run)) PrintHeading(run, family);
    PrintRow(run);
  }
}

void Table::PrintHeading(const Run& run, const std::string& family) {
  std::string heading = family_.empty() ? "" : "\n";
  family_ = family;
  heading += family;
  heading.resize(name_width_ + (heading[0] == '\n' ? 1 : 0), ' ');
  std::ostream& out = GetOutputStream();
  out << heading;
  PrintCell(out, std::string("time ") + benchmark::GetTimeUnitString(run.time_unit), kWidth + 1);
  PrintCell(out, "cores", 5);
  for (const Column& column : ColumnsOf(family)) PrintCell(out, column.heading);
  out << "\n";
}

void Table::PrintRow(const Run& run) {
  std::string name = run.benchmark_name();
  name.resize(name_width_, ' ');
  std::ostream& out = GetOutputStream();
  out << name;
  if (Failed(run)) {
    out << " FAILED: " << ErrorOf(run) << "\n";
    return;
  }
  // The coefficient of variation of repetitions is a share, not a time.
  const bool is_share = run.run_type == Run::RT_Aggregate &&
                        run.aggregate_unit == benchmark::StatisticUnit::kPercentage;
  const auto cell = [&](double value, double scale) {
    return is_share ? Number(value * 100) + " %" : Number(value * scale);
  };
  const double time = is_share ? run.real_accumulated_time : run.GetAdjustedRealTime();
  PrintCell(out, cell(time, 1), kWidth + 1);
  const bool has_cores =
      !is_share && run.real_accumulated_time > 0 && run.aggregate_name != "stddev";
  PrintCell(out, has_cores ? Number(run.cpu_accumulated_time / run.real_accumulated_time) : "", 5);
  for (const Column& column : ColumnsOf(family_)) {
    const auto counter = run.counters.find(column.counter);
    PrintCell(out, counter == run.counters.end() ? "" : cell(counter->second, column.scale));
  }
  out << (run.report_label.empty() ? "" : "  ") << run.report_label << "\n";
}

}  // namespace cnn
