"""Replaying a run: its states, what it violates, and which runs are refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from schedproof.model.registry.errors import UserError
from schedproof.model.systems.hived import AS_WRITTEN as HIVED
from schedproof.testing import replay
from tests.support.lamps import lamps
from tests.support.rows import each_row

RUN = [
    ("allocate", {"p": "g0", "K": ["c0"]}),
    ("preempt", {"p": "g1", "K": ["c0"]}),
    ("vacate", {"c": "c0"}),
    ("allocate", {"p": "g2", "K": ["c0"]}),
]
"""Two groups get one cell on record (HiveD, lines 145 and 247)."""

OUTRANKS = {("PodGroup", "outranks"): [frozenset(), frozenset({0}), frozenset({0, 1})]}


def test_a_run_has_its_states_and_what_it_violates() -> None:
    run = replay(HIVED, RUN, scope={"PodGroup": 3, "Cell": 1}, configuration=OUTRANKS)
    assert len(run.states) == 5
    assert [state["Cell"]["c0"]["state"] for state in run.states] == ["Free", "Used", "Reserving", "Reserved", "Used"]
    assert [run.states[-1]["PodGroup"][g]["placement"] for g in ("g0", "g1", "g2")] == [["c0"], [], ["c0"]]
    assert "placements-are-disjoint" in run.violated
    shorter = replay(HIVED, RUN[:3], scope={"PodGroup": 3, "Cell": 1}, configuration=OUTRANKS)
    assert "placements-are-disjoint" not in shorter.violated


def test_the_only_configuration_is_the_default() -> None:
    assert replay(lamps(), [("switch_on", {"x": "l1"})]).violated == ("stays-dark",)
    assert replay(lamps(), []).violated == ()


def test_a_step_that_is_not_enabled_is_refused() -> None:
    with pytest.raises(AssertionError, match=r"step 2, switch_on\(x='l1'\), is not enabled; switch_on needs: l1 Off"):
        replay(lamps(), [("switch_on", {"x": "l1"})] * 2)


def test_an_ill_formed_step_is_the_last() -> None:
    model = replace(lamps(), actions=[replace(lamps().actions[0], when=[])], properties=[], refuted=frozenset())
    run = replay(model, [("switch_on", {"x": "l1"})] * 2)
    assert (run.violated, len(run.states)) == (("well-formed",), 2)
    with pytest.raises(AssertionError, match="step 3 follows an ill-formed step"):
        replay(model, [("switch_on", {"x": "l1"})] * 3)


@each_row(
    ("step", "problem"),
    [
        (("switch", {}), "unknown action 'switch' of lamps plain; did you mean"),
        (("switch_on", {}), "step 1: switch_on gets no parameters; write x"),
        (("switch_on", {"x": "l1", "y": 1}), "step 1: switch_on gets x, y; write x"),
        (("switch_on", {"x": "l7"}), "step 1: x of switch_on: unknown Lamp 'l7'; choose from l0, l1"),
        (("switch_on", {"x": ["l0"]}), "step 1: x of switch_on: "),
        (("switch_on", {"x": None}), "step 1, switch_on(x=None), is not enabled"),
        ("switch_on", "step 1 is 'switch_on'; write an action and its parameters: ('start', {'j': 'j0'})"),
        (("switch_on", "x"), "step 1 is ('switch_on', 'x'); write an action"),
    ],
)
def test_a_wrong_step_is_refused(step: object, problem: str) -> None:
    with pytest.raises((UserError, AssertionError)) as raised:
        replay(lamps(), [step])  # type: ignore[list-item]
    assert str(raised.value).startswith(problem) and "\n" not in str(raised.value)
