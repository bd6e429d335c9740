#!/usr/bin/env bash
# Installs what is missing and builds into build/release.
#   ./tools/build.sh                everything
#   ./tools/build.sh demo|serve     only encdec and encdec-demo, without or with the server
#   ./tools/build.sh all TARGET...  only these targets, in a build folder configured for everything
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
set=${1:-all}
case $set in
  all | demo | serve) ;;
  *) echo "build.sh: no set $set, expected all, demo or serve" >&2 && exit 2 ;;
esac
targets=("${@:2}")

# CMake switches that the smaller sets turn off. A build folder in which they are on keeps them.
switches=(SNDFILE BUILD_TESTS BUILD_BENCHMARKS BUILD_EXAMPLES)
if [[ $set == demo ]]; then switches+=(SERVER); fi
if [[ $set != all ]]; then targets=(encdec encdec-demo); fi
# Translation needs packages that the demo does not install.
demo_slices=$(cd tools && ls -d */server/*_server.h | sed 's,/.*,,' | grep -v translation | paste -sd';')

cache=build/release/CMakeCache.txt
# If the project was moved or copied after it was configured, the build folder would still build the old path.
if [[ ! -f build/release/build.ninja ]] ||
  ! grep --quiet --line-regexp --fixed-strings "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" "$cache"; then
  ./tools/install_packages.sh "${set/#all/}"
  echo "Configuring build/release"
  options=()
  if [[ $set != all ]]; then options=("${switches[@]/%/=OFF}"); fi
  if [[ $set == demo ]]; then options+=("SLICES=$demo_slices"); fi
  cmake --fresh --preset release "${options[@]/#/-DENCDEC_}"
else
  wanted=()
  if [[ $set == all ]]; then wanted=("${switches[@]}" SERVER); fi
  if [[ $set == serve ]]; then wanted=(SERVER); fi
  options=()
  for switch in "${wanted[@]}"; do
    if grep --quiet "^ENCDEC_$switch:BOOL=OFF" "$cache"; then options+=("-DENCDEC_$switch=ON"); fi
  done
  if [[ $set != demo ]] && grep --quiet "^ENCDEC_SLICES:STRING=$demo_slices$" "$cache"; then options+=(-UENCDEC_SLICES); fi
  if [[ $set == all || ${#options[@]} -gt 0 ]]; then ./tools/install_packages.sh "${set/#all/}"; fi
  if [[ ${#options[@]} -gt 0 ]]; then cmake --preset release "${options[@]}"; fi
fi
echo "Building ${targets[*]:-everything} in build/release"
cmake --build --preset release ${targets:+--target "${targets[@]}"}
