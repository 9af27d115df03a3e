"""What tests are called."""

from __future__ import annotations

import ast

from tests.support.places import ROOT

LONGEST = 60
"""Characters: what a line of a report has room for, beside the file and the verdict."""


def test_names_are_at_most_sixty_characters() -> None:
    names = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {node.name}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
        and len(node.name) > LONGEST
    ]
    assert names == []
