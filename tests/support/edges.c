/* SPDX-License-Identifier: Apache-2.0 */
/* edges.c - see edges.h. */
#include "support/edges.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "image/layout.h"

void edges_of_run(struct edges *edges, struct hbg_run run)
{
    const void *image = NULL;
    size_t size = 0;
    struct hbg_error error = HBG_OPTIONS(error);
    assert_int_equal(hbg_run_image(run, &image, &size), HBG_OK);
    enum hbg_status status = hbg_image_verify(image, size, &error);
    if (status != HBG_OK) fail_msg("the image does not verify: %s", error.text);

    const struct hbg__image_head *head = image;
    const unsigned char *payload = hbg__image_payload(head);
    *edges = (struct edges){ .task_count = head->task_count, .noop_count = head->noop_count };
    edges->edge = malloc((head->edge_count + 1) * sizeof *edges->edge);
    edges->flags = malloc((size_t)head->task_count + 1);
    if (!edges->edge || !edges->flags) abort();
    for (uint32_t task = 0; task < head->task_count; task++) {
        const struct hbg__task_record *record = hbg__image_record(payload, task);
        uint32_t producers = hbg__image_producer_count(payload, record);
        edges->flags[task] = record->flags;
        assert_true(edges->count + producers <= head->edge_count);
        for (uint32_t i = 0; i < producers; i++) {
            uint32_t producer = hbg__image_producer(payload, record, i);
            assert_true(producer < task);
            edges->edge[edges->count++] = (struct edge){ producer, task };
        }
    }
    assert_int_equal(edges->count, head->edge_count);
}

void edges_free(struct edges *edges)
{
    free(edges->edge);
    free(edges->flags);
    *edges = (struct edges){ 0 };
}

bool edges_have(const struct edges *edges, uint32_t producer, uint32_t consumer)
{
    for (uint64_t i = 0; i < edges->count; i++) {
        if (edges->edge[i].producer == producer && edges->edge[i].consumer == consumer) return true;
    }
    return false;
}

void edges_print(const struct edges *edges)
{
    fprintf(stderr, "%u tasks (%u noops), %llu edges:", edges->task_count, edges->noop_count, (unsigned long long)edges->count);
    for (uint64_t i = 0; i < edges->count && i < 200; i++) fprintf(stderr, " %u>%u", edges->edge[i].producer, edges->edge[i].consumer);
    fputs("\n", stderr);
}

bool edges_are(const struct edges *edges, const char *text)
{
    uint64_t wanted = 0;
    bool same = true;
    for (const char *at = text; *at != '\0';) {
        char *end;
        uint32_t producer = (uint32_t)strtoul(at, &end, 10);
        uint32_t consumer = (uint32_t)strtoul(end + 1, &end, 10);
        same &= edges_have(edges, producer, consumer);
        wanted++;
        for (at = end; *at == ' '; at++) { }
    }
    if (same && wanted == edges->count) return true;
    fprintf(stderr, "expected %s\nfound ", text);
    edges_print(edges);
    return false;
}

uint64_t edges_into(const struct edges *edges, uint32_t consumer)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < edges->count; i++) count += edges->edge[i].consumer == consumer;
    return count;
}

bool edges_reach(const struct edges *edges, uint32_t producer, uint32_t consumer)
{
    bool *after = calloc((size_t)edges->task_count + 1, sizeof *after);
    if (!after) abort();
    after[producer] = true;
    for (uint64_t i = 0; i < edges->count; i++) {       /* consumers ascend, so one pass is enough */
        if (after[edges->edge[i].producer]) after[edges->edge[i].consumer] = true;
    }
    bool reached = producer != consumer && after[consumer];
    free(after);
    return reached;
}

/* ---- closure ---- */

void closure_open(struct closure *closure, uint32_t count)
{
    closure->count = count;
    closure->row_words = ((size_t)count + 63) / 64;
    closure->bits = calloc(closure->row_words * count + 1, sizeof *closure->bits);
    if (!closure->bits) abort();
}

void closure_free(struct closure *closure)
{
    free(closure->bits);
    closure->bits = NULL;
}

void closure_add(struct closure *closure, uint32_t producer, uint32_t consumer)
{
    uint64_t *row = closure->bits + consumer * closure->row_words;
    const uint64_t *before = closure->bits + producer * closure->row_words;
    for (size_t w = 0; w <= producer / 64; w++) row[w] |= before[w];
    row[producer / 64] |= UINT64_C(1) << producer % 64;
}

void closure_of_edges(struct closure *closure, const struct edges *edges, bool carrying)
{
    closure_open(closure, edges->task_count);
    for (uint64_t i = 0; i < edges->count; i++) {
        if (carrying && edges->flags[edges->edge[i].producer] & HBG__TASK_REUSE) continue;
        closure_add(closure, edges->edge[i].producer, edges->edge[i].consumer);
    }
}

bool closure_before(const struct closure *closure, uint32_t first, uint32_t second)
{
    return closure->bits[second * closure->row_words + first / 64] >> first % 64 & 1;
}

uint64_t closure_pairs(const struct closure *closure)
{
    uint64_t pairs = 0;
    for (size_t i = 0; i < closure->row_words * closure->count; i++) pairs += (uint64_t)__builtin_popcountll(closure->bits[i]);
    return pairs;
}

bool edges_order_same(const struct edges *a, const struct edges *b)
{
    struct closure of_a, of_b;
    closure_of_edges(&of_a, a, false);
    closure_of_edges(&of_b, b, false);
    bool same = a->task_count == b->task_count && memcmp(of_a.bits, of_b.bits, of_a.row_words * of_a.count * sizeof *of_a.bits) == 0;
    closure_free(&of_a);
    closure_free(&of_b);
    return same;
}
