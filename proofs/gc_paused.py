"""Fewer garbage collections, or none, during a block of work."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

SELDOM = 100_000, 50, 1000
"""Thresholds of ``gc.set_threshold``: new objects before a collection, then young collections before an older one.

Python's defaults suit programs that drop most objects. Explorations keep nearly all of them.
"""


@contextmanager
def collected_seldom() -> Iterator[None]:
    """Makes garbage collections a hundred times rarer inside the block."""
    before = gc.get_threshold()
    gc.set_threshold(*SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def gc_paused() -> Iterator[None]:
    """Stops garbage collection inside the block.

    A collection in another thread frees z3 terms while z3 uses the same context, which crashes z3.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
