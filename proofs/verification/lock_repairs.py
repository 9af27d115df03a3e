"""What lock files say of the checks that another one fails: what is wrong there, and what repairs it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from schedproof.model.lang import Model, Reading
from schedproof.model.locks.language import Repair
from schedproof.model.registry.errors import UserError, unknown
from schedproof.model.registry.system import System

from .auxiliary import Locked, auxiliary


@dataclass(frozen=True)
class LockRepair:
    """A repair, and the properties of a variant that are violated without it.

    Attributes:
        repair: what the lock file says.
        properties: the names of the violated properties; the one to show first.
        why: the reason, with the lock file that has the repair, if it is not the one with the violations.
        interpretations: the interpretations of the document on which the violations rest.
    """

    repair: Repair
    properties: tuple[str, ...]
    why: str
    interpretations: tuple[Reading, ...]


def documented(system: System, model: Model) -> list[Locked]:
    """The lock files of a variant that describe a document; deadlocks of an implementation are not findings."""
    return [each for each in auxiliary(system, model) if isinstance(each, Locked) and each.locks.document]


def lock_repairs(system: System, model: Model) -> list[LockRepair]:
    """The repairs of a variant's violated lock checks, in the order of the lock files.

    A file about a single deadlock says what is wrong itself. All others are repaired by another file of the variant.

    Raises:
        UserError: a repair names a check or an interpretation that does not exist.
    """
    described = documented(system, model)
    return [
        each
        for broken in described
        for of in ([broken] if broken.described.only else [one for one in described if not one.described.only])
        for each in _of(system, model, broken, of, described)
    ]


def _of(system: System, model: Model, broken: Locked, of: Locked, described: Sequence[Locked]) -> Iterator[LockRepair]:
    """The repairs of ``of`` that repair a violated check of ``broken``."""
    known = {each.check_of(p.name) for each in described for p in each.properties}
    readings = {reading.name: reading for reading in system.interpretations_of(model)}
    failing = {broken.check_of(name): name for name in sorted(broken.refuted)}
    for repair in of.locks.repairs:
        for what, names, choice in (("check", repair.checks, known), ("interpretation", repair.rests, readings)):
            for name in names:
                if name not in choice:
                    raise UserError(f"{repair.place}: {unknown(what, name, sorted(choice))}")
        checks = sorted((c for c in repair.checks if c in failing), key=lambda check: check != repair.shown)
        if checks:
            why = repair.why if of is broken else f"{repair.why} ({of.described.name})"
            interpretations = tuple(readings[name] for name in repair.rests)
            yield LockRepair(repair, tuple(failing[c] for c in checks), why, interpretations)
