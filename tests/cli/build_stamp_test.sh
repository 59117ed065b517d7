#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# build_stamp_test.sh - the build stamp of a scratch repository: clean, dirty, without commits, without git, and inside another one; a
# build after a commit compiles the file of the stamp and no other.
set -euo pipefail

command -v git > /dev/null || { echo "git is missing: no scratch repository is made here"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree
mkdir "$tree"
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
export GIT_AUTHOR_NAME=test GIT_AUTHOR_EMAIL=test@example.invalid GIT_COMMITTER_NAME=test GIT_COMMITTER_EMAIL=test@example.invalid

# expect WHAT GIT TEXT COMMIT DIRTY: the header written for $source has these
source=$tree
expect() {
    cmake -DGIT="$2" -DSOURCE="$source" -DVERSION=1.2.3 -DHEADER="$work/stamp.h" -P "$HBG_SOURCE/cmake/provenance.cmake"
    local line
    for line in "#define HBG_BUILD_TEXT \"$3\"" "#define HBG_BUILD_COMMIT \"$4\"" "#define HBG_BUILD_DIRTY $5"; do
        grep -qxF "$line" "$work/stamp.h" || { echo "$1: no line '$line' in:" >&2; cat "$work/stamp.h" >&2; exit 1; }
    done
}

expect "no repository" git "1.2.3" "" 0
git -C "$tree" init -q
expect "no commit" git "1.2.3" "" 0
echo one > "$tree/file"
git -C "$tree" add file
git -C "$tree" commit -qm one
commit=$(git -C "$tree" rev-parse HEAD)
expect "clean" git "1.2.3 (${commit:0:8})" "$commit" 0

touch -d '2 days ago' "$work/stamp.h"
before=$(stat -c %Y "$work/stamp.h")
expect "clean again" git "1.2.3 (${commit:0:8})" "$commit" 0
[[ $(stat -c %Y "$work/stamp.h") == "$before" ]] || { echo "an unchanged stamp was written again" >&2; exit 1; }

echo new > "$tree/untracked"
expect "an untracked file" git "1.2.3 (${commit:0:8})" "$commit" 0
echo two > "$tree/file"
expect "dirty" git "1.2.3 (${commit:0:8}, dirty)" "$commit" 1
expect "no git" "" "1.2.3" "" 0

mkdir "$tree/vendored"
source=$tree/vendored
expect "a copy inside another repository" git "1.2.3" "" 0

# ---- a project of two files ----

project=$work/project
mkdir "$project"
git -C "$project" init -q
cat > "$project/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.20)
project(tiny VERSION 1.2.3 LANGUAGES C)
include($HBG_SOURCE/cmake/provenance.cmake)
add_executable(tiny main.c $HBG_SOURCE/src/base/version.c)
target_include_directories(tiny PRIVATE $HBG_SOURCE/include \${HBG_GENERATED_DIR})
add_dependencies(tiny hbg_stamp)
END
cat > "$project/main.c" <<'END'
#include <hbg/version.h>
#include <stdio.h>
int main(void) { return printf("%s %s %d\n", hbg_version(), hbg_version_commit(), hbg_version_dirty()) < 0; }
END

# build SAYS COMPILED..: after a build the program says SAYS, and these files were compiled
build() {
    local says=$1 compiled
    shift
    cmake --build "$project/build" -v > "$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
    compiled=$({ grep -oE -- '-c [^ ]*\.c' "$work/log" || true; } | sed 's,.*/,,' | sort | tr '\n' ' ')
    [[ $compiled == "${*:+$* }" ]] || { echo "compiled was '$compiled', not '$*':" >&2; cat "$work/log" >&2; exit 1; }
    compiled=$("$project/build/tiny")
    [[ $compiled == "$says" ]] || { echo "the program says '$compiled', not '$says'" >&2; exit 1; }
}

echo build > "$project/.gitignore"
git -C "$project" add .
git -C "$project" commit -qm one
one=$(git -C "$project" rev-parse HEAD)
cmake -S "$project" -B "$project/build" -G Ninja -DCMAKE_C_COMPILER="$CC" > "$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
build "1.2.3 (${one:0:8}) $one 0" main.c version.c
build "1.2.3 (${one:0:8}) $one 0"
echo "a document" > "$project/README.md"
git -C "$project" add README.md
build "1.2.3 (${one:0:8}, dirty) $one 1" version.c
git -C "$project" commit -qm two
two=$(git -C "$project" rev-parse HEAD)
build "1.2.3 (${two:0:8}) $two 0" version.c
git -C "$project" checkout -q "$one"
build "1.2.3 (${one:0:8}) $one 0" version.c
build "1.2.3 (${one:0:8}) $one 0"
if grep -qF "$work" "$project/build/generated/hbg_build.h"; then
    echo "the stamp holds a path" >&2
    exit 1
fi
