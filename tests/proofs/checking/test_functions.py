"""Functions of objects in every engine, on one model with functions to each type of value."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from schedproof.model.lang import (
    NONE,
    Action,
    Attribute,
    BoolType,
    Document,
    Event,
    Function,
    IntRange,
    Invariant,
    Machine,
    Model,
    Ref,
    Rigid,
    Row,
    Sort,
    State,
    StepInvariant,
    after,
    each,
    exists,
    given,
    implies,
    me,
    variable,
    variables,
)
from schedproof.model.semantics import Instance, ScopeError, functions, instances
from schedproof.proofs.checking.engine import Engine, Exploring
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.compiled.code import binary
from schedproof.proofs.compiled.terms import Terms
from schedproof.proofs.exploration.explore import explore
from schedproof.proofs.exploration.limits import TooWide
from schedproof.proofs.export import promela, tla
from schedproof.proofs.induction import prove, recheck
from schedproof.proofs.verdict import Verdict
from tests.proofs.export import test_promela, test_tla
from tests.proofs.export.exported import by_exploration
from tests.proofs.export.test_promela import assertion, by_spin
from tests.support.messages import NATURALS, RANGES, Node
from tests.support.needs import needs_spin
from tests.support.sample import thinned


def instance_of(model: Model, **sizes: int) -> Instance:
    [instance] = instances(model, sizes)
    return instance


def refuted(model: Model, engine: Engine) -> set[str]:
    """The properties that are refuted; the others hold."""
    results = model_check(model, {}, how=Exploring(engine, symmetry=False))
    assert all(r.verdict in (Verdict.PROVED, Verdict.REFUTED) for r in results)
    return {r.name for r in results if r.verdict is Verdict.REFUTED}


@pytest.mark.parametrize("engine", [Engine.INTERPRETED, Engine.COMPILED])
def test_both_explorations_find_the_same(engine: Engine) -> None:
    assert refuted(RANGES, engine) == {"one"}


def test_numbers_without_a_bound_are_explored_interpreted() -> None:
    assert refuted(NATURALS, Engine.INTERPRETED) == {"one"}
    with pytest.raises(TooWide, match="a function of \\(Node\\) to Nat is more than compiled code keeps"):
        model_check(NATURALS, {}, how=Exploring(Engine.COMPILED, symmetry=False))
    assert {r.name for r in model_check(NATURALS, {}) if r.verdict is Verdict.REFUTED} == {"one"}


@pytest.mark.parametrize("model", thinned([RANGES, NATURALS], 2), ids=["ranges", "naturals"])
def test_proofs_know_functions_of_any_number_of_objects(model: Model) -> None:
    proof = prove(model)
    assert {p.name for p in model.properties if not proof.proved(p.name)} == {"one"}
    assert all(check.agrees for check in recheck(proof) if check.answer.verdict is Verdict.PROVED)


UNGUARDED = replace(RANGES, actions=[replace(each, when=each.when[:3]) for each in RANGES.actions])
"""A count leaves its range at the third message."""


@pytest.mark.parametrize("engine", thinned([Engine.INTERPRETED, Engine.COMPILED], 2))
def test_a_value_outside_of_the_range_is_ill_formed(engine: Engine) -> None:
    [formed, *_] = model_check(UNGUARDED, {}, how=Exploring(engine, symmetry=False))
    assert formed.verdict is Verdict.REFUTED and formed.counterexample is not None
    assert len(formed.counterexample.steps) == 3
    assert not prove(UNGUARDED).proved("well-formed")


def test_faults_of_ranges_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the interpreter nor compiled code may take a value outside of its range for another."""

    def lowest_bits(self: Any, value: Any, kind: Any) -> Any:
        return binary("&", value, self.instance.packing(kind).mask >> 1)

    monkeypatch.setattr(functions.Packing, "within", lambda self, number, kind: True)
    monkeypatch.setattr(Terms, "_code", lowest_bits)
    for engine in (Engine.INTERPRETED, Engine.COMPILED):
        [formed, *_] = model_check(UNGUARDED, {}, how=Exploring(engine, symmetry=False))
        assert formed.verdict is not Verdict.REFUTED or len(formed.counterexample.steps) != 3  # type: ignore[union-attr]


@pytest.mark.parametrize("engine", [Engine.INTERPRETED, Engine.COMPILED])
def test_only_the_value_that_is_left_counts(engine: Engine, tmp_path: Path) -> None:
    """A row may write a value outside of the range, and overwrite it in the same expression."""
    over = me.sent.with_(given("to"), to=me.sent[given("to")] + 2).with_(given("to"), to=1)
    rows = [Row(Node, "send", "Up", "Up", sent=over) if row.event == "send" else row for row in RANGES.rows]
    written = replace(RANGES, rows=rows, properties=RANGES.properties[:1], refuted=frozenset())
    results = model_check(written, {}, how=Exploring(engine, symmetry=False))
    assert all(r.verdict is Verdict.PROVED for r in results)
    assert prove(written).proved("well-formed")
    test_tla.same(instance_of(written))


@pytest.mark.long
@needs_spin
def test_spin_finds_the_same(tmp_path: Path) -> None:
    test_promela.same(instance_of(RANGES), tmp_path)


def test_a_reader_of_tla_finds_the_same() -> None:
    test_tla.same(instance_of(RANGES))


def test_promela_refuses_functions_of_many_bits() -> None:
    with pytest.raises(
        ScopeError, match=r"a function of \(Node, Item\) to Node or none has 36 bits, and Promela has 31"
    ):
        promela(instance_of(RANGES, Node=4, Item=3))
    with pytest.raises(ScopeError, match=r"a function of \(Node\) to Nat has 128 bits, and Promela has 31"):
        promela(instance_of(NATURALS))


def test_tla_bounds_the_numbers_of_functions() -> None:
    text = tla(instance_of(NATURALS)).text
    assert "\\A x \\in Nodes : \\A a \\in Nodes : Node[x].sent[a] \\in 0 .. 2" in text


Peer = Sort("Peer", "p")
p, q = variables(Peer, "p q")
SEND = Action("send", [p, q], [], [p.fires("send", to=q)], "{p} sends to {q}")
CUT = Action("cut", [p], [p.link != NONE], [p.fires("cut")], "{p} is cut off")
LINKED = Model(
    system="linked",
    variant="toy",
    about="peers whose link may be none",
    document=Document("none.md", "None"),
    machines=[
        Machine(
            Peer,
            [State("Up")],
            [
                Attribute("link", Ref(Peer)),
                Attribute("sent", Function(Peer, to=BoolType())),
                Attribute("via", Function(Peer, to=Ref(Peer))),
            ],
            [Event("send", {"to": Ref(Peer)})],
        )
    ],
    rows=[
        # The link before the step: at first it is none, and nothing is written.
        Row(
            Peer,
            "send",
            "Up",
            "Up",
            link=given("to"),
            sent=me.sent.with_(me.link, to=True),
            via=me.via.with_(me, to=me.link),
        ),
        Row(Peer, "cut", "Up", "Up", link=NONE, via=me.via.with_(me, to=NONE)),
    ],
    actions=[SEND, CUT],
    rules=[],
    properties=[
        Invariant(
            name="linked", says="(wrong) A linked peer has sent.", over=[p], given=p.link != NONE, then=p.sent[p.link]
        ),
        Invariant(
            name="read", says="(wrong) A value is read at none.", over=[p], then=~p.sent[p.link] | p.sent[p.link]
        ),
        Invariant(
            name="cut",
            says="A peer that is cut off goes by none.",
            over=[p],
            given=p.link == NONE,
            then=p.via[p] == NONE,
        ),
    ],
    default_scope={"Peer": 2},
    refuted=frozenset({"linked", "read"}),
)


@pytest.mark.parametrize("engine", [Engine.INTERPRETED, Engine.COMPILED])
def test_nothing_is_written_at_none_and_nothing_read(engine: Engine) -> None:
    results = {r.name: r for r in model_check(LINKED, {}, how=Exploring(engine, symmetry=False))}
    assert {name for name, r in results.items() if r.verdict is Verdict.REFUTED} == {"linked", "read"}
    # After the first step of all, the link is there, and nothing was sent.
    assert len(results["linked"].counterexample.steps) == 1  # type: ignore[union-attr]
    assert results["read"].counterexample.steps == ()  # type: ignore[union-attr]
    proof = prove(LINKED)
    assert proof.proved("cut") and not proof.proved("read")


@pytest.mark.parametrize("engine", [Engine.INTERPRETED, Engine.COMPILED])
def test_each_value_is_read_where_it_is_defined(engine: Engine) -> None:
    """At first the link is none, so its own link is not there for any value."""
    rows = [Row(Peer, "send", "Up", "Up", via=each(q, me.link.link)), LINKED.rows[1]]
    unread = replace(LINKED, rows=rows, properties=[], refuted=frozenset())
    [formed] = model_check(unread, {}, how=Exploring(engine, symmetry=False))
    assert formed.verdict is Verdict.REFUTED and len(formed.counterexample.steps) == 1  # type: ignore[union-attr]
    assert not prove(unread).proved("well-formed")


@pytest.mark.parametrize("engine", [Engine.INTERPRETED, Engine.COMPILED])
def test_a_value_far_below_the_range_is_ill_formed(engine: Engine) -> None:
    """The code of a number two below the range would be that of another value, if the others were cut off."""
    attributes = [Attribute("link", Ref(Peer)), Attribute("load", Function(Peer, to=IntRange(1, 2)))]
    machine = Machine(Peer, [State("Up")], attributes, [Event("send", {"to": Ref(Peer)})])
    low = me.load.with_(given("to"), to=me.load[given("to")] - 2)
    below = replace(
        LINKED,
        machines=[machine],
        rows=[Row(Peer, "send", "Up", "Up", load=low)],
        actions=[SEND],
        properties=[],
        refuted=frozenset(),
    )
    [formed] = model_check(below, {"Peer": 1}, how=Exploring(engine, symmetry=False))
    assert formed.verdict is Verdict.REFUTED and len(formed.counterexample.steps) == 1  # type: ignore[union-attr]


@pytest.mark.parametrize("engine", [Engine.INTERPRETED, Engine.COMPILED])
def test_a_premise_that_reads_at_none_counts_as_violated(engine: Engine) -> None:
    """The value is read before anything happened, so a state that no action reaches makes no difference."""
    properties = [
        Invariant(name="one", says="(wrong)", over=[p], given=p.sent[p.link], then=p.link != NONE),
        Invariant(name="two", says="(wrong)", over=[p, q], given=p.sent[p.link] & (p.link == q), then=p.sent[q]),
    ]
    model = replace(LINKED, properties=properties, refuted=frozenset({"one", "two"}))
    results = model_check(model, {}, how=Exploring(engine, symmetry=False))
    steps = {r.name: r.counterexample.steps for r in results if r.counterexample is not None}
    assert steps == {"one": (), "two": ()}


@pytest.mark.parametrize("engine", [Engine.INTERPRETED, Engine.COMPILED])
def test_a_rigid_function_is_read_only_behind_its_condition(engine: Engine) -> None:
    """One peer has no chief, so its value is not read; the other's is."""
    attributes = [
        Attribute("chief", Ref(Peer), rigid=True),
        Attribute("may", Function(Peer, to=BoolType()), rigid=True),
        Attribute("sent", Function(Peer, to=BoolType())),
    ]
    machine = Machine(Peer, [State("Up")], attributes, [Event("send", {"to": Ref(Peer)})])
    row = Row(Peer, "send", "Up", "Up", sent=me.sent.with_(given("to"), to=True))
    sends = replace(SEND, when=[p.chief != NONE, p.may[p.chief]])
    led = Invariant(name="led", says="Who sends has a chief.", over=[p, q], given=p.sent[q], then=p.chief != NONE)
    idle = Invariant(name="idle", says="(wrong) Nobody sends.", over=[p, q], then=~p.sent[q])
    rigid: list[Rigid] = [{("Peer", "chief"): [None, 0], ("Peer", "may"): [{}, {0: True}]}]
    model = replace(
        LINKED,
        machines=[machine],
        rows=[row],
        actions=[sends],
        properties=[led, idle],
        refuted=frozenset({"idle"}),
        configurations=lambda sizes: rigid,
    )
    assert refuted(model, engine) == {"idle"}


def test_a_proof_writes_nothing_at_none() -> None:
    """It must not take the write for one at an unknown peer: then something would be written in any case."""
    x = variable(Peer, "x")
    sent = implies(p.fires("send"), exists(x, after(p.sent[x])))
    written = StepInvariant(name="written", says="(wrong) Who sends writes.", over=[p], then=sent)
    linked = replace(LINKED, properties=[written], refuted=frozenset({"written"}))
    assert refuted(linked, Engine.INTERPRETED) == {"written"}
    assert not prove(linked).proved("written")


def test_a_proof_asks_a_row_for_objects_in_its_source_state() -> None:
    """A peer that is Used has a link, and one that is Up has none: only a row from Used may read it."""
    attributes = [Attribute("link", Ref(Peer)), Attribute("via", Function(Peer, to=Ref(Peer)))]
    machine = Machine(Peer, [State("Up"), State("Used")], attributes)
    reads = me.via.with_(me, to=me.link.link)
    used = Invariant(name="used", says="", over=[p], given=p.is_("Used"), then=p.link == p)
    model = replace(
        LINKED,
        machines=[machine],
        rows=[Row(Peer, "use", "Up", "Used", link=me), Row(Peer, "use", "Used", "Used", via=reads)],
        actions=[Action("use", [p], [], [p.fires("use")], "{p} is used")],
        properties=[used],
        refuted=frozenset(),
    )
    assert prove(model).proved("well-formed")
    swapped = replace(model, rows=[Row(Peer, "use", "Up", "Used", link=me, via=reads), model.rows[1]])
    assert not prove(swapped).proved("well-formed")


@pytest.mark.long
@needs_spin
def test_spin_writes_none_and_stops_at_what_is_outside(tmp_path: Path) -> None:
    linked = replace(
        LINKED, properties=[each for each in LINKED.properties if each.name != "read"], refuted=frozenset({"linked"})
    )
    test_promela.same(instance_of(linked), tmp_path)
    text = promela(instance_of(UNGUARDED), only=None).text
    expected, actual = by_exploration(instance_of(UNGUARDED)), by_spin(text, tmp_path)
    assert "well-formed" in expected.broken
    assert actual.states == expected.states
    assert actual.broken == {assertion(name) for name in expected.broken}


def test_a_step_beyond_the_bound_of_a_function_is_cut() -> None:
    endless = replace(NATURALS, actions=UNGUARDED.actions, properties=NATURALS.properties[:1], refuted=frozenset())
    results = {r.name: r for r in model_check(endless, {})}
    assert results["few"].verdict is Verdict.PROVED and results["few"].within == "sent <= 2"
    assert not prove(endless).proved("few")


def test_symmetry_counts_exactly_where_values_name_objects() -> None:
    """With symmetry there are as many states as without."""
    instance = instance_of(LINKED)
    assert explore(instance).state_count == explore(instance, symmetry=False).state_count
