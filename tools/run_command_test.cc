// Runs `cnn_compare run` and `confirm` with shell scripts for benchmark programs. Scripts that
// interrupt do so themselves, at a known point: nothing here waits for a time to pass.
#include "tools/run_command.h"

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "tools/compare_testing.h"

namespace cnn {
namespace {

class RunProgram : public CompareProgram {
 protected:
  void SetUp() override {
    CompareProgram::SetUp();
    for (const char* side : {"base", "new"}) WriteProgram(side);
  }

  // The n-th call of a program runs "SIDE-n.sh" where there is one and writes "SIDE-n.json" to
  // --benchmark_out; CALLS remembers its arguments.
  void WriteProgram(const std::string& side) const {
    Write(side, "#!/bin/sh\nside=" + side + R"(
n=$(($(cat COUNT-$side 2> /dev/null || echo 0) + 1))
echo $n > COUNT-$side
echo "$side $*" >> CALLS
for flag; do
  case $flag in
    --benchmark_out=*) out=${flag#*=} ;;
  esac
done
code=0
if [ -f $side-$n.sh ]; then . ./$side-$n.sh; fi
if [ -f $side-$n.json ]; then cp $side-$n.json "$out"; fi
exit $code
)");
    fs::permissions(folder_ / side, fs::perms::owner_all);
  }

  // Files of calls `first` … `last`, in which "A" takes `factor` times as long with new.
  void WriteFiles(int first, int last, double factor, const std::string& a = "A") const {
    const double noise[] = {1, 1.001, 0.999, 1.002, 1.0005, 0.998, 1.003};
    for (int i = first; i <= last; ++i) {
      const std::string number = std::to_string(i) + ".json";
      const double wobble = noise[i % 7];
      WriteRun("base-" + number, {Row(a, 10 * wobble), Row("B", 20 * wobble)});
      WriteRun("new-" + number, {Row(a, factor * 10 * wobble), Row("B", 20 * wobble)});
    }
  }

  // The sides in the order in which they were started: "base new new base …".
  std::string Order() const {
    std::istringstream calls(Slurp("CALLS"));
    std::string order;
    for (std::string line; std::getline(calls, line);) {
      order += (order.empty() ? "" : " ") + line.substr(0, line.find(' '));
    }
    return order;
  }

  std::string Call(std::size_t number) const {
    std::istringstream calls(Slurp("CALLS"));
    std::string line;
    for (std::size_t i = 0; i <= number; ++i) std::getline(calls, line);
    return line;
  }

  ProgramResult RunBoth(const std::string& arguments = "",
                        const std::string& environment = "") const {
    return Run("run --base=./base --new=./new --dir=d " + arguments, environment);
  }

  bool Exists(const std::string& name) const { return fs::exists(folder_ / name); }
};

TEST_F(RunProgram, AlternatesAndJudges) {
  WriteFiles(1, 5, 1.1);
  const ProgramResult result = RunBoth("-- --both 'a b'");
  EXPECT_EQ(result.code, 1) << result.out << result.err;
  EXPECT_EQ(Order(), "base new new base base new new base base new");
  EXPECT_TRUE(Has(result.out, "REGRESSION: 1 row failed")) << result.out;
  EXPECT_TRUE(Has(result.out, "5 against 5 files")) << result.out;
  EXPECT_TRUE(Has(result.out, "cnn_compare confirm d\n")) << result.out;
  EXPECT_FALSE(Has(result.out, "--benchmark_filter")) << result.out;
  EXPECT_TRUE(Has(result.err, "kept in d")) << result.err;
  EXPECT_TRUE(Has(result.err, "round 5 of 5, new: took 0:0")) << result.err;
  EXPECT_EQ(result.err.find('\r'), std::string::npos) << "no terminal";
  EXPECT_TRUE(Has(Call(0), "base --both a b --benchmark_out=")) << Call(0);
  EXPECT_TRUE(Has(Call(0), "/d/base-01.json --benchmark_out_format=json")) << Call(0);
  EXPECT_TRUE(Exists("d/base-05.json") && Exists("d/new-05.log") && Exists("d/run.json"));
  const Json record = Json::parse(Slurp("d/run.json"));
  EXPECT_EQ(record.at("completed"), 5);
  EXPECT_EQ(record.at("base").at("program"), (fs::canonical(folder_) / "./base").string());
  EXPECT_EQ(Run("d/base-*.json -- d/new-*.json").code, 1) << "files that a comparison takes";
}

TEST_F(RunProgram, MeasuresAsManyRoundsAsTheBenchmarksNeed) {
  for (int i = 1; i <= 9; ++i) {
    Json base = Json::array();
    Json contender = Json::array();
    for (int k = 0; k < 80; ++k) {
      base.push_back(Row("A" + std::to_string(k), 10 + 0.01 * i));
      contender.push_back(Row("A" + std::to_string(k), 15 + 0.01 * i));
    }
    WriteRun("base-" + std::to_string(i) + ".json", base);
    WriteRun("new-" + std::to_string(i) + ".json", contender);
  }
  const ProgramResult result = RunBoth();
  EXPECT_EQ(result.code, 1) << result.out << result.err;
  EXPECT_TRUE(Has(result.err, "80 benchmarks: 7 rounds instead of 5")) << result.err;
  EXPECT_TRUE(Has(result.out, "REGRESSION: 80 rows failed")) << result.out;
  const ProgramResult blind = Run("d/base-0[1-6].json -- d/new-0[1-6].json");
  EXPECT_EQ(blind.code, 4) << "no gate that cannot fire is green";
  EXPECT_TRUE(Has(blind.out, "NOTHING TOLD: too few runs")) << blind.out;
}

TEST_F(RunProgram, GivesEachSideItsFlagsAfterThoseOfBoth) {
  WriteFiles(1, 4, 1);
  const ProgramResult result = RunBoth(
      "--rounds=4 --base-flags=\"--x='a b' -y\" --base-flags=--z --new-flags=--w -- --both");
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  EXPECT_TRUE(Has(Call(0), "base --both --x=a b -y --z --benchmark_out=")) << Call(0);
  EXPECT_TRUE(Has(Call(1), "new --both --w --benchmark_out=")) << Call(1);
}

TEST_F(RunProgram, WarnsThatOneProgramIsComparedWithItself) {
  WriteFiles(1, 10, 1);
  const std::string same = "run --base=base --new=./base --rounds=4 --dir=";
  const ProgramResult result = Run(same + "d");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(Has(result.err, "A/A comparison")) << result.err;
  EXPECT_TRUE(Has(result.out, "A/A comparison")) << result.out;
  EXPECT_FALSE(Has(Run(same + "e --new-flags=-x").out, "A/A")) << "other flags";
}

TEST_F(RunProgram, MakesAFolderOfItsOwn) {
  WriteFiles(1, 4, 1);
  const std::string arguments = "run --base=base --new=new --rounds=1";
  const ProgramResult first = Run(arguments);
  const ProgramResult second = Run(arguments);
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(second.code, 0) << second.err;
  std::size_t folders = 0;
  for (const auto& entry : fs::directory_iterator(folder_ / "results")) {
    ++folders;
    EXPECT_EQ(entry.path().filename().string().rfind("compare-20", 0), 0U) << entry.path();
    EXPECT_TRUE(Has(first.err + second.err, entry.path().filename().string()));
  }
  EXPECT_EQ(folders, 2U) << "also within a second";
}

TEST_F(RunProgram, IgnoresTheEnvironmentThatWouldMislead) {
  WriteFiles(1, 1, 1);
  Write("base-1.sh", "env | grep ^BENCHMARK_ > SEEN\n");
  const ProgramResult result =
      RunBoth("--rounds=1",
              "BENCHMARK_OUT=x BENCHMARK_OUT_FORMAT=csv BENCHMARK_FORMAT=csv "
              "BENCHMARK_LIST_TESTS=true BENCHMARK_MIN_TIME=0.1");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(Slurp("SEEN"), "BENCHMARK_MIN_TIME=0.1\n");
}

TEST_F(RunProgram, JudgesFilesOfProgramsWithFailedCases) {
  WriteFiles(1, 2, 1);
  Json failed = Row("A", 0);
  failed["error_occurred"] = true;
  failed["error_message"] = "out of memory";
  WriteRun("new-1.json", {failed, Row("B", 20)});
  Write("new-1.sh", "code=1\n");
  const ProgramResult result = RunBoth("--rounds=2");
  EXPECT_EQ(result.code, 1) << result.err;
  EXPECT_TRUE(Has(result.out, "broke")) << result.out;
  EXPECT_TRUE(Has(result.err, "some cases failed (exit status 1)")) << result.err;
}

TEST_F(RunProgram, StopsWhenAProgramFails) {
  const std::vector<std::pair<const char*, const char*>> failures = {
      {"echo first; echo the end >&2; exit 2", "exit status 2"},
      {"echo the end; kill -SEGV $$", "killed by signal 11"},
      {"echo the end; exit 0", "exit status 0, and it wrote no result file"},
      {"echo the end; exit 1", "exit status 1, and it wrote no result file"},
      {"echo the end; echo '{' > \"$out\"; exit 0", "its result file is unusable: "},
      {"printf 'the \\033[31mend'; exit 130", "exit status 130"},
  };
  for (const auto& [script, message] : failures) {
    fs::remove_all(folder_ / "d");
    for (const char* name : {"CALLS", "COUNT-base", "COUNT-new"}) fs::remove(folder_ / name);
    WriteFiles(1, 3, 1);
    fs::remove(folder_ / "new-2.json");
    Write("new-2.sh", script);
    const ProgramResult result = RunBoth();
    EXPECT_EQ(result.code, 3) << script << result.out << result.err;
    EXPECT_EQ(Order(), "base new new") << script;
    EXPECT_EQ(result.out, "");
    EXPECT_TRUE(Has(result.err, "/new: ")) << result.err;
    EXPECT_TRUE(Has(result.err, message)) << result.err;
    EXPECT_TRUE(Has(result.err, "end\n")) << result.err;
    EXPECT_EQ(result.err.find('\x1b'), std::string::npos) << "logs steer no terminal";
    EXPECT_TRUE(Has(result.err, "d/new-02.log")) << result.err;
    EXPECT_TRUE(Has(result.err, "1 complete round kept in d")) << result.err;
    EXPECT_EQ(Json::parse(Slurp("d/run.json")).at("completed"), 1);
  }
}

TEST_F(RunProgram, ReturnsTwoBeforeAnythingRan) {
  WriteFiles(1, 5, 1);
  Write("text", "no program");
  fs::create_directory(folder_ / "full");
  Write("full/base-01.json", "{}");
  for (const char* arguments :
       {"", "--base=base", "--new=new", "--base=base --new=absent", "--base=base --new=text",
        "--base=base --new=full", "--base=base --new=new --rounds=0",
        "--base=base --new=new --rounds=x", "--base=base --new=new --dir=full",
        "--base=base --new=new --dir=text", "--base=base --new=new --dir=/proc/none",
        "--base=base --new=new --new-flags=\"'\"", "--base=base --new=new file.json",
        "--base=base --new=new --out=missing/out.json",
        "--base=base --new=new -- --benchmark_out=x", "--base=base --new=new -- --benchmark_out",
        "--base=base --new=new --base-flags=--benchmark_out_format=csv",
        "--base=base --new=new --new-flags '-x --benchmark_format=json'",
        "--base=base --new=new -- --benchmark_list_tests"}) {
    const ProgramResult result = Run("run " + std::string(arguments));
    EXPECT_EQ(result.code, 2) << arguments << result.out << result.err;
    EXPECT_EQ(result.err.substr(0, 13), "cnn_compare: ") << arguments << '\n' << result.err;
  }
  EXPECT_FALSE(Exists("CALLS"));
  EXPECT_EQ(Slurp("full/base-01.json"), "{}");
  EXPECT_TRUE(Has(Run("run --base=base --new=absent").err, "--new: absent cannot be started"));
  EXPECT_TRUE(Has(Run("run --base=base --new=new -- --benchmark_format=csv").err,
                  "--benchmark_format cannot be given: "));
}

TEST_F(RunProgram, NamesAProgramThatTheSystemCannotStart) {
  Write("new", "#!/nowhere/interpreter\n");
  WriteFiles(1, 1, 1);
  const ProgramResult result = RunBoth();
  EXPECT_EQ(result.code, 2) << result.err;
  EXPECT_TRUE(Has(result.err, "/new: cannot be started: ")) << result.err;
}

TEST_F(RunProgram, JudgesTheCompleteRoundsOfAnInterruptedRun) {
  for (const char* signal : {"INT", "TERM"}) {
    for (const bool is_broken : {false, true}) {
      fs::remove_all(folder_ / "d");
      for (const char* name : {"CALLS", "COUNT-base", "COUNT-new"}) fs::remove(folder_ / name);
      WriteFiles(1, 5, 1);
      Json failed = Row("A", 0);
      failed["error_occurred"] = true;
      if (is_broken) WriteRun("new-2.json", {failed, Row("B", 20)});
      Write("new-3.sh", "echo '{' > \"$out\"\nkill -" + std::string(signal) +
                            " $PPID\nwhile :; do sleep 0.05; done\n");
      const ProgramResult result = RunBoth();
      EXPECT_EQ(result.code, is_broken ? 1 : 3) << result.out << result.err;
      EXPECT_EQ(Order(), "base new new base base new");
      EXPECT_TRUE(Has(result.out, "2 against 2 files")) << result.out;
      EXPECT_TRUE(Has(result.err, "interrupted after 2 complete rounds of 5")) << result.err;
      EXPECT_TRUE(Has(result.out, is_broken ? "REGRESSION: 1 row failed"
                                            : "INCOMPLETE: interrupted after 2 complete rounds"))
          << result.out;
      EXPECT_TRUE(Exists("d/base-03.json") && Exists("d/new-03.json.unfinished"));
      EXPECT_FALSE(Exists("d/new-03.json"));
    }
  }
}

TEST_F(RunProgram, HasNothingToJudgeBeforeARoundIsComplete) {
  WriteFiles(1, 1, 1);
  Write("new-1.sh", "kill -INT $PPID\nwhile :; do sleep 0.05; done\n");
  const ProgramResult result = RunBoth();
  EXPECT_EQ(result.code, 3);
  EXPECT_EQ(result.out, "");
  EXPECT_TRUE(Has(result.err, "interrupted after 0 complete rounds of 5")) << result.err;
  EXPECT_EQ(Run("confirm d").code, 3);
}

TEST_F(RunProgram, WaitsForAProgramThatEndsOrderly) {
  WriteFiles(1, 5, 1);
  Write("new-2.sh",
        "trap 'echo orderly > ENDED; exit 130' INT\nkill -INT $PPID\n"
        "while :; do sleep 0.05; done\n");
  EXPECT_EQ(RunBoth().code, 3);
  EXPECT_EQ(Slurp("ENDED"), "orderly\n");
}

TEST_F(RunProgram, EndsAtOnceWithTheSecondSignal) {
  WriteFiles(1, 5, 1);
  Write("new-2.sh",
        "echo $$ > PID\ntrap 'sleep 0.4; kill -INT $PPID' INT\nkill -INT $PPID\n"
        "while :; do sleep 0.05; done\n");
  const ProgramResult result = RunBoth();
  EXPECT_EQ(result.code, 3) << result.err;
  EXPECT_EQ(Order(), "base new new");
  EXPECT_FALSE(fs::exists("/proc/" + Slurp("PID").substr(0, Slurp("PID").find('\n'))));
}

// Gone, or dead and waiting for a parent that does not care.
bool IsGone(const std::string& pid) {
  for (int i = 0; i < 1000; ++i) {
    std::ifstream in("/proc/" + pid + "/stat");
    std::string stat;
    if (!std::getline(in, stat) || stat.substr(stat.rfind(')') + 2, 1) == "Z") return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

TEST_F(RunProgram, LeavesNoChildBehind) {
  WriteFiles(1, 1, 1);
  Write("base-1.sh", "sleep 30 &\necho $! > PID\n");
  EXPECT_EQ(RunBoth("--rounds=1").code, 0);
  EXPECT_TRUE(IsGone(Slurp("PID").substr(0, Slurp("PID").find('\n')))) << "what a program left";
  Write("new-2.sh", "echo $$ > PID\nkill -KILL $PPID\nexec sleep 30\n");
  Run("run --base=new --new=new --dir=e");
  EXPECT_TRUE(IsGone(Slurp("PID").substr(0, Slurp("PID").find('\n')))) << "when we are killed";
}

TEST_F(RunProgram, ConfirmsWhatFailsTwice) {
  WriteFiles(1, 5, 1.1);
  WriteFiles(6, 10, 1.2);
  ASSERT_EQ(RunBoth("--new-flags='-x --benchmark_filter=B'").code, 1);
  const ProgramResult result = Run("confirm d");
  EXPECT_EQ(result.code, 1) << result.out << result.err;
  EXPECT_TRUE(Has(result.out, "confirmed: +10 % then +20 %")) << result.out;
  EXPECT_TRUE(Has(result.err, "measuring 1 benchmark again, 5 rounds")) << result.err;
  EXPECT_EQ(Order().substr(45), "base new new base base new new base base new");
  EXPECT_TRUE(Has(Call(10), "base --benchmark_filter=^(A)$ --benchmark_out=")) << Call(10);
  EXPECT_TRUE(Has(Call(11), "new -x --benchmark_filter=^(A)$ --benchmark_out=")) << Call(11);
  EXPECT_TRUE(Exists("d/confirm-1/new-05.json") && Exists("d/confirm-1/run.json"));
}

TEST_F(RunProgram, TakesBackWhatDoesNotFailAgain) {
  WriteFiles(1, 5, 1.1);
  WriteFiles(6, 15, 1);
  ASSERT_EQ(RunBoth().code, 1);
  const ProgramResult result = Run("confirm d");
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  EXPECT_TRUE(Has(result.out, "not confirmed: +10 % then +0 %")) << result.out;
  EXPECT_TRUE(Has(result.out, "OK: nothing got worse, 1 row not confirmed")) << result.out;
  EXPECT_FALSE(Has(result.out, "undecided")) << result.out;
  EXPECT_FALSE(Has(result.out, "before this one")) << result.out;
  const ProgramResult again = Run("confirm d");
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_TRUE(Has(again.err, "d/confirm-2")) << again.err;
  EXPECT_TRUE(Has(again.out, "1 confirmation of this run before this one")) << again.out;
  EXPECT_TRUE(Exists("d/confirm-2/base-05.json"));
}

TEST_F(RunProgram, ConfirmsNothingWhereNothingFailed) {
  WriteFiles(1, 5, 1);
  ASSERT_EQ(RunBoth().code, 0);
  const ProgramResult result = Run("confirm d");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(Has(result.err, "nothing failed")) << result.err;
  EXPECT_FALSE(Exists("d/confirm-1"));
}

TEST_F(RunProgram, RepeatsTheJudgementOfTheRun) {
  WriteFiles(1, 5, 1.1);
  const ProgramResult run = RunBoth("--threshold=20% --fail-on-removed --metric-direction=x=lower");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(Json::parse(Slurp("d/run.json")).at("judgement"),
            Json({"--threshold=20%", "--fail-on-removed", "--metric-direction=x=lower"}));
  EXPECT_TRUE(Has(Run("confirm d").err, "nothing failed"));
  WriteFiles(6, 10, 1.1);
  EXPECT_EQ(Run("confirm d --threshold=5%").code, 1) << "its own flag holds";
}

TEST_F(RunProgram, SelectsNamesWithCharactersOfExpressions) {
  const std::string name = "BM_x<1.5>(it's)/a|b[0]*+?^$\\{2}";
  WriteFiles(1, 5, 1.1, name);
  WriteFiles(6, 10, 1.1, name);
  ASSERT_EQ(RunBoth().code, 1);
  EXPECT_EQ(Run("confirm d").code, 1);
  const std::string call = Call(10);
  const std::size_t begin = call.find("^(");
  ASSERT_NE(begin, std::string::npos) << call;
  Write("FILTER", call.substr(begin, call.find(" --benchmark_out=") - begin) + '\n');
  Write("NAMES", name + "\nBM_x\nB\n");
  EXPECT_EQ(
      std::system(("cd '" + folder_.string() + "' && grep -E -f FILTER NAMES > FOUND").c_str()), 0);
  EXPECT_EQ(Slurp("FOUND"), name + '\n');
}

TEST_F(RunProgram, MeasuresEachSideByTheNamesThatItHas) {
  for (int i = 1; i <= 10; ++i) {
    const std::string number = std::to_string(i) + ".json";
    Json failed = Row("Fresh", 0);
    failed["error_occurred"] = true;
    failed["error_message"] = "out of memory";
    WriteRun("base-" + number, {Row("A", 10 + i * 1e-3), Row("B", 20)});
    WriteRun("new-" + number, {Row("A", 12 + i * 1e-3), Row("B", 20), failed});
  }
  ASSERT_EQ(RunBoth().code, 1);
  const ProgramResult result = Run("confirm d");
  EXPECT_EQ(result.code, 1) << result.err;
  EXPECT_TRUE(Has(Call(10), "--benchmark_filter=^(A)$ ")) << Call(10);
  EXPECT_TRUE(Has(Call(11), "--benchmark_filter=^(Fresh|A)$ ")) << Call(11);
  EXPECT_TRUE(Has(result.out, "REGRESSION: 2 rows failed")) << result.out;
}

TEST_F(RunProgram, RefusesAFilterThatNoArgumentCanHold) {
  Json rows = Json::array();
  Json failed = Json::array();
  for (int i = 0; i < 700; ++i) {
    rows.push_back(Row(std::string(200, 'n') + std::to_string(i), 10));
    failed.push_back(rows.back());
    failed.back()["error_occurred"] = true;
    failed.back()["error_message"] = "broke";
  }
  WriteRun("base-1.json", rows);
  WriteRun("new-1.json", failed);
  ASSERT_EQ(RunBoth("--rounds=1").code, 1);
  const ProgramResult result = Run("confirm d");
  EXPECT_EQ(result.code, 2) << result.err.substr(0, 1000);
  EXPECT_TRUE(Has(result.err, "128 KiB")) << result.err.substr(0, 1000);
  EXPECT_TRUE(Has(result.err, "--filter=REGEX")) << result.err.substr(0, 1000);
  EXPECT_FALSE(Exists("d/confirm-1"));
}

TEST_F(RunProgram, RefusesWhatCannotBeConfirmed) {
  WriteFiles(1, 10, 1.1);
  ASSERT_EQ(RunBoth().code, 1);
  for (const char* arguments : {"", "d --rounds=0", "d --rounds=2", "d e", "d --nonsense"}) {
    const ProgramResult result = Run("confirm " + std::string(arguments));
    EXPECT_EQ(result.code, 2) << arguments << result.out << result.err;
  }
  EXPECT_EQ(Run("confirm absent").code, 3);
  Write("new", Slurp("new") + "# other\n");
  const ProgramResult other = Run("confirm d");
  EXPECT_EQ(other.code, 3) << other.err;
  EXPECT_TRUE(Has(other.err, "is not the program any more")) << other.err;
  Write("d/run.json", "{}");
  EXPECT_EQ(Run("confirm d").code, 3);
}

TEST_F(RunProgram, LetsTheFirstJudgementStandWhenAConfirmationIsInterrupted) {
  WriteFiles(1, 10, 1.1);
  ASSERT_EQ(RunBoth().code, 1);
  Write("new-6.sh", "kill -INT $PPID\nwhile :; do sleep 0.05; done\n");
  const ProgramResult result = Run("confirm d");
  EXPECT_EQ(result.code, 3) << result.out;
  EXPECT_TRUE(Has(result.err, "the first judgement stands")) << result.err;
  EXPECT_EQ(result.out, "");
}

TEST_F(RunProgram, DecidesWhatWasUndecided) {
  const double first[] = {10, 11, 9, 10.5, 9.5};
  for (int i = 1; i <= 5; ++i) {
    const std::string number = std::to_string(i) + ".json";
    WriteRun("base-" + number, {Row("A", first[i - 1]), Row("B", 20 + i * 1e-3)});
    WriteRun("new-" + number, {Row("A", first[i - 1] * 1.03), Row("B", 20 + i * 1e-3)});
  }
  WriteFiles(6, 10, 1);
  const ProgramResult run = RunBoth();
  EXPECT_EQ(run.code, 0) << run.out;
  EXPECT_TRUE(Has(run.out, "cnn_compare confirm d --undecided")) << run.out;
  const ProgramResult result = Run("confirm d --undecided");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(Has(result.out, "OK: nothing got worse")) << result.out;
  EXPECT_TRUE(Has(Call(10), "^(A)$")) << Call(10);
}

TEST_F(RunProgram, HelpsWithExamples) {
  for (const char* command : {"run", "confirm"}) {
    const ProgramResult result = Run(std::string(command) + " --help");
    EXPECT_EQ(result.code, 0);
    EXPECT_TRUE(Has(result.out, "Examples:\n  cnn_compare " + std::string(command))) << result.out;
    EXPECT_TRUE(Has(result.out, "Exit codes: 0 nothing got worse")) << result.out;
  }
}

}  // namespace
}  // namespace cnn
