/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the command can find out about the machine it runs on.
 */
#ifndef HBG_TOOLS_HOST_INFO_H
#define HBG_TOOLS_HOST_INFO_H

#include <stdint.h>

struct host_info {
    char machine[256];                  /* "Linux 6.1.0 x86_64" */
    int memory_nodes;                   /* NUMA nodes with memory; 0: not told */
    char processor[128];                /* the first processor's model; "" where it is not told */
    long processors_online;
    int processors_allowed;             /* by this process's affinity */
    double quota;                       /* CPUs that the control groups grant; 0: no limit */
    long page_bytes;
    uint64_t huge_page_bytes;           /* 0: not told */
    char huge_pages[64];                /* "always", "madvise", "never"; "" where it is not told */
    uint64_t memory_bytes;
    uint64_t address_space_bytes;       /* the limit that `ulimit -v` sets; UINT64_MAX: none */
    char overcommit[16];                /* of the kernel: "0", "1", "2"; "" where it is not told */
};

void hbg__host_info_get(struct host_info *info);

#endif
