#!/usr/bin/env bash
# Fuzzes the readers of files and texts (tests/fuzz, tools/*/tests/fuzz) under the address and undefined-behaviour
# sanitizers. Runs one target per CPU at a time, and prints a line for each target. Writes failing inputs to
# build/fuzz/findings, and ends with status 1 if there are any. Needs clang.
#   ./tools/fuzz.sh                   each target for 10 minutes
#   ./tools/fuzz.sh 60 json pickle    only these targets, for 60 seconds each
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds=${1:-600}
[[ $seconds =~ ^[0-9]+$ ]] || { echo "fuzz.sh: '$seconds', expected seconds" >&2; exit 2; }
targets=("${@:2}")
# corpus_of TARGET: prints the folder with the target's inputs in the repository.
corpus_of() { ls -d {tests,tools/*/tests}/fuzz/corpus/"$1" 2>/dev/null; }
export -f corpus_of
if [[ ${#targets[@]} == 0 ]]; then mapfile -t targets < <(ls -d {tests,tools/*/tests}/fuzz/corpus/* | xargs -n1 basename); fi
for target in "${targets[@]}"; do
  [[ -n $(corpus_of "$target") ]] || { echo "fuzz.sh: no target '$target' in fuzz/corpus of tests or tools/*/tests" >&2; exit 2; }
done

cmake --preset fuzz >/dev/null
cmake --build --preset fuzz --target "${targets[@]/%/_fuzzer}"

# fuzz SECONDS TARGET: fuzzes a target, starting from its corpus. Keeps new inputs in build/fuzz/corpus for the next run.
fuzz() {
  local seconds=$1 target=$2 log=build/fuzz/$2.log findings=build/fuzz/findings/$2
  rm -rf "$findings"
  mkdir -p "$findings" "build/fuzz/corpus/$target"
  local options=(-max_total_time="$seconds" -max_len=4096 -print_final_stats=1 -artifact_prefix="$findings/")
  [[ -e tests/fuzz/$target.dict ]] && options+=(-dict="tests/fuzz/$target.dict")
  local result=passed
  "build/fuzz/bin/${target}_fuzzer" "${options[@]}" "build/fuzz/corpus/$target" "$(corpus_of "$target")" \
    >"$log" 2>&1 || result="FAILED: $log, $findings"
  printf '%-22s %10s runs %7s branches  %s\n' "$target" \
    "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")" \
    "$(grep -o 'cov: [0-9]*' "$log" | tail -1 | cut -d' ' -f2)" "$result"
  [[ $result == passed ]]
}
export -f fuzz
printf '%s\n' "${targets[@]}" | xargs -P "$(nproc)" -I{} bash -euc "fuzz $seconds {}"
