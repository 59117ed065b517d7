/* SPDX-License-Identifier: Apache-2.0 */
/* park.c - how a thread of this machine yields and sleeps: sched_yield and futex. */
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "atomic/atomic.h"

void hbg__yield(void) { sched_yield(); }

/* Ends when another thread changes the word and wakes it, when the time is up, or on a signal. The kernel compares the word
   under its own lock, so a wake that follows the change cannot fall between the comparison and the sleep. */
void hbg__word_wait(struct hbg__atomic_u32 *word, uint32_t value, uint64_t timeout_ns)
{
    struct timespec limit;
    limit.tv_sec = (time_t)(timeout_ns / 1000000000u);
    limit.tv_nsec = (long)(timeout_ns % 1000000000u);
    syscall(SYS_futex, &word->value, FUTEX_WAIT_PRIVATE, value, timeout_ns == UINT64_MAX ? NULL : &limit, NULL, 0);
}

void hbg__word_wake(struct hbg__atomic_u32 *word, uint32_t count)
{
    syscall(SYS_futex, &word->value, FUTEX_WAKE_PRIVATE, count > INT_MAX ? INT_MAX : (int)count, NULL, NULL, 0);
}
