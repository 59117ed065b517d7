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

/* fopen() opens a folder and fails at the first read: told apart here */
static FILE *open_file(const char *path)
{
    FILE *file = fopen(path, "re");
    struct stat status;

    if (file && fstat(fileno(file), &status) == 0 && S_ISDIR(status.st_mode)) {
        fclose(file);
        errno = EISDIR;
        return NULL;
    }
    return file;
}

FILE *hbg__table_open(const char *name, char *text, size_t text_size)
{
    char folder[PATH_MAX], path[PATH_MAX + 320];
    FILE *file = open_file(name);
    int why = errno;

    if (!file && why == ENOENT && *name && !strchr(name, '/') && strlen(name) < 256) {
        command_folder(folder, sizeof folder);
        snprintf(path, sizeof path, "%s/../workloads/gp/%s", folder, name);
        file = open_file(path);
        if (!file) {
            snprintf(path, sizeof path, "%s/../share/hbg/%s", folder, name);
            file = open_file(path);
        }
#ifdef HBG_SOURCE_DIR
        if (!file) {
            snprintf(path, sizeof path, "%s/workloads/gp/%s", HBG_SOURCE_DIR, name);
            file = open_file(path);
        }
#endif
    }
    if (!file)
        snprintf(text, text_size, "the table `%.200s` cannot be opened: %s", name, strerror(why));
    return file;
}
