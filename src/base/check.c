/* SPDX-License-Identifier: Apache-2.0 */
/* check.c - where a failed assertion ends. */
#include "base/check.h"

#include <stdio.h>
#include <stdlib.h>

char hbg__check_place[256];

void hbg__check_failed(const char *file, int line, const char *condition)
{
    snprintf(hbg__check_place, sizeof hbg__check_place, "%s:%d: %s", file, line, condition);
#ifdef HBG_DEBUG
    fprintf(stderr, "hbg: assertion failed: %s\n", hbg__check_place);
    fflush(stderr);
#endif
    abort();
}
