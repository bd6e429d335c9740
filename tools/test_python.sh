#!/usr/bin/env bash
# Installs the Python package and its tests' requirements into build/python-venv, and runs the tests. Arguments are
# passed to pytest:
#   ./tools/test_python.sh -k pickle
# The variable PYTHON selects the interpreter; default: python3. Exits with status 77 if packages cannot be downloaded.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

./tools/make_python_venv.sh build/python-venv python/tests/requirements.txt
echo "Testing the Python package"
build/python-venv/bin/python -m pytest --quiet "$@"
