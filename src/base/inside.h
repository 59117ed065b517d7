/* SPDX-License-Identifier: Apache-2.0 */
/* inside.h - what the calling thread is inside of, so that a device call from there is refused by name. */
#ifndef HBG_BASE_INSIDE_H
#define HBG_BASE_INSIDE_H

enum hbg__inside { HBG__INSIDE_NOTHING, HBG__INSIDE_BUILD, HBG__INSIDE_KERNEL, HBG__INSIDE_DONE };

/* Thread-local words that a signal handler may read: reaching them allocates nothing, in a library that was opened late as well. */
#define HBG__SIGNAL_SAFE __attribute__((tls_model("initial-exec")))

/* Set around a build function by the graph, around a `done` callback, and once by every worker thread. Each thread has its own. */
extern _Thread_local enum hbg__inside hbg__inside HBG__SIGNAL_SAFE;

#endif /* HBG_BASE_INSIDE_H */
