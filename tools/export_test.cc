#include "tools/export.h"

#include <gtest/gtest.h>

#include <sstream>
#include <stdexcept>

#include "tools/export_testing.h"
#include "tools/export_text.h"

namespace cnn {
namespace {

TEST(Export, KnowsElevenFormats) {
  EXPECT_EQ(ExportFormatNames(),
            "ndjson, json, csv, bmf, gha-smaller, gha-bigger, influx, openmetrics, gobench, junit, "
            "markdown");
  EXPECT_EQ(ParseExportFormat("gha-bigger"), ExportFormat::kGhaBigger);
}

TEST(Export, NamesTheFormatsInTheError) {
  try {
    ParseExportFormat("xml");
    FAIL() << "was accepted";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(),
                 ("unknown export format 'xml': it is one of " + ExportFormatNames()).c_str());
  }
  EXPECT_THROW(ParseExportFormat(""), std::invalid_argument);
  EXPECT_THROW(ParseExportFormat("JSON"), std::invalid_argument);
}

TEST(Export, WritesNothingOfFilesThatCannotBePooled) {
  const ResultFile file = File({TimedRow("a", 1)});
  for (const std::string_view format :
       Split("bmf gha-smaller gha-bigger influx openmetrics markdown", ' ')) {
    std::ostringstream out;
    EXPECT_THROW(
        Export({file, With(file, "build_type", "Debug")}, ParseExportFormat(format), {}, out),
        std::runtime_error)
        << format;
    EXPECT_EQ(out.str(), "") << format;
  }
}

TEST(Export, WritesNoControlByteAndOnlyValidUtf8) {
  ExportOptions timestamps;
  timestamps.openmetrics_timestamps = true;
  for (const std::string_view format : Split("ndjson json csv bmf gha-smaller gha-bigger influx "
                                             "openmetrics gobench junit markdown",
                                             ' ')) {
    const std::string text = Exported({HostileFile()}, std::string(format), timestamps);
    EXPECT_EQ(text, ValidUtf8(text)) << format;
    for (const char c : text) {
      const bool is_line_end = c == '\n' || (c == '\r' && format == "csv");
      ASSERT_TRUE(static_cast<unsigned char>(c) >= 0x20 || is_line_end) << format << int{c};
      ASSERT_NE(c, '\x7f') << format;
    }
    EXPECT_EQ(text.find("\xC2\x9B"), std::string::npos) << format << ": a C1 control character";
  }
}

}  // namespace
}  // namespace cnn
