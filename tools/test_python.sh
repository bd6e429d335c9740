#!/usr/bin/env bash
# Installs the Python package and what its tests need into build/python-venv, and runs them. Arguments go to pytest:
#   ./tools/test_python.sh -k pickle
# PYTHON is the interpreter to make it for, python3 if not set. Status 77: what is needed from PyPI cannot be had.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

./tools/install_packages.sh
python=${PYTHON:-python3}
venv=build/python-venv
wanted=$("$python" -c 'import sys; print(sys.version, sys.base_prefix, sep="\n")' && cat python/tests/requirements.txt)
if [[ $(cat "$venv/wanted" 2>/dev/null) != "$wanted" ]]; then
  echo "Making $venv"
  "$python" -m venv --clear "$venv"
  if ! "$venv/bin/pip" --quiet --disable-pip-version-check install --requirement python/tests/requirements.txt; then
    echo "test_python.sh: cannot install python/tests/requirements.txt; is PyPI reachable?" >&2
    exit 77
  fi
  echo "$wanted" >"$venv/wanted"
fi
echo "Building and installing the Python package"
# Without isolation the build folder, build/cp*, is used again: that takes seconds where nothing has changed.
"$venv/bin/pip" --quiet --disable-pip-version-check install --no-build-isolation --no-deps .
echo "Testing the Python package"
"$venv/bin/python" -m pytest --quiet "$@"
