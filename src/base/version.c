/* SPDX-License-Identifier: Apache-2.0 */
/* version.c - what hbg_version() says: the version, then the stamp of the build where there is one. */
#include <hbg/version.h>

#include "hbg_build.h"

const char *hbg_version(void)
{
    return HBG_BUILD_TEXT;
}
