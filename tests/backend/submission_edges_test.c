/* SPDX-License-Identifier: Apache-2.0 */
/* submission_edges_test.c - to the build around it a submission is a task that accesses its list: of random lists, some of tasks and some of
 * bodies, those that share bytes which one of them writes are ordered, and not many more than where all are tasks. In some
 * arguments are only read: one overlaps another that is written, one lies in a buffer that the build names later on, and writes. Nothing is executed. With HBG_TEST_SEED a failure
 * is seen again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <hbg/hbg.h>
#include "base/rng.h"
#include "support/devices.h"
#include "support/edges.h"
#include "support/program.h"
#include "support/steps.h"

enum { STEPS_OF_A_PLAN = 24, ELEMENTS = 24, OVERLAP = 8, REGIONS = 2 };

static int nothing(const struct hbg_task_view *t) { (void)t; return 0; }
static const struct hbg_kernel kernels[] = { HBG_KERNEL(0, nothing, NULL) };

static struct hbg_buffer *buffer;

struct plan { uint64_t seed; int bodies; };         /* of a hundred lists */

/* What a step reads and writes: an element a bit. Arguments 0 and 1 overlap, so they are one. */
enum { OVERLAPPING, APART, BUFFER, STORAGES, PART = 3, PART_BEGIN = 4, PART_END = 16 };
struct access { uint64_t reads[STORAGES], writes[STORAGES]; };
static struct access accessed[STEPS_OF_A_PLAN];
static struct hbg_task task[STEPS_OF_A_PLAN];

static bool has_part(const struct plan *plan) { return plan->seed % 5 < 2; }
static bool is_read(const struct plan *plan, int argument) { return plan->seed % 10 < 2 && argument != 1 && argument <= PART; }

static int draw(struct hbg__rng *rng, int low, int high) { return (int)hbg__rng_between(rng, low, high); }

static struct hbg_region draw_view(struct hbg__rng *rng, struct hbg_region x)
{
    int lo = draw(rng, 0, ELEMENTS - 2);
    switch (draw(rng, 0, 9)) {
    case 0: case 1: return x;
    case 2: case 3: case 4: case 5: return hbg_cell(x, HBG_SHAPE(4), HBG_SHAPE(draw(rng, 0, ELEMENTS / 4 - 1)));
    case 6: return hbg_slice(x, 0, lo, draw(rng, lo, ELEMENTS));
    case 7: return hbg_permute(hbg_reshape(x, HBG_SHAPE(4, ELEMENTS / 4)), HBG_SHAPE(1, 0));
    case 8: return hbg_slice(hbg_reshape(x, HBG_SHAPE(4, ELEMENTS / 4)), 1, lo % 6, lo % 6 + 1);
    default: return hbg_cast_view(x, HBG_I64);
    }
}

/* The elements of a view, the first of its storage lying at `first`. */
static uint64_t elements_of(const struct hbg_region *r, int first)
{
    uint64_t all = 0;
    int64_t size = hbg_dtype_size(r->dtype), index[2] = { 0 }, count[2] = { r->rank > 0 ? r->shape[0] : 1, r->rank > 1 ? r->shape[1] : 1 };
    for (index[0] = 0; index[0] < count[0]; index[0]++)
        for (index[1] = 0; index[1] < count[1]; index[1]++) {
            int64_t at = r->offset_bytes;
            for (int d = 0; d < r->rank; d++) at += index[d] * r->stride_bytes[d];
            for (int64_t byte = at; byte < at + size; byte += 4) all |= (uint64_t)1 << (first + byte / 4);
        }
    return all;
}

static struct hbg_arg draw_arg(struct hbg__rng *rng, const struct hbg_args *args, const struct plan *plan, struct access *access)
{
    bool has_grid = plan->seed % 2;
    int reads = plan->seed % 3 ? 5 : 30;
    int which = draw(rng, 0, (int)args->count);         /* the last is the buffer as such, of which a part may be an argument */
    struct hbg_region x = which < (int)args->count ? hbg_args_region(args, which) : hbg_buffer_region(buffer, 0, HBG_I32, HBG_SHAPE(ELEMENTS));
    if (which == PART) {
        struct hbg_region part = draw(rng, 0, 1) ? x : hbg_cell(x, HBG_SHAPE(4), HBG_SHAPE(draw(rng, 0, 2)));
        access->reads[BUFFER] |= elements_of(&part, PART_BEGIN);
        if (is_read(plan, PART)) return hbg_in(part);
        access->writes[BUFFER] |= elements_of(&part, PART_BEGIN);
        return hbg_inout(part);
    }
    struct hbg_region r = has_grid ? draw_view(rng, x) : draw(rng, 0, 3) ? x : hbg_cell(x, HBG_SHAPE(4), HBG_SHAPE(draw(rng, 0, 5)));
    int how = is_read(plan, which) ? 0 : draw(rng, 0, reads + 4), storage = which < 2 ? OVERLAPPING : which == 2 ? APART : BUFFER;
    uint64_t elements = elements_of(&r, which == 1 ? ELEMENTS - OVERLAP : 0);
    if (how == reads + 4) return hbg_untracked(r);
    if (how != reads && how != reads + 1) access->reads[storage] |= elements;
    if (how >= reads) access->writes[storage] |= elements;
    return how < reads ? hbg_in(r) : how < reads + 2 ? hbg_out(r) : hbg_inout(r);
}

static void no_body(struct hbg_graph *g, const struct hbg_args *args, const void *params) { (void)g, (void)args, (void)params; }

/* Half of the plans have views of few kinds, so that whole storages and cells keep plain histories; a third read most of the time. */
static void build(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    const struct plan *plan = params;
    struct hbg__rng rng, which;
    hbg__rng_seed(&rng, plan->seed);
    hbg__rng_seed(&which, plan->seed + 1);
    memset(accessed, 0, sizeof accessed);
    for (int i = 0; i < STEPS_OF_A_PLAN; i++) {
        struct hbg_arg list[REGIONS + 1];
        size_t count = 0;
        for (int regions = draw(&rng, 1, REGIONS); regions > 0; regions--) list[count++] = draw_arg(&rng, args, plan, &accessed[i]);
        if (i && draw(&rng, 0, 15) == 0) list[count++] = hbg_after(task[draw(&rng, 0, i - 1)]);
        bool body = draw(&which, 0, 99) < plan->bodies;
        struct hbg_arg_list all = { list, count };
        bool manual = !body && draw(&which, 0, 15) == 0;
        if (manual) hbg_scope_begin(g, HBG_SCOPE_MANUAL);
        task[i] = body ? hbg_subgraph(g, KEY("none"), no_body, all) : hbg_submit_args(g, 0, all);
        if (manual) hbg_scope_end(g);
        if (task[i].id == UINT32_MAX && hbg_graph_error(g, NULL) == HBG_OK) hbg_graph_fail(g, 1, "a step was lost");
        if (draw(&rng, 0, 60) == 0) hbg_barrier(g);
    }
}

static bool conflict(const struct access *a, const struct access *b)
{
    uint64_t both = 0;
    for (int s = 0; s < STORAGES; s++) both |= (a->writes[s] & (b->reads[s] | b->writes[s])) | (a->reads[s] & b->writes[s]);
    return both != 0;
}

/* How many pairs of tasks are ordered; those that must be are. */
static uint64_t check_plan(struct hbg_device *device, const struct plan *plan)
{
    static int32_t memory[2 * ELEMENTS], apart[ELEMENTS];
    struct hbg_program *program = PROGRAM_WITH(device, build, kernels, *plan);
    struct edges edges;
    struct closure closure;
    struct hbg_arg arg[] = {
        hbg_inout(HOST_I32(memory, ELEMENTS)), hbg_inout(HOST_I32(memory + ELEMENTS - OVERLAP, ELEMENTS)), hbg_inout(HOST_I32(apart, ELEMENTS)),
        hbg_inout(hbg_slice(hbg_buffer_region(buffer, 0, HBG_I32, HBG_SHAPE(ELEMENTS)), 0, PART_BEGIN, PART_END)),
    };
    for (int i = 0; i <= PART; i++)
        if (is_read(plan, i)) arg[i].kind = HBG_ARG_IN;
    program_edges(program, (struct hbg_arg_list){ arg, has_part(plan) ? 4 : 3 }, &edges);
    closure_of_edges(&closure, &edges, false);
    for (int i = 0; i < STEPS_OF_A_PLAN; i++)
        for (int j = i + 1; j < STEPS_OF_A_PLAN; j++)
            if (conflict(&accessed[i], &accessed[j]) && !closure_before(&closure, task[i].id, task[j].id))
                fail_msg("HBG_TEST_SEED=%llu, of a hundred %d bodies: step %d is not before step %d", (unsigned long long)plan->seed, plan->bodies, i, j);
    uint64_t pairs = closure_pairs(&closure);
    closure_free(&closure);
    edges_free(&edges);
    hbg_program_destroy(program);
    return pairs;
}

static void what_conflicts_is_ordered(struct hbg_device *device, const struct device_kind *kind)
{
    uint64_t seed = test_seed(0xed9e5 + (uint64_t)kind->workers * 2 + kind->discrete), plainly = 0, with = 0;
    assert_int_equal(hbg_buffer_create(device, ELEMENTS * sizeof(int32_t), &buffer), HBG_OK);
    for (int i = 0, count = test_scaled(400); i < count; i++, seed++) {
        plainly += check_plan(device, &(struct plan){ seed, 0 });
        with += check_plan(device, &(struct plan){ seed, i % 3 ? 50 : 100 });
    }
    print_message("of %d pairs %llu of tasks are ordered, %llu with bodies\n", test_scaled(400) * STEPS_OF_A_PLAN * (STEPS_OF_A_PLAN - 1) / 2, (unsigned long long)plainly, (unsigned long long)with);
    assert_true(with < plainly + plainly / 10);
    hbg_buffer_destroy(buffer);
}

/* ---- long lists ---- */

enum { CELLS = 200, READERS = 3, LISTS = 4 };

/* Cells, or in every second list parts of two cells; each is read and then all are written at once. A body is submitted twice. */
static void build_wide(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    bool body = *(const bool *)params;
    struct hbg_region x = hbg_args_region(args, 0);
    struct hbg_arg list[CELLS];
    for (int n = 0; n < LISTS; n++) {
        int odd = n % 2;
        for (int i = 0; i < CELLS; i++) {
            struct hbg_region part = odd ? hbg_slice(hbg_args_region(args, 1), 0, 7 * i, 7 * i + 5 + i % 3) : hbg_cell(x, HBG_SHAPE(4), HBG_SHAPE(i));
            for (int k = 0; k < READERS; k++) hbg_submit(g, 0, hbg_in(part));
            list[i] = hbg_inout(part);
        }
        struct hbg_arg_list all = { list, CELLS };
        task[n] = body ? hbg_subgraph(g, hbg_key_of("wide", &odd, sizeof odd), no_body, all) : hbg_submit_args(g, 0, all);
    }
}

static void all_producers_of_a_long_list(struct hbg_device *device, const struct device_kind *kind)
{
    static int32_t memory[4 * CELLS], odd[7 * CELLS];
    (void)kind;
    for (int round = 0; round < 3; round++) {               /* of tasks; of bodies that are recorded; of the same ones */
        bool body = round > 0;
        struct program_spec spec = { .build = build_wide, KERNEL_TABLE(kernels), .params = &body, .params_size = sizeof body };
        struct hbg_program *program = program_create(device, &spec);
        struct edges edges;
        struct closure closure;
        program_edges(program, HBG_ARGS(hbg_inout(HOST_I32(memory, 4 * CELLS)), hbg_inout(HOST_I32(odd, 7 * CELLS))), &edges);
        closure_of_edges(&closure, &edges, false);
        for (uint32_t n = 0, first = 0; n < LISTS; first = task[n++].id + 1)
            for (uint32_t i = 0; i < CELLS * READERS; i++) assert_true(closure_before(&closure, first + i, task[n].id));
        closure_free(&closure);
        edges_free(&edges);
        hbg_program_destroy(program);
    }
}

/* ---- a list that names a buffer ---- */

static struct hbg_buffer *read_only[2];

static struct hbg_region all_of(int i) { return hbg_buffer_region(read_only[i], 0, HBG_I32, HBG_SHAPE(ELEMENTS)); }

/* Nobody can write the arguments, until the last list names one's buffer: from there on who reads the other one is known as well. */
static void build_naming(struct hbg_graph *g, const struct hbg_args *args, const void *params)
{
    struct hbg_region x = hbg_args_region(args, 0), y = hbg_args_region(args, 1);
    (void)params;
    for (int i = 0; i < 3; i++) task[i] = hbg_subgraph(g, KEY("none"), no_body, HBG_ARGS(hbg_in(x), hbg_in(i < 2 ? y : all_of(1))));
    task[3] = hbg_submit(g, 0, hbg_inout(all_of(0)));
}

static void readers_of_what_a_list_makes_writable(struct hbg_device *device, const struct device_kind *kind)
{
    struct hbg_program *program = PROGRAM(device, build_naming, kernels);
    struct edges edges;
    struct closure closure;
    (void)kind;
    for (int i = 0; i < 2; i++) assert_int_equal(hbg_buffer_create(device, ELEMENTS * sizeof(int32_t), &read_only[i]), HBG_OK);
    program_edges(program, HBG_ARGS(hbg_in(all_of(0)), hbg_in(all_of(1))), &edges);
    closure_of_edges(&closure, &edges, false);
    for (int i = 0; i < 3; i++) assert_true(closure_before(&closure, task[i].id, task[3].id));
    closure_free(&closure);
    edges_free(&edges);
    hbg_program_destroy(program);
    for (int i = 0; i < 2; i++) hbg_buffer_destroy(read_only[i]);
}

int main(void)
{
    static const struct device_test tests[] = {
        DEVICE_TEST(what_conflicts_is_ordered), DEVICE_TEST(all_producers_of_a_long_list), DEVICE_TEST(readers_of_what_a_list_makes_writable),
    };
    return DEVICE_TESTS_RUN(tests);
}
