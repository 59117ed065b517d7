/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What A against A came to, kept for later comparisons of the same configuration on the same host: the noise floor.
 *
 * A configuration is what is known before the first run and may move a half width: the machine, what is around the arms, arm A, the metric,
 * and how much is measured. Its hash names a file below $XDG_STATE_HOME/hbg/aa, or $HOME/.local/state/hbg/aa:
 *
 *     {
 *       "format": "hbg-aa 1",
 *       "configuration": [["machine", "0123456789abcdef"], ["processor", ".."], ..],
 *       "remembered": { .. }             as in a result
 *       "checksum": ".."                 as in a result
 *     }
 *
 * It is written beside its place and renamed, so that a reader finds the old one or the new one. A file that is damaged, of another format, of
 * another user or of another configuration counts as none. Nothing here makes a comparison fail: what cannot be kept is a sentence.
 */
#ifndef HBG_TOOLS_AB_FLOOR_H
#define HBG_TOOLS_AB_FLOOR_H

#include "base/json_write.h"
#include "tools/ab/result.h"
#include "tools/json_read.h"

/* The configuration of a record whose arms, host and surroundings were looked at and whose rounds are still as typed; it goes into
   `facts`, its hash into record->configuration. False: no memory. */
bool hbg__ab_floor_configure(struct ab_facts *facts, struct ab_record *record, bool cold_given);

/* What is remembered of a configuration whose hash is `id`. False: nothing; `why` is "", or a sentence of a file that counts as none. */
bool hbg__ab_floor_find(struct ab_floor *remembered, const struct ab_facts *configuration, const char *id, char *why, size_t size);

/* Keeps it, which is one run, behind the runs that are counted there. False, with a sentence: it was not kept. */
bool hbg__ab_floor_keep(const struct ab_floor *remembered, const struct ab_facts *configuration, const char *id, char *why, size_t size);

/* Of a concluded record: what its controls came to at that time. False: they came to nothing that a floor follows from. */
bool hbg__ab_floor_of(struct ab_floor *now, const struct ab_record *record, int64_t seconds);

/* As the members of an object, written and read back. False: something is missing or wrong. */
void hbg__ab_floor_write(struct hbg__json *json, const struct ab_floor *remembered);
bool hbg__ab_floor_read(struct ab_floor *remembered, const struct json_value *object);

#endif
