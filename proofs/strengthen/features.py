"""The vocabulary of clauses: features of objects, each with a few values.

A literal says that the value of a feature is one of some values: "the state of l is Held or Lost", "l.holder is w".
A clause is a disjunction of literals, about every choice of distinct objects.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, permutations
from keyword import iskeyword

import numpy as np

from schedproof.model.lang import (
    BoolType,
    EnumType,
    Integer,
    IntRange,
    Model,
    Property,
    Ref,
    Relation,
    SetOf,
    Sort,
    Type,
    ended,
    exists,
)
from schedproof.model.lang import terms as t
from schedproof.model.lang.types import Integer as IntegerType
from schedproof.model.lang.wording import show_term
from schedproof.proofs.induction.rewrite import substitute

from .columns import States, Truths, Values, has_column

MOST_NUMBERS = 8
"""Numbers of so many values or fewer are compared with constants one by one."""

MOST_QUANTIFIED = 3
"""Quantified formulas are features of templates with so many variables or fewer."""

STATE = ""
"""The name for the state of a machine, beside the names of its attributes."""

SAME_VALUE = " have the same value"
"""The end of the key of an equality of enumeration values."""

REACH = 2
"""Differences of numbers count from -2 (or less) to 2 (or more)."""


@dataclass(frozen=True)
class Feature:
    """One thing that can be read of some objects.

    Attributes:
        key: identifies the feature, as text over its variables.
        names: the variables that it reads.
    """

    key: str
    names: tuple[str, ...]

    @property
    def ties(self) -> bool:
        """Whether it says of its objects that they belong together. Two numbers that are compared do not."""
        return False

    @property
    def rigid(self) -> bool:
        """Whether it compares rigid numbers only, with each other or with constants."""
        return False

    def values(self, states: States, bound: Mapping[str, int]) -> Values:
        """The value in each state."""
        raise NotImplementedError

    @property
    def domain(self) -> frozenset[int]:
        """All values."""
        raise NotImplementedError

    def literal(self, allowed: Collection[int]) -> t.Term:
        """The formula that the value is one of ``allowed``: a proper part of the domain, and not empty."""
        raise NotImplementedError


@dataclass(frozen=True)
class StateFeature(Feature):
    """The machine state of an object."""

    of: t.Var = field(compare=False)
    states: tuple[str, ...] = ()

    def values(self, states: States, bound: Mapping[str, int]) -> Values:
        assert isinstance(self.of.type, Ref)
        return states.state(self.of.type.sort.name, bound[self.of.name]).astype(np.int8)

    @property
    def domain(self) -> frozenset[int]:
        return frozenset(range(len(self.states)))

    def literal(self, allowed: Collection[int]) -> t.Term:
        names = [self.states[n] for n in sorted(allowed)]
        others = [self.states[n] for n in sorted(self.domain - frozenset(allowed))]
        return t.Not(self.of.is_(*others)) if len(others) < len(names) else self.of.is_(*names)


@dataclass(frozen=True)
class TruthFeature(Feature):
    """A formula."""

    formula: t.Term = field(compare=False)

    @property
    def ties(self) -> bool:
        return not self.key.endswith(SAME_VALUE)

    def values(self, states: States, bound: Mapping[str, int]) -> Values:
        return states.truth(self.formula, bound).astype(np.int8)

    @property
    def domain(self) -> frozenset[int]:
        return frozenset((0, 1))

    def literal(self, allowed: Collection[int]) -> t.Term:
        return self.formula if set(allowed) == {1} else negated(self.formula)


@dataclass(frozen=True)
class EnumFeature(Feature):
    """An attribute with named values."""

    attribute: t.Attr = field(compare=False)
    words: tuple[str, ...] = ()

    def values(self, states: States, bound: Mapping[str, int]) -> Values:
        return states.value(self.attribute, bound).astype(np.int8)

    @property
    def domain(self) -> frozenset[int]:
        return frozenset(range(len(self.words)))

    def literal(self, allowed: Collection[int]) -> t.Term:
        others = sorted(self.domain - frozenset(allowed))
        if len(others) < len(allowed):
            return t.both([self.attribute != self.words[n] for n in others])
        return either([self.attribute == self.words[n] for n in sorted(allowed)])


@dataclass(frozen=True)
class NumberFeature(Feature):
    """A number less another one, or a number; those beyond ``low`` and ``high`` count as these.

    A value is how far the number is above ``low``.
    """

    left: t.Term = field(compare=False)
    right: t.Term | None = field(compare=False)
    low: int = 0
    high: int = 0
    open_below: bool = False
    open_above: bool = False
    rigid: bool = False

    def values(self, states: States, bound: Mapping[str, int]) -> Values:
        number = states.value(self.left, bound)
        if self.right is not None:
            number = number - states.value(self.right, bound)
        return (np.clip(number.astype(np.int64), self.low, self.high) - self.low).astype(np.int8)

    @property
    def domain(self) -> frozenset[int]:
        return frozenset(range(self.high - self.low + 1))

    def literal(self, allowed: Collection[int]) -> t.Term:
        numbers, others = ({self.low + n for n in some} for some in (allowed, self.domain.difference(allowed)))
        one_inside = len(others) == 1 and all(self.low < n < self.high for n in others)
        if len(others) < len(_runs(numbers)) or one_inside:
            return t.both([negated(part) for part in self._parts(others)])
        return either(self._parts(numbers))

    def _parts(self, numbers: Collection[int]) -> list[t.Term]:
        return [self._between(first, last) for first, last in _runs(numbers)]

    def _between(self, first: int, last: int) -> t.Term:
        bounds: list[t.Term] = []
        if (
            first == last
            and not (first == self.low and self.open_below)
            and not (last == self.high and self.open_above)
        ):
            return t.Equal(self.left, self._other(first))
        if first > self.low:
            bounds.append(t.Less(self._other(first), self.left, True))
        if last < self.high:
            bounds.append(t.Less(self.left, self._other(last), True))
        if not bounds and self.right is None:  # the whole domain
            return t.Constant(True)
        return t.both(bounds)

    def _other(self, number: int) -> t.Term:
        if self.right is None:
            return t.Constant(number)
        return self.right if number == 0 else t.Sum(self.right, t.Constant(abs(number)), 1 if number > 0 else -1)


def _runs(numbers: Collection[int]) -> list[tuple[int, int]]:
    """The numbers as intervals."""
    formulas: list[tuple[int, int]] = []
    for n in sorted(numbers):
        if formulas and formulas[-1][1] == n - 1:
            formulas[-1] = formulas[-1][0], n
        else:
            formulas.append((n, n))
    return formulas


def negated(term: t.Term) -> t.Term:
    """The negation, without a double one."""
    return term.part if isinstance(term, t.Not) else t.Not(term)


def either(parts: Sequence[t.Term]) -> t.Term:
    """The disjunction of ``parts``."""
    return parts[0] if len(parts) == 1 else t.Or(tuple(parts))


@dataclass(frozen=True, eq=False)
class Template:
    """A choice of distinct objects: some variables of some sorts, one of each single sort among them."""

    variables: tuple[t.Var, ...]
    features: tuple[Feature, ...]

    def present(self, states: States, bound: Mapping[str, int]) -> Truths | None:
        """For each state, whether the objects of disposable sorts are present: an invariant is about no others. None: in all."""
        absent = [
            states.truth(ended(v), bound) for v in self.variables if isinstance(v.type, Ref) and v.type.sort.disposable
        ]
        return ~np.logical_or.reduce(absent) if absent else None

    @cached_property
    def many(self) -> dict[str, str]:
        """The variables that range over many objects, each with its sort."""
        types = {v.name: v.type for v in self.variables}
        return {name: of.sort.name for name, of in types.items() if isinstance(of, Ref) and not of.sort.single}

    @cached_property
    def places(self) -> dict[Feature, int]:
        """The number of each feature."""
        return {feature: n for n, feature in enumerate(self.features)}

    def is_read_by(self, features: Iterable[Feature]) -> bool:
        """Whether some features together read all variables that range over many objects."""
        return not self.many or self.many.keys() <= {name for each in features for name in each.names}

    @property
    def sorts(self) -> frozenset[str]:
        """The sorts of variables that range over many objects."""
        return frozenset(self.many.values())

    @property
    def cost(self) -> int:
        """The number of variables that range over many objects."""
        return len(self.many)

    def assignments(self, states: States) -> Iterator[dict[str, int]]:
        """Every choice of distinct objects of an instance for the variables."""
        by_sort: dict[str, list[str]] = {}
        for v in self.variables:
            assert isinstance(v.type, Ref)
            by_sort.setdefault(v.type.sort.name, []).append(v.name)
        chosen: list[dict[str, int]] = [{}]
        for sort, names in by_sort.items():
            ways = list(permutations(range(states.instance.sizes[sort]), len(names)))
            chosen = [{**one, **dict(zip(names, way, strict=True))} for one in chosen for way in ways]
        yield from chosen

    @cached_property
    def by_variables(self) -> list[tuple[tuple[str, ...], list[int]]]:
        """The features by the variables that they read; few read all of these."""
        by_names: dict[tuple[str, ...], list[int]] = {}
        for n, feature in enumerate(self.features):
            by_names.setdefault(feature.names, []).append(n)
        return list(by_names.items())

    def value(self, number: int, states: States, bound: Mapping[str, int]) -> Values:
        """The value of a feature for one choice of objects in each state."""
        feature = self.features[number]
        objects = tuple([bound[name] for name in feature.names])
        return states.values_of(self._keys[number], objects, lambda: feature.values(states, bound))

    @cached_property
    def _keys(self) -> list[str]:
        """What identifies each feature in all templates of a model: its key, and the sorts of its variables."""
        sorts = {v.name: v.type for v in self.variables}
        return [" ".join([each.key, *(str(sorts[name]) for name in each.names)]) for each in self.features]


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The features of a model.

    Args:
        history: the history attributes that clauses may read.
        exists: also "somebody refers to it".
    """

    model: Model
    history: frozenset[tuple[str, str]] = frozenset()
    exists: bool = False

    @cached_property
    def _formulas(self) -> list[t.Term]:
        """The mined formulas, and with one of their variables bound: "with some quorum"."""
        formulas = [each for each in mined(self.model) if not self._reads_other_history(each)]
        for formula in list(formulas):
            free = list(t.free_variables(formula).values())
            if len(free) > 1 and not formula_exists(formula):
                formulas += [t.exists(v, formula) for v in free]
        return formulas

    def _reads_other_history(self, formula: t.Term) -> bool:
        for part in t.subterms(formula):
            if isinstance(part, t.Attr) and isinstance(part.of, t.Var) and isinstance(part.of.type, Ref):
                sort = part.of.type.sort.name
                attribute = self.model.machine(sort).attribute(part.name)
                if attribute is not None and attribute.history and (sort, part.name) not in self.history:
                    return True
        return False

    def templates(self, cost: int) -> Iterator[Template]:
        """The templates with ``cost`` variables of sorts with many objects; a third one is tied to the others by an attribute."""
        single = [s for s in self.model.sorts if s.single]
        many = [s for s in self.model.sorts if not s.single]
        for sorts in _multisets(many, cost):
            if cost < 3 or self._connected(sorts):
                template = self._template((*sorts, *single))
                if template.features:
                    yield template

    def has(self, template: Template) -> bool:
        """Whether a template is one of these; another vocabulary may have other features for the same variables."""
        return any(each is template for each in self._made.values())

    def _template(self, sorts: tuple[Sort, ...]) -> Template:
        if sorts not in self._made:
            variables = named(sorts)
            self._made[sorts] = Template(tuple(variables), tuple(self._features(variables)))
        return self._made[sorts]

    @cached_property
    def _made(self) -> dict[tuple[Sort, ...], Template]:
        return {}

    def _connected(self, sorts: Sequence[Sort]) -> bool:
        """Whether attributes tie all of these sorts together."""
        reached, left = {sorts[0].name}, [s.name for s in sorts]
        while more := [s for s in left if s not in reached and any(frozenset((s, r)) in self._ties for r in reached)]:
            reached.update(more)
        return reached.issuperset(left)

    @cached_property
    def _ties(self) -> set[frozenset[str]]:
        """The pairs of sorts that one attribute ties: the owner, and what it refers to or contains."""
        ties = set()
        for machine in self.model.machines:
            for attribute in machine.attributes:
                tied = [machine.sort.name]
                match attribute.type:
                    case Ref(sort) | SetOf(sort):
                        tied.append(sort.name)
                    case Relation(sorts):
                        tied += [s.name for s in sorts]
                ties |= {frozenset(pair) for pair in combinations(tied, 2)}
        return ties

    def _features(self, variables: Sequence[t.Var]) -> Iterator[Feature]:
        for v in variables:
            yield from self._of_one(v)
        for attribute, kind, _ in self._attributes(variables):
            if isinstance(kind, Ref):
                for w in self._of_sort(variables, kind.sort):
                    yield _truth(attribute == w)
            if isinstance(kind, SetOf):
                for w in self._of_sort(variables, kind.sort):
                    yield _truth(attribute.has(w))
            if isinstance(kind, Relation):
                for chosen in _tuples(variables, kind.sorts):
                    yield _truth(attribute.has(*chosen))
        yield from self._of_two(variables)
        if len(variables) <= MOST_QUANTIFIED:
            yield from self._mined(variables)
        if self.exists:
            yield from self._somebody(variables)

    def _attributes(self, variables: Iterable[t.Var]) -> Iterator[tuple[t.Attr, Type, t.Var]]:
        for v in variables:
            assert isinstance(v.type, Ref)
            machine = self.model.machine(v.type.sort)
            for a in machine.attributes:
                if not a.history or (machine.sort.name, a.name) in self.history:
                    yield t.Attr(v, a.name), a.type, v

    def _of_one(self, v: t.Var) -> Iterator[Feature]:
        assert isinstance(v.type, Ref)
        machine = self.model.machine(v.type.sort)
        if len(machine.states) > 1:
            yield StateFeature(f"state of {v.name}", (v.name,), v, tuple(s.name for s in machine.states))
        for attribute, kind, _ in self._attributes([v]):
            key = f"{v.name}.{attribute.name}"
            match kind:
                case Ref(sort):
                    yield _truth(attribute == t.NONE)
                    if sort.disposable:
                        referred = t.Var(f"{letter(sort)}_", kind)
                        yield _truth(exists(referred, ~ended(referred) & (attribute == referred)))
                case BoolType():
                    yield _truth(attribute)
                case EnumType(words):
                    yield EnumFeature(key, (v.name,), attribute, words)
                case IntRange(low, high):
                    top, rigid = min(high, low + MOST_NUMBERS - 1), self._is_rigid(attribute)
                    yield NumberFeature(key, (v.name,), attribute, None, low, top, open_above=top < high, rigid=rigid)
                case IntegerType(low):
                    yield NumberFeature(key, (v.name,), attribute, None, -1 if low is None else low, (low or 0) + 2,
                                        open_below=low is None, open_above=True, rigid=self._is_rigid(attribute))  # fmt: skip

    def _is_rigid(self, attribute: t.Attr) -> bool:
        assert isinstance(attribute.of, t.Var) and isinstance(attribute.of.type, Ref)
        declared = self.model.machine(attribute.of.type.sort).attribute(attribute.name)
        return declared is not None and declared.rigid

    def _of_two(self, variables: Sequence[t.Var]) -> Iterator[Feature]:
        every = list(self._attributes(variables))
        for (one, kind, v), (other, second, w) in combinations(every, 2):
            names = tuple(sorted({v.name, w.name}))
            key = f"{v.name}.{one.name} {w.name}.{other.name}"
            match kind, second:
                case Ref(a), Ref(b) if a == b:
                    yield TruthFeature(f"{key} equal", names, t.Equal(one, other))
                case ((IntRange() | Integer()), (IntRange() | Integer())):
                    rigid = self._is_rigid(one) and self._is_rigid(other)
                    yield NumberFeature(key, names, one, other, -REACH, REACH, True, True, rigid)
                case EnumType(a_words), EnumType(b_words) if a_words == b_words:
                    yield TruthFeature(f"{key}{SAME_VALUE}", names, t.Equal(one, other))

    def _of_sort(self, variables: Iterable[t.Var], sort: Sort) -> Iterator[t.Var]:
        return (v for v in variables if v.type == Ref(sort))

    def _somebody(self, variables: Sequence[t.Var]) -> Iterator[Feature]:
        """That some object refers to one of the variables, in any state or in one state."""
        for machine in self.model.machines:
            some = t.Var(f"{letter(machine.sort)}_", Ref(machine.sort))
            for attribute, kind, _ in self._attributes([some]):
                places: list[tuple[t.Term, t.Var]] = []
                if isinstance(kind, Ref):
                    places = [(attribute == v, v) for v in self._of_sort(variables, kind.sort)]
                elif isinstance(kind, SetOf):
                    places = [(attribute.has(v), v) for v in self._of_sort(variables, kind.sort)]
                for formula, _ in places:
                    yield _truth(t.exists(some, formula))
                    for state in machine.states if len(machine.states) > 1 else ():
                        yield _truth(t.exists(some, formula & some.is_(state.name)))
            if len(machine.states) > 1 and not machine.sort.single:
                for state in machine.states:
                    yield _truth(t.exists(some, some.is_(state.name)))
        for attribute, kind, _ in self._attributes(variables):
            if isinstance(kind, SetOf):
                some = t.Var(f"{letter(kind.sort)}_", Ref(kind.sort))
                yield _truth(t.exists(some, attribute.has(some)))

    def _mined(self, variables: Sequence[t.Var]) -> Iterator[Feature]:
        """The quantified formulas of guards and properties, about each choice of variables."""
        seen: set[str] = set()
        for formula in self._formulas:
            free = list(t.free_variables(formula).values())
            for chosen in _tuples(variables, [v.type.sort for v in free if isinstance(v.type, Ref)]):
                renamed = _renamed(formula, dict(zip((v.name for v in free), chosen, strict=True)))
                feature = _truth(renamed)
                if feature.key not in seen:
                    seen.add(feature.key)
                    yield feature


def formula_exists(formula: t.Term) -> bool:
    """Whether a formula begins with "some"."""
    return isinstance(formula, t.Quantified) and not formula.universal


def sorts_of(prop: Property) -> Iterator[str]:
    """The sorts of the objects that a property is about."""
    formulas = [part for part in (getattr(prop, "given", None), getattr(prop, "then", None)) if part is not None]
    bound = [v for formula in formulas for part in t.subterms(formula) for v in t.bound_by(part)]
    for v in (*getattr(prop, "over", ()), *bound):
        if isinstance(v.type, Ref):
            yield v.type.sort.name


def mined(model: Model) -> list[t.Term]:
    """The quantified formulas of a model's guards and properties."""
    sources: list[t.Term] = [g for action in model.actions for g in action.when]
    sources += [g for rule in model.rules for g in rule.when]
    for prop in model.properties:
        sources += [part for part in (getattr(prop, "given", None), getattr(prop, "then", None)) if part is not None]
    return [
        part for term in sources for part in t.subterms(term) if isinstance(part, t.Quantified) and has_column(part)
    ]


def _renamed(formula: t.Term, by: Mapping[str, t.Var]) -> t.Term:
    """The formula about other variables; its bound variables get names that no template has."""
    formula = _bound_apart(formula)
    fresh = {name: t.Var(f"{name}#", v.type) for name, v in by.items()}
    for name, v in fresh.items():
        formula = substitute(formula, name, v)
    for name, v in by.items():
        formula = substitute(formula, f"{name}#", v)
    return formula


def _bound_apart(term: t.Term) -> t.Term:
    if not isinstance(term, t.Quantified):
        return t.rebuilt(term, _bound_apart) if t.children(term) else term
    body = _bound_apart(term.body)
    fresh = [t.Var(f"{v.name}_", v.type) for v in term.variables]
    for old, new in zip(term.variables, fresh, strict=True):
        body = substitute(body, old.name, new)
    return t.Quantified(term.universal, tuple(fresh), body, place=term.place)


def _truth(formula: t.Term) -> TruthFeature:
    names = tuple(sorted(t.free_variables(formula)))
    bound = [v for part in t.subterms(formula) if isinstance(part, t.Quantified) for v in part.variables]
    # The text says no sort: two sorts may have a state of the same name.
    sorts = " ".join(f"{v.name}: {v.type}" for v in bound)
    return TruthFeature(f"{show_term(formula)} ({sorts})" if sorts else show_term(formula), names, formula)


def _tuples(variables: Sequence[t.Var], sorts: Sequence[Sort]) -> Iterator[tuple[t.Var, ...]]:
    """Every tuple of variables of these sorts; a variable may occur twice."""
    chosen: list[tuple[t.Var, ...]] = [()]
    for sort in sorts:
        chosen = [(*one, v) for one in chosen for v in variables if v.type == Ref(sort)]
    yield from chosen


def _multisets(sorts: Sequence[Sort], size: int) -> Iterator[tuple[Sort, ...]]:
    if size == 0:
        yield ()
        return
    for n, sort in enumerate(sorts):
        for rest in _multisets(sorts[n:], size - 1):
            yield (sort, *rest)


def letter(sort: Sort) -> str:
    """A name for a variable of a sort: its letter, made a name of Python that numbers can follow.

    The letter of a sort may be ``is``, or ``w2`` beside a sort ``w`` with two variables ``w`` and ``w2``.
    """
    name = re.sub(r"\W", "_", sort.short)
    name = name if name.isidentifier() else f"{sort.name[0].lower()}_{name}"
    return f"{name}_" if iskeyword(name) or name[-1].isdigit() else name


def named(sorts: Sequence[Sort]) -> list[t.Var]:
    """A variable for each of some sorts, named by the sort's letter and, from the second on, a number."""
    counts: dict[str, int] = {}
    variables = []
    for sort in sorts:
        name = letter(sort)
        counts[name] = counts.get(name, 0) + 1
        number = counts[name]
        variables.append(t.Var(name if number == 1 else f"{name}{number}", Ref(sort)))
    return variables
