"""YAML files as plain data, with the line of every part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from schedproof.proofs.traces.errors import TraceError

from .schema import Shape

MOST_DEEP = 50
"""The limit for nesting."""

Path_ = tuple[str | int, ...]


@dataclass(frozen=True)
class YamlFile:
    """The data of a file, and the line where each part begins.

    Args:
        file: the name of the file.
        data: the plain data.
        lines: keys and positions from the root -> line; for a value with a key, the line of the key.
    """

    file: str
    data: Any
    lines: Mapping[Path_, int]

    def error(self, problem: str, *where: str | int) -> TraceError:
        """An error: ``problem`` after the place of the part."""
        return TraceError(f"{self.file}, line {self.line(*where)}: {problem}")

    def line(self, *where: str | int) -> int:
        """The line of a part, or of the smallest part around it that has one."""
        return next(self.lines[where[:n]] for n in range(len(where), -1, -1) if where[:n] in self.lines)

    def check(self, shape: Shape) -> None:
        """Checks that the data have this shape.

        Raises:
            TraceError: they do not.
        """
        problem = shape.problem(self.data)
        if problem is not None:
            raise self.error(problem[1], *problem[0])


def read_yaml(path: Path) -> YamlFile:
    """The data of a YAML file.

    Raises:
        TraceError: the file is unreadable or not YAML, or is not plain data: it has an alias, or a key twice.
    """
    name = str(path)
    try:
        text = path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise TraceError(f"{name}: byte {error.start + 1} is not UTF-8; save the file as UTF-8") from None
    except OSError as error:
        what = (
            "is a directory; name a file"
            if path.is_dir()
            else f"cannot be read: {error.strerror or error}; name a file that you can read"
        )
        raise TraceError(f"{name}: {what}") from None
    except ValueError:
        raise TraceError(f"{name!r} cannot be a file name; name a file") from None
    try:
        depth = 0
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > MOST_DEEP:
                raise TraceError(
                    f"{name}, line {_line(event)}: nested more than {MOST_DEEP} deep; write less in one part"
                )
            if isinstance(event, yaml.AliasEvent):
                what = "an alias (*name) cannot be used here; write the part out, or extend another file"
                raise TraceError(f"{name}, line {_line(event)}: {what}")
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        at = f", line {mark.line + 1}" if mark is not None else ""
        raise TraceError(f"{name}{at}: not YAML: {error.problem or error.context}; correct it") from None
    except yaml.YAMLError as error:
        raise TraceError(f"{name}: not YAML: {str(error).splitlines()[0]}; correct it") from None
    if root is None:
        raise TraceError(f"{name}: the file is empty; write a mapping")
    lines: dict[Path_, int] = {}
    data = _plain(root, (), lines, name)
    return YamlFile(name, data, lines)


def _line(of: yaml.Event) -> int:
    return of.start_mark.line + 1 if of.start_mark is not None else 1


def _plain(node: yaml.Node, where: Path_, lines: dict[Path_, int], name: str) -> Any:
    lines[where] = node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        mapping: dict[str, Any] = {}
        for key, value in node.value:
            text = key.value if isinstance(key, yaml.ScalarNode) else None
            if text is None or text in mapping:
                what = (
                    "a key is not a text; write a text"
                    if text is None
                    else f"the key {text!r} is written twice; leave out one"
                )
                raise TraceError(f"{name}, line {key.start_mark.line + 1}: {what}")
            mapping[text] = _plain(value, (*where, text), lines, name)
            lines[(*where, text)] = key.start_mark.line + 1
        return mapping
    if isinstance(node, yaml.SequenceNode):
        return [_plain(each, (*where, i), lines, name) for i, each in enumerate(node.value)]
    return yaml.SafeLoader("").construct_object(node)
