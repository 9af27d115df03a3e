"""Pictures of a variant beside its machines: event flows, charts of its document, lock orders, and lock deadlocks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from schedproof.model.lang import Chart, Flow, Model
from schedproof.model.registry.system import System
from schedproof.proofs.locks.explore import explore_all
from schedproof.proofs.locks.rank import check_order
from schedproof.proofs.verification.auxiliary import Locked, auxiliary

from .errors import DiagramError
from .locks import deadlock_graph, order_graph
from .representation import Cluster, Diagram, Edge, EdgeKind, Node, NodeKind, merged

FLOWS = "flows"
"""The name of pictures of event flows."""

Draw = Callable[[], Diagram]


def auxiliary_pictures(system: System, model: Model) -> Mapping[str, tuple[str, Draw]]:
    """The auxiliary pictures of a variant by name: one sentence on the picture, and a function that draws it."""
    by_name: dict[str, tuple[str, Draw]] = {}
    if flows := system.flows.get(model.variant):
        title = f"{model.system} ({model.variant}): who sends which events to whom"
        by_name[FLOWS] = ("Which component sends which events to which", lambda: event_flows(flows, title))
    for chart in system.charts.get(model.variant, ()):
        title = f"{model.system} ({model.variant}): {chart.name}"
        by_name[chart.name] = (chart.about, partial(charted, chart, title))
    orders = []
    for each in auxiliary(system, model):
        if not isinstance(each, Locked) or (each.described.only and not each.described.refuted):
            continue
        order = None if each.described.only else (each.locks.order, each.locks.closed)
        if order is None or order not in orders:  # a variant that amends another may have the same order
            by_name[each.described.name] = _of_locks(each)
            orders.append(order)
    return by_name


def _of_locks(described: Locked) -> tuple[str, Draw]:
    if not described.described.only:
        return "Which lock may be acquired under which", lambda: _order(described)
    return described.locks.about, lambda: _deadlock(described)


def _order(described: Locked) -> Diagram:
    return order_graph(described.locks, check_order(described.locks))


def _deadlock(described: Locked) -> Diagram:
    problems = explore_all(described.locks).problems
    if not problems:
        raise DiagramError(f"{described.described.name} has no deadlock to draw; choose a check that is violated")
    return deadlock_graph(problems[0], described.described.name.removeprefix("deadlock."))


def charted(chart: Chart, title: str) -> Diagram:
    """The picture of a chart, with a box around each of its groups."""
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


def event_flows(flows: Sequence[Flow], title: str) -> Diagram:
    """The picture of event flows: an arrow from each sender to each receiver, with the events and document lines."""
    components = dict.fromkeys(component for flow in flows for component in (*flow.senders, flow.receiver))
    edges = tuple(
        Edge(sender, flow.receiver, EdgeKind.SENDS, (flow.event,), (f"line {flow.line}",))
        for flow in flows
        for sender in flow.senders
    )
    nodes = tuple(Node(component, component, NodeKind.OWNER) for component in components)
    events = len({(flow.event, flow.senders, flow.receiver) for flow in flows})
    return merged(Diagram(title, nodes, edges, note=f"{events} events"))
