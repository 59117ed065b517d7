/* SPDX-License-Identifier: Apache-2.0 */
/* 08_in_flight.c - two runs in flight from one thread: while one executes, the next is prepared, and the results of the one before are used.
 *
 *     prepare 0   launch 0   prepare 1   launch 1   wait 0, finish 0, use 0   prepare 2   launch 2   wait 1 ..
 *     device:                |======== 0 ========||======== 1 ================||======== 2 ..
 *
 * Each run in flight has its own input and output: a prepare waits for runs that write what it reads or use what it writes. What the
 * kernels carry on from run to run, here a running sum, lives in a device buffer: runs execute in the order of their launches, so the
 * buffer needs no copy of its own. Nobody has to wait where a callback will do: `counted` is called when a run has ended.
 */
#include <hbg/hbg.h>
#include <stdio.h>

enum { IN_FLIGHT = 2, FRAMES = 100, COUNT = 4096 };

/* sum += in; out = sum */
static int accumulate(const struct hbg_task_view *t)
{
    const int32_t *in = HBG_VIEW(const int32_t, t, 0);
    int32_t *sum = HBG_VIEW(int32_t, t, 1), *out = HBG_VIEW(int32_t, t, 2);
    for (int64_t i = 0; i < hbg_view_count(t, 0); i++) out[i] = sum[i] += in[i];
    return 0;
}

static const struct hbg_kernel kernels[] = { HBG_KERNEL(0, accumulate, "in i32, inout i32, out i32") };

static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    for (int i = 0; i < 8; i++) {
        struct hbg_shape block = HBG_SHAPE(COUNT / 8), at = HBG_SHAPE(i);
        hbg_submit(g, 0, hbg_in(hbg_cell(hbg_args_region(args, 0), block, at)), hbg_inout(hbg_cell(hbg_args_region(args, 1), block, at)),
                   hbg_out(hbg_cell(hbg_args_region(args, 2), block, at)));
    }
}

static int ended;
static void counted(void *user, struct hbg_run run, enum hbg_status status)     /* on a worker's thread: short, and without calls of hbg */
{
    (void)user, (void)run, (void)status;
    __atomic_fetch_add(&ended, 1, __ATOMIC_RELAXED);
}

struct frame { int32_t in[COUNT], out[COUNT]; struct hbg_run run; };

static enum hbg_status start(struct hbg_program *program, struct hbg_region sum, struct frame *f, int number)
{
    struct hbg_run_options options = HBG_OPTIONS(run_options);
    options.done = counted;
    for (int i = 0; i < COUNT; i++) f->in[i] = number;
    enum hbg_status s = hbg_run_prepare(program, HBG_ARGS(hbg_in(hbg_host(f->in, HBG_I32, HBG_SHAPE(COUNT))), hbg_inout(sum),
                                        hbg_out(hbg_host(f->out, HBG_I32, HBG_SHAPE(COUNT)))), &options, &f->run);
    return s ? s : hbg_run_launch(f->run);
}

/* The sum of the numbers up to this one. */
static bool is_right(const struct frame *f, int number)
{
    for (int i = 0; i < COUNT; i++)
        if (f->out[i] != number * (number + 1) / 2) return false;
    return true;
}

static enum hbg_status run_frames(struct hbg_program *program, struct hbg_region sum, int *right)
{
    static struct frame frame[IN_FLIGHT];
    enum hbg_status s = HBG_OK;
    for (int n = 0; !s && n < FRAMES + IN_FLIGHT; n++) {
        struct frame *f = &frame[n % IN_FLIGHT];
        if (n >= IN_FLIGHT) {
            s = hbg_run_wait(f->run, HBG_FOREVER);
            if (!s) s = hbg_run_finish(f->run, NULL);
            *right += !s && is_right(f, n - IN_FLIGHT);
        }
        if (!s && n < FRAMES) s = start(program, sum, f, n);
    }
    return s;
}

int main(void)
{
    static int32_t zeros[COUNT];
    struct hbg_device *device = NULL;
    struct hbg_program *program = NULL;
    struct hbg_buffer *buffer = NULL;
    struct hbg_program_options options = HBG_OPTIONS(program_options);
    int right = 0;
    options.build = build;
    options.kernels = kernels;
    options.kernel_count = 1;
    options.pure_build = true;
    enum hbg_status s = hbg_device_open("cpu:memory=discrete", NULL, &device);          /* depth=2 is the default */
    if (!s) s = hbg_program_create(device, &options, &program);
    if (!s) s = hbg_buffer_create(device, sizeof zeros, &buffer);
    if (!s) s = hbg_buffer_write(buffer, 0, zeros, sizeof zeros);
    if (!s) s = run_frames(program, hbg_buffer_region(buffer, 0, HBG_I32, HBG_SHAPE(COUNT)), &right);
    hbg_buffer_destroy(buffer);
    hbg_program_destroy(program);
    enum hbg_status closed = hbg_device_close(device);                                  /* every callback has returned by now */
    printf("%s: %d of %d frames are right, %d runs told that they ended\n", hbg_status_text(s), right, FRAMES, ended);
    return closed || s || right != FRAMES || ended != FRAMES;
}
