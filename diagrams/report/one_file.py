"""A report in one file: its pages, compressed, and a script that shows one at a time."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Mapping
from pathlib import Path

import jinja2

from schedproof.diagrams.player.page import embedded, script_hash

from .earlier import DATA

TEMPLATES = Path(__file__).parent / "templates"


SHARED = re.compile(r"<(script|style)>(.*?)</\1>", re.DOTALL)
"""What many pages contain. It is stored once."""


def one_file(pages: Mapping[str, str], title: str) -> str:
    """The pages of a report as one page of HTML.

    Args:
        pages: path -> text, with the data of the report.
        title: the title.
    """
    script = (TEMPLATES / "one_file.js").read_text("utf-8")
    scripts, parts, packed = {script}, {}, {}

    def marked(block: re.Match[str]) -> str:
        kind, text = block.groups()
        if kind == "script":
            scripts.add(text)
        mark = f"[[{hashlib.sha256(text.encode()).hexdigest()}]]"
        parts[mark] = text
        return f"<{kind}>{mark}</{kind}>"

    for path, text in pages.items():
        if path != DATA:
            packed[path] = _packed(SHARED.sub(marked, text))
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=True)
    return environment.get_template("one_file.html").render(
        title=title,
        verdicts=embedded(json.loads(pages[DATA])),
        shared=embedded({mark: _packed(text) for mark, text in parts.items()}),
        pages=embedded(packed),
        script=script,
        hashes=sorted(script_hash(text) for text in scripts),
    )


def _packed(text: str) -> str:
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()
