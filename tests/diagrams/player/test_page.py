"""The page: one file of limited size that fetches nothing, in which no text of a model is markup."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import random
import re
import xml.etree.ElementTree as ET
from collections import Counter
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from schedproof.diagrams.player import machines
from schedproof.diagrams.player.build import played
from schedproof.diagrams.player.data import About
from schedproof.diagrams.player.machines import picture, tables
from schedproof.diagrams.player.page import embedded, page
from schedproof.diagrams.player.regression import regression_test
from schedproof.model.lang import Model
from schedproof.model.semantics import Instance, instances, stepper_of
from schedproof.model.systems.beaker import INTERLEAVED
from schedproof.model.systems.hived import AS_WRITTEN as HIVED
from schedproof.proofs.exploration.counterexample_text import counterexample_lines, sequence
from schedproof.proofs.exploration.runs import counterexample_of
from schedproof.proofs.verdict import Counterexample
from tests.diagrams.player.hostile import ATTACK, COMMENT, HOSTILE
from tests.diagrams.player.runs import page_of, refuted
from tests.support.needs import needs_dot
from tests.support.rows import each_row

MOST_BYTES = 300_000
"""The limit for the compressed page of a run of 20 steps."""


class Elements(HTMLParser):
    """The elements of a page, its attributes, and the text of each kind of element."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str]] = []
        self.texts: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(name, value or "") for name, value in attrs]
        self._open.append(tag)
        self.texts.setdefault(tag, []).append("")

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if self._open:
            self.texts[self._open[-1]][-1] += data


HOSTILE_NAME = HOSTILE.properties[0].name


def test_no_text_of_a_model_is_markup() -> None:
    page, plain = Elements(page_of(HOSTILE, HOSTILE_NAME)), Elements(page_of(HIVED, "placements-are-disjoint"))
    assert ATTACK in page.texts["h1"][0] and COMMENT in page.texts["q"][0]
    assert set(page.tags) <= set(plain.tags)
    assert page.tags["script"] == 2
    assert not [name for name, _ in page.attributes if name.startswith("on")]


def test_the_data_survives_the_page() -> None:
    prop = HOSTILE.property(HOSTILE_NAME)
    about = About(prop.name, "refuted", prop.says, prop.line, prop.sentence)
    data = played(HOSTILE, refuted(HOSTILE, prop.name), about, prop).as_json()
    (script, _) = Elements(page_of(HOSTILE, prop.name)).texts["script"]
    assert json.loads(script) == json.loads(json.dumps(data))
    assert data["steps"][0]["says"] == f"x0 moves {ATTACK} {COMMENT}"


@each_row("text", ["</script>", "<!--", "]]>", "&lt;", "\u2028", "</ScRiPt >", "\\u003c"])
def test_json_in_a_page_has_no_markup(text: str) -> None:
    written = embedded({text: [text]})
    assert not re.search("[<>&]", written)
    assert json.loads(written) == {text: [text]}


def test_a_page_fetches_nothing_and_runs_only_its_script() -> None:
    page = Elements(page_of(HIVED, "placements-are-disjoint"))
    assert not {"link", "img", "iframe", "object", "embed"} & set(page.tags)
    assert not [name for name, _ in page.attributes if name in ("src", "href", "srcset", "xlink:href", "action")]
    assert "url(" not in page.texts["style"][0] and "@import" not in page.texts["style"][0]
    (policy,) = [value for _, value in page.attributes if value.startswith("default-src")]
    (script,) = page.texts["script"][1:]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert "default-src 'none'" in policy and f"script-src 'sha256-{digest}';" in policy


def test_a_page_has_the_run_to_copy() -> None:
    name = "placements-are-disjoint"
    text, mermaid, test = Elements(page_of(HIVED, name)).texts["pre"]
    assert text.splitlines() == counterexample_lines(HIVED, refuted(HIVED, name))
    assert mermaid == sequence(HIVED, name, refuted(HIVED, name))
    assert test == regression_test(HIVED, refuted(HIVED, name), name, HIVED.property(name))


def wandering(model: Model, steps: int) -> Counterexample:
    """A random run."""
    instance = max(instances(model, model.default_scope, with_history=True), key=lambda each: sum(each.sizes.values()))
    stepper, state, choices, draw = stepper_of(instance), instance.initial(), [], random.Random(27)
    for _ in range(steps):
        step = draw.choice(list(stepper.steps(state)))
        choices.append(step.choice)
        state = step.after
    return counterexample_of(instance, choices, "a random run")


@needs_dot
@pytest.mark.parametrize("model", [HIVED, INTERLEAVED], ids=lambda model: model.system)
def test_the_page_of_20_steps_is_small(model: Model) -> None:
    """With the formula of a property, which such a run need not violate."""
    run, prop = wandering(model, 20), model.properties[0]
    text = page(model, run, About("a random run"), prop)
    assert len(run.steps) == 20 and "<svg" in text
    assert len(gzip.compress(text.encode())) < MOST_BYTES


@needs_dot
def test_a_picture_has_every_state_and_every_arrow() -> None:
    for number, table in enumerate(tables(HIVED, {"PodGroup", "Cell"})):
        svg = ET.fromstring(picture(table, number))
        ids = {each.get("id") for each in svg.iter()}
        states = list(table.states)
        assert {f"m{number}_s{n}" for n in range(len(states))} <= ids
        arrows = {(states.index(row.source), states.index(row.target)) for row in table.rows}
        assert {f"m{number}_s{a}_s{b}" for a, b in arrows} <= ids
        labels = [each.text for each in svg.iter("{http://www.w3.org/2000/svg}text")]
        assert set(labels) == {*states, *(row.event for row in table.rows)}


@needs_dot
def test_a_picture_shows_names_as_they_are() -> None:
    (table,) = tables(HOSTILE, {"Thing"})
    labels = [each.text for each in ET.fromstring(picture(table, 0)).iter("{http://www.w3.org/2000/svg}text")]
    assert set(table.states) <= set(labels)


def test_without_graphviz_the_page_has_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machines.shutil, "which", lambda program: None)
    text = page(HIVED, refuted(HIVED, "placements-are-disjoint"), About("x"), HIVED.property("placements-are-disjoint"))
    assert "<svg" not in text and "@dagrejs/dagre" in text


@needs_dot
def test_with_graphviz_the_page_has_no_library() -> None:
    text = page_of(HIVED, "placements-are-disjoint")
    assert "<svg" in text and "@dagrejs/dagre" not in text


def test_headings_do_not_skip_a_level() -> None:
    text = page_of(HIVED, "placements-are-disjoint")
    levels = [int(level) for level in re.findall(r"<h(\d)", text)]
    assert levels[0] == 1 and all(b <= a + 1 for a, b in pairwise(levels))


def test_a_run_without_an_object_has_a_page() -> None:
    instance = Instance(HIVED, {"PodGroup": 1, "Cell": 1})
    text = page(HIVED, counterexample_of(instance, [], "nothing happens"), About("the initial state"))
    assert json.loads(Elements(text).texts["script"][0])["steps"] == []
