"""Clauses as invariants of the language: a premise, a conclusion, a name and a sentence."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations, product

from schedproof.model.lang import Invariant, Ref
from schedproof.model.lang import terms as t
from schedproof.model.lang.wording import show_term

from .columns import States
from .cubes import Clause
from .features import Feature, NumberFeature, StateFeature, TruthFeature

LONGEST = 48
"""The most characters of a name."""


def invariant(clause: Clause, samples: Iterable[States], used_names: Collection[str]) -> Invariant:
    """The invariant that a clause states, with a name that is not ``used_names``.

    A condition that two objects are distinct is left out if the samples do not need it.
    """
    variables = [v for v in clause.template.variables if v.name in clause.names]
    apart = [(v, w) for v, w in combinations(variables, 2) if v.type == w.type]
    states = list(samples)
    for pair in list(apart):
        fewer = [each for each in apart if each is not pair]
        if _holds(_body(clause, fewer), variables, pair, states):
            apart = fewer
    given, then = parts(clause, apart)
    body = then if given is None else t.implies(given, then)
    whole = t.forall(variables, body) if variables else body
    name = _free(_name(given, then), used_names)
    return Invariant(name=name, says=sentence(whole), over=variables, given=given, then=then)


NEGATIONS = {
    r"not \(([\w.]+)\)": r"not \1",
    r"not \((\([^()]*\)|[\w.]+) in ([\w.]+)\)": r"\1 not in \2",
    r"not \((\w+) (\w+)\)": r"\1 not \2",
}
"""Negations of a truth value, of an element, and of a state, without their brackets."""


def sentence(formula: t.Term) -> str:
    """A formula in words, for a person who decides whether it says what the model means."""
    words = show_term(formula)
    for bracketed, plain in NEGATIONS.items():
        words = re.sub(bracketed, plain, words)
    return words


def renamed(props: Sequence[Invariant], used_names: Collection[str]) -> list[Invariant]:
    """The invariants with numbers in their names only where two have one name: others may have been dropped meanwhile."""
    fresh: list[Invariant] = []
    for prop in props:
        name = _free(re.sub(r"-\d+$", "", prop.name), {*used_names, *(each.name for each in fresh)})
        fresh.append(replace(prop, name=name))
    return fresh


def _body(clause: Clause, apart: Sequence[tuple[t.Var, t.Var]]) -> t.Term:
    given, then = parts(clause, apart)
    return then if given is None else t.implies(given, then)


def parts(clause: Clause, apart: Sequence[tuple[t.Var, t.Var]]) -> tuple[t.Term | None, t.Term]:
    """The premise and the conclusion that read best."""
    literals = list(clause.literals)
    if len(apart) == 1 and not any(_concludes(*each) for each in literals):
        (v, w), *_ = apart
        return t.both([_premise(*each) for each in literals]), t.Equal(v, w)
    last = max(literals, key=lambda each: _weight(*each))
    premises = [_premise(*each) for each in literals if each is not last]
    premises += [t.Not(t.Equal(v, w)) for v, w in apart]
    return (t.both(premises) if premises else None), last[0].literal(last[1])


def _premise(feature: Feature, allowed: frozenset[int]) -> t.Term:
    return feature.literal(feature.domain - allowed)


def _concludes(feature: Feature, allowed: frozenset[int]) -> bool:
    """Whether a literal reads well as a conclusion: it is positive."""
    return not isinstance(feature.literal(allowed), t.Not)


def _weight(feature: Feature, allowed: frozenset[int]) -> tuple[int, int, int]:
    positive = _concludes(feature, allowed)
    kind = 2 if isinstance(feature, TruthFeature) else 1 if isinstance(feature, StateFeature | NumberFeature) else 0
    return positive, len(feature.names), kind


def _holds(body: t.Term, variables: Sequence[t.Var], same: tuple[t.Var, t.Var], samples: Sequence[States]) -> bool:
    """Whether all samples satisfy a formula where two variables are one object; elsewhere it is known to hold."""
    one, other = same
    for states in samples:
        for bound in _every(variables, states):
            if bound[one.name] == bound[other.name] and not states.truth(body, bound).all():
                return False
    return True


def _every(variables: Sequence[t.Var], states: States) -> Iterator[dict[str, int]]:
    sizes = [range(states.instance.sizes[v.type.sort.name]) for v in variables if isinstance(v.type, Ref)]
    for numbers in product(*sizes):
        yield dict(zip((v.name for v in variables), numbers, strict=True))


def _name(given: t.Term | None, then: t.Term) -> str:
    words = [word for part in ([given] if given is not None else []) + [then] for word in _words(part)]
    kept: list[str] = []
    for word in words:
        if word not in kept and len("-".join([*kept, word])) <= LONGEST:
            kept.append(word)
    return "-".join(kept) or "lemma"


def _words(term: t.Term) -> Iterator[str]:
    """The names of states, attributes and values that a formula mentions."""
    match term:
        case t.Is(_, states):
            yield from (_plain(s) for s in states[:2])
        case t.Not(part):
            yield "not"
            yield from _words(part)
        case t.Attr(_, name):
            yield _plain(name)
        case t.Equal(t.Var(), t.Var()):
            yield "same"
        case t.Nothing():
            yield "none"
        case t.Constant(value):
            yield _plain(str(value))
        case t.Quantified(universal, _, body):
            yield "every" if universal else "some"
            yield from _words(body)
        case _:
            for child in t.children(term):
                yield from _words(child)


def _plain(name: str) -> str:
    split = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name)
    return re.sub(r"[^a-z0-9]+", "-", split.lower()).strip("-")


def _free(name: str, used_names: Collection[str]) -> str:
    number, chosen = 1, name
    while chosen in used_names:
        number += 1
        chosen = f"{name}-{number}"
    return chosen
