/* SPDX-License-Identifier: Apache-2.0 */
/* canonical_view_test.c - a canonical view touches the bytes of the view it was made from, and is as simple as it can be. */
#include "graph/canonical_view.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "support/raw_view.h"

enum { STORAGE_BYTES = 4096 };

static bool canonical_of(struct hbg__view *view, const struct raw_view *raw)
{
    return hbg__view_canonical(view, raw->offset, raw->element, raw->rank, raw->shape, raw->stride);
}

/* The canonical view in the raw form: its run becomes the element. */
static struct raw_view raw_of(const struct hbg__view *view)
{
    struct raw_view raw = { .offset = view->lo, .element = view->run, .rank = view->rank };
    for (int d = 0; d < view->rank; d++) {
        raw.shape[d] = view->count[d];
        raw.stride[d] = view->stride[d];
    }
    return raw;
}

static void check_invariants(const struct hbg__view *view, const struct raw_view *raw)
{
    bool good = view->run >= 1 && view->rank >= 0 && view->rank <= raw->rank;
    for (int d = 0; d < view->rank; d++) {
        int64_t inner = d + 1 < view->rank ? view->stride[d + 1] : view->run + 1;
        good = good && view->count[d] >= 2 && view->stride[d] >= inner;
    }
    if (!good) fail_msg("not canonical: %s", raw_view_text(raw));
}

/* Compare everything that is known about one view with its bytes by enumeration. Returns whether it is not empty. */
static bool check_by_bytes(const struct raw_view *raw)
{
    static uint8_t expected[STORAGE_BYTES], got[STORAGE_BYTES];
    struct hbg__view view;
    int64_t number = 0, first = -1, last = -1, lo, hi, bytes;
    memset(expected, 0, sizeof expected);
    memset(got, 0, sizeof got);
    assert_true(raw_view_mark(raw, expected, sizeof expected));
    for (int64_t k = 0; k < STORAGE_BYTES; k++) {
        if (!expected[k]) continue;
        if (first < 0) first = k;
        last = k;
        number++;
    }
    assert_true(hbg__view_bounds(raw->offset, raw->element, raw->rank, raw->shape, raw->stride, &lo, &hi));
    if (canonical_of(&view, raw) != (number > 0)) fail_msg("empty or not: %s", raw_view_text(raw));
    if (number == 0) {
        assert_true(lo == raw->offset && hi == raw->offset);
        return false;
    }
    check_invariants(&view, raw);
    struct raw_view back = raw_of(&view);
    if (!raw_view_mark(&back, got, sizeof got) || memcmp(expected, got, sizeof got))
        fail_msg("%s became %s", raw_view_text(raw), raw_view_text(&back));
    assert_true(lo == first && hi == last + 1 && view.lo == first && hbg__view_end(&view) == last + 1);
    if ((view.rank == 0) != (last + 1 - first == number)) fail_msg("contiguous and rank 0 differ: %s", raw_view_text(raw));
    assert_true(hbg__view_covers(&view, first, last + 1) == (last + 1 - first == number));
    assert_false(hbg__view_covers(&view, first + 1, last + 1) || hbg__view_covers(&view, first, last));
    assert_false(hbg__view_covers(&view, first - 1, last) || hbg__view_covers(&view, first + 1, last + 2));
    if (hbg__view_bytes(&view, &bytes) && bytes != number)
        fail_msg("%" PRId64 " of %" PRId64 " bytes: %s", bytes, number, raw_view_text(raw));
    return true;
}

static void any_view_keeps_its_bytes(void **state)
{
    struct hbg__rng rng;
    int64_t touching = 0;
    (void)state;
    hbg__rng_seed(&rng, 1);
    for (int i = 0; i < 20000; i++) {
        struct raw_view raw = raw_view_random(&rng, STORAGE_BYTES);
        touching += check_by_bytes(&raw);
    }
    assert_true(touching > 10000);
}

/* Strides that are small multiples of the element continue each other, fall together and overlap much more often. */
static void related_strides_keep_their_bytes(void **state)
{
    struct hbg__rng rng;
    (void)state;
    hbg__rng_seed(&rng, 2);
    for (int i = 0; i < 20000; i++) {
        struct raw_view raw = { .rank = (int)hbg__rng_between(&rng, 1, 5), .element = hbg__rng_between(&rng, 1, 9) };
        for (int d = 0; d < raw.rank; d++) {
            raw.shape[d] = hbg__rng_between(&rng, 1, 5);
            raw.stride[d] = hbg__rng_between(&rng, -16, 16) * raw.element;
        }
        raw_view_place(&raw, hbg__rng_between(&rng, 0, STORAGE_BYTES - raw_view_extent(&raw)));
        check_by_bytes(&raw);
    }
}

static void boxes_have_a_known_number_of_bytes(void **state)
{
    struct hbg__rng rng;
    int64_t lo[RAW_VIEW_RANK_MAX], hi[RAW_VIEW_RANK_MAX], bytes;
    (void)state;
    hbg__rng_seed(&rng, 3);
    for (int i = 0; i < 20000;) {
        int rank = (int)hbg__rng_between(&rng, 0, 5);
        struct raw_view parent = raw_view_random_parent(&rng, rank, 6, hbg__rng_between(&rng, 1, 40), 9);
        if (parent.rank > 0 && parent.shape[0] * parent.stride[0] > STORAGE_BYTES) continue;
        struct raw_view box = raw_view_random_box(&rng, &parent, lo, hi);
        struct hbg__view view;
        i++;
        if (!check_by_bytes(&box)) continue;
        assert_true(canonical_of(&view, &box));
        if (!hbg__view_bytes(&view, &bytes)) fail_msg("interleaved: %s", raw_view_text(&box));
    }
}

static void odd_records_keep_their_bytes(void **state)
{
    struct hbg__rng rng;
    (void)state;
    hbg__rng_seed(&rng, 4);
    for (int64_t element = 1; element <= STORAGE_BYTES; element++) {
        int64_t number = hbg__rng_between(&rng, 1, STORAGE_BYTES / element);
        struct raw_view raw = { .rank = 1, .element = element, .shape = { number }, .stride = { element } };
        struct hbg__view view;
        raw_view_place(&raw, hbg__rng_between(&rng, 0, STORAGE_BYTES - raw_view_extent(&raw)));
        assert_true(check_by_bytes(&raw));
        assert_true(canonical_of(&view, &raw) && view.rank == 0 && view.run == number * element);
    }
}

static void forms_that_simplify(void **state)
{
    static const struct { struct raw_view raw; struct hbg__view view; } cases[] = {
        { { 40, 8, 0, { 0 }, { 0 } }, { 40, 8, 0, { 0 }, { 0 } } },
        { { 0, 4, 3, { 5, 6, 7 }, { 168, 28, 4 } }, { 0, 840, 0, { 0 }, { 0 } } },                      /* contiguous */
        { { 0, 4, 3, { 7, 5, 6 }, { 4, 168, 28 } }, { 0, 840, 0, { 0 }, { 0 } } },                      /* and permuted */
        { { 836, 4, 3, { 5, 6, 7 }, { -168, -28, -4 } }, { 0, 840, 0, { 0 }, { 0 } } },                 /* and reversed */
        { { 8, 4, 2, { 9, 3 }, { 64, 4 } }, { 8, 12, 1, { 9 }, { 64 } } },                              /* columns */
        { { 8, 4, 3, { 5, 9, 3 }, { 576, 64, 4 } }, { 8, 12, 1, { 45 }, { 64 } } },                     /* going on */
        { { 8, 4, 4, { 3, 1, 100, 2 }, { 0, 77, 0, 64 } }, { 8, 4, 1, { 2 }, { 64 } } },                /* broadcast */
        { { 0, 4, 2, { 10, 5 }, { 4, 4 } }, { 0, 56, 0, { 0 }, { 0 } } },                               /* sliding windows */
        { { 0, 1, 2, { 10, 5 }, { 32, 32 } }, { 0, 1, 1, { 14 }, { 32 } } },                            /* the same with gaps */
        { { 0, 1, 2, { 4, 5 }, { 96, 32 } }, { 0, 1, 1, { 14 }, { 32 } } },                             /* overlapping by two */
        { { 0, 4, 2, { 6, 8 }, { 5, 29 } }, { 0, 4, 2, { 8, 6 }, { 29, 5 } } },                         /* nothing to gain */
        { { 0, 8, 3, { 2, 3, 4 }, { 6, 200, 100 } }, { 0, 14, 1, { 8 }, { 100 } } },                    /* elements overlap */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct hbg__view *expected = &cases[i].view;
        struct hbg__view view;
        if (!canonical_of(&view, &cases[i].raw)) fail_msg("case %zu is empty", i);
        bool same = view.lo == expected->lo && view.run == expected->run && view.rank == expected->rank;
        for (int d = 0; same && d < view.rank; d++) {
            same = view.count[d] == expected->count[d] && view.stride[d] == expected->stride[d];
        }
        struct raw_view back = raw_of(&view);
        if (!same) fail_msg("case %zu became %s", i, raw_view_text(&back));
    }
}

static void interleaved_dimensions_have_no_number(void **state)
{
    struct raw_view interleaved = { 0, 2, 2, { 4, 4 }, { 5, 7 } }, close = { 0, 2, 2, { 2, 2 }, { 5, 3 } };
    struct hbg__view view;
    int64_t bytes = -7;
    (void)state;
    assert_true(canonical_of(&view, &interleaved));
    assert_int_equal(view.rank, 2);
    assert_false(hbg__view_bytes(&view, &bytes));
    assert_int_equal(bytes, -7);
    assert_true(canonical_of(&view, &close));
    assert_true(hbg__view_bytes(&view, &bytes));            /* the second run of runs begins where the first ends */
    assert_int_equal(bytes, 8);
}

static void elements_without_bytes_touch_nothing(void **state)
{
    struct raw_view raw = { 16, 0, 1, { 4 }, { 8 } };
    struct hbg__view view;
    (void)state;
    assert_false(canonical_of(&view, &raw));
}

static void bounds_refuse_what_cannot_be_numbered(void **state)
{
    static const struct { struct raw_view raw; bool good; int64_t lo, hi; } cases[] = {
        { { 0, 8, 1, { -1 }, { 8 } }, false, 0, 0 },
        { { 0, 8, 2, { 0, -1 }, { 8, 8 } }, false, 0, 0 },                              /* negative, though empty */
        { { 0, -8, 0, { 0 }, { 0 } }, false, 0, 0 },
        { { 0, 8, 1, { INT64_MAX }, { 8 } }, false, 0, 0 },
        { { 0, 8, 1, { INT64_MAX }, { 1 } }, false, 0, 0 },                             /* the element leaves 64 bits */
        { { 0, 8, 2, { 2, 2 }, { INT64_MAX, INT64_MAX } }, false, 0, 0 },
        { { 0, 8, 2, { 2, 2 }, { INT64_MIN, -1 } }, false, 0, 0 },
        { { -1, 8, 1, { 2 }, { INT64_MIN } }, false, 0, 0 },
        { { 0, 8, 1, { 3 }, { INT64_MIN } }, false, 0, 0 },
        { { INT64_MAX, 1, 0, { 0 }, { 0 } }, false, 0, 0 },
        { { INT64_MAX - 1, 1, 0, { 0 }, { 0 } }, true, INT64_MAX - 1, INT64_MAX },
        { { 5, 8, 1, { 2 }, { INT64_MIN } }, true, INT64_MIN + 5, 13 },
        { { 5, 8, 1, { 1 }, { INT64_MIN } }, true, 5, 13 },                             /* a stride that is never walked */
        { { 5, 8, 2, { 0, INT64_MAX }, { 8, 8 } }, true, 5, 5 },                        /* empty */
        { { 5, 0, 1, { 7 }, { 8 } }, true, 5, 5 },
        { { 100, 4, 3, { 3, 4, 2 }, { -20, 7, 0 } }, true, 60, 125 },
        { { 0, 1, 1, { ((int64_t)1 << 62) }, { 1 } }, true, 0, (int64_t)1 << 62 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct raw_view *raw = &cases[i].raw;
        int64_t lo = -7, hi = -9;
        bool good = hbg__view_bounds(raw->offset, raw->element, raw->rank, raw->shape, raw->stride, &lo, &hi);
        if (good != cases[i].good) fail_msg("case %zu: %d", i, good);
        if (good && (lo != cases[i].lo || hi != cases[i].hi)) fail_msg("case %zu: [%" PRId64 ", %" PRId64 ")", i, lo, hi);
        if (!good && (lo != -7 || hi != -9)) fail_msg("case %zu: outputs were set", i);
    }
}

static void large_storage(void **state)
{
    const int64_t top = (int64_t)1 << 62, third = top / 3;
    struct raw_view spread = { top - 8, 8, 2, { 4, 2 }, { -third + 8, -1024 } };
    struct raw_view dense = { 0, 1, 2, { top >> 20, (int64_t)1 << 20 }, { (int64_t)1 << 20, 1 } };
    struct hbg__view view;
    (void)state;
    assert_true(canonical_of(&view, &spread));
    assert_true(view.rank == 2 && view.stride[0] == third - 8 && view.stride[1] == 1024 && view.run == 8);
    assert_true(view.lo == top - 8 - 3 * (third - 8) - 1024 && hbg__view_end(&view) == top);
    assert_true(canonical_of(&view, &dense));
    assert_true(hbg__view_covers(&view, 0, top));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_view_keeps_its_bytes),
        cmocka_unit_test(related_strides_keep_their_bytes),
        cmocka_unit_test(boxes_have_a_known_number_of_bytes),
        cmocka_unit_test(odd_records_keep_their_bytes),
        cmocka_unit_test(forms_that_simplify),
        cmocka_unit_test(interleaved_dimensions_have_no_number),
        cmocka_unit_test(elements_without_bytes_touch_nothing),
        cmocka_unit_test(bounds_refuse_what_cannot_be_numbered),
        cmocka_unit_test(large_storage),
    };
    return cmocka_run_group_tests_name("canonical_view", tests, NULL, NULL);
}
