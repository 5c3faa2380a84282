#!/usr/bin/env bash
# Fails on an #include against the direction of the data (the order of the folders below), or of a heavy or
# foreign header where it does not belong: tools/layering.sh [ROOT]
set -euo pipefail
cd "${1:-$(dirname "$0")/..}"
status=0
order=(dataset model fixtures benchmarks)

# Prints the offending lines of "files: pattern" and remembers.
forbid() {
  local why=$1 pattern=$2
  shift 2
  local hits
  hits=$(grep -nHE "$pattern" "$@" 2>/dev/null || true)
  if [ -n "$hits" ]; then
    printf '%s:\n%s\n' "$why" "$hits"
    status=1
  fi
}

sources() { find "$@" -name '*.h' -o -name '*.cc' | sort; }

for i in "${!order[@]}"; do
  folder=${order[$i]}
  [ -d "$folder" ] || continue
  mapfile -t files < <(sources "$folder")
  later=("${order[@]:$((i + 1))}" tools)
  forbid "$folder/ includes a folder to its right" \
    "#include \"($(IFS='|'; echo "${later[*]}"))/" "${files[@]}"
done

mapfile -t files < <(sources tools)
if [ "${#files[@]}" -gt 0 ]; then
  forbid "tools/ includes another folder" '#include "(dataset|model|fixtures|benchmarks)/' "${files[@]}"
  forbid "tools/ knows nothing of LibTorch and OpenCV" '#include <(torch|ATen|c10|opencv2)/' "${files[@]}"
fi

mapfile -t files < <(sources dataset benchmarks)
forbid "LibTorch headers belong in model/ and fixtures/" '#include <(torch|ATen|c10)/' "${files[@]}"
mapfile -t files < <(find . -path ./build -prune -o -name '*.h' -print)
forbid "torch/torch.h and torch/nn in a header make all its users slow to compile" \
  '#include <torch/(torch|nn|all|data|optim)' "${files[@]}"
mapfile -t files < <(sources dataset model)
forbid "Google Benchmark belongs in fixtures/fixture.* and benchmarks/" '#include <benchmark/' "${files[@]}"
mapfile -t files < <(sources fixtures | grep -vE '/(fixture|fixture_test|testing)\.')
forbid "Google Benchmark belongs in fixtures/fixture.* and benchmarks/" '#include <benchmark/' "${files[@]}"
exit "$status"
