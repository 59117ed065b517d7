/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Command, library and source tree: see provenance.h.
 */
#include "provenance.h"

#include "cli.h"
#include "stamp.h"

#include <hbg/version.h>

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A library from before there was a stamp lacks it. */
extern const char *hbg_version_commit(void) __attribute__((weak));
extern bool hbg_version_dirty(void) __attribute__((weak));

/* ---- who they are ---- */

static void look_at_stamps(struct provenance *p)
{
    snprintf(p->command.version, sizeof p->command.version, "%s", hbg__stamp_version());
    p->command.commit = hbg__stamp_commit();
    p->command.dirty = hbg__stamp_dirty();
    snprintf(p->library.version, sizeof p->library.version, "%.*s", (int)strcspn(hbg_version(), " "), hbg_version());
    p->library.commit = hbg_version_commit ? hbg_version_commit() : NULL;
    p->library.dirty = hbg_version_dirty && hbg_version_dirty();
}

static void look_at_files(struct provenance *p)
{
    const char *(*of_library)(void) = hbg_version;
    void *address;
    Dl_info info;
    ssize_t length = readlink("/proc/self/exe", p->command_path, sizeof p->command_path - 1);

    p->command_path[length > 0 ? length : 0] = '\0';
    memcpy(&address, &of_library, sizeof address);
    if (dladdr(address, &info) && info.dli_fname)
        snprintf(p->library_path, sizeof p->library_path, "%s", info.dli_fname);
}

static bool read_path(FILE *file, char path[PATH_MAX])
{
    if (!fgets(path, PATH_MAX, file))
        return false;
    path[strcspn(path, "\n")] = '\0';
    return *path == '/';
}

/* hbg.source beside the command */
static void look_at_build_tree(struct provenance *p)
{
    const char *slash = strrchr(p->command_path, '/');
    char path[PATH_MAX];
    int length = slash ? snprintf(path, sizeof path, "%.*s/hbg.source", (int)(slash - p->command_path), p->command_path) : 0;
    FILE *file = length > 0 && length < PATH_MAX ? fopen(path, "re") : NULL;

    if (!file)
        return;
    if (!read_path(file, p->source) || !read_path(file, p->build) || !read_path(file, p->built_library))
        *p->source = '\0';
    fclose(file);
}

/* ---- what repairs a mismatch ---- */

/* Is the loaded library the one that this build tree makes? */
static bool is_own_library(const struct provenance *p)
{
    char loaded[PATH_MAX], folder[PATH_MAX], *slash;
    bool known = *p->source && realpath(p->library_path, loaded) && realpath(p->built_library, folder) && (slash = strrchr(loaded, '/'));

    if (!known)
        return false;
    *slash = '\0';
    return strcmp(loaded, folder) == 0;
}

static void choose_repair(struct provenance *p)
{
    static const char *const variable[] = { "LD_PRELOAD", "LD_LIBRARY_PATH" };
    char word[PATH_MAX + PATH_MAX / 2];

    for (int i = 0; i < 2; i++) {
        const char *value = getenv(variable[i]);
        if (value && *value && !is_own_library(p)) {
            snprintf(p->repair, sizeof p->repair, "unset %s", variable[i]);
            return;
        }
    }
    hbg__cli_word(word, sizeof word, p->build);
    snprintf(p->repair, sizeof p->repair, *p->source ? "cmake --build %s" : "cmake --build BUILD-TREE --target install", word);
}

/* ---- the judgement ---- */

__attribute__((format(printf, 3, 4)))
static void judge(struct provenance *p, enum provenance_verdict verdict, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    vsnprintf(p->why, sizeof p->why, format, list);
    va_end(list);
    p->verdict = verdict;
    if (verdict == PROVENANCE_MISMATCH)
        choose_repair(p);
}

/* "commit 1a2b..", or that there is none */
static const char *words_of(const struct provenance_side *side, char text[GIT_COMMIT_SIZE + 16])
{
    if (!side->commit)
        return "no stamp";
    if (!*side->commit)
        return "no commit";
    snprintf(text, GIT_COMMIT_SIZE + 16, "commit %.*s", GIT_COMMIT_SIZE - 1, side->commit);
    return text;
}

static bool sides_agree(const struct provenance *p)
{
    return p->library.commit && strcmp(p->command.commit, p->library.commit) == 0 && strcmp(p->command.version, p->library.version) == 0;
}

static void judge_all(struct provenance *p)
{
    char text[2][GIT_COMMIT_SIZE + 16];

    if (!sides_agree(p))
        judge(p, PROVENANCE_MISMATCH, "this command is %s (%s), and the library it loaded, %s, is %s (%s)", p->command.version,
              words_of(&p->command, text[0]), p->library_path, p->library.version, words_of(&p->library, text[1]));
    else if (!*p->command.commit)
        judge(p, PROVENANCE_INERT, "it was built without git, or from no checkout");
    else if (!*p->source)
        judge(p, PROVENANCE_INERT, "the command does not lie in a build tree; command and library agree");
    else if (access(p->source, F_OK) != 0)
        judge(p, PROVENANCE_INERT, "the source tree %s is not there; command and library agree", p->source);
    else if (!hbg__git_head_get(&p->head, p->source))
        judge(p, PROVENANCE_INERT, "of the source tree %s: %s; command and library agree", p->source, p->head.why);
    else if (strcmp(p->head.commit, p->command.commit) != 0)
        judge(p, PROVENANCE_MISMATCH, "this build is of commit %s, and HEAD of %s is commit %s", p->command.commit, p->source, p->head.commit);
    else
        judge(p, PROVENANCE_MATCH, "command, library and HEAD of %s are of one commit", p->source);
}

void hbg__provenance_get(struct provenance *p)
{
    memset(p, 0, sizeof *p);
    look_at_stamps(p);
    look_at_files(p);
    look_at_build_tree(p);
    judge_all(p);
}

const char *hbg__provenance_verdict_name(enum provenance_verdict verdict)
{
    static const char *const name[] = { [PROVENANCE_MATCH] = "match", [PROVENANCE_INERT] = "inert", [PROVENANCE_MISMATCH] = "mismatch" };

    return name[verdict];
}

void hbg__provenance_refuse(const struct provenance *p)
{
    hbg__cli_error("", "%s: %s; run this: %s", hbg_status_name(HBG_E_ABI), p->why, p->repair);
}

bool hbg__provenance_check(void)
{
    struct provenance p;

    hbg__provenance_get(&p);
    if (p.verdict == PROVENANCE_MISMATCH)
        hbg__provenance_refuse(&p);
    return p.verdict != PROVENANCE_MISMATCH;
}
