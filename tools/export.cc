#include "tools/export.h"

#include <array>
#include <stdexcept>

#include "tools/export_writers.h"

namespace cnn {
namespace {

struct FormatEntry {
  std::string_view name;
  ExportFormat format;
  void (*write)(const ResultFiles&, const ExportOptions&, std::ostream&);
};

constexpr std::array<FormatEntry, 11> kFormats = {{
    {"ndjson", ExportFormat::kNdjson, WriteNdjson},
    {"json", ExportFormat::kJson, WriteJson},
    {"csv", ExportFormat::kCsv, WriteCsv},
    {"bmf", ExportFormat::kBmf, WriteBmf},
    {"gha-smaller", ExportFormat::kGhaSmaller, WriteGhaSmaller},
    {"gha-bigger", ExportFormat::kGhaBigger, WriteGhaBigger},
    {"influx", ExportFormat::kInflux, WriteInflux},
    {"openmetrics", ExportFormat::kOpenMetrics, WriteOpenMetrics},
    {"gobench", ExportFormat::kGoBench, WriteGoBench},
    {"junit", ExportFormat::kJUnit, WriteJUnit},
    {"markdown", ExportFormat::kMarkdown, WriteMarkdown},
}};

}  // namespace

ExportFormat ParseExportFormat(std::string_view name) {
  for (const FormatEntry& entry : kFormats) {
    if (entry.name == name) return entry.format;
  }
  throw std::invalid_argument("unknown export format '" + std::string(name) + "': it is one of " +
                              ExportFormatNames());
}

std::string ExportFormatNames() {
  std::string names;
  for (const FormatEntry& entry : kFormats) {
    names += (names.empty() ? "" : ", ") + std::string(entry.name);
  }
  return names;
}

void Export(const std::vector<ResultFile>& files, ExportFormat format, const ExportOptions& options,
            std::ostream& out) {
  for (const FormatEntry& entry : kFormats) {
    if (entry.format == format) entry.write(files, options, out);
  }
}

}  // namespace cnn
