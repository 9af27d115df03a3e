"""Models at random with objects that are created and end: both engines, ``naive``, and the same with objects that live once.

That double has a state after the life of an object, from which nothing leads, and no condition that nothing refers to a new one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from schedproof.model.lang import Function, Invariant, Model, Ref, Relation, Row, Rule, State, StepInvariant, disposable
from schedproof.model.lang import Sequence as Sequential
from schedproof.model.lang import terms as t
from schedproof.model.lang.disposable import ABSENT
from schedproof.model.semantics import bounds
from schedproof.model.semantics.bounds import Bounds
from schedproof.proofs.checking.engine import Engine
from schedproof.proofs.compiled.code import Local, Set, binary
from schedproof.proofs.compiled.steps import Steps
from schedproof.proofs.compiled.terms import Moment
from schedproof.proofs.exploration.explore import explore
from schedproof.proofs.induction import prove, recheck
from schedproof.proofs.verdict import Result, Verdict
from tests.proofs.checking import naive
from tests.proofs.checking.test_random_models import assert_naively_the_same, length, notices
from tests.proofs.compiled.test_beside_interpreted import assert_same_graph, assert_same_quotient, checked
from tests.support.random_models import (
    DisposableFunctionMaker,
    DisposableMaker,
    DisposableRelationMaker,
    DisposableSequenceMaker,
    Drawn,
    Maker,
    random_model,
)
from tests.support.sample import thinned

SOME, MANY = range(8), range(8, 48)
"""The models of the default run, and of the long one."""

OVER = "Over"
"""The state after the only life of an object."""


@cache
def drawn(seed: int, make: type[Maker] = DisposableMaker) -> Drawn:
    """A model with a disposable sort."""
    return random_model(seed, make)


def lives_once(model: Model) -> Model:
    """The model without reuse: an object that ended stays where it is."""
    sort = next(s for s in model.sorts if s.disposable)
    lasting = dataclasses.replace(sort, disposable=False)

    def over(term: Any) -> Any:
        """Absent is what was not created yet, and what is over."""
        if isinstance(term, t.Is) and term.states == (ABSENT,):
            return dataclasses.replace(term, states=(ABSENT, OVER))
        return t.rebuilt(term, over)

    def kept(action: Any) -> Any:
        created = {c.of.name for c in action.when if isinstance(c, t.Is) and c.states == (ABSENT,)}
        guard = [
            c if isinstance(c, t.Is) else over(c)
            for c in action.when
            if not (isinstance(c, t.Quantified) and {*t.free_variables(c)} & created)
        ]
        return dataclasses.replace(action, when=guard, fires=[*map(over, action.fires)])

    def after_all(row: Row) -> Row:
        target = OVER if row.sort == sort and row.target == ABSENT else row.target
        made = Row(row.sort, row.event, row.source, target)
        object.__setattr__(made, "sets", tuple((name, over(value)) for name, value in row.sets))
        return made

    def rule(each: Rule) -> Rule:
        on = over(each.on) if isinstance(each.on, t.Fires) else each.on
        return dataclasses.replace(each, on=on, when=[*map(over, each.when)], fires=over(each.fires))

    def about(prop: Any) -> Any:
        given = over(prop.given) if prop.given is not None else None
        return dataclasses.replace(prop, given=given, then=over(prop.then))

    machines = [
        dataclasses.replace(m, sort=lasting, states=[*m.states, State(OVER)]) if m.sort == sort else m
        for m in model.machines
    ]
    return dataclasses.replace(
        model,
        machines=machines,
        rows=[*map(after_all, model.rows)],
        actions=[*map(kept, model.actions)],
        rules=[*map(rule, model.rules)],
        properties=[about(p) for p in model.properties if isinstance(p, Invariant | StepInvariant)],
    )


def _unreachable(model: Model, row: Row) -> bool:
    state = model.machine(row.sort).state(row.source)
    return state is not None and state.unreachable


def created(result: Result) -> int:
    """How many objects the run creates that refutes."""
    assert result.counterexample is not None
    return sum(step.action == "create" for step in result.counterexample.steps)


def naively(model: Drawn) -> None:
    """The interpreter against what is naive: states, steps, what is cut, and verdicts."""
    graph = assert_naively_the_same(model.instance())
    plain = explore(model.instance(), symmetry=False)
    named = {plain.states[n]: sorted(choice.action for choice in each) for n, each in plain.cut.items()}
    assert named == {state: sorted(name for name, _ in each) for state, each in graph.cut.items()}
    assert plain.stuck_count == sum(not steps and state not in graph.cut for state, steps in graph.steps.items())
    for result in checked(model.model, {}, Engine.INTERPRETED)[1:]:
        prop = model.model.property(result.name)
        if prop.kind != "deadlock freedom":
            verdict, shortest = naive.check(graph, prop)
            assert result.verdict is verdict, prop
            assert shortest is None or length(result) == shortest, prop


def by_graphs(model: Drawn) -> None:
    """Compiled code against the interpreter: states, steps and what is cut; all states and representatives."""
    assert_same_graph(model.instance())
    assert_same_quotient(model.instance())


def by_engines(model: Drawn) -> None:
    """Compiled code against the interpreter: verdicts."""
    assert checked(model.model, {}, Engine.COMPILED) == checked(model.model, {}, Engine.INTERPRETED)


def by_lives(model: Drawn) -> int:
    """Reuse against objects that live once; the number of comparisons."""
    if not any(r.target == ABSENT and not _unreachable(model.model, r) for r in model.model.rows):
        return 0  # no life ends
    once, compared = lives_once(model.model), 0
    sort = next(s.name for s in model.model.sorts if s.disposable)
    size = model.model.default_scope[sort]
    reused = {r.name: r for r in checked(model.model, {}, Engine.INTERPRETED)}
    few = checked(once, {sort: size - 1}, Engine.INTERPRETED, max_states=3000)
    for short in few:
        reuse = reused[short.name]
        if short.verdict is Verdict.REFUTED and short.counterexample is not None:
            assert reuse.verdict is not Verdict.PROVED, short
            compared += 1
    for reuse in reused.values():
        if reuse.verdict is not Verdict.REFUTED or not any(p.name == reuse.name for p in once.properties):
            continue
        lives = max(1, created(reuse))
        if lives <= 3:
            (same,) = [
                r
                for r in checked(once, {sort: lives}, Engine.COMPILED, max_states=20_000, symmetry=True)
                if r.name == reuse.name
            ]
            assert same.verdict is not Verdict.PROVED, reuse
            compared += 1
    return compared


def by_proofs(model: Drawn) -> int:
    """Induction never proves what an exploration refutes, and cvc5 never contradicts z3; the number of proofs."""
    proof = prove(model.model)
    assert [check.answer.obligation.name for check in recheck(proof) if check.agrees is False] == []
    refuted = {r.name for r in checked(model.model, {}, Engine.INTERPRETED) if r.verdict is Verdict.REFUTED}
    kept = [p.name for p in model.model.properties if isinstance(p, Invariant | StepInvariant) and proof.kept(p.name)]
    assert not refuted & {*kept}
    return len(kept)


def compare(seed: int, make: type[Maker] = DisposableMaker) -> None:
    """Every way with every other."""
    model = drawn(seed, make)
    naively(model)
    by_graphs(model)
    by_engines(model)
    by_lives(model)
    reduced = checked(model.model, {}, Engine.COMPILED, symmetry=True)
    assert reduced == checked(model.model, {}, Engine.INTERPRETED, symmetry=True)


@pytest.mark.parametrize("seed", thinned(range(8, 16), 8))  # the first of them has few states
def test_all_ways_agree_with_disposable_sorts_in_relations(seed: int) -> None:
    compare(seed, DisposableRelationMaker)


@pytest.mark.long(one_in=32)
@pytest.mark.parametrize("seed", range(16, 48))
def test_all_ways_agree_in_more_relations(seed: int) -> None:
    compare(seed, DisposableRelationMaker)


@pytest.mark.long(one_in=12)
@pytest.mark.parametrize("seed", thinned(range(12), 4))
@pytest.mark.parametrize("make", [DisposableSequenceMaker, DisposableFunctionMaker])
def test_all_ways_agree_in_sequences_and_functions(seed: int, make: type[Maker]) -> None:
    compare(seed, make)


@pytest.mark.long
@pytest.mark.parametrize("seed", thinned(SOME, 4))
def test_all_ways_agree_with_disposable_sorts(seed: int) -> None:
    compare(seed)


@pytest.mark.long(one_in=32)
@pytest.mark.parametrize("seed", MANY)
def test_all_ways_agree_with_disposable_sorts_of_more(seed: int) -> None:
    compare(seed)


@pytest.mark.long(one_in=12)
@pytest.mark.parametrize("seed", SOME)
@pytest.mark.parametrize(
    "make", [DisposableMaker, DisposableRelationMaker, DisposableSequenceMaker, DisposableFunctionMaker]
)
def test_induction_proves_nothing_that_is_refuted(seed: int, make: type[Maker]) -> None:
    by_proofs(drawn(seed, make))


@pytest.mark.long
def test_disposable_sorts_matter_in_random_models() -> None:
    """Steps are cut, objects are used reuse, and lives are compared."""
    models = [drawn(seed) for seed in SOME]
    assert sum(bool(explore(m.instance()).frontier_count) for m in models) >= 5
    assert sum(by_lives(m) for m in models) >= 8


# --- Seeded faults ---------------------------------------------------------------------------------------------------


def pool_without_end(self: Steps) -> None:
    """The compiled engine takes the last object, too."""


def pool_before(self: Steps) -> None:
    """The compiled engine looks for the next object in the state before the step."""
    for condition in self._bounds.spare:
        spare = self.terms.value(condition, Moment())
        self.terms.emit(Set("beyond", binary("|", Local("beyond"), binary("^", spare, 1))))


def absent_suffices(machines: Any, actions: Any, sort: Any) -> t.Term:
    """An object that is absent counts as the next one, although something refers to it."""
    var = t.Var("x", Ref(sort))
    return t.exists(var, disposable.new(var))


def nothing_named_by(kinds: type) -> Callable[[Any, Any, Any], Any]:
    """A relation, a sequence or a function does not keep the objects that it names from being used again."""
    return lambda kind, value, var: iter(()) if isinstance(kind, kinds) else _WAYS(kind, value, var)


_WAYS = disposable._ways


def never_full(self: Bounds, state: Any) -> bool:
    """No state is beyond the pool."""
    return True


SEEDED: list[tuple[Any, str, Any, Callable[[Drawn], None]]] = [
    (Steps, "_pools", pool_without_end, by_graphs),
    (Steps, "_pools", pool_before, by_graphs),
    (bounds, "spare", absent_suffices, naively),
    (Bounds, "has", never_full, naively),
]


@pytest.mark.parametrize(
    ("where", "name", "wrong", "way"), thinned(SEEDED, 3, first=1), ids=[wrong.__name__ for _, _, wrong, _ in SEEDED]
)
def test_a_fault_of_pools_is_noticed(
    where: Any, name: str, wrong: Any, way: Callable[[Drawn], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    models = [drawn(seed) for seed in (0, 1, 14)]  # of 14 an object that ended is still referred to
    monkeypatch.setattr(where, name, wrong)
    assert any(notices(way, model) for model in models)


@pytest.mark.long
@pytest.mark.parametrize(
    ("make", "kinds"),
    [
        (DisposableRelationMaker, Relation),
        (DisposableSequenceMaker, Sequential),
        (DisposableFunctionMaker, Function),
    ],
)
def test_random_values_keep_objects_from_being_used_again(
    make: type[Maker], kinds: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = [drawn(seed, make) for seed in range(4)]
    monkeypatch.setattr(disposable, "_ways", nothing_named_by(kinds))
    assert any(notices(naively, model) for model in models)
