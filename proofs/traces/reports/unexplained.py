"""Which rows would explain an observed change, what could have fired them, and the first condition that was false."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
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
from schedproof.model.semantics.reasons import FalseCondition, conditions, first_false
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

MOST_TRIED = 2_000
"""The limit for values of parameters and rule variables that are tried for one chain."""

CUT = f"other choices may be closer: only {MOST_TRIED:,} were tried"
"""The note on a way that is the closest of some."""


def unexplained(
    instance: Instance, before: State, reached: State | None, observed: Observation, says: str
) -> list[UnexplainedChange]:
    """The changes that a record shows and that its closest steps do not explain, each with what would.

    Args:
        instance: the model with its objects.
        before: a state before the record.
        reached: the state after the closest steps; None if the model forbids them.
        observed: what the record shows.
        says: the record in words.
    """
    return list(_Changes(instance, before, reached, observed, says).all())


@dataclass(frozen=True)
class _Changes:
    """The changes of one record."""

    instance: Instance
    before: State
    reached: State | None
    observed: Observation
    says: str

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
        target = machine.states[self.observed.slots.get(slot, self.before[slot])].name
        return row.target == target and any(each == name for each, _ in row.sets)

    def _without_row(self, sort: str, name: str, number: int, seen: int) -> str:
        """What the table has instead of a row for the change."""
        machine, source = self.instance.model.machine(sort), self._state(sort, number)
        if name:
            return f"no row from {source} to what is observed sets {name}" if source else f"no row sets {name}"
        target = machine.states[seen].name
        sources = dict.fromkeys(row.source for row in self.instance.model.table(sort) if row.target == target)
        only = f"only from {', '.join(sources)}" if sources else "none leads there"
        return f"no row of {sort}'s table leads from {source} to {target}: {only}"

    def _row(self, row: Row, number: int, slot: int, seen: int) -> ExplainingRow:
        scored = [
            (way.met, way.way)
            for action in self.instance.model.actions
            for way in [_Search(self, row, number, slot, seen, action).closest()]
            if way is not None
        ]
        scored.sort(key=lambda each: -each[0])
        ways = [way for _, way in scored[:MOST_WAYS]]
        name = f"{row.event} from {row.source}"
        return ExplainingRow(name, row.place.in_folder(), row.line, ways, len(scored) - len(ways))


@dataclass(frozen=True)
class _Scored:
    """A way, and how close it came: more conditions met are closer."""

    met: float
    way: Way


@dataclass(frozen=True)
class _Failure:
    """The first condition of a chain that is false, of which element; None if all conditions hold."""

    met: int
    choice: Choice
    rules: Sequence[Rule]
    false: FalseCondition | None
    of: Action | Rule | None


@dataclass(frozen=True)
class _Search:
    """Looks for the closest way in which one action could have fired a row on an object."""

    changes: _Changes
    row: Row
    number: int
    slot: int
    seen: int
    action: Action
    _left: list[int] = field(default_factory=lambda: [MOST_TRIED])

    @property
    def instance(self) -> Instance:
        return self.changes.instance

    @property
    def target(self) -> tuple[str, str]:
        return self.row.sort.name, self.row.event

    def closest(self) -> _Scored | None:
        """The way that meets the most conditions; None if the action never fires the event."""
        best: _Failure | None = None
        chains, is_cut = self.chains(), False
        for firing, rules in chains:
            self._left[0] = MOST_TRIED
            for failure in self._failures(firing, rules):
                if failure.false is None:
                    return _Scored(float("inf"), self._possible(failure))
                if best is None or failure.met > best.met:
                    best = failure
            is_cut = is_cut or self._left[0] < 0
        if best is not None:
            return _Scored(best.met, self._refused(best, CUT if is_cut else ""))
        if chains and is_cut:
            note = "has too many choices of parameters to try"
            return _Scored(-1, self._without_reason(self.action.name, chains[0][1], note))
        if chains:
            says = f"no choice of its parameters fires {self.row.event} on {self._object}"
            return _Scored(-1, self._without_reason(self.action.name, chains[0][1], f"fires nothing: {says}"))
        return None

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

    def _failures(self, firing: t.Fires | None, rules: Sequence[Rule]) -> Iterator[_Failure]:
        """How each choice of the action's parameters fails along a chain of rules."""
        scope = {v.name: v for v in self.action.parameters}
        known: dict[str, int] = {}
        if not rules and firing is not None and isinstance(firing.of, t.Var):
            known[firing.of.name] = self.number
        for bound in self._bindings(self.action.parameters, known):
            choice = Choice(self.action.name, tuple(bound.items()))
            moment = Moment(self.changes.before, bound)
            false = first_false(self.instance, moment, self.action.when, scope)
            if false is not None:
                yield _Failure(false.met, choice, rules, false, self.action)
                continue
            met = len(conditions(self.action.when))
            yield from self._along(firing, scope, moment, rules, 0, met, choice)

    def _along(
        self,
        firing: t.Fires | None,
        scope: Mapping[str, t.Var],
        moment: Moment,
        rules: Sequence[Rule],
        at: int,
        met: int,
        choice: Choice,
    ) -> Iterator[_Failure]:
        """How the rules from ``at`` on fail, after a firing that happens."""
        owner = _value(self.instance, firing.of, scope, moment) if firing is not None else None
        if at == len(rules):
            if owner == self.number:
                yield _Failure(met, choice, rules, None, None)
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
            false = first_false(self.instance, inside, rule.when, free)
            if false is not None:
                yield _Failure(met + false.met, choice, rules, false, rule)
            else:
                yield from self._along(
                    rule.fires, free, inside, rules, at + 1, met + len(conditions(rule.when)), choice
                )

    def _bindings(self, variables: Sequence[t.Var], known: Mapping[str, int]) -> Iterator[dict[str, int]]:
        """The values of variables, as long as some tries are left; ``known`` ones have one value."""
        domains = [[known[v.name]] if v.name in known else self.instance.domain(v.type) for v in variables]
        sizes = [domain.stop - domain.start if isinstance(domain, range) else len(domain) for domain in domains]
        if max(sizes, default=0) > MOST_TRIED:  # product() would keep all of them
            self._left[0] = -1
            return
        for values in product(*domains):
            self._left[0] -= 1
            if self._left[0] < 0:
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
            of.place.in_folder(),
            of.line,
        )

    def _without_reason(self, step: str, rules: Sequence[Rule], note: str) -> Way:
        names = [rule.name for rule in rules]
        return Way(step, names, "", "", [], {}, note, self.action.place.in_folder(), self.action.line)

    def _possible(self, failure: _Failure) -> Way:
        """A way all of whose conditions hold: says why it does not explain the record."""
        changes, note = self.changes, ""
        try:
            after = stepper_of(self.instance).step(changes.before, failure.choice).after
        except (IllFormed, Undefined) as error:
            note = f"is not well-formed here: {error}"
        else:
            differing = changes.observed.differing(after)
            if self.slot in differing:
                shown = self._shown(after[self.slot])
                note = f"is possible here, and gives {shown}"
            elif differing:
                note = "is possible here; log it, or allow it as an unlogged step"
            else:
                note = f"is possible here and explains all that is observed, but the record says {changes.says}"
        return self._without_reason(show_choice(self.instance, failure.choice), failure.rules, note)

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
