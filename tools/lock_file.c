/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks of devices: see lock_file.h.
 *
 * The text of a file, a word and its value a line, is written by the holder once it has the lock, so it may be missing for a moment, or be
 * that of one who was killed: a holder that does not live is not known.
 */
#include "lock_file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { TEXT_SIZE = 1024, TRIES_MAX = 100, LOOKS_MAX = 25, LOOK_NS = 2000000, TICK_US = 20000 };

static struct { int folder, file; char name[64]; } held = { -1, -1, "" };

/* ---- folder and file ---- */

const char *hbg__lock_folder(void)
{
    const char *wanted = getenv("HBG_LOCK_DIR");
    struct stat about;

    if (wanted && *wanted)
        return wanted;
    if (stat("/run/lock", &about) == 0 && S_ISDIR(about.st_mode) && (about.st_mode & 01777) == 01777)
        return "/run/lock/hbg";
    return "/tmp/hbg-lock";
}

/* The folder, made where it is missing; -1 and why not. */
static int open_folder(char *why, size_t why_size)
{
    const char *path = hbg__lock_folder();
    mode_t mask = umask(0);
    int made = mkdir(path, 01777), folder;

    umask(mask);
    if (made != 0 && errno != EEXIST) {
        snprintf(why, why_size, "the folder of locks, %s, cannot be made: %s", path, strerror(errno));
        return -1;
    }
    folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0)
        snprintf(why, why_size, "the folder of locks, %s, cannot be opened: %s", path, errno == ENOTDIR || errno == ELOOP ? "it is no folder, or a link" : strerror(errno));
    return folder;
}

/* The file of that name, made where it is missing. Not by O_CREAT alone: in such a folder that fails for a file of another user. */
static int open_or_make(int folder, const char *file_name)
{
    for (int i = 0; i < TRIES_MAX; i++) {
        mode_t mask;
        int file = openat(folder, file_name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

        if (file >= 0 || errno != ENOENT)
            return file;
        mask = umask(0);
        file = openat(folder, file_name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        umask(mask);
        if (file >= 0 || errno != EEXIST)
            return file;
    }
    return -1;
}

static bool is_plain(int file)
{
    struct stat about;

    return fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_nlink <= 1;
}

static int open_file(int folder, const char *file_name, char *why, size_t why_size)
{
    int file = open_or_make(folder, file_name);

    if (file < 0)
        snprintf(why, why_size, "%s/%s cannot be opened: %s", hbg__lock_folder(), file_name, errno == ELOOP ? "it is a link" : strerror(errno));
    else if (!is_plain(file)) {
        snprintf(why, why_size, "%s/%s is no plain file of one name", hbg__lock_folder(), file_name);
        close(file);
        file = -1;
    }
    return file;
}

/* Does the file still have its name? */
static bool has_name(int folder, int file, const char *file_name)
{
    struct stat by_name, by_file;

    return fstatat(folder, file_name, &by_name, AT_SYMLINK_NOFOLLOW) == 0 && fstat(file, &by_file) == 0 &&
           by_name.st_ino == by_file.st_ino && by_name.st_dev == by_file.st_dev;
}

/* ---- who holds it ---- */

/* One line of printable letters: what another user has written is shown to this one. */
static void make_printable(char *text)
{
    for (; *text; text++)
        if (iscntrl((unsigned char)*text))
            *text = ' ';
}

static void own_command(char *text, size_t size)
{
    FILE *file = fopen("/proc/self/cmdline", "re");
    size_t length = file ? fread(text, 1, size - 1, file) : 0;

    if (file)
        fclose(file);
    while (length && text[length - 1] == '\0')
        length--;
    for (size_t i = 0; i < length; i++)
        if (text[i] == '\0')
            text[i] = ' ';
    text[length] = '\0';
    make_printable(text);
}

static void write_holder(int file)
{
    char command[512], text[TEXT_SIZE];
    int length;

    own_command(command, sizeof command);
    length = snprintf(text, sizeof text, "pid %ld\nuser %ld\nsince %lld\ncommand %s\n", (long)getpid(), (long)getuid(), (long long)time(NULL), command);
    if (ftruncate(file, 0) != 0 || pwrite(file, text, (size_t)length, 0) != length)
        return;     /* the lock holds all the same; only its holder is not told */
}

static void user_name(long user, char *text, size_t size)
{
    const struct passwd *entry = getpwuid((uid_t)user);

    if (entry)
        snprintf(text, size, "%s", entry->pw_name);
    else
        snprintf(text, size, "%ld", user);
}

/* False: nothing is written there, or whoever wrote it does not live. */
static bool read_holder(int file, struct lock_holder *holder)
{
    char text[TEXT_SIZE + 1];
    ssize_t length = pread(file, text, TEXT_SIZE, 0);
    int64_t pid, since;
    long user;
    int at = 0;

    *holder = (struct lock_holder){ .pid = 0 };
    text[length > 0 ? length : 0] = '\0';
    if (sscanf(text, "pid %" SCNd64 "\nuser %ld\nsince %" SCNd64 "\ncommand %n", &pid, &user, &since, &at) != 3 || !at || pid <= 0 || pid > INT_MAX)
        return false;
    if (kill((pid_t)pid, 0) != 0 && errno == ESRCH)
        return false;
    text[at + (int)strcspn(text + at, "\n")] = '\0';
    make_printable(text + at);
    snprintf(holder->command, sizeof holder->command, "%.*s", (int)sizeof holder->command - 1, text + at);
    user_name(user, holder->user, sizeof holder->user);
    make_printable(holder->user);
    holder->pid = pid;
    holder->since = since;
    return true;
}

/* ---- taking it ---- */

static void close_in_child(void)
{
    if (held.file >= 0)
        close(held.file);
    held.file = -1;
}

static void do_nothing(int number) { (void)number; }

/* A blocking flock() that a clock interrupts: it ends when the holder lets go or dies, or when time is up. */
static bool wait_for_flock(int file, double wait_s)
{
    const struct sigaction action = { .sa_handler = do_nothing };       /* without SA_RESTART */
    const struct itimerval tick = { { 0, TICK_US }, { 0, TICK_US } }, off = { { 0, 0 }, { 0, 0 } };
    struct sigaction before;
    struct timespec start, now;
    bool taken, timed = wait_s >= 0.0;

    if (timed) {
        clock_gettime(CLOCK_MONOTONIC, &start);
        sigaction(SIGALRM, &action, &before);
        setitimer(ITIMER_REAL, &tick, NULL);
    }
    while (!(taken = flock(file, LOCK_EX) == 0) && errno == EINTR) {
        if (!timed)
            continue;
        clock_gettime(CLOCK_MONOTONIC, &now);
        if ((double)(now.tv_sec - start.tv_sec) + (double)(now.tv_nsec - start.tv_nsec) * 1e-9 >= wait_s)
            break;
    }
    if (timed) {
        setitimer(ITIMER_REAL, &off, NULL);
        sigaction(SIGALRM, &before, NULL);
    }
    return taken;
}

/* Without waiting for the holder. Somebody who looks (hbg__lock_look) has the lock for an instant as well, and no name in it. */
static bool try_flock(int file, struct lock_holder *holder)
{
    for (int i = 0; i < LOOKS_MAX; i++) {
        const struct timespec pause = { 0, LOOK_NS };

        if (flock(file, LOCK_EX | LOCK_NB) == 0)
            return true;
        if (read_holder(file, holder))
            return false;
        nanosleep(&pause, NULL);
    }
    return false;
}

enum lock_outcome hbg__lock_take(const char *name, double wait_s, struct lock_holder *holder, char *why, size_t why_size)
{
    static bool knows_forks;
    int folder = open_folder(why, why_size);
    char file_name[sizeof held.name + 8];

    if (folder < 0)
        return LOCK_FAILED;
    snprintf(file_name, sizeof file_name, "%s.lock", name);
    for (;;) {
        int file = open_file(folder, file_name, why, why_size);
        bool taken = file >= 0 && (try_flock(file, holder) || (wait_s != 0.0 && wait_for_flock(file, wait_s)));

        if (taken && has_name(folder, file, file_name)) {
            write_holder(file);
            if (!knows_forks)
                knows_forks = pthread_atfork(NULL, NULL, close_in_child) == 0;
            held.folder = folder;
            held.file = file;
            snprintf(held.name, sizeof held.name, "%s", name);
            return LOCK_TAKEN;
        }
        if (!taken) {
            if (file >= 0) {
                (void)read_holder(file, holder);
                close(file);
            }
            close(folder);
            return file >= 0 ? LOCK_HELD : LOCK_FAILED;
        }
        close(file);        /* the one who had it has removed the file; the next round makes or finds another */
    }
}

void hbg__lock_release(void)
{
    char file_name[sizeof held.name + 8];

    if (held.file < 0)
        return;
    snprintf(file_name, sizeof file_name, "%s.lock", held.name);
    if (has_name(held.folder, held.file, file_name) && unlinkat(held.folder, file_name, 0) != 0)
        (void)!ftruncate(held.file, 0);     /* of another user: it stays, empty */
    close(held.file);
    close(held.folder);
    held.file = held.folder = -1;
}

enum lock_outcome hbg__lock_look(const char *name, struct lock_holder *holder, char *why, size_t why_size)
{
    char path[PATH_MAX];
    enum lock_outcome outcome = LOCK_TAKEN;
    int file;

    *holder = (struct lock_holder){ .pid = 0 };
    snprintf(path, sizeof path, "%s/%s.lock", hbg__lock_folder(), name);
    file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) {
        if (errno == ENOENT)
            return LOCK_TAKEN;
        snprintf(why, why_size, "%s cannot be opened: %s", path, errno == ELOOP ? "it is a link" : strerror(errno));
        return LOCK_FAILED;
    }
    if (flock(file, LOCK_SH | LOCK_NB) != 0) {
        outcome = LOCK_HELD;
        (void)read_holder(file, holder);
    }
    close(file);
    return outcome;
}
