"""The solver for the checks of locks."""

from __future__ import annotations

import os
import signal
from threading import Timer

import z3

from schedproof.proofs.locks.solver import solver_in


def test_an_interrupt_of_a_check_is_not_lost() -> None:
    """The three cubes whose sum is 42 have 17 digits: the check lasts until its time is over."""
    solver, arrived = solver_in(z3.Context()), list[int]()
    x, y, z = z3.Ints("x y z", solver.ctx)
    solver.add(x * x * x + y * y * y + z * z * z == 42)
    solver.set("timeout", 1500)
    before = signal.signal(signal.SIGINT, lambda number, frame: arrived.append(number))
    try:
        interrupt = Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        interrupt.start()
        solver.check()
        interrupt.join()
    finally:
        signal.signal(signal.SIGINT, before)
    assert arrived == [signal.SIGINT]
