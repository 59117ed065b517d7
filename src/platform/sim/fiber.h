/* SPDX-License-Identifier: Apache-2.0 */
/* fiber.h - coroutines: a stack of its own each, and a switch from one to another within a thread.
 *
 * A fiber is entered once through makecontext() and from then on left and entered by _setjmp() and _longjmp(), which call no system.
 * The thread's own stack is a fiber that was never opened. Sanitizers are told of each switch; under ThreadSanitizer it is
 * swapcontext(), which that one follows.
 */
#ifndef HBG_PLATFORM_SIM_FIBER_H
#define HBG_PLATFORM_SIM_FIBER_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <ucontext.h>

struct hbg__fiber {
    jmp_buf left;                       /* where it goes on */
    ucontext_t context;                 /* where it begins */
    bool entered;
    void (*run)(void *argument);        /* must not return: it ends with a switch that is never answered */
    void *argument;
    const void *stack;
    size_t stack_bytes;
    struct hbg__fiber *from;            /* who switched here last */
    void *sanitizer;                    /* what a sanitizer keeps of it */
};

void hbg__fiber_open(struct hbg__fiber *fiber, void *stack, size_t stack_bytes, void (*run)(void *argument), void *argument);
void hbg__fiber_close(struct hbg__fiber *fiber);        /* nobody switches to it any more; its stack may go */

/* `from` is the one that runs. Returns when somebody switches back to it. */
void hbg__fiber_switch(struct hbg__fiber *from, struct hbg__fiber *to);

#endif /* HBG_PLATFORM_SIM_FIBER_H */
