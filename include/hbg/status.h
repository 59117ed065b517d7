/* SPDX-License-Identifier: Apache-2.0 */
/* status.h - named statuses, and the struct that says where and why. */
#ifndef HBG_STATUS_H
#define HBG_STATUS_H

#include <hbg/version.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * HBG_STATUS_MAP - every status: X(code, name, sentence, remedy). docs/statuses.md is made of it.
 *
 * 0 is success. 1 is no error: the call may be repeated. Negative codes are grouped by what has to be made anew:
 *
 *     -1 .. -19     the call                   -40 .. -59    the image
 *     -20 .. -39    the graph (build code)     -60 .. -79    the run
 *                                              -80 ..        the device
 *
 * Codes that kernels return are numbers of their own: they stand in hbg_error.code, never in a status.
 */
#define HBG_STATUS_MAP(X)                                                                                              \
    X(0, OK, "done", "nothing")                                                                                        \
    X(1, TIMEOUT, "not finished within the time given; nothing is lost", "wait again, or cancel the run")              \
    X(-1, E_NULL, "an argument that is needed is NULL", "pass what is missing; the sentence names it")                 \
    X(-2, E_OPTION, "an option is unknown or out of range", "correct it; the sentence says what there is")             \
    X(-3, E_STALE, "the handle's run was finished already",                                                            \
      "use the handle of the last prepare, and finish each run once")                                                  \
    X(-4, E_ORDER, "the call does not fit the object's state",                                                         \
      "keep the order: prepare, launch, wait, finish; an end for each begin")                                          \
    X(-5, E_BUSY, "the object is in use", "finish the runs that use it, and call again")                               \
    X(-6, E_NO_MEMORY, "no memory", "ask for less or free some; the error may say how much was wanted")                \
    X(-7, E_ABI, "header and library differ",                                                                          \
      "make structs with HBG_OPTIONS, and build with the library's own headers")                                       \
    X(-8, E_UNSUPPORTED, "not supported by this version or device", "do without what the sentence names")              \
    X(-9, E_WOULD_DEADLOCK, "only this thread could free what it waits for",                                           \
      "finish this thread's runs first, or set handed_over")                                                           \
    X(-10, E_REENTRANT, "device call from a kernel or a build function", "call from outside of both")                  \
    X(-20, E_REGION, "a view leaves its buffer or does not fit its shape",                                             \
      "correct the view; the sentence names argument and index")                                                       \
    X(-21, E_ACCESS, "access mode not allowed", "write only what may be written, and bind only scalars")               \
    X(-22, E_SIGNATURE, "arguments do not fit the kernel's signature",                                                 \
      "make arguments and signature agree; the sentence says where they differ")                                       \
    X(-23, E_LIMIT, "a declared limit is reached", "raise the limit that the error names, or ask for less")            \
    X(-24, E_WRITTEN, "build code reads what a submitted task writes", "read before the submit, or in a kernel")       \
    X(-25, E_SCOPE, "a region is used after its scope", "use regions in the scope and the build that made them")       \
    X(-26, E_TASK_ID, "a task id is used outside its body", "name tasks of the same build, after their submit")        \
    X(-27, E_BUILD, "the build function gave up", "look at the code and the sentence that it gave")                    \
    X(-40, E_IMAGE, "an image is damaged or foreign, or not what building again gives",                                \
      "look for who writes into it; of HBG_VERIFY_REPLAY: the build is not pure; of a subgraph: the key does not tell" \
      " its bodies apart")                                                                                             \
    X(-60, E_KERNEL, "a kernel failed", "look at task, kernel, code and detail of the error")                          \
    X(-61, E_CANCELLED, "the run was cancelled", "nothing, or a later deadline")                                       \
    X(-62, E_STALLED, "no progress", "look for who writes into the image; the sentence says who waits for whom")       \
    X(-63, E_OVERWRITTEN, "a run changed memory that is not its to change",                                            \
      "correct the kernel that writes where the sentence says")                                                        \
    X(-80, E_DEVICE, "the device failed, or is closed", "run again; where it stays so, close the device and open another")

/* HBG_OK, HBG_TIMEOUT, HBG_E_NULL, ..: one enumerator for each line of HBG_STATUS_MAP. */
enum hbg_status {
#define HBG__ENUM(code, name, text, remedy) HBG_##name = code,
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

/**
 * hbg_status_remedy - what to do about a status, in a few words without a full stop.
 *
 * Returns  static storage; never NULL
 * Threads  any, at any time
 */
HBG_API const char *hbg_status_remedy(enum hbg_status status);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HBG_STATUS_H */
