"""The page that plays any two runs of a system side by side: the reader chooses them."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import jinja2

from schedproof.diagrams.layout import layout_scripts
from schedproof.diagrams.line_links import NO_LINKS

from .data import About, Branches, Played
from .page import FOLDER, Trail, embedded, page_script, script_hash

NOTHING = Played(About(""), "", "", "", None, (), (), (), (), {}, {})
"""What the page plays before it has a run."""


@dataclass(frozen=True)
class OfferedRun:
    """A run that the reader may choose.

    Attributes:
        key: names the run in the page's address.
        property: the name of the property that it violates.
        played: its data.
        address: of the page that plays it alone.
    """

    key: str
    property: str
    played: Played
    address: str


def side_by_side(title: str, runs: Sequence[OfferedRun], trail: Trail) -> str:
    """The page, as HTML.

    Args:
        title: the title.
        runs: at least two.
        trail: links to the pages above.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    script = _script()
    return environment.get_template("side_by_side.html").render(
        data=NOTHING,
        about=About(title),
        trail=trail,
        pictures=(),
        links=NO_LINKS,
        style="\n".join((FOLDER / name).read_text("utf-8") for name in ("player.css", "side_by_side.css")),
        script=script,
        script_hash=script_hash(script),
        json=embedded(NOTHING.as_json()),
        runs=runs,
        packed=embedded([_packed(each) for each in runs]),
    )


@cache
def _script() -> str:
    layout, choice = "\n".join(layout_scripts()), (FOLDER / "side_by_side.js").read_text("utf-8")
    return f'"use strict";\n(() => {{\n{layout}\nconst play = () => {{\n{page_script()}\n}};\n{choice}}})();'


def _packed(run: OfferedRun) -> dict[str, str]:
    """A run as the page's script reads it: compressed, since many runs are on the page."""
    alone = replace(run.played, branches=Branches(), comparison=None)
    data = json.dumps(alone.as_json(), ensure_ascii=False, separators=(",", ":")).encode()
    packed = base64.b64encode(zlib.compress(data, 9)).decode()
    return {"key": run.key, "property": run.property, "address": run.address, "data": packed}
