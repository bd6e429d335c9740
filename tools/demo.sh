#!/usr/bin/env bash
# Builds the demo and runs it: prints the pronunciation of words, the text of recordings, and the time it took.
#   ./tools/demo.sh                        a sample of words, and three recordings
#   ./tools/demo.sh transformer attention  these words
#   ./tools/demo.sh < words.txt            the words of a file or pipe, one per line
#   ./tools/demo.sh --speech one.wav       these recordings, of spoken numbers
#   ./tools/demo.sh --serve [OPTION]...    starts encdec serve with these options; its web page shows the models
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

words=models/pretrained/english-pronunciation speech=models/pretrained/english-numbers
set=demo
if [[ ${1:-} == --serve ]]; then set=serve; fi
"$root/tools/build.sh" "$set" </dev/null # keeps standard input for the demo
if [[ $set == serve ]]; then
  exec "$root/build/release/bin/encdec" serve --model "$root/$words" --model "$root/$speech" "${@:2}"
fi
"$root/build/release/bin/encdec-demo" "$@"

printf '\n$ echo hello | encdec generate --model %s\n' "$words"
echo hello | "$root/build/release/bin/encdec" generate --model "$root/$words"
printf '\n$ encdec transcribe --model %s %s\n' "$speech" "$speech/clips/number.wav"
"$root/build/release/bin/encdec" transcribe --model "$root/$speech" "$root/$speech/clips/number.wav"
