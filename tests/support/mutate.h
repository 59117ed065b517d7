/* SPDX-License-Identifier: Apache-2.0 */
/* mutate.h - random damage to texts and bytes, from a seed. */
#ifndef HBG_TEST_MUTATE_H
#define HBG_TEST_MUTATE_H

#include <stddef.h>

#include "base/rng.h"

/* One to four changes of bytes[0..size): a bit, a byte, a piece left out, doubled, or replaced by one of `words` (NULL-terminated, may
   be NULL). Returns the new size, at most `capacity`. */
size_t mutate(unsigned char *bytes, size_t size, size_t capacity, const char *const *words, struct hbg__rng *rng);

#endif /* HBG_TEST_MUTATE_H */
