#!/usr/bin/env bash
# Installs the Python package and its tests' requirements into build/python-venv, and runs the tests. Arguments are
# passed to pytest:
#   ./tools/test_python.sh -k pickle
# PYTHON is the interpreter of the environment, python3 if not set. Status 77: packages cannot be downloaded from PyPI.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

./tools/make_python_venv.sh build/python-venv python/tests/requirements.txt
echo "Testing the Python package"
build/python-venv/bin/python -m pytest --quiet "$@"
