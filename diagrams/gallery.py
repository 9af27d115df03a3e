"""The gallery: every picture of every system in every format, checked in beside this module.

    python -m schedproof.diagrams.gallery [--check]

draws it again, or says what is stale. A picture is stale if its DOT or Mermaid text is not what the
model gives now, or if its SVG or PNG was drawn from other DOT.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
from .images import fingerprint, png, png_fingerprint, svg, svg_fingerprint
from .mermaid import mermaid
from .pairing import all_observed, changing_pairings, pairing
from .render import write_whole
from .representation import Diagram
from .style import used_marks

FOLDER = Path(__file__).parent / "gallery"
ENDINGS = (".svg", ".png", ".dot", ".mmd")
REMEDY = "python -m schedproof.diagrams.gallery"

MOST_PAIRS = 40
"""More pairs of states than these are no picture to look at: they are drawn on request only."""

Systems = Mapping[str, System]
"""By their names."""


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

    The machines and triggers of a variant that amends another are compared with the first variant of that
    line; of one that amends an amendment only what it draws differently. Deadlocks are drawn of variants
    that stand alone or amend an amendment.
    """
    for system in systems.values():
        for model in system.variants.values():
            since = system.first(model) if model.amends else None
            again = system.variants[model.amends] if since is not None and model.amends != since.variant else None
            for name in picture_names(model):
                drawn = diagram(model, name, since=since)
                if again is None or not _same(drawn, again, name, since):
                    yield _picture(model, name, name, _about(model, name, drawn), drawn)
            pairings = all_observed(model, changing_pairings(model) if again is None else ())
            for name, seen in pairings.items():
                about = (
                    f"The states of {_article(name)} and of what its `{name.partition('.')[2]}` is that occur together"
                )
                pairs = pairing(model, seen)
                if len(pairs.nodes) <= MOST_PAIRS:
                    yield _picture(model, name, name, f"{about}.", pairs)
            for name, (about, draw) in auxiliary_pictures(system, model).items():
                yield _picture(model, name, name, f"{about}.", draw())
            if model.variant in system.waits and (again is not None or not model.amends):
                yield from _deadlocks(model, system.waits[model.variant])


def _same(drawn: Diagram, other: Model, name: str, since: Model | None) -> bool:
    """The picture of that name of ``other`` shows the same."""
    return name in picture_names(other) and drawn == replace(diagram(other, name, since=since), title=drawn.title)


def _deadlocks(model: Model, waiting: Waiting) -> Iterator[Picture]:
    wanted = [name for name in waiting.deadlocks if name in model.refuted]
    found = deadlocks(model, waiting, wanted)
    for name in wanted:
        if name in found:
            about = f"Who holds what and waits for what where `{name}` is broken first: {model.property(name).says}."
            yield _picture(model, f"{WAIT_FOR}-{name}", f"{WAIT_FOR}, {name}", about, found[name])


def _picture(model: Model, stem: str, heading: str, about: str, drawn: Diagram) -> Picture:
    return Picture(
        f"{model.system}/{model.variant}/{stem}", f"{model.variant}: {heading}", about, dot(drawn), mermaid(drawn)
    )


def _article(name: str) -> str:
    sort = name.partition(".")[0]
    return f"{'an' if sort[0] in 'AEIOU' else 'a'} {sort}"


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


def readme(drawn: Sequence[Picture]) -> str:
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
        "A dashed box stands for several states: its arrow starts at each of the states that it names (*any of*, if they lead",
        "to one state; *each of*, if each stays where it is). Guards, parameters and updates are not drawn: the model's tables",
        "have them.",
        "",
        "A picture `Sort.attribute` shows the states of an object together with those of what it refers to, as far as they",
        "occur in the explored states; red pairs are such as a promise forbids; where there are more than",
        f"{MOST_PAIRS} pairs, only `schedproof diagram` draws them. A wait-for graph shows a moment: a dashed",
        "arrow from an owner to a resource that one of its parts waits for, a full one from a resource to its owner; what",
        "is red waits in a circle, or for what never comes. Of locks, an arrow of an order leads from a lock to one that may be",
        "acquired while it is held.",
    ]
    shown = ""
    for picture in drawn:
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


def texts(drawn: Sequence[Picture]) -> dict[str, str]:
    """The files of the gallery that are compared as they are: path -> content."""
    found = {"README.md": readme(drawn)}
    for picture in drawn:
        found |= {f"{picture.stem}.dot": picture.dot, f"{picture.stem}.mmd": picture.mermaid}
    return found


def stale(drawn: Sequence[Picture], folder: Path = FOLDER) -> list[str]:
    """What is not as it should be in the gallery, one line for each file; empty if it is fresh.

    Needs no graphviz program.
    """
    wanted = texts(drawn)
    hashes = {f"{p.stem}.{ending}": fingerprint(p.dot) for p in drawn for ending in ("svg", "png")}
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    wrong = [f"{name}: missing" for name in (*wanted, *hashes) if name not in there]
    wrong += [f"{name}: nothing draws it" for name in sorted(there - {*wanted, *hashes})]
    for name in sorted(there & set(wanted)):
        if (folder / name).read_bytes() != wanted[name].encode():
            wrong.append(f"{name}: not what the model gives now")
    for name in sorted(there & set(hashes)):
        data = (folder / name).read_bytes()
        source = png_fingerprint(data) if name.endswith(".png") else svg_fingerprint(data.decode(errors="replace"))
        if source != hashes[name]:
            wrong.append(f"{name}: drawn from other DOT")
    return wrong


def regenerate(drawn: Sequence[Picture], folder: Path = FOLDER) -> None:
    """Draws the gallery again and removes pictures that nothing draws; changes nothing if one cannot be drawn.

    Raises:
        DiagramError: no ``dot`` program, or a file that cannot be written.
    """
    content: dict[str, str | bytes] = dict(texts(drawn))
    for picture in drawn:
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


def registered() -> list[Picture]:
    """The pictures of the project's systems; the pairs and deadlocks among them take some seconds of exploration."""
    return list(pictures(systems()))


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
