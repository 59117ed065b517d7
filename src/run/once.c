/* SPDX-License-Identifier: Apache-2.0 */
/* once.c - one call for open, create, run, destroy and close. Nothing is left behind, whichever of them fails. */
#include <string.h>

#include "base/error.h"
#include "run/abi.h"

/* A program of an open device, run once; the error is that of the result. */
static enum hbg_status run_on(struct hbg_device *device, const struct hbg_program_options *options, struct hbg_arg_list list, struct hbg_result *result)
{
    struct hbg_program_options own = *options;
    struct hbg_program *program;
    own.size = sizeof own;
    own.error = &result->error;
    enum hbg_status status = hbg_program_create(device, &own, &program);
    if (status) return status;
    status = hbg_run_sync(program, list, result);
    hbg_program_destroy(program);
    return status;
}

static enum hbg_status open_and_run(const char *spec, const struct hbg_program_options *options, struct hbg_arg_list list, struct hbg_result *result)
{
    struct hbg_device_options device_options = { .size = sizeof device_options, .error = &result->error };
    struct hbg_device *device;
    enum hbg_status status = hbg_device_open(spec ? spec : "cpu", &device_options, &device);
    if (status) return status;
    status = run_on(device, options, list, result);
    enum hbg_status closed = hbg_device_close(device);
    if (!status && closed) status = hbg__error_set(&result->error, closed, "close", "the run went well, but its device cannot be closed: %s", hbg_status_text(closed));
    return status;
}

/* What is wrong with a struct's size reaches every log. */
static void keep_sentence(void *user, enum hbg_log_level level, const char *text)
{
    const char *prefix = "hbg: ";
    (void)level;
    hbg__error_set(user, HBG_E_ABI, "size", "%s", strncmp(text, prefix, strlen(prefix)) == 0 ? text + strlen(prefix) : text);
}

enum hbg_status hbg_run_once(const char *spec, const struct hbg_program_options *options, struct hbg_arg_list list, struct hbg_result *result)
{
    struct hbg_result own = { .size = sizeof own };
    struct hbg__log log;
    enum hbg_status status = result ? hbg__abi_result(result, NULL) : HBG_OK;
    if (status) return status;
    if (!result) result = &own;
    *result = (struct hbg_result){ .size = result->size, .error.size = result->error.size };
    hbg__error_clear(&result->error);
    if (!options) return hbg__error_set(&result->error, HBG_E_NULL, "options", "hbg_run_once got no options of a program");
    hbg__log_init(&log, keep_sentence, &result->error, HBG_LOG_ERROR);
    status = hbg__abi_program_options(options, &log);
    if (status) return status;
    status = open_and_run(spec, options, list, result);
    hbg__error_copy(options->error, &result->error);
    return status;
}
