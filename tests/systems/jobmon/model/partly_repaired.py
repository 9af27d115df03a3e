"""The repaired Jobmon without a change, or with some of its parts as they were shipped, and what falls then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from schedproof.model.lang import (
    AlwaysCanReach,
    Attribute,
    Change,
    LeadsTo,
    Machine,
    Model,
    Property,
    SetOf,
    StepInvariant,
)
from schedproof.model.semantics.instance import fitted
from schedproof.model.systems.jobmon import REPAIRED, SHIPPED
from schedproof.model.systems.jobmon.repaired import machines as new
from schedproof.model.systems.jobmon.shipped import machines as old
from schedproof.model.systems.jobmon.shipped.configurations import CONFIGURATIONS, Configuration
from schedproof.model.systems.jobmon.sorts import TaskInstance
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.verdict import Result

ALL_DIE = Configuration("one run, and a task that has one attempt", 1, (1,), 1, begun=True)
LATE_WITH_TWO = Configuration(
    "a run that is resumed, a task with two attempts, and a worker that may be late",
    *(2, (2,), 2),
    begun=True,
    mortal=(),
    fallible=False,
    punctual=("WorkflowRun",),
)
FROM_THE_START = Configuration(
    "a run whose client may die before it runs, and a task",
    *(2, (1,), 1),
    mortal=("Client0",),
    fallible=False,
    punctual=("TaskInstance",),
)
PLACES = [*CONFIGURATIONS, ALL_DIE, LATE_WITH_TWO, FROM_THE_START]
RUNS, _, _, _, LATE, DEAD_CLIENT, HUNGRY, _, GREEDY, *_ = (s.about for s in CONFIGURATIONS)
SMALL, LATE_TWICE, START = ALL_DIE.about, LATE_WITH_TWO.about, FROM_THE_START.about

LISTING = replace(
    old.DISTRIBUTOR,
    attributes=[*new.DISTRIBUTOR.attributes, Attribute("listed", SetOf(TaskInstance))],
)
"""A distributor that lists before it claims."""
WITH_KILL_SELF = replace(
    new.TASK_INSTANCE, states=[replace(state, unreachable=False) for state in new.TASK_INSTANCE.states]
)
"""The machine of an instance with the state KillSelf, in which it has to die."""


def _bare(model: Model) -> Model:
    return model.asking([])


def less(*changes: Change) -> Model:
    """The repaired model without some of its changes; of its properties none is asked yet."""
    kept = [
        replace(c, repairs=[], weakens={}, adds=[part for part in c.adds if not isinstance(part, Property)])
        for c in REPAIRED.changes
        if all(c is not each for each in changes)
    ]
    machines = [new.TASK_INSTANCE, new.DISTRIBUTOR, new.JOB]
    return _bare(SHIPPED).amend("less", "without some changes", kept, refuted=frozenset(), machines=machines)


def put_back(adds: Sequence[object], drops: Sequence[str] = (), machines: Sequence[Machine] = ()) -> Model:
    """The repaired model with some parts other than they are; of its properties none is asked yet."""
    change = Change(why="parts are put back", repairs=[], adds=adds, drops=drops)  # type: ignore[arg-type]
    return _bare(REPAIRED).amend("other", "with parts put back", [change], refuted=frozenset(), machines=machines)


def required(model: Model, name: str) -> Property:
    """A property of the repaired model, of those actions that ``model`` has: an agent's are those of both."""
    prop = REPAIRED.property(name)
    action_names = [action.name for action in model.actions]
    if isinstance(prop, StepInvariant) and prop.on:
        shipped = [each.on for each in SHIPPED.properties if each.name == name and isinstance(each, StepInvariant)]
        on = {*prop.on, *(action for actions in shipped for action in actions)}
        return replace(prop, on=[action for action in action_names if action in on])
    if isinstance(prop, AlwaysCanReach):
        return replace(prop, without=[action for action in prop.without if action in action_names])
    if isinstance(prop, LeadsTo):
        kept = {part: [a for a in getattr(prop, part) if a in action_names] for part in ("weak", "strong", "without")}
        return replace(prop, **kept)
    return prop


def checked(model: Model, names: Sequence[str], about: str) -> dict[str, Result]:
    """Of the properties ``names``, by exploration of a configuration."""
    [rigid] = [place.rigid for place in PLACES if place.about == about]
    asked = replace(
        model,
        properties=[required(model, name) for name in names],
        configurations=lambda sizes: [rigid],
    )
    sizes = fitted(dict.fromkeys((m.sort.name for m in model.machines), 9), rigid)
    return {
        r.name: r
        for r in model_check(asked, {sort: n for sort, n in sizes.items() if n}, only=names)
        if r.name in names
    }
