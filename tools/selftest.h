// Can the gate fire on this machine, and does it keep still when nothing changed?
//
// A gate that never fires looks like a healthy one, and one that cries wolf is soon ignored. The
// first part judges data that is made here, through the same reader, comparison and exit codes as
// every comparison; it depends on nothing but the program. The second part, given a cnn_benchmarks,
// measures real runs of it, once against itself and once slowed down by --handicap.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/comparison.h"

namespace cnn {

struct SelftestResult {
  bool is_ok = false;
  std::string what;   // "one of 12 benchmarks is 5 % slower"
  std::string found;  // "exit code 1; found in 50 of 50 suites"
};

/// On data made here; the same on every machine.
std::vector<SelftestResult> TestBuiltIn();

/// What a comparison of a program with itself, and with itself slowed down by `handicap`, says. A
/// comparison in which nothing was measured proves nothing, and is not ok.
SelftestResult JudgeSame(const Comparison& comparison, const CompareOptions& options);
SelftestResult JudgeHandicap(const Comparison& comparison, const CompareOptions& options,
                             double handicap);

/// Arguments after the command's name. Exit code 0 when everything is ok, else 1; throws what
/// RunAndCompare does.
int RunSelftest(const std::vector<std::string>& arguments);

}  // namespace cnn
