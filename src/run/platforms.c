/* SPDX-License-Identifier: Apache-2.0 */
/* platforms.c - what the platforms offer on this machine, as they say themselves: each is opened without options. The options are
 * those that it asked its spec for, with the values they had before (src/base/option.h); so there is no second list of them. */
#include <hbg/platform.h>

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "base/option.h"
#include "platform/platform.h"
#include "run/device.h"

enum { INFO_MOST = 65536 };     /* bytes: a larger size is none that a header gave */

static const char *hardware_of(const struct hbg__platform_ops *ops) { return ops->hardware ? ops->hardware : ops->name; }

static void tell_options(const struct hbg__option_set *set, struct hbg_platform_info *info)
{
    for (int i = 0; i < set->known_count && i < HBG_PLATFORM_OPTIONS_MAX; i++) {
        struct hbg_platform_option *option = &info->option[info->option_count++];
        snprintf(option->key, sizeof option->key, "%s", set->known[i]);
        hbg__option_describe(set, i, option->values, sizeof option->values, option->preset, sizeof option->preset);
    }
}

static void tell_properties(const struct hbg__platform_properties *p, struct hbg_platform_info *info)
{
    info->available = true;
    info->workers = p->workers;
    info->depth = p->depth;
    info->clusters = p->clusters;
    info->core_kinds = p->core_kinds;
    info->page_bytes = p->page_bytes;
    info->unified = p->unified;
}

static void look_at(const struct hbg__platform_ops *ops, struct hbg_platform_info *info)
{
    struct hbg_error error = { .size = sizeof error };
    struct hbg__platform_properties properties;
    struct hbg__platform *platform = NULL;
    struct hbg__option_set set;
    struct hbg__memory memory;
    struct hbg__log log;
    struct hbg__platform_context context = { .memory = &memory, .log = &log, .error = &error };
    hbg__option_begin(&set, ops->name);
    if (!hbg__memory_init(&memory, NULL)) return;
    hbg__log_init(&log, NULL, NULL, HBG_LOG_ERROR);
    bool possible = !ops->probe || ops->probe();
    enum hbg_status status = possible ? ops->open(&set, &context, &platform) : HBG_E_UNSUPPORTED;
    if (!possible) snprintf(info->why, sizeof info->why, "this machine has no device for it");
    else if (status) snprintf(info->why, sizeof info->why, "%s: %.200s", hbg_status_name(status), error.text);
    tell_options(&set, info);
    if (status) return;
    ops->properties(platform, &properties);
    tell_properties(&properties, info);
    ops->close(platform);
}

enum hbg_status hbg_platform_get(uint32_t index, struct hbg_platform_info *info)
{
    enum hbg_status status = hbg__device_check(NULL, "hbg_platform_get", NULL);
    if (status) return status;
    if (!info) return HBG_E_NULL;
    size_t size = info->size;
    if (size < sizeof *info || size > INFO_MOST) return HBG_E_ABI;
    const struct hbg__platform_ops *ops = hbg__platform_at(index);
    if (!ops) return HBG_E_OPTION;
    *info = (struct hbg_platform_info){ .size = size };
    snprintf(info->name, sizeof info->name, "%s", ops->name);
    snprintf(info->hardware, sizeof info->hardware, "%s", hardware_of(ops));
    look_at(ops, info);
    return HBG_OK;
}

const char *hbg_platform_hardware(const char *spec)
{
    struct hbg__option_set set;
    struct hbg_error error = { .size = sizeof error };
    if (!spec || !hbg__option_parse(&set, spec)) return NULL;
    const struct hbg__platform_ops *ops = hbg__platform_find(set.name, &error);
    return ops ? hardware_of(ops) : NULL;
}
