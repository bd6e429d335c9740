#!/usr/bin/env bash
# Builds everything in build/release, where the demo is built too, and runs the whole test suite, then those of the Python
# package (test_python.sh) and of the clients of encdec serve (test_serve.sh). Arguments go to ctest, and then these two are
# left out:
#   ./tools/test.sh -R Generate
# Warnings are not errors here, so that another compiler's new warnings keep nobody from testing: preset ci has that.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

./tools/build.sh
echo "Testing"
ctest --preset release -j2 --output-on-failure "$@"
[[ $# -eq 0 ]] || exit 0

for suite in test_python test_serve; do
  status=0
  "./tools/$suite.sh" || status=$?
  [[ $status -ne 77 ]] || echo "Skipped: $suite.sh"
  [[ $status -eq 77 || $status -eq 0 ]] || exit "$status"
done
