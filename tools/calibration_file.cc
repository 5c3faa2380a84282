#include "tools/calibration_file.h"

#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

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
