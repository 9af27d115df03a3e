"""The steps that a run does not take: those that the model enables, with their effects, and within a limit."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from random import Random
from typing import TYPE_CHECKING

import pytest

from schedproof.diagrams.player import branches
from schedproof.diagrams.player.branches import MOST_DEPTH
from schedproof.diagrams.player.build import played
from schedproof.diagrams.player.data import About, Played
from schedproof.diagrams.player.page import page
from schedproof.model.lang import Invariant, Model
from schedproof.model.semantics import Instance, Moment, State, compile_term, stepper_of
from schedproof.model.systems.beaker import AS_WRITTEN as BEAKER
from schedproof.model.systems.hived import AS_WRITTEN as HIVED
from schedproof.proofs.exploration.counterexample_text import shown
from schedproof.proofs.exploration.recorded_run import instance_of
from schedproof.proofs.exploration.runs import counterexample_of, sentence
from tests.diagrams.player.hostile import ATTACK, HOSTILE
from tests.diagrams.player.present import step
from tests.diagrams.player.runs import RUNS, blinking, page_of, refuted
from tests.support.browsing import Opened, serious
from tests.support.lamps import lamps
from tests.support.needs import needs_chromium
from tests.support.sample import thinned
from tests.support.toys import MUTEX

if TYPE_CHECKING:
    from playwright.sync_api import Page

NAME = "placements-are-disjoint"

MOST_BYTES = 300_000
"""The limit for the compressed page of a run of 20 steps."""

runs = pytest.mark.parametrize(("model", "name"), RUNS, ids=[name for _, name in RUNS])


def states_of(instance: Instance, model: Model, name: str) -> list[State]:
    """The states of the run that violates a property."""
    run = refuted(model, name).recorded
    assert run is not None
    states = [instance.initial()]
    for choice in run.choices:
        states.append(stepper_of(instance).step(states[-1], choice).after)
    return states


def instance_with(model: Model, name: str) -> Instance:
    run = refuted(model, name).recorded
    assert run is not None
    return instance_of(model, run)


def data(model: Model, name: str, depth: int) -> Played:
    return played(model, refuted(model, name), About(name), model.property(name), depth=depth)


def walks(shown_run: Played, position: int, length: int) -> list[tuple[int, ...]]:
    """Every way of so many steps from a position, as positions among the enabled steps."""

    def go(state: int | None, left: int) -> Iterator[tuple[int, ...]]:
        if left == 0:
            yield ()
            return
        for n, enabled in enumerate(shown_run.branches.states[state] if state is not None else ()):
            yield from ((n, *rest) for rest in go(enabled.state, left - 1))

    return list(go(shown_run.branches.positions[position], length))


def state_after(shown_run: Played, number: int) -> int | None:
    """Where an enabled step of the initial state leads."""
    first = shown_run.branches.positions[0]
    assert first is not None
    return shown_run.branches.states[first][number].state


@runs
def test_the_enabled_steps_are_those_of_the_model(model: Model, name: str) -> None:
    shown_run, instance = data(model, name, 1), instance_with(model, name)
    for state, number in zip(states_of(instance, model, name), shown_run.branches.positions, strict=True):
        assert number is not None
        says = [shown_run.branches.steps[each.step].says for each in shown_run.branches.states[number]]
        assert says == [sentence(instance, each.choice, state) for each in stepper_of(instance).steps(state)]


@runs
def test_the_step_that_the_run_takes_is_among_them(model: Model, name: str) -> None:
    shown_run = data(model, name, 1)
    for position, state, played_step in zip(
        shown_run.branches.run_steps, shown_run.branches.positions, shown_run.steps, strict=False
    ):
        assert position is not None and state is not None
        assert shown_run.branches.steps[shown_run.branches.states[state][position].step] == played_step


@pytest.mark.parametrize("depth", range(1, MOST_DEPTH + 1))
def test_the_depth_is_the_number_of_steps_away(depth: int) -> None:
    shown_run, instance = data(HIVED, NAME, depth), instance_with(HIVED, NAME)
    reached = [instance.initial()]
    for _ in range(depth):
        reached = [step.after for state in reached for step in stepper_of(instance).steps(state)]
    assert len(walks(shown_run, 0, depth)) == len(reached)
    assert shown_run.branches.omitted == 0
    assert any(enabled.state is None for each in shown_run.branches.states for enabled in each)


def test_depth_0_has_no_enabled_steps() -> None:
    assert data(HIVED, NAME, 0).branches.states == ()


def test_a_page_has_enabled_steps_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those near the end of the run come first."""
    monkeypatch.setattr(branches, "MOST_ENABLED", 8)
    shown_run = data(HIVED, NAME, 1)
    has = [number is not None for number in shown_run.branches.positions]
    assert has == sorted(has) and not has[0] and has[-1]
    assert shown_run.branches.omitted == has.count(False)


@pytest.mark.parametrize("depth", thinned(range(MOST_DEPTH + 1), 3))
def test_the_page_of_20_steps_is_small_at_any_depth(depth: int) -> None:
    instance = Instance(HIVED, {"PodGroup": 4, "Cell": 5}, with_history=True)
    stepper, state, choices, draw = stepper_of(instance), instance.initial(), [], Random(27)
    for _ in range(20):
        drawn = draw.choice(list(stepper.steps(state)))
        choices.append(drawn.choice)
        state = drawn.after
    example = counterexample_of(instance, choices, "a random run")
    text = page(HIVED, example, About("a random run"), HIVED.properties[0], depth=depth)
    assert len(gzip.compress(text.encode())) < MOST_BYTES


def test_a_loop_of_two_states_is_two_states() -> None:
    shown_run = played(lamps(), blinking(1_000), About("a lamp blinks"), None, depth=1)
    assert len(shown_run.branches.states) == 2 and len(shown_run.branches.positions) == 1_001


# --- in a browser

WALK = """([position, path, names]) => {
  location.hash = `#step=${position + path.length}&branch=${[position, ...path].join(".")}`;
  window.dispatchEvent(new HashChangeEvent("hashchange"));
  const fields = (name) => {
    document.querySelector(`#lanes button[data-object="${name}"]`)?.click();
    const terms = [...document.querySelectorAll("#object dt")];
    return Object.fromEntries(terms.map((term) => [term.textContent, term.nextElementSibling.textContent.replace(/ ●$/, "")]));
  };
  const value = document.querySelector("#lanes tr.formula td.here").textContent;
  const next = [...document.querySelectorAll("#next li > button")].map((each) => each.textContent);
  return [value, Object.fromEntries(names.map((name) => [name, fields(name)])), next];
}"""
"""The value of the property, the fields of objects, and what is enabled at the end of a walk."""


@pytest.mark.long
@needs_chromium
def test_every_walk_shows_what_the_model_does(opened: Opened) -> None:
    """Two steps away from each state of a run, the page has the state of the model, and the value of the property."""
    shown_run, instance = data(HIVED, NAME, 2), instance_with(HIVED, NAME)
    prop = HIVED.property(NAME)
    assert isinstance(prop, Invariant) and prop.given is not None
    run = refuted(HIVED, NAME).recorded
    assert run is not None
    scope = {v.name: v for v in prop.over}
    given, then = (compile_term(instance, term, scope) for term in (prop.given, prop.then))
    text = page(HIVED, refuted(HIVED, NAME), About(NAME), prop, depth=2)
    shown_page, names = opened(text), [lane.name for lane in shown_run.lanes]
    values = set()
    for position, state in enumerate(states_of(instance, HIVED, NAME)):
        ways = walks(shown_run, position, 2)
        for walk in Random(position).sample(ways, 12):
            now = state
            for number in walk:
                now = list(stepper_of(instance).steps(now))[number].after
            moment = Moment(now, dict(run.bound))
            holds = not given(moment) or bool(then(moment))
            expected = {
                each: {k: shown(v) for k, v in fields.items()}
                for objects in instance.describe(now).values()
                for each, fields in objects.items()
                if each in names
            }
            value, seen, _ = shown_page.evaluate(WALK, [position, list(walk), names])
            assert (value, seen) == ("✓ true" if holds else "✗ false", expected)
            values.add(holds)
    assert values == {True, False}


@needs_chromium
@pytest.mark.parametrize(
    ("model", "name"),
    thinned(
        [
            (HIVED, "cell-e2-preempts-an-allocated-group"),
            (HIVED, NAME),
            (BEAKER, "no-queue-jumping"),
            (MUTEX, "weakly-fair-entry"),
        ],
        3,
    ),
    ids=["step invariant", "invariant", "step invariant of some actions", "leads to"],
)
def test_a_branch_has_the_value_that_python_computes(opened: Opened, model: Model, name: str) -> None:
    """For each enabled step, the run that ends with it is played by itself."""
    shown_run, instance, prop = data(model, name, 1), instance_with(model, name), model.property(name)
    run, shown_page, values = refuted(model, name).recorded, opened(page_of(model, name)), set()
    assert run is not None
    over = getattr(prop, "over", ())
    for position, state in enumerate(states_of(instance, model, name)[:-1]):
        for number, enabled in enumerate(stepper_of(instance).steps(state)):
            if number == shown_run.branches.run_steps[position]:
                continue
            choices = [*run.choices[:position], enabled.choice]
            example = counterexample_of(instance, choices, "a branch", over=over, bound=run.bound)
            (first, *_) = played(model, example, About(name), prop, depth=0).formulas
            (_, expected) = first.part.values[-1]
            value = shown_page.evaluate(VALUE, [position, number])
            assert value.removeprefix("✓ ").removeprefix("✗ ").replace("–", "") == expected
            values.add(expected)
    assert len(values) > 1


VALUE = """([position, number]) => {
  location.hash = `#step=${position + 1}&branch=${position}.${number}`;
  window.dispatchEvent(new HashChangeEvent("hashchange"));
  return document.querySelector("#lanes tr.formula td.here").textContent;
}"""


def listed(page: Page) -> list[str]:
    return page.locator("#next li > button").all_inner_texts()


@needs_chromium
def test_a_step_leaves_the_run_and_escape_comes_back(opened: Opened) -> None:
    page = opened(page_of(HIVED, NAME), "#step=1&object=c0")
    assert "18 steps are enabled here:" in page.inner_text("#next") and len(listed(page)) == 12
    page.click("text=Show all 18")
    assert len(listed(page)) == 18 and page.evaluate("document.activeElement.textContent") == listed(page)[12]
    assert (
        page.locator("#next li")
        .first.inner_text()
        .startswith("g1 begins to preempt what runs on {c0} (the run takes it)")
    )
    page.locator("#next li:not(.taken) button").nth(3).click()
    assert step(page) == "Step 2" and "which is not of the run" in page.inner_text("#now")
    assert page.inner_text("#away").startswith("↳ These steps leave the run after step 1.")
    assert page.locator("#lanes thead button").all_inner_texts() == ["Start", "Step 1", "↳ Step 2"]
    assert page.evaluate("document.activeElement.id") == "rejoin"
    assert page.evaluate("location.hash").startswith("#step=2&object=c0&branch=1.")
    page.keyboard.press("ArrowLeft")
    assert step(page) == "Step 1 of 2"
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Escape")
    assert step(page) == "Step 1 of 4" and page.locator("#away").is_hidden() and page.locator("#rejoin").is_hidden()
    page.locator("#next li.taken button").click()
    assert step(page) == "Step 2 of 4" and "branch" not in page.evaluate("location.hash")


@needs_chromium
def test_away_from_the_run_only_parts_that_decide_are_red(opened: Opened) -> None:
    """After step 3, a step that gives c0 to g2 as step 4 does, by another event or with another order."""
    shown_run, prop = data(HIVED, NAME, 1), HIVED.property(NAME)
    assert isinstance(prop, Invariant)
    page = opened(page_of(HIVED, NAME))
    red = set()
    for position in range(3, len(shown_run.steps)):
        for (number,) in walks(shown_run, position, 1):
            if number == shown_run.branches.run_steps[position]:
                continue
            if page.evaluate(VALUE, [position, number]) == "✗ false":
                red |= set(page.locator("#formula .hint").locator("xpath=..").locator(".part").all_inner_texts())
    assert red == {"c0 in g0.placement", "not (c0 in g2.placement)"}


@needs_chromium
def test_another_step_replaces_the_end_of_a_branch(opened: Opened) -> None:
    page = opened(page_of(HIVED, NAME, depth=2), "#step=3&branch=1.1.1")
    assert step(page) == "Step 3"
    page.keyboard.press("ArrowLeft")
    page.locator("#next li button").nth(2).click()
    assert page.evaluate("location.hash").endswith("&branch=1.1.2")
    assert page.locator("#lanes thead button").all_inner_texts() == ["Start", "Step 1", "↳ Step 2", "↳ Step 3"]


@needs_chromium
def test_a_branch_is_taken_by_keyboard_alone(opened: Opened) -> None:
    page = opened(page_of(HIVED, NAME), "#step=3")
    page.focus("#forward")
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.closest('#next li:not(.taken)') !== null"):
            break
    name = page.evaluate("document.activeElement.textContent")
    page.keyboard.press("Enter")
    assert f"which is not of the run: {name}" in page.inner_text("#now")
    page.keyboard.press("Enter")  # the focus is on the way back
    assert step(page) == "Step 3 of 4" and page.evaluate("document.activeElement.id") == "forward"


@needs_chromium
def test_a_wrong_branch_in_the_address_shows_the_run(opened: Opened) -> None:
    page = opened(page_of(HIVED, NAME))
    for branch in ("99.0", "1.99", "1", "x.y", "-1.0", "1.-1", ""):
        page.evaluate(f"location.hash = '#step=2&branch={branch}'")
        page.wait_for_function("document.getElementById('now').textContent.startsWith('Step 2 of 4')")
        assert page.locator("#away").is_hidden()
        page.keyboard.press("Home")


@needs_chromium
def test_beyond_the_depth_the_page_says_so(opened: Opened) -> None:
    shown_run = data(HIVED, NAME, 1)
    (walk, *_) = [way for way in walks(shown_run, 0, 1) if state_after(shown_run, way[0]) is None]
    page = opened(page_of(HIVED, NAME), f"#step=1&branch=0.{walk[0]}")
    assert page.inner_text("#next") == "The page goes 1 step away from the run."
    assert opened(page_of(HIVED, NAME, depth=0)).locator("#next-pane").is_hidden()


@needs_chromium
def test_before_a_choice_the_page_says_how_far_it_goes(opened: Opened) -> None:
    """What it says fits what stands there after each choice."""
    seen = set()
    for depth, away in [(1, ""), (2, ""), (2, "&branch=1.0")]:
        page = opened(page_of(HIVED, NAME, depth=depth))
        for position in range(5):
            address = f"#step={position}{away}"
            page.evaluate(GO, [address, None])
            reach = page.locator("#next > p").nth(1).inner_text()
            start = f"The page has steps up to {depth} away from the run"
            count = page.locator("#next li:not(.taken)").count()
            stops = [page.evaluate(GO, [address, number]).startswith("The page goes ") for number in range(count)]
            end = "; after these" if all(stops) else "; after some of these it goes no further" if any(stops) else "."
            assert reach.startswith(start + end), (address, stops)
            seen.add(end)
    assert len(seen) == 3


GO = """([address, number]) => {
  location.hash = address;
  window.dispatchEvent(new HashChangeEvent("hashchange"));
  document.querySelectorAll("#next > button").forEach((each) => each.click());
  if (number !== null) document.querySelectorAll("#next li:not(.taken) > button")[number].click();
  return document.getElementById("next").textContent;
}"""
"""Shows a step with all that is enabled, and takes one of these."""


@needs_chromium
def test_where_enabled_steps_are_left_out_it_says_so(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(branches, "MOST_ENABLED", 8)
    shown_page = opened(page(HIVED, refuted(HIVED, NAME), About(NAME)))
    assert shown_page.inner_text("#next") == "The page would be too large with the steps that are enabled here."


@needs_chromium
def test_a_branch_of_a_hostile_model_stays_text(opened: Opened) -> None:
    page = opened(page_of(HOSTILE, HOSTILE.properties[0].name))
    assert any(ATTACK in text for text in listed(page))
    page.locator("#next li button").first.click()
    assert page.locator("img").count() == 0 and page.title() == HOSTILE.properties[0].name


@needs_chromium
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_accepts_a_branch(opened: Opened, scheme: str) -> None:
    page = opened(page_of(HIVED, NAME, depth=2), "#step=2&branch=1.0", color_scheme=scheme)
    assert page.locator("#away").is_visible()
    assert serious(page) == []


@needs_chromium
def test_the_data_of_a_branch_survives_the_page(opened: Opened) -> None:
    expected = data(HIVED, NAME, 1).as_json()["branches"]
    seen = opened(page_of(HIVED, NAME)).evaluate("JSON.parse(document.getElementById('data').textContent).branches")
    assert seen == json.loads(json.dumps(expected))
