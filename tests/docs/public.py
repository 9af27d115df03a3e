"""The public interface as the page on the Python API shows it: what its functions take, return and raise."""

from __future__ import annotations

import ast
import builtins
import enum
import inspect
import re
import sys
import types
import typing
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from schedproof import api, testing
from schedproof.model import lang
from schedproof.model.lang import coalescing, messages, orders, timers
from tests.support.places import REFERENCE

MODULES = (api, lang, coalescing, messages, orders, timers, testing)

PUBLIC = [(module, name) for module in MODULES for name in module.__all__]

PAGE = (REFERENCE / "api.md").read_text("utf-8")

OUTSIDE = {"RuleBasedStateMachine"}
"""Classes of other packages that are imported for types only."""

SECTION = re.compile(r"^(Args|Attributes|Returns|Raises):\n((?:    .*\n|\n)*)", re.MULTILINE)


@dataclass(frozen=True)
class Signature:
    """A function, or what makes an object of a class, or a member that the page shows.

    Attributes:
        owner: the public name that it belongs to.
        member: its own name in ``owner``, or empty.
        annotations: what it takes and returns, by name, as the source writes it.
        module: where these names mean something.
        doc: the docstring that describes it.
    """

    owner: str
    member: str
    annotations: dict[str, str]
    module: str
    doc: str

    def __str__(self) -> str:
        return f"{self.owner}.{self.member}" if self.member else self.owner

    @property
    def sections(self) -> dict[str, str]:
        """The sections of the docstring."""
        by_heading: dict[str, str] = {}
        for head, body in SECTION.findall(self.doc + "\n"):  # a class inherits the parameters of others
            by_heading[head] = by_heading.get(head, "") + body
        return by_heading

    @property
    def described(self) -> set[str]:
        """The parameters that the docstring describes: in a section, or by name in a sentence."""
        text = self.sections.get("Args", "") + self.sections.get("Attributes", "")
        lines = re.findall(r"^    (\w+(?:, \w+)*): ", text, re.MULTILINE)
        return {name for line in lines for name in line.split(", ")} | set(re.findall(r"``(\w+)``", self.doc))

    @property
    def raised(self) -> set[str]:
        """The exceptions that the docstring names."""
        lines = re.findall(r"^    (\w+(?:, \w+)*): ", self.sections.get("Raises", ""), re.MULTILINE)
        return {name for line in lines for name in line.split(", ")}


def signatures() -> Iterator[Signature]:
    """Every public function, and of every public class what makes it and the members that the page shows."""
    for module, name in PUBLIC:
        value = getattr(module, name)
        if inspect.isfunction(value):
            yield _signature(name, "", value)
        elif inspect.isclass(value):
            if not issubclass(value, enum.Enum | Exception):
                yield _made(name, value)
            for member in _shown(module, name, value):
                sections = inspect.getattr_static(value, member)
                sections = (
                    getattr(sections, "fget", None)
                    or getattr(sections, "func", None)
                    or getattr(sections, "__func__", sections)
                )
                if inspect.isfunction(sections):
                    yield _signature(name, member, sections)


def _signature(owner: str, member: str, function: Any) -> Signature:
    return Signature(owner, member, dict(function.__annotations__), function.__module__, inspect.getdoc(function) or "")


def _made(name: str, kind: Any) -> Signature:
    """The constructor; its class describes its parameters, with the classes that it inherits from."""
    docs = [inspect.getdoc(each) or "" for each in kind.__mro__ if each.__module__.startswith("schedproof")]
    parameters = {n: a for n, a in kind.__init__.__annotations__.items() if n != "return" and not n.startswith("_")}
    texts = {n: a if isinstance(a, str) else getattr(a, "__name__", str(a)) for n, a in parameters.items()}
    return Signature(name, "", texts, kind.__module__, "\n\n".join(docs))


def _shown(module: Any, name: str, kind: Any) -> list[str]:
    """The members of a class that the page shows."""
    entry = re.search(rf"^\.\. auto(?:class|exception):: {module.__name__}\.{name}$((?:\n   .*)*)", PAGE, re.MULTILINE)
    options = entry[1] if entry else "   :members:"
    if ":members:" not in options:
        return []
    named = re.search(r":members: (.+)", options)
    hidden = re.search(r":exclude-members: (.+)", options)
    defined = [n for base in kind.__mro__ if base.__module__.startswith("schedproof") for n in vars(base)]
    members = named[1].split(", ") if named else [n for n in defined if not n.startswith("_")]
    return [n for n in dict.fromkeys(members) if n not in (hidden[1].split(", ") if hidden else ())]


def classes(annotation: str, module: str) -> Iterator[type | str]:
    """The classes that an annotation names; a name that means nothing at run time, as itself."""
    for node in ast.walk(ast.parse(annotation, mode="eval")):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from classes(node.value, module)
        elif isinstance(node, ast.Name) and node.id not in OUTSIDE:
            names = {**vars(typing), **vars(builtins), **vars(sys.modules[module])}
            yield from _classes(names[node.id]) if node.id in names else [node.id]


def _classes(value: Any) -> Iterator[type]:
    if isinstance(value, type) and not isinstance(value, types.GenericAlias):
        yield value
    for part in typing.get_args(value):
        yield from (each for inner in part for each in _classes(inner)) if isinstance(part, list) else _classes(part)
