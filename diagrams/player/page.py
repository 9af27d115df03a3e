"""The page of a run: one HTML file with its data, style and script, which fetches nothing."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import jinja2

from schedproof.model.lang import Model, Property
from schedproof.proofs.exploration.counterexample_text import counterexample_lines, sequence
from schedproof.proofs.verdict import Counterexample

from .build import played
from .data import About, MachineTable
from .machines import picture

FOLDER = Path(__file__).parent


Trail = Sequence[tuple[str, str]]
"""Links to the pages above: text and address."""


def page(
    model: Model,
    example: Counterexample,
    about: About,
    prop: Property | None = None,
    *,
    draw: Callable[[MachineTable, int], str] = picture,
    trail: Trail = (),
) -> str:
    """The page that plays a run, as HTML.

    Args:
        model: the model of the run.
        example: the run.
        about: what the page says of it.
        prop: the property that the run violates; None for a run that violates none.
        draw: draws the machine with a number as SVG; "" for no picture.
        trail: links to the pages above.

    Raises:
        DiagramError: ``example`` is not a run of the model from its initial state, or is too long for a page.
    """
    data = played(model, example, about, prop)
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    script = page_script()
    return environment.get_template("page.html").render(
        data=data,
        about=about,
        trail=trail,
        quote=data.quotes.get(str(about.line), ""),
        pictures=[(table.sort, draw(table, n)) for n, table in enumerate(data.machines)],
        text="\n".join(counterexample_lines(model, example)),
        mermaid=sequence(model, about.title, example),
        style=(FOLDER / "player.css").read_text("utf-8"),
        script=script,
        script_hash=script_hash(script),
        json=embedded(data.as_json()),
    )


def page_script() -> str:
    """The page's script."""
    return (FOLDER / "player.js").read_text("utf-8")


def embedded(data: object) -> str:
    """Data as JSON that no HTML parser takes for markup, inside a script element."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def script_hash(script: str) -> str:
    """The hash of a script, as a content security policy has it: the page then runs no other."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
