"""Formulas as Promela expressions. Quantifiers are expanded, and constant parts are computed.

Objects are numbers or ``NONE``, sets are bit masks, truth values are 0 or 1.
``&&`` and ``||`` evaluate their operands in order and stop early.
So an expression reads an attribute of NONE only where the model does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from schedproof.model.lang import terms as t
from schedproof.model.lang.types import EnumType, Function, IntRange, Ref, Type
from schedproof.model.lang.types import Sequence as SequenceType
from schedproof.model.semantics import Instance, ScopeError
from schedproof.model.semantics.evaluate import NOBODY, Owner, sort_of_term, type_of_term
from schedproof.model.semantics.magnitude import Magnitudes, longest

from .cascade import Event
from .names import Names

WORDS = {
    "active", "assert", "atomic", "bit", "bool", "break", "byte", "chan", "c_code", "c_decl", "c_expr", "c_state", "c_track",
    "d_proctype", "d_step", "D_proctype", "do", "else", "empty", "enabled", "end", "eval", "false", "fi", "for", "full", "get_priority",
    "goto", "hidden", "if", "in", "init", "inline", "int", "len", "local", "ltl", "mtype", "nempty", "never", "nfull", "notrace",
    "np_", "od", "of", "pc_value", "pid", "printf", "printm", "priority", "proctype", "provided", "run", "select", "set_priority",
    "short", "show", "skip", "system", "timeout", "trace", "true", "typedef", "unless", "unsigned", "xr", "xs", "D_step",
    "me", "wrong", "_pid", "_last", "_nr_pr", "_",
}  # fmt: skip
"""Words that cannot be names: those of the language, and those of the generated text."""

NONE = 255
"""The number that stands for no object."""

MOST_BITS = 31
"""The most bits of a number that is not negative."""

GREATEST, GREATEST_SUM = 1 << 30, (1 << 31) - 1

Text = str | int
"""An expression; an int if it is constant."""


@dataclass(frozen=True)
class Scope:
    """The names that a term can use.

    Args:
        bound: variable name -> (variable, its expression).
        owner: the sort and event of a table row.
        me: the object of the row.
        given: the parameters of the row's event.
        prefix: of the arrays of the state: "" before the step, "next_" after it.
        fired: the events that can fire; None means any event.
    """

    bound: Mapping[str, tuple[t.Var, Text]] = field(default_factory=dict)
    owner: Owner = NOBODY
    me: Text = 0
    given: Mapping[str, Text] = field(default_factory=dict)
    prefix: str = ""
    fired: frozenset[Event] | None = None

    def binding(self, values: Iterable[tuple[t.Var, Text]]) -> Scope:
        """This scope with more variables bound."""
        return replace(self, bound={**self.bound, **{v.name: (v, value) for v, value in values}})

    @property
    def variables(self) -> dict[str, t.Var]:
        """The variables in scope, by name."""
        return {name: var for name, (var, _) in self.bound.items()}


class Expressions:
    """Writes the terms of an instance as expressions."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.names = Names(WORDS)
        self._magnitudes = Magnitudes(instance)

    def field(self, sort: str, name: str, prefix: str = "") -> str:
        """The array of an attribute, or of the state ("")."""
        return self.names.of(("field", sort, name, prefix), f"{prefix}{sort}_{name or 'at'}")

    def fires(self, sort: str, event: str) -> str:
        """The bit mask of the objects on which an event fires."""
        return self.names.of(("fires", sort, event), f"fires_{sort}_{event}")

    def payload(self, sort: str, event: str, name: str) -> str:
        """The array of an event's parameter, by object."""
        return self.names.of(("payload", sort, event, name), f"given_{sort}_{event}_{name}")

    def state(self, sort: str, name: str) -> str:
        """The name of a state."""
        return self.names.of(("state", sort, name), f"{sort}_{name}")

    def choice(self, name: str) -> str:
        """The variable with the chosen value of an action's parameter."""
        return self.names.of(("choice", name), f"choice_{name}")

    def loop(self, number: int, name: str) -> str:
        """The variable of a loop."""
        return self.names.of(("loop", number, name), f"V{number}_{name}")

    def holds(self, prop: str) -> str:
        """The variable that says whether a property holds."""
        return self.names.of(("holds", prop), f"holds_{prop}")

    def value(self, term: t.Term, scope: Scope, kind: Type | None = None) -> Text:
        """The expression of a term; ``kind`` is the type that the context expects."""

        def go(part: t.Term) -> Text:
            return self.value(part, scope)

        match term:
            case t.Var(name):
                return scope.bound[name][1]
            case t.Me():
                return scope.me
            case t.Given(name):
                return scope.given[name]
            case t.Nothing():
                return NONE
            case t.EmptySet():
                return 0
            case t.Constant(value):
                if isinstance(value, str):
                    assert isinstance(kind, EnumType)
                    return kind.values.index(value)
                return fitting(int(value))
            case t.Attr(of, name):
                return self._attribute(of, name, scope)
            case t.Is(of, states):
                return self._is(of, states, scope)
            case t.Equal(left, right):
                a, b = (
                    self.value(left, scope, self._type(right, scope)),
                    self.value(right, scope, self._type(left, scope)),
                )
                return binary("==", a, b)
            case t.Less(left, right, or_equal):
                return binary("<=" if or_equal else "<", go(left), go(right))
            case t.Sum(left, right, sign):
                fitting(self._magnitudes.of(term, scope.variables, scope.owner), GREATEST_SUM)
                return binary("+" if sign > 0 else "-", go(left), go(right))
            case t.Has(base, element) if isinstance(sequence := self._type(base, scope), SequenceType):
                return self._has_item(base, element, sequence, scope)
            case t.Has(base, element):
                return self._has(go(element), lambda: go(base), sure=_is_some(element))
            case t.Adjusted(base, element, present):
                return self._adjusted(go(base), go(element), present, sure=_is_some(element))
            case t.Those(var, where):
                return self._those(var, where, scope)
            case t.TuplesOf(several, where):
                return self._tuples_of(several, where, scope)
            case t.Count(several, where):
                return self._count(several, where, scope)
            case t.Tuple(parts):
                return self._tuple(parts, scope)
            case t.Apply(base, element) if isinstance(sequence := self._type(base, scope), SequenceType):
                return self._item(base, element, sequence, scope)
            case t.Length(of):
                sequence = self._type(of, scope)
                assert isinstance(sequence, SequenceType)
                return self._length(go(of), of, sequence, scope)
            case t.Appended(base, item):
                sequence = kind or self._type(base, scope)
                assert isinstance(sequence, SequenceType)
                return self._appended(base, item, sequence, scope)
            case t.Sliced(base, at, first):
                sequence = kind or self._type(base, scope)
                assert isinstance(sequence, SequenceType)
                return self._sliced(base, at, sequence, scope, first=first)
            case t.Apply(base, element):
                return self._applied(base, element, scope)
            case t.Updated():
                assert isinstance(kind, Function)
                return self._updated(term, kind, scope)
            case t.FunctionOf():
                assert isinstance(kind, Function)
                return self._function_of(term, kind, scope)
            case t.Fires(of, event, payload):
                return self._fires(of, event, payload, scope)
            case t.And(parts):
                return conjunction([go(part) for part in parts])
            case t.Or(parts):
                return disjunction([go(part) for part in parts])
            case t.Implies(premise, conclusion):
                return disjunction([negation(go(premise)), go(conclusion)])
            case t.Not(part):
                return negation(go(part))
            case t.Iff(left, right):
                return binary("==", go(left), go(right))
            case t.After(part):
                return self.value(part, replace(scope, prefix="next_"))
            case t.Quantified(universal, _, body):
                ranged = self._magnitudes.ranged(term, scope.variables, scope.owner)
                every = [self.value(body, scope.binding(one)) for one in self.bindings(ranged)]
                return conjunction(every) if universal else disjunction(every)
        raise AssertionError(f"no expression for {type(term).__name__}")

    def bindings(self, variables: Sequence[t.Var]) -> list[list[tuple[t.Var, Text]]]:
        """All values of ``variables``: a list of (variable, value) for each combination."""
        values = product(*(self.instance.domain(v.type) for v in variables))
        return [list(zip(variables, each, strict=True)) for each in values]

    def _type(self, term: t.Term, scope: Scope) -> Type | None:
        return type_of_term(self.instance, term, scope.variables, scope.owner)

    def sort_of(self, term: t.Term, scope: Scope) -> str:
        """The sort of the object that a term denotes."""
        return sort_of_term(self.instance, term, scope.variables, scope.owner)

    def _attribute(self, of: t.Term, name: str, scope: Scope) -> Text:
        sort = self.sort_of(of, scope)
        attribute = self.instance.model.machine(sort).attribute(name)
        assert attribute is not None
        who = self.value(of, scope)
        if attribute.rigid:
            values = [code(v, attribute.type) for v in self.instance.rigid_values(sort, attribute)]
            if isinstance(who, int):
                return values[who]
            if len(set(values)) == 1:
                return values[0]
            selection: Text = values[-1]
            for i in range(len(values) - 2, -1, -1):
                selection = f"({who} == {i} -> {values[i]} : {selection})"
            return selection
        return f"{self.field(sort, name, scope.prefix)}[{who}]"

    def _is(self, of: t.Term, states: Sequence[str], scope: Scope) -> Text:
        sort = self.sort_of(of, scope)
        at = f"{self.field(sort, '', scope.prefix)}[{self.value(of, scope)}]"
        return disjunction([f"({at} == {self.state(sort, s)})" for s in dict.fromkeys(states)])

    def _has(self, number: Text, mask: Callable[[], Text], *, sure: bool) -> Text:
        if number == NONE and not sure:
            return 0
        inside = binary("&", binary(">>", mask(), number), 1)
        if sure or isinstance(number, int):
            return inside
        return conjunction([f"{number} != {NONE}", inside])

    def _adjusted(self, mask: Text, number: Text, present: bool, *, sure: bool) -> Text:
        if number == NONE and not sure:
            return mask
        one = binary("<<", 1, number)
        changed = binary("|", mask, one) if present else f"({mask} & ~({one}))"
        if sure or isinstance(number, int):
            return changed
        return f"({number} == {NONE} -> {mask} : {changed})"

    def _those(self, var: t.Var, where: t.Term, scope: Scope) -> Text:
        assert isinstance(var.type, Ref)
        mask: Text = 0
        for i in self.instance.domain(var.type):
            truth = self.value(where, scope.binding([(var, i)]))
            one: Text = (1 << i) * bool(truth) if isinstance(truth, int) else f"({truth} -> {1 << i} : 0)"
            mask = binary("|", mask, one)
        return mask

    def _tuple(self, parts: Sequence[t.Term], scope: Scope) -> Text:
        """The number of a tuple, or NONE if one of its objects is none."""
        number: Text = 0
        some: list[Text] = []
        for part in parts:
            of = self.value(part, scope)
            number = binary("+", binary("*", number, self.instance.sizes[self.sort_of(part, scope)]), of)
            some += [] if _is_some(part) else [int(of != NONE) if isinstance(of, int) else f"({of} != {NONE})"]
        known = conjunction(some)
        return number if known == 1 else NONE if known == 0 else f"({known} -> {number} : {NONE})"

    def _tuples_of(self, several: Sequence[t.Var], where: t.Term, scope: Scope) -> Text:
        mask: Text = 0
        for number, values in enumerate(self.bindings(several)):
            truth = self.value(where, scope.binding(values))
            one: Text = (1 << number) * bool(truth) if isinstance(truth, int) else f"({truth} -> {1 << number} : 0)"
            mask = binary("|", mask, one)
        return mask

    def _count(self, several: Sequence[t.Var], where: t.Term, scope: Scope) -> Text:
        number: Text = 0
        for values in self.bindings(several):
            truth = self.value(where, scope.binding(values))
            number = binary("+", number, int(bool(truth)) if isinstance(truth, int) else f"({truth} -> 1 : 0)")
        return number

    def _applied(self, base: t.Term, element: t.Term, scope: Scope) -> Text:
        """The value of a function; where an object is none, an index out of bounds, as for an attribute of NONE."""
        kind = self._type(base, scope)
        assert isinstance(kind, Function)
        packing, number, place = self.instance.packing(kind), self.value(base, scope), self.value(element, scope)
        digit = binary("&", binary(">>", number, binary("*", place, packing.bits)), packing.mask)
        read = binary("+", digit, packing.low) if packing.low >= 0 else binary("-", digit, -packing.low)
        if isinstance(kind.to, Ref):
            read = code(digit - 1, kind.to) if isinstance(digit, int) else f"({digit} == 0 -> {NONE} : {digit} - 1)"
        if _is_some(element) or (isinstance(place, int) and place != NONE):
            return read
        machine = next(m for m in self.instance.model.machines if m.states)
        outside = f"{self.field(machine.sort.name, '', scope.prefix)}[{NONE}]"
        return outside if place == NONE else f"({place} == {NONE} -> {outside} : {read})"

    def _updated(self, term: t.Updated, kind: Function, scope: Scope) -> Text:
        packing = self.instance.packing(kind)
        number, place = self.value(term.base, scope, kind), self.value(term.element, scope)
        if place == NONE and not _is_some(term.element):
            return number
        at = binary("*", place, packing.bits)
        mask = binary("<<", packing.mask, at)
        kept = number & ~mask if isinstance(number, int) and isinstance(mask, int) else f"({number} & ~({mask}))"
        changed = binary("|", kept, binary("<<", self._digit(self.value(term.value, scope, kind.to), kind), at))
        if _is_some(term.element) or isinstance(place, int):
            return changed
        return f"({place} == {NONE} -> {number} : {changed})"

    def _function_of(self, term: t.FunctionOf, kind: Function, scope: Scope) -> Text:
        packing = self.instance.packing(kind)
        number: Text = 0
        for place, values in enumerate(self.bindings(term.variables)):
            digit = self._digit(self.value(term.value, scope.binding(values), kind.to), kind)
            number = binary("|", number, binary("<<", digit, place * packing.bits))
        return number

    def _digit(self, value: Text, kind: Function) -> Text:
        """The code of a value in a function; the greatest one for a number outside of the range."""
        packing = self.instance.packing(kind)
        if isinstance(value, int):
            return packing.code(-1 if isinstance(kind.to, Ref) and value == NONE else value)
        if isinstance(kind.to, Ref):
            return f"({value} == {NONE} -> 0 : {value} + 1)"
        if not isinstance(kind.to, IntRange):
            return value
        low, high = kind.to.low, kind.to.high
        return f"((({value}) < {low}) || (({value}) > {high}) -> {packing.mask} : ({value}) - ({low}))"

    def _length(self, number: Text, of: t.Term, kind: SequenceType, scope: Scope) -> Text:
        """The number of items of a sequence: one for each place whose bits and those above are not all 0."""
        bits = self.instance.items(kind).bits
        length: Text = 0
        for place in range(longest(self.instance, of, scope.variables, scope.owner)):
            length = binary("+", length, negation(binary("==", binary(">>", number, place * bits), 0)))
        return length

    def _item(self, base: t.Term, index: t.Term, kind: SequenceType, scope: Scope) -> Text:
        """The item of a sequence at an index; where it has none, an index out of bounds, as for an attribute of NONE."""
        items, number, place = self.instance.items(kind), self.value(base, scope), self.value(index, scope)
        machine = next(m for m in self.instance.model.machines if m.states)
        outside = f"{self.field(machine.sort.name, '', scope.prefix)}[{NONE}]"
        if isinstance(place, int) and not 0 <= place < kind.at_most:
            return outside
        code_of_item = binary("&", binary(">>", number, binary("*", place, items.bits)), items.mask)
        has_item = conjunction([
            *([] if isinstance(place, int) else [f"({place} >= 0)", f"({place} < {kind.at_most})"]),
            negation(binary("==", code_of_item, 0)),
        ])  # fmt: skip
        value = binary("+", code_of_item, items.low - 1) if items.low > 0 else binary("-", code_of_item, 1 - items.low)
        if isinstance(kind.of, Ref):
            value = f"({code_of_item} == 1 -> {NONE} : {code_of_item} - 2)"
        return f"({has_item} -> {value} : {outside})"

    def _has_item(self, base: t.Term, item: t.Term, kind: SequenceType, scope: Scope) -> Text:
        """Whether a sequence has an item; none is no item, and then the sequence is not evaluated."""
        items, number, value = (
            self.instance.items(kind),
            self.value(base, scope, kind),
            self.value(item, scope, kind.of),
        )
        expected = self._item_code(value, kind)
        some: list[Text] = []
        for place in range(longest(self.instance, base, scope.variables, scope.owner)):
            some.append(binary("==", binary("&", binary(">>", number, place * items.bits), items.mask), expected))
        inside = disjunction(some)
        if not isinstance(kind.of, Ref) or _is_some(item):
            return inside
        return conjunction([int(value != NONE) if isinstance(value, int) else f"({value} != {NONE})", inside])

    def _item_code(self, value: Text, kind: SequenceType) -> Text:
        """The bits of an item; the greatest ones for a number outside of the range."""
        items = self.instance.items(kind)
        if isinstance(value, int):
            return items.code(-1 if isinstance(kind.of, Ref) and value == NONE else value)
        if isinstance(kind.of, Ref):
            return f"({value} == {NONE} -> 1 : {value} + 2)"
        code_of_value = f"({value}) - ({items.low - 1})"
        if not isinstance(kind.of, IntRange):
            return f"({code_of_value})"
        low, high = kind.of.low, kind.of.high
        return f"((({value}) < {low}) || (({value}) > {high}) -> {items.outside} : {code_of_value})"

    def _appended(self, base: t.Term, item: t.Term, kind: SequenceType, scope: Scope) -> Text:
        items, number = self.instance.items(kind), self.value(base, scope, kind)
        most = longest(self.instance, base, scope.variables, scope.owner) + 1
        if most * items.bits > MOST_BITS:
            raise ScopeError(
                f"a {kind} of up to {most} items has {most * items.bits} bits, and Promela has {MOST_BITS} at most; "
                "choose a smaller scope, or write a smaller at_most"
            )
        at = binary("*", self._length(number, base, kind, scope), items.bits)
        return binary("|", number, binary("<<", self._item_code(self.value(item, scope, kind.of), kind), at))

    def _sliced(self, base: t.Term, at: t.Term, kind: SequenceType, scope: Scope, *, first: bool) -> Text:
        bits, number, count = self.instance.items(kind).bits, self.value(base, scope, kind), self.value(at, scope)
        most = longest(self.instance, base, scope.variables, scope.owner)
        if isinstance(count, int):
            count = min(max(count, 0), most)
        else:
            count = f"(({count}) < 0 -> 0 : (({count}) > {most} -> {most} : ({count})))"
        place = binary("*", count, bits)
        if not first:
            return binary(">>", number, place)
        return binary("&", number, binary("-", binary("<<", 1, place), 1))

    def _fires(self, of: t.Term, event: str, payload: tuple[tuple[str, t.Term], ...], scope: Scope) -> Text:
        sort = self.sort_of(of, scope)
        if scope.fired is not None and (sort, event) not in scope.fired:
            return 0
        mask = self.fires(sort, event)
        who = self.value(of, scope)
        kinds = self.instance.model.machine(sort).parameters(event)
        parts: list[Text] = [f"{mask} != 0", self._has(who, lambda: mask, sure=_is_some(of))]
        for name, expected in payload:
            parts.append(
                binary("==", f"{self.payload(sort, event, name)}[{who}]", self.value(expected, scope, kinds[name]))
            )
        return conjunction(parts)


def fitting(value: int, greatest: int = GREATEST) -> int:
    """The number itself, if Promela can represent it.

    Raises:
        ScopeError: it is too large for Promela, or leaves no room for an addition.
    """
    if abs(value) > greatest:
        raise ScopeError(
            f"{value} is too great for Promela, whose numbers have 32 bits with the sign; choose smaller ranges"
        )
    return value


def code(value: int, kind: Type) -> int:
    """The Promela code of a value in a state."""
    return NONE if isinstance(kind, Ref) and value < 0 else value


def binary(op: str, left: Text, right: Text) -> Text:
    """A binary operation, computed if both sides are constant."""
    if isinstance(left, int) and isinstance(right, int):
        return int(_COMPUTED[op](left, right))
    if op in ("|", "+", "<<", ">>") and right == 0:
        return left
    if op in ("|", "+") and left == 0:
        return right
    if op == "*" and 0 in (left, right):
        return 0
    return f"({left} {op} {right})"


_COMPUTED = {
    "+": int.__add__, "*": int.__mul__, "-": int.__sub__, "&": int.__and__, "|": int.__or__, "<<": int.__lshift__, ">>": int.__rshift__,
    "==": int.__eq__, "<": int.__lt__, "<=": int.__le__,
}  # fmt: skip


def conjunction(parts: Sequence[Text]) -> Text:
    """The conjunction of ``parts``, evaluated in order."""
    kept: list[Text] = []
    for part in parts:
        if isinstance(part, int) and part:
            continue
        kept.append(part)
        if isinstance(part, int):
            break  # this constant decides
    if not kept:
        return 1
    if kept == [0]:
        return 0
    return kept[0] if len(kept) == 1 else "(" + " && ".join(str(k) for k in kept) + ")"


def disjunction(parts: Sequence[Text]) -> Text:
    """The disjunction of ``parts``, evaluated in order."""
    kept: list[Text] = []
    for part in parts:
        if isinstance(part, int) and not part:
            continue
        kept.append(part)
        if isinstance(part, int):
            break
    if not kept:
        return 0
    if isinstance(kept[0], int):
        return 1
    return kept[0] if len(kept) == 1 else "(" + " || ".join(str(k) for k in kept) + ")"


def negation(part: Text) -> Text:
    """The negation of ``part``."""
    return int(not part) if isinstance(part, int) else f"!({part})"


def _is_some(term: t.Term) -> bool:
    return all(map(_is_some, term.parts)) if isinstance(term, t.Tuple) else isinstance(term, t.Var | t.Me)
