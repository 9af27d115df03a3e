"""Orders that the proposal may mean: of pending systems, of submitted sets, of idle systems. Each needs an attribute more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from schedproof.model.lang import (
    EMPTY,
    Attribute,
    Event,
    Ref,
    Rigid,
    Row,
    Rule,
    SetOf,
    exists,
    given,
    me,
    those,
    variable,
)
from schedproof.model.lang.rules import Action
from schedproof.model.systems.beaker import events as ev
from schedproof.model.systems.beaker.configurations import configurations
from schedproof.model.systems.beaker.events import suits
from schedproof.model.systems.beaker.machines import (
    RECIPE,
    RECIPE_SET,
    SYSTEM,
    SYSTEM_TABLE,
    RecipeSet,
    System,
    j,
    k,
    q,
    r,
    s,
)

from .changes import also, x

t = variable(System, "t")

# --- Pending systems, in the order in which they became pending

SYSTEM_IN_TURN = replace(
    SYSTEM,
    attributes=[
        *SYSTEM.attributes,
        Attribute(
            "after", SetOf(System), durable=True, about="the systems that became pending before it and still are"
        ),
    ],
    events=[*SYSTEM.events, Event("let_pass", {"system": Ref(System)})],
)


def pending_in_turn() -> list[Row | Rule | Action]:
    """The pending system loop handles the system that has been pending longest."""
    return [
        *[_with_turn(row) for row in SYSTEM_TABLE if "pending" in (row.source, row.target)],
        Row(System, "let_pass", "pending", "pending", line=66, after=me.after.without(given("system"))),
        *[
            Rule(
                f"{event} ends the turn",
                s.fires(event),
                [s.is_("pending"), t.after.has(s)],
                t.fires("let_pass", system=s),
                line=66,
            )
            for event in ("schedule", "make_idle", "make_manual", "break_down")
        ],
        *[
            also(action, ~exists(t, s.after.has(t)))
            for action in (ev.give_to_assigned, ev.give_to_queued, ev.make_idle)
        ],
    ]


def _with_turn(row: Row) -> Row:
    after = those(t, t.is_("pending")) if row.target == "pending" else EMPTY
    sets: dict[str, Any] = {**dict(row.sets), "after": after}
    return Row(row.sort, row.event, row.source, row.target, line=row.line, **sets)


# --- Sets, in the order in which they were submitted

RECIPE_SET_IN_TURN = replace(
    RECIPE_SET,
    attributes=[
        *RECIPE_SET.attributes,
        Attribute("after", SetOf(RecipeSet), rigid=True, about="the sets that were submitted before it"),
    ],
)


def both_orders(sizes: Mapping[str, int]) -> Iterator[Rigid]:
    """Yields each configuration with its sets submitted one after another, and the other way round."""
    for rigid in configurations(sizes):
        sets = len(rigid["RecipeSet", "endable"])
        yield {**rigid, ("RecipeSet", "after"): [frozenset(range(n)) for n in range(sets)]}
        if sets > 1:
            yield {**rigid, ("RecipeSet", "after"): [frozenset(range(n + 1, sets)) for n in range(sets)]}


def sets_in_turn() -> list[Action]:
    """The new job loop takes up the set that was submitted first; each set stands for a job."""
    return [also(ev.take_up, ~exists([k, r], j.after.has(k) & (r.recipe_set == k) & r.is_("new")))]


def equals_in_turn() -> list[Action]:
    """Of equal priorities, the recipe comes first whose set was submitted first."""
    return [
        also(
            action,
            ~exists(
                q,
                q.is_(state)
                & suits(s, q)
                & (q.recipe_set.priority == r.recipe_set.priority)
                & r.recipe_set.after.has(q.recipe_set),
            ),
        )
        for action, state in ((ev.give_to_assigned, "assigned"), (ev.give_to_queued, "queued"))
    ]


# --- Sets of one job, with one priority

RECIPE_SET_OF_A_JOB = replace(
    RECIPE_SET,
    attributes=[
        *RECIPE_SET.attributes,
        Attribute("with_it", SetOf(RecipeSet), rigid=True, about="the other sets of its job"),
    ],
)
ONE_PRIORITY = Rule(
    "reprioritize changes the sets of the job",
    ev.reprioritize,
    [j.with_it.has(k)],
    k.fires("reprioritize", to=ev.n),
    line=213,
)


def of_jobs(sizes: Mapping[str, int]) -> Iterator[Rigid]:
    """Yields each configuration with each set in a job of its own, and with its first two sets in one job."""
    for rigid in configurations(sizes):
        sets = len(rigid["RecipeSet", "endable"])
        alone: list[frozenset[int]] = [frozenset()] * sets
        yield {**rigid, ("RecipeSet", "with_it"): alone}
        if sets > 1:
            yield {**rigid, ("RecipeSet", "with_it"): [frozenset({1}), frozenset({0}), *alone[2:]]}


# --- Idle systems, preferred ones first

RECIPE_WITH_PREFERENCES = replace(
    RECIPE,
    attributes=[
        *RECIPE.attributes,
        Attribute("preferred", SetOf(System), rigid=True, about="the viable systems that its owner owns"),
    ],
)
PREFERRED_FIRST = also(
    ev.find_idle,
    r.preferred.has(s) | ~exists(x, r.preferred.has(x) & x.is_("idle") & (x.condition == "Automated") & suits(x, r)),
)


def with_preferences(sizes: Mapping[str, int]) -> Iterator[Rigid]:
    """Yields each configuration with the first viable system of each recipe as the preferred one, and with the last."""
    for rigid in configurations(sizes):
        viable = [sorted(each) for each in rigid["Recipe", "viable"] if isinstance(each, frozenset)]
        yield {**rigid, ("Recipe", "preferred"): [frozenset(each[:1]) for each in viable]}
        if any(len(each) > 1 for each in viable):
            yield {**rigid, ("Recipe", "preferred"): [frozenset(each[-1:]) for each in viable]}
