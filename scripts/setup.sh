#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# setup.sh [all] - what the build and the tests need, on a Debian machine; with all what any test could use, a browser of 300 MB as
# well, as .ci/run asks for it. Silent when nothing is missing. Installs through apt-get as
# root or with passwordless sudo. Where it cannot, it prints the line to run; it ends with 1 if a needed package is missing, and with 0
# if all that is missing can be done without.
set -euo pipefail

needed=(gcc g++ make cmake ninja-build pkg-config git python3 util-linux libcmocka-dev relacy-dev)
optional=(libopenblas-dev liblapacke-dev libhwloc-dev python3-numpy dpkg-dev file)     # tile kernels, placement, a test of .npy files, `make deb` (two)
[[ ${1:-} == all ]] && optional+=(chromium clang groff-base valgrind)     # opens the page of `hbg trace --page`; compiles the headers too; reads the manual page; counts instructions

# absent PACKAGE..: those of them that are not installed
absent() {
    local package state
    for package in "$@"; do
        state=$(dpkg-query -W -f '${Status}' "$package" 2> /dev/null || true)
        [[ $state == "install ok installed" ]] || echo "$package"
    done
}

if command -v dpkg-query > /dev/null; then
    mapfile -t missing < <(absent "${needed[@]}")
    mapfile -t without < <(absent "${optional[@]}")
else
    # not a Debian machine: the tools themselves are looked for, the names stay Debian's
    missing=()
    without=()
    for tool in gcc g++ cmake ninja; do
        command -v "$tool" > /dev/null || missing+=("$tool")
    done
fi
all=("${missing[@]}" "${without[@]}")
[[ ${#all[@]} -eq 0 ]] && exit 0
line="apt-get install -y --no-install-recommends ${all[*]}"

# give_up WHY: go on without what is optional
give_up() {
    if [[ ${#missing[@]} -eq 0 ]]; then
        echo "going on without ${without[*]}, which can be done without: $1" >&2
        exit 0
    fi
    echo "missing: ${all[*]}: $1" >&2
    echo "run this once:" >&2
    echo "    sudo apt-get update && sudo $line" >&2
    exit 1
}

command -v apt-get > /dev/null || give_up "there is no apt-get here, install them with this system's package manager"
if [[ $(id -u) -eq 0 ]]; then
    sudo=()
elif command -v sudo > /dev/null && sudo -n true 2> /dev/null; then
    sudo=(sudo -n)
else
    give_up "only root installs packages"
fi

echo "installing: ${all[*]}" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
if ! { "${sudo[@]}" apt-get update && "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive $line; } > "$log" 2>&1; then
    tail -n 20 "$log" >&2
    give_up "apt-get failed"
fi
