/* SPDX-License-Identifier: Apache-2.0 */
#include <hbg/hbg.h>
#include <stdio.h>
enum { STEP, KERNEL_COUNT };
static int step(const struct hbg_task_view *t) { return hbg_view_i32(t, 1) == 41 ? hbg_fail(t, 42, hbg_view_i32(t, 1)) : 0; }
static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    (void)params;
    struct hbg_region x = hbg_args_region(args, 0);
    int32_t n = hbg_args_get_i32(args, 1);                          /* shapes the graph: a guard, and rightly so */
    for (int32_t i = 0; i < n; i++) hbg_submit(g, STEP, hbg_inout(hbg_slice(x, 0, i, i + 1)), hbg_i32(i));
    struct hbg_error e = HBG_OPTIONS(error);
    if (hbg_graph_error(g, &e)) return;                             /* build code may look, and stop early */
}
static const struct hbg_kernel kernels[] = { HBG_KERNEL(STEP, step, "inout i32, i32") };
static void report(const char *what, const struct hbg_error *e)
{
    printf("%s: %s: %s", what, hbg_status_name(e->status), e->text);
    if (e->task != UINT32_MAX) printf(" [task %u, argument %d, %s, code %d, detail %lld]", e->task, e->argument, e->name, e->code, (long long)e->detail);
    if (e->status == HBG_E_LIMIT) printf(" [%s: used %lld, limit %lld, requested %lld]", e->name, (long long)e->detail, (long long)e->limit, (long long)e->requested);
    puts("");
}
int main(void)
{
    static int32_t x[100];
    struct hbg_error e = HBG_OPTIONS(error);
    struct hbg_device_options d = HBG_OPTIONS(device_options);
    struct hbg_device *device = NULL; struct hbg_program *program = NULL;
    d.error = &e;
    if (hbg_device_open("cpu:worker=2", &d, &device)) report("open", &e);          /* unknown option: the nearest name in the text */
    if (hbg_device_open("cpu:workers=2", &d, &device)) { report("open", &e); return 1; }
    struct hbg_program_options o = HBG_OPTIONS(program_options);
    o.name = "errors"; o.build = build; o.kernels = kernels; o.kernel_count = KERNEL_COUNT; o.limit_tasks = 64; o.error = &e;
    if (hbg_program_create(device, &o, &program)) { report("create", &e); return 1; }
    struct hbg_result r = HBG_OPTIONS(result);
#define X hbg_inout(hbg_host(x, HBG_I32, HBG_SHAPE(100)))
    switch (hbg_run_sync(program, HBG_ARGS(X, hbg_i32(50)), &r)) {
    case HBG_OK: puts("unexpected"); break;
    case HBG_E_KERNEL: report("run", &r.error); break;              /* step, 42 */
    default: report("run, otherwise", &r.error); break;
    }
    if (hbg_run_sync(program, HBG_ARGS(X, hbg_i32(65)), &r) == HBG_E_LIMIT) report("limit", &r.error);
    if (hbg_run_sync(program, HBG_ARGS(X), &r)) report("too few arguments", &r.error);
    if (hbg_run_sync(program, HBG_ARGS(X, hbg_i32(40)), &r) == HBG_OK) puts("the device still works");
    hbg_program_destroy(program);
    return hbg_device_close(device) != HBG_OK;
}
