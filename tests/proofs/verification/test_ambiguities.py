"""What is unclear in a document: ranked by what hangs on it, on the document of nine lines about lamps."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from schedproof.model.lang import Contradiction, Reading, Row
from schedproof.model.registry.discovery import systems
from schedproof.model.registry.errors import UserError
from schedproof.model.registry.system import System
from schedproof.proofs.verdict import Counterexample
from schedproof.proofs.verification.ambiguities import Kind, ambiguities
from schedproof.proofs.verification.defect import Defect
from schedproof.proofs.verification.findings import Finding
from schedproof.proofs.verification.links import linked
from tests.model.ledger.lamps import LEDGER, MODEL, NEVER, PUSH, RED, Lamp, mark, system
from tests.model.ledger.test_require import written

ONCE = Reading(
    "pushed-once",
    6,
    question="May a lamp that is on be pushed?",
    read="A lamp that is on is not pushed.",
    otherwise="It stays on.",
    why="Line 6 says what a pushed lamp is.",
    untried="the table has no row for it",
)
"""The source of the condition that a pushed lamp is Off: the table has no row for a push of one that is On."""

FOR_EVER = Reading(
    "on-for-ever",
    6,
    question="How long is a lamp on?",
    read="For ever.",
    otherwise="Nobody pushes.",
    why="Line 6 has no end.",
    drops=["push"],
    rests=["dark"],
)
BROKEN = Contradiction("dark-and-on", ((3, "off at first"), (6, "is on")), "Off is not on.", "On.", violates=["dark"])


def lamps(folder: Path, *contradictions: Contradiction) -> System:
    """Lamps with three interpretations, of which the ledger names one for the condition that keeps a push away."""
    marked = {**LEDGER.elements, "action push": mark("action push", **{"x Off": "interpretation pushed-once"})}
    of = system(
        interpretations=(RED, ONCE, FOR_EVER),
        ledger=written(folder, msgspec.structs.replace(LEDGER, elements=marked)),
    )
    parts = {"contradictions": contradictions}
    return replace(of, load=lambda key, default: parts[key] if key in parts else system_part(of, key))


def system_part(of: System, key: str) -> object:
    return of.load(key, ())


def test_what_most_hangs_on_comes_first(tmp_path: Path) -> None:
    """Of equals a contradiction, then a silence, then an interpretation."""
    some = ambiguities(lamps(tmp_path, NEVER, BROKEN))
    assert [(each.name, each.kind, each.hangs) for each in some] == [
        ("dark-and-on", Kind.CONTRADICTION, ("dark",)),
        ("on-for-ever", Kind.INTERPRETATION, ("dark",)),
        ("never-nice", Kind.CONTRADICTION, ()),
        ("pushed-once", Kind.SILENCE, ()),
        ("red-only", Kind.INTERPRETATION, ()),
    ]


def test_a_repaired_variant_violates_nothing(tmp_path: Path) -> None:
    """A contradiction is in the words of the document for each variant; what it violates is not."""
    of = lamps(tmp_path, BROKEN)
    repaired = replace(MODEL, variant="repaired", refuted=frozenset())
    of = replace(of, variants={**of.variants, "repaired": repaired})
    hangs = {
        variant: [each.hangs for each in ambiguities(of, variants=[variant]) if each.kind is Kind.CONTRADICTION]
        for variant in of.variants
    }
    assert hangs == {"as-written": [("dark",)], "repaired": [()]}


def test_lines_for_a_reader(tmp_path: Path) -> None:
    some = {each.name: each for each in ambiguities(lamps(tmp_path, BROKEN))}
    assert some["dark-and-on"].text() == [
        "dark-and-on (lines 3, 6, as-written): contradiction; 1 verdict hangs on it",
        "  Wrong: Off is not on.",
        '  line 3: "A lamp is off at first."',
        '  line 6: "A pushed lamp is on."',
        "  The model: On.",
        "  Violates: dark",
    ]
    assert some["on-for-ever"].text() == [
        "on-for-ever (line 6, as-written): interpretation; 1 verdict hangs on it",
        "  Question: How long is a lamp on?",
        "  The model: For ever.",
        "  Or: Nobody pushes.",
        "  Then: no longer violated: dark",
    ]


def test_a_contradiction_is_the_defect_that_violates_most_of_it(tmp_path: Path) -> None:
    """Of two that violate as much, that of its own variant. An interpretation is no defect, whatever rests on it."""
    two = replace(BROKEN, violates=["dark", "dim"])
    some = [replace(a, about=two) if a.name == two.name else a for a in ambiguities(lamps(tmp_path, NEVER, BROKEN))]
    run = Counterexample((), "")
    of = {name: Finding("lamps", "as-written", name, "", "lamps.md", 3, "", run, "") for name in ("dark", "dim", "red")}
    one, both = (of["dark"], of["red"]), (of["dark"], of["dim"])
    shipped, proposed, less = (
        Defect("lamps", (variant,), name, "Wrong.", its, "", "")
        for variant, name, its in (
            ("new", "shipped", both),
            ("as-written", "proposed", both),
            ("as-written", "less", one),
        )
    )
    names = {each.name: each.defect for each in linked(some, [less, shipped, proposed])}
    assert names == {"dark-and-on": "proposed", "never-nice": "", "on-for-ever": "", "pushed-once": "", "red-only": ""}
    second = Defect("lamps", ("as-written",), "second", "Wrong.", (of["red"], *both), "", "")
    assert {each.defect for each in linked(some, [second, proposed])} == {"proposed", ""}, "its run is of what is dark"
    (linked_one,) = [each for each in linked(some, [less, shipped]) if each.name == "dark-and-on"]
    assert linked_one.text()[0].endswith("contradiction; 2 verdicts hang on it; see defect shipped")
    assert linked_one.text(numbers={"shipped": 7})[0].endswith("; see defect 7, shipped")
    assert linked_one.as_json()["defect"] == "shipped"


def test_a_silence_says_which_row_there_is_not(tmp_path: Path) -> None:
    (silence,) = [each for each in ambiguities(lamps(tmp_path)) if each.kind is Kind.SILENCE]
    assert silence.text() == ["pushed-once (line 6, as-written): silence: May a lamp that is on be pushed?"]
    assert silence.text(every=True)[1:] == [
        "  Silent: no row of Lamp has push from On",
        "  Question: May a lamp that is on be pushed?",
        "  The model: A lamp that is on is not pushed.",
        "  Or: It stays on.",
        "  Then: not tried: the table has no row for it",
    ]
    (withheld,) = silence.as_json()["silences"]
    assert withheld == {"by": "action push", "condition": "x Off", "sort": "Lamp", "event": "push", "states": ["On"]}


def test_a_row_for_the_state_is_no_silence(tmp_path: Path) -> None:
    """The ledger still names the interpretation, which now is one of a sentence."""
    of = lamps(tmp_path)
    answered = replace(MODEL, rows=[*MODEL.rows, Row(Lamp, "push", "On", "On", line=6)])
    some = ambiguities(replace(of, variants={"as-written": answered}))
    assert {each.kind for each in some} == {Kind.INTERPRETATION}


def test_json_has_the_answers(tmp_path: Path) -> None:
    data = {each.name: each.as_json() for each in ambiguities(lamps(tmp_path, BROKEN))}
    assert data["dark-and-on"] == {
        "kind": "contradiction",
        "system": "lamps",
        "variants": ["as-written"],
        "name": "dark-and-on",
        "document": "lamps.md",
        "lines": [3, 6],
        "hangs": ["dark"],
        "wrong": "Off is not on.",
        "quotes": [{"line": 3, "words": "off at first"}, {"line": 6, "words": "is on"}],
        "sentences": [{"line": 3, "words": "A lamp is off at first."}, {"line": 6, "words": "A pushed lamp is on."}],
        "answer": "On.",
        "defect": "",
    }
    red = data["red-only"]
    assert (red["question"], red["answer"], red["otherwise"], red["why"], red["tried"]) == (
        RED.question, RED.read, RED.otherwise, RED.why, True,
    )  # fmt: skip


def test_only_those_of_the_chosen_variants(tmp_path: Path) -> None:
    of = lamps(tmp_path, BROKEN)
    other = replace(MODEL, variant="other", actions=[PUSH], document=replace(MODEL.document, name="other.md"))
    both = replace(of, variants={"as-written": MODEL, "other": other})
    assert not ambiguities(both, variants=["other"])
    assert len(ambiguities(both, variants=["as-written"])) == len(ambiguities(both)) == 4


def test_a_contradiction_names_violated_properties_only(tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match=r"contradiction dark-and-on \(.*\): violates: unknown violated property 'drak'"
    ):
        ambiguities(lamps(tmp_path, replace(BROKEN, violates=["drak"])))


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(systems()))
def test_systems_list_all_that_their_manifests_have(name: str) -> None:
    """Each contradiction and interpretation is there once; what ``violates`` names is violated, or this is refused."""
    of = systems()[name]
    some = ambiguities(of)
    assert sorted(each.name for each in some) == sorted(each.name for each in (*of.contradictions, *of.interpretations))
    hanging = [len(each.hangs) for each in some]
    assert hanging == sorted(hanging, reverse=True) and hanging[0] > 0
