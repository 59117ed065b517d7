/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --exclusive and --wait: commands with --exclusive on the same hardware run one after the other.
 *
 * Those without it are not kept out and do not wait: who shares a machine asks for exclusive use where figures are taken, and
 * `hbg devices` says who has it. A device is hardware and a number, of which this version has one each: "cpu.0" is what cpu and null
 * work with. The lock is held until the command ends.
 */
#ifndef HBG_TOOLS_EXCLUSIVE_H
#define HBG_TOOLS_EXCLUSIVE_H

#include "lock_file.h"

#include <stdbool.h>
#include <stddef.h>

/* As typed. */
struct exclusive_typed { bool exclusive, wait; const char *wait_s; };

#define EXCLUSIVE_OPTIONS(typed)                                                                                             \
    { "--exclusive", NULL, &(typed).exclusive, "alone among the commands that ask for it; refused while another one has the device" }, \
    { "--wait", &(typed).wait_s, &(typed).wait, "[=SECONDS]  with --exclusive: wait for the device, or at most so long" }

/* Takes the device of `spec` if that is asked for. CLI_OK, or the exit status with the sentence printed. */
int hbg__exclusive_take(const struct exclusive_typed *typed, const char *command, const char *spec);

/* Gives it back, if it was taken. */
void hbg__exclusive_end(void);

/* The name of the lock of device 0 of that hardware, "cpu.0"; `name` is returned. */
const char *hbg__exclusive_name(const char *hardware, char *name, size_t size);

/* "user root, process 12, since 2026-01-02 03:04:05: hbg run gp"; `text` is returned */
const char *hbg__exclusive_words(const struct lock_holder *holder, char *text, size_t size);

#endif
