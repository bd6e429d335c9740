#!/usr/bin/env bash
# Builds the demo and runs it: prints how words are pronounced, and the time it took.
#   ./tools/demo.sh                        a sample of words
#   ./tools/demo.sh transformer attention  these words
#   ./tools/demo.sh < words.txt            the words of a file or pipe, one a line
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

( # in the project's folder, and without standard input, which belongs to the demo
  cd "$root"
  ./tools/install_packages.sh
  if [[ ! -f build/release/build.ninja ]]; then
    echo "Configuring build/release"
    cmake --preset release
  fi
  echo "Building encdec and encdec-demo in build/release"
  cmake --build --preset release --target encdec encdec-demo
) </dev/null

exec "$root/build/release/bin/encdec-demo" "$@"
