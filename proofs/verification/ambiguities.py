"""What is unclear in a document, and shows in no run by itself: contradictions, silences, and sentences with two interpretations.

They are ranked by what hangs on them: by the verdicts that an interpretation decides, and by the violated properties that come from
sentences that contradict each other. Exploration is not needed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from schedproof.model.lang import Contradiction, Model, Reading
from schedproof.model.ledger.gaps import interpretations_in, of_system, sentences
from schedproof.model.ledger.quotations import quoted
from schedproof.model.ledger.statements import Statement
from schedproof.model.registry.errors import UserError, unknown
from schedproof.model.registry.system import System
from schedproof.proofs.verdict import Verdict

from .interpreted import of_variant, question_and_answers, require_known_names
from .properties import expected, properties_of
from .silences import Withheld, withheld

MOST_STATES = 5
"""How many states without a row a list of findings names."""


class Kind(StrEnum):
    """Why a document is unclear."""

    CONTRADICTION = "contradiction"
    SILENCE = "silence"
    INTERPRETATION = "interpretation"


@dataclass(frozen=True)
class Ambiguity:
    """A place where a document is unclear, with the model's answer.

    Attributes:
        system: the name of the system.
        variant: the name of the variant whose answer it is; a contradiction is the first variant's.
        document: the name of the document.
        about: what the manifest says of it.
        silences: the events that the document sends to states without a row, where the answer is what keeps them away.
        sentences: of a contradiction, the whole sentences that it quotes, by line; as it quotes them if no ledger has them.
        defect: the name of the defect that a contradiction is; "" if it is none, or if that is not known.
    """

    system: str
    variant: str
    document: str
    about: Contradiction | Reading
    silences: tuple[Withheld, ...] = ()
    sentences: tuple[tuple[int, str], ...] = ()
    defect: str = ""

    @property
    def name(self) -> str:
        """The name."""
        return self.about.name

    @property
    def kind(self) -> Kind:
        """Why it is unclear."""
        if isinstance(self.about, Contradiction):
            return Kind.CONTRADICTION
        return Kind.SILENCE if self.silences else Kind.INTERPRETATION

    @property
    def lines(self) -> tuple[int, ...]:
        """The lines of the document."""
        about = self.about
        lines = [line for line, _ in about.quotes] if isinstance(about, Contradiction) else [about.line]
        return tuple(dict.fromkeys(lines))

    @property
    def hangs(self) -> tuple[str, ...]:
        """The properties whose verdicts hang on it."""
        about = self.about
        return tuple(about.violates if isinstance(about, Contradiction) else [*about.rests, *about.breaks])

    @property
    def rank(self) -> tuple[int, int, int]:
        """What decides the order: the number of verdicts, then the kind, then the line."""
        return -len(self.hangs), list(Kind).index(self.kind), min(self.lines, default=0)

    def text(self, *, every: bool = False, then: str = "", numbers: Mapping[str, int] | None = None) -> list[str]:
        """It as lines for a reader; an interpretation on which nothing hangs is one line.

        Args:
            every: all that is known of each.
            then: what differs with the other interpretation, as a check found; "" for what the interpretation names.
            numbers: by name, the numbers that defects have in a list.
        """
        lines = f"line{'s' if len(self.lines) > 1 else ''} {', '.join(map(str, self.lines))}"
        many = len(self.hangs)
        hang = f"; {many} verdict{' hangs' if many == 1 else 's hang'} on it" if many else ""
        number = f" {numbers[self.defect]}," if numbers and self.defect in numbers else ""
        see = f"; see defect{number} {self.defect}" if self.defect else ""
        head = f"{self.name} ({lines}, {self.variant}): {self.kind}{hang}{see}"
        if isinstance(self.about, Contradiction):
            return [head, *(f"  {line}" for line in _contradiction(self.about, self.sentences))]
        if not many and not every:
            return [f"{head}: {self.about.question}"]
        answers = [*_silences(self.silences, every=every), *question_and_answers(self.about, then=then)]
        return [head, *(f"  {line}" for line in answers)]

    def as_json(self) -> dict[str, Any]:
        """It as ``findings --json`` prints it."""
        about = self.about
        data = {
            "kind": str(self.kind),
            "system": self.system,
            "variants": [self.variant],
            "name": self.name,
            "document": self.document,
            "lines": list(self.lines),
            "hangs": list(self.hangs),
        }
        if isinstance(about, Contradiction):
            quotes = [{"line": line, "words": words.strip()} for line, words in about.quotes]
            sentences = [{"line": line, "words": words} for line, words in self.sentences]
            return {
                **data,
                "wrong": about.problem,
                "quotes": quotes,
                "sentences": sentences,
                "answer": about.reading,
                "defect": self.defect,
            }
        return {
            **data,
            "question": about.question,
            "answer": about.read,
            "otherwise": about.otherwise,
            "why": about.why,
            "tried": about.is_tried,
            "rests": list(about.rests),
            "breaks": list(about.breaks),
            "silences": [each.as_json() for each in self.silences],
        }


def _contradiction(about: Contradiction, sentences: Sequence[tuple[int, str]]) -> Iterator[str]:
    yield f"Wrong: {about.problem}"
    yield from (f'line {line}: "{words}"' for line, words in sentences)
    yield f"The model: {about.reading}"
    if about.violates:
        yield f"Violates: {', '.join(about.violates)}"


def _silences(some: Sequence[Withheld], *, every: bool) -> Iterator[str]:
    """The events of each sort for which states have no row, one line for those of the same states."""
    events: Mapping[tuple[str, tuple[str, ...]], list[str]] = defaultdict(list)
    for each in some:
        events[each.sort, each.states].append(each.event)
    for (sort, states), its in events.items():
        shown = states if every or len(states) <= MOST_STATES + 1 else states[:MOST_STATES]
        more = f" and {len(states) - len(shown)} more" if len(shown) < len(states) else ""
        yield f"Silent: no row of {sort} has {' or '.join(dict.fromkeys(its))} from {', '.join(shown)}{more}"


def ambiguities(system: System, *, variants: Sequence[str] = ()) -> list[Ambiguity]:
    """The contradictions, silences and interpretations of a system's documents, first those on which most verdicts hang.

    A silence is an interpretation that the ledger names as the source of a condition without which an event reaches a state that
    has no row for it.

    Args:
        system: the system.
        variants: names of variants: only the interpretations of these, and contradictions of the first variant's document if it
            is theirs; () means all. Of what a contradiction violates, only the properties that one of them violates are named.

    Raises:
        LedgerError: the ledger cannot be read.
        ModelError: an interpretation adds or drops what its variant cannot have.
        UserError: a contradiction names a property that no variant is expected to violate, or an interpretation an unknown one.
    """
    base = system.base
    chosen = [model for name, model in system.variants.items() if not variants or name in variants]
    contradictions = system.contradictions if any(model.document == base.document for model in chosen) else ()
    violated = _violated(system, contradictions, chosen)
    for model in chosen:
        require_known_names(system, model, of_variant(system, model))
    stated = sentences(of_system(system)) if contradictions and system.ledger is not None else []
    silent = _silent(system) if system.interpretations else {}
    some = [
        *(
            Ambiguity(
                system.name,
                base.variant,
                base.document.name,
                replace(each, violates=[name for name in each.violates if name in violated]),
                sentences=_whole(each, stated),
            )
            for each in contradictions
        ),
        *(
            Ambiguity(system.name, model.variant, model.document.name, each, tuple(silent.get(each.name, ())))
            for model in chosen
            for each in system.interpretations_of(model)
        ),
    ]
    return sorted(some, key=lambda each: each.rank)


def _whole(about: Contradiction, stated: Sequence[Statement]) -> tuple[tuple[int, str], ...]:
    """The sentences of which a contradiction quotes words, each once; a reader sees their conditions, too."""
    whole: dict[tuple[int, str], None] = {}
    for line, words in about.quotes:
        some = quoted(stated, line, words)
        whole |= dict.fromkeys([(each.line, each.text) for each in some] or [(line, words.strip())])
    return tuple(whole)


def _violated(system: System, contradictions: Sequence[Contradiction], chosen: Sequence[Model]) -> Collection[str]:
    """The properties of ``violates`` that one of the chosen variants violates.

    Raises:
        UserError: a name is not that of a violated property of any variant.
    """
    if not any(each.violates for each in contradictions):
        return ()
    known = {
        variant: [p.name for p in properties_of(system, model) if expected(system, model, p.name) is Verdict.REFUTED]
        for variant, model in system.variants.items()
    }
    everywhere = [name for some in known.values() for name in some]
    for each in contradictions:
        for name in each.violates:
            if name not in everywhere:
                problem = unknown("violated property", name, everywhere, listed_by=f"schedproof findings {system.name}")
                raise UserError(f"contradiction {each.name} ({each.place}): violates: {problem}")
    return {name for model in chosen for name in known[model.variant]}


def _silent(system: System) -> Mapping[str, Sequence[Withheld]]:
    """By the name of an interpretation, what its conditions keep from states without a row, each once for all variants."""
    if system.ledger is None:
        return {}
    ledger = of_system(system)
    of_interpretations: dict[str, dict[tuple[str, str, str], Withheld]] = defaultdict(dict)
    for variant in ledger.variants:
        for each in withheld(system.variants[variant]):
            mark = ledger.elements.get(each.by)
            for name in interpretations_in(mark.added.get(each.condition, "")) if mark is not None else ():
                of_interpretations[name].setdefault((each.by, each.condition, each.event), each)
    return {name: list(some.values()) for name, some in of_interpretations.items()}
