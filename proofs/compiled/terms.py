"""Terms as code, with the meaning of :mod:`schedproof.model.semantics.evaluate`, on unpacked states.

A condition on all objects of a sort, as most are, becomes a mask with a bit for each object instead of a loop.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count

from schedproof.model.lang import terms as t
from schedproof.model.lang.types import EnumType, Function, Integer, IntRange, Ref, Relation, SetOf, Type
from schedproof.model.lang.types import Sequence as SequenceType
from schedproof.model.semantics import Instance
from schedproof.model.semantics.evaluate import NOBODY, Owner, is_total, sort_of_term, type_of_term
from schedproof.model.semantics.magnitude import Magnitudes, longest
from schedproof.model.semantics.search import levels
from schedproof.proofs.exploration.limits import TooWide
from schedproof.proofs.exploration.relevance import is_defined

from .code import Block, Count, Each, Expr, If, Item, Leave, Local, Put, Set, Stmt, binary, bit, member, negated
from .layout import GREATEST, MOST_TUPLES, Layout, span

GREATEST_SUM = 1 << 62
"""The limit of the absolute values of sums."""

MOST_VALUES = 64
"""An attribute with more values has no masks by value."""


@dataclass(frozen=True)
class Moment:
    """The context of a term: the state (``of`` names its arrays), the variables, and the events that may fire.

    Args:
        undefined: the label to leave to if an attribute of NONE is read.
        fired: the events that can fire.
    """

    of: str = "now"
    bound: Mapping[str, tuple[t.Var, Expr]] = field(default_factory=dict)
    owner: Owner = NOBODY
    me: Expr = 0
    given: Mapping[str, Expr] = field(default_factory=dict)
    undefined: str = "undefined"
    fired: Collection[tuple[str, str]] = ()

    def binding(self, var: t.Var, value: Expr) -> Moment:
        """The context with one more variable bound."""
        bound = {**self.bound, var.name: (var, value)}
        return Moment(self.of, bound, self.owner, self.me, self.given, self.undefined, self.fired)

    @cached_property
    def variables(self) -> dict[str, t.Var]:
        """The variables in scope, by name."""
        return {name: var for name, (var, _) in self.bound.items()}


Read = tuple[str, str, str, bool]
"""An array that is read: the state (before or after), the sort, the attribute ("" for the machine's state), and whether by value."""


def supposed(of: str) -> str:
    """The variable with the supposed value of a history attribute in the state ``of``."""
    return f"supposed {of}"


class Terms:
    """Writes the code of terms to the current list of statements."""

    def __init__(self, instance: Instance, layout: Layout) -> None:
        self.instance = instance
        self.layout = layout
        self.tables: dict[str, Sequence[int]] = {}
        self.scratch: dict[str, int] = {}
        self.read: dict[Read, None] = {}
        self.supposed: tuple[str, str] | None = None
        """A history attribute that is no part of the state: its value is the local variable :func:`supposed`, for any object."""
        self._magnitudes = Magnitudes(instance)
        self._numbers = count()
        self._body: list[Stmt] = []

    # Writing

    def emit(self, stmt: Stmt) -> None:
        """Adds a statement."""
        self._body.append(stmt)

    @contextmanager
    def body(self) -> Iterator[list[Stmt]]:
        """Collects the statements written inside in a list of their own."""
        outer, self._body = self._body, []
        try:
            yield self._body
        finally:
            self._body = outer

    @contextmanager
    def block(self, label: str) -> Iterator[None]:
        """Puts the statements written inside into a block of this label."""
        with self.body() as body:
            yield
        self.emit(Block(label, body))

    def new(self, name: str) -> str:
        """A unique name."""
        return f"{name}.{next(self._numbers)}"

    def check(self, truth: Expr, otherwise: str) -> None:
        """Leaves to ``otherwise`` if ``truth`` is 0."""
        if truth == 1:
            return
        self.emit(Leave(otherwise) if truth == 0 else If(negated(truth), [Leave(otherwise)]))

    # Reading states

    def _array(self, moment: Moment, sort: str, name: str, *, by_value: bool = False) -> str:
        """The array of a field: each object's value, or for each value the mask of the objects that have it."""
        self.read[moment.of, sort, name, by_value] = None
        return f"{moment.of} {sort}.{name}{' by value' if by_value else ''}"

    def _rigid(self, sort: str, name: str, *, by_value: bool = False) -> str:
        attribute = self.instance.model.machine(sort).attribute(name)
        assert attribute is not None
        values = self.instance.rigid_values(sort, attribute)
        key = f"{sort}.{name}{' by value' if by_value else ''}"
        if key not in self.tables:
            if isinstance(attribute.type, Integer):
                assert not by_value
                self.tables[key] = [_number(value) for value in values]
                return key
            low, number = span(self.instance, attribute.type)
            masks = [
                sum(1 << i for i, v in enumerate(values) if v == low + n) for n in range(number if by_value else 0)
            ]
            self.tables[key] = masks if by_value else values
        return key

    def column(self, moment: Moment, sort: str, name: str, value: Expr) -> Expr:
        """The mask of the objects whose field has a value."""
        attribute = self.instance.model.machine(sort).attribute(name)
        if attribute is not None and attribute.rigid:
            low, _ = span(self.instance, attribute.type)
            return Item(self._rigid(sort, name, by_value=True), binary("-", value, low))
        low = self.layout.fields[sort, name].low
        return Item(self._array(moment, sort, name, by_value=True), binary("-", value, low))

    def in_states(self, moment: Moment, sort: str, states: Sequence[str]) -> Expr:
        """The mask of the objects that are in one of ``states``."""
        names = [s.name for s in self.instance.model.machine(sort).states]
        mask: Expr = 0
        for name in dict.fromkeys(states):
            mask = binary("|", mask, self.column(moment, sort, "", names.index(name)))
        return mask

    @contextmanager
    def reading(self) -> Iterator[dict[Read, None]]:
        """Collects the arrays that statements written inside read."""
        outer, self.read = self.read, {}
        try:
            yield self.read
        finally:
            self.read = {**outer, **self.read}

    def unpack(self, read: Iterable[Read], of: str, words: str) -> None:
        """Writes code that fills the arrays in ``read`` of the state ``of`` from the array ``words``."""
        for _, sort, name, by_value in [key for key in read if key[0] == of]:
            f = self.layout.fields[sort, name]
            array = self._array(Moment(of), sort, name, by_value=by_value)
            self.scratch[array] = f.values if by_value else len(f.positions)
            for number in range(f.values if by_value else 0):
                self.emit(Put(array, number, 0))
            for i, at in enumerate(f.positions):
                raw = binary("&", binary(">>", Item(words, at // 64), at % 64), (1 << f.bits) - 1)
                if by_value:
                    self.emit(Set("raw", raw))
                    self.emit(Put(array, Local("raw"), binary("|", Item(array, Local("raw")), 1 << i)))
                else:
                    self.emit(Put(array, i, binary("+", raw, f.low)))

    # Terms

    def value(self, term: t.Term, moment: Moment, kind: Type | None = None) -> Expr:
        """The value of a term, of type ``kind`` if given; first writes the statements that it needs."""

        def go(part: t.Term) -> Expr:
            return self.value(part, moment)

        match term:
            case t.Var(name):
                return moment.bound[name][1]
            case t.Is(of, states):
                return member(self.in_states(moment, self._sort(of, moment), states), self.some(of, moment))
            case t.Attr(of, name):
                sort = self._sort(of, moment)
                attribute = self.instance.model.machine(sort).attribute(name)
                assert attribute is not None
                if (sort, name) == self.supposed:
                    return Local(supposed(moment.of))
                who = self.some(of, moment)
                return Item(self._rigid(sort, name) if attribute.rigid else self._array(moment, sort, name), who)
            case t.Equal(left, right):
                a = self.value(left, moment, self._type(right, moment))
                return binary("==", a, self.value(right, moment, self._type(left, moment)))
            case t.And(parts):
                return self._joined(parts, moment, 0)
            case t.Not(part):
                return negated(go(part))
            case t.Or(parts):
                return self._joined(parts, moment, 1)
            case t.Constant(value):
                if isinstance(value, str):
                    assert isinstance(kind, EnumType)
                    return kind.values.index(value)
                return _number(value)
            case t.Quantified(universal, _, body):
                ranged = self._magnitudes.ranged(term, moment.variables, moment.owner)
                witness = self.exists(ranged, _sought(universal, body), moment)
                return negated(witness) if universal else witness
            case t.Fires(of, event, payload):
                return self._fires(of, event, payload, moment)
            case t.Me():
                return moment.me
            case t.Given(name):
                return moment.given[name]
            case t.Nothing():
                return -1
            case t.EmptySet():
                return 0
            case t.Less(left, right, or_equal):
                return binary("<=" if or_equal else "<", go(left), go(right))
            case t.Sum(left, right, sign):
                if (greatest := self._magnitudes.of(term, moment.variables, moment.owner)) > GREATEST_SUM:
                    raise TooWide(
                        f"a sum of up to {greatest} is more than compiled code counts to; explore it interpreted"
                    )
                return binary("+" if sign > 0 else "-", go(left), go(right))
            case t.Has(base, element):
                if isinstance(sequence := self._type(base, moment), SequenceType):
                    return self._has_item(base, element, sequence, moment)
                return self._has(base, element, moment)
            case t.Adjusted(base, element, present):
                return self._adjusted(go(base), go(element), present, sure=_is_some(element))
            case t.Those(var, where):
                return self._those(var, where, moment)
            case t.Tuple(parts):
                return self._tuple(parts, moment)
            case t.TuplesOf(several, where):
                return self._tuples_of(several, where, moment)
            case t.Apply(base, element):
                if isinstance(sequence := self._type(base, moment), SequenceType):
                    return self._item(base, element, sequence, moment)
                return self._applied(base, element, moment)
            case t.Updated():
                assert isinstance(kind, Function)
                return self._updated(term, kind, moment)
            case t.FunctionOf():
                assert isinstance(kind, Function)
                return self._function_of(term, kind, moment)
            case t.Length(of):
                sequence = self._type(of, moment)
                assert isinstance(sequence, SequenceType)
                return self._length(self._local("sequence", self.value(of, moment)), of, sequence, moment)
            case t.Appended(base, item):
                sequence = kind or self._type(base, moment)
                assert isinstance(sequence, SequenceType)
                return self._appended(base, item, sequence, moment)
            case t.Sliced(base, at, first):
                sequence = kind or self._type(base, moment)
                assert isinstance(sequence, SequenceType)
                return self._sliced(base, at, sequence, moment, first=first)
            case t.Count(several, where):
                return self._count(several, where, moment)
            case t.Implies(premise, conclusion):
                return self._joined((t.Not(premise, place=premise.place), conclusion), moment, 1)
            case t.Iff(left, right):
                return binary("==", go(left), go(right))
            case t.After(part):
                return self.value(part, replace(moment, of="after"))
        raise AssertionError(f"no code for {type(term).__name__}")

    def _type(self, term: t.Term, moment: Moment) -> Type | None:
        return type_of_term(self.instance, term, moment.variables, moment.owner)

    def _sort(self, term: t.Term, moment: Moment) -> str:
        return sort_of_term(self.instance, term, moment.variables, moment.owner)

    def some(self, of: t.Term, moment: Moment) -> Expr:
        """The object that a term names; leaves to ``undefined`` if it names none."""
        who = self.value(of, moment)
        if not _is_some(of):
            self.check(binary("<=", 0, who), moment.undefined)
        return who

    def _pure(self, term: t.Term, moment: Moment) -> Expr | None:
        """The value of a term that needs no statements, else None."""
        before, value = self._written(term, moment)
        return None if before else value

    def _written(self, term: t.Term, moment: Moment) -> tuple[Sequence[Stmt], Expr]:
        """The statements that a term needs, not yet emitted, and its value after them."""
        with self.body() as before:
            value = self.value(term, moment)
        return before, value

    def _joined(self, parts: Sequence[t.Term], moment: Moment, decisive: int) -> Expr:
        """A disjunction if truth is ``decisive``, else a conjunction, with short-circuit evaluation."""
        written = [self._written(part, moment) for part in parts]
        if not any(before for before, _ in written):
            joined: Expr = 1 - decisive
            for _, truth in written:
                joined = binary("|" if decisive else "&", joined, truth) if joined != 1 - decisive else truth
            return joined
        result, end = self.new("joined"), self.new("decided")
        self.emit(Set(result, decisive))
        with self.block(end):
            for before, truth in written:
                for stmt in before:
                    self.emit(stmt)
                self.check(negated(truth) if decisive else truth, end)
            self.emit(Set(result, 1 - decisive))
        return Local(result)

    def _has(self, base: t.Term, element: t.Term, moment: Moment) -> Expr:
        """Membership in a set; no object is in no set, and then the set is not evaluated."""
        number, mask = self.value(element, moment), self._pure(base, moment)
        if _is_some(element):
            return member(self.value(base, moment), number)
        if mask is not None:
            return _has(mask, number, sure=False)
        result, end = self.new("has"), self.new("decided")
        self.emit(Set(result, 0))
        with self.block(end):
            self.check(binary("<=", 0, number), end)
            self.emit(Set(result, member(self.value(base, moment), number)))
        return Local(result)

    def _adjusted(self, mask: Expr, element: Expr, present: bool, *, sure: bool) -> Expr:
        one = bit(element if sure else binary("&", element, 63))
        changed = binary("|", mask, one) if present else binary("&", mask, binary("^", one, -1))
        if sure:
            return changed
        result = self.new("set")
        self.emit(Set(result, mask))
        self.emit(If(binary("<=", 0, element), [Set(result, changed)]))
        return Local(result)

    def _those(self, var: t.Var, where: t.Term, moment: Moment) -> Expr:
        mask = self._mask(where, var, moment)
        if mask is not None:
            return mask
        result = self.new("those")
        self.emit(Set(result, 0))

        def one(inner: Moment) -> None:
            self.emit(Set(result, binary("|", Local(result), bit(inner.bound[var.name][1]))))

        self.search([var], [where], moment, one)
        return Local(result)

    def _tuple(self, parts: Sequence[t.Term], moment: Moment) -> Expr:
        """The number of a tuple of objects; -1 if one of them is none."""
        number: Expr = 0
        some: Expr = 1
        for part in parts:
            each = self.value(part, moment)
            number = binary("+", binary("*", number, self.instance.sizes[self._sort(part, moment)]), each)
            if not _is_some(part):
                some = binary("&", some, binary("<=", 0, each))
        # One less than 0, or than 1 more than the number.
        return number if some == 1 else binary("-", binary("*", some, binary("+", number, 1)), 1)

    def _tuples_of(self, several: Sequence[t.Var], where: t.Term, moment: Moment) -> Expr:
        result = self.new("tuples")
        self.emit(Set(result, 0))

        def one(inner: Moment) -> None:
            self.emit(Set(result, binary("|", Local(result), bit(self._tuple(several, inner)))))

        self.search(several, [where], moment, one)
        return Local(result)

    def _count(self, several: Sequence[t.Var], where: t.Term, moment: Moment) -> Expr:
        result = self.new("count")
        self.emit(Set(result, 0))
        self.search(several, [where], moment, lambda _: self.emit(Set(result, binary("+", Local(result), 1))))
        return Local(result)

    def _applied(self, base: t.Term, element: t.Term, moment: Moment) -> Expr:
        kind = self._type(base, moment)
        assert isinstance(kind, Function)
        packing = self.instance.packing(kind)
        if not packing.values:
            raise TooWide(f"a {kind} is more than compiled code keeps in a word; explore it interpreted")
        place, number = self.some(element, moment), self.value(base, moment)
        code = binary("&", binary(">>", number, binary("*", place, packing.bits)), packing.mask)
        return binary("+", code, packing.low)

    def _updated(self, term: t.Updated, kind: Function, moment: Moment) -> Expr:
        packing = self.instance.packing(kind)
        number, place = self.value(term.base, moment, kind), self.value(term.element, moment)
        code = self._code(self.value(term.value, moment, kind.to), kind)
        at = binary("*", place, packing.bits)
        kept = binary("&", number, binary("^", binary("<<", packing.mask, at), -1))
        changed = binary("|", kept, binary("<<", code, at))
        if _is_some(term.element):
            return changed
        result = self.new("function")
        self.emit(Set(result, number))
        self.emit(If(binary("<=", 0, place), [Set(result, changed)]))
        return Local(result)

    def _function_of(self, term: t.FunctionOf, kind: Function, moment: Moment) -> Expr:
        """The function with a value at each tuple, written out."""
        packing, result = self.instance.packing(kind), self.new("function")
        self.emit(Set(result, 0))
        for place, objects in enumerate(packing.places()):
            inner = moment
            for var, number in zip(term.variables, objects, strict=True):
                inner = inner.binding(var, number)
            code = self._code(self.value(term.value, inner, kind.to), kind)
            self.emit(Set(result, binary("|", Local(result), binary("<<", code, place * packing.bits))))
        return Local(result)

    def _code(self, value: Expr, kind: Function) -> Expr:
        """The code of a value of a function; the greatest one for a number outside of its range."""
        packing = self.instance.packing(kind)
        code = binary("-", value, packing.low)
        if not isinstance(kind.to, IntRange):
            return code
        result = self.new("code")
        self.emit(Set(result, code))
        for outside in (binary("<", Local(result), 0), binary("<=", packing.values, Local(result))):
            self.emit(If(outside, [Set(result, packing.mask)]))
        return Local(result)

    def _local(self, name: str, value: Expr) -> Expr:
        """A value that is read several times, in a variable."""
        if isinstance(value, int | Local):
            return value
        result = self.new(name)
        self.emit(Set(result, value))
        return Local(result)

    def _length(self, number: Expr, of: t.Term, kind: SequenceType, moment: Moment) -> Expr:
        """The number of items of a sequence: one for each place whose bits and those above are not all 0."""
        bits, length = self.instance.items(kind).bits, 0
        total: Expr = length
        for place in range(longest(self.instance, of, moment.variables, moment.owner)):
            total = binary("+", total, binary("!=", binary(">>", number, place * bits), 0))
        return self._local("length", total)

    def _item_code(self, value: Expr, kind: SequenceType) -> Expr:
        """The bits of an item; the greatest ones for a number outside of its range."""
        items = self.instance.items(kind)
        code = binary("-", value, items.low - 1)
        if not isinstance(kind.of, IntRange):
            return code
        result = self.new("code")
        self.emit(Set(result, code))
        for outside in (binary("<", Local(result), 1), binary("<=", items.outside, Local(result))):
            self.emit(If(outside, [Set(result, items.outside)]))
        return Local(result)

    def _item(self, base: t.Term, index: t.Term, kind: SequenceType, moment: Moment) -> Expr:
        """The item of a sequence at an index; leaves to ``undefined`` if there is none."""
        items = self.instance.items(kind)
        number, place = self.value(base, moment), self._local("index", self.value(index, moment))
        self.check(binary("<=", 0, place), moment.undefined)
        self.check(binary("<", place, kind.at_most), moment.undefined)
        code = self._local("item", binary("&", binary(">>", number, binary("*", place, items.bits)), items.mask))
        self.check(binary("!=", code, 0), moment.undefined)
        return binary("+", code, items.low - 1)

    def _has_item(self, base: t.Term, item: t.Term, kind: SequenceType, moment: Moment) -> Expr:
        """Whether a sequence has an item; none is no item, and then the sequence is not evaluated."""
        items, value = self.instance.items(kind), self._local("value", self.value(item, moment, kind.of))
        result, end = self.new("has"), self.new("decided")
        self.emit(Set(result, 0))
        with self.block(end):
            if isinstance(kind.of, Ref):
                self.check(binary("<=", 0, value), end)
            number = self._local("sequence", self.value(base, moment, kind))
            expected = self._item_code(value, kind)
            for place in range(longest(self.instance, base, moment.variables, moment.owner)):
                code = binary("&", binary(">>", number, place * items.bits), items.mask)
                self.emit(If(binary("==", code, expected), [Set(result, 1)]))
        return Local(result)

    def _appended(self, base: t.Term, item: t.Term, kind: SequenceType, moment: Moment) -> Expr:
        bits = self.instance.items(kind).bits
        most = longest(self.instance, base, moment.variables, moment.owner) + 1
        if most * bits > MOST_TUPLES:
            raise TooWide(
                f"a {kind} of up to {most} items, {most * bits} bits, is more than compiled code keeps in a word; explore it interpreted"
            )
        number = self._local("sequence", self.value(base, moment, kind))
        code = self._item_code(self.value(item, moment, kind.of), kind)
        at = binary("*", self._length(number, base, kind, moment), bits)
        return self._local("appended", binary("|", number, binary("<<", code, at)))

    def _sliced(self, base: t.Term, at: t.Term, kind: SequenceType, moment: Moment, *, first: bool) -> Expr:
        bits = self.instance.items(kind).bits
        number = self._local("sequence", self.value(base, moment, kind))
        count, most = self.new("number"), longest(self.instance, base, moment.variables, moment.owner)
        self.emit(Set(count, self.value(at, moment)))
        self.emit(If(binary("<", Local(count), 0), [Set(count, 0)]))
        self.emit(If(binary("<", most, Local(count)), [Set(count, most)]))
        place = binary("*", Local(count), bits)
        if not first:
            return self._local("rest", binary(">>", number, place))
        return self._local("first", binary("&", number, binary("-", binary("<<", 1, place), 1)))

    def fired(self, sort: str, event: str, moment: Moment) -> Expr:
        """The mask of the objects at which an event fires."""
        return Local(f"{sort}.{event} fires") if (sort, event) in moment.fired else 0

    def payload(self, sort: str, event: str, name: str) -> str:
        """The array of an event's parameter, by object."""
        array = f"payload {name} of {sort}.{event}"
        self.scratch[array] = self.instance.sizes[sort]
        return array

    def _fires(self, of: t.Term, event: str, payload: tuple[tuple[str, t.Term], ...], moment: Moment) -> Expr:
        sort = self._sort(of, moment)
        mask = self.fired(sort, event, moment)
        if mask == 0:
            return 0
        pure = self._pure(of, moment)
        if not payload and pure is not None:
            return _has(mask, pure, sure=_is_some(of))
        kinds = self.instance.model.machine(sort).parameters(event)
        result, end = self.new("fires"), self.new("decided")
        self.emit(Set(result, 0))
        with self.block(end):
            self.check(binary("!=", mask, 0), end)  # if it fires nowhere, its object is not evaluated
            who = self.value(of, moment)
            self.check(_has(mask, who, sure=_is_some(of)), end)
            for name, expected in payload:
                value = self.value(expected, moment, kinds[name])
                self.check(binary("==", Item(self.payload(sort, event, name), who), value), end)
            self.emit(Set(result, 1))
        return Local(result)

    # Searches

    def exists(
        self,
        choose: Sequence[t.Var],
        conditions: Sequence[t.Term],
        moment: Moment,
        within: Mapping[str, Expr] = {},
    ) -> Expr:
        """Whether there are objects that satisfy the conditions; ``within`` has masks of the objects to try."""
        if len(choose) == 1 and isinstance(choose[0].type, Ref):
            parts = [part for condition in conditions for part in t.conjuncts(condition)]
            inner = moment.binding(choose[0], Local("unbound"))
            masks = [self._mask(p, choose[0], inner) for p in parts]
            if all(m is not None for m in masks):
                mask: Expr = self._everyone(choose[0])
                for m in masks:
                    assert m is not None
                    mask = m if mask == self._everyone(choose[0]) else binary("&", mask, m)
                return binary("!=", _limited(mask, choose[0], within), 0)
        result, end = self.new("exists"), self.new("found")
        self.emit(Set(result, 0))

        def one(_: Moment) -> None:
            self.emit(Set(result, 1))
            self.emit(Leave(end))

        with self.block(end):
            self.search(choose, conditions, moment, one, within)
        return Local(result)

    def search(
        self,
        choose: Sequence[t.Var],
        conditions: Sequence[t.Term],
        moment: Moment,
        on_match: Callable[[Moment], None],
        within: Mapping[str, Expr] = {},
    ) -> None:
        """Loops over the objects that satisfy the conditions; ``on_match`` writes the code for each."""
        parts = [part for condition in conditions for part in _conjuncts(condition)]
        hoisted = {n for n, part in enumerate(parts) if is_defined(part)}
        due = levels([v.name for v in choose], [frozenset(t.free_variables(part)) for part in parts], hoisted)
        nothing = self.new("nothing")
        with self.block(nothing):
            for n in due[0]:
                self.check(self.value(parts[n], moment), nothing)
            self._deeper(choose, [[parts[n] for n in level] for level in due[1:]], moment, on_match, within)

    def _deeper(
        self,
        choose: Sequence[t.Var],
        due: Sequence[Sequence[t.Term]],
        moment: Moment,
        on_match: Callable[[Moment], None],
        within: Mapping[str, Expr],
    ) -> None:
        if not choose:
            on_match(moment)
            return
        var = choose[0]
        name, another = self.new(var.name), self.new("another")
        inner = moment.binding(var, Local(name))
        mask, rest = self._candidates(var, due[0], moment)
        with self.body() as body, self.block(another):
            for part in rest:
                self.check(self.value(part, inner), another)
            self._deeper(choose[1:], due[1:], inner, on_match, within)
        if isinstance(var.type, Ref):
            self.emit(Each(name, _limited(mask, var, within), body))
        else:
            low, number = (
                (0, 1 << self.instance.sizes[var.type.sort.name])
                if isinstance(var.type, SetOf)
                else span(self.instance, var.type)
            )
            self.emit(Count(name, low, low + number - 1, body))

    def _candidates(self, var: t.Var, due: Sequence[t.Term], moment: Moment) -> tuple[Expr, list[t.Term]]:
        """The mask of a variable's candidates, and the conditions to check for each of them."""
        if not isinstance(var.type, Ref):
            return 0, list(due)
        everyone = self._everyone(var)
        mask, rest, first = everyone, [], True
        inner = moment.binding(var, Local("unbound"))
        for part in due:
            candidates = self._mask(part, var, inner) if first else None
            if candidates is None:
                rest.append(part)
                first = first and is_total(part)  # later conditions may be undefined where this one is false
            else:
                mask = candidates if mask == everyone else binary("&", mask, candidates)
        return mask, rest

    def _everyone(self, var: t.Var) -> Expr:
        assert isinstance(var.type, Ref)
        return (1 << self.instance.sizes[var.type.sort.name]) - 1

    def _mask(self, term: t.Term, var: t.Var, moment: Moment) -> Expr | None:
        """The mask of the objects for which a condition holds, if it can be computed for all at once."""
        everyone = self._everyone(var)
        match term:
            case t.Is(t.Var(name), states) if name == var.name:
                assert isinstance(var.type, Ref)
                return self.in_states(moment, var.type.sort.name, states)
            case t.Not(part):
                part_mask = self._mask(part, var, moment)
                return None if part_mask is None else binary("^", part_mask, everyone)
            case t.And(parts) | t.Or(parts):
                return self._masks(parts, var, moment, "&" if isinstance(term, t.And) else "|")
            case t.Implies(premise, conclusion):
                return self._masks((t.Not(premise, place=premise.place), conclusion), var, moment, "|")
            case t.Has(base) if isinstance(self._type(base, moment), SequenceType):
                return None
            case t.Has(base, t.Var(name)) if name == var.name and name not in t.free_variables(base):
                return self._pure(base, moment)
            case t.Has(base, t.Tuple((*parts, t.Var(name)))) if name == var.name:
                return self._completing(base, parts, var, moment)
            case t.Fires(t.Var(name), event, payload) if name == var.name and not payload:
                return self.fired(self._sort(term.of, moment), event, moment)
            case t.Attr(t.Var(name), attribute) if name == var.name:
                return self.column(moment, self._sort(term.of, moment), attribute, 1)
            case t.After(part):
                return self._mask(part, var, replace(moment, of="after"))
            case t.Equal(left, right):
                for one, other in ((left, right), (right, left)):
                    part_mask = self._equal(one, other, var, moment)
                    if part_mask is not None:
                        return part_mask
        if var.name not in t.free_variables(term):
            truth = self._pure(term, moment)
            return None if truth is None else binary("&", binary("-", 0, truth), everyone)
        return None

    def _completing(self, base: t.Term, parts: Sequence[t.Term], var: t.Var, moment: Moment) -> Expr | None:
        """The mask of the objects that as the last of a tuple make it one of a relation; None if that needs statements."""
        if any(var.name in t.free_variables(term) for term in (base, *parts)) or not all(map(_is_some, parts)):
            return None
        mask = self._pure(base, moment)
        if mask is None:
            return None
        assert isinstance(var.type, Ref)
        start = binary("*", self._tuple(parts, moment), self.instance.sizes[var.type.sort.name])
        return binary("&", binary(">>", mask, start), self._everyone(var))

    def _masks(self, parts: Sequence[t.Term], var: t.Var, moment: Moment, op: str) -> Expr | None:
        masks = [self._mask(part, var, moment) for part in parts]
        joined = masks[0]
        for m in masks[1:]:
            if joined is None or m is None:
                return None
            joined = binary(op, joined, m)
        return joined

    def _equal(self, one: t.Term, other: t.Term, var: t.Var, moment: Moment) -> Expr | None:
        """The mask of the objects for which ``one`` equals ``other``, which must not depend on them."""
        if var.name in t.free_variables(other):
            return None
        match one:
            case t.Var(name) if name == var.name:
                value = self._pure(other, moment)
                if value is None:
                    return None
                return bit(value) if _is_some(other) else _one_or_none(value)
            case t.Attr(t.Var(name), attribute) if name == var.name:
                kind = self._type(one, moment)
                many = isinstance(kind, IntRange) and kind.high - kind.low >= MOST_VALUES
                if many or isinstance(kind, SetOf | Relation | Integer | SequenceType):
                    return None
                with self.body() as before:
                    value = self.value(other, moment, kind)
                if before or not self._within(other, kind, moment):
                    return None
                return self.column(moment, self._sort(one.of, moment), attribute, value)
        return None

    def _within(self, term: t.Term, kind: Type | None, moment: Moment) -> bool:
        """Whether a term's value certainly belongs to a type."""
        if not isinstance(kind, IntRange):
            return True
        if isinstance(term, t.Constant):
            return isinstance(term.value, int) and kind.low <= term.value <= kind.high
        # An event's argument may lie outside the range that the event declares.
        return not isinstance(term, t.Given) and self._type(term, moment) == kind


def _conjuncts(term: t.Term) -> Iterator[t.Term]:
    """The parts of nested conjunctions, left to right, also of those that are read in the state after the step."""
    match term:
        case t.And(parts):
            for part in parts:
                yield from _conjuncts(part)
        case t.After(t.And(parts)):
            for part in parts:
                yield from _conjuncts(t.After(part, place=term.place))
        case _:
            yield term


def _limited(mask: Expr, var: t.Var, within: Mapping[str, Expr]) -> Expr:
    return binary("&", within[var.name], mask) if var.name in within else mask


def _number(value: int) -> int:
    """The value of a constant.

    Raises:
        TooWide: sums with it could exceed 64 bits.
    """
    if abs(value) > GREATEST:
        raise TooWide(f"the number {value} is more than compiled code counts to; explore it interpreted")
    return int(value)


def _one_or_none(value: Expr) -> Expr:
    """The mask of an object, or 0 for no object."""
    return binary("<<", binary("<=", 0, value), binary("&", value, 63))


def _has(mask: Expr, number: Expr, *, sure: bool) -> Expr:
    """Whether a mask contains an object; with ``sure`` false there may be no object."""
    if sure:
        return member(mask, number)
    return binary("&", binary("<=", 0, number), member(mask, binary("&", number, 63)))


def _is_some(term: t.Term) -> bool:
    """Whether a term certainly names an object."""
    return all(map(_is_some, term.parts)) if isinstance(term, t.Tuple) else isinstance(term, t.Var | t.Me)


def _sought(universal: bool, body: t.Term) -> list[t.Term]:
    """The conditions to search for: "all x with A have B" is "no x has A and not B"."""
    if not universal:
        return [body]
    if isinstance(body, t.Implies):
        return [body.premise, t.Not(body.conclusion, place=body.place)]
    return [t.Not(body, place=body.place)]
