"""The number of states of a protocol, by its independent program."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module

from benchmarks.protocols.table import first_scope, module, second_scope
from tests.benchmarks.protocols.counts import reachable


def counted(name: str, sizes: Mapping[str, int]) -> int:
    """The number of states that the independent program finds at a scope."""
    program = import_module(f"tests.benchmarks.protocols.counts.{module(name)}")
    return reachable(program.initial(sizes), program.steps, sizes)


@cache
def counted_at_first(name: str) -> int:
    """The same at the default scope, counted once."""
    return counted(name, first_scope(name))


@cache
def counted_at_second(name: str) -> int:
    """The same at the second scope, counted once."""
    return counted(name, second_scope(name))
