/* SPDX-License-Identifier: Apache-2.0 */
/* plural.h - sentences that count: "%u argument%s", count, hbg__s(count). */
#ifndef HBG_BASE_PLURAL_H
#define HBG_BASE_PLURAL_H

#include <stdint.h>

static inline const char *hbg__s(uint64_t count) { return count == 1 ? "" : "s"; }

/* "1 is given", "2 are given" */
static inline const char *hbg__is(uint64_t count) { return count == 1 ? "is" : "are"; }

/* "1 has no end", "2 have no end" */
static inline const char *hbg__has(uint64_t count) { return count == 1 ? "has" : "have"; }

#endif /* HBG_BASE_PLURAL_H */
