/* SPDX-License-Identifier: Apache-2.0 */
/* platform.h - what kinds of devices this library can open on this machine, and with which options.
 */
#ifndef HBG_PLATFORM_H
#define HBG_PLATFORM_H

#include <hbg/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { HBG_PLATFORM_OPTIONS_MAX = 32 };

/* One key of a device's spec. */
struct hbg_platform_option {
    char key[32];                       /* "workers" */
    char values[96];                    /* "1..1024", "0|1", "unified|discrete" */
    char preset[32];                    /* what it is on this machine where the spec does not give it: "2"; "": none of these */
};

/**
 * struct hbg_platform_info - what a platform offers here; struct hbg_platform_info info = HBG_OPTIONS(platform_info).
 *
 * What follows `why` is of a device that was opened without options, and zero where none can be opened.
 */
struct hbg_platform_info {
    size_t size;
    char name[32];                      /* what a spec begins with */
    char hardware[32];                  /* what its cores are made of: devices with the same one take time from each other */
    bool available;
    char why[256];                      /* it is not: one sentence; else "" */
    uint32_t workers, depth;            /* cores, and runs in flight */
    uint32_t clusters;                  /* of cores; 0: it has none */
    uint32_t core_kinds;                /* bits: 1 << enum hbg_core_kind */
    uint32_t page_bytes;
    bool unified;                       /* kernels use the host's memory in place */
    uint32_t option_count;
    struct hbg_platform_option option[HBG_PLATFORM_OPTIONS_MAX];
};

/**
 * hbg_platform_get - tell what one of the platforms offers here.
 *
 * index       in   0, 1, .. until HBG_E_OPTION
 * info        out  all of it; its size was set by HBG_OPTIONS
 *
 * Threads  any but a kernel's or a build function's
 * Cost     opens a device without options and closes it
 * Errors   HBG_E_OPTION (there are fewer platforms), HBG_E_NULL, HBG_E_ABI (no size that a header gave), HBG_E_REENTRANT. A platform that
 *          this machine cannot have is none: it says why
 */
HBG_API HBG_CHECK enum hbg_status hbg_platform_get(uint32_t index, struct hbg_platform_info *info);

/**
 * hbg_platform_hardware - what the cores of a device would be made of; nothing is opened.
 *
 * spec        in   as for hbg_device_open(); only the name in front is looked at
 *
 * Returns  static storage; NULL where there is no such platform
 * Threads  any, at any time
 */
HBG_API const char *hbg_platform_hardware(const char *spec);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HBG_PLATFORM_H */
