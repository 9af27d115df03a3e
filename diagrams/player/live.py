"""A run that explains the records of a trace, as the data of a page that plays it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from schedproof.model.lang import Model
from schedproof.model.semantics import Choice, State, Stepper
from schedproof.proofs.exploration.counterexample_text import shown
from schedproof.proofs.exploration.run_facts import words
from schedproof.proofs.exploration.runs import changes, trace_step
from schedproof.proofs.traces.engine.explained import ExplainedRecord, ExplainedRun, Explanations, RunStep
from schedproof.proofs.traces.engine.objects import ObjectMap

from .build import cited_texts
from .cascades import Cascades
from .data import About, Cause, Firing, Lane, Played, PlayedStep
from .machines import tables

MOST_LANES = 100
"""The limit for lanes. Objects that the last steps change come first."""

MOST_CASCADES = 16
"""For how many object maps what steps cause stays compiled."""

Fields = dict[str, str]


class LiveRuns:
    """Makes the data of pages of one trace. It keeps what it has computed, to be interrupted and go on."""

    def __init__(self, model: Model, explanations: Explanations) -> None:
        self._model, self._explanations = model, explanations
        self._steps: dict[tuple[int, int, RunStep], PlayedStep] = {}
        self._cascades: dict[int, tuple[ObjectMap, Stepper, Cascades]] = {}

    def played(self, run: ExplainedRun) -> Played:
        """The data of the page that plays a run; its steps say to which record they belong."""
        steps = _Lanes(self, run)
        played = tuple(steps.played())
        lanes = steps.lanes()
        machines = tables(self._model, set(run.objects.names))
        about = About(f"{self._model.system} {self._model.variant}")
        quotes, facts = cited_texts(self._model.document, about, played, machines)
        sizes = ",".join(f"{sort}={len(names)}" for sort, names in run.objects.names.items())
        return Played(
            about, self._model.document.name, sizes, "", None, lanes, played, (), machines, quotes, facts
        )  # fmt: skip

    def step(self, record: ExplainedRecord, number: int, step: RunStep) -> PlayedStep:
        """A step for the page, with the objects' own names."""
        key = record.number, number, step
        if key not in self._steps:
            self._steps[key] = self._played(record, step)
        return self._steps[key]

    def _played(self, record: ExplainedRecord, step: RunStep) -> PlayedStep:
        stepper, cascades = self._of(record.objects)
        _, changed = changes(stepper, step.before, step.choice)
        described = trace_step(stepper.instance, step.choice, changed)
        _, firings = cascades.firings(step.before, step.choice, changed)
        where = f"no record, before record {record.number}" if step.is_unlogged else f"record {record.number}"
        return PlayedStep(f"{described.says} ({where})", described.action, described.line, described.fact, firings, "")

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
        """How many steps are kept."""
        return len(self._steps)

    def keep(self, first: int) -> None:
        """Drops what is kept for the records before ``first``."""
        self._steps = {key: step for key, step in self._steps.items() if key[0] >= first}


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
        self._shared = {name for name, of in sorts.items() if len(of) > 1}
        self._initial: dict[tuple[str, str], Fields] = {}
        self._now: dict[tuple[str, str], Fields] = {}
        self._used: dict[tuple[str, str], None] = {}

    def played(self) -> Iterator[PlayedStep]:
        """The steps; one more where another object has taken the name of an earlier one."""
        run = self._run
        if run.state:
            every = {sort: range(len(names)) for sort, names in run.objects.names.items()}
            for key, fields in _described(run.objects, run.state, every):
                self._initial[key] = self._now[key] = fields
        before = run.objects
        for record in run.records:
            if record.objects is not before:
                yield from self._appearing(record, before)
                before = record.objects
            for number, step in enumerate(record.steps):
                yield self._named(record, step, self._runs.step(record, number, step))

    def _appearing(self, record: ExplainedRecord, before: ObjectMap) -> Iterator[PlayedStep]:
        """Enters the objects that the record brings."""
        replaced = []
        for key, fields in _described(record.objects, record.before, record.objects.new_places(before)):
            if key in self._now and self._now[key] != fields:
                replaced.append(self._replaced(key, self._now[key], fields))
            self._initial.setdefault(key, fields)
            self._now[key] = fields
            self._used[key] = None
        if replaced:
            names = " and ".join(firing.object for firing in replaced)
            says = f"{names} {'is a new object' if len(replaced) == 1 else 'are new objects'} (record {record.number})"
            yield PlayedStep(says, "a name is used again", None, "", tuple(replaced), "")

    def _replaced(self, key: tuple[str, str], old: Fields, new: Fields) -> Firing:
        changed = {field: (old.get(field, ""), value) for field, value in new.items() if old.get(field) != value}
        cause = Cause("a name is used again", False, "", None, "", None)
        return Firing(self._name(*key), f"{key[0]}.appears", cause, "", "", None, "", changed)

    def _named(self, record: ExplainedRecord, step: RunStep, played: PlayedStep) -> PlayedStep:
        """The step with the names of lanes, in which the objects' fields are followed."""
        for sort, name in _parameters(record.objects, step.choice):
            self._used.pop((sort, name), None)
            self._used[sort, name] = None
        firings = []
        for firing in played.firings:
            key = firing.event.partition(".")[0], firing.object
            self._used.pop(key, None)
            self._used[key] = None
            self._now[key] = {**self._now.get(key, {}), **{f: after for f, (_, after) in firing.changes.items()}}
            firings.append(replace(firing, object=self._name(*key)))
        return replace(played, firings=tuple(firings))

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
