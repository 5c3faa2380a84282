#!/usr/bin/env bash
# layering.sh must pass on this repository and fail on each kind of wrong include.
set -euo pipefail
layering=$(cd "$(dirname "$0")" && pwd)/layering.sh
"$layering"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
refuses() {
  local file=$1 include=$2
  rm -rf "${scratch:?}"/*
  mkdir -p "$scratch"/{dataset,model,fixtures,benchmarks,tools}
  printf '#include %s\n' "$include" >"$scratch/$file"
  if "$layering" "$scratch" >/dev/null; then
    echo "layering.sh accepted $include in $file"
    exit 1
  fi
}
refuses dataset/loader.cc '"model/network.h"'
refuses model/network.cc '"fixtures/case.h"'
refuses fixtures/case.h '"benchmarks/suite.h"'
refuses benchmarks/main.cc '"tools/statistics.h"'
refuses tools/comparison.cc '"dataset/random.h"'
refuses tools/comparison.cc '<torch/torch.h>'
refuses benchmarks/main.cc '<ATen/ATen.h>'
refuses dataset/loader.cc '<torch/data.h>'
refuses model/module.h '<torch/torch.h>'
refuses model/module.cc '<benchmark/benchmark.h>'
refuses fixtures/case.h '<benchmark/benchmark.h>'
echo "layering: as designed"
