"""The facts that a report shows beside the steps of a run: rigid attributes before it, named objects after it.

A toy with every kind of rigid attribute, whose texts are written down by hand.
"""

from dataclasses import replace

import pytest

from schedproof.model.lang import (
    Action,
    AlwaysCanReach,
    Attribute,
    BoolType,
    Document,
    EnumType,
    Event,
    IntRange,
    Invariant,
    Machine,
    Model,
    Ref,
    Row,
    SetOf,
    Sort,
    State,
    exists,
    given,
    variable,
)
from schedproof.model.registry.system import System
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.exploration.counterexample_text import counterexample_lines
from schedproof.proofs.verification.findings import findings

Room = Sort("ServerRoom", "o")
Lamp = Sort("Lamp", "l")
Plug = Sort("Plug", "p")
o = variable(Room, "o")
x = variable(Lamp, "x")
p = variable(Plug, "p")

CONFIGURATION = {
    # l0 is in o1 and may use p0 and p2; l1 is in o0, and nothing else is to be said of it; l2 is alone
    ("Lamp", "server_room"): [1, 0, 0],
    ("Lamp", "fits"): [frozenset({0, 2}), frozenset(), frozenset()],
    ("Lamp", "spare_of"): [None, None, 1],
    ("Lamp", "fixed"): [True, False, False],
    ("Lamp", "watts"): [40, 0, 60],
    ("ServerRoom", "colour"): ["red", "green"],
    ("Plug", "dead"): [False, True, True],
}


def toy(*properties):
    """Lamps that are put on a plug; which plugs fit is not what stops them."""
    return Model(
        system="toy",
        variant="plain",
        about="lamps on plugs",
        document=Document("toy.md", "Lamps on plugs"),
        machines=[
            Machine(Room, attributes=[Attribute("colour", EnumType(("red", "green")), rigid=True)]),
            Machine(
                Lamp,
                [State("Off"), State("On")],
                attributes=[
                    Attribute("server_room", Ref(Room), rigid=True),
                    Attribute("fits", SetOf(Plug), rigid=True),
                    Attribute("spare_of", Ref(Lamp), rigid=True),
                    Attribute("fixed", BoolType(), rigid=True),
                    Attribute("watts", IntRange(0, 60), rigid=True),
                    Attribute("on_plug", Ref(Plug)),
                ],
                events=[Event("on", {"plug": Ref(Plug)})],
            ),
            Machine(Plug, attributes=[Attribute("dead", BoolType(), rigid=True)]),
        ],
        rows=[Row(Lamp, "on", "Off", "On", on_plug=given("plug"))],
        actions=[Action("put_on", [x, p], [x.is_("Off"), x.fits.has(p)], [x.fires("on", plug=p)], "{x} is put on {p}")],
        rules=[],
        properties=properties,
        default_scope={"ServerRoom": 2, "Lamp": 3, "Plug": 3},
        configurations=lambda sizes: [CONFIGURATION],
        refuted=frozenset(prop.name for prop in properties),
    )


DARK = Invariant(name="dark", says="no lamp is on", over=[x], then=x.is_("Off"))
LIT = AlwaysCanReach(
    name="lit",
    says="there can be light in every room",
    over=[o],
    goal=exists(x, (x.server_room == o) & x.is_("On")),
)


def checked(prop):
    return next(r for r in model_check(toy(prop), {}, only=[prop.name]) if r.name == prop.name).counterexample


def test_the_setting_names_what_never_changes_in_the_run():
    """And of those that these facts speak of, in the model's order; none, empty and false go without saying."""
    example = checked(DARK)
    assert [step.says for step in example.steps] == ["l0 is put on p0"]
    assert [facts.text for facts in example.setting] == [
        "server room o1: colour green",  # where l0 is
        "lamp l0 of server room o1: fits {p0, p2}, fixed, watts 40",
        "plug p2: dead",  # fits l0
    ]
    assert example.as_json()["setting"] == {
        "o1": {"colour": "green"},
        "l0": {"server_room": "o1", "fits": ["p0", "p2"], "fixed": True, "watts": 40},
        "p2": {"dead": True},
    }


def test_the_end_shows_named_objects_owners_and_belongings():
    assert checked(DARK).ending == "l0: On, on plug p0"  # o1 has no fields that could change
    assert checked(DARK).as_json()["end"] == {"l0": {"state": "On", "on_plug": "p0"}}
    # no plug fits l1 and l2: o0 stays dark from the first state on; it is named, and they are in it
    assert checked(LIT).steps == ()
    assert checked(LIT).ending == "l1: Off; l2: Off"
    assert [facts.object for facts in checked(LIT).setting] == ["o0", "l1", "l2"]


def test_an_object_that_refers_to_a_named_one_is_shown():
    used = Invariant(name="used", says="no plug is in use", over=[p, x], then=~(x.on_plug == p))
    free = Invariant(name="free", says="nobody is on a plug", over=[p], then=~exists(x, x.on_plug == p))
    assert checked(used).ending == "l0: On, on plug p0"
    assert checked(free).ending == "l0: On, on plug p0"  # only p0 is named, and l0 is on it


def unintroduced(prop, sort):
    """The run that violates a property, where the machine of ``sort`` introduces no objects."""
    model = toy(prop)
    machines = [replace(m, introduced=m.sort != sort) for m in model.machines]
    (result,) = [r for r in model_check(replace(model, machines=machines), {}, only=[prop.name]) if r.name == prop.name]
    return result.counterexample


def test_what_is_not_introduced_is_in_no_setting():
    assert [facts.text for facts in unintroduced(DARK, Plug).setting] == [
        "server room o1: colour green",
        "lamp l0 of server room o1: fixed, watts 40",  # and not which plugs fit it
    ]


def test_what_is_not_introduced_is_called_by_what_it_is_about():
    assert [step.says for step in unintroduced(DARK, Lamp).steps] == ["o1, p0, p2 is put on p0"]
    assert [step.says for step in unintroduced(DARK, Plug).steps] == ["l0 is put on p0"]  # about nothing: by its name


def test_in_the_end_the_unintroduced_goes_with_what_refers_to_it():
    """A lamp and its spare; and of what only belongs to it nothing is said."""
    spared = Invariant(name="spared", says="the second lamp has no spare", over=[x], then=~(x.watts == 60))
    assert unintroduced(spared, Room).ending == "l2: Off"
    assert unintroduced(spared, Lamp).ending == "l2: Off; l1: Off"
    assert unintroduced(LIT, Lamp).ending == ""  # the lamps of o0, which has no fields itself


@pytest.mark.parametrize("prop", [DARK, LIT], ids=lambda prop: prop.name)
def test_a_report_shows_the_setting_before_the_first_step(prop):
    model = toy(prop)
    lines = counterexample_lines(model, checked(prop))
    assert lines[0] == "Objects:"
    assert lines[1].startswith(("    server room ", "    plug "))
    steps = [number for number, line in enumerate(lines) if line.startswith(" 1. ")]
    assert all("Objects:" not in line for number in steps for line in lines[number:])
    assert lines[-2].startswith("Final state: l")
    assert f"property {prop.name} " in lines[-1].replace("P", "p", 1)


def test_a_finding_shows_both():
    (finding,) = findings(System("toy", "Lamps on plugs", {"plain": toy(DARK)}, validated_by="plain"))
    assert finding.text() == [
        "dark (toy.md, plain)",
        "  The property dark: no lamp is on",
        "    Objects:",
        "      plug p0",
        "      server room o1: colour green",
        "      lamp l0 of server room o1: fits {p0, p2}, fixed, watts 40",
        "      plug p2: dead",
        "    Initial state: l0: Off",
        "    1. l0 is put on p0",
        "    Final state: l0: On, on plug p0",
        "    Property dark is violated for x = l0",
        "  Repair: none is modelled",
    ]
    assert {"setting", "trace", "problem", "end"} <= set(finding.as_json())
