/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Result files that take the place of older ones.
 */
#include "replace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
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

/* the next name beside path, for the i-th try */
static void name_beside(char *name, size_t size, const char *path, int i)
{
    snprintf(name, size, "%s.%ld.%d.new", path, (long)getpid(), i);
}

enum { NAME_MORE = 40, TRIES = 100 };

/* a file without a name in the folder of r->path that can get one later; -1 where there is no such thing */
static int open_unnamed(struct replacement *r)
{
    char *slash = strrchr(r->path, '/'), link[40], *folder = slash ? strndup(r->path, (size_t)(slash - r->path) + 1) : strdup(".");
    int fd = folder ? open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666) : -1;

    free(folder);
    if (fd < 0)
        return -1;
    r->unnamed = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    snprintf(link, sizeof link, "/proc/self/fd/%d", r->unnamed);
    if (r->unnamed > 0 && access(link, F_OK) == 0)
        return fd;
    if (r->unnamed > 0)
        close(r->unnamed);
    r->unnamed = 0;
    close(fd);
    return -1;
}

static int open_named(struct replacement *r)
{
    size_t size = strlen(r->path) + NAME_MORE;
    int fd = -1;

    r->temporary = malloc(size);
    for (int i = 0; r->temporary && i < TRIES; i++) {
        name_beside(r->temporary, size, r->path, i);
        fd = open(r->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST)
            break;
    }
    if (fd < 0) {
        free(r->temporary);
        r->temporary = NULL;
    }
    return fd;
}

/* closes what is open and takes its name away */
static void forget(struct replacement *r)
{
    if (r->unnamed > 0)
        close(r->unnamed);
    if (r->temporary)
        unlink(r->temporary);
    free(r->temporary);
    r->temporary = NULL;
    r->unnamed = 0;
}

/* a new file for r->path, with the rights of the old one; -1 where there can be none */
static int open_beside(struct replacement *r, const struct stat *old)
{
    int fd = open_unnamed(r);

    if (fd < 0)
        fd = open_named(r);
    if (fd >= 0 && old && fchmod(fd, old->st_mode & 07777) != 0) {
        close(fd);
        forget(r);
        fd = -1;
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

void hbg__replace_write(struct replacement *r, const void *data, size_t size)
{
    errno = 0;
    if (size > 0 && fwrite(data, 1, size, r->stream) != size && !r->why)
        r->why = errno ? errno : EIO;
}

int hbg__replace_end(struct replacement *r)
{
    if (fflush(r->stream) != 0 && !r->why)
        r->why = errno;
    if (fclose(r->stream) != 0 && !r->why)
        r->why = errno;
    r->stream = NULL;
    return r->why;
}

/* a name beside r->path for the unnamed file, and at once r->path in its stead: 0, or why not */
static int link_and_rename(const struct replacement *r, const char *unnamed)
{
    size_t size = strlen(r->path) + NAME_MORE;
    char *name = malloc(size);
    int why = name ? EEXIST : ENOMEM;

    for (int i = 0; why == EEXIST && i < TRIES; i++) {
        name_beside(name, size, r->path, i);
        why = linkat(AT_FDCWD, unnamed, AT_FDCWD, name, AT_SYMLINK_FOLLOW) != 0 ? errno : 0;
    }
    if (!why && rename(name, r->path) != 0) {
        why = errno;
        unlink(name);
    }
    free(name);
    return why;
}

static int place_unnamed(const struct replacement *r)
{
    sigset_t ends, before;
    char unnamed[40];
    int why;

    snprintf(unnamed, sizeof unnamed, "/proc/self/fd/%d", r->unnamed);
    if (linkat(AT_FDCWD, unnamed, AT_FDCWD, r->path, AT_SYMLINK_FOLLOW) == 0)
        return 0;
    if (errno != EEXIST)
        return errno;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &ends, &before);
    why = link_and_rename(r, unnamed);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return why;
}

int hbg__replace_commit(struct replacement *r)
{
    int why = 0;

    if (r->unnamed > 0)
        why = place_unnamed(r);
    else if (r->temporary)
        why = rename(r->temporary, r->path) != 0 ? errno : 0;
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
    forget(r);
    free(r->path);
    *r = (struct replacement){ 0 };
}
