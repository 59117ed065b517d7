/* SPDX-License-Identifier: Apache-2.0 */
/* trace.c - see trace.h. */
#include "trace/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"

enum { PATH_BYTES = 4096, NANOSECONDS = 1000000000 };

static const char *const level_names[] = { "unset", "off", "run", "phase", "task" };

static struct hbg__atomic_u32 devices;  /* of the process that traced */

uint32_t hbg__trace_tid(void)
{
    static _Thread_local uint32_t tid, pid;
    uint32_t now = (uint32_t)getpid();
    if (HBG_UNLIKELY(pid != now)) {     /* the first call of the thread, or of a child of fork */
        pid = now;
        tid = (uint32_t)syscall(SYS_gettid);
    }
    return tid;
}

/* ---- records ---- */

void hbg__trace_begin(struct hbg__trace *trace, struct hbg__trace_line *line, const struct hbg__trace_head *head, const char *name,
                      const char *first, const char *second)
{
    hbg__line_begin(line);
    (void)hbg__line_raw(line, trace->head, trace->head_size);
    (void)hbg__line_u64(line, "tid", head->tid);
    (void)hbg__line_u64(line, "inv", head->invocation);
    (void)hbg__line_hex(line, "prog", head->program);
    (void)hbg__line_u64(line, "depth", head->depth);
    if (!hbg__line_name(line, name, first, second)) (void)hbg__line_name(line, name, "cut", NULL);
    (void)hbg__line_u64(line, "ts", head->ts);
    (void)hbg__line_u64(line, "dur", head->dur);
    (void)hbg__line_u64(line, "dev", trace->device);
    (void)hbg__line_u64(line, "seq", hbg__fetch_add_relaxed64(&trace->sequence, 1));        /* relaxed: it only numbers */
}

static bool write_line(struct hbg__trace *trace, struct hbg__trace_line *line)
{
    ssize_t written;
    if (trace->fd < 0) {
        line->text[line->used - 1] = '\0';              /* the callback takes a line without its end */
        trace->log.fn(trace->log.user, HBG_LOG_INFO, line->text);
        return true;
    }
    for (size_t at = 0; at < line->used; at += (size_t)written) {       /* a second write is for what was full: it tells why */
        do written = write(trace->fd, line->text + at, line->used - at);
        while (written < 0 && errno == EINTR);
        if (written < 0) return false;
    }
    return true;
}

static void count_dropped(struct hbg__trace *trace, int why)
{
    if (hbg__fetch_add_relaxed64(&trace->dropped, 1) == 0)      /* relaxed: a count */
        hbg__log_write(&trace->log, HBG_LOG_WARN, "the trace is not whole: a record could not be written: %s", strerror(why));
}

void hbg__trace_write(struct hbg__trace *trace, struct hbg__trace_line *line)
{
    hbg__line_end(line);
    if (HBG_LIKELY(write_line(trace, line))) hbg__fetch_add_relaxed64(&trace->emitted, 1);  /* relaxed: a count */
    else count_dropped(trace, errno);
}

void hbg__trace_announce(struct hbg__trace *trace, const char *platform, uint32_t workers, uint32_t depth)
{
    struct hbg__trace_line line;
    struct timespec wall;
    struct hbg__trace_head head = { .ts = hbg__trace_now_ns(trace), .tid = hbg__trace_tid() };
    clock_gettime(CLOCK_REALTIME, &wall);
    hbg__trace_begin(trace, &line, &head, "trace.begin", NULL, NULL);
    hbg__line_u64(&line, "wall", (uint64_t)wall.tv_sec * NANOSECONDS + (uint64_t)wall.tv_nsec);
    hbg__line_text(&line, "level", level_names[trace->level]);
    hbg__line_text(&line, "platform", platform);
    hbg__line_u64(&line, "workers", workers);
    hbg__line_u64(&line, "slots", depth);
    hbg__line_text(&line, "version", hbg_version());
    hbg__trace_write(trace, &line);
}

void hbg__trace_end(struct hbg__trace *trace)
{
    struct hbg__trace_line line;
    struct hbg__trace_head head = { .ts = hbg__trace_now_ns(trace), .tid = hbg__trace_tid() };
    hbg__trace_begin(trace, &line, &head, "trace.end", NULL, NULL);
    /* relaxed: counts; nobody writes any more */
    hbg__line_u64(&line, "emitted", hbg__load_relaxed64(&trace->emitted));
    hbg__line_u64(&line, "dropped", hbg__load_relaxed64(&trace->dropped));
    hbg__trace_write(trace, &line);
}

/* ---- holders ---- */

void hbg__trace_hold(struct hbg__trace *trace)
{
    hbg__fetch_add_relaxed32(&trace->references, 1);    /* relaxed: the caller has it by somebody who holds it */
}

static void free_trace(struct hbg__trace *trace)
{
    struct hbg__memory memory = trace->memory;
    if (trace->owns_fd) close(trace->fd);
    HBG__DELETE(&memory, trace);
}

void hbg__trace_drop(struct hbg__trace *trace)
{
    if (!trace) return;
    /* V1 acq_rel, pairs with V1 in hbg__trace_drop(): what all others counted. */
    if (hbg__fetch_add_acq_rel32(&trace->references, (uint32_t)-1) != 1) return;
    hbg__trace_end(trace);
    free_trace(trace);
}

/* ---- open ---- */

static enum hbg_trace_level level_of(const char *text)
{
    for (int i = HBG_TRACE_OFF; i <= HBG_TRACE_TASK; i++) {
        if (strcmp(text, level_names[i]) == 0) return (enum hbg_trace_level)i;
    }
    return HBG_TRACE_UNSET;
}

/* %p becomes the number of the process, %% a percent sign. False: another % or a path that is too long. */
static bool expand(const char *text, char path[PATH_BYTES])
{
    size_t used = 0;
    for (; *text; text++) {
        size_t left = PATH_BYTES - used;
        if (*text != '%') used += (size_t)snprintf(path + used, left, "%c", *text);
        else if (*++text == 'p') used += (size_t)snprintf(path + used, left, "%ld", (long)getpid());
        else if (*text == '%') used += (size_t)snprintf(path + used, left, "%%");
        else return false;
        if (used >= PATH_BYTES) return false;
    }
    return used > 0;
}

static enum hbg_status open_destination(struct hbg__trace *trace, const char *to, struct hbg_error *error)
{
    char path[PATH_BYTES];
    trace->fd = STDERR_FILENO;
    if (!to || strcmp(to, "stderr") == 0) return HBG_OK;
    if (strcmp(to, "log") == 0) {
        trace->fd = -1;
        return trace->log.fn ? HBG_OK : hbg__error_set(error, HBG_E_OPTION, "trace_to", "the trace shall go to the log, and the device has no log callback");
    }
    if (!expand(to, path))
        return hbg__error_set(error, HBG_E_OPTION, "trace_to", "the trace file \"%.200s\" is no path: it is empty, too long, or has a %% before something else than p or %%", to);
    trace->fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0666);
    if (trace->fd < 0) return hbg__error_set(error, HBG_E_OPTION, "trace_to", "the trace file \"%.200s\" cannot be written: %s", path, strerror(errno));
    trace->owns_fd = true;
    return HBG_OK;
}

/* Options first, then the environment; HBG_TRACE_OFF where neither asks for anything. *named: the level comes from the options. */
static enum hbg_trace_level choose_level(const struct hbg__log *log, const struct hbg__trace_options *options, bool *named)
{
    const char *text = options->ignore_environment ? NULL : getenv("HBG_TRACE");
    *named = options->level != HBG_TRACE_UNSET;
    if (*named) return options->level;
    if (!text || !*text) return HBG_TRACE_OFF;
    enum hbg_trace_level level = level_of(text);
    if (level != HBG_TRACE_UNSET) return level;
    hbg__log_write(log, HBG_LOG_WARN, "HBG_TRACE is \"%.40s\", which is none of off, run, phase and task: nothing is traced", text);
    return HBG_TRACE_OFF;
}

static const char *choose_destination(const struct hbg__trace_options *options)
{
    const char *text = options->to || options->ignore_environment ? options->to : getenv("HBG_TRACE_TO");
    return text && *text ? text : NULL;
}

enum hbg_status hbg__trace_open(struct hbg__memory *memory, const struct hbg__log *log, const struct hbg__trace_options *options,
                                struct hbg__trace **trace, struct hbg_error *error)
{
    struct hbg_error why = { .size = sizeof why };
    bool named;
    *trace = NULL;
    if ((unsigned)options->level > HBG_TRACE_TASK)
        return hbg__error_set(error, HBG_E_OPTION, "trace", "the trace level %d does not exist", (int)options->level);
    enum hbg_trace_level level = choose_level(log, options, &named);
    if (level == HBG_TRACE_OFF) return HBG_OK;
    struct hbg__trace *made = HBG__NEW(memory, struct hbg__trace);
    if (!made) return hbg__error_no_memory(error, "trace", sizeof *made);
    made->memory = *memory;
    made->log = *log;
    made->level = level;
    made->records = options->records;
    enum hbg_status status = open_destination(made, choose_destination(options), &why);
    if (status) {
        free_trace(made);
        if (named || options->to) {
            hbg__error_copy(error, &why);
            return status;
        }
        hbg__log_write(log, HBG_LOG_WARN, "hbg: nothing is traced: %s", why.text);
        return HBG_OK;
    }
    made->device = hbg__fetch_add_relaxed32(&devices, 1) + 1;               /* relaxed: it only numbers */
    made->head_size = (size_t)snprintf(made->head, sizeof made->head, "[STRACE] v=1 pid=%ld", (long)getpid());
    hbg__store_relaxed32(&made->references, 1);                             /* relaxed: not shared yet */
    *trace = made;
    return HBG_OK;
}
