#!/usr/bin/env bash
# Installs the Debian packages that building and testing need, as far as they are missing. Silent when none is.
set -euo pipefail

packages=(
  g++ cmake ninja-build pkg-config
  libdnnl-dev ocl-icd-opencl-dev # oneDNN; its CMake package looks for OpenCL but does not depend on it
  libfmt-dev libspdlog-dev libhwy-dev nlohmann-json3-dev libcli11-dev libsentencepiece-dev
  zlib1g-dev libyaml-dev libutf8proc-dev libpcre2-dev libxxhash-dev
  libpango1.0-dev fonts-dejavu-core # images of attention; text needs a font
  libbenchmark-dev libgtest-dev libgmock-dev
)

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "install_packages.sh: no apt-get here; install the equivalents of: ${packages[*]}" >&2
  exit 1
fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $status == installed* ]] || missing+=("$package")
done
[[ ${#missing[@]} -gt 0 ]] || exit 0

as_root=()
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
