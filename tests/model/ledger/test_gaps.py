"""What ``coverage`` misses in a ledger: a complete one, and one fault at a time."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from schedproof.model.lang import Row, State
from schedproof.model.ledger.elements import elements
from schedproof.model.ledger.gaps import gaps, unaccounted, unlike
from schedproof.model.ledger.ledger import Entry, Ledger, Mark
from tests.model.ledger.lamps import LEDGER, MODEL, PUSH, RED, TEXT, Lamp, mark, system, x


def changed(name: str, new: Mark | None) -> Ledger:
    """The ledger with another mark, or without one."""
    marks = {key: each for key, each in LEDGER.elements.items() if key != name}
    return msgspec.structs.replace(LEDGER, elements=marks if new is None else {**marks, name: new})


def entries(*at: tuple[int, Entry | None]) -> Ledger:
    """The ledger with other entries at these positions, or without them."""
    by_place = dict(at)
    some = [by_place.get(n, entry) for n, entry in enumerate(LEDGER.statements)]
    return msgspec.structs.replace(LEDGER, statements=[each for each in some if each is not None])


def test_a_complete_ledger_has_no_gap() -> None:
    assert gaps(system(), LEDGER) == []
    assert unlike(LEDGER, TEXT) == []


FIRST = LEDGER.statements[0]
FAULTS = {
    "no mark": (changed("state Lamp.On", None), "as-written: state Lamp.On", "is not reviewed"),
    "another form": (changed("state Lamp.On", Mark("00000000")), "as-written: state Lamp.On", "has changed since it was reviewed"),
    "form of nothing": (changed("state Lamp.On", Mark([mark("state Lamp.On").review, "00000000"])), "elements: state Lamp.On", "no variant has it in the form 00000000"),  # type: ignore[arg-type]
    "no source": (changed("axiom 1", mark("axiom 1")), "as-written: axiom 1", "has no source"),
    "not a source": (changed("axiom 1", mark("axiom 1", "because")), "as-written: axiom 1", "'because' is no source"),
    "unknown interpretation": (changed("axiom 1", mark("axiom 1", "interpretation red")), "as-written: axiom 1", "unknown interpretation 'red'"),
    "second interpretation": (changed("axiom 1", mark("axiom 1", "interpretation red-only, blue")), "as-written: axiom 1", "unknown interpretation 'blue'"),
    "unknown part": (changed("action push", mark("action push", **{"x blue": "line 4"})), "elements: action push", "it has no part 'x blue'"),
    "mark of nothing": (changed("row Lamp.pull from Off", Mark("0")), "elements:", "unknown element 'row Lamp.pull from Off'"),
    "line without it": (entries((3, Entry(4, "A lamp can be pushed.", interpretations=["red-only"]))), "as-written: action push", "cites line 4, and no entry of that line has it"),
    "nothing became of it": (entries((6, Entry(7, "Lamps are nice."))), "line 7: Lamps are nice.", "nothing became of it"),
    "unknown element": (entries((0, Entry(1, "# Lamps", modelled=["machine Lamp", "machine Lam"]))), "line 1: # Lamps", "unknown name 'machine Lam'"),
    "unknown property": (entries((0, Entry(1, "# Lamps", modelled=["machine Lamp"], required=["drk"]))), "line 1: # Lamps", "unknown name 'drk'"),
    "text and arrow": (entries((5, Entry(6, "x", "Off -> On", modelled=["row Lamp.push from Off"]))), "line 6: x", "has text and arrow, or neither"),
    "unused contradiction": (entries((2, Entry(3, "It never breaks.", background="hope"))), "no entry names", "the contradiction never-nice"),
    "unknown variant": (msgspec.structs.replace(LEDGER, variants=["as-written", "new"]), "variants:", "unknown variant 'new'"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_one_fault_is_one_gap(fault: str) -> None:
    ledger, begins, says = FAULTS[fault]
    lines = gaps(system(), ledger)
    assert len(lines) == 1, lines
    assert lines[0].startswith(begins) and says in lines[0] and "; " in lines[0]


def test_an_unused_interpretation() -> None:
    other = replace(RED, name="blue-too")
    assert gaps(system(interpretations=(RED, other)), LEDGER) == [
        "no entry names the interpretation blue-too; write it under interpretations of its statement"
    ]


def test_a_mark_names_interpretations_of_two_variants() -> None:
    other = replace(RED, name="blue-too")
    ledger = changed("axiom 1", mark("axiom 1", "interpretation red-only, blue-too"))
    assert gaps(system(interpretations=(RED, other)), ledger) == []


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"actions": [replace(PUSH, when=PUSH.when[:1])]}, "action push"),
        ({"actions": [replace(PUSH, line=6)]}, "action push"),
        ({"actions": [replace(PUSH, fires=[x.fires("push", by=x)])]}, "action push"),
        ({"rows": [Row(Lamp, "push", "Off", "Off", line=6), MODEL.rows[1]]}, "row Lamp.push from Off"),
        (
            {"machines": [replace(MODEL.machines[0], states=[State("On", line=6), State("Off", line=3)])]},
            "state Lamp.Off",
        ),
        ({"axioms": []}, ""),
    ],
)
def test_a_changed_element_must_be_reviewed_again(change: dict[str, object], name: str) -> None:
    model = replace(MODEL, **change)  # type: ignore[arg-type]
    lines = list(unaccounted(system(model=model), model, LEDGER))
    assert any(f": {name} (" in line and "has changed since it was reviewed" in line for line in lines) == bool(name)


def test_what_a_mark_does_not_depend_on() -> None:
    """Names of parameters count, sentences for people and places do not."""
    same = replace(PUSH, says="push {x}")
    assert elements(replace(MODEL, actions=[same]))["action push"].review == elements(MODEL)["action push"].review


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            TEXT.replace("never", "seldom"),
            ['line 3: no entry for "It seldom breaks."', 'the document does not have "It never breaks."'],
        ),
        (TEXT + "And bright.\n", ['line 8: no entry for "And bright."']),
        ("\n" + TEXT, ["line 2: no entry"]),
    ],
)
def test_another_document(text: str, says: list[str]) -> None:
    lines = unlike(LEDGER, text)
    assert all(any(each in line for line in lines) for each in says), lines


def test_entries_in_another_order() -> None:
    backwards = msgspec.structs.replace(LEDGER, statements=LEDGER.statements[::-1])
    assert unlike(backwards, TEXT) == ["the entries are not in the document's order; sort them by line"]
