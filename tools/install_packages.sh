#!/usr/bin/env bash
# Installs the Debian packages that a build needs and that are missing. Prints nothing if all are installed.
#   ./tools/install_packages.sh                everything: building, testing, the Python package
#   ./tools/install_packages.sh minimal        the preset minimal: the core, encdec-demo, encdec-bench and the core's tests
#   ./tools/install_packages.sh demo           encdec and encdec-demo without the server and compressed audio
#   ./tools/install_packages.sh serve          the same with the server
#   ./tools/install_packages.sh pip            pip, to fetch packages from PyPI
#   ./tools/install_packages.sh docs           additional packages for the preset docs
#   ./tools/install_packages.sh [SET] --list   prints the package names instead of installing
set -euo pipefail

boost=libboost-dev
# In Debian 12 the package libboost-dev is too old.
if grep --quiet --no-messages VERSION_CODENAME=bookworm /etc/os-release; then boost=libboost1.81-dev; fi

set=all
case ${1:-} in
  minimal | demo | serve | pip | docs) set=$1 && shift ;;
  '' | --list) ;;
  *) echo "install_packages.sh: no set $1, expected minimal, demo, serve, pip or docs" >&2 && exit 2 ;;
esac

packages=(
  g++ cmake ninja-build pkg-config
  libdnnl-dev libfmt-dev libhwy-dev nlohmann-json3-dev libutf8proc-dev libpcre2-dev libxxhash-dev
  libcli11-dev # arguments of the programs
)
if [[ $set != minimal ]]; then
  packages+=(libspdlog-dev zlib1g-dev libyaml-dev libzstd-dev libkissfft-dev)
fi
if [[ $set == minimal || $set == all ]]; then
  packages+=(libbenchmark-dev libgtest-dev libgmock-dev)
fi
if [[ $set == serve || $set == all ]]; then
  packages+=("$boost" libicu-dev libcld2-dev libgumbo-dev libexpat1-dev prometheus-cpp-dev)
fi
if [[ $set == all ]]; then
  packages+=(
    libsndfile1-dev libmpg123-dev # recordings that are not WAV
    ccache # test.sh
    python3-dev python3-pip python3-venv # the Python package
  )
fi

if [[ $set == pip ]]; then packages=(python3-pip); fi
if [[ $set == docs ]]; then packages=(doxygen furo pandoc python3-myst-parser python3-sphinx); fi

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "install_packages.sh: no apt-get here; install the equivalents of: ${packages[*]}" >&2
  exit 1
fi

if [[ ${1:-} == --list ]]; then
  printf '%s\n' "${packages[@]}"
  exit
fi

# install_missing PACKAGE...: installs the packages that are missing, with sudo if not run as root.
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
