"""The machines of a run's objects: their tables, and their pictures as SVG whose parts the page's script can find."""

from __future__ import annotations

import re
import shutil
from collections.abc import Collection
from html import escape

import graphviz

from schedproof.diagrams.images import svg
from schedproof.model.lang import Model

from .data import MachineRow, MachineTable

COMMENTS_AND_TITLES = re.compile(r"<!--.*?-->|<title>.*?</title>", re.DOTALL)
"""What graphviz writes besides the picture: names of nodes, which a browser would show as tooltips."""

BACKSLASH = "\\"


def tables(model: Model, sorts: Collection[str]) -> tuple[MachineTable, ...]:
    """The machines that have states, of these sorts, in the model's order."""
    return tuple(
        MachineTable(
            machine.sort.name,
            {state.name: state.about for state in machine.states},
            tuple(
                MachineRow(row.source, row.event, row.target, row.line, row.fact) for row in model.table(machine.sort)
            ),
        )
        for machine in model.machines
        if machine.states and machine.sort.name in sorts
    )


def attributes(model: Model, sorts: Collection[str]) -> dict[str, dict[str, str]]:
    """What the attributes of these sorts are, in words, where the model says it."""
    return {
        machine.sort.name: {each.name: each.about for each in machine.attributes if each.about}
        for machine in model.machines
        if machine.sort.name in sorts
    }


def picture(table: MachineTable, number: int) -> str:
    """A machine as an SVG element; empty where the program ``dot`` is missing.

    State ``s`` has the id ``m<number>_s<s>``, and the arrow from ``s`` to ``t`` the id ``m<number>_s<s>_s<t>``. Rows with the
    same states share an arrow.

    Raises:
        DiagramError: ``dot`` fails.
    """
    if shutil.which("dot") is None:
        return ""
    drawn = svg(_dot(table, number))
    return COMMENTS_AND_TITLES.sub("", drawn[drawn.index("<svg") :]).strip()


def _dot(table: MachineTable, number: int) -> str:
    graph = graphviz.Digraph()
    # Colours and the font's family are the page's.
    graph.attr("graph", id=f"m{number}", bgcolor="transparent", rankdir="LR", nodesep="0.35", ranksep="0.5", pad="0.1")
    graph.attr("node", shape="box", style="rounded,filled", fontname="Helvetica,Arial,sans-serif", fontsize="14")
    graph.attr("edge", fontname="Helvetica,Arial,sans-serif", fontsize="12", arrowsize="0.8")
    states = {name: f"s{n}" for n, name in enumerate(table.states)}
    for name, node in states.items():
        graph.node(node, label=_label(name), id=f"m{number}_{node}")
    events: dict[tuple[str, str], list[str]] = {}
    for row in table.rows:
        events.setdefault((row.source, row.target), []).append(row.event)
    for (source, target), names in events.items():
        arrow = f"{states[source]}_{states[target]}"
        label = _label(*dict.fromkeys(names))
        graph.edge(states[source], states[target], label=label, id=f"m{number}_{arrow}")
    return str(graph.source)


def _label(*lines: str) -> str:
    """Lines as a label in graphviz's HTML; a backslash has a meaning in labels."""
    return f"<{'<br/>'.join(escape(line).replace(BACKSLASH, 2 * BACKSLASH) for line in lines)}>"
