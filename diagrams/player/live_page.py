"""The page that plays the runs of a server's sessions while their records arrive."""

from __future__ import annotations

from functools import cache

import jinja2

from schedproof.diagrams.layout import layout_scripts
from schedproof.diagrams.line_links import NO_LINKS

from .data import About, Played
from .page import FOLDER, embedded, page_script, script_hash

ABOUT = About("Live sessions")

NOTHING = Played(ABOUT, "", "", "", None, (), (), (), (), {}, {})
"""What the page plays before it has a run."""


@cache
def live_page() -> str:
    """The page, as HTML. It has no data of any session: its script asks the server for them."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    layout, live = "\n".join(layout_scripts()), (FOLDER / "live.js").read_text("utf-8")
    script = f'"use strict";\n(() => {{\n{layout}\nconst play = () => {{\n{page_script()}\n}};\n{live}}})();'
    return environment.get_template("live.html").render(
        data=NOTHING,
        about=ABOUT,
        trail=(),
        pictures=(),
        links=NO_LINKS,
        style="\n".join((FOLDER / name).read_text("utf-8") for name in ("player.css", "live.css")),
        script=script,
        script_hash=script_hash(script),
        connects=True,
        json=embedded(NOTHING.as_json()),
    )
