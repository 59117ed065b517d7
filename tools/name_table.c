/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names found by hash (FNV-1a).
 */
#include "name_table.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM_FIRST = 64 };

static size_t hash(const char *name)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);

    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return (size_t)(h ^ h >> 32);
}

/* the place of a name, or the empty one where it belongs; there is always an empty one */
static struct name_place *place_of(const struct name_table *t, const char *name)
{
    size_t i = hash(name) & (t->room - 1);

    while (t->place[i].name && strcmp(t->place[i].name, name) != 0)
        i = (i + 1) & (t->room - 1);
    return &t->place[i];
}

bool hbg__name_table_find(const struct name_table *t, const char *name, size_t *at)
{
    const struct name_place *place = t->room ? place_of(t, name) : NULL;

    if (!place || !place->name)
        return false;
    *at = place->at;
    return true;
}

static bool grow(struct name_table *t)
{
    struct name_table larger = { .room = t->room ? 2 * t->room : ROOM_FIRST, .count = t->count };

    larger.place = calloc(larger.room, sizeof *larger.place);
    if (!larger.place)
        return false;
    for (size_t i = 0; i < t->room; i++)
        if (t->place[i].name)
            *place_of(&larger, t->place[i].name) = t->place[i];
    free(t->place);
    *t = larger;
    return true;
}

bool hbg__name_table_add(struct name_table *t, const char *name, size_t at)
{
    if (2 * (t->count + 1) > t->room && !grow(t))
        return false;
    *place_of(t, name) = (struct name_place){ name, at };
    t->count++;
    return true;
}

void hbg__name_table_free(struct name_table *t)
{
    free(t->place);
    *t = (struct name_table){ 0 };
}
