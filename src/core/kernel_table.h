/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_table.h - the kernels of one program as a device sees them; written once, at registration.
 *
 *     | struct hbg__kernel_table | entry 0 | entry 1 | ... | scratch of worker 0 | scratch of worker 1 | ... |
 *
 * A worker's scratch is one 64-byte aligned block as large as the largest any kernel of the table declares.
 */
#ifndef HBG_CORE_KERNEL_TABLE_H
#define HBG_CORE_KERNEL_TABLE_H

#include <stdint.h>

#include <hbg/kernel.h>

struct hbg__kernel_entry {
    hbg_kernel_fn *run;
    const void *user;
    uint64_t scratch_bytes;
    uint64_t kind;                      /* enum hbg_core_kind */
};

struct hbg__kernel_table {
    uint32_t kernel_count, worker_count;
    uint64_t scratch;                   /* device address of worker 0's block; 0: no kernel declares any */
    uint64_t scratch_stride;            /* bytes from worker to worker, a multiple of 64 */
    uint64_t reserved;
    /* kernel_count entries follow */
};

static inline const struct hbg__kernel_entry *hbg__kernel_entry_at(const struct hbg__kernel_table *table, uint32_t kernel)
{
    return (const struct hbg__kernel_entry *)(const void *)(table + 1) + kernel;
}

#endif /* HBG_CORE_KERNEL_TABLE_H */
