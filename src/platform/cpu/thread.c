/* SPDX-License-Identifier: Apache-2.0 */
/* thread.c - see thread.h. */
#include "platform/cpu/thread.h"

#include <signal.h>

int hbg__thread_start(pthread_t *thread, size_t stack_bytes, void *(*main)(void *user), void *user)
{
    static const int own_faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT };
    sigset_t all, before;
    pthread_attr_t attributes;
    int status = pthread_attr_init(&attributes);
    if (status != 0) return status;
    status = pthread_attr_setstacksize(&attributes, stack_bytes);
    sigfillset(&all);
    for (size_t i = 0; i < sizeof own_faults / sizeof *own_faults; i++) sigdelset(&all, own_faults[i]);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (status == 0) status = pthread_create(thread, &attributes, main, user);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return status;
}
