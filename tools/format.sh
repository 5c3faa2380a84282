#!/usr/bin/env bash
# Formats every source, or with --check fails on those that are not.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "${1:-}" = --check ]; then mode=(--dry-run -Werror); else mode=(-i); fi
find dataset model fixtures benchmarks tools \( -name '*.h' -o -name '*.cc' \) -print0 |
  xargs -0 clang-format "${mode[@]}"
