#include "tools/selftest.h"

#include <string>
#include <vector>

#include "tools/compare_testing.h"
#include "tools/comparison_testing.h"

namespace cnn {
namespace {

TEST(Selftest, PassesOnItsOwnData) {
  const std::vector<SelftestResult> results = TestBuiltIn();
  EXPECT_GE(results.size(), 10U);
  for (const SelftestResult& result : results) {
    EXPECT_TRUE(result.is_ok) << result.what << ": " << result.found;
  }
}

TEST(Selftest, AnAlarmOverNothingFails) {
  EXPECT_TRUE(JudgeSame(Compare(Runs(Steady()), Runs(Steady())), {}).is_ok);
  EXPECT_FALSE(JudgeSame(Compare(Runs(Steady()), Runs(Times(1.05))), {}).is_ok);
}

TEST(Selftest, SilenceThatProvesNothingFails) {
  const Comparison too_few = Compare(Runs({100, 101}), Runs({100.5, 101.5}));
  EXPECT_FALSE(JudgeSame(too_few, {}).is_ok);
  EXPECT_FALSE(JudgeSame(Compare(Runs(Steady()), {File({}), File({})}), {}).is_ok);
}

TEST(Selftest, ASlowdownThatIsNotFoundFails) {
  EXPECT_TRUE(JudgeHandicap(Compare(Runs(Steady()), Runs(Times(1.05))), {}, 0.05).is_ok);
  EXPECT_FALSE(JudgeHandicap(Compare(Runs(Steady()), Runs(Steady())), {}, 0.05).is_ok);
  const Comparison only_broken = Compare(One(Row("A", 1)), One(Failed("A", RowState::kError, "x")));
  EXPECT_FALSE(JudgeHandicap(only_broken, {}, 0.05).is_ok) << "a failure is no slowdown";
}

class SelftestProgram : public CompareProgram {
 protected:
  // A program whose benchmark takes 100.1 ms, 100.2 ms, … from call to call, and `slowed` times
  // as many tenths more with --handicap.
  void WriteProgram(const std::string& slowed) const {
    Write("program", R"(#!/bin/sh
n=$(($(cat COUNT 2> /dev/null || echo 0) + 1))
echo $n > COUNT
name=A
more=0
for flag; do
  case $flag in
    --benchmark_out=*) out=${flag#*=} ;;
    --handicap=*) name=A/handicap:${flag#*=}; more=)" +
                         slowed + R"( ;;
  esac
done
time=$((1000 + n % 5 + more))
cat > "$out" << END
{"context": {"host_name": "vm"}, "benchmarks": [
  {"name": "$name", "run_name": "$name", "run_type": "iteration", "iterations": 1,
   "real_time": ${time}e-1, "cpu_time": ${time}e-1, "time_unit": "ms"}]}
END
)");
    fs::permissions(folder_ / "program", fs::perms::owner_all);
  }
};

TEST_F(SelftestProgram, NeedsNoProgram) {
  const ProgramResult result = Run("selftest");
  EXPECT_EQ(result.code, 0) << result.out;
  EXPECT_TRUE(Has(result.out, "OK: a slowdown is found")) << result.out;
}

TEST_F(SelftestProgram, MeasuresOneThatCanBeSlowedDown) {
  WriteProgram("50");
  const ProgramResult result = Run("selftest --program=./program --dir=d");
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  EXPECT_TRUE(Has(result.out, "1 of 1 slowdowns found")) << result.out;
  EXPECT_TRUE(fs::exists(folder_ / "d/handicap/new-06.json"));
}

TEST_F(SelftestProgram, FailsWhereASlowdownIsNotFound) {
  WriteProgram("0");
  const ProgramResult result = Run("selftest --program=./program --dir=d");
  EXPECT_EQ(result.code, 1) << result.out << result.err;
  EXPECT_TRUE(Has(result.out, "FAILED  slowed down by --handicap=0.05")) << result.out;
  EXPECT_TRUE(Has(result.out, "FAILED: do not trust")) << result.out;
}

TEST_F(SelftestProgram, RefusesBadUsage) {
  EXPECT_EQ(Run("selftest --program=./missing").code, 2);
  EXPECT_EQ(Run("selftest -- --benchmark_filter=A").code, 2);
  EXPECT_EQ(Run("selftest --handicap=-1").code, 2);
}

}  // namespace
}  // namespace cnn
