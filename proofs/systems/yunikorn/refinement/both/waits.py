"""That core and shim do not wait for ever: the model's properties of what can always still be reached, asked of the two.

That all they do is in the model says nothing of what they leave undone.
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
    """The first property that is not kept, None if all are; what comes after a second life of a name counts as kept."""
    model = exploration.steps.instance.model
    for prop in [p for p in model.properties if isinstance(p, AlwaysCanReach)]:
        stuck = _stuck(exploration, prop)
        if stuck is not None:
            way = exploration.path(stuck)
            return Mismatch(f"{prop.name}: {prop.says}; here it can not any more", way)
    return None


def _stuck(exploration: Exploration, prop: AlwaysCanReach) -> int | None:
    """A state with the premise of ``prop`` from which its goal is not reached.

    Nobody says in which of its images a state is. So one image with the premise counts, and only if all have the goal
    is it reached.
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
    """The images in which ``formula`` holds."""
    holds = compile_term(exploration.steps.instance, formula, {v.name: v for v in over})
    every = {image for node in exploration.nodes for image in node.images}
    held = Remembered(lambda image: holds(Moment(image, dict(bound))))
    return {image for image in every if held(image)}
