"""Measures ``schedproof strengthen``: how often it finds again what people wrote, and how long it takes.

``python benchmarks/strengthen.py own`` takes each property of the five systems whose proof uses other invariants, in every
variant, and infers them again: no property is assumed for another, and lemmas of one variant are candidates for the next.
``python benchmarks/strengthen.py protocols`` takes each property of the protocols in ``benchmarks/protocols``, and shows what
other tools report beside it.
Both write a table in Markdown to standard output, a line as soon as it is known. Times of ``own`` are processor time.
"""

from __future__ import annotations

import argparse
import statistics
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from schedproof.model.lang import Model
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.model.registry import discovery
from schedproof.model.registry.loading import load
from schedproof.model.registry.manifest import read
from schedproof.proofs.induction import provable, prove
from schedproof.proofs.strengthen import Strengthened, strengthen, without_auxiliary
from schedproof.proofs.strengthen.infer import Lemma
from schedproof.proofs.strengthen.together import Together, strengthen_each

SYSTEMS = ("hived", "beaker", "jobmon", "yunikorn", "yunikorn-merge")

PROTOCOLS = Path(__file__).parent / "protocols" / "schedproof.toml"

PUBLISHED = PROTOCOLS.with_name("published.toml")
"""What other tools report; its first lines say where."""

TOOLS = {"ic3po": "IC3PO", "distai": "DistAI", "endive": "endive"}


@dataclass(frozen=True)
class Case:
    """A property to strengthen."""

    model: Model
    prop: str


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
        outcome = f"{self.invariants} | {self.seconds:.1f} |" if self.proved else f"| {self.seconds:.1f} | {self.why}"
        return f"| {self.case.model.system} | {self.case.prop} | {outcome} |"


@dataclass(frozen=True)
class Variant:
    """What became of the properties of a variant that people proved with other invariants.

    Attributes:
        people: for each property, how many other invariants people's proof rests on.
    """

    model: Model
    people: Mapping[str, int]
    together: Together

    @property
    def proved(self) -> list[Strengthened]:
        """The properties that are proved again."""
        return [each for each in self.together.results if each.proved]

    @property
    def row(self) -> str:
        """The line of the table."""
        inferred = median(len(each.inferred) for each in self.proved)
        people = median(self.people[each.prop] for each in self.proved)
        one = median(each.seconds for each in self.together.results)
        cells = [self.model.system, self.model.variant, len(self.people), len(self.proved), inferred, people,
                 f"{one:.2f}", f"{self.together.seconds:.0f}", f"{self.together.checking:.0f}"]  # fmt: skip
        return f"| {' | '.join(map(str, cells))} |"


def median(numbers: Iterable[float]) -> float:
    """The median; 0 of nothing."""
    return statistics.median([*numbers] or [0])


def five_systems(systems: Sequence[str], variants: Sequence[str], seconds: float) -> Iterator[Variant]:
    """The variants of our systems, each with the lemmas of those before as candidates."""
    index = discovery.every(Path(__file__).parent)
    for name in systems or SYSTEMS:
        learnt: dict[str, Lemma] = {}
        for model in index.system(name).variants.values():
            if variants and model.variant not in variants:
                continue
            proof = prove(model, every=False)
            proved = [prop for prop in provable(model) if prop != WELL_FORMED and proof.proved(prop)]
            people = {prop: len(proof.support(prop) - {prop}) for prop in proved}
            people = {prop: count for prop, count in people.items() if count}
            together = strengthen_each(model, list(people), seconds=seconds, candidates=list(learnt.values()))
            learnt |= {lemma.prop.says: lemma for lemma in together.lemmas}
            yield Variant(model, people, together)


def write_own(variants: Iterable[Variant]) -> None:
    """Writes the table of our systems, then why properties failed, and a summary."""
    print(
        "| system | variant | properties | proved again | invariants | people's | seconds, median | in all | of it checking |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    seen = []
    for variant in variants:
        seen.append(variant)
        print(variant.row, flush=True)
    print()
    for variant in seen:
        for each in variant.together.results:
            if not each.proved:
                print(f"- {variant.model.system} {variant.model.variant} {each.prop}: {each.why}")
    asked, proved = sum(len(each.people) for each in seen), sum(len(each.proved) for each in seen)
    differences = [len(each.inferred) - v.people[each.prop] for v in seen for each in v.proved]
    print(f"\n{proved} of {asked} proved again ({proved / max(asked, 1):.1%}), "
          f"{sum(each.together.seconds for each in seen):.0f} s of processor time, "
          f"median {median(differences):+g} invariants beside people's")  # fmt: skip


def protocols(names: Sequence[str]) -> Iterator[Case]:
    """The properties of the protocols."""
    for name, entry in read(PROTOCOLS).items():
        if names and name not in names:
            continue
        for model in load(entry).variants.values():
            for prop in provable(model):
                if prop != WELL_FORMED and prop not in model.refuted:
                    yield Case(model, prop)


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
    return ", ".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("which", choices=["own", "protocols"])
    parser.add_argument("names", nargs="*", help="systems or protocols; by default all")
    parser.add_argument("--variant", action="append", default=[], help="of our systems: only this variant")
    parser.add_argument("--max-seconds", type=float, default=600.0, help="seconds for a property")
    options = parser.parse_args(arguments)
    if options.which == "own":
        write_own(five_systems(options.names, options.variant, options.max_seconds))
        return
    columns = ["protocol", "property", "invariants", "seconds", "why not", *TOOLS.values()]
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    results = []
    for case in protocols(options.names):
        results.append(measured(case, options.max_seconds))
        print(results[-1].row + published(case.model.system), flush=True)
    print(f"\n{summary(results)}")


if __name__ == "__main__":
    main()
