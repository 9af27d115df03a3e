"""A sort that has exactly one object: proofs assume it, scopes and logs cannot have more."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from schedproof.model.lang import (
    NONE,
    Action,
    Attribute,
    Change,
    Invariant,
    Machine,
    Model,
    ModelError,
    Ref,
    Row,
    Sort,
    State,
    Term,
    exists,
    forall,
    variables,
)
from schedproof.model.lang.check import checked
from schedproof.model.lang.wording import show_term
from schedproof.model.registry.system import System
from schedproof.model.semantics import ScopeError, check_scope, instances
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.induction import prove
from schedproof.proofs.traces import TraceError, check_records
from schedproof.proofs.verdict import Verdict


def model(single: bool, axioms: Sequence[Term] = (), **more: Any) -> Model:
    """A lamp is on while the clock shows it; with two clocks two lamps may be on."""
    clock, lamp = Sort("Clock", "c", single=single), Sort("Lamp", "l")
    (c, d), (x, y) = variables(clock, "c d"), variables(lamp, "x y")
    return Model(
        system="clocks",
        variant="as-written",
        about="a clock shows a lamp",
        machines=[Machine(clock, attributes=[Attribute("shows", Ref(lamp))], states=[State("Runs")]), Machine(lamp, [State("Off")])],
        rows=[Row(clock, "show", "Runs", "Runs", shows=NONE)],
        actions=[Action("show", [c], [], [c.fires("show")], "{c} shows nothing")],
        rules=[],
        properties=[
            Invariant(name="one-lamp", says="all clocks show the same", over=[x, y], given=exists(c, c.shows == x) & exists(c, c.shows == y), then=x == y),
            Invariant(name="same-clock", says="there is one clock", over=[c, d], then=c == d),
        ],
        axioms=axioms,
        default_scope={"Lamp": 2},
        **more,
    )  # fmt: skip


def test_proofs_assume_it_and_say_so() -> None:
    single, several = prove(model(True)), prove(model(False))
    assert single.kept("same-clock") and single.bounds == {"Clock": 1}
    assert not several.kept("same-clock") and several.bounds == {}


def test_an_exploration_has_one() -> None:
    (instance,) = instances(model(True), {})
    assert instance.sizes == {"Clock": 1, "Lamp": 2}
    results = {result.name: result.verdict for result in model_check(model(True), {})}
    assert results["same-clock"] is Verdict.PROVED
    assert {r.name: r.verdict for r in model_check(model(False), {"Clock": 2})}["same-clock"] is Verdict.REFUTED


def test_a_scope_of_more_is_refused() -> None:
    with pytest.raises(ScopeError, match="scope Clock=2: the model has exactly one Clock; leave it out of the scope"):
        check_scope(model(True), {"Clock": 2})
    for name in ("default_scope", "verify_scope"):
        with pytest.raises(ModelError, match=f"{name} has 2 objects of Clock, which has exactly one; leave it out"):
            checked(replace(model(True), **{name: {"Clock": 2, "Lamp": 2}}))


def test_the_axiom_is_added_once() -> None:
    single = model(True)
    amended = single.amend("other", "", [Change("a test", [], drops=["one-lamp"])], frozenset())
    restored = replace(pickle.loads(pickle.dumps(amended)), about="read back")
    for each in (single, amended, restored, replace(single, about="x")):
        assert [show_term(axiom) for axiom in each.axioms] == ["for every c1, c2: c1 = c2"]
    assert not model(False).axioms
    c, d = variables(Sort("Clock", "c"), "c d")
    assert len(model(True, axioms=[forall([c, d], c == d)]).axioms) == 2


def test_a_log_has_one() -> None:
    clocks = model(True)
    system = System("clocks", "Clocks", {"as-written": clocks}, validated_by="as-written")
    header = {"schedproof": 1, "system": "clocks", "objects": {"Lamp": ["lamp"]}}
    show = [{"action": "show", "parameters": {"c": name}} for name in ("wall", "wrist")]
    observed = {"state": {"Clock": {"wall": {"shows": None}}}}
    assert str(check_records(system, header, [show[0], show[0], observed]).verdict) == "conforms"
    with pytest.raises(
        TraceError, match="Clock wrist is a second one, and the model has exactly one, wall; use its name"
    ):
        check_records(system, header, show)
    with pytest.raises(TraceError, match='"objects" has 2 of Clock, of which the model has exactly one; name one'):
        check_records(system, {**header, "objects": {"Lamp": [], "Clock": ["wall", "wrist"]}}, [])


def test_single_is_true_or_false() -> None:
    with pytest.raises(ModelError, match="single is 'yes'; write single=True"):
        Sort("Clock", "c", single="yes")  # type: ignore[arg-type]
