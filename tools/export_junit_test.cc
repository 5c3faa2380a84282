#include <gtest/gtest.h>

#include <charconv>
#include <map>
#include <set>
#include <stdexcept>
#include <vector>

#include "tools/export_testing.h"
#include "tools/export_text.h"

namespace cnn {
namespace {

struct Element {
  std::string name;
  std::map<std::string, std::string> attributes;
  std::vector<Element> children;
  std::string text;
};

// XML 1.0 without what the export does not use (comments, CDATA, namespaces, document types).
class XmlReader {
 public:
  explicit XmlReader(const std::string& text) : text_(text) {
    if (ValidUtf8(text) != text) Fail("not UTF-8");
    for (const char* bad : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"}) {
      if (text.find(bad) != std::string::npos) Fail("not a character of XML");
    }
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte < 0x20 && c != '\n' && c != '\t' && c != '\r') Fail("control character");
    }
  }

  Element Read() {
    Expect("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    Element root = ReadElement();
    SkipSpace();
    if (at_ != text_.size()) Fail("more than one element");
    return root;
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
  void Expect(std::string_view wanted) {
    for (const char c : wanted) {
      if (Next() != c) Fail("no " + std::string(wanted));
    }
  }
  bool IsAt(std::string_view wanted) const {
    return text_.compare(at_, wanted.size(), wanted) == 0;
  }
  void SkipSpace() {
    while (Peek() == ' ' || Peek() == '\n') ++at_;
  }

  std::string ReadName() {
    std::string name;
    while ((Peek() >= 'a' && Peek() <= 'z') || Peek() == '-') name += Next();
    if (name.empty()) Fail("no name");
    return name;
  }

  char ReadEntity() {
    const std::size_t end = text_.find(';', at_);
    if (end == std::string::npos) Fail("entity");
    const std::map<std::string, char> known = {
        {"&amp", '&'}, {"&lt", '<'}, {"&gt", '>'}, {"&quot", '"'}};
    const auto found = known.find(text_.substr(at_, end - at_));
    if (found == known.end()) Fail("entity");
    at_ = end + 1;
    return found->second;
  }

  std::string ReadText(char end) {
    std::string text;
    while (Peek() != end) {
      if (Peek() == '&') {
        text += ReadEntity();
        continue;
      }
      if (Peek() == '<' || IsAt("]]>")) Fail("not allowed in text");
      text += Next();
    }
    return text;
  }

  Element ReadElement() {
    Element element;
    Expect("<");
    element.name = ReadName();
    while (Peek() == ' ') {
      Expect(" ");
      const std::string key = ReadName();
      Expect("=\"");
      if (!element.attributes.emplace(key, ReadText('"')).second) Fail("attribute twice");
      Expect("\"");
    }
    if (IsAt("/>")) {
      at_ += 2;
      return element;
    }
    Expect(">");
    while (true) {
      element.text += ReadText('<');
      if (IsAt("</")) break;
      element.children.push_back(ReadElement());
    }
    Expect("</" + element.name + ">");
    return element;
  }

  const std::string& text_;
  std::size_t at_ = 0;
};

std::size_t CountCases(const Element& element, const std::string& result) {
  std::size_t count = 0;
  for (const Element& child : element.children) {
    if (child.name == result) ++count;
    count += CountCases(child, result);
  }
  return count;
}

void CheckCounts(const Element& element) {
  const std::map<std::string, std::string> results = {
      {"tests", "testcase"}, {"failures", "failure"}, {"errors", "error"}, {"skipped", "skipped"}};
  for (const auto& [attribute, result] : results) {
    if (attribute == "skipped" && element.name == "testsuites") continue;
    EXPECT_EQ(element.attributes.at(attribute), std::to_string(CountCases(element, result)))
        << attribute;
  }
}

struct Rule {
  std::set<std::string> attributes;
  std::set<std::string> children;
};

// What junit-10.xsd of Jenkins's xUnit plugin allows.
void CheckSchema(const Element& element) {
  static const std::map<std::string, Rule> rules = {
      {"testsuites", {{"name", "time", "tests", "failures", "errors"}, {"testsuite"}}},
      {"testsuite",
       {{"name", "tests", "failures", "errors", "group", "time", "skipped", "timestamp", "hostname",
         "id", "package", "file", "log", "url"},
        {"testsuite", "properties", "testcase", "system-out", "system-err"}}},
      {"testcase",
       {{"name", "time", "classname", "group"},
        {"skipped", "error", "failure", "system-out", "system-err"}}},
      {"skipped", {{"type", "message"}, {}}},
      {"error", {{"type", "message"}, {}}},
      {"failure", {{"type", "message"}, {}}},
      {"system-out", {}}};
  const Rule& rule = rules.at(element.name);
  for (const auto& [name, value] : element.attributes) {
    EXPECT_EQ(rule.attributes.count(name), 1U) << element.name << ' ' << name;
  }
  for (const Element& child : element.children) {
    EXPECT_EQ(rule.children.count(child.name), 1U) << element.name << ' ' << child.name;
    CheckSchema(child);
  }
}

void CheckTimes(const Element& element) {
  if (element.attributes.count("time") > 0) {
    const std::string& time = element.attributes.at("time");
    EXPECT_EQ(time.find_first_not_of("0123456789."), std::string::npos) << time;
  }
  for (const Element& child : element.children) CheckTimes(child);
}

Element ReadJUnit(const std::string& text) {
  Element root = XmlReader(text).Read();
  EXPECT_EQ(root.name, "testsuites");
  CheckSchema(root);
  CheckCounts(root);
  CheckTimes(root);
  for (const Element& suite : root.children) CheckCounts(suite);
  return root;
}

TEST(ExportJUnit, StrictReaderRefusesLooseText) {
  const std::string head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  EXPECT_NO_THROW(XmlReader(head + "<a b=\"&lt;\"><c/>x</a>\n").Read());
  for (const char* text : {"<a>", "<a></b>", "<a b=\"<\"/>", "<a b=\"1\" b=\"2\"/>", "<a>&x;</a>",
                           "<a>]]></a>", "<a>\x1b</a>", "<a>\xff</a>", "<a/><a/>", "<a b=1/>"}) {
    const std::string document = head + text;
    EXPECT_THROW(XmlReader(document).Read(), std::runtime_error) << text;
  }
}

TEST(ExportJUnit, HasACaseForEachBenchmark) {
  const Element root =
      ReadJUnit(Exported({File({TimedRow("Layer/x/batch:1", 5e-7), FailedRow("Model/y", "no GPU"),
                                SkippedRow("Model/z", "not asked for")})},
                         "junit"));
  const Element& suite = root.children.at(0);
  EXPECT_EQ(suite.attributes.at("name"), "run.json");
  EXPECT_EQ(suite.attributes.at("timestamp"), "2026-12-01T18:36:31");
  EXPECT_EQ(suite.attributes.at("hostname"), "vm");
  ASSERT_EQ(suite.children.size(), 3U);
  EXPECT_EQ(suite.children[0].attributes.at("classname"), "Layer");
  EXPECT_EQ(suite.children[0].attributes.at("name"), "Layer/x/batch:1");
  EXPECT_EQ(suite.children[0].attributes.at("time"), "0.0000005");
  EXPECT_EQ(suite.children[0].children.at(0).text,
            "real_time: 5e-07 s, n = 1\ncpu_time: 1e-06 s, n = 1\n");
  EXPECT_EQ(suite.children[1].children.at(0).name, "failure");
  EXPECT_EQ(suite.children[1].children.at(0).attributes.at("message"), "no GPU");
  EXPECT_EQ(suite.children[2].children.at(0).name, "skipped");
}

TEST(ExportJUnit, SurvivesHostileText) {
  const Element root = ReadJUnit(Exported({HostileFile(), HostileFile()}, "junit"));
  ASSERT_EQ(root.children.size(), 2U);
  const Element& suite = root.children[1];
  EXPECT_EQ(suite.children.size(), HostileNames().size() + 5);
  EXPECT_EQ(suite.children[1].attributes.at("name"), HostileNames()[1]);
  EXPECT_EQ(suite.children[4].attributes.at("name"), VisibleText(HostileNames()[4]));
}

TEST(ExportJUnit, HasAnErrorForAFileThatBreaksOff) {
  ResultFile file = File({TimedRow("a", 1)});
  file.is_incomplete = true;
  const Element root = ReadJUnit(Exported({file}, "junit"));
  EXPECT_EQ(root.attributes.at("errors"), "1");
  EXPECT_EQ(root.attributes.at("tests"), "2");
}

TEST(ExportJUnit, IsEmptyWithoutFiles) {
  EXPECT_TRUE(ReadJUnit(Exported({}, "junit")).children.empty());
}

}  // namespace
}  // namespace cnn
