/* SPDX-License-Identifier: Apache-2.0 */
/* running_test.c - what a thread does for hbg, asked from everywhere, and from handlers of signals that kernels raise. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "support/devices.h"
#include "support/program.h"

enum { TASKS = 200, ASK, RAISE };
static struct hbg_running asked[TASKS];
static enum hbg_inside inside_build;
static struct hbg_running in_handler;
static const char *kernel_frame, *handler_frame;
static atomic_int handled;

static struct hbg_running ask(void)
{
    struct hbg_running r = HBG_OPTIONS(running);
    enum hbg_inside inside = hbg_running_get(&r);
    assert_int_equal(inside, r.inside);
    assert_int_equal(r.size, sizeof r);
    return r;
}

static int note(const struct hbg_task_view *t)
{
    struct hbg_running r = HBG_OPTIONS(running);
    r.inside = hbg_running_get(&r);
    /* the view is what the answer is compared with */
    if (r.worker != t->worker || r.task != t->task) return 1;
    asked[t->task] = r;
    return 0;
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    char here = 0;
    (void)number;
    (void)info;
    (void)context;
    in_handler.size = sizeof in_handler;
    hbg_running_get(&in_handler);
    handler_frame = &here;
    atomic_fetch_add(&handled, 1);
}

static int raise_it(const struct hbg_task_view *t)
{
    char here = 0;
    kernel_frame = &here;
    raise(SIGTRAP);
    return atomic_load(&handled) == 1 && t->task == in_handler.task ? 0 : 2;
}

static const struct hbg_kernel kernels[] = { HBG_KERNEL(0, note, ""), HBG_KERNEL(1, raise_it, "") };

static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    const int32_t *what = params;
    (void)args;
    inside_build = hbg_running_get(NULL);
    if (*what == ASK)
        for (int i = 0; i < TASKS; i++) hbg_submit(g, 0);
    else
        hbg_submit(g, 1);
}

static void every_task_knows_itself(struct hbg_device *device, const struct device_kind *kind)
{
    int32_t what = ASK;
    struct hbg_program *program = PROGRAM_WITH(device, build, kernels, what);
    memset(asked, 0, sizeof asked);
    inside_build = HBG_INSIDE_NOTHING;
    program_run(program, HBG_NO_ARGS, NULL, NULL);
    assert_int_equal(inside_build, HBG_INSIDE_BUILD);
    for (uint32_t i = 0; i < TASKS; i++) {
        assert_int_equal(asked[i].inside, HBG_INSIDE_KERNEL);
        assert_int_equal(asked[i].task, i);
        assert_int_equal(asked[i].kernel, 0);
        assert_in_range(asked[i].worker, 0, kind->workers - 1);
    }
    assert_int_equal(ask().inside, HBG_INSIDE_NOTHING);
    hbg_program_destroy(program);
}

static void a_handler_knows_the_task(struct hbg_device *device, const struct device_kind *kind)
{
    int32_t what = RAISE;
    struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK }, before;
    struct hbg_program *program = PROGRAM_WITH(device, build, kernels, what);
    (void)kind;
    sigemptyset(&action.sa_mask);
    assert_int_equal(sigaction(SIGTRAP, &action, &before), 0);
    atomic_store(&handled, 0);
    program_run(program, HBG_NO_ARGS, NULL, NULL);
    sigaction(SIGTRAP, &before, NULL);
    assert_int_equal(atomic_load(&handled), 1);
    assert_int_equal(in_handler.inside, HBG_INSIDE_KERNEL);
    assert_int_equal(in_handler.kernel, 1);
    assert_int_equal(in_handler.task, 0);
    ptrdiff_t apart = kernel_frame > handler_frame ? kernel_frame - handler_frame : handler_frame - kernel_frame;
    assert_true(apart > 64 << 10);              /* another stack: one handler's frame is far smaller */
    hbg_program_destroy(program);
}

static void a_wrong_size_is_left_alone(struct hbg_device *device, const struct device_kind *kind)
{
    struct hbg_running r;
    (void)device;
    (void)kind;
    memset(&r, 0x55, sizeof r);
    r.size = sizeof r - 1;
    assert_int_equal(hbg_running_get(&r), HBG_INSIDE_NOTHING);
    assert_int_equal(r.task, 0x55555555);
    assert_int_equal(hbg_running_get(NULL), HBG_INSIDE_NOTHING);
}

int main(void)
{
    static const struct device_test tests[] = {
        DEVICE_TEST(every_task_knows_itself), DEVICE_TEST(a_handler_knows_the_task), DEVICE_TEST(a_wrong_size_is_left_alone),
    };
    return DEVICE_TESTS_RUN(tests);
}
