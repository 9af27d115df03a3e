"""The same actions in another variant: what they do there, where they stop, and which cells differ."""

from __future__ import annotations

from dataclasses import replace

import pytest

from schedproof.diagrams.errors import DiagramError
from schedproof.diagrams.player.build import OtherRun, played
from schedproof.diagrams.player.data import About, Comparison
from schedproof.diagrams.player.page import page
from schedproof.model.lang import Action, Machine, Model, Row, State
from schedproof.model.semantics import Instance, stepper_of
from schedproof.model.systems.beaker import AS_WRITTEN as BEAKER
from schedproof.model.systems.beaker import INTERLEAVED
from schedproof.model.systems.hived import AS_WRITTEN as HIVED
from schedproof.model.systems.hived import REPAIRED
from schedproof.proofs.exploration.counterexample_text import shown
from schedproof.proofs.exploration.recorded_run import instance_of
from schedproof.proofs.exploration.runs import counterexample_of
from schedproof.proofs.verdict import Counterexample
from tests.diagrams.player.hostile import ATTACK, HOSTILE
from tests.diagrams.player.runs import blinking, refuted
from tests.support.browsing import Opened, serious
from tests.support.lamps import SWITCH_ON, Lamp, lamps, x
from tests.support.needs import needs_chromium

NAME = "cell-e1-frees-an-allocated-group"
"""In the repaired variant, step 4 of its run is not enabled, and the states differ before."""

Fields = dict[str, dict[str, str]]


def compared(model: Model, example: Counterexample, compare_to: Model) -> Comparison:
    data = played(model, example, About("x"), None, depth=0, compare_to=compare_to).comparison
    assert data is not None
    return data


def fields(instance: Instance, state: tuple[int, ...], names: set[str]) -> Fields:
    return {
        name: {field: shown(value) for field, value in values.items()}
        for objects in instance.describe(state).values()
        for name, values in objects.items()
        if name in names
    }


def both() -> tuple[list[Fields], list[Fields]]:
    """The states of both variants along the run, computed without the page."""
    run = refuted(HIVED, NAME).recorded
    assert run is not None
    names = {each.object for each in refuted(HIVED, NAME).objects}
    series = []
    for instance in (instance_of(HIVED, run), instance_of(REPAIRED, run)):
        states = [instance.initial()]
        for choice in run.choices:
            if choice not in stepper_of(instance).choices(states[-1], instance.model.action(choice.action)):
                break
            states.append(stepper_of(instance).step(states[-1], choice).after)
        series.append([fields(instance, state, names) for state in states])
    return series[0], series[1]


def test_the_steps_are_those_of_the_other_variant() -> None:
    _, expected_states = both()
    data = compared(HIVED, refuted(HIVED, NAME), REPAIRED)
    now = {lane.name: dict(lane.initial) for lane in data.lanes}
    assert now == expected_states[0]
    for step, expected in zip(data.steps, expected_states[1:], strict=True):
        for firing in step.firings:
            for field, (_, new) in firing.changes.items():
                if firing.object in now:
                    now[firing.object][field] = new
        assert now == expected


def test_it_stops_where_the_variant_does_not_enable_a_step() -> None:
    data = compared(HIVED, refuted(HIVED, NAME), REPAIRED)
    as_written, repaired = both()
    assert len(data.steps) + 1 == len(repaired) < len(as_written)
    assert data.stops == "delete_preempted needs: g0 BeingPreempted"
    assert repaired[-1]["g0"]["state"] != "BeingPreempted"


def test_a_run_beside_itself_has_no_difference() -> None:
    data = played(HIVED, refuted(HIVED, NAME), About("x"), None, compare_to=HIVED)
    assert data.comparison is not None
    assert data.comparison.steps == data.steps and not data.comparison.stops


def test_an_action_that_the_variant_lacks_ends_it() -> None:
    (data,) = [compared(HIVED, refuted(HIVED, "placements-are-disjoint"), REPAIRED)]
    assert (len(data.steps), data.stops) == (2, "repaired has no action vacate")


def variant_with(*actions: Action) -> Model:
    return replace(lamps(), variant="changed", actions=list(actions), properties=[], refuted=frozenset())


def test_a_step_that_is_ill_formed_there_ends_it() -> None:
    """In the variant, a lamp that is on may be switched on, for which the table has no row."""
    off_twice = Action("switch_off", [x], [], [x.fires("on")], "{x} is switched off")
    data = compared(lamps(), blinking(3), variant_with(SWITCH_ON, off_twice))
    assert len(data.steps) == 1 and data.stops.startswith("l0 fires on in state On, where the table has no row for it")


def test_a_smaller_variant_ends_it_at_a_missing_object() -> None:
    other = replace(lamps(), variant="one", rows=[Row(Lamp, "on", "Off", "On"), Row(Lamp, "off", "On", "Off")])
    example = counterexample_of(Instance(lamps(), {"Lamp": 2}), [], "nothing happens")
    assert compared(lamps(), example, other).stops == ""


def two_runs(short: int, long: int) -> OtherRun:
    return OtherRun(replace(lamps(), variant=f"for {short}"), blinking(long), "blinks")


def test_another_run_has_its_own_steps() -> None:
    data = played(lamps(), blinking(2), About("x"), None, compare_to=two_runs(2, 3)).comparison
    assert data is not None and (data.variant, data.property, data.stops) == ("for 2", "blinks", "")
    assert [step.action for step in data.steps] == ["switch_on", "switch_off", "switch_on"]
    assert [lane.name for lane in data.lanes] == ["l0"]


def test_another_run_that_cannot_be_played_is_refused() -> None:
    example = replace(blinking(2), recorded=None)
    with pytest.raises(DiagramError, match="not a run of the model"):
        played(lamps(), blinking(2), About("x"), None, compare_to=OtherRun(lamps(), example, "blinks"))


# --- in a browser

TABLE = """() => Object.fromEntries([...document.querySelectorAll("#comparison tbody tr")].map((row) =>
  [row.querySelector("th").textContent, [...row.querySelectorAll("td")].map((cell) => cell.textContent)]))"""


def text(compare_to: Model = REPAIRED) -> str:
    return page(HIVED, refuted(HIVED, NAME), About(NAME), HIVED.property(NAME), compare_to=compare_to)


@needs_chromium
def test_differing_fields_are_those_of_the_models(opened: Opened) -> None:
    as_written, repaired = both()
    shown_page = opened(text())
    first = None
    for position in range(len(as_written)):
        expected = {}
        if position < len(repaired):
            expected = {
                f"{name}.{field}": [value, f"≠ {repaired[position][name][field]}"]
                for name, values in as_written[position].items()
                for field, value in values.items()
                if repaired[position][name].get(field, value) != value
            }
            first = position if expected and first is None else first
        assert shown_page.evaluate(TABLE) == expected
        cells = shown_page.locator("#lanes td.differs.here")
        assert cells.count() == len({name.partition(".")[0] for name in expected})
        shown_page.keyboard.press("ArrowRight")
    assert first is not None
    message = shown_page.inner_text("#comparison")
    assert f"The two runs differ from step {first} on." in message
    assert (
        "In repaired the run cannot take step 4" in message and "delete_preempted needs: g0 BeingPreempted." in message
    )
    assert "The run in repaired has ended before." in message


@needs_chromium
def test_the_first_difference_is_named(opened: Opened) -> None:
    """In the variant a lamp that is switched on stays off, so it differs at steps 1 and 3."""
    always = Action("switch_off", [x], [], [x.fires("off")], "{x} is switched off")
    rows = [Row(Lamp, "on", "Off", "Off"), Row(Lamp, "off", "Off", "Off")]
    machine = Machine(Lamp, [State("Off"), State("On", unreachable=True)])
    other = replace(variant_with(SWITCH_ON, always), machines=[machine], rows=rows)
    shown_page = opened(page(lamps(), blinking(3), About("a lamp"), compare_to=other))
    assert "The two runs differ from step 1 on." in shown_page.inner_text("#comparison")
    cells = shown_page.locator("tr.beside td").all_inner_texts()
    assert cells == ["Off", "≠ Off", "Off", "≠ Off"]


@needs_chromium
def test_a_run_that_is_the_same_says_so(opened: Opened) -> None:
    shown_page = opened(text(replace(HIVED, variant="copy")), "#step=2")
    assert "the two runs are the same: 4 steps." in shown_page.inner_text("#comparison")
    assert "Nothing differs here." in shown_page.inner_text("#comparison")
    assert shown_page.locator("tr.beside").count() == 0


@needs_chromium
def test_away_from_the_run_nothing_is_compared(opened: Opened) -> None:
    shown_page = opened(text(), "#step=2")
    assert shown_page.locator("tr.beside").count() > 0
    shown_page.locator("#next li:not(.taken) button").first.click()
    assert shown_page.locator("tr.beside").count() == 0 and shown_page.locator("#comparison-pane").is_hidden()
    shown_page.keyboard.press("Escape")
    assert shown_page.locator("#comparison-pane").is_visible()


@needs_chromium
def test_a_comparison_of_hostile_variants_stays_text(opened: Opened) -> None:
    prop = HOSTILE.properties[0]
    other = replace(HOSTILE, variant=f"other{ATTACK}")
    shown_page = opened(page(HOSTILE, refuted(HOSTILE, prop.name), About(prop.name), prop, compare_to=other), "#step=1")
    assert ATTACK in shown_page.inner_text("#comparison-title")
    assert shown_page.locator("img").count() == 0 and shown_page.title() == prop.name


STEPS = """() => [...document.querySelectorAll("[aria-label='Steps side by side'] tbody tr")].map((row) =>
  [...row.cells].map((cell) => cell.textContent))"""


@needs_chromium
def test_two_runs_stand_side_by_side(opened: Opened) -> None:
    """A lamp beside one that is switched on by the same action, and no further."""
    shown_page = opened(page(lamps(), blinking(3), About("a lamp"), compare_to=two_runs(3, 1)), "#step=1")
    assert shown_page.inner_text("#comparison-title") == "Beside it: the run of blinks (for 3)"
    assert "Nothing differs here." in shown_page.inner_text("#comparison")
    on, off = "l0 is switched on", "l0 is switched off"
    assert shown_page.evaluate(STEPS) == [["1", on, on], ["2", off, "≠ –"], ["3", on, "≠ –"]]
    shown_page.get_by_role("button", name="3", exact=True).click()
    assert "Step 3 of 3" in shown_page.inner_text("#now")
    assert "The run in blinks (for 3) has ended before." in shown_page.inner_text("#comparison")


@needs_chromium
def test_a_longer_run_beside_it_is_listed_to_its_end(opened: Opened) -> None:
    shown_page = opened(page(lamps(), blinking(1), About("a lamp"), compare_to=two_runs(1, 50)), "#step=1")
    assert "Steps 1 to 20 of 50" in shown_page.inner_text("#comparison")
    assert "This run has 1 step, the other one 50 steps." in shown_page.inner_text("#comparison")


@pytest.mark.long
@needs_chromium
def test_objects_of_two_runs_are_those_of_the_models(opened: Opened) -> None:
    """Beaker's ABBA in two variants: at each step, the fields that differ are those that differ in the models' states."""
    runs = [(model, refuted(model, "no-abba")) for model in (BEAKER, INTERLEAVED)]
    (as_written, example), (interleaved, beside) = runs
    data = page(as_written, example, About("abba"), compare_to=OtherRun(interleaved, beside, "no-abba"))
    shown_page = opened(data)
    names = {each.object for each in example.objects}
    states = []
    for model, run in runs:
        assert run.recorded is not None
        instance = instance_of(model, run.recorded)
        series = [instance.initial()]
        for choice in run.recorded.choices:
            series.append(stepper_of(instance).step(series[-1], choice).after)
        states.append([fields(instance, state, names) for state in series])
    for position, (one, other) in enumerate(zip(*states, strict=False)):
        expected = {
            f"{name}.{field}": [value, f"≠ {other[name][field]}"]
            for name, values in one.items()
            for field, value in values.items()
            if name in other and other[name].get(field, value) != value
        }
        table = TABLE.replace("#comparison tbody tr", "#comparison tr.unlike")
        assert shown_page.evaluate(table) == expected, position
        shown_page.keyboard.press("ArrowRight")
    assert serious(shown_page) == []


@needs_chromium
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_accepts_a_comparison(opened: Opened, scheme: str) -> None:
    assert serious(opened(text(), "#step=3", color_scheme=scheme)) == []


@needs_chromium
def test_a_comparison_fits_at_400_percent(opened: Opened) -> None:
    shown_page = opened(text(), "#step=3", viewport={"width": 320, "height": 256})
    assert shown_page.evaluate("document.documentElement.scrollWidth") <= 320
