/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hbg version: the versions and commits of command and library, and whether they and the source tree belong together. Other commands
 * refuse to run where they do not; this one says all of it first, and then fails as well.
 */
#include "command.h"

#include "base/json_write.h"
#include "cli.h"
#include "provenance.h"
#include "table.h"

#include <hbg/hbg.h>

#include <stdio.h>
#include <string.h>

static void print_side(const char *label, const struct provenance_side *side, const char *path)
{
    hbg__table_line(label, "%s, %s%s%s%s%s", side->version, side->commit && *side->commit ? "commit " : "",
                    !side->commit ? "without a stamp" : *side->commit ? side->commit : "no commit", side->dirty ? ", dirty" : "",
                    *path ? ", " : "", path);
}

static void print_text(const struct provenance *p)
{
    printf("hbg %s\n", hbg_version());
    print_side("command", &p->command, p->command_path);
    print_side("library", &p->library, p->library_path);
    if (*p->source)
        hbg__table_line("source", "%s%s%s%s%s", p->source, *p->head.commit ? ", HEAD " : "", p->head.commit, *p->head.reference ? ", " : "",
                        p->head.reference);
    hbg__table_line("check", "%s: %s", p->verdict == PROVENANCE_INERT ? "not compared with a source tree" : hbg__provenance_verdict_name(p->verdict), p->why);
}

static void put_side(struct hbg__json *json, const char *key, const struct provenance_side *side, const char *path)
{
    hbg__json_key(json, key);
    hbg__json_open_object(json);
    hbg__json_key_string(json, "version", side->version);
    hbg__json_key_string(json, "commit", side->commit);
    hbg__json_key_bool(json, "dirty", side->dirty);
    hbg__json_key_string(json, "path", *path ? path : NULL);
    hbg__json_close(json);
}

/* Whether all of it was written the command itself asks in the end. */
static void print_json(FILE *file, const struct provenance *p)
{
    struct hbg__json json;

    hbg__json_begin(&json, file);
    hbg__json_open_object(&json);
    hbg__json_key_string(&json, "version", p->library.version);
    hbg__json_key_string(&json, "commit", p->library.commit);
    hbg__json_key_bool(&json, "dirty", p->library.dirty);
    put_side(&json, "command", &p->command, p->command_path);
    put_side(&json, "library", &p->library, p->library_path);
    hbg__json_key(&json, "source");
    if (*p->source) {
        hbg__json_open_object(&json);
        hbg__json_key_string(&json, "path", p->source);
        hbg__json_key_string(&json, "head", *p->head.commit ? p->head.commit : NULL);
        hbg__json_key_string(&json, "reference", *p->head.reference ? p->head.reference : NULL);
        hbg__json_close(&json);
    } else {
        hbg__json_null(&json);
    }
    hbg__json_key_string(&json, "check", hbg__provenance_verdict_name(p->verdict));
    hbg__json_key_string(&json, "why", p->why);
    hbg__json_key_string(&json, "repair", *p->repair ? p->repair : NULL);
    hbg__json_close(&json);
    (void)hbg__json_end(&json);
}

int hbg__cmd_version(int argc, char **argv)
{
    bool as_json = false;
    const struct cli_option option[] = { { "--json", NULL, &as_json, "as JSON" } };
    const struct cli_command command = {
        "version", "[--json]", "Shows the versions and commits of command and library, and whether they fit together.", option, 1,
    };
    struct provenance p;
    enum cli_outcome outcome = hbg__cli_parse(&command, argc, argv, NULL, NULL);

    if (outcome != CLI_PARSED)
        return cli_outcome_status(outcome);
    hbg__provenance_get(&p);
    if (!as_json)
        print_text(&p);
    else
        print_json(stdout, &p);
    if (p.verdict != PROVENANCE_MISMATCH)
        return CLI_OK;
    fflush(stdout);
    hbg__provenance_refuse(&p);
    return CLI_FAILED;
}
