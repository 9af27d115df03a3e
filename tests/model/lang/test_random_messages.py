"""Programs at random that send messages, beside lists of messages in Python: the same states, steps and cuts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import networkx as nx
import pytest

from schedproof.model.lang import LeadsTo, messages
from schedproof.model.lang.messages import LANES, Channel
from schedproof.model.lang.terms import Constant
from schedproof.model.semantics import Choice, Instance, instances
from schedproof.model.semantics.step import stepper_of
from schedproof.proofs.checking.engine import Engine
from schedproof.proofs.compiled import liveness as compiled_liveness
from schedproof.proofs.exploration import liveness as exploration_liveness
from schedproof.proofs.exploration.explore import explore
from schedproof.proofs.induction import prove
from schedproof.proofs.verdict import Verdict
from tests.proofs.compiled.test_beside_interpreted import assert_same_graph, assert_same_quotient, checked
from tests.proofs.export.test_promela import same as same_in_spin
from tests.proofs.export.test_tla import same as same_in_tla
from tests.support.messaging import Act, Double, Message, Program, Sent, canonical, model_of, random_program, x
from tests.support.needs import needs_spin
from tests.support.sample import thinned

SOME, MANY = range(12), range(12, 92)
"""The programs of the default run, and of the long one."""

MOST_STATES = 100


@cache
def small(seed: int) -> Program:
    """A program with few states."""
    for n in range(100):
        program = random_program(100 * seed + n)
        if 20 <= len(Double(program).states()[0]) <= MOST_STATES:
            return program
    raise AssertionError


def instance_of(program: Program) -> Instance:
    (instance,) = instances(model_of(program), {})
    return instance


def stale(instance: Instance, state: Any) -> set[Any]:
    """What messages wait for although it is no longer under way: it would keep an object from being used again."""
    messages = instance.describe(state)["Wire"]
    absent = {name for name, each in messages.items() if each["state"] == "Absent"}
    return {name for each in messages.values() for name in each.get("behind", [])} & absent  # type: ignore[attr-defined]


def by_lists(program: Program) -> None:
    """The explored graph against the double."""
    instance = instance_of(program)
    states, steps, cut = Double(program).states()
    graph = explore(instance, symmetry=False)
    assert not any(stale(instance, state) for state in graph.states)
    named = {state: canonical(program, instance, state) for state in graph.states}
    assert {*named.values()} == states
    assert {named[graph.states[n]] for n in graph.cut} == cut
    explored = {
        (named[state], step.choice.action, named[step.after])
        for state in graph.states
        for step in stepper_of(instance).steps(state)
        if step.after in named
    }
    assert explored == steps


def compare(seed: int) -> None:
    """Every way with every other."""
    program = small(seed)
    by_lists(program)
    model, instance = model_of(program), instance_of(program)
    assert_same_graph(instance)
    assert_same_quotient(instance)
    explored = checked(model, {}, Engine.COMPILED)
    assert explored == checked(model, {}, Engine.INTERPRETED)
    assert {r.verdict for r in explored if r.name.startswith("wire-")} <= {Verdict.PROVED}


def by_proofs(seed: int) -> None:
    """The order and the capacity hold for any number of messages, and nothing is proved that is refuted."""
    model = model_of(small(seed))
    proof = prove(model)
    assert all(proof.proved(p.name) for p in model.properties if p.name.startswith("wire-"))
    refuted = {r.name for r in checked(model, {}, Engine.INTERPRETED) if r.verdict is Verdict.REFUTED}
    assert not [name for name in refuted if proof.proved(name)]


@pytest.mark.parametrize("seed", thinned(SOME, 3))
def test_programs_have_the_states_of_lists(seed: int) -> None:
    by_lists(small(seed))


@pytest.mark.long(one_in=32)
@pytest.mark.parametrize("seed", MANY)
def test_all_ways_agree_with_lists_of_messages(seed: int) -> None:
    compare(seed)


@pytest.mark.long(one_in=32)
@pytest.mark.parametrize("seed", MANY)
def test_order_and_capacity_are_proved_of_any_program(seed: int) -> None:
    by_proofs(seed)


@pytest.mark.long
@needs_spin
@pytest.mark.parametrize("seed", thinned(SOME, 12))
def test_spin_finds_the_same_of_messages(seed: int, tmp_path: Path) -> None:
    same_in_spin(instance_of(small(seed)), tmp_path)


@pytest.mark.long(one_in=6)
@pytest.mark.parametrize("seed", SOME)
def test_the_reader_of_tla_finds_the_same_of_messages(seed: int) -> None:
    same_in_tla(instance_of(small(seed)))


@pytest.mark.parametrize("lossy", [False, True])
def test_what_is_passed_on_waits_for_nothing_that_left(lossy: bool) -> None:
    """A node receives a message, and sends it back through the same lane."""
    begin = Act("act0", "A", "A", "", False, (Sent("note", "y", 1),))
    passes = Act("act1", "A", "A", "note", True, (Sent("note", "back", "received"),))
    by_lists(Program((begin, passes), True, lossy, False, None, "channel", False, nodes=2, pool=3))


def test_a_crash_of_a_lossy_channel_loses_several_at_once() -> None:
    begin = Act("act0", "A", "A", "", False, (Sent("note", "y", 1),))
    hears = Act("act1", "A", "A", "note", True, ())
    by_lists(Program((begin, hears), True, True, False, None, "receiver", True, nodes=2, pool=3))


# --- Fairness of what sends ------------------------------------------------------------------------------------------


class Choices(Double):
    """The lists of messages, with steps that are named by an action, its node and the receivers of what it sends."""

    def acting(
        self, act: Act, i: int, number: int, received: Any, rest: list[Message], sent: list[Message], nodes: Any
    ) -> Iterator[tuple[Any, Any, list[Message]]]:
        for name, after, left in super().acting(act, i, number, received, rest, sent, nodes):
            yield (name, i, *(message[2] for message in left[len(rest) :])), after, left


def fair(program: Program) -> LeadsTo:
    """Each node gets from A to B if the actions that receive nothing are taken fairly, some weakly and some strongly."""
    chance = Random(repr(program))
    sending = [act.name for act in program.acts if not act.receives]
    strong = [name for name in sending if chance.random() < 0.4]
    weak = [name for name in sending if name not in strong]
    return LeadsTo(name="fair", says="", over=[x], given=x.is_("A"), goal=x.is_("B"), weak=weak, strong=strong)


def by_fair_lists(program: Program) -> Verdict:
    """The verdict on ``fair``, from the steps of the lists."""
    prop, double = fair(program), Choices(program)
    states, steps, cut = double.states()
    able = {state: {name for name, *_ in double.steps(state)} for state in states}

    def stays(region: set[Any]) -> bool:
        """A fair run can stay in a region for ever: a part in which it does all that it owes."""
        inner = nx.MultiDiGraph()
        inner.add_nodes_from(region)
        inner.add_edges_from((a, b, name) for a, name, b in steps if {a, b} <= region)
        for part in map(set, nx.strongly_connected_components(inner)):
            used = {name for a, b, name in inner.edges(keys=True) if {a, b} <= part}
            missed = {n for state in part for n in able[state] if n[0] in prop.strong} - used
            if any(n[0] in prop.weak for n in set.intersection(*(able[state] for state in part)) - used):
                continue
            if not missed or stays({state for state in part if not able[state] & missed}):
                return True
        return False

    begins = arrives = False
    for i in range(program.nodes):
        away = {state for state in states if state[0][i][0] == "A"}
        begins = begins or bool(away)
        arrives = arrives or any(a in away and b not in away for a, _, b in steps)
        if stays(away):
            return Verdict.REFUTED
    return Verdict.PROVED if begins and (arrives or not cut) else Verdict.UNDETERMINED


def compare_fairly(seed: int) -> Verdict:
    """Both engines against the lists."""
    program = small(seed)
    model = replace(model_of(program), properties=[fair(program)])
    for engine in (Engine.INTERPRETED, Engine.COMPILED):
        (result,) = (r for r in checked(model, {}, engine) if r.name == "fair")
        assert result.verdict is by_fair_lists(program), engine
    return result.verdict


@pytest.mark.parametrize("seed", thinned(range(48), 48))
def test_what_sends_is_as_fair_as_lists_of_messages(seed: int) -> None:
    compare_fairly(seed)


def test_programs_have_all_that_channels_may_have() -> None:
    programs = [small(seed) for seed in SOME]
    for name in ("ordered", "lossy", "duplicating", "crashes"):
        assert {getattr(each, name) for each in programs} == {True, False}
    assert {each.per for each in programs} <= {*LANES} and len({each.per for each in programs}) == 3
    assert len({each.capacity for each in programs}) == 3
    assert sum(bool(Double(each).states()[2]) for each in programs) >= 4


# --- Seeded faults ---------------------------------------------------------------------------------------------------


def any_turn(self: Channel, message: Any) -> list[Any]:
    """An ordered channel has no order."""
    return []


def always_room(self: Channel, from_: Any, to: Any, messages: int = 1) -> Any:
    """Every lane has room."""
    return Constant(True)


def room_for_one(self: Channel, from_: Any, to: Any, messages: int = 1) -> Any:
    """Two messages that an action sends count as one."""
    return _ROOM(self, from_, to)


def whole_channel(self: Channel, message: Any, sender: Any, receiver: Any) -> Any:
    """All messages are in one lane."""
    return message.is_("UnderWay")


def never_together(self: Any, earlier: Any, action: Any) -> bool:
    """Two messages that an action sends have no order."""
    return False


def waits_for_ever(self: Channel) -> list[Any]:
    """What was received or lost stays in behind."""
    return []


_ROOM = Channel.room


def each_for_itself(model: Any, prop: Any) -> None:
    """Each object that may be created is a choice of its own."""


def all_alike(model: Any, prop: Any) -> Any:
    """An action is one choice, for all senders and receivers."""
    return lambda choice: Choice(choice.action)


@pytest.mark.parametrize("wrong", thinned([each_for_itself, all_alike], 2))
@pytest.mark.parametrize("where", [exploration_liveness, compiled_liveness], ids=["interpreted", "compiled"])
def test_a_fault_of_fairness_is_noticed(where: Any, wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(where, "counted_as", wrong)
    with pytest.raises(AssertionError):
        [compare_fairly(seed) for seed in range(48)]


SEEDED: list[tuple[Any, str, Any]] = [
    (Channel, "in_turn", any_turn),
    (Channel, "room", always_room),
    (Channel, "room", room_for_one),
    (Channel, "_in_lane", whole_channel),
    (messages._Send, "_in_lane_of", never_together),
    (Channel, "rules", property(waits_for_ever)),
]


@pytest.mark.parametrize(
    ("where", "name", "wrong"), thinned(SEEDED, 3), ids=["turn", "room", "two", "lane", "together", "behind"]
)
def test_a_fault_of_channels_is_noticed(where: Any, name: str, wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = [small(seed) for seed in (1, 4, 8)]
    monkeypatch.setattr(where, name, wrong)
    for program in programs:
        try:
            by_lists(program)
        except AssertionError:
            return
    pytest.fail("no program shows it")
