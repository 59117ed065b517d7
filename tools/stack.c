/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a stack, found in the memory map of the process.
 *
 *      guard            stack of the thread, grows downwards
 *      |- - - - - - - - -|###############################|
 *                 ^  ^   lo
 *           address  stack pointer
 *
 * A stack is used up when the address lies below the mapping that the stack pointer is in or has just left, and near the stack
 * pointer: calls and local variables touch what is next to it. A wild pointer that hits the same bytes has a stack pointer far from `lo`.
 */
#include "stack.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>
#include <unistd.h>

enum { NEAR_BYTES = 64 << 10 };

static uintptr_t stack_pointer(const ucontext_t *context)
{
#if defined(__x86_64__)
    return (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
#elif defined(__aarch64__)
    return (uintptr_t)context->uc_mcontext.sp;
#else
    (void)context;
    return 0;
#endif
}

/* ---- /proc/self/maps ---- */

struct maps {
    int fd;
    ssize_t size, at;
    char text[2048];
};

static int next_byte(struct maps *m)
{
    if (m->at == m->size) {
        m->size = read(m->fd, m->text, sizeof m->text);
        m->at = 0;
    }
    return m->size > 0 ? (unsigned char)m->text[m->at++] : -1;
}

static int hex_value(int c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static uintptr_t next_number(struct maps *m, int *after)
{
    uintptr_t value = 0;
    int c;

    while (hex_value(c = next_byte(m)) >= 0)
        value = value * 16 + (uintptr_t)hex_value(c);
    *after = c;
    return value;
}

/* "lo-hi rw-p .."; false at the end */
static bool next_mapping(struct maps *m, uintptr_t *lo, bool *writable)
{
    int c;

    *lo = next_number(m, &c);
    if (c != '-')
        return false;
    next_number(m, &c);
    next_byte(m);                       /* r */
    *writable = next_byte(m) == 'w';
    while (c >= 0 && c != '\n')
        c = next_byte(m);
    return true;
}

/* where the first writable mapping above the address begins; 0: there is none */
static uintptr_t writable_above(uintptr_t address)
{
    static struct maps maps;            /* not on the little stack of a handler */
    uintptr_t lo = 0;
    bool writable, found = false;

    maps = (struct maps){ .fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC) };
    if (maps.fd < 0)
        return 0;
    while (!found && next_mapping(&maps, &lo, &writable))
        found = writable && lo > address;
    close(maps.fd);
    return found ? lo : 0;
}

bool hbg__stack_used_up(const void *address, const void *context)
{
    uintptr_t at = (uintptr_t)address, pointer = stack_pointer(context), lo;

    if (!pointer || at + NEAR_BYTES < pointer || at > pointer + NEAR_BYTES)
        return false;
    lo = writable_above(at);
    return lo && pointer < lo + NEAR_BYTES;
}
