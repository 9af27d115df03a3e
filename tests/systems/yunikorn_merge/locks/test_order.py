"""The order of the merged design's locks: which rank is found does not depend on what was solved before."""

from __future__ import annotations

import z3

from schedproof.model.registry.discovery import systems
from schedproof.proofs.locks.rank import find_rank
from schedproof.proofs.verification.auxiliary import Locked, auxiliary


def test_a_rank_is_found_again_after_other_questions() -> None:
    """The picture of the order shows it: it must not change with the commands that ran before."""
    system = systems()["yunikorn-merge"]
    described = [each for each in auxiliary(system, system.variants["merged"]) if isinstance(each, Locked)]
    locks = described[0].locks
    first = find_rank(locks)
    assert first is not None and len(first.numbers) == 5
    numbers = [z3.Int(f"number of {name}") for name in reversed(locks.classes)]
    solver = z3.Solver()
    solver.add(z3.Distinct(numbers), *(number >= 0 for number in numbers))
    assert solver.check() == z3.sat
    assert find_rank(locks) == first
