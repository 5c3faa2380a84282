#!/usr/bin/env bash
# Builds everything and runs all tests: tools/test.sh [PRESET]
# Presets: release (default), debug, asan, tsan.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-release}
tools/setup.sh "$preset" all
rm -f "build/$preset"/tests/*.json
ctest --preset "$preset"
# Each GoogleTest program leaves its count: "tests" is the first number of its report.
cases=$(sed -s -n 's/^  "tests": \([0-9]*\),$/\1/p' "build/$preset"/tests/*.json |
  awk '{cases += $1} END {print cases + 0}')
printf '%s GoogleTest cases in %s programs passed\n' "$cases" "$(ls "build/$preset"/tests/*.json | wc -l)"
