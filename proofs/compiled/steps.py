"""All steps of a state as one function: guards, cascades and updates of an instance as code."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from math import prod

from schedproof.model.lang import terms as t
from schedproof.model.lang.infer import sort_of
from schedproof.model.lang.machine import Row
from schedproof.model.lang.rules import Action, Rule
from schedproof.model.lang.types import Function as FunctionType
from schedproof.model.lang.types import Integer, IntRange
from schedproof.model.lang.types import Sequence as SequenceType
from schedproof.model.semantics import Choice, Instance, bounds_of, range_of
from schedproof.model.semantics.evaluate import Owner
from schedproof.model.semantics.magnitude import longest
from schedproof.model.semantics.step import ordered_rules
from schedproof.proofs.exploration.relevance import Change, change_of

from .code import Count, Each, Expr, Function, If, Item, Leave, Local, Put, Set, binary, bit, leaves, member
from .layout import Layout, layout
from .llvm import Machine, assembly, level_for
from .terms import Moment, Terms

Event = tuple[str, str]
"""A sort and an event of its machine."""


@dataclass(frozen=True)
class Condition:
    """A condition on states or steps: for all ``over`` with ``given``, ``then``.

    Attributes:
        actions: the numbers of the actions whose steps it applies to; None for states.
    """

    over: Sequence[t.Var]
    given: t.Term | None
    then: t.Term
    actions: frozenset[int] | None = None

    @cached_property
    def fired(self) -> frozenset[str]:
        """The names of the events whose firings the condition reads."""
        return frozenset(firing.event for term in self._terms for firing in t.firings(term))

    @cached_property
    def reads_parameters(self) -> bool:
        """Whether the condition reads parameters of the action or of an event."""
        names = {v.name for v in self.over}
        return any(
            set(t.free_variables(term)) - names or any(firing.payload for firing in t.firings(term))
            for term in self._terms
        )

    @property
    def _terms(self) -> list[t.Term]:
        return [self.then, *([self.given] if self.given is not None else [])]


def _changed(sort: str, fields: tuple[str, ...]) -> str:
    return f"changed {sort} {' '.join(fields)}"


MOST_FIRINGS = 1 << 15
"""The limit of the array that keeps which events fired in the steps of a state; it is on the stack."""

FIRST_ACTION = 2
"""The index in the array ``seen`` where the counts of actions begin."""


@dataclass(frozen=True)
class Seen:
    """The layout of the array ``seen``; state numbers in it are one greater, and 0 means none."""

    actions: int
    conditions: int

    ill_formed = 0
    """The index of the first state with an ill-formed step; the number of its action follows."""

    @property
    def taken_actions(self) -> slice:
        """The indices of the numbers of steps by action."""
        return slice(FIRST_ACTION, FIRST_ACTION + self.actions)

    @property
    def stuck(self) -> int:
        """The index of the number of states without any step; it follows the counts of actions and is counted like them."""
        return FIRST_ACTION + self.actions

    @property
    def cut(self) -> int:
        """The index of the number of states with a step that leads beyond the bounds of integers, and is not taken."""
        return self.stuck + 1

    def condition(self, number: int) -> int:
        """The index of whether a condition's premise was met; the first violating state and the action follow."""
        return self.cut + 1 + 3 * number

    @property
    def size(self) -> int:
        """The length of the array."""
        return self.condition(self.conditions)


@dataclass(frozen=True)
class Shape:
    """The sizes of a program's arrays: all that a part must know of it.

    Attributes:
        words: the words of a state.
        choices: the number of choices of actions and parameters.
        actions, conditions: their numbers.
        more: the numbers that ``steps`` writes behind those of ``seen``.
    """

    words: int
    choices: int
    actions: int
    conditions: int
    more: int = 0

    @property
    def seen(self) -> Seen:
        """The layout of ``seen``."""
        return Seen(self.actions, self.conditions)

    @property
    def room(self) -> int:
        """The length of the array ``seen``."""
        return self.seen.size + self.more


@dataclass(frozen=True)
class Program:
    """The compiled steps of an instance.

    ``steps(state, out, chosen, seen, number)`` takes the steps of ``state``, in the order of
    :class:`schedproof.model.semantics.Stepper`, and returns their number. It writes the words of each target to ``out`` and the
    number of its choice to ``chosen``. It notes results in ``seen``; ``number`` is the state's number. A step that leads beyond
    the bounds of integers is not among them.
    """

    instance: Instance
    layout: Layout
    actions: Sequence[Action]
    conditions: Sequence[Condition]
    steps: Function
    more: int = 0
    _machines: dict[int, Machine] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def text(self) -> str:
        """``steps`` as LLVM assembly."""
        return assembly(self.steps)

    def machine(self, states: int | None) -> Machine:
        """The native code of ``steps`` for about this many states, compiled once; ``None`` for as many as there can be."""
        level = level_for(states, self.text)
        if level not in self._machines:
            self._machines[level] = Machine([self.text], states=states)
        return self._machines[level]

    @cached_property
    def _firsts(self) -> Sequence[int]:
        return first_choices(self.instance, self.actions)

    @property
    def choices(self) -> int:
        """The number of choices of actions and parameters, which is the limit of a state's steps."""
        return self._firsts[-1]

    def choice(self, number: int) -> Choice:
        """The choice with that number."""
        at = bisect_right(self._firsts, number) - 1
        action, left, parameters = self.actions[at], number - self._firsts[at], []
        for v in reversed(action.parameters):
            domain = self.instance.domain(v.type)
            left, place = divmod(left, len(domain))
            parameters.append((v.name, domain[place]))
        return Choice(action.name, tuple(reversed(parameters)))

    @cached_property
    def seen(self) -> Seen:
        """The layout of ``seen``."""
        return self.shape.seen

    @cached_property
    def shape(self) -> Shape:
        """The sizes of its arrays."""
        return Shape(self.layout.words, self.choices, len(self.actions), len(self.conditions), self.more)


def program(instance: Instance, actions: Sequence[Action], conditions: Sequence[Condition] = ()) -> Program:
    """The code of the steps of ``actions``, which also checks ``conditions``."""
    writer = Steps(instance, layout(instance), actions, conditions)
    return Program(instance, writer.layout, actions, conditions, writer.function())


def first_choices(instance: Instance, actions: Sequence[Action]) -> list[int]:
    """The number of the first choice of each action, and at the end the number of all choices."""
    return list(accumulate((prod(len(instance.domain(v.type)) for v in a.parameters) for a in actions), initial=0))


class Steps:
    """The writer of the function ``steps``; others extend it, to write more of each step."""

    def __init__(
        self, instance: Instance, where: Layout, actions: Sequence[Action], conditions: Sequence[Condition]
    ) -> None:
        self.instance = instance
        self.layout = where
        self.actions = actions
        self.conditions = conditions
        self.terms = Terms(instance, where)
        self._seen = Seen(len(actions), len(conditions))
        self._bounds = bounds_of(instance)
        self._rules = ordered_rules(instance.model)
        self._rows: dict[Event, list[Row]] = {}
        for row in instance.model.rows:
            self._rows.setdefault((row.sort.name, row.event), []).append(row)
        steps = [n for n, condition in enumerate(conditions) if condition.actions is not None]
        names = frozenset[str]().union(*(conditions[n].fired for n in steps))
        events = [event for event in self._rows if event[1] in names]
        keeps = first_choices(instance, actions)[-1] * len(events) <= MOST_FIRINGS
        self._kept: Sequence[Event] = events if keeps else ()
        """The events of which each step's firings are kept until :meth:`_check_steps`."""
        self._in_step = frozenset(
            n for n in steps if conditions[n].reads_parameters or (conditions[n].fired and not keeps)
        )
        """The numbers of the conditions that are checked where a step is taken, since they read what is not kept."""

    def function(self) -> Function:
        """The function ``steps``."""
        terms = self.terms
        with terms.body() as body:
            for number, condition in enumerate(self.conditions):
                if condition.actions is None:
                    self._check(number, condition, Moment(), 0)
            for number, action in enumerate(self.actions):
                self._action(number, action)
            stuck: Expr = binary("==", Local("steps"), 0)
            if self._bounds:
                stuck = binary("&", stuck, binary("==", Local("cut"), 0))
                terms.emit(If(binary("!=", Local("cut"), 0), [self._counted(self._seen.cut, 1)]))
            terms.emit(If(stuck, [self._counted(self._seen.stuck, 1)]))
            self._check_steps()
        with terms.body() as start:
            terms.emit(Set("steps", 0))
            if self._bounds:
                terms.emit(Set("cut", 0))
            terms.unpack(terms.read, "now", "state")
        return Function(
            "steps",
            ["state", "out", "chosen", "seen"],
            ["number"],
            [*start, *body],
            Local("steps"),
            {
                **terms.scratch,
                "next": self.layout.words,
                "ends": len(self.actions) + 1,
                "fired": max(1, len(self._kept) * first_choices(self.instance, self.actions)[-1]),
            },
            terms.tables,
        )

    def _action(self, number: int, action: Action) -> None:
        terms = self.terms
        before, done, undefined = f"before {number}", f"done {number}", f"undefined {number}"
        terms.emit(Set(before, Local("steps")))
        with terms.block(done):
            with terms.block(undefined):
                self._see_that_guards_are_defined(number, action, Moment(undefined=undefined))
                terms.search(
                    action.parameters,
                    action.when,
                    Moment(undefined=undefined),
                    lambda moment: self._choice(number, action, moment),
                )
                terms.emit(Leave(done))
            # An undefined guard discards all choices of the action.
            terms.emit(Set("steps", Local(before)))
            self._ill_formed(number)
        terms.emit(Put("ends", number + 1, Local("steps")))
        terms.emit(self._counted(self._seen.taken_actions.start + number, binary("-", Local("steps"), Local(before))))

    def _see_that_guards_are_defined(self, number: int, action: Action, moment: Moment) -> None:
        """Evaluates all guards before any step is checked: an undefined guard discards all choices of the action."""
        if not self._is_checked_in_step(number):
            return
        with self.terms.body() as guards:
            self.terms.search(action.parameters, action.when, moment, lambda _: None)
        if leaves(guards, moment.undefined):
            for stmt in guards:
                self.terms.emit(stmt)

    def _is_checked_in_step(self, number: int) -> bool:
        """Whether a condition is checked where a step of the action with this number is taken."""
        return any(number in (self.conditions[n].actions or ()) for n in self._in_step)

    def _before_updates(self) -> None:
        """Writes what precedes the updates of a step."""

    def _after_updates(self, number: int, moment: Moment) -> None:
        """Writes what follows the updates of a step of the action ``number``; ``steps`` is still the step's number."""

    def _ill_formed(self, number: int) -> None:
        self._note(Seen.ill_formed, number)

    def _counted(self, at: int, more: Expr) -> Put:
        """Adds to a count in ``seen``."""
        return Put("seen", at, binary("+", Item("seen", at), more))

    def _note(self, at: int, action: Expr) -> None:
        """Notes the state and the number of an action, if it is the first."""
        record = [Put("seen", at, binary("+", Local("number"), 1)), Put("seen", at + 1, action)]
        self.terms.emit(If(binary("==", Item("seen", at), 0), record))

    def _choice(self, number: int, action: Action, moment: Moment) -> None:
        """Writes the step of one choice of an action's parameters."""
        terms = self.terms
        chosen, ill_formed = terms.new("taken"), terms.new("ill formed")
        with terms.block(chosen):
            with terms.block(ill_formed):
                self._step(number, action, replace(moment, undefined=ill_formed), chosen)
                terms.emit(Leave(chosen))
            self._ill_formed(number)

    def _step(self, number: int, action: Action, moment: Moment, done: str) -> None:
        """Writes a step; ``done`` is the label to leave to if it leads beyond the bounds of integers."""
        terms = self.terms
        scope = {v.name: v for v in action.parameters}
        roots = [(sort_of(self.instance.model, f.of, scope), f.event) for f in action.fires]
        reached: set[tuple[str, str]] = {(action.name, ""), *roots}
        rules = []
        for on, rule, event in self._rules:
            if on in reached:
                rules.append((on, rule, event))
                reached.add(event)
        fired = list(dict.fromkeys([*roots, *(event for _, _, event in rules)]))
        moment = replace(moment, fired=fired)
        for sort, name in fired:
            terms.emit(Set(f"{sort}.{name} fires", 0))
        for firing, event in zip(action.fires, roots, strict=True):
            self._fire(firing, event, moment)
        for on, rule, event in rules:
            self._rule(rule, on, event, moment)
        for k in range(self.layout.words):
            terms.emit(Put("next", k, Item("state", k)))
        self._before_updates()
        if self._bounds:
            terms.emit(Set("beyond", 0))
        for event in fired:
            self._update(event, moment)
        if self._bounds:
            # Only now: a step that is ill-formed is so however far it leads.
            self._pools()
            self._cut(done)
        for k in range(self.layout.words):
            at = binary("+", binary("*", Local("steps"), self.layout.words), k)
            terms.emit(Put("out", at, Item("next", k)))
        for place, event in enumerate(self._kept):
            terms.emit(Put("fired", self._firing(Local("steps"), place), terms.fired(*event, moment)))
        terms.emit(Put("chosen", Local("steps"), self._choice_number(number, action, moment)))
        self._after_updates(number, moment)
        terms.emit(Set("steps", binary("+", Local("steps"), 1)))
        with terms.body() as checked, terms.reading() as read:
            for n in sorted(self._in_step):
                if number in (self.conditions[n].actions or ()):
                    self._check(n, self.conditions[n], moment, number)
        if checked:
            terms.unpack(read, "after", "next")
            for stmt in checked:
                terms.emit(stmt)

    def _pools(self) -> None:
        """Writes that a step is beyond the bounds if it leaves no object of a disposable sort for the next life."""
        terms = self.terms
        for condition in self._bounds.spare:
            with terms.body() as body, terms.reading() as read:
                spare = terms.value(t.After(condition, place=condition.place), Moment())
                terms.emit(Set("beyond", binary("|", Local("beyond"), binary("^", spare, 1))))
            terms.unpack(read, "after", "next")
            for statement in body:
                terms.emit(statement)

    def _cut(self, done: str) -> None:
        """Writes that a step beyond the bounds of integers is not taken."""
        self.terms.emit(If(Local("beyond"), [Set("cut", 1), Leave(done)]))

    def _choice_number(self, number: int, action: Action, moment: Moment) -> Expr:
        """The number of a choice, as :meth:`Program.choice` decodes it: the last parameter varies fastest."""
        number_of_choice: Expr = 0
        for v in action.parameters:
            domain = self.instance.domain(v.type)
            place = binary("-", moment.bound[v.name][1], domain[0] if domain else 0)
            number_of_choice = binary("+", binary("*", number_of_choice, len(domain)), place)
        return binary("+", number_of_choice, first_choices(self.instance, self.actions)[number])

    def _check_steps(self) -> None:
        """Checks conditions that read no parameters, in one loop over all steps."""
        terms = self.terms
        by_actions: dict[frozenset[int], list[int]] = {}
        for number, condition in enumerate(self.conditions):
            if condition.actions is not None and number not in self._in_step:
                by_actions.setdefault(condition.actions, []).append(number)
        if not by_actions:
            return
        changes = {
            number: change
            for numbers in by_actions.values()
            for number in numbers
            if (change := change_of(self.instance.model, self.conditions[number].over, self.conditions[number].given))
        }
        for number, change in changes.items():
            if change.unchanged is not None:
                still = terms.exists(self.conditions[number].over, [change.unchanged], Moment())
                terms.emit(Set(f"still {number}", binary("-", 0, still)))
        with terms.body() as checked, terms.reading() as read:
            for actions, numbers in by_actions.items():
                passed = terms.new("passed")
                with terms.block(passed):
                    if len(actions) < len(self.actions):
                        table = f"concerned {numbers[0]}"
                        terms.tables[table] = [int(a in actions) for a in range(len(self.actions))]
                        terms.check(Item(table, Local("action")), passed)
                    for number in numbers:
                        within = self._within(number, changes)
                        self._check(number, self.conditions[number], Moment(fired=self._kept), Local("action"), within)
        with terms.body() as of_step:
            for k in range(self.layout.words):
                terms.emit(Put("next", k, Item("out", binary("+", binary("*", Local("step"), self.layout.words), k))))
            for place, (sort, name) in enumerate(self._kept):
                terms.emit(Set(f"{sort}.{name} fires", Item("fired", self._firing(Local("step"), place))))
            terms.unpack(read, "after", "next")
            for sort, fields in dict.fromkeys((change.sort, change.fields) for change in changes.values()):
                self._find_changed(sort, fields)
            for stmt in checked:
                terms.emit(stmt)
        last = binary("-", Item("ends", binary("+", Local("action"), 1)), 1)
        of_action = [Count("step", Item("ends", Local("action")), last, of_step)]
        terms.emit(Put("ends", 0, 0))
        terms.emit(Count("action", 0, len(self.actions) - 1, of_action))

    def _firing(self, step: Expr, place: int) -> Expr:
        """The index in ``fired`` of a kept event in a step."""
        return binary("+", binary("*", step, len(self._kept)), place)

    def _within(self, number: int, changes: Mapping[int, Change]) -> dict[str, Expr]:
        """The objects to try for a condition that needs a change: those that changed, or all if it holds without one."""
        if number not in changes:
            return {}
        change = changes[number]
        still: Expr = Local(f"still {number}") if change.unchanged is not None else 0
        return {change.variable: binary("|", Local(_changed(change.sort, change.fields)), still)}

    def _find_changed(self, sort: str, fields: tuple[str, ...]) -> None:
        """Finds the objects of which a step changes any of some fields."""
        mask: Expr = 0
        for i in range(self.instance.sizes[sort]):
            bits: Expr = 0
            for f in [self.layout.fields[sort, name] for name in fields if (sort, name) in self.layout.fields]:
                word, low = divmod(f.positions[i], 64)
                differs = binary("^", Item("state", word), Item("next", word))
                bits = binary("|", bits, binary("&", binary(">>", differs, low), (1 << f.bits) - 1))
            mask = binary("|", mask, binary("<<", binary("!=", bits, 0), i))
        self.terms.emit(Set(_changed(sort, fields), mask))

    def _check(
        self, number: int, condition: Condition, moment: Moment, action: Expr, within: Mapping[str, Expr] = {}
    ) -> None:
        """Notes whether a condition's premise is met, and where the condition fails; an undefined one fails."""
        terms = self.terms
        at = self._seen.condition(number)
        given = [condition.given] if condition.given is not None else []
        broken, holds = terms.new("broken"), terms.new("holds")
        inside = replace(moment, undefined=broken)
        over = sorted(condition.over, key=lambda v: v.name not in within)  # few objects change

        def holds_for(match: Moment) -> None:
            terms.emit(Put("seen", at, 1))
            terms.check(terms.value(condition.then, match), broken)

        with terms.block(holds):
            terms.check(binary("==", Item("seen", at + 1), 0), holds)
            with terms.block(broken):
                terms.search(over, given, inside, holds_for, within)
                terms.emit(Leave(holds))
            self._note(at + 1, action)

    def _rule(self, rule: Rule, on: Event, event: Event, moment: Moment) -> None:
        terms = self.terms
        known = {v.name: v for v in rule.on.parameters} if isinstance(rule.on, Action) else {}
        conditions = [*([rule.on] if isinstance(rule.on, t.Fires) else []), *rule.when]
        free: dict[str, t.Var] = {}
        for part in (*conditions, rule.fires):
            free |= {n: v for n, v in t.free_variables(part).items() if n not in known and n not in free}
        # A rule on an event sees no parameters of the action.
        of_rule = moment if isinstance(rule.on, Action) else replace(moment, bound={})

        def on_match(inner: Moment) -> None:
            self._fire(rule.fires, event, inner)

        if isinstance(rule.on, Action):
            terms.search(list(free.values()), conditions, of_rule, on_match)
            return
        with terms.body() as body:
            terms.search(list(free.values()), conditions, of_rule, on_match)
        terms.emit(If(binary("!=", terms.fired(*on, moment), 0), body))

    def _fire(self, firing: t.Fires, event: Event, moment: Moment) -> None:
        """Fires an event at one object; the step is ill-formed if another event fires at it."""
        terms = self.terms
        sort, name = event
        who = terms.some(firing.of, moment)
        kinds = self.instance.model.machine(sort).parameters(name)
        values = [(n, terms.value(v, moment, kinds[n])) for n, v in firing.payload]
        others: Expr = 0
        for other in moment.fired:
            if other[0] == sort and other[1] != name:
                others = binary("|", others, terms.fired(*other, moment))
        if others != 0:
            terms.check(binary("^", member(others, who), 1), moment.undefined)
        fires = f"{sort}.{name} fires"
        if values:
            with terms.body() as repeated:
                for n, value in values:
                    terms.check(binary("==", Item(terms.payload(sort, name, n), who), value), moment.undefined)
            terms.emit(If(member(Local(fires), who), repeated))
        terms.emit(Set(fires, binary("|", Local(fires), bit(who))))
        for n, value in values:
            terms.emit(Put(terms.payload(sort, name, n), who, value))

    def _update(self, event: Event, moment: Moment) -> None:
        """Writes the rows of an event for the objects at which it fires."""
        terms = self.terms
        sort, name = event
        states = [s.name for s in self.instance.model.machine(sort).states]
        fires = terms.fired(sort, name, moment)
        rows = self._rows.get(event, [])
        sources = terms.in_states(moment, sort, [r.source for r in rows])
        terms.check(binary("==", binary("&", fires, binary("^", sources, -1)), 0), moment.undefined)
        for row in rows:
            who = terms.new("who")
            mask = binary("&", fires, terms.in_states(moment, sort, [row.source])) if len(rows) > 1 else fires
            with terms.body() as body:
                changed = states.index(row.source) ^ states.index(row.target)
                if changed:
                    self._flip(sort, "", Local(who), changed)
                self._set(row, Local(who), moment)
            if body:
                terms.emit(Each(who, mask, body))

    def _set(self, row: Row, who: Expr, moment: Moment) -> None:
        """Writes the attributes that a row sets."""
        terms = self.terms
        sort, sets = row.sort.name, dict(row.sets)
        of_row = self._of_row(row, who, moment)
        for attribute in self.instance.attributes(sort):
            if attribute.name not in sets:
                continue
            value = terms.value(sets[attribute.name], of_row, attribute.type)
            kind = attribute.type
            if isinstance(kind, IntRange):
                terms.check(binary("<=", kind.low, value), moment.undefined)
                terms.check(binary("<=", value, kind.high), moment.undefined)
            if isinstance(kind, FunctionType) and isinstance(kind.to, IntRange):
                packing, number = self.instance.packing(kind), terms.new("function")
                terms.emit(Set(number, value))
                value = Local(number)
                for place in range(packing.tuples):
                    code = binary("&", binary(">>", value, place * packing.bits), packing.mask)
                    terms.check(binary("!=", code, packing.mask), moment.undefined)
            if isinstance(kind, SequenceType):
                value = self._checked_items(
                    value, longest(self.instance, sets[attribute.name], {}, of_row.owner), kind, moment
                )
            if isinstance(kind, Integer):
                lowest, highest = range_of(self.instance.model, sort, attribute.name)
                if kind.low is not None:
                    terms.check(binary("<=", kind.low, value), moment.undefined)
                for outside in (binary("<", value, lowest), binary("<", highest, value)):
                    terms.emit(Set("beyond", binary("|", Local("beyond"), outside)))
            low = self.layout.fields[sort, attribute.name].low
            old = terms.value(t.Attr(t.Me(), attribute.name), of_row)
            self._flip(sort, attribute.name, who, binary("^", binary("-", value, low), binary("-", old, low)))

    def _checked_items(self, value: Expr, most: int, kind: SequenceType, moment: Moment) -> Expr:
        """Writes that a sequence with an item outside of its type is ill-formed, and that a long one is beyond the bounds."""
        terms, items, number = self.terms, self.instance.items(kind), self.terms.new("sequence")
        terms.emit(Set(number, value))
        for place in range(most if isinstance(kind.of, IntRange) else 0):
            code = binary("&", binary(">>", Local(number), place * items.bits), items.mask)
            terms.check(binary("!=", code, items.outside), moment.undefined)
        if most > kind.at_most:
            beyond = binary("!=", binary(">>", Local(number), kind.at_most * items.bits), 0)
            terms.emit(Set("beyond", binary("|", Local("beyond"), beyond)))
        return Local(number)

    def _of_row(self, row: Row, who: Expr, moment: Moment) -> Moment:
        """The context of a row's updates."""
        kinds = self.instance.model.machine(row.sort.name).parameters(row.event)
        given = {n: Item(self.terms.payload(row.sort.name, row.event, n), who) for n in kinds}
        return replace(moment, bound={}, owner=Owner(row.sort.name, row.event), me=who, given=given)

    def _flip(self, sort: str, name: str, who: Expr, changed: Expr) -> None:
        """Flips bits of one object's field in the state after."""
        terms = self.terms
        f = self.layout.fields[sort, name]
        stride = f.stride
        if stride is None:
            table = f"{sort}.{name} position"
            terms.tables[table] = f.positions
            word, at = binary(">>", Item(table, who), 6), binary("&", Item(table, who), 63)
        else:
            word, at = f.positions[0] // 64, binary("+", f.positions[0] % 64, binary("*", who, stride))
        terms.emit(Put("next", word, binary("^", Item("next", word), binary("<<", changed, at))))
