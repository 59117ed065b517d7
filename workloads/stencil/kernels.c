/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stencil: one tile of one step.
 */
#include "stencil.h"

#include <string.h>

/* One row of a tile, and what lies around it. */
struct row {
    const float *own, *above, *below;
    float left, right;                  /* beside the first and the last cell */
};

static float moved(float own, float above, float below, float left, float right, float rate)
{
    return own + rate * ((above + below) + (left + right) - 4.0f * own);
}

static void step_row(const struct row *r, int64_t n, float rate, float *to)
{
    const float *own = r->own, *above = r->above, *below = r->below;

    to[0] = moved(own[0], above[0], below[0], r->left, n > 1 ? own[1] : r->right, rate);
    for (int64_t j = 1; j < n - 1; j++)
        to[j] = moved(own[j], above[j], below[j], own[j - 1], own[j + 1], rate);
    if (n > 1)
        to[n - 1] = moved(own[n - 1], above[n - 1], below[n - 1], own[n - 2], r->right, rate);
}

/* in the tile, in the row above, below, the column to the left, to the right, out, rate; an empty neighbour: the rim is here */
static int step(const struct hbg_task_view *t)
{
    enum { OWN, ABOVE, BELOW, LEFT, RIGHT, TO, RATE };
    const float *own = HBG_VIEW(const float, t, OWN), *above = HBG_VIEW(const float, t, ABOVE), *below = HBG_VIEW(const float, t, BELOW);
    const float *left = HBG_VIEW(const float, t, LEFT), *right = HBG_VIEW(const float, t, RIGHT);
    bool top = hbg_view_count(t, ABOVE) == 0, bottom = hbg_view_count(t, BELOW) == 0;
    bool first = hbg_view_count(t, LEFT) == 0, last = hbg_view_count(t, RIGHT) == 0;
    int64_t m = hbg_view_shape(t, TO)[0], n = hbg_view_shape(t, TO)[1], ld = hbg_view_ld(t, OWN);
    float *to = HBG_VIEW(float, t, TO), rate = hbg_view_f32(t, RATE);

    for (int64_t i = 0; i < m; i++, own += ld, to += hbg_view_ld(t, TO)) {
        struct row row = { own, i ? own - ld : above, i < m - 1 ? own + ld : below,
                           first ? 0.0f : left[i * hbg_view_ld(t, LEFT)], last ? 0.0f : right[i * hbg_view_ld(t, RIGHT)] };
        if ((i == 0 && top) || (i == m - 1 && bottom)) {
            memcpy(to, own, (size_t)n * sizeof *to);
            continue;
        }
        step_row(&row, n, rate, to);
        if (first)
            to[0] = own[0];
        if (last)
            to[n - 1] = own[n - 1];
    }
    return 0;
}

/* in, out: the whole plate */
static int copy(const struct hbg_task_view *t)
{
    memcpy(HBG_VIEW(float, t, 1), HBG_VIEW(const float, t, 0), (size_t)hbg_view_count(t, 1) * sizeof(float));
    return 0;
}

const struct hbg_kernel hbg__stencil_kernels[STENCIL_KERNEL_COUNT] = {
    HBG_KERNEL(STENCIL_STEP, step, "in f32, in f32, in f32, in f32, in f32, out f32, f32"),
    HBG_KERNEL(STENCIL_COPY, copy, "in f32, out f32"),
};
