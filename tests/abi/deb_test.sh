#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# deb_test.sh - the Debian package of this build: it names what it needs, and unpacked it serves outside projects (outside.sh).
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
quietly() { "$@" > "$work/log" 2>&1 || { cat "$work/log" >&2; echo "failed: $*" >&2; exit 1; }; }
fail() { echo "$*" >&2; exit 1; }

for tool in dpkg-deb dpkg-shlibdeps file; do
    command -v $tool > /dev/null || { echo "$tool is missing: no package is made here"; exit 77; }
done
(cd "$HBG_BUILD" && quietly cpack -G DEB -B "$work/made")
package=$(find "$work/made" -maxdepth 1 -name 'hbg_*.deb')
[[ -n $package ]] || fail "there is no package: $(ls "$work/made")"
field() { dpkg-deb -f "$package" "$1"; }
[[ $(field Package) == hbg && $(field Depends) == *libc6* && $(field Version) == 0.* ]] || fail "the package says: $(dpkg-deb -I "$package")"
dpkg-deb -c "$package" > "$work/list"
for file in usr/bin/hbg usr/include/hbg/hbg.h usr/share/man/man1/hbg.1 usr/share/doc/hbg/copyright usr/share/doc/hbg/examples/01_hello.c; do
    grep -q "\./$file\(\.gz\)\?\$" "$work/list" || fail "the package has no $file: $(cat "$work/list")"
done
awk '$2 != "root/root" || $1 ~ /^.....w|^........w/ && $1 !~ /^l/ { print; bad = 1 } END { exit bad }' "$work/list" \
    || fail "files above are not root's alone to write"
dpkg-deb -x "$package" "$work/unpacked"
bash "$HBG_SOURCE/tests/abi/outside.sh" "$work/unpacked/usr"
