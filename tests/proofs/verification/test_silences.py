"""Silences: the conditions that keep an event from a state without a row, on a lamp and its fuse, written down by hand."""

from __future__ import annotations

from dataclasses import replace

from schedproof.model.lang import NONE, Action, Attribute, Machine, Model, Ref, Row, Rule, Sort, State, variables
from schedproof.proofs.verification.silences import loose_ends, silences

Lamp, Fuse = Sort("Lamp", "l"), Sort("Fuse", "f")
(x,) = variables(Lamp, "x")
(f,) = variables(Fuse, "f")

PUSH = Action("push", [x], [x.is_("Off")], [x.fires("push")], "{x} is pushed", line=3)
BLOW = Action("blow", [f], [f.is_("Whole")], [f.fires("blow")], "{f} blows", line=4)
DARK = Rule("a fuse that blows turns its lamp off", f.fires("blow"), [x.fuse == f, x.is_("On")], x.fires("off"), line=5)
MODEL = Model(
    system="lamps",
    variant="as-written",
    about="lamps with fuses",
    machines=[
        Machine(Lamp, [State("Off"), State("On")], [Attribute("fuse", Ref(Fuse), rigid=True)]),
        Machine(Fuse, [State("Whole"), State("Blown")]),
    ],
    rows=[Row(Lamp, "push", "Off", "On"), Row(Lamp, "off", "On", "Off"), Row(Fuse, "blow", "Whole", "Blown")],
    actions=[PUSH, BLOW],
    rules=[DARK],
    properties=[],
    configurations=lambda sizes: [{("Lamp", "fuse"): [0]}],
    default_scope={"Lamp": 1, "Fuse": 1},
)


def listed(model: Model) -> dict[tuple[str, str, str], dict[str, list[str]]]:
    """(action or rule, event, condition) -> state without a row -> the actions of the run to it."""
    return {
        (each.by, each.event, each.condition): {
            state: [step.action for step in run.steps] for state, run in each.runs.items()
        }
        for each in silences(model)
    }


def test_what_each_condition_keeps_away() -> None:
    assert listed(MODEL) == {
        ("rule 'a fuse that blows turns its lamp off'", "off", "x On"): {"Off": ["blow"]},
        ("action push", "push", "x Off"): {"On": ["push"]},
        ("action blow", "blow", "f Whole"): {"Blown": ["blow"]},
    }


def test_conditions_joined_in_one_conjunction_count_each() -> None:
    joined = replace(
        MODEL,
        actions=[replace(PUSH, when=[x.is_("Off") & (x.fuse != NONE) & x.fuse.is_("Whole", "Blown")]), BLOW],
        rules=[replace(DARK, when=[(x.fuse == f) & x.is_("On")])],
    )
    assert listed(joined) == listed(MODEL)


def test_a_condition_may_name_the_states_that_it_keeps_away() -> None:
    """The guard lists the other states, and the silence is the same."""
    negated = replace(
        MODEL,
        actions=[replace(PUSH, when=[~x.is_("On")]), BLOW],
        rules=[replace(DARK, when=[x.fuse == f, ~x.is_("Off")])],
    )
    assert {key: runs for key, runs in listed(negated).items() if key[2].startswith("not")} == {
        ("rule 'a fuse that blows turns its lamp off'", "off", "not (x Off)"): {"Off": ["blow"]},
        ("action push", "push", "not (x On)"): {"On": ["push"]},
    }


def test_a_condition_may_name_the_state_among_other_things() -> None:
    """A lamp without a fuse may be pushed in any state; the one here has a fuse."""
    either = replace(MODEL, actions=[replace(PUSH, when=[(x.fuse == NONE) | x.is_("Off")]), BLOW])
    (condition,) = [condition for by, _, condition in listed(either) if by == "action push"]
    assert listed(either)["action push", "push", condition] == {"On": ["push"]}


def test_rules_come_first_and_cite_their_lines() -> None:
    first, *_ = silences(MODEL)
    assert first.text == (
        "rule 'a fuse that blows turns its lamp off' (line 5): only if x On; "
        "no row of Lamp has off from Off (after 1 step)"
    )


def test_a_state_with_a_row_is_no_silence() -> None:
    covered = replace(MODEL, rows=[*MODEL.rows, Row(Lamp, "off", "Off", "Off"), Row(Fuse, "blow", "Blown", "Blown")])
    assert set(listed(covered)) == {("action push", "push", "x Off")}


def test_another_rule_may_say_what_happens_there() -> None:
    other = Rule(
        "a fuse that blows breaks a lamp that is off", f.fires("blow"), [x.fuse == f, x.is_("Off")], x.fires("break")
    )
    model = replace(MODEL, rules=[DARK, other], rows=[*MODEL.rows, Row(Lamp, "break", "Off", "Off")])
    assert [by for by, _, _ in listed(model)] == ["action push", "action blow"]


def test_a_state_that_is_never_met_there_is_no_silence() -> None:
    """A lamp without a fuse never hears of one; a receiver that is NONE is no object in a state."""
    apart = replace(MODEL, configurations=lambda sizes: [{("Lamp", "fuse"): [None]}])
    assert "rule 'a fuse that blows turns its lamp off'" not in {by for by, _, _ in listed(apart)}


def test_the_receiver_may_be_an_attribute() -> None:
    back = Machine(Fuse, [State("Whole"), State("Blown")], [Attribute("lamp", Ref(Lamp), rigid=True)])
    rule = Rule("its lamp turns off", f.fires("blow"), [f.lamp != NONE, f.lamp.is_("On")], f.lamp.fires("off"))
    model = replace(
        MODEL,
        machines=[MODEL.machines[0], back],
        rules=[rule],
        configurations=lambda sizes: [{("Lamp", "fuse"): [0], ("Fuse", "lamp"): [0]}],
    )
    assert listed(model)["rule 'its lamp turns off'", "off", "f.lamp On"] == {"Off": ["blow"]}


def test_loose_ends() -> None:
    assert loose_ends(MODEL) == ["Fuse: no row leaves Blown"]
    stuck = replace(MODEL, rules=[], rows=[row for row in MODEL.rows if row.event != "off"])
    assert loose_ends(stuck) == ["Lamp: no row leaves On", "Fuse: no row leaves Blown"]
    assert loose_ends(replace(MODEL, rules=[])) == ["Lamp: nothing fires off", "Fuse: no row leaves Blown"]


def test_a_row_that_every_condition_excludes_is_a_loose_end() -> None:
    """The document says what a push does to a lamp that is on; in the model, nobody pushes one."""
    answered = replace(MODEL, rows=[*MODEL.rows, Row(Lamp, "push", "On", "On")])
    excluded = "Lamp: every condition excludes push from On"
    assert loose_ends(answered) == [excluded, "Fuse: no row leaves Blown"]
    assert loose_ends(replace(answered, actions=[replace(PUSH, when=[~x.is_("On")]), BLOW]))[0] == excluded
    for when in ([], [x.is_("Off") | (x.fuse != NONE)], [x.is_("On")]):
        other = replace(PUSH, name="push_again", when=when)
        assert excluded not in loose_ends(replace(answered, actions=[PUSH, BLOW, other]))
