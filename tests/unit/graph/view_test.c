/* SPDX-License-Identifier: Apache-2.0 */
/* view_test.c - views that are not inline: shapes, strides and offsets by hand, and a sentence for each that cannot be. */
#include "graph/view.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static float data[4 * 6 * 8];

static struct hbg_region whole(void) { return hbg_host(data, HBG_F32, HBG_SHAPE(4, 6, 8)); }

static void is_view(struct hbg_region r, int64_t offset, struct hbg_shape shape, struct hbg_shape stride)
{
    assert_false(r.flags & HBG_REGION_BAD);
    assert_int_equal(r.offset_bytes, (int64_t)(uintptr_t)data + offset);
    assert_int_equal(r.rank, shape.rank);
    for (int d = 0; d < shape.rank; d++) {
        assert_int_equal(r.shape[d], shape.dim[d]);
        assert_int_equal(r.stride_bytes[d], stride.dim[d]);
    }
}

static void is_bad(struct hbg_region r, const char *sentence)
{
    char text[128];
    assert_true(r.flags & HBG_REGION_BAD);
    for (int d = 0; d < HBG_RANK_MAX; d++) assert_int_equal(r.shape[d], 0);
    hbg__region_reason(&r, NULL, text, sizeof text);
    assert_string_equal(text, sentence);
}

static void host_memory(void **state)
{
    (void)state;
    is_view(whole(), 0, HBG_SHAPE(4, 6, 8), HBG_SHAPE(192, 32, 4));
    assert_int_equal(whole().flags, HBG_REGION_HOST);
    assert_int_equal(hbg_host_const(data, HBG_F32, HBG_SHAPE(1)).flags, HBG_REGION_HOST | HBG_REGION_READ_ONLY);
    is_view(hbg_host_strided(data, HBG_F32, HBG_SHAPE(3, 2), HBG_SHAPE(-64, 0)), 0, HBG_SHAPE(3, 2), HBG_SHAPE(-64, 0));
    struct hbg_region empty = hbg_host(NULL, HBG_F32, HBG_SHAPE(0, 4));
    assert_false(empty.flags & HBG_REGION_BAD);
    assert_int_equal(empty.stride_bytes[0], 16);
    struct hbg_shape scalar = { .rank = 0 };
    is_view(hbg_host(data, HBG_F32, scalar), 0, scalar, scalar);
}

static void host_memory_that_cannot_be(void **state)
{
    struct hbg_shape deep = { .rank = 6 };
    (void)state;
    is_bad(hbg_host(data, (enum hbg_dtype)77, HBG_SHAPE(1)), "the dtype 77, which does not exist");
    is_bad(hbg_host(data, HBG_F32, deep), "a rank of 6 where 0 to 5 are possible");
    is_bad(hbg_host(data, HBG_F32, HBG_SHAPE(4, -1)), "dimension 1 of size -1");
    is_bad(hbg_host(NULL, HBG_F32, HBG_SHAPE(4)), "4 elements at a NULL address");
    is_bad(hbg_host(data, HBG_F32, HBG_SHAPE(INT64_MAX, 2)), "more bytes than 63 bits can number");
    is_bad(hbg_host_strided(data, HBG_F32, HBG_SHAPE(2, 2), HBG_SHAPE(4)), "a rank of 1 where 0 to 2 are possible");
}

static void index_takes_a_dimension(void **state)
{
    (void)state;
    is_view(hbg_index(whole(), 0, 3), 576, HBG_SHAPE(6, 8), HBG_SHAPE(32, 4));
    is_view(hbg_index(whole(), 1, 5), 160, HBG_SHAPE(4, 8), HBG_SHAPE(192, 4));
    is_view(hbg_index(whole(), 2, 7), 28, HBG_SHAPE(4, 6), HBG_SHAPE(192, 32));
    is_bad(hbg_index(whole(), 1, 6), "index 6 of a dimension of 6");
    is_bad(hbg_index(whole(), 1, -1), "index -1 of a dimension of 6");
    is_bad(hbg_index(whole(), 3, 0), "dimension 3 of a region of rank 3");
    is_bad(hbg_index(whole(), -1, 0), "dimension -1 of a region of rank 3");
}

static void permute_orders_dimensions(void **state)
{
    (void)state;
    is_view(hbg_permute(whole(), HBG_SHAPE(2, 0, 1)), 0, HBG_SHAPE(8, 4, 6), HBG_SHAPE(4, 192, 32));
    is_bad(hbg_permute(whole(), HBG_SHAPE(0, 1)), "hbg_permute with an order of rank 2 that is no permutation of the 3 dimensions");
    is_bad(hbg_permute(whole(), HBG_SHAPE(0, 1, 1)), "hbg_permute with an order of rank 3 that is no permutation of the 3 dimensions");
    is_bad(hbg_permute(whole(), HBG_SHAPE(0, 1, 64)), "hbg_permute with an order of rank 3 that is no permutation of the 3 dimensions");
}

static void reshape_of_contiguous_regions(void **state)
{
    (void)state;
    is_view(hbg_reshape(whole(), HBG_SHAPE(24, 8)), 0, HBG_SHAPE(24, 8), HBG_SHAPE(32, 4));
    is_view(hbg_reshape(hbg_slice(whole(), 0, 1, 3), HBG_SHAPE(96)), 192, HBG_SHAPE(96), HBG_SHAPE(4));
    is_view(hbg_reshape(hbg_slice(whole(), 0, 1, 2), HBG_SHAPE(48, 1)), 192, HBG_SHAPE(48, 1), HBG_SHAPE(4, 4));
    is_view(hbg_reshape(hbg_slice(whole(), 0, 2, 2), HBG_SHAPE(7, 0)), 384, HBG_SHAPE(7, 0), HBG_SHAPE(4, 4));
    is_bad(hbg_reshape(whole(), HBG_SHAPE(24, 9)), "hbg_reshape of 192 elements to 216");
    is_bad(hbg_reshape(hbg_slice(whole(), 1, 0, 2), HBG_SHAPE(64)), "hbg_reshape of a region that is not contiguous: dimension 0 has a stride of 192 bytes");
    is_bad(hbg_reshape(hbg_permute(whole(), HBG_SHAPE(2, 0, 1)), HBG_SHAPE(192)), "hbg_reshape of a region that is not contiguous: dimension 2 has a stride of 32 bytes");
}

static void broadcast_adds_strides_of_zero(void **state)
{
    (void)state;
    struct hbg_region row = hbg_slice(hbg_index(whole(), 0, 0), 0, 2, 3);
    is_view(hbg_broadcast(row, HBG_SHAPE(5, 8)), 64, HBG_SHAPE(5, 8), HBG_SHAPE(0, 4));
    is_view(hbg_broadcast(row, HBG_SHAPE(3, 1, 8)), 64, HBG_SHAPE(3, 1, 8), HBG_SHAPE(0, 32, 4));
    is_bad(hbg_broadcast(whole(), HBG_SHAPE(4, 6, 9)), "hbg_broadcast of a dimension of 8 to 9");
    is_bad(hbg_broadcast(whole(), HBG_SHAPE(8)), "a rank of 1 where 0 to 5 are possible");
}

static void cast_keeps_the_bytes(void **state)
{
    struct hbg_shape scalar = { .rank = 0 };
    (void)state;
    is_view(hbg_cast_view(whole(), HBG_I32), 0, HBG_SHAPE(4, 6, 8), HBG_SHAPE(192, 32, 4));
    is_view(hbg_cast_view(whole(), HBG_U8), 0, HBG_SHAPE(4, 6, 32), HBG_SHAPE(192, 32, 1));
    is_view(hbg_cast_view(whole(), HBG_F64), 0, HBG_SHAPE(4, 6, 4), HBG_SHAPE(192, 32, 8));
    is_view(hbg_cast_view(whole(), HBG_RECORD(16)), 0, HBG_SHAPE(4, 6, 2), HBG_SHAPE(192, 32, 16));
    is_bad(hbg_cast_view(whole(), HBG_RECORD(3)), "hbg_cast_view of 32 bytes to elements of 3");
    is_bad(hbg_cast_view(whole(), HBG_RECORD(4096)), "the dtype 8192, which does not exist");
    is_bad(hbg_cast_view(hbg_permute(whole(), HBG_SHAPE(2, 1, 0)), HBG_U8), "hbg_cast_view of 16 bytes to elements of 1");
    is_bad(hbg_cast_view(hbg_host(data, HBG_F32, scalar), HBG_U8), "hbg_cast_view of 4 bytes to elements of 1");
    is_bad(hbg_cast_view(whole(), (enum hbg_dtype)0), "the dtype 0, which does not exist");
}

static void the_first_reason_stays(void **state)
{
    (void)state;
    struct hbg_region r = hbg_index(whole(), 1, 9);
    r = hbg_slice(hbg_permute(r, HBG_SHAPE(5, 5)), 0, 3, 99);
    r = hbg_cell(hbg_reshape(hbg_broadcast(r, HBG_SHAPE(1)), HBG_SHAPE(-1)), HBG_SHAPE(2), HBG_SHAPE(1));
    char text[128];
    assert_true(r.flags & HBG_REGION_BAD);
    hbg__region_reason(&r, NULL, text, sizeof text);
    assert_string_equal(text, "index 9 of a dimension of 6");
    struct hbg_region slice = hbg_index(hbg_slice(whole(), 0, 2, 5), 0, 0);
    hbg__region_reason(&slice, NULL, text, sizeof text);
    assert_string_equal(text, "a slice or a cell of 3 x 6 x 8 leaves the region that it is taken from");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(host_memory),
        cmocka_unit_test(host_memory_that_cannot_be),
        cmocka_unit_test(index_takes_a_dimension),
        cmocka_unit_test(permute_orders_dimensions),
        cmocka_unit_test(reshape_of_contiguous_regions),
        cmocka_unit_test(broadcast_adds_strides_of_zero),
        cmocka_unit_test(cast_keeps_the_bytes),
        cmocka_unit_test(the_first_reason_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
