/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The handler of crashes. It calls nothing that is not async-signal-safe: the sentence is put together here and written at once,
 * and what it tells of stands ready before anything can crash.
 *
 *     who      written by                              read by
 *     watched  the command's thread, in no handler     the handler, on any thread
 *     telling  the first handler                       all handlers: the others wait for the end that the first one brings
 */
#include "crash.h"

#include "cli.h"
#include "stack.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

static const struct { int number; const char *name, *meaning; } signals[] = {
    { SIGSEGV, "SIGSEGV", "a bad address" },
    { SIGBUS, "SIGBUS", "an address without memory behind it" },
    { SIGFPE, "SIGFPE", "arithmetic without a result" },
    { SIGILL, "SIGILL", "no such instruction" },
    { SIGABRT, "SIGABRT", "abort() or a failed assertion" },
};
enum { SIGNAL_COUNT = sizeof signals / sizeof *signals, STACK_BYTES = 64 << 10 };

static struct {
    const char *command, *name;
    const struct hbg_kernel *kernel;
    size_t kernel_count;
    bool loaded;
    _Atomic(const char *) function;
} watched;
static atomic_flag telling = ATOMIC_FLAG_INIT;
static _Thread_local bool telling_here;
static unsigned char signal_stack[STACK_BYTES];        /* of the command's thread; workers have their own */

/* ---- a sentence without stdio ---- */

struct sentence {
    char text[512];
    size_t length;
};

static void put(struct sentence *s, const char *text)
{
    while (*text && s->length < sizeof s->text - 1)
        s->text[s->length++] = *text++;
}

static void put_number(struct sentence *s, uint64_t value, unsigned base)
{
    char digits[24];
    size_t at = sizeof digits - 1;

    digits[at] = '\0';
    do {
        digits[--at] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value);
    put(s, digits + at);
}

static void put_kernel(struct sentence *s, const struct hbg_running *running)
{
    const char *name = running->kernel < watched.kernel_count ? watched.kernel[running->kernel].name : NULL;

    put(s, "kernel ");
    if (name) {
        put(s, "`");
        put(s, name);
        put(s, "`");
    } else {
        put_number(s, running->kernel, 10);
    }
    put(s, " crashed in task ");
    put_number(s, running->task, 10);
    put(s, " on worker ");
    put_number(s, running->worker, 10);
}

/* the part of the workload that this thread is in */
static void put_place(struct sentence *s)
{
    struct hbg_running running = HBG_OPTIONS(running);
    const char *function = atomic_load(&watched.function);
    enum hbg_inside inside = hbg_running_get(&running);

    if (inside == HBG_INSIDE_KERNEL) {
        put_kernel(s, &running);
    } else if (inside == HBG_INSIDE_BUILD || function) {
        put(s, "its function `");
        put(s, inside == HBG_INSIDE_BUILD ? "build" : function);
        put(s, "` crashed");
    } else {
        put(s, watched.loaded ? "crashed outside of its functions and kernels" : "crashed while it was loaded");
    }
}

/* what can be done about it depends on whose stack it is */
static void put_stack(struct sentence *s, const siginfo_t *info)
{
    struct hbg_running running = HBG_OPTIONS(running);

    put(s, "SIGSEGV, stack overflow at 0x");
    put_number(s, (uintptr_t)info->si_addr, 16);
    put(s, hbg_running_get(&running) == HBG_INSIDE_KERNEL
               ? "; a worker's stack has 2 MiB: put large arrays into scratch memory (hbg_view_scratch) or on the heap, and make deep recursion a loop"
               : "; put large arrays on the heap and make deep recursion a loop, or set another size with `ulimit -s`");
}

static void put_signal(struct sentence *s, int number, const siginfo_t *info, const void *context)
{
    if (number == SIGSEGV && info->si_code > 0 && hbg__stack_used_up(info->si_addr, context)) {
        put_stack(s, info);
        return;
    }
    for (int i = 0; i < SIGNAL_COUNT; i++) {
        if (signals[i].number != number)
            continue;
        put(s, signals[i].name);
        put(s, ", ");
        put(s, signals[i].meaning);
    }
    if (info->si_code > 0 && number != SIGABRT) {       /* raised by the processor: there is an address */
        put(s, number == SIGSEGV || number == SIGBUS ? ", 0x" : ", at 0x");
        put_number(s, (uintptr_t)info->si_addr, 16);
    }
}

static void tell(int number, siginfo_t *info, void *context)
{
    struct sentence s = { .length = 0 };

    if (telling_here)                                   /* the telling itself crashed */
        _exit(CLI_FAILED);
    telling_here = true;
    while (atomic_flag_test_and_set(&telling))
        pause();                                        /* ends with the process: whoever tells calls _exit() */
    put(&s, "hbg ");
    put(&s, watched.command);
    put(&s, ": ");
    put(&s, watched.name);
    put(&s, ": ");
    put_place(&s);
    put(&s, ": ");
    put_signal(&s, number, info, context);
    s.text[s.length++] = '\n';
    (void)!write(STDERR_FILENO, s.text, s.length);
    _exit(CLI_FAILED);
}

void hbg__crash_watch(const char *command, const char *name, const struct hbg_workload *workload)
{
    struct sigaction action = { .sa_sigaction = tell, .sa_flags = SA_SIGINFO | SA_ONSTACK };
    stack_t stack = { .ss_sp = signal_stack, .ss_size = sizeof signal_stack };

    watched.command = command;
    watched.name = name;
    watched.loaded = workload != NULL;
    hbg__crash_kernels(workload ? workload->kernels : NULL, workload ? workload->kernel_count : 0);
    (void)!sigaltstack(&stack, NULL);                   /* refused: a stack that is used up ends the command with the signal */
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < SIGNAL_COUNT; i++)
        sigaction(signals[i].number, &action, NULL);
}

void hbg__crash_kernels(const struct hbg_kernel *kernels, size_t count)
{
    watched.kernel = kernels;
    watched.kernel_count = count;
}

void hbg__crash_inside(const char *function)
{
    atomic_store(&watched.function, function);
}
