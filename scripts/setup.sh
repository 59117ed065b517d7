#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# setup.sh - what the build and the tests need, on a Debian machine. Silent when nothing is missing. Installs through apt-get as
# root or with passwordless sudo; otherwise prints the line to run and exits with 1.
set -euo pipefail

packages=(gcc g++ make cmake ninja-build pkg-config git python3 python3-numpy util-linux
          libcmocka-dev relacy-dev libopenblas-dev liblapacke-dev libhwloc-dev)

missing=()
if command -v dpkg-query > /dev/null; then
    for package in "${packages[@]}"; do
        state=$(dpkg-query -W -f '${Status}' "$package" 2> /dev/null || true)
        [[ $state == "install ok installed" ]] || missing+=("$package")
    done
else
    # not a Debian machine: the tools themselves are looked for, the names stay Debian's
    for tool in gcc g++ cmake ninja; do
        command -v "$tool" > /dev/null || missing+=("$tool")
    done
fi
[[ ${#missing[@]} -eq 0 ]] && exit 0

line="apt-get install -y --no-install-recommends ${missing[*]}"
if ! command -v apt-get > /dev/null; then
    echo "missing: ${missing[*]}; there is no apt-get here, install them with this system's package manager" >&2
    exit 1
fi
if [[ $(id -u) -eq 0 ]]; then
    sudo=()
elif command -v sudo > /dev/null && sudo -n true 2> /dev/null; then
    sudo=(sudo -n)
else
    echo "missing: ${missing[*]}" >&2
    echo "run this once:" >&2
    echo "    sudo apt-get update && sudo $line" >&2
    exit 1
fi

echo "installing: ${missing[*]}" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
if ! { "${sudo[@]}" apt-get update && "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive $line; } > "$log" 2>&1; then
    tail -n 20 "$log" >&2
    echo "apt-get failed; the line was:" >&2
    echo "    sudo apt-get update && sudo $line" >&2
    exit 1
fi
