"""Pictures of a model: one of its machines, or the triggers between its events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from schedproof.model.lang import Durability, Machine, Model, Row
from schedproof.model.lang.check import checked
from schedproof.model.lang.triggers import caused, trigger_graph

from .errors import DiagramError
from .fold import folded
from .representation import Cluster, Diagram, Edge, EdgeKind, Node, NodeKind, compared, merged

TRIGGERS = "triggers"
"""The name of the picture of all events and their triggers."""


def diagram(
    model: Model,
    machine: str | None = None,
    *,
    since: Model | None = None,
    sorts: Sequence[str] = (),
    actions: Sequence[str] = (),
) -> Diagram:
    """A picture of ``model``.

    Args:
        model: the model to draw.
        machine: the sort whose machine to draw; None or "triggers" for the triggers between events.
        since: another variant of the system; the picture marks the differences from it.
        sorts: of the triggers, only events of these sorts, and what fires them directly; () draws all.
        actions: only these actions and what they can cause, of a machine the rows that they can fire; () draws all.

    Raises:
        DiagramError: the model has no such machine, the machine has no states, or nothing is left to draw.
    """
    # Of two variants, the same part is compared: an event that only one of them has in its part is not added by that.
    selection = _Selection(tuple(sorts), tuple(actions), since)
    drawn = _draw(model, machine, selection)
    if since is not None:
        had = machine is None or machine in picture_names(since)
        drawn = compared(
            drawn,
            _draw(since, machine, replace(selection, beside=model)) if had else Diagram("", (), ()),
            since.variant,
        )
    if not drawn.edges and (sorts or actions):
        where = f"{model.system} ({model.variant}): {machine or TRIGGERS}"
        raise DiagramError(f"{where} has nothing of {selection.text}; name other sorts or actions")
    return merged(folded(drawn))


@dataclass(frozen=True)
class _Selection:
    """What a picture shows of a model; empty fields select everything.

    Attributes:
        sorts: the sorts of the events.
        actions: the actions.
        beside: another variant, whose part is shown too.
    """

    sorts: tuple[str, ...]
    actions: tuple[str, ...]
    beside: Model | None = None

    @property
    def text(self) -> str:
        """The selection in words."""
        return " and ".join(", ".join(names) for names in (self.sorts, self.actions) if names)

    @property
    def title(self) -> str:
        """What a title adds."""
        return f", only {self.text}" if self.text else ""

    def nodes(self, model: Model) -> frozenset[tuple[str, str]]:
        """The nodes of the trigger graph that are drawn."""
        return self._part(model) | (self._part(self.beside) if self.beside is not None else frozenset())

    def _part(self, model: Model) -> frozenset[tuple[str, str]]:
        graph = trigger_graph(model)
        nodes = frozenset(graph.successors) | {(action.name, "") for action in model.actions}
        if self.actions:
            known = {action.name for action in model.actions}
            roots = [name for name in self.actions if name in known]
            nodes &= {node for name in roots for node in ((name, ""), *caused(model, name))}
        if self.sorts:
            events = {node for node in nodes if node[1] and node[0] in self.sorts}
            nodes &= events | {source for source, target, _ in graph.edges() if target in events}
        return nodes

    def rows(self, model: Model, machine: Machine) -> tuple[Row, ...]:
        """The rows of a machine that are drawn."""
        table = model.table(machine.sort)
        if not self.actions:
            return table
        nodes = self.nodes(model)
        return tuple(row for row in table if (row.sort.name, row.event) in nodes)


def picture_names(model: Model) -> tuple[str, ...]:
    """The names of pictures that :func:`diagram` can draw of ``model``: its machines with states, and ``triggers``."""
    return (*(m.sort.name for m in model.machines if m.states), TRIGGERS)


def _draw(model: Model, machine: str | None, selection: _Selection) -> Diagram:
    if machine is None or machine == TRIGGERS:
        return _triggers(checked(model), selection)
    if machine not in picture_names(checked(model)):
        names = ", ".join(picture_names(model))
        raise DiagramError(f"{model.system} ({model.variant}) has no machine {machine!r} to draw; choose from {names}")
    return _machine(model, model.machine(machine), selection)


def _has(model: Model, machine: Machine) -> bool:
    return any(each.sort == machine.sort for each in model.machines)


def _machine(model: Model, machine: Machine, selection: _Selection) -> Diagram:
    """The states of a machine, and one arrow for each row of its table. A selection leaves out states without an arrow."""
    table = selection.rows(model, machine)
    leaving = {row.source for row in model.table(machine.sort) if row.source != row.target}
    other = selection.beside
    beside = selection.rows(other, other.machine(machine.sort)) if other is not None and _has(other, machine) else ()
    touched = {state for row in (*table, *beside) for state in (row.source, row.target)}
    # If every state survives a crash, a remark at each of them is useless.
    lossy = any(state.durability is not Durability.PERSISTENT for state in machine.states)
    nodes = tuple(
        Node(
            state.name,
            state.name,
            NodeKind.STATE,
            details=(state.durability.value,) if lossy else (),
            durability=state.durability if lossy else None,
            initial=position == 0,
            final=state.name not in leaving,
        )
        for position, state in enumerate(machine.states)
        if not selection.actions or state.name in touched
    )
    edges = tuple(
        Edge(
            row.source,
            row.target,
            EdgeKind.TRANSITION,
            labels=(row.event,),
            notes=() if row.line is None else (f"{row.event}: {model.document.name}, line {row.line}",),
        )
        for row in table
    )
    return Diagram(f"{model.system} ({model.variant}): {machine.sort.name}{selection.title}", nodes, edges)


def _triggers(model: Model, selection: _Selection) -> Diagram:
    """Actions and events, and an arrow for every edge of the model's trigger graph.

    If one rule needs an event and another needs its absence, the graph keeps the first.
    """
    drawn = selection.nodes(model)
    actions = tuple(
        Node(action.name, action.name, NodeKind.CRASH if action.crash else NodeKind.ACTION)
        for action in model.actions
        if (action.name, "") in drawn
    )
    events: list[Node] = []
    clusters: list[Cluster] = []
    for machine in model.machines:
        rows: dict[str, list[Row]] = {}
        for row in model.table(machine.sort):
            if (machine.sort.name, row.event) in drawn or not selection.text:
                rows.setdefault(row.event, []).append(row)
        of_machine = [
            Node(
                f"{machine.sort.name}.{event}",
                f"{machine.sort.name} {event}",
                NodeKind.EVENT,
                details=_moves(machine, table),
            )
            for event, table in rows.items()
        ]
        events += of_machine
        if of_machine:
            clusters.append(Cluster(machine.sort.name, tuple(node.name for node in of_machine)))
    edges = tuple(
        Edge(_name(source), _name(target), EdgeKind.PREVENTS if trigger.negative else EdgeKind.CAUSES)
        for source, target, trigger in trigger_graph(model).edges()
        if source in drawn and target in drawn
    )
    title = f"{model.system} ({model.variant}): which event triggers which{selection.title}"
    return Diagram(title, (*actions, *events), edges, tuple(clusters))


def _name(node: tuple[str, str]) -> str:
    return ".".join(part for part in node if part)


def _moves(machine: Machine, rows: list[Row]) -> tuple[str, ...]:
    """The transitions of an event, "source → target": one line for each target."""
    sources: dict[str, list[str]] = {}
    if len(rows) > 1 and all(row.source == row.target for row in rows):
        return (f"{len(rows)} of {len(machine.states)} states stay",)
    for row in rows:
        sources.setdefault(row.target, []).append(row.source)
    return tuple(
        f"{' or '.join(names) if len(names) <= 2 else f'{len(names)} of {len(machine.states)} states'} → {target}"
        for target, names in sources.items()
    )
