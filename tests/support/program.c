/* SPDX-License-Identifier: Apache-2.0 */
/* program.c - see program.h. */
#include "support/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct hbg_program *program_create(struct hbg_device *device, const struct program_spec *spec)
{
    struct hbg_error error = HBG_OPTIONS(error);
    struct hbg_program_options options = HBG_OPTIONS(program_options);
    options.name = "test";
    options.build = spec->build;
    options.params = spec->params;
    options.params_size = spec->params_size;
    options.kernels = spec->kernels;
    options.kernel_count = spec->kernel_count;
    options.boundary = spec->boundary;
    options.pure_build = spec->pure;
    options.limit_tasks = spec->limit_tasks;
    options.error = &error;
    struct hbg_program *program = NULL;
    enum hbg_status status = hbg_program_create(device, &options, &program);
    if (status != HBG_OK) fail_msg("the program is not created: %s: %s", hbg_status_name(status), error.text);
    return program;
}

static void expect_ok(const char *phase, enum hbg_status status, const struct hbg_error *error)
{
    if (status == HBG_OK) return;
    fail_msg("%s: %s: %s [task %u, argument %d, name \"%s\", code %d]", phase, hbg_status_name(status), error->text, error->task,
             error->argument, error->name, error->code);
}

/* The error is the run's until it is finished. */
static struct hbg_run prepare(struct hbg_program *program, struct hbg_arg_list list, struct hbg_error *error)
{
    struct hbg_run_options options = HBG_OPTIONS(run_options);
    options.error = error;
    struct hbg_run run;
    expect_ok("prepare", hbg_run_prepare(program, list, &options, &run), error);
    return run;
}

void program_run(struct hbg_program *program, struct hbg_arg_list list, struct hbg_result *result, struct edges *edges)
{
    struct hbg_result own = HBG_OPTIONS(result);
    if (!result) result = &own;
    if (!edges) {
        expect_ok("run", hbg_run_sync(program, list, result), &result->error);
        return;
    }
    struct hbg_error error = HBG_OPTIONS(error);
    struct hbg_run run = prepare(program, list, &error);
    edges_of_run(edges, run);
    assert_int_equal(hbg_run_launch(run), HBG_OK);
    assert_int_equal(hbg_run_wait(run, HBG_FOREVER), HBG_OK);
    expect_ok("finish", hbg_run_finish(run, result), &result->error);
    assert_int_equal(result->edges, edges->count);
}

struct hbg_error program_run_fails(struct hbg_program *program, struct hbg_arg_list list, enum hbg_status expected)
{
    struct hbg_result result = HBG_OPTIONS(result);
    enum hbg_status status = hbg_run_sync(program, list, &result);
    if (status != expected) {
        fail_msg("%s instead of %s: %s", hbg_status_name(status), hbg_status_name(expected), status ? result.error.text : "");
    }
    assert_int_equal(result.error.status, expected);
    assert_true(strlen(result.error.text) > 3);
    return result.error;
}

void program_edges(struct hbg_program *program, struct hbg_arg_list list, struct edges *edges)
{
    struct hbg_result result = HBG_OPTIONS(result);
    struct hbg_error error = HBG_OPTIONS(error);
    struct hbg_run run = prepare(program, list, &error);
    edges_of_run(edges, run);
    assert_int_equal(hbg_run_cancel(run), HBG_OK);
    enum hbg_status status = hbg_run_finish(run, &result);
    if (status != HBG_OK && status != HBG_E_CANCELLED) expect_ok("finish", status, &result.error);
}

void graph_run(struct hbg_device *device, hbg_build_fn *build, const struct hbg_kernel *kernels, size_t kernel_count,
               struct hbg_arg_list list, struct hbg_result *result, struct edges *edges)
{
    struct program_spec spec = { .build = build, .kernels = kernels, .kernel_count = kernel_count };
    struct hbg_program *program = program_create(device, &spec);
    program_run(program, list, result, edges);
    hbg_program_destroy(program);
}

struct hbg_counters counters_of(const struct hbg_device *device)
{
    struct hbg_counters counters = HBG_OPTIONS(counters);
    hbg_device_counters(device, &counters);
    return counters;
}
