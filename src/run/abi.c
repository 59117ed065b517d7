/* SPDX-License-Identifier: Apache-2.0 */
/* abi.c - see abi.h. An error whose own size is wrong is refused as well: it could never say anything. */
#include "run/abi.h"

#include <stdio.h>

#include "base/error.h"

struct given { const char *name; const void *data; size_t size, known; };

/* Is a byte between the library's struct and the end of the caller's set? */
static bool sets_more(const struct given *g)
{
    const unsigned char *byte = g->data;
    for (size_t i = g->known; i < g->size; i++) {
        if (byte[i]) return true;
    }
    return false;
}

static bool error_fits(const struct hbg_error *error) { return !error || error->size == 0 || (error->size >= sizeof *error && error->size <= HBG__ABI_MOST); }

static HBG_COLD enum hbg_status refuse(struct hbg_error *error, const struct hbg__log *log, const char *name, const char *text)
{
    hbg__log_write(log, HBG_LOG_ERROR, "hbg: %s", text);
    return hbg__error_set(error_fits(error) ? error : NULL, HBG_E_ABI, name, "%s", text);
}

static HBG_COLD enum hbg_status refuse_size(const struct given *g, struct hbg_error *error, const struct hbg__log *log)
{
    char text[sizeof error->text];
    snprintf(text, sizeof text, "a struct hbg_%s says that it has %zu bytes; this library takes %zu to %d: make it with HBG_OPTIONS(%s)",
             g->name, g->size, g->known, HBG__ABI_MOST, g->name);
    return refuse(error, log, "size", text);
}

static HBG_COLD enum hbg_status refuse_more(const struct given *g, struct hbg_error *error, const struct hbg__log *log)
{
    char text[sizeof error->text];
    snprintf(text, sizeof text, "a struct hbg_%s of %zu bytes sets an option behind the %zu bytes that this library (%s) knows: it is of a newer header",
             g->name, g->size, g->known, hbg_version());
    return refuse(error, log, "size", text);
}

static HBG_COLD enum hbg_status refuse_error(const struct given *g, const struct hbg_error *error, const struct hbg__log *log)
{
    char text[sizeof error->text];
    snprintf(text, sizeof text, "the struct hbg_error of a struct hbg_%s says that it has %zu bytes; this library takes %zu to %d: make it with HBG_OPTIONS(error)",
             g->name, error->size, sizeof *error, HBG__ABI_MOST);
    return refuse(NULL, log, "size", text);
}

/* `place` is where the struct names its error: looked at unless the size is out of all proportion. */
static enum hbg_status check_options(const struct given *g, struct hbg_error *const *place, const struct hbg__log *log)
{
    if (HBG_UNLIKELY(g->size > HBG__ABI_MOST)) return refuse_size(g, NULL, log);
    if (HBG_UNLIKELY(g->size < g->known)) return refuse_size(g, *place, log);
    if (HBG_UNLIKELY(!error_fits(*place))) return refuse_error(g, *place, log);
    return HBG_UNLIKELY(sets_more(g)) ? refuse_more(g, *place, log) : HBG_OK;
}

enum hbg_status hbg__abi_device_options(const struct hbg_device_options *options)
{
    const struct given g = { "device_options", options, options->size, sizeof *options };
    struct hbg__log log = { .fn = NULL };
    if (options->size >= sizeof *options && options->size <= HBG__ABI_MOST) hbg__log_init(&log, options->log, options->log_user, options->log_level);
    return check_options(&g, &options->error, &log);
}

enum hbg_status hbg__abi_program_options(const struct hbg_program_options *options, const struct hbg__log *log)
{
    const struct given g = { "program_options", options, options->size, sizeof *options };
    return check_options(&g, &options->error, log);
}

enum hbg_status hbg__abi_run_options(const struct hbg_run_options *options, const struct hbg__log *log)
{
    const struct given g = { "run_options", options, options->size, sizeof *options };
    return check_options(&g, &options->error, log);
}

enum hbg_status hbg__abi_result(struct hbg_result *result, const struct hbg__log *log)
{
    const struct given g = { "result", result, result->size, sizeof *result };
    if (HBG_UNLIKELY(g.size > HBG__ABI_MOST)) return refuse_size(&g, NULL, log);
    if (HBG_UNLIKELY(g.size < g.known)) return refuse_size(&g, &result->error, log);
    return HBG_UNLIKELY(!error_fits(&result->error)) ? refuse_error(&g, &result->error, log) : HBG_OK;
}
