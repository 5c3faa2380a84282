#include "tools/calibration.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <tuple>

namespace cnn {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchemaVersion = 1;
constexpr const char* kKind = "cnn_compare calibration";

Calibration FromJson(const Json& json) {
  if (json.at("kind") != kKind || json.at("schema_version") != kSchemaVersion) {
    throw ReadError("it is of another kind or schema version");
  }
  Calibration calibration;
  calibration.files = json.at("files").get<std::size_t>();
  for (const Json& entry : json.at("machine")) {
    calibration.machine.push_back(
        {entry.at("key").get<std::string>(), entry.at("value").get<std::string>()});
  }
  for (const Json& band : json.at("bands")) {
    calibration.bands.push_back({band.at("benchmark").get<std::string>(),
                                 band.at("metric").get<std::string>(),
                                 band.at("threshold").get<double>()});
    const double threshold = calibration.bands.back().threshold;
    if (!(threshold >= 0) || !std::isfinite(threshold)) {
      throw ReadError("the threshold of " + calibration.bands.back().benchmark +
                      " is not a number above zero");
    }
  }
  return calibration;
}

}  // namespace

Calibration Calibrate(const std::vector<ResultFile>& files, const CompareOptions& options,
                      double floor) {
  constexpr std::size_t kFewest = 6;
  if (!(floor >= 0) || !std::isfinite(floor)) throw std::invalid_argument("the floor is negative");
  if (files.size() < kFewest) {
    throw CompareError("a calibration needs " + std::to_string(kFewest) + " files or more, not " +
                       std::to_string(files.size()));
  }
  if (files.front().ContextValue("host_name").empty()) {
    throw CompareError(files.front().path +
                       " names no host_name in its context: noise cannot be tied to a machine");
  }
  Calibration calibration;
  calibration.machine = MachineIdentity(files.front());
  calibration.files = files.size();
  CompareOptions plain = options;
  plain.calibration.reset();
  plain.allow_mixed_context = false;
  // Compared with itself, so that names, summaries and directions are those of a comparison.
  Comparison comparison = Compare(files, files, plain);
  std::sort(comparison.rows.begin(), comparison.rows.end(),
            [](const ComparisonRow& a, const ComparisonRow& b) {
              return std::tie(a.benchmark_index, a.metric) < std::tie(b.benchmark_index, b.metric);
            });
  for (const ComparisonRow& row : comparison.rows) {
    if (!row.has_effect || !row.is_ratio || row.base.size() != files.size()) continue;
    Samples changes;
    for (std::size_t i = 0; i < row.base.size(); ++i) {
      for (std::size_t k = 0; k < i; ++k) {
        changes.push_back(std::fabs(std::log(row.base[i] / row.base[k])));
      }
    }
    const double q3 = Quantile(changes, 0.75);
    const double band = std::expm1(q3 + 3 * (q3 - Quantile(changes, 0.25)));
    calibration.bands.push_back({row.benchmark, row.metric, std::max(floor, band)});
  }
  return calibration;
}

void WriteCalibration(const Calibration& calibration, std::ostream& out) {
  Json json = {{"schema_version", kSchemaVersion},
               {"kind", kKind},
               {"files", calibration.files},
               {"machine", Json::array()},
               {"bands", Json::array()}};
  for (const ContextEntry& entry : calibration.machine) {
    json["machine"].push_back({{"key", entry.key}, {"value", entry.value}});
  }
  for (const Calibration::Band& band : calibration.bands) {
    json["bands"].push_back(
        {{"benchmark", band.benchmark}, {"metric", band.metric}, {"threshold", band.threshold}});
  }
  out << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

Calibration ReadCalibration(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw ReadError(path + ": cannot be read");
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  try {
    return FromJson(Json::parse(text));
  } catch (const std::exception& error) {
    throw ReadError(path + ": no calibration: " + error.what() +
                    "; make one with cnn_compare calibrate");
  }
}

}  // namespace cnn
