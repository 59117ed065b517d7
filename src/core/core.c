/* SPDX-License-Identifier: Apache-2.0 */
/* core.c - a core before its first task. */
#include "core/core.h"

void hbg__core_open(struct hbg__core *core, uint32_t worker, bool no_kernels, const struct hbg__atomic_u32 *stop)
{
    core->view.arg = NULL;
    core->view.arg_count = 0;
    core->view.task = HBG__NIL;
    core->view.block = 0;
    core->view.block_count = 1;
    core->view.lane = 0;
    core->view.worker = worker;
    core->view.user = NULL;
    core->view.base = NULL;
    core->view.payload = NULL;
    core->entry = NULL;
    core->kernel_count = 0;
    core->no_kernels = no_kernels;
    core->stop = stop;
    core->scratch = NULL;
    core->detail = 0;
    core->detail_task = HBG__NIL;
    core->told_cancelled = false;
#ifdef HBG_ATOMIC_SIM
    core->simulated = true;
#else
    core->simulated = false;
#endif
}

void hbg__core_begin(struct hbg__core *core, const struct hbg__launch *launch, const unsigned char *payload)
{
    const struct hbg__kernel_table *table = (const struct hbg__kernel_table *)(uintptr_t)launch->kernel_table;
    core->view.base = (const uint64_t *)(const void *)(launch + 1);
    core->view.payload = payload;
    core->view.task = HBG__NIL;
    core->entry = table ? hbg__kernel_entry_at(table, 0) : NULL;
    core->kernel_count = table ? table->kernel_count : 0;
    core->scratch = NULL;
    if (table && table->scratch && core->view.worker < table->worker_count)
        core->scratch = (unsigned char *)(uintptr_t)(table->scratch + core->view.worker * table->scratch_stride);
    core->detail_task = HBG__NIL;
    core->told_cancelled = false;
}
