#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# install_test.sh - an outside project builds and runs against the installed tree, which lies at another prefix than the configured
# one: through pkg-config and through CMake, with the shared and the static library, in C and C++; and a program without any shared
# library. hbg.pc names the folders that are there, whatever the library folder is called and wherever the tree was moved.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
quietly() { "$@" > "$work/log" 2>&1 || { cat "$work/log" >&2; echo "failed: $*" >&2; exit 1; }; }
fail() { echo "$*" >&2; exit 1; }

quietly cmake --install "$HBG_BUILD" --prefix "$work/first" --component library
mv "$work/first" "$work/prefix"                     # nothing may name the place that it was installed to
prefix=$work/prefix
libdir=$(dirname "$(find "$prefix" -name libhbg.so)")
export PKG_CONFIG_PATH=$libdir/pkgconfig

cat > "$work/main.c" <<'C'
#include <hbg/hbg.h>
#include <stdio.h>

static int one(const struct hbg_task_view *t)
{
    *HBG_VIEW(double, t, 0) = 1;
    return 0;
}

static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, 0, hbg_out(hbg_args_region(args, 0)));
}

int main(void)
{
    static const struct hbg_kernel kernels[] = { HBG_KERNEL(0, one, "out f64") };
    double x = 0;
    struct hbg_device *device = NULL;
    struct hbg_program *program = NULL;
    struct hbg_program_options options = HBG_OPTIONS(program_options);
    options.build = build;
    options.kernels = kernels;
    options.kernel_count = 1;
    enum hbg_status s = hbg_device_open("cpu:workers=2", NULL, &device);
    if (!s) s = hbg_program_create(device, &options, &program);
    if (!s) s = hbg_run_sync(program, HBG_ARGS(hbg_out(hbg_host(&x, HBG_F64, HBG_SHAPE(1)))), NULL);
    hbg_program_destroy(program);
    if (device && !s) s = hbg_device_close(device);
    printf("%s %s %s %g\n", hbg_version(), hbg_status_name(HBG_E_REGION), hbg_status_name(s), x);
    return s != HBG_OK;
}
C
cp "$work/main.c" "$work/main.cpp"

# check PROGRAM [VARIABLE=VALUE]: it runs, and prints what it must.
check()
{
    env "${@:2}" "$work/$1" > "$work/out" || fail "$1 ended with $?: $(cat "$work/out")"
    grep -q ' HBG_E_REGION HBG_OK 1$' "$work/out" || fail "$1 printed: $(cat "$work/out")"
}

# through pkg-config: shared; the archive by its name; no shared library at all
[[ $(pkg-config --variable=libdir hbg) -ef $libdir ]] || fail "hbg.pc says libdir=$(pkg-config --variable=libdir hbg), not $libdir"
# shellcheck disable=SC2046
{
    quietly "$CC" -std=c11 "$work/main.c" -o "$work/pc_shared" $(pkg-config --cflags --libs hbg)
    quietly "$CXX" -std=c++17 "$work/main.cpp" -o "$work/pc_shared_cxx" $(pkg-config --cflags --libs hbg)
    quietly "$CC" -std=c11 "$work/main.c" -o "$work/pc_archive" $(pkg-config --static --cflags --libs hbg | sed 's/-lhbg\b/-l:libhbg.a/')
    quietly "$CC" -std=c11 -static "$work/main.c" -o "$work/pc_static" $(pkg-config --static --cflags --libs hbg)
    quietly "$CXX" -std=c++17 -static "$work/main.cpp" -o "$work/pc_static_cxx" $(pkg-config --static --cflags --libs hbg)
}
check pc_shared LD_LIBRARY_PATH="$libdir"
check pc_shared_cxx LD_LIBRARY_PATH="$libdir"
for program in pc_archive pc_static pc_static_cxx; do check $program; done

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

# through CMake
mkdir "$work/outside"
mv "$work/main.c" "$work/main.cpp" "$work/outside"
cat > "$work/outside/CMakeLists.txt" <<'C'
cmake_minimum_required(VERSION 3.20)
project(outside LANGUAGES C CXX)
set(CMAKE_C_STANDARD 11)
set(CMAKE_CXX_STANDARD 17)
find_package(hbg 0.1 REQUIRED)
foreach(library shared static)
    add_executable(c_${library} main.c)
    target_link_libraries(c_${library} PRIVATE hbg::${library})
    add_executable(cxx_${library} main.cpp)
    target_link_libraries(cxx_${library} PRIVATE hbg::${library})
endforeach()
add_executable(c_alone main.c)
target_link_libraries(c_alone PRIVATE hbg::static)
target_link_options(c_alone PRIVATE -static)
C
quietly cmake -S "$work/outside" -B "$work/outside/build" -DCMAKE_PREFIX_PATH="$prefix"
quietly cmake --build "$work/outside/build"
for program in c_shared c_static cxx_shared cxx_static c_alone; do check "outside/build/$program"; done
