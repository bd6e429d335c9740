# Functions that make systems of Debian 12 and 13 in chroots; source this file to use them. Each system has a copy of the
# current folder without .git and files that git ignores, at a path with a space. Needs root, debootstrap and the network.
# The sourcing script sets
#   chroots=DIR   folder that keeps systems: bare-12, ready-13, ...
#   root=DIR      system in which commands run: a copy of a kept one; the script removes it
# Environment: CCACHE_DIR=DIR, owned by user id 1000, caches compilations; MIRROR=URL is debootstrap's package mirror.
# shellcheck shell=bash disable=SC2016,SC2034,SC2154  # text for a chroot's shell; failed; chroots, root
folder="home/user/en code"

# die MESSAGE: ends the script.
die() {
  echo "${0##*/}: $*" >&2
  exit 1
}

# need_root_and_debootstrap: ends the script if it does not run as root or debootstrap is missing.
need_root_and_debootstrap() {
  [[ $EUID == 0 ]] || die "needs root, for chroots"
  command -v debootstrap >/dev/null || die "needs debootstrap: apt install debootstrap"
}

# logged NAME LOG COMMAND...: runs a command, writes the output to LOG, and prints a line with the duration and result.
# Sets failed=1 if the command fails.
logged() {
  local name=$1 log=$2 start=$SECONDS status result=passed
  shift 2
  set +e
  (set -e; "$@") >"$log" 2>&1
  status=$?
  set -e
  [[ $status == 0 ]] || result="FAILED: $log" failed=1
  printf '%-16s %5d s  %s\n' "$name" $((SECONDS - start)) "$result"
}

# bare_system NUMBER [ARCHITECTURE]: makes $root a fresh Debian 12 or 13 with only debootstrap's packages. A foreign
# architecture needs the packages qemu-user-static and binfmt-support on this machine.
bare_system() {
  local bare=$chroots/bare-$1${2:+-$2} suite=bookworm
  [[ $1 == 12 ]] || suite=trixie
  if [[ ! -e $bare ]]; then
    rm -rf "$bare.unfinished"
    debootstrap --variant=minbase ${2:+--arch="$2"} "$suite" "$bare.unfinished" ${MIRROR:+"$MIRROR"}
    printf '%s\n' 'APT::Get::Assume-Yes "true";' 'APT::Install-Recommends "false";' 'Dpkg::Use-Pty "0";' \
      >"$bare.unfinished/etc/apt/apt.conf.d/encdec"
    chroot "$bare.unfinished" useradd --create-home --uid 1000 user
    mv "$bare.unfinished" "$bare"
  fi
  begin_with "$bare"
}

# ready_system NUMBER: makes $root a system that also has the packages of tools/install_packages.sh. After a change of that
# script, makes a kept system again.
ready_system() {
  local ready=$chroots/ready-$1
  if ! cmp --quiet tools/install_packages.sh "$ready/$folder/tools/install_packages.sh"; then
    rm -rf "$ready"
    bare_system "$1"
    as_root ./tools/install_packages.sh
    mv "$root" "$ready"
  fi
  begin_with "$ready"
}

# cross_system NUMBER: makes $root a ready system that also has a cross compiler for arm64, an emulator, and the packages
# of tools/install_packages.sh for arm64.
cross_system() {
  ready_system "$1"
  as_root 'dpkg --add-architecture arm64
    apt-get update
    apt-get purge libdnnl-dev # its headers differ between architectures
    packages=(g++-aarch64-linux-gnu pkgconf:arm64 qemu-user-static)
    for package in $(./tools/install_packages.sh --list | grep -e "-dev$" | grep --invert-match python3); do
      apt-cache show --no-all-versions "$package" | grep --quiet "^Architecture: all" || packages+=("$package:arm64")
    done
    # Manual pages of libpsl-dev differ between architectures.
    apt-get install --option Dpkg::Options::=--force-overwrite "${packages[@]}"'
}

# begin_with SYSTEM: makes $root a copy of SYSTEM, with this folder and this machine's network settings.
begin_with() {
  rm -rf "$root"
  cp --archive --reflink=auto "$1" "$root"
  rm -rf "${root:?}/$folder"  # the outdated copy of this folder
  mkdir -p "$root/$folder"
  cp /etc/resolv.conf /etc/hosts "$root/etc"
  cp /etc/ssl/certs/ca-certificates.crt "$root/etc/certificates.crt"
  # --ignore-failed-read: git lists a file that was deleted without a commit.
  git ls-files -z --cached --others --exclude-standard | tar --create --null --files-from - --ignore-failed-read |
    tar --extract --directory "$root/$folder"
  chown -R 1000:1000 "$root/$folder"
}

as_root() { inside 0 "$1"; }
as_user() { inside 1000 "$1"; }

# inside USER COMMANDS: runs commands in $root, up to the first that fails. Mounts and processes end with the commands.
inside() {
  export ROOT=$root CACHE=${CCACHE_DIR:-}
  unshare --mount --pid --fork --kill-child bash -euc '
    mount -t proc proc "$ROOT/proc"
    mount --rbind /dev "$ROOT/dev"
    environment=(PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
      PIP_CERT=/etc/certificates.crt)
    [[ $1 == 0 ]] && environment+=(HOME=/root) || environment+=(HOME=/home/user)
    if [[ $CACHE && -e $ROOT/usr/bin/ccache ]]; then
      mkdir -p "$ROOT/ccache"
      mount --bind "$CACHE" "$ROOT/ccache"
      environment+=(CCACHE_DIR=/ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache)
    fi
    exec chroot --userspec "$1:$1" "$ROOT" env --ignore-environment "${environment[@]}" \
      bash -O inherit_errexit -euo pipefail -c "cd \"/$2\"; $3"' bash "$1" "$folder" "$2" </dev/null
}
