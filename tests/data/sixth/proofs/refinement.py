"""The lamps' implementation, a set of the names of those that are on, explored beside the model."""

from __future__ import annotations

import time
from dataclasses import dataclass

from schedproof.model.systems.lamps.model import AS_WRITTEN

from schedproof.model.semantics import Instance
from schedproof.proofs.exploration.explore import explore
from schedproof.proofs.refinement.mismatch import Mismatch
from schedproof.proofs.refinement.property import Progress, Refinement

LAMPS = ("x0", "x1")


def switched(lit: frozenset[str], lamp: str) -> frozenset[str]:
    """What the implementation does."""
    return lit ^ {lamp}


@dataclass(frozen=True)
class Comparison:
    """States and edges of the implementation, and whether they are the model's."""

    ok: bool
    states: int
    seconds: float
    mismatch: Mismatch | None = None
    crash_points: int = 0


@dataclass(frozen=True, kw_only=True)
class LampRefinement(Refinement):
    """The implementation has as many states and edges as the model."""

    def check(self, progress: Progress | None = None) -> Comparison:
        """Explores both."""
        began = time.perf_counter()
        seen, edges, to_go = {frozenset[str]()}, 0, [frozenset[str]()]
        while to_go:
            lit = to_go.pop()
            for after in (switched(lit, lamp) for lamp in LAMPS):
                edges += 1
                if after not in seen:
                    seen.add(after)
                    to_go.append(after)
        model = explore(Instance(AS_WRITTEN, dict(self.scope), {}))
        same = (len(seen), edges) == (model.state_count, model.transition_count)
        return Comparison(same, len(seen), time.perf_counter() - began)


REFINEMENTS = [
    LampRefinement(name="lamps-refine-model", variant="as-written", says="lamps do as the model", scope={"Lamp": 2})
]
