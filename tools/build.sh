#!/usr/bin/env bash
# Installs missing packages and builds into build/release: everything, or only the targets given.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

./tools/install_packages.sh
# Configures again if the project was moved or copied: its old build folder would still build in the old place.
if [[ ! -f build/release/build.ninja ]] ||
  ! grep --quiet --line-regexp --fixed-strings "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" build/release/CMakeCache.txt; then
  echo "Configuring build/release"
  cmake --fresh --preset release
fi
echo "Building ${*:-everything} in build/release"
cmake --build --preset release ${@:+--target "$@"}
