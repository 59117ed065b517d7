/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Holders of devices.
 */
#include "tools/ab/holders.h"

#include "tools/exclusive.h"

#include <hbg/hbg.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char came[] = "from block ";

static bool known(const struct ab_facts *holders, const char *name, const char *words)
{
    for (size_t i = 0; i < holders->count; i++) {
        size_t length = strlen(holders->fact[i].value), tail = strlen(words);

        if (strcmp(holders->fact[i].name, name) == 0 && length >= tail && strcmp(holders->fact[i].value + length - tail, words) == 0)
            return true;
    }
    return false;
}

static bool look_at_device(struct ab_facts *holders, const char *name, const struct ab_batch *batch)
{
    char why[512], words[768], when[64] = "";
    struct lock_holder holder;

    if (hbg__lock_look(name, &holder, why, sizeof why) != LOCK_HELD || holder.pid == getpid())
        return true;
    hbg__exclusive_words(&holder, words, sizeof words);
    if (known(holders, name, words))
        return true;
    if (batch)
        snprintf(when, sizeof when, "%s%u, batch %u on: ", came, batch->block + 1, batch->slot + 1);
    return hbg__ab_fact(holders, name, "%s%s", when, words);
}

bool hbg__ab_holders_look(struct ab_facts *holders, const struct ab_batch *batch)
{
    struct hbg_platform_info info = HBG_OPTIONS(platform_info);
    char name[64];
    bool good = true;

    for (uint32_t i = 0; good && hbg_platform_get(i, &info) == HBG_OK; i++) {
        good = look_at_device(holders, hbg__exclusive_name(info.hardware, name, sizeof name), batch);
        info = (struct hbg_platform_info)HBG_OPTIONS(platform_info);
    }
    return good;
}

bool hbg__ab_holder_came(const char *value)
{
    return strncmp(value, came, sizeof came - 1) == 0;
}
