#!/usr/bin/env bash
# Installs the Python package and what its tests need into build/python-venv, and runs them. Arguments go to pytest:
#   ./tools/test_python.sh -k pickle
# PYTHON is the interpreter to make it for, python3 if not set. Status 77: what is needed from PyPI cannot be had.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

./tools/make_python_venv.sh build/python-venv python/tests/requirements.txt
echo "Testing the Python package"
build/python-venv/bin/python -m pytest --quiet "$@"
