/* SPDX-License-Identifier: Apache-2.0 */
/* 03_replay.c - the same graph a thousand times: built once, replayed 999 times.
 *
 * The program says that its build function is pure: it looks at its arguments and at nothing else. Then a run whose shapes are
 * those of an earlier one takes that one's image and writes new addresses and scalars beside it. A scalar that is bound
 * (hbg_args_scalar) may change from run to run; one that is read (hbg_args_get_i32) is a guard, and its change builds again.
 */
#include <hbg/hbg.h>
#include <stdio.h>

enum { STEP, KERNEL_COUNT };
enum { CELLS = 64, BLOCK = 1024 };

/* y = x + dt (left - 2 x + right), one block; the blocks of x overlap by one element on each side */
static int step(const struct hbg_task_view *t)
{
    const double *x = HBG_VIEW(const double, t, 0) + 1;
    double *y = HBG_VIEW(double, t, 1), dt = hbg_view_f64(t, 2);
    for (int64_t i = 0; i < hbg_view_count(t, 1); i++) y[i] = x[i] + dt * (x[i - 1] - 2 * x[i] + x[i + 1]);
    return 0;
}

static const struct hbg_kernel kernels[] = { HBG_KERNEL(STEP, step, "in f64, out f64, f64") };

static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region from = hbg_args_region(args, 0), to = hbg_args_region(args, 1);
    int32_t cells = hbg_args_get_i32(args, 3);                      /* shapes the graph: a guard */
    for (int64_t i = 0; i < cells; i++) {
        int64_t lo = 1 + i * BLOCK;
        hbg_submit(g, STEP, hbg_in(hbg_slice(from, 0, lo - 1, lo + BLOCK + 1)), hbg_out(hbg_slice(to, 0, lo, lo + BLOCK)), hbg_args_scalar(args, 2));
    }
}

/* The sum of all elements stays what it was, since both ends are far away from the heap in the middle. */
static double total(struct hbg_buffer *buffer, enum hbg_status *s)
{
    static double values[CELLS * BLOCK + 2];
    double all = 0;
    if (!*s) *s = hbg_buffer_read(buffer, 0, values, sizeof values);
    for (int i = 0; i < CELLS * BLOCK + 2; i++) all += values[i];
    return all;
}

int main(void)
{
    static double start[CELLS * BLOCK + 2];
    struct hbg_shape shape = HBG_SHAPE(CELLS * BLOCK + 2);
    struct hbg_device *device = NULL;
    struct hbg_program *program = NULL;
    struct hbg_buffer *buffer[2] = { NULL, NULL };
    struct hbg_program_options options = HBG_OPTIONS(program_options);
    struct hbg_result result = HBG_OPTIONS(result);
    struct hbg_counters counters = HBG_OPTIONS(counters);
    options.name = "replay";
    options.build = build;
    options.kernels = kernels;
    options.kernel_count = KERNEL_COUNT;
    options.pure_build = true;
    start[CELLS * BLOCK / 2] = 1000.0;
    enum hbg_status s = hbg_device_open("cpu", NULL, &device);
    if (!s) s = hbg_program_create(device, &options, &program);
    for (int b = 0; b < 2 && !s; b++) {
        s = hbg_buffer_create(device, sizeof start, &buffer[b]);
        if (!s) s = hbg_buffer_write(buffer[b], 0, start, sizeof start);
    }
    for (int i = 0; i < 1000 && !s; i++) {                          /* from one buffer to the other, with another step each time */
        s = hbg_run_sync(program, HBG_ARGS(hbg_in(hbg_buffer_region(buffer[i % 2], 0, HBG_F64, shape)), hbg_inout(hbg_buffer_region(buffer[1 - i % 2], 0, HBG_F64, shape)),
                                           hbg_f64(0.1 + 0.0001 * i), hbg_i32(CELLS)), &result);
    }
    double all = total(buffer[0], &s);
    if (s) fprintf(stderr, "replay: %s: %s\n", hbg_status_name(s), result.error.text);
    if (device) hbg_device_counters(device, &counters);
    printf("%d runs, %d built, %d replayed, sum %.6f\n", (int)counters.runs, (int)counters.builds, (int)counters.replays, all);
    for (int b = 0; b < 2; b++) hbg_buffer_destroy(buffer[b]);
    hbg_program_destroy(program);
    return hbg_device_close(device) || s || counters.builds != 1 || counters.replays != 999 || all < 999.999999 || all > 1000.000001;
}
