"""Which rows would explain an observed change, what could have fired them, and the first condition that was false."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product

from schedproof.model.lang import Row
from schedproof.model.lang import terms as t
from schedproof.model.lang.rules import Action, Rule
from schedproof.model.lang.wording import show_term
from schedproof.model.semantics import (
    Choice,
    Firings,
    IllFormed,
    Instance,
    Moment,
    State,
    Undefined,
    compile_term,
    stepper_of,
)
from schedproof.model.semantics.instance import domain_size
from schedproof.model.semantics.reasons import FalseCondition, conditions, first_false, holds, value_text
from schedproof.model.semantics.step import looked_at
from schedproof.proofs.traces.engine.candidates import Observation

from .report import ExplainingRow, FieldSince, UnexplainedChange, Way
from .wording import show_choice

MOST_CHANGES = 3
"""The limit for changes of which a report says what would explain them."""

MOST_ROWS = 4
"""The limit for rows that would explain one change."""

MOST_WAYS = 4
"""The limit for ways in which one row could have been fired; the closest come first."""

MOST_CHAINS = 4
"""The limit for chains of rules from one action to one event."""

LONGEST_CHAIN = 5
"""The limit for rules of one chain."""

MOST_COMPARED = 50
"""The limit for possible choices of one action of which the one that explains most is shown."""

MOST_TRIED = 2_000
"""The limit for values of parameters and rule variables that are tried for one chain."""

CUT = f"other choices may be closer: only {MOST_TRIED:,} were tried"
"""The note on a way that is the closest of some."""


def unexplained(
    instance: Instance,
    before: State,
    reached: State | None,
    observed: Observation,
    says: str,
    refused: Mapping[str, str] = {},
) -> list[UnexplainedChange]:
    """The changes that a record shows and that its closest steps do not explain, each with what would.

    Args:
        instance: the model with its objects.
        before: a state before the record.
        reached: the state after the closest steps; None if the model forbids them.
        observed: what the record shows.
        says: the record in words.
        refused: steps that the format of the log forbids at this record, in words, each with the reason.
    """
    return list(_Changes(instance, before, reached, observed, says, refused).all())


@dataclass(frozen=True)
class _Changes:
    """The changes of one record."""

    instance: Instance
    before: State
    reached: State | None
    observed: Observation
    says: str
    refused: Mapping[str, str]

    def all(self) -> Iterator[UnexplainedChange]:
        """The changes: of states, and of attributes of objects whose state does not change."""
        moved: set[tuple[str, int]] = set()
        count = 0
        for sort, name, number, slot in sorted(self._slots(), key=lambda each: bool(each[1])):
            seen = self.observed.slots.get(slot, self.before[slot])
            if seen == self.before[slot] or (self.reached is not None and self.reached[slot] == seen):
                continue
            if name and (sort, number) in moved:
                continue
            moved.add((sort, number))
            count += 1
            if count > MOST_CHANGES:
                return
            yield self._change(sort, name, number, slot, seen)

    @cached_property
    def rules(self) -> Mapping[tuple[str, str], Sequence[tuple[Rule, tuple[str, str]]]]:
        """The rules by what they are on, an action's name and "" or a sort and an event, each with what it fires."""
        model = self.instance.model
        by_cause: dict[tuple[str, str], list[tuple[Rule, tuple[str, str]]]] = {}
        for rule in model.rules:
            by_cause.setdefault(looked_at(model, rule.on), []).append((rule, looked_at(model, rule.fires)))
        return by_cause

    def _slots(self) -> Iterator[tuple[str, str, int, int]]:
        """Every value of the state: sort, attribute ("" for the state), object number, slot."""
        for machine in self.instance.model.machines:
            sort = machine.sort.name
            for name in [*([""] if machine.states else []), *(a.name for a in self.instance.attributes(sort))]:
                start = self.instance.slot(sort, name)
                yield from ((sort, name, number, start + number) for number in range(self.instance.sizes[sort]))

    def _change(self, sort: str, name: str, number: int, slot: int, seen: int) -> UnexplainedChange:
        machine = self.instance.model.machine(sort)
        rows = [row for row in self.instance.model.table(sort) if self._explains(row, name, number, seen)]
        obj = self.instance.object_names(sort)[number]
        if name:
            attribute = machine.attribute(name)
            assert attribute is not None
            shown = [self.instance.show(attribute.type, value) for value in (self.before[slot], seen)]
        else:
            shown = [machine.states[value].name for value in (self.before[slot], seen)]
        others = "" if rows else self._without_row(sort, name, number, seen)
        explaining = [self._row(row, number, slot, seen) for row in rows[:MOST_ROWS]]
        return UnexplainedChange(obj, name or "state", shown[0], shown[1], explaining, others)

    def _state(self, sort: str, number: int) -> str:
        machine = self.instance.model.machine(sort)
        return machine.states[self.before[self.instance.slot(sort) + number]].name if machine.states else ""

    def _explains(self, row: Row, name: str, number: int, seen: int) -> bool:
        """Whether a row would make the change of an object."""
        sort = row.sort.name
        machine = self.instance.model.machine(sort)
        if not machine.states or row.source != self._state(sort, number):
            return False
        if not name:
            return row.target == machine.states[seen].name
        slot = self.instance.slot(sort) + number
        seen_state = self.observed.slots.get(slot)  # a state that the record does not show may be any
        fits = seen_state is None or row.target == machine.states[seen_state].name
        return fits and any(each == name and self._may_set(sort, name, value, seen) for each, value in row.sets)

    def _may_set(self, sort: str, name: str, value: t.Term, seen: int) -> bool:
        """Whether a row may give an attribute the observed value; false for another constant."""
        attribute = self.instance.model.machine(sort).attribute(name)
        assert attribute is not None
        shown = self.instance.show(attribute.type, seen)
        match value:
            case t.Nothing():
                return shown is None
            case t.EmptySet():
                return shown == []
            case t.Constant(constant):
                return bool(shown == constant)
            case _:
                return True

    def _without_row(self, sort: str, name: str, number: int, seen: int) -> str:
        """What the table has instead of a row for the change."""
        machine, source = self.instance.model.machine(sort), self._state(sort, number)
        if name:
            slot = self.instance.slot(sort) + number
            to = f" to {machine.states[self.observed.slots[slot]].name}" if slot in self.observed.slots else ""
            return f"no row from {source}{to} sets {name} to that value" if source else f"no row sets {name}"
        target = machine.states[seen].name
        sources = dict.fromkeys(row.source for row in self.instance.model.table(sort) if row.target == target)
        only = f"only from {', '.join(sources)}" if sources else "none leads there"
        return f"no row of {sort}'s table leads from {source} to {target}: {only}"

    def _row(self, row: Row, number: int, slot: int, seen: int) -> ExplainingRow:
        scored = [
            (way.distance, way.way)
            for action in self.instance.model.actions
            for way in [_Search(self, row, number, slot, seen, action).closest()]
            if way is not None
        ]
        scored.sort(key=lambda each: each[0])
        ways = [way for _, way in scored[:MOST_WAYS]]
        name = f"{row.event} from {row.source}"
        return ExplainingRow(name, row.place.in_folder(), row.line, ways, len(scored) - len(ways))


@dataclass(frozen=True)
class _Scored:
    """A way, and how far it is: fewer false conditions are closer, then more conditions before the first of them."""

    distance: tuple[float, int]
    way: Way


@dataclass(frozen=True)
class _Failure:
    """The first condition of a chain that is false, of which element; None if all conditions hold.

    Attributes:
        met: how many conditions before it hold.
        count: how many conditions of the chain are false, as far as they are known.
    """

    met: int
    choice: Choice
    rules: Sequence[Rule]
    false: FalseCondition | None
    of: Action | Rule | None
    count: int = 1

    @property
    def distance(self) -> tuple[float, int]:
        return self.count, -self.met


@dataclass
class _Tries:
    """How many values may still be tried for a chain, and whether some were left out."""

    left: int = MOST_TRIED
    is_partial: bool = False

    def begin(self) -> None:
        self.left, self.is_partial = MOST_TRIED, False

    def take(self) -> bool:
        self.left -= 1
        self.is_partial |= self.left < 0
        return self.left >= 0


@dataclass(frozen=True)
class _Search:
    """Looks for the closest way in which one action could have fired a row on an object."""

    changes: _Changes
    row: Row
    number: int
    slot: int
    seen: int
    action: Action
    _tries: _Tries = field(default_factory=lambda: _Tries())

    @property
    def instance(self) -> Instance:
        return self.changes.instance

    @property
    def target(self) -> tuple[str, str]:
        return self.row.sort.name, self.row.event

    def closest(self) -> _Scored | None:
        """The way with the fewest false conditions; None if the action never fires the event."""
        chains, is_partial = self.chains(), False
        for firing, rules in chains:
            self._tries.begin()
            possible = [f for f in self._failures(firing, rules) if f.false is None][:MOST_COMPARED]
            if possible:
                return _Scored((0, 0), min(map(self._possible, possible), key=lambda each: each[0])[1])
        # Of a false condition, the first of its chain is shown. But the ones after it decide which way is close: a chain may
        # lead to the object only for values for which a later condition is false.
        failures: list[_Failure] = []
        for firing, rules in chains:
            self._tries.begin()
            of_chain = list(self._failures(firing, rules, onward=True))
            if self._tries.is_partial:
                is_partial = True
                self._tries.begin()
                of_chain = of_chain or list(self._failures(firing, rules))
            failures += of_chain
        if failures:
            best = self._closest(failures)
            return _Scored(best.distance, self._refused(best, CUT if is_partial else ""))
        if chains:
            says = f"fires nothing: no choice of its parameters fires {self.row.event} on {self._object}"
            if is_partial:
                says = f"has too many choices to say what it needs for {self.row.event} on {self._object}"
            way = self._without_reason(self.action.name, chains[0][1], says)
            return _Scored((float("inf"), 0), way)
        return None

    def _closest(self, failures: Sequence[_Failure]) -> _Failure:
        """The closest failure; of equal ones that of the step that the record names, or the first."""
        best = min(failures, key=lambda each: each.distance)
        equal = (each for each in failures if each.distance == best.distance)
        return next((each for each in equal if show_choice(self.instance, each.choice) == self.changes.says), best)

    @property
    def _object(self) -> str:
        return self.instance.object_names(self.row.sort.name)[self.number]

    def chains(self) -> list[tuple[t.Fires | None, Sequence[Rule]]]:
        """The firings of the action with the rules that lead from them to the event, short chains first.

        A chain that begins with a rule on the action itself has no firing.
        """
        model, complete = self.instance.model, list[tuple[t.Fires | None, Sequence[Rule]]]()
        open_: list[tuple[t.Fires | None, tuple[Rule, ...], tuple[str, str]]] = [
            (firing, (), looked_at(model, firing)) for firing in self.action.fires
        ]
        open_.append((None, (), (self.action.name, "")))
        for firing, rules, node in open_:  # the list grows during the loop
            if node == self.target:
                complete.append((firing, rules))
                continue
            if len(rules) < LONGEST_CHAIN and len(open_) < 200:
                open_ += [
                    (firing, (*rules, rule), fires)
                    for rule, fires in self.changes.rules.get(node, ())
                    if all(rule is not each for each in rules)
                ]
        return complete[:MOST_CHAINS]

    def _failures(self, firing: t.Fires | None, rules: Sequence[Rule], *, onward: bool = False) -> Iterator[_Failure]:
        """How each choice of the action's parameters fails along a chain of rules.

        Args:
            firing: the firing of the action; None if the first rule is on the action.
            rules: the chain.
            onward: whether the chain goes on after a false condition. Only values that lead to the object count then.
        """
        scope = {v.name: v for v in self.action.parameters}
        known: dict[str, int] = {}
        if not rules and firing is not None and isinstance(firing.of, t.Var):
            known[firing.of.name] = self.number
        for bound in self._bindings(self.action.parameters, known):
            choice = Choice(self.action.name, tuple(bound.items()))
            moment = Moment(self.changes.before, bound)
            so_far = self._checked(_Failure(0, choice, rules, None, None, 0), moment, self.action, scope)
            if so_far.false is not None and not onward:
                yield so_far
                continue
            yield from self._along(firing, scope, moment, 0, so_far, onward=onward)

    def _checked(self, so_far: _Failure, moment: Moment, of: Action | Rule, scope: Mapping[str, t.Var]) -> _Failure:
        """What is known of a chain after the conditions of one more element."""
        false = first_false(self.instance, moment, of.when, scope)
        if so_far.false is not None:
            count = sum(not holds(self.instance, moment, part, scope) for part in conditions(of.when))
            return replace(so_far, count=so_far.count + count)
        if false is None:
            return replace(so_far, met=so_far.met + len(conditions(of.when)))
        count = sum(not holds(self.instance, moment, part, scope) for part in conditions(of.when)[false.met :])
        return replace(so_far, met=so_far.met + false.met, false=false, of=of, count=count)

    def _along(
        self,
        firing: t.Fires | None,
        scope: Mapping[str, t.Var],
        moment: Moment,
        at: int,
        so_far: _Failure,
        *,
        onward: bool,
    ) -> Iterator[_Failure]:
        """How the rules from ``at`` on fail, after a firing that happens."""
        rules, choice = so_far.rules, so_far.choice
        owner = _value(self.instance, firing.of, scope, moment) if firing is not None else None
        if at == len(rules):
            if owner == self.number:
                yield so_far
            return
        rule, last = rules[at], at + 1 == len(rules)
        free = {n: v for part in (*rule.when, rule.fires) for n, v in t.free_variables(part).items()}
        known: dict[str, int] = {}
        if isinstance(rule.on, Action):
            free |= {v.name: v for v in rule.on.parameters}
            known |= dict(choice.parameters)
        else:
            free |= t.free_variables(rule.on)
            assert firing is not None
            payload = dict(firing.payload)
            pairs = [(rule.on.of, owner)]
            pairs += [
                (value, _value(self.instance, payload[n], scope, moment))
                for n, value in rule.on.payload
                if n in payload
            ]
            for term, value in pairs:
                if isinstance(term, t.Var) and value is not None and known.setdefault(term.name, value) != value:
                    return
        if (
            last
            and isinstance(rule.fires.of, t.Var)
            and known.setdefault(rule.fires.of.name, self.number) != self.number
        ):
            return
        fired = self._fired(choice) if any(True for part in rule.when for _ in t.firings(part)) else {}
        for bound in self._bindings(list(free.values()), known):
            inside = Moment(moment.state, bound, fired)
            if not isinstance(rule.on, Action) and _value(self.instance, rule.on.of, free, inside) != owner:
                continue
            then = self._checked(so_far, inside, rule, free)
            if then.false is not None and not onward:
                yield then
            else:
                yield from self._along(rule.fires, free, inside, at + 1, then, onward=onward)

    def _bindings(self, variables: Sequence[t.Var], known: Mapping[str, int]) -> Iterator[dict[str, int]]:
        """The values of variables, as long as some tries are left; ``known`` ones have one value."""
        domains = [[known[v.name]] if v.name in known else self.instance.domain(v.type) for v in variables]
        if max(map(domain_size, domains), default=0) > MOST_TRIED:  # product() would keep all of them
            self._tries.is_partial = True
            return
        for values in product(*domains):
            if not self._tries.take():
                return
            yield dict(zip((v.name for v in variables), values, strict=True))

    def _fired(self, choice: Choice) -> Firings:
        try:
            return stepper_of(self.instance).firings(self.changes.before, choice)
        except (IllFormed, Undefined):
            return {}

    def _refused(self, failure: _Failure, note: str) -> Way:
        false, of = failure.false, failure.of
        assert false is not None and of is not None
        return Way(
            show_choice(self.instance, failure.choice),
            [rule.name for rule in failure.rules],
            of.name if isinstance(of, Rule) else "",
            show_term(false.condition),
            [FieldSince(read.object, read.field, read.value) for read in false.reads],
            false.values,
            note,
            failure.count - 1,
            false.condition.place.in_folder(),
            of.line,
            false.counted,
        )

    def _without_reason(self, step: str, rules: Sequence[Rule], note: str) -> Way:
        names = [rule.name for rule in rules]
        return Way(step, names, "", "", [], {}, note, 0, self.action.place.in_folder(), self.action.line)

    def _possible(self, failure: _Failure) -> tuple[int, Way]:
        """A way all of whose conditions hold, with the number of fields that it leaves unexplained: says why it does not explain the record."""
        changes, note, distance = self.changes, "", len(self.changes.observed.slots)
        try:
            after = stepper_of(self.instance).step(changes.before, failure.choice).after
        except (IllFormed, Undefined) as error:
            note = f"is not well-formed here: {error}"
        else:
            differing = changes.observed.differing(after)
            distance = len(differing)
            why = changes.refused.get(show_choice(self.instance, failure.choice))
            if why is not None:
                note = f"is possible in the model, but {why}"
            elif self.slot in differing:
                note = f"is possible here, and gives {value_text(self._shown(after[self.slot]))}"
            elif differing:
                note = "is possible here; log it, or allow it as an unlogged step"
            else:
                but = f"the record says {changes.says}" if changes.says != "observation" else "the record names no step"
                note = f"is possible here and explains all that is observed, but {but}"
        return distance, self._without_reason(show_choice(self.instance, failure.choice), failure.rules, note)

    def _shown(self, value: int) -> object:
        machine = self.instance.model.machine(self.row.sort.name)
        for attribute in self.instance.attributes(self.row.sort.name):
            start = self.instance.slot(self.row.sort.name, attribute.name)
            if start <= self.slot < start + self.instance.sizes[self.row.sort.name]:
                return self.instance.show(attribute.type, value)
        return machine.states[value].name


def _value(instance: Instance, term: t.Term, scope: Mapping[str, t.Var], moment: Moment) -> int | None:
    """The value of a term; None if it reads an attribute of NONE, or is a constant that only its context gives a type."""
    if isinstance(term, t.Constant) and isinstance(term.value, str):
        return None
    try:
        return int(compile_term(instance, term, scope)(moment))
    except Undefined:
        return None
