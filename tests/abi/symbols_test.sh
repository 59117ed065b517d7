#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# symbols_test.sh - libhbg.so exports every function that a public header declares and is defined, and nothing besides hbg_* and
# the internal names that inline functions of the headers call.
set -euo pipefail

library=$HBG_BUILD/libhbg.so
exported=$(nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort)

foreign=$(grep -vE '^hbg_[a-z]|^hbg__bad_region$' <<< "$exported" || true)
if [[ -n $foreign ]]; then
    echo "libhbg.so exports names that are not its own:" >&2
    echo "$foreign" >&2
    exit 1
fi

for name in hbg_version hbg_version_commit hbg_version_dirty hbg_status_name hbg_status_text hbg_status_remedy; do
    grep -qx "$name" <<< "$exported" || { echo "libhbg.so does not export $name" >&2; exit 1; }
done

# a name that the static library defines for everybody must be reachable in the shared one as well
defined=$(nm --defined-only --extern-only "$HBG_BUILD/libhbg.a" 2> /dev/null | awk 'NF == 3 && $2 == "T" { print $3 }' | grep -E '^hbg_[a-z]' | sort -u)
hidden=$(comm -23 <(echo "$defined") <(echo "$exported"))
if [[ -n $hidden ]]; then
    echo "public names that libhbg.so hides (HBG_API is missing, or the name should begin with hbg__):" >&2
    echo "$hidden" >&2
    exit 1
fi

# a function that nobody calls wrongly: those of kernels get what a kernel was given, the others take a number or nothing
harmless='^hbg__|^hbg_(version|version_.*|fail|status_.*|view_.*)$'
uncalled=$(grep -vE "$harmless" <<< "$exported" | while read -r name; do
    grep -q "\b$name(" "$HBG_SOURCE/tests/fault/bad_calls_test.c" || echo "$name"
done)
if [[ -n $uncalled ]]; then
    echo "tests/fault/bad_calls_test.c calls none of these with something wrong:" >&2
    echo "$uncalled" >&2
    exit 1
fi

soname=$(readelf -d "$library" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
[[ $soname == libhbg.so.0 ]] || { echo "the soname is \"$soname\", not libhbg.so.0" >&2; exit 1; }
