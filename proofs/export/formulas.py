"""Formulas as TLA+ expressions. Objects are numbers, sets are sets, states are strings, quantifiers stay quantifiers.

TLC evaluates the operands of ``/\\`` and ``\\/`` in order and stops early.
So an expression reads an attribute of NONE only where the model does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from schedproof.model.lang import terms as t
from schedproof.model.lang.types import (
    BoolType,
    EnumType,
    Function,
    Integer,
    IntRange,
    Ref,
    Relation,
    SetOf,
    Sort,
    Type,
)
from schedproof.model.lang.types import Sequence as SequenceType
from schedproof.model.semantics import Instance, tuples
from schedproof.model.semantics.evaluate import NOBODY, Owner, sort_of_term, type_of_term

from .names import Names, fresh

WORDS = {
    "ASSUME", "ASSUMPTION", "AXIOM", "CASE", "CHOOSE", "CONSTANT", "CONSTANTS", "DOMAIN", "ELSE", "ENABLED", "EXCEPT", "EXTENDS",
    "IF", "IN", "INSTANCE", "LET", "LOCAL", "MODULE", "OTHER", "SUBSET", "THEN", "THEOREM", "UNCHANGED", "UNION", "VARIABLE",
    "VARIABLES", "WITH", "ACTION", "BY", "CORE", "DEF", "DEFINE", "DEFS", "HAVE", "HIDE", "LAMBDA", "LEMMA", "NEW", "OBVIOUS",
    "OMITTED", "ONLY", "PICK", "PROOF", "PROPOSITION", "PROVE", "QED", "RECURSIVE", "STATE", "SUFFICES", "TAKE", "TEMPORAL", "USE",
    "WITNESS", "COROLLARY", "BOOLEAN", "STRING", "TRUE", "FALSE", "Nat", "Int", "Cardinality", "IsFiniteSet", "_", "Seq", "Len", "Append",
    "Head", "Tail", "SubSeq", "SelectSeq",
    "INIT", "NEXT", "SPECIFICATION", "INVARIANT", "INVARIANTS", "PROPERTY", "PROPERTIES", "SYMMETRY", "VIEW", "CONSTRAINT",
}  # fmt: skip
"""Words that cannot be names: those of the language, of the extended modules, and of TLC's configurations."""


@dataclass(frozen=True)
class Scope:
    """The names that a term can use.

    Args:
        bound: variable name -> (variable, its identifier).
        owner: the sort and event of a table row.
        me: the object of the row.
        given: the parameters of the row's event.
        firings: the identifier or expression of each event's set of firings.
        now: the functions of the sorts, where these are not the module's variables.
        after: the functions of the sorts in the state after the step.
        local: other identifiers that are in use.
    """

    bound: Mapping[str, tuple[t.Var, str]] = field(default_factory=dict)
    owner: Owner = NOBODY
    me: str = ""
    given: Mapping[str, str] = field(default_factory=dict)
    firings: Mapping[tuple[str, str], str] = field(default_factory=dict)
    now: Mapping[str, str] = field(default_factory=dict)
    after: Mapping[str, str] = field(default_factory=dict)
    local: frozenset[str] = frozenset()

    @property
    def variables(self) -> dict[str, t.Var]:
        """The variables in scope, by name."""
        return {name: var for name, (var, _) in self.bound.items()}


class Formulas:
    """Writes the terms of an instance as formulas.

    Args:
        names: the names of the module; they must be complete before a variable is bound.
    """

    def __init__(self, instance: Instance, names: Names) -> None:
        self.instance, self.names = instance, names
        self._records: dict[object, Names] = {}

    def objects(self, sort: str) -> str:
        """The set of the objects of a sort."""
        return self.names.of(("objects", sort), f"{sort}s")

    def variable(self, sort: str) -> str:
        """The variable with the records of a sort's objects."""
        return self.names.of(("variable", sort), sort)

    def rigid(self, sort: str, attribute: str) -> str:
        """The constant function of a rigid attribute."""
        return self.names.of(("rigid", sort, attribute), f"{sort}_{attribute}")

    def none(self) -> str:
        """The constant that stands for no object."""
        return self.names.of("none", "None")

    def first(self) -> str:
        """The operator that gives the first items of a sequence."""
        return self.names.of("first", "First")

    def rest(self) -> str:
        """The operator that gives a sequence without its first items."""
        return self.names.of("rest", "Rest")

    def holds(self) -> str:
        """The operator that says whether a sequence has an item."""
        return self.names.of("holds", "HasItem")

    def attribute(self, sort: str, name: str) -> str:
        """The record field of an attribute, or of the state ("")."""
        return self._field(("attribute", sort), name, name or "state")

    def event(self, sort: str, event: str) -> str:
        """The field of an event in the record of a step's firings."""
        return self._field("event", (sort, event), f"{sort}_{event}")

    def parameter(self, sort: str, event: str, name: str) -> str:
        """The field of an event's parameter in a firing, or of the object on which it fires ("")."""
        return self._field(("parameter", sort, event), name, name or "me")

    def _field(self, of: object, name: object, preferred: str) -> str:
        """A field of a record; each kind of record has its own namespace."""
        return self._records.setdefault(of, Names(WORDS)).of(name, preferred)

    def has_parameters(self, sort: str, event: str) -> bool:
        """Whether the firings of an event are records, and not just objects."""
        return bool(self.instance.model.machine(sort).parameters(event))

    def kind(self, kind: Type, *, none: bool = False) -> str:
        """The set of all values of a type.

        Args:
            none: include the constant for no object.
        """
        match kind:
            case Ref(sort):
                return f"{self.objects(sort.name)} \\cup {{{self.none()}}}" if none else self.objects(sort.name)
            case SetOf(sort):
                return f"SUBSET {self.objects(sort.name)}"
            case Relation(sorts):
                return "SUBSET (" + " \\X ".join(self.objects(sort.name) for sort in sorts) + ")"
            case Function(sorts, to):
                return f"[{self.arguments(sorts)} -> {self.kind(to, none=True)}]"
            case SequenceType(of):
                return f"Seq({self.kind(of, none=True)})"
            case IntRange(low, high):
                return f"{low} .. {high}"
            case Integer(low):
                return "Int" if low is None else "Nat"
            case EnumType(values):
                return "{" + ", ".join(quoted(v) for v in values) + "}"
            case BoolType():
                return "BOOLEAN"

    def arguments(self, sorts: Sequence[Sort]) -> str:
        """The set of the arguments of a function: objects, or tuples of objects."""
        product = " \\X ".join(self.objects(sort.name) for sort in sorts)
        return f"({product})" if len(sorts) > 1 else product

    def factor(self, kind: Type) -> str:
        """The set of all values of a type, with parentheses if it needs them in a product."""
        return self.kind(kind) if isinstance(kind, Ref | EnumType | BoolType) else f"({self.kind(kind)})"

    def literal(self, kind: Type, value: int) -> str:
        """An encoded value as a literal."""
        match kind:
            case Ref():
                return self.none() if value < 0 else str(value)
            case SetOf():
                return "{" + ", ".join(str(i) for i in range(value.bit_length()) if value >> i & 1) + "}"
            case Relation():
                listed = tuples.of_mask(value, self.instance.dimensions(kind))
                return "{" + ", ".join(f"<<{', '.join(map(str, each))}>>" for each in listed) + "}"
            case Function(sorts, to):
                packing, at = self.instance.packing(kind), self.fresh("a", Scope())
                texts = [self.literal(to, each) for each in packing.all(value)]
                body = texts[0]
                if len(set(texts)) > 1:
                    tuples_of = [
                        str(objects[0]) if len(objects) == 1 else f"<<{', '.join(map(str, objects))}>>"
                        for objects in packing.places()
                    ]
                    body = "CASE " + " [] ".join(
                        f"{at} = {objects} -> {text}" for objects, text in zip(tuples_of, texts, strict=True)
                    )
                return f"[{at} \\in {self.arguments(sorts)} |-> {body}]"
            case SequenceType(of):
                return f"<<{', '.join(self.literal(of, item) for item in self.instance.items(kind).all(value))}>>"
            case EnumType(values):
                return quoted(values[value])
            case BoolType():
                return "TRUE" if value else "FALSE"
            case IntRange() | Integer():
                return str(value)

    def bind(self, scope: Scope, variables: Sequence[t.Var]) -> tuple[Scope, list[str]]:
        """A scope with ``variables`` bound, and their identifiers. These do not hide an identifier of ``scope``."""
        bound, new_names = dict(scope.bound), []
        used = self._used_names(scope)
        for var in variables:
            name = fresh(var.name, used)
            used.add(name)
            bound[var.name] = var, name
            new_names.append(name)
        return replace(scope, bound=bound), new_names

    def over(self, variables: Sequence[t.Var], names: Sequence[str]) -> str:
        """The bounds of a quantifier: ``x \\in S, y \\in T``."""
        return ", ".join(f"{n} \\in {self.kind(v.type)}" for v, n in zip(variables, names, strict=True))

    def value(self, term: t.Term, scope: Scope, kind: Type | None = None) -> str:
        """The expression of a term; ``kind`` is the type that the context expects."""

        def part(of: t.Term) -> str:
            return self.operand(of, scope)

        match term:
            case t.Var(name):
                return scope.bound[name][1]
            case t.Me():
                return scope.me
            case t.Given(name):
                return scope.given[name]
            case t.Nothing():
                return self.none()
            case t.EmptySet():
                return "<<>>" if isinstance(kind, SequenceType) else "{}"
            case t.Constant(value):
                if isinstance(value, str):
                    return quoted(value)
                return str(value).upper()
            case t.Attr(of, name):
                return self._attribute(of, name, scope)
            case t.Is(of, states):
                return self._is(of, states, scope)
            case t.Equal(left, right):
                both = self._type(left, scope) or self._type(right, scope)
                return f"{self.operand(left, scope, both)} = {self.operand(right, scope, both)}"
            case t.Less(left, right, or_equal):
                return f"{part(left)} {'<=' if or_equal else '<'} {part(right)}"
            case t.Sum(left, right, sign):
                return f"{part(left)} {'+' if sign > 0 else '-'} {part(right)}"
            case t.Has(base, element) if isinstance(self._type(base, scope), SequenceType):
                inside = f"{self.holds()}({self.value(base, scope)}, {self.value(element, scope)})"
                if _is_some(element) or not isinstance(self._type(element, scope), Ref):
                    return inside
                return f"{self._are_objects(element, scope)} /\\ {inside}"
            case t.Has(base, element):
                inside = f"{part(element)} \\in {part(base)}"
                # If the element is no object, the model does not read the owner of the set; neither may TLC.
                return inside if _is_some(element) else f"{self._are_objects(element, scope)} /\\ {inside}"
            case t.Adjusted(base, element, present):
                one = f"{{{self.value(element, scope)}}}"
                if not present:
                    return f"{part(base)} \\ {one}"
                if isinstance(element, t.Tuple) and not _is_some(element):
                    added = f"IF {self._are_objects(element, scope)} THEN {one} ELSE {{}}"
                    return f"{part(base)} \\cup ({added})"
                return f"{part(base)} \\cup " + (one if _is_some(element) else f"({one} \\ {{{self.none()}}})")
            case t.Those(var, where):
                inner, [name] = self.bind(scope, [var])
                return f"{{{self.over([var], [name])} : {self.value(where, inner)}}}"
            case t.Apply(base, element) if isinstance(self._type(base, scope), SequenceType):
                return f"{part(base)}[{part(element)} + 1]"
            case t.Length(of):
                return f"Len({self.value(of, scope, self._type(of, scope))})"
            case t.Appended(base, item):
                whole = kind or self._type(base, scope)
                assert isinstance(whole, SequenceType)
                return f"Append({self.value(base, scope, whole)}, {self.value(item, scope, whole.of)})"
            case t.Sliced(base, at, first):
                operator = self.first() if first else self.rest()
                return f"{operator}({self.value(base, scope, kind)}, {self.value(at, scope)})"
            case t.Apply(base, element):
                return f"{part(base)}[{self.value(element, scope)}]"
            case t.Updated(base, element, value):
                changed = f"[{part(base)} EXCEPT ![{self.value(element, scope)}] = {self.value(value, scope)}]"
                if _is_some(element):
                    return changed
                return f"IF {self._are_objects(element, scope)} THEN {changed} ELSE {part(base)}"
            case t.FunctionOf(several, value):
                inner, identifiers = self.bind(scope, several)
                bound = f"<<{', '.join(identifiers)}>>" if len(several) > 1 else identifiers[0]
                sorts = [v.type.sort for v in several if isinstance(v.type, Ref)]
                return f"[{bound} \\in {self.arguments(sorts)} |-> {self.value(value, inner)}]"
            case t.Count(several, where):
                return f"Cardinality({self.value(t.TuplesOf(several, where), scope)})"
            case t.TuplesOf(several, where):
                inner, identifiers = self.bind(scope, several)
                # A count may have one variable, and its values are no tuples.
                listed = f"<<{', '.join(identifiers)}>>" if len(several) > 1 else identifiers[0]
                # ``..`` binds less than ``\X``.
                among = " \\X ".join(
                    f"({self.kind(v.type)})" if isinstance(v.type, IntRange) else self.kind(v.type) for v in several
                )
                return f"{{{listed} \\in {among} : {self.value(where, inner)}}}"
            case t.Tuple(parts):
                return f"<<{', '.join(self.value(each, scope) for each in parts)}>>"
            case t.Fires(of, event, payload):
                return self._fires(of, event, payload, scope)
            case t.And(parts):
                return conjunction([self._joined(p, scope) for p in parts])
            case t.Or(parts):
                return " \\/ ".join(self._joined(p, scope) for p in parts) if parts else "FALSE"
            case t.Implies(premise, conclusion):
                return f"{self._joined(premise, scope)} => {self._joined(conclusion, scope)}"
            case t.Iff(left, right):
                return f"{self._joined(left, scope)} <=> {self._joined(right, scope)}"
            case t.Not(t.Equal(left, right)):
                both = self._type(left, scope) or self._type(right, scope)
                return f"{self.operand(left, scope, both)} # {self.operand(right, scope, both)}"
            case t.Not(t.Has(base, element)) if _is_some(element) and not self._is_sequence(base, scope):
                return f"{part(element)} \\notin {part(base)}"
            case t.Not(inside):
                return f"~{part(inside)}"
            case t.After(inside):
                return self.value(inside, replace(scope, now=scope.after), kind)
            case t.Quantified(universal, variables, body):
                if any(isinstance(v.type, Integer) for v in variables):
                    return self._within_limits(term, scope)
                inner, names = self.bind(scope, variables)
                word = "\\A" if universal else "\\E"
                return f"{word} {self.over(variables, names)} : {self.value(body, inner)}"
        raise AssertionError(f"no expression for {type(term).__name__}")

    def _are_objects(self, element: t.Term, scope: Scope) -> str:
        """The formula that an element, or each part of a tuple, is an object."""
        parts = element.parts if isinstance(element, t.Tuple) else (element,)
        return conjunction([f"{self.operand(each, scope)} # {self.none()}" for each in parts if not _is_some(each)])

    def _within_limits(self, term: t.Quantified, scope: Scope) -> str:
        """A quantifier over numbers that end at a limit, written as one quantifier for each variable."""
        text, inner, word = "", scope, "\\A" if term.universal else "\\E"
        for var in term.variables:
            limit = t.limit_of(term, var) if isinstance(var.type, Integer) else None
            among = "" if limit is None else self.operand(limit.right, inner)
            inner, [name] = self.bind(inner, [var])
            over = self.over([var], [name])
            if limit is not None:
                over = f"{name} \\in 0 .. {among}" + ("" if limit.or_equal else " - 1")
            text += f"{word} {over} : "
        return text + self.value(term.body, inner)

    def _is_sequence(self, term: t.Term, scope: Scope) -> bool:
        return isinstance(self._type(term, scope), SequenceType)

    def operand(self, term: t.Term, scope: Scope, kind: Type | None = None) -> str:
        """The expression of a term, in parentheses if it needs them as an operand; ``kind`` is the type that the context expects."""
        text = self.value(term, scope, kind)
        plain = (
            t.Var
            | t.Me
            | t.Given
            | t.Nothing
            | t.EmptySet
            | t.Constant
            | t.Attr
            | t.Those
            | t.TuplesOf
            | t.Tuple
            | t.Count
            | t.Apply
            | t.FunctionOf
            | t.Length
            | t.Appended
            | t.Sliced
        )
        inside = term.part if isinstance(term, t.After) else term
        return text if isinstance(inside, plain) or text == "FALSE" else f"({text})"

    def _joined(self, term: t.Term, scope: Scope) -> str:
        """The expression of a term as an operand of a connective, which binds weaker than comparisons."""
        inside = term.part if isinstance(term, t.After) else term
        negated = inside.part if isinstance(inside, t.Not) else None
        if isinstance(inside, t.Is | t.Equal | t.Less) or isinstance(negated, t.Equal):
            return self.value(term, scope)
        if any(
            isinstance(each, t.Has) and _is_some(each.element) and not self._is_sequence(each.set, scope)
            for each in (inside, negated)
        ):
            return self.value(term, scope)
        return self.operand(term, scope)

    def _type(self, term: t.Term, scope: Scope) -> Type | None:
        return type_of_term(self.instance, term, scope.variables, scope.owner)

    def sort_of(self, term: t.Term, scope: Scope) -> str:
        """The sort of the object that a term denotes."""
        return sort_of_term(self.instance, term, scope.variables, scope.owner)

    def record(self, sort: str, who: str, scope: Scope) -> str:
        """The record of an object."""
        return f"{scope.now.get(sort) or self.variable(sort)}[{who}]"

    def _attribute(self, of: t.Term, name: str, scope: Scope) -> str:
        sort = self.sort_of(of, scope)
        attribute = self.instance.model.machine(sort).attribute(name)
        assert attribute is not None
        who = self.value(of, scope)
        if attribute.rigid:
            return f"{self.rigid(sort, name)}[{who}]"
        return f"{self.record(sort, who, scope)}.{self.attribute(sort, name)}"

    def _is(self, of: t.Term, states: Sequence[str], scope: Scope) -> str:
        sort = self.sort_of(of, scope)
        at = f"{self.record(sort, self.value(of, scope), scope)}.{self.attribute(sort, '')}"
        names = [quoted(s) for s in dict.fromkeys(states)]
        return f"{at} = {names[0]}" if len(names) == 1 else f"{at} \\in {{{', '.join(names)}}}"

    def _fires(self, of: t.Term, event: str, payload: tuple[tuple[str, t.Term], ...], scope: Scope) -> str:
        sort = self.sort_of(of, scope)
        if (sort, event) not in scope.firings:
            return "FALSE"  # this action cannot cause the event
        who, among = self.value(of, scope), scope.firings[sort, event]
        if not self.has_parameters(sort, event):
            return f"{who} \\in {among}"
        f = self.fresh("f", scope)
        equations = [f"{f}.{self.parameter(sort, event, '')} = {who}"]
        equations += [
            f"{f}.{self.parameter(sort, event, name)} = {self.operand(value, scope)}" for name, value in payload
        ]
        return f"\\E {f} \\in {among} : " + " /\\ ".join(equations)

    def fresh(self, preferred: str, scope: Scope) -> str:
        """An identifier like ``preferred`` that is not in use in ``scope``."""
        return fresh(preferred, self._used_names(scope))

    def _used_names(self, scope: Scope) -> set[str]:
        bound = {name for _, name in scope.bound.values()}
        return self.names.used | bound | scope.local


def _is_some(term: t.Term) -> bool:
    return all(map(_is_some, term.parts)) if isinstance(term, t.Tuple) else isinstance(term, t.Var | t.Me)


def quoted(text: str) -> str:
    """A string literal."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def conjunction(parts: Sequence[str]) -> str:
    """The conjunction of ``parts``, evaluated in order."""
    return " /\\ ".join(parts) or "TRUE"


def union(sets: Sequence[str]) -> str:
    """The union of ``sets``."""
    return " \\cup ".join(sets)
