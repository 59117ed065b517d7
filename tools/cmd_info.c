/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hbg info: the machine, the library, and what opening a device here says.
 */
#include "command.h"

#include "cli.h"
#include "host_info.h"
#include "table.h"
#include "bench/tiles.h"

#include <hbg/hbg.h>

#include <stdio.h>
#include <string.h>

/* What a device logs while it opens and closes; an error comes back as a status as well. */
static void print_log(void *user, enum hbg_log_level level, const char *text)
{
    bool *follows = user;

    if (level == HBG_LOG_ERROR)
        return;
    hbg__table_line(*follows ? "" : "device says", "%s", text);
    *follows = true;
}

static void print_machine(const struct host_info *info)
{
    char text[64];

    hbg__table_line("machine", "%s", info->machine);
    if (info->processor[0])
        hbg__table_line("processor", "%s", info->processor);
    hbg__table_line("cpus", "%ld online, %d allowed by affinity", info->processors_online, info->processors_allowed);
    if (info->quota > 0.0)
        hbg__table_line("cpu quota", "%.3g cpus, by control group", info->quota);
    else
        hbg__table_line("cpu quota", "none");
    hbg__table_line("memory", "%s", hbg__table_bytes(info->memory_bytes, text));
    hbg__table_line("page", "%s", hbg__table_bytes((uint64_t)info->page_bytes, text));
    if (info->huge_page_bytes)
        hbg__table_line("huge page", "%s, %s", hbg__table_bytes(info->huge_page_bytes, text), info->huge_pages);
    if (info->address_space_bytes != UINT64_MAX)
        hbg__table_line("address space", "limited to %s", hbg__table_bytes(info->address_space_bytes, text));
    if (info->overcommit[0])
        hbg__table_line("overcommit", "%s", strcmp(info->overcommit, "2") == 0 ? "strict" : "allowed");
}

/* what the build found of the packages that it can do without */
static void print_packages(void)
{
#ifdef HBG_HAVE_HWLOC
    hbg__table_line("placement", "of workers by hwloc");
#else
    hbg__table_line("placement", "of workers in the system's order of CPUs: built without hwloc (libhwloc-dev)");
#endif
#ifdef HBG_HAVE_OPENBLAS
    hbg__table_line("tile kernels", "OpenBLAS and LAPACKE, kernels for %s", hbg__tiles_blas());
#else
    hbg__table_line("tile kernels", "plain C: built without OpenBLAS (libopenblas-dev, liblapacke-dev)");
#endif
}

/* opens and closes the device, so that what it finds here (workers, reservation) is seen */
static int print_device(const char *spec)
{
    bool follows = false;
    struct hbg_error error = HBG_OPTIONS(error);
    struct hbg_device_options options = HBG_OPTIONS(device_options);
    struct hbg_device *device;
    enum hbg_status status;

    options.log = print_log;
    options.log_user = &follows;
    options.log_level = HBG_LOG_INFO;
    options.error = &error;
    hbg__table_line("device", "%s", spec);
    status = hbg_device_open(spec, &options, &device);
    if (status != HBG_OK) {
        hbg__cli_error("info", "%s: %s: %s", spec, hbg_status_name(status), error.text[0] ? error.text : hbg_status_text(status));
        return hbg__cli_device_status(status);
    }
    status = hbg_device_close(device);
    if (status != HBG_OK)
        hbg__cli_error("info", "%s: %s: %s", spec, hbg_status_name(status), hbg_status_text(status));
    return status == HBG_OK ? CLI_OK : CLI_FAILED;
}

int hbg__cmd_info(int argc, char **argv)
{
    const char *device = "cpu";
    const struct cli_option option[] = { { "--device", &device, NULL, "SPEC  the device to open (cpu)" } };
    const struct cli_command command = {
        "info", "[--device SPEC]", "Shows the machine, the library, and what opening a device here says.", option, 1,
    };
    struct host_info info;
    enum cli_outcome outcome = hbg__cli_parse(&command, argc, argv, NULL, NULL);

    if (outcome != CLI_PARSED)
        return cli_outcome_status(outcome);
    hbg__host_info_get(&info);
    hbg__table_line("hbg", "%s", hbg_version());
    print_packages();
    print_machine(&info);
    return print_device(device);
}
