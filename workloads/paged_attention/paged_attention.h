/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paged_attention: one step of decoding. Every request of a batch attends with one query a head to all its tokens so far,
 * whose keys and values lie in blocks of a common cache, in an order that only a table knows.
 *
 *     lengths      batch: how many tokens a request has
 *     block_table  batch x columns: which block holds tokens 0 .. block_size - 1 of a request, the next ones, ..; -1: none
 *     query        batch x heads x head_dim
 *     key_cache    blocks x block_size x kv_heads x head_dim, and value_cache alike; head h reads key head h / (heads / kv_heads)
 *     out          batch x heads x head_dim, f32
 *
 * Query and caches are f32 or bf16; all sums are f32. For each block of a request, all heads together:
 *
 *     qk        scores = q k' / sqrt(head_dim)
 *     softmax   largest and sum of each head; scores become exp(score - largest)
 *     pv        part = scores v
 *     update    the block joins what stands so far, with both brought to the larger of the two maxima
 *
 * The first three are independent of everything else; the updates of a request are a chain, and `normalise` ends it. The
 * build function reads the table and the lengths, so that both are guards of a replay.
 */
#ifndef HBG_WORKLOADS_PAGED_ATTENTION_H
#define HBG_WORKLOADS_PAGED_ATTENTION_H

#include "workloads/workloads.h"

/* the largest head, and the largest heads * head_dim: a kernel holds one row on its stack and one query in its scratch */
enum { PAGED_DIM_MOST = 1024, PAGED_QUERY_MOST = 65536 };

struct paged_attention_params {
    int64_t batch, heads, kv_heads, head_dim, block_size;
    int64_t columns;                    /* of the table: what context_len needs */
    int64_t dtype;                      /* HBG_F32 or HBG_BF16 */
};

/* boundary positions */
enum { PAGED_LENGTHS, PAGED_BLOCK_TABLE, PAGED_QUERY, PAGED_KEY_CACHE, PAGED_VALUE_CACHE, PAGED_OUT };
enum { PAGED_QK, PAGED_SOFTMAX, PAGED_PV, PAGED_UPDATE, PAGED_NORMALISE, PAGED_NOTHING, PAGED_KERNEL_COUNT };

extern const struct hbg_kernel hbg__paged_attention_kernels[PAGED_KERNEL_COUNT];

/* the workload's parameters, checked: 0, or the failure that hbg_setup_fail() latched */
int hbg__paged_attention_params(struct hbg_setup *s, struct paged_attention_params *params);
int hbg__paged_attention_inputs(struct hbg_setup *s);
void hbg__paged_attention_build(struct hbg_graph *g, const struct hbg_args *args, const void *params);
int hbg__paged_attention_golden(struct hbg_setup *s);

#endif
