"""Documentation, examples and docstrings for users import only what is public: the rest may change without notice."""

from __future__ import annotations

import ast
import re
import textwrap
from pathlib import Path

import pytest

import schedproof
from schedproof import api, testing
from schedproof.model import lang
from schedproof.model.lang import coalescing, messages, orders, timers
from tests.support.places import ROOT
from tests.support.rows import each_row

PUBLIC = {module.__name__: set(module.__all__) for module in (api, lang, coalescing, messages, orders, timers, testing)}
PAGES = sorted(
    page
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    if {"decisions", "_build"}.isdisjoint(page.parts)
)


def imported(code: str) -> list[tuple[str, str]]:
    """The imports of schedproof in a block, as (module, name); without name for ``import module``."""
    names = []
    for node in ast.walk(ast.parse(textwrap.dedent(code))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "schedproof":
            names += [(node.module or "", alias.name) for alias in node.names]
        elif isinstance(node, ast.Import):
            names += [(alias.name, "") for alias in node.names if alias.name.startswith("schedproof")]
    return names


def private(code: str) -> list[str]:
    """What a block imports that is not public; a public module may be imported from its package."""
    public = {*PUBLIC, *(f"{module}.{name}" for module, names in PUBLIC.items() for name in names)}
    return [path for module, name in imported(code) if (path := f"{module}.{name}" if name else module) not in public]


def blocks(page: str) -> list[str]:
    """The Python blocks of a page that are complete; a part of a class has no imports."""
    return [
        block for block in re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE) if "import" in block
    ]


@each_row("page", PAGES, ids=lambda page: page.name)
def test_pages_import_what_is_public(page: Path) -> None:
    assert [name for block in blocks(page.read_text("utf-8")) for name in private(block)] == []


def test_the_first_docstring_imports_what_is_public() -> None:
    _, _, code = (schedproof.__doc__ or "").partition("::\n")
    code, _, _ = code.partition("``ARCHITECTURE")
    assert imported(code) and private(code) == []


@pytest.mark.parametrize(
    "code",
    [
        "from schedproof.proofs.induction import prove\n",
        "from schedproof.api import Path\n",
        "import schedproof.model.semantics\n",
        "from schedproof import proofs\n",
    ],
)
def test_a_private_import_is_found(code: str) -> None:
    assert private(code) != []


@pytest.mark.parametrize("code", ["from schedproof import api\n", "import schedproof.api\n", "import sys\n"])
def test_a_public_import_is_allowed(code: str) -> None:
    assert private(code) == []
