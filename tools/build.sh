#!/usr/bin/env bash
# Installs what is missing and builds into build/release: everything, or the targets given.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

./tools/install_packages.sh
# A build folder that was configured elsewhere, before the project was moved or copied, would build there.
if [[ ! -f build/release/build.ninja ]] ||
  ! grep --quiet --line-regexp --fixed-strings "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" build/release/CMakeCache.txt; then
  echo "Configuring build/release"
  cmake --fresh --preset release
fi
echo "Building ${*:-everything} in build/release"
cmake --build --preset release ${@:+--target "$@"}
