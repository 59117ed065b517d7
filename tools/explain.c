/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reasons, counted and told.
 */
#include "explain.h"

#include "base/json_write.h"
#include "table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void add_reason(struct reasons *r, const char *text)
{
    int i = 0;

    if (!*text)
        return;
    while (i < r->count && strcmp(r->reason[i].text, text) != 0)
        i++;
    if (i == EXPLAIN_REASONS) {
        r->others++;
        return;
    }
    if (i == r->count)
        snprintf(r->reason[r->count++].text, sizeof r->reason->text, "%s", text);
    r->reason[i].count++;
}

void hbg__explain_add(struct explanation *e, const struct hbg_result *result)
{
    e->replayed += result->replayed != 0;
    e->built += result->replayed == 0;
    e->recorded += result->subgraphs_recorded;
    e->found += result->subgraphs_replayed;
    e->missed += result->subgraphs_missed;
    add_reason(&e->build, result->why);
    add_reason(&e->body, result->subgraph_why);
}

/* ---- text ---- */

static void print_reasons(const char *label, const struct reasons *r)
{
    char count[64];

    for (int i = 0; i < r->count; i++)
        hbg__table_line(i ? "" : label, "%s: %s", hbg__table_count(r->reason[i].count, count), r->reason[i].text);
    if (r->others)
        hbg__table_line("", "%s: other reasons", hbg__table_count(r->others, count));
}

/* Builds that no recording could have saved. */
static void print_first_builds(const struct explanation *e)
{
    uint64_t first = e->built - e->build.others;
    char count[64];

    for (int i = 0; i < e->build.count; i++)
        first -= e->build.reason[i].count;
    if (first)
        hbg__table_line("  built", "%s: %s", hbg__table_count(first, count), e->pure ? "there was no recording" : "the build is not pure, or --replay says so");
}

static void print_bodies(const struct explanation *e, const struct hbg_counters *c)
{
    char recorded[64], found[64], missed[64], bytes[64];

    if (!c->subgraphs_recorded && !c->subgraphs_replayed && !c->subgraphs_in_place)
        return;
    hbg__table_line("bodies", "%s recorded, %s replayed, in these builds", hbg__table_count(e->recorded, recorded), hbg__table_count(e->found, found));
    if (e->missed)
        hbg__table_line("  missed", "%s of those recorded, one reason for each build:", hbg__table_count(e->missed, missed));
    print_reasons(e->missed ? "" : "  not kept", &e->body);
    if (e->missed)
        hbg__table_line("  did not fit", "types or shapes %" PRIu64 ", shared storage %" PRIu64 ", values %" PRIu64 ", data %" PRIu64,
                        c->subgraph_misses_shape, c->subgraph_misses_alias, c->subgraph_misses_value, c->subgraph_misses_data);
    if (c->subgraphs_in_place)
        hbg__table_line("  in place", "%s, which cannot be kept", hbg__table_count(c->subgraphs_in_place, recorded));
    hbg__table_line("definitions", "%s uploaded, %s", hbg__table_count(c->definitions_uploaded, recorded), hbg__table_bytes(c->definition_bytes, bytes));
}

void hbg__explain_print(const struct explanation *e, const struct hbg_counters *counters)
{
    char built[64], replayed[64], compared[64];

    putchar('\n');
    hbg__table_line("runs", "%s built, %s replayed", hbg__table_count(e->built, built), hbg__table_count(e->replayed, replayed));
    print_first_builds(e);
    if (counters->builds_repeated)
        hbg__table_line("  compared", "%s of these: the calls were those of the build before, and nothing was made", hbg__table_count(counters->builds_repeated, compared));
    print_reasons("  built again", &e->build);
    print_bodies(e, counters);
}

/* ---- JSON ---- */

static void json_reasons(struct hbg__json *j, const char *key, const struct reasons *r)
{
    hbg__json_key(j, key);
    hbg__json_open_array(j);
    for (int i = 0; i < r->count; i++) {
        hbg__json_open_object(j);
        hbg__json_key_string(j, "why", r->reason[i].text);
        hbg__json_key_u64(j, "count", r->reason[i].count);
        hbg__json_close(j);
    }
    hbg__json_close(j);
}

void hbg__explain_json(struct hbg__json *j, const struct explanation *e)
{
    hbg__json_key(j, "explain");
    hbg__json_open_object(j);
    hbg__json_key_bool(j, "pure", e->pure);
    hbg__json_key_u64(j, "built", e->built);
    hbg__json_key_u64(j, "replayed", e->replayed);
    json_reasons(j, "built_again", &e->build);
    hbg__json_key_u64(j, "built_again_otherwise", e->build.others);
    hbg__json_key_u64(j, "bodies_recorded", e->recorded);
    hbg__json_key_u64(j, "bodies_replayed", e->found);
    hbg__json_key_u64(j, "bodies_missed", e->missed);
    json_reasons(j, "bodies_missed_first", &e->body);
    hbg__json_close(j);
}
