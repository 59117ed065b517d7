#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""plot_bench.py FILE.json FOLDER - draws what `hbg bench` measured, as SVG; prints the names of the files that it wrote.

    BENCH-WORKERS.svg    bars on a logarithmic axis, one a case and runtime: ns a task, or whatever the unit is
    efficiency.svg       metg: efficiency against the granularity of tasks, a panel a graph
    real.svg             tiled factorisations and products: GFLOP/s against the edge of a tile, a panel an algorithm and size

FILE is what `hbg bench all --json FILE` or one bench has written.
"""
import html
import json
import math
import pathlib
import sys

COLOURS = {"hbg": "#c22", "libgomp": "#27a", "libomp": "#5bd", "oneTBB": "#282", "StarPU": "#b70", "OpenBLAS": "#777", "dgemm": "#999"}
PANEL, GAP, LEFT, TOP = (300, 190), (70, 70), 60, 70


def colour(runtime):
    return next((value for name, value in COLOURS.items() if name in runtime), "#555")


def dashes(runtime):
    return ' stroke-dasharray="5 3"' if runtime.endswith("anew") else ""


def text(x, y, words, size=11, anchor="start"):
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}">{html.escape(str(words))}</text>'


def line(x1, y1, x2, y2, stroke="#ddd", more=""):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{stroke}"{more}/>'


def page(width, height, parts):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" font-family="sans-serif">\n'
            f'<rect width="100%" height="100%" fill="#fff"/>\n' + "\n".join(parts) + "\n</svg>\n")


def short(value):
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


class LogAxis:
    """Values to pixels, from the power of ten below the least to the one above the greatest."""

    def __init__(self, values, begin, end):
        self.low, self.high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
        self.high += self.high == self.low
        self.begin, self.end = begin, end

    def at(self, value):
        return self.begin + (math.log10(value) - self.low) / (self.high - self.low) * (self.end - self.begin)

    def ticks(self):
        return [10.0 ** power for power in range(self.low, self.high + 1)]


def legend(runtimes, y):
    parts, x = [], LEFT
    for runtime in runtimes:
        parts.append(line(x, y - 4, x + 22, y - 4, colour(runtime), f' stroke-width="3"{dashes(runtime)}'))
        parts.append(text(x + 27, y, runtime))
        x += 50 + 6.3 * len(runtime)
    return parts, x


def draw_bars(title, results):
    """Cases from above to below, of each one bar a runtime."""
    results = [r for r in results if r["median"] > 0]
    if not results:
        return None
    axis = LogAxis([r["median"] for r in results], 330, 900)
    parts, y, before = [text(20, 26, title, 15)], 50, None
    for r in results:
        y += 24 if r["case"] != before else 14
        if r["case"] != before:
            parts.append(text(20, y, r["case"], 12))
        before = r["case"]
        parts.append(text(322, y, r["runtime"], 10, "end"))
        parts.append(f'<rect x="330" y="{y - 9}" width="{axis.at(r["median"]) - 330:.1f}" height="10" fill="{colour(r["runtime"])}"/>')
        parts.append(text(axis.at(r["median"]) + 4, y, short(r["median"]), 10))
    grid = [line(axis.at(t), 55, axis.at(t), y + 8) for t in axis.ticks()] + [text(axis.at(t), y + 22, short(t), 10, "middle") for t in axis.ticks()]
    return page(980, y + 40, grid + parts)


def draw_panel(corner, name, curves, axis_of, top, x_words):
    """Curves (runtime, points) in one panel; x is logarithmic, y from 0 to `top`."""
    x0, y0 = corner
    axis = axis_of(x0, x0 + PANEL[0])
    bottom = y0 + PANEL[1]
    parts = [text(x0, y0 - 8, name, 13)]
    for share in (0, 0.25, 0.5, 0.75, 1):
        y = bottom - share * PANEL[1]
        parts += [line(x0, y, x0 + PANEL[0], y), text(x0 - 6, y + 4, short(share * top), 10, "end")]
    for tick in axis.ticks():
        parts += [line(axis.at(tick), y0, axis.at(tick), bottom), text(axis.at(tick), bottom + 14, short(tick), 10, "middle")]
    parts.append(text(x0 + PANEL[0] / 2, bottom + 30, x_words, 11, "middle"))
    for runtime, points in curves:
        way = " ".join(f"{axis.at(x):.1f},{bottom - min(y / top, 1.05) * PANEL[1]:.1f}" for x, y in sorted(points))
        parts.append(f'<polyline points="{way}" fill="none" stroke="{colour(runtime)}" stroke-width="1.8"{dashes(runtime)}/>')
    return parts


def draw_panels(title, panels, top_of, x_words):
    """Panels {name: [(runtime, points)]}, three in a row, under one legend."""
    values = [x for curves in panels.values() for _, points in curves for x, _ in points]
    if not values:
        return None
    runtimes = list(dict.fromkeys(runtime for curves in panels.values() for runtime, _ in curves))
    parts, width = legend(runtimes, 50)
    parts.append(text(20, 26, title, 15))
    for i, (name, curves) in enumerate(panels.items()):
        corner = (LEFT + i % 3 * (PANEL[0] + GAP[0]), TOP + 25 + i // 3 * (PANEL[1] + GAP[1]))
        parts += draw_panel(corner, name, curves, lambda begin, end: LogAxis(values, begin, end), top_of(curves), x_words)
    rows = (len(panels) + 2) // 3
    return page(max(width, LEFT + 3 * (PANEL[0] + GAP[0])), TOP + 30 + rows * (PANEL[1] + GAP[1]), parts)


def efficiency(results):
    panels = {}
    for r in results:
        points = [(p["granularity"], p["efficiency"]) for p in r.get("curve", ()) if p["granularity"] > 0]
        if points:
            panels.setdefault(r["case"], []).append((r["runtime"], points))
    return draw_panels("Efficiency against granularity, two workers", panels, lambda curves: 1.0, "us a task")


def real(results):
    panels = {}
    for r in results:
        name, _, tile = r["case"].rpartition("/")
        if tile.isdigit() and not name.endswith(f" {tile}"):            # a tile as large as the matrix is OpenBLAS alone
            curves = panels.setdefault(name, {})
            curves.setdefault(r["runtime"], []).append((int(tile), r["median"]))
    peak = max((r["median"] for r in results), default=0)
    return draw_panels("GFLOP/s against the edge of a tile, two workers", {name: list(c.items()) for name, c in panels.items()}, lambda curves: peak, "edge of a tile")


def plots(document):
    """(name, SVG) of all that can be drawn of a document."""
    for bench in document.get("benches") or [document]:
        name, results = bench["bench"], bench["results"]
        for workers in sorted({r["workers"] for r in results}):
            some = [r for r in results if r["workers"] == workers]
            if name != "real" and some:
                unit = some[0]["unit"]
                yield f"{name}-{workers}.svg", draw_bars(f"hbg bench {name}, {unit}, {workers} worker{'s' if workers > 1 else ''}", some)
        if name == "metg":
            yield "efficiency.svg", efficiency(results)
        if name == "real":
            yield "real.svg", real(results)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    try:
        with open(sys.argv[1], encoding="utf-8") as file:
            document = json.load(file)
    except (OSError, ValueError) as why:
        sys.exit(f"plot_bench.py: {sys.argv[1]} is no JSON of hbg bench: {why}")
    if not isinstance(document, dict) or not ("benches" in document or "results" in document):
        sys.exit(f"plot_bench.py: {sys.argv[1]} is no JSON of hbg bench")
    folder = pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for name, svg in plots(document):
        if svg:
            (folder / name).write_text(svg, encoding="utf-8")
            print(folder / name)


main()
