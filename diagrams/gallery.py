"""The gallery: every picture of every system as SVG, and in Mermaid on the pages, checked in beside this module.

    python -m schedproof.diagrams.gallery [--check]
    python -m schedproof.diagrams.gallery --format png --into DIRECTORY

The first command draws what is stale; with ``--check`` it lists what is stale.
A page is stale if its text differs from what the models give now.
A picture is stale if its SVG was drawn from other DOT, or was changed since. This check does not need graphviz.
The second command draws all pictures in one format (svg, png, dot, mermaid), for a reader who does not want SVG.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from schedproof.model.lang import Model
from schedproof.model.lang.waiting import Waiting
from schedproof.model.registry.discovery import systems
from schedproof.model.registry.system import System

from .auxiliary import auxiliary_pictures
from .deadlock import WAIT_FOR, deadlocks
from .dot import dot
from .errors import DiagramError
from .from_model import TRIGGERS, diagram, picture_names
from .images import fingerprint, is_intact, png, svg, svg_fingerprint
from .mermaid import mermaid
from .pairing import all_observed, changing_pairings, pairing
from .representation import Diagram
from .style import used_marks
from .writing import write_whole

FOLDER = Path(__file__).parent / "gallery"
PAGE = "README.md"
REPLACED = (".svg", ".png", ".dot", ".mmd", ".md")
"""The endings of the files that are removed if no picture draws them."""

REMEDY = "python -m schedproof.diagrams.gallery"

MOST_PAIRS = 40
"""The most pairs of states in a picture of the gallery; larger pictures are drawn on request only."""

Systems = Mapping[str, System]
"""Systems by name."""


@dataclass(frozen=True)
class Picture:
    """One picture of the gallery; ``stem`` is its path in the gallery without an ending: system/variant/name."""

    stem: str
    heading: str
    about: str
    diagram: Diagram

    @cached_property
    def dot(self) -> str:
        """The picture as DOT text."""
        return dot(self.diagram)

    @cached_property
    def mermaid(self) -> str:
        """The picture as a Mermaid diagram."""
        return mermaid(self.diagram)

    @property
    def system(self) -> str:
        return self.stem.split("/")[0]

    @property
    def variant(self) -> str:
        return self.stem.split("/")[1]


FORMATS: Mapping[str, tuple[str, Callable[[Picture], str | bytes]]] = {
    "svg": (".svg", lambda picture: svg(picture.dot)),
    "png": (".png", lambda picture: png(picture.dot)),
    "dot": (".dot", lambda picture: picture.dot),
    "mermaid": (".mmd", lambda picture: picture.mermaid),
}
"""Format -> the ending of its files, and the function that makes their content."""


def pictures(systems: Systems, *, explored: bool = True) -> Iterator[Picture]:
    """All pictures, in the order of the registry.

    Args:
        systems: the systems.
        explored: also those of states that occur together, and of deadlocks, which an exploration finds.

    The machines and triggers of an amendment are compared with the first variant of its line.
    An amendment of an amendment has only the pictures that it draws differently.
    Deadlocks are drawn of variants that stand alone or amend an amendment.
    """
    for system in systems.values():
        for model in system.variants.values():
            since = system.first(model) if model.amends else None
            amended = system.variants[model.amends] if since is not None and model.amends != since.variant else None
            for name in picture_names(model):
                drawn = diagram(model, name, since=since)
                if amended is None or not _same(drawn, amended, name, since):
                    yield _picture(model, name, name, _about(model, name, drawn), drawn)
            pairings = all_observed(model, changing_pairings(model) if explored and amended is None else ())
            for name, seen in pairings.items():
                about = (
                    f"The states of {_article(name)} and of what its `{name.partition('.')[2]}` is that occur together"
                )
                pairs = pairing(model, seen)
                if len(pairs.nodes) <= MOST_PAIRS:
                    yield _picture(model, name, name, f"{about}.", pairs)
            for name, (about, draw) in auxiliary_pictures(system, model).items():
                yield _picture(model, name, name, f"{about}.", draw())
            if explored and model.variant in system.waits and (amended is not None or not model.amends):
                yield from _deadlocks(model, system.waits[model.variant])


def _same(drawn: Diagram, other: Model, name: str, since: Model | None) -> bool:
    """Whether the picture ``name`` of ``other`` shows the same as ``drawn``."""
    return name in picture_names(other) and drawn == replace(diagram(other, name, since=since), title=drawn.title)


def _deadlocks(model: Model, waiting: Waiting) -> Iterator[Picture]:
    violated = [name for name in waiting.deadlocks if name in model.refuted]
    by_property = deadlocks(model, waiting, violated)
    for name in violated:
        if name in by_property:
            about = f"Who holds what and waits for what where `{name}` is broken first: {model.property(name).says}."
            yield _picture(model, f"{WAIT_FOR}-{name}", f"{WAIT_FOR}, {name}", about, by_property[name])


def _picture(model: Model, stem: str, heading: str, about: str, drawn: Diagram) -> Picture:
    return Picture(f"{model.system}/{model.variant}/{stem}", heading, about, drawn)


def _article(name: str) -> str:
    sort = name.partition(".")[0]
    return f"{'an' if sort[0] in 'AEIOU' else 'a'} {sort}"


def _about(model: Model, name: str, drawn: Diagram) -> str:
    """One sentence on a picture."""
    if name == TRIGGERS:
        sentence = "Which event triggers which: a step begins at an action and goes on from left to right"
    else:
        machine = model.machine(name)
        events = len({row.event for row in model.table(name)})
        line = "" if machine.line is None else f", line {machine.line}"
        sentence = (
            f"The {len(machine.states)} states of a {name} and its {events} events "
            f"({model.document.title}: {model.document.name}{line})"
        )
    if drawn.since is None:
        return f"{sentence}."
    return (
        f"{sentence}; {'what differs from' if used_marks(drawn) else 'nothing here differs from'} `{drawn.since}`"
        + (" is marked." if used_marks(drawn) else ".")
    )


def front_page(drawn: Sequence[Picture]) -> str:
    """The front page of the gallery: how to read the pictures, and links to them."""
    lines = [
        "# Gallery",
        "",
        "Every picture here is generated from the models and kept fresh by a test; do not edit it, but run",
        f"`{REMEDY}` after a change of a model. The pictures are SVG files;",
        "the pages have them in Mermaid too. `schedproof diagram SYSTEM PICTURE --variant V -o FILE.png` (or `FILE.dot`)",
        f"draws one in another format. `{REMEDY} --format png --into DIRECTORY`",
        "(or `dot`, `mermaid`) draws all of them.",
        "",
        "How to read them: the dot and its arrow lead to a machine's first state, a double border marks a state that is",
        "never left. A *persistent* state survives a crash; what is *volatile* is lost (dashed); what is",
        "*derived* is not written down but follows from what survives. Where a variant is compared with another, green is",
        "added and grey is removed. In the pictures of triggers an arrow says that one event (or action) causes the other,",
        "a dashed line with a bar (in Mermaid: *not*, with a cross) that the other happens only where the first does not.",
        "A dashed box stands for several states: its arrow starts at each of the states that it names (*any of*, if they lead",
        "to one state; *each of*, if each stays where it is). Guards, parameters and updates are not drawn: the model's tables",
        "have them.",
        "",
        "A picture `Sort.attribute` shows the states of an object together with those of what it refers to, as far as they",
        "occur in the explored states; red pairs are such as a property forbids; where there are more than",
        f"{MOST_PAIRS} pairs, only `schedproof diagram` draws them. A wait-for graph shows a moment: a dashed",
        "arrow from an owner to a resource that one of its parts waits for, a full one from a resource to its owner; what",
        "is red waits in a circle, or for what never comes. Of locks, an arrow of an order leads from a lock to one that may be",
        "acquired while it is held.",
    ]
    for system, shown in _grouped(drawn, lambda picture: picture.system).items():
        lines += ["", f"## [{system}]({system}/{PAGE})", "", *_variants(shown, f"{system}/")]
    return "\n".join([*lines, ""])


def system_page(system: str, drawn: Sequence[Picture]) -> str:
    """The page of a system: its variants and the names of their pictures."""
    return "\n".join([f"# {system}", "", f"How to read the pictures: [gallery](../{PAGE}).", "", *_variants(drawn), ""])


def variant_page(system: str, variant: str, drawn: Sequence[Picture]) -> str:
    """The page of a variant: all its pictures."""
    lines = [f"# {system}, {variant}", "", f"How to read the pictures: [gallery](../../{PAGE})."]
    for picture in drawn:
        lines += [
            "",
            f"## {picture.heading}",
            "",
            picture.about,
            "",
            f"![{system}, {variant}: {picture.heading}]({picture.stem.split('/')[-1]}.svg)",
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


def _variants(drawn: Sequence[Picture], base: str = "") -> list[str]:
    """One line for each variant of a system, with a link to its page."""
    return [
        f"- [{variant}]({base}{variant}/{PAGE}): {'; '.join(picture.heading for picture in shown)}"
        for variant, shown in _grouped(drawn, lambda picture: picture.variant).items()
    ]


def _grouped(drawn: Sequence[Picture], key: Callable[[Picture], str]) -> dict[str, list[Picture]]:
    groups: dict[str, list[Picture]] = {}
    for picture in drawn:
        groups.setdefault(key(picture), []).append(picture)
    return groups


def pages(drawn: Sequence[Picture]) -> dict[str, str]:
    """The pages: path -> content. Each folder has its own page, because GitHub cuts off a page at 512 KB."""
    written = {PAGE: front_page(drawn)}
    for system, of_system in _grouped(drawn, lambda picture: picture.system).items():
        written[f"{system}/{PAGE}"] = system_page(system, of_system)
        for variant, shown in _grouped(of_system, lambda picture: picture.variant).items():
            written[f"{system}/{variant}/{PAGE}"] = variant_page(system, variant, shown)
    return written


def stale(drawn: Sequence[Picture], folder: Path = FOLDER) -> list[str]:
    """The faults of the gallery, one line for each file; empty if the gallery is fresh.

    This does not need the graphviz program.
    """
    expected = pages(drawn)
    images = {f"{picture.stem}.svg": picture for picture in drawn}
    present = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    wrong = [f"{name}: missing" for name in (*expected, *images) if name not in present]
    wrong += [f"{name}: nothing draws it" for name in sorted(present - {*expected, *images})]
    for name in sorted(present & set(expected)):
        if (folder / name).read_bytes() != expected[name].encode():
            wrong.append(f"{name}: not what the model gives now")
    for name in sorted(present & set(images)):
        if why := _image_fault(images[name], folder / name):
            wrong.append(f"{name}: {why}")
    return wrong


def _image_fault(picture: Picture, path: Path) -> str | None:
    """Why the SVG of a picture must be drawn again; None if it is fresh."""
    image = path.read_bytes().decode(errors="replace")
    if svg_fingerprint(image) != fingerprint(picture.dot):
        return "drawn from other DOT"
    return None if is_intact(image) else "changed since it was drawn"


def regenerate(drawn: Sequence[Picture], folder: Path = FOLDER) -> None:
    """Draws what is stale in the gallery, and removes files that no picture draws.

    It changes nothing if a picture cannot be drawn. A fresh SVG is kept: another version of graphviz, or other fonts,
    would change every SVG without a reason.

    Raises:
        DiagramError: there is no ``dot`` program, or a file cannot be written.
    """
    content = pages(drawn)
    for picture in drawn:
        name = f"{picture.stem}.svg"
        if not (folder / name).is_file() or _image_fault(picture, folder / name):
            content[name] = svg(picture.dot)
    _write(content, folder)
    kept = {*content, *(f"{picture.stem}.svg" for picture in drawn)}
    for path in folder.rglob("*"):
        if path.suffix in REPLACED and path.is_file() and path.relative_to(folder).as_posix() not in kept:
            path.unlink()


def draw_all(drawn: Sequence[Picture], format: str, folder: Path) -> None:
    """Draws all pictures in one of :data:`FORMATS` into a folder; other files in the folder stay.

    Raises:
        DiagramError: there is no ``dot`` program, or a file cannot be written.
    """
    ending, draw = FORMATS[format]
    _write({f"{picture.stem}{ending}": draw(picture) for picture in drawn}, folder)


def _write(content: Mapping[str, str | bytes], folder: Path) -> None:
    for name, data in content.items():
        path = folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DiagramError(
                f"cannot make the folder {path.parent}: {error.strerror}; choose another folder"
            ) from None
        write_whole(path, data)


def registered() -> list[Picture]:
    """The pictures of the project's systems. The pairs and deadlocks among them take a few seconds of exploration."""
    return list(pictures(systems()))


def main(arguments: Sequence[str] | None = None) -> int:
    """Draws or checks the gallery; returns the exit code: 0 fresh, 1 stale, 2 cannot be drawn or written."""
    parser = argparse.ArgumentParser(prog=REMEDY, description="draws what is stale in the gallery")
    parser.add_argument(
        "--check", action="store_true", help="change nothing: list what is stale, exit 1 if anything is"
    )
    parser.add_argument("--format", choices=FORMATS, help="draw all pictures in this format, outside the gallery")
    parser.add_argument("--into", type=Path, metavar="DIRECTORY", help="where to draw them; needs --format")
    options = parser.parse_args(arguments)
    if (options.format is None) != (options.into is None):
        parser.error("--format and --into need each other")
    if options.check and options.format:
        parser.error("--check draws nothing: leave out --format and --into")
    try:
        if options.format:
            draw_all(registered(), options.format, options.into)
            return 0
        if options.check:
            wrong = stale(registered(), FOLDER)
            for line in wrong:
                print(f"{FOLDER.name}/{line}; run {REMEDY}", file=sys.stderr)
            return 1 if wrong else 0
        regenerate(registered(), FOLDER)
    except DiagramError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
