/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens a table: as a path, then by name among those that come with the command.
 */
#include "table_file.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* the folder of the running command, or "" */
static void command_folder(char *folder, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", folder, size - 1);
    char *slash;

    folder[length > 0 ? length : 0] = '\0';
    slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
}

enum { NOT_REGULAR = -1 };              /* no errno */

/* A folder fails at the first read, and what is no file at all may never end: told apart before anything is read. */
static int why_not_readable(const char *path)
{
    struct stat status;

    if (stat(path, &status) != 0)
        return errno;
    return S_ISDIR(status.st_mode) ? EISDIR : S_ISREG(status.st_mode) ? 0 : NOT_REGULAR;
}

/* NULL, and why not */
static FILE *open_file(const char *path, int *why)
{
    FILE *file;

    *why = why_not_readable(path);
    if (*why)
        return NULL;
    file = fopen(path, "re");
    if (!file)
        *why = errno;
    return file;
}

FILE *hbg__table_open(const char *name, char *text, size_t text_size)
{
    char folder[PATH_MAX], path[PATH_MAX + 320];
    int why, other;
    FILE *file = open_file(name, &why);

    if (!file && why == ENOENT && *name && !strchr(name, '/') && strlen(name) < 256) {
        command_folder(folder, sizeof folder);
        snprintf(path, sizeof path, "%s/../workloads/gp/%s", folder, name);
        file = open_file(path, &other);
        if (!file) {
            snprintf(path, sizeof path, "%s/../share/hbg/%s", folder, name);
            file = open_file(path, &other);
        }
#ifdef HBG_SOURCE_DIR
        if (!file) {
            snprintf(path, sizeof path, "%s/workloads/gp/%s", HBG_SOURCE_DIR, name);
            file = open_file(path, &other);
        }
#endif
    }
    if (!file)
        snprintf(text, text_size, "the table `%.200s` cannot be opened: %s", name, why == NOT_REGULAR ? "it is no regular file" : strerror(why));
    return file;
}
