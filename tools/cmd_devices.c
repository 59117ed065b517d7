/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hbg devices: what each platform offers on this machine, and who holds which device for itself (exclusive.h).
 *
 * All of it is what the library says of its platforms (hbg_platform_get): there is no list of platforms or options here.
 */
#include "command.h"

#include "base/json_write.h"
#include "cli.h"
#include "exclusive.h"
#include "host_info.h"
#include "table.h"

#include <hbg/hbg.h>

#include <stdio.h>
#include <string.h>

enum { PLATFORMS_MAX = 16 };

/* The device that a platform's devices are, and who has it. */
struct device_lock {
    char name[64], why[512];            /* why: it cannot be looked at */
    enum lock_outcome outcome;
    struct lock_holder holder;
};

static const char *const kind_name[] = { [HBG_ANY] = "any", [HBG_MATRIX] = "matrix", [HBG_VECTOR] = "vector" };
enum { KINDS = sizeof kind_name / sizeof *kind_name };

static void look_at_lock(const char *hardware, struct device_lock *lock)
{
    memset(lock, 0, sizeof *lock);
    hbg__exclusive_name(hardware, lock->name, sizeof lock->name);
    lock->outcome = hbg__lock_look(lock->name, &lock->holder, lock->why, sizeof lock->why);
}

/* ---- text ---- */

static void print_platform(const struct hbg_platform_info *info)
{
    char kinds[64] = "", page[64];

    for (int i = 0; i < KINDS; i++)
        if (info->core_kinds >> i & 1)
            snprintf(kinds + strlen(kinds), sizeof kinds - strlen(kinds), "%s%s", *kinds ? "|" : "", kind_name[i]);
    if (info->available)
        hbg__table_line(info->name, "%u workers (%s), %u in flight, %s memory, pages of %s, runs on %s", info->workers, kinds, info->depth,
                        info->unified ? "unified" : "discrete", hbg__table_bytes(info->page_bytes, page), info->hardware);
    else
        hbg__table_line(info->name, "not here: %s", info->why);
    if (info->clusters)
        hbg__table_line("  clusters", "%u", info->clusters);
    for (uint32_t i = 0; i < info->option_count; i++) {
        char label[40];
        snprintf(label, sizeof label, "  %s", info->option[i].key);
        hbg__table_line(label, *info->option[i].preset ? "%s (%s)" : "%s", info->option[i].values, info->option[i].preset);
    }
}

static void print_lock(const struct device_lock *lock)
{
    char words[768];

    if (lock->outcome == LOCK_HELD)
        hbg__table_line(lock->name, "held by %s", hbg__exclusive_words(&lock->holder, words, sizeof words));
    else
        hbg__table_line(lock->name, "%s", lock->outcome == LOCK_FAILED ? lock->why : "held by nobody");
}

static void print_text(const struct hbg_platform_info *info, uint32_t count, const struct host_info *host)
{
    struct device_lock lock;

    hbg__table_line("cpus", "%ld online, %d allowed by affinity", host->processors_online, host->processors_allowed);
    if (host->memory_nodes)
        hbg__table_line("memory nodes", "%d", host->memory_nodes);
    for (uint32_t i = 0; i < count; i++)
        print_platform(&info[i]);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t first = 0;
        while (strcmp(info[first].hardware, info[i].hardware) != 0)
            first++;
        if (first < i)
            continue;
        look_at_lock(info[i].hardware, &lock);
        print_lock(&lock);
    }
}

/* ---- JSON ---- */

static void put_options(struct hbg__json *json, const struct hbg_platform_info *info)
{
    hbg__json_key(json, "options");
    hbg__json_open_array(json);
    for (uint32_t i = 0; i < info->option_count; i++) {
        hbg__json_open_object(json);
        hbg__json_key_string(json, "key", info->option[i].key);
        hbg__json_key_string(json, "values", info->option[i].values);
        hbg__json_key_string(json, "default", info->option[i].preset);
        hbg__json_close(json);
    }
    hbg__json_close(json);
}

static void put_lock(struct hbg__json *json, const char *hardware)
{
    struct device_lock lock;

    look_at_lock(hardware, &lock);
    hbg__json_key_string(json, "lock", lock.name);
    hbg__json_key_bool(json, "held", lock.outcome == LOCK_HELD);
    hbg__json_key(json, "holder");
    if (lock.outcome != LOCK_HELD || lock.holder.pid == 0) {
        hbg__json_null(json);
        return;
    }
    hbg__json_open_object(json);
    hbg__json_key_i64(json, "pid", lock.holder.pid);
    hbg__json_key_string(json, "user", lock.holder.user);
    hbg__json_key_i64(json, "since", lock.holder.since);
    hbg__json_key_string(json, "command", lock.holder.command);
    hbg__json_close(json);
}

static void put_platform(struct hbg__json *json, const struct hbg_platform_info *info)
{
    hbg__json_open_object(json);
    hbg__json_key_string(json, "name", info->name);
    hbg__json_key_string(json, "hardware", info->hardware);
    hbg__json_key_bool(json, "available", info->available);
    hbg__json_key_string(json, "why", info->available ? NULL : info->why);
    hbg__json_key_u64(json, "workers", info->workers);
    hbg__json_key_u64(json, "depth", info->depth);
    hbg__json_key_u64(json, "clusters", info->clusters);
    hbg__json_key(json, "core_kinds");
    hbg__json_open_array(json);
    for (int i = 0; i < KINDS; i++)
        if (info->core_kinds >> i & 1)
            hbg__json_string(json, kind_name[i]);
    hbg__json_close(json);
    hbg__json_key_u64(json, "page_bytes", info->page_bytes);
    hbg__json_key_bool(json, "unified", info->unified);
    put_options(json, info);
    put_lock(json, info->hardware);
    hbg__json_close(json);
}

/* Whether all of it was written the command itself asks in the end, as for the text. */
static void print_json(const struct hbg_platform_info *info, uint32_t count, const struct host_info *host)
{
    struct hbg__json json;

    hbg__json_begin(&json, stdout);
    hbg__json_open_object(&json);
    hbg__json_key_i64(&json, "cpus_online", host->processors_online);
    hbg__json_key_i64(&json, "cpus_allowed", host->processors_allowed);
    hbg__json_key_i64(&json, "memory_nodes", host->memory_nodes);
    hbg__json_key_string(&json, "lock_folder", hbg__lock_folder());
    hbg__json_key(&json, "platforms");
    hbg__json_open_array(&json);
    for (uint32_t i = 0; i < count; i++)
        put_platform(&json, &info[i]);
    hbg__json_close(&json);
    hbg__json_close(&json);
    (void)hbg__json_end(&json);
}

int hbg__cmd_devices(int argc, char **argv)
{
    bool as_json = false;
    const struct cli_option option[] = { { "--json", NULL, &as_json, "  as JSON" } };
    const struct cli_command command = {
        "devices", "[--json]", "Shows what each platform offers here, the options of its devices, and who has one for itself.", option, 1,
    };
    struct hbg_platform_info info[PLATFORMS_MAX];
    struct host_info host;
    enum cli_outcome outcome = hbg__cli_parse(&command, argc, argv, NULL, NULL);
    uint32_t count = 0;

    if (outcome != CLI_PARSED)
        return cli_outcome_status(outcome);
    for (; count < PLATFORMS_MAX; count++) {
        info[count] = (struct hbg_platform_info)HBG_OPTIONS(platform_info);
        if (hbg_platform_get(count, &info[count]) != HBG_OK)
            break;
    }
    hbg__host_info_get(&host);
    if (as_json)
        print_json(info, count, &host);
    else
        print_text(info, count, &host);
    return CLI_OK;
}
