// What cnn_compare ends with. Scripts build on these: a number never changes its meaning.
#pragma once

namespace cnn {

constexpr int kExitOk = 0;
constexpr int kExitRegression = 1;  // or, of selftest, a test that failed
constexpr int kExitUsage = 2;       // bad usage, or the output could not be written
constexpr int kExitUnusable = 3;    // unusable or incomplete input
constexpr int kExitNothing = 4;     // nothing was compared

}  // namespace cnn
