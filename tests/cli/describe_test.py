#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hbg describe: the same before and after a run, in all formats; the DOT parses; numbers agree with each other and with hbg run;
limits; large graphs; bad command lines."""
import json
import os
import re
import subprocess
import sys
import tempfile

HBG = os.environ["HBG"]
SMALL = {"vector": ["n=4096", "block=256"], "cholesky": ["n=256", "tile=64"], "bgemm": ["task_num=8", "tile=16"], "gp": [],
         "decoder": ["layers=2", "hidden=64", "ffn=96", "context=60"]}


def run(args, status=0):
    done = subprocess.run([HBG, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
    if done.returncode != status:
        sys.exit(f"hbg {' '.join(args)}: status {done.returncode}, not {status}\n{done.stderr}")
    return done


def check(holds, what):
    if not holds:
        sys.exit(what)


TOKEN = re.compile(r'\s+|//[^\n]*\n|(?P<string>"(?:[^"\\]|\\.)*")|(?P<word>[A-Za-z_0-9.]+)|(?P<sign>->|[{}\[\];=,])', re.S)


def dot_tokens(text):
    at = 0
    while at < len(text):
        found = TOKEN.match(text, at)
        check(found, f"no DOT at {text[at:at + 40]!r}")
        at = found.end()
        if found.lastgroup:
            yield found.lastgroup, found.group()


def dot_edges(text):
    """Nodes and edges of the one graph that the text is; the grammar is that of the DOT language, as far as it is used."""
    tokens = list(dot_tokens(text))
    check([t[1] for t in tokens[:1]] == ["digraph"] and tokens[1][0] == "string" and tokens[2][1] == "{" and tokens[-1][1] == "}", "no digraph")
    nodes, edges, at = set(), [], 3

    def attributes(at):
        if tokens[at][1] != "[":
            return at
        while tokens[at][1] != "]":
            check(tokens[at + 1][0] == "word" and tokens[at + 2][1] == "=" and tokens[at + 3][0] in ("word", "string"), f"attribute at {tokens[at:at + 5]}")
            at += 4
            check(tokens[at][1] in ",]", f"attribute list at {tokens[at]}")
        return at + 1

    clusters = {}
    inside = []
    while at < len(tokens) - 1:
        name = tokens[at][1]
        if name == "}":
            inside.pop()
            at += 1
            continue
        check(tokens[at][0] == "word", f"statement at {tokens[at]}")
        if name == "subgraph":
            check(tokens[at + 1][0] == "word" and tokens[at + 2][1] == "{", f"subgraph at {tokens[at:at + 3]}")
            inside.append(tokens[at + 1][1])
            clusters[inside[-1]] = set()
            at += 3
            continue
        if tokens[at + 1][1] == "=":
            check(tokens[at + 2][0] in ("word", "string") and tokens[at + 3][1] == ";", f"attribute at {tokens[at:at + 4]}")
            at += 4
            continue
        if tokens[at + 1][1] == "->":
            edges.append((name, tokens[at + 2][1]))
            at += 3
        else:
            nodes.add(name)
            if inside:
                clusters[inside[-1]].add(name)
            at += 1
        at = attributes(at)
        check(tokens[at][1] == ";", f"statement end at {tokens[at]}")
        at += 1
    check(not inside, "a cluster without an end")
    return nodes, edges, clusters


def same_before_and_after():
    for workload, params in SMALL.items():
        for form in ("text", "dot", "json"):
            for device in ("cpu:workers=2", "cpu:workers=1,memory=discrete"):
                args = ["describe", workload, *params, "--format", form, "--limit", "100000", "--device", device, "--open"]
                before, after = run(args).stdout, run([*args, "--after-run"]).stdout
                check(before == after and len(before) > 100, f"{workload} {form} {device}: not the same before and after the run")


def longest_chain(graph, told):
    """With the nodes of a submission, where there are some, in its place."""
    depth = {}

    def level(first, count, before):
        longest = before
        for task in graph[first:first + count]:
            start = max([depth[edge["task"]] for edge in task["after"]], default=before)
            depth[task["id"]] = level(task["first_node"], task["body"], start) if "subgraph" in task else start + (not task["noop"])
            longest = max(longest, depth[task["id"]])
        return longest

    return level(0, told["ids"], 0)


def numbers_agree(*more):
    for workload, params in SMALL.items():
        told = json.loads(run(["describe", workload, *params, "--format", "json", "--limit", "100000", *more]).stdout)
        shown = told["slots"] if more else told["ids"]
        ran = json.loads(run(["run", workload, *params, "--rounds", "1", "--warmup", "0", "--json", "-"]).stdout)
        check(told["tasks"] == ran["tasks"] and told["edges"] == ran["edges"], f"{workload}: describe and run disagree")
        graph = told["graph"]
        check(len(graph) == shown and told["left_out"] == 0, f"{workload}: tasks are missing")
        edges = [(edge["task"], task["id"]) for task in graph for edge in task["after"]]
        check(len(edges) == told["edges"] + (told["node_edges"] if more else 0) and len(set(edges)) == len(edges), f"{workload}: edges")
        check(all(graph[a].get("submission") == graph[b].get("submission") for a, b in edges), f"{workload}: an edge into a body")
        check(all(a < b for a, b in edges), f"{workload}: an edge goes back")
        for task in graph:
            for edge in task["after"]:
                if edge["cause"] != "region":
                    continue
                mine, its = task["arguments"][edge["argument"]], graph[edge["task"]]["arguments"][edge["its_argument"]]
                check((mine["place"], mine.get("index")) == (its["place"], its.get("index")), f"{workload}: an edge between two tensors")
                check("in" != mine.get("access") or "in" != its.get("access"), f"{workload}: an edge between two readers")
        for task in graph:
            ends = [task["noop"] or graph[edge["task"]]["noop"] for edge in task["after"]]
            check(all(edge["cause"] == ("noop" if noop else "region") for edge, noop in zip(task["after"], ends)), f"{workload}: an edge without a region")
        if more or not told["submissions"]:
            check(longest_chain(graph, told) == told["longest_chain"], f"{workload}: longest chain")
        counted = [0] * shown
        for a, _ in edges:
            counted[a] += 1
        check(max(counted) == told["consumers"]["max"], f"{workload}: consumers")
        check(max(len(task["after"]) for task in graph) == told["producers"]["max"], f"{workload}: producers")
        for side in ("producers", "consumers"):
            check(sum(step["tasks"] for step in told[side]["histogram"]) == shown, f"{workload}: histogram of {side}")
        sizes = told["bytes"]
        check(sizes["image"] == 96 + sum(sizes[k] for k in ("records", "arguments", "edges", "roots", "shared")), f"{workload}: bytes")
        nodes, arrows, clusters = dot_edges(run(["describe", workload, *params, "--format", "dot", "--limit", "100000", *more]).stdout)
        check(nodes - {"node"} == {f"t{i}" for i in range(shown)}, f"{workload}: DOT nodes")
        begins = [(task["submission"], task["id"]) for task in graph if "submission" in task and not task["after"]]
        check(bool(begins) == any("subgraph" in task for task in graph if more), f"{workload}: no submission begins")
        check(sorted(arrows) == sorted((f"t{a}", f"t{b}") for a, b in edges + begins), f"{workload}: DOT edges")
        inside = {f"cluster_{task['id']}": {f"t{task['id']}"} | {f"t{node['id']}" for node in graph if node.get("submission") == task["id"]}
                  for task in graph if "subgraph" in task and more}
        check(clusters == inside, f"{workload}: DOT clusters")


def submissions():
    """Opened, a decoder whose layers are subgraphs has the tasks of one that submits them one by one."""
    base = ["describe", "decoder", *SMALL["decoder"]]
    plain, told = (json.loads(run([*base, f"subgraph={n}", "--format", "json", "--open", "--limit", "100000"]).stdout) for n in (0, 1))
    graph = told["graph"]
    check((plain["submissions"], told["submissions"], told["definitions"], told["ids"]) == (0, 2, 1, 3), "submissions of the decoder")
    check(told["bodies"] == [{"name": "decoder layer", "submissions": 2}], "bodies of the decoder")
    check((plain["tasks"], plain["longest_chain"]) == (told["tasks"], told["longest_chain"]), "subgraphs change the longest chain")
    kernels = [{k["name"]: k["tasks"] for k in t["kernels"] if k["name"] != "noop"} for t in (plain, told)]
    check(kernels[0] == kernels[1], f"subgraphs change the kernels: {kernels}")
    for task in graph:
        if "subgraph" not in task:
            continue
        nodes = graph[task["first_node"]:task["first_node"] + task["nodes"]]
        check(len(nodes) == task["body"] and [n["node"] for n in nodes] == list(range(len(nodes))), "nodes of a submission")
        check(all(n["submission"] == task["id"] for n in nodes), "nodes of another submission")
    first, second = (graph[t["first_node"]] for t in graph if "subgraph" in t)
    check(first["arguments"] == second["arguments"] and first["arguments"][1]["index"] == 5, "a node tells its place in terms of its body")
    text = run([*base, "--open", "--limit", "6"]).stdout
    check("\n1 decoder layer, a submission of 41 nodes, from 3 on\n" in text and "\n    3 norm\n" in text and " of argument 1 of decoder layer\n" in text, text)
    check("norm" not in run([*base, "--limit", "6"]).stdout.split("\n\n")[1].replace("norm1", "").replace("norm2", ""), "a submission is closed")


def shapes():
    """So do the shapes for measuring: their submissions and tasks are counted as they are described."""
    for shape, outer, inside, submissions, definitions, nodes in (("qwen3", 47, 11087, 40, 1, 277), ("dsv4", 129, 1131, 20, 7, 743)):
        plain, told = (json.loads(run(["describe", "decoder", f"shape={shape}", f"subgraph={n}", "--format", "json", "--open", "--limit", "100000"]).stdout)
                       for n in (0, 1))
        outside = [task for task in told["graph"] if "submission" not in task and task.get("kernel") != "noop"]
        check((len(outside), told["submissions"], told["definitions"]) == (outer, submissions, definitions), f"{shape}: {len(outside)} outer tasks")
        check(told["bodies"] == [{"name": "layer", "submissions": submissions}], f"{shape}: bodies")
        check(plain["tasks"] == told["tasks"] == inside and plain["longest_chain"] == told["longest_chain"], f"{shape}: {told['tasks']} tasks")
        kernels = [{k["name"]: k["tasks"] for k in t["kernels"] if k["name"] != "noop"} for t in (plain, told)]
        check(kernels[0] == kernels[1], f"{shape}: subgraphs change the kernels: {kernels}")
        sizes = {}
        for task in told["graph"]:
            if "submission" in task and task["kernel"] != "noop":
                sizes[task["submission"]] = sizes.get(task["submission"], 0) + 1
        check(sum(set(sizes.values())) == nodes and sum(sizes.values()) == inside - outer + submissions, f"{shape}: {sorted(sizes.values())}")


def limits():
    text = run(["describe", "vector", "--limit", "2"]).stdout
    check("\n1 step" in text and "\n2 " not in text and "more (--limit)" in text, "--limit 2")
    check("more" not in run(["describe", "vector", "--limit", "0"]).stdout, "--limit 0 is the numbers alone")
    large = run(["describe", "vector", "n=4000000", "block=16"])
    check(len(large.stdout.splitlines()) < 150, "a large graph prints a summary")
    count = int(re.search(r"^tasks +([0-9,]+)$", large.stdout, re.M).group(1).replace(",", ""))
    check(count > 100000, f"{count} tasks are not many")
    told = json.loads(run(["describe", "vector", "n=4000000", "block=16", "--format", "json", "--limit", "3"]).stdout)
    check(len(told["graph"]) == 3 and told["left_out"] == told["ids"] - 3, "JSON with a limit")


def files():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "g.dot")
        done = run(["describe", "vector", "--format", "dot", "--out", path])
        with open(path) as file:
            check(done.stdout == "" and file.read() == run(["describe", "vector", "--format", "dot"]).stdout, "--out FILE")
        run(["describe", "vector", "--out", os.path.join(folder, "no", "where")], status=1)
        check(run(["describe", "vector", "--out", "/dev/stdout"]).stdout == run(["describe", "vector"]).stdout, "--out into a pipe")


def refusals():
    for args, sentence in [
        ([], "a workload is needed"),
        (["vectr"], "there is no workload `vectr`; did you mean `vector`?"),
        (["vector", "--format", "xml"], "--format: there is no format `xml`"),
        (["vector", "--limit", "-1"], "--limit: `-1` is not a whole number of 0 or more"),
        (["vector", "--limit", "4294967296"], "--limit: `4294967296` is not between 0 and 4294967295"),
        (["vector", "--device", "tpu"], "device: HBG_E_"),
        (["vector", "n"], "`n` is no parameter"),
        (["vector", "n=-1"], "n must be at least 0"),
    ]:
        done = run(["describe", *args], status=2)
        check(done.stderr.startswith("hbg describe: ") and sentence in done.stderr and done.stdout == "", f"{args}: {done.stderr}")


same_before_and_after()
numbers_agree()
numbers_agree("--open")
submissions()
shapes()
limits()
files()
refusals()
