/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_count.c - see cpu_count.h.
 *
 *   version | file of a group                     | says
 *   v1      | cpu.cfs_quota_us, cpu.cfs_period_us | quota -1: none
 *   v2      | cpu.max                             | "max 100000" or "150000 100000"
 *
 * A mount shows a subtree of the hierarchy (mountinfo's fourth field); the process's group is looked for below it, and where
 * it lies outside, the mount point itself stands for the nearest group that can be seen.
 */
#include "platform/cpu/cpu_count.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 4096, LINE_BYTES = 8192, MASK_CPUS = 8192 };

/* Is `word` one of the comma-separated words of `list`? */
static bool has_word(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; at; at = strchr(at, ',')) {
        if (*at == ',') at++;
        if (!strncmp(at, word, length) && (at[length] == ',' || at[length] == '\0' || at[length] == '\n')) return true;
    }
    return false;
}

/* The path of this process's group: of the cpu controller (v1) or of the unified hierarchy (v2). */
static bool find_group(const char *cgroup_file, bool v2, char *path)
{
    char line[LINE_BYTES];
    bool found = false;
    FILE *file = fopen(cgroup_file, "re");
    if (!file) return false;
    while (!found && fgets(line, sizeof line, file)) {
        char *controllers = strchr(line, ':');
        char *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group) continue;
        *controllers++ = '\0';
        *group++ = '\0';
        group[strcspn(group, "\n")] = '\0';
        found = v2 ? !strcmp(line, "0") && *controllers == '\0' : has_word(controllers, "cpu");
        if (found) snprintf(path, PATH_BYTES, "%s", group);
    }
    fclose(file);
    return found;
}

/* Where that hierarchy is mounted, and which of its groups the mount shows at its top. */
static bool find_mount(const char *mountinfo_file, bool v2, char *top, char *point)
{
    char line[LINE_BYTES];
    bool found = false;
    FILE *file = fopen(mountinfo_file, "re");
    if (!file) return false;
    while (!found && fgets(line, sizeof line, file)) {
        char type[64], super[LINE_BYTES];
        const char *rest = strstr(line, " - ");
        if (!rest || sscanf(line, "%*s %*s %*s %4095s %4095s", top, point) != 2) continue;
        if (sscanf(rest, " - %63s %*s %8191s", type, super) != 2) continue;
        found = v2 ? !strcmp(type, "cgroup2") : !strcmp(type, "cgroup") && has_word(super, "cpu");
    }
    fclose(file);
    return found;
}

static bool read_line(const char *directory, const char *name, char *line, int size)
{
    char path[PATH_BYTES + 64];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "re");
    bool ok = file && fgets(line, size, file);
    if (file) fclose(file);
    return ok;
}

/* Quota of one group in CPUs; negative: none. */
static double group_quota(const char *directory, bool v2)
{
    char line[128], period[128];
    double quota_us, period_us;
    if (v2) {
        if (!read_line(directory, "cpu.max", line, sizeof line)) return -1;
        if (sscanf(line, "%lf %lf", &quota_us, &period_us) != 2) return -1;
    } else {
        if (!read_line(directory, "cpu.cfs_quota_us", line, sizeof line)) return -1;
        if (!read_line(directory, "cpu.cfs_period_us", period, sizeof period)) return -1;
        quota_us = strtod(line, NULL);
        period_us = strtod(period, NULL);
    }
    return quota_us > 0 && period_us > 0 ? quota_us / period_us : -1;
}

static double smaller_quota(double a, double b) { return a < 0 ? b : b < 0 || a < b ? a : b; }

static double hierarchy_quota(const char *cgroup_file, const char *mountinfo_file, const char *root, bool v2)
{
    char group[PATH_BYTES], top[PATH_BYTES], point[PATH_BYTES], directory[3 * PATH_BYTES];
    double smallest = -1;
    if (!find_group(cgroup_file, v2, group) || !find_mount(mountinfo_file, v2, top, point)) return -1;
    size_t top_length = strcmp(top, "/") ? strlen(top) : 0;
    bool below = !strncmp(group, top, top_length) && (group[top_length] == '/' || group[top_length] == '\0');
    int base = snprintf(directory, sizeof directory, "%s%s", root, point);
    snprintf(directory + base, sizeof directory - (size_t)base, "%s", below ? group + top_length : "");
    for (;;) {
        smallest = smaller_quota(smallest, group_quota(directory, v2));
        char *slash = strrchr(directory + base, '/');
        if (!slash) return smallest;
        *slash = '\0';
    }
}

double hbg__cpu_quota(const char *cgroup_file, const char *mountinfo_file, const char *root)
{
    return smaller_quota(hierarchy_quota(cgroup_file, mountinfo_file, root, false),
                         hierarchy_quota(cgroup_file, mountinfo_file, root, true));
}

static int affinity_count(void)
{
    static const size_t bytes = CPU_ALLOC_SIZE(MASK_CPUS);
    cpu_set_t *mask = CPU_ALLOC(MASK_CPUS);
    int count = 1;
    if (!mask) return 1;
    if (!sched_getaffinity(0, bytes, mask)) count = CPU_COUNT_S(bytes, mask);
    CPU_FREE(mask);
    return count;
}

int hbg__cpu_count(void)
{
    double quota = hbg__cpu_quota("/proc/self/cgroup", "/proc/self/mountinfo", "");
    int count = affinity_count();
    if (quota >= 0 && quota < count) count = (int)quota;
    return count < 1 ? 1 : count;
}
