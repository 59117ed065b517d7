/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reader of traces.
 */
#include "trace_log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char mark[] = "[STRACE] ";
enum { MARK = sizeof mark - 1 };

/* ---- memory ---- */

/* Room for one more; false: no memory, and nothing has changed. */
static bool grow(void **array, size_t *room, size_t count, size_t element)
{
    size_t more = *room ? *room * 2 : 64;
    void *grown;

    if (count < *room)
        return true;
    grown = realloc(*array, more * element);
    if (!grown)
        return false;
    *array = grown;
    *room = more;
    return true;
}

#define GROW(log, what) grow((void **)&(log)->what, &(log)->what##_room, (log)->what##_count, sizeof *(log)->what)

void hbg__trace_log_free(struct trace_log *log)
{
    free(log->text);
    free(log->record);
    free(log->note);
    free(log->session);
    memset(log, 0, sizeof *log);
}

/* ---- percent-encoding ---- */

static bool stands_for_itself(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("-_.~/:,+", c));
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool hbg__trace_decode(char *text, size_t size)
{
    char *to = text, *end = text + size;

    for (char *from = text; from < end; to++) {
        if (*from != '%') {
            if (!stands_for_itself((unsigned char)*from))
                return false;
            *to = *from++;
            continue;
        }
        int high = end - from > 2 ? hex_digit(from[1]) : -1, low = end - from > 2 ? hex_digit(from[2]) : -1;
        int c = high * 16 + low;
        if (high < 0 || low < 0 || c == 0 || (c != '.' && stands_for_itself((unsigned char)c)))
            return false;
        *to = (char)c;
        from += 3;
    }
    *to = '\0';
    return true;
}

/* ---- one record ---- */

/* What is left of a record's text. */
struct cursor { char *at, *end; };

/* "key=" at the cursor, and the end of the word behind it; NULL: something else stands there. */
static char *take_word(struct cursor *c, const char *key)
{
    size_t size = strlen(key);
    char *begin = c->at + size + 1, *end;

    if ((size_t)(c->end - c->at) < size + 2 || memcmp(c->at, key, size) != 0 || c->at[size] != '=')
        return NULL;
    end = memchr(begin, ' ', (size_t)(c->end - begin));
    if (!end)
        return NULL;
    *end = '\0';
    c->at = end + 1;
    return begin;
}

static bool number_of(const char *text, uint64_t *value)
{
    uint64_t v = 0;

    if (!*text || (text[0] == '0' && text[1]))
        return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9' || __builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, (uint64_t)(*text - '0'), &v))
            return false;
    }
    *value = v;
    return true;
}

static bool take_u64(struct cursor *c, const char *key, uint64_t *value)
{
    char *text = take_word(c, key);
    return text && number_of(text, value);
}

static bool take_u32(struct cursor *c, const char *key, uint32_t *value)
{
    uint64_t v;

    if (!take_u64(c, key, &v) || v > UINT32_MAX)
        return false;
    *value = (uint32_t)v;
    return true;
}

static bool take_hash(struct cursor *c, uint64_t *value)
{
    const char *text = take_word(c, "prog");

    if (!text || strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16)
        return false;
    *value = strtoull(text, NULL, 16);
    return true;
}

static bool take_name(struct cursor *c, const char **name)
{
    char *text = take_word(c, "name");

    if (!text || !*text || !hbg__trace_decode(text, strlen(text)))
        return false;
    *name = text;
    return true;
}

static bool take_head(struct cursor *c, struct trace_record *r)
{
    uint64_t version, end;

    return take_u64(c, "v", &version) && version == 1 && take_u32(c, "pid", &r->pid) && take_u32(c, "tid", &r->tid) &&
           take_u64(c, "inv", &r->invocation) && take_hash(c, &r->program) && take_u32(c, "depth", &r->depth) && take_name(c, &r->name) &&
           take_u64(c, "ts", &r->ts) && take_u64(c, "dur", &r->dur) && !__builtin_add_overflow(r->ts, r->dur, &end) && take_u32(c, "dev", &r->device) && take_u64(c, "seq", &r->sequence);
}

/* Notes up to the mark at the end; false: one of them does not read. */
static bool take_notes(struct trace_log *log, struct cursor *c, struct trace_record *r)
{
    r->first_note = log->note_count;
    r->note_count = 0;
    while (c->end - c->at > 1 || *c->at != ';') {
        char *end = memchr(c->at, ' ', (size_t)(c->end - c->at)), *equals;

        if (!end)
            return false;
        *end = '\0';
        equals = strchr(c->at, '=');
        if (!equals || !hbg__trace_decode(equals + 1, strlen(equals + 1)))
            return false;
        *equals = '\0';
        if (!hbg__trace_decode(c->at, (size_t)(equals - c->at)))
            return false;
        if (!GROW(log, note)) {
            log->out_of_memory = true;
            return false;
        }
        log->note[log->note_count++] = (struct trace_note){ c->at, equals + 1 };
        r->note_count++;
        c->at = end + 1;
    }
    return true;
}

/* ---- sessions ---- */

static struct trace_session *find_session(struct trace_log *log, const struct trace_record *r, bool anew)
{
    for (size_t i = log->session_count; i-- > 0 && !anew;)
        if (log->session[i].pid == r->pid && log->session[i].device == r->device)
            return &log->session[i];
    if (!GROW(log, session)) {
        log->out_of_memory = true;
        return NULL;
    }
    log->session[log->session_count] = (struct trace_session){ .pid = r->pid, .device = r->device };
    return &log->session[log->session_count++];
}

static bool count_in(struct trace_log *log, struct trace_record *r)
{
    bool begins = strcmp(r->name, "trace.begin") == 0;
    struct trace_session *s = find_session(log, r, begins);

    if (!s)
        return false;
    r->session = (uint32_t)(s - log->session);
    s->records++;
    if (r->sequence >= s->expected)
        s->expected = r->sequence + 1;
    s->begun |= begins;
    if (strcmp(r->name, "trace.end") == 0)
        s->ended = hbg__trace_number(log, r, "emitted", &s->emitted) && hbg__trace_number(log, r, "dropped", &s->dropped);
    return true;
}

/* ---- the whole text ---- */

/* One record from its mark up to the next mark or the end of the line. */
static void parse_record(struct trace_log *log, char *begin, char *end)
{
    struct trace_record r = { 0 };
    struct cursor c = { begin + MARK, end };
    size_t notes = log->note_count;
    bool whole = end - begin > MARK + 2 && end[-1] == ';' && end[-2] == ' ' && !memchr(begin, '\0', (size_t)(end - begin)) &&
                 take_head(&c, &r) && take_notes(log, &c, &r);

    if (whole && GROW(log, record) && count_in(log, &r)) {
        log->record[log->record_count++] = r;
        return;
    }
    log->note_count = notes;
    log->out_of_memory |= whole;
    log->torn++;
}

/* text[0..size), which may hold anything, NUL bytes included */
static char *find_mark(char *text, char *end)
{
    while (end - text >= MARK && (text = memchr(text, *mark, (size_t)(end - text))) && end - text >= MARK) {
        if (memcmp(text, mark, MARK) == 0)
            return text;
        text++;
    }
    return NULL;
}

bool hbg__trace_log_parse(struct trace_log *log, char *text, size_t size)
{
    char *end = text + size, *next;

    memset(log, 0, sizeof *log);
    log->text = text;
    for (char *at = find_mark(text, end); at && !log->out_of_memory; at = next) {
        char *line = memchr(at, '\n', (size_t)(end - at)), *stop = line ? line : end;
        uint64_t torn = log->torn;

        next = find_mark(at + MARK, end);
        if (next && next < stop)
            stop = next;
        parse_record(log, at, stop);
        log->torn_at_end = log->torn > torn && !line && !next;
    }
    return !log->out_of_memory;
}

static char *read_all(FILE *file, size_t *size)
{
    char *text = NULL;
    size_t room = 0, used = 0, got = 1;

    while (got > 0) {
        if (used == room) {
            char *more = realloc(text, room = room ? room * 2 : 65536);
            if (!more)
                break;
            text = more;
        }
        got = fread(text + used, 1, room - used, file);
        used += got;
    }
    if (got > 0) {
        free(text);
        errno = ENOMEM;
        return NULL;
    }
    *size = used;
    return text;
}

/* A device such as /dev/zero has no end. */
static bool is_endless(FILE *file)
{
    struct stat status;

    return fstat(fileno(file), &status) == 0 && S_ISCHR(status.st_mode) && !isatty(fileno(file));
}

const char *hbg__trace_log_read(struct trace_log *log, const char *path)
{
    bool standard = strcmp(path, "-") == 0;
    FILE *file = standard ? stdin : fopen(path, "rb");
    size_t size = 0;
    char *text;
    int why = 0;

    memset(log, 0, sizeof *log);
    if (!file)
        return strerror(errno);
    if (is_endless(file)) {
        if (!standard)
            fclose(file);
        return "it is a device";
    }
    errno = 0;
    text = read_all(file, &size);
    if (!text || ferror(file))
        why = errno ? errno : EIO;
    if (!standard)
        fclose(file);
    if (why) {
        free(text);
        return strerror(why);
    }
    if (hbg__trace_log_parse(log, text, size))
        return NULL;
    hbg__trace_log_free(log);
    return strerror(ENOMEM);
}

/* ---- questions ---- */

uint64_t hbg__trace_log_lost(const struct trace_log *log)
{
    uint64_t missing = 0, torn = log->torn - log->torn_at_end;

    for (size_t i = 0; i < log->session_count; i++)
        if (log->session[i].expected > log->session[i].records)
            missing += log->session[i].expected - log->session[i].records;
    /* a torn record between others left a hole in the numbers; one at the end left none */
    return (missing > torn ? missing : torn) + log->torn_at_end;
}

size_t hbg__trace_log_unfinished(const struct trace_log *log)
{
    size_t count = 0;

    for (size_t i = 0; i < log->session_count; i++)
        count += !log->session[i].begun || !log->session[i].ended;
    return count;
}

const char *hbg__trace_note(const struct trace_log *log, const struct trace_record *record, const char *key)
{
    for (uint32_t i = 0; i < record->note_count; i++)
        if (strcmp(log->note[record->first_note + i].key, key) == 0)
            return log->note[record->first_note + i].value;
    return NULL;
}

bool hbg__trace_number(const struct trace_log *log, const struct trace_record *record, const char *key, uint64_t *value)
{
    const char *text = hbg__trace_note(log, record, key);
    return text && number_of(text, value);
}
