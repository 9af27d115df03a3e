"""The properties of a model on two graphs, with no history and with all of it: what slices must not change.

A property that reads history is checked on the graph with all history, in full, and every other one on the graph without.
Well-formedness is checked on both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from schedproof.model.lang import ByConstruction, Model, Property
from schedproof.model.semantics import Instance, check_scope, fitted
from schedproof.proofs.checking.engine import Exploring
from schedproof.proofs.checking.model_check import (
    _check,
    _constructed,
    _safety,
    _together,
    _well_formed,
    reads_history,
)
from schedproof.proofs.exploration.safety import SAFETY
from schedproof.proofs.verdict import Result, Verdict


def two_graphs(model: Model, how: Exploring, scope: Mapping[str, int] | None = None) -> dict[str, Result]:
    """Every property's result by name, without the time that it took."""
    sizes = check_scope(model, scope or {})
    results_of: dict[str, list[Result]] = {}
    for rigid in model.configurations(sizes):
        with_history = Instance(model, fitted(sizes, rigid), rigid, with_history=True)
        plain = replace(with_history, with_history=False)
        reading = [p for p in model.properties if reads_history(model, p)]
        others = [p for p in model.properties if not reads_history(model, p)]
        formed, *rest = [*_on_graph(plain, others, how)]
        formed_with, *rest_with = _on_graph(with_history, reading, how)
        wrong = [r for r in (formed, formed_with) if r.verdict is Verdict.REFUTED]
        first = min(wrong, key=lambda r: len(r.counterexample.steps) if r.counterexample else 0, default=formed)
        for result in (first, *rest, *rest_with):
            results_of.setdefault(result.name, []).append(result)
    return {name: untimed(_together(results)) for name, results in results_of.items()}


def _on_graph(instance: Instance, props: Sequence[Property], how: Exploring) -> Iterator[Result]:
    exploration, watches = how.watch(instance, [p for p in props if isinstance(p, SAFETY)])
    yield _well_formed(exploration)
    yield from (_safety(exploration, watch) for watch in watches)
    yield from (_constructed(instance.model, p) for p in props if isinstance(p, ByConstruction))
    runs = [p for p in props if not isinstance(p, (*SAFETY, ByConstruction))]
    if runs:
        graph_of, graph = how.graph(instance)
        yield from (_check(graph_of, graph, p) for p in runs)


def untimed(result: Result) -> Result:
    """What does not differ from run to run; in how many configurations is counted for well-formedness once a graph.

    Why a premise is never true is left out: it comes from an exploration of its own, for all graphs.
    """
    return replace(
        result,
        seconds=0.0,
        configurations=1,
        note=re.sub(r": (in configuration [0-9]+ of [0-9]+, )?no (state|step) (has|of|is) .*", "", result.note),
    )
