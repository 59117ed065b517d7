/* SPDX-License-Identifier: Apache-2.0 */
/* trace_file.c - see trace_file.h. */
#include "support/trace_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

void trace_path(char path[TRACE_PATH])
{
    static int number;
    snprintf(path, TRACE_PATH, "/tmp/hbg-trace-%ld-%d", (long)getpid(), number++);
    (void)unlink(path);
}

struct hbg_device *trace_open(const char *spec, enum hbg_trace_level level, const char *path)
{
    struct hbg_error error = HBG_OPTIONS(error);
    struct hbg_device_options options = HBG_OPTIONS(device_options);
    struct hbg_device *device = NULL;
    options.trace = level;
    options.trace_to = path;
    options.error = &error;
    if (hbg_device_open(spec, &options, &device)) fail_msg("%s: %s", spec, error.text);
    return device;
}

char *trace_take(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    char *text = malloc(size + 1);
    rewind(file);
    assert_int_equal(fread(text, 1, size, file), size);
    text[size] = '\0';
    fclose(file);
    (void)unlink(path);
    return text;
}

int trace_count(const char *text, const char *what)
{
    int count = 0;
    for (const char *line = text; *line;) {
        const char *end = strchr(line, '\n');
        size_t size = end ? (size_t)(end - line) : strlen(line);
        count += memmem(line, size, what, strlen(what)) != NULL;
        line += size + (end != NULL);
    }
    return count;
}
