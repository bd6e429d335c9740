#!/usr/bin/env bash
# Builds everything in build/release, where the demo is built too, and runs the whole test suite, then that of the Python
# package (test_python.sh). Arguments go to ctest, and then the package is left out:
#   ./tools/test.sh -R Generate
# Warnings are not errors here, so that another compiler's new warnings keep nobody from testing: preset ci has that.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

./tools/build.sh
echo "Testing"
ctest --preset release -j2 --output-on-failure "$@"
[[ $# -eq 0 ]] || exit 0

status=0
./tools/test_python.sh || status=$?
[[ $status -ne 77 ]] || echo "Skipped: the tests of the Python package"
[[ $status -eq 77 ]] || exit "$status"
