"""Work that no garbage collection disturbs, or that few do."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

SELDOM = 100_000, 50, 1000
"""Objects more than before a collection, and collections of young objects before one of older ones.

Python's own thresholds are made for programs that drop what they make; explorations keep nearly all of it.
"""


@contextmanager
def collected_seldom() -> Iterator[None]:
    """Garbage is collected a hundred times less often meanwhile."""
    before = gc.get_threshold()
    gc.set_threshold(*SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def gc_paused() -> Iterator[None]:
    """No garbage is collected meanwhile.

    A collection in another thread would free z3's terms while z3 works on the same context, which it does not survive.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
