/* SPDX-License-Identifier: Apache-2.0 */
/* replay_inputs.c - tensors of a shape: random numbers, and a table that names every page. */
#include "workloads/shapes/replay_check.h"
#include "workloads/workloads.h"

static int fill_tensor(struct hbg_setup *s, const struct replay_tensor *t, struct hbg_shape extent)
{
    void *data = hbg_setup_tensor(s, t->name, t->access, t->dtype, extent);
    if (!data) return -1;
    if (t->access == HBG_ARG_OUT) return 0;
    if (t->dtype == HBG_F32) workload_fill_f32(s, data, hbg_setup_count(s, t->name));
    for (int32_t i = 0; t->dtype == HBG_I32 && i < hbg_setup_count(s, t->name); i++) ((int32_t *)data)[i] = i;
    return 0;
}

int hbg__replay_inputs(struct hbg_setup *s, enum replay_shape_id id, bool plain, struct replay_params *params)
{
    static const uint32_t serial = 0;
    *params = (struct replay_params){ .shape = id, .plain = plain, .serial = &serial };
    hbg_setup_scalar(s, "position", hbg_i32(0));
    for (uint32_t i = 0; i < REPLAY_BUFFERS; i++) {
        const struct replay_tensor *t = hbg__replay_tensor(i);
        struct hbg_shape extent = t->extent;
        if (i == REPLAY_LOGITS - 1) extent.dim[1] = hbg__replay_shape(id)->logits * REPLAY_TILE;        /* a result is written whole */
        if (fill_tensor(s, t, extent)) return -1;
    }
    hbg_setup_kernels(s, hbg__replay_kernels, REPLAY_KERNELS);
    return 0;
}
