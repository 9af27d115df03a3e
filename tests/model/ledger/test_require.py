"""``verify`` refuses a variant that claims to be its document and has elements that nobody accounts for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
import yaml

from schedproof.model.ledger.draft import draft
from schedproof.model.ledger.gaps import gaps, require_accounted, unlike
from schedproof.model.ledger.ledger import Ledger, LedgerError, read
from schedproof.proofs.verification.verify import plan, verify_variant
from tests.model.ledger.lamps import LEDGER, MODEL, PUSH, TEXT, system
from tests.support.rows import each_row

UNREVIEWED = replace(MODEL, actions=[replace(PUSH, when=PUSH.when[:1])])


def written(folder: Path, ledger: Ledger = LEDGER) -> Path:
    file = folder / "ledger.yaml"
    file.write_text(yaml.safe_dump(msgspec.to_builtins(ledger)), "utf-8")
    return file


def test_a_ledger_is_read_as_it_was_written(tmp_path: Path) -> None:
    assert read(written(tmp_path)) == LEDGER


def test_a_reviewed_variant_is_verified(tmp_path: Path) -> None:
    of = system(ledger=written(tmp_path))
    assert len(plan([of])) == 1
    require_accounted(of, [MODEL])


def test_an_unreviewed_variant_is_refused(tmp_path: Path) -> None:
    of = system(model=UNREVIEWED, ledger=written(tmp_path))
    message = r"^lamps as-written: action push \(.*\): has changed .*'schedproof coverage lamps' lists all$"
    with pytest.raises(LedgerError, match=message):
        plan([of])
    with pytest.raises(LedgerError, match=message):
        verify_variant(of, UNREVIEWED)


def test_a_variant_that_claims_nothing_is_not_refused(tmp_path: Path) -> None:
    other = replace(UNREVIEWED, variant="other")
    both = replace(system(ledger=written(tmp_path, LEDGER)), variants={"as-written": MODEL, "other": other})
    require_accounted(both, [MODEL, other])
    require_accounted(system(model=UNREVIEWED), [UNREVIEWED])


@pytest.mark.parametrize("variants", [[], ["as-writen"]])
def test_a_ledger_of_no_variant_does_not_hide_one(variants: list[str], tmp_path: Path) -> None:
    file = written(tmp_path, msgspec.structs.replace(LEDGER, variants=variants))
    with pytest.raises(LedgerError, match="variants: unknown variant"):
        require_accounted(system(model=UNREVIEWED, ledger=file), [UNREVIEWED])


def test_a_draft_keeps_what_is_written() -> None:
    text = draft(system(), TEXT, LEDGER, ["as-written"])
    assert msgspec.convert(yaml.safe_load(text), Ledger) == LEDGER


def test_a_new_draft_lacks_only_what_a_reader_must_add(tmp_path: Path) -> None:
    """All statements are there, with the elements that cite their lines; no element is reviewed."""
    file = tmp_path / "ledger.yaml"
    file.write_text(draft(system(), TEXT, None, ["as-written"]), "utf-8")
    ledger = read(file)
    assert unlike(ledger, TEXT) == []
    assert [entry.modelled for entry in ledger.statements] == [
        ["machine Lamp"],
        ["state Lamp.Off"],
        ["state Lamp.Off"],
        ["action push"],
        ["state Lamp.On", "row Lamp.push from Off"],
        [],
    ]
    lines = gaps(system(), ledger)
    assert sum("is not reviewed" in line for line in lines) == 10
    assert sum("nothing became of it" in line for line in lines) == 1


STATEMENTS = b"document: x\nvariants: []\nstatements:\n"
ELEMENTS = STATEMENTS + b"- {line: 1, text: a}\nelements:\n"


@each_row(
    ("content", "says"),
    [
        (b"statements: [", "is not YAML"),
        (b"\xff", "is not YAML"),
        (b"document: x", "ledger.yaml: has no variants; write it as"),
        (b"{document: x, variants: [], statement: []}", "ledger.yaml:1: unknown key 'statement'; did you mean statements? choose from document, "),
        (STATEMENTS + b"- {line: 1, txt: a}", "ledger.yaml:4: statement 1: unknown key 'txt'; did you mean text? choose from line, "),
        (STATEMENTS + b"- {line: 1, text: a}\n- {text: A lamp., line: one}", "ledger.yaml:5: A lamp.: line: is a text, and not a number; write it as"),
        (STATEMENTS + b"- {line: 1, text: a, modelled: [1]}", "ledger.yaml:4: a: modelled: is a number, and not a text"),
        (STATEMENTS + b"- one", "ledger.yaml:4: statement 1: is a text, and not a mapping"),
        (ELEMENTS + b"  state Lamp.On: {revew: r0}", "ledger.yaml:6: state Lamp.On: unknown key 'revew'; did you mean review? choose from review, source, added; write it as"),
        (ELEMENTS + b"  state Lamp.On: {review: r0}\n  action push: {review: r0, added: {x Off: }}", "ledger.yaml:7: action push: added: is empty, and not a text"),
        (ELEMENTS + b"  state Lamp.On: {source: line 3}", "ledger.yaml:6: state Lamp.On: has no review; write it as"),
        (ELEMENTS + b"  state Lamp.On: {review: [r0]}", "ledger.yaml:6: state Lamp.On: review: is a list, and not a text"),
        (STATEMENTS + b"  one: two", "ledger.yaml:4: statements: is a mapping, and not a list"),
        (b"[1]", "ledger.yaml: is a list, and not a mapping"),
    ],
)  # fmt: skip
def test_a_wrong_file(content: bytes, says: str, tmp_path: Path) -> None:
    file = tmp_path / "ledger.yaml"
    file.write_bytes(content)
    with pytest.raises(LedgerError) as error:
        read(file)
    assert says in str(error.value) and "\n" not in str(error.value)


@each_row(
    ("content", "line", "carets"),
    [
        (
            STATEMENTS + "- {line: 1, text: é, txt: a}".encode(),
            "- {line: 1, text: é, txt: a}",
            "                     ^^^",
        ),
        (STATEMENTS + b"- {text: A lamp., line: one}", "- {text: A lamp., line: one}", "                        ^^^"),
        (
            ELEMENTS + b"  state Lamp.On: {review: [r0]}",
            "state Lamp.On: {review: [r0]}",
            "                        ^^^^",
        ),
        (
            b"{document: x, variants: [], statement: []}",
            "{document: x, variants: [], statement: []}",
            " " * 28 + "^" * 9,
        ),
        (b"statements: [", "statements: [", "             ^"),
    ],
)
def test_the_line_of_a_wrong_file_has_carets(content: bytes, line: str, carets: str, tmp_path: Path) -> None:
    file = tmp_path / "ledger.yaml"
    file.write_bytes(content)
    with pytest.raises(LedgerError) as error:
        read(file)
    shown, below = error.value.excerpt.splitlines()[1:]
    assert shown.partition("| ")[2] == line
    assert below.partition("| ")[2] == carets


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match=r"cannot be read: .*; write a ledger there"):
        read(tmp_path / "ledger.yaml")
