/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running a command.
 */
#include "tools/ab/child.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OUTPUT_MOST = 256 << 20, LEAVE_NS = 1000000000, LEAVE_LOOK_NS = 10000000 };

static sigset_t before, held;
static int taken;

/* ---- signals ---- */

void hbg__ab_signals_hold(void)
{
    sigemptyset(&held);
    sigaddset(&held, SIGINT);
    sigaddset(&held, SIGTERM);
    sigaddset(&held, SIGHUP);
    sigaddset(&held, SIGCHLD);
    sigprocmask(SIG_BLOCK, &held, &before);
}

/* Waits for a signal until then. */
static void wait_until(uint64_t when_ns)
{
    uint64_t now = hbg__clock_ns(), left = when_ns > now ? when_ns - now : 0;
    struct timespec time = { (time_t)(left / 1000000000), (long)(left % 1000000000) };
    int signal = sigtimedwait(&held, NULL, &time);

    if (signal > 0 && signal != SIGCHLD)
        taken = signal;
}

int hbg__ab_signal_taken(void)
{
    sigset_t pending;

    if (!taken && sigpending(&pending) == 0 && (sigismember(&pending, SIGINT) || sigismember(&pending, SIGTERM) || sigismember(&pending, SIGHUP)))
        for (int tries = 0; tries < 2 && !taken; tries++)       /* a SIGCHLD may come first */
            wait_until(0);
    return taken;
}

void hbg__ab_signal_obey(void)
{
    sigprocmask(SIG_SETMASK, &before, NULL);
    signal(taken, SIG_DFL);
    raise(taken);
}

void hbg__ab_pause(double seconds)
{
    uint64_t end = hbg__clock_ns() + (uint64_t)(seconds * 1e9);

    while (!hbg__ab_signal_taken() && hbg__clock_ns() < end)
        wait_until(end);
}

/* ---- the child ---- */

/* In the child: never returns. */
static void become(const struct ab_child_wish *wish, const int *to, pid_t parent)
{
    static char padding[4096];
    struct rlimit most = { wish->write_most, wish->write_most };
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(127);
    if (wish->write_most && setrlimit(RLIMIT_FSIZE, &most) != 0)
        _exit(127);
    sigprocmask(SIG_SETMASK, &before, NULL);
    memset(padding, 'x', wish->padding);
    setenv("HBG_AB_PADDING", padding, 1);
    if (wish->trace) {
        setenv("HBG_TRACE", "phase", 0);
        setenv("HBG_TRACE_TO", wish->trace, 1);
    }
    if (dup2(nothing, STDIN_FILENO) >= 0 && dup2(to[0], STDOUT_FILENO) >= 0 && dup2(to[1], STDERR_FILENO) >= 0)
        execl("/bin/sh", "sh", "-c", wish->command, (char *)NULL);
    _exit(127);
}

/* Has it ended? It is not reaped yet, so that its numbers can be read. */
static bool ended(pid_t pid)
{
    siginfo_t info = { .si_pid = 0 };

    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

/* Until it has ended, or the time is over, or a signal came. */
static void wait_for(pid_t pid, const struct ab_child_wish *wish, uint64_t end)
{
    uint64_t alarm = wish->alarm_ns;

    while (!ended(pid) && !hbg__ab_signal_taken()) {
        uint64_t now = hbg__clock_ns();

        if (now >= end)
            return;
        if (alarm && now >= alarm) {
            wish->alarm(wish->context);
            alarm = 0;
        }
        wait_until(alarm && alarm < end ? alarm : end);
    }
}

/* The time that its first thread spent waiting for a CPU. */
static double queue_wait(pid_t pid)
{
    char path[64];
    uint64_t ran, waited;
    FILE *file;
    double seconds = NAN;

    snprintf(path, sizeof path, "/proc/%ld/schedstat", (long)pid);
    file = fopen(path, "re");
    if (file && fscanf(file, "%" SCNu64 " %" SCNu64, &ran, &waited) == 2)
        seconds = (double)waited * 1e-9;
    if (file)
        fclose(file);
    return seconds;
}

/* All of a memory file, and a zero byte; NULL: no memory, or too much. */
static char *read_back(int file, size_t *size)
{
    off_t length = lseek(file, 0, SEEK_END);
    char *text = length >= 0 && length <= OUTPUT_MOST ? malloc((size_t)length + 1) : NULL;
    size_t used = 0;

    if (!text)
        return NULL;
    while (used < (size_t)length) {
        ssize_t got = pread(file, text + used, (size_t)length - used, (off_t)used);
        if (got <= 0)
            break;
        used += (size_t)got;
    }
    text[used] = '\0';
    *size = used;
    return text;
}

/* The last line that says something. */
static void last_line(char *text, size_t size, char *line, size_t line_size)
{
    while (size && (text[size - 1] == '\n' || text[size - 1] == ' '))
        text[--size] = '\0';
    snprintf(line, line_size, "%s", strrchr(text, '\n') ? strrchr(text, '\n') + 1 : text);
}

static void say_how(int status, bool late, const struct ab_child_wish *wish, int complaints, struct ab_child_end *end)
{
    char line[96] = "", *text;
    size_t size = 0;

    text = read_back(complaints, &size);
    if (text)
        last_line(text, size, line, sizeof line);
    free(text);
    if (late)
        snprintf(end->why, sizeof end->why, "it ran for more than %g s", wish->timeout_s);
    else if (WIFSIGNALED(status))
        snprintf(end->why, sizeof end->why, "it was ended by signal %d (%s)%s%s", WTERMSIG(status), strsignal(WTERMSIG(status)), *line ? ": " : "", line);
    else if (WEXITSTATUS(status))
        snprintf(end->why, sizeof end->why, "it ended with status %d%s%s", WEXITSTATUS(status), *line ? ": " : "", line);
}

static void run_with(const struct ab_child_wish *wish, const int *to, struct ab_child_end *end)
{
    uint64_t begin = hbg__clock_ns();
    pid_t parent = getpid(), pid = fork();
    struct rusage usage;
    int status = 0;
    bool late;

    if (pid < 0) {
        snprintf(end->why, sizeof end->why, "no process could be made: %s", strerror(errno));
        return;
    }
    if (pid == 0)
        become(wish, to, parent);
    setpgid(pid, pid);
    wait_for(pid, wish, begin + (uint64_t)(wish->timeout_s * 1e9));
    end->seconds = (double)(hbg__clock_ns() - begin) * 1e-9;
    late = !ended(pid);
    end->wait_s = queue_wait(pid);
    kill(-pid, SIGKILL);                                /* the group: what the shell left running, too */
    for (uint64_t last = hbg__clock_ns() + LEAVE_NS; wish->leave && !ended(pid) && hbg__clock_ns() < last;)
        wait_until(hbg__clock_ns() + LEAVE_LOOK_NS);
    if (wish->leave && !ended(pid)) {
        snprintf(end->why, sizeof end->why, "it did not end when it was killed after %g s", wish->timeout_s);
        return;
    }
    while (wait4(pid, &status, 0, &usage) < 0 && errno == EINTR)
        continue;
    end->switches = (double)usage.ru_nivcsw;
    say_how(status, late, wish, to[1], end);
    end->output = read_back(to[0], &end->size);
    if (!end->output && !*end->why)
        snprintf(end->why, sizeof end->why, "what it printed does not fit into memory");
}

void hbg__ab_child_run(const struct ab_child_wish *wish, struct ab_child_end *end)
{
    int to[2] = { memfd_create("hbg-ab-output", MFD_CLOEXEC), memfd_create("hbg-ab-errors", MFD_CLOEXEC) };

    *end = (struct ab_child_end){ .wait_s = NAN };
    if (to[0] >= 0 && to[1] >= 0)
        run_with(wish, to, end);
    else
        snprintf(end->why, sizeof end->why, "there is no room for its output: %s", strerror(errno));
    for (int i = 0; i < 2; i++)
        if (to[i] >= 0)
            close(to[i]);
}
