"""Models at random, explored in every way: interpreted, by compiled code with one thread and two, with symmetry and without, and naively.

``naive`` shares no code with the package's steps and verdicts. What is seeded into the compiled code, into symmetry or into the interpreter
must be found by the models of the default run.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from statistics import median
from typing import Any

import pytest

from schedproof.model.lang import AlwaysCanReach, LeadsTo, Model, Property, Row, Rule
from schedproof.model.lang import terms as t
from schedproof.model.semantics import IllFormed, Instance, Undefined, evaluate, remember
from schedproof.model.semantics import step as steps
from schedproof.proofs.checking.engine import Engine
from schedproof.proofs.checking.model_check import reads_history
from schedproof.proofs.compiled import search
from schedproof.proofs.compiled import steps as compiled_steps
from schedproof.proofs.compiled.steps import Steps
from schedproof.proofs.exploration import liveness, symmetry
from schedproof.proofs.exploration.explore import explore
from schedproof.proofs.exploration.safety import SAFETY
from schedproof.proofs.verdict import Result, Verdict
from tests.proofs.checking import naive
from tests.proofs.compiled.test_beside_interpreted import (
    assert_same_graph,
    assert_same_quotient,
    checked,
    nobody_is_renamed,
)
from tests.support.random_models import Drawn, random_model
from tests.support.sample import thinned

SOME, MANY = range(12), range(12, 42)
"""The models of the default run, and of the long one."""

drawn = cache(random_model)


def assert_naively_the_same(instance: Instance) -> naive.Graph:
    """The interpreted exploration has the states, steps and mistakes of the naive one."""
    plain, naive_graph = explore(instance, symmetry=False), naive.explore(instance)
    assert dict(zip(plain.states, plain.depths, strict=True)) == naive_graph.depth
    assert plain.per_action() == naive_graph.per_action()
    for state, edges in zip(plain.states, plain.edges, strict=True):
        after = sorted((edge.choice.action, plain.states[edge.target]) for edge in edges)
        assert after == sorted((name, world.after) for (name, _), world in naive_graph.steps[state].items())
    assert (plain.ill_formed is None) == (not naive_graph.wrong)
    if plain.ill_formed is not None:
        number, choice, _ = plain.ill_formed
        first = min(naive_graph.depth[state] for state, _, _ in naive_graph.wrong)
        assert naive_graph.depth[plain.states[number]] == first
        assert (plain.states[number], choice.action) in {(state, action) for state, action, _ in naive_graph.wrong}
    return naive_graph


def graphs(model: Drawn) -> dict[bool, naive.Graph]:
    """Without what is recorded, and with it, if anything is."""
    plain = assert_naively_the_same(model.instance())
    recorded = any(a.history for machine in model.model.machines for a in machine.attributes)
    return {False: plain, True: assert_naively_the_same(model.instance(with_history=True)) if recorded else plain}


def length(result: Result) -> int | None:
    """Of the run that refutes."""
    return None if result.counterexample is None else len(result.counterexample.steps)


def assert_naively_checked(model: Drawn, results: Sequence[Result]) -> None:
    """The verdicts are the naive ones, and runs no longer than they have to be."""
    naive_graphs = graphs(model)
    formed, *others = results
    assert formed.verdict is (Verdict.REFUTED if naive_graphs[False].wrong else Verdict.PROVED)
    for result in others:
        prop = model.model.property(result.name)
        verdict, shortest = naive.check(naive_graphs[reads_history(model.model, prop)], prop)
        assert result.verdict is verdict, prop
        assert shortest is None or length(result) == shortest, prop


def of_shortest_runs(model: Model, results: Sequence[Result]) -> list[Any]:
    """What is the same whatever the order of search: verdicts, and how long the shortest runs are."""
    kinds: dict[str, Property] = {p.name: p for p in model.properties}
    shortest = (*SAFETY, AlwaysCanReach)
    return [
        (r.name, r.verdict, r.vacuous, length(r) if isinstance(kinds.get(r.name), shortest) else None) for r in results
    ]


def compare(seed: int) -> None:
    """Every way with every other."""
    model = drawn(seed)
    instance = model.instance()
    interpreted = checked(model.model, {}, Engine.INTERPRETED)
    assert_naively_checked(model, interpreted)
    for threads in (1, 2):
        assert_same_graph(instance, threads)
        assert_same_quotient(instance, threads)
    assert checked(model.model, {}, Engine.COMPILED) == interpreted
    reduced = checked(model.model, {}, Engine.COMPILED, symmetry=True)
    assert reduced == checked(model.model, {}, Engine.INTERPRETED, symmetry=True)
    expected = of_shortest_runs(model.model, interpreted)
    assert of_shortest_runs(model.model, reduced) == expected
    assert of_shortest_runs(model.model, checked(model.model, {}, Engine.COMPILED, threads=2)) == expected


@pytest.mark.long
@pytest.mark.parametrize("seed", thinned(SOME, 4))
def test_all_ways_say_the_same(seed: int) -> None:
    compare(seed)


@pytest.mark.long(one_in=18)
@pytest.mark.parametrize("seed", MANY)
def test_all_ways_say_the_same_of_more(seed: int) -> None:
    compare(seed)


# --- The models are worth it -----------------------------------------------------------------------------------------


@pytest.mark.long
def test_the_models_are_no_trifles() -> None:
    """All that are made are well-typed; rules fire, properties of every kind are kept and fall, and often objects are interchangeable."""
    models = [drawn(seed) for seed in range(30)]
    assert sum(m.refused for m in models) == 0
    assert sum(m.large for m in models) <= len(models)
    explorations = [explore(m.instance()) for m in models]
    assert median(f.state_count for f in explorations) >= 20
    assert median(f.transition_count for f in explorations) >= 80
    assert len([f for f in explorations if f.ill_formed is None]) >= 15
    assert len([f for f in explorations if f.representatives < f.state_count]) >= 12
    assert len([m for m in models if rules_matter(m)]) >= 15
    seen = Counter((r.kind, r.verdict) for m in models for r in checked(m.model, {}, Engine.INTERPRETED)[1:])
    kinds = {p.kind for p in models[0].model.properties}
    assert len(kinds) == 5
    assert min(seen[kind, verdict] for kind in kinds for verdict in (Verdict.PROVED, Verdict.REFUTED)) >= 3, seen


def rules_matter(model: Drawn) -> bool:
    """Without its rules it takes other steps."""
    less = dataclasses.replace(model, model=dataclasses.replace(model.model, rules=[], properties=[]))
    whole, rest = (explore(m.instance(), symmetry=False) for m in (model, less))
    return (whole.states, whole.edges) != (rest.states, rest.edges)


# --- Seeded faults ---------------------------------------------------------------------------------------------------

RIGHT_SET, RIGHT_RULE, RIGHT_ORDER = Steps._set, Steps._rule, steps.ordered_rules
RIGHT_READS, RIGHT_LOOPS = evaluate.reads, liveness._fair_loops


def of_the_state_after(self: Steps, row: Row, who: Any, moment: Any) -> None:
    """Each attribute is set as those before it in the row were written already."""
    for name, value in row.sets:
        with self.terms.body() as body, self.terms.reading() as read:
            RIGHT_SET(self, Row(row.sort, row.event, row.source, row.target, **{name: value}), who, moment)
        self.terms.unpack(read, "now", "next")
        for stmt in body:
            self.terms.emit(stmt)
        self.terms.unpack(read, "now", "state")


def last_condition_dropped(self: Steps, rule: Rule, on: Any, event: Any, moment: Any) -> None:
    """Of each rule."""
    RIGHT_RULE(self, dataclasses.replace(rule, when=rule.when[:-1]), on, event, moment)


def whatever_else_fires(self: Steps, rule: Rule, on: Any, event: Any, moment: Any) -> None:
    """What must not happen beside it, may."""
    some = [c for c in rule.when if not (isinstance(c, t.Not) and isinstance(c.part, t.Fires))]
    RIGHT_RULE(self, dataclasses.replace(rule, when=some), on, event, moment)


def later_rules_first(model: Model) -> Any:
    """Rules are asked before those that cause what they ask about."""
    return list(reversed(RIGHT_ORDER(model)))


def all_is_well(self: Steps, number: int) -> None:
    """What is ill-formed is not noted."""


def seldom_noted(self: Any, slot: int) -> int:
    """Of what a function reads, the first slot is not noted."""
    value = tuple.__getitem__(self, slot)
    if slot:
        self.read[slot] = value
    return int(value)


def a_field_less(instance: Instance, term: t.Term) -> Iterator[tuple[str, str]]:
    """The first field that a guard reads is left out."""
    yield from list(RIGHT_READS(instance, term))[1:]


def alike(instance: Instance, sort: str) -> bool:
    """All objects are interchangeable, even if they differ."""
    return True


def nobody_is_fair(exploration: Any, region: set[int], prop: LeadsTo) -> list[set[int]]:
    """Any loop will do."""
    return RIGHT_LOOPS(exploration, region, dataclasses.replace(prop, weak=[], strong=[]))


def by_graphs(model: Drawn) -> None:
    """Compiled code against the interpreter: states and steps."""
    assert_same_graph(model.instance())


def by_representatives(model: Drawn) -> None:
    """With symmetry there are as many states and steps as without."""
    full, reduced = explore(model.instance(), symmetry=False), explore(model.instance())
    assert (full.state_count, full.per_action()) == (reduced.state_count, reduced.per_action())


def by_quotients(model: Drawn) -> None:
    """Compiled code against the interpreter, with symmetry."""
    assert_same_quotient(model.instance())


def naively(model: Drawn) -> None:
    """The interpreter against what is naive."""
    assert_naively_checked(model, checked(model.model, {}, Engine.INTERPRETED))


SEEDED: list[tuple[Any, str, Any, Callable[[Drawn], None]]] = [
    (Steps, "_set", of_the_state_after, by_graphs),
    (Steps, "_rule", last_condition_dropped, by_graphs),
    (Steps, "_rule", whatever_else_fires, by_graphs),
    (Steps, "_ill_formed", all_is_well, by_graphs),
    (compiled_steps, "ordered_rules", later_rules_first, by_graphs),
    (search, "quotient", nobody_is_renamed, by_quotients),
    (symmetry, "_interchangeable", alike, by_representatives),
    (remember._Watched, "__getitem__", seldom_noted, naively),
    (steps, "reads", a_field_less, naively),
    (steps, "ordered_rules", later_rules_first, naively),
    (liveness, "_fair_loops", nobody_is_fair, naively),
]


@pytest.mark.parametrize(
    ("where", "name", "wrong", "way"),
    thinned(SEEDED, 12, first=6),
    ids=[f"{way.__name__}-{wrong.__qualname__}" for _, _, wrong, way in SEEDED],
)
def test_what_is_seeded_is_noticed(
    where: Any, name: str, wrong: Any, way: Callable[[Drawn], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    models = [drawn(seed) for seed in SOME]
    monkeypatch.setattr(where, name, wrong)
    assert any(notices(way, model) for model in models)


def notices(way: Callable[[Drawn], None], model: Drawn) -> bool:
    """Whether a comparison fails."""
    try:
        way(model)
    except (AssertionError, KeyError, StopIteration, ValueError, IllFormed, Undefined):
        return True
    return False
