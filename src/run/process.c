/* SPDX-License-Identifier: Apache-2.0 */
/* process.c - see process.h. */
#include "run/process.h"

#include <pthread.h>

struct hbg__atomic_u32 hbg__process_forks;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool installed;

void hbg__process_lock(void) { pthread_mutex_lock(&lock); }
void hbg__process_unlock(void) { pthread_mutex_unlock(&lock); }

static void in_child(void)
{
    hbg__fetch_add_relaxed32(&hbg__process_forks, 1);       /* relaxed: the child has one thread */
    pthread_mutex_unlock(&lock);
}

static void install(void) { installed = pthread_atfork(hbg__process_lock, hbg__process_unlock, in_child) == 0; }

bool hbg__process_init(void)
{
    return pthread_once(&once, install) == 0 && installed;
}
