"""The code of a user's own system: its manifest, its lock files, and the modules that its manifest names, with what they import."""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from importlib.machinery import ModuleSpec
from importlib.metadata import packages_distributions, version
from pathlib import Path

from schedproof.model.registry.manifest import Entry, read
from schedproof.model.registry.manifest import references as references_of
from schedproof.model.registry.system import System

IMPORTERS = frozenset(
    {"__import__", "import_module", "run_module", "run_path", "spec_from_file_location", "exec_module", "load_module"}
)
"""The functions that import what a computed name says."""

INSTALLED = {"site-packages", "dist-packages"}
"""The folders of installed packages."""


def digest_of_code(system: System) -> str:
    """A hash that is the same on two machines if a system's code is; empty for a system without a manifest.

    Imports are read from the source, also those inside functions, and of modules that are named by a text. Where a module
    computes the name of what it imports, every module of its package counts, or of its folder if it is in no package. Other
    files that a module reads do not count. An installed package counts by its version, unless the manifest names a module of
    it. Python and schedproof do not count.

    Raises:
        OSError: a file cannot be read.
    """
    if system.manifest is None or not system.manifest.is_file():
        return ""
    entry = read(system.manifest)[system.name]
    digest = hashlib.sha256()
    locks = [each.file for its in system.locks.values() for each in its]
    for number, path in enumerate([system.manifest, *locks]):
        _add(digest, f"file {number}", path.read_bytes())
    for name, content in sorted(_modules(entry)):
        _add(digest, name, content)
    return digest.hexdigest()


def _add(digest: hashlib._Hash, name: str, content: bytes) -> None:
    digest.update(f"{name}\0{len(content)}\0".encode() + content)


def _modules(entry: Entry) -> Iterator[tuple[str, bytes]]:
    """The modules of a system by name, with their source; or packages with their versions."""
    todo = [reference.partition(":")[0] for _, reference in references_of(entry)]
    own_packages = {name.partition(".")[0] for name in todo}
    known = set(todo)
    while todo:
        name = todo.pop()
        top = name.partition(".")[0]
        spec = None if top == "schedproof" else _located(name, entry.folder)
        if spec is None or not spec.has_location or spec.origin is None:
            continue
        file = Path(spec.origin)
        if not _is_beside(file, top, entry.folder):  # a file there may have the name of one of Python's modules
            if top in sys.stdlib_module_names:
                continue
            if top not in own_packages and INSTALLED & set(file.parts) and (number := _version(top)):
                yield top, number.encode()
                continue
        content = _content(spec, file)
        yield name, content
        is_package = spec.submodule_search_locations is not None
        new = set(_parents(name))
        if file.suffix == ".py" and (tree := _parsed(content)) is not None:
            new |= set(_imports(name, is_package, tree))
            if _computes_import(tree):
                new |= set(_modules_beside(name, is_package, file))
        todo += new - known
        known |= new


def _is_beside(file: Path, top: str, folder: Path | None) -> bool:
    """Whether a file is the module ``top`` in the manifest's folder, or inside that package."""
    return folder is not None and (file.parent == folder or file.is_relative_to(folder / top))


def _content(spec: ModuleSpec, file: Path) -> bytes:
    """The bytes of a module; it may be in an archive, which its loader reads."""
    read: Callable[[str], bytes] | None = getattr(spec.loader, "get_data", None)
    return file.read_bytes() if read is None else read(str(file))


def _parents(name: str) -> Iterator[str]:
    """The packages that a module is in."""
    while "." in name:
        name = name.rpartition(".")[0]
        yield name


def _parsed(content: bytes) -> ast.Module | None:
    """The syntax tree of a module; None for code for another Python, which nobody can import here."""
    with suppress(SyntaxError, ValueError, RecursionError):
        return ast.parse(content)
    return None


def _imports(name: str, is_package: bool, tree: ast.Module) -> Iterator[str]:
    """The names of what may be modules, of all imports of a module."""
    package = name.split(".") if is_package else name.split(".")[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(package, node.level, node.module or "")
            yield base
            yield from (f"{base}.{each.name}" for each in node.names)
        elif isinstance(node, ast.Call) and (text := _text_of_import(node)):
            base = text.lstrip(".")
            yield _absolute(package, len(text) - len(base), base)


def _absolute(package: Sequence[str], level: int, base: str) -> str:
    """The name of a module without dots at its front; ``level`` is their number."""
    above = package[: max(0, len(package) - level + 1)] if level else []
    return ".".join([*above, *([base] if base else [])])


def _computes_import(tree: ast.Module) -> bool:
    """Whether a module may import another one whose name its source does not have."""
    nodes = list(ast.walk(tree))
    plain = {id(node.func) for node in nodes if isinstance(node, ast.Call) and _text_of_import(node)}
    renamed = (each.name for n in nodes if isinstance(n, ast.ImportFrom) for each in n.names if each.asname)
    return any(_name(node) in IMPORTERS for node in nodes if id(node) not in plain) or not IMPORTERS.isdisjoint(renamed)


def _modules_beside(name: str, is_package: bool, file: Path) -> Iterator[str]:
    """The modules in the outermost package of a module; of one that is in none, those in its folder, with all packages there."""
    above = file.parents[name.count(".") + is_package]
    top = name.partition(".")[0]
    if (above / top).is_dir():
        yield from _inside(above / top, f"{top}.")
        return
    yield from (path.stem for path in above.glob("*.py"))
    for package in above.glob("*/__init__.py"):
        yield package.parent.name
        yield from _inside(package.parent, f"{package.parent.name}.")


def _inside(folder: Path, prefix: str) -> Iterator[str]:
    """The modules in a folder and those below, by name."""
    for path in folder.iterdir():
        if path.suffix == ".py" and path.stem != "__init__":
            yield prefix + path.stem
        elif path.name.isidentifier() and path.is_dir() and not path.is_symlink():
            yield prefix + path.name
            yield from _inside(path, f"{prefix}{path.name}.")


def _name(node: ast.AST) -> str:
    """The last part of a name; empty for what has none."""
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _text_of_import(call: ast.Call) -> str:
    """The module that a call imports; empty if it imports none, or by a computed name."""
    if _name(call.func) not in ("import_module", "__import__") or not call.args:
        return ""
    text = getattr(call.args[0], "value", "")
    return text if isinstance(text, str) else ""


def _located(name: str, folder: Path | None) -> ModuleSpec | None:
    """Where a module is, without importing it or the packages that it is in; ``folder`` is searched first."""
    path: list[str] | None = [str(folder), *sys.path] if folder is not None else None
    spec: ModuleSpec | None = None
    parts = name.split(".")
    for n in range(len(parts)):
        spec = _spec_of(".".join(parts[: n + 1]), path) or (_spec_of(parts[0], None) if n == 0 else None)
        if spec is None and (folders := [each for part in path or () if (each := Path(part) / parts[n]).is_dir()]):
            # A folder without __init__.py inside another one: Python finds it only once that one is imported.
            path = [str(each) for each in folders]
            continue
        if spec is None:
            return None
        path = None if spec.submodule_search_locations is None else list(spec.submodule_search_locations)
        if path is None and n < len(parts) - 1:
            return None  # an object in a module
    return spec


def _spec_of(name: str, path: list[str] | None) -> ModuleSpec | None:
    for finder in sys.meta_path:
        with suppress(Exception):  # a finder of a package may not expect to be asked
            if (spec := finder.find_spec(name, path)) is not None:
                return spec
    return None


@cache
def _version(top: str) -> str:
    """The versions of the packages that a module comes from; empty if it was put there without one."""
    return " ".join(f"{each} {version(each)}" for each in sorted(set(packages_distributions().get(top, ()))))
