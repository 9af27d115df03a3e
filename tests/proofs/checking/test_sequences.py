"""Sequences in every engine, on one model with a log and a queue."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from schedproof.model.lang import DeadlockFree, Model, Row, exists, forall, implies, length, me
from schedproof.model.semantics import Instance, ScopeError, instances
from schedproof.proofs.checking.engine import Engine, Exploring
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.exploration.limits import TooWide
from schedproof.proofs.export import promela
from schedproof.proofs.induction import prove, recheck
from schedproof.proofs.refinement.modelside import ModelGraph
from schedproof.proofs.verdict import Verdict
from tests.proofs.export import test_promela, test_tla
from tests.support.logs import NATURALS, RANGES, Node, endless, i, n
from tests.support.needs import needs_spin
from tests.support.sample import thinned

SMALL = {"Node": 1, "Job": 2}
"""One node copies its own log."""


def instance_of(model: Model) -> Instance:
    [instance] = instances(model, SMALL)
    return instance


def refuted(model: Model, engine: Engine, scope: dict[str, int] = SMALL) -> set[str]:
    """The properties that are refuted; the others hold."""
    results = model_check(model, scope, how=Exploring(engine, symmetry=False))
    assert all(r.verdict in (Verdict.PROVED, Verdict.REFUTED) for r in results)
    return {r.name for r in results if r.verdict is Verdict.REFUTED}


@pytest.mark.parametrize("engine", [Engine.INTERPRETED, Engine.COMPILED])
def test_both_explorations_find_the_same(engine: Engine) -> None:
    # One node has one log.
    assert refuted(RANGES, engine) == RANGES.refuted - {"equal"}


@pytest.mark.long
def test_two_nodes_have_different_logs() -> None:
    assert refuted(RANGES, Engine.COMPILED, {}) == RANGES.refuted


def test_items_without_a_bound_are_explored_interpreted() -> None:
    assert refuted(NATURALS, Engine.INTERPRETED) == RANGES.refuted - {"equal"}
    with pytest.raises(TooWide, match="a sequence of Nat is more than compiled code keeps"):
        model_check(NATURALS, SMALL, how=Exploring(Engine.COMPILED, symmetry=False))


@pytest.mark.parametrize("model", thinned([RANGES, NATURALS], 2), ids=["ranges", "naturals"])
def test_proofs_know_sequences_of_any_length(model: Model) -> None:
    proof = prove(model)
    assert {p.name for p in model.properties if not proof.proved(p.name)} == model.refuted
    # cvc5 may give up, and never says the opposite.
    assert all(check.agrees is not False for check in recheck(proof) if check.answer.verdict is Verdict.PROVED)


@pytest.mark.long
@needs_spin
def test_spin_finds_the_same(tmp_path: Path) -> None:
    test_promela.same(instance_of(RANGES), tmp_path)


@pytest.mark.long
def test_a_reader_of_tla_finds_the_same() -> None:
    test_tla.same(instance_of(RANGES))


def test_promela_refuses_sequences_of_many_bits() -> None:
    with pytest.raises(Exception, match=r"a sequence of Nat of up to 2 items has 130 bits, and Promela has 31"):
        promela(instance_of(NATURALS))


UNGUARDED = replace(
    RANGES,
    actions=[replace(each, when=each.when[:1]) if each.name == "write" else each for each in RANGES.actions],
    properties=[p for p in RANGES.properties if p.name in ("sorted", "current")],
    refuted=frozenset(),
)
"""The third entry is beyond the bound."""


@pytest.mark.parametrize("engine", [Engine.INTERPRETED, Engine.COMPILED])
def test_a_step_beyond_the_bound_is_cut(engine: Engine) -> None:
    only = [each for each in UNGUARDED.actions if each.name == "write"]
    model = replace(UNGUARDED, actions=only, properties=[*UNGUARDED.properties, DeadlockFree(name="lives", says="")])
    results = {r.name: r for r in model_check(model, SMALL, how=Exploring(engine, symmetry=False))}
    assert (
        results["sorted"].verdict is Verdict.PROVED
        and results["sorted"].within == "2 items of log, 2 items of queue, 1 item of kinds"
    )
    assert results["lives"].verdict is not Verdict.REFUTED  # the bound makes no deadlock
    assert prove(UNGUARDED).proved("sorted")  # and proofs have none


@pytest.mark.parametrize("engine", [Engine.INTERPRETED, Engine.COMPILED])
def test_an_item_outside_of_its_range_is_ill_formed(engine: Engine) -> None:
    rows = [
        Row(Node, "write", "Up", "Up", log=me.log.append(me.term + 1)) if r.event == "write" else r for r in RANGES.rows
    ]
    high = replace(RANGES, rows=rows, properties=[], refuted=frozenset())
    [formed] = model_check(high, SMALL, how=Exploring(engine, symmetry=False))
    assert formed.verdict is Verdict.REFUTED and len(formed.counterexample.steps) == 3  # type: ignore[union-attr]
    assert not prove(high).proved("well-formed")
    # What is overwritten in the same expression does not count.
    kept = [
        Row(Node, "write", "Up", "Up", log=me.log.append(me.term + 1)[:0]) if r.event == "write" else r
        for r in RANGES.rows
    ]
    kept_model = replace(high, rows=kept)
    [formed] = model_check(kept_model, SMALL, how=Exploring(engine, symmetry=False))
    assert formed.verdict is Verdict.PROVED and prove(kept_model).proved("well-formed")


@pytest.mark.parametrize("engine", [Engine.INTERPRETED, Engine.COMPILED])
def test_an_item_is_read_only_where_there_is_one(engine: Engine) -> None:
    first = [replace(a, when=[n.is_("Up"), n.log[0] == 0]) if a.name == "cut" else a for a in RANGES.actions]
    model = replace(RANGES, actions=first, properties=[], refuted=frozenset())
    [formed] = model_check(model, SMALL, how=Exploring(engine, symmetry=False))
    assert formed.verdict is Verdict.REFUTED and formed.counterexample.steps == ()  # type: ignore[union-attr]
    assert not prove(model).proved("well-formed")


def test_a_limit_may_be_any_number() -> None:
    """The values of an index end where its limit says, in all engines."""
    below = forall(i, implies(i <= n.term, exists(i, (i < n.term + 1) & (i <= length(n.log) + 2))))
    model = replace(RANGES, properties=[replace(RANGES.properties[0], name="below", then=below)], refuted=frozenset())
    for engine in (Engine.INTERPRETED, Engine.COMPILED):
        assert refuted(model, engine) == set()
    assert prove(model).proved("below")
    test_tla.same(instance_of(model))


def test_a_slice_may_begin_and_end_anywhere() -> None:
    """A number below 0 counts as 0, and one beyond the last item as the length, in all engines."""
    log, all_of_it = n.log, length(n.log)
    below = implies(n.term < 9, (length(log[: n.term - 9]) == 0) & (length(log[n.term - 9 :]) == all_of_it))
    beyond = (length(log[: all_of_it + n.term]) == all_of_it) & (length(log[all_of_it + n.term :]) == 0)
    model = replace(
        RANGES, properties=[replace(RANGES.properties[0], name="any", then=below & beyond)], refuted=frozenset()
    )
    for engine in (Engine.INTERPRETED, Engine.COMPILED):
        assert refuted(model, engine) == set()
    assert prove(model).proved("any")


def test_a_refinement_needs_sequences_that_guards_bound() -> None:
    assert len(ModelGraph.explore(instance_of(RANGES)).steps) > 100
    # The guard allows one item more than the declaration. So the exploration would end, too, if it ignored the bound.
    third = [replace(a, when=[*a.when[:2], length(n.log) < 3]) if a.name == "write" else a for a in RANGES.actions]
    with pytest.raises(ScopeError, match="beyond 2 items of log"):
        ModelGraph.explore(instance_of(replace(RANGES, actions=third)))
    with pytest.raises(ScopeError, match=r"beyond 2 items of log, .* let guards bound its sequences"):
        ModelGraph.explore(instance_of(endless()))
