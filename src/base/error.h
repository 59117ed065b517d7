/* SPDX-License-Identifier: Apache-2.0 */
/* error.h - fill the caller's struct hbg_error, as far as its size says that it reaches.
 *
 * Every function takes NULL. A size of 0 is that of this library's struct: results carry an error that nobody initialised.
 */
#ifndef HBG_BASE_ERROR_H
#define HBG_BASE_ERROR_H

#include <hbg/status.h>

#include "base/check.h"

/* No error: HBG_OK, no task, no argument, no text. */
void hbg__error_clear(struct hbg_error *error);

/* Status, name (kernel, resource or option; NULL: none) and one sentence; no task and no argument. Returns status. */
enum hbg_status hbg__error_set(struct hbg_error *error, enum hbg_status status, const char *name, const char *format, ...) HBG_PRINTF(4, 5);

/* The same for one argument of a list. */
enum hbg_status hbg__error_set_argument(struct hbg_error *error, enum hbg_status status, int argument, const char *name,
                                        const char *format, ...) HBG_PRINTF(5, 6);

/* HBG_E_NO_MEMORY with the number of bytes as requested. */
enum hbg_status hbg__error_no_memory(struct hbg_error *error, const char *what, uint64_t size_bytes);

/* Copy a whole error, as far as the target reaches. */
void hbg__error_copy(struct hbg_error *target, const struct hbg_error *source);

#endif /* HBG_BASE_ERROR_H */
