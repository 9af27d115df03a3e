"""Charts: states in boxes, as a document draws them."""

from __future__ import annotations

from schedproof.model.lang import Chart

from .representation import Cluster, Diagram, Edge, EdgeKind, Node, NodeKind, merged


def charted(chart: Chart, title: str) -> Diagram:
    """The picture of a chart: each box is drawn as one."""
    nodes = tuple(
        Node(name, label, NodeKind.STATE, initial=name in chart.initial, final=name in chart.final)
        for name, label in chart.states.items()
    )
    edges = tuple(
        Edge(
            arrow.source,
            arrow.target,
            EdgeKind.ASIDE if arrow.aside else EdgeKind.TRANSITION,
            (arrow.label,) if arrow.label else (),
        )
        for arrow in chart.arrows
    )
    clusters = tuple(Cluster(name, tuple(states)) for name, states in chart.boxes.items())
    note = f"dashed: {chart.aside}" if any(arrow.aside for arrow in chart.arrows) else ""
    return merged(Diagram(title, nodes, edges, clusters, note=note, boxed=True))
