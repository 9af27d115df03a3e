"""Interpretations tried the other way: a wrong change names the interpretation, and the place where it is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from schedproof.model.errors import SchedproofError
from schedproof.model.lang import (
    Action,
    AlwaysCanReach,
    Attribute,
    BoolType,
    Invariant,
    Machine,
    Model,
    ModelError,
    Nat,
    Reading,
    Row,
    Sort,
    State,
    me,
    variable,
)
from schedproof.model.registry.system import System
from schedproof.proofs.verification.ambiguities import ambiguities
from schedproof.proofs.verification.interpreted import differences, otherwise
from schedproof.proofs.verification.verify import plan, verify_variant
from tests.support.rows import each_row

Lamp = Sort("Lamp", "x")
x = variable(Lamp, "x")
LAMPS = Model(
    system="lamps",
    variant="as-written",
    about="lamps that are switched on",
    machines=[Machine(Lamp, [State("Off"), State("On")])],
    rows=[Row(Lamp, "on", "Off", "On")],
    actions=[Action("on", [x], [x.is_("Off")], [x.fires("on")], "{x} is switched on")],
    rules=[],
    properties=[],
    default_scope={"Lamp": 1},
)


@pytest.mark.parametrize(
    ("change", "element", "problem"),
    [
        ({"drops": ["nope"]}, "change drops 'nope'", "it is not an element of the model"),
        (
            {"drops": ["on"], "rests": ["nope"]},
            "change of burns-out-otherwise",
            "it repairs an unknown property 'nope'",
        ),
        ({"adds": [Row(Lamp, "off", "On", "Of")]}, "row Lamp.off from On", "unknown state 'Of' of Lamp"),
        ({"adds": "on"}, "change of burns-out-otherwise", "adds is 'on', not a list"),
    ],
)
def test_a_wrong_change_names_its_interpretation(change: Mapping[str, Any], element: str, problem: str) -> None:
    reading = Reading(
        "burns-out",
        3,
        "Lamps burn for ever.",
        "They burn out.",
        question="How long does a lamp burn?",
        why="Line 3 names no end.",
        **change,
    )
    with pytest.raises(ModelError) as caught:
        otherwise(LAMPS, reading)
    place, _, text = str(caught.value).partition(": ")
    assert place == reading.place.in_folder() and place.startswith("verification/test_interpreted.py:")
    assert text.startswith(f"interpretation burns-out: {element}: {problem}")


DARK = Invariant(name="dark", says="lamps stay off", over=[x], then=x.is_("Off"))
LIT = Invariant(name="lit", says="a lamp is off or on", over=[x], then=x.is_("Off") | x.is_("On"))
BROKEN = replace(LAMPS, properties=[DARK, LIT], refuted=frozenset({"dark"}))


@each_row(
    ("change", "says"),
    [
        ({"rests": ["lit"]}, "rests: unknown violated property 'lit'; "),
        ({"breaks": ["dark"]}, "breaks: unknown property that holds 'dark'; "),
        ({"breaks": ["nope"]}, "breaks: unknown property that holds 'nope'; "),
        ({"drops": ["nope"]}, "change drops 'nope': it is not an element of the model; "),
        ({"breaks": ["lit"], "rests": ["dark"]}, ""),
    ],
)
def test_verify_and_findings_refuse_unknown_names(change: Mapping[str, Any], says: str) -> None:
    """What differs needs an exploration; that a name is one of nothing does not."""
    reading = Reading(
        "burns-out", 3, "For ever.", "Not.", question="How long?", why="No end.", **{"drops": ["on"], **change}
    )
    parts = {"interpretations": [reading]}
    of = replace(System.of(BROKEN), load=lambda key, default: parts.get(key, default))
    for command in (lambda: ambiguities(of), lambda: plan([of]), lambda: verify_variant(of, BROKEN, only=["lit"])):
        if says:
            with pytest.raises(SchedproofError) as caught:
                command()
            assert "interpretation burns-out" in str(caught.value) and says in str(caught.value)
        else:
            command()


OLD = replace(LAMPS.machines[0], attributes=[Attribute("old", BoolType(), rigid=True)])


@pytest.mark.parametrize(("old", "held"), [(True, {"dark"}), (False, set())])
def test_the_other_answer_may_need_other_machines(old: bool, held: set[str]) -> None:
    """Old lamps cannot be switched on, so that lamps stay dark rests on none being old."""
    (on,) = LAMPS.actions
    reading = Reading(
        "lamps-are-new",
        3,
        "Lamps are new.",
        "They are old.",
        question="How old are they?",
        why="No line says.",
        machines=[OLD],
        configurations=lambda sizes: [{("Lamp", "old"): [old]}],
        adds=[replace(on, when=[*on.when, ~x.old])],
    )
    assert reading.is_tried
    assert differences(BROKEN, reading) == (held, set())


@pytest.mark.parametrize("high", [1, 2])
def test_what_depends_on_a_greater_bound_is_not_broken(high: int) -> None:
    """A lamp can be switched on after two presses, or one: within a bound of 1 the first is open, and no interpretation breaks it."""
    presses = replace(LAMPS.machines[0], attributes=[Attribute("n", Nat)])
    press = Action("press", [x], [x.is_("Off")], [x.fires("press")], "{x} is pressed")
    shines = AlwaysCanReach(name="shines", says="a lamp can be on", over=[x], goal=x.is_("On"))
    model = replace(
        BROKEN,
        machines=[presses],
        rows=[*LAMPS.rows, Row(Lamp, "press", "Off", "Off", n=me.n + 1)],
        actions=[press, replace(LAMPS.actions[0], when=[x.is_("Off"), x.n == 1])],
        properties=[DARK, shines],
        bound={("Lamp", "n"): high},
    )
    reading = Reading(
        "pressed-twice",
        3,
        "Once.",
        "Twice.",
        question="How often?",
        why="No line says.",
        drops=["on"],
        adds=[replace(LAMPS.actions[0], when=[x.is_("Off"), x.n == 2])],
    )
    # Within 2 a lamp may be pressed a third time, so what is on the frontier is open as well. It never becomes refuted.
    assert differences(model, reading) == ({"dark"} if high == 1 else set(), set())
