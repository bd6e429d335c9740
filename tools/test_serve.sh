#!/usr/bin/env bash
# Runs the clients that people use against encdec serve, of build/release, with a virtual environment in build/serve-venv.
# Arguments go to pytest:
#   ./tools/test_serve.sh -k openai
# Status 77: what is needed from PyPI cannot be had.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

./tools/make_venv.sh build/serve-venv tests/serve/requirements.txt
echo "Testing encdec serve with its clients"
build/serve-venv/bin/python -m pytest --quiet tests/serve "$@"
