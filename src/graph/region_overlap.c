/* SPDX-License-Identifier: Apache-2.0 */
/* region_overlap.c - the search for a byte that two views share.
 *
 * The question is turned into a simpler one. Let A be the bytes of a counted from its lowest, and B those of b counted down
 * from its highest. Both consist of a run and of dimensions with positive strides, and so does the set of all sums x + y
 * with x in A and y in B: its run is a.run + b.run - 1 and its dimensions are those of a and of b together. The views
 * share a byte exactly when the sum set has the point  b.end - 1 - a.lo.  So one question about two views becomes "is this
 * point in that view?", and everything that makes a view simpler makes the question simpler: equal strides of a and b
 * become one dimension, and strides within the run go.
 *
 * Is a point in a set of `run` and dimensions 0 .. r-1 (strides ascending)? reach[d] is the number of bytes from the first to
 * the last of run and dimensions 0 .. d-1. An index x of the outermost dimension is a candidate if the rest of the way,
 * point - x * stride[r-1], lies in [0, reach[r-1]). Candidates are neighbours: one division gives the first, one the last.
 *   r = 0   the hull decides.
 *   r = 1   a candidate is a hit.
 *   r = 2   a candidate is a hit when its rest modulo stride[0] is less than the run: the quotient is a legal index because
 *           the rest is less than reach[1]. The first such candidate is found as a greatest common divisor is, by Euclid's
 *           steps.
 *   r > 2   the candidates are tried in turn, but only those whose rest modulo the greatest common divisor of the inner
 *           strides is less than the run; no other rest can be reached.
 *
 * Exact at any size: views whose ranks add up to 2 or less, as the sum set then has two dimensions at most.
 * Exact and cheap: boxes of one parent grid (slices, cells, permutations, reversals and single indices of one view whose
 * strides are each at least as long as what lies inside). Every stride of both boxes is a stride of the parent. Where both
 * boxes stay, inside a stride s, within s bytes, reach is less than 2 * s, so that there are two candidates at most; where
 * a box runs over s, because its inner dimensions are whole and continue each other, s is a multiple that its count covers
 * and is merged into it. Five dimensions thus cost 2 + 4 + 8 nodes at most.
 * Elsewhere the search counts its nodes and gives up with HBG__MAYBE: the general question is as hard as subset sum.
 *
 * Sources: reach and divisor tests are the bounds test and the GCD test of dependence analysis (U. Banerjee, Dependence
 * Analysis for Supercomputing, 1988). Branching on one variable and pruning by the divisor of the others: P. Ramachandran,
 * Use of Extended Euclidean Algorithm in Solving a System of Linear Diophantine Equations with Bounded Variables, LNCS 4076,
 * 2006. The number of steps of Euclid's algorithm: D. Knuth, The Art of Computer Programming 2, section 4.5.3.
 */
#include "graph/region_overlap.h"

enum { SUM_RANK_MAX = 2 * HBG__VIEW_RANK_MAX, NODE_BUDGET = 4096 };

struct sum_set {
    int64_t run;
    int rank, nodes_left;
    int64_t count[SUM_RANK_MAX], stride[SUM_RANK_MAX];      /* strides ascending, each longer than the run */
    int64_t reach[SUM_RANK_MAX + 1];
    int64_t divisor[SUM_RANK_MAX];      /* [d]: divides strides 0 .. d-1; 1 where looking for it would not pay */
};

static int64_t greatest_divisor(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The smallest z > 0 with z * step modulo modulus in [low, high], where 0 <= step < modulus and 0 < low <= high < modulus.
   INT64_MAX when there is none, or when z * step is more than 2^62 (callers have no use for it then).
   When no multiple of step lies in [low, high] itself, it must lie in [low, high] + y * modulus, which is a multiple of step when
   -y * modulus modulo step, so y * (modulus % step), is in the mirrored window: the same question one Euclidean step
   further, at most 90 deep. A product can overflow only on the way to a z of the second kind. */
static int64_t first_multiple(int64_t step, int64_t modulus, int64_t low, int64_t high)
{
    if (step == 0) return INT64_MAX;
    int64_t z = (low - 1) / step + 1;
    if (z <= high / step) return z;
    int64_t y = first_multiple(modulus % step, step, step - high % step, step - low % step), wrapped;
    if (y == INT64_MAX || __builtin_mul_overflow(y, modulus, &wrapped)) return INT64_MAX;
    if (__builtin_add_overflow(wrapped, low, &wrapped)) return INT64_MAX;
    return (wrapped - 1) / step + 1;
}

/* The smallest z in [0, limit] with (rest + z * step) modulo modulus < run; more than limit when there is none.
   rest + limit * step is less than 2^62. */
static int64_t first_near_multiple(int64_t rest, int64_t step, int64_t modulus, int64_t run, int64_t limit)
{
    if (modulus <= run) return 0;
    int64_t over = rest % modulus;
    if (over < run) return 0;
    if (limit == 0) return 1;
    return first_multiple(step % modulus, modulus, modulus - over, modulus - over + run - 1);
}

/* Is the point, which lies in [0, reach[rank]), in the set of the run and the inner `rank` dimensions? rank >= 1 */
static enum hbg__overlap find_point(struct sum_set *set, int rank, int64_t point)
{
    int outer = rank - 1;
    int64_t stride = set->stride[outer], reach = set->reach[outer];
    HBG_DEBUG_ASSERT(point >= 0 && point < set->reach[rank]);
    int64_t first = point < reach ? 0 : (point - reach) / stride + 1, x = point / stride;
    if (x >= set->count[outer]) x = set->count[outer] - 1;
    if (rank == 1) return x >= first ? HBG__OVERLAP : HBG__DISJOINT;
    for (; x >= first; x--) {
        int64_t skip = first_near_multiple(point - x * stride, stride, set->divisor[outer], set->run, x - first);
        if (skip > x - first) break;
        if (rank == 2) return HBG__OVERLAP;
        if (set->nodes_left-- == 0) return HBG__MAYBE;
        x -= skip;
        enum hbg__overlap found = find_point(set, outer, point - x * stride);
        if (found != HBG__DISJOINT) return found;
    }
    return HBG__DISJOINT;
}

static void add_dimension(struct sum_set *set, const struct hbg__view *view, int d)
{
    set->rank = hbg__view_add_dimension(&set->run, set->rank, set->count, set->stride, view->count[d], view->stride[d]);
}

static void add_both(struct sum_set *set, const struct hbg__view *a, const struct hbg__view *b)
{
    int i = a->rank - 1, j = b->rank - 1;
    while (i >= 0 || j >= 0) {
        if (j < 0 || (i >= 0 && a->stride[i] <= b->stride[j])) add_dimension(set, a, i--);
        else add_dimension(set, b, j--);
    }
}

/* Fill reach and divisor. A divisor of more than one stride is worth its price only if there can be many candidates. */
static void measure(struct sum_set *set)
{
    bool wide = false;
    set->reach[0] = set->run;
    for (int d = 0; d < set->rank; d++) {
        set->reach[d + 1] = set->reach[d] + (set->count[d] - 1) * set->stride[d];
        wide |= d >= 2 && set->reach[d] - set->stride[d] > set->stride[d];
    }
    set->divisor[1] = set->stride[0];
    for (int d = 2; d < set->rank; d++) set->divisor[d] = wide ? greatest_divisor(set->stride[d - 1], set->divisor[d - 1]) : 1;
}

enum hbg__overlap hbg__view_overlap(const struct hbg__view *a, const struct hbg__view *b)
{
    int64_t a_end = hbg__view_end(a), b_end = hbg__view_end(b);
    if (a_end <= b->lo || b_end <= a->lo) return HBG__DISJOINT;
    if (a->rank == 0 && b->rank == 0) return HBG__OVERLAP;
    struct sum_set set;
    set.run = a->run + b->run - 1;
    set.rank = 0;
    set.nodes_left = NODE_BUDGET;
    add_both(&set, a, b);
    if (set.rank == 0) return HBG__OVERLAP;
    measure(&set);
    return find_point(&set, set.rank, b_end - 1 - a->lo);
}
