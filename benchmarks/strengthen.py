"""Measures ``schedproof strengthen``: how often it finds again what people wrote, and how long it takes.

``python benchmarks/strengthen.py own`` takes each property of the five systems whose proof uses other invariants, in every
variant, and infers them again: no property is assumed for another, and lemmas of one variant are candidates for the next.
What is inferred is one clause each, and people write several clauses as one invariant: the table counts both.
``python benchmarks/strengthen.py protocols`` takes each property of the protocols in ``benchmarks/protocols``, and shows what
other tools report beside it.
Both write a table in Markdown to standard output, a line as soon as it is known. Times of ``own`` are processor time; with
``--jobs 2``, two systems are measured at a time, and the elapsed time is that of the command.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import queue
import statistics
import sys
import time
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from schedproof.model.lang import Invariant, Model
from schedproof.model.lang import terms as t
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.model.lang.wording import show_term
from schedproof.model.registry import discovery
from schedproof.model.registry.loading import load
from schedproof.model.registry.manifest import read
from schedproof.proofs.induction import provable, prove
from schedproof.proofs.strengthen import Strengthened, strengthen, without_auxiliary
from schedproof.proofs.strengthen.infer import Lemma
from schedproof.proofs.strengthen.together import Together, strengthen_each

SYSTEMS = ("jobmon", "yunikorn", "beaker", "yunikorn-merge", "hived")
"""Those that take longest come first, so that processes end together."""

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
class Line:
    """What the table and its summary say of a variant; another process may have measured it.

    Attributes:
        row: the line of the table.
        failures: for each property that is not proved again a line that says why.
        asked: the number of properties.
        more: for each property that is proved again, how many more invariants and clauses it rests on than people's proof.
        seconds: the processor time.
    """

    row: str
    failures: Sequence[str]
    asked: int
    more: Sequence[tuple[int, int]]
    seconds: float


@dataclass(frozen=True)
class Variant:
    """What became of the properties of a variant that people proved with other invariants.

    Attributes:
        people: for each property, the other invariants that people's proof rests on.
    """

    model: Model
    people: Mapping[str, Sequence[Invariant]]
    together: Together

    @property
    def proved(self) -> list[Strengthened]:
        """The properties that are proved again."""
        return [each for each in self.together.results if each.proved]

    @property
    def failures(self) -> list[str]:
        """For each property that is not proved again a line that says why."""
        failed = (each for each in self.together.results if not each.proved)
        return [f"- {self.model.system} {self.model.variant} {each.prop}: {each.why}" for each in failed]

    @property
    def row(self) -> str:
        """The line of the table."""
        pairs = [([one.prop for one in each.inferred], self.people[each.prop]) for each in self.proved]
        invariants = [median(len(pair[n]) for pair in pairs) for n in range(2)]
        in_clauses = [median(sum(map(clauses, pair[n])) for pair in pairs) for n in range(2)]
        one = median(each.seconds for each in self.together.results)
        cells = [self.model.system, self.model.variant, len(self.people), len(self.proved), *invariants, *in_clauses,
                 f"{one:.2f}", f"{self.together.seconds:.0f}", f"{self.together.checking:.0f}"]  # fmt: skip
        return f"| {' | '.join(map(str, cells))} |"

    @property
    def line(self) -> Line:
        """What the table and its summary say of it."""
        pairs = [([one.prop for one in each.inferred], self.people[each.prop]) for each in self.proved]
        more = [(len(one) - len(other), sum(map(clauses, one)) - sum(map(clauses, other))) for one, other in pairs]
        return Line(self.row, self.failures, len(self.people), more, self.together.seconds)


def clauses(prop: Invariant) -> int:
    """How many clauses an invariant is; which values one state or one attribute may have is one literal."""
    given = 1 if prop.given is None else clauses_of(prop.given, False)
    return given * clauses_of(prop.then)


def clauses_of(formula: t.Term, holds: bool = True) -> int:
    """How many clauses it is that a formula holds, or that it does not hold."""
    if _subject(formula):
        return 1
    match formula:
        case t.Not(part):
            return clauses_of(part, not holds)
        case t.And(parts) | t.Or(parts):
            counts = [clauses_of(part, holds) for part in parts]
            return sum(counts) if isinstance(formula, t.And) == holds else math.prod(counts)
        case t.Implies(premise, conclusion):
            return clauses_of(~premise | conclusion, holds)
        case t.Iff(left, right):
            return clauses_of((~left | right) & (left | ~right), holds)
        case t.Quantified(universal, _, body) if universal == holds:
            return clauses_of(body, holds)
    return 1


def _subject(formula: t.Term) -> str:
    """The state or attribute whose value is all that a formula is about; "" for another formula."""
    match formula:
        case t.Is(of):
            return f"state of {show_term(of)}"
        case t.Not(part):
            return _subject(part)
        case t.Equal(t.Attr() as left, t.Constant()) | t.Less(t.Attr() as left, t.Constant()):
            return show_term(left)
        case t.Less(t.Constant(), t.Attr() as right):
            return show_term(right)
        case t.And(parts) | t.Or(parts) if len({_subject(part) for part in parts}) == 1:
            return _subject(parts[0])
    return ""


def median(numbers: Iterable[float]) -> float:
    """The median; 0 of nothing."""
    return statistics.median([*numbers] or [0])


def of_system(name: str, variants: Sequence[str], seconds: float) -> Iterator[Variant]:
    """The variants of a system, each with the lemmas of those before as candidates."""
    learnt: dict[str, Lemma] = {}
    for model in discovery.every(Path(__file__).parent).system(name).variants.values():
        if variants and model.variant not in variants:
            continue
        proof = prove(model, every=False)
        proved = [prop for prop in provable(model) if prop != WELL_FORMED and proof.proved(prop)]
        written = {p.name: p for p in model.properties if isinstance(p, Invariant)}
        support = {prop: proof.support(prop) - {prop} for prop in proved}
        people = {prop: [written[each] for each in sorted(names)] for prop, names in support.items() if names}
        together = strengthen_each(model, list(people), seconds=seconds, candidates=list(learnt.values()))
        learnt |= {lemma.prop.says: lemma for lemma in together.lemmas}
        yield Variant(model, people, together)


def send_lines(name: str, variants: Sequence[str], seconds: float, lines: queue.Queue[Line | None]) -> None:
    """Measures a system, and sends a line for each variant."""
    for each in of_system(name, variants, seconds):
        lines.put(each.line)


def five_systems(systems: Sequence[str], variants: Sequence[str], seconds: float, jobs: int) -> Iterator[Line]:
    """The variants of our systems as they are done: each system in a process of its own, so many at a time."""
    spawn = multiprocessing.get_context("spawn")
    with spawn.Manager() as manager, ProcessPoolExecutor(jobs, spawn, max_tasks_per_child=1) as pool:
        lines: queue.Queue[Line | None] = manager.Queue()
        tasks = [pool.submit(send_lines, name, variants, seconds, lines) for name in systems]
        for task in tasks:
            task.add_done_callback(lambda _: lines.put(None))
        try:
            for _ in tasks:
                yield from iter(lines.get, None)
            for task in tasks:
                task.result()  # an error of a process is one of the command
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def write_own(lines: Iterable[Line]) -> None:
    """Writes the table of our systems, then why properties failed and a summary; why also at once, to standard error."""
    start = time.perf_counter()
    columns = ["system", "variant", "properties", "proved again", "invariants", "people's", "clauses", "people's",
               "seconds, median", "in all", "of it checking"]  # fmt: skip
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    seen: list[Line] = []
    try:
        for line in lines:
            seen.append(line)
            print(line.row, flush=True)
            for why in line.failures:
                print(why, file=sys.stderr, flush=True)
    finally:  # also of what there is after an error or an interrupt
        write_summary(seen, time.perf_counter() - start)


def write_summary(seen: Sequence[Line], seconds: float) -> None:
    """Writes why properties failed, and how many are proved again, in these seconds of elapsed time."""
    print("", *(why for line in seen for why in line.failures), sep="\n")
    asked, proved = sum(line.asked for line in seen), sum(len(line.more) for line in seen)
    invariants, in_clauses = (median(more[n] for line in seen for more in line.more) for n in range(2))
    print(f"\n{proved} of {asked} proved again ({proved / max(asked, 1):.1%}) in {seconds:.0f} s, "
          f"{sum(line.seconds for line in seen):.0f} s of processor time, "
          f"median {invariants:+g} invariants and {in_clauses:+g} clauses beside people's")  # fmt: skip


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
    parser.add_argument("--jobs", type=int, default=1, help="of our systems: so many at a time")
    parser.add_argument("--max-seconds", type=float, default=600.0, help="seconds for a property")
    options = parser.parse_args(arguments)
    if options.which == "own":
        if unknown := set(options.names) - set(SYSTEMS):
            parser.error(f"unknown system {min(unknown)!r}; choose from {', '.join(SYSTEMS)}")
        if options.jobs < 1:
            parser.error(f"--jobs is {options.jobs}; give at least 1")
        write_own(five_systems(options.names or SYSTEMS, options.variant, options.max_seconds, options.jobs))
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
