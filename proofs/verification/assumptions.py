"""Assumptions on the environment: whether a verdict on what can be reached rests on something that never happens.

A configuration may assume that nothing dies, or that no heartbeat is late. Explorations stay small so. A violated invariant stays
violated without the assumption. But what can never be reached with it may be reached without it: by a death, or after a late
heartbeat. And what can always be reached with it may be out of reach after a death.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from schedproof.model.lang import AlwaysCanReach, LeadsTo, Model, ModelError, Rigid
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


def assumed_text(assumed: Mapping[str, bool]) -> str:
    """Assumptions in words: ``Job.mortal = false``."""
    return ", ".join(f"{name} = {str(value).lower()}" for name, value in assumed.items())


def check_assumes(model: Model) -> None:
    """Checks that each assumption of ``assumes`` is made: some object of some configuration has the assumed value.

    Raises:
        ModelError: one is made nowhere, so no verdict rests on it.
    """
    every = configurations(model, check_scope(model, {})) if model.assumes else []
    for prop in model.assumes:
        for name, value in model.assumptions_of(prop).items():
            sort, attribute = name.split(".")
            if not any(value in _values(model, each, (sort, attribute)) for each in every):
                raise ModelError(
                    f"variant {model.variant}",
                    model.place,
                    f"{prop} assumes {name}, and no configuration has it {str(value).lower()} for any object",
                    "give it that value in configurations, or leave the assumption out",
                )


def concerned(model: Model) -> list[AlwaysCanReach | LeadsTo]:
    """The properties whose verdict may be another without an assumption."""
    return [p for p in model.properties if isinstance(p, AlwaysCanReach | LeadsTo)]


class _Explorer:
    """The verdicts of a model on what can be reached, by configuration; each configuration is explored once."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self._known: list[tuple[Rigid, frozenset[str]]] = []

    def violated(self, configuration: Rigid) -> frozenset[str]:
        """The names of the properties that are violated in a configuration.

        Raises:
            Unexplored: one is neither violated nor does it hold.
        """
        for explored, names in self._known:
            if explored == configuration:
                return names
        names = frozenset(_violated(self.model, configuration))
        self._known.append((configuration, names))
        return names

    def differing(self, configuration: Rigid, without: Sequence[Assumption]) -> frozenset[str]:
        """See :func:`differing`."""
        changed = _without(self.model, configuration, without)
        return frozenset() if changed is None else self.violated(changed) ^ self.violated(configuration)


def differing(model: Model, configuration: Rigid, without: Sequence[Assumption]) -> frozenset[str]:
    """The properties whose verdict in a configuration is the opposite without some of its assumptions.

    Raises:
        Unexplored: there are more states than are explored.
    """
    return _Explorer(model).differing(configuration, without)


def rests_on(model: Model) -> tuple[frozenset[str], dict[str, frozenset[str]]]:
    """The violated properties, and for each property the assumptions on which its verdict rests, as ``Sort.attribute``.

    The default scope decides. To be without an assumption is to have the other value for all objects. In a configuration, a verdict
    rests on each assumption without which it is the opposite; if there is none, on all of them if it is the opposite without all. A
    violation rests on what it rests on in some configuration, unless one violates the property without any assumption. A property
    that holds rests on what it rests on in some configuration.
    """
    explorer, every = _Explorer(model), configurations(model, check_scope(model, {}))
    violated = frozenset(name for each in every for name in explorer.violated(each))
    rests = {}
    for prop in concerned(model):
        of = _violation_rests_on if prop.name in violated else _holding_rests_on
        rests[prop.name] = of(explorer, prop.name, every)
    return violated, rests


def _violation_rests_on(explorer: _Explorer, prop: str, every: Sequence[Rigid]) -> frozenset[str]:
    union: frozenset[str] = frozenset()
    for configuration in every:
        if prop in explorer.violated(configuration):
            names = _decisive(explorer, prop, configuration)
            if not names:
                return names
            union |= names
    return union


def _holding_rests_on(explorer: _Explorer, prop: str, every: Sequence[Rigid]) -> frozenset[str]:
    return frozenset(name for configuration in every for name in _decisive(explorer, prop, configuration))


def _decisive(explorer: _Explorer, prop: str, configuration: Rigid) -> frozenset[str]:
    """The assumptions of a configuration on which the verdict of a property rests there."""
    made = _made(explorer.model, configuration)
    alone = [key for key in made if prop in explorer.differing(configuration, [key])]
    # Two assumptions may each be enough for the verdict.
    together = made if not alone and len(made) > 1 and prop in explorer.differing(configuration, made) else []
    return frozenset(".".join(key) for key in alone or together)


def _made(model: Model, configuration: Rigid) -> list[Assumption]:
    """The assumptions that a configuration makes for some object."""
    return [key for key, assumed in assumptions(model).items() if assumed in _values(model, configuration, key)]


def _values(model: Model, configuration: Rigid, key: Assumption) -> Sequence[object]:
    """The values of a rigid ``Bool`` in a configuration; the initial one for each object if the configuration leaves it out."""
    sort, name = key
    attribute = model.machine(sort).attribute(name)
    assert attribute is not None
    return configuration.get(key, [bool(attribute.initial)] * fitted(check_scope(model, {}), configuration)[sort])


def _without(model: Model, configuration: Rigid, keys: Sequence[Assumption]) -> Rigid | None:
    """A configuration without some of its assumptions; None if an axiom forbids that."""
    every = assumptions(model)
    changed = {key: [not every[key]] * len(_values(model, configuration, key)) for key in keys}
    other = {**configuration, **changed}
    return other if admitted(Instance(model, fitted(check_scope(model, {}), other), other)) else None


def _violated(model: Model, configuration: Rigid) -> Iterator[str]:
    alone = replace(model, configurations=lambda sizes: [configuration]).asking(concerned(model))
    for result in model_check(alone, {}):
        if result.verdict is Verdict.UNDETERMINED and not result.vacuous:
            raise Unexplored(f"{result.name}: {result.note}")
        if result.verdict is Verdict.REFUTED:
            yield result.name


def wrong(model: Model) -> list[str]:
    """Where ``assumes`` of a model is not what :func:`rests_on` finds, one line each."""
    violated, rests = rests_on(model)
    lines = []
    for name, actual in rests.items():
        if (name in violated) != (name in model.refuted):
            verdict = "violated" if name in violated else "not violated"
            lines.append(
                f"{name} ({model.place}): it is {verdict}, which the model does not expect; correct that first"
            )
        elif actual != frozenset(model.assumes.get(name, ())):
            listed = ", ".join(f'"{each}"' for each in sorted(actual))
            lines.append(f'{name} ({model.place}): write assumes={{"{name}": [{listed}]}}')
    return lines
