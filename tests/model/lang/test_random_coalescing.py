"""Programs at random whose rules send, beside queues of sets in Python: the same states and steps in every engine."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

from schedproof.api import System
from schedproof.model.lang import coalescing
from schedproof.model.lang.coalescing import CoalescingChannels
from schedproof.model.lang.rules import Parts
from schedproof.model.semantics import Instance, instances
from schedproof.model.semantics.step import stepper_of
from schedproof.proofs.checking.engine import Engine
from schedproof.proofs.exploration.explore import explore
from schedproof.proofs.induction import prove
from schedproof.proofs.traces import LogVerdict, check_records
from schedproof.proofs.verdict import Verdict
from tests.proofs.compiled.test_beside_interpreted import assert_same_graph, assert_same_quotient, checked
from tests.proofs.export.test_promela import same as same_in_spin
from tests.proofs.export.test_tla import same as same_in_tla
from tests.support.coalescing import Double, Message, Program, header_of, model_of, random_program, record_of, shown_of
from tests.support.needs import needs_spin
from tests.support.sample import thinned

SOME, MANY = range(12), range(12, 60)
"""The programs of the default run, and of the long one."""

MOST_STATES = 120


@cache
def small(seed: int) -> Program:
    """A program with few states."""
    for n in range(100):
        program = random_program(100 * seed + n)
        if 12 <= len(Double(program).states()[0]) <= MOST_STATES:
            return program
    raise AssertionError


def instance_of(program: Program) -> Instance:
    (instance,) = instances(model_of(program), {})
    return instance


def by_queues(program: Program) -> None:
    """The explored graph against the double."""
    instance = instance_of(program)
    states, steps = Double(program).states()
    graph = explore(instance, symmetry=False)
    named = {state: shown_of(program, instance, state) for state in graph.states}
    assert len(named) == len({*named.values()}) == len(states)
    assert {*named.values()} == states
    explored = {
        (named[state], step.choice.action, named[step.after])
        for state in graph.states
        for step in stepper_of(instance).steps(state)
    }
    assert explored == steps


@pytest.mark.parametrize("seed", thinned(SOME, 6))
def test_rules_that_send_have_the_states_of_queues(seed: int) -> None:
    by_queues(small(seed))


@pytest.mark.long(one_in=32)
@pytest.mark.parametrize("seed", MANY)
def test_both_explorations_agree_with_queues(seed: int) -> None:
    program = small(seed)
    by_queues(program)
    instance = instance_of(program)
    assert_same_graph(instance)
    assert_same_quotient(instance)
    explored = checked(model_of(program), {}, Engine.COMPILED)
    assert explored == checked(model_of(program), {}, Engine.INTERPRETED)
    assert all(result.verdict is Verdict.PROVED or result.vacuous for result in explored)


@pytest.mark.long(one_in=32)
@pytest.mark.parametrize("seed", MANY)
def test_the_order_is_proved_of_any_program_that_sends(seed: int) -> None:
    model = model_of(small(seed))
    proof = prove(model)
    assert all(proof.proved(prop.name) for prop in model.properties)


@pytest.mark.parametrize("seed", thinned(SOME, 8))
def test_the_reader_of_tla_finds_the_same_of_rules_that_send(seed: int) -> None:
    same_in_tla(instance_of(small(seed)))


@needs_spin
@pytest.mark.long
@pytest.mark.parametrize("seed", SOME[:4])
def test_spin_finds_the_same_of_rules_that_send(seed: int, tmp_path: Path) -> None:
    same_in_spin(instance_of(small(seed)), tmp_path)


def by_logs(program: Program, seed: int) -> tuple[int, int]:
    """Logs of walks, and copies with two records exchanged or one left out: how many conform, and how many do not."""
    random, double, model = Random(seed), Double(program), model_of(program)
    system, header = System.of(model), header_of(program)
    verdicts = []
    for _ in range(4):
        walk: list[tuple[str, int | Message | None]] = []
        state = double.first()
        for _ in range(10):
            if not (steps := sorted(double.steps(state), key=lambda step: repr(step[:2]))):
                break
            action, of, state = random.choice(steps)
            walk.append((action, of))
        n = random.randrange(len(walk) - 1)
        exchanged = [*walk[:n], walk[n + 1], walk[n], *walk[n + 2 :]]
        for log in (walk, exchanged, [*walk[:n], *walk[n + 1 :]]):
            expected = double.can(log)
            report = check_records(system, header, [record_of(program, action, of) for action, of in log])
            assert (report.verdict is LogVerdict.CONFORMS) == expected, (log, report.verdict)
            verdicts.append(expected)
        assert verdicts[-3]
    return verdicts.count(True), verdicts.count(False)


@pytest.mark.long
def test_logs_of_rules_that_send_are_validated_as_by_queues() -> None:
    counts = [by_logs(small(seed), seed) for seed in SOME[:6]]
    assert sum(good for good, _ in counts) > 12 and sum(bad for _, bad in counts) > 12


def test_programs_have_all_that_coalescing_channels_may_have() -> None:
    programs = [small(seed) for seed in SOME]
    assert {each.lossy for each in programs} == {each.ordered for each in programs} == {True, False}
    assert {each.lamps for each in programs} == {1, 2} and any(each.crashes is not None for each in programs)
    for name in ("ranks", "overtaking", "losable"):
        assert any(getattr(each, name) for each in programs)
    assert any(len(each.kinds) < 4 for each in programs) and any(any(each.answers.values()) for each in programs)


# --- Seeded faults ---------------------------------------------------------------------------------------------------


def of_any_object(self: Any, rule: Any) -> Parts:
    """A message is sent about every object."""
    return Parts([], [self.when[0], self.when[-1]], _PARTS(self, rule).fires)


def of_any_kind(self: Any, rule: Any) -> Parts:
    """Every kind of message is sent."""
    return Parts([], self.when[1:], _PARTS(self, rule).fires)


def without_rank(self: CoalescingChannels, message: Any) -> Any:
    """Of the messages of one step, any may arrive first."""
    both: Any = _TURN(self, message)
    return both.parts[0]


def without_order(self: CoalescingChannels, message: Any) -> Any:
    """Only ranks count."""
    both: Any = _TURN(self, message)
    return both.parts[1]


def waits_for_ever(self: CoalescingChannels) -> list[Any]:
    """What arrived or was lost stays in behind."""
    return []


def all_are_dropped(self: CoalescingChannels, name: str, on: Any, *, channel: str) -> Any:
    """A crash loses the messages of every channel."""
    return _DROPPING(self, name, on)


_PARTS, _TURN, _DROPPING = coalescing._Send.parts_of_rule, CoalescingChannels.in_turn, CoalescingChannels.dropping

SEEDED: list[tuple[Any, str, Any]] = [
    (coalescing._Send, "parts_of_rule", of_any_object),
    (coalescing._Send, "parts_of_rule", of_any_kind),
    (CoalescingChannels, "in_turn", without_rank),
    (CoalescingChannels, "in_turn", without_order),
    (CoalescingChannels, "rules", property(waits_for_ever)),
    (CoalescingChannels, "dropping", all_are_dropped),
]


@pytest.mark.parametrize(
    ("where", "name", "wrong"), thinned(SEEDED, 3), ids=["object", "kind", "rank", "order", "behind", "dropped"]
)
def test_a_fault_of_coalescing_channels_is_noticed(
    where: Any, name: str, wrong: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = [small(seed) for seed in SOME]
    monkeypatch.setattr(where, name, wrong)
    for program in programs:
        try:
            by_queues(program)
        except AssertionError:
            return
    pytest.fail("no program shows it")
