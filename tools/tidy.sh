#!/usr/bin/env bash
# clang-tidy on what is cheap: every source but tests and those that drag in LibTorch, which take half a
# minute each: tools/tidy.sh [BUILD_FOLDER]
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/release}
heavy='#include (<(torch|ATen|c10)/|"(model/(module|optimizer|trainer)|fixtures/(testing|.*_fixture))\.h")'
find dataset model fixtures benchmarks tools -name '*.cc' ! -name '*_test.cc' | sort | xargs grep -LE "$heavy" |
  xargs -P "$(nproc)" -n 1 clang-tidy -p "$build" --quiet
