#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# install_test.sh - an outside project builds and runs against the installed tree: through pkg-config, and through CMake with the
# shared and the static library, in C and C++.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
cmake --install "$HBG_BUILD" --prefix "$prefix" --component library > "$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
libdir=$(dirname "$(find "$prefix" -name libhbg.so)")

cat > "$work/main.c" <<'C'
#include <hbg/hbg.h>
#include <stdio.h>

int main(void)
{
    printf("%s %s\n", hbg_version(), hbg_status_name(HBG_E_REGION));
    return hbg_dtype_size(HBG_F64) == 8 ? 0 : 1;
}
C
cp "$work/main.c" "$work/main.cpp"

# through pkg-config; the prefix is that of the installation, which --prefix moved
flags=$(PKG_CONFIG_PATH=$libdir/pkgconfig pkg-config --define-variable=prefix="$prefix" --cflags --libs hbg)
# shellcheck disable=SC2086
"$CC" -std=c11 "$work/main.c" -o "$work/with_pc" $flags
LD_LIBRARY_PATH=$libdir "$work/with_pc" > "$work/out"
grep -q ' HBG_E_REGION$' "$work/out"

# through CMake
mkdir "$work/outside"
mv "$work/main.c" "$work/main.cpp" "$work/outside"
cat > "$work/outside/CMakeLists.txt" <<'C'
cmake_minimum_required(VERSION 3.20)
project(outside LANGUAGES C CXX)
find_package(hbg 0.1 REQUIRED)
add_executable(c_shared main.c)
target_link_libraries(c_shared PRIVATE hbg::shared)
add_executable(c_static main.c)
target_link_libraries(c_static PRIVATE hbg::static)
add_executable(cxx_shared main.cpp)
target_compile_features(cxx_shared PRIVATE cxx_std_17)
target_link_libraries(cxx_shared PRIVATE hbg::shared)
C
{ cmake -S "$work/outside" -B "$work/outside/build" -DCMAKE_PREFIX_PATH="$prefix" && cmake --build "$work/outside/build"; } \
    > "$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
for program in c_shared c_static cxx_shared; do
    "$work/outside/build/$program" > "$work/out"
    grep -q ' HBG_E_REGION$' "$work/out" || { echo "$program printed: $(cat "$work/out")" >&2; exit 1; }
done
