#!/usr/bin/env bash
# Builds cnn_benchmarks and cnn_compare if need be, leaves them at the root of the repository and runs the
# first:
#   tools/run.sh                          the training epochs
#   tools/run.sh --benchmark_filter=Layer any flags of the program
# Results go to results/latest.json under the folder it is called from.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
"$root/tools/setup.sh" release cnn_benchmarks cnn_compare
ln -sfn build/release/benchmarks/cnn_benchmarks "$root/cnn_benchmarks"
ln -sfn build/release/tools/cnn_compare "$root/cnn_compare"
if [ $# -eq 0 ]; then set -- --benchmark_filter=Epoch; fi
exec "$root/cnn_benchmarks" "$@"
