"""YAML files as plain data, with the place of every part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from schedproof.model.lang.excerpt import Span, between, excerpt
from schedproof.proofs.traces.errors import TraceError

from .schema import Shape

MOST_DEEP = 50
"""The limit for nesting."""

Path_ = tuple[str | int, ...]


@dataclass(frozen=True)
class YamlFile:
    """The data of a file, and where each part is.

    Args:
        file: the name of the file, for messages.
        path: its path, for excerpts.
        data: the plain data.
        keys: keys and positions from the root -> where the part begins: for a value with a key, its key.
        scalars: the same of the parts that are one text, number or truth value -> where this is.
    """

    file: str
    path: Path
    data: Any
    keys: Mapping[Path_, Span]
    scalars: Mapping[Path_, Span]

    def error(self, problem: str, *where: str | int, of_key: bool = False) -> TraceError:
        """An error: ``problem`` after the place of the part, with its line.

        Args:
            problem: what is wrong, and what to write instead.
            where: keys and positions of the part.
            of_key: whether its key is wrong, not its value.
        """
        span = self.keys[self._around(where)] if of_key else self.scalars.get(where, self.keys[self._around(where)])
        return _error(self.file, self.path, problem, span)

    def line(self, *where: str | int) -> int:
        """The line of a part, or of the smallest part around it that has one."""
        return self.keys[self._around(where)].line

    def _around(self, where: Path_) -> Path_:
        return next(where[:n] for n in range(len(where), -1, -1) if where[:n] in self.keys)

    def check(self, shape: Shape) -> None:
        """Checks that the data have this shape.

        Raises:
            TraceError: they do not.
        """
        if (mismatch := shape.problem(self.data)) is not None:
            where, problem = mismatch
            raise self.error(problem, *where, of_key=bool(where) and f'unknown field "{where[-1]}"' in problem)


def _error(name: str, path: Path, problem: str, span: Span | None) -> TraceError:
    """An error with its line, and the line itself below; without a place if none is known."""
    if span is None:
        return TraceError(f"{name}: {problem}")
    return TraceError(f"{name}, line {span.line}: {problem}").with_excerpt(excerpt(str(path), span.line, span))


def read_yaml(path: Path, name: str | None = None) -> YamlFile:
    """The data of a YAML file.

    Args:
        path: the file.
        name: what messages call it; by default its path.

    Raises:
        TraceError: the file is unreadable or not YAML, or is not plain data: it has an alias, or a key twice.
    """
    name = str(path) if name is None else name
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
    lines = text.splitlines()
    try:
        depth = 0
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > MOST_DEEP:
                problem = f"nested more than {MOST_DEEP} deep; write less in one part"
                raise _error(name, path, problem, _span(lines, event))
            if isinstance(event, yaml.AliasEvent):
                problem = "an alias (*name) cannot be used here; write the part out, or extend another file"
                raise _error(name, path, problem, _span(lines, event))
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        span = between(lines, mark, mark) if mark is not None else None
        raise _error(name, path, f"not YAML: {error.problem or error.context}; correct it", span) from None
    except yaml.YAMLError as error:
        raise TraceError(f"{name}: not YAML: {str(error).splitlines()[0]}; correct it") from None
    if root is None:
        raise TraceError(f"{name}: the file is empty; write a mapping")
    keys: dict[Path_, Span] = {}
    scalars: dict[Path_, Span] = {}

    def plain(node: yaml.Node, where: Path_) -> Any:
        keys[where] = _span(lines, node)
        if isinstance(node, yaml.MappingNode):
            mapping: dict[str, Any] = {}
            for key, value in node.value:
                written = key.value if isinstance(key, yaml.ScalarNode) else None
                if written is None or written in mapping:
                    problem = (
                        "a key is not a text; write a text"
                        if written is None
                        else f"the key {written!r} is written twice; leave out one"
                    )
                    raise _error(name, path, problem, _span(lines, key))
                mapping[written] = plain(value, (*where, written))
                keys[(*where, written)] = _span(lines, key)
            return mapping
        if isinstance(node, yaml.SequenceNode):
            return [plain(each, (*where, i)) for i, each in enumerate(node.value)]
        scalars[where] = keys[where]
        return yaml.SafeLoader("").construct_object(node)

    return YamlFile(name, path, plain(root, ()), keys, scalars)


def _span(lines: Sequence[str], part: yaml.Event | yaml.Node) -> Span:
    """Where a part is."""
    if part.start_mark is None or part.end_mark is None:
        return Span(1, 0, 1, 1)
    return between(lines, part.start_mark, part.end_mark)
