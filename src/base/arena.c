/* SPDX-License-Identifier: Apache-2.0 */
/* arena.c - see arena.h. The steps: 64 KiB at first, then as much again as is there, at most 32 MiB at once. */
#include "base/arena.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/bits.h"

enum { PAGE_BYTES = 4096 };
static const size_t smallest_reserve = (size_t)1 << 20;
static const size_t smallest_step = (size_t)64 << 10;
static const size_t largest_step = (size_t)32 << 20;
static const size_t huge_page = (size_t)2 << 20;
static const size_t populate_max = (size_t)256 << 20;   /* a larger range is touched page by page, as far as it is used */

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

size_t hbg__arena_default_reserve(void)
{
    const size_t usual = (size_t)16 << 30;
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY) return usual;
    size_t share = (size_t)(limit.rlim_cur / 512) & ~(size_t)(PAGE_BYTES - 1);
    return share < smallest_reserve ? smallest_reserve : smaller(share, usual);
}

static unsigned char *reserve(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

static size_t below_share(size_t bytes, bool two_sided) { return two_sided ? bytes / 2 & ~(size_t)(PAGE_BYTES - 1) : 0; }

static void place(struct hbg__arena *arena, unsigned char *base, size_t bytes, bool two_sided)
{
    size_t below = below_share(bytes, two_sided);
    *arena = (struct hbg__arena){ .origin = base + below, .below_reserved = below, .above_reserved = bytes - below,
                                  .growths = arena->growths };
}

bool hbg__arena_open(struct hbg__arena *arena, size_t reserve_bytes, bool two_sided)
{
    size_t bytes = reserve_bytes ? hbg__round_up(smaller(reserve_bytes, SIZE_MAX / 4), 2 * PAGE_BYTES) : hbg__arena_default_reserve();
    unsigned char *base = reserve(bytes);
    while (!base && bytes / 2 >= smallest_reserve) {
        bytes = bytes / 2 & ~(size_t)(PAGE_BYTES - 1);
        base = reserve(bytes);
    }
    arena->growths = 0;
    if (!base) { arena->origin = NULL; return false; }
    place(arena, base, bytes, two_sided);
    return true;
}

void hbg__arena_close(struct hbg__arena *arena)
{
    if (arena->origin) munmap(arena->origin - arena->below_reserved, arena->below_reserved + arena->above_reserved);
    *arena = (struct hbg__arena){ 0 };
}

void hbg__arena_trim(struct hbg__arena *arena, size_t below, size_t above)
{
    size_t low = hbg__round_up(below, PAGE_BYTES), high = hbg__round_up(above, PAGE_BYTES);
    if (low < arena->below_reserved && munmap(arena->origin - arena->below_reserved, arena->below_reserved - low) == 0) arena->below_reserved = arena->below = low;
    if (high < arena->above_reserved && munmap(arena->origin + high, arena->above_reserved - high) == 0) arena->above_reserved = arena->above = high;
}

/* Make [from, from + bytes) accessible and touch it in bulk. Advice that the kernel does not know is no error. */
static bool commit(unsigned char *from, size_t bytes)
{
    if (bytes == 0) return true;
    if (mprotect(from, bytes, PROT_READ | PROT_WRITE)) return false;
#ifdef MADV_HUGEPAGE
    if (bytes >= huge_page) (void)madvise(from, bytes, MADV_HUGEPAGE);
#endif
#ifdef MADV_POPULATE_WRITE
    if (bytes <= populate_max) (void)madvise(from, bytes, MADV_POPULATE_WRITE);
#endif
    return true;
}

/* How much to commit when `needed` bytes are wanted, `have` are there and `limit` are reserved. */
static size_t step_to(size_t needed, size_t have, size_t limit)
{
    if (needed <= have) return have;
    size_t step = have < smallest_step ? smallest_step : smaller(have, largest_step);
    size_t goal = needed > have + step ? needed : have + step;
    size_t unit = goal >= huge_page ? huge_page : smallest_step;
    return smaller(hbg__round_up(goal, unit), limit);
}

/* A move doubles the reservation until both sides fit, and carries the committed bytes over. */
static bool move(struct hbg__arena *arena, size_t below, size_t above)
{
    bool two_sided = arena->below_reserved != 0;
    size_t bytes = arena->below_reserved + arena->above_reserved;
    do {
        if (bytes > SIZE_MAX / 4) return false;
        bytes = hbg__round_up(bytes * 2, PAGE_BYTES);
    } while (below > below_share(bytes, two_sided) || above > bytes - below_share(bytes, two_sided));
    unsigned char *base = reserve(bytes);
    if (!base) return false;
    struct hbg__arena next = { .growths = arena->growths };
    place(&next, base, bytes, two_sided);
    if (!commit(next.origin - arena->below, arena->below + arena->above)) { munmap(base, bytes); return false; }
    memcpy(next.origin - arena->below, arena->origin - arena->below, arena->below + arena->above);
    next.below = arena->below;
    next.above = arena->above;
    hbg__arena_close(arena);
    *arena = next;
    return true;
}

bool hbg__arena_grow(struct hbg__arena *arena, size_t below, size_t above)
{
    if (!arena->origin) return false;
    if ((below > arena->below_reserved || above > arena->above_reserved) && !move(arena, below, above)) return false;
    size_t new_below = step_to(below, arena->below, arena->below_reserved);
    size_t new_above = step_to(above, arena->above, arena->above_reserved);
    if (!commit(arena->origin - new_below, new_below - arena->below)) return false;
    arena->below = new_below;
    if (!commit(arena->origin + arena->above, new_above - arena->above)) return false;
    arena->above = new_above;
    arena->growths++;
    return true;
}
