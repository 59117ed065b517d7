/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a command line to a workload with its inputs.
 */
#include "inputs.h"

#include "base/json_write.h"
#include "cli.h"
#include "crash.h"
#include "descriptor.h"
#include "progress.h"
#include "tensor_file.h"
#include "workloads/workloads.h"

#include <string.h>

const struct hbg_workload *hbg__inputs_find_workload(const char *command, const char *name)
{
    const char *names[64];
    char hint[256];
    size_t count = 0;

    if (hbg__descriptor_is_path(name))
        return hbg__descriptor_load(command, name);
    for (; hbg__workloads[count]; count++) {
        if (strcmp(hbg__workloads[count]->name, name) == 0)
            return hbg__workloads[count];
        if (count < 64)
            names[count] = hbg__workloads[count]->name;
    }
    hbg__cli_error(command, "there is no workload `%s`%s", name, hbg__cli_hint(name, names, count < 64 ? count : 64, hint, sizeof hint));
    return NULL;
}

int hbg__inputs_fill(struct hbg_setup *s, const char *command, const char *const *assignment, size_t count)
{
    struct progress progress;
    bool good = true;

    hbg__crash_watch(command, s->workload.name, &s->workload);
    for (size_t i = 0; good && i < count; i++)
        good = hbg__setup_assign(s, assignment[i]);
    if (!good) {
        hbg__cli_error(command, "%s", s->text);
        return CLI_MISUSED;
    }
    hbg__progress_begin(&progress, "inputs", 0);
    hbg__progress_announce(&progress);
    hbg__crash_inside("inputs");
    if (s->workload.inputs(s) != 0 && !s->failed)
        hbg_setup_fail(s, "its inputs could not be made");
    hbg__crash_inside(NULL);
    hbg__progress_end(&progress);
    if (!s->failed && hbg__given_load(s))
        hbg__setup_keep_inputs(s);
    if (!s->failed)
        return CLI_OK;
    hbg__cli_error(command, "%s: %s", s->workload.name, s->text);
    return s->misused ? CLI_MISUSED : CLI_FAILED;
}

void hbg__inputs_json_parameter(struct hbg__json *j, const struct setup_param *param)
{
    int64_t whole;
    double number;

    if (!hbg__cli_i64(param->value, &whole))
        hbg__json_key_i64(j, param->name, whole);
    else if (!hbg__cli_f64(param->value, &number))
        hbg__json_key_f64(j, param->name, number);
    else
        hbg__json_key_string(j, param->name, param->value);
}
