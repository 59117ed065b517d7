/* SPDX-License-Identifier: Apache-2.0 */
/* p04_main.c - paged attention with the build function of p04_paged.c: kernels, a block table, and a plain reference. */
#include <hbg/hbg.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

hbg_build_fn *paged_build(void);

enum { BATCH = 3, HEADS = 2, DIM = 8, BLOCK = 16, PAGES = 12, COLUMNS = 4 };
struct params { int32_t batch, heads, head_dim, block; };
static float q[BATCH][HEADS][DIM], k[PAGES][BLOCK][HEADS][DIM], v[PAGES][BLOCK][HEADS][DIM], out[BATCH][HEADS][DIM];
static int32_t table[BATCH][COLUMNS] = { { 3, 1, 0, 0 }, { 7, 2, 9, 0 }, { 11, 4, 6, 5 } }, length[BATCH] = { 19, 48, 55 };

/* Rows of a page: BLOCK x DIM inside BLOCK x HEADS x DIM. */
static const float *row(const struct hbg_task_view *t, int arg, int64_t i)
{
    return (const float *)(const void *)(HBG_VIEW(const char, t, arg) + i * hbg_view_stride_bytes(t, arg)[0]);
}

static int qk(const struct hbg_task_view *t)
{
    const float *query = HBG_VIEW(const float, t, 0);
    float *scores = HBG_VIEW(float, t, 2);
    for (int64_t i = 0; i < hbg_view_count(t, 2); i++) {
        scores[i] = 0;
        for (int d = 0; d < DIM; d++) scores[i] += query[d] * row(t, 1, i)[d] / sqrtf(DIM);
    }
    return 0;
}

/* Scores become exp(score - largest); {largest, sum} go out. */
static int softmax(const struct hbg_task_view *t)
{
    float *scores = HBG_VIEW(float, t, 0), *largest_sum = HBG_VIEW(float, t, 1), largest = -INFINITY, sum = 0;
    for (int64_t i = 0; i < hbg_view_count(t, 0); i++) largest = fmaxf(largest, scores[i]);
    for (int64_t i = 0; i < hbg_view_count(t, 0); i++) sum += scores[i] = expf(scores[i] - largest);
    largest_sum[0] = largest;
    largest_sum[1] = sum;
    return 0;
}

static int pv(const struct hbg_task_view *t)
{
    float *part = HBG_VIEW(float, t, 2);
    for (int d = 0; d < DIM; d++) {
        part[d] = 0;
        for (int64_t i = 0; i < hbg_view_count(t, 0); i++) part[d] += HBG_VIEW(const float, t, 0)[i] * row(t, 1, i)[d];
    }
    return 0;
}

static int update(const struct hbg_task_view *t)
{
    const float *m = HBG_VIEW(const float, t, 0), *part = HBG_VIEW(const float, t, 1);
    float *ml = HBG_VIEW(float, t, 2), *acc = HBG_VIEW(float, t, 3);
    bool first = hbg_view_bool(t, 4);
    float largest = first ? m[0] : fmaxf(ml[0], m[0]), old = first ? 0 : expf(ml[0] - largest), now = expf(m[0] - largest);
    ml[1] = (first ? 0 : ml[1] * old) + m[1] * now;
    for (int d = 0; d < DIM; d++) acc[d] = (first ? 0 : acc[d] * old) + part[d] * now;
    ml[0] = largest;
    return 0;
}

static int normalise(const struct hbg_task_view *t)
{
    for (int d = 0; d < DIM; d++) HBG_VIEW(float, t, 2)[d] = HBG_VIEW(const float, t, 0)[d] / HBG_VIEW(const float, t, 1)[1];
    return 0;
}

static const struct hbg_kernel kernels[] = {
    HBG_KERNEL(0, qk, "in f32, in f32, out f32"), HBG_KERNEL(1, softmax, "inout f32, out f32"), HBG_KERNEL(2, pv, "in f32, in f32, out f32"),
    HBG_KERNEL(3, update, "in f32, in f32, inout f32, inout f32, bool"), HBG_KERNEL(4, normalise, "in f32, in f32, out f32"),
};

static double largest_error(void)
{
    double worst = 0;
    for (int b = 0; b < BATCH; b++) {
        for (int h = 0; h < HEADS; h++) {
            double sum = 0, expected[DIM] = { 0 };
            for (int i = 0; i < length[b]; i++) {
                const float *ki = k[table[b][i / BLOCK]][i % BLOCK][h], *vi = v[table[b][i / BLOCK]][i % BLOCK][h];
                double score = 0;
                for (int d = 0; d < DIM; d++) score += (double)q[b][h][d] * ki[d] / sqrt((double)DIM);
                sum += exp(score);
                for (int d = 0; d < DIM; d++) expected[d] += exp(score) * vi[d];
            }
            for (int d = 0; d < DIM; d++) worst = fmax(worst, fabs(expected[d] / sum - out[b][h][d]));
        }
    }
    return worst;
}

static void fill(float *x, int count, int seed)
{
    for (int i = 0; i < count; i++) x[i] = (float)((i * 7919 + seed * 104729) % 2003) / 1001.5f - 1;
}

int main(void)
{
    struct params params = { BATCH, HEADS, DIM, BLOCK };
    struct hbg_device *device = NULL;
    struct hbg_program *program = NULL;
    struct hbg_program_options options = HBG_OPTIONS(program_options);
    struct hbg_result result = HBG_OPTIONS(result);
    fill(&q[0][0][0], BATCH * HEADS * DIM, 1);
    fill(&k[0][0][0][0], PAGES * BLOCK * HEADS * DIM, 2);
    fill(&v[0][0][0][0], PAGES * BLOCK * HEADS * DIM, 3);
    options.name = "paged";
    options.build = paged_build();
    options.params = &params;
    options.params_size = sizeof params;
    options.kernels = kernels;
    options.kernel_count = sizeof kernels / sizeof kernels[0];
    options.pure_build = true;
    enum hbg_status s = hbg_device_open("cpu:workers=2,memory=discrete", NULL, &device);
    if (!s) s = hbg_program_create(device, &options, &program);
    int wrong = s != HBG_OK;
#define RUN() hbg_run_sync(program, HBG_ARGS(hbg_in(hbg_host(q, HBG_F32, HBG_SHAPE(BATCH, HEADS, DIM))), hbg_in(hbg_host(k, HBG_F32, HBG_SHAPE(PAGES, BLOCK, HEADS, DIM))), \
        hbg_in(hbg_host(v, HBG_F32, HBG_SHAPE(PAGES, BLOCK, HEADS, DIM))), hbg_in(hbg_host(table, HBG_I32, HBG_SHAPE(BATCH, COLUMNS))),                                    \
        hbg_in(hbg_host(length, HBG_I32, HBG_SHAPE(BATCH))), hbg_out(hbg_host(out, HBG_F32, HBG_SHAPE(BATCH, HEADS, DIM)))), &result)
    for (int i = 0; i < 4 && !wrong; i++) {                 /* built, replayed, built for one more token, replayed */
        if (i == 2) length[0]++;
        s = RUN();
        wrong = s != HBG_OK || largest_error() > 1e-5 || (int)result.replayed != i % 2;
        printf("%s: %d tasks, %s, largest error %.1e\n", hbg_status_text(s), (int)result.tasks, result.replayed ? "replayed" : "built", largest_error());
    }
    length[1] = COLUMNS * BLOCK + 1;
    if (!wrong) s = RUN();
    printf("%s: %s\n", hbg_status_name(s), result.error.text);
    wrong |= s != HBG_E_BUILD || result.error.code != 1;
    hbg_program_destroy(program);
    return hbg_device_close(device) || wrong;
}
