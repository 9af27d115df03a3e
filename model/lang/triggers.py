"""The trigger graph: which actions and events can cause which events in one step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from .errors import Place
from .infer import sort_of
from .model import Model
from .rules import Action
from .terms import firings

T = TypeVar("T")

Node = tuple[str, str]
"""An event as (sort, event), or an action as (name, "")."""


@dataclass(frozen=True)
class Trigger:
    """An edge of the graph.

    Attributes:
        rule: the name of the rule, or of the action that fires the event itself.
        negative: the rule requires that the cause does *not* happen.
    """

    rule: str
    place: Place
    negative: bool


@dataclass(frozen=True)
class TriggerGraph:
    """For each node the nodes that it triggers, in the order in which the model names them."""

    successors: Mapping[Node, Mapping[Node, Trigger]]
    _descendants: dict[Node, frozenset[Node]] = field(default_factory=dict, compare=False, repr=False)

    def __contains__(self, node: Node) -> bool:
        return node in self.successors

    def edges(self) -> Iterator[tuple[Node, Node, Trigger]]:
        """Every edge: cause, effect, trigger."""
        for cause, effects in self.successors.items():
            for effect, trigger in effects.items():
                yield cause, effect, trigger

    def descendants(self, node: Node) -> frozenset[Node]:
        """The nodes that a node can cause, directly or indirectly; itself only if it lies on a cycle."""
        if node not in self._descendants:
            self._descendants[node] = reachable(self.successors, self.successors[node])
        return self._descendants[node]

    def ancestors(self, node: Node) -> frozenset[Node]:
        """The nodes that can cause a node, directly or indirectly."""
        causes: dict[Node, list[Node]] = {each: [] for each in self.successors}
        for cause, effect, _ in self.edges():
            causes[effect].append(cause)
        return reachable(causes, causes[node])

    def sorted(self) -> list[Node]:
        """The nodes in topological order: causes before their effects. The graph must have no cycle."""
        missing = dict.fromkeys(self.successors, 0)
        for _, effect, _ in self.edges():
            missing[effect] += 1
        order = [node for node, causes in missing.items() if not causes]
        for node in order:  # the list grows during the loop
            for effect in self.successors[node]:
                missing[effect] -= 1
                if not missing[effect]:
                    order.append(effect)
        return order

    def cycle(self) -> list[Node]:
        """The nodes of a cycle, each with an edge to the next and the last to the first; empty if there is none."""
        finished: set[Node] = set()
        for start in self.successors:
            path = {start: iter(self.successors[start])}
            while path:
                node, effects = next(reversed(path.items()))
                effect = next((each for each in effects if each not in finished), None)
                if effect is None:
                    del path[node]
                    finished.add(node)
                elif effect in path:
                    nodes = list(path)
                    return nodes[nodes.index(effect) :]
                else:
                    path[effect] = iter(self.successors[effect])
        return []


def reachable(successors: Mapping[T, Iterable[T]], starts: Iterable[T]) -> frozenset[T]:
    """``starts``, and every node that a path from them leads to. The mapping may omit nodes without successors."""
    reached = set(starts)
    queue = list(reached)
    while queue:
        for node in successors.get(queue.pop(), ()):
            if node not in reached:
                reached.add(node)
                queue.append(node)
    return frozenset(reached)


def trigger_graph(model: Model) -> TriggerGraph:
    """The trigger graph of a model, computed once.

    Where one rule requires an event and another requires its absence, the edge is that of the positive rule.
    """
    cached: TriggerGraph | None = vars(model).get("_trigger_graph")
    if cached is None:
        cached = _trigger_graph(model)
        object.__setattr__(model, "_trigger_graph", cached)  # models are immutable, and this is called often
    return cached


def _trigger_graph(model: Model) -> TriggerGraph:
    edges: dict[Node, dict[Node, Trigger]] = {}

    def add(cause: Node, effect: Node, trigger: Trigger) -> None:
        effects = edges.setdefault(cause, {})
        edges.setdefault(effect, {})
        if effect not in effects or not trigger.negative:
            effects[effect] = trigger

    for action in model.actions:
        for firing in action.fires:
            head = (sort_of(model, firing.of, {}), firing.event)
            add((action.name, ""), head, Trigger(action.name, action.place, False))
    for rule in model.rules:
        head = (sort_of(model, rule.fires.of, {}), rule.fires.event)
        on = (rule.on.name, "") if isinstance(rule.on, Action) else (sort_of(model, rule.on.of, {}), rule.on.event)
        add(on, head, Trigger(rule.name, rule.place, False))
        for firing in [f for part in rule.when for f in firings(part)]:
            add((sort_of(model, firing.of, {}), firing.event), head, Trigger(rule.name, rule.place, True))
    return TriggerGraph(edges)


def caused(model: Model, action: str) -> frozenset[Node]:
    """The (sort, event) pairs that a step of an action can cause."""
    graph = trigger_graph(model)
    return graph.descendants((action, "")) if (action, "") in graph else frozenset()
