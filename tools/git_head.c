/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HEAD of a source tree: see git_head.h.
 *
 *     TREE/.git            a folder, or a file "gitdir: PATH"       -> own
 *     own/commondir        a path, in worktrees                     -> common; else common is own
 *     own/HEAD             a commit, or "ref: refs/.."              -> the commit, or the reference
 *     own/refs/..          of this worktree alone (bisect)
 *     common/refs/..       of all worktrees
 *     common/packed-refs   "COMMIT refs/.." a line, of references that have no file
 *
 * The file of a reference is looked at before the packed ones: git writes these before it deletes that.
 */
#include "git_head.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { REFERENCES_MAX = 5 };            /* that name one another; git itself follows as many */

bool hbg__git_is_commit(const char *text)
{
    size_t length = strspn(text, "0123456789abcdef");

    return text[length] == '\0' && (length == 40 || length == 64);
}

/* FOLDER/NAME, or NAME where it is absolute. False: too long. */
static bool join(char path[PATH_MAX], const char *folder, const char *name)
{
    int length = *name == '/' ? snprintf(path, PATH_MAX, "%s", name) : snprintf(path, PATH_MAX, "%s/%s", folder, name);

    return length > 0 && length < PATH_MAX;
}

/* The first line of FOLDER/NAME, without blanks at its end. False: there is none, and errno says why. */
static bool read_line(const char *folder, const char *name, char *text, size_t size)
{
    char path[PATH_MAX];
    ssize_t got;
    int file;

    errno = ENAMETOOLONG;
    if (!join(path, folder, name) || (file = open(path, O_RDONLY | O_CLOEXEC)) < 0)
        return false;
    got = read(file, text, size - 1);
    close(file);
    if (got < 0)
        return false;
    text[got] = '\0';
    text[strcspn(text, "\r\n")] = '\0';
    for (size_t length = strlen(text); length && text[length - 1] == ' '; length--)
        text[length - 1] = '\0';
    return true;
}

/* own and common, or why not */
static const char *find_folders(const char *tree, char own[PATH_MAX], char common[PATH_MAX])
{
    char text[PATH_MAX];
    struct stat about;

    if (!join(own, tree, ".git"))
        return "its path is too long";
    if (stat(own, &about) != 0)
        return errno == ENOENT ? "it is no git repository" : "its .git cannot be looked at";
    if (!S_ISDIR(about.st_mode)) {
        if (!read_line(tree, ".git", text, sizeof text) || strncmp(text, "gitdir: ", 8) != 0 || !join(own, tree, text + 8))
            return "its .git names no folder";
    }
    if (!read_line(own, "commondir", text, sizeof text))
        memcpy(common, own, PATH_MAX);
    else if (!join(common, own, text))
        return "its path is too long";
    return NULL;
}

/* The commit of a reference among the packed ones. */
static bool find_packed(const char *common, const char *reference, char commit[GIT_COMMIT_SIZE])
{
    char path[PATH_MAX], *line = NULL;
    size_t line_size = 0;
    bool found = false;
    FILE *file = join(path, common, "packed-refs") ? fopen(path, "re") : NULL;

    while (file && !found && getline(&line, &line_size, file) > 0) {
        char *blank = strchr(line, ' ');

        line[strcspn(line, "\r\n")] = '\0';
        if (!blank || strcmp(blank + 1, reference) != 0)
            continue;
        *blank = '\0';
        if ((found = hbg__git_is_commit(line)))
            strcpy(commit, line);
    }
    free(line);
    if (file)
        fclose(file);
    return found;
}

static const char *why_not_found(const char *common)
{
    char path[PATH_MAX];

    if (join(path, common, "reftable") && access(path, F_OK) == 0)
        return "its references are a reftable, which is not read";
    return "its branch has no commit";
}

/* Follows `text`, the content of HEAD, to a commit; NULL, or why not. */
static const char *follow(struct git_head *head, const char *own, const char *common, char *text, size_t size)
{
    for (int i = 0; i < REFERENCES_MAX; i++) {
        if (hbg__git_is_commit(text)) {
            strcpy(head->commit, text);
            return NULL;
        }
        if (strncmp(text, "ref: refs/", 10) != 0 || strstr(text, "..") || strlen(text + 5) >= sizeof head->reference)
            return "its HEAD is not understood";
        strcpy(head->reference, text + 5);
        if (read_line(own, head->reference, text, size) || read_line(common, head->reference, text, size))
            continue;
        return find_packed(common, head->reference, head->commit) ? NULL : why_not_found(common);
    }
    return "its HEAD leads from reference to reference";
}

bool hbg__git_head_get(struct git_head *head, const char *tree)
{
    char own[PATH_MAX], common[PATH_MAX], text[PATH_MAX];

    *head = (struct git_head){ .why = NULL };
    head->why = find_folders(tree, own, common);
    if (!head->why)
        head->why = read_line(own, "HEAD", text, sizeof text) ? follow(head, own, common, text, sizeof text) : "its HEAD cannot be read";
    return !head->why;
}
