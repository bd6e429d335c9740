#!/usr/bin/env bash
# Builds the demo and runs it: prints how words are pronounced, and the time it took.
#   ./tools/demo.sh                        a sample of words
#   ./tools/demo.sh transformer attention  these words
#   ./tools/demo.sh < words.txt            the words of a file or pipe, one a line
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

"$root/tools/build.sh" encdec encdec-demo </dev/null # standard input is the demo's
"$root/build/release/bin/encdec-demo" "$@"

model=models/pretrained/english-pronunciation
printf '\n$ echo hello | encdec generate --model %s\n' "$model"
echo hello | "$root/build/release/bin/encdec" generate --model "$root/$model"
