#!/usr/bin/env bash
# Makes a virtual environment with the packages of requirements files, unless it exists and is up to date:
#   ./tools/make_venv.sh FOLDER REQUIREMENTS...
# The variable PYTHON selects the interpreter; default: python3. Exits with status 77 if packages cannot be downloaded.
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
