"""Assumptions on the environment: whether a verdict on what can be reached rests on something that never happens.

A configuration may assume that nothing dies, or that no heartbeat is late. Explorations stay small so. A violated invariant stays
violated without the assumption. But what can never be reached with it may be reached without it: by a death, or after a late
heartbeat. And what can always be reached with it may be out of reach after a death.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from schedproof.model.lang import AlwaysCanReach, LeadsTo, Model, Property, Rigid
from schedproof.model.semantics import Instance, check_scope, configurations, fitted
from schedproof.proofs.checking.model_check import admitted, model_check
from schedproof.proofs.verdict import Verdict

Assumption = tuple[str, str]
"""(sort name, attribute name)"""


class Unexplored(Exception):
    """There are more states without an assumption than are explored."""


def assumptions(model: Model) -> Mapping[Assumption, bool]:
    """The attributes that assume something of the environment -> the value with which they do."""
    return {
        (machine.sort.name, attribute.name): attribute.assumed
        for machine in model.machines
        for attribute in machine.attributes
        if attribute.assumed is not None
    }


def concerned(model: Model) -> list[AlwaysCanReach | LeadsTo]:
    """The properties whose verdict may be another without an assumption."""
    return [p for p in model.properties if isinstance(p, AlwaysCanReach | LeadsTo)]


def rests_on(model: Model) -> dict[str, frozenset[str]]:
    """The assumptions on which verdicts of a model rest, as ``Sort.attribute``, by property; its default scope decides.

    To be without an assumption is to have the other value for all objects. A violation rests on an assumption if the property holds
    without it in the first configuration that violates it, unless some configuration violates it without any. A property that holds
    rests on an assumption if it is violated without it in some configuration.
    """
    everything = list(configurations(model, check_scope(model, {})))
    kept = [p for p in concerned(model) if p.name not in model.refuted]
    of_violated = {
        p.name: _violation_rests_on(model, p, everything) for p in concerned(model) if p.name in model.refuted
    }
    return of_violated | _holding_rests_on(model, kept, everything)


def _violation_rests_on(model: Model, prop: Property, everything: Sequence[Rigid]) -> frozenset[str]:
    every: frozenset[str] = frozenset()
    for configuration in everything:
        if _violated(model, [prop], configuration):
            names = frozenset(
                _name(assumption)
                for assumption, other in _without(model, configuration)
                if not _violated(model, [prop], other)
            )
            if not names:
                return names
            every = every or names
    return every


def _holding_rests_on(
    model: Model, props: Sequence[Property], everything: Sequence[Rigid]
) -> dict[str, frozenset[str]]:
    rests: dict[str, set[str]] = {p.name: set() for p in props}
    tried: list[tuple[Rigid, list[str]]] = []  # two configurations may be the same without an assumption
    for configuration in everything if props else ():
        for assumption, other in _without(model, configuration):
            violated = next((names for same, names in tried if same == other), None)
            if violated is None:
                violated = _violated(model, props, other)
                tried.append((other, violated))
            for name in violated:
                rests[name].add(_name(assumption))
    return {name: frozenset(names) for name, names in rests.items()}


def _name(assumption: Assumption) -> str:
    return ".".join(assumption)


def _without(model: Model, configuration: Rigid) -> Iterator[tuple[Assumption, Rigid]]:
    """Each assumption of a configuration, and the configuration without it, where the axioms admit that."""
    for key, assumed in assumptions(model).items():
        values = configuration.get(key, ())
        other = {**configuration, key: [not assumed] * len(values)}
        if assumed in values and admitted(Instance(model, fitted(check_scope(model, {}), other), other)):
            yield key, other


def _violated(model: Model, props: Sequence[Property], configuration: Rigid) -> list[str]:
    """The names of those of ``props`` that are violated in a configuration.

    Raises:
        Unexplored: one is neither violated nor does it hold.
    """
    alone = replace(model, configurations=lambda sizes: [configuration]).asking(props)
    names = {p.name for p in props}
    results = [each for each in model_check(alone, {}) if each.name in names]
    if open_ones := [each for each in results if each.verdict is Verdict.UNDETERMINED and not each.vacuous]:
        raise Unexplored(f"{open_ones[0].name}: {open_ones[0].note}")
    return [each.name for each in results if each.verdict is Verdict.REFUTED]


def wrong(model: Model) -> list[str]:
    """Where ``assumes`` of a model is not what :func:`rests_on` finds, one line each."""
    lines = []
    for name, actual in rests_on(model).items():
        if actual != frozenset(model.assumes.get(name, ())):
            listed = ", ".join(f'"{each}"' for each in sorted(actual))
            lines.append(f'{name} ({model.place}): write assumes={{"{name}": [{listed}]}}')
    return lines
