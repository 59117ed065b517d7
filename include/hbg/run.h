/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - runs: one execution of a program. */
#ifndef HBG_RUN_H
#define HBG_RUN_H

#include <hbg/device.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hbg_run { struct hbg_program *program; uint32_t slot, generation; };        /* a value; stale ones are refused */
enum hbg_run_state { HBG_RUN_PREPARED = 1, HBG_RUN_QUEUED, HBG_RUN_RUNNING, HBG_RUN_DONE };
struct hbg_result {
    size_t size;
    struct hbg_error error;
    uint64_t tasks, edges, upload_bytes, upload_copies;
    uint64_t build_ns, upload_ns, bind_ns, launch_to_done_ns, device_ns, run_ns;
    uint32_t replayed;
    char why[64];               /* of a build where a replay was possible */
};
typedef void hbg_done_fn(void *user, struct hbg_run run, enum hbg_status status);  /* a worker's thread; must not block */
struct hbg_run_options {
    size_t size;
    const char *name;
    uint64_t slot_timeout_ns;   /* 0: no limit */
    bool poll;                  /* slot or data not free: HBG_E_BUSY at once */
    bool handed_over;           /* another thread will finish this run */
    uint64_t deadline_ns;       /* of the run itself; 0: none */
    hbg_done_fn *done; void *done_user;
    struct hbg_error *error;    /* borrowed until finish: a failing prepare and a wait that times out write it */
};

HBG_API HBG_CHECK enum hbg_status hbg_run_prepare(struct hbg_program *program, struct hbg_arg_list list, const struct hbg_run_options *options, struct hbg_run *run);
HBG_API HBG_CHECK enum hbg_status hbg_run_launch(struct hbg_run run);
HBG_API HBG_CHECK enum hbg_status hbg_run_poll(struct hbg_run run, enum hbg_run_state *state);
HBG_API HBG_CHECK enum hbg_status hbg_run_wait(struct hbg_run run, uint64_t timeout_ns);      /* HBG_OK: it ended, well or badly */
HBG_API enum hbg_status hbg_run_finish(struct hbg_run run, struct hbg_result *result);       /* the run's own status */
HBG_API enum hbg_status hbg_run_cancel(struct hbg_run run);                                  /* then wait and finish */
HBG_API HBG_CHECK enum hbg_status hbg_run_sync(struct hbg_program *program, struct hbg_arg_list list, struct hbg_result *result);
#define HBG_FOREVER UINT64_MAX

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HBG_RUN_H */
