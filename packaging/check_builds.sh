#!/usr/bin/env bash
# Builds and tests, in fresh systems, the cases that ./tools/test.sh does not cover: Debian 12 and 13 with their compilers,
# build options, encdec inside other projects, other versions of oneDNN. Prints a line for each case, and writes logs to
# build/check_builds. Needs root (for chroots), debootstrap, the network and 10 GB in /var/tmp. All cases together take
# hours.
#   ./packaging/check_builds.sh --list
#   ./packaging/check_builds.sh                       all cases
#   ./packaging/check_builds.sh shared-12 clang-13    only these cases
# CHROOTS=DIR keeps the systems in DIR for the next run. For CCACHE_DIR and MIRROR see packaging/systems.sh.
# shellcheck disable=SC2016,SC2317  # functions are called by computed names; quoted commands run in a chroot's shell
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. packaging/systems.sh

cases='demo-12 demo-13          ./tools/demo.sh in a bare system
test-12 test-13          ./tools/test.sh in a bare system
gcc-12 gcc-13            preset ci: gcc, each file compiled alone, no warnings
clang-12 clang-13        preset clang: the same with clang
asan-12 tsan-12          all tests under the sanitizers
shared-12 shared-13      one libencdec.so, all tests
minimal-12 minimal-13    the preset minimal, in a system with only the packages that it needs
small-12 small-13        only the libraries, without the packages of tools and tests; the examples as a separate project
serverless-12            a build without the server
make-12 make-13          make instead of ninja; the installed command
multi-12 multi-13        Ninja Multi-Config, and a project that uses the installed package
parent-12 parent-13      encdec as a part of another project: add_subdirectory, FetchContent
onednn3-12               oneDNN 3.2 in a separate prefix, while oneDNN 2.6 is installed; all tests
sid-13                   the oneDNN of Debian sid; all tests
arm64-12                 the arm64 preset, its kernels, layers and models under qemu'

# The cases. as_user runs commands without root, in a copy of this folder without .git whose path contains a space.

case_demo() {
  bare_system "$1"
  as_root 'echo serendipity | ./tools/demo.sh'
}

case_test() {
  bare_system "$1"
  as_root ./tools/test.sh
}

case_gcc() {
  ready_system "$1"
  as_user 'cmake --preset ci
    cmake --build --preset ci -- -k 0
    ctest --preset ci --no-tests=error -R Consumer'
}

case_clang() {
  ready_system "$1"
  as_root 'apt-get install clang'
  as_user 'cmake --preset clang
    cmake --build --preset clang -- -k 0
    ctest --preset clang --no-tests=error -R Consumer'
}

case_asan() {
  ready_system "$1"
  as_user 'cmake --workflow --preset asan'
}

case_tsan() {
  ready_system "$1"
  as_user 'cmake --workflow --preset tsan'
}

case_shared() {
  ready_system "$1"
  as_user 'cmake --preset release -DBUILD_SHARED_LIBS=ON
    cmake --build --preset release
    readelf --dynamic build/release/libencdec.so | grep --fixed-strings "soname: [libencdec.so.0.3]"
    ctest --preset release -j2'
}

case_minimal() {
  bare_system "$1"
  as_root './tools/install_packages.sh minimal
    cmake --workflow --preset minimal
    [[ $(echo serendipity | build/minimal/bin/encdec-demo) == *"S EH2 R"* ]]'
}

case_small() {
  ready_system "$1"
  as_root 'apt-get purge libcli11-dev libspdlog-dev libbenchmark-dev libgtest-dev libgmock-dev'
  as_user 'cmake --preset release -DENCDEC_BUILD_{TOOLS,TESTS,EXAMPLES}=OFF
    cmake --build --preset release
    cmake --install build/release --prefix "$HOME/a prefix"
    cmake -G Ninja -S examples -B build/examples "-DCMAKE_PREFIX_PATH=$HOME/a prefix"
    cmake --build build/examples
    ctest --test-dir build/examples --output-on-failure'
}

case_serverless() {
  ready_system "$1"
  as_user 'cmake --preset release -DENCDEC_SERVER=OFF
    cmake --build --preset release --target tools_test
    ctest --preset release --no-tests=error -R "NoServe|Usage"'
}

case_make() {
  ready_system "$1"
  as_root 'apt-get install make'
  as_user 'cmake --preset release -G "Unix Makefiles" -DENCDEC_BUILD_TESTS=OFF
    cmake --build --preset release --parallel 2
    cmake --install build/release --prefix "$HOME/a prefix"
    echo hello | "$HOME/a prefix/bin/encdec" generate --model models/pretrained/english-pronunciation'
}

case_multi() {
  ready_system "$1"
  as_user 'cmake --preset release -G "Ninja Multi-Config"
    cmake --build --preset release --config Release --target encdec-documents encdec-demo-documents encdec-bench
    ctest --preset release -C Release --no-tests=error -R Consumer'
}

case_parent() {
  ready_system "$1"
  as_user 'mkdir build
    tar --create --gzip --file build/encdec.tar.gz --exclude ./build --transform "s,^\.,encdec," .
    for source in "-DENCDEC_SOURCE=$PWD" "-DENCDEC_ARCHIVE=$PWD/build/encdec.tar.gz"; do
      cmake -G Ninja -S tests/consumer/subproject -B build/parent --fresh "$source"
      cmake --build build/parent
      build/parent/parent models/pretrained/english-pronunciation
      cmake --install build/parent --prefix build/prefix
      [[ $(find build/prefix -type f) == build/prefix/bin/parent ]]
    done'
}

case_onednn3() {
  ready_system "$1"
  as_root 'apt-get install python3-venv
    python3 -m venv /opt/onednn
    /opt/onednn/bin/pip install --quiet onednn-cpu-gomp==2023.2.0 onednn-devel-cpu-gomp==2023.2.0'
  as_user 'if cmake --preset release -Ddnnl_DIR=/opt/none; then exit 1; fi
    cmake --fresh --preset release -DCMAKE_PREFIX_PATH=/opt/onednn
    cmake --build --preset release
    cmake --install build/release --prefix "$HOME/a prefix"
    ldd "$HOME/a prefix/bin/encdec" | grep "libdnnl.so.3 => /opt/onednn/lib"
    ctest --preset release -j2'
}

case_sid() {
  ready_system "$1"
  as_root 'sed "s/trixie/sid/" /etc/apt/sources.list >/etc/apt/sources.list.d/sid.list
    apt-get update --option Acquire::Check-Valid-Until=false # a mirror may be out of date
    apt-get install --target-release sid libdnnl-dev'
  as_user 'cmake --preset release
    cmake --build --preset release
    ctest --preset release -j2'
}

case_arm64() {
  cross_system "$1"
  as_user 'cmake --preset arm64
    cmake --build --preset arm64
    ctest --preset arm64 --no-tests=error -R "^(engine|layers|golden)_test|Graph|MatMul|Golden|Demo"'
}

mapfile -t all < <(grep --only-matching --extended-regexp '\b[a-z0-9]+-1[23]\b' <<<"$cases")
if [[ ${1:-} == --list ]]; then
  echo "$cases"
  exit
fi
for name in "$@"; do
  [[ " ${all[*]} " == *" $name "* ]] || die "no case '$name': see --list"
done
need_root_and_debootstrap

logs=build/check_builds
mkdir -p "$logs"
chroots=${CHROOTS:-$(mktemp -d /var/tmp/check_builds.XXXXXX)}
root=$chroots/case.$$
trap 'rm -rf "$root"; [[ ${CHROOTS:-} ]] || rm -rf "$chroots"' EXIT
failed=0
[[ $# -gt 0 ]] || set -- "${all[@]}"
for name in "$@"; do
  logged "$name" "$logs/$name.log" "case_${name%-*}" "${name#*-}"
done
exit $failed
