#!/usr/bin/env bash
# Installs the missing Debian packages that building and testing need. Prints nothing if none is missing.
#   ./tools/install_packages.sh --list   prints the names of all these packages instead
set -euo pipefail

boost=libboost-dev
# In Debian 12 the package libboost-dev is too old.
if grep --quiet --no-messages VERSION_CODENAME=bookworm /etc/os-release; then boost=libboost1.81-dev; fi

packages=(
  g++ cmake ninja-build pkg-config
  libdnnl-dev libfmt-dev libspdlog-dev libhwy-dev nlohmann-json3-dev libcli11-dev
  zlib1g-dev libyaml-dev libutf8proc-dev libpcre2-dev libxxhash-dev
  libsndfile1-dev libmpg123-dev # recordings that are not WAV
  libpango1.0-dev fonts-dejavu-core # images of attention; text needs a font
  "$boost" libicu-dev libcld2-dev libgumbo-dev prometheus-cpp-dev # encdec serve
  libbenchmark-dev libgtest-dev libgmock-dev
  python3-dev python3-pip python3-venv # the Python package
)

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "install_packages.sh: no apt-get here; install the equivalents of: ${packages[*]}" >&2
  exit 1
fi

if [[ ${1:-} == --list ]]; then
  printf '%s\n' "${packages[@]}"
  exit
fi

# install_missing PACKAGE...
install_missing() {
  local package status missing=() as_root=()
  for package in "$@"; do
    status=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
    [[ $status == installed* ]] || missing+=("$package")
  done
  [[ ${#missing[@]} -gt 0 ]] || return 0

  if [[ $EUID -ne 0 ]]; then
    if ! command -v sudo >/dev/null; then
      echo "install_packages.sh: needs root or sudo to install: ${missing[*]}" >&2
      exit 1
    fi
    as_root=(sudo)
  fi
  echo "Installing ${missing[*]}"
  "${as_root[@]}" apt-get -qq update
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq -o Dpkg::Use-Pty=0 install --yes --no-install-recommends "${missing[@]}" >/dev/null
}

install_missing "${packages[@]}"
# If oneDNN was built with OpenCL, its CMake package needs OpenCL, but its Debian package does not depend on it.
if grep --quiet --no-messages 'DNNL_GPU_RUNTIME "OCL")' /usr/lib/*/cmake/dnnl/dnnl-config.cmake; then
  install_missing ocl-icd-opencl-dev
fi
