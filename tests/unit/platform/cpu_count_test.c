/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_count_test.c - cgroup quotas in trees of made-up files, version 1 and 2. */
#include "platform/cpu/cpu_count.h"

#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static char root[64];

/* Write root/path, with the folders above it. */
static void put(const char *path, const char *text)
{
    char whole[256];
    snprintf(whole, sizeof whole, "%s/%s", root, path);
    for (char *slash = strchr(whole + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(whole, 0700) && errno != EEXIST) fail_msg("%s", whole);
        *slash = '/';
    }
    FILE *file = fopen(whole, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static double quota(void)
{
    char group[128], mounts[128];
    snprintf(group, sizeof group, "%s/proc/cgroup", root);
    snprintf(mounts, sizeof mounts, "%s/proc/mountinfo", root);
    return hbg__cpu_quota(group, mounts, root);
}

static int make_root(void **state)
{
    (void)state;
    strcpy(root, "/tmp/hbg-cgroup-XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -r '%s'", root);
    return system(command);
}

#define V2_MOUNT "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup rw\n"
#define V1_MOUNT "36 32 0:32 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"

static void none_without_files(void **state)
{
    (void)state;
    assert_true(quota() < 0);
}

static void version_2_takes_the_smallest_of_all_ancestors(void **state)
{
    (void)state;
    put("proc/cgroup", "0::/a/b\n");
    put("proc/mountinfo", "23 1 8:1 / / rw - ext4 /dev/sda1 rw\n" V2_MOUNT);
    put("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    assert_true(quota() < 0);
    put("sys/fs/cgroup/a/cpu.max", "250000 100000\n");
    assert_true(quota() == 2.5);
    put("sys/fs/cgroup/a/b/cpu.max", "400000 100000\n");
    assert_true(quota() == 2.5);
    put("sys/fs/cgroup/a/b/cpu.max", "50000 100000\n");
    assert_true(quota() == 0.5);
}

static void version_1_reads_the_cpu_controller(void **state)
{
    (void)state;
    put("proc/cgroup", "4:memory:/x\n3:cpu,cpuacct:/job\n0::/elsewhere\n");
    put("proc/mountinfo", "35 32 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n" V1_MOUNT);
    put("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "-1\n");
    put("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
    assert_true(quota() < 0);
    put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "300000\n");
    put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
    assert_true(quota() == 3);
    put("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "150000\n");
    assert_true(quota() == 1.5);
}

static void a_mount_that_shows_a_subtree(void **state)
{
    (void)state;
    put("proc/cgroup", "0::/kube/pod/box\n");
    put("proc/mountinfo", "30 23 0:26 /kube/pod /sys/fs/cgroup rw - cgroup2 cgroup rw\n");
    put("sys/fs/cgroup/box/cpu.max", "700000 100000\n");
    put("sys/fs/cgroup/cpu.max", "200000 100000\n");
    assert_true(quota() == 2);
    put("proc/cgroup", "0::/\n");              /* the group lies outside: the mount point stands for it */
    assert_true(quota() == 2);
}

static void this_process_has_a_cpu(void **state)
{
    cpu_set_t mask;
    (void)state;
    int count = hbg__cpu_count();
    assert_true(count >= 1);
    if (!sched_getaffinity(0, sizeof mask, &mask)) assert_true(count <= CPU_COUNT(&mask));
    CPU_ZERO(&mask);
    CPU_SET(sched_getcpu(), &mask);
    if (!sched_setaffinity(0, sizeof mask, &mask)) assert_int_equal(hbg__cpu_count(), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(none_without_files, make_root, remove_root),
        cmocka_unit_test_setup_teardown(version_2_takes_the_smallest_of_all_ancestors, make_root, remove_root),
        cmocka_unit_test_setup_teardown(version_1_reads_the_cpu_controller, make_root, remove_root),
        cmocka_unit_test_setup_teardown(a_mount_that_shows_a_subtree, make_root, remove_root),
        cmocka_unit_test(this_process_has_a_cpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
