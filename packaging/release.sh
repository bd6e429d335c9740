#!/usr/bin/env bash
# Builds the files of a release in fresh systems, and tries each part in a bare system:
#   ./packaging/release.sh [OUTPUT [PART...]]     OUTPUT is build/release-files if not given
#   ./packaging/release.sh --list
# Writes to OUTPUT the files, a bill of materials (SPDX) for each archive and wheel, SHA256SUMS, and logs/. A second run
# from another copy of the same commit writes identical archives and wheels.
# oneDNN has Debian 13's version. It is built once, on Debian 12, as a static library without threads, so that archives and
# wheels contain the same machine code.
# Needs root (for chroots), debootstrap, zstd, the network and 10 GB in /var/tmp; for arm64 also qemu-user-static and
# binfmt-support. Takes three hours on two cores.
# CHROOTS=DIR keeps the systems and oneDNN in DIR for the next run. For CCACHE_DIR and MIRROR see packaging/systems.sh.
# shellcheck disable=SC2016,SC2034  # quoted commands, and the variables they use, are for a chroot's shell
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. packaging/systems.sh

parts='archive         encdec-VERSION-linux-x86_64.tar.zst: commands, bundled models, manual pages; for Debian 12 and later
wheel-12        the wheel for Python 3.11
wheel-13        the wheel for Python 3.12 and later
packages-12     Debian packages for Debian 12
packages-13     Debian packages for Debian 13
archive-arm64   the archive, cross-compiled
wheel-12-arm64  wheel-12, cross-compiled
wheel-13-arm64  wheel-13, cross-compiled'
if [[ ${1:-} == --list ]]; then
  echo "$parts"
  exit
fi

# for_architecture amd64|arm64: sets the variables that depend on the architecture.
for_architecture() {
  architecture=$1
  onednn=$chroots/onednn-$1
  if [[ $1 == amd64 ]]; then
    foreign='' machine=x86_64 preset=release loader=/lib64/ld-linux-x86-64.so.2
  else
    foreign=$1 machine=aarch64 preset=arm64 loader=/lib/ld-linux-aarch64.so.1
  fi
}

# building_system NUMBER: makes $root a Debian NUMBER that builds programs for the architecture.
building_system() {
  if [[ $foreign ]]; then cross_system "$1"; else ready_system "$1"; fi
  [[ ! -e $onednn ]] || cp --archive "$onednn" "$root/opt/onednn"
}

# build COMMANDS: runs commands as an ordinary user, with the variables and functions that are declared here.
build() {
  as_user "$(declare -p architecture foreign machine preset loader epoch version)
    $(declare -f libraries packages_of notices)
    export SOURCE_DATE_EPOCH=$epoch
    [[ ! \$foreign ]] || export CMAKE_TOOLCHAIN_FILE=\$PWD/cmake/aarch64-linux-gnu.cmake
    $1"
}

# libraries FILE...: lists the shared libraries of programs, except the libraries that every system has.
libraries() {
  for file in "$@"; do $loader --list "$file"; done | sed -nE "s/.* => ([^ ]*) .*/\1/p" | sort -u |
    grep --invert-match --extended-regexp "/(libc|libm|libstdc\+\+|libgcc_s|ld-linux-[^/]*)\.so"
}

# packages_of FILE...: lists the Debian packages of these shared libraries, and of the libraries compiled into the programs.
packages_of() {
  for file in "$@"; do
    dpkg-query --search "*/$machine-linux-gnu/$(basename "$(realpath "$file")")" | sed 's/: .*//'
  done | sort -u
  dpkg-query --show --showformat='${db:Status-Status} ${Architecture} ${binary:Package}\n' \
    'libboost1*-dev' libcli11-dev libfmt-dev libhwy-dev libkissfft-dev libspdlog-dev libxxhash-dev nlohmann-json3-dev |
    sed --quiet --regexp-extended "s/^installed ($architecture|all) //p"
}

# notices PACKAGE...: writes the copyright notices of oneDNN and of these packages.
notices() {
  for notice in /opt/onednn/{LICENSE,THIRD-PARTY-PROGRAMS} "${@/#//usr/share/doc/}"; do
    notice=${notice%:*}
    [[ -f $notice ]] || notice=$notice/copyright
    printf '\n%s\n%s\n\n' '--------------------------------------------------------------------------------' "$notice"
    cat "$notice"
  done
}

build_onednn() {
  building_system 12
  as_root "echo 'deb-src ${MIRROR:-http://deb.debian.org/debian} trixie main' >/etc/apt/sources.list.d/sources.list"
  as_root 'apt-get update
    apt-get install dpkg-dev
    install --directory --owner user /opt/onednn'
  build 'cd ~
    apt-get source onednn
    source=$(echo onednn-*/)
    # Removes the source files of primitives that ONEDNN_ENABLE_PRIMITIVE leaves out, because compiling them takes most of
    # the time. They are not needed if the command encdec links without them.
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

# Commands that try a part. All parts for an architecture must write identical files to ~/results.
sample='models=$(realpath "${models:-models/pretrained}")
  mkdir ~/results
  cd ~/results
  printf "%s\n" serendipity "o'\''clock" Zürich 猫 >words
  encdec generate --quiet --model "$models/english-pronunciation" --num-beams 5 --num-return-sequences 5 --json \
    --token-scores <words >generate.json
  encdec generate --quiet --model "$models/english-pronunciation" --precision int8 --json <words >generate-int8.json
  encdec attention --quiet --model "$models/english-pronunciation" serendipity --output attention.json
  encdec transcribe --quiet --model "$models/english-numbers" --output-format json --output-dir . \
    "$models"/english-numbers/clips/*.wav
  cd - >/dev/null'

# same_results: compares the results in $root with the results of the first part that was tried.
same_results() {
  local first=$output/logs/results-$architecture
  [[ -e $first ]] || cp --recursive "$root/home/user/results" "$first"
  diff --recursive "$first" "$root/home/user/results"
}

# build_archive: builds the archive in Debian 12.
build_archive() {
  building_system 12
  as_root 'apt-get install zstd'
  build 'cmake --preset $preset -DENCDEC_BUILD_TESTS=OFF -DENCDEC_BUILD_EXAMPLES=OFF \
      -Ddnnl_DIR=/opt/onednn/lib/cmake/dnnl "-DCMAKE_INSTALL_RPATH=\$ORIGIN/../lib" \
      -DCMAKE_EXE_LINKER_FLAGS=-Wl,--disable-new-dtags  # so that libraries find each other, too
    cmake --build --preset $preset
    name=encdec-$version-linux-$machine
    cmake --install build/$preset --prefix ~/$name --strip
    cd ~/$name
    rm -r include lib
    mkdir lib
    files=$(libraries bin/*)
    cp $files lib
    packages=$(packages_of lib/*)
    notices $packages >>share/doc/encdec/THIRD_PARTY_NOTICES
    python3 "$OLDPWD/packaging/make_spdx.py" $name $packages >~/$name.spdx.json
    cd ~
    tar --create --sort=name --mtime=@$SOURCE_DATE_EPOCH --owner=0 --group=0 --numeric-owner $name |
      zstd -19 --quiet -o $name.tar.zst
    [[ $(stat --format=%s $name.tar.zst) -lt 60000000 ]]'
  cp "$root"/home/user/encdec-*.{tar.zst,spdx.json} "$output"
  as_user "export PATH=\$PWD/build/$preset/bin:\$PATH; $sample"
  same_results
}

# try_archive NUMBER: runs the archive in a bare Debian NUMBER.
try_archive() {
  bare_system "$1" "$foreign"
  zstd --decompress --stdout "$output/encdec-$version-linux-$machine.tar.zst" | tar --extract --directory "$root/home/user"
  as_user 'cd ~/encdec-*
    time ./bin/encdec-demo cat
    ./bin/encdec --version
    export PATH=$PWD/bin:$PATH models=share/encdec/pretrained
    '"$sample"
  same_results
}

# build_wheel NUMBER: builds a wheel in Debian NUMBER.
build_wheel() {
  building_system "$1"
  [[ ! $foreign ]] || as_root 'apt-get install libpython3-dev:arm64'
  build 'python3 -m venv ~/venv
    ~/venv/bin/pip install --quiet --requirement python/tests/requirements.txt \
      --requirement packaging/wheel_requirements.txt
    if [[ $foreign ]]; then
      export _PYTHON_HOST_PLATFORM=linux-$machine
      SETUPTOOLS_EXT_SUFFIX=.$(python3 -c "import sys; print(sys.implementation.cache_tag)")-$machine-linux-gnu.so
      export SETUPTOOLS_EXT_SUFFIX
    fi
    wheel() {
      ~/venv/bin/pip wheel --no-build-isolation --no-deps --wheel-dir ~/built --config-settings build-dir=build/$preset \
        --config-settings cmake.define.dnnl_DIR=/opt/onednn/lib/cmake/dnnl \
        --config-settings cmake.define.ENCDEC_SERVER=ON --config-settings cmake.define.ENCDEC_SNDFILE=ON .
    }
    wheel
    files=$(libraries build/$preset/bin/encdec)
    packages=$(packages_of $files)
    notices $packages >>third_party/THIRD_PARTY_NOTICES
    wheel  # with the notices
    export PATH=~/venv/bin:$PATH
    auditwheel show ~/built/*.whl
    auditwheel repair --wheel-dir ~/wheels ~/built/*.whl
    auditwheel show ~/wheels/*.whl
    python -m zipfile --list ~/wheels/*.whl
    name=$(basename ~/wheels/*.whl .whl)
    python3 packaging/make_spdx.py $name $packages pypi/nanobind >~/wheels/$name.spdx.json
    python -m zipfile --extract ~/wheels/*.whl ~/looked-into
    cd ~/looked-into
    libraries $(find . -name "*.so*" -o -path "*.scripts/encdec") | tee ~/libraries
    if grep --extended-regexp "libgomp|libOpenCL|libdnnl" ~/libraries; then exit 1; fi
    [[ $(stat --format=%s ~/wheels/*.whl) -lt 45000000 ]]'
  cp "$root"/home/user/wheels/* "$output"
}

# try_wheel NUMBER: tests a wheel in a bare Debian NUMBER. Skips the package's own tests under emulation, where they would
# take hours.
try_wheel() {
  local python=cp311
  [[ $1 == 12 ]] || python=cp312-abi3
  bare_system "$1" "$foreign"
  as_root 'apt-get install python3-venv'
  cp "$output/encdec-$version-$python"-*"$machine".whl "$root/home/user"
  as_user 'for tool in cc c++ gcc g++ clang cmake; do
      if command -v $tool; then exit 1; fi
    done
    python3 -m venv ~/venv
    for wheel in ~/*.whl; do ~/venv/bin/pip install --quiet "$wheel[arrays]"; done
    export PATH=~/venv/bin:$PATH
    encdec --version
    encdec serve --help >/dev/null
    python -m doctest docs/python.md
    '"$sample"'
    [[ '"$architecture"' == arm64 ]] && exit
    pip install --quiet --requirement python/tests/requirements.txt
    python -m pytest'
  same_results
}

# profiles NUMBER: prints the setting of the build profile for Debian NUMBER. Debian 12 has no nanobind.
profiles() { if [[ $1 == 12 ]]; then echo DEB_BUILD_PROFILES=pkg.encdec.nopython; fi; }

# build_packages NUMBER: builds the Debian packages for Debian NUMBER.
build_packages() {
  ready_system "$1"
  as_root "apt-get install build-essential lintian
    $(profiles "$1") apt-get build-dep ./packaging"
  as_user "export SOURCE_DATE_EPOCH=$epoch DEB_BUILD_OPTIONS=nocheck
    cp --recursive . ~/encdec  # debhelper takes no space in the path
    cd ~/encdec
    cp --recursive packaging/debian .
    $(profiles "$1") dpkg-buildpackage --build=binary --no-sign
    lintian --fail-on error ../*.changes"
  rm -rf "$output/debian-$1"
  mkdir "$output/debian-$1"
  cp "$root"/home/user/*.deb "$output/debian-$1"
}

# try_packages NUMBER: installs, uses, removes and purges the packages in a bare Debian NUMBER.
try_packages() {
  bare_system "$1"
  cp "$output/debian-$1"/*.deb "$root/tmp"
  as_root 'apt-get install /tmp/encdec_*.deb /tmp/encdec-data_*.deb /tmp/libencdec0.3_*.deb
    encdec-demo cat
    encdec --version
    if encdec serve --model /usr/share/encdec/pretrained/english-pronunciation; then exit 1; fi'
  as_user "models=/usr/share/encdec/pretrained; $sample"
  same_results
  as_root 'apt-get install /tmp/*.deb
    encdec serve --help >/dev/null
    [[ ! -e /usr/lib/python3/dist-packages/encdec ]] || python3 -m doctest docs/python.md
    apt-get remove encdec-server
    apt-get purge "encdec*" "libencdec*"
    apt-get autoremove --purge
    if find /etc /opt /usr /var -name "*encdec*" | grep --invert-match /etc/apt; then exit 1; fi'
}

# step NAME COMMAND...: runs a command with its output in $output/logs/NAME. Ends the script if the command fails.
step() {
  logged "$1" "$output/logs/$1" "${@:2}"
  [[ $failed == 0 ]] || exit 1
}

need_root_and_debootstrap
command -v zstd >/dev/null || die "needs zstd: apt install zstd"
[[ ! $(git status --porcelain) ]] || die "files differ from the last commit, expected none: see git status"
output=$(realpath --canonicalize-missing "${1:-build/release-files}")
wanted=("${@:2}")
mapfile -t all < <(cut --delimiter=' ' --fields=1 <<<"$parts")
[[ ${#wanted[@]} -gt 0 ]] || wanted=("${all[@]}")
for part in "${wanted[@]}"; do
  [[ " ${all[*]} " == *" $part "* ]] || die "no part $part: see --list"
done
rm -rf "$output/logs"
mkdir -p "$output/logs"
version=$(sed -nE 's/^project\(encdec VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)
epoch=$(git log -1 --format=%ct)  # timestamp of all files
chroots=${CHROOTS:-$(mktemp -d /var/tmp/release.XXXXXX)}
mkdir -p "$chroots"
root=$chroots/case.$$
trap 'rm -rf "$root"; [[ ${CHROOTS:-} ]] || rm -rf "$chroots"' EXIT
failed=0
for part in "${wanted[@]}"; do
  if [[ $part == *-arm64 ]]; then for_architecture arm64; else for_architecture amd64; fi
  [[ $part == packages-* || -e $onednn ]] || step "onednn-$architecture" build_onednn
  name=${part%-arm64}
  number=${name##*-}
  case $name in
    archive)
      step "$part" build_archive
      step "$part-on-12" try_archive 12
      step "$part-on-13" try_archive 13
      ;;
    wheel-*)
      step "$part" build_wheel "$number"
      step "$part-tests" try_wheel "$number"
      ;;
    packages-*)
      step "$part" build_packages "$number"
      step "$part-use" try_packages "$number"
      ;;
  esac
done
cd "$output"
sums=$(find . -type f ! -path './logs/*' ! -name SHA256SUMS -printf '%P\n' | sort | xargs sha256sum)
tee SHA256SUMS <<<"$sums"
