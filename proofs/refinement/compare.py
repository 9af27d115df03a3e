"""Three comparisons of scheduler and model that need the complete graph.

The exploration has already checked that each labelled edge is a step of the model.
"""

from __future__ import annotations

import networkx as nx

from .graph import JUMP, SILENT, SideBySide, path_lines
from .mismatch import Mismatch


def _silent(exploration: SideBySide) -> nx.DiGraph:
    """The silent edges, and the nodes at their ends."""
    graph = nx.DiGraph()
    graph.add_edges_from((a, b) for a, b, label in exploration.graph.edges(keys=True) if label == SILENT)
    return graph


def silent_for_ever(exploration: SideBySide) -> Mismatch | None:
    """A cycle of silent edges: the implementation could run forever without a step of the model."""
    graph = _silent(exploration)
    if nx.is_directed_acyclic_graph(graph):
        return None
    cycle = [a for a, _ in nx.find_cycle(graph, sorted(graph))]
    steps = [exploration.step_text(a, b) for a, b in zip(cycle, [*cycle[1:], cycle[0]], strict=True)]
    return Mismatch(
        "operations without any step of the model can be repeated for ever",
        [*exploration.path(cycle[0]), *path_lines(steps), "and so on"],
    )


def no_longer_possible(exploration: SideBySide) -> Mismatch | None:
    """A state from which the scheduler, after silent edges only, cannot take some step of its image."""
    model, graph, silent = exploration.model, exploration.graph, _silent(exploration)
    numbers = {state: {step: i for i, step in enumerate(steps)} for state, steps in model.steps.items()}
    possible = [0] * len(exploration.images)
    order = [*(node for node in graph if node not in silent), *reversed(list(nx.topological_sort(silent)))]
    for node in order:
        number_of = numbers[exploration.images[node]]
        for after, labels in graph.adj[node].items():
            for label in labels:
                if label == SILENT:
                    possible[node] |= possible[after]
                elif label != JUMP:
                    possible[node] |= 1 << number_of[label, exploration.images[after]]
    for node, image in enumerate(exploration.images):
        if exploration.kinds[node] in exploration.partial_kinds:
            continue
        for step, number in numbers[image].items():
            if not possible[node] >> number & 1:
                return Mismatch(
                    f"the scheduler can no longer take {model.say_choice(step[0])}, which the model can take",
                    exploration.path(node),
                    f"{model.say_choice(step[0])} to {model.say_state(step[1])}",
                    f"not possible from {model.say_state(image)}, whatever silent operations come first",
                )
    return None


def never_taken(exploration: SideBySide) -> Mismatch | None:
    """A reachable step of the model that the scheduler never takes."""
    model = exploration.model
    for state, steps in model.steps.items():
        for choice, after in steps:
            if (state, choice, after) not in exploration.covered:
                return Mismatch(
                    f"the scheduler never takes {model.say_choice(choice)}",
                    [],
                    f"{model.say_state(state)} -> {model.say_state(after)}",
                )
    return None
