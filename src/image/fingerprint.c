/* SPDX-License-Identifier: Apache-2.0 */
/* fingerprint.c - see fingerprint.h. FNV-1a over a table that the compiler fills; the order of its rows is part of the number. */
#include "image/fingerprint.h"

#include "core/kernel_table.h"
#include "image/layout.h"
#include "trace/event.h"

#define FIELD(type, name) (uint32_t)offsetof(struct type, name), (uint32_t)sizeof(((struct type *)0)->name)

static const uint32_t layout[] = {
    HBG__IMAGE_VERSION, HBG__TASKS_MAX, HBG__NIL, HBG_RANK_MAX,
    HBG__BASE_ZERO, HBG__BASE_PAYLOAD, HBG__BASE_HEAP, HBG__BASE_BOUNDARY,
    HBG__IMAGE_IN_ORDER, HBG__TASK_QUERYABLE, HBG__TASK_NOOP, HBG__TASK_REUSE,
    HBG__MODE_WAKE, HBG__MODE_CLAIM, HBG__MODE_ORDER,
    sizeof(struct hbg__image_head),
    FIELD(hbg__image_head, magic), FIELD(hbg__image_head, version), FIELD(hbg__image_head, fingerprint),
    FIELD(hbg__image_head, image_bytes), FIELD(hbg__image_head, payload_bytes), FIELD(hbg__image_head, heap_bytes),
    FIELD(hbg__image_head, edge_count), FIELD(hbg__image_head, task_count), FIELD(hbg__image_head, noop_count),
    FIELD(hbg__image_head, root_count), FIELD(hbg__image_head, roots), FIELD(hbg__image_head, base_count),
    FIELD(hbg__image_head, boundary_count), FIELD(hbg__image_head, near_count), FIELD(hbg__image_head, kernel_count),
    FIELD(hbg__image_head, flags), FIELD(hbg__image_head, slot_count), FIELD(hbg__image_head, activation_count), FIELD(hbg__image_head, base_total),
    sizeof(struct hbg__task_record),
    FIELD(hbg__task_record, first_waiter), FIELD(hbg__task_record, next_waiter), FIELD(hbg__task_record, producer),
    FIELD(hbg__task_record, args), FIELD(hbg__task_record, kernel), FIELD(hbg__task_record, arg_count),
    FIELD(hbg__task_record, producer_count), FIELD(hbg__task_record, flags), FIELD(hbg__task_record, reserved),
    sizeof(struct hbg__submission),
    FIELD(hbg__submission, heap), FIELD(hbg__submission, slots), FIELD(hbg__submission, activation), FIELD(hbg__submission, bases),
    FIELD(hbg__submission, definition), FIELD(hbg__submission, slot_count), FIELD(hbg__submission, arg_count),
    sizeof(struct hbg_view_arg),
    FIELD(hbg_view_arg, word), FIELD(hbg_view_arg, base), FIELD(hbg_view_arg, layout),
    sizeof(struct hbg_layout),
    FIELD(hbg_layout, dtype), FIELD(hbg_layout, rank), FIELD(hbg_layout, contiguous), FIELD(hbg_layout, element_bytes),
    FIELD(hbg_layout, count), FIELD(hbg_layout, shape), FIELD(hbg_layout, stride_bytes),
    sizeof(struct hbg__launch),
    FIELD(hbg__launch, image), FIELD(hbg__launch, slots), FIELD(hbg__launch, heap), FIELD(hbg__launch, kernel_table),
    FIELD(hbg__launch, image_bytes), FIELD(hbg__launch, task_count), FIELD(hbg__launch, base_count), FIELD(hbg__launch, epoch),
    FIELD(hbg__launch, mode), FIELD(hbg__launch, events), FIELD(hbg__launch, event_capacity),
    FIELD(hbg__launch, activations), FIELD(hbg__launch, bases), FIELD(hbg__launch, slot_count), FIELD(hbg__launch, activation_count),
    sizeof(struct hbg__event), FIELD(hbg__event, task), FIELD(hbg__event, core), FIELD(hbg__event, dispatched), FIELD(hbg__event, started), FIELD(hbg__event, ended),
    sizeof(struct hbg__event_core), FIELD(hbg__event_core, epoch), FIELD(hbg__event_core, count),
    sizeof(struct hbg__slot), FIELD(hbg__slot, word), FIELD(hbg__slot, link), FIELD(hbg__slot, activation),
    sizeof(struct hbg__activation),
    FIELD(hbg__activation, payload), FIELD(hbg__activation, slots), FIELD(hbg__activation, base), FIELD(hbg__activation, roots),
    FIELD(hbg__activation, task_count), FIELD(hbg__activation, root_count), FIELD(hbg__activation, slot_base), FIELD(hbg__activation, parent),
    FIELD(hbg__activation, task), FIELD(hbg__activation, outer_task), FIELD(hbg__activation, cursor), FIELD(hbg__activation, remaining), FIELD(hbg__activation, failed),
    sizeof(struct hbg__kernel_table),
    FIELD(hbg__kernel_table, kernel_count), FIELD(hbg__kernel_table, worker_count), FIELD(hbg__kernel_table, scratch),
    FIELD(hbg__kernel_table, scratch_stride),
    sizeof(struct hbg__kernel_entry),
    FIELD(hbg__kernel_entry, run), FIELD(hbg__kernel_entry, user), FIELD(hbg__kernel_entry, scratch_bytes), FIELD(hbg__kernel_entry, kind)
};

uint64_t hbg__image_fingerprint(void)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < sizeof layout / sizeof layout[0]; i++) {
        for (int shift = 0; shift < 32; shift += 8) hash = (hash ^ (layout[i] >> shift & 0xff)) * UINT64_C(0x100000001b3);
    }
    return hash ? hash : 1;
}
