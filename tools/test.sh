#!/usr/bin/env bash
# Builds everything in build/release and runs the test suite, then the tests of the Python package (test_python.sh) and
# the tests of encdec serve with real clients (test_serve.sh). With arguments, runs only ctest, with these arguments:
#   ./tools/test.sh -R Generate
# With --sanitizers, runs only the tests of shared state (queue, generation, sessions, threads, server, speech), under the
# address and the thread sanitizer, in build/asan and build/tsan. Only these tests are built, without the
# undefined-behaviour sanitizer, which would double the compile time; check_builds.sh runs all tests with it.
# Warnings are not errors, so that new warnings of another compiler do not prevent testing. Preset ci makes them errors.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# New build folders use ccache: the Python package compiles the same library as build/release, and finds it in the cache
# if its compiler has the same name.
export CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR=$PWD CXX=${CXX:-c++}

if [[ ${1:-} == --sanitizers ]]; then
  ./tools/install_packages.sh
  for preset in asan tsan; do
    [[ $preset == asan ]] && sanitizer=address || sanitizer=thread
    echo "Building and testing with preset $preset"
    [[ -f build/$preset/build.ninja ]] || cmake --preset "$preset" -DENCDEC_SANITIZE="$sanitizer"
    cmake --build --preset "$preset" --target \
      threads_test queue_test invariants_test encoders_test transcription_test speech_model_test serve_test
    ctest --preset "$preset" -j2 --no-tests=error \
      -R '^(ThreadTeam|Cancellation|Session|Request|Encoders/Invariants|Generate/Invariants.*/Short|MelWindows|WindowSearch|RecordingTranscriber|Speech|Serve|HttpServer|Turns|Load|UnreadResponses|Origins|Forms?|ModelGeneration|Live|Utterance|RecordingAligner\.AQueue|Moonshine)'
  done
  exit
fi

./tools/build.sh
if folder=$(./tools/real_weights.sh); then export ENCDEC_REAL_WEIGHTS=$folder; else unset ENCDEC_REAL_WEIGHTS; fi
echo "Testing"
ctest --preset release -j2 --output-on-failure --no-tests=error "$@"
[[ $# -eq 0 ]] || exit 0

for suite in test_python test_serve; do
  status=0
  "./tools/$suite.sh" || status=$?
  [[ $status -ne 77 ]] || echo "Skipped: $suite.sh"
  [[ $status -eq 77 || $status -eq 0 ]] || exit "$status"
done
real=$(ctest --preset release --show-only --tests-regex 'real_|RealCheckpoint' | sed -n 's/.*#[0-9]*: //p' | paste -sd' ')
if [[ -n ${ENCDEC_REAL_WEIGHTS:-} ]]; then
  echo "Passed with trained checkpoints, in Python too: $real"
else
  echo "Skipped without trained checkpoints: $real"
fi
