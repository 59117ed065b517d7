/* SPDX-License-Identifier: Apache-2.0 */
/* others.c - see others.h. What is said to a child and what it answers stands in bench/rivals/rival.h. */
#include "bench/others.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/cli.h"

static const char *const names[OTHERS_MAX] = { "openmp", "libomp", "tbb", "starpu" };
static const char *const modes[BENCH_MODES] = { "again", "anew", "submit" };
extern char **environ;

/* ---- a child ---- */

/* Beside the command: DIR/rivals/NAME. False: it is not there. */
static bool find_program(const char *name, char *path, size_t size_bytes)
{
    ssize_t length = readlink("/proc/self/exe", path, size_bytes - 1);
    if (length < 0) return false;
    path[length] = '\0';
    char *slash = strrchr(path, '/');
    size_t left = slash ? size_bytes - (size_t)(slash - path) : 0;
    if (!slash || (size_t)snprintf(slash, left, "/rivals/%s", name) >= left) return false;
    return access(path, X_OK) == 0;
}

static bool spawn(struct bench_other *other, const char *path, char *workers, const int in[2], const int out[2])
{
    posix_spawn_file_actions_t actions;
    char *arguments[] = { (char *)path, workers, NULL };
    if (posix_spawn_file_actions_init(&actions)) return false;
    int status = posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
    if (!status) status = posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    if (!status) status = posix_spawn(&other->pid, path, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    return status == 0;
}

/* The next line of the child, without its end. False: there is none. */
static bool hear(struct bench_other *other, char *line, size_t size_bytes)
{
    if (!fgets(line, (int)size_bytes, other->from)) return false;
    line[strcspn(line, "\n")] = '\0';
    return true;
}

/* Says a line and hears the answer; the child runs in between and at no other time. */
static bool ask(struct bench_other *other, char *answer, size_t size_bytes)
{
    kill(other->pid, SIGCONT);
    bool good = fflush(other->to) == 0 && hear(other, answer, size_bytes);
    kill(other->pid, SIGSTOP);
    if (!good) hbg__cli_error("bench", "%s gave up", other->name);
    return good;
}

static bool start(struct bench_other *other, const char *path, uint32_t workers)
{
    int in[2] = { -1, -1 }, out[2] = { -1, -1 };
    char count[16], line[128] = "";
    snprintf(count, sizeof count, "%" PRIu32, workers);
    bool good = pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0 && spawn(other, path, count, in, out);
    if (in[0] >= 0) close(in[0]);
    if (out[1] >= 0) close(out[1]);
    other->to = good ? fdopen(in[1], "w") : NULL;
    other->from = good ? fdopen(out[0], "r") : NULL;
    good = other->to && other->from && hear(other, line, sizeof line);
    if (other->pid > 0) kill(other->pid, SIGSTOP);
    if (!good || sscanf(line, "rival %u %63[^\n]", &other->modes, other->label) != 2) {
        hbg__cli_error("bench", "%s does not start%s%s", other->name, line[0] ? ": " : "", line);
        return false;
    }
    return true;
}

static void end(struct bench_other *other)
{
    if (other->to) fclose(other->to);       /* the child ends with its input */
    if (other->pid > 0) {
        kill(other->pid, SIGCONT);
        while (waitpid(other->pid, NULL, 0) < 0 && errno == EINTR) continue;
    }
    if (other->from) fclose(other->from);
}

/* ---- all of them ---- */

void hbg__others_open(struct bench_others *all, uint32_t workers)
{
    char path[PATH_MAX];
    *all = (struct bench_others){ .workers = workers };
    signal(SIGPIPE, SIG_IGN);               /* a child that is gone is noticed by what it does not answer */
    for (int i = 0; i < OTHERS_MAX; i++) {
        struct bench_other *other = &all->other[all->count];
        *other = (struct bench_other){ .name = names[i] };
        if (find_program(names[i], path, sizeof path) && start(other, path, workers)) {
            all->count++;
            continue;
        }
        end(other);
        size_t said = strlen(all->without);
        snprintf(all->without + said, sizeof all->without - said, "%s%s", said ? ", " : "", names[i]);
    }
}

void hbg__others_close(struct bench_others *all)
{
    while (all->count > 0) end(&all->other[--all->count]);
}

/* ---- what is asked ---- */

int hbg__other_open(struct bench_other *other, const char *name, struct dag_size size)
{
    char answer[160];
    int index;
    fprintf(other->to, "open %s %" PRIu32 " %" PRIu32 " %" PRIu32 "\n", name, size.width, size.steps, size.radix);
    return ask(other, answer, sizeof answer) && sscanf(answer, "graph %d", &index) == 1 ? index : -1;
}

/* Asks what stands in the buffer, and takes the answer apart; says it where it is another one. */
static bool take(struct bench_other *other, const char *format, void *first, void *second)
{
    char answer[160];
    int wanted = second ? 2 : first ? 1 : 0;
    if (!ask(other, answer, sizeof answer)) return false;
    if (wanted ? sscanf(answer, format, first, second) == wanted : strcmp(answer, format) == 0) return true;
    hbg__cli_error("bench", "%s says: %s", other->name, answer);
    return false;
}

bool hbg__other_tiles(struct bench_other *other, int index, uint32_t edge, const char *path)
{
    fprintf(other->to, "tiles %d %" PRIu32 " %s\n", index, edge, path);
    return take(other, "tiles", NULL, NULL);
}

bool hbg__other_residual(struct bench_other *other, int index, double *residual)
{
    fprintf(other->to, "residual %d\n", index);
    return take(other, "residual %lf", residual, NULL);
}

bool hbg__other_close(struct bench_other *other, int index)
{
    fprintf(other->to, "close %d\n", index);
    return take(other, "closed", NULL, NULL);
}

bool hbg__other_batch(struct bench_other *other, const struct bench_order *order, uint64_t min_ns, uint64_t *sum_ns, uint64_t *runs)
{
    fprintf(other->to, "batch %d %s %s %" PRIu64 " %" PRIu64 "\n", order->index, modes[order->mode], order->body, order->length, min_ns);
    return take(other, "ns %" SCNu64 " %" SCNu64, sum_ns, runs);
}

bool hbg__other_check(struct bench_other *other, const struct bench_order *order, uint64_t *wrong)
{
    fprintf(other->to, "check %d %s %s %" PRIu64 "\n", order->index, modes[order->mode], order->body, order->length);
    return take(other, "wrong %" SCNu64, wrong, NULL);
}
