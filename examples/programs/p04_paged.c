/* SPDX-License-Identifier: Apache-2.0 */
#include <hbg/hbg.h>
/* build code walks the block table: guarded reads, in bulk */
enum { QK, SOFTMAX, PV, UPDATE, NORMALISE, KERNEL_COUNT };
struct params { int32_t batch, heads, head_dim, block; };
enum { A_Q, A_K, A_V, A_TABLE, A_LEN, A_OUT };
static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    const struct params *p = (const struct params *)params;
    struct hbg_region q = hbg_args_region(args, A_Q), k = hbg_args_region(args, A_K), v = hbg_args_region(args, A_V), out = hbg_args_region(args, A_OUT);
    struct hbg_region table = hbg_args_region(args, A_TABLE);
    const int32_t *blocks = (const int32_t *)hbg_read(g, table);
    int64_t columns = table.shape[1];
    if (!blocks) return;                                            /* latched; prepare says why */
    for (int32_t b = 0; b < p->batch; b++) {
        int32_t length = hbg_read_i32(g, hbg_args_region(args, A_LEN), HBG_SHAPE(b));
        if (length < 0 || length > columns * p->block) { hbg_graph_fail(g, b, "a request's length does not fit the block table"); return; }
        for (int32_t h = 0; h < p->heads; h++) {
            hbg_scope_begin(g, HBG_SCOPE_AUTO);
            struct hbg_region qh = hbg_index(hbg_index(q, 0, b), 0, h), oh = hbg_index(hbg_index(out, 0, b), 0, h);
            struct hbg_region acc = hbg_alloc(g, HBG_F32, HBG_SHAPE(p->head_dim)), ml = hbg_alloc(g, HBG_F32, HBG_SHAPE(2));
            for (int32_t n = 0; n * p->block < length; n++) {
                int32_t page = blocks[b * columns + n], live = length - n * p->block < p->block ? length - n * p->block : p->block;
                struct hbg_region kb = hbg_slice(hbg_index(hbg_index(k, 0, page), 1, h), 0, 0, live), vb = hbg_slice(hbg_index(hbg_index(v, 0, page), 1, h), 0, 0, live);
                struct hbg_region s = hbg_alloc(g, HBG_F32, HBG_SHAPE(live)), m = hbg_alloc(g, HBG_F32, HBG_SHAPE(2)), part = hbg_alloc(g, HBG_F32, HBG_SHAPE(p->head_dim));
                hbg_submit(g, QK, hbg_in(qh), hbg_in(kb), hbg_out(s));
                hbg_submit(g, SOFTMAX, hbg_inout(s), hbg_out(m));
                hbg_submit(g, PV, hbg_in(s), hbg_in(vb), hbg_out(part));
                hbg_submit(g, UPDATE, hbg_in(m), hbg_in(part), hbg_inout(ml), hbg_inout(acc), hbg_bool(n == 0));
            }
            hbg_submit(g, NORMALISE, hbg_in(acc), hbg_in(ml), hbg_out(oh));
            hbg_scope_end(g);
        }
    }
}
hbg_build_fn *paged_build(void);
hbg_build_fn *paged_build(void) { return build; }
