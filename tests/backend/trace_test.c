/* SPDX-License-Identifier: Apache-2.0 */
/* trace_test.c - spans of runs and of users: which are written, that they nest, that every way out of a run closes them, and that the
 * copies of a run are as many as without them. trace_tasks_test.c: tasks.
 */
#include "unit/run/support.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/trace_file.h"
#include "support/trace_records.h"

static const char *const LEVEL[] = { "", "off", "run", "phase", "task" };
static const char *const PHASES[] = {
    "chip.run", "chip.run.bind", "chip.run.bind.args", "chip.run.bind.build", "chip.run.bind.upload", "chip.run.prepare_execution",
    "chip.run.prepare_execution.result_region", "chip.run.prepare_execution.descriptor", "chip.run.runner_run",
    "chip.run.runner_run.device_wall", "chip.run.validate", "chip.run.claim_release" };
enum { PHASE_COUNT = sizeof PHASES / sizeof *PHASES };

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
        struct trace_log log = trace_read(path);
        assert_int_equal(log.record_count, 2 + 3 * PHASE_COUNT);
        for (uint64_t run = 1; run <= 3; run++) {
            for (int i = 0; i < PHASE_COUNT; i++) {
                if (!trace_find(&log, run, PHASES[i])) fail_msg("run %d has no %s", (int)run, PHASES[i]);
            }
            trace_check_nesting(&log, run);
            const struct trace_record *build = trace_find(&log, run, "chip.run.bind.build"), *upload = trace_find(&log, run, "chip.run.bind.upload");
            const struct trace_record *descriptor = trace_find(&log, run, "chip.run.prepare_execution.descriptor");
            assert_int_equal(trace_number(&log, build, "replayed"), run > 1);
            assert_int_equal(trace_number(&log, build, "tasks"), 1);
            assert_int_equal(trace_number(&log, upload, "copies"), m ? (run > 1 ? 1 : 2) : 0);
            assert_int_equal(trace_number(&log, descriptor, "copies"), m);
            assert_int_equal(trace_number(&log, descriptor, "first"), run == 1);
            assert_int_equal(trace_number(&log, descriptor, "alloc_bytes") > 0, run == 1);
            assert_int_equal(trace_number(&log, trace_find(&log, run, "chip.run.validate"), "bytes"), m ? sizeof x : 0);
            assert_int_equal(trace_number(&log, trace_find(&log, run, "chip.run.runner_run.device_wall"), "executed"), 1);
            assert_string_equal(hbg__trace_note(&log, trace_find(&log, run, "chip.run"), "status"), "HBG_OK");
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
        struct trace_log log = trace_read(path);
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

    struct trace_log log = trace_read(path);
    static const char *const status[] = { "HBG_E_KERNEL", "HBG_E_TASK_ID", "HBG_E_REGION", "HBG_E_CANCELLED", "HBG_E_CANCELLED" };
    static const char *const last[] = { "chip.run.runner_run.device_wall", "chip.run.bind.args", "chip.run.bind.build", "chip.run.prepare_execution.descriptor", "chip.run.runner_run.device_wall" };
    for (uint64_t i = 1; i <= 5; i++) {
        assert_string_equal(hbg__trace_note(&log, trace_find(&log, i, "chip.run"), "status"), status[i - 1]);
        assert_non_null(trace_find(&log, i, last[i - 1]));
        assert_non_null(trace_find(&log, i, "chip.run.claim_release"));
        assert_int_equal(trace_find(&log, i, "chip.run.runner_run") != NULL, i == 1 || i == 5);
        trace_check_nesting(&log, i);
    }
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
    struct trace_log log = trace_read(path);
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
            assert_true(i > 0 && log.record[i - 1].tid == r->tid && log.record[i - 1].depth == 0 && trace_is_inside(r, &log.record[i - 1]));
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
    struct trace_log log = trace_read(expected);
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
    struct trace_log log = trace_read(path);
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
        cmocka_unit_test(many_threads_tell), cmocka_unit_test(destinations), cmocka_unit_test(the_environment),
        cmocka_unit_test(what_cannot_be_written_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
