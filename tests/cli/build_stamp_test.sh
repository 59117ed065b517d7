#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# build_stamp_test.sh - the build stamp of a scratch repository: clean, dirty, without commits, without git, and inside another one.
set -euo pipefail

command -v git > /dev/null || { echo "git is missing: scripts/setup.sh installs it" >&2; exit 1; }
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
