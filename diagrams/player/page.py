"""The page of a run: one HTML file with its data, style and script, which fetches nothing."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import jinja2

from schedproof.diagrams.layout import layout_scripts
from schedproof.diagrams.line_links import NO_LINKS, LineLinks
from schedproof.model.lang import Model, Property
from schedproof.proofs.exploration.counterexample_text import counterexample_lines, sequence
from schedproof.proofs.verdict import Counterexample

from .build import DEPTH, OtherRun, played
from .data import About, MachineTable, Played
from .machines import picture
from .regression import regression_test

FOLDER = Path(__file__).parent

SCRIPTS = (
    "expression.js",
    "parts.js",
    "run.js",
    "branches.js",
    "comparison.js",
    "panes.js",
    "expression_pane.js",
    "player.js",
)
"""The parts of the page's script, which share one scope."""

Trail = Sequence[tuple[str, str]]
"""Links to the pages above: text and address."""


@dataclass(frozen=True)
class DefectNote:
    """A defect that a run may show.

    Attributes:
        name: its name.
        wrong: what is wrong; "" if the model does not say it.
        repair: what makes it right.
        address: of the finding.
    """

    name: str
    wrong: str
    repair: str
    address: str


def page(
    model: Model,
    example: Counterexample,
    about: About,
    prop: Property | None = None,
    *,
    draw: Callable[[MachineTable, int], str] = picture,
    trail: Trail = (),
    depth: int = DEPTH,
    compare_to: Model | OtherRun | None = None,
    links: LineLinks = NO_LINKS,
) -> str:
    """The page that plays a run, as HTML.

    Args:
        model: the model of the run.
        example: the run.
        about: what the page says of it.
        prop: the property that the run violates; None for a run that violates none.
        draw: draws the machine with a number as SVG; what it leaves empty, the page draws.
        trail: links to the pages above.
        depth: the most steps away from the run, 0 to 2.
        compare_to: the variant to play the same actions in, beside the run; or another run.
        links: to the lines of the model's document.

    Raises:
        DiagramError: ``example`` is not a run of the model from its initial state, or is too long for a page; or the other run.
    """
    data = played(model, example, about, prop, depth=depth, compare_to=compare_to, address=links.address)
    return page_of(data, model, example, prop, draw=draw, trail=trail, links=links)


def page_of(
    data: Played,
    model: Model,
    example: Counterexample,
    prop: Property | None = None,
    *,
    draw: Callable[[MachineTable, int], str] = picture,
    trail: Trail = (),
    links: LineLinks = NO_LINKS,
    beside: str = "",
    defects: Sequence[DefectNote] = (),
) -> str:
    """The page that plays a run, as HTML, with this data.

    Args:
        data: what the page shows.
        beside: the address of a page that plays the run beside another one; "" for none.
        defects: what the run may show.

    The other arguments are those of :func:`page`.
    """
    about = data.about
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    pictures = [(table.sort, draw(table, n)) for n, table in enumerate(data.machines)]
    script = page_script(lays_out=not all(svg for _, svg in pictures))
    return environment.get_template("page.html").render(
        data=data,
        about=about,
        trail=trail,
        links=links,
        beside=beside,
        defects=defects,
        quote=data.quotes.get(str(about.line), ""),
        pictures=pictures,
        text="\n".join(counterexample_lines(model, example)),
        mermaid=sequence(model, about.title, example),
        test=regression_test(model, example, about.title, prop),
        style=(FOLDER / "player.css").read_text("utf-8"),
        script=script,
        script_hash=script_hash(script),
        json=embedded(data.as_json()),
    )


def page_script(*, lays_out: bool = False) -> str:
    """The page's script.

    Args:
        lays_out: whether it draws the machines.
    """
    of_player = [(FOLDER / name).read_text("utf-8") for name in SCRIPTS]
    parts = "\n".join([*(layout_scripts() if lays_out else ()), *of_player])
    return f'"use strict";\n(() => {{\n{parts}}})();'


def embedded(data: object) -> str:
    """Data as JSON that no HTML parser takes for markup, inside a script element."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def script_hash(script: str) -> str:
    """The hash of a script, as a content security policy has it: the page then runs no other."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
