"""Random runs of the Beaker scheduler, and what must be so at every moment of them (for tests)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from schedproof.impl.systems.beaker import BeakerStore, Condition, Refused, Usage, only
from tests.systems.beaker.impl.bench import Bench


def random_requests(bench: Bench) -> list[tuple[str, Callable[[], object]]]:
    """Every request to a bench whose systems are A to D and whose sets are s, t and u."""
    requests: list[tuple[str, Callable[[], object]]] = []

    def add(name: str, call: Callable[..., object], *arguments: Any) -> None:
        requests.append((name, lambda: call(*arguments)))

    recipes, systems = [r.name for r in bench.store.snapshot().recipes], "ABCD"
    for name in "stu":
        for call in (bench.new.take_up, bench.provisioning.begin, bench.web.cancel_set, bench.web.abort_set):
            add(f"{call.__name__} {name}", call, name)
        for priority in (0, 1):
            add(f"priority {name} {priority}", bench.web.change_priority, name, priority)
    for recipe in recipes:
        lab, web = bench.lab, bench.web
        for call in (lab.installs, lab.runs, lab.completes, web.cancel, web.abort, bench.consistency.abort_dead):
            add(f"{call.__name__} {recipe}", call, recipe)
        for system in systems:
            add(f"search {recipe} {system}", bench.new.search, only(recipe, system))
            add(f"process {system} {recipe}", bench.pending.process, system, only(recipe))
    for name in "stu":
        add(f"seat {name}", bench.new.seat, name)
    for name, seatings in (("s", ("AB", "CD", "CB", "AA")), ("t", ("AB", "BB"))):
        hosts = [r.name for r in bench.store.snapshot().recipes if r.recipe_set == name and r.host is None]
        for seats in seatings:
            named = dict(zip(hosts, seats, strict=True))
            add(f"seat {name} {named}", bench.consistency.seat, name, named)
    add("search nothing", bench.new.search, only())
    add("settle", bench.new.settle)
    add("crash", bench.new.crash)
    for system in systems:
        add(f"process {system}", bench.pending.process, system, only())
        for call in (bench.consistency.wake, bench.web.reserve, bench.web.install, bench.web.run, bench.web.give_back):
            add(f"{call.__name__} {system}", call, system)
        for condition in Condition:
            add(f"{system} {condition}", bench.web.change_condition, system, condition)
    return requests


def filled(store: BeakerStore) -> Bench:
    bench = Bench(store)
    bench.systems("A", "B", lab="one")
    bench.systems("C", "D", lab="two")
    bench.submit(s=["AC", "BD"], t=["AB", "@t.0", "B"], u=["CD"])
    return bench


def outcome(bench: Bench, request: Callable[[], object]) -> tuple[object, ...]:
    try:
        answer = str(request())
    except Refused as error:
        answer = f"refused: {error}"
    return answer, bench.store.snapshot(), bench.new.in_hand


def always_so(bench: Bench) -> None:
    """What the document requires at every moment, read off the rows."""
    world = bench.store.snapshot()
    systems = {s.name: s for s in world.systems}
    held = [r.system for r in world.recipes if r.system]
    assert len(held) == len(set(held)), "a system is on two recipes"
    for recipe in world.recipes:
        if recipe.system:
            system = systems[recipe.system]
            assert system.condition is Condition.AUTOMATED
            assert system.usage.value == recipe.state.value
            assert recipe.system in recipe.viable
    for system in world.systems:
        if system.condition is Condition.BROKEN:
            assert system.usage is Usage.IDLE
        in_use = system.usage in (Usage.SCHEDULED, Usage.WAITING, Usage.INSTALLING, Usage.RUNNING)
        if system.condition is Condition.AUTOMATED:
            assert in_use == (system.name in held)
        entries = bench.store.usage(system.name)
        assert [e for e in entries if e.finished is None] == [entries[-1]]
        assert (entries[-1].usage, entries[-1].condition) == (system.usage, system.condition)
    for name in "stu":
        labs = {systems[r.system].lab for r in world.recipes if r.recipe_set == name and r.system}
        assert len(labs) <= 1, "a set in two labs"
        members = [r for r in world.recipes if r.recipe_set == name]
        seats = [r.seat for r in members if r.seat]
        assert len(seats) == len(set(seats)), "a seat for two"
        assert len({systems[s].lab for s in seats}) <= 1, "seats in two labs"
        for recipe in members:
            if recipe.seat:
                assert recipe.seat in recipe.viable
                assert str(recipe.state) in ("new", "queued", "assigned")
            if str(recipe.state) == "assigned" and recipe.host is None:
                assert recipe.seat
                assert systems[recipe.seat].condition is Condition.AUTOMATED
                assert recipe.seat not in {r.system for r in members}, "a sibling took its seat"
                assert systems[recipe.seat].lab in labs
