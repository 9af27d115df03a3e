"""Channels that coalesce messages: what is refused, their capacity; and objects that are there from the start."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

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
    Nat,
    Rigid,
    Row,
    Rule,
    Sort,
    State,
    StepInvariantAtScope,
    after,
    variable,
)
from schedproof.model.lang.check import checked
from schedproof.model.lang.coalescing import CoalescingChannels
from schedproof.model.lang.messages import Channel, Kind
from schedproof.model.lang.wording import show_term
from schedproof.model.semantics import Choice, Instance, Stepper
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.induction import prove
from schedproof.proofs.verdict import Verdict

Lamp, Letter, Box = Sort("Lamp", "l"), Sort("Letter", "e"), Sort("Box", "box")
l = variable(Lamp, "l")  # noqa: E741 - a lamp

e = variable(Letter, "e")


def channels(**parts: Any) -> CoalescingChannels:
    """Two channels with messages about lamps."""
    usual: dict[str, Any] = {
        "kinds": [Kind("Left", lamp=Lamp), Kind("Right", lamp=Lamp), Kind("Also", lamp=Lamp)],
        "to": {"left": ["Left", "Also"], "right": ["Right"]},
        "ranks": {"Also": 1},
    }
    return CoalescingChannels(**{"sort": Letter, **usual, **parts})


CHANNELS = channels(queues=Box)
LOSSY = channels(lossy=True)
switch = Action("switch", [l], [l.is_("off")], [l.fires("on")], "{l} is switched on")
SENDING = [Rule(f"says {kind.name}", switch, [], CHANNELS.send(kind.name, lamp=l)) for kind in CHANNELS.kinds]

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
        machines=[lamp, *CHANNELS.machines],
        rows=[Row(Lamp, "on", "off", "on"), *CHANNELS.rows],
        actions=[switch, *[CHANNELS.delivery(kind.name, "{e} arrives") for kind in CHANNELS.kinds]],
        rules=[*SENDING, *CHANNELS.rules],
        properties=[DARK, STAYS, OVERFLOWN, *CHANNELS.properties],
        default_scope={"Lamp": lamps, "Letter": 6, "Box": 2},
        axioms=CHANNELS.axioms,
        configurations=lambda sizes: [rigid(lamps, room)],
    )


def rigid(lamps: int, room: Mapping[str, int]) -> Rigid:
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


# --- What is refused -------------------------------------------------------------------------------------------------

_crash = Action("crash", [], [], [], "the receiver dies")
_DELIVERY = CHANNELS.delivery("Left", "{e} arrives")
_INBOX = Channel("inbox", from_=Lamp, to=Lamp, kinds=[Kind("put")])

REFUSED: list[tuple[Callable[[], object], str]] = [
    (lambda: channels(sort="Letter"), "sort is 'Letter'"),
    (lambda: channels(queues="Box"), "queues is 'Box'"),
    (lambda: channels(sort=Sort("Letter", "e", disposable=True)), "its sort is disposable"),
    (lambda: channels(kinds=[]), "kinds is of type list"),
    (lambda: channels(kinds=[Kind("Left"), Kind("Left")]), "two kinds have the name Left"),
    (lambda: channels(kinds=[Kind("Left", number=Nat)]), "number of Left is Nat, and messages that coalesce carry objects"),
    (lambda: channels(kinds=[Kind("Left", rank=Lamp)]), "Left carries rank, a name that has another meaning"),
    (lambda: channels(kinds=[Kind("Left", on=Lamp), Kind("Right", on=Box)]), "on of Right is Box or none, and that of Left"),
    (lambda: channels(to={}), "to is of type dict"),
    (lambda: channels(to={"left hand": ["Left"]}), "the name of a channel is 'left hand'"),
    (lambda: channels(to={"left": "Left"}), "the kinds of left are 'Left'"),
    (lambda: channels(to={"left": ["Lefft"]}), "unknown kind 'Lefft'"),
    (lambda: channels(to={"left": ["Left", "Also"]}), "kind Right goes to no channel"),
    (lambda: channels(to={"left": ["Left", "Also"], "right": ["Right", "Left"]}), "kind Left goes to left and right"),
    (lambda: channels(ranks=["Also"]), "ranks is of type list"),
    (lambda: channels(ranks={"Aslo": 1}), "unknown kind 'Aslo'"),
    (lambda: channels(ranks={"Also": -1}), "the rank of Also is -1"),
    (lambda: CHANNELS.send("Lefft", lamp=l), "unknown kind 'Lefft'"),
    (lambda: CHANNELS.send("Left", lmap=l), "Left carries no lmap"),
    (lambda: CHANNELS.send("Left"), "lamp of Left is missing"),
    (lambda: CHANNELS.send("Left", lamp=l, message=l), "message is l, no message of it"),
    (lambda: CHANNELS.receive(l), "message is l, no message of it"),
    (lambda: CHANNELS.delivery("Lefft", "{e} arrives"), "unknown kind 'Lefft'"),
    (lambda: CHANNELS.lose(e), "its messages are not lost"),
    (lambda: CHANNELS.dropping("all", _crash), "its messages are not lost"),
    (lambda: LOSSY.dropping("all", _crash, channel="letf"), "unknown channel 'letf'"),
    (lambda: LOSSY.dropping("all", _crash, [e.kind == "Left"]), "a part of a channel would be lost at once"),
    (lambda: LOSSY.dropping("all", LOSSY.delivery("Left", "{e} arrives")), "deliver_left has a message arrive in the step"),
    (lambda: LOSSY.dropping("all", e.fires("arrive")), "e is a message too, and arrive and lose cannot both happen to it"),
    (lambda: CHANNELS.messages(["lamp"]), r"about is"),  # type: ignore[arg-type]
    (lambda: CHANNELS.messages({"lamp": "1"}), "about of 'lamp' is '1'"),  # type: ignore[dict-item]
    (lambda: CHANNELS.messages({"lamp": -1}), "about of 'lamp' is -1"),
    (lambda: LOSSY.messages({"lamp": 1}, room={"left": 4}), "room of 'left' is 4"),
    (lambda: CHANNELS.one_of(e, []), "the kinds are"),
    (lambda: CHANNELS.one_of(e, ["Lefft"]), "unknown kind 'Lefft'"),
    (lambda: CHANNELS.in_turn("e"), "message is 'e', no message of it"),  # type: ignore[arg-type]
    (lambda: LOSSY.overflown, "no channel has a capacity"),
    (lambda: LOSSY.through("letf"), "unknown channel 'letf'"),
    (lambda: CHANNELS.messages({"lmap": 1}), "no message is about lmap"),
    (lambda: CHANNELS.messages({"lamp": 1}, kinds=["Lefft"]), "unknown kind 'Lefft'"),
    (lambda: CHANNELS.messages({"lamp": 1}, losable=["Left"]), "its messages are not lost"),
    (lambda: LOSSY.messages({"lamp": 1}, room={"left": 1}), "no channel has a capacity"),
    (lambda: CHANNELS.messages({"lamp": 1}, room={"letf": 1}), "unknown channel 'letf'"),
    (lambda: Action("act", [l], [], [CHANNELS.send("Left", lamp=l)], ""), "it sends a message that may be under way"),
    (lambda: CHANNELS.send("Left", lamp=e.lamp), "lamp of Left is read of the message that is sent"),
    (lambda: Rule("r", _DELIVERY, [], CHANNELS.send("Left", lamp=l)), "e is the message that it sends, and another one in its"),
    (lambda: Rule("r", e.fires("arrive"), [], CHANNELS.send("Left", lamp=l)), "e is the message that it sends"),
    (lambda: Rule("r", switch, [], CHANNELS.receive(e)), "arrive of e is an effect of actions"),
    (lambda: Rule("r", switch, [], _INBOX.send("put", l, l)), "send of inbox is an effect of actions"),
]  # fmt: skip


@pytest.mark.parametrize(("build", "problem"), REFUSED, ids=[problem for _, problem in REFUSED])
def test_wrong_coalescing_channels_are_refused_at_their_line(build: Callable[[], object], problem: str) -> None:
    with pytest.raises(ModelError, match=problem) as error:
        build()
    assert error.value.place.file.endswith("test_coalescing.py")


# --- What rules and actions get --------------------------------------------------------------------------------------


def test_a_rule_sends_the_free_message_of_that_content() -> None:
    rule = Rule("says", l.fires("on"), [l.lit], CHANNELS.send("Left", lamp=l))
    assert [*map(show_term, rule.when)] == ["l.lit", "e.kind = Left", "e.lamp = l", "e free"]
    assert show_term(rule.fires.of) == "e" and rule.fires.event == "send"


def test_an_action_that_receives_is_a_delivery_without_a_name() -> None:
    received = Action("deliver_left", [], [], [CHANNELS.receive(e, "Left")], "{e} arrives")
    delivered = CHANNELS.delivery("Left", "{e} arrives")
    assert [*map(show_term, received.when)] == [*map(show_term, delivered.when)]
    assert [v.name for v in received.parameters] == ["e"] and received.fires[0].event == delivered.fires[0].event


def test_only_what_its_configuration_names_is_lost_alone() -> None:
    lose = Action("lose", [], [], [LOSSY.lose(e)], "{e} is lost")
    assert [*map(show_term, lose.when)] == ["e under_way", "e.losable"]


def test_a_message_may_be_about_several_objects() -> None:
    """The configuration has one for each tuple of them."""
    several = CoalescingChannels(
        Letter, kinds=[Kind("Pair", lamp=Lamp, box=Box), Kind("All")], to={"left": ["Pair", "All"]}
    )
    made = several.messages({"lamp": 2, "box": 2})
    assert made["Letter", "kind"] == ["All", *["Pair"] * 4]
    assert made["Letter", "lamp"] == [None, 0, 0, 1, 1] and made["Letter", "box"] == [None, 0, 1, 0, 1]


def test_what_a_receipt_sends_into_its_own_channel_is_noticed() -> None:
    """It waits for the message that has just left, which the first invariant excludes."""
    echo = Rule(
        "echo",
        CHANNELS.delivery("Left", "{e} arrives"),
        [],
        CHANNELS.send("Also", message=variable(Letter, "r"), lamp=e.lamp),
    )
    base = model(1)
    wrong = replace(base, rules=[*(rule for rule in base.rules if rule.name != "says Also"), echo])
    results = {result.name: result.verdict for result in model_check(wrong, {})}
    assert results["order-of-what-is-under-way"] is Verdict.REFUTED


# --- What it means ---------------------------------------------------------------------------------------------------


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
        rules=[*CHANNELS.rules],
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
    elements: list[Any] = [*sending.machines, *sending.rows, *sending.actions, *sending.rules, *sending.properties]
    assert len(elements) > 20 and {each.place.file for each in elements} == {__file__}
