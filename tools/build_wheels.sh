#!/usr/bin/env bash
# Builds the wheels of the Python package in fresh systems, and tests each in a bare system that has Python but no
# compiler. Writes wheels and logs to OUTPUT, build/wheels if not given:
#   ./tools/build_wheels.sh [OUTPUT]
# Wheels:
#   Debian 12 (Python 3.11)   cp311
#   Debian 13 (Python 3.13)   cp312-abi3, for 3.12 and later
# cp310 and cp314t are not built here, because neither system has their Python (see pyproject.toml, tool.cibuildwheel).
# oneDNN is Debian 13's version. It is built once, on Debian 12, as a static library without threads of its own, so that
# both wheels have the same machine code of it.
# Needs root (for chroots), debootstrap, the network and 8 GB in /var/tmp. Takes an hour on two cores.
# CHROOTS=DIR keeps the systems and oneDNN in DIR for the next run. For CCACHE_DIR and MIRROR see tools/systems.sh.
# shellcheck disable=SC2016  # commands are text for the shell in a system
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tools/systems.sh

# Libraries that are copied into a wheel. A wheel has their notices too.
bundled=(libfmt-dev libspdlog-dev libhwy-dev libpcre2-dev libutf8proc-dev libyaml-dev libzstd-dev
  libicu-dev libcld2-dev libgumbo-dev libexpat1-dev)

build_onednn() {
  ready_system 12
  as_root "echo 'deb-src ${MIRROR:-http://deb.debian.org/debian} trixie main' >/etc/apt/sources.list.d/sources.list"
  as_root 'apt-get update
    apt-get install dpkg-dev
    install --directory --owner user /opt/onednn'
  as_user 'cd ~
    apt-get source onednn
    source=$(echo onednn-*/)
    # Removes source files of primitives that ONEDNN_ENABLE_PRIMITIVE leaves out, since compiling them takes most of the
    # time. If the command encdec links without them, nothing else needs them.
    unneeded="_conv[_.o]|deconv|pool|softmax|normalization|resampling|reduction|(ref|uni)_(binary|eltwise|lrn|prelu|shuffle)"
    find "$source/src/cpu" -regextype egrep ! -name "*_list.cpp" \
      \( -regex ".*/cpu/(x64/)?(rnn|lrn|prelu|shuffle)/[^/]*cpp" -o -regex ".*/cpu/(x64/)?[^/]*($unneeded)[^/]*cpp" \) -delete
    cmake -G Ninja -S "$source" -B onednn -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/opt/onednn \
      -DONEDNN_LIBRARY_TYPE=STATIC -DONEDNN_CPU_RUNTIME=SEQ -DONEDNN_GPU_RUNTIME=NONE -DONEDNN_BUILD_GRAPH=OFF \
      -DONEDNN_ENABLE_WORKLOAD=INFERENCE "-DONEDNN_ENABLE_PRIMITIVE=MATMUL;REORDER" \
      -DONEDNN_BUILD_EXAMPLES=OFF -DONEDNN_BUILD_TESTS=OFF -DONEDNN_BUILD_DOC=OFF
    cmake --build onednn
    cmake --install onednn
    cp "$source/LICENSE" "$source/THIRD-PARTY-PROGRAMS" /opt/onednn'
  mv "$root/opt/onednn" "$onednn"
}

# build_wheel NUMBER: builds a wheel in Debian NUMBER, into $output/NUMBER.
build_wheel() {
  ready_system "$1"
  cp --archive "$onednn" "$root/opt/onednn"
  as_user "$(declare -p bundled)"'
    notices=(/opt/onednn/{LICENSE,THIRD-PARTY-PROGRAMS})
    for package in "${bundled[@]}"; do notices+=("/usr/share/doc/$package/copyright"); done
    for notice in "${notices[@]}"; do
      printf "\n%s\n%s\n\n" "--------------------------------------------------------------------------------" "$notice"
      cat "$notice"
    done >>third_party/THIRD_PARTY_NOTICES
    python3 -m venv ~/venv
    ~/venv/bin/pip install --quiet --requirement python/tests/requirements.txt --requirement python/wheel_requirements.txt
    ~/venv/bin/pip wheel --no-build-isolation --no-deps --wheel-dir ~/built \
      --config-settings cmake.define.dnnl_DIR=/opt/onednn/lib/cmake/dnnl .
    export PATH=~/venv/bin:$PATH
    auditwheel show ~/built/*.whl
    auditwheel repair --wheel-dir ~/wheels ~/built/*.whl
    auditwheel show ~/wheels/*.whl
    python -m zipfile --list ~/wheels/*.whl
    cp --recursive ~/wheels ~/looked-into
    cd ~/looked-into
    python -m zipfile --extract ./*.whl .
    ldd $(find . -name "*.so*" -o -path "*.scripts/encdec") | tee libraries
    if grep --extended-regexp "libgomp|libOpenCL|libdnnl|not found" libraries; then exit 1; fi
    [[ $(stat --format=%s ./*.whl) -lt 40000000 ]]'
  mkdir -p "$output/$1"
  rm -f "$output/$1"/*.whl
  cp "$root"/home/user/wheels/*.whl "$output/$1"
}

# test_wheel NUMBER: tests the wheel of $output/NUMBER in Debian NUMBER.
test_wheel() {
  bare_system "$1"
  as_root 'apt-get install python3-venv'
  cp "$output/$1"/*.whl "$root/home/user"
  as_user 'for tool in cc c++ gcc g++ clang cmake; do
      if command -v $tool; then exit 1; fi
    done
    python3 -m venv ~/venv
    for wheel in ~/*.whl; do ~/venv/bin/pip install --quiet "$wheel[arrays]"; done
    export PATH=~/venv/bin:$PATH
    encdec --version
    [[ $(echo hello | encdec generate --model models/pretrained/english-pronunciation) == "HH EH1 L OW0" ]]
    pip install --quiet --requirement python/tests/requirements.txt
    python -m pytest'
}

# step NAME COMMAND...: runs a command with its output in $output/NAME.log. Ends the script if the command fails.
step() {
  local name=$1 start=$SECONDS status
  shift
  set +e
  (set -e; "$@") >"$output/$name.log" 2>&1
  status=$?
  set -e
  if [[ $status != 0 ]]; then
    printf '%-10s %5d s  FAILED: %s\n' "$name" $((SECONDS - start)) "$output/$name.log"
    exit 1
  fi
  printf '%-10s %5d s  passed\n' "$name" $((SECONDS - start))
}

need_root_and_debootstrap
output=$(realpath --canonicalize-missing "${1:-build/wheels}")
mkdir -p "$output"
chroots=${CHROOTS:-$(mktemp -d /var/tmp/build_wheels.XXXXXX)}
root=$chroots/case.$$
onednn=$chroots/onednn
trap 'rm -rf "$root"; [[ ${CHROOTS:-} ]] || rm -rf "$chroots"' EXIT
[[ -e $onednn ]] || step onednn build_onednn
for number in 12 13; do
  step "build-$number" build_wheel "$number"
  step "test-$number" test_wheel "$number"
  mv "$output/$number"/*.whl "$output"
  rmdir "$output/$number"
done
ls -l "$output"/*.whl
