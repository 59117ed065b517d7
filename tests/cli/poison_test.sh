#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# poison_test.sh - every workload verifies on devices that fill with stale bytes whatever a run must not read.
set -euo pipefail

while read -r -a workload; do
    for workers in 1 2 8; do
        for memory in unified discrete; do
            device=cpu:workers=$workers,memory=$memory,poison=1
            "$HBG" run "${workload[@]}" --device "$device" --rounds 5 --verify > /dev/null || { echo "${workload[*]} on $device" >&2; exit 1; }
        done
    done
done <<'WORKLOADS'
vector n=100003 block=4096
matmul m=70 n=45 k=90 tile=20 k_tile=25
bgemm task_num=24 tile=20 loop=3 grid_k=4
stencil rows=70 columns=45 tile=16 steps=9
cholesky n=150 tile=32
paged_attention batch=4 heads=4 head_dim=33 block_size=7 context_len=40 spread=30 dtype=bf16
decoder layers=2 hidden=33 heads=6 kv_heads=3 head_dim=10 ffn=70 context=40 batch=3 tile=16 page=7 splits=3
decoder layers=2 hidden=24 ffn=40 context=30 subgraph=0
decoder shape=dsv4
decoder shape=dsv4 subgraph=0
gp tile=100
WORKLOADS
