/* SPDX-License-Identifier: Apache-2.0 */
/* refusal_test.c - the system refuses once, in turn, each reservation, each change of its protection, each thread and each block of
 * the process's own tables in a whole life: the call says so or finds another way, and nothing is left behind.
 *
 * wraps: mmap munmap mprotect pthread_create pthread_join calloc realloc
 *
 * Only calls from the library count, and only while a life is lived: it is linked as an archive with these names wrapped.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/devices.h"
#include "support/whole_life.h"

enum kind { RESERVE, PROTECT, THREAD, TABLE, KINDS };
static const char *const kind_name[KINDS] = { "mmap", "mprotect", "pthread_create", "calloc or realloc" };

static atomic_int calls[KINDS], refused;
static int refuse_kind = -1, refuse_call;
static atomic_long mapped;              /* bytes */
static atomic_int threads;              /* made and not joined */
static atomic_bool living;

static bool refuse(enum kind kind)
{
    if (!atomic_load(&living)) return false;
    bool now = atomic_fetch_add(&calls[kind], 1) == refuse_call && (int)kind == refuse_kind;
    if (now) atomic_fetch_add(&refused, 1);
    return now;
}

void *__real_mmap(void *address, size_t size, int protection, int flags, int file, off_t offset);
int __real_munmap(void *address, size_t size);
int __real_mprotect(void *address, size_t size, int protection);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *user), void *user);
int __real_pthread_join(pthread_t thread, void **result);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__wrap_mmap(void *address, size_t size, int protection, int flags, int file, off_t offset);
int __wrap_munmap(void *address, size_t size);
int __wrap_mprotect(void *address, size_t size, int protection);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *user), void *user);
int __wrap_pthread_join(pthread_t thread, void **result);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);

void *__wrap_mmap(void *address, size_t size, int protection, int flags, int file, off_t offset)
{
    if (refuse(RESERVE)) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    void *at = __real_mmap(address, size, protection, flags, file, offset);
    if (at != MAP_FAILED) atomic_fetch_add(&mapped, (long)size);
    return at;
}

int __wrap_munmap(void *address, size_t size)
{
    int status = __real_munmap(address, size);
    if (status == 0) atomic_fetch_sub(&mapped, (long)size);
    return status;
}

int __wrap_mprotect(void *address, size_t size, int protection)
{
    if (!refuse(PROTECT)) return __real_mprotect(address, size, protection);
    errno = ENOMEM;
    return -1;
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *user), void *user)
{
    if (refuse(THREAD)) return EAGAIN;
    int status = __real_pthread_create(thread, attributes, start, user);
    if (status == 0) atomic_fetch_add(&threads, 1);
    return status;
}

int __wrap_pthread_join(pthread_t thread, void **result)
{
    int status = __real_pthread_join(thread, result);
    if (status == 0) atomic_fetch_sub(&threads, 1);
    return status;
}

void *__wrap_calloc(size_t count, size_t size) { return refuse(TABLE) ? NULL : __real_calloc(count, size); }
void *__wrap_realloc(void *block, size_t size) { return refuse(TABLE) ? NULL : __real_realloc(block, size); }

static void forgive(void *user)
{
    (void)user;
    refuse_kind = -1;
}

/* One life, with one call of one kind refused; -1: none. */
static struct whole_life live(const char *spec, uint64_t reserve_bytes, int kind, int call)
{
    struct whole_life life = { .spec = spec, .reserve_bytes = reserve_bytes, .on_failure = forgive };
    long before = atomic_load(&mapped);
    int threads_before = atomic_load(&threads);
    refuse_kind = kind;
    refuse_call = call;
    atomic_store(&refused, 0);
    for (int i = 0; i < KINDS; i++) atomic_store(&calls[i], 0);
    atomic_store(&living, true);
    assert_true(whole_life(&life));
    atomic_store(&living, false);
    assert_int_equal(atomic_load(&mapped), before);
    assert_int_equal(atomic_load(&threads), threads_before);
    return life;
}

/* What a call may say of a refusal. An arena that is refused its address space tries half of it. */
static bool is_right(const struct whole_life *life, int kind)
{
    if (life->after || life->close) return false;
    if (life->status == HBG_OK) return kind == RESERVE;
    if (life->error.size && (life->error.status != life->status || strlen(life->error.text) < 10)) return false;
    if (kind == THREAD) return life->status == HBG_E_DEVICE && (strstr(life->error.text, "worker thread") || strstr(life->error.text, "copy engine"));
    return life->status == HBG_E_NO_MEMORY;
}

static void refuse_each(const struct device_kind *device, uint64_t reserve_bytes)
{
    struct whole_life life = live(device->spec, reserve_bytes, -1, 0);
    int count[KINDS], failures = 0;
    if (life.status) fail_msg("%s: %s: %s", life.call, hbg_status_name(life.status), life.error.text);
    for (int kind = 0; kind < KINDS; kind++) count[kind] = atomic_load(&calls[kind]);
    assert_int_equal(count[THREAD], device->workers + device->discrete);         /* the copy engine */
    assert_true(count[RESERVE] > 10 && count[PROTECT] > 10);
    for (int kind = 0; kind < TABLE; kind++) {
        for (int call = 0; call < count[kind]; call++) {
            life = live(device->spec, reserve_bytes, kind, call);
            failures += kind == RESERVE && life.status != HBG_OK;
            if (atomic_load(&refused) == 1 && is_right(&life, kind)) continue;
            fail_msg("call %d of %d of %s, refused %d times, %s: %s, error %s: \"%s\"; the next run: %s, the close: %s", call, count[kind], kind_name[kind],
                     atomic_load(&refused), life.call, hbg_status_name(life.status), hbg_status_name(life.error.status), life.error.text,
                     hbg_status_name(life.after), hbg_status_name(life.close));
        }
    }
    assert_true(failures > (reserve_bytes ? 10 : 0));       /* small ones cannot be halved, and the move of a full one neither */
}

static void each_call_is_refused_once(struct hbg_device *unused, const struct device_kind *device)
{
    (void)unused;
    refuse_each(device, 0);
}

/* Reservations so small that arenas move: a move that is refused leaves the arena as it was. */
static void each_call_of_a_move_is_refused_once(struct hbg_device *unused, const struct device_kind *device)
{
    (void)unused;
    refuse_each(device, 1 << 20);
}

/* Tables are made once a process: each refusal has a process of its own, forked from one without threads and tables. */
static void each_table_is_refused_once(void **state)
{
    enum { RIGHT, WRONG, NOT_REFUSED };
    int how = 0, refusals = 0;
    (void)state;
    for (; WEXITSTATUS(how) != NOT_REFUSED; refusals++) {
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            struct whole_life life = live(DEVICE_KINDS[3].spec, 0, TABLE, refusals);
            bool right = atomic_load(&refused) ? is_right(&life, TABLE) : life.status == HBG_OK;
            if (!right) fprintf(stderr, "table %d: %s: %s: \"%s\"; the next run: %s\n", refusals, life.call, hbg_status_name(life.status), life.error.text, hbg_status_name(life.after));
            _exit(!right ? WRONG : atomic_load(&refused) ? RIGHT : NOT_REFUSED);
        }
        assert_true(child > 0);
        assert_int_equal(waitpid(child, &how, 0), child);
        assert_true(WIFEXITED(how));
        assert_int_not_equal(WEXITSTATUS(how), WRONG);
    }
    assert_true(refusals > 2);          /* the handles of runs and the buffers of a process at least */
}

int main(void)
{
    static const struct device_test tests[] = { DEVICE_TEST(each_call_is_refused_once), DEVICE_TEST(each_call_of_a_move_is_refused_once) };
    const struct CMUnitTest first[] = { cmocka_unit_test(each_table_is_refused_once) };
    int failed = cmocka_run_group_tests(first, NULL, NULL);
    return failed + DEVICE_TESTS_RUN(tests);
}
