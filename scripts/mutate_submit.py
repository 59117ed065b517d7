#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mutate_submit.py - break what builds a graph in one place at a time, and see that a test notices.

    scripts/mutate_submit.py [--only REGEX] [--every N] [--jobs N] [--list]

The functions below write what a device reads: records, edge rows, arguments, layouts, parameter bytes, the root list, the head, the
launch descriptor with its base table; or the tables of the build out of which these are made; or they keep, find and submit recorded
bodies. Of each of their writes there is one mutant:

* a statement that assigns, counts, copies or fills through a pointer, an index or a member: the statement is gone;
* one lvalue of a chain of assignments: that one is gone;
* a member of the initialiser of a wire struct, or a value of a pair that is stored at once: it is 0xaa in every byte, as if that
  member had not been written.

The files of bodies decide more than they write, so in those there are also

* a call whose value nobody takes: it is gone;
* one of several conditions that are joined by && or ||: the others decide without it;
* a statement that leaves the function, the loop or its round early: it is gone.

A mutant is noticed when a suite of its file does not build, fails, or does not end (mutation.py). Of the hazard map the files that
collect producers and enter accesses are here; those that reckon with cells are not.

At the end the survivors are listed; those in mutations_allowed.py, each with a reason, are right to survive. Exit status 1: another one
survived, or one that is allowed was noticed. A name, here or there, that is not in the source ends the script at once.
"""
import pathlib
import re
import sys

sys.dont_write_bytecode = True
import mutation
from mutations_allowed import ALLOWED

FLAGS = ("-DCMAKE_C_FLAGS=-ftrivial-auto-var-init=pattern", "-DHBG_BUILD_COMMAND=OFF")
TIMEOUT_S = 60

# who may notice, those first that cost least; the devices of the first two are poisoned
IMAGES = ("backend/poison", "backend/shadow")
HAZARDS = ("backend/parts", "backend/odd_views", "backend/history")
STORAGES = ("backend/parts", "regress/replay_of_another_part")
BODIES = ("backend/definition_guards", "backend/definition_storage", "backend/definition_store", "backend/definition_captures", "backend/definition",
          "backend/subgraph", "backend/random_bodies")
DISTANCES, HEAP, LIMIT = "regress/distances_inside_a_body_may_change", "regress/heap_of_a_body_in_a_small_limit", "regress/limit_of_tasks_behind_a_body"
SERIAL, BUFFER_GOES, PROGRAM_GOES = "regress/bodies_in_a_body_that_is_serial", "regress/definition_of_a_destroyed_buffer", "regress/guarded_memory_of_a_gone_program"
MORE_FOR_BODIES = {
    "submission": ("backend/submission_edges", "backend/poison", "regress/arguments_of_a_body_leave_their_buffer", LIMIT, HEAP, "stress/definitions"),
    "match": (DISTANCES, HEAP, BUFFER_GOES, PROGRAM_GOES), "recorder": ("backend/poison", LIMIT, DISTANCES, HEAP, SERIAL, PROGRAM_GOES), "alias": (DISTANCES,),
    "capture": (SERIAL, "backend/in_place"), "in_place": ("backend/in_place", "regress/order_around_bodies_in_place"), "known": ("unit/graph/known", "fault/refusal", "fault/allocation"), "subgraph": ("backend/in_place", "fault/bad_calls"),
    "definition": ("unit/graph/definition", BUFFER_GOES, "stress/definitions"), "definitions": (BUFFER_GOES, "stress/definitions"), "node": ("unit/run/node", "backend/describe_bodies"),
}
# in the name of a mutant: it may be noticed where memory fails
MEMORY = r"memory|alloc|free|DELETE|NEW|reserve|release|create|room|fit\(|status|keep|open|unpin|call->bound|if \(!\w+\) return"
FAULTS = ("fault/allocation", "fault/refusal")
SCALES = {suite: 10 for suite in (*IMAGES, *HAZARDS, *STORAGES, *BODIES, *sum(MORE_FOR_BODIES.values(), ()), *FAULTS)}
SCALES |= {"backend/random_bodies": 5, "stress/definitions": 3}                # HBG_TEST_SCALE

# file -> functions that write the image, the descriptor, or the tables that they are made of; ALL: each one but those in SKIPPED
ALL = None
FUNCTIONS = {
    "src/graph/append.h": ALL,
    "src/graph/append.c": ALL,
    "src/graph/submit.c": ALL,
    "src/graph/short_way.h": ALL,
    "src/graph/argument.c": ALL,
    "src/graph/layouts.c": ALL,
    "src/graph/scope.c": ALL,
    "src/graph/hazard_map.h": ALL,
    "src/graph/hazard_map.c": ALL,
    "src/graph/hazard_note.c": ALL,
    "src/graph/storage.c": ("hbg__storage_add", "join_group", "add_boundary_region", "reach_over", "count_from_arguments", "grow_to_buffer", "hbg__storage_boundary", "add_buffer", "storage_of_buffer"),
    "src/graph/build.c": ("reset_counts", "give_boundary", "begin", "seal"),
    "src/graph/submission.c": ALL,
    "src/graph/match.c": ALL,
    "src/graph/known.c": ALL,
    "src/graph/recorder.c": ALL,
    "src/graph/definition.c": ALL,
    "src/graph/alias.c": ALL,
    "src/graph/capture.c": ALL,
    "src/graph/in_place.c": ALL,
    "src/graph/subgraph.c": ALL,
    "src/run/definitions.c": ALL,
    "src/run/node.c": ALL,
    "src/run/bind.c": ("new_group", "bind_buffer", "group_host_ranges", "number_groups", "bind_all", "hbg__run_bind"),
    "src/run/stage.c": ("upload_image", "place_groups", "next_epoch", "fill_bases", "write_descriptor"),
}
SKIPPED = {
    "hbg__payload_grow", "hbg__tasks_grow",                             # room in tables
    "sift_down", "sort_ascending", "by_offset",                         # order of marks and blocks
    "no_task", "fail_call", "fail_signature", "fail_kind", "name_kernel", "fail_alloc", "bad_region",       # errors
    "unsupported", "hbg_submit_args_ex", "prefetch_storage",
}
FILES_OF_BODIES = ("src/graph/body.h",) + tuple(f"src/graph/{name}.c" for name in ("submission", "match", "known", "recorder", "definition", "alias", "capture", "in_place", "subgraph")) + (
    "src/run/definitions.c", "src/run/node.c")
UNHEARD = r"pthread_|__builtin_|prefetch_|HBG_ASSERT|hbg__log_|mem(?:cpy|set|move)$|hbg__store_"
WIRE = r"\(struct (?:hbg__image_head|hbg__launch|hbg_view_arg)\)\{|struct hbg_layout \w+ = \{"
PAIR = r"\bhbg__store_(?:pair|tail)\("
POISON = "0xaaaaaaaaaaaaaaaaull"


# ---- finding the writes ----

def masked(text):
    """The text with comments and literals blanked out, every character in its place."""
    blank = lambda m: re.sub(r"[^\n]", " ", m.group())
    return re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text, flags=re.S)


def end_of(code, at):
    """Behind the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(code)):
        depth += code[i] in "([{"
        depth -= code[i] in ")]}"
        if depth == 0:
            return i + 1
    raise ValueError("unbalanced")


def functions_of(code):
    """{name: (begin, end)} of the bodies of a file."""
    heads = re.finditer(r"^[A-Za-z_][^\n;={]*\b(\w+)\([^;{]*\)\n\{", code, re.M)
    return {head.group(1): (head.end() - 1, end_of(code, head.end() - 1)) for head in heads}


def statements(code, begin, end):
    """(from, to, early) of every simple statement, without the `if (..)`, `else` and `for (..)` in front of it. early: others follow it, or may."""
    at = start = begin + 1
    depth = 0
    while at < end:
        if code[at] in "([" or (code[at] == "{" and code[start:at].rstrip().endswith(("=", ")")) and re.search(r"=\s*$|\(struct \w+\)$", code[start:at].rstrip())):
            at = end_of(code, at)
            continue
        if code[at] in "{}":
            start = at + 1
            depth += 1 if code[at] == "{" else -1
        elif code[at] == ";":
            first = without_heads(code, start, at)
            yield first, at, depth > 0 or bool(code[start:first].strip())
            start = at + 1
        at += 1


def without_heads(code, start, end):
    while True:
        head = re.compile(r"\s*(?:(if|for|while|switch)\s*(?=\()|(else|do)\b|case [^:]*:|default:)").match(code, start, end)
        if not head:
            break
        start = end_of(code, head.end()) if head.group(1) else head.end()
    while start < end and code[start].isspace():
        start += 1
    return start


ASSIGN = re.compile(r"(?<![=!<>])(?:<<|>>|[-+*/%&|^])?=(?!=)")
DECLARATION = re.compile(r"(?:const|static|struct|enum|unsigned|bool|int|char|size_t|void|u?int\d+_t)\b[^=]*[\s*]\w+(?:\[.*?\])?\s*(?:=|,|$)")


def top_level(code, start, end):
    """Places of assignment operators outside of all brackets."""
    at = start
    while at < end:
        if code[at] in "([{":
            at = end_of(code, at)
            continue
        found = ASSIGN.match(code, at, end)
        if found:
            yield found.start(), found.end()
            at = found.end()
        else:
            at += 1


def is_shared(lvalue):
    return bool(re.search(r"->|\.|\[|^\s*\*|\*\(", lvalue))


def writes(code, text, begin, end):
    """(from, to, replacement, name) of each write of a function whose body is given."""
    for start, stop, _ in statements(code, begin, end):
        statement = code[start:stop]
        if DECLARATION.match(statement) or statement.startswith(("return", "continue", "break")) or "HBG__POISON" in statement:
            continue
        called = re.match(r"(memcpy|memset|memmove)\(|hbg__store_\w+\(", statement)
        counted = re.match(r"(\+\+|--)|.*(\+\+|--)$", statement, re.S)
        operators = list(top_level(code, start, stop))
        if called or (counted and not operators and is_shared(statement)):
            yield start, stop, "(void)0", text[start:stop]
        elif len(operators) == 1 and is_shared(code[start:operators[0][0]]):
            yield start, stop, "(void)0", text[start:stop]
        elif len(operators) > 1:
            left = start
            for at, behind in operators:
                if is_shared(code[left:at]):
                    yield left, behind, "", text[left:at].strip() + " in " + text[start:stop]
                left = behind
    for wire in re.finditer(WIRE, code[begin:end]):
        yield from members(code, text, begin + wire.end() - 1)
    for pair in re.finditer(PAIR, code[begin:end]):
        yield from list(members(code, text, begin + pair.end() - 1))[1:]


def members(code, text, bracket):
    """Each value of a list in brackets."""
    stop = end_of(code, bracket) - 1
    at = start = bracket + 1
    while at <= stop:
        if at < stop and code[at] in "([{":
            at = end_of(code, at)
            continue
        if at == stop or code[at] == ",":
            named = re.compile(r"\s*(?:\.\w+\s*=\s*)?").match(code, start, at)
            if named.end() < at:
                yield named.end(), at, POISON, text[start:at].strip()
            start = at + 1
        at += 1


def calls(code, text, begin, end):
    for start, stop, _ in statements(code, begin, end):
        called = re.match(r"(?:\(void\))?(\w+)(?=\()", code[start:stop])
        if called and not re.match(UNHEARD, called.group(1)) and end_of(code, start + called.end()) == stop:
            yield start, stop, "(void)0", text[start:stop]


def exits(code, text, begin, end):
    for start, stop, early in statements(code, begin, end):
        if early and re.match(r"return\b|continue$|break$", code[start:stop]):
            head = code.rfind("\n", 0, start) + 1
            yield start, stop, "(void)0", text[head:stop]


BOUNDARY = re.compile(r"[;,?:{]|return\b|" + ASSIGN.pattern)


def split(code, start, stop, operator):
    """The operands between `start` and `stop`, outside of all brackets."""
    at = first = start
    while at < stop:
        if code[at] in "([{":
            at = end_of(code, at)
        elif code.startswith(operator, at):
            yield first, at
            at = first = at + len(operator)
        else:
            at += 1
    yield first, stop


def conditions(code, text, begin, end):
    """Each operand of && and of ||, between begin and end and in the brackets there."""
    def of(start, stop):
        name = lambda a, b: f"{text[a:b].strip()} in {text[start:stop].strip()}"
        alternatives = list(split(code, start, stop, "||"))
        for a, b in alternatives:
            if len(alternatives) > 1:
                yield a, b, " 0 ", name(a, b)
            needed = list(split(code, a, b, "&&"))
            if len(needed) > 1:
                yield from ((first, last, " 1 ", name(first, last)) for first, last in needed)

    at = start = begin + 1
    while at < end - 1:
        boundary = BOUNDARY.match(code, at, end)
        behind = end_of(code, at) if code[at] in "([{" else boundary.end() if boundary else at + 1
        if code[at] in "([{":
            yield from conditions(code, text, at, behind)
        if boundary:
            yield from of(start, at)
            start = behind
        at = behind
    yield from of(start, end - 1)


def find_mutants():
    """{(path, function, write): mutant}; of writes that read alike the later ones have a number."""
    found, bodies = {}, {path: functions_of(masked(mutation.source(path))) for path in FUNCTIONS}
    missing = [f"{path} has no function {name}" for path, names in FUNCTIONS.items() for name in names or () if name not in bodies[path]]
    missing += [f"no file has the function {name} of SKIPPED" for name in SKIPPED if not any(name in of for of in bodies.values())]
    for path, names in FUNCTIONS.items():
        text = mutation.source(path)
        code = masked(text)
        kinds = (writes, calls, exits, conditions) if path in FILES_OF_BODIES else (writes,)
        for function in names or [name for name in bodies[path] if name not in SKIPPED]:
            for start, stop, replacement, name in (m for kind in kinds for m in kind(code, text, *bodies[path][function])):
                name = " ".join(name.split())
                alike = sum(1 for other in found if other[:2] == (path, function) and re.fullmatch(re.escape(name) + r"( \(\d+\))?", other[2]))
                name = (path, function, f"{name} ({alike + 1})" if alike else name)
                found[name] = mutation.Mutant(path, name[1:], text[:start] + replacement + text[stop:], suites_of(path, " ".join(name[1:])))
    missing += ["not in the source: " + ": ".join(name) for name in ALLOWED if name not in found]
    if missing:
        raise SystemExit("mutate_submit: " + "\n".join(missing))
    return found


def suites_of(path, name):
    if path not in FILES_OF_BODIES:
        return IMAGES + (HAZARDS if "/hazard_" in path else STORAGES if path.endswith("/storage.c") else ())
    return BODIES + MORE_FOR_BODIES.get(pathlib.PurePath(path).stem, ()) + (FAULTS if re.search(MEMORY, name) else ())


def main():
    given = mutation.arguments(__doc__)
    tried = {name: mutant for name, mutant in find_mutants().items() if re.search(given.only, ": ".join(name))}
    tried = dict(list(tried.items())[::given.every])
    if given.list:
        print("\n".join(map(": ".join, tried)))
        return 0
    wrong, survivors = [], 0
    results = mutation.try_all(tried.values(), SCALES, FLAGS, given.jobs, TIMEOUT_S, all_suites=False)
    for i, (name, (_, noticed)) in enumerate(zip(tried, results), 1):
        survivors += not noticed
        if bool(noticed) == (name in ALLOWED):
            wrong.append(("NOTICED, THOUGH ALLOWED " if noticed else "SURVIVED ") + ": ".join(name))
            print(f"{i}/{len(tried)} {wrong[-1]}", file=sys.stderr, flush=True)
    print(f"{len(tried)} mutants, {len(tried) - survivors} noticed, {survivors} not")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
