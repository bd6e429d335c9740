#!/usr/bin/env bash
# Builds everything in build/release, where the demo is built too, and runs the whole test suite. Arguments go to ctest:
#   ./tools/test.sh -R Generate
# Warnings are not errors here, so that another compiler's new warnings keep nobody from testing: preset ci has that.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

./tools/build.sh
echo "Testing"
ctest --preset release -j2 --output-on-failure "$@"
