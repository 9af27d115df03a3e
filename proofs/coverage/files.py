"""Test suites as files: each sequence as JSON Lines and as ITF, and a coverage report.

The validator reads and checks each sequence again; one that does not conform raises a ``Disagreement``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from schedproof.model.lang import Model
from schedproof.model.registry.system import System
from schedproof.model.semantics import Instance, Run
from schedproof.proofs.traces.engine.watch import Watch
from schedproof.proofs.traces.errors import TraceError
from schedproof.proofs.traces.files.lines import TextLine
from schedproof.proofs.traces.formats.format import Format, Plain, Requested
from schedproof.proofs.traces.formats.itf_trace import ITF
from schedproof.proofs.traces.formats.plain import PLAIN
from schedproof.proofs.traces.formats.writing import as_itf, as_plain
from schedproof.proofs.traces.reports.report import LogVerdict
from schedproof.proofs.verdict import Disagreement

from .suite import Suite
from .unreached import Proof, Unreached, Why

REPORT = "coverage.json"


def file_names(suite: Suite) -> list[tuple[str, str]]:
    """The names of each sequence's two files: JSON Lines and ITF."""
    width = max(3, len(str(len(suite.walks))))
    return [(f"{n:0{width}}.jsonl", f"{n:0{width}}.itf.json") for n in range(1, len(suite.walks) + 1)]


def texts_of(run: Run, description: str) -> tuple[str, str]:
    """A sequence in both formats, as the validator takes them.

    Raises:
        Disagreement: the validator rejects it.
    """
    plain, itf = as_plain(run), as_itf(run, description)
    replay(run.instance.model, PLAIN, "JSON Lines", plain)
    replay(run.instance.model, ITF, "ITF", itf)
    return plain, itf


def description_of(suite: Suite, number: int) -> str:
    """What a file says of sequence ``number``, from 1 on."""
    return f"covers {suite.cover.value}, sequence {number} of {len(suite.walks)}"


def files_of(suite: Suite, missing: Sequence[Unreached], texts: Sequence[tuple[str, str]]) -> dict[str, str]:
    """The content of every file, by name; ``texts`` are those of each sequence."""
    contents: dict[str, str] = {}
    for names, both in zip(file_names(suite), texts, strict=True):
        contents |= zip(names, both, strict=True)
    contents[REPORT] = json.dumps(as_json(suite, missing), indent=2) + "\n"
    return contents


def replay(model: Model, format_: Format, name: str, text: str) -> None:
    """Checks a trace with the validator.

    Raises:
        Disagreement: the trace cannot be read, or does not conform.
    """
    lines = [TextLine(name, n, line.strip()) for n, line in enumerate(text.split("\n"), start=1) if line.strip()]
    system = System.of(model)
    try:
        trace = format_.read(model, iter(lines), Requested())
        assert isinstance(trace, Plain), f"{format_.name} comes down to the plain format"
        watch = Watch(system, model, trace.header, format=format_.name)
        for line in trace.records:
            watch.take(line.value, line.number)
    except TraceError as error:
        raise Disagreement(f"the validator cannot read a generated sequence as {name}: {error}") from error
    validation = watch.validation
    if validation.verdict is not LogVerdict.CONFORMS:
        why = validation.nonconformance.reason if validation.nonconformance is not None else validation.note
        raise Disagreement(f"the validator does not take the sequence as {name} for a run of the model: {why}")


def as_json(suite: Suite, missing: Sequence[Unreached]) -> dict[str, Any]:
    """The coverage report: goals that the suite covers, and goals that it does not."""
    names = file_names(suite)
    reached = suite.reached
    return {
        "system": suite.model.system,
        "variant": suite.model.variant,
        "cover": suite.cover.value,
        "of": "graph" if suite.of_graph else "machines",
        "max_length": suite.longest,
        "goals": suite.goal_count,
        "reached": len(reached),
        "steps": suite.steps,
        "at_least": suite.farthest,
        "optimal": suite.is_shortest,
        "complete": suite.complete,
        **({"within": suite.within} if suite.within else {}),
        "topologies": [
            {**_configuration(one.instance), "states": one.states, "transitions": one.edges, "complete": one.complete}
            for one in suite.configurations
        ],
        "topologies_not_needed": suite.skipped,
        "sequences": [
            {"jsonl": plain, "itf": itf, "steps": len(walk.choices), "topology": configuration}
            for (plain, itf), (configuration, walk) in zip(names, suite.walks, strict=True)
        ],
        "covered": [
            {"goal": goal.name, "sequence": names[reached[n][0]][0], "step": reached[n][1], "least": suite.distances[n]}
            for n, goal in enumerate(suite.goals)
            if n in reached
        ],
        "not_covered": [
            {
                "goal": one.goal.name,
                "why": one.why.value,
                **({"proof": one.proof.value} if one.proof is not Proof.NOT_ASKED else {}),
                **({"least": one.least} if one.least is not None else {}),
            }
            for one in missing
        ],
        "ok": not left_open(suite, missing),
    }


def left_open(suite: Suite, missing: Sequence[Unreached]) -> bool:
    """Whether further exploration could find more goals that can be covered."""
    return any(one.why in (Why.INCOMPLETE, Why.BEYOND) for one in missing) or (suite.of_graph and not suite.complete)


def _configuration(instance: Instance) -> Mapping[str, Any]:
    rigid = {
        f"{m.sort}.{a.name}": [instance.show(a.type, v) for v in instance.rigid_values(m.sort.name, a)]
        for m in instance.model.machines
        for a in m.attributes
        if a.rigid
    }
    return {"objects": dict(instance.sizes), "rigid": rigid}
