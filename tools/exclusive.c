/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --exclusive and --wait: see exclusive.h.
 */
#include "exclusive.h"

#include "cli.h"

#include <hbg/platform.h>

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

enum { WORDS_SIZE = 768, FOREVER = -1 };

const char *hbg__exclusive_name(const char *hardware, char *name, size_t size)
{
    snprintf(name, size, "%s.0", hardware);
    return name;
}

const char *hbg__exclusive_words(const struct lock_holder *holder, char *text, size_t size)
{
    char since[32] = "?";
    time_t seconds = (time_t)holder->since;
    struct tm parts;

    if (holder->pid == 0) {
        snprintf(text, size, "a process that is not seen from here");
        return text;
    }
    if (localtime_r(&seconds, &parts))
        strftime(since, sizeof since, "%Y-%m-%d %H:%M:%S", &parts);
    snprintf(text, size, "user %s, process %" PRId64 ", since %s: %s", holder->user, holder->pid, since, holder->command);
    return text;
}

/* Seconds to wait: 0 without --wait. False: what was typed makes no sense, and the sentence is printed. */
static bool take_typed(const struct exclusive_typed *typed, const char *command, double *wait_s)
{
    const char *wrong = typed->wait_s ? hbg__cli_f64(typed->wait_s, wait_s) : NULL;

    if (typed->wait && !typed->exclusive) {
        hbg__cli_error(command, "--wait says how long to wait for the device, and --exclusive is missing");
        return false;
    }
    if (typed->wait_s && (wrong || *wait_s < 0.0)) {
        hbg__cli_error(command, "--wait: `%s` %s", typed->wait_s, wrong ? wrong : "is negative");
        return false;
    }
    if (!typed->wait_s)
        *wait_s = typed->wait ? FOREVER : 0.0;
    return true;
}

int hbg__exclusive_take(const struct exclusive_typed *typed, const char *command, const char *spec)
{
    const char *hardware = hbg_platform_hardware(spec);
    char name[64], why[512], words[WORDS_SIZE];
    struct lock_holder holder;
    enum lock_outcome outcome;
    double wait_s;

    if (!take_typed(typed, command, &wait_s))
        return CLI_MISUSED;
    if (!typed->exclusive || !hardware)         /* the open says that there is no such platform */
        return CLI_OK;
    outcome = hbg__lock_take(hbg__exclusive_name(hardware, name, sizeof name), 0.0, &holder, why, sizeof why);
    if (outcome == LOCK_HELD && wait_s != 0.0) {
        fprintf(stderr, "hbg %s: waits for %s, held by %s\n", command, name, hbg__exclusive_words(&holder, words, sizeof words));
        outcome = hbg__lock_take(name, wait_s, &holder, why, sizeof why);
    }
    if (outcome == LOCK_FAILED)
        hbg__cli_error(command, "%s: --exclusive: %s", hbg_status_name(HBG_E_DEVICE), why);
    else if (outcome == LOCK_HELD)
        hbg__cli_error(command, "%s: %s is held by %s%s", hbg_status_name(typed->wait ? HBG_TIMEOUT : HBG_E_BUSY), name,
                       hbg__exclusive_words(&holder, words, sizeof words), typed->wait ? "" : "; --wait waits for it");
    return outcome == LOCK_TAKEN ? CLI_OK : CLI_FAILED;
}

void hbg__exclusive_end(void)
{
    hbg__lock_release();
}
