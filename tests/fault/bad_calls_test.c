/* SPDX-License-Identifier: Apache-2.0 */
/* bad_calls_test.c - public functions with NULL, in the wrong order, with stale, foreign and made-up handles, and with objects of
 * another device: each says so, changes nothing, and the device works afterwards.
 *
 * Every exported function of a device, a program, a run, a graph or a buffer is called here; tests/abi/symbols_test.sh looks for its
 * name in this file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"

enum { ADD_ONE, NOTHING, KERNEL_COUNT };

static int add_one(const struct hbg_task_view *t) { ++*HBG_VIEW(int32_t, t, 0); return 0; }
static int nothing(const struct hbg_task_view *t) { (void)t; return 0; }
static const struct hbg_kernel kernels[] = { HBG_KERNEL(ADD_ONE, add_one, "inout i32"), HBG_KERNEL(NOTHING, nothing, NULL) };

static void add_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_task added = hbg_submit(g, ADD_ONE, hbg_inout(hbg_args_region(args, 0)));
    hbg_submit(g, NOTHING, hbg_after(added));
}

static int32_t number;
#define LIST HBG_ARGS(hbg_inout(HOST_I32(&number, 1)))

static void still_works(struct hbg_program *program)
{
    number = 0;
    program_run(program, LIST, NULL, NULL);
    assert_int_equal(number, 1);
}

/* ---- handles of runs ---- */

enum { IMAGE, GRAPH, TASK, ARGUMENT, EDGE, LAUNCH, POLL, WAIT, CANCEL, FINISH, RUN_CALLS };
static const char *const run_call_name[RUN_CALLS] = { "hbg_run_image", "hbg_run_graph", "hbg_run_task", "hbg_run_argument", "hbg_run_edge", "hbg_run_launch", "hbg_run_poll", "hbg_run_wait", "hbg_run_cancel", "hbg_run_finish" };

static enum hbg_status call_run(int call, struct hbg_run run)
{
    const void *image;
    size_t size;
    enum hbg_run_state state;
    struct hbg_graph_info graph = HBG_OPTIONS(graph_info);
    struct hbg_task_info task = HBG_OPTIONS(task_info);
    struct hbg_argument_info argument = HBG_OPTIONS(argument_info);
    struct hbg_edge_info edge = HBG_OPTIONS(edge_info);
    switch (call) {
    case IMAGE: return hbg_run_image(run, &image, &size);
    case GRAPH: return hbg_run_graph(run, &graph);
    case TASK: return hbg_run_task(run, 0, &task);
    case ARGUMENT: return hbg_run_argument(run, 0, 0, &argument);
    case EDGE: return hbg_run_edge(run, 1, 0, &edge);
    case LAUNCH: return hbg_run_launch(run);
    case POLL: return hbg_run_poll(run, &state);
    case WAIT: return hbg_run_wait(run, HBG_FOREVER);
    case CANCEL: return hbg_run_cancel(run);
    default: return hbg_run_finish(run, NULL);
    }
}

static void expect(int call, struct hbg_run run, enum hbg_status expected, const char *what)
{
    enum hbg_status status = call_run(call, run);
    if (status != expected) fail_msg("%s of %s: %s instead of %s", run_call_name[call], what, hbg_status_name(status), hbg_status_name(expected));
}

static void handles_that_are_none(struct hbg_device *device, const struct device_kind *kind)
{
    struct hbg_device *other = device_open(kind->spec, NULL);
    struct hbg_program *program = PROGRAM(device, add_build, kernels), *second = PROGRAM(device, add_build, kernels), *foreign = PROGRAM(other, add_build, kernels);
    struct hbg_run run, elsewhere;
    int32_t second_number = 0;
    number = 0;
    assert_int_equal(hbg_run_prepare(program, LIST, NULL, &run), HBG_OK);
    assert_int_equal(hbg_run_prepare(foreign, HBG_ARGS(hbg_inout(HOST_I32(&second_number, 1))), NULL, &elsewhere), HBG_OK);
    const struct { const char *what; struct hbg_run run; enum hbg_status expected; } cases[] = {
        { "nothing", { NULL, 0, 0 }, HBG_E_NULL }, { "a NULL program", { NULL, run.slot, run.generation }, HBG_E_NULL },
        { "a slot that there is not", { program, UINT32_MAX, run.generation }, HBG_E_STALE },
        { "a slot that nobody has yet", { program, run.slot + 1000, run.generation }, HBG_E_STALE },
        { "an earlier generation", { program, run.slot, run.generation - 1 }, HBG_E_STALE },
        { "a later generation", { program, run.slot, run.generation + 1 }, HBG_E_STALE },
        { "another program of the device", { second, run.slot, run.generation }, HBG_E_STALE },
        { "a program of another device", { foreign, run.slot, run.generation }, HBG_E_STALE },
        { "the slot of another device", { program, elsewhere.slot, elsewhere.generation }, HBG_E_STALE },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int call = 0; call < RUN_CALLS; call++) expect(call, cases[i].run, cases[i].expected, cases[i].what);
    }
    for (int both = 0; both < 2; both++) {          /* the two runs noticed nothing */
        struct hbg_run mine = both ? elsewhere : run;
        assert_int_equal(hbg_run_launch(mine), HBG_OK);
        assert_int_equal(hbg_run_wait(mine, HBG_FOREVER), HBG_OK);
        assert_int_equal(hbg_run_finish(mine, NULL), HBG_OK);
        for (int call = 0; call < RUN_CALLS; call++) expect(call, mine, HBG_E_STALE, "a finished run");
    }
    assert_int_equal(number, 1);
    assert_int_equal(second_number, 1);
    still_works(program);
    hbg_program_destroy(second);
    hbg_program_destroy(foreign);
    device_close(other);
    for (int call = 0; call < RUN_CALLS; call++) expect(call, elsewhere, HBG_E_STALE, "a run of a closed device");
    hbg_program_destroy(program);
    for (int call = 0; call < RUN_CALLS; call++) expect(call, run, HBG_E_STALE, "a run of a destroyed program");
}

/* What each call says in each state; finish is the last and ends it. */
static void calls_in_the_wrong_order(struct hbg_device *device, const struct device_kind *kind)
{
    enum { PREPARED, ENDED, GIVEN_UP, STATES };
    static const char *const state_name[STATES] = { "a prepared run", "a run that has ended", "a run that was cancelled before its launch" };
    static const enum hbg_status expected[STATES][RUN_CALLS] = {
        [PREPARED] = { HBG_OK, [FINISH] = HBG_E_ORDER, [WAIT] = HBG_E_ORDER },
        [ENDED] = { HBG_OK, [LAUNCH] = HBG_E_ORDER },
        [GIVEN_UP] = { HBG_OK, [LAUNCH] = HBG_E_ORDER, [FINISH] = HBG_E_CANCELLED },
    };
    struct hbg_program *program = PROGRAM(device, add_build, kernels);
    (void)kind;
    for (int state = 0; state < STATES; state++) {
        for (int call = 0; call < RUN_CALLS; call++) {
            struct hbg_run run;
            assert_int_equal(hbg_run_prepare(program, LIST, NULL, &run), HBG_OK);
            if (state == ENDED) assert_int_equal(hbg_run_launch(run), HBG_OK);
            if (state == ENDED) assert_int_equal(hbg_run_wait(run, HBG_FOREVER), HBG_OK);
            if (state == GIVEN_UP) assert_int_equal(hbg_run_cancel(run), HBG_OK);
            expect(call, run, expected[state][call], state_name[state]);
            assert_int_equal(hbg_run_cancel(run), call == FINISH && state != PREPARED ? HBG_E_STALE : HBG_OK);
            (void)!hbg_run_wait(run, HBG_FOREVER);
            (void)!hbg_run_finish(run, NULL);
            assert_int_equal(hbg_run_finish(run, NULL), HBG_E_STALE);
        }
        still_works(program);
    }
    hbg_program_destroy(program);
}

static void looks_at_what_there_is_not(struct hbg_device *device, const struct device_kind *kind)
{
    struct hbg_program *program = PROGRAM(device, add_build, kernels);
    struct hbg_graph_info graph = { 0 };
    struct hbg_task_info task = HBG_OPTIONS(task_info);
    struct hbg_argument_info argument = HBG_OPTIONS(argument_info);
    struct hbg_edge_info edge = HBG_OPTIONS(edge_info);
    const void *image;
    size_t size;
    struct hbg_run run;
    (void)kind;
    assert_int_equal(hbg_run_prepare(program, LIST, NULL, &run), HBG_OK);
    assert_int_equal(hbg_run_image(run, NULL, &size), HBG_E_NULL);
    assert_int_equal(hbg_run_image(run, &image, NULL), HBG_E_NULL);
    assert_int_equal(hbg_run_poll(run, NULL), HBG_E_NULL);
    assert_int_equal(hbg_run_graph(run, NULL), HBG_E_NULL);
    assert_int_equal(hbg_run_graph(run, &graph), HBG_E_ABI);
    assert_int_equal(hbg_run_task(run, 0, NULL), HBG_E_NULL);
    assert_int_equal(hbg_run_argument(run, 0, 0, NULL), HBG_E_NULL);
    assert_int_equal(hbg_run_edge(run, 1, 0, NULL), HBG_E_NULL);
    static const uint32_t outside[] = { 2, 3, INT32_MAX, UINT32_MAX - 1, UINT32_MAX };
    for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++) {
        assert_int_equal(hbg_run_task(run, outside[i], &task), HBG_E_TASK_ID);
        assert_int_equal(hbg_run_argument(run, outside[i], 0, &argument), HBG_E_TASK_ID);
        assert_int_equal(hbg_run_argument(run, 0, outside[i], &argument), HBG_E_OPTION);
        assert_int_equal(hbg_run_edge(run, outside[i], 0, &edge), HBG_E_TASK_ID);
        assert_int_equal(hbg_run_edge(run, 1, outside[i], &edge), HBG_E_OPTION);
    }
    assert_int_equal(hbg_run_cancel(run), HBG_OK);
    assert_int_equal(hbg_run_finish(run, NULL), HBG_E_CANCELLED);
    still_works(program);
    hbg_program_destroy(program);
}

/* ---- buffers, devices and programs ---- */

static void calls_without_objects(struct hbg_device *device, const struct device_kind *kind)
{
    struct hbg_program_options options = HBG_OPTIONS(program_options);
    struct hbg_program *program = PROGRAM(device, add_build, kernels), *none = NULL;
    struct hbg_buffer *buffer = NULL;
    struct hbg_device *opened = NULL;
    struct hbg_counters counters = HBG_OPTIONS(counters);
    struct hbg_run run;
    int64_t word = 0;
    (void)kind;
    assert_int_equal(hbg_device_open(NULL, NULL, &opened), HBG_E_NULL);
    assert_int_equal(hbg_device_open("cpu", NULL, NULL), HBG_E_NULL);
    assert_int_equal(hbg_device_close(NULL), HBG_OK);
    assert_int_equal(hbg_device_workers(NULL), 0);
    assert_int_equal(hbg_device_depth(NULL), 0);
    hbg_device_counters(NULL, &counters);
    hbg_device_counters(device, NULL);
    assert_int_equal(hbg_program_create(NULL, &options, &none), HBG_E_NULL);
    assert_int_equal(hbg_program_create(device, NULL, &none), HBG_E_NULL);
    assert_int_equal(hbg_program_create(device, &options, &none), HBG_E_NULL);
    hbg_program_destroy(NULL);
    assert_int_equal(hbg_buffer_create(NULL, 8, &buffer), HBG_E_NULL);
    assert_int_equal(hbg_buffer_create(device, 8, NULL), HBG_E_NULL);
    assert_int_equal(hbg_buffer_create(device, 8, &buffer), HBG_OK);
    hbg_buffer_destroy(NULL);
    assert_int_equal(hbg_buffer_write(NULL, 0, &word, 8), HBG_E_NULL);
    assert_int_equal(hbg_buffer_read(NULL, 0, &word, 8), HBG_E_NULL);
    assert_int_equal(hbg_buffer_write(buffer, 0, NULL, 8), HBG_E_NULL);
    assert_int_equal(hbg_buffer_read(buffer, 0, NULL, 8), HBG_E_NULL);
    assert_int_equal(hbg_buffer_write(buffer, 0, NULL, 0), HBG_OK);
    static const size_t outside[][2] = { { 1, 8 }, { 9, 0 }, { 0, 9 }, { SIZE_MAX, 1 }, { 1, SIZE_MAX }, { SIZE_MAX, SIZE_MAX } };
    for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++) {
        assert_int_equal(hbg_buffer_write(buffer, outside[i][0], &word, outside[i][1]), HBG_E_REGION);
        assert_int_equal(hbg_buffer_read(buffer, outside[i][0], &word, outside[i][1]), HBG_E_REGION);
    }
    assert_true(hbg_buffer_region(NULL, 0, HBG_U8, HBG_SHAPE(1)).flags & HBG_REGION_BAD);
    assert_int_equal(hbg_run_prepare(NULL, HBG_NO_ARGS, NULL, &run), HBG_E_NULL);
    assert_int_equal(hbg_run_prepare(program, LIST, NULL, NULL), HBG_E_NULL);
    assert_int_equal(hbg_run_sync(NULL, HBG_NO_ARGS, NULL), HBG_E_NULL);
    assert_int_equal(hbg_run_once(NULL, NULL, HBG_NO_ARGS, NULL), HBG_E_NULL);
    assert_int_equal(hbg_image_verify(NULL, 96, NULL), HBG_E_NULL);
    assert_int_equal(hbg_complete((struct hbg_token){ { 0, 0 } }, 0), HBG_E_UNSUPPORTED);
    still_works(program);
    hbg_buffer_destroy(buffer);
    hbg_program_destroy(program);
}

static struct hbg_buffer *named;
static void named_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)args, (void)params;
    hbg_submit(g, NOTHING, hbg_inout(hbg_buffer_region(named, 0, HBG_I32, HBG_SHAPE(1))));
}

static void buffers_of_another_device(struct hbg_device *device, const struct device_kind *kind)
{
    struct hbg_device *other = device_open(kind->spec, NULL);
    struct hbg_program *program = PROGRAM(device, add_build, kernels), *names = PROGRAM(device, named_build, kernels);
    assert_int_equal(hbg_buffer_create(other, 4, &named), HBG_OK);
    struct hbg_region foreign = hbg_buffer_region(named, 0, HBG_I32, HBG_SHAPE(1));
    assert_non_null(strstr(program_run_fails(program, HBG_ARGS(hbg_inout(foreign)), HBG_E_REGION).text, "of another device"));
    assert_non_null(strstr(program_run_fails(names, HBG_NO_ARGS, HBG_E_REGION).text, "another device"));
    device_close(other);
    assert_int_equal(hbg_buffer_write(named, 0, &number, 4), HBG_E_DEVICE);     /* it outlives its device, and is of no use */
    hbg_buffer_destroy(named);
    assert_non_null(strstr(program_run_fails(program, HBG_ARGS(hbg_inout(foreign)), HBG_E_REGION).text, "destroyed"));
    still_works(program);
    hbg_program_destroy(names);
    hbg_program_destroy(program);
}

/* ---- graphs ---- */

static void graphs_of_null(void **state)
{
    const struct hbg_args none = { NULL, 0, NULL };
    struct hbg_task_options options = HBG_OPTIONS(task_options);
    struct hbg_error error = HBG_OPTIONS(error);
    (void)state;
    assert_int_equal(hbg_submit_args(NULL, 0, HBG_NO_ARGS).id, UINT32_MAX);
    assert_int_equal(hbg_submit_args_ex(NULL, 0, &options, HBG_NO_ARGS).id, UINT32_MAX);
    assert_int_equal(hbg_noop_args(NULL, HBG_NO_ARGS).id, UINT32_MAX);
    assert_int_equal(hbg_subgraph(NULL, hbg_key_of("body", NULL, 0), add_build, HBG_NO_ARGS).id, UINT32_MAX);
    assert_true(hbg_alloc(NULL, HBG_F32, HBG_SHAPE(4)).flags & HBG_REGION_BAD);
    hbg_barrier(NULL);
    hbg_scope_begin(NULL, HBG_SCOPE_AUTO);
    hbg_scope_end(NULL);
    hbg_guard(NULL, &error, sizeof error);
    hbg_graph_fail(NULL, 1, "nobody hears it");
    assert_int_equal(hbg_graph_error(NULL, &error), HBG_E_NULL);
    assert_null(hbg_read(NULL, hbg_alloc(NULL, HBG_F32, HBG_SHAPE(4))));
    assert_int_equal(hbg_read_i32(NULL, hbg_alloc(NULL, HBG_F32, HBG_SHAPE(4)), HBG_SHAPE(0)), 0);
    for (int i = 0; i < 2; i++) {           /* without a graph, and without a boundary */
        const struct hbg_args *args = i ? &none : NULL;
        assert_false(hbg_args_get_bool(args, 0));
        assert_int_equal(hbg_args_get_u32(args, 0), 0);
        assert_int_equal(hbg_args_get_u64(args, 0), 0);
        assert_int_equal(hbg_args_get_i32(args, 0), 0);
        assert_int_equal(hbg_args_get_i64(args, 0), 0);
        assert_true(hbg_args_get_f32(args, 0) == 0.0f);
        assert_true(hbg_args_get_f64(args, 0) == 0.0);
    }
    assert_true(hbg_args_region(&none, 0).flags & HBG_REGION_BAD);
    assert_true(hbg_args_region(&none, -1).flags & HBG_REGION_BAD);
}

static void running_of_nothing(void **state)
{
    struct hbg_running small = { .size = 8, .worker = 4711 };
    (void)state;
    assert_int_equal(hbg_running_get(NULL), HBG_INSIDE_NOTHING);
    assert_int_equal(hbg_running_get(&small), HBG_INSIDE_NOTHING);
    assert_int_equal(small.worker, 4711);
}

/* Nothing is traced: spans are inert, whatever they are given. */
static void spans_of_nothing(void **state)
{
    struct hbg_span none = hbg_span_begin(NULL, NULL, NULL);
    (void)state;
    assert_null(none.device);
    hbg_span_end(&none, NULL, 3);
    hbg_span_end(NULL, NULL, 0);
}

/* ---- platforms ---- */

static void platforms_that_are_none(void **state)
{
    struct hbg_platform_info info = HBG_OPTIONS(platform_info), untouched = { .size = sizeof info };
    (void)state;
    assert_int_equal(hbg_platform_get(0, NULL), HBG_E_NULL);
    assert_int_equal(hbg_platform_get(UINT32_MAX, &info), HBG_E_OPTION);
    assert_memory_equal(&info, &untouched, sizeof info);
    info.size = untouched.size = 4;
    assert_int_equal(hbg_platform_get(0, &info), HBG_E_ABI);
    info.size = untouched.size = SIZE_MAX;
    assert_int_equal(hbg_platform_get(0, &info), HBG_E_ABI);
    assert_memory_equal(&info, &untouched, sizeof info);
    assert_null(hbg_platform_hardware(NULL));
    assert_null(hbg_platform_hardware("cqu:workers=1"));
    assert_null(hbg_platform_hardware(""));
    assert_string_equal(hbg_platform_hardware("null:no_such_key=1"), "cpu");
}

/* ---- regions that no function made ---- */

static void wild_views(void **state)
{
    static const int64_t odd[] = { INT64_MIN, -1, 0, 1, 5, 6, 255, INT64_MAX };
    enum { ODD = sizeof odd / sizeof odd[0] };
    float x[4] = { 0 };
    (void)state;
    for (int i = 0; i < ODD * ODD * ODD; i++) {
        struct hbg_region r = hbg_host(x, HBG_F32, HBG_SHAPE(4));
        struct hbg_shape shape = { .dim = { odd[i % ODD], odd[i / ODD % ODD], 3, 3, 3 }, .rank = (int)odd[i / ODD / ODD] };
        r.rank = (uint8_t)odd[i % ODD];
        r.shape[0] = odd[i / ODD % ODD];
        r.stride_bytes[0] = odd[i / ODD / ODD];
        bool wild = r.rank > HBG_RANK_MAX;
        const struct hbg_region views[] = {
            hbg_index(r, (int)odd[i % ODD], odd[i / ODD % ODD]), hbg_permute(r, shape), hbg_reshape(r, shape), hbg_broadcast(r, shape), hbg_cast_view(r, HBG_RECORD(7)),
            hbg_host(x, HBG_F32, shape), hbg_host_const(x, HBG_F32, shape), hbg_host_strided(x, HBG_F32, shape, shape),
        };
        for (size_t k = 0; k < sizeof views / sizeof views[0]; k++) {
            bool is_bad = views[k].flags & HBG_REGION_BAD;
            if (!is_bad && (views[k].rank > HBG_RANK_MAX || (k < 5 && wild))) fail_msg("case %d: view %zu has the rank %u", i, k, views[k].rank);
        }
    }
}

struct wild { struct hbg_region region; int kind; };
static struct wild wild;

static void wild_build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_region r = wild.region;
    struct hbg_arg arg = hbg_in(r);
    (void)params;
    hbg_submit(g, ADD_ONE, hbg_inout(hbg_args_region(args, 0)));
    arg.u.region.storage = hbg_args_region(args, 0).storage;
    arg.kind = (uint16_t)wild.kind;
    hbg_submit(g, NOTHING, arg);
    if (wild.kind == HBG_ARG_IN) (void)hbg_read(g, arg.u.region);
    hbg_noop(g, arg);
}

/* One member of a region of the boundary becomes a number that no function gives it: the build takes it or names it. */
static void wild_regions(struct hbg_device *device, const struct device_kind *kind)
{
    static const int64_t odd[] = { INT64_MIN, INT64_MIN / 2, -4, -1, 0, 1, 2, 3, 4, 5, 7, 8, 255, 1 << 20, INT64_MAX / 4, INT64_MAX };
    static const int kinds[] = { HBG_ARG_IN, HBG_ARG_OUT, HBG_ARG_INOUT, HBG_ARG_UNTRACKED, HBG_ARG_ACCUMULATE, 0, 7, 77, UINT16_MAX };
    struct hbg_program *program = PROGRAM(device, wild_build, kernels);
    int refused = 0;
    (void)kind;
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        for (int member = 0; member < 14; member++) {
            for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
                struct hbg_region *r = &wild.region;
                *r = (struct hbg_region){ .dtype = HBG_I32, .rank = 2, .shape = { 1, 1 }, .stride_bytes = { 4, 4 } };
                wild.kind = kinds[k];
                if (member < 5) r->shape[member] = odd[i];
                else if (member < 10) r->stride_bytes[member - 5] = odd[i];
                else if (member == 10) r->offset_bytes = odd[i];
                else if (member == 11) r->rank = (uint8_t)odd[i];
                else if (member == 12) r->dtype = (uint16_t)odd[i];
                else r->flags = (uint8_t)odd[i];
                struct hbg_result result = HBG_OPTIONS(result);
                enum hbg_status status = hbg_run_sync(program, LIST, &result);
                if (status != result.error.status || (status && strlen(result.error.text) < 10)) fail_msg("kind %d, member %d, %lld: %s: %s", kinds[k], member, (long long)odd[i], hbg_status_name(status), result.error.text);
                refused += status != HBG_OK;
            }
        }
    }
    assert_true(refused > 500);
    hbg_program_destroy(program);
}

int main(void)
{
    static const struct device_test tests[] = {
        DEVICE_TEST(handles_that_are_none), DEVICE_TEST(calls_in_the_wrong_order), DEVICE_TEST(looks_at_what_there_is_not), DEVICE_TEST(calls_without_objects), DEVICE_TEST(buffers_of_another_device),
        DEVICE_TEST(wild_regions),
    };
    const struct CMUnitTest others[] = { cmocka_unit_test(graphs_of_null), cmocka_unit_test(running_of_nothing), cmocka_unit_test(spans_of_nothing), cmocka_unit_test(platforms_that_are_none), cmocka_unit_test(wild_views) };
    return cmocka_run_group_tests(others, NULL, NULL) + DEVICE_TESTS_RUN(tests);
}
