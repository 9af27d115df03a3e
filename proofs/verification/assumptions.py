"""Assumptions on the environment: whether a violation of what can be reached shows only because something never happens.

A configuration may assume that nothing dies, or that no heartbeat is late. Explorations stay small so. A violated invariant stays
violated without the assumption. But what can never be reached with it may be reached without it: by a death, or after a late
heartbeat.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from schedproof.model.lang import AlwaysCanReach, LeadsTo, Model, Property, Rigid
from schedproof.model.semantics import check_scope, configurations
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.verdict import Verdict

Assumption = tuple[str, str]
"""(sort name, attribute name)"""


def assumptions(model: Model) -> Mapping[Assumption, bool]:
    """The attributes that assume something of the environment -> the value with which they do."""
    return {
        (machine.sort.name, attribute.name): attribute.assumed
        for machine in model.machines
        for attribute in machine.attributes
        if attribute.assumed is not None
    }


def concerned(model: Model) -> list[AlwaysCanReach | LeadsTo]:
    """The violated properties that may hold without an assumption."""
    return [p for p in model.properties if isinstance(p, AlwaysCanReach | LeadsTo) and p.name in model.refuted]


def rests_on(model: Model, prop: AlwaysCanReach | LeadsTo) -> frozenset[str]:
    """The assumptions on which the violation of a property rests, as ``Sort.attribute``.

    Without one of them, that is with the other value for all objects, the property holds in the first configuration that
    violates it; and there is no configuration that violates it without any of them.

    Args:
        model: the model; its default scope decides.
        prop: a property that it violates.
    """
    every: frozenset[str] = frozenset()
    for configuration in configurations(model, check_scope(model, {})):
        if _violated(model, prop, configuration):
            names = frozenset(
                f"{sort}.{name}"
                for (sort, name), other in _without(model, configuration)
                if not _violated(model, prop, other)
            )
            if not names:
                return names
            every = every or names
    return every


def _without(model: Model, configuration: Rigid) -> Iterator[tuple[Assumption, Rigid]]:
    """Each assumption of a configuration, and the configuration without it."""
    for key, assumed in assumptions(model).items():
        values = configuration.get(key, ())
        if assumed in values:
            yield key, {**configuration, key: [not assumed] * len(values)}


def _violated(model: Model, prop: Property, configuration: Rigid) -> bool:
    alone = replace(
        model, properties=[prop], refuted=frozenset(), amended=None, configurations=lambda sizes: [configuration]
    )
    return any(each.name == prop.name and each.verdict is Verdict.REFUTED for each in model_check(alone, {}))


def wrong(model: Model) -> list[str]:
    """Where ``assumes`` of a violated property is not what :func:`rests_on` finds, one line each."""
    lines = []
    for prop in concerned(model):
        actual = rests_on(model, prop)
        if actual != frozenset(prop.assumes):
            listed = ", ".join(f'"{name}"' for name in sorted(actual))
            lines.append(f"{prop.name} ({prop.place}): write assumes=[{listed}]")
    return lines
