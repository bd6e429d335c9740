#!/usr/bin/env bash
# Tests the encdec serve of build/release with widely used clients, installed in a virtual environment in
# build/serve-venv. Arguments are passed to pytest:
#   ./tools/test_serve.sh -k openai
# Status 77: packages cannot be downloaded from PyPI.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

./tools/make_venv.sh build/serve-venv tests/serve/requirements.txt
echo "Testing encdec serve with its clients"
build/serve-venv/bin/python -m pytest --quiet tests/serve "$@"
