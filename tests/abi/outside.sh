#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# outside.sh [PREFIX] - projects outside of the tree build and run against an installed hbg: through pkg-config and through CMake, with
# the shared and the static library, in C and in C++, and without any shared library; and the command, where it is installed, writes a
# workload, which builds and verifies. Without PREFIX: what the system finds by itself.
set -euo pipefail

work=$(mktemp -d "${TMPDIR:-/tmp}/hbg outside.XXXXXX")         # a blank in the path: nothing may fall apart there
trap 'rm -rf "$work"' EXIT
fail() { echo "$*" >&2; exit 1; }
quietly() { "$@" > "$work/log" 2>&1 || { cat "$work/log" >&2; fail "failed: $*"; }; }

find_package=()
prefix=
libdir=
if [[ $# -gt 0 ]]; then
    prefix=$1
    libdir=$(dirname "$(find "$prefix" -name libhbg.so)")
    export PKG_CONFIG_PATH=$libdir/pkgconfig
    find_package=(-DCMAKE_PREFIX_PATH="$prefix")
    said=
    eval "said=$(pkg-config --variable=libdir hbg)"         # quoted for a shell, as flags are
    [[ $said -ef $libdir ]] || fail "hbg.pc says libdir=$said, not $libdir"
fi

mkdir "$work/outside"
cat > "$work/outside/main.c" <<'C'
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
cp "$work/outside/main.c" "$work/outside/main.cpp"

# check PROGRAM [VARIABLE=VALUE]: it runs, and prints what it must.
check()
{
    env "${@:2}" "$work/$1" > "$work/out" || fail "$1 ended with $?: $(cat "$work/out")"
    grep -q ' HBG_E_REGION HBG_OK 1$' "$work/out" || fail "$1 printed: $(cat "$work/out")"
}

# through pkg-config: shared; the archive by its name; no shared library at all. What it prints is quoted for a shell to read.
# shellcheck disable=SC2016
compile() { eval 'quietly "$1" "$2" "$work/outside/$3" -o "$work/$4" ${5:-} '"$6"; }
shared=$(pkg-config --cflags --libs hbg)
whole=$(pkg-config --static --cflags --libs hbg)
compile "$CC" -std=c11 main.c pc_shared "" "$shared"
compile "$CXX" -std=c++17 main.cpp pc_shared_cxx "" "$shared"
compile "$CC" -std=c11 main.c pc_archive "" "$(sed 's/-lhbg\b/-l:libhbg.a/' <<< "$whole")"
compile "$CC" -std=c11 main.c pc_static -static "$whole"
compile "$CXX" -std=c++17 main.cpp pc_static_cxx -static "$whole"
check pc_shared LD_LIBRARY_PATH="$libdir"
check pc_shared_cxx LD_LIBRARY_PATH="$libdir"
for program in pc_archive pc_static pc_static_cxx; do check $program; done

# through CMake
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
quietly cmake -S "$work/outside" -B "$work/outside/build" "${find_package[@]}"
quietly cmake --build "$work/outside/build"
for program in c_shared c_static cxx_shared cxx_static c_alone; do check "outside/build/$program"; done

# a project in C alone: Threads is found without C++
sed -i -e 's/ CXX)$/)/' -e '/cxx/,+1d' "$work/outside/CMakeLists.txt"
quietly cmake -S "$work/outside" -B "$work/outside/build_c" "${find_package[@]}"

# the command, its data, its manual page, and a workload of its own
command=${prefix:-/usr}/bin/hbg
if [[ -x $command ]]; then
    page=${prefix:-/usr}/share/man/man1/hbg.1
    [[ -f $page || -f $page.gz ]] || fail "there is no manual page at $page"
    cd "$work"
    quietly "$command" run gp --rounds 1 --verify
    quietly "$command" new mine
    quietly cmake -S mine -B mine/build "${find_package[@]}"
    quietly cmake --build mine/build
    quietly "$command" run mine/build/mine.so --verify --rounds 2
fi
