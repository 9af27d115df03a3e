"""Where the source raises errors of the user's input, and which of these places a run of the cases came to."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from schedproof.diagrams.errors import DiagramError
from schedproof.model.errors import ArgumentError
from schedproof.model.lang import ModelError
from schedproof.model.locks.errors import LocksError
from schedproof.model.registry.errors import UserError
from schedproof.model.semantics import ScopeError
from schedproof.model.semantics.functions import NumberTooGreat
from schedproof.proofs.export.properties import Unwritable
from schedproof.proofs.traces import TraceError
from schedproof.service.checking import _NoList
from schedproof.service.listening import Unbound
from schedproof.service.opening import BadSession
from schedproof.service.rpc import Wrong
from schedproof.service.strict import NotJson
from schedproof.service.token import BadToken
from tests.support.places import ROOT

ERRORS: tuple[type[Exception], ...] = (
    ArgumentError, ModelError, LocksError, UserError, DiagramError, ScopeError, Unwritable, TraceError, BadSession, NotJson, Wrong,
    _NoList, BadToken, Unbound, NumberTooGreat,
)  # fmt: skip
"""The errors of what a user writes."""

HELPERS = {"unknown", "error", "wrong", "_error", "_failed", "_missing"}
"""Functions that make such an error."""

ROOMS = ("model", "proofs", "diagrams", "schedproof")

Site = tuple[str, int]
"""A file, from the root of the repository, and a line."""


@contextmanager
def raised() -> Iterator[set[Site]]:
    """Collects the lines of the source that are running when an error is made."""
    sites: set[Site] = set()
    before = {kind: vars(kind).get("__init__") for kind in ERRORS}
    for kind in ERRORS:
        _record(kind, sites)
    try:
        yield sites
    finally:
        for kind, init in before.items():
            if init is None:
                del kind.__init__
            else:
                kind.__init__ = init  # type: ignore[method-assign]


def _record(kind: type[Exception], sites: set[Site]) -> None:
    made = kind.__init__

    def init(self: Any, *arguments: Any, **named: Any) -> None:
        frame = sys._getframe(1)
        while frame is not None:
            file = _relative(frame.f_code.co_filename)
            if file:
                sites.add((file, frame.f_lineno))
            frame = frame.f_back  # type: ignore[assignment]
        made(self, *arguments, **named)

    kind.__init__ = init  # type: ignore[method-assign]


@cache
def _relative(file: str) -> str:
    """The path from the root, of a file that is below it; parts are also reached by links."""
    path = Path(file).resolve()
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else ""


@cache
def statements() -> dict[tuple[str, str], list[range]]:
    """Every statement that raises such an error, by its file and text, with its lines. Those of a system are its own."""
    names = {kind.__name__ for kind in ERRORS} | HELPERS
    sites: dict[tuple[str, str], list[range]] = {}
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            file = _relative(str(path))
            if "/systems/" in file or path.is_symlink():
                continue
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
                    called = node.exc.func
                    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
                    if name in names:
                        lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
                        sites.setdefault((file, ast.unparse(node.exc)), []).append(lines)
    return sites
