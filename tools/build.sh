#!/usr/bin/env bash
# Installs missing packages, configures and builds.
#   ./tools/build.sh                   everything, in build/release
#   ./tools/build.sh all TARGET...     only these targets of everything
#   ./tools/build.sh demo TARGET...    these targets in build/demo, compiled quickly and only for this machine's CPU
#   ./tools/build.sh serve TARGET...   the same with the server and all slices
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
set=${1:-all} targets=("${@:2}")
preset=demo needed=ENCDEC_BUILD_TOOLS options=()
case $set in
  all) preset=release needed=ENCDEC_BUILD_TESTS ;;
  demo) ;;
  serve) needed=ENCDEC_SERVER options=(-DENCDEC_SERVER=ON -DENCDEC_SLICES=ALL) ;;
  *) echo "build.sh: no set $set, expected all, demo or serve" >&2 && exit 2 ;;
esac

# Succeeds if the build folder has a complete configuration of this source folder, with what the set needs. A project that
# was moved or copied after it was configured would still build its old path.
is_configured() {
  [[ -f build/$preset/build.ninja ]] &&
    grep --quiet --line-regexp --fixed-strings "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" "build/$preset/CMakeCache.txt" &&
    ! grep --quiet "^$needed:BOOL=OFF" "build/$preset/CMakeCache.txt"
}

if [[ $set == all ]] || ! is_configured; then ./tools/install_packages.sh "${set/#all/}"; fi
if ! is_configured; then
  echo "Configuring build/$preset"
  cmake --fresh --preset "$preset" "${options[@]}"
fi
echo "Building ${targets[*]:-everything} in build/$preset"
cmake --build --preset "$preset" ${targets:+--target "${targets[@]}"}
