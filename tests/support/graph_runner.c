/* SPDX-License-Identifier: Apache-2.0 */
/* graph_runner.c - see graph_runner.h. */
#include "support/graph_runner.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/rng.h"
#include "support/program.h"

enum { MARGIN = 64 };       /* bytes around each host memory that nobody may touch */

struct driver {
    struct plan *plan;
    uint8_t *host[GRAPH_MEMORY_MAX];                    /* MARGIN, memory, MARGIN; also the first contents of a buffer */
    uint8_t *expected[GRAPH_MEMORY_MAX];
    struct hbg_buffer *buffer[GRAPH_MEMORY_MAX];        /* NULL: host memory */
    uint64_t bodies;                                    /* 0: none; else the seed that says which steps stand in one */
    bool told;                                          /* kernels have signatures */
    int builds;
};

/* ---- the kernel, and the build function ---- */

static int mix_with(const struct hbg_task_view *t, const uint8_t *modes)
{
    struct mix_view views[GRAPH_ACCESS_MAX];
    int count = (int)t->arg_count - 2;
    for (int i = 0; i < count; i++) {
        int a = i + 2;
        views[i] = (struct mix_view){ HBG_VIEW(uint8_t, t, a), (enum hbg_arg_kind)modes[i], hbg_view_rank(t, a),
                                      hbg_dtype_size(hbg_view_dtype(t, a)), hbg_view_shape(t, a), hbg_view_stride_bytes(t, a) };
    }
    mix(hbg_view_u64(t, 0), views, count);
    return 0;
}

static int mix_untold(const struct hbg_task_view *t) { return mix_with(t, HBG_VIEW(const uint8_t, t, 1)); }

static int mix_told(const struct hbg_task_view *t)
{
    uint64_t word = hbg_view_u64(t, 1);
    uint8_t modes[GRAPH_ACCESS_MAX];
    for (int i = 0; i < GRAPH_ACCESS_MAX; i++) modes[i] = (uint8_t)(word >> 8 * i);
    return mix_with(t, modes);
}

/* Kernel 0 takes anything; the others have signatures, by the modes of what they take: two bits each. */
enum { KERNELS = 1 << 2 * GRAPH_ACCESS_MAX };

static const struct hbg_kernel *kernels(void)
{
    static struct hbg_kernel table[KERNELS];
    static char text[KERNELS][80];
    static const char *const words[] = { "", ", in any", ", out any", ", inout any" };
    for (int k = 0; k < KERNELS && !table[0].run; k++) snprintf(text[k], sizeof text[k], "u64, u64%s%s%s%s", words[k & 3], words[k >> 2 & 3], words[k >> 4 & 3], words[k >> 6 & 3]);
    for (int k = KERNELS; k-- > 0;) table[k] = (struct hbg_kernel){ .id = k, .name = "mix", .run = k ? mix_told : mix_untold, .signature = k ? text[k] : NULL };
    return table;
}

static struct hbg_region attached(struct hbg_region root, struct hbg_region view)
{
    view.storage = root.storage;
    view.flags |= root.flags;
    view.offset_bytes += root.offset_bytes;
    return view;
}

/* Steps that are being submitted: all of a build, or those of a body; from `low` on they can be named. */
struct part {
    struct driver *driver;
    uint64_t steps;                                     /* of a body: a hash of what it submits, since bodies of one key are the same */
    int low, from, to, depth;
    int window[GRAPH_WINDOW_MAX], window_count;         /* of a body: what its boundary positions are */
    struct hbg__rng rng;
};

static void submit_step(struct hbg_graph *g, const struct part *part, struct step *step, const struct hbg_region *root)
{
    const struct plan *plan = part->driver->plan;
    uint8_t modes[GRAPH_ACCESS_MAX] = { 0 };
    struct hbg_arg *list = malloc((size_t)(2 + step->access_count + step->after_count) * sizeof *list);
    size_t n = 0;
    if (!list) abort();
    if (step->kind == GRAPH_TASK) {
        list[n++] = hbg_u64((uint64_t)step->label);
        list[n++] = part->driver->told && step->access_count ? hbg_u64(0) : hbg_bytes(modes, sizeof modes);
    }
    for (int i = 0; i < step->access_count; i++) {
        struct hbg_region region = attached(root[step->access[i].window], step->access[i].view);
        modes[i] = (uint8_t)step->access[i].mode;
        list[n++] = modes[i] == HBG_ARG_IN ? hbg_in(region) : modes[i] == HBG_ARG_OUT ? hbg_out(region) : hbg_inout(region);
    }
    int kernel = 0;
    for (int i = 0; i < step->access_count && part->driver->told; i++) {
        kernel |= modes[i] << 2 * i;
        list[1].u.bits |= (uint64_t)modes[i] << 8 * i;
    }
    for (int i = 0; i < step->after_count; i++)
        if (step->after[i] >= part->low) list[n++] = hbg_after(plan->step[step->after[i]].task);
    struct hbg_arg_list all = { list, n };
    step->task = step->kind == GRAPH_TASK ? hbg_submit_args(g, kernel, all) : hbg_noop_args(g, all);
    free(list);
}

static void submit_steps(struct hbg_graph *g, struct part *part, struct hbg_region *root);

static void body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct part part = *(const struct part *)params;
    struct hbg_region root[GRAPH_WINDOW_MAX];
    memset(root, 0, sizeof root);
    for (int i = 0; i < part.window_count; i++) root[part.window[i]] = hbg_args_region(args, i);
    submit_steps(g, &part, root);
}

static bool is_plain(const struct step *step) { return step->kind == GRAPH_TASK || step->kind == GRAPH_NOOP || step->kind == GRAPH_BARRIER; }

static void add_window(struct part *inner, int window)
{
    for (int i = 0; i < inner->window_count; i++)
        if (inner->window[i] == window) return;
    inner->window[inner->window_count++] = window;
}

static uint64_t hash_steps(const struct plan *plan, int from, int to)
{
    uint64_t hash = 0;
    for (int s = from; s < to; s++) {
        const struct step *step = &plan->step[s];
        uint64_t words[] = { (uint64_t)step->kind, (uint64_t)step->label, (uint64_t)step->access_count, (uint64_t)step->after_count };
        hash = hbg__hash_bytes(words, sizeof words, hash);
        hash = hbg__hash_bytes(step->after, (size_t)step->after_count * sizeof *step->after, hash);
        for (int i = 0; i < step->access_count; i++) {
            const struct graph_access *access = &step->access[i];
            uint64_t view[] = { (uint64_t)access->window, (uint64_t)access->mode, access->view.dtype, access->view.rank, (uint64_t)access->view.offset_bytes };
            hash = hbg__hash_bytes(view, sizeof view, hash);
            hash = hbg__hash_bytes(access->view.shape, access->view.rank * sizeof(int64_t), hash);
            hash = hbg__hash_bytes(access->view.stride_bytes, access->view.rank * sizeof(int64_t), hash);
        }
    }
    return hash;
}

/* Submit some steps from `at` on as a body; returns the first one behind them. What comes after one of them comes after all. */
static int submit_as_body(struct hbg_graph *g, struct part *part, int at, const struct hbg_region *root)
{
    struct plan *plan = part->driver->plan;
    struct part inner = { .driver = part->driver, .low = at, .from = at, .to = at, .depth = part->depth + 1 };
    int length = 1 + (int)hbg__rng_below(&part->rng, 9);
    while (inner.to < part->to && inner.to < at + length && is_plain(&plan->step[inner.to])) inner.to++;
    if (inner.to == at) return at;
    inner.steps = hash_steps(plan, at, inner.to);
    struct hbg_arg list[GRAPH_WINDOW_MAX + 9 * GRAPH_AFTER_MAX];
    size_t n = 0;
    for (int s = at; s < inner.to; s++)
        for (int i = 0; i < plan->step[s].access_count; i++) add_window(&inner, plan->step[s].access[i].window);
    for (int i = 0; i < inner.window_count; i++) {
        struct hbg_region region = root[inner.window[i]];
        list[n++] = region.flags & HBG_REGION_READ_ONLY ? hbg_in(region) : hbg_inout(region);
    }
    for (int s = at; s < inner.to; s++)
        for (int i = 0; i < plan->step[s].after_count; i++)
            if (plan->step[s].after[i] < at && plan->step[s].after[i] >= part->low) list[n++] = hbg_after(plan->step[plan->step[s].after[i]].task);
    hbg__rng_seed(&inner.rng, hbg__rng_next(&part->rng));
    struct hbg_task end = hbg_subgraph(g, HBG_KEY("part", inner), body, (struct hbg_arg_list){ list, n });
    for (int s = at; s < inner.to; s++) plan->step[s].task = end;
    return inner.to;
}

static void submit_steps(struct hbg_graph *g, struct part *part, struct hbg_region *root)
{
    struct plan *plan = part->driver->plan;
    int depth = 0, manual = -1;                         /* of scopes; of the outermost manual one */
    for (int s = part->from; s < part->to; s++) {
        struct step *step = &plan->step[s];
        if (part->driver->bodies && manual < 0 && part->depth < 3 && hbg__rng_below(&part->rng, 3) == 0) {
            int next = submit_as_body(g, part, s, root);
            if (next > s) { s = next - 1; continue; }
        }
        switch (step->kind) {
        case GRAPH_TASK: case GRAPH_NOOP: submit_step(g, part, step, root); break;
        case GRAPH_BARRIER: hbg_barrier(g); break;
        case GRAPH_ALLOC: root[step->window] = hbg_alloc(g, HBG_U8, HBG_SHAPE(plan->graph->window[step->window].size_bytes)); break;
        case GRAPH_SCOPE_AUTO: hbg_scope_begin(g, HBG_SCOPE_AUTO); depth++; break;
        case GRAPH_SCOPE_MANUAL:
            hbg_scope_begin(g, HBG_SCOPE_MANUAL);
            if (manual < 0) manual = depth;
            depth++;
            break;
        case GRAPH_SCOPE_END:
            hbg_scope_end(g);
            if (--depth == manual) manual = -1;
            break;
        }
    }
}

static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct driver *driver = *(struct driver *const *)params;
    struct plan *plan = driver->plan;
    struct hbg_region root[GRAPH_WINDOW_MAX];
    struct part all = { .driver = driver, .to = plan->count };
    driver->builds++;
    hbg__rng_seed(&all.rng, driver->bodies);
    for (int w = 0; w < plan->graph->window_count; w++) {
        const struct graph_window *window = &plan->graph->window[w];
        if (plan->position[w] >= 0) root[w] = hbg_args_region(args, plan->position[w]);
        else if (window->kind == WINDOW_NAMED) root[w] = hbg_buffer_region(driver->buffer[window->memory], (size_t)window->offset, HBG_U8, HBG_SHAPE(window->size_bytes));
    }
    submit_steps(g, &all, root);
}

/* ---- memories and arguments ---- */

static bool is_buffer(const struct random_graph *graph, int memory)
{
    for (int w = 0; w < graph->window_count; w++) {
        if (graph->window[w].kind != WINDOW_ALLOC && graph->window[w].memory == memory) return graph->window[w].kind != WINDOW_HOST;
    }
    return false;
}

static bool driver_open(struct driver *driver, struct hbg_device *device, struct plan *plan)
{
    struct hbg__rng rng;
    hbg__rng_seed(&rng, plan->graph->seed ^ 0x5eed);
    *driver = (struct driver){ .plan = plan };
    for (int m = 0; m < plan->graph->memory_count; m++) {
        size_t size = (size_t)plan->graph->memory_bytes[m];
        driver->host[m] = malloc(size + 2 * MARGIN);
        driver->expected[m] = malloc(size + 2 * MARGIN);
        if (!driver->host[m] || !driver->expected[m]) abort();
        for (size_t b = 0; b < size + 2 * MARGIN; b++) driver->host[m][b] = (uint8_t)hbg__rng_next(&rng);
        memcpy(driver->expected[m], driver->host[m], size + 2 * MARGIN);
        if (!is_buffer(plan->graph, m)) continue;
        if (hbg_buffer_create(device, size, &driver->buffer[m]) != HBG_OK) return false;
        if (hbg_buffer_write(driver->buffer[m], 0, driver->host[m] + MARGIN, size) != HBG_OK) return false;
    }
    return true;
}

static void driver_close(struct driver *driver)
{
    for (int m = 0; m < GRAPH_MEMORY_MAX; m++) {
        free(driver->host[m]);
        free(driver->expected[m]);
        hbg_buffer_destroy(driver->buffer[m]);
    }
}

static struct hbg_arg_list driver_arguments(const struct driver *driver, struct hbg_arg *list)
{
    const struct plan *plan = driver->plan;
    for (int w = 0; w < plan->graph->window_count; w++) {
        const struct graph_window *window = &plan->graph->window[w];
        if (plan->position[w] < 0) continue;
        struct hbg_shape shape = HBG_SHAPE(window->size_bytes);
        uint8_t *data = driver->host[window->memory] + MARGIN + window->offset;
        struct hbg_region region = window->kind == WINDOW_BUFFER ? hbg_buffer_region(driver->buffer[window->memory], (size_t)window->offset, HBG_U8, shape)
                                 : plan->mode[w] == HBG_ARG_IN ? hbg_host_const(data, HBG_U8, shape) : hbg_host(data, HBG_U8, shape);
        list[plan->position[w]] = plan->mode[w] == HBG_ARG_IN ? hbg_in(region) : plan->mode[w] == HBG_ARG_OUT ? hbg_out(region) : hbg_inout(region);
    }
    return (struct hbg_arg_list){ list, (size_t)plan->argument_count };
}

static struct hbg_program *driver_program(struct driver *driver, struct hbg_device *device, bool pure, struct hbg_error *error)
{
    struct hbg_program *program = NULL;
    struct hbg_program_options options = HBG_OPTIONS(program_options);
    options.name = "random";
    options.build = build;
    options.params = &driver;
    options.params_size = sizeof driver;
    options.kernels = kernels();
    options.kernel_count = KERNELS;
    options.pure_build = pure;
    options.error = error;
    return hbg_program_create(device, &options, &program) == HBG_OK ? program : NULL;
}

/* ---- running ---- */

static bool same_memories(struct driver *driver, bool loud)
{
    for (int m = 0; m < driver->plan->graph->memory_count; m++) {
        size_t size = (size_t)driver->plan->graph->memory_bytes[m];
        if (driver->buffer[m] && hbg_buffer_read(driver->buffer[m], 0, driver->host[m] + MARGIN, size) != HBG_OK) return false;
        for (size_t b = 0; b < size + 2 * MARGIN; b++) {
            if (driver->host[m][b] == driver->expected[m][b]) continue;
            if (loud) fprintf(stderr, "memory %d, byte %lld: %d instead of %d\n", m, (long long)b - MARGIN, driver->host[m][b], driver->expected[m][b]);
            return false;
        }
    }
    return true;
}

/* The image of a run that is given up; its size. */
static size_t image_of(struct hbg_program *program, struct hbg_arg_list list, unsigned char **copy)
{
    struct hbg_run run;
    const void *image;
    size_t size;
    *copy = NULL;
    if (hbg_run_prepare(program, list, NULL, &run) != HBG_OK) return 0;
    if (hbg_run_image(run, &image, &size) != HBG_OK || !(*copy = malloc(size))) abort();
    memcpy(*copy, image, size);
    if (hbg_run_cancel(run) != HBG_OK || hbg_run_finish(run, NULL) != HBG_E_CANCELLED) abort();
    return size;
}

/* Prepared and run: its image is the one that a program gives which has never been built. */
static enum hbg_status run_beside_twin(struct driver *driver, struct hbg_program *program, struct hbg_arg_list list, const struct graph_way *way, struct hbg_result *result)
{
    struct hbg_run run;
    const void *image;
    unsigned char *fresh;
    size_t size;
    struct hbg_program *twin = driver_program(driver, way->twin, false, &result->error);
    if (!twin) abort();
    size_t fresh_size = image_of(twin, list, &fresh);
    hbg_program_destroy(twin);
    struct hbg_run_options options = HBG_OPTIONS(run_options);
    options.error = &result->error;
    enum hbg_status status = hbg_run_prepare(program, list, &options, &run);
    bool same = !status && hbg_run_image(run, &image, &size) == HBG_OK && size == fresh_size && memcmp(image, fresh, size) == 0;
    if (!status && !same && way->loud) fprintf(stderr, "the image is another one than that of a new program\n");
    free(fresh);
    if (status) return status;
    if (!hbg_run_launch(run)) (void)!hbg_run_wait(run, HBG_FOREVER);
    status = hbg_run_finish(run, result);
    return status || same ? status : HBG_E_IMAGE;
}

static bool run_round(struct driver *driver, struct hbg_program *program, const struct graph_way *way, int round)
{
    struct hbg_arg list[GRAPH_WINDOW_MAX];
    struct hbg_result result = HBG_OPTIONS(result);
    uint8_t *memory[GRAPH_MEMORY_MAX] = { NULL };
    for (int m = 0; m < driver->plan->graph->memory_count; m++) memory[m] = driver->expected[m] + MARGIN;
    plan_execute(driver->plan, memory);
    struct hbg_arg_list arguments = driver_arguments(driver, list);
    enum hbg_status status = way->twin ? run_beside_twin(driver, program, arguments, way, &result) : hbg_run_sync(program, arguments, &result);
    if (status != HBG_OK) {
        if (way->loud) fprintf(stderr, "round %d: %s: %s (task %u, argument %d)\n", round, hbg_status_name(status), result.error.text, result.error.task, result.error.argument);
        return false;
    }
    if (way->pure && result.replayed != (round > 0)) {
        if (way->loud) fprintf(stderr, "round %d was %sreplayed: %s\n", round, result.replayed ? "" : "not ", result.why);
        return false;
    }
    if (!same_memories(driver, way->loud)) {
        if (way->loud) fprintf(stderr, "in round %d\n", round);
        return false;
    }
    return true;
}

bool graph_runs_right(struct hbg_device *device, const struct random_graph *graph, const struct graph_way *way)
{
    struct plan plan;
    struct driver driver;
    struct hbg_error error = HBG_OPTIONS(error);
    graph_resolve(&plan, graph);
    bool right = driver_open(&driver, device, &plan);
    driver.bodies = way->bodies;
    driver.told = way->told;
    struct hbg_program *program = right ? driver_program(&driver, device, way->pure, &error) : NULL;
    right = program != NULL;
    struct random_graph varied = { .op = NULL };
    struct hbg__rng rng;
    hbg__rng_seed(&rng, way->changes);
    for (int round = 0; right && round < way->rounds; round++) {
        if (way->changes && round > 0 && hbg__rng_below(&rng, 2)) {
            plan_free(&plan);
            random_graph_free(&varied);
            random_graph_vary(&varied, graph, hbg__rng_next(&rng));
            graph_resolve(&plan, &varied);
        }
        right = run_round(&driver, program, way, round);
    }
    hbg_program_destroy(program);
    driver_close(&driver);
    plan_free(&plan);
    random_graph_free(&varied);
    return right;
}

void graph_edges(struct hbg_device *device, struct plan *plan, struct edges *edges)
{
    struct driver driver;
    struct hbg_error error = HBG_OPTIONS(error);
    struct hbg_arg list[GRAPH_WINDOW_MAX];
    assert_true(driver_open(&driver, device, plan));
    struct hbg_program *program = driver_program(&driver, device, false, &error);
    if (!program) fail_msg("%s", error.text);
    program_edges(program, driver_arguments(&driver, list), edges);
    hbg_program_destroy(program);
    driver_close(&driver);
}
