"""Infers the type of a term, or raises an error about its first fault."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from schedproof.model.errors import choose_from, did_you_mean

from . import terms as t
from .errors import ModelError, Place
from .machine import Machine
from .model import Model
from .types import BoolType, EnumType, Function, Integer, IntRange, Ref, Relation, SetOf, Sort, Type
from .types import Sequence as SequenceType

NONE_TYPE = "none"
EMPTY_TYPE = "empty set"
INT_TYPE = "integer"


@dataclass(frozen=True)
class Quoted:
    """The type of a quoted value; the context decides which enumeration it belongs to."""

    value: str

    def __str__(self) -> str:
        return f"quoted value {self.value!r}"


@dataclass(frozen=True)
class Mapped:
    """The type of ``each(...)``; the context decides which type its values have."""

    sorts: tuple[Sort, ...]
    to: Inferred

    def __str__(self) -> str:
        return f"function of ({', '.join(sort.name for sort in self.sorts)}) to {self.to}"


@dataclass(frozen=True)
class Listed:
    """The type of ``EMPTY.append(...)``; the context decides which type its items have."""

    of: Inferred

    def __str__(self) -> str:
        return f"sequence of {self.of}"


Inferred = Type | Quoted | Mapped | Listed | str
"""A type, or a stand-in that only the context makes a type: none, the empty set, a number, a quoted value, a function, a sequence."""


@dataclass(frozen=True)
class Context:
    """What a term may refer to at its position.

    Args:
        element: the element's name in an error.
        place: the element's place. Errors about a variable use it: a variable is declared elsewhere.
        bound: the variables in scope.
        me, given: the sort and the event parameters, inside a table row.
        fires, after, history: whether the term may use firings, the state after, history attributes.
        causes: the term is a firing that an action or rule causes, not a condition.
        durable_only: it may read no attribute that a crash loses.
        rigid_only: it may read no attribute that changes.
    """

    model: Model
    element: str
    place: Place
    bound: Mapping[str, Type] = field(default_factory=dict)
    me: Sort | None = None
    given: Mapping[str, Type] = field(default_factory=dict)
    fires: bool = False
    after: bool = False
    history: bool = True
    causes: bool = False
    durable_only: bool = False
    rigid_only: bool = False

    def bind(self, variables: Sequence[t.Var], at: Place | None = None, binder: t.Term | None = None) -> Context:
        """This context inside a binder of ``variables``.

        Args:
            at: the place of the binder; by default that of the element.
            binder: the term that binds them, if it is one.

        Raises:
            ModelError: two variables have one name, or a variable has an invalid type.
        """
        for n, v in enumerate(variables):
            if any(v.name == other.name for other in variables[:n]):
                raise self.wrong(v, at, f"variable {v.name} is bound twice", "give one of the two another name")
            known_type(self, v.type, at or self.place)
            if isinstance(v.type, Integer) and isinstance(binder, t.Quantified) and v.type.low == 0:
                if t.limit_of(binder, v) is None:
                    begin = "implies((i < length(s)) & ..., ...)" if binder.universal else "(i < length(s)) & ..."
                    problem = f"variable {v.name} is {v.type}, and its first condition does not say where it ends"
                    remedy = f"write {begin}, with i behind the variables that its limit needs"
                    raise self.wrong(v, at, problem, remedy)
            elif isinstance(v.type, Integer):
                problem = f"variable {v.name} is {v.type}, and an exploration cannot try all numbers"
                raise self.wrong(v, at, problem, "give it a range, as in variable(IntRange(0, 3), ...)")
            if isinstance(v.type, SequenceType):
                problem = f"variable {v.name} is a {v.type}, and only attributes are sequences"
                raise self.wrong(v, at, problem, "use a variable over a sort, and read its attribute")
            if isinstance(v.type, Relation | Function):
                what = "functions" if isinstance(v.type, Function) else "relations"
                problem = f"variable {v.name} is a {v.type}, and only attributes are {what}"
                raise self.wrong(v, at, problem, "use a variable over each sort")
        return replace(self, bound={**self.bound, **{v.name: v.type for v in variables}})

    def wrong(
        self, term: t.Term, at: Place | None, problem: str, remedy: str, *, name: str | None = None
    ) -> ModelError:
        """The error to raise for ``term``, inside a term at ``at``; by default the place is that of the element.

        Args:
            name: the wrong name; by default that of a variable.
        """
        name = term.name if name is None and isinstance(term, t.Var) else name
        return ModelError(self.element, _use(term, at) or self.place, problem, remedy, name=name)


def _use(term: t.Term, at: Place | None) -> Place | None:
    """The place where ``term`` is used. A variable, ``me``, NONE or EMPTY has only the place where it was made."""
    return at if isinstance(term, t.Var | t.Me | t.Nothing | t.EmptySet) else term.place


def machine_of(context: Context, sort: Sort, place: Place) -> Machine:
    """The machine of ``sort``.

    Raises:
        ModelError: the model has no such sort.
    """
    try:
        return context.model.machine(sort)
    except KeyError:
        remedy = choose_from(sort.name, [s.name for s in context.model.sorts])
        raise ModelError(context.element, place, f"unknown sort {sort.name}", remedy, name=sort.name) from None


def known_type(context: Context, kind: Type, place: Place) -> None:
    """Refuses a type over an unknown sort, and a type without values."""
    match kind:
        case Ref(sort) | SetOf(sort) if isinstance(sort, Sort):
            machine_of(context, sort, place)
        case Relation(sorts):
            for sort in sorts:
                machine_of(context, sort, place)
        case Function(sorts, to):
            for sort in sorts:
                machine_of(context, sort, place)
            known_type(context, to, place)
        case SequenceType(of):
            known_type(context, of, place)
        case Sort():
            raise ModelError(
                context.element,
                place,
                f"{kind} is a sort, not a type",
                f"write Ref({kind}) for one object or none, or SetOf({kind}) for a set",
            )
        case _ if not isinstance(kind, Type) or isinstance(kind, Ref | SetOf):
            raise ModelError(
                context.element,
                place,
                f"{kind!r:.60} is not a type",
                "choose from BoolType(), IntRange(0, 3), Int, Nat, EnumType(('a', 'b')), Ref(Sort), SetOf(Sort), Relation(A, B), Function(A, to=Nat), Sequence(Nat, at_most=3)",
            )
        case IntRange(low, high) if low > high:
            raise ModelError(
                context.element,
                place,
                f"the range {kind} is empty",
                f"write the lower bound first: IntRange({high}, {low})",
            )
        case EnumType(values) if not values or len(set(values)) < len(values):
            raise ModelError(
                context.element, place, f"{kind} is not an enumeration", "give at least one value, and each value once"
            )
        case _:
            pass


def no_sets(context: Context, variables: Sequence[t.Var], at: Place | None = None) -> None:
    """Refuses variables over sets of objects where first-order logic has none."""
    for v in variables:
        if isinstance(v.type, SetOf):
            raise context.wrong(
                v,
                at,
                f"{v.name} is a set variable",
                "use a variable over a sort; only parameters of actions may be sets",
            )


def _binding(context: Context) -> str:
    """What to write instead of a variable that is not bound."""
    if context.me is not None:
        return "a row has none: write me, or given('...') for a parameter of the event"
    if context.causes:
        return "list it in the parameters of the action, or write a rule"
    return f"bind it with forall or exists, or choose from {_listed(list(context.bound))}"


def formula(term: t.Term, context: Context, at: Place | None = None) -> None:
    """Refuses a term that is not a well-typed formula."""
    inferred = infer(term, context, at)
    if not isinstance(inferred, BoolType):
        remedy = "compare it with something, in brackets where & or | is beside it: (a == b) & c"
        raise context.wrong(term, at, f"a formula is needed, and this is of type {inferred}", remedy)


def _object(term: t.Term, context: Context, at: Place | None) -> Machine:
    inferred = infer(term, context, at)
    if not isinstance(inferred, Ref):
        raise context.wrong(
            term, at, f"an object is needed, and this is of type {inferred}", "use a variable or a reference"
        )
    return machine_of(context, inferred.sort, _use(term, at) or context.place)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"


def infer(term: t.Term, context: Context, at: Place | None = None) -> Inferred:
    """The type of ``term``.

    Args:
        at: the place of the closest enclosing term that has its own place; None: the element's.

    Raises:
        ModelError: it has none.
    """
    at = _use(term, at)
    match term:
        case t.Var(name):
            if name not in context.bound:
                raise context.wrong(
                    term,
                    at,
                    f"variable {name} is not bound here",
                    _binding(context),
                )
            if context.bound[name] != term.type:
                raise context.wrong(
                    term,
                    at,
                    f"type mismatch: variable {name} is of type {term.type}, but here {name} is of type {context.bound[name]}",
                    "give one of the two another name",
                )
            return context.bound[name]
        case t.Me():
            if context.me is None:
                raise context.wrong(term, at, "'me' is used outside a table row", "name the object with a variable")
            return Ref(context.me)
        case t.Given(name):
            if name not in context.given:
                raise context.wrong(
                    term,
                    at,
                    f"unknown parameter {name} of the event",
                    f"{did_you_mean(name, context.given)}declare it in the machine's events, or choose from {_listed(list(context.given))}",
                    name=name,
                )
            return context.given[name]
        case t.Attr(of, name):
            return _attribute(term, of, name, context)
        case t.Constant(value):
            if isinstance(value, bool):
                return BoolType()
            return INT_TYPE if isinstance(value, int) else Quoted(value)
        case t.Nothing():
            return NONE_TYPE
        case t.EmptySet():
            return EMPTY_TYPE
        case t.Those(var, where):
            if not isinstance(var.type, Ref):
                raise context.wrong(term, at, f"{var.name} is not an object variable", "use a variable over a sort")
            formula(where, context.bind([var], at), at)
            return SetOf(var.type.sort)
        case t.TuplesOf(several, where):
            sorts = []
            for var in several:
                if not isinstance(var.type, Ref):
                    raise context.wrong(var, at, f"{var.name} is not an object variable", "use a variable over a sort")
                sorts.append(var.type.sort)
            formula(where, context.bind(several, at), at)
            return Relation(*sorts)
        case t.Apply(function, element):
            return _applied(term, function, element, context, at)
        case t.Updated(base, element, to):
            return _updated(base, element, to, context, at)
        case t.FunctionOf(several, to):
            sorts = []
            for var in several:
                if not isinstance(var.type, Ref):
                    raise context.wrong(var, at, f"{var.name} is not an object variable", "use a variable over a sort")
                sorts.append(var.type.sort)
            return Mapped(tuple(sorts), infer(to, context.bind(several, at), at))
        case t.Length(of):
            if isinstance(_sequence(of, context, at), Listed):
                problem = "the length is read of a sequence that is made here"
                raise context.wrong(term, at, problem, "read it of an attribute, or write the number itself")
            return INT_TYPE
        case t.Appended(base, item):
            return _appended(base, item, context, at)
        case t.Sliced(base, number):
            whole = _sequence(base, context, at)
            if not _is_int(infer(number, context, at)):
                raise context.wrong(number, at, "a number of items is needed", "write for example s[:length(s) - 1]")
            if isinstance(number, t.Constant) and int(number.value) < 0:
                problem = f"a part of a sequence ends at {number.value}, and a number of items is not below 0"
                raise context.wrong(number, at, problem, f"count from the end with length(s) - {-int(number.value)}")
            return whole
        case t.Count(several, where):
            no_sets(context, several, at)
            formula(where, context.bind(several, at), at)
            return INT_TYPE
        case t.Adjusted(base, element, _):
            of_base = infer(base, context, at)
            if isinstance(of_base, SequenceType | Listed):
                remedy = "write s.append(x) for one more item, and s[n:] without the first n"
                raise context.wrong(base, at, f"a set is needed, and this is a {of_base}", remedy)
            _member(base, element, context, at)
            return of_base
        case t.Sum(left, right, _):
            for part in (left, right):
                if not _is_int(infer(part, context, at)):
                    raise context.wrong(
                        part, at, "a number is needed", "use a number, or an attribute of type IntRange, Int or Nat"
                    )
            return INT_TYPE
        case t.Less(left, right, _):
            for part in (left, right):
                if not _is_int(infer(part, context, at)):
                    raise context.wrong(
                        part, at, "a number is needed", "use a number, or an attribute of type IntRange, Int or Nat"
                    )
            return BoolType()
        case t.Equal(left, right):
            a, b = infer(left, context, at), infer(right, context, at)
            if not compatible(a, b):
                for kind, other in ((a, b), (b, a)):
                    if isinstance(kind, EnumType) and isinstance(other, Quoted):
                        problem = f"unknown value {other.value!r}"
                        remedy = choose_from(other.value, kind.values)
                        raise context.wrong(term, at, problem, remedy, name=other.value)
                one, two = (kind.sort if isinstance(kind, Ref) else kind for kind in (a, b))
                problem = f"type mismatch: {one} is compared with {two}"
                raise context.wrong(term, at, problem, _instead(context, a, b) or "compare values of one type")
            for pair in ((a, right), (b, left)):
                match pair:
                    case IntRange(low, high), t.Constant(value) if not low <= int(value) <= high:
                        problem = f"{value} is not in {low}..{high}, so the two are never equal"
                        raise context.wrong(term, at, problem, "compare with a number of the range")
                    case Integer() as kind, t.Constant(value) if int(value) not in kind:
                        problem = f"{value} is not a {kind}, so the two are never equal"
                        raise context.wrong(term, at, problem, f"compare with a number from {kind.low}")
            if isinstance(a, Listed) and (isinstance(b, Listed) or b == EMPTY_TYPE):
                problem = "two sequences that are made here are compared"
                raise context.wrong(term, at, problem, "compare an attribute with one")
            if isinstance(a, SetOf | Relation) or isinstance(b, SetOf | Relation):
                raise context.wrong(
                    term, at, "sets cannot be compared", "compare their elements: forall(x, iff(s.has(x), ...))"
                )
            if isinstance(a, Function | Mapped) or isinstance(b, Function | Mapped):
                raise context.wrong(
                    term, at, "functions cannot be compared", "compare their values: forall(x, f[x] == g[x])"
                )
            if isinstance(a, Quoted) and isinstance(b, Quoted):
                raise context.wrong(
                    term, at, "two quoted values are compared", "compare an attribute or a parameter with one"
                )
            return BoolType()
        case t.Is(of, states):
            machine = _object(of, context, at)
            if not states:
                raise context.wrong(
                    term, at, "is_() names no state", f"choose from {_listed([s.name for s in machine.states])}"
                )
            for name in states:
                if machine.state(name) is None:
                    remedy = choose_from(name, [s.name for s in machine.states])
                    problem = f"unknown state {name!r} of {machine.sort}"
                    raise context.wrong(term, at, problem, remedy, name=name)
            if context.durable_only:
                raise context.wrong(
                    term, at, "recovery reads a state, which a crash may lose", "read a durable attribute"
                )
            if context.rigid_only:
                raise context.wrong(term, at, "an axiom reads a state, which changes", "read rigid attributes only")
            return BoolType()
        case t.Has(base, element):
            _member(base, element, context, at)
            return BoolType()
        case t.Fires():
            return _firing(term, context)
        case t.After(part):
            if not context.after:
                raise context.wrong(term, at, "after(...) is used outside a step", "use it in a StepInvariant")
            inferred = infer(part, replace(context, after=False), at)
            if isinstance(inferred, Quoted) or inferred in (NONE_TYPE, EMPTY_TYPE):
                problem = f"after(...) of a {inferred}, which no step changes"
                raise context.wrong(term, at, problem, "write the value without after(...)")
            return inferred
        case t.Quantified(_, bound, body):
            no_sets(context, bound, at)
            formula(body, context.bind(bound, at, term), at)
            return BoolType()
        case _:
            for part in t.children(term):
                formula(part, context, at)
            return BoolType()


def _instead(context: Context, one: Inferred, other: Inferred) -> str:
    """What to write instead of a comparison of an object with a text; "" if the two are something else."""
    for kind, text in ((one, other), (other, one)):
        if isinstance(kind, Ref) and isinstance(text, Quoted):
            if text.value.casefold() in ("", "none", "null"):
                return "write NONE for no object"
            machine = context.model.machine(kind.sort)
            if machine.state(text.value) is not None:
                return f"write .is_({text.value!r}) to ask for its state"
    return ""


def _attribute(term: t.Attr, of: t.Term, name: str, context: Context) -> Type:
    at = term.place
    machine = _object(of, context, at)
    attribute = machine.attribute(name)
    if attribute is None:
        names = [a.name for a in machine.attributes]
        remedy = f"{did_you_mean(name, names)}declare it, or choose from {_listed(names)}"
        if name == "state" and machine.states:
            remedy = f"write .is_({machine.states[0].name!r}) to ask for its state"
        raise context.wrong(term, at, f"undeclared attribute {name!r} of {machine.sort}", remedy, name=name)
    if attribute.history and not context.history:
        raise context.wrong(
            term,
            at,
            f"history attribute {name!r} is read by a guard or rule",
            "history may be read by properties only",
            name=name,
        )
    if context.durable_only and not (attribute.durable or attribute.rigid):
        raise context.wrong(
            term,
            at,
            f"attribute {name!r} is lost in a crash",
            "recovery may read durable attributes only",
            name=name,
        )
    if context.rigid_only and not attribute.rigid:
        raise context.wrong(
            term,
            at,
            f"an axiom reads attribute {name!r}, which changes",
            "declare it rigid, or write an Invariant instead of the axiom",
            name=name,
        )
    return attribute.type


def _firing(term: t.Fires, context: Context) -> Type:
    at = term.place
    machine = _object(term.of, context, at)
    rows = [r for r in context.model.table(machine.sort) if r.event == term.event]
    if not rows:
        events = sorted({r.event for r in context.model.table(machine.sort)})
        raise context.wrong(
            term,
            at,
            f"unknown event {term.event!r} of {machine.sort}: no row of the table has it",
            f"{did_you_mean(term.event, events)}add a row, or choose from {_listed(events)}",
            name=term.event,
        )
    declared = machine.parameters(term.event)
    # A step computes its causes before it knows what else fires, so a caused firing cannot ask for one.
    inside = replace(context, causes=False, fires=context.fires and not context.causes)
    for name, value in term.payload:
        if name not in declared:
            raise context.wrong(
                term,
                at,
                f"unknown parameter {name} of event {machine.sort}.{term.event}",
                choose_from(name, declared),
                name=name,
            )
        if isinstance(declared[name], SetOf) and not context.causes:
            raise context.wrong(
                value,
                at,
                f"parameter {name} of {term.event} is a set, and sets cannot be compared",
                "leave this parameter out",
                name=name,
            )
        if not compatible(declared[name], infer(value, inside, at)):
            raise context.wrong(
                value,
                at,
                f"type mismatch: parameter {name} of {term.event} is of type {declared[name]}",
                "pass a value of that type",
            )
    if not context.fires:
        raise context.wrong(term, at, "fires(...) is used outside a step", "use it in rules and step invariants")
    return BoolType()


def _member(base: t.Term, element: t.Term, context: Context, at: Place | None) -> None:
    a = infer(base, context, at)
    if isinstance(a, Function | Mapped):
        problem = f"a set is needed, and this is a {a}"
        raise context.wrong(base, at, problem, "read its value, f[x], or give it another one, f.with_(x, to=...)")
    if isinstance(a, SequenceType):
        _is_item(a, element, context, at)
        return
    if a != EMPTY_TYPE and not isinstance(a, SetOf | Relation):
        raise context.wrong(
            base, at, f"a set is needed, and this is of type {a}", "use a set variable or a set attribute"
        )
    if isinstance(a, Relation) or isinstance(element, t.Tuple):
        _related(a, element, context, at)
        return
    b = infer(element, context, at)
    if not isinstance(b, Ref) or (isinstance(a, SetOf) and a.sort != b.sort):
        raise context.wrong(
            element, at, f"type mismatch: {b} as an element of a {a}", "use an object of the set's sort"
        )


def _sequence(term: t.Term, context: Context, at: Place | None) -> SequenceType | Listed:
    """The type of a sequence.

    Raises:
        ModelError: the term is none.
    """
    kind = infer(term, context, at)
    if not isinstance(kind, SequenceType | Listed):
        remedy = "use an attribute of type Sequence(..., at_most=...)"
        if isinstance(kind, SetOf | Relation):
            remedy = "write count(x, s.has(x)) for the number of elements of a set, and s.with_(x) for one more"
        raise context.wrong(term, at, f"a sequence is needed, and this is of type {kind}", remedy)
    return kind


def _appended(base: t.Term, item: t.Term, context: Context, at: Place | None) -> SequenceType | Listed:
    if infer(base, context, at) == EMPTY_TYPE:
        return Listed(infer(item, context, at))
    kind = _sequence(base, context, at)
    _is_item(kind, item, context, at)
    return kind


def _is_item(kind: SequenceType | Listed, item: t.Term, context: Context, at: Place | None) -> None:
    """Refuses a value that no item of a sequence can have."""
    value = infer(item, context, at)
    if not compatible(kind.of, value):
        problem = f"type mismatch: an item of a {kind} is of type {value}"
        raise context.wrong(item, at, problem, "write a value of that type")
    _within(kind.of, item, context, at)


def _item(term: t.Apply, kind: SequenceType | Listed, context: Context, at: Place | None) -> Type:
    """The type of the item of a sequence at an index."""
    read = term.base.part if isinstance(term.base, t.After) else term.base
    if isinstance(kind, Listed) or not isinstance(read, t.Attr):
        problem = "an item is read of a sequence that is made here"
        raise context.wrong(term, at, problem, "read it of an attribute, or write the item itself")
    index = infer(term.element, context, at) if not isinstance(term.element, t.Tuple) else "several values"
    if not _is_int(index):
        problem = f"an index of a sequence is a number, and this is of type {index}"
        raise context.wrong(term.element, at, problem, "write s[0] for the first item")
    if isinstance(term.element, t.Constant) and int(term.element.value) < 0:
        problem = f"a sequence has no item at {term.element.value}: the first has index 0"
        remedy = f"count from the end with s[length(s) - {-int(term.element.value)}]"
        raise context.wrong(term.element, at, problem, remedy)
    return kind.of


def _applied(term: t.Apply, function: t.Term, element: t.Term, context: Context, at: Place | None) -> Type:
    kind = infer(function, context, at)
    if isinstance(kind, SequenceType | Listed):
        return _item(term, kind, context, at)
    if not isinstance(kind, Function | Mapped):
        remedy = "use an attribute of type Function(A, to=...) or Sequence(..., at_most=...)"
        raise context.wrong(function, at, f"a function is needed, and this is of type {kind}", remedy)
    read = function.part if isinstance(function, t.After) else function
    if isinstance(kind, Mapped) or not isinstance(read, t.Attr):
        problem = "a value is read of a function that is made here"
        raise context.wrong(term, at, problem, "read it of an attribute, or write the value itself")
    _related(kind, element, context, at)
    return kind.to


def _updated(base: t.Term, element: t.Term, to: t.Term, context: Context, at: Place | None) -> Inferred:
    kind = infer(base, context, at)
    if not isinstance(kind, Function | Mapped):
        raise context.wrong(
            base,
            at,
            f"with_(..., to=...) of a term of type {kind}",
            "leave out to=... for a set, and write it for an attribute of type Function",
            name="to",
        )
    _related(kind, element, context, at)
    value = infer(to, context, at)
    if not compatible(kind.to, value):
        problem = f"type mismatch: a value of a {kind} is of type {value}"
        raise context.wrong(to, at, problem, "write a value of that type after to=")
    _within(kind.to, to, context, at)
    return kind


def _within(kind: Inferred, value: t.Term, context: Context, at: Place | None) -> None:
    """Refuses a number that is not one of a function's values."""
    match kind, value:
        case IntRange(low, high), t.Constant(int(number)) if not low <= number <= high:
            raise context.wrong(value, at, f"{number} is not in {low}..{high}", "write a value of the range")
        case Integer(), t.Constant(int(number)) if number not in kind:
            raise context.wrong(value, at, f"{number} is not a {kind}", f"write a value from {kind.low}")


def _related(kind: Inferred, element: t.Term, context: Context, at: Place | None) -> None:
    """Refuses an element of a relation, or an argument of a function, that is not one object of each of its sorts."""
    parts = element.parts if isinstance(element, t.Tuple) else (element,)
    kinds = [infer(part, context, at) for part in parts]
    for part, each in zip(parts, kinds, strict=True):
        if not isinstance(each, Ref):
            raise context.wrong(part, at, f"an object is needed, and this is of type {each}", "use a variable")
    if isinstance(kind, str):  # the empty set has any elements
        return
    role = "the argument" if isinstance(kind, Function | Mapped) else "an element"
    sorts = (
        kind.sorts
        if isinstance(kind, Relation | Function | Mapped)
        else (kind.sort,)
        if isinstance(kind, SetOf)
        else ()
    )
    if len(sorts) != len(parts):
        problem = f"{len(parts)} object{'s' if len(parts) > 1 else ''} as {role} of a {kind}"
        raise context.wrong(
            element, at, problem, f"write the objects in this order: {_listed([s.name for s in sorts])}"
        )
    for number, (part, each, sort) in enumerate(zip(parts, kinds, sorts, strict=True), 1):
        if isinstance(each, Ref) and each.sort != sort:
            problem = f"type mismatch: object {number} of {role} of a {kind} is {each.sort}"
            raise context.wrong(
                part, at, problem, f"write the objects in this order: {_listed([s.name for s in sorts])}"
            )


def _is_int(inferred: Inferred) -> bool:
    return inferred == INT_TYPE or isinstance(inferred, IntRange | Integer)


def compatible(a: Inferred, b: Inferred) -> bool:
    """True if values of these types may be compared or assigned."""
    if _is_int(a) and _is_int(b):
        return True
    if NONE_TYPE in (a, b):
        return isinstance(a, Ref) or isinstance(b, Ref)
    if EMPTY_TYPE in (a, b):
        return any(isinstance(each, SetOf | Relation | SequenceType | Listed) for each in (a, b))
    if isinstance(a, SequenceType | Listed) and isinstance(b, SequenceType | Listed):
        return compatible(a.of, b.of) if isinstance(a, Listed) or isinstance(b, Listed) else a.of == b.of
    for one, other in ((a, b), (b, a)):
        if isinstance(one, Mapped):
            return isinstance(other, Function) and one.sorts == other.sorts and compatible(one.to, other.to)
        if isinstance(one, Quoted):
            return isinstance(other, Quoted) or (isinstance(other, EnumType) and one.value in other.values)
    return a == b


def value_type(kind: Type | None) -> Type:
    """The type of what is read of a function or a sequence with ``[...]``."""
    if isinstance(kind, SequenceType):
        return kind.of
    assert isinstance(kind, Function)
    return kind.to


def sort_of(model: Model, term: t.Term, bound: Mapping[str, t.Var]) -> str:
    """The sort name of an object-valued term of a checked model."""
    if isinstance(term, t.After):
        return sort_of(model, term.part, bound)
    if isinstance(term, t.Apply):
        function = term.base.part if isinstance(term.base, t.After) else term.base
        assert isinstance(function, t.Attr)
        applied = model.machine(sort_of(model, function.of, bound)).attribute(function.name)
        assert applied is not None
        declared: Type = value_type(applied.type)
    elif isinstance(term, t.Var):
        declared = bound.get(term.name, term).type
    else:
        assert isinstance(term, t.Attr)
        attribute = model.machine(sort_of(model, term.of, bound)).attribute(term.name)
        assert attribute is not None
        declared = attribute.type
    assert isinstance(declared, Ref | SetOf)
    return declared.sort.name
