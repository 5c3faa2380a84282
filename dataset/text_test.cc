#include "dataset/text.h"

#include <gtest/gtest.h>

#include <string>

namespace cnn {
namespace {

TEST(Printable, LeavesTextAsItIs) {
  for (const std::string text :
       {"", "a/b c.jpg", "back\\slash", "gr\xC3\xBC\xC3\x9F", "\xE7\xA9\xBA", "\xF0\x9F\x90\x88"}) {
    EXPECT_EQ(Printable(text), text);
  }
}

TEST(Printable, ShowsControlCharactersAndBytesThatAreNoUtf8) {
  EXPECT_EQ(Printable("a\nb\x1b[31m\x7f"), "a\\x0ab\\x1b[31m\\x7f");
  EXPECT_EQ(Printable("caf\xE9.jpg"), "caf\\xe9.jpg");
  EXPECT_EQ(Printable("\xC2\x85"), "\\xc2\\x85");           // C1 control
  EXPECT_EQ(Printable("\xC0\xAF"), "\\xc0\\xaf");           // overlong
  EXPECT_EQ(Printable("\xED\xA0\x80"), "\\xed\\xa0\\x80");  // surrogate
  EXPECT_EQ(Printable("\xF4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(Printable("\xE7\xA9"), "\\xe7\\xa9");  // cut off
  EXPECT_EQ(Printable(std::string("\0", 1)), "\\x00");
}

TEST(EditDistance, CountsLettersThatDiffer) {
  EXPECT_EQ(EditDistance("filter", "filters"), 1U);
  EXPECT_EQ(EditDistance("Epohc", "epoch"), 2U);
  EXPECT_EQ(EditDistance("", "abc"), 3U);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3U);
}

}  // namespace
}  // namespace cnn
