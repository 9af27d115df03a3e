"""Refuses wrong arguments of a declaration: Python's message shows neither the line nor the name that was meant."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from schedproof.model.errors import choose_from

from .errors import ModelError, calling_place

T = TypeVar("T")
P = ParamSpec("P")

INTERNAL = ("self", "place", "amended")
"""Parameters that an author does not write."""


def declaration(kind: type[T]) -> type[T]:
    """A dataclass whose arguments are checked: an unknown, missing or doubled one raises ``ModelError``, not ``TypeError``."""
    made = kind.__init__
    parameters = inspect.signature(made).parameters.values()
    by_place = [p for p in parameters if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD and p.name not in INTERNAL]
    takes_any = any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in parameters)  # a relation takes any sorts

    @wraps(made)
    def init(self: T, *arguments: Any, **named: Any) -> None:
        if len(arguments) > len(by_place) and not takes_any:  # Python would take the next one for the place
            refuse_wrong(kind.__name__, made, arguments, named)
        try:
            made(self, *arguments, **named)
        except TypeError:
            # Only now, since most calls are right, and there are thousands.
            refuse_wrong(kind.__name__, made, arguments, named)
            raise

    kind.__init__ = init  # type: ignore[method-assign,assignment]
    return kind


def word(function: Callable[P, T]) -> Callable[P, T]:
    """A function of the language whose wrong arguments raise ``ModelError``, as those of a declaration do."""

    @wraps(function)
    def checked(*arguments: P.args, **named: P.kwargs) -> T:
        try:
            return function(*arguments, **named)
        except TypeError:
            refuse_wrong(function.__name__, function, arguments, named)
            raise

    return checked


def method(function: Callable[P, T]) -> Callable[P, T]:
    """A method whose wrong arguments raise ``ModelError``, as those of a :func:`word` do."""

    @wraps(function)
    def checked(*arguments: P.args, **named: P.kwargs) -> T:
        try:
            return function(*arguments, **named)
        except TypeError:
            refuse_wrong(function.__name__, function, arguments[1:], named)  # without self
            raise

    return checked


def refuse_wrong(kind: str, function: Any, arguments: Sequence[object], named: Mapping[str, object]) -> None:
    """Refuses arguments that a function does not take.

    Args:
        kind: what is declared or called, for the message.
        function: the function; a first parameter ``self`` does not count.
        arguments, named: the arguments without ``self``.

    Raises:
        ModelError: an argument is unknown, missing or doubled, or too many have no name.
    """
    parameters = [p for p in inspect.signature(function).parameters.values() if p.name not in INTERNAL]
    is_open = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters)  # a row sets any attribute
    parameters = [
        p for p in parameters if p.kind not in (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    ]
    names = [p.name for p in parameters]
    by_place = [p.name for p in parameters if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    name = named.get("name", arguments[0] if arguments and by_place[:1] == ["name"] else "")
    element, place = f"{kind} {name}" if isinstance(name, str) and name else kind, calling_place()
    unknown = next((each for each in named if each not in (*names, *INTERNAL)), None)
    if unknown is not None and not is_open:
        raise ModelError(
            element,
            place,
            f"unknown argument {unknown!r}",
            choose_from(unknown, names) if names else "remove it",
            name=unknown,
        )
    if names and len(arguments) > len(by_place):
        example = next((each for each in names if each not in by_place), "")
        count = f"{len(arguments)} arguments have" if arguments[1:] else "1 argument has"
        problem = f"{count} no name, and {len(by_place) or 'none'} may"
        remedy = f"write the name before each other: {example}=..." if example else f"write {' and '.join(names)} only"
        raise ModelError(element, place, problem, remedy)
    if doubled := next((each for each in by_place[: len(arguments)] if each in named), None):
        problem = f"the argument {doubled!r} is there twice"
        raise ModelError(element, place, problem, "give it once, by its place or by its name", name=doubled)
    given = {*by_place[: len(arguments)], *named}
    if missing := [p.name for p in parameters if p.default is p.empty and p.name not in given]:
        listed = ", ".join(f"{each}=..." for each in missing)
        raise ModelError(
            element, place, f"{' and '.join(missing)} {'are' if missing[1:] else 'is'} missing", f"write {listed}"
        )
