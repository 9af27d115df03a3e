"""Measures ``schedproof strengthen``: how often it finds again what people wrote, and how long it takes.

``python benchmarks/strengthen.py own`` takes each property of the five systems whose proof uses other invariants, and infers
them from none. ``python benchmarks/strengthen.py protocols`` takes each property of the protocols in ``benchmarks/protocols``, and
shows what other tools report beside it.
Both write a table in Markdown to standard output, a line for each property as soon as it is known.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from schedproof.model.lang import Model
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.model.registry import discovery
from schedproof.model.registry.loading import load
from schedproof.model.registry.manifest import read
from schedproof.proofs.induction import provable, prove
from schedproof.proofs.strengthen import strengthen, without_auxiliary

PROTOCOLS = Path(__file__).parent / "protocols" / "schedproof.toml"

PUBLISHED = PROTOCOLS.with_name("published.toml")
"""What other tools report; its first lines say where."""

TOOLS = {"ic3po": "IC3PO", "distai": "DistAI", "endive": "endive"}


@dataclass(frozen=True)
class Case:
    """A property to strengthen; ``people`` is how many other invariants the proof with all of them rests on."""

    model: Model
    prop: str
    people: int | None


@dataclass(frozen=True)
class Measured:
    """The outcome of a case: the number of inferred invariants, or why there is no proof."""

    case: Case
    proved: bool
    invariants: int
    seconds: float
    why: str

    @property
    def row(self) -> str:
        """The line of the table."""
        people = "" if self.case.people is None else f" {self.case.people} |"
        outcome = (
            f"{self.invariants} |{people} {self.seconds:.1f} |"
            if self.proved
            else f"|{people} {self.seconds:.1f} | {self.why}"
        )
        variant = "" if self.case.people is None else f" {self.case.model.variant} |"
        return f"| {self.case.model.system} |{variant} {self.case.prop} | {outcome} |"


def five_systems(systems: Sequence[str], variants: Sequence[str]) -> Iterator[Case]:
    """The properties of our systems whose proofs use other invariants."""
    index = discovery.every(Path(__file__).parent)
    for name in systems or ["hived", "beaker", "jobmon", "yunikorn", "yunikorn-merge"]:
        for model in index.system(name).variants.values():
            if variants and model.variant not in variants:
                continue
            proof = prove(model, every=False)
            for prop in provable(model):
                if prop != WELL_FORMED and proof.proved(prop) and (support := proof.support(prop) - {prop}):
                    yield Case(model, prop, len(support))


def protocols(names: Sequence[str]) -> Iterator[Case]:
    """The properties of the protocols."""
    for name, entry in read(PROTOCOLS).items():
        if names and name not in names:
            continue
        for model in load(entry).variants.values():
            for prop in provable(model):
                if prop != WELL_FORMED and prop not in model.refuted:
                    yield Case(model, prop, None)


def measured(case: Case, seconds: float) -> Measured:
    """Strengthens one property, without the other invariants of its model."""
    result = strengthen(without_auxiliary(case.model, case.prop), case.prop, seconds=seconds)
    return Measured(case, result.proved, len(result.inferred), result.seconds, result.why)


def published(protocol: str) -> str:
    """The cells of other tools for a protocol: seconds, with the number of auxiliary invariants."""
    entry = tomllib.loads(PUBLISHED.read_text()).get(protocol, {})
    cells = []
    for tool in TOOLS:
        match entry.get(tool, ""):
            case [seconds, invariants]:
                cells.append(f" {seconds} ({invariants}) |")
            case text:
                cells.append(f" {text} |")
    return "".join(cells)


def summary(results: Sequence[Measured]) -> str:
    """How many are proved, with medians."""
    proved = [each for each in results if each.proved]
    lines = [f"{len(proved)} of {len(results)} proved"]
    if proved:
        lines.append(f"median {statistics.median(each.seconds for each in proved):.1f} s")
        compared = [each.invariants - each.case.people for each in proved if each.case.people is not None]
        if compared:
            lines.append(f"median {statistics.median(compared):+g} invariants beside people's")
    return ", ".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("which", choices=["own", "protocols"])
    parser.add_argument("names", nargs="*", help="systems or protocols; by default all")
    parser.add_argument("--variant", action="append", default=[], help="of our systems: only this variant")
    parser.add_argument("--max-seconds", type=float, default=600.0, help="seconds for a property")
    options = parser.parse_args(arguments)
    own_systems = options.which == "own"
    cases = five_systems(options.names, options.variant) if own_systems else protocols(options.names)
    columns = ["system", "variant", "property", "invariants", "people's", "seconds", "why not"]
    if not own_systems:
        columns = ["protocol", "property", "invariants", "seconds", "why not", *TOOLS.values()]
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    results = []
    for case in cases:
        results.append(measured(case, options.max_seconds))
        print(results[-1].row + ("" if own_systems else published(case.model.system)), flush=True)
    print(f"\n{summary(results)}")


if __name__ == "__main__":
    sys.exit(main())
