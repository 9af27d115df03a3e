"""Channels between any components: their order, their capacity; and objects that are there from the start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from schedproof.model.lang import (
    Action,
    Attribute,
    BoolType,
    Document,
    Invariant,
    InvariantAtScope,
    Machine,
    Model,
    ModelError,
    Row,
    Sort,
    State,
    StepInvariantAtScope,
    after,
    variable,
)
from schedproof.model.lang.channels import Channels, Kind
from schedproof.model.lang.check import checked
from schedproof.model.semantics import Choice, Instance, Stepper
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.induction import prove
from schedproof.proofs.verdict import Verdict

Lamp, Letter, Box = Sort("Lamp", "l"), Sort("Letter", "e"), Sort("Box", "box")
l = variable(Lamp, "l")  # noqa: E741 - a lamp

CHANNELS = Channels(
    Letter,
    [Kind("Left", "left", "lamp"), Kind("Right", "right", "lamp"), Kind("Also", "left", "lamp", rank=1)],
    {"lamp": Lamp},
    queues=Box,
)
switch = Action("switch", [l], [l.is_("off")], [l.fires("on")], "{l} is switched on")
SENDING = [CHANNELS.sending(f"says {kind.name}", switch, [], kind.name, l) for kind in CHANNELS.kinds]

DARK = InvariantAtScope(name="dark", says="every lamp is off", over=[l], then=l.is_("off"))
STAYS = StepInvariantAtScope(
    name="stays", says="what is on stays on", over=[l], given=l.is_("on"), then=after(l.is_("on"))
)
OVERFLOWN = InvariantAtScope(name="room", says="no box overflows", over=[], then=~CHANNELS.overflown)


def model(lamps: int = 2, room: Mapping[str, int] = {}, begins: str = "lit") -> Model:
    """Lamps that send a message when they are switched on."""
    lamp = Machine(Lamp, [State("off"), State("on", begins=begins)], [Attribute("lit", BoolType(), rigid=True)])
    return Model(
        system="lamps",
        variant="sending",
        about="lamps that send",
        document=Document("none", "None"),
        machines=[lamp, CHANNELS.machine, CHANNELS.queue_machine],
        rows=[Row(Lamp, "on", "off", "on"), *CHANNELS.table, *CHANNELS.queue_table],
        actions=[switch, *[CHANNELS.delivery(kind.name, "{e} arrives") for kind in CHANNELS.kinds]],
        rules=[*SENDING, *CHANNELS.rules, *CHANNELS.queue_rules],
        properties=[DARK, STAYS, OVERFLOWN, *CHANNELS.properties],
        default_scope={"Lamp": lamps, "Letter": 6, "Box": 2},
        axioms=CHANNELS.axioms,
        configurations=lambda sizes: [rigid(lamps, room)],
    )


def rigid(lamps: int, room: Mapping[str, int]) -> dict:
    return {("Lamp", "lit"): [False] * lamps, **CHANNELS.messages({"lamp": lamps}, room=room)}


def instance(lamps: int = 2, room: Mapping[str, int] = {}, lit: int = 0) -> Instance:
    values = {**rigid(lamps, room), ("Lamp", "lit"): [n < lit for n in range(lamps)]}
    sizes = {"Lamp": lamps, "Letter": 3 * lamps, "Box": len(room)}
    return Instance(model(lamps, room), sizes, values)


def overflown(room: Mapping[str, int], switched: int, arrived: int = 0) -> list[object]:
    """Which boxes have overflown once lamps are switched on, and letters have arrived between the first and the others."""
    it = instance(3, room)
    stepper, state = Stepper(it), it.initial()
    for lamp in range(switched):
        state = stepper.step(state, Choice("switch", (("l", lamp),))).after
        for _ in range(arrived if lamp == 0 else 0):
            state = next(s.after for s in stepper.steps(state) if s.choice.action.startswith("deliver_"))
    boxes = it.describe(state).get("Box", {}).values()
    return [
        box["channel"] if "channel" in box else list(room)[n]
        for n, box in enumerate(boxes)
        if box["state"] == "overflown"
    ]


def test_a_box_overflows_when_more_is_under_way_than_fits() -> None:
    """Each lamp puts two letters into the left box and one into the right one."""
    assert overflown({"left": 1}, switched=1) == ["left"], "two at once are too many for one place"
    assert overflown({"left": 2}, switched=1) == []
    assert overflown({"left": 2}, switched=2) == ["left"]
    assert overflown({"left": 3}, switched=2) == ["left"]
    assert overflown({"right": 1}, switched=1) == []
    assert overflown({"right": 1, "left": 2}, switched=2) == ["right", "left"]
    assert overflown({"right": 3}, switched=3) == []
    assert overflown({}, switched=3) == []


def test_what_has_arrived_makes_room() -> None:
    assert overflown({"left": 2}, switched=2, arrived=3) == []
    assert overflown({"right": 1}, switched=2, arrived=3) == []


def test_channels_have_no_order_among_each_other() -> None:
    it = instance(1)
    stepper = Stepper(it)
    state = stepper.step(it.initial(), Choice("switch", (("l", 0),))).after
    able = {s.choice.action for s in stepper.steps(state)}
    assert able == {"deliver_left", "deliver_right"}, "of the two in the left box the one of lower rank comes first"


def test_the_order_is_one_for_any_number_of_messages_channels() -> None:
    induction = prove(model())
    assert all(induction.proved(name) for name in ("well-formed", *(p.name for p in CHANNELS.properties)))


# --- Objects that are there from the start ---------------------------------------------------------------------------


def test_objects_begin_where_they_are_said_to() -> None:
    it = instance(3, lit=2)
    shown = it.describe(it.initial())["Lamp"]
    assert [lamp["state"] for lamp in shown.values()] == ["on", "on", "off"]


@pytest.mark.parametrize("begins", ["nonsense", "state"])
def test_where_objects_begin_is_a_rigid_truth_value(begins: str) -> None:
    with pytest.raises(ModelError, match=f"{begins}.*is not a rigid BoolType attribute of Lamp; choose from lit"):
        checked(model(begins=begins))


def test_induction_begins_where_objects_do() -> None:
    """That all lamps are off in the beginning is no longer true of any number of them."""
    base = model()
    off = Invariant(name="off", says="an unlit lamp that was never switched on is off", over=[l], then=l.is_("off"))
    unlit = replace(off, name="unlit", given=~l.lit)
    still = replace(
        base,
        actions=[a for a in base.actions if a is not switch],
        rules=[*CHANNELS.rules, *CHANNELS.queue_rules],
        properties=[off, unlit, *CHANNELS.properties],
    )
    induction = prove(still)
    assert induction.proved("unlit") and not induction.proved("off")


# --- What is wanted at a scope only ---------------------------------------------------------------------------------


def test_what_is_wanted_at_a_scope_is_explored_and_not_proved() -> None:
    results = {r.name: r for r in model_check(model(1), {}, only=["dark", "stays"])}
    assert results["dark"].verdict is Verdict.REFUTED and results["stays"].verdict is Verdict.PROVED
    assert results["stays"].kind == "step invariant at a scope" and results["stays"].scope is not None
    induction = prove(model(1))
    assert not induction.of("dark") and not induction.of("stays"), "induction is not asked"


def test_elements_of_channels_have_places_in_the_model() -> None:
    """The language makes them; a report shows the line of the model that has the channels."""
    sending = model()
    elements = [*sending.machines, *sending.rows, *sending.actions, *sending.rules, *sending.properties]
    assert len(elements) > 20 and {each.place.file for each in elements} == {__file__}
