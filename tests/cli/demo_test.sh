#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# demo_test.sh - `make demo` over a tree whose tools are stand-ins: one line about the build and nothing of what it prints, both
# workloads on a device that has to be sent its bytes; of a build that fails, all that it printed.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/scripts"
cp "$HBG_SOURCE/Makefile" "$work"
printf '#!/bin/sh\n' > "$work/scripts/setup.sh"
printf '#!/bin/sh\n' > "$work/bin/ninja"
cat > "$work/bin/cmake" <<'C'
#!/bin/sh
[ "$1" = --build ] || exit 0
echo "[1/2] Building C object a.c.o"
[ ! -e broken ] || { echo "a.c:1: error: broken"; exit 1; }
mkdir -p build
printf '#!/bin/sh\necho "ran $*"\n' > build/hbg
chmod +x build/hbg
C
chmod +x "$work"/bin/* "$work"/scripts/*
export PATH=$work/bin:$PATH
cd "$work"

make --no-print-directory demo > out 2>&1 || { cat out >&2; exit 1; }
for workload in gp bgemm; do
    grep -q "^ran run $workload .*--verify" out && grep "^ran run $workload " out | grep -q 'cpu:memory=discrete' || { echo "no verified $workload on a discrete device:" >&2; cat out >&2; exit 1; }
done
if grep -q 'Building C object' out; then echo "the build is not quiet:" >&2; cat out >&2; exit 1; fi
grep -q '^ran run .* --trace build/' out || { echo "no workload leaves a trace" >&2; cat out >&2; exit 1; }
[[ $(grep -c 'build' <(grep -v 'hbg run\|^ran' out)) -eq 1 ]] || { echo "not one line about the build:" >&2; cat out >&2; exit 1; }

touch broken
if make --no-print-directory demo > out 2>&1; then echo "a build that fails goes unnoticed" >&2; exit 1; fi
grep -q 'a.c:1: error: broken' out || { echo "the failing build does not show why:" >&2; cat out >&2; exit 1; }
if grep -q '^ran' out; then echo "a workload ran after a build that failed" >&2; exit 1; fi
