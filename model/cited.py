"""What a model cites: lines of its document and facts, as its files of quotes and facts have them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from .lang import Document
from .registry.errors import UserError


def quote(document: Document, line: int | None) -> str:
    """The text of a document's line that a model cites; "" if unknown."""
    if document.quotes is None:
        return ""
    return _quotes(document.quotes).get(document.name, {}).get(str(line), "")


def fact(document: Document, key: str) -> str:
    """The text of a fact that the document leaves out, by its number, or its number and place; "" if unknown."""
    return _facts(document.facts).get(key, "") if document.facts is not None else ""


@cache
def _facts(file: Path) -> Mapping[str, str]:
    facts: dict[str, str] = _content(file, "facts")
    return facts


@cache
def _quotes(file: Path) -> Mapping[str, Mapping[str, str]]:
    quotes: dict[str, dict[str, str]] = _content(file, "quotes")
    return quotes


def _content(file: Path, argument: str) -> Any:
    """The object in a JSON file that a ``Document`` names as ``argument``.

    Raises:
        UserError: the file cannot be read, or has no JSON object.
    """
    try:
        content = json.loads(file.read_text("utf-8"))
    except OSError as error:
        problem = f"cannot read {str(file)!r}: {error.strerror}"
    except ValueError:
        problem = f"{str(file)!r} is not JSON"
    else:
        if isinstance(content, dict):
            return content
        problem = f"{str(file)!r} is not a JSON object"
    raise UserError(f"{problem}; write the path of a JSON object in {argument}= of the Document")
