#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`hbg trace --page`: one page that asks no network for anything; where there is a chromium, it draws, zooms, and says why a task began."""
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HBG = os.environ["HBG"]
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
NASTY = "ext.t.%3C/script%3E%3Cb%3E%22%5C"           # </script><b>"\


def hbg(*arguments):
    return subprocess.run([HBG, *arguments], capture_output=True, text=True, timeout=120, check=True).stdout


class Page(html.parser.HTMLParser):
    """The data of a page, and every address that it names."""

    def __init__(self, text):
        super().__init__()
        self.data, self.inside, self.addresses = "", False, []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.inside = tag == "script" and dict(attributes).get("id") == "data"
        self.addresses += [value for key, value in attributes if key in ("src", "href")]

    def handle_endtag(self, tag):
        self.inside = False

    def handle_data(self, data):
        self.data += data if self.inside else ""


def dom(path, fragment):
    with tempfile.TemporaryDirectory() as profile:
        done = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}", "--virtual-time-budget=3000", "--window-size=1200,800",
                               "--dump-dom", f"file://{path}#{fragment}"], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    return done.stdout


def check_page(path, trace):
    text = open(path).read()
    page = Page(text)
    assert page.addresses == [] and not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text), page.addresses
    data = json.loads(page.data)
    lanes = {lane["name"]: lane["spans"] for lane in data["lanes"]}
    assert {"pipeline slot 0", "core 0"} <= set(lanes), set(lanes)
    tasks = [s for name, spans in lanes.items() if name.startswith("core") for s in spans]
    told = json.loads(hbg("trace", trace, "--critical-path", "--run", "1", "--json", "-"))
    assert len([s for s in tasks if s["run"] == 1]) == len(told["tasks"])
    for step in told["path"]:                           # the page says what the path says
        (span,) = [s for s in tasks if s["run"] == 1 and s["values"]["task"] == str(step["task"])]
        assert span["why"].startswith(step["after"] + ":"), (step, span)
    assert all(0 <= s["begin"] and s["begin"] + s["dur"] <= data["length_ns"] for spans in lanes.values() for s in spans)
    assert all(0 <= t <= data["length_ns"] for s in tasks for t in s["times"].values()) and all("dispatched" in s["times"] for s in tasks)
    assert not any(key in s["values"] for s in tasks for key in ("ready", "dispatched")), tasks[0]
    assert any(s["name"] == 'ext.t.</script><b>"\\' for spans in lanes.values() for s in spans)
    return data, tasks


def check_browser(path, data, tasks):
    whole = dom(path, "")
    assert whole.count("<rect") > 5 and "pipeline slot 0" in whole
    assert f'data-from="0" data-to="{data["length_ns"]}"' in whole
    span = min((s for s in tasks if s["run"] == 1 and s["why"].startswith("data:")), key=lambda s: s["dur"])
    check_span(path, data, span)
    # at the begin of a long trace, too
    text, (length, longer) = open(path).read(), (f'"length_ns": {n}' for n in (data["length_ns"], 100 * data["length_ns"]))
    assert text.count(length) == 1
    open(path, "w").write(text.replace(length, longer))
    check_span(path, dict(data, length_ns=100 * data["length_ns"]), span)


def check_span(path, data, span):
    # an eighth of the view is its own, unless that is more than all
    shown = dom(path, f"run=1&task={span['values']['task']}")
    assert span["why"] in shown and 'class="on"' in shown, span
    detail = re.search(r'<div id="detail">(.*?)</div>', shown, re.S).group(1)
    assert re.search(r"^run        1\nlane       core \d+\n(ready|dispatched) ", detail, re.M), detail
    at = re.search(r"^dispatched ([\d.]+) (ns|us|ms|s)$", detail, re.M)
    assert at and abs(float(at[1]) * {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[at[2]] - span["times"]["dispatched"]) <= 1e-3 * span["times"]["dispatched"], detail
    begin, end = map(int, re.search(r'data-from="(\d+)" data-to="(\d+)"', shown).groups())
    assert begin <= span["begin"] and span["begin"] + span["dur"] <= end
    assert end - begin < data["length_ns"] or max(8 * span["dur"], 1000) >= data["length_ns"]


def check_submissions(path, trace):
    """They have a lane of their own, and are where their nodes are."""
    hbg("run", "decoder", "layers=3", "hidden=64", "ffn=96", "context=60", "--device", "cpu:workers=2", "--trace", trace, "--trace-level", "task", "--rounds", "2")
    hbg("trace", trace, "--page", path)
    lanes = {lane["name"]: lane["spans"] for lane in json.loads(Page(open(path).read()).data)["lanes"]}
    nodes = [s for name, spans in lanes.items() if name.startswith("core") for s in spans if s["run"] == 1 and "submission" in s["values"]]
    layers = [s for s in lanes["submissions"] if s["run"] == 1]
    assert [s["name"] for s in layers] == 3 * ["decoder layer"], layers
    for layer in layers:
        own = [n for n in nodes if n["values"]["submission"] == layer["values"]["task"]]
        assert len(own) == 40 and min(n["begin"] for n in own) == layer["begin"], layer
        assert max(n["begin"] + n["dur"] for n in own) == layer["begin"] + layer["dur"], layer
    if BROWSER:
        assert "lane       submissions" in dom(path, f"run=1&task={layers[1]['values']['task']}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        trace, path = os.path.join(folder, "trace"), os.path.join(folder, "page.html")
        hbg("run", "cholesky", "n=256", "tile=64", "--device", "cpu:workers=2", "--trace", trace, "--trace-level", "task", "--rounds", "2")
        lines = open(trace).read().splitlines(keepends=True)
        end = lines[-1]
        number = int(re.search(r" seq=(\d+) ", end).group(1))
        lines[-1] = re.sub(r"depth=\d+ name=\S+ (.*) dev=1 seq=.*;", rf"depth=0 name={NASTY} \1 dev=1 seq={number} ;", end)
        lines.append(end.replace(f" seq={number} ", f" seq={number + 1} "))
        open(trace, "w").write("".join(lines))
        hbg("trace", trace, "--page", path)
        data, tasks = check_page(path, trace)
        check_submissions(os.path.join(folder, "layers.html"), os.path.join(folder, "layers"))
        if BROWSER:
            check_browser(path, data, tasks)
            return 0
    print("skipped: there is no chromium; the page holds what it should and was not opened")
    return 77


sys.exit(main())
