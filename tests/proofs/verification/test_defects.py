"""Defects: what one change repairs, with all others in place; on doors that are wrong for three reasons."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from schedproof.model.lang import (
    Action,
    AlwaysCanReach,
    Attribute,
    BoolType,
    Change,
    Document,
    Invariant,
    LeadsTo,
    LifeCycle,
    Machine,
    Mistake,
    Model,
    ModelError,
    Nat,
    Property,
    Reading,
    Row,
    Sort,
    State,
    exists,
    forall,
    variables,
)
from schedproof.model.registry.system import System
from schedproof.proofs.verification.costs import cost
from schedproof.proofs.verification.defect import Defect
from schedproof.proofs.verification.defects import defects
from schedproof.proofs.verification.without import without

Door = Sort("Door", "d")
d, e = variables(Door, "d e")


def move(name: str, source: str) -> Action:
    return Action(name, [d], [d.is_(source)], [d.fires(name)], f"somebody does {name} to {{d}}")


DOORS = Model(
    system="doors",
    variant="as-written",
    about="doors that jam when they are kicked or slammed",
    machines=[Machine(Door, [State("Shut"), State("Open"), State("Jammed")], [Attribute("loud", BoolType())])],
    rows=[
        Row(Door, "open", "Shut", "Open"),
        Row(Door, "slam", "Open", "Jammed"),
        Row(Door, "kick", "Shut", "Jammed", loud=True),
    ],
    actions=[move("open", "Shut"), move("slam", "Open"), move("kick", "Shut")],
    rules=[],
    properties=[
        Invariant(name="never-jammed", says="no door is jammed", over=[d], then=~d.is_("Jammed")),
        Invariant(name="quiet", says="no door is loud", over=[d], then=~d.loud),
        Invariant(name="stays-shut", says="no door is open", over=[d], then=~d.is_("Open")),
    ],
    default_scope={"Door": 2},
    refuted=frozenset({"never-jammed", "quiet", "stays-shut"}),
)
AJAR = Invariant(name="shut-or-open", says="a door is shut or open", over=[d], then=d.is_("Shut", "Open"))
SOFT = Change(why="Doors are closed softly.", repairs=["never-jammed"], drops=["slam", "Door.slam from Open"], name="slammed", wrong="Doors are slammed.")  # fmt: skip
FIRM = Change(why="Doors stand kicks.", repairs=["never-jammed", "quiet"], adds=[Row(Door, "kick", "Shut", "Shut")], drops=["Door.kick from Shut"])  # fmt: skip
OPEN = Change(why="Doors open.", repairs=[], weakens={"stays-shut": ["shut-or-open"]}, adds=[AJAR])


def repaired(changes: Sequence[Change] = (SOFT, FIRM, OPEN), *, refuted: Sequence[str] = ()) -> System:
    """The doors, and their repaired variant; the row that leads to Jammed may be gone."""
    machine = replace(DOORS.machines[0], states=[State("Shut"), State("Open"), State("Jammed", unreachable=True)])
    amended = DOORS.amend("repaired", "doors that never jam", changes, frozenset(refuted), machines=[machine])
    return System("doors", "Doors", {"as-written": DOORS, "repaired": amended}, "as-written")


def shown(some: Sequence[Defect]) -> dict[str, list[tuple[str, int]]]:
    """Defect -> its properties, each with the length of its run."""
    return {each.name: [(f.property, len(f.counterexample.steps)) for f in each.findings] for each in some}


def test_each_change_is_a_defect_and_hides_no_other() -> None:
    """The shortest run to a jammed door is a kick; what slamming does shows only without it."""
    some = defects(repaired())
    assert shown(some) == {
        "never-jammed": [("never-jammed", 1), ("quiet", 1)],
        "slammed": [("never-jammed", 2)],
        "stays-shut": [("stays-shut", 1)],
    }
    by_name = {each.name: each for each in some}
    assert [step.action for step in by_name["slammed"].shown.counterexample.steps] == ["open", "slam"]
    assert [step.action for step in by_name["never-jammed"].shown.counterexample.steps] == ["kick"]
    assert by_name["slammed"].wrong == "Doors are slammed."
    assert by_name["slammed"].repair == "Doors are closed softly. (variant repaired)"
    assert [each.left for each in some] == ["", "", ""]
    assert {each.variants for each in some} == {("as-written",)}


def test_what_a_repair_costs() -> None:
    assert [each.cost for each in defects(repaired())] == [
        '1 row changed; without "Door.kick from Shut"',
        'without slam, "Door.slam from Open"',
        "stays-shut is weakened to shut-or-open",
    ]
    assert cost(DOORS, Change(why="Nothing.", repairs=["quiet"])) == "no change of behaviour"
    many = Change(why="Nobody.", repairs=[], drops=["open", "slam", "kick", "Door.open from Shut"])
    assert cost(DOORS, many, most=2) == "without open, slam and 2 more"
    assert cost(DOORS, many, most=3) == 'without open, slam, kick, "Door.open from Shut"'
    more = Change(why="Doors shut.", repairs=[], adds=[Row(Door, "shut", "Open", "Shut"), move("shut", "Open")])
    assert cost(DOORS, more) == "1 row more; 1 action more"


def test_a_violation_that_nothing_repairs_is_a_defect_of_its_own() -> None:
    some = defects(repaired([SOFT, FIRM], refuted=["stays-shut"]))
    assert shown(some)["stays-shut"] == [("stays-shut", 1)]
    assert [each.repair for each in some if each.name == "stays-shut"] == ["none is modelled"]


@pytest.mark.parametrize("wrong", ["Nothing stops a door that is slammed.", ""])
def test_a_change_that_brings_a_defect_names_it(wrong: str) -> None:
    """If it says what is wrong."""
    jammed = State("Jammed", unreachable=True)
    calm = replace(
        DOORS,
        machines=[Machine(Door, [State("Shut"), State("Open"), jammed])],
        rows=DOORS.rows[:1],
        actions=DOORS.actions[:1],
        properties=[AJAR],
        refuted=frozenset(),
    )
    slam = Change(why="Slam.", repairs=[], adds=[*DOORS.rows[1:2], *DOORS.actions[1:2]], name="slammed", wrong=wrong)
    machine = Machine(Door, [State("Shut"), State("Open"), State("Jammed")])
    loud = calm.amend("loud", "doors that are slammed", [slam], frozenset({"shut-or-open"}), machines=[machine])
    (defect,) = defects(System("doors", "Doors", {"as-written": calm, "loud": loud}, "as-written"))
    assert (defect.name, defect.wrong) == ("slammed" if wrong else "shut-or-open", wrong)


def test_a_property_that_two_defects_share_is_in_both() -> None:
    assert sum("never-jammed" in dict(properties) for properties in shown(defects(repaired())).values()) == 2


def test_the_text_has_the_clearest_run_or_all() -> None:
    (defect,) = [each for each in defects(repaired()) if each.name == "never-jammed"]
    assert "\n".join(defect.text()).count("Initial state") == 1
    assert "\n".join(defect.text(every=True)).count("Initial state") == 2
    assert defect.text()[:2] == ["never-jammed (test_defects.py, as-written)", "  Violates: never-jammed, quiet"]


def test_a_change_says_which_lines_are_wrong(tmp_path: Path) -> None:
    """A line that the file of quotes does not have is left out, and a sentence on two lines is quoted once."""
    (quotes := tmp_path / "quotes.json").write_text(
        '{"doors.md": {"2": "Doors are shut.", "5": "Open them.", "6": "Open them."}}'
    )
    changes = [SOFT, replace(FIRM, lines=[6, 5, 2, 9]), OPEN]
    system = repaired(changes)
    document = Document("doors.md", "Doors", quotes)
    variants = {name: replace(model, document=document) for name, model in system.variants.items()}
    (defect,) = [each for each in defects(replace(system, variants=variants)) if each.quotes]
    assert defect.quotes == ((6, "Open them."), (2, "Doors are shut."))
    assert defect.text()[0].endswith(" (doors.md:6, as-written)")
    assert defect.text()[2:4] == [
        "  The document, line 6: Open them.",
        "  The document, line 2: Doors are shut.",
    ]
    data = defect.as_json()
    assert data["line"] == 6 and data["sentence"] == "Open them. Doors are shut."


def test_the_author_chooses_what_the_run_shows() -> None:
    asked = replace(FIRM, shown="quiet", asks=exists(e, (e != d) & e.is_("Open")))
    (defect,) = [each for each in defects(repaired([SOFT, asked, OPEN])) if "quiet" in shown([each])[each.name][0]]
    assert [step.action for step in defect.shown.counterexample.steps] == ["open", "kick"]
    assert [f.property for f in defect.findings] == ["quiet", "never-jammed"]


def test_a_prompt_action_comes_at_once() -> None:
    """A door that is opened first is slammed before the other is kicked, if that is prompt; see the run above."""
    asked = replace(FIRM, shown="quiet", asks=exists(e, (e != d) & e.is_("Open")), prompt=["slam"])
    (defect,) = [each for each in defects(repaired([SOFT, asked, OPEN])) if "quiet" in shown([each])[each.name][0]]
    assert [step.action for step in defect.shown.counterexample.steps] == ["kick", "open"]


@pytest.mark.parametrize(
    ("new", "says"),
    [
        ({"shown": "quiet", "avoids": ["kick"]}, "no run violates quiet as it asks; ask for less, or show another property"),
        ({"shown": "quiet", "asks": d.is_("Open")}, "no run violates quiet as it asks"),
    ],
)  # fmt: skip
def test_a_run_that_there_is_not(new: dict[str, object], says: str) -> None:
    with pytest.raises(ModelError, match=says):
        defects(repaired([SOFT, replace(FIRM, name="kicked", **new), OPEN]))  # type: ignore[arg-type]


def never_opened(shown: Property, of: Model = DOORS, **asked: Any) -> list[Defect]:
    """Asks for more of the run of another property."""
    doors = replace(of, properties=[*of.properties, shown], refuted=of.refuted | {shown.name})
    shut = Change(
        why="Doors shut.", repairs=[shown.name], drops=["open", "Door.open from Shut", "slam", "Door.slam from Open", "kick", "Door.kick from Shut"],
        name="open-for-ever", shown=shown.name, **asked,
    )  # fmt: skip
    machine = replace(
        doors.machines[0], states=[State("Shut"), State("Open", unreachable=True), State("Jammed", unreachable=True)]
    )
    amended = doors.amend("shut", "doors that are never opened", [shut], frozenset(), machines=[machine])
    return defects(System("doors", "Doors", {"as-written": doors, "shut": amended}, "as-written"))


BACK = AlwaysCanReach(name="can-be-shut", says="a door can be shut", over=[d], goal=d.is_("Shut"))
SHUTS = LeadsTo(name="shuts", says="a door is shut at the end", over=[d], given=~d.loud, goal=d.is_("Shut"))


@pytest.mark.parametrize("shown", [BACK, SHUTS])
@pytest.mark.parametrize(("state", "run"), [("Open", ["open"]), ("Jammed", ["open", "slam"])])
def test_more_is_asked_where_a_goal_is_not_reached(shown: Property, state: str, run: list[str]) -> None:
    """A door that was kicked is Jammed, too, after one step; it is loud."""
    (defect,) = [each for each in never_opened(shown, asks=d.is_(state) & ~d.loud) if each.name == "open-for-ever"]
    assert [step.action for step in defect.shown.counterexample.steps] == run


def test_a_run_may_need_as_many_objects_as_verify_explores() -> None:
    """Two others are Open at the same time: of two doors there is only one other."""
    third = variables(Door, "f")[0]
    asked = d.is_("Open") & exists(
        [e, third], (e != d) & (third != d) & (e != third) & e.is_("Open") & third.is_("Open")
    )
    with pytest.raises(ModelError, match="no run violates can-be-shut as it asks"):
        never_opened(BACK, asks=asked)
    (defect,) = [
        each
        for each in never_opened(BACK, of=replace(DOORS, verify_scope={"Door": 3}), asks=asked)
        if each.name == "open-for-ever"
    ]
    assert [step.action for step in defect.shown.counterexample.steps] == ["open"] * 3


def prompt_on_the_way_to_a_goal() -> list[Defect]:
    """Chooses actions of a run after which a goal is not reached: other actions may lead to it."""
    return never_opened(BACK, avoids=["kick"])


def asked_of_a_life() -> list[Defect]:
    """Asks for more where a life cycle is violated: there is no such state."""
    life = LifeCycle(name="shut-again", says="a door is shut again", sort=Door, states=["Shut", "Open", "Shut"])
    return never_opened(life, asks=d.is_("Open"))


@pytest.mark.parametrize(
    ("chosen", "says"),
    [
        (
            prompt_on_the_way_to_a_goal,
            "avoids or prompt is set, and can-be-shut is not an invariant or a step invariant; leave them out",
        ),
        (
            asked_of_a_life,
            r"asks is set, and shut-again \(can happen\) is not violated in a state or step; leave it out",
        ),
    ],
)
def test_what_a_property_cannot_be_asked_for(chosen: Callable[[], list[Defect]], says: str) -> None:
    with pytest.raises(ModelError, match=says):
        chosen()


def test_what_builds_on_a_change_is_left_out_with_it() -> None:
    bolt = Row(Door, "bolt", "Shut", "Shut")
    firm = replace(FIRM, name="kicked", adds=[*FIRM.adds, bolt])
    bolted = Change(why="Doors are bolted.", repairs=["stays-shut"], adds=[move("bolt", "Shut")], drops=["open", "Door.open from Shut", "slam", "Door.slam from Open"], name="opened")  # fmt: skip
    of = repaired([firm, bolted])
    model, left = without(of, of.variants["repaired"], firm, ["quiet"]) or (None, ())
    assert model is not None and [each.name for each in left] == ["opened"]
    (defect,) = [each for each in defects(of) if each.name == "kicked"]
    assert defect.left == "The run also has what these repairs build on: opened"


def test_what_remains_has_the_bounds_of_the_variant() -> None:
    """A variant may count what its base does not: without one of its changes it is explored as far as before."""
    of = repaired()
    counting = replace(
        of.variants["repaired"],
        machines=[
            replace(each, attributes=[*each.attributes, Attribute("uses", Nat)])
            for each in of.variants["repaired"].machines
        ],
        bound={("Door", "uses"): 2},
        assuming={"few doors": forall([d, e], d == e) | exists([d, e], ~(d == e))},
    )
    model, _ = without(of, counting, FIRM, ["quiet"]) or (None, ())
    assert model is not None
    assert (model.bound, model.assuming) == (counting.bound, counting.assuming)
    assert shown(defects(replace(of, variants={**of.variants, "repaired": counting}))) == shown(defects(of))


def test_if_others_leave_nothing_violated_the_base_has_the_run() -> None:
    """Two changes that each repair the same alone: neither is needed."""
    gentle = Change(why="Nobody kicks.", repairs=["quiet"], drops=["kick"], name="kicks")
    thick = Change(why="Doors stand kicks.", repairs=["quiet"], adds=FIRM.adds, drops=FIRM.drops, name="thin")
    of = repaired([gentle, thick], refuted=["never-jammed", "stays-shut"])
    lefts = {each.name: each.left for each in defects(of)}
    note = (
        "Without this repair alone, nothing is violated, since other repairs exclude such runs as well; "
        "the run is one of as-written."
    )
    assert (lefts["kicks"], lefts["thin"]) == (note, note)


def test_json() -> None:
    data = defects(repaired())[0].as_json()
    assert data["kind"] == "defect"
    assert set(data) == {"kind", "system", "variants", "name", "wrong", "document", "line", "sentence", "sentences", "repair", "cost", "left", "rests_on", "findings"}  # fmt: skip
    assert [each["property"] for each in data["findings"]] == ["never-jammed", "quiet"]


def test_a_change_names_what_it_repairs_of_an_earlier_variant() -> None:
    """The same change repairs another mistake of it: only the first variant has doors that are kicked, not slammed."""
    loud = DOORS.amend("loud", "doors as shipped", [Change(why="Shipped.", repairs=[])], DOORS.refuted)
    kicked = Mistake("kicked", "Doors are kicked.", "as-written", ["quiet"])
    amended = loud.amend(
        "repaired", "doors that never jam", [SOFT, replace(FIRM, name="thin", mistakes=[kicked]), OPEN], frozenset(),
        machines=[replace(DOORS.machines[0], states=[State("Shut"), State("Open"), State("Jammed", unreachable=True)])],
    )  # fmt: skip
    some = defects(System("doors", "Doors", {"as-written": DOORS, "loud": loud, "repaired": amended}, "as-written"))
    assert {(each.name, each.wrong, each.variants, each.shown.property) for each in some if "quiet" in dict(shown([each])[each.name])} == {
        ("kicked", "Doors are kicked.", ("as-written",), "quiet"),
        ("thin", "", ("as-written", "loud"), "never-jammed"),
    }  # fmt: skip
    (of_first,) = [each for each in some if each.name == "kicked"]
    assert (of_first.repair, of_first.cost) == ("Doors stand kicks. (variant repaired)", "")


@pytest.mark.parametrize(
    ("mistake", "says"),
    [
        (Mistake("kicked", "Kicked.", "as-writen", ["quiet"]), "mistake kicked: unknown variant 'as-writen'; did you mean as-written"),
        (Mistake("kicked", "Kicked.", "as-written", ["quite"]), "mistake kicked: unknown violated property 'quite'; did you mean quiet"),
        (Mistake("kicked", "Kicked.", "as-written", []), "mistake kicked: violates names no property; name those that it violates"),
    ],
)  # fmt: skip
def test_a_mistake_names_what_is_violated(mistake: Mistake, says: str) -> None:
    with pytest.raises(ModelError, match=re.escape(says)):
        defects(repaired([SOFT, replace(FIRM, mistakes=[mistake]), OPEN]))


def rests(name: str) -> Reading:
    return Reading(name, 3, "Yes.", "No.", question="Is it?", why="It is.")


def test_the_text_says_what_each_violation_rests_on() -> None:
    """With all runs, beside each; else, once for all, with the properties if there are others."""
    (plain,) = [each for each in defects(repaired()) if each.name == "never-jammed"]
    first, second = plain.findings
    both, one = rests("both"), rests("one")
    first = replace(first, interpretations=(both,))
    defect = replace(
        plain, findings=(first, replace(second, interpretations=(both, one), assumes={"Door.oiled": True}))
    )
    assert defect.interpretations == (both, one)
    assert [line for line in defect.text() if "Rests" in line or "Assumes" in line] == [
        "  Assumes, for quiet: Door.oiled = true. Otherwise the property holds.",
        "  Rests on both (line 3): Is it? Yes.",
        "  Rests on one (line 3), for quiet: Is it? Yes.",
    ]
    assert [line for line in defect.text(every=True) if "Rests" in line or "Assumes" in line or "property" in line] == [
        "  The property never-jammed: no door is jammed",
        "  Rests on both (line 3): Is it? Yes.",
        "  The property quiet: no door is loud",
        "  Assumes: Door.oiled = true. Otherwise the property holds.",
        "  Rests on both (line 3): Is it? Yes.",
        "  Rests on one (line 3): Is it? Yes.",
    ]
    most = replace(defect, findings=(*[replace(second, interpretations=(one,))] * 2, first))
    assert "  Rests on one (line 3), for all but never-jammed: Is it? Yes." in most.text()


def test_what_violates_most_comes_first() -> None:
    """Even if it rests on more interpretations."""
    of = repaired()
    rest = replace(rests("may"), rests=["quiet"], drops=["kick"])
    of = replace(of, load=lambda key, default: [rest] if key == "interpretations" else default)
    some = defects(of)
    assert [(len(each.findings), len(each.interpretations)) for each in some] == [(2, 1), (1, 0), (1, 0)]
    assert [each.behaviour for each in some] == [True, True, False]


def test_what_a_change_requires_again_is_of_its_defect() -> None:
    """The variant between has dropped that no door is loud, so the change cannot say that it repairs it."""
    shipped = Change(why="Shipped.", repairs=[], drops=["quiet"])
    loud = DOORS.amend("loud", "doors as shipped", [shipped], DOORS.refuted - {"quiet"})
    thin = replace(FIRM, name="thin", repairs=["never-jammed"], adds=[*FIRM.adds, DOORS.property("quiet")])
    machine = replace(DOORS.machines[0], states=[State("Shut"), State("Open"), State("Jammed", unreachable=True)])
    amended = loud.amend("repaired", "doors that never jam", [SOFT, thin, OPEN], frozenset(), machines=[machine])
    some = defects(System("doors", "Doors", {"as-written": DOORS, "loud": loud, "repaired": amended}, "as-written"))
    assert sorted(shown(some)) == ["slammed", "stays-shut", "thin"]
    (defect,) = [each for each in some if each.name == "thin"]
    assert ([f.property for f in defect.findings], defect.left) == (["never-jammed", "quiet"], "")
