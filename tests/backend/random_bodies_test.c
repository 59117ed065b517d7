/* SPDX-License-Identifier: Apache-2.0 */
/* random_bodies_test.c - random bodies, submitted again and again with other regions, other scalars, in one another: the result is that of
 * their steps one after the other, and bit-identical where the bodies are submitted without hbg_subgraph(). With HBG_TEST_SEED a failure
 * is seen again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "base/rng.h"
#include "support/devices.h"
#include "support/program.h"

enum { BODIES = 3, STEPS_MAX = 14, REGIONS_MAX = 8, INNER_MAX = 4, ELEMENTS = 64 };

/* ---- the plan ---- */

struct part { int region, lo, hi; };    /* elements [lo, hi) of a region of the body at hand */

struct step {
    enum { TASK, BODY, NOOP, BARRIER, SCOPE, SCOPE_END } kind;
    struct part part[INNER_MAX];        /* TASK: the first is written, the others are read */
    int count, body, scalar;            /* scalar: -1 the boundary's, else a constant; -2: the value of the boundary's, looked at */
    int after;                          /* an earlier step, -1: none */
};

/* A body of `regions` regions of these lengths, the first of which it may write, and a scalar; then `inner` intermediates. */
struct body {
    int regions, written, inner, length[REGIONS_MAX];
    int count;
    struct step step[STEPS_MAX];
    uint64_t key;
};

struct plan {
    struct body body[BODIES + 1];       /* the last is the program's own; a body submits those before it */
    bool plainly;
};

static int draw(struct hbg__rng *rng, int low, int high) { return (int)hbg__rng_between(rng, low, high); }

static struct part draw_part(struct hbg__rng *rng, const struct body *b, int region, int length)
{
    int size = b->length[region], n = length ? length : draw(rng, 1, size), lo = draw(rng, 0, size - n);
    return (struct part){ region, lo, lo + n };
}

/* Regions of the lengths that the inner body wants; false: this one has none that is long enough. */
static bool draw_inner(struct hbg__rng *rng, const struct plan *plan, const struct body *b, struct step *step, int own)
{
    step->body = draw(rng, 0, own - 1);
    const struct body *inner = &plan->body[step->body];
    step->count = inner->regions;
    for (int i = 0; i < inner->regions; i++) {
        int region = i < inner->written ? draw(rng, 0, b->written + b->inner - 1) : draw(rng, 0, b->regions + b->inner - 1);
        if (i < inner->written && region >= b->written) region += b->regions - b->written;      /* an intermediate */
        if (b->length[region] < inner->length[i]) return false;
        step->part[i] = draw_part(rng, b, region, inner->length[i]);
    }
    return true;
}

static void draw_task(struct hbg__rng *rng, const struct body *b, struct step *step)
{
    int target = draw(rng, 0, b->written + b->inner - 1);
    if (target >= b->written) target += b->regions - b->written;
    step->count = draw(rng, 1, INNER_MAX);
    step->part[0] = draw_part(rng, b, target, 0);
    for (int i = 1; i < step->count; i++) step->part[i] = draw_part(rng, b, draw(rng, 0, b->regions + b->inner - 1), 0);
}

static void draw_body(struct hbg__rng *rng, struct plan *plan, int own)
{
    struct body *b = &plan->body[own];
    bool outermost = own == BODIES;
    b->key = hbg__rng_next(rng);
    b->regions = outermost ? 2 : draw(rng, 1, INNER_MAX);
    b->written = outermost ? 2 : draw(rng, 1, b->regions);
    b->inner = draw(rng, 0, 2);
    for (int i = 0; i < b->regions + b->inner; i++) b->length[i] = outermost || i >= b->regions ? ELEMENTS : draw(rng, 1, 12);
    b->count = draw(rng, outermost ? 8 : 1, STEPS_MAX);
    int open = 0;
    for (int s = 0; s < b->count; s++) {
        struct step *step = &b->step[s];
        int what = draw(rng, 0, 99);
        *step = (struct step){ .kind = TASK, .after = s > 0 && draw(rng, 0, 5) == 0 ? draw(rng, 0, s - 1) : -1, .scalar = draw(rng, -1, 3) };
        if (draw(rng, 0, 12) == 0) step->scalar = -2;
        if (what < 6) step->kind = BARRIER;
        else if (what < 9) step->kind = NOOP;
        else if (what < 13) { step->kind = SCOPE; open++; }
        else if (what < 18 && open > 0) { step->kind = SCOPE_END; open--; }
        else if (own > 0 && what < (outermost ? 75 : 40) && draw_inner(rng, plan, b, step, own)) step->kind = BODY;
        if (step->kind == TASK || step->kind == NOOP) draw_task(rng, b, step);
    }
}

/* ---- one step after the other ---- */

static int32_t scalar_of(const struct step *step, int32_t bound) { return step->scalar < 0 ? bound : step->scalar; }

static void mix(int32_t *target, int64_t length, const int32_t *const *source, const int64_t *lengths, int count, int32_t k)
{
    for (int64_t i = 0; i < length; i++) {
        uint32_t sum = (uint32_t)target[i] * 3u + (uint32_t)k;
        for (int j = 0; j < count; j++) sum += (uint32_t)source[j][(i + j) % lengths[j]] * (uint32_t)(j + 2);
        target[i] = (int32_t)sum;
    }
}

static void execute(const struct plan *plan, int own, int32_t *const *given, int32_t bound)
{
    const struct body *b = &plan->body[own];
    int32_t *region[REGIONS_MAX], inner[2][ELEMENTS];
    memset(inner, 0, sizeof inner);
    for (int i = 0; i < b->regions; i++) region[i] = given[i];
    for (int i = 0; i < b->inner; i++) region[b->regions + i] = inner[i];
    for (int s = 0; s < b->count; s++) {
        const struct step *step = &b->step[s];
        int32_t *at[INNER_MAX];
        int64_t length[INNER_MAX];
        for (int i = 0; i < step->count; i++) {
            at[i] = region[step->part[i].region] + step->part[i].lo;
            length[i] = step->part[i].hi - step->part[i].lo;
        }
        if (step->kind == TASK) mix(at[0], length[0], (const int32_t *const *)at + 1, length + 1, step->count - 1, scalar_of(step, bound));
        if (step->kind == BODY) execute(plan, step->body, at, scalar_of(step, bound));
    }
}

/* ---- the same as tasks ---- */

enum { MIX, ZERO };

static int mix_kernel(const struct hbg_task_view *t)
{
    const int32_t *source[INNER_MAX];
    int64_t length[INNER_MAX];
    for (uint32_t i = 2; i < t->arg_count; i++) {
        source[i - 2] = HBG_VIEW(const int32_t, t, (int)i);
        length[i - 2] = hbg_view_count(t, (int)i);
    }
    mix(HBG_VIEW(int32_t, t, 1), hbg_view_count(t, 1), source, length, (int)t->arg_count - 2, hbg_view_i32(t, 0));
    return 0;
}

static int zero_kernel(const struct hbg_task_view *t)
{
    memset(HBG_VIEW(int32_t, t, 0), 0, (size_t)hbg_view_count(t, 0) * sizeof(int32_t));
    return 0;
}

static const struct hbg_kernel kernels[] = { HBG_KERNEL(MIX, mix_kernel, NULL), HBG_KERNEL(ZERO, zero_kernel, "out i32") };

struct key { const struct plan *plan; uint64_t key, own; };

static void submit_body(struct hbg_graph *g, const struct key *key, struct hbg_region *region, struct hbg_arg bound, int32_t (*look)(const struct hbg_args *), const struct hbg_args *args);

static int32_t look_at_last(const struct hbg_args *args) { return hbg_args_get_i32(args, (int)args->count - 1); }

static void body(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_region region[REGIONS_MAX];
    for (size_t i = 0; i + 1 < args->count; i++) region[i] = hbg_args_region(args, (int)i);
    submit_body(g, params, region, hbg_args_scalar(args, (int)args->count - 1), look_at_last, args);
}

/* A body that another one submits, as a subgraph or step by step. */
static struct hbg_task submit_inner(struct hbg_graph *g, const struct plan *plan, const struct step *step, const struct hbg_region *region, struct hbg_arg scalar, struct hbg_task after, bool has_after)
{
    const struct body *inner = &plan->body[step->body];
    struct key key = { plan, inner->key, (uint64_t)step->body };
    struct hbg_arg list[REGIONS_MAX + 2];
    size_t n = 0;
    for (int i = 0; i < step->count; i++) {
        struct hbg_region part = hbg_slice(region[step->part[i].region], 0, step->part[i].lo, step->part[i].hi);
        list[n++] = i < inner->written ? hbg_inout(part) : hbg_in(part);
    }
    list[n++] = scalar;
    if (has_after) list[n++] = hbg_after(after);
    return hbg_subgraph(g, HBG_KEY("random", key), body, (struct hbg_arg_list){ list, n });
}

static void submit_plainly(struct hbg_graph *g, const struct plan *plan, const struct step *step, const struct hbg_region *region, struct hbg_arg scalar, int32_t value);

static void submit_step(struct hbg_graph *g, const struct step *step, const struct hbg_region *region, struct hbg_arg scalar, const struct hbg_task *after, struct hbg_task *task)
{
    struct hbg_arg list[INNER_MAX + 3];
    size_t n = 0;
    if (step->kind == TASK) list[n++] = scalar;
    for (int i = 0; i < step->count; i++) {
        struct hbg_region part = hbg_slice(region[step->part[i].region], 0, step->part[i].lo, step->part[i].hi);
        list[n++] = i == 0 && step->kind == TASK ? hbg_inout(part) : hbg_in(part);
    }
    if (after) list[n++] = hbg_after(*after);
    struct hbg_arg_list all = { list, n };
    *task = step->kind == TASK ? hbg_submit_args(g, MIX, all) : hbg_noop_args(g, all);
}

static void submit_body(struct hbg_graph *g, const struct key *key, struct hbg_region *region, struct hbg_arg bound, int32_t (*look)(const struct hbg_args *), const struct hbg_args *args)
{
    const struct plan *plan = key->plan;
    const struct body *b = &plan->body[key->own];
    struct hbg_task task[STEPS_MAX];
    bool has_task[STEPS_MAX] = { false };
    int open = 0;
    for (int i = 0; i < b->inner; i++) {
        region[b->regions + i] = hbg_alloc(g, HBG_I32, HBG_SHAPE(ELEMENTS));
        hbg_submit(g, ZERO, hbg_out(region[b->regions + i]));
    }
    for (int s = 0; s < b->count; s++) {
        const struct step *step = &b->step[s];
        bool has_after = step->after >= 0 && has_task[step->after];
        struct hbg_arg scalar = step->scalar == -1 ? bound : hbg_i32(step->scalar == -2 ? look(args) : step->scalar);
        switch (step->kind) {
        case TASK: case NOOP: submit_step(g, step, region, scalar, has_after ? &task[step->after] : NULL, &task[s]); break;
        case BODY:
            if (plan->plainly) submit_plainly(g, plan, step, region, scalar, step->scalar == -1 ? look(args) : scalar_of(step, look(args)));
            else task[s] = submit_inner(g, plan, step, region, scalar, has_after ? task[step->after] : (struct hbg_task){ 0, 0 }, has_after);
            break;
        case BARRIER: hbg_barrier(g); break;
        case SCOPE: hbg_scope_begin(g, HBG_SCOPE_AUTO); open++; break;
        case SCOPE_END: hbg_scope_end(g); open--; break;
        }
        has_task[s] = step->kind == TASK || step->kind == NOOP || (step->kind == BODY && !plan->plainly);
    }
    for (; open > 0; open--) hbg_scope_end(g);
}

static int32_t plain_value;
static int32_t look_at_value(const struct hbg_args *args) { (void)args; return plain_value; }

static void submit_plainly(struct hbg_graph *g, const struct plan *plan, const struct step *step, const struct hbg_region *region, struct hbg_arg scalar, int32_t value)
{
    struct key key = { plan, 0, (uint64_t)step->body };
    struct hbg_region inner[REGIONS_MAX];
    int32_t outer_value = plain_value;
    for (int i = 0; i < step->count; i++) inner[i] = hbg_slice(region[step->part[i].region], 0, step->part[i].lo, step->part[i].hi);
    plain_value = value;
    submit_body(g, &key, inner, scalar, look_at_value, NULL);
    plain_value = outer_value;
}

static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    const struct plan *plan = *(const struct plan *const *)params;
    struct key key = { plan, 0, BODIES };
    struct hbg_region region[REGIONS_MAX] = { hbg_args_region(args, 0), hbg_args_region(args, 1) };
    submit_body(g, &key, region, hbg_args_scalar(args, 2), look_at_last, args);
}

/* ---- one plan on one device ---- */

struct tally { uint64_t recorded, replayed, missed, runs; };

static bool check_plan(struct hbg_device *device, struct plan *plan, bool pure, bool plainly, uint64_t seed, struct tally *tally)
{
    struct program_spec spec = { .build = build, KERNEL_TABLE(kernels), .params = &plan, .params_size = sizeof plan, .pure = pure };
    plan->plainly = plainly;
    struct hbg_program *program = program_create(device, &spec);
    int32_t x[2][ELEMENTS], expected[2][ELEMENTS];
    struct hbg__rng rng;
    bool right = true;
    hbg__rng_seed(&rng, seed);
    for (int round = 0; round < 3 && right; round++) {
        struct hbg_result result = HBG_OPTIONS(result);
        int32_t bound = round < 2 ? 5 : 6;
        for (int i = 0; i < 2 * ELEMENTS; i++) x[i / ELEMENTS][i % ELEMENTS] = (int32_t)hbg__rng_next(&rng);
        memcpy(expected, x, sizeof x);
        execute(plan, BODIES, (int32_t *const[]){ expected[0], expected[1] }, bound);
        enum hbg_status status = hbg_run_sync(program, HBG_ARGS(hbg_inout(HOST_I32(x[0], ELEMENTS)), hbg_inout(HOST_I32(x[1], ELEMENTS)), hbg_i32(bound)), &result);
        right = status == HBG_OK && memcmp(x, expected, sizeof x) == 0;
        if (!right) fprintf(stderr, "round %d, %s%s: %s %s\n", round, pure ? "pure" : "built", plainly ? " plainly" : "", hbg_status_name(status), result.error.text);
        tally->recorded += result.subgraphs_recorded;
        tally->replayed += result.subgraphs_replayed;
        tally->missed += result.subgraphs_missed;
        tally->runs++;
    }
    hbg_program_destroy(program);
    return right;
}

static void random_bodies(struct hbg_device *device, const struct device_kind *kind)
{
    uint64_t seed = test_seed(0xb0d1e5 + (uint64_t)kind->workers * 2 + kind->discrete);
    struct tally tally = { 0 };
    struct plan *plan = calloc(1, sizeof *plan);
    for (int i = 0, count = test_scaled(1500); i < count; i++, seed++) {
        struct hbg__rng rng;
        hbg__rng_seed(&rng, seed);
        for (int b = 0; b <= BODIES; b++) draw_body(&rng, plan, b);
        bool right = check_plan(device, plan, i % 2, false, seed, &tally) && (i % 8 || check_plan(device, plan, false, true, seed, &tally));
        if (!right) fail_msg("HBG_TEST_SEED=%llu on %s", (unsigned long long)seed, kind->spec);
    }
    assert_true(tally.replayed > tally.recorded);
    free(plan);
}

/* Every replay, of bodies and of programs, is built again and compared; and whatever a run must not read is poison. */
static void verified_and_poisoned_bodies(struct hbg_device *device, const struct device_kind *kind)
{
    (void)device;
    struct tally tally = { 0 };
    struct plan *plan = calloc(1, sizeof *plan);
    char spec[128];
    snprintf(spec, sizeof spec, "%s,poison=1", kind->spec);
    struct hbg_device *verifying = device_open_verifying(spec, NULL);
    uint64_t seed = test_seed(0x7e51f1ed + (uint64_t)kind->workers * 2 + kind->discrete);
    for (int i = 0, count = test_scaled(200); i < count; i++, seed++) {
        struct hbg__rng rng;
        hbg__rng_seed(&rng, seed);
        for (int b = 0; b <= BODIES; b++) draw_body(&rng, plan, b);
        if (!check_plan(verifying, plan, i % 2, false, seed, &tally)) fail_msg("HBG_TEST_SEED=%llu on %s", (unsigned long long)seed, kind->spec);
    }
    free(plan);
    device_close(verifying);
}

int main(void)
{
    static const struct device_test tests[] = { DEVICE_TEST(random_bodies), DEVICE_TEST(verified_and_poisoned_bodies) };
    return DEVICE_TESTS_RUN(tests);
}
