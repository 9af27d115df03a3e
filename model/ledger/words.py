"""Names that a document uses and never defines."""

from __future__ import annotations

import re
from collections.abc import Iterator

from schedproof.model.registry.system import System

from .elements import beside, elements
from .ledger import Ledger

_NAME = re.compile(
    r"``([^`]+)``"  # a literal of reStructuredText
    r"|`([^`<]+?)(?:\s*<[^>]*>)?`"  # a literal of Markdown, or a role or a link of reStructuredText
    r"|\b([a-z]+[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*|[A-Z]{2,}\w*)\b"  # camel case, capitals
)


_SMALL = frozenset({"a", "an", "and", "any", "by", "not", "of", "or", "the", "to"})


def undefined(system: System, ledger: Ledger) -> dict[str, list[int]]:
    """The names in the statements of a document that no statement defines and no element has -> the lines that use them.

    A name is what stands in a literal, or is written in camel case or in capitals.
    """
    known = {_plain(word) for text in _texts(system, ledger) for word in re.findall(r"\w+", text)}
    wholes = {_plain(entry.text) for entry in ledger.statements}
    used: dict[str, list[int]] = {}
    for entry in ledger.statements:
        for match in _NAME.finditer(entry.text):
            name = next(group for group in match.groups() if group)
            words = {_plain(word) for word in re.findall(r"\w+", name)} - _SMALL
            is_reference = entry.text[: match.start()].endswith(":ref:")
            if is_reference and _plain(name) in wholes:
                continue  # to the heading of these words, whose anchor is no statement
            if _plain(name) not in known and not words <= known:
                used.setdefault(name, []).append(entry.line)
    return {name: sorted(set(lines)) for name, lines in sorted(used.items())}


def _texts(system: System, ledger: Ledger) -> Iterator[str]:
    for variant in ledger.variants:
        for name in (*elements(system.variants[variant]), *beside(system, system.variants[variant])):
            kind, _, rest = name.partition(" ")
            if kind != "rule":  # a rule is named by a sentence
                yield rest.replace(" from ", " ")
    for entry in ledger.statements:
        yield entry.defines
    yield system.name
    yield system.base.document.title


def _plain(word: str) -> str:
    """A word without case, signs and the ending of a plural."""
    return re.sub(r"[\W_]", "", word).lower().removesuffix("s")
