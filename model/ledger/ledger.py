"""A ledger: a row for each statement of a document, and a mark for each element of the models that claim to be it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import yaml

from schedproof.model.errors import SchedproofError
from schedproof.model.lang.excerpt import between, excerpt
from schedproof.model.registry.errors import unknown

DISPOSITIONS = {
    "modelled": "modelled as",
    "required": "required as",
    "interpretations": "interpreted as",
    "contradictions": "contradicts another",
    "abstraction": "abstracted away",
    "defines": "defines a word",
    "background": "background",
    "left_out": "left out",
}
"""What may become of a statement: the key in a ledger, and the words for it."""


class LedgerError(SchedproofError):
    """A ledger cannot be read, or does not account for an element."""


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"left_out": "left-out"}):
    """What became of a statement. One of the last eight attributes is set, or several.

    Attributes:
        line: of the document; its first one, if the statement spans several.
        text: its words, with single spaces.
        arrow: of an arrow of a figure, instead of ``text``: for example ``Free -> Used, e0``.
        modelled: the names of elements.
        required: the names of properties.
        interpretations: the names of the interpretations that choose what it means.
        contradictions: the names of the contradictions that it is part of.
        abstraction: the value or the step that the models leave out, and what that may hide.
        defines: the words that it defines.
        background: why it states nothing that a model could have.
        left_out: why no model has it, though it states something.
    """

    line: int
    text: str = ""
    arrow: str = ""
    modelled: list[str] = []
    required: list[str] = []
    interpretations: list[str] = []
    contradictions: list[str] = []
    abstraction: str = ""
    defines: str = ""
    background: str = ""
    left_out: str = ""

    @property
    def dispositions(self) -> list[str]:
        """The keys of what became of it."""
        return [key for key in DISPOSITIONS if getattr(self, key)]


class Mark(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A reviewer's mark on an element.

    Attributes:
        review: what the element was when it was compared with its source; for each variant, if not all have it in one form.
        source: where an element comes from that cites neither a line nor a fact: ``line 12``, ``fact 1.2``,
            ``interpretation NAME``, or ``encoding: ...`` with why the language needs it.
        added: parts that are not in what the element cites, in words -> where they come from, as in ``source``.
    """

    review: str | dict[str, str]
    source: str = ""
    added: dict[str, str] = {}

    def review_of(self, variant: str) -> str:
        """The form that was reviewed in a variant; "" for none."""
        return self.review if isinstance(self.review, str) else self.review.get(variant, "")


class Ledger(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The ledger of a document.

    Attributes:
        document: the name of its file.
        variants: those that claim to be the document, or a release; each of their elements needs a mark.
        statements: in the document's order.
        elements: name -> mark.
    """

    document: str
    variants: list[str]
    statements: list[Entry]
    elements: dict[str, Mark] = {}


class _Loader(yaml.CSafeLoader):
    """Refuses a key that is written twice; YAML's own loader takes the last one."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        names = set()
        for key, _ in node.value:
            if key.value in names:
                raise yaml.constructor.ConstructorError(None, None, f"{key.value!r} is written twice", key.start_mark)
            names.add(key.value)
        return super().construct_mapping(node, deep)


def read(file: Path) -> Ledger:
    """The ledger in a file.

    Raises:
        LedgerError: it cannot be read, or has another shape; names the line, the entry and the key.
    """
    text = ""
    try:
        text = file.read_text("utf-8")
        content = yaml.load(text, _Loader)
        return msgspec.convert(content, Ledger)
    except OSError as error:
        raise LedgerError(f"{file}: cannot be read: {error.strerror}; write a ledger there") from None
    except msgspec.ValidationError as error:
        where, problem, node = _placed(content, text) or ("", _in_words(error, Ledger), None)
        raise LedgerError(
            f"{file}{where}: {problem}; write it as 'schedproof coverage SYSTEM --document FILE --draft' prints it"
        ).with_excerpt(_excerpt(file, text, node.start_mark, node.end_mark) if node is not None else "") from None
    except (yaml.YAMLError, ValueError) as error:  # ValueError: a date or a number that is none
        problem = " ".join(str(getattr(error, "problem", None) or error).split())
        mark = getattr(error, "problem_mark", None)
        span = between(text.splitlines(), mark, mark) if mark is not None else None
        raise LedgerError(
            f"{file}{f':{span.line}' if span is not None else ''}: is not YAML: {problem}; write it as UTF-8 YAML"
        ).with_excerpt(excerpt(str(file), span.line, span) if span is not None else "") from None


def _excerpt(file: Path, text: str, first: yaml.Mark, last: yaml.Mark) -> str:
    """The line of a place, with carets below it."""
    span = between(text.splitlines(), first, last)
    return excerpt(str(file), span.line, span)


def _placed(content: object, text: str) -> tuple[str, str, yaml.Node] | None:
    """The line and name of the first entry or mark of another shape, its problem, and where; None if all have their shape."""
    if not isinstance(content, dict):
        return None
    root: Any = yaml.compose(text, _Loader)
    parts = {key.value: value for key, value in root.value}
    statements, elements = content.get("statements"), content.get("elements")
    if isinstance(statements, list):
        for number, (each, node) in enumerate(zip(statements, parts["statements"].value, strict=False), 1):
            name = each.get("text") if isinstance(each, dict) and isinstance(each.get("text"), str) else ""
            if (wrong := _misshaped(each, Entry, node)) is not None:
                problem, where = wrong
                return (
                    f":{where.start_mark.line + 1}: {f'{name:.60}' if name else f'statement {number}'}",
                    problem,
                    where,
                )
    if isinstance(elements, dict):
        for (name, each), (_, node) in zip(elements.items(), parts["elements"].value, strict=False):
            if (wrong := _misshaped(each, Mark, node)) is not None:
                problem, where = wrong
                return f":{where.start_mark.line + 1}: {name}", problem, where
    wrong = _misshaped(content, Ledger, root)
    if wrong is not None and wrong[1] is not root:
        return f":{wrong[1].start_mark.line + 1}", *wrong
    return None


def _misshaped(value: object, kind: type[msgspec.Struct], node: yaml.Node) -> tuple[str, yaml.Node] | None:
    """Why a value has not the shape of a kind, and its part that is wrong; None if it has."""
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        text, _, path = str(error).partition(" - at `$")
        parts = {key.value: (key, part) for key, part in node.value} if isinstance(node, yaml.MappingNode) else {}
        if (unknown_key := re.search(r"unknown field `(.*)`", text)) and unknown_key[1] in parts:
            return _in_words(error, kind), parts[unknown_key[1]][0]
        at = re.match(r"\.([\w-]+)", path)
        return _in_words(error, kind), parts[at[1]][1] if at is not None and at[1] in parts else node
    return None


def _in_words(error: msgspec.ValidationError, kind: type[msgspec.Struct]) -> str:
    """A message without paths: an unknown key with the known ones, or a key and the type that it needs."""
    text, _, path = str(error).partition(" - at `$")
    keys = [field.encode_name for field in msgspec.structs.fields(kind)]
    if key := re.search(r"unknown field `(.*)`", text):
        return str(unknown("key", key[1], keys))
    if key := re.search(r"required field `(.*)`", text):
        return f"has no {key[1]}"
    at = re.sub(r"\[.*?\]", "", path.strip(".`"))
    kinds = re.findall(r"`(.*?)`", text)
    needed, has = (NAMES_OF_TYPES.get(each, each) for each in (kinds[0].split(" | ")[0], kinds[-1]))
    return f"{at + ': ' if at else ''}is {has}, and not {needed}"


NAMES_OF_TYPES = {
    "str": "a text",
    "int": "a number",
    "null": "empty",
    "object": "a mapping",
    "array": "a list",
    "bool": "true or false",
    "float": "a number",
}
"""The types of YAML, for messages."""
