"""That core and shim do not wait for ever: the model's promises of what can always still be reached, asked of the two.

That all they do is in the model says nothing of what they leave undone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from .....model.lang import AlwaysCanReach, Term, Var
from .....model.semantics import Moment, compile_term
from ....liveness import bindings, can_reach
from ...mismatch import Mismatch
from .explore import BEYOND, Exploration


def waits_for_ever(exploration: Exploration) -> Mismatch | None:
    """The first promise that is not kept, None if all are; what comes after a second life of a name counts as kept."""
    model = exploration.model.instance.model
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
    for bound in bindings(exploration.model.instance, prop.over):
        reaching = can_reach(ends | _where(exploration, prop.goal, list(prop.over), bound, all), back)
        everywhere = set(range(len(exploration.nodes)))
        start = everywhere if prop.given is None else _where(exploration, prop.given, list(prop.over), bound, any)
        if start - reaching:
            return min(start - reaching)
    return None


def _where(
    exploration: Exploration,
    formula: Term,
    over: list[Var],
    bound: dict[str, int],
    of: Callable[[Iterable[bool]], bool],
) -> set[int]:
    """The states with an image in which ``formula`` holds, or in all of whose images, if ``of`` is all."""
    holds = compile_term(exploration.model.instance, formula, {v.name: v for v in over})
    known: dict[object, bool] = {}
    found = set()
    for number, node in enumerate(exploration.nodes):
        for image in node.images:
            if image not in known:
                known[image] = bool(holds(Moment(image, dict(bound))))
        if of(known[image] for image in node.images):
            found.add(number)
    return found
