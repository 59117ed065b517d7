/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The build stamp of the command itself; that of the library which it loaded is told by hbg_version_commit().
 */
#ifndef HBG_TOOLS_STAMP_H
#define HBG_TOOLS_STAMP_H

#include <stdbool.h>

const char *hbg__stamp_version(void);   /* "0.1.0" */
const char *hbg__stamp_commit(void);    /* 40 or 64 digits; "" where the build knew none */
bool hbg__stamp_dirty(void);

#endif
