/* SPDX-License-Identifier: Apache-2.0 */
/* lock_file_test.c - a lock goes with its holder, and only with it; what stands in its place is neither followed nor written to. */
#include "tools/lock_file.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64], path[96], why[512];
static struct lock_holder holder;

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/lock_file_test.XXXXXX");
    if (!mkdtemp(folder)) return -1;
    strcat(folder, "/locks");
    snprintf(path, sizeof path, "%s/cpu.0.lock", folder);
    return setenv("HBG_LOCK_DIR", folder, 1);
}

static int remove_folder(void **state)
{
    (void)state;
    hbg__lock_release();
    (void)unlink(path);
    (void)rmdir(path);
    (void)rmdir(folder);
    folder[strlen(folder) - strlen("/locks")] = '\0';
    return rmdir(folder);
}

/* A process that takes the lock and says so. */
static pid_t start_holder(void)
{
    int pipes[2];
    char byte;
    assert_int_equal(pipe(pipes), 0);
    pid_t pid = fork();
    if (pid == 0) {
        if (hbg__lock_take("cpu.0", 0.0, &holder, why, sizeof why) != LOCK_TAKEN) _exit(1);
        if (write(pipes[1], "x", 1) != 1) _exit(1);
        for (;;) pause();
    }
    close(pipes[1]);
    assert_int_equal(read(pipes[0], &byte, 1), 1);
    close(pipes[0]);
    return pid;
}

static void end(pid_t pid)
{
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void taken_and_given_back(void **state)
{
    struct stat about;
    mode_t mask = umask(077);
    (void)state;
    assert_int_equal(hbg__lock_look("cpu.0", &holder, why, sizeof why), LOCK_TAKEN);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(hbg__lock_take("cpu.0", 0.0, &holder, why, sizeof why), LOCK_TAKEN);
        assert_int_equal(hbg__lock_look("cpu.0", &holder, why, sizeof why), LOCK_HELD);
        assert_int_equal(holder.pid, getpid());
        assert_non_null(strstr(holder.command, "lock_file"));
        assert_int_equal(stat(path, &about), 0);
        assert_int_equal(about.st_mode, S_IFREG | 0666);
        assert_int_equal(stat(folder, &about), 0);
        assert_int_equal(about.st_mode, S_IFDIR | 01777);
        hbg__lock_release();
        assert_int_equal(access(path, F_OK), -1);
        assert_int_equal(hbg__lock_look("cpu.0", &holder, why, sizeof why), LOCK_TAKEN);
    }
    assert_int_equal(umask(mask), 077);
}

static void held_by_another_until_it_dies(void **state)
{
    (void)state;
    pid_t pid = start_holder();
    assert_int_equal(hbg__lock_look("cpu.0", &holder, why, sizeof why), LOCK_HELD);
    assert_int_equal(holder.pid, pid);
    assert_int_equal(hbg__lock_take("cpu.0", 0.0, &holder, why, sizeof why), LOCK_HELD);
    assert_int_equal(holder.pid, pid);
    assert_int_equal(hbg__lock_take("cpu.0", 0.05, &holder, why, sizeof why), LOCK_HELD);
    assert_int_equal(hbg__lock_take("null.0", 0.0, &holder, why, sizeof why), LOCK_TAKEN);
    hbg__lock_release();
    end(pid);
    assert_int_equal(access(path, F_OK), 0);        /* its file is left, and holds nobody up */
    assert_int_equal(hbg__lock_look("cpu.0", &holder, why, sizeof why), LOCK_TAKEN);
    assert_int_equal(hbg__lock_take("cpu.0", 0.0, &holder, why, sizeof why), LOCK_TAKEN);
    hbg__lock_release();
    assert_int_equal(access(path, F_OK), -1);
}

static pid_t *child;        /* of the holder, in it */

static void leave_a_child(void)
{
    *child = fork();
    if (*child == 0)
        for (;;) pause();
}

static void leave_a_program(void)
{
    *child = fork();
    if (*child == 0) {
        execlp("sleep", "sleep", "600", (char *)NULL);
        _exit(1);
    }
}

static void children_do_not_keep_it(void **state)
{
    void (*const leave[])(void) = { leave_a_child, leave_a_program };
    (void)state;
    for (int i = 0; i < 2; i++) {
        int pipes[2];
        pid_t own = 0;
        assert_int_equal(pipe(pipes), 0);
        child = &own;
        pid_t pid = fork();
        if (pid == 0) {
            if (hbg__lock_take("cpu.0", 0.0, &holder, why, sizeof why) != LOCK_TAKEN) _exit(1);
            leave[i]();
            if (write(pipes[1], &own, sizeof own) != sizeof own) _exit(1);
            for (;;) pause();
        }
        assert_int_equal(read(pipes[0], &own, sizeof own), sizeof own);
        close(pipes[0]);
        close(pipes[1]);
        end(pid);
        enum lock_outcome outcome = hbg__lock_take("cpu.0", 5.0, &holder, why, sizeof why);
        assert_int_equal(kill(own, SIGKILL), 0);    /* it lived all the while */
        assert_int_equal(outcome, LOCK_TAKEN);
        hbg__lock_release();
    }
}

/* The waiter blocks on a file that its holder removes. */
static void one_who_waited_has_the_file_of_that_name(void **state)
{
    (void)state;
    assert_int_equal(hbg__lock_take("cpu.0", 0.0, &holder, why, sizeof why), LOCK_TAKEN);
    int pipes[2];
    char byte;
    assert_int_equal(pipe(pipes), 0);
    pid_t pid = fork();
    if (pid == 0) {
        if (hbg__lock_take("cpu.0", -1.0, &holder, why, sizeof why) != LOCK_TAKEN || write(pipes[1], "x", 1) != 1) _exit(1);
        for (;;) pause();
    }
    usleep(100000);
    hbg__lock_release();
    assert_int_equal(read(pipes[0], &byte, 1), 1);
    assert_int_equal(hbg__lock_take("cpu.0", 0.0, &holder, why, sizeof why), LOCK_HELD);
    assert_int_equal(holder.pid, pid);
    end(pid);
    close(pipes[0]);
    close(pipes[1]);
}

static void expect_refusal(const char *sentence)
{
    assert_int_equal(hbg__lock_take("cpu.0", 0.0, &holder, why, sizeof why), LOCK_FAILED);
    if (!strstr(why, sentence)) fail_msg("\"%s\" is expected: %s", sentence, why);
}

static void what_stands_in_its_place(void **state)
{
    char victim[128], text[16] = "";
    (void)state;
    snprintf(victim, sizeof victim, "%s/victim", folder);
    assert_int_equal(mkdir(folder, 0755), 0);
    FILE *file = fopen(victim, "w");
    assert_true(file && fputs("precious", file) >= 0 && fclose(file) == 0);

    assert_int_equal(symlink(victim, path), 0);
    expect_refusal("it is a link");
    assert_int_equal(hbg__lock_look("cpu.0", &holder, why, sizeof why), LOCK_FAILED);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("/nonexistent/file", path), 0);
    expect_refusal("it is a link");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(link(victim, path), 0);
    expect_refusal("no plain file of one name");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0666), 0);
    expect_refusal("no plain file of one name");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0777), 0);
    expect_refusal("cannot be opened");

    file = fopen(victim, "r");
    assert_true(file && fgets(text, sizeof text, file) && fclose(file) == 0);
    assert_string_equal(text, "precious");
    assert_int_equal(unlink(victim), 0);
}

static void a_folder_that_is_a_link(void **state)
{
    (void)state;
    assert_int_equal(symlink("/tmp", folder), 0);
    expect_refusal("it is no folder, or a link");
    assert_int_equal(unlink(folder), 0);
    setenv("HBG_LOCK_DIR", "/nonexistent/locks", 1);
    expect_refusal("cannot be made");
    setenv("HBG_LOCK_DIR", "", 1);
    assert_string_not_equal(hbg__lock_folder(), "");
    assert_int_equal(hbg__lock_folder()[0], '/');
}

/* What a file says is what another user wrote into it. */
static void rubbish_in_the_file(void **state)
{
    static const char *const texts[] = { "", "pid", "pid 0\nuser 0\nsince 0\ncommand x\n", "pid 99999999999\nuser 0\nsince 0\ncommand x\n",
                                         "pid -1\nuser 0\nsince 0\ncommand x\n", "\x01\x02\xff" };
    (void)state;
    pid_t pid = start_holder();
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        FILE *file = fopen(path, "w");
        assert_true(file && fputs(texts[i], file) >= 0 && fclose(file) == 0);
        assert_int_equal(hbg__lock_look("cpu.0", &holder, why, sizeof why), LOCK_HELD);
        assert_int_equal(holder.pid, 0);
        assert_int_equal(hbg__lock_take("cpu.0", 0.0, &holder, why, sizeof why), LOCK_HELD);
    }
    FILE *file = fopen(path, "w");
    assert_true(file && fprintf(file, "pid %d\nuser 4294967294\nsince 5\ncommand \x1b[31mred\n", (int)pid) > 0 && fclose(file) == 0);
    assert_int_equal(hbg__lock_look("cpu.0", &holder, why, sizeof why), LOCK_HELD);
    assert_string_equal(holder.command, " [31mred");
    assert_int_equal(holder.since, 5);
    end(pid);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        TEST(taken_and_given_back), TEST(held_by_another_until_it_dies), TEST(children_do_not_keep_it),
        TEST(one_who_waited_has_the_file_of_that_name), TEST(what_stands_in_its_place), TEST(a_folder_that_is_a_link), TEST(rubbish_in_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
