/* SPDX-License-Identifier: Apache-2.0 */
/* error.c - see error.h. */
#include "base/error.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/plural.h"

void hbg__error_copy(struct hbg_error *target, const struct hbg_error *source)
{
    if (!target || target == source) return;
    size_t size = target->size ? target->size : sizeof *target;
    memcpy(target, source, size < sizeof *source ? size : sizeof *source);
    target->size = size;
}

static void begin(struct hbg_error *filled, enum hbg_status status, const char *name)
{
    *filled = (struct hbg_error){ .size = sizeof *filled, .status = status, .task = UINT32_MAX, .argument = -1 };
    if (name) snprintf(filled->name, sizeof filled->name, "%s", name);
}

void hbg__error_clear(struct hbg_error *error)
{
    struct hbg_error filled;
    if (!error) return;
    begin(&filled, HBG_OK, NULL);
    hbg__error_copy(error, &filled);
}

enum hbg_status hbg__error_set(struct hbg_error *error, enum hbg_status status, const char *name, const char *format, ...)
{
    struct hbg_error filled;
    va_list values;
    if (!error) return status;
    begin(&filled, status, name);
    va_start(values, format);
    vsnprintf(filled.text, sizeof filled.text, format, values);
    va_end(values);
    hbg__error_copy(error, &filled);
    return status;
}

enum hbg_status hbg__error_set_argument(struct hbg_error *error, enum hbg_status status, int argument, const char *name,
                                        const char *format, ...)
{
    struct hbg_error filled;
    va_list values;
    if (!error) return status;
    begin(&filled, status, name);
    filled.argument = argument;
    va_start(values, format);
    vsnprintf(filled.text, sizeof filled.text, format, values);
    va_end(values);
    hbg__error_copy(error, &filled);
    return status;
}

enum hbg_status hbg__error_no_memory(struct hbg_error *error, const char *what, uint64_t size_bytes)
{
    struct hbg_error filled;
    if (!error) return HBG_E_NO_MEMORY;
    begin(&filled, HBG_E_NO_MEMORY, what);
    filled.requested = size_bytes > INT64_MAX ? INT64_MAX : (int64_t)size_bytes;
    snprintf(filled.text, sizeof filled.text, "no memory for %" PRIu64 " byte%s of %s", size_bytes, hbg__s(size_bytes), what);
    hbg__error_copy(error, &filled);
    return HBG_E_NO_MEMORY;
}
