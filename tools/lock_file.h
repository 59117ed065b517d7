/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks of devices that all users of a machine see: a file for each device in one folder, and an flock() on it.
 *
 * The lock is the flock(), which the system drops when its holder dies; the file's text only says who that is. The folder is
 * $HBG_LOCK_DIR, or /run/lock/hbg where everybody may write to /run/lock, or /tmp/hbg-lock. Whoever comes first makes it, as /tmp is made:
 * anybody may add files, nobody may remove those of others. A link that stands in the place of folder or file is not followed, a
 * file of several names not written to. The descriptor closes on exec, and in a child of fork.
 *
 * A holder that lets go removes the file. So whoever gets a lock looks whether the file still has its name, and tries again otherwise.
 */
#ifndef HBG_TOOLS_LOCK_FILE_H
#define HBG_TOOLS_LOCK_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lock_holder {
    int64_t pid;                        /* 0: it is not known who */
    int64_t since;                      /* seconds of the epoch */
    char user[64], command[512];
};

enum lock_outcome { LOCK_TAKEN, LOCK_HELD, LOCK_FAILED };

const char *hbg__lock_folder(void);

/* Takes the lock of that name ("cpu.0"), of which a process has at most one; waits for it at most wait_s seconds, for ever if that is
   negative. LOCK_HELD: by `holder`; LOCK_FAILED: `why` is a sentence. */
enum lock_outcome hbg__lock_take(const char *name, double wait_s, struct lock_holder *holder, char *why, size_t why_size);

/* Gives back what hbg__lock_take() took; without that, nothing happens. */
void hbg__lock_release(void);

/* LOCK_TAKEN: nobody holds it, and this process does not either; else as above. */
enum lock_outcome hbg__lock_look(const char *name, struct lock_holder *holder, char *why, size_t why_size);

#endif
