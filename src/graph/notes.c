/* SPDX-License-Identifier: Apache-2.0 */
/* notes.c - what the records of a build do not tell of its calls, kept beside its tables for the next build: repeat.h
 *
 * Most tasks need no note: a signature says what its arguments are. Where there is no memory for one, the build cannot be compared, and that is all.
 */
#include "graph/repeat.h"

/* Room in a growing array; false: there is none, and nothing is latched. */
static bool fit(struct hbg_graph *g, void **items, uint32_t *capacity, uint64_t count, size_t item_bytes)
{
    uint64_t wanted = *capacity ? 2 * (uint64_t)*capacity : 64;
    if (count <= *capacity) return true;
    while (wanted < count) wanted *= 2;
    void *moved = wanted > UINT32_MAX ? NULL : hbg__realloc(g->memory, *items, *capacity * item_bytes, wanted * item_bytes, 16);
    if (!moved) return false;
    *items = moved;
    *capacity = (uint32_t)wanted;
    return true;
}

static bool add(struct hbg_graph *g, struct hbg__note note, uint32_t words)
{
    struct hbg__notes *n = &g->notes;
    if (!fit(g, (void **)&n->item, &n->capacity, (uint64_t)n->count + 1, sizeof *n->item) ||
        !fit(g, (void **)&n->word, &n->word_capacity, (uint64_t)n->word_count + words, sizeof *n->word)) {
        g->repeat.is_possible = false;
        return false;
    }
    note.at = g->task_count - g->noop_count;
    note.first = n->word_count;
    n->word_count += words;
    n->item[n->count++] = note;
    return true;
}

bool hbg__note_call(struct hbg_graph *g, enum hbg__note_kind kind)
{
    if (!hbg__repeat_leave(g)) return false;
    if (g->repeat.is_possible) (void)add(g, (struct hbg__note){ .kind = kind }, 0);
    return true;
}

/* Type and rank, then the dimensions. */
enum { ALLOC_WORDS = 1 + 2 * HBG_RANK_MAX };

static void write_shape(uint32_t *word, const struct hbg_region *r)
{
    word[0] = hbg__region_type(r);
    for (int d = 0; d < HBG_RANK_MAX; d++) {
        int64_t size = d < r->rank ? r->shape[d] : 0;
        memcpy(&word[1 + 2 * d], &size, sizeof size);
    }
}

bool hbg__note_alloc(struct hbg_graph *g, const struct hbg_region *r)
{
    if (!hbg__repeat_leave(g)) return false;
    if (g->repeat.is_possible && add(g, (struct hbg__note){ .kind = HBG__NOTE_ALLOC }, ALLOC_WORDS)) write_shape(g->notes.word + g->notes.word_count - ALLOC_WORDS, r);
    return true;
}

bool hbg__note_is_alloc(const struct hbg_graph *g, const struct hbg__note *note, const struct hbg_region *r)
{
    uint32_t word[ALLOC_WORDS];
    write_shape(word, r);
    return note->kind == HBG__NOTE_ALLOC && memcmp(word, g->notes.word + note->first, sizeof word) == 0;
}

enum hbg_dtype hbg__noted_alloc(const struct hbg_graph *g, const struct hbg__note *note, struct hbg_shape *shape)
{
    const uint32_t *word = g->notes.word + note->first;
    shape->rank = (int)(word[0] >> 16);
    memcpy(shape->dim, word + 1, sizeof shape->dim);
    return (enum hbg_dtype)(word[0] & 0xffff);
}

static void write_list(uint32_t *word, struct hbg_arg_list list)
{
    for (size_t i = 0; i < list.count; i++) {
        *word++ = list.arg[i].kind;
        *word++ = list.arg[i].kind == HBG_ARG_AFTER ? list.arg[i].u.task.id : 0;
    }
}

void hbg__note_list(struct hbg_graph *g, struct hbg_arg_list list)
{
    uint32_t count = (uint32_t)list.count;
    if (!g->repeat.is_possible || !add(g, (struct hbg__note){ .kind = HBG__NOTE_LIST, .count = count }, 2 * count)) return;
    write_list(g->notes.word + g->notes.word_count - 2 * count, list);
}

void hbg__note_words(struct hbg_graph *g, enum hbg__note_kind kind, uint32_t first, uint32_t second, struct hbg_arg_list list)
{
    uint32_t count = (uint32_t)list.count;
    if (!g->repeat.is_possible || !add(g, (struct hbg__note){ .kind = kind, .count = count }, 2 + 2 * count)) return;
    uint32_t *word = g->notes.word + g->notes.word_count - 2 - 2 * count;
    word[0] = first;
    word[1] = second;
    write_list(word + 2, list);
}
