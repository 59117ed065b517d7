/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a table's file is found.
 */
#ifndef HBG_WORKLOADS_GP_TABLE_FILE_H
#define HBG_WORKLOADS_GP_TABLE_FILE_H

#include <stdio.h>

/* Opens `name` for reading. A name without a slash that is no file here is looked for among the tables that come with the
   command: ../workloads/gp and ../share/hbg beside it, then the source tree it was built from. NULL: text says why. */
FILE *hbg__table_open(const char *name, char *text, size_t text_size);

#endif
