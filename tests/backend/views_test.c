/* SPDX-License-Identifier: Apache-2.0 */
/* views_test.c - what a view is to a kernel and to the edges: empty ones, single elements, permuted, reshaped, broadcast,
 * clipped and cast ones, every element type; and which views are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"

enum { FILL, GATHER, TOUCH, KERNEL_COUNT };

/* Calls `element` with the address of each element, the last index first. */
static void walk(const struct hbg_task_view *t, int arg, void (*element)(void *user, void *at), void *user)
{
    int64_t index[HBG_RANK_MAX] = { 0 };
    const int64_t *shape = hbg_view_shape(t, arg), *stride = hbg_view_stride_bytes(t, arg);
    int rank = hbg_view_rank(t, arg);
    for (int64_t n = hbg_view_count(t, arg); n > 0; n--) {
        char *at = hbg_view_data(t, arg);
        for (int d = 0; d < rank; d++) at += index[d] * stride[d];
        element(user, at);
        for (int d = rank - 1; d >= 0 && ++index[d] == shape[d]; d--) index[d] = 0;
    }
}

static void count_up(void *user, void *at) { *(int32_t *)at = (*(int32_t *)user)++; }

/* Writes v, v + 1, .. in the order of the view. */
static int fill(const struct hbg_task_view *t)
{
    int32_t v = hbg_view_i32(t, 1);
    walk(t, 0, count_up, &v);
    return 0;
}

static void append(void *user, void *at)
{
    int32_t **next = user;
    *(*next)++ = *(const int32_t *)at;
}

/* Copies the elements of a view, in its order, to a list. */
static int gather(const struct hbg_task_view *t)
{
    int32_t *next = HBG_VIEW(int32_t, t, 1);
    walk(t, 0, append, &next);
    return 0;
}

static int touch(const struct hbg_task_view *t) { (void)t; return 0; }

static const struct hbg_kernel kernels[] = {
    HBG_KERNEL(FILL, fill, "out i32, i32"), HBG_KERNEL(GATHER, gather, "in i32, out i32"), HBG_KERNEL(TOUCH, touch, NULL),
};

/* ---- empty views and single elements ---- */

static struct hbg_buffer *empty_buffer;

static void empty_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0);
    hbg_submit(g, FILL, hbg_out(x), hbg_i32(0));
    hbg_submit(g, TOUCH, hbg_inout(hbg_slice(x, 0, 16, 16)));                          /* 1: past the last row */
    hbg_submit(g, TOUCH, hbg_inout(hbg_slice(x, 0, 3, 3)), hbg_in(hbg_slice(x, 0, 0, 0)));
    hbg_submit(g, TOUCH, hbg_out(hbg_buffer_region(empty_buffer, 4096, HBG_I32, HBG_SHAPE(0, 4))));
    hbg_submit(g, FILL, hbg_out(hbg_index(x, 0, 5)), hbg_i32(50));                     /* 4: one element, rank 0 */
    hbg_submit(g, TOUCH, hbg_in(hbg_index(x, 0, 6)));
    hbg_submit(g, TOUCH, hbg_in(hbg_index(x, 0, 5)));
}

static void empty_views_touch_nothing(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t x[16];
    struct edges edges;
    assert_int_equal(hbg_buffer_create(device, 1024, &empty_buffer), HBG_OK);
    graph_run(device, empty_build, KERNELS(kernels), HBG_ARGS(hbg_out(HOST_I32(x, 16))), NULL, &edges);
    assert_int_equal(edges_into(&edges, 1), 0);
    assert_int_equal(edges_into(&edges, 2), 0);
    assert_int_equal(edges_into(&edges, 3), 0);
    assert_true(edges_are(&edges, "0>4 0>5 4>6"));
    edges_free(&edges);
    for (int i = 0; i < 16; i++) assert_int_equal(x[i], i == 5 ? 50 : i);
    hbg_buffer_destroy(empty_buffer);
}

static void empty_boundary(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t none = 0, x[16];
    assert_int_equal(hbg_buffer_create(device, 1024, &empty_buffer), HBG_OK);
    graph_run(device, empty_build, KERNELS(kernels), HBG_ARGS(hbg_out(HOST_I32(x, 16)), hbg_inout(HOST_I32(&none, 0)), hbg_in(hbg_host(NULL, HBG_F32, HBG_SHAPE(0, 3)))), NULL, NULL);
    assert_int_equal(none, 0);
    assert_int_equal(x[5], 50);
    hbg_buffer_destroy(empty_buffer);
}

/* ---- views of one 4 x 6 matrix ---- */

static void views_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0), y = hbg_args_region(args, 1);
#define ROW(i) hbg_slice(hbg_index(y, 0, i), 0, 0, 24)
    hbg_submit(g, FILL, hbg_out(x), hbg_i32(0));
    hbg_submit(g, GATHER, hbg_in(hbg_permute(x, HBG_SHAPE(1, 0))), hbg_out(ROW(0)));
    hbg_submit(g, GATHER, hbg_in(hbg_reshape(x, HBG_SHAPE(2, 2, 6))), hbg_out(ROW(1)));
    hbg_submit(g, GATHER, hbg_in(hbg_permute(hbg_reshape(x, HBG_SHAPE(2, 3, 4)), HBG_SHAPE(2, 0, 1))), hbg_out(ROW(2)));
    hbg_submit(g, GATHER, hbg_in(hbg_broadcast(hbg_slice(x, 0, 2, 3), HBG_SHAPE(4, 6))), hbg_out(ROW(3)));
    hbg_submit(g, GATHER, hbg_in(hbg_cell(x, HBG_SHAPE(3, 4), HBG_SHAPE(1, 1))), hbg_out(hbg_slice(ROW(4), 0, 0, 2)));
    hbg_submit(g, GATHER, hbg_in(hbg_index(x, 1, 5)), hbg_out(hbg_slice(ROW(5), 0, 0, 4)));
    hbg_submit(g, GATHER, hbg_in(hbg_slice(hbg_slice(x, 1, 1, 5), 0, 1, 3)), hbg_out(hbg_slice(ROW(6), 0, 0, 8)));
    hbg_submit(g, GATHER, hbg_in(hbg_cast_view(hbg_cast_view(x, HBG_U8), HBG_I32)), hbg_out(ROW(7)));
#undef ROW
}

static void kernels_see_views(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t x[4][6], y[8][24];
    memset(y, 0, sizeof y);
    graph_run(device, views_build, KERNELS(kernels), HBG_ARGS(hbg_out(hbg_host(x, HBG_I32, HBG_SHAPE(4, 6))), hbg_inout(hbg_host(y, HBG_I32, HBG_SHAPE(8, 24)))), NULL, NULL);
    for (int i = 0; i < 24; i++) {
        assert_int_equal(y[0][i], i % 4 * 6 + i / 4);               /* transposed */
        assert_int_equal(y[1][i], i);
        int a = i / 6, b = i % 6 / 3, c = i % 3;                    /* [a][b][c] of the permuted: element [b][c][a] */
        assert_int_equal(y[2][i], b * 12 + c * 4 + a);
        assert_int_equal(y[3][i], 12 + i % 6);                      /* row 2, four times */
        assert_int_equal(y[7][i], i);
    }
    assert_int_equal(y[4][0], 3 * 6 + 4);                           /* clipped at both far edges: 1 x 2 */
    assert_int_equal(y[4][1], 3 * 6 + 5);
    for (int i = 0; i < 4; i++) assert_int_equal(y[5][i], i * 6 + 5);
    for (int i = 0; i < 8; i++) assert_int_equal(y[6][i], (1 + i / 4) * 6 + 1 + i % 4);
}

/* ---- host memory with strides, negative ones among them ---- */

static void strided_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0), y = hbg_args_region(args, 1);
    hbg_submit(g, GATHER, hbg_in(x), hbg_out(y));
    hbg_submit(g, FILL, hbg_out(x), hbg_i32(100));
}

static void strided_host_memory(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t x[40], y[6] = { 0 };
    for (int i = 0; i < 40; i++) x[i] = i;
    /* 3 rows of 2: rows go up by 8 elements from 20, columns go down by 3 */
    struct hbg_region r = hbg_host_strided(&x[20], HBG_I32, HBG_SHAPE(3, 2), HBG_SHAPE(8 * 4, -3 * 4));
    graph_run(device, strided_build, KERNELS(kernels), HBG_ARGS(hbg_inout(r), hbg_out(HOST_I32(y, 6))), NULL, NULL);
    static const int32_t at[] = { 20, 17, 28, 25, 36, 33 };
    for (int i = 0; i < 6; i++) assert_int_equal(y[i], at[i]);
    for (int i = 0; i < 40; i++) {
        int32_t expected = i;
        for (int k = 0; k < 6; k++) expected = at[k] == i ? 100 + k : expected;
        assert_int_equal(x[i], expected);
    }
}

/* ---- every element type ---- */

static const int dtypes[] = {
    HBG_BOOL, HBG_I8, HBG_U8, HBG_I16, HBG_U16, HBG_I32, HBG_U32, HBG_I64, HBG_U64, HBG_F16, HBG_BF16, HBG_F32, HBG_F64,
    HBG_RECORD_0 + 1, HBG_RECORD_0 + 3, HBG_RECORD_0 + 18, HBG_RECORD_0 + 4095,
};
enum { DTYPE_COUNT = sizeof dtypes / sizeof dtypes[0] };
static int dtype_seen[DTYPE_COUNT];
static int64_t dtype_stride[DTYPE_COUNT], dtype_size[DTYPE_COUNT];

static int look(const struct hbg_task_view *t)
{
    int32_t i = hbg_view_i32(t, 1);
    dtype_seen[i] = hbg_view_dtype(t, 0);
    dtype_stride[i] = hbg_view_stride_bytes(t, 0)[0];
    dtype_size[i] = hbg_view_layout(t, 0)->element_bytes;
    memset(HBG_VIEW(char, t, 0), 0x40 + i, (size_t)(hbg_view_count(t, 0) * dtype_size[i]));
    return 0;
}

static const struct hbg_kernel look_kernels[] = { HBG_KERNEL(0, look, NULL) };

static void dtypes_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region bytes = hbg_args_region(args, 0);
    for (int i = 0; i < DTYPE_COUNT; i++) {
        int64_t size = hbg_dtype_size(dtypes[i]);
        hbg_submit(g, 0, hbg_out(hbg_cast_view(hbg_slice(bytes, 0, i * 8192, i * 8192 + 2 * size), (enum hbg_dtype)dtypes[i])), hbg_i32(i));
    }
}

static void every_dtype(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    static char bytes[DTYPE_COUNT * 8192];
    memset(bytes, 1, sizeof bytes);
    graph_run(device, dtypes_build, KERNELS(look_kernels), HBG_ARGS(hbg_inout(hbg_host(bytes, HBG_I8, HBG_SHAPE(sizeof bytes)))), NULL, NULL);
    for (int i = 0; i < DTYPE_COUNT; i++) {
        int64_t size = hbg_dtype_size(dtypes[i]);
        assert_int_equal(dtype_seen[i], dtypes[i]);
        assert_int_equal(dtype_stride[i], size);
        assert_int_equal(dtype_size[i], size);
        for (int64_t k = 0; k < 8192; k++) assert_int_equal(bytes[i * 8192 + k], k < 2 * size ? 0x40 + i : 1);
    }
}

/* ---- refused views: the submit names task and argument ---- */

static int bad_case;
enum { BAD_COUNT = 15 };

static struct hbg_region bad_view(struct hbg_region x, int which)     /* of 8 x 6 elements */
{
    struct hbg_shape too_many = { { 1, 1, 1, 1, 1 }, 6 };
    switch (which) {
    case 0: return hbg_slice(x, 0, 0, 9);
    case 1: return hbg_slice(x, 0, -1, 2);
    case 2: return hbg_slice(x, 0, 3, 2);
    case 3: return hbg_slice(x, 2, 0, 1);
    case 4: return hbg_slice(x, 0, 9, 9);           /* empty, but past the extent */
    case 5: return hbg_index(x, 0, 8);
    case 6: return hbg_index(x, 1, -1);
    case 7: return hbg_permute(x, HBG_SHAPE(0, 0));
    case 8: return hbg_permute(x, HBG_SHAPE(1, 0, 2));
    case 9: return hbg_reshape(x, HBG_SHAPE(7, 7));
    case 10: return hbg_reshape(hbg_slice(x, 1, 0, 3), HBG_SHAPE(24));      /* its rows do not touch */
    case 11: return hbg_broadcast(x, HBG_SHAPE(8, 7));
    case 12: return hbg_cast_view(hbg_slice(x, 1, 0, 3), HBG_F64);          /* rows of 12 bytes */
    case 13: return hbg_cell(x, HBG_SHAPE(3, 3), HBG_SHAPE(3, 0));          /* the far edge is at 3 */
    default: return hbg_reshape(x, too_many);
    }
}

static void bad_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0);
    hbg_submit(g, TOUCH, hbg_in(x));
    hbg_submit(g, TOUCH, hbg_i32(0), hbg_in(x), hbg_in(hbg_slice(bad_view(x, bad_case), 0, 0, 0)));     /* a view of it is bad too */
    hbg_submit(g, TOUCH, hbg_in(hbg_slice(x, 0, 0, 99)));                                               /* the first error stays */
}

static void bad_views_are_named(struct hbg_device *device, const struct device_kind *kind)
{
    (void)kind;
    int32_t x[8][6] = { { 0 } };
    struct hbg_program *program = PROGRAM(device, bad_build, kernels);
    for (bad_case = 0; bad_case < BAD_COUNT; bad_case++) {
        struct hbg_error error = program_run_fails(program, HBG_ARGS(hbg_inout(hbg_host(x, HBG_I32, HBG_SHAPE(8, 6)))), HBG_E_REGION);
        assert_int_equal(error.task, 1);
        assert_int_equal(error.argument, 2);
    }
    hbg_program_destroy(program);
}

int main(void)
{
    static const struct device_test tests[] = {
        DEVICE_TEST(empty_views_touch_nothing), DEVICE_TEST(empty_boundary), DEVICE_TEST(kernels_see_views),
        DEVICE_TEST(strided_host_memory), DEVICE_TEST(every_dtype), DEVICE_TEST(bad_views_are_named),
    };
    return DEVICE_TESTS_RUN(tests);
}
