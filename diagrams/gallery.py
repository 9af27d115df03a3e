"""The gallery: every picture of every system in every format, checked in beside this module.

    python -m schedproof.diagrams.gallery [--check]

draws it again, or says what is stale. A picture is stale if its DOT or Mermaid text is not what the
model gives now, or if its SVG or PNG was drawn from other DOT.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..model.lang import Model
from ..model.systems import SYSTEMS
from .dot import dot
from .errors import DiagramError
from .from_model import TRIGGERS, diagram, picture_names
from .images import fingerprint, png, png_fingerprint, svg, svg_fingerprint
from .mermaid import mermaid
from .render import write_whole
from .representation import Diagram
from .style import used_marks

FOLDER = Path(__file__).parent / "gallery"
ENDINGS = (".svg", ".png", ".dot", ".mmd")
REMEDY = "python -m schedproof.diagrams.gallery"

Systems = Mapping[str, Mapping[str, Model]]
"""System name -> variant name -> model."""


@dataclass(frozen=True)
class Picture:
    """One picture of the gallery; ``stem`` is its path in the gallery without an ending."""

    stem: str
    heading: str
    about: str
    dot: str
    mermaid: str


def pictures(systems: Systems) -> Iterator[Picture]:
    """All pictures, in the order of the registry.

    A variant that amends another is compared with the system's first variant.
    """
    for system, variants in systems.items():
        first = next(iter(variants.values()))
        for variant, model in variants.items():
            since = first if model.changes and model is not first else None
            for name in picture_names(model):
                drawn = diagram(model, name, since=since)
                about = _about(model, name, drawn)
                yield Picture(f"{system}/{variant}/{name}", f"{variant}: {name}", about, dot(drawn), mermaid(drawn))


def _about(model: Model, name: str, drawn: Diagram) -> str:
    """One sentence on a picture."""
    if name == TRIGGERS:
        said = "Which event triggers which: a step begins at an action and goes on from left to right"
    else:
        machine = model.machine(name)
        events = len({row.event for row in model.table(name)})
        line = "" if machine.line is None else f", line {machine.line}"
        said = (
            f"The {len(machine.states)} states of a {name} and its {events} events "
            f"({model.document.title}: {model.document.name}{line})"
        )
    if drawn.since is None:
        return f"{said}."
    return f"{said}; {'what differs from' if used_marks(drawn) else 'nothing here differs from'} `{drawn.since}`" + (
        " is marked." if used_marks(drawn) else "."
    )


def readme(systems: Systems) -> str:
    """The gallery's own page."""
    lines = [
        "# Gallery",
        "",
        "Every picture here is generated from the models and kept fresh by a test; do not edit it, but run",
        f"`{REMEDY}` after a change of a model.",
        "",
        "How to read them: the dot and its arrow lead to a machine's first state, a double border marks a state that is",
        "never left. A *persistent* state survives a crash; what is *volatile* is lost (dashed); what is",
        "*derived* is not written down but follows from what survives. Where a variant is compared with another, green is",
        "added and grey is removed. In the pictures of triggers an arrow says that one event (or action) causes the other,",
        "a dashed line with a bar (in Mermaid: *not*, with a cross) that the other happens only where the first does not.",
        "Guards, parameters and updates are not drawn: the model's tables have them.",
    ]
    shown = ""
    for picture in pictures(systems):
        system = picture.stem.split("/")[0]
        if system != shown:
            lines += ["", f"## {system}"]
            shown = system
        files = ", ".join(f"[{ending[1:]}]({picture.stem}{ending})" for ending in ENDINGS)
        lines += [
            "",
            f"### {picture.heading}",
            "",
            picture.about,
            "",
            f"![{system}, {picture.heading}]({picture.stem}.svg)",
            "",
            f"Files: {files}.",
            "",
            "<details><summary>The same in Mermaid</summary>",
            "",
            "```mermaid",
            picture.mermaid.rstrip(),
            "```",
            "",
            "</details>",
        ]
    return "\n".join([*lines, ""])


def texts(systems: Systems) -> dict[str, str]:
    """The files of the gallery that are compared as they are: path -> content."""
    found = {"README.md": readme(systems)}
    for picture in pictures(systems):
        found |= {f"{picture.stem}.dot": picture.dot, f"{picture.stem}.mmd": picture.mermaid}
    return found


def stale(systems: Systems, folder: Path = FOLDER) -> list[str]:
    """What is not as it should be in the gallery, one line for each file; empty if it is fresh.

    Needs no graphviz program.
    """
    wanted = texts(systems)
    hashes = {f"{p.stem}.{ending}": fingerprint(p.dot) for p in pictures(systems) for ending in ("svg", "png")}
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    wrong = [f"{name}: missing" for name in (*wanted, *hashes) if name not in there]
    wrong += [f"{name}: nothing draws it" for name in sorted(there - {*wanted, *hashes})]
    for name in sorted(there & set(wanted)):
        if (folder / name).read_bytes() != wanted[name].encode():
            wrong.append(f"{name}: not what the model gives now")
    for name in sorted(there & set(hashes)):
        data = (folder / name).read_bytes()
        drawn = png_fingerprint(data) if name.endswith(".png") else svg_fingerprint(data.decode(errors="replace"))
        if drawn != hashes[name]:
            wrong.append(f"{name}: drawn from other DOT")
    return wrong


def regenerate(systems: Systems, folder: Path = FOLDER) -> None:
    """Draws the gallery again and removes pictures that nothing draws; changes nothing if one cannot be drawn.

    Raises:
        DiagramError: no ``dot`` program, or a file that cannot be written.
    """
    content: dict[str, str | bytes] = dict(texts(systems))
    for picture in pictures(systems):
        content |= {f"{picture.stem}.svg": svg(picture.dot), f"{picture.stem}.png": png(picture.dot)}
    for name, data in content.items():
        path = folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DiagramError(f"cannot make the folder {path.parent}: {error.strerror}") from None
        write_whole(path, data)
    for path in folder.rglob("*"):
        if path.suffix in ENDINGS and path.is_file() and path.relative_to(folder).as_posix() not in content:
            path.unlink()


def registered() -> Systems:
    """The systems of the project, each with its variants."""
    return {name: system.variants for name, system in SYSTEMS.items()}


def main(arguments: Sequence[str] | None = None) -> int:
    """Draws or checks the gallery; returns the exit code: 0 fresh, 1 stale, 2 cannot be drawn or written."""
    parser = argparse.ArgumentParser(prog=REMEDY, description="draws the gallery again")
    parser.add_argument("--check", action="store_true", help="change nothing: say what is stale, exit 1 if anything is")
    options = parser.parse_args(arguments)
    try:
        if options.check:
            wrong = stale(registered())
            for line in wrong:
                print(f"{FOLDER.name}/{line}; run {REMEDY}", file=sys.stderr)
            return 1 if wrong else 0
        regenerate(registered())
    except DiagramError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
