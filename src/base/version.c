/* SPDX-License-Identifier: Apache-2.0 */
/* version.c - what the library says of its build: version, commit, and whether the tree was as committed.
 *
 * The one file of the library that is compiled again when only the commit is another. The commit stands behind a word that can be
 * looked for in a file: `strings libhbg.so | grep hbg-library-commit`. It has room for 64 digits.
 */
#include <hbg/version.h>

#include "hbg_build.h"

#define MARK "hbg-library-commit:"

static const char stamp[sizeof MARK + 64] = MARK HBG_BUILD_COMMIT;

const char *hbg_version(void) { return HBG_BUILD_TEXT; }

const char *hbg_version_commit(void) { return stamp + sizeof MARK - 1; }

bool hbg_version_dirty(void) { return HBG_BUILD_DIRTY; }
