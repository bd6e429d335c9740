#!/usr/bin/env bash
# Makes a virtual environment with the packages of requirements files, unless it exists and is current:
#   ./tools/make_venv.sh FOLDER REQUIREMENTS...
# PYTHON is the interpreter of the environment, python3 if not set. Status 77: packages cannot be downloaded from PyPI.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

./tools/install_packages.sh
python=${PYTHON:-python3}
venv=$1
shift
wanted=$("$python" -c 'import sys; print(sys.version, sys.base_prefix, sep="\n")' && cat "$@")
if [[ $(cat "$venv/wanted" 2>/dev/null) != "$wanted" ]]; then
  echo "Making $venv"
  "$python" -m venv --clear "$venv"
  if ! "$venv/bin/pip" --quiet --disable-pip-version-check install "${@/#/--requirement=}"; then
    echo "${0##*/}: cannot install $*; is PyPI reachable?" >&2
    exit 77
  fi
  echo "$wanted" >"$venv/wanted"
fi
