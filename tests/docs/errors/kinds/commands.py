"""Errors of the command line: names, scopes, options, output files."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest.mock import patch

from schedproof.diagrams.from_model import diagram
from schedproof.diagrams.player.data import About
from schedproof.diagrams.player.page import page
from schedproof.diagrams.render import render
from schedproof.diagrams.report.paths import require_distinct
from schedproof.testing import lockstep
from tests.diagrams.player.runs import blinking
from tests.docs.errors.case import Case, command, lease, repository, run
from tests.model.locks.test_language import THREAD
from tests.support.lamps import lamps
from tests.support.places import DATA

TRACE = str(DATA / "hived" / "s-02-life-preemption.jsonl")
LOCKS = {"locks.yaml": THREAD + "    - rlock a: []\n", "log.jsonl": ""}


def cases() -> Iterator[Case]:
    for arguments in (
        [], ["nosuch"], ["verify", "nosuch"], ["verify", "--manifest", "schedproof.toml"], ["list", "--variant", "as-written"],
        ["explore", "hived", "--property", "free-cell", "--counts-only"], ["simulate", "hived", "--property", "preempting-ends"],
         ["explore", "hived", "--scope", "PodGroup=0"], ["explore", "hived", "--scope", "PodGroup=two"],
        ["explore", "hived", "--scope", "Pod=2"], ["explore", "hived", "--scope", "Cell=1,Cell=2"], ["explore", "hived", "--scope", "Cell=64"],
         ["explore", "hived", "--checkpoint", "x", "--engine", "interpreted"],
        ["explore", "hived", "--checkpoint-every", "1"],
        ["explore", "hived", "--cluster", "local:2", "--threads", "2"], ["explore", "hived", "--cluster", "local", "--engine", "interpreted"],
        ["verify", "hived", "--cluster", "local:2", "--jobs", "2"], ["generate", "hived", "--cover", "states", "--cluster", "local:2", "--jobs", "2", "-o", "out"], ["explore", "hived", "--cluster", "local:0"], ["explore", "hived", "--cluster", "ray://head:10001"],
        ["strengthen", "hived", "--property", "preempting-ends"], ["strengthen", "hived", "--max-seconds", "0"], ["strengthen", "hived", "--cluster", "local:2", "--jobs", "2"],
        ["prove", "hived", "--variant", "nosuch"], ["prove", "hived", "--emit-smt", ""],
        ["verify", "hived", "--json", "missing/x"], ["verify", "hived", "--json", "."], ["verify", "hived", "--summary", ""],
        ["verify", "--json", "-", "--junit", "-"], ["verify", "--annotations", "--sarif", "-"], ["verify", "hived", "--sarif", "."], ["verify", "hived", "--junit", "x" * 300],
        ["table", "hived", "Cell", "--json", "/dev/full"], ["validate", "hived", ""], ["validate", "hived", "/dev/zero"], ["validate", "hived", "x", "--variant", "nosuch"],
        ["diagram", "hived", "-o", "picture"], ["diagram", "hived", "Nosuch", "-o", "x.dot"],
        ["diagram", "hived", "-o", "/dev/full", "--format", "dot"], ["diagram", "hived", "-o", "x.dot", "--sort", "Cel"],
        ["diagram", "hived", "Cell", "-o", "x.dot", "--sort", "Cell"], ["diagram", "hived", "-o", "x.dot", "--action", "alocate"],
        ["diagram", "hived", "PodGroup", "-o", "x.dot", "--action", "vacate"],
        ["explain", "hived"], ["explain", "hived", "nosuch"], ["explain", "hived", "interpretation.priorities-change"], ["explain", "hived", "interpretation.victims-stay-being-preempted", "--variant", "repaired"], ["explain", "hived", "no-way-back-to-allocated"], ["explain", "hived", "assumptions"], ["explain", "hived", "assumptions", "--mermaid"], ["explain", "hived", "--state", "c0"], ["explain", "hived", "--state", "z9=Free"],
        ["explain", "hived", "--state", "c0.colour=red"], ["explain", "hived", "--state", "g4=Pending"], ["explain", "hived", "--state", "c0=Fre"], ["explain", "hived", "--state", "c0.user=g9"], ["explain", "hived", "--state", "g0.outranks=g1"],
        ["explain", "hived", "free-cell", "--html", "run.html"], ["explain", "hived", "free-cell", "--branches", "2", "--compare-to", "repaired"],
        ["explain", "hived", "placements-are-disjoint", "--html", "run.html", "--compare-to", "as-written"], ["explain", "hived", "placements-are-disjoint", "--html", "run.html", "--compare-to", "repaired:free-cell"], ["explain", "yunikorn-merge", "deadlock.core-50", "--html", "run.html"],
        ["explain", "hived", "--state", "g0=Deleted", "--state", "c0.user=g0", "--html", "run.html"],
        ["coverage", "hived", "--scope", "Cell=1"], ["coverage", "hived", "--names", "--html", "x.html", "--json", "-"], ["diff", "hived", "as-written", "nosuch"], ["table", "hived", "PodGrup"],
        ["generate", "hived", "--cover", "actions", "--output", ""], ["generate", "hived", "--cover", "actions", "--output", "missing/x"],
        ["init", "A b"], ["init", "hived"], ["init", "json"], ["init", "mine", "-o", ""], ["init", "--ci", "github"],
        ["locks", "locks.yaml", "--format", "dot"], ["locks", "locks.yaml", "--picture", "picture"],
        ["locks", "locks.yaml", "--picture", "x.dot", "--log", "log.jsonl"], ["locks", "locks.yaml", "--picture", "x.dot"],
        ["locks"], ["locks", "locks.yaml", "--mermaid"], ["locks", "locks.yaml", "--lanes", "--mermaid"],
        ["report", "hived", "--earlier", "missing"], ["report", "hived", "--single-file", "-o", ""], ["report", "hived", "--single-file", "-o", "-", "--json", "-"], ["report", "hived", "-o", "-"],
        ["simulate", "hived", "--weight", "alocate=2"], ["simulate", "hived", "--weight", "allocate=many"],
        ["simulate", "hived", "--weight", "allocate=2", "--weight", "allocate=3"], ["simulate", "hived", "--weight", "crash=2", "--no-crash"],
        ["serve", "--stdio", "--port", "1"], ["serve", "--host", "0.0.0.0"],
    ):  # fmt: skip
        yield command(*arguments, files=LOCKS if arguments[:1] == ["locks"] else None)
    yield command("generate", "hived", "--cover", "actions", "--output", "file", files={"file": ""})
    yield command("generate", "hived", "--cover", "actions", "--output", "folder", files={"folder/x": ""})
    yield command("init", "mine", "-o", "file", files={"file": ""})
    yield command("report", "hived", "-o", "notes", files={"notes/mine.txt": ""})
    yield command("report", "hived", "--earlier", "notes", files={"notes": "text"})
    yield command("report", "hived", "--single-file", "-o", "model.py", files={"model.py": "x = 1"})
    yield Case("schedproof report hived -o link", _into_a_link)
    yield Case("a report with two pages of one path", lambda: require_distinct(["hived/index.html"] * 2))
    yield Case("render(diagram, 'gif')", lambda: render(None, "gif"))  # type: ignore[arg-type]
    for arguments in (
        ["validate", "hived", "x", "--idle-timeout", "1"], ["verify", "hived", "--variant", "nosuch"],
        ["diagram", "hived", "Cell", "-o", "x.dot", "--property", "reserving-cell"],
        ["diagram", "beaker", "wait-for", "-o", "x.dot"], ["diagram", "beaker", "wait-for", "-o", "x.dot", "--property", "idle-is-automated"],
        ["diagram", "hived", "Cell.colour", "-o", "x.dot"],
        ["export", "hived", "--to", "tla", "-o", "out", "--property", "reserving-cell", "--no-properties"],
        ["export", "hived", "--to", "tla", "-o", "out", "--property", "nosuch"],
        ["export", "beaker", "--to", "promela", "-o", "out", "--property", "no-deadlock", "--no-crash"],
        ["export", "hived", "--to", "promela", "-o", "out", "--scope", "Cell=32"],
        ["export", "hived", "--to", "promela", "-o", "out", "--scope", "Cell=20"],
        ["generate", "hived", "--cover", "states", "--of", "graph", "-o", "out"], ["generate", "hived", "--cover", "actions", "-o", "a\0b"],
        ["explore", "hived", "--checkpoint", "x", "--checkpoint-every", "nan"], ["serve", "--host", "no.such.host.invalid"],
    ):  # fmt: skip
        yield command(*arguments)
    yield command("validate", "hived", "log.jsonl", "--json", "log.jsonl", files={"log.jsonl": ""})
    yield command("init", "mine", "-o", ".", files={"test_mine.py": ""})
    yield command("prove", "hived", "--emit-smt", "file", files={"file": ""})
    only_locks = '[systems.hangs.variants.a]\nlocks = [{ name = "locks", file = "locks.yaml" }]\n'
    for arguments in (("prove", "hangs"), ("simulate", "hangs"), ("diagram", "hangs", "-o", "hangs.svg")):
        yield command(*arguments, files={"schedproof.toml": only_locks, **LOCKS})
    manifest = '[systems.lease]\nmodel = "lease:MODEL"\n'
    yield command("verify", "hived", "--manifest", "schedproof.toml", files={"schedproof.toml": manifest})
    sizes = 'default_scope={"Worker": 2, "Lease": 1},'
    none = (sizes, f"{sizes} configurations=lambda sizes: [],")
    for arguments in ("explore lease --no-symmetry", "profile lease", "export lease --to tla -o out"):
        yield lease(arguments, shown=f"schedproof {arguments}  # configurations=lambda sizes: []", model=none)
    every = " ".join(f"--weight {action}=0" for action in ("ask", "acquire", "finish", "die", "expire"))
    yield lease(f"simulate lease {every}")
    fixed = ("    properties=PROPERTIES,", "    properties=tuple(PROPERTIES),")
    yield lease(
        "strengthen lease --write", shown="schedproof strengthen lease --write  # properties is a tuple", model=fixed
    )
    yield lease("strengthen lease --write")
    yield Case("schedproof strengthen lease --write  # model.py is read-only", _read_only)
    amends = "FENCED = AS_WRITTEN.amend("
    copies = (
        'from dataclasses import replace\nFENCED = replace(AS_WRITTEN, variant="fenced")\nOTHER = AS_WRITTEN.amend('
    )
    yield lease(
        "strengthen lease --write",
        shown="schedproof strengthen lease --write  # variants share a list",
        model=(amends, copies),
    )
    yield Case("diagram(model, 'Nosuch')", lambda: diagram(lamps(), "Nosuch"))
    yield Case("a page of a run of 10,001 steps", lambda: page(lamps(), blinking(10_001), About("a long run")))
    yield Case("lockstep(model, Implementation, without=['fly'])", lambda: lockstep(lamps(), object, without=["fly"]))  # type: ignore[arg-type]
    yield Case(
        "schedproof diagram hived Cell -o cell.svg  # without graphviz",
        lambda: _with(run, "diagram", "hived", "Cell", "-o", "cell.svg"),
    )
    yield Case("schedproof explore hived --cluster local  # without Ray", _without_ray)
    yield Case("schedproof validate hived -  # standard input is closed", lambda: _with(run, "validate", "hived", "-"))


def _read_only() -> str:
    repository(Path.cwd())
    with patch.object(os, "access", return_value=False):
        return run("strengthen", "lease", "--write")


def _without_ray() -> str:
    before = sys.modules.get("ray")
    sys.modules["ray"] = None  # type: ignore[assignment]
    try:
        return run("explore", "hived", "--cluster", "local")
    finally:
        del sys.modules["ray"]
        if before is not None:
            sys.modules["ray"] = before


def _into_a_link() -> str:
    os.symlink("notes", "link")
    return run("report", "hived", "-o", "link")


def _with(command: Callable[..., str], *arguments: str) -> str:
    """A command without standard input, where no program is found."""
    with patch.dict(os.environ, {"PATH": ""}), patch.object(sys, "stdin", None):
        return command(*arguments)
