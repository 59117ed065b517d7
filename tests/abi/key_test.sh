#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# key_test.sh - HBG_KEY takes what stands in a variable, and not the pointer that a build function is given as its parameters: that one does not
# compile, in C and in C++.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$*" >&2; exit 1; }

# DECLARATION EXPRESSION: a body that takes its key from there
source_of() {
    printf '#include <hbg/hbg.h>\nvoid build(struct hbg_graph *g, hbg_build_fn *fn%s);\nvoid build(struct hbg_graph *g, hbg_build_fn *fn%s)\n{ hbg_subgraph(g, HBG_KEY("layer", %s), fn, HBG_NO_ARGS); }\n' "$1" "$1" "$2"
}
compiles() { "${CC:-cc}" -std=c11 -I"$HBG_SOURCE/include" -fsyntax-only -Wall -Wextra -Werror -x c "$1" && "${CXX:-c++}" -std=c++17 -I"$HBG_SOURCE/include" -fsyntax-only -Wall -Wextra -Werror -x c++ "$1"; }
refused() { ! "${CC:-cc}" -std=c11 -I"$HBG_SOURCE/include" -fsyntax-only -x c "$1" && ! "${CXX:-c++}" -std=c++17 -I"$HBG_SOURCE/include" -fsyntax-only -x c++ "$1"; }

while read -r declaration expression; do
    source_of ", ${declaration//+/ }" "$expression" > "$work/good.c"
    compiles "$work/good.c" 2> "$work/log" || fail "$declaration $expression: $(cat "$work/log")"
done <<'GOOD'
int+n n
const+struct+hbg_error+*e *e
struct+hbg_buffer+*weights weights
const+double+*values *values
GOOD
while read -r declaration expression; do
    source_of ", ${declaration//+/ }" "$expression" > "$work/bad.c"
    refused "$work/bad.c" 2> "$work/log" || fail "$declaration $expression: compiles as C or as C++"
    grep -q 'key_of_the_struct_and_not_of_a_pointer_to_it' "$work/log" || fail "$declaration $expression: $(cat "$work/log")"
done <<'BAD'
const+void+*params params
void+*params params
const+void+*const+params params
void+*const+params params
BAD
