"""Checks that every wait of core and shim can end: the model's reachability properties, on the graph of the two.

Simulation alone cannot show this: it does not say which steps the two must take.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from schedproof.model.lang import AlwaysCanReach, Term, Var
from schedproof.model.semantics import Moment, Remembered, State, compile_term
from schedproof.proofs.exploration.liveness import bindings, can_reach
from schedproof.proofs.refinement.mismatch import Mismatch
from schedproof.proofs.refinement.simulation import BEYOND

from .explore import Exploration


def waits_for_ever(exploration: Exploration) -> Mismatch | None:
    """Returns the first violated property, with a path; None if all hold.

    A state in which a name is used a second time counts as satisfying the goal.
    """
    model = exploration.steps.instance.model
    for prop in [p for p in model.properties if isinstance(p, AlwaysCanReach)]:
        stuck = _stuck(exploration, prop)
        if stuck is not None:
            way = exploration.path(stuck)
            return Mismatch(f"{prop.name}: {prop.says}; here it can not any more", way)
    return None


def _stuck(exploration: Exploration, prop: AlwaysCanReach) -> int | None:
    """Returns a state from which the goal of ``prop`` is not reached though its premise holds; None if there is none.

    A state can have several images. The premise holds if it holds in one of them; the goal holds if it holds in all.
    """
    back: list[list[int]] = [[] for _ in exploration.nodes]
    ends = set()
    for before, after, who in exploration.edges:
        if who not in prop.without:
            if after == BEYOND:
                ends.add(before)
            else:
                back[after].append(before)
    nodes = exploration.nodes
    for bound in bindings(exploration.steps.instance, prop.over):
        goal = _images(exploration, prop.goal, prop.over, bound)
        reaching = can_reach(ends | {i for i, node in enumerate(nodes) if node.images <= goal}, back)
        start = set(range(len(nodes)))
        if prop.given is not None:
            given = _images(exploration, prop.given, prop.over, bound)
            start = {i for i, node in enumerate(nodes) if not node.images.isdisjoint(given)}
        if start - reaching:
            return min(start - reaching)
    return None


def _images(exploration: Exploration, formula: Term, over: Sequence[Var], bound: Mapping[str, int]) -> set[State]:
    """Returns the images in which ``formula`` holds."""
    holds = compile_term(exploration.steps.instance, formula, {v.name: v for v in over})
    every = {image for node in exploration.nodes for image in node.images}
    held = Remembered(lambda image: holds(Moment(image, dict(bound))))
    return {image for image in every if held(image)}
