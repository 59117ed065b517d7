/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why runs were built rather than replayed, and bodies recorded rather than found: what `hbg run --explain` prints.
 */
#ifndef HBG_TOOLS_EXPLAIN_H
#define HBG_TOOLS_EXPLAIN_H

#include <hbg/hbg.h>

#include <stdbool.h>

struct hbg__json;

enum { EXPLAIN_REASONS = 16 };          /* that are told apart; what comes after these is counted as one */

/* Runs, or builds, that give this as the reason. */
struct reason { char text[100]; uint64_t count; };
struct reasons { struct reason reason[EXPLAIN_REASONS]; int count; uint64_t others; };

struct explanation {
    bool pure;                          /* runs may be replayed */
    uint64_t built, replayed;           /* runs */
    uint64_t recorded, found, missed;   /* submissions of bodies in the builds: called, found, and of those called with a reason */
    struct reasons build, body;
};

void hbg__explain_add(struct explanation *e, const struct hbg_result *result);

/* Lines of text; of the counters what has to do with it. */
void hbg__explain_print(const struct explanation *e, const struct hbg_counters *counters);
/* The member "explain" of an object. */
void hbg__explain_json(struct hbg__json *json, const struct explanation *e);

#endif
