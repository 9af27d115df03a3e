"""What the libraries of the language have in common: kinds with names, and attributes by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from schedproof.model.errors import choose_from, shown

from .errors import ModelError, calling_place
from .terms import Term


class Named(Protocol):
    """Something with a name."""

    @property
    def name(self) -> str:
        """The name."""
        ...


K = TypeVar("K", bound=Named)


def kind_of(element: str, kinds: Sequence[K], name: str) -> K:
    """The kind of that name.

    Raises:
        ModelError: there is none.
    """
    for kind in kinds:
        if kind.name == name:
            return kind
    remedy = choose_from(name, [kind.name for kind in kinds])
    raise ModelError(element, calling_place(), f"unknown kind {shown(name)}", remedy, name=str(name))


def attribute_of(term: Term, name: str) -> Term:
    """The attribute ``name`` of an object."""
    attribute: Term = getattr(term, name)
    return attribute
