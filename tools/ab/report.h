/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A comparison for people: text, and a page for a browser that needs nothing else.
 */
#ifndef HBG_TOOLS_AB_REPORT_H
#define HBG_TOOLS_AB_REPORT_H

#include "tools/ab/result.h"

enum { AB_TIME_DIGITS = 4, AB_NUMBER_DIGITS = 6 };

/* A value of the metric in so many digits: "39.87 ms", "12345678", "none" for NaN; of a metric whose unit is not
   known without one. `text` is returned. */
const char *hbg__ab_level_text(const char *metric, double level, int digits, char *text, size_t size);

/* Arms, what differs, what is compared: what is known before the first block. */
void hbg__ab_print_declared(FILE *file, const struct ab_record *record);

/* Verdict, effect, checks, conditions. */
void hbg__ab_print_result(FILE *file, const struct ab_record *record);

/* Batches in time order, block effects with the interval, conditions. False: not all was written. */
bool hbg__ab_page(FILE *file, const struct ab_record *record);

#endif
