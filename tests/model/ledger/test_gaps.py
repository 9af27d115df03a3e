"""What ``coverage`` misses in a ledger: a complete one, and one fault at a time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from schedproof.model.lang import Row, State, Term, forall, iff, implies, me, variable
from schedproof.model.ledger.content import canonical, cause, review
from schedproof.model.ledger.elements import elements
from schedproof.model.ledger.gaps import gaps, unaccounted, unlike, unnamed
from schedproof.model.ledger.ledger import Entry, Ledger, LedgerError, Mark
from schedproof.proofs.verification.verify import plan
from tests.model.ledger.lamps import LEDGER, MODEL, NEVER, PUSH, RED, TEXT, Lamp, mark, system, x
from tests.model.ledger.test_require import written
from tests.support.keys import KEYS
from tests.support.rows import each_row


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
    "form of no variant": (changed("state Lamp.On", Mark({"as-written": mark("state Lamp.On").review, "new": "r0000000"})), "elements: state Lamp.On", "unknown variant 'new'"),  # type: ignore[dict-item]
    "form of another variant": (changed("state Lamp.On", Mark({})), "as-written: state Lamp.On", "is not reviewed"),
    "left out": (changed("row Lamp.pull from Off", Mark("r0000000")), "as-written: row Lamp.pull from Off", "the ledger has it, and the variant does not"),
    "another document": (msgspec.structs.replace(LEDGER, document="lights.md"), "document: lights.md", "the model's document is lamps.md"),
    "two entries": (entries((5, LEDGER.statements[4])), "line 6: A pushed lamp is on.", "has 2 entries"),
    "no such fact": (changed("axiom 1", mark("axiom 1", "fact 9.9")), "as-written: axiom 1", "the facts of the document have no fact 9.9"),
    "empty reason": (changed("axiom 1", mark("axiom 1", "encoding:  ")), "as-written: axiom 1", "is no source"),
    "no such line": (changed("axiom 1", mark("axiom 1", "line 99")), "as-written: axiom 1", "source: line 99 has no statement"),
    "a part of no line": (changed("action push", mark("action push", **{"x Off": "line 99", "x.colour = red": "interpretation red-only"})), "as-written: action push", "x Off: line 99 has no statement"),
    "no source": (changed("axiom 1", mark("axiom 1")), "as-written: axiom 1", "has no source"),
    "not a source": (changed("axiom 1", mark("axiom 1", "because")), "as-written: axiom 1", "'because' is no source"),
    "unknown interpretation": (changed("axiom 1", mark("axiom 1", "interpretation red")), "as-written: axiom 1", "unknown interpretation 'red'"),
    "second interpretation": (changed("axiom 1", mark("axiom 1", "interpretation red-only, blue")), "as-written: axiom 1", "unknown interpretation 'blue'"),
    "unknown part": (changed("action push", mark("action push", **{"x blue": "line 4"})), "elements: action push", "it has no part 'x blue'"),
    "mark of nothing": (changed("row Lamp.pull from Off", Mark({})), "elements:", "unknown element 'row Lamp.pull from Off'"),
    "line without it": (entries((3, Entry(4, "A lamp can be pushed.", interpretations=["red-only"]))), "as-written: action push", "cites line 4, and no entry of that line has it"),
    "nothing became of it": (entries((6, Entry(7, "Lamps are nice."))), "line 7: Lamps are nice.", "nothing became of it"),
    "unknown element": (entries((0, Entry(1, "# Lamps", modelled=["machine Lamp", "machine Lam"]))), "line 1: # Lamps", "unknown name 'machine Lam'"),
    "unknown property": (entries((0, Entry(1, "# Lamps", modelled=["machine Lamp"], required=["drk"]))), "line 1: # Lamps", "unknown name 'drk'"),
    "text and arrow": (entries((5, Entry(6, "x", "Off -> On", modelled=["row Lamp.push from Off"]))), "line 6: x", "has text and arrow, or neither"),
    "unused property": (entries((4, Entry(6, "A pushed lamp is on.", modelled=["state Lamp.On", "row Lamp.push from Off"]))), "no entry names", "the property dark (lamps.py:"),
    "unused contradiction": (entries((2, Entry(3, "It never breaks.", background="hope"))), "no entry names", "the contradiction never-nice"),
    "unknown variant": (msgspec.structs.replace(LEDGER, variants=["as-written", "new"]), "variants:", "unknown variant 'new'"),
}  # fmt: skip


@each_row("fault", FAULTS)
def test_one_fault_is_one_gap(fault: str) -> None:
    ledger, begins, says = FAULTS[fault]
    # An entry more also changes the words of its line, on which marks depend.
    lines = [line for line in gaps(system(), ledger) if ": the words of line " not in line]
    assert len(lines) == 1, lines
    assert lines[0].startswith(begins) and says in lines[0] and "; " in lines[0]


def test_an_unused_interpretation() -> None:
    other = replace(RED, name="blue-too")
    assert gaps(system(interpretations=(RED, other)), LEDGER) == [
        "no entry names the interpretation blue-too; write it under interpretations of its statement"
    ]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (99, "line 99 has no statement; write the line of the sentence that it is about"),
        (7, "has line 7, and the ledger lists it at line 4; list it at its own statement"),
    ],
)
def test_an_interpretation_of_another_line(line: int, says: str, tmp_path: Path) -> None:
    """``verify`` refuses it as well; what only an element names may be of any statement."""
    of = system(interpretations=(replace(RED, line=line),), ledger=written(tmp_path))
    (gap,) = gaps(of, LEDGER)
    assert gap.startswith("interpretation red-only (lamps.py:") and gap.endswith(says)
    with pytest.raises(LedgerError, match="interpretation red-only"):
        plan([of])
    unlisted = entries((3, Entry(4, "A lamp can be pushed.", modelled=["action push"])))
    assert len(gaps(of, unlisted)) == (line == 99)


def test_a_property_of_a_line_that_no_statement_has() -> None:
    model = replace(MODEL, properties=[replace(MODEL.properties[0], line=99)])
    (gap,) = gaps(system(model=model), LEDGER)
    assert gap.startswith("property dark (") and "line 99 has no statement; cite" in gap


def test_a_mark_names_interpretations_of_two_variants() -> None:
    other = replace(RED, name="blue-too")
    ledger = changed("axiom 1", mark("axiom 1", "interpretation red-only, blue-too"))
    assert gaps(system(interpretations=(RED, other)), ledger) == []


@each_row(
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
        ({"actions": [replace(PUSH, parameters=[x, variable(Lamp, "y")])]}, "action push"),
        (
            {"axioms": [forall(x, (x.colour == "red") | (x.colour == "blue")) & forall(x, x.colour == x.colour)]},
            "axiom 1",
        ),
        ({"configurations": lambda sizes: [{("Lamp", "colour"): ["blue"]}]}, "configurations"),
        ({"verify_scope": {"Lamp": 2}}, "configurations"),
    ],
)
def test_a_changed_element_must_be_reviewed_again(change: dict[str, object], name: str) -> None:
    model = replace(MODEL, **change)  # type: ignore[arg-type]
    lines = list(unaccounted(system(model=model), model, LEDGER))
    assert any(f": {name} (" in line and "has changed since it was reviewed" in line for line in lines) == bool(name)


def test_an_element_that_is_left_out_is_missed() -> None:
    model = replace(MODEL, axioms=[])
    (line,) = unaccounted(system(model=model), model, LEDGER)
    assert line.startswith("as-written: axiom 1: the ledger has it, and the variant does not; ")


A, B, C = x.is_("On"), x.colour == "red", x.is_("Off")
y = variable(Lamp, "y")


@each_row(
    ("one", "other"),
    [
        (forall(x, A) & B, forall(x, A & B)),
        (implies(A, B & C), implies(A, B) & C),
        (iff(A, B) & C, iff(A, B & C)),
        (forall(x, A), forall(y, A)),
        (variable(Lamp, "it").is_("On"), me.is_("On")),
    ],
)
def test_what_reads_alike_is_not_the_same(one: Term, other: Term) -> None:
    """The words for readers have no brackets; a mark is bound to what is meant."""
    assert review(one) != review(other)


def test_a_content_is_the_same_in_every_process() -> None:
    """The order of a set, and a new field with its default, change no mark."""
    sets = (frozenset({"one", "two", "three"}), frozenset({"three", "two", "one"}))
    assert review(sets[0]) == review(sets[1]) == review({"two", "one", "three"})
    assert canonical(PUSH) == canonical(replace(PUSH, crash=False, says="other words"))
    assert "crash=True" in canonical(replace(PUSH, crash=True)) and canonical(cause(PUSH)) == "'action push'"


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


@each_row(
    ("line", "words", "missed"),
    [
        (3, "It never breaks.", []),
        (3, "at first. It never", ["line 3: A lamp is off at first."]),
        (3, "breaks. A  lamp can be", ["line 4: A lamp can be pushed."]),
        (4, "It never breaks.", []),
        (6, "A pushed lamp", ["line 6: A pushed lamp is on."]),
        (7, "Lamps are | nice.", ["line 7: Lamps are nice."]),
    ],
)
def test_what_a_contradiction_quotes_names_it(line: int, words: str, missed: list[str]) -> None:
    """NEVER is named at line 3. What the document does not have in that line is no statement."""
    quoting = replace(NEVER, quotes=((line, words),))
    lines = unnamed(system(contradictions=(quoting,)), LEDGER, TEXT)
    assert lines == [
        f"{each}: the contradiction never-nice quotes it; write it under contradictions" for each in missed
    ]


def test_a_review_counts_the_values_of_a_relation() -> None:
    """As of references and sets: a list of all tuples would say nothing to a reader."""
    assert "Client.may in 1 way" in elements(KEYS)["configurations"].parts
