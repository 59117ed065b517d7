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
    (void)hbg__error_set(error, HBG_E_OPTION, name, "there is no platform \"%.40s\"%s%s%s; there are \"cpu\", \"null\" and \"sim\"", name,
                         nearest ? ": did you mean \"" : "", nearest ? nearest : "", nearest ? "\"" : "");
    return NULL;
}
