"""What a ledger leaves open: statements and elements without a place in it, and names of nothing."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from schedproof.model.cited import fact
from schedproof.model.lang import Document, Model
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.model.registry.errors import unknown
from schedproof.model.registry.system import System

from .elements import ASSUMED, Part, beside, elements
from .ledger import Entry, Ledger, LedgerError, Mark, read
from .quotations import quoted
from .statements import Statement, statements

SOURCE = re.compile(
    r"(line \d{1,6}|fact [\w.]+.*|interpretation (?P<names>[\w-]+(?:, [\w-]+)*)|encoding: \S.*)$", re.DOTALL
)
"""Where an element or a part comes from. Variants that share an element may have it from different interpretations."""


LINE = re.compile(r"line (\d+)")


def interpretations_in(source: str) -> list[str]:
    """The names of the interpretations in a source; none if it names no interpretation, or is no source."""
    match = SOURCE.match(source)
    return match["names"].split(", ") if match and match["names"] else []


def gaps(system: System, ledger: Ledger) -> list[str]:
    """What is missing or wrong in the ledger of a system, one line each: what, where, and what to write.

    The document itself is not needed; :func:`unlike` and :func:`unnamed` compare with it.
    """
    claimed = [system.variants[name] for name in ledger.variants if name in system.variants]
    return [
        *(
            f"variants: {unknown('variant', name, system.variants)}"
            for name in ledger.variants
            if name not in system.variants
        ),
        *_open_entries(system, ledger),
        *wrong_lines(system, ledger),
        *(line for model in claimed for line in unaccounted(system, model, ledger)),
        *_idle_marks(claimed, ledger),
        *_idle_objects(system, ledger),
        *_idle_properties(claimed, ledger),
    ]


def unlike(ledger: Ledger, text: str) -> list[str]:
    """Where the ledger differs from the text of its document, one line each."""
    have = {(entry.line, entry.text) for entry in ledger.statements if entry.text}
    stated = [(each.line, each.text) for each in statements(text)]
    missing = [f'line {line}: no entry for "{words}"; add one' for line, words in stated if (line, words) not in have]
    surplus = [
        f'line {line}: the document does not have "{words}" there; correct it, or drop the entry'
        for line, words in sorted(have - set(stated))
    ]
    filled = {number for number, line in enumerate(text.splitlines(), 1) if line.strip()}
    for name, mark in ledger.elements.items():
        for source in (mark.source, *mark.added.values()):
            if (cited := LINE.fullmatch(source)) and int(cited[1]) not in filled:
                surplus.append(f"{name}: {source}: the document has no words there; cite another line")
    numbers = [entry.line for entry in ledger.statements]
    order = [] if numbers == sorted(numbers) else ["the entries are not in the document's order; sort them by line"]
    return [*missing, *surplus, *order]


def unnamed(system: System, ledger: Ledger, text: str) -> list[str]:
    """The statements that a contradiction quotes, and whose entries do not name it, one line each."""
    named = {(entry.line, entry.text): entry.contradictions for entry in ledger.statements if entry.text}
    stated = statements(text)
    return [
        f"line {each.line}: {each.text:.60}: the contradiction {contradiction.name} quotes it; write it under contradictions"
        for contradiction in system.contradictions
        for line, words in contradiction.quotes
        for each in quoted(stated, line, words)
        if contradiction.name not in named.get((each.line, each.text), [contradiction.name])
    ]


def unaccounted(system: System, model: Model, ledger: Ledger) -> Iterator[str]:
    """The elements of a variant for which the ledger does not say where they come from, one line each."""
    named = _lines_by_element(ledger)
    lines = _lines(ledger)
    stated = sentences(ledger)
    known = {each.name for each in system.interpretations}
    parts = elements(model)
    documents = [system.variants[name].document for name in ledger.variants if name in system.variants]
    for name, its in ledger.elements.items():
        if its.review_of(model.variant) and name not in parts:
            yield f"{model.variant}: {name}: the ledger has it, and the variant does not; put it back, or drop it from the ledger"
    for name, part in parts.items():
        at = f"{model.variant}: {name} ({part.place})"
        mark = ledger.elements.get(name)
        reviewed = mark.review_of(model.variant) if mark is not None else ""
        current = part.review_with(stated)
        if mark is None or reviewed != current:
            if not reviewed:
                what = "is not reviewed; compare it with its source"
            elif reviewed.partition("-")[0] == part.review:
                what = f"the words of line {part.line} have changed since it was reviewed; compare it with them"
            else:
                what = "has changed since it was reviewed; compare it with its source"
            as_one = len(ledger.variants) == 1
            write = f"review: {current}" if as_one else f"{model.variant}: {current} in its review"
            yield f"{at}: {what}, then write {write} under elements"
            continue
        if part.line is None and not part.fact and not mark.source:
            yield f"{at}: has no source; write source: line N, fact N, interpretation NAME or encoding: WHY"
        if part.line is not None and not any(_near(part.line, lines) for lines in named.get(name, ())):
            yield f"{at}: cites line {part.line}, and no entry of that line has it; add it there under modelled"
        yield from _wrong_sources(at, mark, known, documents, system.name)
        for words, source in [("source", mark.source), *mark.added.items()]:
            if (cited := LINE.fullmatch(source)) and not any(_near(int(cited[1]), some) for _, some in lines):
                yield f"{at}: {words}: {source} has no statement; cite another line"
        for each in part.parts:
            if each.endswith(ASSUMED) and each not in mark.added:
                yield f"{at}: {each!r} is an assumption that no configuration is without; write its source under added"


def _near(line: int, lines: tuple[int, int]) -> bool:
    return lines[0] <= line <= lines[1]


def _wrong_sources(
    at: str, mark: Mark, interpretations: set[str], documents: Collection[Document], system: str
) -> Iterator[str]:
    for words, each in [("source", mark.source), *mark.added.items()] if mark.source else mark.added.items():
        for name in interpretations_in(each):
            if name not in interpretations:
                yield f"{at}: {words}: {unknown('interpretation', name, interpretations, listed_by=f'schedproof coverage {system} --names')}"
        if SOURCE.match(each) is None:
            yield f"{at}: {words}: {each!r} is no source; write line N, fact N, interpretation NAME or encoding: WHY"
        elif each.startswith("fact ") and not any(d.facts is not None and fact(d, each[5:]) for d in documents):
            yield f"{at}: {words}: the facts of the document have no {each}; add it there"


def names(system: System) -> Mapping[str, Sequence[str]]:
    """The names that entries may use, by key."""
    models = list(system.variants.values())
    listed = {
        "modelled": [each for model in models for each in (*elements(model), *sorted(beside(system, model)))],
        "required": [
            *(prop.name for model in models for prop in model.properties),
            *(prop.name for prop in system.refinements),
            *(lock.name for some in system.locks.values() for lock in some),
            WELL_FORMED,
        ],
        "interpretations": [each.name for each in system.interpretations],
        "contradictions": [each.name for each in system.contradictions],
    }
    return {key: list(dict.fromkeys(some)) for key, some in listed.items()}


def _open_entries(system: System, ledger: Ledger) -> Iterator[str]:
    """Entries that say nothing, are written twice, or name what is not there."""
    if ledger.document != system.base.document.name:
        yield f"document: {ledger.document}: the model's document is {system.base.document.name}; write that"
    for (line, words), many in Counter((entry.line, entry.text or entry.arrow) for entry in ledger.statements).items():
        if many > 1:
            yield f"line {line}: {words:.60}: has {many} entries; leave one"
    known = names(system)
    for entry in ledger.statements:
        at = f"line {entry.line}: {entry.text or entry.arrow:.60}"
        if bool(entry.text) == bool(entry.arrow):
            yield f"{at}: has text and arrow, or neither; write one of them"
        if not entry.dispositions:
            yield f"{at}: nothing became of it; write modelled, required, background, or another key"
        for key, some in known.items():
            for name in getattr(entry, key):
                if name not in some:
                    yield f"{at}: {key}: {unknown('name', name, some, listed_by=f'schedproof coverage {system.name} --names')}"


def _lines_by_element(ledger: Ledger) -> Mapping[str, Sequence[tuple[int, int]]]:
    """Element -> (first line, last line) of the statements that it models."""
    named: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for entry, lines in _lines(ledger):
        for name in entry.modelled:
            named[name].append(lines)
    return named


def _lines(ledger: Ledger) -> list[tuple[Entry, tuple[int, int]]]:
    """Each entry with its first line and its last one.

    The ledger has no last lines. A statement ends at the latest where the next one begins, and each of its lines has a word.
    """
    firsts = sorted({entry.line for entry in ledger.statements})
    after = dict(zip(firsts, [*firsts[1:], 10**9], strict=False))
    return [
        (entry, (entry.line, min(after[entry.line], entry.line + max(1, len(entry.text.split())) - 1)))
        for entry in ledger.statements
    ]


def sentences(ledger: Ledger) -> list[Statement]:
    """The statements of a document, as far as its ledger has them: a last line is the latest one possible."""
    return [Statement(first, entry.text, last) for entry, (first, last) in _lines(ledger) if entry.text]


def wrong_lines(system: System, ledger: Ledger) -> Iterator[str]:
    """Interpretations and properties of lines that no statement has, and interpretations listed at another statement."""
    lines = _lines(ledger)
    for reading in system.interpretations:
        at = f"interpretation {reading.name} ({reading.place})"
        listed = [some for entry, some in lines if reading.name in entry.interpretations]
        if not any(_near(reading.line, some) for _, some in lines):
            yield f"{at}: line {reading.line} has no statement; write the line of the sentence that it is about"
        elif listed and not any(_near(reading.line, some) for some in listed):
            firsts = ", ".join(dict.fromkeys(str(first) for first, _ in listed))
            yield f"{at}: has line {reading.line}, and the ledger lists it at line {firsts}; list it at its own statement"
    properties = {(prop.name, prop.line): prop for model in system.variants.values() for prop in model.properties}
    for prop in properties.values():
        if prop.line is not None and not any(_near(prop.line, some) for _, some in lines):
            yield f"property {prop.name} ({prop.place}): line {prop.line} has no statement; cite the line that requires it"


def _idle_marks(claimed: Sequence[Model], ledger: Ledger) -> Iterator[str]:
    """Marks of elements, of variants and of parts that the claimed variants do not have."""
    forms: dict[str, list[Part]] = defaultdict(list)
    for model in claimed:
        for name, part in elements(model).items():
            forms[name].append(part)
    for name, mark in ledger.elements.items():
        for variant in mark.review if isinstance(mark.review, Mapping) else ():
            if variant not in ledger.variants:
                yield f"elements: {name}: {unknown('variant', variant, ledger.variants)}"
        for words in mark.added:
            if name in forms and not any(words in part.parts for part in forms[name]):
                listed = "; ".join(dict.fromkeys(each for part in forms[name] for each in part.parts))
                yield f"elements: {name}: it has no part {words!r}; choose from: {listed}"
        if name not in forms and not mark.review:
            yield f"elements: {unknown('element', name, forms)}"


def _idle_objects(system: System, ledger: Ledger) -> Iterator[str]:
    """Interpretations and contradictions that no statement and no element names."""
    of_marks = {each for mark in ledger.elements.values() for each in (mark.source, *mark.added.values())}
    interpretations = {name for entry in ledger.statements for name in entry.interpretations}
    interpretations |= {name for each in of_marks for name in interpretations_in(each)}
    contradictions = {name for entry in ledger.statements for name in entry.contradictions}
    for kind, some, used in (
        ("interpretation", system.interpretations, interpretations),
        ("contradiction", system.contradictions, contradictions),
    ):
        for each in some:
            if each.name not in used:
                yield f"no entry names the {kind} {each.name}; write it under {kind}s of its statement"


def _idle_properties(claimed: Sequence[Model], ledger: Ledger) -> Iterator[str]:
    """Properties of the claimed variants that cite a line of the document, and that no statement requires."""
    required = {name for entry in ledger.statements for name in entry.required}
    properties = {prop.name: prop for model in claimed for prop in model.properties if prop.line is not None}
    for name, prop in properties.items():
        if name not in required:
            yield f"no entry names the property {name} ({prop.place}), which cites line {prop.line}; write it under required of its statement"


def of_system(system: System) -> Ledger:
    """The ledger of a system that has one.

    Raises:
        LedgerError: it cannot be read, or names no variant of the system.
    """
    assert system.ledger is not None
    ledger = read(system.ledger)
    for name in ledger.variants or [""]:
        if name not in system.variants:
            raise LedgerError(f"{system.ledger}: variants: {unknown('variant', name, list(system.variants))}")
    return ledger


def require_accounted(system: System, models: Iterable[Model]) -> None:
    """Refuses variants that claim to be a document or a release, and have elements that nobody accounts for.

    Raises:
        LedgerError: the ledger cannot be read, or it lacks a valid mark or a source of an element.
    """
    if system.ledger is None:
        return
    ledger = of_system(system)
    for model in models:
        if model.variant not in ledger.variants:
            continue
        if lines := [*wrong_lines(system, ledger), *unaccounted(system, model, ledger)]:
            more = f" (and {len(lines) - 1} more)" if len(lines) > 1 else ""
            raise LedgerError(f"{system.name} {lines[0]}{more}; 'schedproof coverage {system.name}' lists all")
