/* SPDX-License-Identifier: Apache-2.0 */
/* registry.c - the back ends of this library, by name. */
#include "platform/platform.h"

#include <string.h>

#include "base/error.h"
#include "base/option.h"

static const struct hbg__platform_ops *const platforms[] = { &hbg__cpu_ops, &hbg__null_ops, &hbg__sim_ops };
enum { PLATFORM_COUNT = sizeof platforms / sizeof platforms[0] };

const struct hbg__platform_ops *hbg__platform_at(uint32_t index) { return index < PLATFORM_COUNT ? platforms[index] : NULL; }

const struct hbg__platform_ops *hbg__platform_find(const char *name, struct hbg_error *error)
{
    const char *names[PLATFORM_COUNT];
    for (int i = 0; i < PLATFORM_COUNT; i++) {
        if (!strcmp(platforms[i]->name, name)) return platforms[i];
        names[i] = platforms[i]->name;
    }
    const char *nearest = hbg__option_nearest(name, names, PLATFORM_COUNT);
    (void)hbg__error_set(error, HBG_E_OPTION, name, "there is no device \"%.40s\"%s%s%s; there are \"cpu\", \"null\" and \"sim\"", name,
                         nearest ? ", did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
    return NULL;
}

/* ---- what a table must have ---- */

static const char *missing_entry(const struct hbg__platform_ops *ops)
{
#define REQUIRE(entry) if (!ops->entry) return #entry
    REQUIRE(resources);
    REQUIRE(open);
    REQUIRE(close);
    REQUIRE(abandon);
    REQUIRE(properties);
    REQUIRE(memory_alloc);
    REQUIRE(memory_free);
    REQUIRE(zone_fit);
    REQUIRE(zone_close);
    REQUIRE(stream_create);
    REQUIRE(stream_destroy);
    REQUIRE(stream_sync);
    REQUIRE(stream_query);
    REQUIRE(copy_in);
    REQUIRE(copy_out);
    REQUIRE(fill);
    REQUIRE(program_register);
    REQUIRE(program_release);
    REQUIRE(launch);
    REQUIRE(poll);
    REQUIRE(wait);
    REQUIRE(result);
    REQUIRE(abort);
#undef REQUIRE
    return NULL;
}

enum hbg_status hbg__platform_check(const struct hbg__platform_ops *ops, uint32_t depth, struct hbg_error *error)
{
    const char *missing = missing_entry(ops);
    if (missing) return hbg__error_set(error, HBG_E_DEVICE, missing, "the platform \"%s\" lacks the entry \"%s\"", ops->name, missing);
    for (const struct hbg__resource *r = ops->resources; r->name; r++) {
        uint32_t needed = r->kind == HBG__RESOURCE_PER_RUN ? depth : 1;
        if (r->kind >= HBG__RESOURCE_CLASSES) return hbg__error_set(error, HBG_E_DEVICE, r->name, "the platform \"%s\" does not say who shares its \"%s\"", ops->name, r->name);
        if (r->copies && r->copies < needed)
            return hbg__error_set(error, HBG_E_DEVICE, r->name, "the platform \"%s\" has %u of its \"%s\", and depth=%u needs %u", ops->name, r->copies, r->name, depth, needed);
    }
    return HBG_OK;
}
