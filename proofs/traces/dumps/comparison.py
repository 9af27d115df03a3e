"""Compares the orders that a log or a dump shows with those that a lock file describes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from schedproof.model.locks import Locks
from schedproof.model.locks.language import Kind
from schedproof.proofs.locks.described import described_orders

from .circle import order_text
from .dump import Edge, Lock

Pair = tuple[str, str]


@dataclass(frozen=True)
class Comparison:
    """How the orders that were seen differ from those described; both are pairs of classes.

    Args:
        described: whether the file describes any order.
        undescribed: the orders seen that the file does not describe, each with one occurrence.
        unobserved: the orders described that were not seen, each with where it is described.
        unknown: the types of locks that the file does not have; () if it has none at all.
    """

    described: bool
    undescribed: Mapping[Pair, Edge]
    unobserved: Mapping[Pair, str]
    unknown: tuple[str, ...]

    @property
    def certain(self) -> list[Pair]:
        """The undescribed orders that were certainly there."""
        return [pair for pair, edge in self.undescribed.items() if edge.certain]

    def text(self) -> list[str]:
        """The differences, one line each."""
        lines = [f"seen, but not described: {a} > {b}: {order_text(edge)}" for (a, b), edge in self.undescribed.items()]
        if self.unobserved:
            orders = (f"{a} > {b} ({where})" for (a, b), where in self.unobserved.items())
            lines.append(f"described, but not seen: {', '.join(orders)}")
        if self.unknown:
            lines.append(f"locks of types that the file does not have: {', '.join(self.unknown)}")
        return lines

    def as_json(self) -> dict[str, object]:
        """The same as data."""
        return {
            "undescribed": [
                {"holding": a, "acquired": b, "by": e.by, "where": e.where, "certain": e.certain}
                for (a, b), e in self.undescribed.items()
            ],
            "unobserved": [
                {"holding": a, "acquired": b, "described": where} for (a, b), where in self.unobserved.items()
            ],
            "unknown": list(self.unknown),
        }


def compare(locks: Locks, edges: Iterable[Edge]) -> Comparison:
    """Compares orders that were seen with those of a lock file.

    A type is that of a class if they have the same letters and digits: ``objects.Queue``, ``&queue->lock`` and
    ``Demo$Queue`` are of class Queue.

    Raises:
        LocksError: the programs of the file cannot be run.
    """
    described = described_orders(locks)
    plain = [name for name, one in locks.objects.items() if one.of in list(Kind)]
    names = {_plain(name): name for name in [*plain, *locks.classes] if name not in list(Kind)}
    seen: dict[Pair, Edge] = {}
    unknown: dict[str, None] = {}
    for edge in edges:
        classes = [_class(lock, names) for lock in (edge.holding, edge.acquired)]
        for lock, of in zip((edge.holding, edge.acquired), classes, strict=True):
            if not of and (text := lock.of or lock.shown or lock.name):
                unknown[text] = None
        if all(classes):
            pair = classes[0], classes[1]
            if pair not in seen or (edge.certain and not seen[pair].certain):
                seen[pair] = edge
    undescribed = {pair: edge for pair, edge in seen.items() if described and pair not in described}
    unobserved = {pair: where for pair, where in described.items() if where and pair not in seen}
    return Comparison(bool(described), undescribed, unobserved, tuple(unknown) if names else ())


def _class(lock: Lock, names: Mapping[str, str]) -> str:
    """The class or object of a lock file that a lock of a dump has; "" if there is none."""
    for text in (lock.of, lock.name):
        whole = text.removeprefix("&")
        for part in (whole, re.split(r"->|#|/", whole)[0], re.split(r"[.$]", whole)[-1]):
            if (name := names.get(_plain(part))) is not None:
                return name
    return ""


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.casefold())
