/* SPDX-License-Identifier: Apache-2.0 */
/* trace_test.c - spans of runs and of users: which are written, that they nest, that every way out of a run closes them, and that the
 * copies of a run are as many as without them.
 */
#include "unit/run/support.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/trace_file.h"
#include "tools/trace_log.h"

static const char *const LEVEL[] = { "", "off", "run", "phase", "task" };
static const char *const PHASES[] = {
    "chip.run", "chip.run.bind", "chip.run.bind.args", "chip.run.bind.build", "chip.run.bind.upload", "chip.run.prepare_execution",
    "chip.run.prepare_execution.result_region", "chip.run.prepare_execution.descriptor", "chip.run.runner_run",
    "chip.run.runner_run.device_wall", "chip.run.validate", "chip.run.claim_release" };
enum { PHASE_COUNT = sizeof PHASES / sizeof *PHASES };

static struct trace_log read_log(const char *path)
{
    struct trace_log log;
    char *text = trace_take(path);
    assert_true(hbg__trace_log_parse(&log, text, strlen(text)));
    assert_int_equal(hbg__trace_log_lost(&log), 0);
    assert_int_equal(hbg__trace_log_unfinished(&log), 0);
    return log;
}

static const struct trace_record *find(const struct trace_log *log, uint64_t invocation, const char *name)
{
    const struct trace_record *found = NULL;
    for (size_t i = 0; i < log->record_count; i++) {
        if (log->record[i].invocation != invocation || strcmp(log->record[i].name, name) != 0) continue;
        assert_null(found);
        found = &log->record[i];
    }
    return found;
}

static bool is_inside(const struct trace_record *inner, const struct trace_record *outer)
{
    return inner->ts >= outer->ts && inner->ts + inner->dur <= outer->ts + outer->dur;
}

/* Every span lies inside the one whose name is its own without the last part. */
static void check_nesting(const struct trace_log *log, uint64_t invocation)
{
    for (size_t i = 0; i < log->record_count; i++) {
        const struct trace_record *r = &log->record[i];
        char parent[128];
        if (r->invocation != invocation || r->depth == 0) continue;
        snprintf(parent, sizeof parent, "%s", r->name);
        *strrchr(parent, '.') = '\0';
        const struct trace_record *outer = find(log, invocation, parent);
        assert_non_null(outer);
        assert_int_equal(outer->depth, r->depth - 1);
        if (!is_inside(r, outer)) fail_msg("%s is not inside of %s", r->name, parent);
    }
}

static uint64_t number(const struct trace_log *log, const struct trace_record *record, const char *key)
{
    uint64_t value = 0;
    if (!hbg__trace_number(log, record, key, &value)) fail_msg("%s has no %s", record->name, key);
    return value;
}

static void each_phase_is_a_span(void **state)
{
    (void)state;
    for (int m = 0; m < 2; m++) {
        char path[TRACE_PATH];
        int32_t x[64] = { 0 };
        trace_path(path);
        struct hbg_device *device = trace_open(BOTH_MEMORIES[m], HBG_TRACE_PHASE, path);
        struct hbg_program *program = make_program(device, build_add, true);
        for (int i = 0; i < 3; i++) runs_well(program, LIST(hbg_inout(hbg_host(x, HBG_I32, HBG_SHAPE(64)))), NULL);
        hbg_program_destroy(program);
        assert_int_equal(hbg_device_close(device), HBG_OK);
        struct trace_log log = read_log(path);
        assert_int_equal(log.record_count, 2 + 3 * PHASE_COUNT);
        for (uint64_t run = 1; run <= 3; run++) {
            for (int i = 0; i < PHASE_COUNT; i++) {
                if (!find(&log, run, PHASES[i])) fail_msg("run %d has no %s", (int)run, PHASES[i]);
            }
            check_nesting(&log, run);
            const struct trace_record *build = find(&log, run, "chip.run.bind.build"), *upload = find(&log, run, "chip.run.bind.upload");
            const struct trace_record *descriptor = find(&log, run, "chip.run.prepare_execution.descriptor");
            assert_int_equal(number(&log, build, "replayed"), run > 1);
            assert_int_equal(number(&log, build, "tasks"), 1);
            assert_int_equal(number(&log, upload, "copies"), m ? (run > 1 ? 1 : 2) : 0);
            assert_int_equal(number(&log, descriptor, "copies"), m);
            assert_int_equal(number(&log, descriptor, "first"), run == 1);
            assert_int_equal(number(&log, descriptor, "alloc_bytes") > 0, run == 1);
            assert_int_equal(number(&log, find(&log, run, "chip.run.validate"), "bytes"), m ? sizeof x : 0);
            assert_int_equal(number(&log, find(&log, run, "chip.run.runner_run.device_wall"), "executed"), 1);
            assert_string_equal(hbg__trace_note(&log, find(&log, run, "chip.run"), "status"), "HBG_OK");
        }
        hbg__trace_log_free(&log);
    }
}

/* What a level writes; and a run's copies are as many as without it. */
static void levels_and_their_copies(void **state)
{
    uint64_t copies[5];
    (void)state;
    for (int level = HBG_TRACE_OFF; level <= HBG_TRACE_TASK; level++) {
        char path[TRACE_PATH];
        int32_t x[64] = { 0 };
        trace_path(path);
        struct hbg_device *device = trace_open(BOTH_MEMORIES[1], (enum hbg_trace_level)level, path);
        struct hbg_program *program = make_program(device, build_add, true);
        for (int i = 0; i < 3; i++) runs_well(program, LIST(hbg_inout(hbg_host(x, HBG_I32, HBG_SHAPE(64)))), NULL);
        struct hbg_counters counters = counters_of(device);
        copies[level] = counters.image_copies + counters.descriptor_copies + counters.argument_copies;
        hbg_program_destroy(program);
        assert_int_equal(hbg_device_close(device), HBG_OK);
        assert_int_equal(access(path, F_OK) == 0, level != HBG_TRACE_OFF);
        if (level == HBG_TRACE_OFF) continue;
        struct trace_log log = read_log(path);
        assert_int_equal(log.record_count, 2 + 3 * (level == HBG_TRACE_RUN ? 1 : level == HBG_TRACE_PHASE ? PHASE_COUNT : PHASE_COUNT + 3));   /* counter_table, collect_tasks, the task */
        assert_string_equal(hbg__trace_note(&log, &log.record[0], "level"), LEVEL[level]);
        assert_int_equal(copies[level], copies[HBG_TRACE_OFF]);
        assert_int_equal(counters.trace_copies, level == HBG_TRACE_TASK ? 3 * 2 : 0);       /* the heads, and the core that ran the task */
        hbg__trace_log_free(&log);
    }
}

static void every_way_out_closes_the_spans(void **state)
{
    char path[TRACE_PATH];
    struct hbg_run run;
    struct hbg_result result = HBG_OPTIONS(result);
    int32_t x[16] = { 0 };
    (void)state;
    trace_path(path);
    struct hbg_device *device = trace_open("cpu:workers=2,memory=discrete", HBG_TRACE_PHASE, path);
    struct hbg_program *fails = make_program(device, build_fail, false), *holds = make_program(device, build_hold, false), *adds = make_program(device, build_add, false);
    struct hbg_arg_list good = LIST(hbg_inout(hbg_host(x, HBG_I32, HBG_SHAPE(16)))), bad = LIST(hbg_after((struct hbg_task){ 0 }));
    assert_int_equal(hbg_run_sync(fails, good, &result), HBG_E_KERNEL);             /* 1: a kernel fails */
    assert_int_equal(hbg_run_prepare(adds, bad, NULL, &run), HBG_E_TASK_ID);        /* 2: the arguments are refused */
    assert_int_equal(hbg_run_prepare(fails, LIST(hbg_f32(1)), NULL, &run), HBG_E_REGION);       /* 3: the build fails */
    assert_int_equal(hbg_run_prepare(adds, good, NULL, &run), HBG_OK);              /* 4: dropped before its launch */
    assert_int_equal(hbg_run_cancel(run), HBG_OK);
    assert_int_equal(hbg_run_finish(run, NULL), HBG_E_CANCELLED);
    atomic_store(&hold_open, 0);
    assert_int_equal(hbg_run_prepare(holds, good, NULL, &run), HBG_OK);             /* 5: cancelled while it runs; a wait times out */
    assert_int_equal(hbg_run_launch(run), HBG_OK);
    assert_int_equal(hbg_run_wait(run, 1000000), HBG_TIMEOUT);
    assert_int_equal(hbg_run_cancel(run), HBG_OK);
    assert_int_equal(hbg_run_wait(run, HBG_FOREVER), HBG_OK);
    assert_int_equal(hbg_run_finish(run, NULL), HBG_E_CANCELLED);
    hbg_program_destroy(fails);
    hbg_program_destroy(holds);
    hbg_program_destroy(adds);
    assert_int_equal(hbg_device_close(device), HBG_OK);

    struct trace_log log = read_log(path);
    static const char *const status[] = { "HBG_E_KERNEL", "HBG_E_TASK_ID", "HBG_E_REGION", "HBG_E_CANCELLED", "HBG_E_CANCELLED" };
    static const char *const last[] = { "chip.run.runner_run.device_wall", "chip.run.bind.args", "chip.run.bind.build", "chip.run.prepare_execution.descriptor", "chip.run.runner_run.device_wall" };
    for (uint64_t i = 1; i <= 5; i++) {
        assert_string_equal(hbg__trace_note(&log, find(&log, i, "chip.run"), "status"), status[i - 1]);
        assert_non_null(find(&log, i, last[i - 1]));
        assert_non_null(find(&log, i, "chip.run.claim_release"));
        assert_int_equal(find(&log, i, "chip.run.runner_run") != NULL, i == 1 || i == 5);
        check_nesting(&log, i);
    }
    hbg__trace_log_free(&log);
}

/* ---- tasks ---- */

enum { TILES = 40 };

/* TILES chains of three, a task that reads all of them, and one that nobody waits for. */
static void build_tasks(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_region x = hbg_args_region(args, 0);
    struct hbg_arg all[TILES];
    (void)params;
    for (int step = 0; step < 3; step++) {
        for (int i = 0; i < TILES; i++) hbg_submit(g, ADD_ONE, hbg_inout(hbg_cell(x, HBG_SHAPE(4), HBG_SHAPE(i))));
    }
    for (int i = 0; i < TILES; i++) all[i] = hbg_in(hbg_cell(x, HBG_SHAPE(4), HBG_SHAPE(i)));
    hbg_submit_args(g, HOLD, (struct hbg_arg_list){ all, TILES });
    hbg_submit(g, HOLD);
}
enum { TASKS = 3 * TILES + 2 };

struct told { struct trace_log log; struct hbg_counters counters; };

static struct told run_tasks(const char *spec, uint64_t records, int runs)
{
    struct told told;
    struct hbg_error error = HBG_OPTIONS(error);
    struct hbg_device_options options = HBG_OPTIONS(device_options);
    struct hbg_device *device = NULL;
    char path[TRACE_PATH];
    static int32_t x[4 * TILES];
    trace_path(path);
    options.trace = HBG_TRACE_TASK;
    options.trace_to = path;
    options.trace_records = records;
    options.error = &error;
    if (hbg_device_open(spec, &options, &device)) fail_msg("%s", error.text);
    struct hbg_program *program = make_program(device, build_tasks, true);
    for (int i = 0; i < runs; i++) runs_well(program, LIST(hbg_inout(hbg_host(x, HBG_I32, HBG_SHAPE(4 * TILES)))), NULL);
    told.counters = counters_of(device);
    hbg_program_destroy(program);
    assert_int_equal(hbg_device_close(device), HBG_OK);
    told.log = read_log(path);
    return told;
}

static const struct trace_record *find_task(const struct trace_log *log, uint64_t invocation, uint64_t task)
{
    for (size_t i = 0; i < log->record_count; i++) {
        const struct trace_record *r = &log->record[i];
        if (r->invocation == invocation && strcmp(r->name, "chip.run.runner_run.device_wall.task") == 0 && number(log, r, "task") == task) return r;
    }
    return NULL;
}

/* Every task once, in the order of its times, on a core that was free; ready when its last producer ended. */
static void check_tasks(const struct trace_log *log, uint64_t invocation, uint64_t workers)
{
    const struct trace_record *wall = find(log, invocation, "chip.run.runner_run.device_wall");
    uint64_t busy[8] = { 0 };
    for (uint64_t task = 0; task < TASKS; task++) {
        const struct trace_record *r = find_task(log, invocation, task);
        assert_non_null(r);
        assert_true(is_inside(r, wall));
        assert_true(number(log, r, "core") < workers);
        busy[number(log, r, "core")] += r->dur;
        assert_true(number(log, r, "dispatched") <= r->ts);
        assert_true(number(log, r, "ready") <= r->ts);
        if (task >= TILES && task < 3 * TILES) {
            char producer[16];
            const struct trace_record *before = find_task(log, invocation, task - TILES);
            snprintf(producer, sizeof producer, "%d", (int)task - TILES);
            assert_string_equal(hbg__trace_note(log, r, "producers"), producer);
            assert_int_equal(number(log, r, "ready"), before->ts + before->dur);
        }
    }
    for (uint64_t i = 0; i < workers; i++) assert_true(busy[i] <= wall->dur);
    const struct trace_record *last = find_task(log, invocation, TASKS - 1), *sum = find_task(log, invocation, TASKS - 2);
    assert_null(hbg__trace_note(log, last, "producers"));
    assert_string_equal(hbg__trace_note(log, last, "kernel"), "hold");
    int commas = 0;
    for (const char *c = hbg__trace_note(log, sum, "producers"); *c; c++) commas += *c == ',';
    assert_int_equal(commas, TILES - 1);
}

static void each_task_is_recorded(void **state)
{
    static const struct { const char *spec; uint64_t workers; bool discrete; } device[] = {
        { "cpu:workers=1", 1, false }, { "cpu:workers=2", 2, false }, { "cpu:workers=4,memory=discrete", 4, true }, { "cpu:workers=1,memory=discrete,poison=1", 1, true } };
    (void)state;
    atomic_store(&hold_open, 1);
    for (size_t d = 0; d < sizeof device / sizeof *device; d++) {
        struct told told = run_tasks(device[d].spec, 0, 4);
        uint64_t copies = 0, bytes = 0;
        for (uint64_t run = 1; run <= 4; run++) {
            const struct trace_record *collect = find(&told.log, run, "chip.run.collect_tasks");
            bool used[8] = { 0 };
            check_tasks(&told.log, run, device[d].workers);
            assert_int_equal(number(&told.log, collect, "records"), TASKS);
            assert_int_equal(number(&told.log, collect, "lost"), 0);
            assert_int_equal(number(&told.log, find(&told.log, run, "chip.run.prepare_execution.counter_table"), "copies"), 0);
            for (uint64_t task = 0; task < TASKS; task++) used[number(&told.log, find_task(&told.log, run, task), "core")] = true;
            uint64_t expected = 1;              /* the heads, and one for each core that ran something */
            for (int i = 0; i < 8; i++) expected += used[i];
            assert_int_equal(number(&told.log, collect, "copies"), device[d].discrete ? expected : 0);
            copies += device[d].discrete ? expected : 0;
            bytes += device[d].discrete ? device[d].workers * 64 + TASKS * 32 : 0;
        }
        assert_int_equal(told.counters.trace_copies, copies);
        assert_int_equal(told.counters.trace_bytes, bytes);
        hbg__trace_log_free(&told.log);
    }
}

static void a_full_ring_keeps_the_last(void **state)
{
    (void)state;
    atomic_store(&hold_open, 1);
    struct told told = run_tasks("cpu:workers=1,memory=discrete", 7, 2);
    for (uint64_t run = 1; run <= 2; run++) {
        const struct trace_record *collect = find(&told.log, run, "chip.run.collect_tasks");
        assert_int_equal(number(&told.log, collect, "records"), 7);
        assert_int_equal(number(&told.log, collect, "lost"), TASKS - 7);
        assert_int_equal(number(&told.log, collect, "copies"), 2);
        for (uint64_t task = 0; task < TASKS; task++) assert_int_equal(find_task(&told.log, run, task) != NULL, task >= TASKS - 7);
        assert_null(hbg__trace_note(&told.log, find_task(&told.log, run, TASKS - 2), "ready"));        /* a producer of it was overwritten */
    }
    hbg__trace_log_free(&told.log);
}

/* More producers than a record holds: further records go on with them. */
static void build_wide(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    enum { WIDE = 1500 };
    static struct hbg_arg after[WIDE];
    (void)args;
    (void)params;
    for (int i = 0; i < WIDE; i++) after[i] = hbg_after(hbg_submit(g, HOLD));
    hbg_submit_args(g, HOLD, (struct hbg_arg_list){ after, WIDE });
}

static void a_task_with_many_producers(void **state)
{
    char path[TRACE_PATH];
    bool seen[1500] = { false };
    (void)state;
    atomic_store(&hold_open, 1);
    trace_path(path);
    struct hbg_device *device = trace_open("cpu:workers=2", HBG_TRACE_TASK, path);
    struct hbg_program *program = make_program(device, build_wide, false);
    runs_well(program, (struct hbg_arg_list){ NULL, 0 }, NULL);
    hbg_program_destroy(program);
    assert_int_equal(hbg_device_close(device), HBG_OK);
    struct trace_log log = read_log(path);
    for (size_t i = 0; i < log.record_count; i++) {
        const struct trace_record *r = &log.record[i];
        const char *text = hbg__trace_note(&log, r, "producers");
        if (!text) continue;
        assert_null(hbg__trace_note(&log, r, "cut"));
        assert_int_equal(number(&log, r, "task"), 1500);
        for (char *end; *text; text = *end ? end + 1 : end) {
            unsigned long producer = strtoul(text, &end, 10);
            assert_true(producer < 1500 && !seen[producer]);
            seen[producer] = true;
        }
    }
    for (int i = 0; i < 1500; i++) assert_true(seen[i]);
    hbg__trace_log_free(&log);
}

/* ---- submissions and their nodes ---- */

#define KEY(text) hbg_key_of(text, NULL, 0)
#define CELL(x, i) hbg_cell((x), HBG_SHAPE(4), HBG_SHAPE(i))

/* (a): 0 add a, 1 noop after it */
static void inner_body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_noop(g, hbg_after(hbg_submit(g, ADD_ONE, hbg_inout(hbg_args_region(args, 0)))));
}

/* (a, b): 0 add a, 1 inner a, 2 add b */
static void outer_body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region a = hbg_args_region(args, 0);
    hbg_submit(g, ADD_ONE, hbg_inout(a));
    hbg_subgraph(g, KEY("inner"), inner_body, HBG_ARGS(hbg_inout(a)));
    hbg_submit(g, ADD_ONE, hbg_inout(hbg_args_region(args, 1)));
}

static void empty_body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)g;
    (void)args;
    (void)params;
}

/* 0 add a, 1 outer a b, 2 empty a, 3 add a, 4 add b; nodes of 1 are 5, 6, 7, and those of 6 are 8, 9 */
static void build_bodies(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region a = CELL(hbg_args_region(args, 0), 0), b = CELL(hbg_args_region(args, 0), 1);
    hbg_submit(g, ADD_ONE, hbg_inout(a));
    hbg_subgraph(g, KEY("outer"), outer_body, HBG_ARGS(hbg_inout(a), hbg_inout(b)));
    hbg_subgraph(g, KEY("empty"), empty_body, HBG_ARGS(hbg_inout(a)));
    hbg_submit(g, ADD_ONE, hbg_inout(a));
    hbg_submit(g, ADD_ONE, hbg_inout(b));
}

static const struct { const char *kind, *producers, *subgraph, *submission; } told_of[] = {
    { "task", NULL, NULL, NULL }, { "submission", "6,7", "outer", NULL }, { "submission", "1", "empty", NULL }, { "task", "2", NULL, NULL },
    { "task", "1", NULL, NULL }, { "task", "0", "outer", "1" }, { "submission", "9", "inner", "1" }, { "task", "0", "outer", "1" },
    { "task", "5", "inner", "6" }, { "noop", "8", "inner", "6" },
};
enum { TOLD = sizeof told_of / sizeof *told_of };

static const struct trace_record *find_told(const struct trace_log *log, uint64_t invocation, uint64_t task)
{
    for (size_t i = 0; i < log->record_count; i++) {
        const struct trace_record *r = &log->record[i];
        uint64_t own;
        if (r->invocation == invocation && r->depth == 3 && hbg__trace_number(log, r, "task", &own) && own == task) return r;
    }
    return NULL;
}

static void same_text(const char *text, const char *expected)
{
    if (!text || !expected) assert_ptr_equal(text, expected);
    else assert_string_equal(text, expected);
}

/* Each one behind its producers, and ready when the last of these ended. */
static void check_told(const struct trace_log *log, uint64_t invocation)
{
    for (uint64_t task = 0; task < TOLD; task++) {
        const struct trace_record *r = find_told(log, invocation, task);
        const char *producers = hbg__trace_note(log, r, "producers");
        uint64_t ready = 0;
        assert_string_equal(strrchr(r->name, '.') + 1, told_of[task].kind);
        same_text(producers, told_of[task].producers);
        same_text(hbg__trace_note(log, r, "subgraph"), told_of[task].subgraph);
        same_text(hbg__trace_note(log, r, "submission"), told_of[task].submission);
        for (char *end; producers && *producers; producers = *end ? end + 1 : end) {
            const struct trace_record *before = find_told(log, invocation, strtoul(producers, &end, 10));
            assert_true(before->sequence < r->sequence);
            if (before->ts + before->dur > ready) ready = before->ts + before->dur;
        }
        if (ready) assert_int_equal(number(log, r, "ready"), ready);
        if (strcmp(told_of[task].kind, "submission") == 0) assert_int_equal(r->ts + r->dur, ready);
    }
    assert_int_equal(find_told(log, invocation, 1)->ts, find_told(log, invocation, 5)->ts < find_told(log, invocation, 7)->ts ? find_told(log, invocation, 5)->ts : find_told(log, invocation, 7)->ts);
    assert_int_equal(number(log, find_told(log, invocation, 1), "nodes"), 5);
}

static void submissions_and_their_nodes(void **state)
{
    static const char *const specs[] = { "cpu:workers=1", "cpu:workers=2", "cpu:workers=4,memory=discrete", "sim:workers=3,seed=5" };
    (void)state;
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        int32_t x[8] = { 0 };
        char path[TRACE_PATH];
        trace_path(path);
        struct hbg_device *device = trace_open(specs[i], HBG_TRACE_TASK, path);
        struct hbg_program *program = make_program(device, build_bodies, true);
        for (int run = 0; run < 3; run++) runs_well(program, LIST(hbg_inout(hbg_host(x, HBG_I32, HBG_SHAPE(8)))), NULL);
        hbg_program_destroy(program);
        assert_int_equal(hbg_device_close(device), HBG_OK);
        struct trace_log log = read_log(path);
        for (uint64_t run = 1; run <= 3; run++) {
            check_told(&log, run);
            check_nesting(&log, run);
        }
        hbg__trace_log_free(&log);
    }
}

/* More producers than a record holds, of the nodes and of the submission. */
enum { MANY = 700 };

static void wide_body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)args;
    (void)params;
    for (int i = 0; i < MANY; i++) hbg_submit(g, HOLD);
}

static void build_wide_bodies(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    static struct hbg_arg after[MANY];
    (void)args;
    (void)params;
    for (int i = 0; i < MANY; i++) after[i] = hbg_after(hbg_submit(g, HOLD));
    hbg_subgraph(g, KEY("wide"), wide_body, (struct hbg_arg_list){ after, MANY });
}

/* Of one task, from all records that tell of it. */
static void check_producers(const struct trace_log *log, uint64_t task, uint64_t first, uint64_t count)
{
    bool seen[MANY] = { false };
    uint64_t own, found = 0;
    for (size_t i = 0; i < log->record_count; i++) {
        const struct trace_record *r = &log->record[i];
        const char *text = hbg__trace_note(log, r, "producers");
        if (!text || !hbg__trace_number(log, r, "task", &own) || own != task) continue;
        assert_null(hbg__trace_note(log, r, "cut"));
        for (char *end; *text; text = *end ? end + 1 : end, found++) {
            unsigned long producer = strtoul(text, &end, 10);
            assert_true(producer >= first && producer < first + count && !seen[producer - first]);
            seen[producer - first] = true;
        }
    }
    assert_int_equal(found, count);
}

static void submissions_with_many_nodes(void **state)
{
    char path[TRACE_PATH];
    (void)state;
    atomic_store(&hold_open, 1);
    trace_path(path);
    struct hbg_device *device = trace_open("cpu:workers=2", HBG_TRACE_TASK, path);
    struct hbg_program *program = make_program(device, build_wide_bodies, false);
    runs_well(program, (struct hbg_arg_list){ NULL, 0 }, NULL);
    hbg_program_destroy(program);
    assert_int_equal(hbg_device_close(device), HBG_OK);
    struct trace_log log = read_log(path);
    check_producers(&log, MANY, MANY + 1, MANY);        /* the submission */
    check_producers(&log, MANY + 1, 0, MANY);           /* its first node, */
    check_producers(&log, 2 * MANY, 0, MANY);           /* and its last */
    hbg__trace_log_free(&log);
}

/* 0 fails, 1 comes after it */
static void failing_body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_submit(g, FAIL, hbg_inout(hbg_args_region(args, 0)));
    hbg_submit(g, ADD_ONE, hbg_inout(hbg_args_region(args, 0)));
}

static void build_failing(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_subgraph(g, KEY("fails"), failing_body, HBG_ARGS(hbg_inout(hbg_args_region(args, 0))));
    hbg_submit(g, ADD_ONE, hbg_inout(hbg_args_region(args, 0)));
}

/* What was on no core has no record, and neither has a submission that did not come to its end. */
static void a_submission_that_fails(void **state)
{
    char path[TRACE_PATH];
    int32_t x[8] = { 0 };
    (void)state;
    trace_path(path);
    struct hbg_device *device = trace_open("cpu:workers=2", HBG_TRACE_TASK, path);
    struct hbg_program *program = make_program(device, build_failing, false);
    assert_int_equal(hbg_run_sync(program, LIST(hbg_inout(hbg_host(x, HBG_I32, HBG_SHAPE(8)))), NULL), HBG_E_KERNEL);
    hbg_program_destroy(program);
    assert_int_equal(hbg_device_close(device), HBG_OK);
    struct trace_log log = read_log(path);
    for (uint64_t task = 0; task < 4; task++) assert_int_equal(find_told(&log, 1, task) != NULL, task == 2);
    hbg__trace_log_free(&log);
}

/* ---- spans of users ---- */

enum { THREADS = 8, SPANS = 10000 };
static const char NASTY[] = "a \"quoted\"\\ name\nwith a line end; % = [STRACE] v=1 and \xc3\xa9\xe2\x82\xac";
struct teller { struct hbg_device *device; pthread_t thread; int spans; };

static void *tell(void *argument)
{
    struct teller *teller = argument;
    for (int i = 0; i < teller->spans / 2; i++) {
        struct hbg_span outer = hbg_span_begin(teller->device, "a.b", NASTY);
        struct hbg_span inner = hbg_span_begin(teller->device, NULL, "inner.part");
        const struct hbg_span_note note[] = { { "key with = and ;", NASTY }, { NULL, NULL } };
        hbg_span_end(&inner, NULL, 0);
        hbg_span_end(&outer, note, 2);
        hbg_span_end(&outer, note, 2);          /* inert by now */
    }
    return NULL;
}

static int by_thread_and_time(const void *a, const void *b)
{
    const struct trace_record *x = a, *y = b;
    if (x->tid != y->tid) return x->tid < y->tid ? -1 : 1;
    if (x->ts != y->ts) return x->ts < y->ts ? -1 : 1;
    return x->depth < y->depth ? -1 : x->depth > y->depth;
}

static void many_threads_tell(void **state)
{
    struct teller teller[THREADS];
    char path[TRACE_PATH];
    uint64_t seen = 0;
    (void)state;
    trace_path(path);
    struct hbg_device *device = trace_open("cpu:workers=1", HBG_TRACE_RUN, path);
    for (int i = 0; i < THREADS; i++) {
        teller[i] = (struct teller){ .device = device, .spans = SPANS };
        assert_int_equal(pthread_create(&teller[i].thread, NULL, tell, &teller[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(teller[i].thread, NULL);
    assert_int_equal(hbg_device_close(device), HBG_OK);
    struct trace_log log = read_log(path);
    assert_int_equal(log.record_count, 2 + THREADS * SPANS);
    assert_int_equal(log.session[0].emitted + log.session[0].dropped, log.record_count - 1);
    assert_int_equal(log.session[0].dropped, 0);
    qsort(log.record, log.record_count, sizeof *log.record, by_thread_and_time);
    for (size_t i = 0; i < log.record_count; i++) {
        const struct trace_record *r = &log.record[i];
        if (strncmp(r->name, "ext.", 4) != 0) continue;
        seen++;
        if (r->depth == 1) {
            assert_string_equal(r->name, "ext.user.inner.part");
            assert_true(i > 0 && log.record[i - 1].tid == r->tid && log.record[i - 1].depth == 0 && is_inside(r, &log.record[i - 1]));
        } else {
            assert_memory_equal(r->name, "ext.a.b.", 8);
            assert_string_equal(r->name + 8, NASTY);
            assert_string_equal(hbg__trace_note(&log, r, "key with = and ;"), NASTY);
            assert_string_equal(hbg__trace_note(&log, r, ""), "");
        }
    }
    assert_int_equal(seen, THREADS * SPANS);
    hbg__trace_log_free(&log);
}

/* ---- where it goes ---- */

static char heard[4096];
static int heard_lines;
static void hear(void *user, enum hbg_log_level level, const char *text)
{
    (void)user;
    (void)level;
    heard_lines++;
    snprintf(heard, sizeof heard, "%s", text);
}

static enum hbg_status open_with(enum hbg_trace_level level, const char *to, hbg_log_fn *log, struct hbg_error *error)
{
    struct hbg_device_options options = HBG_OPTIONS(device_options);
    struct hbg_device *device = NULL;
    options.trace = level;
    options.trace_to = to;
    options.log = log;
    options.error = error;
    enum hbg_status status = hbg_device_open("cpu:workers=1", &options, &device);
    if (!status) status = hbg_device_close(device);
    return status;
}

static void destinations(void **state)
{
    struct hbg_error error = HBG_OPTIONS(error);
    char path[TRACE_PATH], pattern[TRACE_PATH + 8], expected[TRACE_PATH + 16];
    (void)state;
    heard_lines = 0;
    assert_int_equal(open_with(HBG_TRACE_RUN, "log", hear, &error), HBG_OK);
    assert_int_equal(heard_lines, 2);
    assert_non_null(strstr(heard, "name=trace.end"));
    assert_int_equal(heard[strlen(heard) - 1], ';');
    trace_path(path);
    snprintf(pattern, sizeof pattern, "%s-%%%%-%%p", path);
    snprintf(expected, sizeof expected, "%s-%%-%ld", path, (long)getpid());
    assert_int_equal(open_with(HBG_TRACE_RUN, pattern, NULL, &error), HBG_OK);
    assert_int_equal(open_with(HBG_TRACE_RUN, pattern, NULL, &error), HBG_OK);          /* appends a session */
    struct trace_log log = read_log(expected);
    assert_int_equal(log.session_count, 2);
    hbg__trace_log_free(&log);
    static const struct { enum hbg_trace_level level; const char *to, *sentence; } wrong[] = {
        { HBG_TRACE_RUN, "log", "the trace shall go to the log, and the device has no log callback" },
        { HBG_TRACE_RUN, "/tmp/a%b", "the trace file \"/tmp/a%b\" is no path" },
        { HBG_TRACE_RUN, "/nowhere/at/all", "the trace file \"/nowhere/at/all\" cannot be written: No such file or directory" },
        { (enum hbg_trace_level)9, NULL, "the trace level 9 does not exist" } };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(open_with(wrong[i].level, wrong[i].to, NULL, &error), HBG_E_OPTION);
        if (!strstr(error.text, wrong[i].sentence)) fail_msg("%s", error.text);
    }
}

static void the_environment(void **state)
{
    struct hbg_error error = HBG_OPTIONS(error);
    char path[TRACE_PATH];
    (void)state;
    trace_path(path);
    setenv("HBG_TRACE_TO", path, 1);
    assert_int_equal(open_with(HBG_TRACE_UNSET, NULL, NULL, &error), HBG_OK);           /* no level: off */
    setenv("HBG_TRACE", "run", 1);
    assert_int_equal(open_with(HBG_TRACE_OFF, NULL, NULL, &error), HBG_OK);             /* the option goes first */
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_equal(open_with(HBG_TRACE_UNSET, NULL, NULL, &error), HBG_OK);
    struct trace_log log = read_log(path);
    assert_string_equal(hbg__trace_note(&log, &log.record[0], "level"), "run");
    hbg__trace_log_free(&log);
    heard_lines = 0;
    setenv("HBG_TRACE", "loud", 1);
    assert_int_equal(open_with(HBG_TRACE_UNSET, NULL, hear, &error), HBG_OK);           /* told of, and nothing is traced */
    assert_int_equal(heard_lines, 1);
    assert_string_equal(heard, "HBG_TRACE is \"loud\", which is none of off, run, phase and task: nothing is traced");
    setenv("HBG_TRACE", "run", 1);
    setenv("HBG_TRACE_TO", "/nowhere/at/all", 1);
    assert_int_equal(open_with(HBG_TRACE_UNSET, NULL, hear, &error), HBG_OK);
    assert_int_equal(heard_lines, 2);
    assert_non_null(strstr(heard, "nothing is traced: the trace file"));
    unsetenv("HBG_TRACE");
    unsetenv("HBG_TRACE_TO");
}

/* A full device takes a part of nothing: what is not written is counted. */
static void what_cannot_be_written_is_counted(void **state)
{
    if (access("/dev/full", W_OK) != 0) skip();
    (void)state;
    struct hbg_device *device = trace_open("cpu:workers=1", HBG_TRACE_RUN, "/dev/full");
    struct hbg_program *program = make_program(device, build_nothing, false);
    runs_well(program, (struct hbg_arg_list){ NULL, 0 }, NULL);
    /* relaxed: nobody writes now */
    assert_int_equal(hbg__load_relaxed64(&device->trace->dropped), 2);
    assert_int_equal(hbg__load_relaxed64(&device->trace->emitted), 0);
    hbg_program_destroy(program);
    assert_int_equal(hbg_device_close(device), HBG_OK);
}

int main(void)
{
    unsetenv("HBG_TRACE");
    unsetenv("HBG_TRACE_TO");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_phase_is_a_span), cmocka_unit_test(levels_and_their_copies), cmocka_unit_test(every_way_out_closes_the_spans),
        cmocka_unit_test(each_task_is_recorded), cmocka_unit_test(a_full_ring_keeps_the_last), cmocka_unit_test(a_task_with_many_producers),
        cmocka_unit_test(submissions_and_their_nodes), cmocka_unit_test(submissions_with_many_nodes), cmocka_unit_test(a_submission_that_fails),
        cmocka_unit_test(many_threads_tell), cmocka_unit_test(destinations), cmocka_unit_test(the_environment),
        cmocka_unit_test(what_cannot_be_written_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
