/* SPDX-License-Identifier: Apache-2.0 */
/* check.h - assertions about hbg itself, and the compiler hints that go with them.
 *
 *   HBG_ASSERT(x)          in every build, outside src/sched and src/core
 *   HBG_DEBUG_ASSERT(x)    with HBG_DEBUG only; x is not evaluated otherwise, but it must compile
 *   static_assert(x, "sentence")
 *
 * What a user can get wrong is an error status, never an assertion. A failed assertion is a bug of hbg: the process is
 * stopped where it stands, with the place and the condition in hbg__check_place for whoever opens the core. Builds with
 * HBG_DEBUG write the line to standard error as well; other builds never print.
 */
#ifndef HBG_BASE_CHECK_H
#define HBG_BASE_CHECK_H

#include <assert.h>

#define HBG_LIKELY(x) __builtin_expect(!!(x), 1)
#define HBG_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define HBG_COLD __attribute__((cold, noinline))
#define HBG_NO_INLINE __attribute__((noinline))
#define HBG_ALWAYS_INLINE inline __attribute__((always_inline))
#define HBG_MUST_CHECK __attribute__((warn_unused_result))
#define HBG_PRINTF(format_index, first_index) __attribute__((format(printf, format_index, first_index)))
#define HBG_UNREACHABLE(sentence) hbg__check_failed(__FILE__, __LINE__, sentence)

#ifdef __cplusplus
extern "C" {
#endif

/* "file:line: condition" of the assertion that failed; empty before */
extern char hbg__check_place[256];

HBG_COLD __attribute__((noreturn)) void hbg__check_failed(const char *file, int line, const char *condition);

#ifdef __cplusplus
} /* extern "C" */
#endif

#define HBG_ASSERT(x) (HBG_LIKELY(x) ? (void)0 : hbg__check_failed(__FILE__, __LINE__, #x))

#ifdef HBG_DEBUG
#define HBG_DEBUG_ASSERT(x) HBG_ASSERT(x)
#else
#define HBG_DEBUG_ASSERT(x) ((void)sizeof(!(x)))
#endif

#endif /* HBG_BASE_CHECK_H */
