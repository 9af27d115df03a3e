"""Logs of timers: they conform exactly if they can happen in real time, though no log has a tick."""

from __future__ import annotations

import random

import pytest

from schedproof.model.registry.system import System
from schedproof.proofs.traces import LogVerdict, check_records
from tests.support.timed import Order, Setting, happens, model, words_of

SETTING = Setting({"a": (1, 2), "b": (3, 3)}, late=["a"], stops=["a"])
HEADER = {
    "schedproof": 1,
    "system": "timers",
    "objects": {"Job": ["job"], "Timer": ["a", "b"], "Call": [f"c{number}" for number in range(4)]},
    "rigid": {
        "Timer": {
            "kind": {"a": "a", "b": "b"},
            "job": {"a": "job", "b": "job"},
            "late": {"a": True},
            "least": {"a": 1, "b": 3},
            "most": {"a": 2, "b": 3},
            "punctual": {"a": True, "b": True},
        }
    },
    "unlogged": {"most": 4, "actions": ["tick"]},
}
SYSTEM = System.of(model(SETTING, "ticks"))


def conforms(order: Order) -> bool:
    actions = [f"run_{word[5:]}_late" if word.startswith("late ") else word.replace(" ", "_") for word in order]
    verdict = check_records(SYSTEM, HEADER, [{"action": action} for action in actions]).verdict
    assert verdict is not LogVerdict.UNDETERMINED
    return verdict is LogVerdict.CONFORMS


@pytest.mark.parametrize("number", [0, *[pytest.param(n, marks=pytest.mark.long) for n in range(1, 10)]])
def test_a_log_conforms_if_it_can_happen(number: int) -> None:
    chosen, words = random.Random(f"timers {number}"), words_of(SETTING)
    verdicts = set()
    order: Order = ()
    while len(order) < 6:
        possible = [word for word in words if happens(SETTING, (*order, word))]
        for word in chosen.sample(words, 3):
            verdicts.add(word in possible)
            assert conforms((*order, word)) is (word in possible), (*order, word)
        order = (*order, chosen.choice(possible))
    assert verdicts == {True, False}
