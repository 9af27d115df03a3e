"""The page on the Python API has everything that is public, once each, with all that it takes, returns and raises."""

from __future__ import annotations

import builtins
import inspect
import re
from collections import Counter

from schedproof import api, testing
from schedproof.model import lang
from schedproof.model.lang import coalescing, messages, orders, timers
from tests.docs.public import PAGE, PUBLIC, Signature, classes, signatures
from tests.support.rows import each_row

INTERNAL = {
    ("Induction", "proof"): "the formulas of the solver",
    ("Obligation", "goal"): "a formula of the solver",
    ("Obligation", "context"): "formulas of the solver",
    ("Model", "amended"): "set by amend()",
    ("Counterexample", "recorded"): "the run in numbers",
    ("Place", "columns"): "of the mistake, which the excerpt marks",
    ("Exploring", "workers"): "of a cluster, which explore --cluster starts",
}
"""What a public class has, and the page calls internal."""

SIGNATURES = list(signatures())


def test_every_public_name_is_on_the_page_once() -> None:
    shown = Counter(re.findall(r"^\.\. auto\w+:: schedproof\.api\.(\w+)$", PAGE, re.MULTILINE))
    assert set(shown.values()) == {1}
    assert set(shown) == set(api.__all__)


def test_every_public_module_is_on_the_page() -> None:
    """With all its members: a name that is added needs no line."""
    modules = {module.__name__ for module in (lang, coalescing, messages, orders, timers, testing)}
    assert set(re.findall(r"automodule:: (\S+)", PAGE)) == modules


@each_row(("module", "name"), PUBLIC, ids=lambda each: getattr(each, "__name__", each))
def test_what_is_public_says_what_it_is(module: object, name: str) -> None:
    value = getattr(module, name)
    if inspect.isclass(value) or inspect.isfunction(value):
        text = inspect.getdoc(value) or ""
        assert text and not text.startswith(f"{name}("), "a dataclass without a docstring has its signature instead"


def test_every_constant_of_the_language_is_on_the_page() -> None:
    """``automodule`` shows classes and functions only."""
    values = {
        name for name in lang.__all__ if not inspect.isclass(v := getattr(lang, name)) and not inspect.isfunction(v)
    }
    assert set(re.findall(r"(?:auto)?data:: schedproof\.model\.lang\.(\w+)$", PAGE, re.MULTILINE)) == values


def known(kind: type | str) -> bool:
    """Whether a reader of the page finds a class there, or a class that it inherits from; or in Python's own pages."""
    if isinstance(kind, str):
        return any(kind == name for _, name in PUBLIC)
    public = {getattr(module, name) for module, name in PUBLIC if inspect.isclass(getattr(module, name))}
    return not kind.__module__.startswith("schedproof") or any(base in public for base in kind.__mro__[:-1])


@each_row("signature", SIGNATURES, ids=str)
def test_what_is_taken_and_returned_is_public(signature: Signature) -> None:
    private = [
        (name, annotation)
        for name, annotation in signature.annotations.items()
        if (signature.owner, name) not in INTERNAL and not all(map(known, classes(annotation, signature.module)))
    ]
    assert private == []


@each_row("signature", SIGNATURES, ids=str)
def test_what_is_raised_is_public(signature: Signature) -> None:
    names = {name for _, name in PUBLIC} | set(vars(builtins))
    assert signature.raised - names == set()


@each_row("signature", [s for s in SIGNATURES if not s.member], ids=str)
def test_every_parameter_is_described(signature: Signature) -> None:
    assert set(signature.annotations) - {"return", "place"} - signature.described == set()


@each_row("signature", [s for s in SIGNATURES if s.member], ids=str)
def test_no_colon_makes_a_type_of_a_sentence(signature: Signature) -> None:
    """Napoleon reads "first: rest" in a property's first line, or in ``Returns``, as a type and its description."""
    lines = [*signature.doc.splitlines()[:1], signature.sections.get("Returns", "")]
    assert not any(": " in re.sub(r"(:\w+:)?`[^`]*`", "", line) for line in lines)


def test_the_json_keys_of_the_table_of_names_are_written() -> None:
    """Each stands in the ``as_json`` of a public class."""
    table = PAGE.partition("| Python | option, or what the command prints | JSON key |")[2].partition("\n## ")[0]
    keys = {
        key for row in table.splitlines() if row.startswith("|") for key in re.findall(r"`(\w+)`", row.split(" | ")[-1])
    }
    sources = "".join(inspect.getsource(v) for v in vars(api).values() if inspect.isclass(v) and hasattr(v, "as_json"))
    assert len(keys) > 5
    assert {key for key in keys if f'"{key}"' not in sources} == set()


def test_a_private_class_would_be_noticed() -> None:
    assert not known(Undisclosed)
    assert list(classes("Callable[[Hidden], Sequence[int]]", __name__))[1:] != []
    assert not known("Hidden")


class Undisclosed:
    """A class that no public module has."""


Undisclosed.__module__ = "schedproof.somewhere"
