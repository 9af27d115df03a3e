"""Charts: boxes around states, in DOT and Mermaid, and those of Jobmon against its figures and couplings."""

from __future__ import annotations

import re

import pytest
from schedproof.diagrams.charts import charted
from schedproof.diagrams.dot import dot
from schedproof.diagrams.mermaid import mermaid
from schedproof.diagrams.representation import Diagram, EdgeKind
from schedproof.model.jobmon import charts
from schedproof.model.jobmon.shipped import SHIPPED
from schedproof.model.lang import Arrow, Chart

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
    found = re.findall(r"subgraph cluster_\d+ \{(.*?)\n\t\}", text, re.S)
    return {re.findall(r"<b>(.*?)</b>", box)[0]: re.findall(r'^\t\t"?([\w./]+)"?$', box, re.M) for box in found}


def test_a_box_is_drawn_around_its_states() -> None:
    assert boxes(dot(charted(TOY, "toy"))) == {"one&#x27;s": ["a"], "two": ["b"]}


def test_mermaid_has_composite_states() -> None:
    text = mermaid(charted(TOY, "toy"))
    assert 'state "one\'s" as one_s {\n        a\n    }' in text
    assert 'state "two" as two {\n        b\n    }' in text
    assert "a --> b : go" in text and "b --> c" in text


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
