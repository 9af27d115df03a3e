"""Terms and formulas: typed syntax trees built by ordinary Python operators, never by strings.

A term of type Bool is a formula. ``c.user`` reads an attribute; ``c.is_("Used", "Reserving")`` is true in these
states; ``c.fires("e2")`` is true if an event happens, or makes it happen. Names are checked when the model is used
(:mod:`schedproof.model.lang.check`); an error has the place of the wrong term.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Never, get_args

from schedproof.model.errors import ArgumentError, require, shown

from .arguments import method, word
from .errors import ModelError, Place, calling_place
from .types import Ref, SetOf, Sort, Type

Value = int | bool | str

MOST_FACTOR = 16
"""The greatest factor of a term. A multiple is written out as a sum."""


def without_caches(thing: object) -> dict[str, Any]:
    """The attributes to pickle or copy: what is computed from them may be functions, or belong to one object."""
    return {name: value for name, value in vars(thing).items() if not name.startswith("_")}


@dataclass(frozen=True, eq=False)
class Term:
    """Any expression. Comparison operators build formulas, so terms are equal only to themselves."""

    place: Place = field(default_factory=calling_place, kw_only=True, repr=False)

    def __getattr__(self, name: str) -> Attr:
        if name.startswith("_"):
            raise AttributeError(name)
        return Attr(self, name)

    def __hash__(self) -> int:
        return id(self)

    def __getstate__(self) -> dict[str, Any]:
        return without_caches(self)

    def __bool__(self) -> bool:
        raise ArgumentError("a term is not true or false in Python; join terms with &, | and ~ instead of and, or, not")

    def __contains__(self, value: object) -> bool:
        raise ArgumentError("Python's in has no meaning for terms; write s.has(x), or x == s if s is one object")

    def is_(self, *states: str) -> Is:
        """This object is in one of ``states`` of its machine."""
        for state in states:
            require("a state", state, str, "the names of the states, for example is_('Running', 'Done')")
        return Is(self, states)

    def fires(self, event: str, **payload: Term | Value) -> Fires:
        """``event`` happens to this object in the current step; ``payload`` fills its parameters."""
        return Fires(self, event, tuple((k, lift(v)) for k, v in payload.items()))

    @method
    def has(self, element: Term, *others: Term) -> Has:
        """This set contains ``element``; or this relation contains the tuple of ``element`` and ``others``."""
        return Has(self, _together(element, others))

    @method
    def with_(self, element: Term, *others: Term, to: Term | Value | None = None) -> Adjusted | Updated:
        """This set and ``element``; or this relation and the tuple of ``element`` and ``others``.

        Args:
            to: of a function, its value at ``element`` and ``others``.
        """
        if to is not None:
            return Updated(self, _together(element, others), lift(to))
        return Adjusted(self, _together(element, others), True)

    @method
    def without(self, element: Term, *others: Term) -> Adjusted:
        """This set less ``element``; or this relation less the tuple of ``element`` and ``others``."""
        return Adjusted(self, _together(element, others), False)

    @method
    def append(self, item: Term | Value) -> Appended:
        """This sequence and ``item`` behind it."""
        return Appended(self, lift(item))

    def __getitem__(self, arguments: Term | int | slice | tuple[Term, ...]) -> Apply | Sliced:
        """The value of this function at one object, or at several; the item of this sequence at an index, or a part of it."""
        if isinstance(arguments, slice):
            return self._slice(arguments)
        first, *others = arguments if isinstance(arguments, tuple) and arguments else (arguments,)
        return Apply(self, _together(first, others))

    def _slice(self, part: slice) -> Sliced:
        """The part of a sequence before an index, from an index on, or between two.

        Raises:
            ModelError: it has a step, or no index.
        """
        if part.step is not None or (part.start is None and part.stop is None):
            problem = (
                "a part of a sequence with a step" if part.step is not None else "a part of a sequence without an index"
            )
            raise ModelError(
                "term", calling_place(), problem, "write s[:n] for the first n items, or s[n:] for the others"
            )
        first = self if part.stop is None else Sliced(self, lift(part.stop), True)
        if part.start is None:
            assert isinstance(first, Sliced)
            return first
        return Sliced(first, lift(part.start), False)

    def __call__(self, *arguments: object, **named: object) -> Never:
        raise ModelError("term", calling_place(), "it is called like a function of Python", "read a value with f[x]")

    __iter__ = None  # Python would otherwise count through self[0], self[1], ...

    def __eq__(self, other: object) -> Equal:  # type: ignore[override]
        return Equal(self, lift(other))

    def __ne__(self, other: object) -> Not:  # type: ignore[override]
        return Not(Equal(self, lift(other)))

    def __and__(self, other: Term) -> And:
        return And((self, lift(other)))

    def __or__(self, other: Term) -> Or:
        return Or((self, lift(other)))

    def __rand__(self, other: object) -> Never:
        raise ModelError(
            "formula",
            calling_place(),
            f"& joins {shown(other)} with a term, since it binds more tightly than ==",
            "put comparisons in brackets: (a == 1) & b",
        )

    __ror__ = __rand__

    def __invert__(self) -> Not:
        return Not(self)

    def __lt__(self, other: Term | int) -> Less:
        return Less(self, lift(other), False)

    def __le__(self, other: Term | int) -> Less:
        return Less(self, lift(other), True)

    def __gt__(self, other: Term | int) -> Less:
        return Less(lift(other), self, False)

    def __ge__(self, other: Term | int) -> Less:
        return Less(lift(other), self, True)

    def __add__(self, other: Term | int) -> Sum:
        return Sum(self, lift(other), 1)

    def __radd__(self, other: int) -> Sum:
        return Sum(lift(other), self, 1)

    def __sub__(self, other: Term | int) -> Sum:
        return Sum(self, lift(other), -1)

    def __rsub__(self, other: int) -> Sum:
        return Sum(lift(other), self, -1)

    def __neg__(self) -> Term:
        return _times(self, -1)

    def __mul__(self, factor: int) -> Term:
        return _times(self, factor)

    def __rmul__(self, factor: int) -> Term:
        return _times(self, factor)


@dataclass(frozen=True, eq=False)
class Var(Term):
    """A variable: an action's parameter, or bound by a rule, a quantifier or a property.

    Args:
        name: the name.
        type: the type of its values.
    """

    name: str
    type: Type


@dataclass(frozen=True, eq=False)
class Me(Term):
    """The object of a table row, inside the row's updates."""


@dataclass(frozen=True, eq=False)
class Given(Term):
    """A parameter of the event of a table row, inside the row's updates."""

    name: str


@dataclass(frozen=True, eq=False)
class Attr(Term):
    """An attribute of an object."""

    of: Term
    name: str


@dataclass(frozen=True, eq=False)
class Constant(Term):
    """A number, a truth value or an enumeration value."""

    value: Value


@dataclass(frozen=True, eq=False)
class Nothing(Term):
    """No object: the empty reference."""


@dataclass(frozen=True, eq=False)
class EmptySet(Term):
    """The set without elements, or the sequence without items."""


@dataclass(frozen=True, eq=False)
class Those(Term):
    """The set of objects ``var`` for which ``where`` is true."""

    var: Var
    where: Term


@dataclass(frozen=True, eq=False)
class Tuple(Term):
    """Several objects as one element of a relation; no element if one of them is NONE."""

    parts: tuple[Term, ...]


@dataclass(frozen=True, eq=False)
class TuplesOf(Term):
    """The relation of the tuples of ``variables`` for which ``where`` is true."""

    variables: tuple[Var, ...]
    where: Term


@dataclass(frozen=True, eq=False)
class Count(Term):
    """How many tuples of values of ``variables`` make ``where`` true."""

    variables: tuple[Var, ...]
    where: Term


@dataclass(frozen=True, eq=False)
class Adjusted(Term):
    """A set or a relation with one element added (``present``) or removed."""

    base: Term
    element: Term
    present: bool


@dataclass(frozen=True, eq=False)
class Apply(Term):
    """The value of a function at an object, or at a :class:`Tuple`; or the item of a sequence at an index from 0."""

    base: Term
    element: Term


@dataclass(frozen=True, eq=False)
class Updated(Term):
    """A function with another value at an object, or at a :class:`Tuple`; the same function if an object is NONE."""

    base: Term
    element: Term
    value: Term


@dataclass(frozen=True, eq=False)
class FunctionOf(Term):
    """The function whose value at each tuple of ``variables`` is ``value``."""

    variables: tuple[Var, ...]
    value: Term


@dataclass(frozen=True, eq=False)
class Length(Term):
    """The number of items of a sequence."""

    of: Term


@dataclass(frozen=True, eq=False)
class Appended(Term):
    """A sequence with one more item."""

    base: Term
    element: Term


@dataclass(frozen=True, eq=False)
class Sliced(Term):
    """The first items of a sequence, ``value`` of them, if these are ``present``; else those after them.

    A number below 0 counts as 0.
    """

    base: Term
    value: Term
    present: bool


@dataclass(frozen=True, eq=False)
class Sum(Term):
    """``left + sign * right``."""

    left: Term
    right: Term
    sign: int


@dataclass(frozen=True, eq=False)
class Is(Term):
    """An object is in one of some states."""

    of: Term
    states: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Equal(Term):
    """Two terms have the same value."""

    left: Term
    right: Term


@dataclass(frozen=True, eq=False)
class Less(Term):
    """``left < right``, or ``<=``."""

    left: Term
    right: Term
    or_equal: bool


@dataclass(frozen=True, eq=False)
class Has(Term):
    """A set contains an element, or a relation a :class:`Tuple`."""

    set: Term
    element: Term


@dataclass(frozen=True, eq=False)
class Fires(Term):
    """An event happens to an object in this step: a condition, or the effect of an action or a rule."""

    of: Term
    event: str
    payload: tuple[tuple[str, Term], ...]


@dataclass(frozen=True, eq=False)
class And(Term):
    parts: tuple[Term, ...]


@dataclass(frozen=True, eq=False)
class Or(Term):
    parts: tuple[Term, ...]


@dataclass(frozen=True, eq=False)
class Not(Term):
    part: Term


@dataclass(frozen=True, eq=False)
class Implies(Term):
    premise: Term
    conclusion: Term


@dataclass(frozen=True, eq=False)
class Iff(Term):
    left: Term
    right: Term


@dataclass(frozen=True, eq=False)
class Quantified(Term):
    """``forall`` or ``exists`` over ``variables``."""

    universal: bool
    variables: tuple[Var, ...]
    body: Term


@dataclass(frozen=True, eq=False)
class After(Term):
    """``part``, a formula or any other value, read in the state after the step."""

    part: Term


NONE = Nothing()
EMPTY = EmptySet()
me = Me()


def lift(value: object) -> Term:
    """A Python value as a term; terms stay as they are."""
    if isinstance(value, Term):
        return value
    if isinstance(value, int | str):
        return Constant(value)
    raise ArgumentError(f"{value!r} is not a term; use a variable, NONE, a number, True, False or an enumeration value")


def _together(element: object, others: Sequence[object]) -> Term:
    """One object as itself, several as a tuple."""
    return Tuple((lift(element), *map(lift, others))) if others else lift(element)


def _times(term: Term, factor: int) -> Term:
    """A multiple of a number, as a sum: arithmetic is linear.

    Raises:
        ArgumentError: the factor is no small whole number.
    """
    if type(factor) is not int or abs(factor) > MOST_FACTOR:
        raise ArgumentError(
            f"the factor of a term is {shown(factor)}; write a whole number from -{MOST_FACTOR} to {MOST_FACTOR}, for example 2 * n.term"
        )
    total: Term = term if factor > 0 else Constant(0)
    for _ in range(abs(factor) - (factor > 0)):
        total = Sum(total, term, 1 if factor > 0 else -1)
    return total


@word
def variables(kind: Sort, names: str) -> tuple[Var, ...]:
    """One variable over ``kind`` for each of the space-separated ``names``.

    Raises:
        ArgumentError: ``kind`` is not a sort, or ``names`` not a string.
        ModelError: something in ``names`` is not a name.
    """
    require("kind", kind, Sort, "the sort itself, for example variables(Job, 'j k')")
    require("names", names, str, "the names in one string, for example variables(Job, 'j k')")
    for name in names.split():
        if not name.isidentifier():
            remedy = f"separate names by spaces: variables({kind}, 'j k')"
            raise ModelError(f"variables of {kind}", calling_place(), f"{name!r} is not a name", remedy)
    return tuple(Var(name, Ref(kind)) for name in names.split())


def _require_name(kind: Sort | Type, name: str, function: str) -> None:
    if not name.isidentifier():
        remedy = f"write one word: {function}({kind}, 'x')"
        raise ModelError(f"variable of {kind}", calling_place(), f"{name!r} is not a name", remedy)


@word
def variable(kind: Sort | Type, name: str) -> Var:
    """A variable ``name`` over the objects of a sort ``kind``, or over the values of a type ``kind``.

    Raises:
        ArgumentError: ``kind`` is neither a sort nor a type, or ``name`` not a string.
    """
    require("kind", kind, (Sort, *get_args(Type)), "a sort or a type, for example variable(Job, 'j')")
    require("name", name, str, "its name, for example variable(Job, 'j')")
    _require_name(kind, name, "variable")
    return Var(name, Ref(kind) if isinstance(kind, Sort) else kind)


@word
def set_variable(kind: Sort, name: str) -> Var:
    """A variable ``name`` that stands for a set of objects of the sort ``kind``.

    Raises:
        ArgumentError: ``kind`` is not a sort, or ``name`` not a string.
    """
    require("kind", kind, Sort, "the sort itself, for example set_variable(Gpu, 'S')")
    require("name", name, str, "its name, for example set_variable(Gpu, 'S')")
    _require_name(kind, name, "set_variable")
    return Var(name, SetOf(kind))


@word
def given(name: str) -> Given:
    """The event's parameter ``name`` (in a table row's updates)."""
    return Given(name)


@word
def those(var: Var | Sequence[Var], where: Term) -> Those | TuplesOf:
    """The set of all ``var`` for which ``where`` is true; of several variables, the relation of their tuples."""
    if isinstance(var, Sequence) and not isinstance(var, str):
        many = _vars(var, "those")
        return TuplesOf(many, lift(where)) if len(many) > 1 else Those(many[0], lift(where))
    require("var", var, Var, "a variable, as variables(...) makes them")
    return Those(var, lift(where))


@word
def each(over: Var | Sequence[Var], to: Term | Value) -> FunctionOf:
    """The function whose value at each ``over`` is ``to``: ``each(n, 0)``, or ``each([n, m], f[m, n])``."""
    return FunctionOf(_vars(over, "each"), lift(to))


@word
def length(of: Term) -> Length:
    """The number of items of the sequence ``of``."""
    require("of", of, Term, "a sequence, for example length(n.log)")
    return Length(of)


@word
def count(over: Var | Sequence[Var], where: Term) -> Count:
    """How many ``over`` make ``where`` true; of several variables, how many tuples of their values."""
    return Count(_vars(over, "count"), lift(where))


def _vars(over: Var | Sequence[Var], function: str = "forall or exists") -> tuple[Var, ...]:
    many = isinstance(over, Sequence) and not isinstance(over, str)
    variables_of: tuple[Var, ...] = tuple(over) if many else (over,)  # type: ignore[arg-type, assignment]
    if not variables_of:
        raise ArgumentError(f"{function} has no variable; write one, as variables(...) makes them")
    for each in variables_of:
        require(f"a variable of {function}", each, Var, "variables, as variables(...) makes them")
    return variables_of


@word
def forall(over: Var | Sequence[Var], body: Term) -> Quantified:
    """``body`` is true for all values of ``over``, one variable or several."""
    return Quantified(True, _vars(over), lift(body))


@word
def exists(over: Var | Sequence[Var], body: Term) -> Quantified:
    """``body`` is true for some values of ``over``, one variable or several."""
    return Quantified(False, _vars(over), lift(body))


@word
def implies(premise: Term, conclusion: Term) -> Implies:
    """If ``premise`` then ``conclusion``."""
    return Implies(lift(premise), lift(conclusion))


@word
def iff(left: Term, right: Term) -> Iff:
    """``left`` exactly when ``right``."""
    return Iff(lift(left), lift(right))


@word
def after(part: Term) -> After:
    """``part`` in the state after the step (in step invariants): a formula, a number, an object or any other value."""
    return After(lift(part))


def both(parts: Sequence[Term]) -> Term:
    """The conjunction of ``parts``, in their order; true if there are none."""
    return parts[0] if len(parts) == 1 else And(tuple(parts)) if parts else Constant(True)


def conjuncts(term: Term) -> list[Term]:
    """The parts of nested conjunctions, left to right."""
    if isinstance(term, And):
        return [c for part in term.parts for c in conjuncts(part)]
    return [term]


def children(term: Term) -> tuple[Term, ...]:
    """The direct sub-terms, left to right."""
    cached: tuple[Term, ...] | None = vars(term).get("_children")
    if cached is None:
        cached = _children(term)
        object.__setattr__(term, "_children", cached)  # terms are immutable, and this is called often
    return cached


def _children(term: Term) -> tuple[Term, ...]:
    match term:
        case Attr(of) | Is(of):
            return (of,)
        case Those(var, where):
            return (var, where)
        case TuplesOf(several, where) | Count(several, where):
            return (*several, where)
        case FunctionOf(several, to):
            return (*several, to)
        case Apply(left, right) | Appended(left, right) | Sliced(left, right):
            return (left, right)
        case Length(of):
            return (of,)
        case Updated(base, element, to):
            return (base, element, to)
        case Adjusted(left, right) | Sum(left, right) | Equal(left, right) | Less(left, right):
            return (left, right)
        case Has(left, right) | Implies(left, right) | Iff(left, right):
            return (left, right)
        case Fires(of, _, payload):
            return (of, *(t for _, t in payload))
        case And(parts) | Or(parts) | Tuple(parts):
            return parts
        case Not(part) | After(part):
            return (part,)
        case Quantified(_, _, body):
            return (body,)
        case _:
            return ()


def limit_of(binder: Quantified, var: Var) -> Less | None:
    """The condition ``i < t`` or ``i <= t`` that ends the values of a variable of a quantifier; None if there is none.

    It is the first condition that mentions the variable or a later one of the quantifier, and ``t`` mentions none of these.
    """
    body = binder.body
    if binder.universal:
        body = body.premise if isinstance(body, Implies) else Constant(True)
    parts = conjuncts(body)
    names = [v.name for v in binder.variables]
    later = set(names[names.index(var.name) :])
    first = next((part for part in parts if later & free_variables(part).keys()), None)
    if not isinstance(first, Less) or not isinstance(first.left, Var) or first.left.name != var.name:
        return None
    return None if later & free_variables(first.right).keys() else first


def are_variables(element: Term) -> bool:
    """Whether an element of a relation, or the arguments of a function, are variables, which surely name objects.

    Of a sequence no index surely has an item.
    """
    return all(
        isinstance(part, Var) and isinstance(part.type, Ref)
        for part in (element.parts if isinstance(element, Tuple) else (element,))
    )


def subterms(term: Term) -> Iterator[Term]:
    """``term`` and all its sub-terms, from left to right."""
    yield term
    for child in children(term):
        yield from subterms(child)


def rebuilt(term: Term, go: Callable[[Term], Term]) -> Term:
    """``term`` with ``go`` applied to its direct sub-terms; bound variables stay."""
    match term:
        case Those(var, where):
            return Those(var, go(where), place=term.place)
        case TuplesOf(several, where) | Count(several, where):
            return type(term)(several, go(where), place=term.place)
        case FunctionOf(several, to):
            return FunctionOf(several, go(to), place=term.place)
        case And(parts) | Or(parts) | Tuple(parts):
            return type(term)(tuple(go(part) for part in parts), place=term.place)
        case Fires(of, event, payload):
            return Fires(go(of), event, tuple((name, go(value)) for name, value in payload), place=term.place)
        case _:
            changed: dict[str, Any] = {
                f.name: go(part) for f in fields(term) if isinstance(part := vars(term)[f.name], Term)
            }
            return replace(term, **changed) if changed else term


def firings(term: Term) -> Iterator[Fires]:
    """Every firing inside ``term``."""
    return (part for part in subterms(term) if isinstance(part, Fires))


def bound_by(term: Term) -> tuple[Var, ...]:
    """The variables that ``term`` itself binds in its sub-terms."""
    match term:
        case Quantified(_, variables):
            return variables
        case Those(var):
            return (var,)
        case TuplesOf(several) | Count(several) | FunctionOf(several):
            return several
        case _:
            return ()


def free_variables(term: Term) -> Mapping[str, Var]:
    """The free variables of ``term``, by name."""
    cached: Mapping[str, Var] | None = vars(term).get("_free")
    if cached is None:
        cached = _free_variables(term)
        object.__setattr__(term, "_free", cached)  # terms are immutable, and this is called often
    return cached


def _free_variables(term: Term) -> Mapping[str, Var]:
    if isinstance(term, Var):
        return {term.name: term}
    bound = {v.name for v in bound_by(term)}
    return {n: v for child in children(term) for n, v in free_variables(child).items() if n not in bound}
