/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace as one HTML page that opens without a network: a timeline that zooms, and for each task why it began when it did.
 */
#ifndef HBG_TOOLS_TRACE_PAGE_H
#define HBG_TOOLS_TRACE_PAGE_H

#include "trace_rounds.h"

/* False: not all of it was written. */
bool hbg__trace_page(FILE *file, const struct trace_rounds *rounds);

#endif
