"""Replaces the lemmas of a finished inference by fewer ones that say more.

The search takes the clause that is easiest to prove when it is found, often one for each state. When all is proved, a clause that
says as much as several of them has the others to rest on. Such clauses are candidates: each is true of all samples, and has to
be inductive together with the lemmas. Then lemmas that no proof needs are dropped, the old ones first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import combinations
from math import prod

import numpy as np
from numpy.typing import NDArray

from .cubes import Clause
from .features import Template
from .infer import Inference, Lemma
from .rows import OutOfTime, every_row

MOST_IDLE = 2
"""After so many rounds in a row that made lemmas no fewer, there are no more rounds."""


def generalize(inference: Inference, among: Collection[str]) -> None:
    """Replaces lemmas of an inference that has proved its goals, and drops those that no proof needs.

    There are not more lemmas afterwards than :meth:`Inference.minimize` leaves.

    Args:
        among: the names of the lemmas to consider.
    """
    considered = set(among)
    inference.minimize(considered)
    tried: set[str] = set()
    idle = 0
    while idle < MOST_IDLE and not inference.stop():
        lemmas, proofs = dict(inference.lemmas), dict(inference.proofs)
        considered &= lemmas.keys()
        tried.update(lemma.clause.key for lemma in lemmas.values())
        clauses = _chosen(inference, [lemmas[name] for name in lemmas if name in considered], tried)
        if not clauses:
            return
        tried.update(each.key for each in clauses)
        added = inference.add_inductive(clauses)
        for name in reversed([name for name in lemmas if name in considered]):
            inference.drop_if_needless(name)
        inference.minimize(considered | added)
        if len(inference.lemmas) > len(lemmas):
            inference.restore(lemmas, proofs)
        idle = 0 if len(inference.lemmas) < len(lemmas) else idle + 1
        considered |= added


def _chosen(inference: Inference, lemmas: Sequence[Lemma], tried: Collection[str]) -> list[Clause]:
    """Clauses, each of which may replace several lemmas that no clause before it may replace."""
    left = {each: names for each, names in _candidates(inference, lemmas).items() if each.key not in tried}
    chosen: list[Clause] = []
    while left:
        clause = max(left, key=lambda each: (len(left[each]), _excluded(each)))
        names = left.pop(clause)
        if len(names) < 2:
            break
        chosen.append(clause)
        left = {each: its - names for each, its in left.items()}
    return chosen


def _candidates(inference: Inference, lemmas: Sequence[Lemma]) -> dict[Clause, frozenset[str]]:
    """Clauses that are true of all samples, each with the names of the lemmas that it may replace.

    These are the ones that it was made from, those that it implies, and those whose counterexamples it excludes.
    """
    made = {lemma.clause: frozenset([lemma.prop.name]) for lemma in lemmas}
    for _ in range(2):  # what says most may be put together once more
        merged = {
            each: made[one] | made[other] for one, other in combinations(made, 2) for each in put_together(one, other)
        }
        narrowed = {each: made[one] for one in made for each in _narrowed(inference, one)}
        narrowed |= {each: merged[one] for one in merged for each in _narrowed(inference, one)}
        made = merged | {each: narrowed[each] for each in strongest(narrowed)}
        made = {each: names for each, names in made.items() if each.reads_all_variables}
    counterexamples = _Counterexamples(lemmas)
    return {
        each: names.union(
            (lemma.prop.name for lemma in lemmas if each.implies(lemma.clause)), counterexamples.excluded_by(each)
        )
        for each, names in made.items()
    }


class _Counterexamples:
    """The counterexamples that lemmas exclude."""

    def __init__(self, lemmas: Sequence[Lemma]) -> None:
        self._steps = {lemma.prop.name: lemma.excludes for lemma in lemmas if lemma.excludes is not None}
        self._rows: dict[Template, tuple[NDArray[np.int8], list[str]]] = {}

    def excluded_by(self, clause: Clause) -> set[str]:
        """The names of the lemmas whose counterexamples a clause excludes."""
        rows, names = self._rows_of(clause.template)
        return {names[n] for n in np.flatnonzero(clause.fails(rows))}

    def _rows_of(self, template: Template) -> tuple[NDArray[np.int8], list[str]]:
        """The rows of all counterexamples, each with the name of its lemma."""
        if template not in self._rows:  # they take longer than what is asked about them
            each = {name: every_row(template, step.before) for name, step in self._steps.items()}
            none = np.zeros((0, len(template.features)), np.int8)
            self._rows[template] = np.concatenate([none, *each.values()]), [n for n in each for _ in each[n]]
        return self._rows[template]


def put_together(one: Clause, other: Clause) -> Iterator[Clause]:
    """What follows from two clauses that differ in the values of their literals only.

    One literal has the values that both allow, and the others those that one of them allows. If these are the same in both,
    the clause says as much as the two.
    """
    first, second = dict(one.literals), dict(other.literals)
    for common in first if first.keys() == second.keys() else ():
        literals = {f: its & second[f] if f is common else its | second[f] for f, its in first.items()}
        if all(its != f.domain for f, its in literals.items()):
            yield Clause(one.template, tuple((f, its) for f, its in literals.items() if its))


def _narrowed(inference: Inference, clause: Clause) -> Iterator[Clause]:
    """The clause with as few values as the samples permit; it depends on the literal that is narrowed first."""
    with suppress(OutOfTime):
        rows = inference.rows_of(clause)
        if rows is None or not len(rows.matrix):
            return
        for n in range(len(clause.literals)):
            yield Clause(clause.template, (*clause.literals[n:], *clause.literals[:n])).narrowed(rows.bitmaps)


def strongest(clauses: Iterable[Clause]) -> list[Clause]:
    """The clauses that no other one implies because of its literals alone."""
    different = list({each.key: each for each in clauses}.values())
    return [one for one in different if not any(other is not one and other.implies(one) for other in different)]


def _excluded(clause: Clause) -> tuple[int, int]:
    """How much a clause excludes: the fewer literals, and the more values none of them allows, the more."""
    return -len(clause.literals), prod(len(feature.domain) - len(its) for feature, its in clause.literals)
