"""Work with z3 that no garbage collection disturbs."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def undisturbed() -> Iterator[None]:
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
