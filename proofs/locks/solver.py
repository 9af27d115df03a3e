"""z3's solver for the checks of locks."""

from __future__ import annotations

import z3


def solver_in(context: z3.Context | None = None) -> z3.Solver:
    """A solver of ``context``, by default z3's own. By default z3 swallows an interrupt, and answers "unknown"."""
    solver = z3.Solver(ctx=context)
    solver.set("ctrl_c", False)
    return solver
