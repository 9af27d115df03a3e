"""What a reference implementation imports: it must not depend on the model that it is compared with."""

from __future__ import annotations

import ast
from pathlib import Path

import schedproof.impl

IMPL = Path(schedproof.impl.__file__).parent


def imports(path: Path) -> set[str]:
    """What a module of ``schedproof.impl`` imports of the project, as absolute names "module:name".

    Raises:
        AssertionError: it may import something by other means.
    """
    package = ["schedproof", "impl", *path.parent.relative_to(IMPL).parts]
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {f"{alias.name}:" for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            names |= {f"{module}:{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Name):
            assert node.id not in ("__import__", "importlib", "eval", "exec", "globals"), path.name
    return {name for name in names if name.startswith("schedproof")}


def dependencies(folder: str) -> set[tuple[str, str]]:
    """What the modules of a folder of ``schedproof.impl`` import from outside of it, and what these import in turn.

    Returns:
        Pairs of a module's path and the absolute name "module:name" that it imports.
    """
    pairs: set[tuple[str, str]] = set()
    done: set[Path] = set()
    todo = sorted((IMPL / folder).rglob("*.py"))
    inside = f"schedproof.impl.{folder.replace('/', '.')}"
    while todo:
        path = todo.pop()
        if path in done:
            continue
        done.add(path)
        for name in imports(path):
            module, _, attribute = name.partition(":")
            if f"{module}.".startswith(f"{inside}."):
                continue
            pairs.add((str(path.relative_to(IMPL)), name))
            if module == "schedproof.impl" or module.startswith("schedproof.impl."):
                at = IMPL.joinpath(*module.split(".")[2:])
                candidates = [
                    at.with_suffix(".py"),
                    at / "__init__.py",
                    at / f"{attribute}.py",
                    at / attribute / "__init__.py",
                ]
                todo += [candidate for candidate in candidates if candidate.is_file()]
    return pairs
