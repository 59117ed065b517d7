/* SPDX-License-Identifier: Apache-2.0 */
/* lost.c - runs that were cancelled and do not end, since a kernel does not return: who is one, what is said of it, and what a close
 * does with it. Nothing here waits; when the kernel comes back, the run has ended like any other.
 */
#include "base/error.h"
#include "run/run.h"

/* Of a launched run; the time left until it is lost goes to *left_ns. False: it was not cancelled, or has ended. */
static bool is_overdue(struct hbg__run *run, uint64_t *left_ns)
{
    uint64_t cancelled_ns = hbg__load_relaxed64(&run->cancelled_ns);       /* relaxed: see run.h */
    if (HBG_LIKELY(cancelled_ns == 0) || hbg__run_has_ended(run)) return false;
    uint64_t late_ns = hbg__device_now_ns(run->device) - cancelled_ns;
    *left_ns = late_ns < HBG__RUN_GRACE_NS ? HBG__RUN_GRACE_NS - late_ns : 0;
    return true;
}

bool hbg__run_is_lost(struct hbg__run *run)
{
    uint64_t left_ns;
    return is_overdue(run, &left_ns) && left_ns == 0;
}

bool hbg__run_may_be_left(struct hbg__run *run, uint64_t *left_ns)
{
    return hbg__run_word_phase(hbg__run_entry_look(run->entry)) == HBG__RUN_LAUNCHED && is_overdue(run, left_ns);
}

bool hbg__run_leave_behind(struct hbg__run *run)
{
    if (hbg__run_word_callers(hbg__run_entry_look(run->entry)) != 0 || !hbg__run_entry_move(run->entry, HBG__RUN_LAUNCHED, HBG__RUN_FINISHING)) return false;
    uint32_t next = run->generation + 1;
    hbg__run_entry_set(run->entry, next ? next : 1, HBG__RUN_FREE);
    return true;
}

void hbg__run_say_lost(const struct hbg__run *run, struct hbg_error *error)
{
    struct hbg_device *device = run->device;
    struct hbg__progress now;
    struct hbg_error text = { .size = sizeof text };
    char label[HBG__LABEL_BYTES], task[HBG__TASK_BYTES];
    if (!device->ops->progress || !device->ops->progress(device->platform, run->streams.stream[HBG__STREAM_WORK], false, &now)) {
        hbg__error_set(error, HBG_E_DEVICE, run->program->name, "%s was cancelled and does not end: the device is unusable until it does; close it and open another", hbg__run_label(run, label));
        return;
    }
    const char *kernel = hbg__program_kernel_name(run->program, now.kernel);
    hbg__error_set(&text, HBG_E_DEVICE, kernel, "%s (kernel \"%.60s\") on worker %u does not return, although %s was cancelled: the device is unusable until it does; close it and open another",
                   hbg__run_task_words(run, now.task, now.activation, now.node, task), kernel, now.worker, hbg__run_label(run, label));
    text.task = now.task;
    hbg__error_copy(error, &text);
}
