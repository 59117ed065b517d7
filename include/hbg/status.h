/* SPDX-License-Identifier: Apache-2.0 */
/* status.h - named statuses, and the struct that says where and why. */
#ifndef HBG_STATUS_H
#define HBG_STATUS_H

#include <hbg/version.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * HBG_STATUS_MAP - every status: X(code, name, sentence).
 *
 * 0 is success. 1 is no error: the call may be repeated. Negative codes are grouped by what has to be made anew:
 *
 *     -1 .. -19     the call                   -40 .. -59    the image
 *     -20 .. -39    the graph (build code)     -60 .. -79    the run
 *                                              -80 ..        the device
 *
 * Codes that kernels return are numbers of their own: they stand in hbg_error.code, never in a status.
 */
#define HBG_STATUS_MAP(X)                                                                                             \
    X(0, OK, "done") X(1, TIMEOUT, "not finished within the time given; nothing is lost")                              \
    X(-1, E_NULL, "an argument that is needed is NULL") X(-2, E_OPTION, "an option is unknown or out of range")        \
    X(-3, E_STALE, "the handle's run was finished already") X(-4, E_ORDER, "the call does not fit the object's state") \
    X(-5, E_BUSY, "the object is in use") X(-6, E_NO_MEMORY, "no memory") X(-7, E_ABI, "header and library differ")   \
    X(-8, E_UNSUPPORTED, "not supported by this version or device")                                                   \
    X(-9, E_WOULD_DEADLOCK, "only this thread could free what it waits for")                                          \
    X(-10, E_REENTRANT, "device call from a kernel or a build function")                                              \
    X(-20, E_REGION, "a view leaves its buffer or does not fit its shape") X(-21, E_ACCESS, "access mode not allowed")\
    X(-22, E_SIGNATURE, "arguments do not fit the kernel's signature") X(-23, E_LIMIT, "a declared limit is reached") \
    X(-24, E_WRITTEN, "build code reads what a submitted task writes")                                                \
    X(-25, E_SCOPE, "a region is used after its scope") X(-26, E_TASK_ID, "a task id is used outside its body")        \
    X(-27, E_BUILD, "the build function gave up")                                                                     \
    X(-40, E_IMAGE, "the image is damaged or foreign")                                                                \
    X(-60, E_KERNEL, "a kernel failed") X(-61, E_CANCELLED, "the run was cancelled") X(-62, E_STALLED, "no progress") \
    X(-63, E_OVERWRITTEN, "a run changed memory that is not its to change")                                           \
    X(-80, E_DEVICE, "the device is unusable; close and open it")

/* HBG_OK, HBG_TIMEOUT, HBG_E_NULL, ..: one enumerator for each line of HBG_STATUS_MAP. */
enum hbg_status {
#define HBG__ENUM(code, name, text) HBG_##name = code,
    HBG_STATUS_MAP(HBG__ENUM)
#undef HBG__ENUM
    HBG_STATUS_MAX_ = 2         /* one above the largest code; no status */
};

/**
 * struct hbg_error - where it went wrong, and why.
 *
 * Plain storage of the caller, so it outlives every object: struct hbg_error e = HBG_OPTIONS(error). Calls that may write it
 * clear it first: HBG_OK, task UINT32_MAX, argument -1, no text.
 */
struct hbg_error {
    size_t size;
    enum hbg_status status;
    int code;                   /* HBG_E_KERNEL: what the kernel returned; HBG_E_BUILD: what hbg_graph_fail() was given */
    int64_t detail;             /* HBG_E_KERNEL: what hbg_fail() gave, else 0; HBG_E_LIMIT: how much was in use */
    int64_t limit, requested;   /* HBG_E_LIMIT: the limit, and how much more was asked for; HBG_E_NO_MEMORY: requested bytes, if known */
    uint32_t task;              /* the task; while building, the id that the task at hand would have had; UINT32_MAX: none */
    int argument;               /* position in the list; -1: none */
    char name[64];              /* kernel, program, resource or option */
    char text[256];             /* one sentence */
};

/**
 * hbg_status_name - the name of a status as it is written in code: "HBG_E_REGION".
 *
 * Returns  static storage; "HBG_?" for a number that is no status
 * Threads  any, at any time
 */
HBG_API const char *hbg_status_name(enum hbg_status status);

/**
 * hbg_status_text - the sentence of a status, without a full stop.
 *
 * Returns  static storage; never NULL
 * Threads  any, at any time
 */
HBG_API const char *hbg_status_text(enum hbg_status status);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HBG_STATUS_H */
