/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Result files that take the place of older ones.
 */
#include "replace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINKS_MOST = 40 };               /* as many as the system follows */

/* what the link at `path` says, seen from where the caller is; NULL with errno, which is EINVAL or ENOENT where it is no link */
static char *follow(const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t folder = slash ? (size_t)(slash - path) + 1 : 0;
    char *next = malloc(folder + PATH_MAX);
    ssize_t length = next ? readlink(path, next + folder, PATH_MAX) : -1;

    if (length < 0 || length == PATH_MAX) {
        if (length > 0)
            errno = ENAMETOOLONG;
        free(next);
        return NULL;
    }
    next[folder + (size_t)length] = '\0';
    if (next[folder] == '/')
        memmove(next, next + folder, (size_t)length + 1);
    else
        memcpy(next, path, folder);
    return next;
}

char *hbg__replace_target(const char *path)
{
    char *at = strdup(path), *next;

    for (int i = 0; at && i < LINKS_MOST; i++) {
        next = follow(at);
        if (!next && (errno == EINVAL || errno == ENOENT))
            return at;
        free(at);
        at = next;
        if (!next)
            return NULL;
    }
    free(at);
    errno = at ? ELOOP : ENOMEM;
    return NULL;
}

/* could a file be made there? */
static int check_folder(const char *target)
{
    const char *slash = strrchr(target, '/');
    char folder[PATH_MAX];

    if (!*target)
        return ENOENT;
    if (strlen(target) >= sizeof folder)
        return ENAMETOOLONG;
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - target + 1) : 1, slash ? target : ".");
    return access(folder, W_OK) ? errno : 0;
}

int hbg__replace_check(const char *path)
{
    struct stat there;
    char *target;
    int why;

    if (stat(path, &there) == 0)
        return S_ISDIR(there.st_mode) ? EISDIR : access(path, W_OK) ? errno : 0;
    if (errno != ENOENT)
        return errno;
    target = hbg__replace_target(path);
    why = target ? check_folder(target) : errno;
    free(target);
    return why;
}

/* a new file beside r->path, with the rights of the old one; -1 where there can be none */
static int open_beside(struct replacement *r, const struct stat *old)
{
    size_t size = strlen(r->path) + 40;
    int fd = -1;

    r->temporary = malloc(size);
    for (int i = 0; r->temporary && i < 100; i++) {
        snprintf(r->temporary, size, "%s.%ld.%d.new", r->path, (long)getpid(), i);
        fd = open(r->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST)
            break;
    }
    if (fd >= 0 && old && fchmod(fd, old->st_mode & 07777) != 0) {
        close(fd);
        unlink(r->temporary);
        fd = -1;
    }
    if (fd < 0) {
        free(r->temporary);
        r->temporary = NULL;
    }
    return fd;
}

int hbg__replace_open(struct replacement *r, const char *path)
{
    struct stat old;
    bool there = stat(path, &old) == 0;
    int fd = -1, why;

    *r = (struct replacement){ .path = !there ? hbg__replace_target(path) : S_ISREG(old.st_mode) ? realpath(path, NULL) : strdup(path) };
    if (r->path && (!there || S_ISREG(old.st_mode)))
        fd = open_beside(r, there ? &old : NULL);
    if (r->path && fd < 0)
        fd = open(r->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    r->stream = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (r->stream)
        return 0;
    why = errno ? errno : ENOMEM;
    if (fd >= 0)
        close(fd);
    hbg__replace_drop(r);
    return why;
}

int hbg__replace_end(struct replacement *r)
{
    int why = ferror(r->stream) ? EIO : 0;

    if (fflush(r->stream) != 0)
        why = errno;
    if (fclose(r->stream) != 0 && !why)
        why = errno;
    r->stream = NULL;
    return why;
}

int hbg__replace_commit(struct replacement *r)
{
    int why = r->temporary && rename(r->temporary, r->path) != 0 ? errno : 0;

    if (!why) {
        free(r->temporary);
        r->temporary = NULL;
    }
    hbg__replace_drop(r);
    return why;
}

void hbg__replace_drop(struct replacement *r)
{
    if (r->stream)
        fclose(r->stream);
    if (r->temporary)
        unlink(r->temporary);
    free(r->temporary);
    free(r->path);
    *r = (struct replacement){ 0 };
}
