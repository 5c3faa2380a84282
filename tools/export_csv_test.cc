#include <gtest/gtest.h>

#include <map>
#include <set>
#include <stdexcept>
#include <vector>

#include "tools/export_testing.h"
#include "tools/export_text.h"

namespace cnn {
namespace {

struct Field {
  std::string text;
  bool is_quoted = false;
};
using Record = std::vector<Field>;

// RFC 4180 to the letter: CRLF after every record, a quote only around a whole field or doubled in
// it, as many fields in every record as in the first.
class CsvReader {
 public:
  explicit CsvReader(std::string_view text) : text_(text) {}

  std::vector<Record> Read() {
    std::vector<Record> records;
    while (at_ < text_.size()) {
      records.push_back(ReadRecord());
      if (records.back().size() != records[0].size()) Fail("another number of fields");
    }
    return records;
  }

 private:
  [[noreturn]] void Fail(const std::string& what) const {
    throw std::runtime_error(what + " at byte " + std::to_string(at_));
  }
  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  char Next() {
    if (at_ >= text_.size()) Fail("cut");
    return text_[at_++];
  }

  Record ReadRecord() {
    Record record;
    while (true) {
      record.push_back(Peek() == '"' ? ReadQuoted() : ReadBare());
      const char end = Next();
      if (end == ',') continue;
      if (end != '\r' || Next() != '\n') Fail("neither comma nor CRLF");
      return record;
    }
  }

  Field ReadQuoted() {
    Field field = {"", true};
    Next();
    while (true) {
      const char c = Next();
      if (c == '"' && Peek() != '"') return field;
      field.text += c == '"' ? Next() : c;
    }
  }

  Field ReadBare() {
    Field field;
    while (at_ < text_.size() && Peek() != ',' && Peek() != '\r') {
      if (Peek() == '"' || static_cast<unsigned char>(Peek()) < 0x20) Fail("not allowed bare");
      field.text += Next();
    }
    return field;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// Records by the header's names.
std::vector<std::map<std::string, Field>> ReadTable(const std::string& text) {
  const std::vector<Record> records = CsvReader(text).Read();
  std::vector<std::map<std::string, Field>> rows;
  for (std::size_t i = 1; i < records.size(); ++i) {
    std::map<std::string, Field> row;
    for (std::size_t k = 0; k < records[i].size(); ++k) {
      const bool is_new = row.emplace(records[0][k].text, records[i][k]).second;
      if (!is_new) throw std::runtime_error("column twice: " + records[0][k].text);
    }
    rows.push_back(row);
  }
  return rows;
}

TEST(ExportCsv, StrictReaderRefusesLoosetext) {
  EXPECT_EQ(CsvReader("\"a\"\"b\",\r\n").Read()[0][0].text, "a\"b");
  for (const char* text : {"a\n", "a", "a\"b\r\n", "\"a\"b\r\n", "a,b\r\nc\r\n", "\"a\r\n"}) {
    EXPECT_THROW(CsvReader(text).Read(), std::runtime_error) << text;
  }
}

TEST(ExportCsv, HasTheUnionOfAllCounters) {
  const auto rows =
      ReadTable(Exported({File({Row("a", {{"real_time", 0.5}, {"x", 1}})}, "1.json"),
                          File({Row("b", {{"y", 1e-7}, {"real_time", 2}})}, "2.json")},
                         "csv"));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].at("real_time").text, "0.5");
  EXPECT_FALSE(rows[0].at("real_time").is_quoted);
  EXPECT_EQ(rows[0].at("x").text, "1.0");
  EXPECT_EQ(rows[0].at("y").text, "") << "absent";
  EXPECT_EQ(rows[1].at("y").text, "1e-07");
  EXPECT_EQ(rows[1].at("real_time").text, "2.0");
  EXPECT_EQ(rows[1].at("file").text, "2.json");
  EXPECT_EQ(rows[1].at("time").text, "2026-12-01T18:36:31Z");
  EXPECT_TRUE(rows[1].at("name").is_quoted);
}

TEST(ExportCsv, HasEveryRowInOrder) {
  const ResultFile file = HostileFile();
  const auto rows = ReadTable(Exported({file}, "csv"));
  ASSERT_EQ(rows.size(), file.rows.size());
  std::set<std::string> kinds;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].at("name").text, VisibleText(file.rows[i].name));
    kinds.insert(rows[i].at("kind").text);
  }
  EXPECT_EQ(kinds, (std::set<std::string>{"iteration", "aggregate", "big_o"}));
}

TEST(ExportCsv, KeepsCountersApartFromColumns) {
  const auto rows = ReadTable(Exported({HostileFile()}, "csv"));
  const auto& row = rows.at(HostileNames().size());
  EXPECT_EQ(row.at("name").text, "Counters");
  EXPECT_EQ(row.at("name_2").text, "7.0") << "a counter that is called name";
  EXPECT_EQ(row.at("real_time").text, "1e-09");
  EXPECT_EQ(row.at("real_time_counter").text, "123.0");
  EXPECT_EQ(row.at("cpu_time").text, "NaN");
  EXPECT_EQ(row.at("items_per_second").text, "Infinity");
  EXPECT_EQ(row.at("loss").text, "-Infinity");
}

TEST(ExportCsv, HasNoValuesForErrors) {
  const auto rows =
      ReadTable(Exported({File({TimedRow("a", 1), FailedRow("b", "a,\"b\"")})}, "csv"));
  EXPECT_EQ(rows[1].at("state").text, "error");
  EXPECT_EQ(rows[1].at("message").text, "a,\"b\"");
  EXPECT_EQ(rows[1].at("real_time").text, "");
}

TEST(ExportCsv, GuardsAgainstFormulasWhenAsked) {
  ExportOptions guarded;
  guarded.csv_formula_guard = true;
  for (const char* name : {"=1+1", "+1", "-1", "@sum"}) {
    const ResultFile file = File({Row(name, {{name, -1}})});
    EXPECT_EQ(ReadTable(Exported({file}, "csv")).at(0).at("name").text, name);
    const auto rows = ReadTable(Exported({file}, "csv", guarded));
    EXPECT_EQ(rows[0].at("name").text, "'" + std::string(name));
    EXPECT_EQ(rows[0].at("'" + std::string(name)).text, "-1.0") << "a number is no formula";
  }
}

TEST(ExportCsv, IsAHeaderWithoutResults) {
  EXPECT_EQ(CsvReader(Exported({}, "csv")).Read().size(), 1U);
}

}  // namespace
}  // namespace cnn
