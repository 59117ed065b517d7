#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Command, library and source tree of different commits are refused: each way to it, and each way around it, in a scratch repository.

The command and the library of this build are copied into the scratch tree, and the commits that they carry are written over."""
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HBG, BUILD = os.environ["HBG"], pathlib.Path(os.environ["HBG_BUILD"])
COMMAND_MARK, LIBRARY_MARK, STAMP_BYTES = b"hbg-command-commit:", b"hbg-library-commit:", 64
QUIET = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "GIT_AUTHOR_NAME": "test", "GIT_AUTHOR_EMAIL": "test@example.invalid",
         "GIT_COMMITTER_NAME": "test", "GIT_COMMITTER_EMAIL": "test@example.invalid"}


def git(tree, *words):
    done = subprocess.run(["git", "-C", str(tree), *words], env={**os.environ, **QUIET}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"git {' '.join(words)}: {done.stderr}")
    return done.stdout.strip()


def commit(tree, text):
    (pathlib.Path(tree) / "README.md").write_text(text)
    git(tree, "add", "README.md")
    git(tree, "commit", "-qm", text)
    return git(tree, "rev-parse", "HEAD")


def write_over(file, mark, stamp):
    content = file.read_bytes()
    assert content.count(mark) == 1, (file, mark)
    at = content.index(mark) + len(mark)
    file.write_bytes(content[:at] + stamp.encode().ljust(STAMP_BYTES, b"\0") + content[at + STAMP_BYTES:])


class Build:
    """A build tree below a source tree, with a command and a library of these commits."""

    def __init__(self, source, command, library=None, name="build"):
        self.source, self.folder = pathlib.Path(source), pathlib.Path(source) / name
        self.folder.mkdir()
        self.command, self.library = self.folder / "hbg", self.folder / "libhbg.so.0"
        shutil.copy(HBG, self.command)
        shutil.copy(BUILD / "libhbg.so.0", self.library)
        self.marker = self.folder / "hbg.source"
        self.marker.write_text(f"{self.source}\n{self.folder}\n{self.folder}\n")
        self.stamp(command, command if library is None else library)

    def stamp(self, command, library):
        write_over(self.command, COMMAND_MARK, command)
        write_over(self.library, LIBRARY_MARK, library)

    def run(self, *words, libraries=None, **environment):
        environment = {**os.environ, "LD_LIBRARY_PATH": str(libraries or self.folder), **environment}
        return subprocess.run([str(self.command), *words], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)

    def told(self, verdict, **with_what):
        """What `hbg version` says, which must be this; the other commands run or refuse accordingly."""
        done, listed = self.run("version", "--json", **with_what), self.run("list", **with_what)
        told = json.loads(done.stdout)
        refused = 1 if verdict == "mismatch" else 0
        assert (told["check"], done.returncode, listed.returncode) == (verdict, refused, refused), (verdict, told, done, listed)
        assert self.run("version", **with_what).returncode == refused
        if verdict == "mismatch":
            assert listed.stdout == "" and listed.stderr.count("\n") == 1, listed
            assert listed.stderr == f"hbg: HBG_E_ABI: {told['why']}; run this: {told['repair']}\n" == done.stderr, (listed, told)
            assert self.run("--help", **with_what).returncode == 0
        else:
            assert listed.stderr == "" and told["repair"] is None and "vector" in listed.stdout, listed
        return told

    def mismatch(self, one, other, repair, **with_what):
        told = self.told("mismatch", **with_what)
        assert one in told["why"] and other in told["why"] and told["repair"] == repair, (one, other, repair, told)

    def inert(self, why, **with_what):
        told = self.told("inert", **with_what)
        said = self.run("version", **with_what).stdout
        assert why in told["why"] and re.search(r"^check +not compared with a source tree: ", said, re.M), (why, told, said)


def check_head(tree):
    first = commit(tree, "one")
    build = Build(tree, first)
    repair = f"cmake --build {build.folder}"
    assert build.told("match")["source"] == {"path": str(tree), "head": first, "reference": git(tree, "symbolic-ref", "HEAD")}
    (tree / "README.md").write_text("not committed")
    build.told("match")
    git(tree, "checkout", "-q", "--", ".")
    second = commit(tree, "two: documents alone")
    build.mismatch(first, second, repair)
    git(tree, "branch", "other", first)
    git(tree, "checkout", "-q", "other")
    build.told("match")
    git(tree, "checkout", "-q", "-")
    build.mismatch(first, second, repair)
    git(tree, "pack-refs", "--all")
    build.mismatch(first, second, repair)
    git(tree, "checkout", "-q", "other")
    build.told("match")
    git(tree, "checkout", "-q", second)
    build.mismatch(first, second, repair)
    build.stamp(second, second)
    assert build.told("match")["source"]["reference"] is None
    build.told("match", GIT_DIR="/nonexistent/.git")
    return build, second


def check_worktrees(tree, build, second, work):
    git(tree, "worktree", "add", "-q", "-b", "beside", str(work / "beside"), second)
    beside = Build(work / "beside", second)
    beside.told("match")
    third = commit(work / "beside", "three")
    beside.mismatch(second, third, f"cmake --build {beside.folder}")
    build.told("match")
    git(tree, "init", "-q", "--separate-git-dir", str(work / "apart.git"), str(work / "apart"))
    apart = Build(work / "apart", commit(work / "apart", "apart"))
    apart.told("match")
    commit(work / "apart", "apart again")
    apart.told("mismatch")


def check_libraries(build, second, work):
    other = "0123456789abcdef" * 2 + "01234567"
    build.stamp(second, other)
    build.mismatch(second, other, f"cmake --build {build.folder}")
    build.stamp(second, second)
    loaded = work / "loaded"
    loaded.mkdir()
    shutil.copy(build.library, loaded)
    build.told("match", libraries=loaded)
    write_over(loaded / "libhbg.so.0", LIBRARY_MARK, other)
    build.mismatch(second, other, "unset LD_LIBRARY_PATH", libraries=loaded)
    write_over(loaded / "libhbg.so.0", LIBRARY_MARK, "")
    build.mismatch(second, "no commit", "unset LD_LIBRARY_PATH", libraries=loaded)
    content = build.library.read_bytes()
    (loaded / "libhbg.so.0").write_bytes(content.replace(b"hbg_version_commit\0", b"hbg_version_c_mmit\0"))
    build.mismatch(second, "no stamp", "unset LD_LIBRARY_PATH", libraries=loaded)
    build.marker.rename(work / "marker")        # as where it is installed
    build.inert("does not lie in a build tree")
    shutil.copy(build.library, loaded)
    write_over(loaded / "libhbg.so.0", LIBRARY_MARK, other)
    build.mismatch(second, other, "unset LD_LIBRARY_PATH", libraries=loaded)
    (work / "marker").rename(build.marker)
    build.stamp("", "")
    build.inert("built without git")
    build.stamp(second, second)


def check_unreadable(tree, build, work):
    head, content = tree / ".git" / "HEAD", (tree / ".git" / "HEAD").read_text()
    for text, why in (("ref: refs/heads/none\n", "its branch has no commit"), ("rubbish\n", "its HEAD is not understood"), ("ref: refs/../../secret\n", "its HEAD is not understood"), ("", "its HEAD is not understood")):
        head.write_text(text)
        build.inert(why)
    (tree / ".git" / "refs" / "heads" / "round").write_text("ref: refs/heads/round\n")
    head.write_text("ref: refs/heads/round\n")
    build.inert("from reference to reference")
    (tree / ".git" / "refs" / "heads" / "round").write_text(content)
    build.told("match")
    (tree / ".git" / "reftable").mkdir()
    head.write_text("ref: refs/heads/.invalid\n")
    build.inert("its references are a reftable")
    head.unlink()
    build.inert("its HEAD cannot be read")
    head.write_text(content)
    build.told("match")
    (tree / ".git").rename(work / "git")
    build.inert("it is no git repository")
    (tree / ".git").write_text("rubbish\n")
    build.inert("its .git names no folder")
    (tree / ".git").unlink()
    build.marker.write_text(f"{work}/gone\n{work}/gone\n{work}/gone\n")
    build.inert("is not there")
    build.marker.write_text("")
    build.inert("does not lie in a build tree")


def main():
    if not shutil.which("git"):
        print("git is missing: no scratch repository is made here")
        sys.exit(77)
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        del os.environ[name]
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder).resolve()
        tree = work / "tree"
        git(work, "init", "-q", str(tree))
        build, second = check_head(tree)
        check_worktrees(tree, build, second, work)
        check_libraries(build, second, work)
        check_unreadable(tree, build, work)

        long = work / "a long one's tree"
        git(work, "init", "-q", "--object-format=sha256", str(long))
        first = commit(long, "one")
        build = Build(long, first)
        assert len(first) == 64 and build.told("match")["commit"] == first
        second = commit(long, "two")
        told = build.told("mismatch")
        assert second in told["why"] and shlex.split(told["repair"]) == ["cmake", "--build", str(build.folder)], told


main()
