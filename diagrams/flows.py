"""Which party sends which events to which."""

from __future__ import annotations

from collections.abc import Sequence

from schedproof.model.lang import Flow

from .representation import Diagram, Edge, EdgeKind, Node, NodeKind, merged

FLOWS = "flows"
"""The name of these pictures."""


def event_flows(flows: Sequence[Flow], title: str) -> Diagram:
    """An arrow from each sender to each receiver, with its events and the lines that have them."""
    parties = dict.fromkeys(party for flow in flows for party in (*flow.senders, flow.receiver))
    edges = tuple(
        Edge(sender, flow.receiver, EdgeKind.SENDS, (flow.event,), (f"line {flow.line}",))
        for flow in flows
        for sender in flow.senders
    )
    nodes = tuple(Node(party, party, NodeKind.OWNER) for party in parties)
    events = len({(flow.event, flow.senders, flow.receiver) for flow in flows})
    return merged(Diagram(title, nodes, edges, note=f"{events} events"))
