#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# setup_test.sh - scripts/setup.sh on machines that lack packages: with stand-ins for dpkg-query, apt-get, id and sudo, it installs what
# is missing, goes on without what is optional, and refuses to go on without what is needed.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$*: $(cat "$work/said")" >&2; exit 1; }

mkdir "$work/bin"
cat > "$work/bin/dpkg-query" <<'C'
#!/bin/sh
for last; do :; done
case " $ABSENT " in *" $last "*) exit 1;; esac
printf 'install ok installed'
C
printf '#!/bin/sh\necho "$@" >> "$CALLS"\nexit $APT\n' > "$work/bin/apt-get"
printf '#!/bin/sh\necho $USER_ID\n' > "$work/bin/id"
printf '#!/bin/sh\nexit 1\n' > "$work/bin/sudo"
chmod +x "$work"/bin/*

# try STATUS ABSENT APT USER_ID ARGUMENT..: run it, and its exit status
try() {
    local status=0
    : > "$work/calls"
    env PATH="$work/bin:$PATH" ABSENT="$2" APT="$3" USER_ID="$4" CALLS="$work/calls" bash "$HBG_SOURCE/scripts/setup.sh" "${@:5}" > "$work/said" 2>&1 || status=$?
    [[ $status -eq $1 ]] || fail "without \"$2\" it ended with $status instead of $1"
}
says() { grep -q -- "$1" "$work/said" || fail "it does not say \"$1\""; }
calls() { grep -q -- "$1" "$work/calls" || fail "it did not call apt-get $1"; }

try 0 "" 0 0
[[ ! -s $work/said && ! -s $work/calls ]] || fail "nothing is missing, and it is not silent"
try 0 "cmake libhwloc-dev" 0 0
calls "^update$"
calls "^install -y --no-install-recommends cmake libhwloc-dev$"
try 0 "libhwloc-dev libopenblas-dev" 0 1000
says "going on without libopenblas-dev libhwloc-dev, which can be done without: only root installs packages"
[[ ! -s $work/calls ]] || fail "it called apt-get as a user"
try 0 "libhwloc-dev" 100 0
says "going on without libhwloc-dev, which can be done without: apt-get failed"
try 1 "libcmocka-dev libhwloc-dev" 0 1000
says "missing: libcmocka-dev libhwloc-dev: only root installs packages"
says "sudo apt-get install -y --no-install-recommends libcmocka-dev libhwloc-dev"
try 1 "libcmocka-dev" 100 0
says "missing: libcmocka-dev: apt-get failed"
try 0 "chromium" 0 0
[[ ! -s $work/calls ]] || fail "it installed a browser that nobody asked for"
try 0 "chromium" 0 0 all
calls "^install -y --no-install-recommends chromium$"
