/* SPDX-License-Identifier: Apache-2.0 */
#include <hbg/hbg.h>
#include <string.h>
/* one token = one run; one layer = one subgraph, 30 replays; weights in device buffers; KV cache in pages; position is a bound scalar */
enum { NORM, MATMUL, ROPE, APPEND, ATTEND, COMBINE, ADD, SILU_MUL, EMBED, SAMPLE, KERNEL_COUNT };
enum { LAYERS = 30, PAGE = 64 };
struct shape { int32_t hidden, heads, kv_heads, head_dim, ffn, tile, splits; float eps; };   /* no padding: compared as bytes */
enum { L_X, L_POS, L_TABLE, L_KPAGES, L_VPAGES, L_NORM1, L_WQKV, L_WO, L_NORM2, L_W13, L_W2 };   /* boundary positions */
extern int norm(const struct hbg_task_view *), matmul(const struct hbg_task_view *), rope(const struct hbg_task_view *), append(const struct hbg_task_view *),
    attend(const struct hbg_task_view *), combine(const struct hbg_task_view *), add(const struct hbg_task_view *), silu_mul(const struct hbg_task_view *),
    embed(const struct hbg_task_view *), sample(const struct hbg_task_view *);
static void project(struct hbg_graph *g, struct hbg_region x, struct hbg_region w, struct hbg_region y, int32_t tile)
{
    for (int64_t j = 0; j * tile < y.shape[1]; j++)
        hbg_submit(g, MATMUL, hbg_in(x), hbg_in(hbg_cell(w, HBG_SHAPE(tile, w.shape[1]), HBG_SHAPE(j, 0))), hbg_out(hbg_cell(y, HBG_SHAPE(1, tile), HBG_SHAPE(0, j))));
}
static void layer(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    const struct shape *m = (const struct shape *)params;
    struct hbg_region x = hbg_args_region(args, L_X), k = hbg_args_region(args, L_KPAGES), v = hbg_args_region(args, L_VPAGES), table = hbg_args_region(args, L_TABLE);
    struct hbg_arg pos = hbg_args_scalar(args, L_POS);              /* bound, not read: no guard, so no miss from token to token */
    int32_t q_dim = m->heads * m->head_dim, kv_dim = m->kv_heads * m->head_dim;
    hbg_scope_begin(g, HBG_SCOPE_AUTO);
    struct hbg_region h = hbg_alloc(g, HBG_BF16, HBG_SHAPE(1, m->hidden)), qkv = hbg_alloc(g, HBG_BF16, HBG_SHAPE(1, q_dim + 2 * kv_dim));
    hbg_submit(g, NORM, hbg_in(x), hbg_in(hbg_args_region(args, L_NORM1)), hbg_out(h), hbg_f32(m->eps));
    project(g, h, hbg_args_region(args, L_WQKV), qkv, m->tile);
    hbg_submit(g, ROPE, hbg_inout(hbg_slice(qkv, 1, 0, q_dim + kv_dim)), pos);
    for (int32_t n = 0; n < m->kv_heads; n++) {
        struct hbg_region kh = hbg_slice(k, 1, n, n + 1), vh = hbg_slice(v, 1, n, n + 1);
        hbg_submit(g, APPEND, hbg_in(hbg_slice(qkv, 1, q_dim, q_dim + 2 * kv_dim)), hbg_in(table), hbg_inout(kh), hbg_inout(vh), pos, hbg_i32(n));
        struct hbg_region part = hbg_alloc(g, HBG_F32, HBG_SHAPE(m->splits, m->heads / m->kv_heads, m->head_dim + 2));
        for (int32_t s = 0; s < m->splits; s++)                     /* each split walks the pages its share of `pos` says: no host loop over pages */
            hbg_submit(g, ATTEND, hbg_in(qkv), hbg_in(table), hbg_in(kh), hbg_in(vh), hbg_out(hbg_slice(part, 0, s, s + 1)), pos, hbg_i32(n), hbg_i32(s));
        int32_t group = q_dim / m->kv_heads;
        hbg_submit(g, COMBINE, hbg_in(part), hbg_out(hbg_slice(h, 1, n * group, (n + 1) * group)));
    }
    struct hbg_region o = hbg_alloc(g, HBG_BF16, HBG_SHAPE(1, m->hidden)), u = hbg_alloc(g, HBG_BF16, HBG_SHAPE(1, 2 * m->ffn));
    project(g, h, hbg_args_region(args, L_WO), o, m->tile);
    hbg_submit(g, ADD, hbg_in(o), hbg_inout(x));
    hbg_submit(g, NORM, hbg_in(x), hbg_in(hbg_args_region(args, L_NORM2)), hbg_out(h), hbg_f32(m->eps));
    project(g, h, hbg_args_region(args, L_W13), u, m->tile);
    hbg_submit(g, SILU_MUL, hbg_inout(u));
    project(g, hbg_slice(u, 1, 0, m->ffn), hbg_args_region(args, L_W2), o, m->tile);
    hbg_submit(g, ADD, hbg_in(o), hbg_inout(x));
    hbg_scope_end(g);
}
/* the token: the model's buffers reach the build through the boundary, 8 per layer, so that a replay may patch them */
enum { T_IDS, T_POS, T_TABLE, T_EMBED, T_LOGITS_W, T_NEXT, T_LAYER0 };
static void token(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    const struct shape *m = (const struct shape *)params;
    struct hbg_region x = hbg_alloc(g, HBG_BF16, HBG_SHAPE(1, m->hidden)), table = hbg_args_region(args, T_TABLE);
    hbg_submit(g, EMBED, hbg_in(hbg_args_region(args, T_IDS)), hbg_in(hbg_args_region(args, T_EMBED)), hbg_out(x));
    for (int n = 0; n < LAYERS; n++) {
        int at = T_LAYER0 + 8 * n;
#define B(i) hbg_args_region(args, at + (i))
        hbg_subgraph(g, HBG_KEY("layer", *m), layer, HBG_ARGS(hbg_inout(x), hbg_args_scalar(args, T_POS), hbg_in(table), hbg_inout(B(0)), hbg_inout(B(1)),
                     hbg_in(B(2)), hbg_in(B(3)), hbg_in(B(4)), hbg_in(B(5)), hbg_in(B(6)), hbg_in(B(7))));
#undef B
    }
    hbg_submit(g, SAMPLE, hbg_in(x), hbg_in(hbg_args_region(args, T_LOGITS_W)), hbg_out(hbg_args_region(args, T_NEXT)));
}
static const struct hbg_kernel kernels[] = {
    HBG_KERNEL(NORM, norm, "in bf16, in bf16, out bf16, f32"), HBG_KERNEL(MATMUL, matmul, "in bf16, in bf16, out bf16"), HBG_KERNEL(ROPE, rope, "inout bf16, i32"),
    HBG_KERNEL(APPEND, append, NULL), HBG_KERNEL(ATTEND, attend, NULL), HBG_KERNEL(COMBINE, combine, NULL), HBG_KERNEL(ADD, add, NULL),
    HBG_KERNEL(SILU_MUL, silu_mul, NULL), HBG_KERNEL(EMBED, embed, NULL), HBG_KERNEL(SAMPLE, sample, NULL) };
struct model { struct hbg_buffer *embed, *logits, *table, *layer[LAYERS][8]; struct hbg_region region[LAYERS][8]; struct shape shape; int64_t vocab, pages; };
enum hbg_status decode(struct hbg_device *device, struct model *m, int32_t *ids, int count, int32_t start, struct hbg_result *result);
enum hbg_status decode(struct hbg_device *device, struct model *m, int32_t *ids, int count, int32_t start, struct hbg_result *result)
{
    struct hbg_program *program = NULL;
    struct hbg_program_options o = HBG_OPTIONS(program_options);
    o.name = "decode"; o.build = token; o.params = &m->shape; o.params_size = sizeof m->shape; o.kernels = kernels; o.kernel_count = KERNEL_COUNT; o.pure_build = true;
    enum hbg_status s = hbg_program_create(device, &o, &program);
    if (s) return s;
    struct hbg_arg a[T_LAYER0 + 8 * LAYERS];                        /* by value: filled in a loop, patched per token */
    int32_t next = 0;
    a[T_TABLE] = hbg_in(hbg_buffer_region(m->table, 0, HBG_I32, HBG_SHAPE(m->pages)));
    a[T_EMBED] = hbg_in(hbg_buffer_region(m->embed, 0, HBG_BF16, HBG_SHAPE(m->vocab, m->shape.hidden)));
    a[T_LOGITS_W] = hbg_in(hbg_buffer_region(m->logits, 0, HBG_BF16, HBG_SHAPE(m->vocab, m->shape.hidden)));
    a[T_NEXT] = hbg_out(hbg_host(&next, HBG_I32, HBG_SHAPE(1)));
    for (int n = 0; n < LAYERS; n++)
        for (int i = 0; i < 8; i++) a[T_LAYER0 + 8 * n + i] = i < 2 ? hbg_inout(m->region[n][i]) : hbg_in(m->region[n][i]);
    for (int i = 0; i < count && !s; i++) {
        a[T_IDS] = hbg_in(hbg_host(&ids[i], HBG_I32, HBG_SHAPE(1)));
        a[T_POS] = hbg_i32(start + i);
        struct hbg_arg_list list = { a, sizeof a / sizeof *a };
        s = hbg_run_sync(program, list, result);
        if (!s) ids[i + 1] = next;
    }
    hbg_program_destroy(program);
    return s;
}
