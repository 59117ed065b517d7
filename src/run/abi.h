/* SPDX-License-Identifier: Apache-2.0 */
/* abi.h - structs of the caller that begin with their size: do header and library agree on them?
 *
 *     size     0 .. known - 1        known .. HBG__ABI_MOST                   more
 *              refused: no header    taken; of options, what lies behind      refused: no number that
 *              had a smaller one     `known` must be zero                     a header gave it
 *
 * Structs grow at their end and `error` has been in them from the first version on, so where the size is too small it is the number
 * that is wrong, and the error that the struct names gets the sentence. Behind a size out of all proportion lies memory that nobody
 * has set: it is left alone. The log gets the sentence in every case.
 */
#ifndef HBG_RUN_ABI_H
#define HBG_RUN_ABI_H

#include <hbg/run.h>

#include "base/log.h"

enum { HBG__ABI_MOST = 4096 };

/* HBG_OK, or HBG_E_ABI with the sentence. `log` may be NULL. */
enum hbg_status hbg__abi_device_options(const struct hbg_device_options *options);
enum hbg_status hbg__abi_program_options(const struct hbg_program_options *options, const struct hbg__log *log);
enum hbg_status hbg__abi_run_options(const struct hbg_run_options *options, const struct hbg__log *log);
enum hbg_status hbg__abi_result(struct hbg_result *result, const struct hbg__log *log);

#endif /* HBG_RUN_ABI_H */
