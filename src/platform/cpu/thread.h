/* SPDX-License-Identifier: Apache-2.0 */
/* thread.h - how threads of the device begin. */
#ifndef HBG_PLATFORM_CPU_THREAD_H
#define HBG_PLATFORM_CPU_THREAD_H

#include <pthread.h>
#include <stddef.h>

/* A thread with a stack of this size. Signals of the process are not for it; those that it raises by its own fault are not blocked, since they would
   end the process unhandled. Returns 0 or an errno. */
int hbg__thread_start(pthread_t *thread, size_t stack_bytes, void *(*main)(void *user), void *user);

#endif /* HBG_PLATFORM_CPU_THREAD_H */
