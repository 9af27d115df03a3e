"""Errors in the name of a system or in its manifest."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class UserError(Exception):
    """The user made a mistake: one line that says what, where, and what to do instead."""

    exit_code = 2


def unknown(what: str, name: str, known: Iterable[str], *, listed_by: str = "") -> UserError:
    """The error for an unknown name, with similar names and the known ones."""
    names = list(known)
    close = difflib.get_close_matches(name, names, n=3)
    hint = f"did you mean {' or '.join(close)}? " if close else ""
    choices = (
        f"'{listed_by}' lists them" if listed_by and len(names) > 8 else f"choose from {', '.join(names) or 'none'}"
    )
    return UserError(f"unknown {what} {name!r}; {hint}{choices}")
