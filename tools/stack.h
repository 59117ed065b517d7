/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Was a bad address the end of a stack? Asked by a signal handler, so nothing is called that is not async-signal-safe.
 */
#ifndef HBG_TOOLS_STACK_H
#define HBG_TOOLS_STACK_H

#include <stdbool.h>

/* `address` and `context` as a handler of SIGSEGV is given them. False also where this is not known: another processor than x86-64
   and AArch64, no /proc. One thread at a time. */
bool hbg__stack_used_up(const void *address, const void *context);

#endif
