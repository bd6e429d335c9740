#!/usr/bin/env bash
# Makes a virtual environment with make_venv.sh, and installs encdec's Python package into it:
#   ./tools/make_python_venv.sh FOLDER REQUIREMENTS...
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

./tools/make_venv.sh "$@"
echo "Building and installing the Python package"
# Without build isolation, the build folder is reused, so that building an unchanged package takes seconds.
"$1/bin/pip" --quiet --disable-pip-version-check install --no-build-isolation --no-deps \
  --config-settings "build-dir=build/{wheel_tag}" .
