/* SPDX-License-Identifier: Apache-2.0 */
/* view.c - what a kernel may ask of its view beyond plain data. */
#include "core/core.h"

#include "atomic/sim_calls.h"
#include "base/check.h"

static struct hbg__core *core_of(const struct hbg_task_view *view)
{
    HBG__STATIC_ASSERT(offsetof(struct hbg__core, view) == 0, "the view is the first member of its core");
    return (struct hbg__core *)(uintptr_t)view;
}

int hbg_fail(const struct hbg_task_view *t, int code, int64_t detail)
{
    struct hbg__core *core = core_of(t);
    core->detail = detail;
    core->detail_task = t->task;
    return code;
}

void *hbg_view_scratch(const struct hbg_task_view *t, size_t *size_bytes)
{
    const struct hbg__core *core = core_of(t);
    const struct hbg__kernel_entry *entry = &core->entry[hbg__image_record(t->payload, t->task)->kernel];
    if (size_bytes) *size_bytes = (size_t)entry->scratch_bytes;
    return entry->scratch_bytes ? core->scratch : NULL;
}

bool hbg_view_cancelled(const struct hbg_task_view *t)
{
    struct hbg__core *core = core_of(t);
    if (HBG_UNLIKELY(core->simulated)) hbg__sim_yield();
    /* relaxed: a hint that publishes nothing; the run's end is ordered elsewhere */
    bool cancelled = (hbg__load_relaxed32(core->stop) & HBG__STOP_CANCEL) != 0;
    if (cancelled) core->told_cancelled = true;
    return cancelled;
}

struct hbg_token hbg_view_token(const struct hbg_task_view *t)
{
    struct hbg_token token;
    (void)t;
    token.word[0] = 0;
    token.word[1] = 0;
    return token;
}

enum hbg_status hbg_complete(struct hbg_token token, int code)
{
    (void)token;
    (void)code;
    return HBG_E_UNSUPPORTED;
}
