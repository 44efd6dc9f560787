#!/usr/bin/env bash
# Installs the system programs for the sandbox, the search tool, the fault tests and the browser tests.
# Hawser builds and its tests run without them: the script reports what it cannot install, and exits with 0.
set -u

# command:package
PROGRAMS=(
  bwrap:bubblewrap
  rg:ripgrep
  strace:strace
  tmux:tmux
  chromium:chromium
  mkfs.ext4:e2fsprogs
)

present() {
  PATH="$PATH:/usr/sbin:/sbin" command -v "$1" >/dev/null 2>&1
}

missing=()
for program in "${PROGRAMS[@]}"; do
  present "${program%%:*}" || missing+=("${program##*:}")
done
[ ${#missing[@]} -eq 0 ] && exit 0

could_not() {
  for package in "${missing[@]}"; do
    echo "setup: could not install $package: $1"
  done
  exit 0
}

command -v apt-get >/dev/null 2>&1 || could_not 'this system has no apt-get; install it with its package manager'

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  sudo -n true 2>/dev/null || could_not 'not root, and sudo is missing or asks for a password'
  as_root=(sudo -n)
fi

apt() {
  "${as_root[@]+"${as_root[@]}"}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@" </dev/null
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt update >"$log" 2>&1 || echo "setup: apt-get update failed: $(tail -n 1 "$log")"

# One package at a time: a package that this release lacks must not prevent the others.
for package in "${missing[@]}"; do
  if apt install -y --no-install-recommends "$package" >"$log" 2>&1; then
    echo "setup: installed $package"
  else
    echo "setup: could not install $package: $(grep -m 1 '^E:' "$log" || tail -n 1 "$log")"
  fi
done
exit 0
