/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a crash inside a workload says: one sentence with the kernel's name, its task and its worker, and exit status 1.
 *
 * A crash is one of SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT, on any thread. A debugger sees the signal first; a core file is
 * not written. The handlers stay until the command ends.
 */
#ifndef HBG_TOOLS_CRASH_H
#define HBG_TOOLS_CRASH_H

#include <hbg/hbg.h>

/* From now on a crash is told of as one of this workload; NULL: it is being loaded. The texts and the kernels are borrowed for ever. */
void hbg__crash_watch(const char *command, const char *name, const struct hbg_workload *workload);

/* The workload has other kernels from now on; while none of them runs. Borrowed for ever. */
void hbg__crash_kernels(const struct hbg_kernel *kernels, size_t count);

/* Which function of the workload the command's thread is in: "inputs", "golden", ..; NULL: in none. Borrowed for ever. */
void hbg__crash_inside(const char *function);

#endif
