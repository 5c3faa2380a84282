#include "tools/export_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace cnn {
namespace {

TEST(ExportText, WritesTheShortestRealsWithAPoint) {
  EXPECT_EQ(FormatReal(5), "5.0");
  EXPECT_EQ(FormatReal(-0.0), "-0.0");
  EXPECT_EQ(FormatReal(0.1), "0.1");
  EXPECT_EQ(FormatReal(1e300), "1e+300");
  EXPECT_EQ(FormatReal(std::numeric_limits<double>::denorm_min()), "5e-324");
  EXPECT_EQ(FormatReal(std::nan("")), "NaN");
  EXPECT_EQ(FormatReal(-INFINITY), "-Infinity");
}

TEST(ExportText, WritesDecimalsWithoutExponent) {
  EXPECT_EQ(FormatDecimal(1e-7), "0.0000001");
  EXPECT_EQ(FormatDecimal(1e22), "10000000000000000000000.0");
  EXPECT_EQ(FormatDecimal(std::numeric_limits<double>::max()).size(), 311U);
  EXPECT_EQ(FormatDecimal(std::nan("")), "0.0");
}

TEST(ExportText, ReplacesWhatIsNotUtf8) {
  EXPECT_EQ(ValidUtf8("a\xffz"), "a\xEF\xBF\xBDz");
  EXPECT_EQ(ValidUtf8("\xC3"), "\xEF\xBF\xBD") << "cut";
  EXPECT_EQ(ValidUtf8("\xC0\xAF"), "\xEF\xBF\xBD\xEF\xBF\xBD") << "longer than needed";
  EXPECT_EQ(ValidUtf8("\xED\xA0\x80").find('\xED'), std::string::npos) << "a surrogate";
  EXPECT_EQ(ValidUtf8("\xF4\x90\x80\x80").find('\xF4'), std::string::npos) << "above U+10FFFF";
  for (const char* text : {"\xC3\xA4", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_EQ(ValidUtf8(text), text);
  }
}

TEST(ExportText, DrawsControlCharacters) {
  EXPECT_EQ(VisibleText("\x1b[0m\n\x7f"), "\xE2\x90\x9B[0m\xE2\x90\x8A\xE2\x90\xA1");
  EXPECT_EQ(VisibleText(std::string_view("\0", 1)), "\xE2\x90\x80");
  EXPECT_EQ(VisibleText("\xC2\x9B"), "\xEF\xBF\xBD");
}

TEST(ExportText, QuotesJson) {
  EXPECT_EQ(JsonString("a\"\\\n\r\t\x1b\x7f\xff"),
            "\"a\\\"\\\\\\n\\r\\t\\u001b\\u007f\xEF\xBF\xBD\"");
}

TEST(ExportText, CutsBetweenCharacters) {
  EXPECT_EQ(CutUtf8("a\xE2\x82\xAC", 3), "a");
  EXPECT_EQ(CutUtf8("a\xE2\x82\xAC", 4), "a\xE2\x82\xAC");
  EXPECT_EQ(CutUtf8("\xE2\x82\xAC", 0), "");
}

TEST(ExportText, ReadsTimesWithTheirOffset) {
  EXPECT_EQ(ParseTime("1970-01-01T00:00:00+00:00"), 0);
  EXPECT_EQ(ParseTime("2026-12-01T19:36:31+01:00"), 1796150191);
  EXPECT_EQ(ParseTime("2026-12-01T18:36:31Z"), 1796150191);
  EXPECT_EQ(ParseTime("2000-02-29T12:00:00-0030"), 951827400);
  for (const char* text : {"", "2015/03/17-18:40:25", "2026-12-01T18:36:31", "2026-13-01T18:36:31Z",
                           "2026-12-01T18:36:31+1", "2026-12-01 18:36:31Z"}) {
    EXPECT_FALSE(ParseTime(text)) << text;
  }
}

TEST(ExportText, WritesTheTimesItReads) {
  EXPECT_EQ(FormatTime(1796150191), "2026-12-01T18:36:31");
  for (std::int64_t seconds = -4000000000; seconds < 8000000000; seconds += 86399 * 17) {
    ASSERT_EQ(ParseTime(FormatTime(seconds) + "Z"), seconds);
  }
}

TEST(ExportText, GivesEveryNameOnce) {
  UniqueNames names;
  EXPECT_EQ(names.Take("a", " #"), "a");
  EXPECT_EQ(names.Take("a #2", " #"), "a #2");
  EXPECT_EQ(names.Take("a", " #"), "a #3");
}

}  // namespace
}  // namespace cnn
