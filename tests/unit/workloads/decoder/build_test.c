/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The build function of decoder by itself, token after token: the position is no guard, so one graph serves all of them; layers
 * as subgraphs leave the same bits as their tasks one by one; a table that names no page of the cache fails in a kernel.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <hbg/hbg.h>
#include "workloads/decoder/decoder.h"

enum { LAYERS = 3, BATCH = 2, HIDDEN = 24, HEADS = 4, KV_HEADS = 2, DIM = 6, FFN = 20, TILE = 16, SPLITS = 3, PAGE = 4, COLUMNS = 3, PAGES = 7 };
enum { QKV = (HEADS + 2 * KV_HEADS) * DIM, TOKENS = COLUMNS * PAGE };

/* What a decoder works on. */
struct tensors {
    int32_t table[BATCH][COLUMNS];
    float x[BATCH][HIDDEN], out[BATCH][HIDDEN], keys[LAYERS][PAGES][KV_HEADS][PAGE][DIM], values[LAYERS][PAGES][KV_HEADS][PAGE][DIM];
    float norm1[LAYERS][HIDDEN], wqkv[LAYERS][QKV][HIDDEN], wo[LAYERS][HIDDEN][HEADS * DIM];
    float norm2[LAYERS][HIDDEN], w13[LAYERS][2 * FFN][HIDDEN], w2[LAYERS][HIDDEN][FFN];
};

static void fill(float *data, size_t size_bytes, int seed)
{
    for (size_t i = 0; i < size_bytes / sizeof *data; i++)
        data[i] = (float)(((int)i * 7919 + seed * 104729) % 2003) / 4006.0f - 0.25f;
}

static void reset(struct tensors *n)
{
    static const int32_t table[BATCH][COLUMNS] = { { 5, 0, 3 }, { 1, 6, 2 } };

    memset(n, 0, sizeof *n);
    memcpy(n->table, table, sizeof table);
    fill(&n->x[0][0], sizeof n->x, 1);
    fill(&n->norm1[0][0], sizeof n->norm1, 2);
    fill(&n->wqkv[0][0][0], sizeof n->wqkv, 3);
    fill(&n->wo[0][0][0], sizeof n->wo, 4);
    fill(&n->norm2[0][0], sizeof n->norm2, 5);
    fill(&n->w13[0][0][0], sizeof n->w13, 6);
    fill(&n->w2[0][0][0], sizeof n->w2, 7);
}

static enum hbg_status run(struct hbg_program *program, struct tensors *n, int32_t position, struct hbg_result *result)
{
    struct hbg_shape cache = HBG_SHAPE(LAYERS, PAGES, KV_HEADS, PAGE, DIM), state = HBG_SHAPE(BATCH, HIDDEN), norm = HBG_SHAPE(LAYERS, HIDDEN);

    *result = HBG_OPTIONS(result);
    return hbg_run_sync(program, HBG_ARGS(hbg_i32(position), hbg_in(hbg_host(n->table, HBG_I32, HBG_SHAPE(BATCH, COLUMNS))),
        hbg_in(hbg_host(n->x, HBG_F32, state)), hbg_inout(hbg_host(n->keys, HBG_F32, cache)), hbg_inout(hbg_host(n->values, HBG_F32, cache)),
        hbg_in(hbg_host(n->norm1, HBG_F32, norm)), hbg_in(hbg_host(n->wqkv, HBG_F32, HBG_SHAPE(LAYERS, QKV, HIDDEN))),
        hbg_in(hbg_host(n->wo, HBG_F32, HBG_SHAPE(LAYERS, HIDDEN, HEADS * DIM))), hbg_in(hbg_host(n->norm2, HBG_F32, norm)),
        hbg_in(hbg_host(n->w13, HBG_F32, HBG_SHAPE(LAYERS, 2 * FFN, HIDDEN))), hbg_in(hbg_host(n->w2, HBG_F32, HBG_SHAPE(LAYERS, HIDDEN, FFN))),
        hbg_out(hbg_host(n->out, HBG_F32, state))), result);
}

static struct hbg_program *create(struct hbg_device *device, int32_t subgraph)
{
    struct decoder_params params;
    struct hbg_program_options o = HBG_OPTIONS(program_options);
    struct hbg_program *program;

    memset(&params, 0, sizeof params);
    params.shape = (struct decoder_shape){ BATCH, HIDDEN, HEADS, KV_HEADS, DIM, FFN, TILE, SPLITS, 1e-5f };
    params.layers = LAYERS;
    params.subgraph = subgraph;
    o.build = hbg__decoder_build;
    o.params = &params;
    o.params_size = sizeof params;
    o.kernels = hbg__decoder_kernels;
    o.kernel_count = DECODER_KERNEL_COUNT;
    o.pure_build = true;
    assert_int_equal(hbg_program_create(device, &o, &program), HBG_OK);
    return program;
}

/* the state that leaves the decoder enters it with the next token */
static void tokens_on(const char *spec, int32_t subgraph, struct tensors *n)
{
    struct hbg_device *device;
    struct hbg_result result;

    reset(n);
    assert_int_equal(hbg_device_open(spec, NULL, &device), HBG_OK);
    struct hbg_program *program = create(device, subgraph);
    for (int32_t position = 0; position < TOKENS; position++) {
        assert_int_equal(run(program, n, position, &result), HBG_OK);
        assert_int_equal(result.replayed, position > 0);
        assert_memory_not_equal(n->x, n->out, sizeof n->x);
        memcpy(n->x, n->out, sizeof n->x);
    }
    hbg_program_destroy(program);
    assert_int_equal(hbg_device_close(device), HBG_OK);
}

static void tokens(void **state)
{
    static const char *const spec[] = { "cpu:workers=1", "cpu:workers=2,memory=discrete", "cpu:workers=8" };
    static struct tensors expected, found;
    (void)state;

    tokens_on(spec[0], 0, &expected);
    for (int i = 0; i < BATCH * COLUMNS; i++)           /* every page in use has been written to its end */
        for (int token = 0; token < PAGE; token++)
            assert_true(expected.keys[LAYERS - 1][expected.table[i / COLUMNS][i % COLUMNS]][KV_HEADS - 1][token][DIM - 1] != 0.0f);
    for (int i = 0; i < 3; i++) {
        for (int32_t subgraph = 0; subgraph < 2; subgraph++) {
            tokens_on(spec[i], subgraph, &found);
            assert_memory_equal(&found, &expected, sizeof found);
        }
    }
}

static void no_page(void **state)
{
    static struct tensors n, good;
    struct hbg_device *device;
    struct hbg_result result;
    (void)state;

    assert_int_equal(hbg_device_open("cpu:workers=2,memory=discrete", NULL, &device), HBG_OK);
    for (int32_t subgraph = 0; subgraph < 2; subgraph++) {
        struct hbg_program *program = create(device, subgraph);
        reset(&good);
        assert_int_equal(run(program, &good, PAGE, &result), HBG_OK);
        reset(&n);
        n.table[1][1] = PAGES;
        assert_int_equal(run(program, &n, PAGE, &result), HBG_E_KERNEL);
        assert_string_equal(result.error.name, "append");
        assert_int_equal(result.error.code, DECODER_NO_PAGE);
        assert_int_equal(result.error.detail, 1);
        n.table[1][1] = 6;
        n.table[0][0] = -1;
        assert_int_equal(run(program, &n, PAGE, &result), HBG_E_KERNEL);
        assert_string_equal(result.error.name, "attend");
        assert_int_equal(result.error.detail, 0);
        assert_int_equal(run(program, &n, TOKENS, &result), HBG_E_KERNEL);      /* beyond the table */
        assert_int_equal(run(program, &n, -1, &result), HBG_E_KERNEL);
        reset(&n);
        assert_int_equal(run(program, &n, PAGE, &result), HBG_OK);
        assert_memory_equal(&n, &good, sizeof n);
        hbg_program_destroy(program);
    }
    assert_int_equal(hbg_device_close(device), HBG_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(tokens), cmocka_unit_test(no_page) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
