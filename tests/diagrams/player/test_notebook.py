"""Models, runs and verdicts in a notebook: as HTML that escapes all names, and as text; a run is played."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING, Any

import pytest

from schedproof.api import (
    ArgumentError,
    CheckedProperty,
    DiagramError,
    Run,
    System,
    UserError,
    VariantReport,
    Verdict,
    model_check,
    verify_variant,
)
from schedproof.model.lang import Model
from schedproof.model.notebook import InNotebook
from schedproof.proofs.verdict import Counterexample, Result
from tests.diagrams.player.hostile import ATTACK, HOSTILE
from tests.support.lamps import lamps
from tests.support.needs import needs_chromium
from tests.support.rows import each_row

if TYPE_CHECKING:
    from tests.support.browsing import Opened


def refuted(model: Model) -> Result:
    """The first refuted property."""
    return next(each for each in model_check(model, {}) if each.verdict is Verdict.REFUTED)


def every(model: Model) -> list[InNotebook]:
    """An object of each kind that a notebook shows."""
    report = verify_variant(System.of(model), model)
    result = refuted(model)
    assert result.counterexample is not None
    run = Run(model, result.counterexample, result.name)
    return [model, report, report.properties[0], result, result.counterexample, run, run.show()]


def test_what_a_notebook_shows_of_lamps() -> None:
    kinds = [Model, VariantReport, CheckedProperty, Result, Counterexample, Run]
    texts = {kind: each._repr_mimebundle_() for kind, each in zip(kinds, every(lamps()), strict=False)}
    assert texts[Model]["text/plain"] == "lamps plain: lamps and switches"
    assert ">stays-dark</td>" in texts[Model]["text/html"] and ">refuted</td>" in texts[Model]["text/html"]
    assert texts[VariantReport]["text/plain"] == "lamps plain: 5 of 5 verdicts as expected"
    assert texts[VariantReport]["text/html"].count("<tr>") == 6
    assert texts[Result]["text/plain"] == (
        "stays-dark: refuted in 1 step at Lamp=2\n1. l0 is switched on\nproperty stays-dark is violated for x = l0"
    )
    assert texts[Counterexample]["text/html"] == (
        "<ol><li>l0 is switched on</li></ol><p>property stays-dark is violated for x = l0</p>"
    )
    assert "l0 is switched on" in texts[Run]["text/html"]


def test_names_with_markup_stay_text() -> None:
    for each in every(HOSTILE):
        html = each._repr_html_()
        assert ATTACK not in html and "<img" not in html, type(each)


def test_types_that_nobody_wants_are_left_out() -> None:
    model = lamps()
    assert list(model._repr_mimebundle_(include={"text/html"})) == ["text/html"]
    assert list(model._repr_mimebundle_(exclude={"text/html"})) == ["text/plain"]


def test_a_run_without_its_property_has_no_formula() -> None:
    run = refuted(lamps()).counterexample
    assert run is not None
    assert '"formulas":[]' in Run(lamps(), run).page()
    with pytest.raises(DiagramError):
        Run(lamps(), Counterexample((), "nothing"), "stays-dark").show()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((None,), "model is None, not of type Model; write a model"),
        ((..., None), "counterexample is None, not of type Counterexample; write the counterexample of a refuted result"),
        ((..., ..., None), "property_name is None, not of type str; write the name of the property that the run violates"),
        ((..., ..., "stays-darc"), "unknown property 'stays-darc' of lamps plain; did you mean stays-dark? choose from "
                                   "well-formed, stays-dark, on-or-off, blinks, one-state"),
    ],
)  # fmt: skip
def test_a_run_of_something_else_is_refused_at_once(arguments: tuple[Any, ...], says: str) -> None:
    """Not only when a notebook shows it: there, an error is a traceback for each type of the value."""
    given = (lamps(), Counterexample((), "nothing"), "stays-dark")
    used = [standard if each is ... else each for standard, each in zip(given, (*arguments, ..., ...), strict=False)]
    with pytest.raises((ArgumentError, UserError), match=re.escape(says)):
        Run(*used)


@each_row("height", ["800", 800.5, None, True, '1px" onload="alert(1)'])
def test_a_height_is_an_integer(height: Any) -> None:
    run = refuted(lamps()).counterexample
    assert run is not None
    with pytest.raises(ArgumentError, match=r"height is .*, not of type int; write its pixels, for example height=800"):
        Run(lamps(), run).show(height)


def test_a_run_may_violate_well_formedness() -> None:
    """It is a property of every model, and of no model's list."""
    run = refuted(lamps()).counterexample
    assert run is not None
    assert "<h1>well-formed (lamps plain)</h1>" in Run(lamps(), run, "well-formed").page()


@needs_chromium
def test_the_player_plays_in_a_cell(opened: Opened) -> None:
    run = refuted(lamps()).counterexample
    assert run is not None
    page = opened(
        f"<!DOCTYPE html><title>notebook</title>{Run(lamps(), run, 'stays-dark').show(height=500)._repr_html_()}"
    )
    frame = page.frame_locator("iframe")
    frame.locator("#forward").click()
    assert frame.locator("#now").inner_text().startswith("Step 1 of 1: l0 is switched on")


def test_the_frame_has_the_page_of_explain() -> None:
    run = refuted(lamps()).counterexample
    assert run is not None
    player = Run(lamps(), run, "stays-dark").show()
    source = re.search(r'srcdoc="([^"]*)"', player._repr_html_())
    assert source is not None and unescape(source[1]) == player.page == Run(lamps(), run, "stays-dark").page()
