/* SPDX-License-Identifier: Apache-2.0 */
/* trace_tasks_test.c - records of tasks, of submissions and of their nodes: that each is there once, what it says, and which a full ring keeps. */
#include "unit/run/support.h"

#include <stdlib.h>

#include "support/trace_file.h"
#include "support/trace_records.h"

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
    told.log = trace_read(path);
    return told;
}

static const struct trace_record *find_task(const struct trace_log *log, uint64_t invocation, uint64_t task)
{
    for (size_t i = 0; i < log->record_count; i++) {
        const struct trace_record *r = &log->record[i];
        if (r->invocation == invocation && strcmp(r->name, "chip.run.runner_run.device_wall.task") == 0 && trace_number(log, r, "task") == task) return r;
    }
    return NULL;
}

/* Every task once, in the order of its times, on a core that was free; ready when its last producer ended. */
static void check_tasks(const struct trace_log *log, uint64_t invocation, uint64_t workers)
{
    const struct trace_record *wall = trace_find(log, invocation, "chip.run.runner_run.device_wall");
    uint64_t busy[8] = { 0 };
    for (uint64_t task = 0; task < TASKS; task++) {
        const struct trace_record *r = find_task(log, invocation, task);
        assert_non_null(r);
        assert_true(trace_is_inside(r, wall));
        assert_true(trace_number(log, r, "core") < workers);
        busy[trace_number(log, r, "core")] += r->dur;
        assert_true(trace_number(log, r, "dispatched") <= r->ts);
        assert_true(trace_number(log, r, "ready") <= r->ts);
        if (task >= TILES && task < 3 * TILES) {
            char producer[16];
            const struct trace_record *before = find_task(log, invocation, task - TILES);
            snprintf(producer, sizeof producer, "%d", (int)task - TILES);
            assert_string_equal(hbg__trace_note(log, r, "producers"), producer);
            assert_int_equal(trace_number(log, r, "ready"), before->ts + before->dur);
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
            const struct trace_record *collect = trace_find(&told.log, run, "chip.run.collect_tasks");
            bool used[8] = { 0 };
            check_tasks(&told.log, run, device[d].workers);
            assert_int_equal(trace_number(&told.log, collect, "records"), TASKS);
            assert_int_equal(trace_number(&told.log, collect, "lost"), 0);
            assert_int_equal(trace_number(&told.log, trace_find(&told.log, run, "chip.run.prepare_execution.counter_table"), "copies"), 0);
            for (uint64_t task = 0; task < TASKS; task++) used[trace_number(&told.log, find_task(&told.log, run, task), "core")] = true;
            uint64_t expected = 1;              /* the heads, and one for each core that ran something */
            for (int i = 0; i < 8; i++) expected += used[i];
            assert_int_equal(trace_number(&told.log, collect, "copies"), device[d].discrete ? expected : 0);
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
        const struct trace_record *collect = trace_find(&told.log, run, "chip.run.collect_tasks");
        assert_int_equal(trace_number(&told.log, collect, "records"), 7);
        assert_int_equal(trace_number(&told.log, collect, "lost"), TASKS - 7);
        assert_int_equal(trace_number(&told.log, collect, "copies"), 2);
        for (uint64_t task = 0; task < TASKS; task++) assert_int_equal(find_task(&told.log, run, task) != NULL, task >= TASKS - 7);
        assert_null(hbg__trace_note(&told.log, find_task(&told.log, run, TASKS - 2), "ready"));        /* a producer of it was overwritten */
    }
    hbg__trace_log_free(&told.log);
}

enum { WIDE = 1500, PRODUCERS_MAX = 1500 };

/* Of one run without arguments; the caller frees it. */
static struct trace_log log_of(hbg_build_fn *build)
{
    char path[TRACE_PATH];
    atomic_store(&hold_open, 1);
    trace_path(path);
    struct hbg_device *device = trace_open("cpu:workers=2", HBG_TRACE_TASK, path);
    struct hbg_program *program = make_program(device, build, false);
    runs_well(program, (struct hbg_arg_list){ NULL, 0 }, NULL);
    hbg_program_destroy(program);
    assert_int_equal(hbg_device_close(device), HBG_OK);
    return trace_read(path);
}

/* Of one task, from all records that tell of it. */
static void check_producers(const struct trace_log *log, uint64_t task, uint64_t first, uint64_t count)
{
    bool seen[PRODUCERS_MAX] = { false };
    uint64_t own, found = 0;
    assert_true(count <= PRODUCERS_MAX);
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

/* More producers than a record holds: further records go on with them. */
static void build_wide(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    static struct hbg_arg after[WIDE];
    (void)args;
    (void)params;
    for (int i = 0; i < WIDE; i++) after[i] = hbg_after(hbg_submit(g, HOLD));
    hbg_submit_args(g, HOLD, (struct hbg_arg_list){ after, WIDE });
}

static void a_task_with_many_producers(void **state)
{
    (void)state;
    struct trace_log log = log_of(build_wide);
    check_producers(&log, WIDE, 0, WIDE);
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
        if (ready) assert_int_equal(trace_number(log, r, "ready"), ready);
        if (strcmp(told_of[task].kind, "submission") == 0) assert_int_equal(r->ts + r->dur, ready);
    }
    assert_int_equal(find_told(log, invocation, 1)->ts, find_told(log, invocation, 5)->ts < find_told(log, invocation, 7)->ts ? find_told(log, invocation, 5)->ts : find_told(log, invocation, 7)->ts);
    assert_int_equal(trace_number(log, find_told(log, invocation, 1), "nodes"), 5);
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
        struct trace_log log = trace_read(path);
        for (uint64_t run = 1; run <= 3; run++) {
            check_told(&log, run);
            trace_check_nesting(&log, run);
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

static void submissions_with_many_nodes(void **state)
{
    (void)state;
    struct trace_log log = log_of(build_wide_bodies);
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
    struct trace_log log = trace_read(path);
    for (uint64_t task = 0; task < 4; task++) assert_int_equal(find_told(&log, 1, task) != NULL, task == 2);
    hbg__trace_log_free(&log);
}

int main(void)
{
    unsetenv("HBG_TRACE");
    unsetenv("HBG_TRACE_TO");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_task_is_recorded), cmocka_unit_test(a_full_ring_keeps_the_last), cmocka_unit_test(a_task_with_many_producers),
        cmocka_unit_test(submissions_and_their_nodes), cmocka_unit_test(submissions_with_many_nodes), cmocka_unit_test(a_submission_that_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
