/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What nvidia-smi says.
 */
#include "tools/ab/gpu.h"

#include "base/clock.h"
#include "tools/ab/arm.h"
#include "tools/ab/child.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FIELDS = 7, FAILURES_MOST = 3, OUTPUT_MOST = 1 << 20, NUMBER_MOST = 1000000000 };
static const double first_s = 20.0, later_s = 5.0;      /* the first one may have to wake the driver */

/* Newer drivers have another word for the same bits; one that they do not know ends the whole query. */
static const char *const reasons[] = { "clocks_throttle_reasons.active", "clocks_event_reasons.active" };

/* ---- lines ---- */

/* What others have written, on one line of letters that everything can show. */
static char *make_printable(char *text)
{
    for (char *at = text; *at; at++)
        if (*at < ' ' || *at > '~')
            *at = '?';
    return text;
}

/* The next field of a line: without the spaces around it. *rest is behind its comma, or NULL. */
static char *next_field(char **rest)
{
    char *field = strsep(rest, ",");
    size_t length;

    if (!field)
        return NULL;
    field += strspn(field, " \t");
    length = strlen(field);
    while (length && strchr(" \t\r", field[length - 1]))
        field[--length] = '\0';
    return field;
}

/* NaN: it is no number of at least 0, and nothing else. */
static double number(const char *field, int base)
{
    char *end = NULL;
    double value;

    if (!isdigit((unsigned char)*field))
        return NAN;
    value = base == 16 ? (double)strtoull(field, &end, 16) : strtod(field, &end);
    return *end || (base == 10 && !(value <= NUMBER_MOST)) ? NAN : value;
}

static bool read_line(char *line, struct ab_gpu_row *row)
{
    char *field[FIELDS];
    double index;

    for (int i = 0; i < FIELDS; i++)
        if (!(field[i] = next_field(&line)))
            return false;
    index = number(field[0], 10);
    if (line || !(index >= 0.0 && index < 1e6 && index == floor(index)) || (strncmp(field[1], "GPU-", 4) != 0 && strncmp(field[1], "MIG-", 4) != 0))
        return false;
    *row = (struct ab_gpu_row){ .gpu = { .index = (uint32_t)index, .others = NAN, .others_mib = NAN } };
    snprintf(row->uuid, sizeof row->uuid, "%s", make_printable(field[1]));
    row->gpu.sm_mhz = number(field[2], 10);
    row->gpu.memory_mhz = number(field[3], 10);
    row->gpu.watts = number(field[4], 10);
    row->gpu.celsius = number(field[5], 10);
    row->gpu.throttle = number(field[6], 16);
    return true;
}

size_t hbg__ab_gpu_read(const char *text, struct ab_gpu_row *row, size_t room)
{
    char *copy = strdup(text), *rest = copy, *line;
    size_t count = 0;

    while (copy && count < room && (line = strsep(&rest, "\n")))
        count += read_line(line, &row[count]);
    free(copy);
    return count;
}

/* "process 4711, user root, 512 MiB: python train.py", as far as that is told: in a container others are not seen. */
static bool note_holder(struct ab_facts *holders, uint32_t index, double pid, double mib)
{
    char name[32], path[64], command[128] = "", memory[32] = "", user[64] = "";
    struct stat about;
    const struct passwd *entry;
    size_t length;
    FILE *file;

    snprintf(name, sizeof name, "GPU %u", index);
    snprintf(path, sizeof path, "/proc/%.0f/cmdline", pid);
    entry = stat(path, &about) == 0 ? getpwuid(about.st_uid) : NULL;
    if (entry)
        snprintf(user, sizeof user, ", user %s", entry->pw_name);
    file = fopen(path, "re");
    length = file ? fread(command, 1, sizeof command - 1, file) : 0;
    if (file)
        fclose(file);
    while (length && command[length - 1] == '\0')
        length--;
    for (size_t i = 0; i < length; i++)
        command[i] = command[i] ? command[i] : ' ';
    make_printable(command);
    if (!isnan(mib))
        snprintf(memory, sizeof memory, ", %.0f MiB", mib);
    return hbg__ab_fact(holders, name, "process %.0f%s%s%s%s", pid, user, memory, length ? ": " : "", command);
}

bool hbg__ab_gpu_read_processes(const char *text, struct ab_gpu_row *row, size_t count, struct ab_facts *holders)
{
    char *copy = strdup(text), *rest = copy, *line;
    bool good = copy != NULL;

    for (size_t i = 0; i < count; i++)
        row[i].gpu.others = row[i].gpu.others_mib = 0.0;
    while (good && (line = strsep(&rest, "\n"))) {
        char *pid = next_field(&line), *uuid = next_field(&line), *memory = next_field(&line);

        for (size_t i = 0; uuid && memory && !isnan(number(pid, 10)) && i < count && good; i++) {
            if (strcmp(row[i].uuid, uuid) != 0)
                continue;
            row[i].gpu.others++;
            row[i].gpu.others_mib += isnan(number(memory, 10)) ? 0.0 : number(memory, 10);
            if (holders)
                good = note_holder(holders, row[i].gpu.index, number(pid, 10), number(memory, 10));
        }
    }
    free(copy);
    return good;
}

uint64_t hbg__ab_gpu_slowed(double throttle)
{
    return throttle >= 0.0 && throttle < 0x1p53 ? (uint64_t)throttle & AB_GPU_SLOWED : 0;
}

const char *hbg__ab_gpu_words(double throttle, char *text, size_t size)
{
    static const struct { uint32_t bit; const char *words; } known[] = {
        { AB_GPU_HW_SLOWDOWN, "hardware slowdown" }, { AB_GPU_HW_THERMAL, "hardware thermal slowdown" }, { AB_GPU_POWER_BRAKE, "power brake" },
        { AB_GPU_SW_THERMAL, "software thermal slowdown" },
    };
    uint64_t bits = hbg__ab_gpu_slowed(throttle);
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < sizeof known / sizeof *known && used < size; i++)
        if (bits & known[i].bit)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", known[i].words);
    return text;
}

/* ---- looks ---- */

/* What it prints; NULL with the reason, of which it prints a part where it prints the rest. The caller frees it. */
static char *ask(const char *words, double timeout_s, char *why, size_t size)
{
    struct ab_child_wish wish = { .timeout_s = timeout_s, .leave = true, .write_most = OUTPUT_MOST };
    struct ab_child_end end;
    char command[256];

    snprintf(command, sizeof command, "exec nvidia-smi %s --format=csv,noheader,nounits 2>&1", words);
    wish.command = command;
    hbg__ab_child_run(&wish, &end);
    if (!*end.why)
        return end.output;
    snprintf(why, size, "%s%s%.*s", end.why, end.size ? ": " : "", end.size ? (int)strcspn(end.output, "\n") : 0, end.size ? end.output : "");
    make_printable(why);
    free(end.output);
    return NULL;
}

/* Rows of all that there are; 0 with the reason. */
static size_t look(struct ab_gpus *gpus, struct ab_gpu_row *row, double most_s, struct ab_facts *holders, char *why, size_t size)
{
    double timeout_s = fmin(most_s, gpus->timeout_s);
    char words[160], *text;
    size_t count = 0;

    snprintf(words, sizeof words, "--query-gpu=index,uuid,clocks.sm,clocks.mem,power.draw,temperature.gpu,%s", reasons[gpus->field]);
    text = ask(words, timeout_s, why, size);
    if (!text)
        return 0;
    count = hbg__ab_gpu_read(text, row, AB_GPUS_MOST);
    if (!count)
        snprintf(why, size, "it tells of none: %.60s", text[strspn(text, "\n")] ? make_printable(strtok(text, "\n")) : "nothing");
    free(text);
    text = count ? ask("--query-compute-apps=pid,gpu_uuid,used_memory", timeout_s, why, size) : NULL;
    if (text)
        (void)hbg__ab_gpu_read_processes(text, row, count, holders);
    free(text);
    return count;
}

/* Nobody needs to be asked where the arms are kept from all of them. */
static bool hidden(void)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");

    return visible && (!*visible || strcmp(visible, "-1") == 0);
}

bool hbg__ab_gpus_find(struct ab_gpus *gpus, struct ab_facts *host, struct ab_facts *holders)
{
    struct ab_gpu_row row[AB_GPUS_MOST];
    char why[320] = "", name[32], path[PATH_MAX];
    size_t count = 0;
    uint64_t begin;
    bool good = true;

    *gpus = (struct ab_gpus){ .timeout_s = gpus->timeout_s };
    if (hidden() || !hbg__ab_program_find("nvidia-smi", path))
        return true;
    for (; gpus->field < sizeof reasons / sizeof *reasons; gpus->field++) {
        count = look(gpus, row, first_s, holders, why, sizeof why);
        if (count || !strstr(why, "not a valid field"))
            break;
    }
    if (!count)
        return hbg__ab_signal_taken() || hbg__ab_fact(host, "nvidia-smi", "%s", why);
    for (size_t i = 0; i < count && good; i++) {
        snprintf(name, sizeof name, "GPU %u", row[i].gpu.index);
        good = hbg__ab_fact(host, name, "%s", row[i].uuid);
    }
    begin = hbg__clock_ns();
    gpus->there = look(gpus, row, later_s, NULL, why, sizeof why) > 0;
    gpus->look_s = (double)(hbg__clock_ns() - begin) * 1e-9;
    return good && (gpus->there || hbg__ab_signal_taken() || hbg__ab_fact(host, "nvidia-smi", "%s", why));
}

bool hbg__ab_gpus_look(struct ab_gpus *gpus, struct ab_batch *batch, uint32_t moment, struct ab_facts *host)
{
    struct ab_gpu_row row[AB_GPUS_MOST];
    char why[320] = "";
    uint64_t begin = hbg__clock_ns();
    size_t count;
    bool good = true;

    if (!gpus->there || hbg__ab_signal_taken())
        return true;
    count = look(gpus, row, later_s, NULL, why, sizeof why);
    for (size_t i = 0; i < count && good; i++) {
        row[i].gpu.moment = moment;
        good = hbg__ab_batch_gpu(batch, &row[i].gpu);
    }
    gpus->failures = count ? 0 : gpus->failures + 1;
    if (hbg__ab_signal_taken() || (gpus->failures < FAILURES_MOST && (double)(hbg__clock_ns() - begin) * 1e-9 < fmin(later_s, gpus->timeout_s)))
        return good;
    gpus->there = false;
    return hbg__ab_fact(host, "nvidia-smi", "not asked any more from block %u, batch %u on: %s", batch->block + 1, batch->slot + 1,
                        *why ? why : "it is too slow") && good;
}
