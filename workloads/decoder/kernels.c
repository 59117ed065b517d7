/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decoder: what the tasks do. Rows of all arguments lie without gaps; how far they are apart is looked up.
 *
 * Sums run in LANES interleaved partial sums, or along a row: both keep their order whatever the compiler makes of them, and
 * vectorise.
 */
#include "decoder.h"

#include <math.h>

enum { LANES = 16 };

static float dot(const float *a, const float *b, int64_t n)
{
    float sum[LANES] = { 0 };
    int64_t i = 0;

    for (; i + LANES <= n; i += LANES)
        for (int l = 0; l < LANES; l++)
            sum[l] += a[i + l] * b[i + l];
    for (int l = 0; i < n; i++, l++)
        sum[l] += a[i] * b[i];
    for (int l = 0; l < 8; l++)
        sum[l] += sum[l + 8];
    for (int l = 0; l < 4; l++)
        sum[l] += sum[l + 4];
    return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

static int64_t rows_of(const struct hbg_task_view *t, int i) { return hbg_view_shape(t, i)[0]; }
static int64_t columns_of(const struct hbg_task_view *t, int i) { return hbg_view_shape(t, i)[1]; }

static const float *row_in(const struct hbg_task_view *t, int i, int64_t row) { return HBG_VIEW(const float, t, i) + row * hbg_view_ld(t, i); }
static float *row_out(const struct hbg_task_view *t, int i, int64_t row) { return HBG_VIEW(float, t, i) + row * hbg_view_ld(t, i); }

/* in x, out y */
static int copy(const struct hbg_task_view *t)
{
    for (int64_t r = 0; r < rows_of(t, 0); r++)
        memcpy(row_out(t, 1, r), row_in(t, 0, r), (size_t)columns_of(t, 0) * sizeof(float));
    return 0;
}

/* in x, in weight [columns], out y, epsilon: y = x / sqrt(mean of x^2 + epsilon) * weight */
static int norm(const struct hbg_task_view *t)
{
    int64_t n = columns_of(t, 0);
    const float *weight = HBG_VIEW(const float, t, 1);

    for (int64_t r = 0; r < rows_of(t, 0); r++) {
        const float *x = row_in(t, 0, r);
        float *y = row_out(t, 2, r), scale = 1.0f / sqrtf(dot(x, x, n) / (float)n + hbg_view_f32(t, 3));
        for (int64_t i = 0; i < n; i++)
            y[i] = x[i] * scale * weight[i];
    }
    return 0;
}

/* in x [batch x n], in w [tile x n], out y [batch x tile] */
static int project(const struct hbg_task_view *t)
{
    for (int64_t r = 0; r < rows_of(t, 0); r++)
        for (int64_t j = 0; j < rows_of(t, 1); j++)
            row_out(t, 2, r)[j] = dot(row_in(t, 0, r), row_in(t, 1, j), columns_of(t, 0));
    return 0;
}

/* inout heads side by side, position, head_dim: elements i and i + head_dim / 2 are turned together */
static int rotate(const struct hbg_task_view *t)
{
    int64_t position = hbg_view_i32(t, 1), dim = hbg_view_i32(t, 2), half = dim / 2;

    for (int64_t i = 0; i < half; i++) {
        double angle = (double)position * pow(DECODER_ROTATION_BASE, -2.0 * (double)i / (double)dim);
        float c = (float)cos(angle), s = (float)sin(angle);
        for (int64_t r = 0; r < rows_of(t, 0); r++) {
            for (int64_t head = 0; head < columns_of(t, 0) / dim; head++) {
                float *x = row_out(t, 0, r) + head * dim + i, low = x[0], high = x[half];
                x[0] = low * c - high * s;
                x[half] = low * s + high * c;
            }
        }
    }
    return 0;
}

/* the page that `column` of a row of the table names: an index, or -1 for one that the cache does not have */
static int64_t page_of(const struct hbg_task_view *t, int table, int cache, int64_t row, int64_t column)
{
    int64_t page;

    if (column < 0 || column >= columns_of(t, table))
        return -1;
    page = HBG_VIEW(const int32_t, t, table)[row * hbg_view_ld(t, table) + column];
    return page < rows_of(t, cache) ? page : -1;
}

/* in keys [batch x dim], in values, in table, inout pages of keys [pages x 1 x page x dim], inout pages of values, position */
static int append(const struct hbg_task_view *t)
{
    int64_t page = hbg_view_shape(t, 3)[2], dim = hbg_view_shape(t, 3)[3], position = hbg_view_i32(t, 5);

    for (int64_t r = 0; r < rows_of(t, 0); r++) {
        int64_t at = page_of(t, 2, 3, r, position < 0 ? -1 : position / page), offset = position % page * dim;
        if (at < 0)
            return hbg_fail(t, DECODER_NO_PAGE, r);
        memcpy(row_out(t, 3, at) + offset, row_in(t, 0, r), (size_t)dim * sizeof(float));
        memcpy(row_out(t, 4, at) + offset, row_in(t, 1, r), (size_t)dim * sizeof(float));
    }
    return 0;
}

/* The first `tokens` of a page join one query head's part: {weighted sum [dim], largest score, sum of weights}. */
static void join(const float *query, const float *keys, const float *values, int64_t tokens, int64_t dim, float *part)
{
    float score[DECODER_PAGE_MOST], scale = 1.0f / sqrtf((float)dim), largest = part[dim], sum = 0.0f, before;

    for (int64_t i = 0; i < tokens; i++) {
        score[i] = scale * dot(query, keys + i * dim, dim);
        largest = fmaxf(largest, score[i]);
    }
    before = expf(part[dim] - largest);
    for (int64_t j = 0; j < dim; j++)
        part[j] *= before;
    for (int64_t i = 0; i < tokens; i++) {
        float weight = expf(score[i] - largest);
        sum += weight;
        for (int64_t j = 0; j < dim; j++)
            part[j] += weight * values[i * dim + j];
    }
    part[dim] = largest;
    part[dim + 1] = part[dim + 1] * before + sum;
}

/* in query [1 x group dim], in the request's row of the table, in pages of keys [pages x 1 x page x dim], in pages of values, out part
   [1 x 1 x group x dim + 2], position, split, splits: the pages that this split's share of the tokens 0 .. position lies in */
static int attend(const struct hbg_task_view *t)
{
    int64_t page = hbg_view_shape(t, 2)[2], dim = hbg_view_shape(t, 2)[3], group = hbg_view_shape(t, 4)[2], tokens = (int64_t)hbg_view_i32(t, 5) + 1;
    int64_t share = workload_cells(workload_cells(tokens, page), hbg_view_i32(t, 7)), first = hbg_view_i32(t, 6) * share;
    float *part = HBG_VIEW(float, t, 4);

    for (int64_t h = 0; h < group; h++) {
        memset(part + h * (dim + 2), 0, (size_t)dim * sizeof(float));
        part[h * (dim + 2) + dim] = -INFINITY;
        part[h * (dim + 2) + dim + 1] = 0.0f;
    }
    for (int64_t n = first; n < first + share && n * page < tokens; n++) {
        int64_t at = page_of(t, 1, 2, 0, n), left = tokens - n * page;
        if (at < 0)
            return hbg_fail(t, DECODER_NO_PAGE, n);
        for (int64_t h = 0; h < group; h++)
            join(HBG_VIEW(const float, t, 0) + h * dim, row_in(t, 2, at), row_in(t, 3, at), left < page ? left : page, dim, part + h * (dim + 2));
    }
    return 0;
}

/* in parts [1 x splits x group x dim + 2], out [1 x group dim]; a split without tokens has the weight 0 */
static int combine(const struct hbg_task_view *t)
{
    int64_t splits = hbg_view_shape(t, 0)[1], group = hbg_view_shape(t, 0)[2], size = hbg_view_shape(t, 0)[3], dim = size - 2;

    for (int64_t h = 0; h < group; h++) {
        const float *part = HBG_VIEW(const float, t, 0) + h * size;
        float *out = HBG_VIEW(float, t, 1) + h * dim, largest = -INFINITY, sum = 0.0f;
        for (int64_t s = 0; s < splits; s++)
            largest = fmaxf(largest, part[s * group * size + dim]);
        memset(out, 0, (size_t)dim * sizeof *out);
        for (int64_t s = 0; s < splits; s++) {
            float weight = expf(part[s * group * size + dim] - largest);
            sum += weight * part[s * group * size + dim + 1];
            for (int64_t j = 0; j < dim; j++)
                out[j] += weight * part[s * group * size + j];
        }
        for (int64_t j = 0; j < dim; j++)
            out[j] /= sum;
    }
    return 0;
}

/* in delta, inout x */
static int add(const struct hbg_task_view *t)
{
    for (int64_t r = 0; r < rows_of(t, 0); r++)
        for (int64_t i = 0; i < columns_of(t, 0); i++)
            row_out(t, 1, r)[i] += row_in(t, 0, r)[i];
    return 0;
}

/* in what is let through, inout gate: gate / (1 + exp(-gate)) times that */
static int silu_mul(const struct hbg_task_view *t)
{
    for (int64_t r = 0; r < rows_of(t, 0); r++) {
        const float *through = row_in(t, 0, r);
        float *gate = row_out(t, 1, r);
        for (int64_t i = 0; i < columns_of(t, 0); i++)
            gate[i] = gate[i] / (1.0f + expf(-gate[i])) * through[i];
    }
    return 0;
}

const struct hbg_kernel hbg__decoder_kernels[DECODER_KERNEL_COUNT] = {
    HBG_KERNEL(DECODER_COPY, copy, "in f32, out f32"),
    HBG_KERNEL(DECODER_NORM, norm, "in f32, in f32, out f32, f32"),
    HBG_KERNEL(DECODER_PROJECT, project, "in f32, in f32, out f32"),
    HBG_KERNEL(DECODER_ROTATE, rotate, "inout f32, i32, i32"),
    HBG_KERNEL(DECODER_APPEND, append, "in f32, in f32, in i32, inout f32, inout f32, i32"),
    HBG_KERNEL(DECODER_ATTEND, attend, "in f32, in i32, in f32, in f32, out f32, i32, i32, i32"),
    HBG_KERNEL(DECODER_COMBINE, combine, "in f32, out f32"),
    HBG_KERNEL(DECODER_ADD, add, "in f32, inout f32"),
    HBG_KERNEL(DECODER_SILU_MUL, silu_mul, "in f32, inout f32"),
};
