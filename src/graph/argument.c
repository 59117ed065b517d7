/* SPDX-License-Identifier: Apache-2.0 */
/* argument.c - one argument of a submit on the general way: everything that submit.c does not settle itself. */
#include <stdio.h>

#include "base/plural.h"
#include "graph/append.h"
#include "graph/hazard_map.h"
#include "graph/signature.h"
#include "graph/submit.h"

static struct hbg_view_arg *arg_at(const struct hbg_graph *g, uint32_t i)
{
    return (struct hbg_view_arg *)(void *)(g->payload + (size_t)g->payload_top * 8) + i;
}

static HBG_COLD void fail_signature(struct hbg__submit *s, const struct hbg_arg *arg)
{
    char wanted[32], given[32];
    hbg__signature_text_of_arg(arg, given);
    if (s->arg_count >= s->signature->arg_count) {
        hbg__graph_fail(s->g, HBG_E_SIGNATURE, (int)s->arg_count, s->kernel_name, "kernel %s takes %u argument%s, argument %u (%s) is one more",
                        s->kernel_name, s->signature->arg_count, hbg__s(s->signature->arg_count), s->arg_count, given);
        return;
    }
    hbg__signature_text_of(s->signature, s->arg_count, wanted);
    hbg__graph_fail(s->g, HBG_E_SIGNATURE, (int)s->arg_count, s->kernel_name, "argument %u is '%s', its signature says '%s'", s->arg_count, given,
                    wanted);
}

static bool check_signature(struct hbg__submit *s, const struct hbg_arg *arg, uint32_t kind, uint32_t dtype)
{
    const struct hbg__signature *sig = s->signature;
    uint32_t i = s->arg_count;
    if (!sig->given) return true;
    if (HBG_LIKELY(i < sig->arg_count && sig->kind[i] == kind && sig->dtype[i] == dtype)) return true;
    if (i < sig->arg_count && hbg__signature_permits(sig, i, arg)) return true;
    fail_signature(s, arg);
    return false;
}

static bool put_scalar(struct hbg__submit *s, const struct hbg_arg *arg, uint64_t word, uint32_t base, int dtype)
{
    struct hbg_graph *g = s->g;
    uint32_t layout = dtype > 0 && dtype <= HBG_F64 ? g->scalar_layouts[dtype] : 0;
    if (!hbg__is_scalar_dtype(dtype)) {
        hbg__graph_fail(g, HBG_E_SIGNATURE, (int)s->arg_count, s->kernel_name, "argument %u of kernel %s is a scalar of type %d, which no scalar has",
                        s->arg_count, s->kernel_name, dtype);
        return false;
    }
    if (!check_signature(s, arg, HBG_ARG_SCALAR, (uint32_t)dtype)) return false;
    if (!layout && dtype && !(layout = hbg__layout_of_scalar(g, dtype))) return false;
    *arg_at(g, s->arg_count++) = (struct hbg_view_arg){ word, base, layout };
    return true;
}

static bool put_bound(struct hbg__submit *s, const struct hbg_arg *arg)
{
    struct hbg_graph *g = s->g;
    const struct hbg_args *boundary;
    uint32_t position;
    if (!hbg__scalar_origin(g, arg->u.boundary, arg->index, &boundary, &position)) {
        hbg__graph_fail(g, HBG_E_ACCESS, (int)s->arg_count, s->kernel_name, "argument %u binds boundary position %u, which is no scalar",
                        s->arg_count, arg->index);
        return false;
    }
    if (position == HBG__NIL) return put_scalar(s, arg, boundary->arg[arg->index].u.bits, HBG__BASE_ZERO, arg->dtype);
    return put_scalar(s, arg, 0, HBG__BASE_BOUNDARY + position, arg->dtype);
}

/* Parameter bytes stand in the payload, 16-byte aligned. */
static bool put_bytes(struct hbg__submit *s, const struct hbg_arg *arg)
{
    struct hbg_graph *g = s->g;
    uint32_t size = arg->index, units = (size + 15) / 16 * 2, offset, pad;
    if (size > 4096 || (size > 0 && !arg->u.bytes)) {
        hbg__graph_fail(g, size > 4096 ? HBG_E_LIMIT : HBG_E_NULL, (int)s->arg_count, s->kernel_name,
                        "argument %u has %u parameter bytes%s; up to 4096 may be given", s->arg_count, size, arg->u.bytes ? "" : " at NULL");
        return false;
    }
    if (!check_signature(s, arg, HBG_ARG_BYTES, size)) return false;
    struct hbg_region shape = { .dtype = HBG_U8, .rank = 1, .shape = { size }, .stride_bytes = { 1 } };
    uint32_t layout = hbg__layout_of_region(g, &shape);
    if (!layout) return false;
    if (g->payload_top & 1) {
        if (!hbg__payload_insert(g, 1, &pad)) return false;
        memset(g->payload + (size_t)pad * 8, 0, 8);         /* equal builds give equal images */
    }
    if (!hbg__payload_insert(g, units, &offset)) return false;
    memset(g->payload + (size_t)offset * 8, 0, (size_t)units * 8);
    if (size) memcpy(g->payload + (size_t)offset * 8, arg->u.bytes, size);
    *arg_at(g, s->arg_count++) = (struct hbg_view_arg){ (uint64_t)offset * 8, HBG__BASE_PAYLOAD, layout };
    return true;
}

static bool put_after(struct hbg__submit *s, const struct hbg_arg *arg)
{
    struct hbg_graph *g = s->g;
    struct hbg_task task = arg->u.task;
    if (task.graph != g->serial || task.id >= g->task_count) {
        hbg__graph_fail(g, HBG_E_TASK_ID, -1, s->kernel_name, "hbg_after of %s%s names task %u of %s", s->signature ? "kernel " : "a ",
                        s->kernel_name, task.id, task.graph == g->serial ? "this graph, which has not been submitted" : "another graph or body");
        return false;
    }
    return hbg__producer_add(g, task.id + 1);
}

/* All of a storage that has cells, by its looks; the layout is known then. */
static bool is_whole(const struct hbg_graph *g, const struct hbg__storage *s, const struct hbg_region *r)
{
    return s->whole_layout && r->offset_bytes == 0 && !s->irregular && s == &g->storages[s->home] && !(s->flags & HBG__STORAGE_SHARED) &&
           hbg__layout_is(hbg__layout_at(g, s->whole_layout), r);
}

/* A region on the general way: any layout, any storage. */
static bool put_region(struct hbg__submit *s, const struct hbg_arg *arg)
{
    struct hbg_graph *g = s->g;
    const struct hbg_region *r = &arg->u.region;
    bool writes = arg->kind != HBG_ARG_IN;
    const struct hbg__storage *own = hbg__storage_of(g, r, (int)s->arg_count);
    if (!own || (s->signature && !check_signature(s, arg, arg->kind, r->dtype))) return false;
    if (writes && (r->flags & HBG_REGION_READ_ONLY) && arg->kind != HBG_ARG_UNTRACKED) {
        hbg__graph_fail(g, HBG_E_ACCESS, (int)s->arg_count, s->kernel_name, "argument %u would write a read-only region", s->arg_count);
        return false;
    }
    struct hbg__access *access = &g->accesses[g->access_count];
    int64_t off = r->offset_bytes + own->displacement, word = r->offset_bytes + own->word_bias;
    uint32_t base = own->base, layout = own->whole_layout;
    access->home = own->home;
    access->writes = writes;
    access->place = HBG__ACCESS_WHOLE;
    if (!is_whole(g, own, r)) {
        if (!hbg__hazard_classify(g, own->home, off, r, (int)s->arg_count, access)) return false;
        layout = hbg__layout_of_region(g, r);
        if (!layout) return false;
    }
    if (s->signature) *arg_at(g, s->arg_count) = (struct hbg_view_arg){ (uint64_t)word, base, layout };
    s->arg_count++;
    if (arg->kind == HBG_ARG_UNTRACKED || access->place == HBG__ACCESS_NONE) return true;
    if (g->manual) return hbg__manual_note(g, access);
    g->access_count++;
    return hbg__hazard_collect(g, access);
}

static HBG_COLD bool fail_kind(struct hbg__submit *s, const struct hbg_arg *arg)
{
    if (arg->kind == HBG_ARG_ACCUMULATE)
        hbg__graph_fail(s->g, HBG_E_UNSUPPORTED, (int)s->arg_count, s->kernel_name, "argument %u: accumulate is not supported yet", s->arg_count);
    else
        hbg__graph_fail(s->g, HBG_E_ACCESS, (int)s->arg_count, s->kernel_name, "argument %u has the unknown kind %u", s->arg_count, arg->kind);
    return false;
}

static bool put(struct hbg__submit *s, const struct hbg_arg *arg)
{
    if (arg->kind - 1u < HBG_ARG_UNTRACKED && arg->kind != HBG_ARG_ACCUMULATE) return put_region(s, arg);
    if (arg->kind == HBG_ARG_AFTER) return put_after(s, arg);
    if (!s->signature) {
        hbg__graph_fail(s->g, HBG_E_SIGNATURE, (int)s->arg_count, "noop", "a noop takes regions and hbg_after, no scalars");
        return false;
    }
    switch (arg->kind) {
    case HBG_ARG_SCALAR: return put_scalar(s, arg, arg->u.bits, HBG__BASE_ZERO, arg->dtype);
    case HBG_ARG_BOUND: return put_bound(s, arg);
    case HBG_ARG_BYTES: return put_bytes(s, arg);
    default: return fail_kind(s, arg);
    }
}

/* Who says what is wrong with a region or a view does not know for which kernel it is. */
static HBG_COLD bool name_kernel(struct hbg__submit *s)
{
    char who[100];
    struct hbg_error *e = &s->g->error;
    snprintf(who, sizeof who, s->signature ? "argument %d of kernel %.60s" : "argument %d of a %s", e->argument, s->kernel_name);
    hbg__graph_say_who(s->g, s->kernel_name, who);
    return false;
}

bool hbg__submit_argument(struct hbg__submit *s, const struct hbg_arg *arg)
{
    return HBG_LIKELY(put(s, arg)) || name_kernel(s);
}
