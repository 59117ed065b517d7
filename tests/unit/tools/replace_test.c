/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Result files: a process that is killed at any point leaves the old file and nothing beside it, and a full file system is called one.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tools/replace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PIECE = 100000 };

static char folder[] = "/tmp/hbg-replace-XXXXXX";
static char piece[PIECE];

static int set_up(void **state)
{
    (void)state;
    memset(piece, 'n', sizeof piece);
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1;
}

static int entries(void)
{
    DIR *here = opendir(".");
    int count = 0;

    assert_non_null(here);
    while (readdir(here))
        count++;
    closedir(here);
    return count - 2;
}

static void write_old(const char *path)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs("old", file);
    assert_int_equal(fclose(file), 0);
}

static off_t size_of(const char *path)
{
    struct stat there;

    return stat(path, &there) == 0 ? there.st_size : -1;
}

static bool without_names(void)
{
    int fd = open(".", O_WRONLY | O_TMPFILE, 0666);

    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* a child writes, and is killed before (0) or after (1) the end of its writing */
static void kill_writer(const char *path, int when)
{
    struct replacement r;
    int status;
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        if (hbg__replace_open(&r, path) != 0)
            _exit(1);
        hbg__replace_write(&r, piece, sizeof piece);
        if (when == 1 && hbg__replace_end(&r) != 0)
            _exit(2);
        raise(SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

static void killed_writers_leave_nothing(void **state)
{
    (void)state;
    if (!without_names()) {
        print_message("skipped: the file system of /tmp has no files without names\n");
        skip();
    }
    for (int when = 0; when < 2; when++) {
        kill_writer("new", when);
        assert_int_equal(entries(), 0);
        write_old("there");
        kill_writer("there", when);
        assert_int_equal(entries(), 1);
        assert_int_equal(size_of("there"), 3);
        assert_int_equal(unlink("there"), 0);
    }
}

static void take_place(const char *path)
{
    struct replacement r;

    assert_int_equal(hbg__replace_open(&r, path), 0);
    hbg__replace_write(&r, piece, sizeof piece);
    assert_int_equal(hbg__replace_end(&r), 0);
    assert_int_equal(hbg__replace_commit(&r), 0);
    assert_int_equal(size_of(path), PIECE);
}

static void files_take_their_places(void **state)
{
    struct stat there;
    mode_t mask = umask(027);
    (void)state;

    take_place("new");
    assert_int_equal(stat("new", &there), 0);
    assert_int_equal(there.st_mode & 07777, 0640);
    write_old("there");
    assert_int_equal(chmod("there", 0604), 0);
    take_place("there");
    assert_int_equal(stat("there", &there), 0);
    assert_int_equal(there.st_mode & 07777, 0604);
    assert_int_equal(entries(), 2);
    assert_int_equal(unlink("new") + unlink("there"), 0);
    umask(mask);
}

/* somebody made a file of that name while it was written */
static void a_file_that_came_meanwhile_is_replaced(void **state)
{
    struct replacement r;
    (void)state;

    assert_int_equal(hbg__replace_open(&r, "new"), 0);
    hbg__replace_write(&r, piece, sizeof piece);
    assert_int_equal(hbg__replace_end(&r), 0);
    write_old("new");
    assert_int_equal(hbg__replace_commit(&r), 0);
    assert_int_equal(size_of("new"), PIECE);
    assert_int_equal(entries(), 1);
    assert_int_equal(unlink("new"), 0);
}

static void dropped_files_leave_nothing(void **state)
{
    struct replacement r;
    (void)state;

    assert_int_equal(hbg__replace_open(&r, "new"), 0);
    hbg__replace_write(&r, piece, sizeof piece);
    hbg__replace_drop(&r);
    assert_int_equal(entries(), 0);
}

static void full_is_told_as_full(void **state)
{
    struct replacement r;
    struct rlimit before, small;
    (void)state;

    for (size_t size = 1; size <= sizeof piece; size += sizeof piece - 1) {
        assert_int_equal(hbg__replace_open(&r, "/dev/full"), 0);
        hbg__replace_write(&r, piece, size);
        assert_int_equal(hbg__replace_end(&r), ENOSPC);
        hbg__replace_drop(&r);
    }
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 1000;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_int_equal(hbg__replace_open(&r, "new"), 0);
    hbg__replace_write(&r, piece, sizeof piece);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);     /* what follows has room again, and is not whole for that */
    hbg__replace_write(&r, piece, sizeof piece);
    assert_int_equal(hbg__replace_end(&r), EFBIG);
    hbg__replace_drop(&r);
    assert_int_equal(entries(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_writers_leave_nothing),
        cmocka_unit_test(files_take_their_places),
        cmocka_unit_test(a_file_that_came_meanwhile_is_replaced),
        cmocka_unit_test(dropped_files_leave_nothing),
        cmocka_unit_test(full_is_told_as_full),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
