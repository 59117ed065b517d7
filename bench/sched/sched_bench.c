/* SPDX-License-Identifier: Apache-2.0 */
/* sched_bench.c - nanoseconds a task of the scheduler alone: hand-made images, empty kernels, no graph builder.
 *
 *     sched_bench [--reps N] [--only GRAPH] [--workers LIST] [--spin NS]
 *
 * Each repetition runs every combination of graph, workers and mode once, so that drift of the machine meets all alike; medians
 * are printed, with the core-to-core round trip before and after. Not installed: it looks inside the library.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "platform/cpu/workers.h"
#include "support/image_builder.h"

enum { REPS_MAX = 101, CELLS_MAX = 96, TASKS = 100000, SIDE = 316, TILES = 64, LEAVES = 1 << 16 };

static int kernel_empty(const struct hbg_task_view *t)
{
    (void)t;
    return 0;
}

static const struct hbg_kernel kernel[] = { HBG_KERNEL(0, kernel_empty, NULL) };

/* ---- graphs ---- */

static void chain(struct image_builder *b)
{
    for (uint32_t i = 0; i < TASKS; ++i) image_builder_task(b, 0, (uint32_t[]){ i - 1 }, i > 0, 0);
}

static void independent(struct image_builder *b)
{
    for (uint32_t i = 0; i < TASKS; ++i) image_builder_task(b, 0, NULL, 0, 0);
}

static void wavefront(struct image_builder *b)
{
    for (uint32_t row = 0; row < SIDE; ++row)
        for (uint32_t column = 0; column < SIDE; ++column) {
            uint32_t id = row * SIDE + column, producer[2], count = 0;
            if (row) producer[count++] = id - SIDE;
            if (column) producer[count++] = id - 1;
            image_builder_task(b, 0, producer, count, 0);
        }
}

/* A task that writes `target` after its last writer, and reads two more tiles. -1: no writer yet. */
static void tile_task(struct image_builder *b, int64_t *target, int64_t read_a, int64_t read_b)
{
    uint32_t producer[3], count = 0;
    if (*target >= 0) producer[count++] = (uint32_t)*target;
    if (read_a >= 0) producer[count++] = (uint32_t)read_a;
    if (read_b >= 0) producer[count++] = (uint32_t)read_b;
    *target = image_builder_task(b, 0, producer, count, 0);
}

static void cholesky(struct image_builder *b)
{
    static int64_t tile[TILES][TILES];
    memset(tile, -1, sizeof tile);
    for (uint32_t k = 0; k < TILES; ++k) {
        tile_task(b, &tile[k][k], -1, -1);
        for (uint32_t i = k + 1; i < TILES; ++i) tile_task(b, &tile[i][k], tile[k][k], -1);
        for (uint32_t i = k + 1; i < TILES; ++i) {
            for (uint32_t j = k + 1; j < i; ++j) tile_task(b, &tile[i][j], tile[i][k], tile[j][k]);
            tile_task(b, &tile[i][i], tile[i][k], -1);
        }
    }
}

static void tree(struct image_builder *b)
{
    uint32_t first = 0, width = LEAVES;
    for (uint32_t i = 0; i < LEAVES; ++i) image_builder_task(b, 0, NULL, 0, 0);
    for (; width > 1; first += width, width /= 2)
        for (uint32_t i = 0; i < width; i += 2) image_builder_task(b, 0, (uint32_t[]){ first + i, first + i + 1 }, 2, 0);
}

static void random_four(struct image_builder *b)
{
    uint64_t state = 12345;
    for (uint32_t i = 0; i < TASKS; ++i) {
        uint32_t producer[4], count = i ? 4 : 0;
        for (uint32_t p = 0; p < count; ++p) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            producer[p] = (uint32_t)((state >> 33) % i);
        }
        image_builder_task(b, 0, producer, count, 0);
    }
}

enum { BODY = 10 };

/* Ten tasks, one that all others wait for and one that waits for all; returns that one. */
static uint32_t ten(struct image_builder *b, const uint32_t *before)
{
    uint32_t middle[BODY - 2], first = image_builder_task(b, 0, before, before != NULL, 0);
    for (uint32_t i = 0; i < BODY - 2; ++i) middle[i] = image_builder_task(b, 0, &first, 1, 0);
    return image_builder_task(b, 0, middle, BODY - 2, 0);
}

/* The same side by side and one after the other; and each ten of them as a submission. */
static void tens(struct image_builder *b)
{
    for (uint32_t i = 0; i < TASKS / BODY; ++i) ten(b, NULL);
}

static void chained_tens(struct image_builder *b)
{
    uint32_t before = 0;
    for (uint32_t i = 0; i < TASKS / BODY; ++i) before = ten(b, i ? &before : NULL);
}

static void submit_bodies(struct image_builder *b, bool one_after_the_other)
{
    struct image_builder *body = image_builder_create();
    uint32_t before = 0;
    ten(body, NULL);
    for (uint32_t i = 0; i < TASKS / BODY; ++i) before = image_builder_submit(b, body, &before, one_after_the_other && i > 0);
    image_builder_destroy(body);
}

static void bodies(struct image_builder *b) { submit_bodies(b, false); }
static void layers(struct image_builder *b) { submit_bodies(b, true); }

/* One submission of as many tasks as the others have, all of them roots. */
static void wide_body(struct image_builder *b)
{
    struct image_builder *body = image_builder_create();
    independent(body);
    image_builder_submit(b, body, NULL, 0);
    image_builder_destroy(body);
}

static const struct graph { const char *name; void (*build)(struct image_builder *b); } graph[] = {
    { "chain", chain }, { "independent", independent }, { "wavefront", wavefront },
    { "cholesky", cholesky }, { "tree", tree }, { "random", random_four },
    { "tens", tens }, { "bodies", bodies }, { "chain tens", chained_tens }, { "layers", layers }, { "wide body", wide_body }
};
enum { GRAPHS = sizeof graph / sizeof graph[0] };

/* ---- core-to-core round trip ---- */

static struct hbg__atomic_u32 ball;
enum { THROWS = 20000 };

static void *partner(void *argument)
{
    (void)argument;
    for (uint32_t i = 1; i < 2 * THROWS; i += 2) {
        while (hbg__load_acquire32(&ball) != i) hbg__pause();
        hbg__store_release32(&ball, i + 1);
    }
    return NULL;
}

static double round_trip_ns(bool skip)
{
    pthread_t thread;
    if (skip) return 0;
    hbg__store_relaxed32(&ball, 0);
    if (pthread_create(&thread, NULL, partner, NULL) != 0) return 0;
    uint64_t start = hbg__clock_ns();
    for (uint32_t i = 0; i < 2 * THROWS; i += 2) {
        hbg__store_release32(&ball, i + 1);
        while (hbg__load_acquire32(&ball) != i + 2) hbg__pause();
    }
    double trip = (double)(hbg__clock_ns() - start) / THROWS;
    pthread_join(thread, NULL);
    return trip;
}

/* ---- measuring ---- */

struct cell {
    const struct graph *graph;
    uint32_t workers, mode;
    struct hbg__workers *pool;
    struct test_launch *launch;
    double ns[REPS_MAX];
};

static int ascending(const void *left, const void *right)
{
    double l = *(const double *)left, r = *(const double *)right;
    return (l > r) - (l < r);
}

static double run_once(struct cell *cell)
{
    struct hbg__launch_result result;
    ++cell->launch->launch.epoch;
    cell->launch->launch.mode = cell->mode;
    hbg__workers_launch(cell->pool, &cell->launch->launch);
    hbg__workers_wait(cell->pool, UINT64_MAX);
    hbg__workers_result(cell->pool, &result);
    const struct hbg__launch *run = &cell->launch->launch;
    if (result.status != HBG_OK || result.executed != run->slot_count - run->activation_count) {
        fprintf(stderr, "%s: status %d, %llu tasks ran\n", cell->graph->name, (int)result.status, (unsigned long long)result.executed);
        exit(1);
    }
    return (double)(result.ended_ns - result.started_ns) / (double)result.executed;
}

int main(int argc, char **argv)
{
    static struct cell cell[CELLS_MAX];
    static struct test_launch launch[GRAPHS];
    static const char *mode_name[] = { "", "wake", "claim", "order" };
    struct hbg__workers *pool[65] = { NULL };
    struct hbg__memory memory;
    uint32_t cells = 0, reps = 21;
    uint64_t spin_ns = 12000;
    const char *only = NULL, *worker_list = "1,2";
    for (int i = 1; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "--reps")) reps = (uint32_t)atoi(argv[i + 1]);
        if (!strcmp(argv[i], "--only")) only = argv[i + 1];
        if (!strcmp(argv[i], "--workers")) worker_list = argv[i + 1];
        if (!strcmp(argv[i], "--spin")) spin_ns = (uint64_t)atoi(argv[i + 1]);
    }
    if (reps < 1 || reps > REPS_MAX || !hbg__memory_init(&memory, NULL)) return 2;
    for (uint32_t g = 0; g < GRAPHS; ++g) {
        if (only && !strstr(only, graph[g].name)) continue;
        struct image_builder *builder = image_builder_create();
        graph[g].build(builder);
        struct test_image image = image_builder_finish(builder);
        image_builder_destroy(builder);
        test_launch_open(&launch[g], &image, kernel, 1, 64);
        for (const char *at = worker_list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
            uint32_t workers = (uint32_t)atoi(at);
            if (workers < 1 || workers > 64) return 2;
            if (!pool[workers]) {
                struct hbg__workers_options options = { .workers = workers, .spill = true, .ring_capacity = 1024, .spin_ns = spin_ns, .stall_ns = 5000000000u };
                if (hbg__workers_create(&options, &memory, &pool[workers], NULL) != HBG_OK) return 1;
            }
            for (uint32_t mode = HBG__MODE_WAKE; mode <= HBG__MODE_ORDER && cells < CELLS_MAX; ++mode) {
                if (mode == HBG__MODE_ORDER && workers > 1) continue;
                if (mode == HBG__MODE_CLAIM && image.head->activation_count) continue;
                cell[cells].graph = &graph[g];
                cell[cells].workers = workers;
                cell[cells].mode = mode;
                cell[cells].pool = pool[workers];
                cell[cells++].launch = &launch[g];
            }
        }
    }
    bool alone = !strcmp(worker_list, "1");     /* one worker: nothing goes from core to core */
    double before = round_trip_ns(alone);
    for (uint32_t i = 0; i < cells; ++i) run_once(&cell[i]);
    for (uint32_t rep = 0; rep < reps; ++rep)
        for (uint32_t i = 0; i < cells; ++i) cell[i].ns[rep] = run_once(&cell[i]);
    printf("core to core and back: %.0f ns before, %.0f ns after; %u repetitions; ns a task\n", before, round_trip_ns(alone), reps);
    printf("%-12s %7s %6s %9s %9s %9s\n", "graph", "workers", "mode", "median", "p10", "p90");
    for (uint32_t i = 0; i < cells; ++i) {
        qsort(cell[i].ns, reps, sizeof cell[i].ns[0], ascending);
        printf("%-12s %7u %6s %9.2f %9.2f %9.2f\n", cell[i].graph->name, cell[i].workers, mode_name[cell[i].mode],
               cell[i].ns[reps / 2], cell[i].ns[reps / 10], cell[i].ns[reps * 9 / 10]);
    }
    for (uint32_t i = 0; i < 65; ++i) hbg__workers_destroy(pool[i]);
    return 0;
}
