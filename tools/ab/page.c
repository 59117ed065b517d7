/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A comparison as a page: drawings are SVG inside of it, and there is no script.
 */
#include "tools/ab/report.h"

#include "base/plural.h"
#include "tools/ab/conditions.h"
#include "tools/ab/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 980, HEIGHT = 240, LEFT = 90, RIGHT = 20, TOP = 16, BOTTOM = 24 };

/* A drawing: x and y of the data on the area inside of the margins. */
struct plot { FILE *file; double x0, x1, y0, y1; int height; };

static double at_x(const struct plot *p, double x) { return LEFT + (WIDTH - LEFT - RIGHT) * (p->x1 > p->x0 ? (x - p->x0) / (p->x1 - p->x0) : .5); }
static double at_y(const struct plot *p, double y) { return p->height - BOTTOM - (p->height - TOP - BOTTOM) * (p->y1 > p->y0 ? (y - p->y0) / (p->y1 - p->y0) : .5); }

static void put_text(FILE *file, const char *text)
{
    for (; *text; text++) {
        if (*text == '<')
            fputs("&lt;", file);
        else if (*text == '&')
            fputs("&amp;", file);
        else if (*text == '"')
            fputs("&quot;", file);
        else
            fputc(*text, file);
    }
}

static void begin_plot(struct plot *p, FILE *file, const char *title, int height)
{
    *p = (struct plot){ .file = file, .x0 = 0, .x1 = 1, .y0 = INFINITY, .y1 = -INFINITY, .height = height };
    fprintf(file, "<h2>%s</h2>\n", title);
}

static void take_y(struct plot *p, double y)
{
    if (!isfinite(y))
        return;
    p->y0 = fmin(p->y0, y);
    p->y1 = fmax(p->y1, y);
}

/* 1, 2 or 5 times a power of ten, of which at least three fit into the range. */
static double round_step(double range)
{
    double power = pow(10, floor(log10(range / 3)));

    return range / 3 >= 5 * power ? 5 * power : range / 3 >= 2 * power ? 2 * power : power;
}

/* How many digits tell values apart that lie a step from one another. */
static int digits_of(const struct plot *p, double step, int least)
{
    double digits = ceil(log10(fmax(fabs(p->y0), fabs(p->y1)) / step)) + 1.0;

    return digits > 15.0 ? 15 : digits > least ? (int)digits : least;
}

/* The frame with lines across at round values, labelled as values of the metric, or in percent without one. */
static void open_svg(struct plot *p, const char *metric)
{
    double room, step;
    char text[48];

    if (!(p->y1 >= p->y0))
        p->y0 = p->y1 = 0.0;
    room = p->y1 > p->y0 ? .06 * (p->y1 - p->y0) : fabs(p->y0) * .01 + 1e-9;
    p->y0 -= room;
    p->y1 += room;
    fprintf(p->file, "<svg viewBox=\"0 0 %d %d\">\n", WIDTH, p->height);
    step = round_step(p->y1 - p->y0);
    for (double i = ceil(p->y0 / step) + 0.0; i * step <= p->y1; i++) {         /* + 0.0: never -0 */
        if (metric)
            hbg__ab_level_text(metric, i * step, digits_of(p, step, AB_TIME_DIGITS), text, sizeof text);
        else
            snprintf(text, sizeof text, "%.*g %%", digits_of(p, step, AB_NUMBER_DIGITS), i * step * 100);
        fprintf(p->file, "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/><text x=\"%d\" y=\"%.1f\" "
                "text-anchor=\"end\">%s</text>\n", LEFT, WIDTH - RIGHT, at_y(p, i * step), at_y(p, i * step),
                LEFT - 6, at_y(p, i * step) + 4, text);
    }
}

/* As the report has it, with a digit or two more, as batches lie close together. */
static const char *value_text(const struct ab_record *record, double value, char text[48])
{
    return hbg__ab_level_text(record->metric, value, AB_NUMBER_DIGITS, text, 48);
}

/* Three digits behind the point; what they show as 0 has no sign. */
static double percent(double part)
{
    return fabs(part) < .000005 ? 0.0 : 100 * part;
}

/* The rounds of each batch, from smallest to largest, and what stands for the batch. */
static void draw_batches(FILE *file, const struct ab_record *record, const struct ab_series *s)
{
    struct plot p;

    begin_plot(&p, file, "Batches in time order", HEIGHT);
    p.x1 = s->batch_count ? (double)s->batch_count : 1;
    for (size_t i = 0; i < s->batch_count; i++)
        for (size_t k = 0; k < s->batch[i].round_count; k++)
            take_y(&p, s->batch[i].round[k]);
    open_svg(&p, record->metric);
    for (size_t i = 0; i < s->batch_count; i++) {
        const struct ab_batch *b = &s->batch[i];
        double *sorted = malloc((b->round_count + 1) * sizeof *sorted), x = at_x(&p, (double)i + .5), middle;
        const char *arm = b->arm == AB_A ? "a" : "b";
        char text[3][48];

        if (b->slot == 0 && i)
            fprintf(file, "<line class=\"block\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>\n", at_x(&p, (double)i), at_x(&p, (double)i), TOP,
                    p.height - BOTTOM);
        if (sorted && b->round_count) {
            memcpy(sorted, b->round, b->round_count * sizeof *sorted);
            middle = hbg__sample_median(sorted, b->round_count);
            if (record->rules.mean)
                middle = hbg__sample_mean(b->round, b->round_count);
            fprintf(file, "<g class=\"%s%s\"><title>block %u, batch %u, %s: %s, %zu round%s from %s to %s%s</title>", arm,
                    s->dropped[b->block] ? " dropped" : "", b->block + 1, b->slot + 1,
                    b->arm == AB_A ? "A" : "B", value_text(record, middle, text[0]), b->round_count, hbg__s(b->round_count),
                    value_text(record, sorted[0], text[1]), value_text(record, sorted[b->round_count - 1], text[2]), s->dropped[b->block] ? ", dropped" : "");
            fprintf(file, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/><circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/></g>\n", x, x,
                    at_y(&p, sorted[0]), at_y(&p, sorted[b->round_count - 1]), x,
                    at_y(&p, middle));
        }
        free(sorted);
    }
    fputs("</svg>\n<p><span class=\"a\">&#9679; A</span> <span class=\"b\">&#9679; B</span>; the line of a batch goes from its smallest round to its "
          "largest; hollow ones do not count.</p>\n", file);
}

static void draw_effects(FILE *file, const struct ab_record *record)
{
    const struct ab_series *s = &record->series[0];
    const struct ab_outcome *o = &record->outcome[0];
    struct ab_rules rules = hbg__ab_rules_of(record, 0);
    double *d = calloc(s->block_count + (size_t)1, sizeof *d), margin = record->rules.margin;
    struct ab_outcome again;
    struct plot p;

    begin_plot(&p, file, "Effect of each block that counts, and the intervals", HEIGHT);
    if (d && hbg__ab_judge(&again, s, &rules, d)) {
        size_t count = (size_t)again.blocks;

        p.x1 = (double)count + 2;
        for (size_t i = 0; i < count; i++)
            take_y(&p, expm1(d[i]));
        take_y(&p, o->low);
        take_y(&p, o->high);
        take_y(&p, -margin);
        take_y(&p, margin);
        open_svg(&p, NULL);
        fprintf(file, "<rect class=\"margin\" x=\"%d\" width=\"%d\" y=\"%.1f\" height=\"%.1f\"/><line class=\"zero\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" "
                "y2=\"%.1f\"/>\n", LEFT, WIDTH - LEFT - RIGHT, at_y(&p, margin),
                at_y(&p, -margin) - at_y(&p, margin), LEFT, WIDTH - RIGHT, at_y(&p, 0), at_y(&p, 0));
        for (size_t i = 0; i < count; i++)
            fprintf(file, "<circle class=\"effect\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"><title>%+.3f %%</title></circle>\n", at_x(&p, (double)i + .5),
                    at_y(&p, expm1(d[i])), percent(expm1(d[i])));
        if (!isnan(o->low))
            fprintf(file, "<g class=\"interval\"><title>%+.3f %% [%+.3f, %+.3f]</title><line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/><line "
                    "class=\"inner\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/><circle cx=\"%.1f\" cy=\"%.1f\" r=\"5\"/></g>\n",
                    percent(o->effect), percent(o->low), percent(o->high), at_x(&p, (double)count + 1), at_x(&p, (double)count + 1), at_y(&p, o->low), at_y(&p,
        o->high), at_x(&p, (double)count + 1), at_x(&p, (double)count + 1),
                    at_y(&p, o->low90), at_y(&p, o->high90), at_x(&p, (double)count + 1), at_y(&p, o->effect));
        fputs("</svg>\n<p>On the right the 95 % interval, with that of 90 % thicker; the band is the margin.</p>\n", file);
    }
    free(d);
}

/* What is told of a GPU. */
static void put_gpu(FILE *file, const struct ab_gpu *gpu)
{
    const struct { double value; const char *unit; } told[] = { { gpu->sm_mhz, "MHz" }, { gpu->watts, "W" }, { gpu->celsius, "degrees" } };

    fprintf(file, ", GPU %u", gpu->index);
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        if (!isnan(told[i].value))
            fprintf(file, " %.0f %s", told[i].value, told[i].unit);
}

static void draw_conditions(FILE *file, const struct ab_series *s)
{
    struct plot p;

    begin_plot(&p, file, "Conditions: CPU taken by others, per batch", 140);
    p.x1 = s->batch_count ? (double)s->batch_count : 1;
    take_y(&p, 0.0);
    take_y(&p, .05);
    for (size_t i = 0; i < s->batch_count; i++)
        take_y(&p, hbg__ab_stretch_of(&s->batch[i].sample[AB_START], &s->batch[i].sample[AB_END]).foreign);
    open_svg(&p, NULL);
    for (size_t i = 0; i < s->batch_count; i++) {
        const struct ab_batch *b = &s->batch[i];
        struct ab_stretch t = hbg__ab_stretch_of(&b->sample[AB_START], &b->sample[AB_END]);
        double x = at_x(&p, (double)i), width = at_x(&p, (double)i + 1) - x, y = at_y(&p, t.foreign);

        if (!isfinite(t.foreign))
            continue;
        fprintf(file, "<rect class=\"foreign\" x=\"%.1f\" width=\"%.1f\" y=\"%.1f\" height=\"%.1f\"><title>block %u, batch %u: others %.1f %%, "
                "steal %.2f %%, load %.2f, %.0f MHz, %.0f involuntary switches", x + width * .1, width * .8, y,
                fmax(0.0, at_y(&p, 0.0) - y), b->block + 1, b->slot + 1, 100 * t.foreign, 100 * t.steal, b->sample[AB_END].load,
                b->sample[AB_MIDDLE].mhz, b->switches);
        for (size_t k = 0; k < b->gpu_count; k++)
            if (b->gpu[k].moment == AB_END)
                put_gpu(file, &b->gpu[k]);
        fputs("</title></rect>\n", file);
    }
    fputs("</svg>\n", file);
}

/* The report's text, as on a terminal. */
static bool put_report(FILE *file, const struct ab_record *record)
{
    size_t size = 0;
    char *text = NULL;
    FILE *stream = open_memstream(&text, &size);

    if (!stream)
        return false;
    hbg__ab_print_declared(stream, record);
    hbg__ab_print_result(stream, record);
    if (fclose(stream) != 0) {
        free(text);
        return false;
    }
    fputs("<h2>Report</h2>\n<pre>", file);
    put_text(file, text);
    fputs("</pre>\n", file);
    free(text);
    return true;
}

bool hbg__ab_page(FILE *file, const struct ab_record *record)
{
    static const char style[] =
        "body { font: 14px sans-serif; margin: 16px auto; max-width: 1000px; color: #222; background: #fff; }\n"
        "svg { width: 100%; } svg text { font-size: 11px; fill: #555; } pre { font-size: 12px; overflow-x: auto; }\n"
        ".grid { stroke: #eee; } .block { stroke: #ccc; stroke-dasharray: 2 3; } .zero { stroke: #888; } .margin { fill: #2a2; opacity: .12; }\n"
        ".a { fill: #06c; stroke: #06c; color: #06c; } .b { fill: #d50; stroke: #d50; color: #d50; } .dropped circle { fill: #fff; }\n"
        ".effect { fill: #555; } .interval { fill: #000; stroke: #000; stroke-width: 1.5; } .inner { stroke-width: 5; } .foreign { fill: #999; }\n";
    bool good;

    fprintf(file, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>hbg ab: "
            "%s</title>\n<style>\n%s</style>\n</head>\n<body>\n<h1 id=\"verdict\">%s</h1>\n<p>", hbg__ab_verdict_name(record->verdict), style,
            hbg__ab_verdict_name(record->verdict));
    put_text(file, record->why);
    fputs(".</p>\n", file);
    draw_effects(file, record);
    draw_batches(file, record, &record->series[0]);
    draw_conditions(file, &record->series[0]);
    good = put_report(file, record);
    fputs("</body>\n</html>\n", file);
    return good && !ferror(file);
}
