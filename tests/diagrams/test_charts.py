"""Charts: boxes around states, in DOT and Mermaid, and those of Jobmon against its figures and couplings."""

from __future__ import annotations

import re

import pytest

from schedproof.diagrams.auxiliary import charted
from schedproof.diagrams.dot import dot
from schedproof.diagrams.mermaid import mermaid
from schedproof.diagrams.representation import Diagram, EdgeKind
from schedproof.model.lang import Arrow, Chart
from schedproof.model.systems.jobmon import charts
from schedproof.model.systems.jobmon.shipped import SHIPPED
from tests.support.rows import each_row

TOY = Chart(
    "toy",
    "two boxes",
    {"a": "A", "b": "B", "c": "C"},
    {"one's": ["a"], "two": ["b"]},
    [Arrow("a", "b", "go"), Arrow("b", "c", aside=True)],
    aside="by another",
    initial=["a"],
    final=["c"],
)


def boxes(text: str) -> dict[str, list[str]]:
    """The boxes of a DOT text: title -> what stands in each."""
    clusters = re.findall(r"subgraph cluster_\d+ \{(.*?)\n\t\}", text, re.S)
    return {re.findall(r"<b>(.*?)</b>", box)[0]: re.findall(r'^\t\t"?([\w./]+)"?$', box, re.M) for box in clusters}


def test_a_box_is_drawn_around_its_states() -> None:
    assert boxes(dot(charted(TOY, "toy"))) == {"one&#x27;s": ["a"], "two": ["b"]}


def test_mermaid_has_boxes_ends_and_a_note() -> None:
    text = mermaid(charted(TOY, "toy"))
    assert re.findall(r'subgraph \w+\["(.*?)"\]\n(.*?)\n    end', text, re.S) == [
        ("one's", "        a"),
        ("two", "        b"),
    ]
    assert "begin --> a\n" in text and "c --> over\n" in text
    assert re.search(r'legend\["dashed#58; by another"\]', text)


LINK = re.compile(r'^    (\w+) (-->|-\.->)(?:\|"(.*)"\|)? (\w+)$', re.M)


@each_row("chart", [TOY, *(c for of_system in charts.CHARTS.values() for c in of_system)], ids=lambda c: c.name)
def test_mermaid_dashes_what_the_chart_sets_aside(chart: Chart) -> None:
    text = mermaid(charted(chart, "title"))
    links = [link for link in LINK.findall(text) if link[0] != "begin" and link[3] != "over"]
    assert {
        (re.sub(r"\W", "_", a.source), "-.->" if a.aside else "-->", re.sub(r"\W", "_", a.target)) for a in chart.arrows
    } == {(source, link, target) for source, link, _, target in links}
    assert ("dashed" in text) is any(arrow.aside for arrow in chart.arrows)
    # arrows are styled by their number: only the dashed ones are grey, none of those at the ends
    grey = {int(number) for number in re.findall(r"linkStyle (\d+)", text)}
    assert grey == {number for number, link in enumerate(LINK.findall(text)) if link[1] == "-.->"}


def test_names_that_mermaid_needs_are_kept_free() -> None:
    states = {"begin": "B", "over": "O", "box0": "X", "legend": "L"}
    chart = Chart("n", "n", states, {"b": ["box0"]}, [Arrow("begin", "over", aside=True)], "so", ["begin"], ["over"])
    text = mermaid(charted(chart, "n"))
    assert "begin_ --> begin\n" in text and "over --> over_\n" in text
    assert 'subgraph box0_["b"]\n        box0\n' in text and 'legend_["' in text


def test_what_is_set_aside_is_dashed_and_said_so() -> None:
    drawn = charted(TOY, "toy")
    assert [edge.kind for edge in drawn.edges] == [EdgeKind.TRANSITION, EdgeKind.ASIDE]
    assert "style=dashed" in dot(drawn) and "dashed: by another" in dot(drawn)
    plain = Chart("p", "p", {"a": "A", "b": "B"}, {}, [Arrow("a", "b")], aside="never")
    assert "never" not in dot(charted(plain, "p")), "what no arrow needs is not explained"


def test_other_pictures_have_no_boxes() -> None:
    drawn = charted(TOY, "toy")
    assert boxes(dot(Diagram(drawn.title, drawn.nodes, drawn.edges, drawn.clusters))) == {}


# The outer arrows of figures 1.3 and 1.4, as the facts list them; G, I and R stand for the boxes.
FIGURE = {
    *(["G>Queued", "G>Aborted", "Queued>I", "I>Launched", "I>Triaging", "Launched>R", "R>Done", "R>Triaging"]),
    *(["Triaging>Queued", "Triaging>Failed", "Triaging>Halted", "Halted>G"]),
}


@pytest.mark.parametrize("chart", [charts.TASK_INSTANCE, charts.WORKFLOW_RUN], ids=lambda chart: chart.name)
def test_between_the_boxes_the_figure_is_the_universal_machine(chart: Chart) -> None:
    letters = {"REGI": "G", "INST": "I"}
    box = {state: letters.get(title[:4], "R") for title, states in chart.boxes.items() for state in states}
    outer = {(box.get(a.source, a.source), box.get(a.target, a.target)) for a in chart.arrows}
    assert {f"{source}>{target}" for source, target in outer if source != target} == FIGURE


def test_every_state_that_is_coupled_is_drawn() -> None:
    instances = charts.COUPLING_OF_INSTANCES.boxes["TaskInstance"]
    known = {state.name for state in SHIPPED.machine("TaskInstance").states} - {"Absent"}
    assert {name.partition(".")[2] for name in instances} == known
    # 2.5: ten states of a run make something of its workflow
    assert len(charts.COUPLING_OF_RUNS.arrows) == 10
