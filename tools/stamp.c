/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stamp of the command: the one file of it that is compiled again when only the commit is another. As in src/base/version.c, the
 * commit stands behind a word that can be looked for in the file, with room for one of 64 digits.
 */
#include "stamp.h"

#include "hbg_build.h"

#define MARK "hbg-command-commit:"

static const char stamp[sizeof MARK + 64] = MARK HBG_BUILD_COMMIT;

const char *hbg__stamp_version(void)
{
    return HBG_BUILD_VERSION;
}

const char *hbg__stamp_commit(void)
{
    return stamp + sizeof MARK - 1;
}

bool hbg__stamp_dirty(void)
{
    return HBG_BUILD_DIRTY;
}
