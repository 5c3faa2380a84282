// The formats, one function each; Export chooses. Each one's source says what its readers demand.
#pragma once

#include <ostream>
#include <vector>

#include "tools/export.h"
#include "tools/result_file.h"

namespace cnn {

using ResultFiles = std::vector<ResultFile>;

void WriteNdjson(const ResultFiles& files, const ExportOptions& options, std::ostream& out);
void WriteJson(const ResultFiles& files, const ExportOptions& options, std::ostream& out);
void WriteBmf(const ResultFiles& files, const ExportOptions& options, std::ostream& out);
void WriteGhaSmaller(const ResultFiles& files, const ExportOptions& options, std::ostream& out);
void WriteGhaBigger(const ResultFiles& files, const ExportOptions& options, std::ostream& out);
void WriteCsv(const ResultFiles& files, const ExportOptions& options, std::ostream& out);
void WriteInflux(const ResultFiles& files, const ExportOptions& options, std::ostream& out);
void WriteOpenMetrics(const ResultFiles& files, const ExportOptions& options, std::ostream& out);
void WriteGoBench(const ResultFiles& files, const ExportOptions& options, std::ostream& out);
void WriteJUnit(const ResultFiles& files, const ExportOptions& options, std::ostream& out);
void WriteMarkdown(const ResultFiles& files, const ExportOptions& options, std::ostream& out);

}  // namespace cnn
