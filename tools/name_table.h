/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of things that stand in an array, found by hash: open addressing, at most half full. The names are their owners'.
 */
#ifndef HBG_TOOLS_NAME_TABLE_H
#define HBG_TOOLS_NAME_TABLE_H

#include <stdbool.h>
#include <stddef.h>

struct name_table {
    struct name_place { const char *name; size_t at; } *place;     /* owned; name NULL: empty */
    size_t room, count;                 /* room: a power of two, or 0 */
};

/* Where it stands in the array; false: it was not added. */
bool hbg__name_table_find(const struct name_table *t, const char *name, size_t *at);

/* A name that is not there yet, borrowed until free. False: no memory. */
bool hbg__name_table_add(struct name_table *t, const char *name, size_t at);
void hbg__name_table_free(struct name_table *t);

#endif
