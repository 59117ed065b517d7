#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What scripts/mutate_sched.py and scripts/mutate_submit.py break is in the source, word for word; whether it is noticed takes longer: CONTRIBUTING.md.
set -euo pipefail
command -v python3 > /dev/null || { echo "skipped: there is no python3"; exit 77; }
[[ $(python3 "$HBG_SOURCE/scripts/mutate_sched.py" --list | wc -l) -ge 20 ]]
[[ $(python3 "$HBG_SOURCE/scripts/mutate_submit.py" --list | wc -l) -ge 1000 ]]
