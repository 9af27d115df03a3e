"""The machine that Beaker shipped, against a hand-written one that shares no code with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from schedproof.model.lang import Change, Model, Row, Rule
from schedproof.model.semantics import Instance, Stepper
from schedproof.model.systems.beaker.shipped import SHIPPED
from schedproof.model.systems.beaker.shipped.events import abort as abort_action
from schedproof.model.systems.beaker.shipped.events import abort_guest as abort_guest_action
from schedproof.model.systems.beaker.shipped.events import clean_up as clean_up_action
from schedproof.model.systems.beaker.shipped.events import provision as provision_action
from schedproof.model.systems.beaker.shipped.events import queue as queue_action
from schedproof.model.systems.beaker.shipped.events import schedule_pending
from schedproof.model.systems.beaker.shipped.machines import UNFINISHED, Recipe, System, g, j, r
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.verdict import Verdict
from tests.support.sample import thinned
from tests.systems.beaker.brute_force.shipped import (
    BY_USER,
    FLAGGED,
    FREE,
    State,
    World,
    abort,
    around,
    clean_up,
    end_set,
    process,
    provision,
    queue,
    reach,
    schedule,
    start_of,
    turn,
)

CONDITIONS = ("automate", "make_manual", "break_down")
WORLDS = {
    "two alone": World({"p": "1", "q": "2"}, {"p": "", "q": ""}, {"p": {"a"}, "q": {"a", "b"}}),
    "a set of two": World({"p": "1", "q": "1"}, {"p": "", "q": ""}, {"p": {"a", "b"}, "q": {"b"}}),
    "a host and its guest": World({"p": "1", "q": "1"}, {"p": "", "q": "p"}, {"p": {"a", "b"}, "q": set()}),
}


def all_steps(world: World, state: State) -> Iterator[State]:
    for recipe in world.of:
        yield from process(world, state, recipe)
        yield from queue(world, state, recipe)
        yield from schedule(world, state, recipe)
        yield from abort(state, recipe)
        for status in ("installing", "waiting", "running", "reserved", "completed"):
            yield from turn(state, recipe, status)
    for of in set(world.of.values()):
        yield from provision(world, state, of)
        yield from end_set(world, state, of, "aborted")
        yield from end_set(world, state, of, "cancelled")
        yield from clean_up(world, state, of)
    systems = [s for s, _ in state.systems]
    yield from around(state, systems)
    yield from (state.but(systems={s: FREE}) for s in systems if state.usage(s) == FLAGGED)


def by_the_model(world: World) -> set[State]:
    """The model's reachable states, written as those of the other machine; every system stays Automated."""
    properties = [p.name for p in SHIPPED.properties]
    change = Change(why="the other machine has no conditions", repairs=[], drops=[*CONDITIONS, *properties])
    model: Model = SHIPPED.amend("automated", "every system is Automated", [change], refuted=frozenset())
    recipes, sets = list(world.of), list(dict.fromkeys(world.of.values()))
    systems = sorted({s for allowed in world.may_get.values() for s in allowed})
    names = {"RecipeSet": sets, "Recipe": recipes, "System": systems}
    rigid = {
        ("Recipe", "recipe_set"): [sets.index(world.of[r]) for r in recipes],
        ("Recipe", "host"): [recipes.index(world.host[r]) if world.host[r] else None for r in recipes],
        ("Recipe", "candidates"): [frozenset(map(systems.index, world.may_get[r])) for r in recipes],
    }
    instance = Instance(model, {sort: len(n) for sort, n in names.items()}, rigid, names=names)  # type: ignore[arg-type]
    stepper = Stepper(instance)
    reached, edge = {instance.initial()}, [instance.initial()]
    while edge:
        new = {step.after for state in edge for step in stepper.steps(state)} - reached
        reached |= new
        edge = list(new)
    states = set()
    for state in reached:
        shown = instance.describe(state)
        holder = {r["system"]: name for name, r in shown["Recipe"].items() if r["system"]}
        usages = {
            s: holder.get(s, BY_USER) if now["state"] == "reserved" else str(now["state"])
            for s, now in shown["System"].items()
        }
        statuses = {name: (str(r["state"]), str(r["system"] or "")) for name, r in shown["Recipe"].items()}
        states.add(State(tuple(sorted(statuses.items())), tuple(sorted(usages.items()))))
    assert len(states) == len(reached)
    return states


@pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS)
def test_both_machines_have_the_same_states(world: World) -> None:
    by_hand = reach([start_of(world)], lambda state: all_steps(world, state))
    assert by_the_model(world) == by_hand
    assert len(by_hand) > 300


SEEDED: Mapping[str, Sequence[Any]] = {
    "released-with-the-set": [replace(clean_up_action, when=clean_up_action.when[1:])],
    "reserved-by-one": [
        replace(schedule_pending, when=schedule_pending.when[:3]),
        Row(System, "reserve", "reserved", "reserved"),
    ],
    "pending-goes-to-automated": [replace(schedule_pending, when=schedule_pending.when[:-1])],
    "released-to-pending": [Row(System, "release", "reserved", "idle")],
    "finished-is-final": [
        replace(abort_action, when=[r.is_(*UNFINISHED, "completed")]),
        Row(Recipe, "abort", "completed", "aborted"),
    ],
    "provisioned-together": [
        replace(provision_action, when=provision_action.when[:1]),
        Rule(
            "provision starts every recipe",
            provision_action,
            [r.recipe_set == j, r.is_("scheduled")],
            r.fires("provision"),
        ),
    ],
    "never-queued-again": [Row(Recipe, "pause", "running", "queued")],
    "processed-together": [replace(queue_action, when=queue_action.when[:2])],
    "condition-frees-nothing": [Row(System, "withdraw", "reserved", "idle", condition="Broken")],
    "stranded-guests-can-end": [replace(abort_guest_action, when=[g.is_("waiting"), *abort_guest_action.when[1:]])],
    "a-candidate-of-its-own": [
        replace(schedule_pending, when=[*schedule_pending.when[:2], *schedule_pending.when[3:]])
    ],
}


@pytest.mark.parametrize("broken", thinned(SEEDED, 6))
def test_a_seeded_bug_is_refuted(broken: str) -> None:
    """The properties say something: each is broken by a machine that is wrong where it looks."""
    change = Change(why="a seeded fault", repairs=[], adds=SEEDED[broken])
    seeded = SHIPPED.amend("seeded", "with a seeded fault", [change], refuted=frozenset())
    scope = {"System": 2} if broken == "a-candidate-of-its-own" else {}  # the only system suits everybody
    assert {r.name: r.verdict for r in model_check(seeded, scope, only=[broken])}[broken] is Verdict.REFUTED
