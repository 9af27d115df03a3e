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

from .cubes import Clause
from .infer import Inference, Lemma
from .samples import OutOfTime


def generalize(inference: Inference, among: Collection[str]) -> None:
    """Replaces lemmas of an inference that has proved its goals, and drops those that no proof needs.

    There are not more lemmas afterwards than :meth:`Inference.minimize` leaves.

    Args:
        among: the names of the lemmas to consider.
    """
    considered = set(among)
    inference.minimize(considered)
    tried: set[str] = set()
    while not inference.stop():
        lemmas, proofs = dict(inference.lemmas), dict(inference.proofs)
        considered &= lemmas.keys()
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
        considered |= added


def _chosen(inference: Inference, lemmas: Sequence[Lemma], tried: Collection[str]) -> list[Clause]:
    """Clauses, each of which excludes what several lemmas exclude that no clause before it does."""
    covered = [
        (_covered(clause, lemmas), clause) for clause in _candidates(inference, lemmas) if clause.key not in tried
    ]
    chosen: list[Clause] = []
    while covered:
        most, clause = max(covered, key=lambda each: len(each[0]))
        if len(most) < 2:
            break
        chosen.append(clause)
        covered = [(its - most, each) for its, each in covered]
    return chosen


def _covered(clause: Clause, lemmas: Sequence[Lemma]) -> frozenset[str]:
    """The lemmas that a clause may replace: it implies them, or excludes the counterexample that they were inferred from."""
    return frozenset(
        lemma.prop.name
        for lemma in lemmas
        if clause.implies(lemma.clause) or (lemma.excludes is not None and clause.excludes(lemma.excludes.before))
    )


def _candidates(inference: Inference, lemmas: Sequence[Lemma]) -> list[Clause]:
    """Clauses that are true of all samples and may replace lemmas, those that exclude most first."""
    clauses = {lemma.clause.key: lemma.clause for lemma in lemmas}
    for _ in range(2):  # what says most may be put together once more
        merged = {each.key: each for each in put_together(clauses.values())}
        narrowed = [each for clause in (*clauses.values(), *merged.values()) for each in _narrowed(inference, clause)]
        clauses = merged | {each.key: each for each in strongest(narrowed)}
    return sorted(clauses.values(), key=_excluded, reverse=True)


def put_together(clauses: Iterable[Clause]) -> Iterator[Clause]:
    """For each two clauses that differ in the values of their literals only, what follows from both.

    One literal has the values that both allow, and the others those that one of them allows. If these are the same in both,
    the clause says as much as the two.
    """
    by_features: dict[frozenset[str], list[Clause]] = {}
    for clause in clauses:
        by_features.setdefault(frozenset(feature.key for feature, _ in clause.literals), []).append(clause)
    for one, other in (pair for alike in by_features.values() for pair in combinations(alike, 2)):
        second = dict(other.literals)
        for common, _ in one.literals:
            literals = [(f, its & second[f] if f is common else its | second[f]) for f, its in one.literals]
            if all(its != f.domain for f, its in literals):
                yield Clause(one.template, tuple((f, its) for f, its in literals if its))


def _narrowed(inference: Inference, clause: Clause) -> Iterator[Clause]:
    """The clause with as few values as the samples permit; it depends on the literal that is narrowed first."""
    with suppress(OutOfTime):
        rows = inference.rows_of(clause)
        if rows is None or not len(rows):
            return
        for n in range(len(clause.literals)):
            yield Clause(clause.template, (*clause.literals[n:], *clause.literals[:n])).narrowed(rows)


def strongest(clauses: Iterable[Clause]) -> list[Clause]:
    """The clauses that no other one implies because of its literals alone."""
    different = list({each.key: each for each in clauses}.values())
    return [one for one in different if not any(other is not one and other.implies(one) for other in different)]


def _excluded(clause: Clause) -> tuple[int, int]:
    """How much a clause excludes: the fewer literals, and the more values none of them allows, the more."""
    return -len(clause.literals), prod(len(feature.domain) - len(its) for feature, its in clause.literals)
