/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of numpy: opened and read. Only a regular file will do, since its size says whether it is whole.
 */
#include "npy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* all of size bytes from `at` on: 0, or why not; the end of the file is EIO */
static int read_all(int fd, void *data, size_t size, uint64_t at)
{
    char *to = data;

    while (size > 0) {
        size_t part = size < 1u << 30 ? size : 1u << 30;
        ssize_t got = pread(fd, to, part, (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got ? errno : EIO;
        to += got;
        at += (uint64_t)got;
        size -= (size_t)got;
    }
    return 0;
}

/* the header of an open file; text as in hbg__npy_parse() */
static bool read_header(struct npy_file *file, char *text, size_t text_size)
{
    struct stat status;
    unsigned char *bytes;
    size_t size;
    bool good;
    int why;

    if (fstat(file->fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        snprintf(text, text_size, "is no regular file");
        return false;
    }
    size = status.st_size < NPY_HEADER_MOST + 12 ? (size_t)status.st_size : NPY_HEADER_MOST + 12;
    bytes = malloc(size + 1);
    why = bytes ? read_all(file->fd, bytes, size, 0) : ENOMEM;
    if (why)
        snprintf(text, text_size, "cannot be read: %s", strerror(why));
    good = !why && hbg__npy_parse(bytes, size, (uint64_t)status.st_size, &file->npy, text, text_size);
    free(bytes);
    return good;
}

bool hbg__npy_open(struct npy_file *file, const char *path, char *text, size_t text_size)
{
    char why[160];
    bool good = false;

    file->path = strdup(path);
    file->fd = file->path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;     /* a pipe without a writer is refused, not waited for */
    if (file->fd < 0) {
        snprintf(why, sizeof why, "cannot be opened: %s", strerror(file->path ? errno : ENOMEM));
    } else {
        good = read_header(file, why, sizeof why);
        if (!good)
            close(file->fd);
    }
    if (good)
        return true;
    snprintf(text, text_size, "`%.200s` %s", path, why);
    free(file->path);
    return false;
}

bool hbg__npy_load(const struct npy_file *file, void *data, char *text, size_t text_size)
{
    int why = read_all(file->fd, data, file->npy.data_bytes, file->npy.data_at);

    if (why)
        snprintf(text, text_size, "`%.200s` cannot be read: %s", file->path, strerror(why));
    return !why;
}

void hbg__npy_close(struct npy_file *file)
{
    close(file->fd);
    free(file->path);
}
