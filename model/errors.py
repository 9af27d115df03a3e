"""The base class of every error about what a caller wrote, and the errors about arguments of Python functions."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable
from typing import Self


class SchedproofError(Exception):
    """The base class of the errors about your input.

    The message is one line: what is wrong, where, and what to write instead. Two engines that contradict each other are
    not your mistake: ``Disagreement`` is not a ``SchedproofError``.

    Attributes:
        excerpt: the line of your file with a caret below the mistake; "" if the error is not about a line of a file.
            Python and pytest show it below the message.
    """

    exit_code = 2
    excerpt = ""

    def with_excerpt(self, excerpt: str) -> Self:
        """This error, with lines that are shown below the message; "" adds none."""
        if excerpt and not self.excerpt:
            self.excerpt = excerpt
            self.add_note(excerpt)
        return self


class ArgumentError(SchedproofError, TypeError):
    """An argument of a Python function has the wrong type."""


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """The known names that are similar to a wrong one, as the beginning of a remedy; "" if none is, or three are alike."""
    names = list(known)
    if not isinstance(name, str):
        return ""
    close = [each for each in names if each.casefold() == name.casefold()]
    if not close:
        similar = difflib.get_close_matches(name, names, n=3, cutoff=0.65)  # 0.6 takes "revoke" for "free"
        likeness = [difflib.SequenceMatcher(None, each, name).ratio() for each in similar]
        close = [each for each, ratio in zip(similar, likeness, strict=True) if ratio > likeness[0] - 0.1]
    if len(close) > 2:  # as similar as others: no hint
        close = []
    return f"did you mean {' or '.join(close)}? " if close else ""


def choose_from(name: object, known: Iterable[str]) -> str:
    """What to write instead of an unknown name: the similar ones, then all."""
    names = list(known)
    return f"{did_you_mean(name, names)}choose from {', '.join(names) or 'none'}"


def require(argument: str, value: object, kind: type | tuple[type, ...], write: str) -> None:
    """Refuses an argument of another type.

    Args:
        argument: its name.
        value: its value.
        kind: the type or types that it may have.
        write: what to write instead.

    Raises:
        ArgumentError: it has another type; also True and False where an integer belongs.
    """
    kinds = kind if isinstance(kind, tuple) else (kind,)
    if isinstance(value, kind) and not (isinstance(value, bool) and bool not in kinds):
        return
    needed = " or ".join("None" if each is type(None) else each.__name__ for each in kinds)
    raise ArgumentError(f"{argument} is {shown(value)}, not of type {needed}; write {write}")


def require_function(argument: str, value: object, example: str) -> None:
    """Refuses an argument that is neither a function nor None.

    Args:
        argument: its name.
        value: its value.
        example: what to write instead.

    Raises:
        ArgumentError: it cannot be called.
    """
    if not (value is None or callable(value)):
        raise ArgumentError(f"{argument} is {shown(value)}, not a function; write one: {example}")


def shown(value: object) -> str:
    """A wrong value for a message: a plain value itself, of anything else the type, since its text may be long."""
    plain = isinstance(value, bool | int | float | str | None)
    return f"{value!r:.60}" if plain else f"of type {type(value).__name__}"


def require_names(argument: str, value: object) -> None:
    """Refuses names that are not a collection of strings. A single string would count as a collection of its letters.

    Raises:
        ArgumentError: ``value`` is a single string, or has something else in it.
    """
    if isinstance(value, str):
        raise ArgumentError(f"{argument} is the string {value!r}; write a list of names: {argument}=[{value!r}]")
    if not isinstance(value, Collection) or not all(isinstance(each, str) for each in value):
        raise ArgumentError(f"{argument} is not a list of names; write strings in a list: {argument}=['...']")
