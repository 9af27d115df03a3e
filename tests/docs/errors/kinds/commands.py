"""Errors of the command line: names, scopes, options, output files."""

from __future__ import annotations

from collections.abc import Iterator

from schedproof.diagrams.render import render
from tests.docs.errors.case import Case, command, lease
from tests.model.locks.test_language import THREAD
from tests.support.places import DATA

TRACE = str(DATA / "hived" / "s-02-life-preemption.jsonl")
LOCKS = {"locks.yaml": THREAD + "    - rlock a: []\n", "log.jsonl": ""}


def cases() -> Iterator[Case]:
    for arguments in (
        [],   ["verify", "nosuch"],
         ["explore", "hived", "--scope", "PodGroup=0"], ["explore", "hived", "--scope", "PodGroup=two"],
        ["explore", "hived", "--scope", "Pod=2"], ["explore", "hived", "--scope", "Cell=1,Cell=2"], ["explore", "hived", "--scope", "Cell=64"],
         ["explore", "hived", "--checkpoint", "x", "--engine", "interpreted"],
        ["explore", "hived", "--checkpoint-every", "1"],
        ["prove", "hived", "--variant", "nosuch"], ["prove", "hived", "--emit-smt", ""],
        ["verify", "hived", "--json", "missing/x"], ["verify", "hived", "--json", "."], ["verify", "hived", "--summary", ""],
        ["verify", "--json", "-", "--junit", "-"],  ["verify", "hived", "--junit", "x" * 300],
        ["table", "hived", "Cell", "--json", "/dev/full"], ["check", "hived", ""], ["check", "hived", "/dev/zero"], ["check", "hived", "x", "--variant", "nosuch"],
        ["diagram", "hived", "-o", "picture"], ["diagram", "hived", "Nosuch", "-o", "x.dot"], ["diagram", "hived", "Cell", "-o", "x.dot", "--deadlock"], ["diagram", "hived", "Cell", "--format", "png", "-o", "-"],
        ["diagram", "hived", "-o", "/dev/full", "--format", "dot"],
        ["explain", "hived"], ["explain", "hived", "nosuch"], ["explain", "hived", "--state", "c0"], ["explain", "hived", "--state", "z9=Free"],
        ["explain", "hived", "--state", "c0.colour=red"], ["explain", "hived", "--state", "c0=Fre"], ["explain", "hived", "--state", "c0.user=g9"],
        ["diff", "hived", "as-written", "nosuch"], ["table", "hived", "PodGrup"],
        ["generate", "hived", "--cover", "actions", "--output", ""], ["generate", "hived", "--cover", "actions", "--output", "missing/x"],
        ["init", "A b"], ["init", "hived"], ["init", "json"], ["init", "mine", "-o", ""],
        ["locks", "locks.yaml", "--format", "dot"], ["locks", "locks.yaml", "--picture", "picture"],
        ["locks", "locks.yaml", "--picture", "x.dot", "--log", "log.jsonl"], ["locks", "locks.yaml", "--picture", "x.dot"],
        ["serve", "--stdio", "--port", "1"], ["serve", "--host", "0.0.0.0"],
    ):  # fmt: skip
        yield command(*arguments, files=LOCKS if arguments[:1] == ["locks"] else None)
    yield command("generate", "hived", "--cover", "actions", "--output", "file", files={"file": ""})
    yield command("generate", "hived", "--cover", "actions", "--output", "folder", files={"folder/x": ""})
    yield command("init", "mine", "-o", "file", files={"file": ""})
    yield lease("init lease")
    yield Case("render(diagram, 'gif')", lambda: render(None, "gif"))  # type: ignore[arg-type]
