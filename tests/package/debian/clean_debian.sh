#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clean_debian.sh BUILD [CASE...]: the packages of cpack on a Debian 12 that has nothing else, in a
# chroot made by debootstrap. Without cases: all. Exit code 3: not root, or no mirror.
#
# The bare system is kept in NPU_DEBIAN_CACHE (default ~/.cache/npusim-debian).
set -euo pipefail
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../../.." && pwd -P)
build=$(realpath -- "${1:?usage: clean_debian.sh BUILD [CASE...]}")
shift
cache=${NPU_DEBIAN_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/npusim-debian}
suite=bookworm

not_run() {
  printf 'clean Debian NOT RUN: %s\n' "$1"
  exit 3
}
[[ $(id -u) == 0 ]] || not_run 'a chroot needs root'
for tool in debootstrap lintian unshare; do
  command -v "$tool" >/dev/null || not_run "no $tool"
done
# Mounts of the chroot end with this process.
[[ -n ${NPU_OWN_MOUNTS:-} ]] || NPU_OWN_MOUNTS=1 exec unshare --mount "$0" "$build" "$@"

work=$(mktemp -d)
trap 'umount -R "$work/debian/proc" 2>/dev/null || true; rm -rf --one-file-system "$work"' EXIT
system=$work/debian

mirror() {
  apt-get indextargets --format '$(CREATED_BY) $(COMPONENT) $(RELEASE) $(REPO_URI)' |
    awk -v suite="$suite" '$1 == "Packages" && $2 == "main" && $3 == suite {print $4; exit}'
}

# A fresh copy of the bare system, with the mirrors of this one.
make_system() {
  local address part=$cache/$suite.tar
  address=$(mirror)
  [[ -n $address ]] || not_run "apt of this system names no mirror of $suite"
  if [[ ! -f $part ]]; then
    mkdir -p "$cache"
    debootstrap --variant=minbase "$suite" "$work/new" "$address" >"$work/log" 2>&1 ||
      { tail -n 5 "$work/log"; not_run "debootstrap from $address"; }
    tar -C "$work/new" -cf "$part.$$" . && mv "$part.$$" "$part"
    rm -rf --one-file-system "$work/new"
  fi
  rm -rf --one-file-system "$system"
  mkdir "$system"
  tar -C "$system" -xf "$part"
  rm -f "$system/etc/apt/sources.list"
  cat >"$system/etc/apt/sources.list.d/mirrors.list" <<END
deb $address $suite main
$(apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' \
    'Created-By: Packages' 'Component: main' | grep -E " $suite-(updates|security) " | sort -u)
END
  local file
  for file in /etc/resolv.conf /etc/hosts; do cp -L "$file" "$system$file"; done
  (grep -rhE '^ *Acquire::(https?::|Check)' /etc/apt/apt.conf /etc/apt/apt.conf.d || true) 2>/dev/null \
    >"$system/etc/apt/apt.conf.d/90this"
  mkdir -p "$system/proc"
  mount -t proc proc "$system/proc"
  inside apt-get -q update
  cp "$deb" "$system/srv/npusim.deb"
}

inside() {
  local code=0
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    http_proxy="${http_proxy:-}" https_proxy="${https_proxy:-}" \
    chroot "$system" "$@" >"$work/log" 2>&1 || code=$?
  ((code == 0)) && return 0
  printf 'failed (%d): %s\n' "$code" "$*"
  cat "$work/log"
  exit 1
}
says() { # TEXT COMMAND...: the command's output has the text
  local text=$1
  shift
  inside "$@"
  grep -qF -- "$text" "$work/log" || { printf "no '%s' of: %s\n" "$text" "$*"; cat "$work/log"; exit 1; }
}

case_lintian() { lintian --allow-root --tag-display-limit 0 --fail-on error "$deb"; }

# Only what the package declares comes with it.
case_install() {
  inside apt-get -q install -y --no-install-recommends /srv/npusim.deb
  says "npusim $version" npusim --version
  says dma_latency npusim list
  says 19e5:d110 npusim --config 910b run enumerate
  says 'graph on 910b2' npusim --config 910b2 run graph --set graph=chain --set parameters=length=3
  says '2 ok, 0 failed' npudemo --backend sim --steps identity,dma --max-bytes 65536
  inside test -s /usr/share/man/man1/npusim.1.gz -a -s /usr/share/doc/npusim/copyright
  inside sh -c 'cd /usr/share/doc/npusim && cat docs/sharing.md configs/keys.md examples/driver-regression/copier.cpp'
  inside dpkg --verify npusim
}

# The pipelines of docs/ci, whose steps install the compiler: on the package alone.
case_pipelines() {
  inside apt-get -q install -y --no-install-recommends python3-yaml
  local service
  cp "$root/tests/package/pipeline.py" "$system/tmp"
  cp -r "$root/docs/ci" "$root/examples/driver-regression" "$system/tmp"
  for service in github-actions gitlab-ci; do
    inside /tmp/pipeline.py /tmp/ci/$service.yml /tmp/driver-regression /tmp/$service \
      --package /srv/npusim.deb
  done
  cp -r "$root/examples/driver-in-c" "$system/tmp"
  inside sh -c 'cd /tmp/driver-in-c && cmake -B build -G Ninja && cmake --build build &&
    ctest --test-dir build --output-on-failure'
}

case_remove() {
  inside apt-get -q purge -y npusim
  inside sh -c '! ls -d /usr/*/npusim* /usr/lib/libnpu* /usr/share/doc/npusim /usr/include/npu 2>/dev/null'
}

# The .tar.gz needs the libraries the package depends on, and no place of its own.
case_archive() {
  local name
  inside sh -c 'apt-mark showauto | xargs -r apt-mark manual'
  name=$(basename "$archive" .tar.gz)
  inside mkdir -p '/srv/some where'
  tar -C "$system/srv/some where" -xzf "$archive"
  says "npusim $version" "/srv/some where/$name/bin/npusim" --version
  says 19e5:d110 "/srv/some where/$name/bin/npusim" --config 910b run enumerate
  inside mv "/srv/some where/$name" /srv/moved
  says 19e5:d110 /srv/moved/bin/npusim --config 910b run enumerate
  inside apt-get -q install -y --no-install-recommends g++ cmake ninja-build libgmock-dev
  inside env CMAKE_PREFIX_PATH=/srv/moved sh -c 'cp -r /tmp/driver-regression /tmp/again && cd /tmp/again &&
    cmake -B build -G Ninja && cmake --build build && ctest --test-dir build --output-on-failure'
}

rm -rf "$build/packages"
cpack --config "$build/CPackConfig.cmake" -B "$build/packages" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
deb=$(ls "$build"/packages/npusim_*.deb)
archive=$(ls "$build"/packages/npusim-*.tar.gz)
version=$(dpkg-deb -f "$deb" Version)
(($#)) || set -- lintian install pipelines remove archive
[[ "$*" == lintian ]] || make_system
for each in "$@"; do
  "case_$each"
  printf 'clean Debian: %s passed\n' "$each"
done
