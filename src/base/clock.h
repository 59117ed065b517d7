/* SPDX-License-Identifier: Apache-2.0 */
/* clock.h - nanoseconds of the monotonic clock, and the fastest counter that goes as evenly. */
#ifndef HBG_BASE_CLOCK_H
#define HBG_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t hbg__clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* A count that goes on evenly on all cores; how fast, two looks at both clocks say. */
static inline uint64_t hbg__ticks(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t now;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(now));
    return now;
#else
    return hbg__clock_ns();
#endif
}

/* The moment `timeout_ns` from now; a sum that does not fit is UINT64_MAX, which no clock reaches. */
static inline uint64_t hbg__clock_after_ns(uint64_t timeout_ns)
{
    uint64_t now = hbg__clock_ns();
    return timeout_ns > UINT64_MAX - now ? UINT64_MAX : now + timeout_ns;
}

#endif /* HBG_BASE_CLOCK_H */
