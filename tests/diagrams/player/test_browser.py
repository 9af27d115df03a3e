"""The page in a browser: keys, lanes, the address, loops, long runs, and what a screen reader finds."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from schedproof.diagrams.player import machines
from schedproof.diagrams.player.build import played
from schedproof.diagrams.player.data import About
from schedproof.diagrams.player.page import page
from schedproof.model.lang import Invariant, Model, variable
from schedproof.model.semantics import stepper_of
from schedproof.model.systems.beaker import AS_WRITTEN as BEAKER
from schedproof.model.systems.hived import AS_WRITTEN as HIVED
from schedproof.proofs.exploration.counterexample_text import shown
from schedproof.proofs.exploration.recorded_run import instance_of
from tests.diagrams.player.hostile import ATTACK, HOSTILE
from tests.diagrams.player.present import step
from tests.diagrams.player.runs import RUNS, blinking, page_of, refuted
from tests.support.browsing import Opened, serious
from tests.support.lamps import Lamp, lamps
from tests.support.needs import needs_chromium, needs_dot
from tests.support.sample import thinned
from tests.support.toys import MUTEX

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = needs_chromium

NAME = "placements-are-disjoint"

MOST_SECONDS = 3
"""The limit for opening a run of 10,000 steps: a second on an idle machine."""


def fields(page: Page) -> Mapping[str, str]:
    """The fields of the selected object."""
    names = page.locator("#object dt").all_inner_texts()
    values = page.locator("#object dd").all_inner_texts()
    return dict(zip(names, (value.removesuffix(" ●") for value in values), strict=True))


def test_keys_move_through_the_run(opened: Opened) -> None:
    page = opened(page_of(HIVED, NAME))
    assert step(page) == "Start"
    for key, where in [
        ("ArrowLeft", "Start"),
        ("ArrowRight", "Step 1 of 4"),
        ("ArrowRight", "Step 2 of 4"),
        ("End", "Step 4 of 4"),
        ("ArrowRight", "Step 4 of 4"),
        ("ArrowLeft", "Step 3 of 4"),
        ("Home", "Start"),
    ]:
        page.keyboard.press(key)
        assert step(page) == where
    page.keyboard.press("Control+ArrowRight")
    assert step(page) == "Start"


def test_keys_scroll_a_text_that_has_the_focus(opened: Opened) -> None:
    page = opened(page_of(HIVED, NAME))
    page.click("text=As text")
    page.focus("#text")
    page.keyboard.press("ArrowRight")
    assert step(page) == "Start"


def idle(page: Page) -> list[str]:
    """The buttons that do nothing now."""
    return [button.get_attribute("id") or "" for button in page.locator(".bar button[aria-disabled=true]").all()]


def test_buttons_move_through_the_run(opened: Opened) -> None:
    page = opened(page_of(HIVED, NAME))
    assert idle(page) == ["first", "back"]
    page.click("#forward")
    page.click("#forward")
    assert (step(page), idle(page)) == ("Step 2 of 4", [])
    page.click("#back")
    assert step(page) == "Step 1 of 4"
    page.click("#last")
    assert (step(page), idle(page)) == ("Step 4 of 4", ["forward", "last"])
    page.click("#lanes thead button >> text=Step 3")
    assert step(page) == "Step 3 of 4"
    page.click("#first")
    assert step(page) == "Start"


def test_a_button_keeps_the_focus_at_the_end(opened: Opened) -> None:
    page = opened(page_of(HIVED, NAME), "#step=3")
    page.focus("#forward")
    for _ in range(3):
        page.keyboard.press("Enter")
        assert (step(page), page.evaluate("document.activeElement.id")) == ("Step 4 of 4", "forward")
    page.keyboard.press("ArrowLeft")
    assert step(page) == "Step 3 of 4"


def test_all_is_done_by_keyboard_alone(opened: Opened) -> None:
    """Tab reaches each object; the focus stays on it while steps change."""
    page = opened(page_of(HIVED, NAME))
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.dataset.object") == "c0":
            break
    page.keyboard.press("Enter")
    assert page.inner_text("#object-title") == "c0 at the start"
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#object-title") == "c0 at step 1"
    assert page.evaluate("document.activeElement.dataset.object") == "c0"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


@pytest.mark.parametrize(("height", "is_in_sight"), [(900, True), (320, False)])
def test_the_step_buttons_stay_in_sight(opened: Opened, height: int, is_in_sight: bool) -> None:
    """But in a low window, where they would cover what is read."""
    page = opened(page_of(HIVED, NAME), "#step=2", viewport={"width": 1200, "height": height})
    page.evaluate("document.getElementById('formula-title').scrollIntoView()")
    page.evaluate("scrollBy(0, 200)")
    box = page.locator("#forward").bounding_box()
    assert box is not None and page.evaluate("scrollY") > 200
    assert (0 <= box["y"] < height) == is_in_sight
    if is_in_sight:
        page.click("#forward")
        assert page.inner_text("#where") == "Step 3 of 4" and page.evaluate("scrollY") > 200


def test_a_heading_is_not_under_the_step_buttons(opened: Opened) -> None:
    page = opened(page_of(HIVED, NAME), "#step=2", viewport={"width": 600, "height": 500})
    page.evaluate("document.getElementById('formula-title').scrollIntoView()")
    bar, title = page.locator(".steps").bounding_box(), page.locator("#formula-title").bounding_box()
    assert bar is not None and title is not None and bar["y"] + bar["height"] <= title["y"]


def test_what_may_come_stands_after_what_is(opened: Opened) -> None:
    page = opened(page_of(HIVED, NAME))
    titles = page.locator("#player h2").all_inner_texts()
    assert titles[-2:] == ["g0 at the start", "What may happen next"]


def test_lanes_mark_what_changed(opened: Opened) -> None:
    page = opened(page_of(HIVED, NAME), "#step=3")
    rows = {row.locator("th button").inner_text(): row for row in page.locator("#lanes tbody tr:has(th button)").all()}
    assert list(rows) == ["g0", "g1", "g2", "c0"]
    changed = {name: row.locator("td.changed").count() for name, row in rows.items()}
    assert changed == {"g0": 2, "g1": 2, "g2": 1, "c0": 4}
    assert rows["c0"].locator("td").nth(3).inner_text().split("\n") == ["● Reserving → Reserved", "● user g0 → none"]
    assert page.inner_text("#lanes [aria-current=step]") == "Step 3"
    assert page.locator("#lanes td.here").count() == 5


def test_the_property_is_green_until_red(opened: Opened) -> None:
    page = opened(page_of(HIVED, NAME), "#step=4")
    cells = page.locator("#lanes tr.formula td")
    assert cells.all_inner_texts() == ["✓ true"] * 4 + ["✗ false"]
    assert [cell.get_attribute("class") for cell in cells.all()] == ["true"] * 4 + ["false here"]
    bad = page.locator("#formula .bad").all_inner_texts()
    assert "if, then false" in bad[0] and "The property is violated here." in page.inner_text("#now")
    page.keyboard.press("ArrowLeft")
    assert page.locator("#formula .bad").count() == 0 and page.locator("#formula .good").count() == 1
    assert "The property is true here." in page.inner_text("#now")


def marked(page: Page) -> list[str]:
    """The parts of the formula that are said to violate it, each with the step since when, and their values."""
    hints = page.locator("#formula .hint").all()
    return [
        f"{each.locator('xpath=..').locator('.part').inner_text()} {each.inner_text().partition(', ')[2]}".strip()
        for each in hints
    ]


def test_the_formula_is_a_sentence_with_its_objects(opened: Opened) -> None:
    """The sentence is the property's own, with the variables that the model has."""
    page = opened(page_of(HIVED, NAME))
    sentence, values = page.locator("#formula > p").all_inner_texts()
    assert sentence == "The property: if p not q and c in p.placement, then not (c in q.placement)."
    assert values == "for p = g0 (pod group), q = g2, c = c0 (cell)"
    assert opened(page_of(MUTEX, "weakly-fair-entry")).locator("#formula > p.sentence").count() == 2


def test_the_sentence_says_the_sorts_of_its_variables(opened: Opened) -> None:
    """So the page reads it, with the variables of the property written before it."""
    page = opened(page_of(BEAKER, "running-with-its-recipe"))
    sentence = page.locator("#formula > p.sentence").inner_text().removeprefix("The property: ").removesuffix(".")
    running = "s running exactly when (some Recipe r: r.system = s and r running)"
    assert sentence == f"if s.condition = Automated, then ({running})"
    evaluate(page, f"for every System s: {sentence}")
    assert page.get_by_role("alert").inner_text() == ""
    assert page.inner_text("#expression-result").startswith("true here")


@pytest.mark.parametrize(
    ("model", "name", "deciding"),
    [
        (HIVED, NAME, ["c0 in g0.placement true since step 1", "not (c0 in g2.placement) false since step 4"]),
        (
            BEAKER,
            "no-abba",
            [
                "r1 assigned true since step 7",
                "r2 assigned true since step 8",
                "r0 scheduled true since step 7",
                "r0.system = s0 true since step 7",
                "r3 scheduled true since step 9",
                "r3.system = s1 true since step 9",
                "r2 assigned true since step 8",  # in the conclusion
            ],
        ),
    ],
    ids=["hived", "beaker"],
)
def test_only_parts_that_decide_are_red(opened: Opened, model: Model, name: str, deciding: list[str]) -> None:
    """Those that a step of the run has made so; what was so from the start, as g0 not g2, is no cause."""
    page = opened(page_of(model, name), f"#step={len(refuted(model, name).steps)}")
    assert marked(page) == deciding
    assert page.locator("#formula li.bad").count() < 20


def test_where_no_part_has_changed_those_that_can_are_red(opened: Opened) -> None:
    """A lamp is off at the start, and l0 is another than l1."""
    x, y = variable(Lamp, "x"), variable(Lamp, "y")
    prop = Invariant(name="lit", says="p", over=[x, y], given=~(x == y), then=x.is_("On") | y.is_("On"))
    recorded = blinking(0).recorded
    assert recorded is not None
    run = replace(blinking(0), recorded=replace(recorded, bound={"x": 0, "y": 1}))
    page_of_run = opened(page(lamps(), run, About("lit"), prop))
    assert marked(page_of_run) == ["l0 On", "l1 On"]


def test_equal_parts_appear_once(opened: Opened) -> None:
    page = opened(page_of(BEAKER, "no-abba"), "#step=9")
    parts = page.locator("#formula > ul > li > details > ul > li:first-child > details > ul > li")
    texts = [each.text_content() for each in parts.all()]
    assert len(texts) == len(set(texts)) and sum("r1 assigned" in (each or "") for each in texts) == 1
    evaluate(page, "r1 assigned and r2 assigned and r1 assigned")
    assert page.locator("#expression-value li li").count() == 2


def test_the_object_says_what_its_attributes_are(opened: Opened) -> None:
    """Also those that never change, which have no value in the lanes."""
    page = opened(page_of(HIVED, NAME))
    machine = HIVED.machine("PodGroup")
    meanings = {each.name: each.about for each in machine.attributes if each.about}
    assert {"placement", "outranks"} <= set(meanings)
    texts = page.locator("#object .meanings li").all_inner_texts()
    assert texts == [f"{name}: {about}" for name, about in meanings.items()]


def test_why_leads_from_the_action_to_each_change(opened: Opened) -> None:
    page = opened(page_of(HIVED, NAME), "#step=2")
    top = page.locator("#why > ul > li")
    assert top.locator("> strong").inner_text() == "action preempt"
    events = top.locator("> ul > li > div").all_inner_texts()
    assert [text.partition(" on ")[0] for text in events if text.startswith("event")] == [
        "event PodGroup.e1",
        "event Cell.e2",
    ]
    inner = top.locator("> ul > li > ul:not(.effect) > li")
    assert "rule “e2 preempts the user” line 193" in " ".join(inner.inner_text().split())
    assert not inner.locator("q").first.is_visible()
    inner.locator("summary").first.click()
    assert inner.locator("q").first.inner_text().startswith("The `Allocated` PG on this cell")
    inner.locator("button.link").click()
    assert page.inner_text("#object-title") == "g0 at step 2"


def test_a_line_number_looks_like_a_button(opened: Opened) -> None:
    """It unfolds a quotation, and leads nowhere."""
    page = opened(page_of(HIVED, NAME), "#step=2")
    summaries = page.locator("#why summary")
    assert summaries.count() >= 4
    read_style = "(each) => { const style = getComputedStyle(each); return [style.textDecorationLine, style.borderTopWidth, style.borderTopStyle, style.backgroundColor]; }"
    button = page.locator("#forward").evaluate(read_style)
    for each in summaries.all():
        assert (each.text_content() or "").startswith(("line ", "fact "))
        assert each.evaluate(read_style) == button
        assert each.evaluate(
            "(each) => each.closest('span').previousSibling !== null && each.closest('span').textContent[0] === ' '"
        )


def test_the_address_names_step_and_object(opened: Opened) -> None:
    page = opened(page_of(HIVED, NAME), "#step=3&object=c0")
    assert (step(page), page.inner_text("#object-title")) == ("Step 3 of 4", "c0 at step 3")
    page.keyboard.press("ArrowRight")
    page.click("#lanes button[data-object=g2]")
    assert page.evaluate("location.hash") == "#step=4&object=g2"
    page.evaluate("location.hash = '#step=1&object=g1'")
    page.wait_for_function("document.getElementById('object-title').textContent === 'g1 at step 1'")


@pytest.mark.parametrize(
    ("fragment", "where"),
    [
        ("#step=99", "Step 4 of 4"),
        ("#step=-3", "Start"),
        ("#step=two&object=g0", "Start"),
        ("#step=2&object=nobody", "Step 2 of 4"),
        ("#%E0%A4%A&step=1", "Step 1 of 4"),
        ("#<img src=x>", "Start"),
    ],
)
def test_a_wrong_address_shows_the_run(opened: Opened, fragment: str, where: str) -> None:
    page = opened(page_of(HIVED, NAME), fragment)
    assert step(page) == where
    assert page.inner_text("#object-title").startswith("g0 at ")


@pytest.mark.parametrize(
    ("model", "name", "first"),
    thinned([(HIVED, NAME, "g0"), (HIVED, "cell-e2-preempts-an-allocated-group", "c1"), (BEAKER, "no-abba", "r1")], 3),
)
def test_the_page_opens_with_an_object_of_the_violation(opened: Opened, model: Model, name: str, first: str) -> None:
    """The object is the first of those that the last line of the counterexample names."""
    problem = refuted(model, name).problem
    assert re.findall(r"= (\w+)", problem)[0] == first
    assert opened(page_of(model, name)).inner_text("#object-title") == f"{first} at the start"


def test_the_page_of_a_run_opens_with_what_it_names(opened: Opened) -> None:
    run = replace(blinking(2), problem="nothing is wrong with l1")
    text = page(lamps(), run, About("a lamp"), None, depth=1)
    assert opened(text).inner_text("#object-title").startswith("l1 at ")
    text = page(lamps(), replace(run, problem="nothing is wrong"), About("a lamp"), None, depth=1)
    assert opened(text).inner_text("#object-title").startswith("l0 at ")


EVERY_STATE = """() => {
  const names = [...document.querySelectorAll("#lanes button[data-object]")].map((button) => button.dataset.object);
  const fields = (name) => {
    document.querySelector(`#lanes button[data-object="${name}"]`).click();
    const terms = [...document.querySelectorAll("#object dt")];
    return Object.fromEntries(terms.map((term) => [term.textContent, term.nextElementSibling.textContent.replace(/ ●$/, "")]));
  };
  const states = [];
  document.getElementById("first").click();
  for (;;) {
    states.push(Object.fromEntries(names.map((name) => [name, fields(name)])));
    const forward = document.getElementById("forward");
    if (forward.ariaDisabled === "true" || forward.textContent.startsWith("↻")) return states;
    forward.click();
  }
}"""
"""The fields of each object at each step, read off the page."""


@pytest.mark.parametrize(
    ("model", "name"),
    thinned([(HIVED, NAME), (BEAKER, "no-abba"), (MUTEX, "weakly-fair-entry")], 3),
    ids=["hived", "beaker", "mutex"],
)
def test_every_step_shows_the_state_of_the_model(opened: Opened, model: Model, name: str) -> None:
    example = refuted(model, name)
    assert example.recorded is not None
    instance, page = instance_of(model, example.recorded), opened(page_of(model, name))
    states = [instance.initial()]
    for choice in example.recorded.choices:
        states.append(stepper_of(instance).step(states[-1], choice).after)
    every = [
        {
            each: {k: shown(v) for k, v in values.items()}
            for of in instance.describe(s).values()
            for each, values in of.items()
        }
        for s in states
    ]
    seen = page.evaluate(EVERY_STATE)
    assert seen[0] and seen == [{name: fields[name] for name in seen[0]} for fields in every]


@needs_dot
def test_the_machine_shows_state_and_arrow(opened: Opened) -> None:
    page = opened(page_of(HIVED, NAME), "#step=4&object=c0")
    svg = page.locator(".picture:visible svg")
    assert svg.locator(".lit text").text_content() == "Used"
    assert svg.locator(".taken text").all_text_contents() == ["e8"]
    label = svg.get_attribute("aria-label")
    assert label == "State machine of Cell. c0 is in Used. The step took the arrow e8 from Reserved to Used."
    page.click("#lanes button[data-object=g0]")
    assert svg.locator(".lit text").text_content() == "BeingPreempted"
    assert svg.locator(".taken").count() == 0


def test_without_graphviz_the_page_draws_the_machine(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machines.shutil, "which", lambda program: None)
    shown_page = opened(page(HIVED, refuted(HIVED, NAME), About(NAME), HIVED.property(NAME)), "#step=4&object=c0")
    assert shown_page.locator(".picture:visible .lit text").all_text_contents() == ["Used"]
    assert shown_page.locator(".picture:visible .taken text").all_text_contents() == ["e8"]
    assert shown_page.locator(".picture:visible .node").count() == len(HIVED.machine("Cell").states)
    shown_page.click("#lanes tbody button >> text=g0")
    assert shown_page.locator(".picture:visible .lit text").all_text_contents() == ["BeingPreempted"]
    label = shown_page.locator(".picture:visible svg").get_attribute("aria-label")
    assert label == "State machine of PodGroup. g0 is in BeingPreempted."


def test_a_lasso_goes_on_where_its_loop_begins(opened: Opened) -> None:
    name = "weakly-fair-entry"
    example = refuted(MUTEX, name)
    last, first = len(example.steps), (example.loops_from or 0) + 1
    page = opened(page_of(MUTEX, name), f"#step={last}")
    assert f"steps {first} to {last} repeat for ever" in page.inner_text("#loop")
    assert page.inner_text("#forward") == f"↻ Again from step {first}"
    page.click("#forward")
    assert step(page) == f"Step {first} of {last}"
    states = page.evaluate(EVERY_STATE)
    assert states[last] == states[first - 1]  # the loop is closed


def test_markup_in_a_model_stays_text(opened: Opened) -> None:
    name = HOSTILE.properties[0].name
    page = opened(page_of(HOSTILE, name), "#step=1")
    page.click("#lanes button[data-object=x1]")
    for summary in page.locator("summary").all():
        if summary.is_visible():
            summary.click()
    assert page.title() == name
    assert page.locator("img").count() == 0 and page.locator("script").count() == 2
    assert "\\N\\G" in page.inner_text("#object")


def test_a_run_of_10000_steps_opens_fast(opened: Opened) -> None:
    text = page(lamps(), blinking(10_000), About("a lamp blinks"), None)
    start = time.perf_counter()
    shown_page = opened(text, "#step=9999")
    assert step(shown_page) == "Step 9999 of 10000"
    assert time.perf_counter() - start < MOST_SECONDS
    assert fields(shown_page) == {"state": "On"}
    start = time.perf_counter()
    for _ in range(20):
        shown_page.keyboard.press("ArrowLeft")
    assert step(shown_page) == "Step 9979 of 10000"
    assert time.perf_counter() - start < MOST_SECONDS
    assert shown_page.locator("#lanes thead th").count() < 20


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_has_no_serious_complaint(opened: Opened, scheme: str) -> None:
    assert serious(opened(page_of(HIVED, NAME), "#step=4", color_scheme=scheme)) == []


def test_axe_accepts_a_loop_a_long_formula_and_own_pictures(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machines.shutil, "which", lambda program: None)
    for model, name in [(MUTEX, "weakly-fair-entry"), (BEAKER, "no-abba")]:
        text = page(model, refuted(model, name), About(name, notes=("a note",)), model.property(name))
        assert serious(opened(text, "#step=5", viewport={"width": 320, "height": 256})) == []


def test_a_screen_reader_hears_each_step(opened: Opened) -> None:
    page = opened(page_of(HIVED, NAME))
    now = page.get_by_role("status").first
    assert now.get_attribute("aria-live") == "polite"
    page.get_by_role("button", name="Forward").click()
    assert now.inner_text().startswith("Step 1 of 4: g0 is allocated {c0}. Changes: g0: state Pending → Allocated")
    assert page.locator("#lanes").get_by_role("button", name="g0", exact=True).get_attribute("aria-pressed") == "true"
    assert page.get_by_role("rowheader", name="c0").count() == 1


def test_at_400_percent_only_boxes_scroll_sideways(opened: Opened) -> None:
    page = opened(page_of(BEAKER, "no-abba"), "#step=8", viewport={"width": 320, "height": 256})
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    box, column = page.locator("#lanes-box").bounding_box(), page.locator("#lanes th.here").bounding_box()
    assert box is not None and column is not None
    assert box["x"] <= column["x"] and column["x"] + column["width"] <= box["x"] + box["width"] + 1


COVERED = """() => {
  const seen = document.getElementById("lanes-box").getBoundingClientRect();
  return [...document.querySelectorAll("#lanes caption span, #lanes th, #lanes td")].filter((each) => {
    const { left, right, top, bottom } = each.getBoundingClientRect();
    each.scrollIntoView({ block: "center" });
    const now = each.getBoundingClientRect();
    const found = document.elementFromPoint((now.left + now.right) / 2, (now.top + now.bottom) / 2);
    return left < seen.left - 1 || right > seen.right + 1 || !(each.contains(found));
  }).map((each) => each.textContent);
}"""
"""The cells, and the caption, that are clipped or that something covers."""


@pytest.mark.parametrize(
    ("model", "name", "at"), thinned([(BEAKER, "no-abba", 8), (BEAKER, "no-abba", 0), (HIVED, NAME, 4)], 3)
)
def test_at_400_percent_every_cell_is_legible(opened: Opened, model: Model, name: str, at: int) -> None:
    page = opened(page_of(model, name), f"#step={at}", viewport={"width": 320, "height": 256})
    assert page.locator("#lanes thead th").count() == 3
    assert page.evaluate(COVERED) == []


def test_in_a_wide_page_heading_and_objects_stick_alike(opened: Opened) -> None:
    page = opened(page_of(BEAKER, "no-abba"), "#step=8", viewport={"width": 800, "height": 600})
    page.evaluate("document.getElementById('lanes-box').style.width = '20rem'")
    page.evaluate("document.getElementById('lanes-box').scrollLeft = 90")
    box = page.locator("#lanes-box").bounding_box()
    assert box is not None
    for part in ("#lanes caption span", "#lanes thead th:first-child", "#lanes tbody th >> nth=0"):
        place = page.locator(part).bounding_box()
        assert place is not None and abs(place["x"] - box["x"]) <= 1


def test_a_dark_page_is_dark_and_print_has_no_buttons(opened: Opened) -> None:
    page = opened(page_of(HIVED, NAME), "#step=2", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(22, 24, 29)"
    page.emulate_media(media="print")
    assert not page.locator(".bar").is_visible() and page.locator("#lanes").is_visible()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("#text").is_visible()


def test_a_copy_is_the_text(opened: Opened) -> None:
    page = opened(page_of(HIVED, NAME), permissions=["clipboard-read", "clipboard-write"])
    page.click("text=As text")
    page.click("button[data-of=text]")
    page.wait_for_function("document.getElementById('copied').textContent !== ''")
    assert page.inner_text("#copied") == "Copied."
    assert page.evaluate("navigator.clipboard.readText()") == page.locator("#text").text_content()


def test_a_copy_that_is_refused_is_selected(opened: Opened) -> None:
    page = opened(page_of(HIVED, NAME))
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.click("text=As a Mermaid diagram")
    page.click("button[data-of=mermaid]")
    page.wait_for_function("document.getElementById('copied').textContent.startsWith('Selected')")
    assert page.evaluate("getSelection().toString()").startswith("---\ntitle:")


def test_without_javascript_the_run_is_text(opened: Opened) -> None:
    page = opened(page_of(HIVED, NAME), java_script_enabled=False)
    assert not page.locator("#player").is_visible()
    page.click("text=As text")
    assert "1. g0 is allocated {c0}" in page.inner_text("#text")


def evaluate(page: Page, text: str) -> None:
    """Types an expression, and presses Enter."""
    page.fill("#expression", text)
    page.press("#expression", "Enter")


def row(page: Page, name: str) -> list[str]:
    """The cells of a row below the objects."""
    return page.locator(f"#lanes tr.{name} td").all_inner_texts()


def test_an_expression_has_a_value_at_each_step(opened: Opened) -> None:
    page = opened(page_of(HIVED, NAME), "#step=4")
    evaluate(page, "c0.user")
    assert row(page, "expression") == ["none", "g0", "g0", "none", "g2"]
    assert page.locator("#expression-value .value").all_inner_texts() == ["g2"]
    evaluate(page, "for every PodGroup g: if g not g2, then not (c0 in g.placement)")
    assert row(page, "expression") == ["✓ true", "✗ false", "✗ false", "✗ false", "✗ false"]
    bad = page.locator("#expression-value .bad").all_inner_texts()
    assert "for every g false" in bad[0] and "g = g0: if, then false" in bad[1]
    assert bad[-1] == "then: not (c0 in g0.placement) false g0.placement: {c0} ← makes it false, false since step 1"
    page.focus("#forward")
    page.keyboard.press("Home")
    assert page.locator("#expression-value .bad").count() == 0


def test_an_expression_of_a_step_has_none_at_the_start(opened: Opened) -> None:
    page = opened(page_of(HIVED, NAME), "#step=2")
    evaluate(page, "e2 on c0 and (afterwards c0.reserver) = g1")
    assert row(page, "expression") == ["–", "✗ false", "✓ true", "✗ false", "✗ false"]
    assert page.locator("#expression-value > ul > li.good").count() == 1
    evaluate(page, "K")  # a parameter of the step's action
    assert row(page, "expression") == ["–", "{c0}", "{c0}", "–", "{c0}"]


def test_the_result_is_beside_the_expression(opened: Opened) -> None:
    page = opened(page_of(HIVED, NAME), "#step=3")
    result = page.locator("#expression-result")
    assert result.inner_text() == ""
    for text, expected in [
        ("c0.user = none", "true here; true at the start and step 3"),
        ("c0.user = g0 or c0.user = g2", "false here; true at steps 1, 2, 4"),
        ("c0 in g0.placement", "true here; true at steps 1 to 4"),
        ("c0.user = g1", "false here; true at no step"),
        ("c0.user", "none here"),
    ]:
        evaluate(page, text)
        assert result.inner_text() == expected
    assert step(page) == "Step 3 of 4"
    entry, beside = page.locator("#expression").bounding_box(), result.bounding_box()
    assert entry is not None and beside is not None and abs(entry["y"] - beside["y"]) < entry["height"]
    page.click("#first")
    assert result.inner_text() == "none here"
    evaluate(page, "e2 on c0")
    assert result.inner_text() == "not evaluated here; true at step 2"
    evaluate(page, "")
    assert result.inner_text() == ""


@pytest.mark.long
def test_a_costly_expression_is_computed_at_the_drawn_steps(opened: Opened) -> None:
    shown_page = opened(page(lamps(), blinking(10_000), About("a lamp blinks"), None), "#step=9999")
    evaluate(shown_page, "for every Lamp x, y: x = y or x On")
    words = shown_page.inner_text("#expression-result")
    assert words.startswith("false here; true at ") and words.endswith(", of the steps shown above")


def test_an_event_may_have_its_sort_as_under_why(opened: Opened) -> None:
    page = opened(page_of(HIVED, NAME), "#step=2")
    for text in ("e2 on c0", "Cell.e2 on c0", "Cell.e2(reserver = g1) on c0", "some c: Cell.e2 on c"):
        evaluate(page, text)
        assert row(page, "expression") == ["–", "✗ false", "✓ true", "✗ false", "✗ false"]
    evaluate(page, "Cell.e2 on g0")
    problem = "Character 12: an object of Cell is needed, and this is an object of PodGroup; write an object of Cell."
    assert page.get_by_role("alert").inner_text() == problem
    printed = [text for text in page.locator("#why li > div").all_inner_texts() if text.startswith("event ")]
    for text in printed:
        evaluate(page, text.removeprefix("event ").partition(" (")[0])
        assert row(page, "expression")[2] == "✓ true"
    assert len(printed) == 3


@pytest.mark.parametrize(("model", "name", "first"), thinned([(HIVED, NAME, "g0"), (BEAKER, "no-abba", "r1")], 2))
def test_the_examples_are_of_the_property_and_true_words(opened: Opened, model: Model, name: str, first: str) -> None:
    page = opened(page_of(model, name), "#step=2")
    page.click("#expression-help summary")
    examples = page.locator("#expression-help p").first.locator("code").all_inner_texts()
    assert len(examples) == 5 and all(first in each or "x" in each for each in examples)
    for each in examples:
        evaluate(page, each)
        assert page.get_by_role("alert").inner_text() == "" and row(page, "expression")
    (words,) = [text for text in page.locator("#expression-help li").all_inner_texts() if first in text]
    sort = next(each for each in model.machines if first[0] == each.sort.short)
    events = {row.event for row in model.table(sort.sort)}
    assert set(words.partition("events ")[2].removesuffix(".").split(", ")) == events


MISTAKES = [
    ("c0.colour", "Character 4: unknown field “colour” of Cell; choose from state, user, reserver."),
    ("c0 Red", "Character 4: unknown state “Red” of Cell; choose from Free, Used, Reserved, Reserving."),
    ("c0.user =", "Character 10: the end where a value is needed; write a value."),
    ("(c0 Used", "Character 9: the end where “)” is needed; write “)”."),
    ("c0 = g0", "Character 6: an object of Cell is compared with an object of PodGroup; write an object of Cell."),
    ("not c0", "Character 5: a formula is needed, and this is an object of Cell; write a formula."),
    ("e99 on c0", "Character 1: unknown event “e99” of Cell; did you mean e9? choose from e0, e1, e2, e3, e4, e5, e6, e7, e8, e9, ec."),
    ("c0 Used $", "Character 9: “$” has no meaning here; write names in quotation marks if they are not words."),
    ("for every x: x Used", "Character 11: the type of “x” is unknown; write a sort before it: PodGroup x."),
    ("c0 Used c0 Free", "Character 9: “c0” is left over; join formulas with “and” or “or”, or write brackets."),
    ("(" * 100, "Character 61: the expression is too deep; write less inside brackets."),
    (f"for every Cell {', '.join(f'x{n}' for n in range(12))}: x1 Used", "Character 1: it may need 1,062,883 evaluations"),
    ("afterwards (c0 Used and afterwards c0 Free)", "Character 1: “afterwards” inside “afterwards”; leave one out."),
    ('c0 "\\q"', "Character 4: a backslash has no meaning here; write \\\\ for a backslash, and"),
    ('c0 "Used', "Character 4: a quotation mark is not closed; "),
    ('c0 "Us\ted"', "Character 4: unknown state “Us ed” of Cell; did you mean Used? choose from"),
    ("g9 Pending", "Character 1: unknown name “g9”; choose from g0, g1, g2, c0, c1, c2."),
    ("(c0 Free) and g9 Pending", "Character 15: unknown name “g9”; choose from"),
    ("exists x: x Used", "Character 1: “exists” is not a word of formulas; write, for example, some PodGroup x: ..."),
    ("not exists(x, x Used)", "Character 5: “exists” is not a word of formulas; write, for example, some PodGroup x: ..."),
    ("forall c: c Used", "Character 1: “forall” is not a word of formulas; write, for example, for every PodGroup x: ..."),
    ("exists", "Character 1: unknown name “exists”; choose from g0, g1, g2, c0, c1, c2."),
    ("c0 Usd", "Character 4: unknown state “Usd” of Cell; did you mean Used? choose from Free, Used, Reserved, Reserving."),
    ("c0.usr = g0", "Character 4: unknown field “usr” of Cell; did you mean user? choose from state, user, reserver."),
    ("c0.user == g0", "Character 9: “==” has no meaning here; write =."),
    ("c0 Used & c0 Free", "Character 9: “&” has no meaning here; write and."),
    ("!(c0 Used)", "Character 1: “!” has no meaning here; write not."),
    ("for every cell c: c Used", "Character 11: unknown sort “cell”; did you mean Cell? choose from PodGroup, Cell."),
    ("<img src=x>", "Character 1: “<” where a value is needed; write a value."),
]  # fmt: skip
"""Expressions that are wrong, and how the line that says so begins."""


def test_a_mistake_in_an_expression_is_one_line(opened: Opened) -> None:
    page = opened(page_of(HIVED, NAME), "#step=2")
    for text, problem in MISTAKES:
        evaluate(page, text)
        message = page.get_by_role("alert").inner_text()
        assert message.startswith(problem) and "\n" not in message
        line, carets = page.inner_text("#expression-excerpt").split("\n")
        start = int(problem.removeprefix("Character ").partition(":")[0]) - 1
        shown = max(0, start - 60)
        assert carets.index("^") == start - shown + (1 if shown else 0)
        assert line.removeprefix("…") == re.sub(r"\s", " ", text[shown : start + 60])
        assert page.get_attribute("#expression", "aria-invalid") == "true"
        assert row(page, "expression") == [] and page.inner_text("#expression-value") == ""
        assert step(page) == "Step 2 of 4"
    evaluate(page, "")
    assert not page.is_visible("#expression-excerpt")
    assert page.get_by_role("alert").inner_text() == "" and page.get_attribute("#expression", "aria-invalid") == "false"


@pytest.mark.parametrize(("model", "name"), thinned(RUNS, 3), ids=[name for _, name in RUNS])
def test_the_page_reads_the_property_s_own_formula(opened: Opened, model: Model, name: str) -> None:
    """The reader can copy a formula from the page; its value is the one that Python has computed."""
    prop = model.property(name)
    data = played(model, refuted(model, name), About(name), prop)
    page = opened(page_of(model, name))
    for number, formula in enumerate(data.formulas):
        evaluate(page, formula.text)
        assert page.get_by_role("alert").inner_text() == ""
        for position in range(len(data.steps) + 1):
            page.evaluate(f"location.hash = '#step={position}&expression={quote(formula.text)}'")
            page.wait_for_function(
                f"document.querySelector('#lanes [aria-current]').textContent.endsWith('{position or 'Start'}')"
            )
            expected = page.locator("#lanes tr.formula").nth(number).locator("td.here").inner_text()
            read = page.locator("#lanes tr.expression td.here").inner_text()
            required = formula.part.required is not None
            if formula.actions is None or expected != "–":  # a property may be of some actions only
                assert read == (
                    expected if required else {"true": "✓ true", "false": "✗ false"}.get(expected, expected)
                )


def test_the_address_keeps_the_expression(opened: Opened) -> None:
    page = opened(page_of(HIVED, NAME), "#step=2")
    evaluate(page, "c0 in g1.placement & c0")
    assert "expression" not in page.evaluate("location.hash")
    evaluate(page, "c0.user = g0 or c0.reserver = g1")
    address = page.evaluate("location.hash")
    page.goto("about:blank")
    shown_page = opened(page_of(HIVED, NAME), address)
    assert row(shown_page, "expression") == ["✗ false", "✓ true", "✓ true", "✓ true", "✗ false"]
    assert shown_page.input_value("#expression") == "c0.user = g0 or c0.reserver = g1"


def test_keys_in_the_input_do_not_move(opened: Opened) -> None:
    page = opened(page_of(HIVED, NAME), "#step=2")
    page.focus("#expression")
    for key in ("ArrowLeft", "ArrowRight", "ArrowRight", "Home", "End"):
        page.keyboard.press(key)
    assert step(page) == "Step 2 of 4"


def test_an_expression_over_hostile_names(opened: Opened) -> None:
    page = opened(page_of(HOSTILE, HOSTILE.properties[0].name))
    state = json.dumps(f"From{ATTACK}")
    evaluate(page, f"for every Thing x: x {state}")
    assert row(page, "expression") == ["✓ true", "✗ false"]
    evaluate(page, "x0.state")
    assert row(page, "expression")[0] == f"From{ATTACK}"
    assert page.locator("img").count() == 0 and page.title() == HOSTILE.properties[0].name


@pytest.mark.parametrize("text", thinned(["for every Cell c: c.user = none or c.user Allocated", "c0.colour"], 2))
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_accepts_an_expression(opened: Opened, scheme: str, text: str) -> None:
    page = opened(page_of(HIVED, NAME), "#step=4", color_scheme=scheme)
    evaluate(page, text)
    assert serious(page) == []
