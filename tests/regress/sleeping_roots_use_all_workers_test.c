/* SPDX-License-Identifier: Apache-2.0 */
/* Workers sleep when they find nothing. Whoever submits work wakes one, which wakes the next when it finds more than it takes. Ranges of roots,
 * plain or of a body, woke nobody, so that 32 tasks of 5 ms each ran on two of eight workers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"

enum { WORKERS = 8, TASKS = 32 };

static atomic_uint seen;

static int sleeps(const struct hbg_task_view *t)
{
    atomic_fetch_or(&seen, 1u << t->worker);
    sleep_ms(5);
    return 0;
}

static const struct hbg_kernel kernels[] = { HBG_KERNEL(0, sleeps, "inout i32") };

static void tasks(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    for (int i = 0; i < TASKS; i++) hbg_submit(g, 0, hbg_inout(hbg_slice(hbg_args_region(args, 0), 0, i, i + 1)));
}

static void body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    hbg_subgraph(g, hbg_key_of("tasks", NULL, 0), tasks, HBG_ARGS(hbg_inout(hbg_args_region(args, 0))));
}

static void run_on_all(hbg_build_fn *build)
{
    struct hbg_device *device = device_open("cpu:workers=8", NULL);
    struct hbg_program *program = PROGRAM(device, build, kernels);
    int32_t x[TASKS] = { 0 };
    int workers = 0;
    atomic_store(&seen, 0);
    sleep_ms(20);                       /* all workers have gone to sleep */
    program_run(program, HBG_ARGS(hbg_inout(HOST_I32(x, TASKS))), NULL, NULL);
    for (int i = 0; i < WORKERS; i++) workers += atomic_load(&seen) >> i & 1;
    assert_in_range(workers, 5, WORKERS);
    hbg_program_destroy(program);
    device_close(device);
}

static void plain(void **state)
{
    (void)state;
    run_on_all(tasks);
}

static void of_a_body(void **state)
{
    (void)state;
    run_on_all(body);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(plain), cmocka_unit_test(of_a_body) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
