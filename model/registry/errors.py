"""Errors in the name of a system or in its manifest."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from schedproof.model.errors import SchedproofError, did_you_mean, require_names


class UserError(SchedproofError):
    """A name, a manifest or an option is wrong."""


def unknown(what: str, name: str, known: Iterable[str], *, of: str = "", listed_by: str = "") -> UserError:
    """The error for an unknown name, with similar names and the known ones."""
    names = list(known)
    listed = f"'{listed_by}' lists them" if listed_by and len(names) > 8 else f"choose from {', '.join(names)}"
    choices = f"{did_you_mean(name, names)}{listed}" if names else "leave it out, since no name is known"
    return UserError(f"unknown {what} {name!r}{f' of {of}' if of else ''}; {choices}")


def require_known(
    argument: str, what: str, names: Iterable[str], known: Collection[str], *, of: str = "", listed_by: str = ""
) -> None:
    """Refuses names that are not known: with none of them checked, everything would look well.

    Args:
        argument: the name of the argument, for a single string in place of a list.
        what: what the names are names of.
        names: the names.
        known: the known names.
        of: what has the known names.
        listed_by: the command that lists them.

    Raises:
        ArgumentError: ``names`` is not a list of strings.
        UserError: a name is unknown.
    """
    require_names(argument, names)
    for name in names:
        if name not in known:
            raise unknown(what, name, known, of=of, listed_by=listed_by)
