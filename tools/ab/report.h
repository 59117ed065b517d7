/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A comparison for people: text, and a page for a browser that needs nothing else.
 */
#ifndef HBG_TOOLS_AB_REPORT_H
#define HBG_TOOLS_AB_REPORT_H

#include "tools/ab/result.h"

/* Arms, what differs, what is compared: what is known before the first block. */
void hbg__ab_print_declared(FILE *file, const struct ab_record *record);

/* Verdict, effect, checks, conditions. */
void hbg__ab_print_result(FILE *file, const struct ab_record *record);

/* Batches in time order, block effects with the interval, conditions. False: not all was written. */
bool hbg__ab_page(FILE *file, const struct ab_record *record);

#endif
