# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034
# Shared by ./npusim, ./run-tests and .ci/run; sourced, never run.
# Everything here writes to stderr only: stdout belongs to the program that is started afterwards.
#
# NPUSIM_BUILD_DIR  build folder, default build/release beside this checkout
# NPU_JOBS          parallel compilers, default one per core

npu_root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
npu_build_dir=$(realpath -m -- "${NPUSIM_BUILD_DIR:-$npu_root/build/release}")
npu_jobs=${NPU_JOBS:-$(nproc)}

npu_say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }

# Prints the packages of the given lists that are not installed.
npu_missing_packages() {
  local wanted name state
  local -A installed=()
  wanted=$(sed -e 's/#.*//' "$@" | xargs)
  # shellcheck disable=SC2086
  while read -r name state; do
    [[ $state == installed ]] && installed[$name]=1
  done < <(dpkg-query -W -f '${Package} ${db:Status-Status}\n' $wanted 2>/dev/null)
  for name in $wanted; do
    [[ -n ${installed[$name]:-} ]] || printf '%s ' "$name"
  done
}

# A service that a package starts must not inherit the lock.
npu_apt() { "$@" </dev/null >&2 9>&-; }

# Installs what is missing of the given lists, or says what to run and exits with 2.
npu_install_packages() {
  local missing update='' root=()
  if ! command -v dpkg-query >/dev/null; then
    npu_say "this is not Debian; see set-up/packages.txt for what the build needs"
    return 0
  fi
  missing=$(npu_missing_packages "$@")
  missing=${missing% }
  [[ -z $missing ]] && return 0
  # shellcheck disable=SC2086
  apt-cache show --no-all-versions $missing >/dev/null 2>&1 || update=1
  if [[ $(id -u) != 0 ]]; then
    root=(sudo -n)
    if ! sudo -n true </dev/null >/dev/null 2>&1; then
      npu_say "Debian packages are missing. As root run:${update:+ apt-get update &&}" \
        "apt-get install -y --no-install-recommends $missing"
      exit 2
    fi
  fi
  npu_say "installing Debian packages: $missing"
  root+=(env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300)
  if [[ -n $update ]]; then npu_apt "${root[@]}" update || true; fi
  # shellcheck disable=SC2206
  local install=("${root[@]}" install -y --no-install-recommends $missing)
  # The lists may be older than the archive: one more try with fresh ones.
  if npu_apt "${install[@]}"; then return 0; fi
  if npu_apt "${root[@]}" update && npu_apt "${install[@]}"; then return 0; fi
  npu_say "could not install the packages. As root run: apt-get update &&" \
    "apt-get install -y --no-install-recommends $missing"
  exit 2
}

# npu_progress FOLDER: without a terminal, compiler messages as they come and progress every tenth.
npu_progress() {
  local line last=-1 percent
  while IFS= read -r line; do
    if [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]]; then
      if ((last < 0)); then
        npu_say "building in $1 (${BASH_REMATCH[2]} steps)"
        last=0
      fi
      percent=$((BASH_REMATCH[1] * 100 / BASH_REMATCH[2]))
      if ((percent / 10 > last / 10)); then
        npu_say "built ${BASH_REMATCH[1]} of ${BASH_REMATCH[2]}"
        last=$percent
      fi
    elif [[ $line != '-- '* && $line != 'ninja: Entering directory'* && $line != *'no work to do.' ]]; then
      printf '%s\n' "$line" >&2
    fi
  done
}

# What decides whether the configuration still fits: the place of the checkout and its CMake files.
npu_configuration() {
  printf '%s\n' "$npu_root"
  (cd "$npu_root" && find . -name build -prune -o -name '.?*' -prune -o -name CMakeLists.txt -print |
    LC_ALL=C sort)
}

# npu_configure PRESET FOLDER: configures when needed; ninja itself sees changed CMake files.
npu_configure() {
  local preset=$1 folder=$2 stamp=$2/.npu-configured log=$2/configure.log wanted
  wanted=$(npu_configuration)
  if [[ -f $stamp && ! $npu_root/CMakePresets.json -nt $stamp && $(<"$stamp") == "$wanted" ]]; then
    return 0
  fi
  npu_say "configuring $folder"
  mkdir -p "$folder"
  if ! (cd "$npu_root" && cmake --fresh --preset "$preset" -B "$folder") </dev/null >"$log" 2>&1; then
    cat "$log" >&2
    npu_say "configuration failed"
    exit 1
  fi
  # A precompiled header that lies there is input of its own compilation for ccache, which then does
  # not know it, nor what includes it: those of a copied folder would cost everything.
  find "$folder" -name '*.gch' -delete
  printf '%s' "$wanted" >"$stamp"
}

# npu_ninja FOLDER TARGETS...: builds; a failing build shows its output and ends the script.
# npu_keep_going=0 in the environment goes on past failures.
npu_ninja() {
  local folder=$1 build pending
  shift
  build=(ninja -C "$folder" -j "$npu_jobs" -k "${npu_keep_going:-1}" "$@")
  pending=$(ninja -C "$folder" -n "$@" 2>/dev/null | tail -n 1 || true)
  [[ $pending == *'no work to do.' ]] && return 0
  if [[ -t 2 ]]; then
    "${build[@]}" </dev/null >&2 || npu_build_failed
  else
    NINJA_STATUS='[%f/%t] ' "${build[@]}" </dev/null 2>&1 | npu_progress "$folder" || npu_build_failed
  fi
}

npu_build_failed() {
  npu_say "the build failed; its output is above"
  exit 1
}

# npu_lock FOLDER: one process at a time works there, until npu_unlock.
npu_lock() {
  local folder=$1
  if ! mkdir -p "$folder" 2>/dev/null || ! [[ -w $folder ]]; then
    npu_say "cannot write to $folder; set NPUSIM_BUILD_DIR to a folder of your own"
    exit 2
  fi
  exec 9>>"$folder/.npu-lock"
  flock -n 9 && return 0
  npu_say "waiting for another build in $folder"
  flock 9
}
npu_unlock() { exec 9>&-; }

# npu_packages FOLDER LIST: the packages of set-up/LIST, looked at again only when the list changes.
npu_packages() {
  local stamp=$1/.npu-$2 list=$npu_root/set-up/$2
  [[ -f $stamp && ! $list -nt $stamp ]] && return 0
  npu_install_packages "$list"
  : >"$stamp"
}

# npu_build PRESET FOLDER TARGETS...
npu_build() {
  local preset=$1 folder=$2
  shift 2
  npu_lock "$folder"
  npu_packages "$folder" packages.txt
  npu_configure "$preset" "$folder"
  npu_ninja "$folder" "$@"
  npu_unlock
}
