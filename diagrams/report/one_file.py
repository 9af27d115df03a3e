"""A report in one file: its pages, compressed, and a script that shows one at a time."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Mapping
from pathlib import Path

import jinja2

from schedproof.diagrams.player.page import embedded, script_hash

from .earlier import DATA

TEMPLATES = Path(__file__).parent / "templates"


SHARED = re.compile(r"(?<=<(script)>).*?(?=</script>)|(?<=<(style)>).*?(?=</style>)", re.DOTALL)
"""What many pages contain. It is stored once."""


def one_file(pages: Mapping[str, str], title: str) -> str:
    """The pages of a report as one page of HTML.

    Args:
        pages: path -> text, with the data of the report.
        title: the title.
    """
    script = (TEMPLATES / "one_file.js").read_text("utf-8")
    scripts = {script}
    shared: dict[str, int] = {}
    packed = {}
    for path, text in pages.items():
        if path != DATA:
            scripts |= {each[0] for each in SHARED.finditer(text) if each[1]}
            packed[path] = _packed(json.dumps(_pieces(text, shared)))
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=True)
    return environment.get_template("one_file.html").render(
        title=title,
        verdicts=embedded(json.loads(pages[DATA])),
        shared=embedded([_packed(text) for text in shared]),
        pages=embedded(packed),
        script=script,
        hashes=sorted(script_hash(text) for text in scripts),
    )


def _pieces(text: str, shared: dict[str, int]) -> list[str | int]:
    """A page in pieces: its own text, and the numbers of shared texts. So no text of a model is taken for a shared one."""
    pieces: list[str | int] = []
    end = 0
    for each in SHARED.finditer(text):
        pieces += [text[end : each.start()], shared.setdefault(each[0], len(shared))]
        end = each.end()
    return [*pieces, text[end:]]


def _packed(text: str) -> str:
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()
