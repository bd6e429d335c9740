#!/usr/bin/env bash
# Tests encdec serve in build/release with widely used clients, which it installs into the virtual environments
# build/serve-venv and build/wyoming-venv. Arguments are passed to pytest:
#   ./tools/test_serve.sh -k openai
# Exits with status 77 if packages cannot be downloaded from PyPI.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
shopt -s nullglob  # the patterns below match nothing if a slice is deleted

./tools/make_venv.sh build/serve-venv tests/serve/requirements.txt
for requirements in tools/*/tests/server/wyoming_requirements.txt; do
  for python in "${PYTHON:-python3}" python3.13 python3.12; do
    if "$python" -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null; then
      PYTHON=$python ./tools/make_venv.sh build/wyoming-venv "$requirements"
      break
    fi
  done
done
echo "Testing encdec serve with its clients"
build/serve-venv/bin/python -m pytest --quiet -r s tests/serve tools/*/tests/server "$@"
