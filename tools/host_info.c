/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine, as /proc, /sys and a few calls tell it.
 *
 * A control group's CPU limit binds all groups below it, so the grant is the smallest one on the way from this process's
 * group to the root; version 2 keeps it in cpu.max, version 1 in cpu.cfs_quota_us and cpu.cfs_period_us.
 */
#include "host_info.h"

#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

/* the first line of a file without its end; false: there is none */
static bool read_line(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "re");
    bool good = file && fgets(text, (int)size, file);

    if (file)
        fclose(file);
    if (good)
        text[strcspn(text, "\n")] = '\0';
    else
        text[0] = '\0';
    return good;
}

static bool read_number(const char *path, double *value)
{
    char text[64], *end;

    if (!read_line(path, text, sizeof text))
        return false;
    *value = strtod(text, &end);
    return end != text;
}

/* ---- control groups ---- */

/* CPUs granted by the group in this folder; 0: no limit */
static double folder_quota(const char *folder)
{
    char path[PATH_MAX + 64], text[64];
    double quota = 0.0, period = 0.0;

    snprintf(path, sizeof path, "%s/cpu.max", folder);
    if (read_line(path, text, sizeof text))
        return sscanf(text, "%lf %lf", &quota, &period) == 2 && period > 0.0 ? quota / period : 0.0;
    snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", folder);
    if (!read_number(path, &quota) || quota <= 0.0)
        return 0.0;
    snprintf(path, sizeof path, "%s/cpu.cfs_period_us", folder);
    return read_number(path, &period) && period > 0.0 ? quota / period : 0.0;
}

/* the smallest grant of group and its ancestors below `mount`, taken into *quota */
static void group_quota(const char *mount, const char *group, double *quota)
{
    char folder[PATH_MAX];
    size_t mount_length = strlen(mount);
    char *slash;

    if ((size_t)snprintf(folder, sizeof folder, "%s%s", mount, group) >= sizeof folder)
        return;
    do {
        double here = folder_quota(folder);
        if (here > 0.0 && (*quota == 0.0 || here < *quota))
            *quota = here;
        slash = strrchr(folder + mount_length, '/');
        if (slash)
            *slash = '\0';
    } while (slash);
}

static bool has_word(const char *list, const char *word)
{
    size_t length = strlen(word);

    for (const char *p = list; p; p = strchr(p, ',')) {
        p += *p == ',';
        if (strncmp(p, word, length) == 0 && (p[length] == ',' || p[length] == '\0'))
            return true;
    }
    return false;
}

static double cpu_quota(void)
{
    FILE *file = fopen("/proc/self/cgroup", "re");
    char line[PATH_MAX + 128];
    double quota = 0.0;

    while (file && fgets(line, sizeof line, file)) {
        char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group)
            continue;
        *group++ = '\0';
        controllers++;
        group[strcspn(group, "\n")] = '\0';
        if (*controllers == '\0')
            group_quota("/sys/fs/cgroup", group, &quota);
        else if (has_word(controllers, "cpu"))
            group_quota("/sys/fs/cgroup/cpu", group, &quota);
    }
    if (file)
        fclose(file);
    return quota;
}

/* ---- the rest ---- */

static void processor_name(char *text, size_t size)
{
    FILE *file = fopen("/proc/cpuinfo", "re");
    char line[256];

    text[0] = '\0';
    while (file && !text[0] && fgets(line, sizeof line, file)) {
        char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !value)
            continue;
        value += 1 + strspn(value + 1, " ");
        value[strcspn(value, "\n")] = '\0';
        snprintf(text, size, "%s", value);
    }
    if (file)
        fclose(file);
}

/* "always [madvise] never": what stands in brackets */
static void bracketed(const char *path, char *text, size_t size)
{
    char line[128], *open, *close;

    text[0] = '\0';
    if (!read_line(path, line, sizeof line))
        return;
    open = strchr(line, '[');
    close = open ? strchr(open, ']') : NULL;
    if (close) {
        *close = '\0';
        snprintf(text, size, "%s", open + 1);
    }
}

/* "0-1,3": how many numbers that names */
static int count_list(const char *path)
{
    char line[256], *at = line;
    int count = 0;

    if (!read_line(path, line, sizeof line))
        return 0;
    while (*at >= '0' && *at <= '9') {
        long first = strtol(at, &at, 10), last = first;
        if (*at == '-')
            last = strtol(at + 1, &at, 10);
        count += last >= first ? (int)(last - first + 1) : 0;
        at += *at == ',';
    }
    return count;
}

void hbg__host_info_get(struct host_info *info)
{
    struct utsname name;
    struct rlimit limit;
    cpu_set_t allowed;
    double bytes;

    memset(info, 0, sizeof *info);
    if (uname(&name) == 0)
        snprintf(info->machine, sizeof info->machine, "%s %s %s", name.sysname, name.release, name.machine);
    processor_name(info->processor, sizeof info->processor);
    info->processors_online = sysconf(_SC_NPROCESSORS_ONLN);
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
        info->processors_allowed = CPU_COUNT(&allowed);
    info->quota = cpu_quota();
    info->memory_nodes = count_list("/sys/devices/system/node/has_memory");
    info->page_bytes = sysconf(_SC_PAGESIZE);
    if (read_number("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", &bytes))
        info->huge_page_bytes = (uint64_t)bytes;
    bracketed("/sys/kernel/mm/transparent_hugepage/enabled", info->huge_pages, sizeof info->huge_pages);
    info->memory_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)info->page_bytes;
    info->address_space_bytes = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? limit.rlim_cur : UINT64_MAX;
    read_line("/proc/sys/vm/overcommit_memory", info->overcommit, sizeof info->overcommit);
}
