#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# install_test.sh - outside projects build and run against the installed tree (outside.sh), which lies at another prefix than the
# configured one, with a blank in its name. Documents and examples that README.md names lie beside it. hbg.pc names the folders that
# are there, whatever the library folder is called.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
quietly() { "$@" > "$work/log" 2>&1 || { cat "$work/log" >&2; echo "failed: $*" >&2; exit 1; }; }
fail() { echo "$*" >&2; exit 1; }

quietly cmake --install "$HBG_BUILD" --prefix "$work/first"
mv "$work/first" "$work/a prefix"                   # nothing may name the place that it was installed to
bash "$HBG_SOURCE/tests/abi/outside.sh" "$work/a prefix"

# what the installed README.md names is there
doc="$work/a prefix/share/doc/hbg"
named=$(grep -oE '`(docs|examples)/[^` ]*`|`[A-Z]+\.md`' "$doc/README.md" | tr -d '`')
[[ $named == *examples/01_hello.c* && $named == *docs/statuses.md* ]] || fail "README.md names: $named"
for path in $named; do [[ -e $doc/$path ]] || fail "README.md names $path, which is not installed"; done

# a library alone
quietly cmake --install "$HBG_BUILD" --prefix "$work/alone" --component library
[[ ! -e $work/alone/bin && -e $work/alone/include/hbg/hbg.h ]] || fail "the component library holds: $(ls "$work/alone")"
version=$(sed -n 's/^project(hbg VERSION \([0-9.]*\) .*/\1/p' "$HBG_SOURCE/CMakeLists.txt")
[[ $(readlink "$work/alone/lib/libhbg.so.0") == libhbg.so.$version ]] || fail "libhbg.so.0 is $(readlink "$work/alone/lib/libhbg.so.0")"

# hbg.pc of a configuration with other folders; only that file is made
for folder in lib lib/x86_64-linux-gnu lib64; do
    quietly cmake -S "$HBG_SOURCE" -B "$work/other" -DCMAKE_INSTALL_LIBDIR=$folder -DHBG_BUILD_TESTS=OFF -DHBG_BUILD_COMMAND=OFF -DHBG_BUILD_EXAMPLES=OFF
    mkdir -p "$work/moved/$folder/pkgconfig" "$work/moved/include"
    cp "$work/other/hbg.pc" "$work/moved/$folder/pkgconfig"
    said=$(PKG_CONFIG_PATH=$work/moved/$folder/pkgconfig pkg-config --variable=libdir hbg)
    [[ $said -ef $work/moved/$folder ]] || fail "hbg.pc in $folder says libdir=$said"
    said=$(PKG_CONFIG_PATH=$work/moved/$folder/pkgconfig pkg-config --variable=includedir hbg)
    [[ $said -ef $work/moved/include ]] || fail "hbg.pc in $folder says includedir=$said"
done
quietly cmake -S "$HBG_SOURCE" -B "$work/other" -DCMAKE_INSTALL_LIBDIR=/opt/hbg/lib -DHBG_BUILD_TESTS=OFF -DHBG_BUILD_COMMAND=OFF -DHBG_BUILD_EXAMPLES=OFF
grep -qx 'libdir=/opt/hbg/lib' "$work/other/hbg.pc" || fail "hbg.pc for an absolute folder: $(cat "$work/other/hbg.pc")"
