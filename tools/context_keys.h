// What the keys of a result file's context say of its numbers. They are known here and nowhere
// else. The comparison asks how bad a difference between its sides is. The comparison for the files
// of one side, and the exports for the files of one series, ask whether they are runs of one thing:
// both get the same answer.
#pragma once

#include <string_view>

#include "tools/result_file.h"

namespace cnn {

/// What a key tells apart, worst first: another machine, another program, the same program told to
/// do something else, or other circumstances.
enum class Severity { kIdentity, kBuild, kSettings, kEnvironment };

/// A key that is not known here is of the environment.
Severity SeverityOf(std::string_view key);

/// Of the machine itself, as against its state.
bool IsMachineKey(std::string_view key);

/// device_cuda, dataset_dogs_vs_cats: written only by runs that use what the key is about.
bool HasSubject(std::string_view key);

/// git_commit and the like: what the two sides of a comparison are there to differ in.
bool IsCompared(std::string_view key);

/// date and the like: of a run, and of no meaning for its numbers.
bool IsIncidental(std::string_view key);

/// Whether two files with the values `a` and `b` of a key are not runs of one thing; "" is the
/// value of a file that lacks the key. Every key counts but those that are known to vary from run
/// to run, so that what a program adds to its context counts too. A key that one file lacks counts
/// as well, unless it is written only by runs that use its subject (device_cuda,
/// dataset_dogs_vs_cats).
bool IsMixed(std::string_view key, std::string_view a, std::string_view b);

/// The first key by which two files are not runs of one thing, or "".
std::string_view DifferenceOfOrigin(const ResultFile& a, const ResultFile& b);

}  // namespace cnn
