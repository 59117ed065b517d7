/* SPDX-License-Identifier: Apache-2.0 */
/* fiber.c - see fiber.h. A checked longjmp() refuses to go to another stack, so this file is never compiled with checks. */
#undef _FORTIFY_SOURCE
#include "platform/sim/fiber.h"

#include <stdint.h>
#include <string.h>

#include "base/check.h"

#if defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN 1
#elif defined(__SANITIZE_THREAD__)
#define WITH_TSAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#elif __has_feature(thread_sanitizer)
#define WITH_TSAN 1
#endif
#endif

#ifdef WITH_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>

/* A fiber that ended in the middle of a function has left its frame marked. */
static void unmark(const struct hbg__fiber *fiber) { __asan_unpoison_memory_region(fiber->stack, fiber->stack_bytes); }

/* The stack that `to` runs on becomes the thread's; that of the thread itself is learnt when it is left. */
static void announce(struct hbg__fiber *from, struct hbg__fiber *to)
{
    to->from = from;
    __sanitizer_start_switch_fiber(&from->sanitizer, to->stack, to->stack_bytes);
}

static void arrive(struct hbg__fiber *fiber)
{
    const void *stack;
    size_t bytes;
    __sanitizer_finish_switch_fiber(fiber->sanitizer, &stack, &bytes);
    if (fiber->from->run) return;
    fiber->from->stack = stack;
    fiber->from->stack_bytes = bytes;
}
#else
static void unmark(const struct hbg__fiber *fiber) { (void)fiber; }
static void announce(struct hbg__fiber *from, struct hbg__fiber *to) { to->from = from; }
static void arrive(struct hbg__fiber *fiber) { (void)fiber; }
#endif

/* makecontext() passes ints: an address is two of them. */
static void begin(unsigned high, unsigned low)
{
    struct hbg__fiber *fiber = (struct hbg__fiber *)((uintptr_t)high << 32 | low);
    arrive(fiber);
    fiber->run(fiber->argument);
    hbg__check_failed(__FILE__, __LINE__, "a fiber does not return");
}

void hbg__fiber_open(struct hbg__fiber *fiber, void *stack, size_t stack_bytes, void (*run)(void *argument), void *argument)
{
    uint64_t address = (uintptr_t)fiber;
    memset(fiber, 0, sizeof *fiber);
    fiber->run = run;
    fiber->argument = argument;
    fiber->stack = stack;
    fiber->stack_bytes = stack_bytes;
    HBG_ASSERT(getcontext(&fiber->context) == 0);
    fiber->context.uc_stack.ss_sp = stack;
    fiber->context.uc_stack.ss_size = stack_bytes;
    fiber->context.uc_link = NULL;
    makecontext(&fiber->context, (void (*)(void))begin, 2, (unsigned)(address >> 32), (unsigned)address);
}

#ifdef WITH_TSAN
#include <sanitizer/tsan_interface.h>

void hbg__fiber_close(struct hbg__fiber *fiber)
{
    if (!fiber->run) return;
    unmark(fiber);
    if (fiber->sanitizer) __tsan_destroy_fiber(fiber->sanitizer);
    fiber->sanitizer = NULL;
}

void hbg__fiber_switch(struct hbg__fiber *from, struct hbg__fiber *to)
{
    if (!from->run) from->sanitizer = __tsan_get_current_fiber();
    if (!to->sanitizer) to->sanitizer = __tsan_create_fiber(0);
    announce(from, to);
    __tsan_switch_to_fiber(to->sanitizer, 0);
    swapcontext(&from->context, &to->context);
    arrive(from);
}
#else
void hbg__fiber_close(struct hbg__fiber *fiber)
{
    if (fiber->run) unmark(fiber);
}

void hbg__fiber_switch(struct hbg__fiber *from, struct hbg__fiber *to)
{
    from->entered = true;
    announce(from, to);
    if (_setjmp(from->left) == 0) {
        if (to->entered) _longjmp(to->left, 1);
        to->entered = true;
        setcontext(&to->context);
    }
    arrive(from);
}
#endif
