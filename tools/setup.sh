#!/usr/bin/env bash
# Installs what is missing, configures and builds: tools/setup.sh PRESET TARGET...
# Second time: no package manager, no configuring, only what changed is built. Everything it says goes to
# stderr. Called by run.sh and test.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1
shift

say() { printf 'setup: %s\n' "$*" >&2; }

mapfile -t packages < <(grep -v '^#' tools/packages.txt)

missing_packages() {
  local package
  for package in "${packages[@]}"; do
    dpkg-query -W -f '${Status}\n' "$package" 2>/dev/null | grep -q '^install ok installed$' ||
      printf '%s\n' "$package"
  done
}

install_packages() {
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null || ! sudo -v; then
      say "not root and no sudo; as root this would install them:"
      say "  apt-get install --no-install-recommends $*"
      say "going on with what is there"
      return
    fi
    as_root=(sudo)
  fi
  say "installing $*"
  if ! "${as_root[@]}" apt-get update -qq >&2 ||
    ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y -qq --no-install-recommends "$@" >&2; then
    say "apt-get failed (the names are Debian 12's); going on with what is there"
  fi
}

if command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; then
  mapfile -t missing < <(missing_packages)
  if [ "${#missing[@]}" -gt 0 ]; then install_packages "${missing[@]}"; fi
elif [ ! -e "build/$preset/build.ninja" ]; then
  say "this system has no apt-get; on Debian 12 the packages would be:"
  say "  ${packages[*]}"
  say "going on with what is there"
fi

for tool in cmake ninja c++; do
  if ! command -v "$tool" >/dev/null; then
    say "$tool is not installed (see the packages above); nothing can be built without it"
    exit 2
  fi
done

# A compiler of C++ with LibTorch's headers takes about 1 GB.
memory_gib=$(awk '/MemAvailable/ {print int($2 / 1048576)}' /proc/meminfo 2>/dev/null || echo 4)
jobs=$(nproc)
if [ "$jobs" -gt $((memory_gib / 2 + 1)) ]; then jobs=$((memory_gib / 2 + 1)); fi

if [ ! -e "build/$preset/build.ninja" ]; then
  say "configuring build/$preset"
  cmake --preset "$preset" >&2
fi
if [ ! -w "build/$preset" ]; then
  say "build/$preset belongs to someone else; going on with what is built"
  exit 0
fi
# Ninja says "no work to do", or configures again by itself when a CMake file has changed.
cmake --build "build/$preset" --parallel "$jobs" --target "$@" >&2
