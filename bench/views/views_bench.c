/* SPDX-License-Identifier: Apache-2.0 */
/* views_bench.c - what a submit costs whose views fit no grid, as the graph grows: views_bench [PATTERN] [TASKS]
 *
 * For each pattern graphs of 1,000, 10,000, .. up to TASKS tasks (100,000) of one argument each, over a vector of 2^20 floats. The
 * time is that of the thread, by its own clock, regions included; the least of two builds, of one build for the largest. Nothing is
 * executed. Behind it in brackets: edges a task.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <hbg/hbg.h>

enum { ELEMENTS = 1 << 20, SIDE = 1024, PART = 256 };

static uint64_t draws;
static int64_t draw(int64_t below)
{
    draws = draws * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((draws >> 33) % (uint64_t)below);
}

/* ---- patterns: access i, a view of the vector x; *writes says how ---- */

typedef struct hbg_region pattern_fn(struct hbg_region x, int64_t i, int *writes);

static struct hbg_region matrix(struct hbg_region x) { return hbg_reshape(x, HBG_SHAPE(SIDE, SIDE)); }
static struct hbg_region corner(struct hbg_region x, int64_t n) { return hbg_slice(hbg_slice(matrix(x), 0, 0, n), 1, 0, n); }

static struct hbg_region diagonal(struct hbg_region m, int64_t k)
{
    int64_t i = k < 0 ? -k : 0, j = k < 0 ? 0 : k, n = m.shape[0] - i < m.shape[1] - j ? m.shape[0] - i : m.shape[1] - j;
    struct hbg_region d = hbg_index(hbg_slice(hbg_slice(m, 0, i, i + n), 1, j, j + n), 1, 0);
    d.stride_bytes[0] = m.stride_bytes[0] + m.stride_bytes[1];
    return d;
}

static struct hbg_region tile(struct hbg_region m, int64_t n) { return hbg_cell(m, HBG_SHAPE(n, n), HBG_SHAPE(draw(m.shape[0] / n), draw(m.shape[1] / n))); }
static struct hbg_region line(struct hbg_region m, int dim) { int64_t k = draw(m.shape[dim]); return hbg_slice(m, dim, k, k + 1); }

static struct hbg_region diagonals_and_tiles(struct hbg_region x, int64_t i, int *writes)
{
    struct hbg_region m = corner(x, 512);
    *writes = i % 2 || draw(2);
    return i % 2 ? tile(m, 16) : diagonal(m, draw(1000) - 500);
}

static struct hbg_region diagonals(struct hbg_region x, int64_t i, int *writes)
{
    (void)i;
    *writes = (int)draw(2);
    return diagonal(corner(x, PART), draw(500) - 250);
}

static struct hbg_region wide_diagonals(struct hbg_region x, int64_t i, int *writes)
{
    *writes = i < 4096 || draw(2);
    return i < 4096 ? hbg_cell(matrix(x), HBG_SHAPE(16, 16), HBG_SHAPE(i / 64, i % 64)) : diagonal(matrix(x), draw(2000) - 1000);
}

static struct hbg_region rows_and_columns(struct hbg_region x, int64_t i, int *writes)
{
    *writes = 1;
    return line(corner(x, PART), (int)(i % 2));
}

static struct hbg_region columns_and_diagonals(struct hbg_region x, int64_t i, int *writes)
{
    *writes = i % 2;
    return i % 2 ? line(corner(x, PART), 1) : diagonal(corner(x, PART), draw(500) - 250);
}

static struct hbg_region two_reshapes(struct hbg_region x, int64_t i, int *writes)
{
    struct hbg_region part = hbg_slice(x, 0, 0, 720 * 840);
    *writes = i % 2 || draw(2);
    return tile(hbg_reshape(part, i % 2 ? HBG_SHAPE(720, 840) : HBG_SHAPE(1008, 600)), 24);
}

static struct hbg_region boxes_of_rank_5(struct hbg_region x, int64_t i, int *writes)
{
    struct hbg_region m = hbg_reshape(x, HBG_SHAPE(16, 16, 16, 16, 16));
    (void)i;
    *writes = (int)draw(2);
    for (int d = 0; d < 5; d++) {
        int64_t n = 1 + draw(6), lo = draw(17 - n);
        m = hbg_slice(m, d, lo, lo + n);
    }
    return m;
}

static struct hbg_region rectangles(struct hbg_region x, int64_t i, int *writes)
{
    struct hbg_region m = matrix(x);
    (void)i;
    *writes = (int)draw(2);
    for (int d = 0; d < 2; d++) {
        int64_t n = 1 + draw(300), lo = draw(SIDE + 1 - n);
        m = hbg_slice(m, d, lo, lo + n);
    }
    return m;
}

/* keys and values of 8 heads, interleaved: one position of the keys is written, then all so far of keys and of values is read */
static struct hbg_region prefixes(struct hbg_region x, int64_t i, int *writes)
{
    int64_t at = i % 512, head = draw(8), part = i % 3 == 2;
    struct hbg_region cache = hbg_reshape(x, HBG_SHAPE(512, 8, 2, 128));
    *writes = i % 3 == 0;
    return hbg_slice(hbg_slice(hbg_slice(cache, 0, *writes ? at : 0, at + 1), 1, head, head + 1), 2, part, part + 1);
}

static struct hbg_region odd_strides(struct hbg_region x, int64_t i, int *writes)
{
    int64_t stride = 1 + draw(100), n = 1 + draw(100), lo = draw(ELEMENTS - stride * n);
    struct hbg_region r = hbg_slice(x, 0, lo, lo + n);
    (void)i;
    *writes = (int)draw(2);
    r.stride_bytes[0] *= stride;
    return r;
}

static const struct pattern { const char *name; pattern_fn *access; } patterns[] = {
    { "diagonals and tiles", diagonals_and_tiles }, { "diagonals", diagonals }, { "tiles, then wide diagonals", wide_diagonals },
    { "rows and columns", rows_and_columns }, { "columns, reads of diagonals", columns_and_diagonals }, { "tiles of two reshapes", two_reshapes },
    { "boxes of rank 5", boxes_of_rank_5 }, { "rectangles", rectangles }, { "prefixes of a cache", prefixes }, { "odd strides", odd_strides },
};
enum { PATTERNS = sizeof patterns / sizeof patterns[0] };

/* ---- a graph of one pattern ---- */

struct params { pattern_fn *access; int64_t tasks; uint64_t *elapsed_ns; };

static int nothing(const struct hbg_task_view *t) { (void)t; return 0; }
static const struct hbg_kernel kernels[] = { HBG_KERNEL(0, nothing, "in f32"), HBG_KERNEL(1, nothing, "inout f32") };

static uint64_t thread_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    const struct params *p = params;
    struct hbg_region x = hbg_args_region(args, 0);
    uint64_t begin = thread_ns();
    draws = 12345;
    for (int64_t i = 0; i < p->tasks; i++) {
        int writes;
        struct hbg_region view = p->access(x, i, &writes);
        hbg_submit(g, writes, writes ? hbg_inout(view) : hbg_in(view));
    }
    *p->elapsed_ns = thread_ns() - begin;
}

/* The least time of `builds` builds, and the edges; the status of the first call that does not work. */
static enum hbg_status measure(struct hbg_device *device, const struct params *p, int builds, uint64_t *least_ns, uint64_t *edges)
{
    static float data[ELEMENTS];
    struct hbg_program_options o = HBG_OPTIONS(program_options);
    struct hbg_program *program;
    o.build = build;
    o.params = p;
    o.params_size = sizeof *p;
    o.kernels = kernels;
    o.kernel_count = sizeof kernels / sizeof kernels[0];
    enum hbg_status status = hbg_program_create(device, &o, &program);
    *least_ns = UINT64_MAX;
    for (int i = 0; i < builds && !status; i++) {
        struct hbg_result result = HBG_OPTIONS(result);
        struct hbg_run run;
        status = hbg_run_prepare(program, HBG_ARGS(hbg_inout(hbg_host(data, HBG_F32, HBG_SHAPE(ELEMENTS)))), NULL, &run);
        if (status) break;
        status = hbg_run_cancel(run);
        enum hbg_status end = hbg_run_finish(run, &result);
        if (!status && end != HBG_E_CANCELLED) status = end;
        if (*p->elapsed_ns < *least_ns) *least_ns = *p->elapsed_ns;
        *edges = result.edges;
    }
    hbg_program_destroy(program);
    return status;
}

int main(int argc, char **argv)
{
    int only = argc > 1 ? atoi(argv[1]) : -1;
    int64_t most = argc > 2 ? atoll(argv[2]) : 100000;
    struct hbg_device *device = NULL;
    enum hbg_status status = hbg_device_open("null:workers=1", NULL, &device);
    for (int k = 0; k < PATTERNS && !status; k++) {
        if (only >= 0 && k != only) continue;
        printf("%-28s", patterns[k].name);
        for (int64_t tasks = 1000; tasks <= most && !status; tasks *= 10) {
            uint64_t elapsed = 0, least = 0, edges = 0;
            struct params p = { patterns[k].access, tasks, &elapsed };
            status = measure(device, &p, tasks < 100000 ? 2 : 1, &least, &edges);
            printf(" %9.0f ns (%5.1f)", (double)least / (double)tasks, (double)edges / (double)tasks);
            fflush(stdout);
        }
        printf("\n");
    }
    if (status) fprintf(stderr, "views_bench: %s\n", hbg_status_text(status));
    enum hbg_status closed = hbg_device_close(device);
    return status || closed;
}
