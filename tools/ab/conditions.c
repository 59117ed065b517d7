/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditions, as /proc and /sys tell them.
 */
#include "tools/ab/conditions.h"

#include "base/clock.h"
#include "tools/ab/gpu.h"

#include <glob.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const double foreign_most = .05, steal_most = .01, gap_most = .03;
/* CPU time of all processes is told in ticks, so that two looks at it may be off by some. */
static const double tick_slack_s = .04;

static double read_number(const char *path)
{
    FILE *file = fopen(path, "re");
    double value = NAN;

    if (file && fscanf(file, "%lf", &value) != 1)
        value = NAN;
    if (file)
        fclose(file);
    return value;
}

/* Of all files of a pattern: their sum, mean or maximum. */
struct many { double sum, most, count; };
static struct many read_many(const char *pattern)
{
    struct many many = { 0.0, -INFINITY, 0.0 };
    glob_t found;

    if (glob(pattern, GLOB_NOSORT, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++) {
            double value = read_number(found.gl_pathv[i]);
            if (isnan(value))
                continue;
            many.sum += value;
            many.most = fmax(many.most, value);
            many.count++;
        }
        globfree(&found);
    }
    return many;
}

/* The number behind `key` in a file of lines; NaN: there is none. */
static double read_key(const char *path, const char *key)
{
    FILE *file = fopen(path, "re");
    double value = NAN;
    char line[256];

    while (file && isnan(value) && fgets(line, sizeof line, file)) {
        const char *at = strstr(line, key);
        if (at)
            value = strtod(at + strlen(key), NULL);
    }
    if (file)
        fclose(file);
    return value;
}

static void take_cpu(struct ab_sample *sample)
{
    double tick = 1.0 / (double)sysconf(_SC_CLK_TCK), user, nice, system, idle, wait, irq, soft, steal;
    FILE *file = fopen("/proc/stat", "re");

    if (file && fscanf(file, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &user, &nice, &system, &idle, &wait, &irq, &soft, &steal) == 8) {
        sample->busy_s = (user + nice + system + irq + soft) * tick;
        sample->steal_s = steal * tick;
    }
    if (file)
        fclose(file);
}

static double seconds_of(const struct rusage *usage)
{
    return (double)usage->ru_utime.tv_sec + (double)usage->ru_stime.tv_sec + 1e-6 * (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
}

static double mean_mhz(void)
{
    struct many khz = read_many("/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_cur_freq");
    FILE *file;
    char line[256];
    double sum = 0.0, count = 0.0;

    if (khz.count > 0.0)
        return khz.sum / khz.count / 1000.0;
    file = fopen("/proc/cpuinfo", "re");
    while (file && fgets(line, sizeof line, file)) {
        const char *colon = strncmp(line, "cpu MHz", 7) == 0 ? strchr(line, ':') : NULL;
        if (colon) {
            sum += strtod(colon + 1, NULL);
            count++;
        }
    }
    if (file)
        fclose(file);
    return count > 0.0 ? sum / count : NAN;
}

/* Of the control group of version 2 that this process is in. */
static double group_limited(void)
{
    char line[PATH_MAX], path[PATH_MAX + 64];
    FILE *file = fopen("/proc/self/cgroup", "re");
    double value = NAN;

    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, "0::", 3) != 0)
            continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(path, sizeof path, "/sys/fs/cgroup%s/cpu.stat", line + 3);
        value = read_key(path, "nr_throttled ");
    }
    if (file)
        fclose(file);
    return value;
}

void hbg__ab_sample_take(struct ab_sample *sample)
{
    static uint64_t origin;
    struct rusage self, children;
    struct many throttle, zones;
    uint64_t now = hbg__clock_ns();

#define AB_UNKNOWN(name, words) sample->name = NAN;
    AB_SAMPLE_MAP(AB_UNKNOWN)
#undef AB_UNKNOWN
    if (!origin)
        origin = now;
    sample->at_s = (double)(now - origin) * 1e-9;
    take_cpu(sample);
    getrusage(RUSAGE_SELF, &self);
    getrusage(RUSAGE_CHILDREN, &children);
    sample->own_s = seconds_of(&self) + seconds_of(&children);
    sample->psi_cpu_s = 1e-6 * read_key("/proc/pressure/cpu", "total=");
    sample->psi_memory_s = 1e-6 * read_key("/proc/pressure/memory", "total=");
    sample->psi_io_s = 1e-6 * read_key("/proc/pressure/io", "total=");
    throttle = read_many("/sys/devices/system/cpu/cpu[0-9]*/thermal_throttle/core_throttle_count");
    sample->throttle = throttle.count > 0.0 ? throttle.sum : NAN;
    sample->limited = group_limited();
    sample->mhz = mean_mhz();
    zones = read_many("/sys/class/thermal/thermal_zone*/temp");
    sample->celsius = zones.count > 0.0 ? zones.most / 1000.0 : NAN;
    if (getloadavg(&sample->load, 1) != 1)
        sample->load = NAN;
}

struct ab_stretch hbg__ab_stretch_of(const struct ab_sample *begin, const struct ab_sample *end)
{
    double seconds = end->at_s - begin->at_s;
    struct ab_stretch s = { .seconds = seconds };

    s.foreign = fmax(0.0, (end->busy_s - begin->busy_s) - (end->own_s - begin->own_s)) / seconds;
    s.steal = (end->steal_s - begin->steal_s) / seconds;
    s.throttled = end->throttle - begin->throttle;
    s.limited = end->limited - begin->limited;
    s.psi_cpu = (end->psi_cpu_s - begin->psi_cpu_s) / seconds;
    s.psi_memory = (end->psi_memory_s - begin->psi_memory_s) / seconds;
    s.psi_io = (end->psi_io_s - begin->psi_io_s) / seconds;
    return s;
}

/* How much the frequencies of the arms differ, in the middles of their batches; NaN where it is not told. */
static double frequency_gap(const struct ab_batch *batches)
{
    double mhz[AB_ARMS] = { 0.0, 0.0 };

    for (int i = 0; i < AB_BATCHES; i++)
        mhz[batches[i].arm] += batches[i].sample[AB_MIDDLE].mhz;
    return fabs(mhz[AB_B] - mhz[AB_A]) / mhz[AB_A];
}

/* The first look at which something in a GPU held its clocks down; NULL: none. */
static const struct ab_gpu *slowed_gpu(const struct ab_batch *batches)
{
    for (int i = 0; i < AB_BATCHES; i++)
        for (size_t k = 0; k < batches[i].gpu_count; k++)
            if (hbg__ab_gpu_slowed(batches[i].gpu[k].throttle))
                return &batches[i].gpu[k];
    return NULL;
}

bool hbg__ab_block_good(const struct ab_batch *batches, char *why, size_t size)
{
    struct ab_stretch s = hbg__ab_stretch_of(&batches[0].sample[AB_START], &batches[AB_BATCHES - 1].sample[AB_END]);
    const struct ab_gpu *gpu = slowed_gpu(batches);
    double gap = frequency_gap(batches);
    char words[128];

    if (gpu)
        snprintf(why, size, "GPU %" PRIu32 " was throttled: %s", gpu->index, hbg__ab_gpu_words(gpu->throttle, words, sizeof words));
    else if (s.foreign > foreign_most + tick_slack_s / s.seconds)
        snprintf(why, size, "others took %.1f %% of a CPU", 100 * s.foreign);
    else if (s.steal > steal_most + tick_slack_s / s.seconds)
        snprintf(why, size, "the host took %.1f %% of a CPU", 100 * s.steal);
    else if (s.throttled > 0.0)
        snprintf(why, size, "the processor was throttled in %.0f steps", s.throttled);
    else if (s.limited > 0.0)
        snprintf(why, size, "the control group was throttled in %.0f periods", s.limited);
    else if (gap > gap_most)
        snprintf(why, size, "the arms ran at frequencies %.1f %% apart", 100 * gap);
    else
        return true;
    return false;
}
