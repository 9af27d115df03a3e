"""Checks changes of Beaker's recipes, recipe sets and systems against the proposal's models.

A line gives new values for fields of one object. Our interpretation of the format:

* **A record** is one line, or consecutive lines with the same ``step``. One step of the model gave at least one of its
  fields its value. If all fields have their values already, an earlier step did so.
* **A step with a name** (``step``) is logged completely: no other logged field changes in it. The consequences of a
  line without a name may be in later lines, or in none.
* **Logged** are all changes of a recipe's status and system, of priorities and of conditions. Changes of a system's
  usage are logged if any line has a usage.
* **Unlogged steps** change no logged field; at most ``UNLOGGED`` of them may precede a record. In these steps a set is
  taken up, seated, its search ends, or it is settled. Where usage is not logged, steps of systems that are pending,
  idle or a user's are unlogged too.
* **A crash** of the scheduler is a line of its own.
* **action** names the model's step, if the implementation knows it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import dropwhile, groupby
from pathlib import Path
from typing import Any

from schedproof.model.lang import Model
from schedproof.model.lang.rules import Action
from schedproof.model.semantics import Instance, State, Stepper
from schedproof.proofs.traces.engine.candidates import Observation, Record
from schedproof.proofs.traces.engine.explain import Clue, Explainer
from schedproof.proofs.traces.engine.steps import StepPattern, Steps
from schedproof.proofs.traces.files.lines import Line, TextLine, as_objects
from schedproof.proofs.traces.files.schema import Shape
from schedproof.proofs.traces.formats.format import Format, ModelLog, Requested, first_object

from .change_objects import HEADER_KEYS, ChangedObjects

SCHEMA = Path(__file__).parent / "changes.schema.json"

UNLOGGED = 5
"""The maximum number of unlogged steps before a record.

The search for one set ends, it is settled, another is taken up and seated; and one more.
"""

SILENT = (
    "take_up",
    "seat",
    "search_ends",
    "settle",
    "make_idle",
    "wake",
    "reserve",
    "install_reserved",
    "run_reserved",
    "give_back",
)
"""The actions that may change nothing that is logged; a variant may lack some of them."""

SORTS = {"recipe": "Recipe", "recipe_set": "RecipeSet", "system": "System"}
CHANGES = {"recipe": ("status", "system"), "recipe_set": ("priority", "lab"), "system": ("usage", "condition")}
STATES = {"status": "Recipe", "usage": "System"}
"""The fields that are states of a machine; the others are attributes."""


@dataclass(frozen=True)
class _Change:
    """The content of a line: an object (its kind and name), and the new values of its fields."""

    line: Line
    kind: str
    name: str
    fields: Mapping[str, Any]

    @property
    def says(self) -> str:
        if self.kind == "crash":
            return "crash"
        return f"{self.name} " + ", ".join(f"{f} {v if v is not None else 'none'}" for f, v in self.fields.items())


def _change(line: Line, shapes: Mapping[str, Shape]) -> _Change:
    kind = next((kind for kind in ("crash", *SORTS) if kind in line.value), "")
    if not kind:
        raise line.error('a change names a "recipe", a "recipe_set" or a "system", or says "crash": true')
    shapes[kind].check(line)
    fields = {f: line.value[f] for f in CHANGES.get(kind, ()) if f in line.value}
    if not fields and "action" in line.value:
        raise line.error(f'"action" without a change; write what it changed: {" or ".join(CHANGES[kind])}')
    return _Change(line, kind, "" if kind == "crash" else line.value[kind], fields)


@dataclass
class _Reader:
    """Turns groups of changes into records."""

    instance: Instance
    speaks_of_usage: bool
    steps: Steps = field(init=False)
    explainer: Explainer = field(init=False)
    numbers: dict[str, dict[str, int]] = field(init=False)

    def __post_init__(self) -> None:
        self.steps = Steps(Stepper(self.instance))
        self.explainer = Explainer(self.steps)
        self.numbers = {
            sort: {name: n for n, name in enumerate(self.instance.object_names(sort))}
            for sort in ("Lab", "RecipeSet", "Recipe", "System")
        }

    @property
    def silent(self) -> list[StepPattern]:
        """The actions that may be unlogged."""
        return [StepPattern(a) for a in self.instance.model.actions if a.name in SILENT]

    @property
    def logged(self) -> frozenset[int]:
        """The slots that only a record changes."""
        fields = [("Recipe", ""), ("Recipe", "system"), ("RecipeSet", "priority"), ("System", "condition")]
        if self.speaks_of_usage:
            fields.append(("System", ""))
        return frozenset(
            self.instance.slot(sort, name) + n for sort, name in fields for n in range(self.instance.sizes[sort])
        )

    def slot(self, change: _Change, name: str) -> tuple[int, int]:
        """A field's slot and its value, encoded."""
        sort = SORTS[change.kind]
        number, value = self.numbers[sort][change.name], change.fields[name]
        machine = self.instance.model.machine(sort)
        if name in STATES:
            names = [s.name for s in machine.states]
            if value not in names:
                raise change.line.error(
                    f"{self.instance.model.variant} has no {name} {value!r}; it has {', '.join(names)}"
                )
            return self.instance.slot(sort) + number, names.index(value)
        attribute = machine.attribute(name)
        assert attribute is not None
        return self.instance.slot(sort, name) + number, self.instance.read(attribute.type, value)

    def record(self, number: int, group: Sequence[_Change]) -> Record[State]:
        """The record of the changes of one step."""
        first = group[0]
        says = "; ".join(change.says for change in group)
        model = self.instance.model
        unlogged, logged = self.silent, self.logged
        if any(change.kind == "crash" for change in group):
            if len(group) > 1:
                raise group[1].line.error("a crash shares its step with a change; it is a step of its own")
            crashes = [StepPattern(a) for a in model.actions if a.crash]
            clue = Clue(crashes, unlogged=unlogged, longest=UNLOGGED, logged=logged)
            return self.explainer.record(number, first.line.number, says, clue)
        slots: dict[int, int] = {}
        for change in group:
            for name in change.fields:
                slot, value = self.slot(change, name)
                if slots.setdefault(slot, value) != value:
                    raise change.line.error(
                        f"{name} of {change.name} has two values in one step; give each its own step"
                    )
        named = self.named(group)
        actions = [named] if named else self.candidates(group)
        clue = Clue(
            [StepPattern(a) for a in actions],
            or_none=named is None,
            unlogged=unlogged,
            longest=UNLOGGED,
            logged=logged,
            observed=Observation(slots),
            fixed=logged - slots.keys() if "step" in first.line.value else frozenset(),
            must_show_change=named is None,
            suspects=None if named else self.suspects(actions, group),
        )
        return self.explainer.record(number, first.line.number, says, clue)

    def named(self, group: Sequence[_Change]) -> Action | None:
        """The action that the lines name."""
        lines = {c.line.value["action"]: c.line for c in group if "action" in c.line.value}
        known = {a.name: a for a in self.instance.model.actions if not a.crash}
        for name, line in lines.items():
            if name not in known:
                raise line.error(f"unknown action {name!r:.60}; {self.instance.model.variant} has {', '.join(known)}")
            if len(lines) > 1:
                raise line.error(f"one step is {' and '.join(lines)}; it is one action")
            return known[name]
        return None

    def candidates(self, group: Sequence[_Change]) -> list[Action]:
        """The actions that can give one of the fields its value."""
        actions: dict[str, Action] = {}
        for change in group:
            for name, value in change.fields.items():
                sort = SORTS[change.kind]
                if name in STATES:
                    actions |= {a.name: a for a in self.steps.leading_to(sort, "", value)}
                else:
                    actions |= {a.name: a for a in self.steps.leading_to(sort, name)}
        return [a for a in self.instance.model.actions if a.name in actions and not a.crash]

    def suspects(self, actions: Sequence[Action], group: Sequence[_Change]) -> list[StepPattern]:
        """The same actions on the objects that the record names."""
        sorts: dict[str, dict[str, None]] = {sort: {} for sort in self.numbers}
        for change in group:
            sorts[SORTS[change.kind]][change.name] = None
            if change.kind == "recipe":
                sets = self.instance.rigid["Recipe", "recipe_set"]
                its = sets[self.numbers["Recipe"][change.name]]
                sorts["RecipeSet"][self.instance.object_names("RecipeSet")[int(its)]] = None  # type: ignore[arg-type]
            if change.fields.get("system"):
                sorts["System"][change.fields["system"]] = None
        patterns = []
        for action in actions:
            given = {}
            for v in action.parameters:
                objects_ = sorts.get(str(getattr(getattr(v.type, "sort", None), "name", "")))
                if objects_:
                    sort = v.type.sort.name  # type: ignore[union-attr]
                    given[v.name] = self.numbers[sort][next(iter(objects_))]
            patterns.append(StepPattern(action, given))
        # Actions without other objects come first: among equally close ones, the first is reported first.
        return sorted(patterns, key=lambda pattern: len(pattern.action.parameters) - len(pattern.given))


def _groups(changes: Sequence[_Change]) -> Iterator[list[_Change]]:
    """The changes of each step, in the order of the file.

    Raises:
        TraceError: a step comes again after another one.
    """
    seen: set[object] = set()
    for key, members in groupby(enumerate(changes), lambda nc: nc[1].line.value.get("step", ("line", nc[0]))):
        group = [change for _, change in members]
        if key in seen:
            raise group[0].line.error(
                f"step {key!r:.40} comes again after other lines; the lines of a step stand together"
            )
        seen.add(key)
        yield group


def _read(model: Model, lines: Sequence[TextLine], requested: Requested) -> ModelLog:
    header, *rest = as_objects(lines)
    if "beaker" not in header.value:
        raise header.error('the header of a trace of Beaker\'s changes is missing; write "beaker": 1 in the first line')
    Shape.load(SCHEMA, "header").check(header)
    shapes = {kind: Shape.load(SCHEMA, kind) for kind in ("crash", *SORTS)}
    changes = [_change(line, shapes) for line in rest]
    objects = ChangedObjects()
    objects.header(header)
    for change in changes:
        if change.kind == "crash":
            continue
        objects.learn(change.kind, change.name, change.line.value, change.line)
        for key, kind in (("system", "system"), ("lab", "lab")):
            if change.kind != kind and change.fields.get(key):
                objects.name(kind, change.fields[key], change.line)
    objects.complete()
    instance = objects.instance(model)
    reader = _Reader(instance, any("usage" in c.fields for c in changes))
    with_moves = [c for c in changes if c.fields or c.kind == "crash"]  # the others have only facts that never change
    records = [reader.record(n, group) for n, group in enumerate(_groups(with_moves), start=1)]
    return ModelLog(instance, records, len(records), start=objects.start(instance))


def _recognises(lines: Sequence[TextLine]) -> bool:
    first = first_object(lines)
    return "beaker" in first and set(first) <= {"beaker", *HEADER_KEYS}


def _fits(model: Model) -> bool:
    recipe = next((m for m in model.machines if m.sort.name == "Recipe"), None)
    return recipe is not None and recipe.state("assigned") is not None


def _settled(lines: Sequence[TextLine]) -> Sequence[TextLine]:
    """The lines before the last step, which may still be incomplete."""
    last = lines[-1].object().value.get("step")
    before = dropwhile(lambda line: last is not None and line.object().value.get("step") == last, reversed(lines))
    return lines[: len(list(before))]


BEAKER_CHANGES = Format(
    "beaker",
    'a trace of changes begins with "beaker": 1',
    _recognises,
    _read,
    fits=_fits,
    settled=_settled,
)
"""Changes of recipes, recipe sets and systems."""
