/* SPDX-License-Identifier: Apache-2.0 */
/* null.c - the `null` platform: `cpu` with cores that finish at once. It measures the scheduler alone; data stays as it was. */
#include "platform/cpu/cpu.h"

static enum hbg_status open_without_kernels(struct hbg__option_set *spec, const struct hbg__platform_context *context,
                                            struct hbg__platform **platform)
{
    return hbg__cpu_open(spec, context, true, platform);
}

const struct hbg__platform_ops hbg__null_ops = { .name = "null", .hardware = "cpu", .open = open_without_kernels, HBG__CPU_SHARED_OPS };
