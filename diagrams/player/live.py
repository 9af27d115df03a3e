"""A run that explains the records of a trace, as the data of a page that plays it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from schedproof.model.lang import Model
from schedproof.model.semantics import Choice, IllFormed, State, Stepper, Undefined
from schedproof.proofs.exploration.counterexample_text import shown
from schedproof.proofs.exploration.run_facts import words
from schedproof.proofs.exploration.runs import changes, trace_step
from schedproof.proofs.traces.engine.explained import ExplainedRecord, ExplainedRun, Explanations, RunStep
from schedproof.proofs.traces.engine.objects import ObjectMap

from .build import cited_texts
from .cascades import Cascades
from .data import About, Branches, Cause, EnabledStep, Firing, Lane, Played, PlayedStep, Vocabulary
from .examples import examples
from .machines import attributes, tables
from .named import NO_PARAMETERS, Key, NamedParameters, NamedValue, Register, Write, fields_of, named, writes

MOST_LANES = 100
"""The limit for lanes. Objects that the last steps change come first."""

MOST_BRANCHING = 10
"""For how many of the last states the page has the enabled steps."""

MOST_ENABLED = 30
"""The limit for enabled steps of one state."""

LIMIT = (
    f"A live page has the enabled steps of the last {MOST_BRANCHING} states of the run, at most {MOST_ENABLED} of each."
)

MOST_CASCADES = 16
"""For how many object maps what steps cause stays compiled."""

Fields = dict[str, str]


@dataclass(frozen=True)
class _Step:
    """A step with the names of its objects.

    Attributes:
        played: the step for the page, without numbers of objects.
        action: the name of the action.
        parameters: of the action.
        payloads: of the events, one for each firing.
        writes: the fields that it changes.
    """

    played: PlayedStep
    action: str = ""
    parameters: NamedParameters = NO_PARAMETERS
    payloads: tuple[NamedParameters, ...] = ()
    writes: tuple[Write, ...] = ()

    @property
    def choice(self) -> tuple[str, object]:
        """Equal for the same action with the same parameters, whatever numbers the objects have."""
        return self.action, {name: value for name, (_, value) in self.parameters.values.items()}


@dataclass(frozen=True)
class _Place:
    """A position of a run: the objects and the state there."""

    objects: ObjectMap
    state: State


class LiveRuns:
    """Makes the data of pages of one trace. It keeps what it has computed, to be interrupted and go on."""

    def __init__(self, model: Model, explanations: Explanations) -> None:
        self._model, self._explanations = model, explanations
        self._steps: dict[tuple[int, int, RunStep], _Step] = {}
        self._enabled: dict[tuple[int, State], tuple[ObjectMap, tuple[_Step, ...]]] = {}
        self._expanding: dict[tuple[int, State], tuple[ObjectMap, dict[Choice, _Step]]] = {}
        self._cascades: dict[int, tuple[ObjectMap, Stepper, Cascades]] = {}

    def expand(self, run: ExplainedRun) -> bool:
        """Computes the enabled steps of the last states of a run, the newest first, as far as they are not known yet."""
        places = _places(run)
        kept = {(id(place.objects), place.state): place for place in places[-MOST_BRANCHING:]}
        self._enabled = {key: value for key, value in self._enabled.items() if key in kept}
        self._expanding = {key: value for key, value in self._expanding.items() if key in kept}
        for key, place in reversed(kept.items()):
            if key not in self._enabled:
                _, known = self._expanding.setdefault(key, (place.objects, {}))  # the map is kept: its id stays its own
                steps = tuple(self._expanded(place, known))
                self._enabled[key] = place.objects, steps
                del self._expanding[key]
        return True

    def _expanded(self, place: _Place, known: dict[Choice, _Step]) -> Iterator[_Step]:
        """The enabled steps at a position; ``known`` keeps those of an interrupted call."""
        stepper, _ = self._of(place.objects)
        number = 0
        for action in stepper.instance.model.actions:
            try:
                choices = stepper.choices(place.state, action)
            except Undefined:
                continue
            for choice in choices:
                if number == MOST_ENABLED:
                    return
                number += 1
                if choice not in known:
                    known[choice] = self._step_of(place.objects, place.state, choice, "")
                yield known[choice]

    def enabled(self, place: _Place) -> tuple[_Step, ...] | None:
        """The enabled steps at a position; None if they are not computed."""
        known = self._enabled.get((id(place.objects), place.state))
        return known[1] if known is not None else None

    def played(self, run: ExplainedRun) -> Played:
        """The data of the page that plays a run; its steps say to which record they belong."""
        lanes = _Lanes(self, run)
        steps = lanes.played()
        branches = lanes.branches()
        machines = tables(self._model, set(run.objects.names))
        about = About(f"{self._model.system} {self._model.variant}")
        quotes, facts = cited_texts(self._model.document, about, (*steps, *branches.steps), machines)
        sizes = ",".join(f"{sort}={len(names)}" for sort, names in run.objects.names.items())
        vocabulary = lanes.vocabulary()
        return Played(
            about, self._model.document.name, sizes, "", None, lanes.lanes(), steps, (), machines, quotes, facts,
            vocabulary, branches, examples=examples(vocabulary), fields=attributes(self._model, set(run.objects.names)),
        )  # fmt: skip

    def step(self, record: ExplainedRecord, number: int, step: RunStep) -> _Step:
        """A step for the page, with the objects' own names."""
        key = record.number, number, step
        if key not in self._steps:
            where = f"no record, before record {record.number}" if step.is_unlogged else f"record {record.number}"
            self._steps[key] = self._step_of(record.objects, step.before, step.choice, f" ({where})")
        return self._steps[key]

    def _step_of(self, objects: ObjectMap, before: State, choice: Choice, where: str) -> _Step:
        stepper, cascades = self._of(objects)
        parameters = NamedParameters.of_choice(objects, choice)
        try:
            after, changed = changes(stepper, before, choice)
        except (IllFormed, Undefined) as error:
            described = trace_step(stepper.instance, choice, before, (), str(error))
            played = PlayedStep(
                described.says + where, described.action, described.line, described.fact, (), str(error)
            )
            return _Step(played, choice.action, parameters)
        described = trace_step(stepper.instance, choice, before, changed)
        fired, firings = cascades.firings(before, choice, changed)
        payloads = []
        for firing in firings:
            sort, _, event = firing.event.partition(".")
            values = fired[sort, event][objects.number(sort, firing.object)]
            payloads.append(NamedParameters.of_event(objects, sort, event, values))
        keys = dict.fromkeys((firing.event.partition(".")[0], firing.object) for firing in firings)
        played = PlayedStep(described.says + where, described.action, described.line, described.fact, firings, "")
        return _Step(played, choice.action, parameters, tuple(payloads), writes(objects, before, after, keys))

    def _of(self, objects: ObjectMap) -> tuple[Stepper, Cascades]:
        known = self._cascades.get(id(objects))
        if known is None:
            stepper = self._explanations.stepper(objects)
            while len(self._cascades) >= MOST_CASCADES:
                del self._cascades[next(iter(self._cascades))]
            known = self._cascades[id(objects)] = objects, stepper, Cascades(stepper)
        return known[1], known[2]

    @property
    def progress(self) -> int:
        """Grows with each step that is kept, and with each enabled one."""
        return (
            len(self._steps)
            + len(self._enabled) * (MOST_ENABLED + 1)
            + sum(len(known) for _, known in self._expanding.values())
        )

    def keep(self, first: int) -> None:
        """Drops what is kept for the records before ``first``."""
        self._steps = {key: step for key, step in self._steps.items() if key[0] >= first}


def _places(run: ExplainedRun) -> list[_Place]:
    """The position before each step of a run, and its end."""
    if not run.state:
        return []
    places = [_Place(run.objects, run.state)]
    for record in run.records:
        places += [_Place(record.objects, step.before) for step in record.steps]
        places.append(_Place(record.objects, record.after))
    return places


class _Lanes:
    """The steps of a run for the page, and the lanes of their objects."""

    def __init__(self, runs: LiveRuns, run: ExplainedRun) -> None:
        self._runs, self._run = runs, run
        maps = {id(each): each for each in (run.objects, *(record.objects for record in run.records))}
        sorts: dict[str, set[str]] = {}
        for objects in maps.values():
            for sort, names in objects.names.items():
                for name in names:
                    sorts.setdefault(name, set()).add(sort)
        self._maps = list(maps.values())
        self._shared = {name for name, of in sorts.items() if len(of) > 1}
        self._initial: dict[tuple[str, str], Fields] = {}
        self._now: dict[tuple[str, str], Fields] = {}
        self._used: dict[tuple[str, str], None] = {}
        self._first: dict[Key, tuple[tuple[str, NamedValue], ...]] = {}
        self._places: list[_Place] = []
        self._steps: tuple[_Step, ...] = ()

    def played(self) -> tuple[PlayedStep, ...]:
        """The steps; one more where another object has taken the name of an earlier one."""
        run = self._run
        if run.state:
            every = {sort: range(len(names)) for sort, names in run.objects.names.items()}
            for key, fields in _described(run.objects, run.state, every):
                self._initial[key] = self._now[key] = fields
            self._enter(run.objects, run.state, every)
        before, place = run.objects, _Place(run.objects, run.state)
        steps: list[_Step] = []
        for record in run.records:
            if record.objects is not before:
                appearing = list(self._appearing(record, before))
                self._places += [place] * len(appearing)
                steps += appearing
                before, place = record.objects, _Place(record.objects, record.before)
            for number, step in enumerate(record.steps):
                self._places.append(_Place(record.objects, step.before))
                steps.append(self._named(record, step, self._runs.step(record, number, step)))
            place = _Place(record.objects, record.after)
        self._places.append(place)
        self._steps = tuple(steps)
        shown_names = {key: self._name(*key) for key in self._first}
        self._register = Register(run.objects.model, self._first, shown_names)
        return tuple(self._for_page(step) for step in steps)

    def branches(self) -> Branches:
        """The enabled steps of the last states, as far as they are computed."""
        numbers: dict[int, int] = {}
        steps: list[PlayedStep] = []
        states: list[tuple[EnabledStep, ...]] = []
        positions: list[int | None] = []
        run_steps: list[int | None] = []
        for position, place in enumerate(self._places):
            enabled = self._runs.enabled(place)
            if enabled is None:
                positions.append(None)
                run_steps.append(None)
                continue
            for step in enabled:
                if id(step) not in numbers:
                    numbers[id(step)] = len(steps)
                    steps.append(self._for_page(step))
            positions.append(len(states))
            states.append(tuple(EnabledStep(numbers[id(step)], None) for step in enabled))
            choice = self._steps[position].choice if position < len(self._steps) else None
            run_steps.append(next((n for n, step in enumerate(enabled) if step.choice == choice), None))
        return Branches(1, tuple(steps), tuple(states), tuple(positions), tuple(run_steps[:-1]), limit=LIMIT)

    def vocabulary(self) -> Vocabulary:
        """What expressions may read: all objects of the run. One that appears later has its first values before."""
        rigid: dict[tuple[str, str], dict[str, NamedValue]] = {}
        for objects in self._maps:
            for (sort, attribute), values in objects.rigid.items():
                kind = self._run.objects.model.rigid_attributes[sort, attribute].type
                known = rigid.setdefault((sort, attribute), {})
                known |= {name: named(objects, kind, v) for name, v in zip(objects.names[sort], values, strict=True)}
        if not self._first:
            return Vocabulary()
        first = [(key, field, value) for key, fields in self._first.items() for field, value in fields]
        return self._register.vocabulary(first, rigid)

    def _enter(self, objects: ObjectMap, state: State, places: Mapping[str, Iterable[int]]) -> None:
        """Keeps the first values of objects."""
        for sort, numbers in places.items():
            for number in numbers:
                key = sort, objects.names[sort][number]
                if key not in self._first:
                    self._first[key] = tuple(fields_of(objects, state, sort, number))

    def _appearing(self, record: ExplainedRecord, before: ObjectMap) -> Iterator[_Step]:
        """Enters the objects that the record brings."""
        places = record.objects.new_places(before)
        self._enter(record.objects, record.before, places)
        replaced, written = [], list[Write]()
        for key, fields in _described(record.objects, record.before, places):
            if key in self._now and self._now[key] != fields:
                replaced.append(self._replaced(key, self._now[key], fields))
                sort, name = key
                values = fields_of(record.objects, record.before, sort, record.objects.number(sort, name))
                written += [(key, field, value) for field, value in values]
            self._initial.setdefault(key, fields)
            self._now[key] = fields
            self._used[key] = None
        if replaced:
            names = " and ".join(firing.object for firing in replaced)
            says = f"{names} {'is a new object' if len(replaced) == 1 else 'are new objects'} (record {record.number})"
            step = PlayedStep(says, "a name is used again", None, "", tuple(replaced), "")
            yield _Step(step, payloads=(NO_PARAMETERS,) * len(replaced), writes=tuple(written))

    def _replaced(self, key: Key, old: Fields, new: Fields) -> Firing:
        changed = {field: (old.get(field, ""), value) for field, value in new.items() if old.get(field) != value}
        cause = Cause("a name is used again", False, "", None, "", None)
        return Firing(key[1], f"{key[0]}.appears", cause, "", "", None, "", changed)

    def _named(self, record: ExplainedRecord, step: RunStep, played: _Step) -> _Step:
        """The step, with which the objects' fields are followed."""
        for sort, name in _parameters(record.objects, step.choice):
            self._used.pop((sort, name), None)
            self._used[sort, name] = None
        for firing in played.played.firings:
            key = firing.event.partition(".")[0], firing.object
            self._used.pop(key, None)
            self._used[key] = None
            self._now[key] = {**self._now.get(key, {}), **{f: after for f, (_, after) in firing.changes.items()}}
        return played

    def _for_page(self, step: _Step) -> PlayedStep:
        """The step with the names of lanes, and the numbers that expressions read."""
        firings = tuple(
            replace(
                firing,
                object=self._name(firing.event.partition(".")[0], firing.object),
                payload=self._register.parameters(payload),
            )
            for firing, payload in zip(step.played.firings, step.payloads, strict=True)
        )
        return replace(
            step.played,
            firings=firings,
            parameters=self._register.parameters(step.parameters),
            writes=tuple(map(self._register.write, step.writes)),
        )

    def lanes(self) -> tuple[Lane, ...]:
        """The lanes, in the model's order; of many objects those that were used last."""
        last = list(reversed(self._used))
        kept = set((last + [key for key in self._initial if key not in self._used])[:MOST_LANES])
        order = {sort: number for number, sort in enumerate(self._run.objects.names)}
        keys = sorted((key for key in self._initial if key in kept), key=lambda key: order[key[0]])
        return tuple(
            Lane(self._name(sort, name), sort, f"{words(sort)} {name}", self._initial[sort, name])
            for sort, name in keys
        )

    def _name(self, sort: str, name: str) -> str:
        return f"{sort} {name}" if name in self._shared else name


def _described(
    objects: ObjectMap, state: State, numbers: Mapping[str, Iterable[int]]
) -> Iterator[tuple[tuple[str, str], Fields]]:
    """The fields of objects in a state, by sort and name."""
    for sort, of_sort in numbers.items():
        for number in of_sort:
            fields = objects.instance.fields(state, sort, number)
            yield (sort, objects.names[sort][number]), {field: shown(value) for field, value in fields.items()}


def _parameters(objects: ObjectMap, choice: Choice) -> Iterator[tuple[str, str]]:
    """The objects that a step names, by sort and name."""
    types = {v.name: v.type for v in objects.model.action(choice.action).parameters}
    for name, value in choice.parameters:
        kind = types[name]
        sort = getattr(getattr(kind, "sort", None), "name", "")
        shown_value = objects.instance.show(kind, value)
        for each in shown_value if isinstance(shown_value, list) else [shown_value]:
            if sort and isinstance(each, str):
                yield sort, each
