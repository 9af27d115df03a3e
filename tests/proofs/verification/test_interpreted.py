"""Interpretations tried the other way: a wrong change names the interpretation, and the place where it is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from schedproof.model.errors import SchedproofError
from schedproof.model.lang import (
    Action,
    Attribute,
    BoolType,
    Invariant,
    Machine,
    Model,
    ModelError,
    Reading,
    Row,
    Sort,
    State,
    variable,
)
from schedproof.model.registry.system import System
from schedproof.proofs.verification.ambiguities import ambiguities
from schedproof.proofs.verification.interpreted import differences, otherwise
from schedproof.proofs.verification.verify import plan, verify_variant

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


@pytest.mark.parametrize(
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


def test_it_may_need_another_attribute_and_other_configurations() -> None:
    """Two lamps, of which one fits: only the other interpretation knows which."""
    fits = Attribute("fits", BoolType(), rigid=True)
    reading = Reading(
        "every-lamp-burns",
        3,
        "Every lamp is switched on.",
        "Only lamps that fit are.",
        question="Which lamps are switched on?",
        why="Line 3 names none.",
        adds=[Action("on", [x], [x.is_("Off"), x.fits], [x.fires("on")], "{x} is switched on")],
        machines=[replace(LAMPS.machines[0], attributes=[fits])],
        configurations=lambda sizes: [{("Lamp", "fits"): [True, False]}],
        rests=["one-is-dark"],
    )
    y = variable(Lamp, "y")
    one_is_dark = Invariant(
        name="one-is-dark", says="of two lamps one is off", over=[x, y], given=x != y, then=~(x.is_("On") & y.is_("On"))
    )
    two = replace(LAMPS, properties=[one_is_dark], refuted=frozenset({"one-is-dark"}), default_scope={"Lamp": 2})
    assert differences(two, reading) == (frozenset({"one-is-dark"}), frozenset())
    with pytest.raises(ModelError, match=r"interpretation every-lamp-burns: action on: .*fits"):
        otherwise(two, replace(reading, machines=()))
