#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Writes docs/statuses.md to standard output, from the list in include/hbg/status.h:
#
#     scripts/statuses.sh > docs/statuses.md
#
# The list is read by the C compiler ($CC, else cc), so that it is the one that programs see.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat > "$work/statuses.c" << 'END'
#include <stdio.h>
#include <hbg/status.h>

static const struct { int last; const char *title; } groups[] = {
    { 0, "No error" }, { -19, "The call" }, { -39, "The graph: the build function is at fault" }, { -59, "The image" },
    { -79, "The run: the next one works" }, { -1000, "The device" },
};

int main(void)
{
    static const struct { int code; const char *name, *text, *remedy; } statuses[] = {
#define ROW(code, name, text, remedy) { code, "HBG_" #name, text, remedy },
        HBG_STATUS_MAP(ROW)
    };
    int group = -1;
    puts("# Statuses\n\n"
         "Calls that can fail return one of these. Negative ones are errors, in groups by what has to be made anew; the sentence of the error,\n"
         "`text` in `struct hbg_error`, says what was wrong this time. `hbg_status_name`, `hbg_status_text` and `hbg_status_remedy` return\n"
         "these columns. Codes of kernels are numbers of their own.\n\n"
         "This page is made from `include/hbg/status.h` by `scripts/statuses.sh`.");
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        int at = group < 0 ? 0 : group;
        while (statuses[i].code < groups[at].last) at++;
        if (at != group) printf("\n## %s\n\n| status | number | means | what to do |\n| --- | --- | --- | --- |\n", groups[at].title);
        group = at;
        printf("| `%s` | %d | %s | %s |\n", statuses[i].name, statuses[i].code, statuses[i].text, statuses[i].remedy);
    }
    return 0;
}
END
"${CC:-cc}" -std=c11 -Wall -Wextra -Werror -I"$root/include" -o "$work/statuses" "$work/statuses.c"
"$work/statuses"
