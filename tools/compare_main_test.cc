// Runs the program: exit codes, stderr and files are what scripts build on.
#include <string>
#include <vector>

#include "tools/compare_testing.h"

namespace cnn {
namespace {

using Result = ProgramResult;

TEST_F(CompareProgram, ReturnsZeroWhenNothingGotWorse) {
  WriteSides(1);
  const Result same = Run("base*.json -- new*.json");
  EXPECT_EQ(same.code, 0) << same.out << same.err;
  EXPECT_TRUE(Has(same.out, "OK: nothing got worse")) << same.out;
  EXPECT_EQ(same.err, "");
  WriteSides(0.8);
  const Result faster = Run("base*.json -- new*.json");
  EXPECT_EQ(faster.code, 0);
  EXPECT_TRUE(Has(faster.out, "faster")) << faster.out;
}

TEST_F(CompareProgram, ReturnsOneForARegression) {
  WriteSides(1.1);
  const Result result = Run("base*.json -- new*.json");
  EXPECT_EQ(result.code, 1) << result.out << result.err;
  EXPECT_TRUE(Has(result.out, "slower")) << result.out;
  EXPECT_EQ(Run("base*.json -- new*.json --threshold=20%").code, 0);
  EXPECT_EQ(Run("base*.json -- new*.json --filter=B").code, 0);
  EXPECT_EQ(Run("base*.json -- new*.json --metric-direction=real_time=higher "
                "--metric-direction=cpu_time=higher")
                .code,
            0);
}

TEST_F(CompareProgram, TakesTwoFilesWithoutASeparator) {
  WriteSides(1.5);
  const Result result = Run("base1.json new1.json");
  EXPECT_EQ(result.code, 0) << "advice only";
  EXPECT_TRUE(Has(result.out, "1 against 1 file")) << result.out;
  EXPECT_EQ(Run("base1.json -- new1.json").out, result.out);
}

TEST_F(CompareProgram, ReturnsOneForAContenderThatFails) {
  WriteSides(1);
  Json failed = Row("A", 0);
  failed["error_occurred"] = true;
  failed["error_message"] = "out of memory";
  WriteRun("failed.json", {failed, Row("B", 20)});
  const Result result = Run("base1.json failed.json");
  EXPECT_EQ(result.code, 1);
  const std::string row = result.out.substr(result.out.find("broke"));
  EXPECT_TRUE(Has(row, "out of memory")) << result.out;
  EXPECT_EQ(row.substr(0, row.find('\n')).find('%'), std::string::npos) << row;
  EXPECT_FALSE(Has(result.out, "faster")) << result.out;
}

TEST_F(CompareProgram, ReturnsTwoForBadUsage) {
  WriteSides(1);
  for (const char* arguments :
       {"", "base1.json", "base1.json new1.json base2.json", "--nonsense base1.json new1.json",
        "base1.json new1.json --threshold=5", "base1.json new1.json --filter='('",
        "base1.json new1.json --out=missing/out.json", "base1.json new1.json --out=.",
        "export base1.json", "export --format=xml base1.json", "calibrate base*.json",
        "speedup base1.json --by=moon", "base1.json new1.json --out=/dev/full",
        "export --format=csv base1.json --out=/dev/full"}) {
    const Result result = Run(arguments);
    EXPECT_EQ(result.code, 2) << arguments << '\n' << result.out << result.err;
    EXPECT_EQ(result.err.substr(0, 13), "cnn_compare: ") << arguments << '\n' << result.err;
    EXPECT_EQ(result.out, "") << arguments;
  }
}

TEST_F(CompareProgram, NamesTheCommandsForAWordThatIsNone) {
  WriteSides(1);
  for (const char* arguments : {"selftset", "exprot --format=csv base1.json"}) {
    const Result result = Run(arguments);
    EXPECT_EQ(result.code, 2) << arguments;
    EXPECT_TRUE(Has(result.err,
                    "there is no such command or file; the commands are run, confirm, "
                    "selftest, export, calibrate, speedup"))
        << result.err;
  }
  EXPECT_TRUE(Has(Run("base.json").err, "1 file")) << "the name of a file";
  Write("selftset", Slurp("base1.json"));
  EXPECT_EQ(Run("selftset new1.json").code, 0) << "a file";
}

TEST_F(CompareProgram, SelectsAComplexityByTheNameThatIsShown) {
  Json fit = Row("Sort_BigO", 1);
  fit.erase("real_time");
  fit.erase("cpu_time");
  fit.erase("iterations");
  fit["run_name"] = "Sort";
  fit["run_type"] = "aggregate";
  fit["aggregate_name"] = "BigO";
  fit["big_o"] = "N";
  fit["cpu_coefficient"] = fit["real_coefficient"] = 2.5;
  WriteRun("sorts.json", {Row("Sort/8", 1), fit});
  const Result result = Run("sorts.json sorts.json --filter=BigO --all");
  EXPECT_EQ(result.code, 0) << result.out;
  EXPECT_TRUE(Has(result.out, "Sort_BigO")) << result.out;
  EXPECT_FALSE(Has(result.out, "Sort/8")) << result.out;
}

TEST_F(CompareProgram, CountsNoFileTwice) {
  WriteSides(1);
  const ProgramResult result = Run("base1.json ./base1.json -- new1.json new2.json");
  EXPECT_EQ(result.code, 3) << result.out;
  EXPECT_TRUE(Has(result.err, "stands twice")) << result.err;
  EXPECT_EQ(Run("base1.json base1.json").code, 0) << "on both sides it is harmless";
}

TEST_F(CompareProgram, ReturnsThreeForUnusableInput) {
  WriteSides(1);
  Write("empty.json", "");
  Write("text.json", "no results");
  const std::string whole = Slurp("new1.json");
  Write("cut.json", whole.substr(0, whole.rfind('{') + 20));
  Write("list.json", "[1]");
  for (const char* arguments :
       {"base1.json empty.json", "empty.json base1.json", "base1.json text.json",
        "base1.json cut.json", "base1.json absent.json", "base1.json .",
        "export --format=csv empty.json", "calibrate --out=c.json base1.json",
        "base1.json new1.json --calibration=empty.json",
        "base1.json new1.json --calibration=list.json",
        "base1.json new1.json --calibration=base1.json", "base1.json cut.json --salvage"}) {
    const Result result = Run(arguments);
    EXPECT_EQ(result.code, 3) << arguments << '\n' << result.out << result.err;
    EXPECT_EQ(result.err.substr(0, 13), "cnn_compare: ") << arguments << '\n' << result.err;
  }
  EXPECT_FALSE(fs::exists(folder_ / "c.json"));
}

TEST_F(CompareProgram, ReturnsThreeForAnotherContextWhenStrict) {
  WriteSides(1);
  Json other = Json::parse(Slurp("new1.json"));
  other["context"]["host_name"] = "elsewhere";
  Write("other.json", other.dump());
  EXPECT_EQ(Run("base1.json other.json").code, 0);
  const Result strict = Run("base1.json other.json --strict-context");
  EXPECT_EQ(strict.code, 3);
  EXPECT_TRUE(Has(strict.out, "host_name")) << strict.out;
}

TEST_F(CompareProgram, ReturnsFourWhenNothingWasCompared) {
  WriteSides(1);
  WriteRun("other.json", Json::array({Row("C", 1)}));
  WriteRun("none.json", Json::array());
  for (const char* arguments :
       {"base1.json new1.json --filter=nothing", "base1.json other.json", "none.json none.json",
        "base1.json new1.json --require=3", "export --format=csv none.json",
        "speedup base1.json --by=host_name"}) {
    const Result result = Run(arguments);
    EXPECT_EQ(result.code, 4) << arguments << '\n' << result.out << result.err;
  }
  EXPECT_TRUE(
      Has(Run("base1.json new1.json --filter=nothing").out, "none that the filter selects"));
  EXPECT_EQ(Run("base1.json new1.json --require=2").code, 0);
  EXPECT_EQ(Run("base1.json other.json --fail-on-removed").code, 1);
}

TEST_F(CompareProgram, WarnsOfSwappedSides) {
  WriteRun("old.json", Json::array({Row("A", 1)}), "2026-12-01T10:00:00+00:00");
  WriteRun("young.json", Json::array({Row("A", 1)}), "2026-12-02T10:00:00+00:00");
  EXPECT_TRUE(Has(Run("young.json old.json").out, "were the sides swapped"));
  EXPECT_FALSE(Has(Run("old.json young.json").out, "were the sides swapped"));
}

TEST_F(CompareProgram, HelpsWithExamplesAndExitCodes) {
  for (const char* command : {"", "export", "calibrate", "speedup"}) {
    const Result result = Run(std::string(command) + " --help");
    EXPECT_EQ(result.code, 0);
    EXPECT_TRUE(Has(result.out, "Examples:")) << result.out;
    EXPECT_TRUE(Has(result.out, "4 nothing was compared")) << result.out;
    EXPECT_EQ(result.err, "");
  }
}

TEST_F(CompareProgram, PaintsOnlyWhenAsked) {
  WriteSides(1.1);
  EXPECT_EQ(Run("base*.json -- new*.json").out.find('\x1b'), std::string::npos) << "a pipe";
  EXPECT_EQ(Run("base*.json -- new*.json --color=never").out.find('\x1b'), std::string::npos);
  EXPECT_NE(Run("base*.json -- new*.json --color=always").out.find('\x1b'), std::string::npos);
}

TEST_F(CompareProgram, PaintsOnATerminalUnlessNoColorIsSet) {
  WriteSides(1.1);
  if (std::system("command -v script > /dev/null") != 0) GTEST_SKIP() << "no script(1)";
  const auto on_terminal = [&](const std::string& environment) {
    const std::string command = "cd '" + folder_.string() + "' && " + environment +
                                " script -qec \"'" + CNN_COMPARE_PROGRAM +
                                "' base1.json base2.json base3.json base4.json base5.json -- "
                                "new1.json new2.json new3.json new4.json new5.json\" /dev/null "
                                "> OUT 2> ERR < /dev/null";
    EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 1);
    return Slurp("OUT");
  };
  EXPECT_NE(on_terminal("env -u NO_COLOR TERM=xterm").find('\x1b'), std::string::npos);
  EXPECT_EQ(on_terminal("NO_COLOR=1 TERM=xterm").find('\x1b'), std::string::npos);
  EXPECT_EQ(on_terminal("env -u NO_COLOR TERM=dumb").find('\x1b'), std::string::npos);
}

TEST_F(CompareProgram, WritesMarkdownThatFitsAndJsonThatParses) {
  Json many = Json::array();
  Json failed = Json::array();
  for (int i = 0; i < 2000; ++i) {
    many.push_back(Row("Benchmark/number:" + std::to_string(i), 1));
    failed.push_back(Row("Benchmark/number:" + std::to_string(i), 0));
    failed.back()["error_occurred"] = true;
    failed.back()["error_message"] = std::string(200, 'e');
  }
  WriteRun("many.json", many);
  WriteRun("failed.json", failed);
  const Result markdown = Run("many.json failed.json --format=markdown --all");
  EXPECT_EQ(markdown.code, 1);
  EXPECT_LT(markdown.out.size(), 65000U);
  EXPECT_TRUE(Has(markdown.out, "did not fit")) << markdown.out.substr(markdown.out.size() - 500);
  const Result json = Run("many.json failed.json --format=json --out=report.json");
  EXPECT_EQ(json.code, 1);
  EXPECT_EQ(json.out, "");
  const Json report = Json::parse(Slurp("report.json"));
  EXPECT_EQ(report.at("schema_version"), 1);
  EXPECT_EQ(report.at("rows").size(), 2000U);
  EXPECT_EQ(report.at("rows").at(0).at("verdict"), "broke");
}

TEST_F(CompareProgram, WritesFilesWholeOrNotAtAll) {
  WriteSides(1);
  Write("kept.json", "kept");
  EXPECT_EQ(Run("base1.json absent.json --out=kept.json").code, 3);
  EXPECT_EQ(Slurp("kept.json"), "kept");
  fs::create_symlink("kept.json", folder_ / "link.json");
  EXPECT_EQ(Run("base1.json new1.json --format=json --out=link.json").code, 0);
  EXPECT_TRUE(fs::is_symlink(folder_ / "link.json"));
  EXPECT_EQ(Json::parse(Slurp("kept.json")).at("schema_version"), 1);
  EXPECT_EQ(Run("base1.json new1.json --out=/dev/null").code, 0);
  for (const auto& entry : fs::directory_iterator(folder_)) {
    EXPECT_EQ(entry.path().string().find(".tmp"), std::string::npos) << entry.path();
  }
}

TEST_F(CompareProgram, ExportsEveryFormat) {
  WriteSides(1);
  for (const char* format : {"json", "bmf", "gha-smaller", "gha-bigger"}) {
    const Result result = Run("export --format=" + std::string(format) + " base1.json");
    EXPECT_EQ(result.code, 0) << format << result.err;
    EXPECT_TRUE(Json::accept(result.out)) << format << '\n' << result.out;
  }
  const Result lines = Run("export --format=ndjson base1.json");
  EXPECT_TRUE(Json::accept(lines.out.substr(0, lines.out.find('\n')))) << lines.out;
  const std::vector<std::pair<const char*, const char*>> parts = {
      {"csv", "real_time"},     {"influx", "real_time_seconds="}, {"openmetrics", "# EOF\n"},
      {"gobench", "Benchmark"}, {"junit", "</testsuites>"},       {"markdown", "| `A`"}};
  for (const auto& [format, part] : parts) {
    const Result result = Run("export --out=file --format=" + std::string(format) + " base1.json");
    EXPECT_EQ(result.code, 0) << format << result.err;
    EXPECT_TRUE(Has(Slurp("file"), part)) << format << '\n' << Slurp("file");
  }
}

TEST_F(CompareProgram, CalibratesAndTakesTheCalibration) {
  WriteSides(1.05);
  EXPECT_EQ(Run("base*.json -- new*.json").code, 1);
  const Result calibrated = Run("calibrate --floor=8% --out=noise.json base*.json");
  EXPECT_EQ(calibrated.code, 0) << calibrated.err;
  EXPECT_EQ(Json::parse(Slurp("noise.json")).at("files"), 6);
  const Result result = Run("base*.json -- new*.json --calibration=noise.json");
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  Json other = Json::parse(Slurp("new1.json"));
  other["context"]["host_name"] = "elsewhere";
  Write("other.json", other.dump());
  const Result refused = Run("base1.json other.json --calibration=noise.json");
  EXPECT_EQ(refused.code, 3) << refused.out;
  EXPECT_TRUE(Has(refused.err, "another machine")) << refused.err;
}

TEST_F(CompareProgram, ComparesAxes) {
  WriteRun("run.json", {Row("Model/a/device:cpu", 100), Row("Model/a/device:cuda", 10)});
  const Result result = Run("speedup run.json");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(Has(result.out, "10")) << result.out;
}

}  // namespace
}  // namespace cnn
