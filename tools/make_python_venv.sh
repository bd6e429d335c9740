#!/usr/bin/env bash
# As make_venv.sh, and installs the Python package into it:
#   ./tools/make_python_venv.sh FOLDER REQUIREMENTS...
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

./tools/make_venv.sh "$@"
echo "Building and installing the Python package"
# Without isolation a build folder can be used again: that takes seconds where nothing has changed.
"$1/bin/pip" --quiet --disable-pip-version-check install --no-build-isolation --no-deps \
  --config-settings "build-dir=build/{wheel_tag}" .
