/* SPDX-License-Identifier: Apache-2.0 */
/* dispatch.h - the one place where kernels are called. */
#ifndef HBG_CORE_DISPATCH_H
#define HBG_CORE_DISPATCH_H

#include "base/check.h"
#include "core/core.h"

/* Run the task's kernel; its code in *code. False: the image names a kernel that the table does not have. */
static inline bool hbg__core_run(struct hbg__core *core, const struct hbg__task_record *record, uint32_t task, int *code)
{
    if (HBG_UNLIKELY(core->no_kernels)) {
        *code = 0;
        return true;
    }
    if (HBG_UNLIKELY(record->kernel >= core->kernel_count)) return false;
    const struct hbg__kernel_entry *entry = &core->entry[record->kernel];
    core->view.arg = (const struct hbg_view_arg *)hbg__image_at(core->view.payload, record->args);
    core->view.arg_count = record->arg_count;
    core->view.task = task;
    core->view.user = entry->user;
    *code = entry->run(&core->view);
    return true;
}

#endif /* HBG_CORE_DISPATCH_H */
