/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_count.h - how many CPUs this process may use. */
#ifndef HBG_PLATFORM_CPU_CPU_COUNT_H
#define HBG_PLATFORM_CPU_CPU_COUNT_H

/* max(1, min(CPUs of the affinity mask, floor(the smallest cgroup CPU quota of the process's group and all above it))). */
int hbg__cpu_count(void);

/* The smallest quota in CPUs; a negative number: none. v1 and v2. The two files are /proc/self/cgroup and /proc/self/mountinfo;
   `root` stands before every mount point that they name, "" in earnest. */
double hbg__cpu_quota(const char *cgroup_file, const char *mountinfo_file, const char *root);

#endif /* HBG_PLATFORM_CPU_CPU_COUNT_H */
