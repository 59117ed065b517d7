/* SPDX-License-Identifier: Apache-2.0 */
/* region_overlap_test.c - pairs of views against oracles that share nothing with the search: byte sets in small storages, index
 * intervals for boxes of one parent, an element loop for long rank-1 views, and pairs planted so that the answer is known.
 */
#include "graph/region_overlap.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "support/raw_view.h"

enum { STORAGE_BYTES = 4096, PAIRS = 20000 };

static const char *const verdict_name[] = { "disjoint", "overlap", "maybe" };

struct tally {
    const char *name;
    int64_t pairs, sharing, apart;          /* apart: disjoint although the hulls meet, the pairs that need a search */
    int64_t maybe, false_overlap;           /* of disjoint pairs: given up; called overlap */
    int64_t maybe_sharing;                  /* given up where there is a shared byte */
};

static void print_tally(const struct tally *t)
{
    int64_t disjoint = t->pairs - t->sharing, false_count = t->false_overlap + t->maybe;
    print_message("%s: %" PRId64 " pairs; %" PRId64 " share a byte, of these given up: %" PRId64 "; %" PRId64 " do not", t->name,
                  t->pairs, t->sharing, t->maybe_sharing, disjoint);
    print_message(", hulls meeting: %" PRId64 ", called overlap: %" PRId64 ", given up: %" PRId64 ", false rate %.4f %%\n",
                  t->apart, t->false_overlap, t->maybe, disjoint ? 100.0 * (double)false_count / (double)disjoint : 0.0);
}

static bool hulls_meet(const struct raw_view *a, const struct raw_view *b)
{
    int64_t a_lo, a_hi, b_lo, b_hi;
    assert_true(hbg__view_bounds(a->offset, a->element, a->rank, a->shape, a->stride, &a_lo, &a_hi));
    assert_true(hbg__view_bounds(b->offset, b->element, b->rank, b->shape, b->stride, &b_lo, &b_hi));
    return a_lo < b_hi && b_lo < a_hi;
}

/* The verdict of one order of the pair; an empty view shares nothing. */
static enum hbg__overlap verdict_of(const struct raw_view *a, const struct raw_view *b)
{
    struct hbg__view va, vb;
    if (!hbg__view_canonical(&va, a->offset, a->element, a->rank, a->shape, a->stride)) return HBG__DISJOINT;
    if (!hbg__view_canonical(&vb, b->offset, b->element, b->rank, b->shape, b->stride)) return HBG__DISJOINT;
    return hbg__view_overlap(&va, &vb);
}

/* Both orders of one pair against the truth. A byte that is shared and missed fails at once, and so does a false verdict
   where the pair has to be exact; the tally gets the rest. */
static void check_pair(struct tally *t, const struct raw_view *a, const struct raw_view *b, bool shared, bool exact)
{
    enum hbg__overlap forth = verdict_of(a, b), back = verdict_of(b, a);
    bool missed = shared && (forth == HBG__DISJOINT || back == HBG__DISJOINT);
    bool inexact = exact && (forth != (shared ? HBG__OVERLAP : HBG__DISJOINT) || back != forth);
    if (missed || inexact)
        fail_msg("%s, pair %" PRId64 ": %s and %s %s a byte; the verdicts are %s and %s", t->name, t->pairs, raw_view_text(a),
                 raw_view_text(b), shared ? "share" : "do not share", verdict_name[forth], verdict_name[back]);
    t->pairs++;
    if (shared) {
        t->sharing++;
        t->maybe_sharing += forth == HBG__MAYBE || back == HBG__MAYBE;
        return;
    }
    t->apart += hulls_meet(a, b);
    t->maybe += forth == HBG__MAYBE || back == HBG__MAYBE;
    t->false_overlap += forth == HBG__OVERLAP || back == HBG__OVERLAP;
}

static bool share_by_bytes(const struct raw_view *a, const struct raw_view *b)
{
    static uint8_t of_a[STORAGE_BYTES], of_b[STORAGE_BYTES];
    memset(of_a, 0, sizeof of_a);
    memset(of_b, 0, sizeof of_b);
    assert_true(raw_view_mark(a, of_a, sizeof of_a));
    assert_true(raw_view_mark(b, of_b, sizeof of_b));
    for (int k = 0; k < STORAGE_BYTES; k++) {
        if (of_a[k] & of_b[k]) return true;
    }
    return false;
}

/* Every second pair is laid so that the hulls meet: of views scattered over the storage few do. */
static void any_pair(void **state)
{
    struct hbg__rng rng;
    struct tally t = { .name = "any views" };
    (void)state;
    hbg__rng_seed(&rng, 11);
    while (t.pairs < PAIRS) {
        struct raw_view a = raw_view_random(&rng, STORAGE_BYTES), b = raw_view_random(&rng, STORAGE_BYTES);
        if (t.pairs % 2 == 1) {
            if (raw_view_extent(&a) == 0 || raw_view_extent(&b) == 0) continue;
            raw_view_place(&a, (STORAGE_BYTES - raw_view_extent(&a)) / 2);
            raw_view_place(&b, hbg__rng_between(&rng, 0, STORAGE_BYTES - raw_view_extent(&b)));
            if (!hulls_meet(&a, &b)) continue;
        }
        check_pair(&t, &a, &b, share_by_bytes(&a, &b), a.rank + b.rank <= 2);
    }
    print_tally(&t);
    assert_true(t.apart > PAIRS / 20 && t.sharing > PAIRS / 10);
    assert_int_equal(t.false_overlap + t.maybe, 0);
}

/* Small elements, large strides with a common factor, hulls that meet: few bytes of many are touched, and few pairs share one. */
static struct raw_view sparse_view(struct hbg__rng *rng, int rank)
{
    struct raw_view view = { .rank = rank, .element = hbg__rng_between(rng, 1, 3) };
    int64_t unit = hbg__rng_between(rng, 1, 12);
    for (int d = 0; d < rank; d++) {
        view.shape[d] = hbg__rng_between(rng, 1, 6);
        view.stride[d] = hbg__rng_between(rng, -140 / unit, 140 / unit) * unit;
    }
    raw_view_place(&view, hbg__rng_between(rng, 0, STORAGE_BYTES - raw_view_extent(&view)));
    return view;
}

static void sparse_pairs(void **state)
{
    struct hbg__rng rng;
    struct tally t = { .name = "sparse views" };
    (void)state;
    hbg__rng_seed(&rng, 12);
    while (t.pairs < PAIRS) {
        int rank = (int)hbg__rng_between(&rng, 1, 5);
        struct raw_view a = sparse_view(&rng, rank), b = sparse_view(&rng, (int)hbg__rng_between(&rng, 1, 6 - rank));
        if (hulls_meet(&a, &b)) check_pair(&t, &a, &b, share_by_bytes(&a, &b), a.rank + b.rank <= 2);
    }
    print_tally(&t);
    assert_true(t.apart > PAIRS / 10 && t.sharing > PAIRS / 10);
    assert_int_equal(t.false_overlap + t.maybe, 0);
}

static void boxes_of_one_parent(void **state)
{
    struct hbg__rng rng;
    struct tally t = { .name = "boxes of one parent" };
    int64_t lo[RAW_VIEW_RANK_MAX], hi[RAW_VIEW_RANK_MAX];
    (void)state;
    hbg__rng_seed(&rng, 13);
    while (t.pairs < PAIRS) {
        int rank = (int)hbg__rng_between(&rng, 1, 5);
        int64_t element = hbg__rng_between(&rng, 0, 1) ? (int64_t)1 << hbg__rng_between(&rng, 0, 3) : hbg__rng_between(&rng, 1, 30);
        struct raw_view parent = raw_view_random_parent(&rng, rank, rank > 3 ? 5 : 9, element, 6);
        if (parent.shape[0] * parent.stride[0] > STORAGE_BYTES) continue;
        struct raw_view a = raw_view_random_box(&rng, &parent, lo, hi), b = raw_view_random_box(&rng, &parent, lo, hi);
        check_pair(&t, &a, &b, share_by_bytes(&a, &b), true);
    }
    print_tally(&t);
    assert_true(t.apart > PAIRS / 10 && t.sharing > PAIRS / 10);
}

/* The same for arrays of up to 2^61 bytes: boxes share a byte when they share an index along every dimension. */
static void boxes_of_a_huge_parent(void **state)
{
    static const int64_t dim_max[] = { 0, (int64_t)1 << 50, 1 << 25, 1 << 16, 1 << 12, 1 << 9 };
    struct hbg__rng rng;
    struct tally t = { .name = "boxes of a huge parent" };
    int64_t a_lo[RAW_VIEW_RANK_MAX], a_hi[RAW_VIEW_RANK_MAX], b_lo[RAW_VIEW_RANK_MAX], b_hi[RAW_VIEW_RANK_MAX];
    (void)state;
    hbg__rng_seed(&rng, 14);
    while (t.pairs < PAIRS) {
        int rank = (int)hbg__rng_between(&rng, 1, 5);
        int64_t most = hbg__rng_between(&rng, 0, 1) ? dim_max[rank] : 9;
        struct raw_view parent = raw_view_random_parent(&rng, rank, most, hbg__rng_between(&rng, 1, 1000), 100);
        struct raw_view a = raw_view_random_box(&rng, &parent, a_lo, a_hi);
        struct raw_view b = raw_view_random_box(&rng, &parent, b_lo, b_hi);
        bool shared = true;
        for (int d = 0; d < rank; d++) {
            int64_t lo = a_lo[d] > b_lo[d] ? a_lo[d] : b_lo[d], hi = a_hi[d] < b_hi[d] ? a_hi[d] : b_hi[d];
            shared = shared && lo < hi;
        }
        check_pair(&t, &a, &b, shared, true);
    }
    print_tally(&t);
    assert_true(t.apart > PAIRS / 10 && t.sharing > PAIRS / 10);
}

/* Split `count` elements into random factors, outermost first. */
static struct raw_view reshaped(struct hbg__rng *rng, int64_t offset, int64_t element, int64_t count)
{
    struct raw_view view = { .offset = offset, .element = element, .rank = (int)hbg__rng_between(rng, 1, 4) };
    int64_t inside = element;
    for (int d = view.rank - 1; d >= 0; d--) {
        int64_t factor = d == 0 ? count : hbg__rng_between(rng, 1, 8);
        while (count % factor) factor--;
        view.shape[d] = factor;
        view.stride[d] = inside;
        count /= factor;
        inside *= factor;
    }
    return view;
}

/* Boxes of two different shapes of the same elements; one of the two may be seen through another element size. */
static void boxes_of_reshaped_parents(void **state)
{
    struct hbg__rng rng;
    struct tally t = { .name = "boxes of reshaped parents" };
    int64_t lo[RAW_VIEW_RANK_MAX], hi[RAW_VIEW_RANK_MAX];
    (void)state;
    hbg__rng_seed(&rng, 15);
    while (t.pairs < PAIRS) {
        int64_t count = hbg__rng_between(&rng, 2, 20) * hbg__rng_between(&rng, 2, 20);
        int64_t split = hbg__rng_between(&rng, 0, 1), offset = hbg__rng_between(&rng, 0, 64);
        struct raw_view first = reshaped(&rng, offset, 8, count);
        struct raw_view second = reshaped(&rng, offset, 8 >> split, count << split);
        struct raw_view a = raw_view_random_box(&rng, &first, lo, hi), b = raw_view_random_box(&rng, &second, lo, hi);
        check_pair(&t, &a, &b, share_by_bytes(&a, &b), a.rank + b.rank <= 2);
    }
    print_tally(&t);
    assert_true(t.apart > PAIRS / 20 && t.sharing > PAIRS / 10);
    assert_int_equal(t.false_overlap + t.maybe, 0);
}

static void odd_records(void **state)
{
    struct hbg__rng rng;
    struct tally t = { .name = "records of odd sizes" };
    (void)state;
    hbg__rng_seed(&rng, 16);
    while (t.pairs < PAIRS) {
        struct raw_view pair[2];
        for (int i = 0; i < 2; i++) {
            int64_t element = hbg__rng_between(&rng, 1, hbg__rng_between(&rng, 1, STORAGE_BYTES - 1));
            int64_t stride = hbg__rng_between(&rng, 1, STORAGE_BYTES), fitting = 1 + (STORAGE_BYTES - element) / stride;
            pair[i] = (struct raw_view){ .element = element, .rank = 1, .stride = { stride },
                                         .shape = { hbg__rng_between(&rng, 1, fitting) } };
            raw_view_place(&pair[i], hbg__rng_between(&rng, 0, STORAGE_BYTES - raw_view_extent(&pair[i])));
        }
        check_pair(&t, &pair[0], &pair[1], share_by_bytes(&pair[0], &pair[1]), true);
    }
    print_tally(&t);
    assert_true(t.apart > PAIRS / 20 && t.sharing > PAIRS / 10);
}

/* Rank 1 with positive strides: walk the elements of a, and look up where in b each of them falls. */
static bool share_by_loop(const struct raw_view *a, const struct raw_view *b)
{
    int64_t at = a->offset;
    for (int64_t i = 0; i < a->shape[0]; i++, at += a->stride[0]) {
        int64_t from_b = at + a->element - 1 - b->offset;       /* the last byte of the element, from the start of b */
        if (from_b < 0) continue;
        int64_t index = from_b / b->stride[0];
        if (index >= b->shape[0]) index = b->shape[0] - 1;
        if (from_b - index * b->stride[0] < a->element + b->element - 1) return true;
    }
    return false;
}

static void long_lines(void **state)
{
    struct hbg__rng rng;
    struct tally t = { .name = "long rank-1 views" };
    (void)state;
    hbg__rng_seed(&rng, 17);
    while (t.pairs < PAIRS) {
        struct raw_view pair[2];
        int bits = (int)hbg__rng_between(&rng, 6, 49);
        for (int i = 0; i < 2; i++) {
            int64_t element = hbg__rng_between(&rng, 1, 8), stride = hbg__rng_between(&rng, element, (int64_t)1 << bits);
            int64_t longest = i == 0 ? 1000 : (int64_t)1 << (61 - bits);
            pair[i] = (struct raw_view){ .element = element, .rank = 1, .stride = { stride },
                                         .shape = { hbg__rng_between(&rng, 1, longest) } };
        }
        pair[0].offset = raw_view_extent(&pair[1]) / 2;
        pair[1].offset = hbg__rng_between(&rng, 0, raw_view_extent(&pair[0]));
        check_pair(&t, &pair[0], &pair[1], share_by_loop(&pair[0], &pair[1]), true);
    }
    print_tally(&t);
    assert_true(t.apart > PAIRS / 10 && t.sharing > PAIRS / 10);
}

/* A long line across a plane of lattice points, the line with the longest stride: only one in thousands of its elements can
   meet the plane, and the search has to pass over the others at once, for they are more than it may visit. */
static void lines_across_a_lattice(void **state)
{
    struct hbg__rng rng;
    struct tally t = { .name = "lines across a lattice" };
    (void)state;
    hbg__rng_seed(&rng, 20);
    while (t.pairs < 200) {
        int64_t unit = hbg__rng_between(&rng, 20000, 60000);
        int64_t stride = unit * 3 + hbg__rng_between(&rng, 1, 99);
        struct raw_view line = { .element = 1, .rank = 1, .shape = { 20000 }, .stride = { stride } };
        struct raw_view plane = { .element = 1, .rank = 2, .shape = { 6, 20000 }, .stride = { unit * 3, unit * 2 } };
        bool shared = false;
        line.offset = hbg__rng_between(&rng, 0, stride);
        for (int64_t row = 0; row < plane.shape[0] && !shared; row++) {
            struct raw_view one = { row * plane.stride[0], 1, 1, { plane.shape[1] }, { plane.stride[1] } };
            shared = share_by_loop(&line, &one);
        }
        check_pair(&t, &line, &plane, shared, true);
    }
    print_tally(&t);
    assert_true(t.apart > 20 && t.sharing > 20);
}

/* A view of any rank in which one element, counted from the offset, is remembered in *met. */
static struct raw_view view_through(struct hbg__rng *rng, int64_t size_max, int64_t stride_max, int64_t *met)
{
    struct raw_view view = { .offset = (int64_t)1 << 60, .element = hbg__rng_between(rng, 1, 8) };
    view.rank = (int)hbg__rng_between(rng, 1, 5);
    *met = hbg__rng_between(rng, 0, view.element - 1);
    for (int d = 0; d < view.rank; d++) {
        view.shape[d] = hbg__rng_between(rng, 1, size_max);
        view.stride[d] = hbg__rng_between(rng, -stride_max, stride_max);
        *met += hbg__rng_between(rng, 0, view.shape[d] - 1) * view.stride[d];
    }
    return view;
}

/* Views laid so that one element of a meets one of b: small ones, whose search ends, and monsters, whose search is given up. */
static void planted_overlaps(void **state)
{
    struct hbg__rng rng;
    struct tally small = { .name = "planted overlaps" }, monsters = { .name = "planted overlaps of monsters" };
    (void)state;
    hbg__rng_seed(&rng, 18);
    for (int i = 0; i < PAIRS / 2; i++) {
        bool monster = i % 20 == 0;
        int64_t size_max = monster ? 1 << 12 : 12, stride_max = monster ? (int64_t)1 << 44 : 1 << 12, of_a, of_b;
        struct raw_view a = view_through(&rng, size_max, stride_max, &of_a);
        struct raw_view b = view_through(&rng, size_max, stride_max, &of_b);
        b.offset += of_a - of_b;
        check_pair(monster ? &monsters : &small, &a, &b, true, a.rank == 1 && b.rank == 1);
    }
    print_tally(&small);
    print_tally(&monsters);
    assert_true(small.maybe_sharing < small.pairs / 20);
    assert_true(monsters.maybe_sharing > monsters.pairs / 20);
}

/* All strides are multiples of one factor and the offsets are not: disjoint, whatever the counts are. */
static void planted_gaps(void **state)
{
    struct hbg__rng rng;
    struct tally t = { .name = "planted gaps" };
    (void)state;
    hbg__rng_seed(&rng, 19);
    while (t.pairs < PAIRS) {
        int64_t factor = hbg__rng_between(&rng, 2, 2000);
        struct raw_view pair[2];
        for (int i = 0; i < 2; i++) {
            pair[i] = (struct raw_view){ .element = hbg__rng_between(&rng, 1, factor / 2) };
            pair[i].rank = (int)hbg__rng_between(&rng, 1, 5);
            for (int d = 0; d < pair[i].rank; d++) {
                pair[i].shape[d] = hbg__rng_between(&rng, 1, 1 << 20);
                pair[i].stride[d] = hbg__rng_between(&rng, 1, 1 << 20) * factor;
            }
        }
        pair[1].offset = hbg__rng_between(&rng, 0, raw_view_extent(&pair[0]) / factor) * factor
                       + hbg__rng_between(&rng, pair[0].element, factor - pair[1].element);
        check_pair(&t, &pair[0], &pair[1], false, pair[0].rank == 1 && pair[1].rank == 1);
    }
    print_tally(&t);
    assert_true(t.apart > PAIRS / 2);
    assert_int_equal(t.false_overlap + t.maybe, 0);
}

static void largest_storage(void **state)
{
    const int64_t top = (int64_t)1 << 62, half = (int64_t)1 << 31;
    const struct { struct raw_view a, b; bool shared; } cases[] = {
        { { 0, 1, 1, { 2 }, { top - 1 } }, { 1, 1, 1, { 2 }, { top - 3 } }, false },            /* the ends; their neighbours */
        { { 0, 1, 1, { 2 }, { top - 1 } }, { top - 1, 1, 1, { 2 }, { 2 - top } }, true },
        { { 0, 1, 1, { half }, { half } }, { half - 1, 1, 1, { half }, { half } }, false },
        { { 0, 1, 1, { half }, { half } }, { 1, 1, 1, { half }, { half - 1 } }, true },         /* they meet at index 1 */
        { { 0, 1, 1, { half }, { half } }, { half + 1, 1, 1, { half - 2 }, { half + 1 } }, false },
        { { 0, 8, 2, { half, 2 }, { half, 16 } }, { 8, 8, 2, { half, 2 }, { half, 16 } }, false },
        { { 0, 8, 2, { half, 2 }, { half, 16 } }, { 9, 8, 2, { half, 2 }, { half, 16 } }, true },
    };
    struct tally t = { .name = "largest storage" };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) check_pair(&t, &cases[i].a, &cases[i].b, cases[i].shared, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_pair),
        cmocka_unit_test(sparse_pairs),
        cmocka_unit_test(boxes_of_one_parent),
        cmocka_unit_test(boxes_of_a_huge_parent),
        cmocka_unit_test(boxes_of_reshaped_parents),
        cmocka_unit_test(odd_records),
        cmocka_unit_test(long_lines),
        cmocka_unit_test(lines_across_a_lattice),
        cmocka_unit_test(planted_overlaps),
        cmocka_unit_test(planted_gaps),
        cmocka_unit_test(largest_storage),
    };
    return cmocka_run_group_tests_name("region_overlap", tests, NULL, NULL);
}
