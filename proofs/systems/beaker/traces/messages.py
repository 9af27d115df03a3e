"""Maps Beaker's status messages to records of the shipped machine.

Beaker sends a message each time it recomputes the status of a recipe or a recipe set and the status differs. The
message is about a task as the message bus has it (``{"id": "R:12", "state": "Installing", ...}``), or the row in short
(``{"t_id": "R:12", "status": "Installing", ...}``), or both as header and body. Our interpretation of the format:

* **Checked** are messages about recipes (``R:``), and about the sets (``RS:``) whose recipes the first line names.
  Messages about jobs and tasks, and about other sets, are left out and counted. A recipe of no named set is alone in
  one.
* **A message is a change.** A message that repeats the last status of its recipe does not conform. Nor does a message
  that a recipe is new, processed, queued or scheduled: these statuses are written directly.
* **Statuses are not monotone**: waiting comes again after installing and after running.
* **Unlogged steps**: processing, queueing, scheduling and provisioning send no message about the recipe. Those of its
  set may precede a message, at most once for each recipe.
* **A step for a whole set** (cancelled, aborted) is one step. Each recipe has its own message, in any order. A recipe
  that ended in another way before may send its message after the step.
* **The status of a set** is the first in the order of severity that one of its recipes has.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from schedproof.model.lang import Model
from schedproof.model.semantics import State
from schedproof.model.systems.beaker.shipped.machines import QUEUED_GROUP, SEVERITY, STATUSES
from schedproof.proofs.traces.engine.candidates import Observation, Record
from schedproof.proofs.traces.engine.explain import Clue
from schedproof.proofs.traces.engine.steps import StepPattern
from schedproof.proofs.traces.files.lines import Line, TextLine, as_objects
from schedproof.proofs.traces.files.schema import Shape
from schedproof.proofs.traces.formats.format import Format, ModelLog, Requested, first_object

from .shipped import NamedObjects, Shipped, fits

SCHEMA = Path(__file__).parent / "messages.schema.json"
HEADER = "beaker-messages"
ABOUT = re.compile(r"(R|RS|J|T|RT):\d+")
A_RECIPE_AT_MOST = 4
"""Unlogged steps before a recipe is scheduled: processed, queued, its system flagged, scheduled."""

STEPS = {
    "waiting": ("boot", "pause"),
    "installing": ("install",),
    "running": ("run",),
    "reserved": ("hold",),
    "completed": ("complete",),
    "aborted": ("abort",),
}


@dataclass(frozen=True)
class Message:
    """A message: its object, and the new status of the object."""

    line: int
    about: str
    status: str

    @property
    def says(self) -> str:
        return f"{self.about} is {self.status}"


def _message(line: Line, shape: Shape) -> Message:
    shape.check(line)
    value = line.value
    parts = [p for p in (value.get("header"), value.get("body"), value) if isinstance(p, dict)]
    abouts = {x for p in parts for x in (p.get("t_id"), p.get("id")) if isinstance(x, str)}
    statuses = {x.lower() for p in parts for x in (p.get("status"), p.get("state")) if isinstance(x, str)}
    for values, what, example in ((abouts, "t_id", "R:12"), (statuses, "status", "Installing")):
        if not values:
            raise line.error(f'"{what}" is missing; write what the message says, such as "{what}": "{example}"')
        if len(values) > 1:
            raise line.error(f"header and body differ: {' and '.join(sorted(values))}; a message is about one change")
    about, status = abouts.pop(), statuses.pop()
    if not ABOUT.fullmatch(about):
        raise line.error(f"{about!r:.60} is not a task; write R:, RS:, J: or T: and a number")
    if status not in STATUSES:
        raise line.error(f"unknown status {status!r:.60}; choose from {', '.join(STATUSES)}")
    return Message(line.number, about, status)


@dataclass
class _Reader:
    """Turns messages into records, in their order."""

    shipped: Shipped
    sets: Mapping[str, str]
    messages: Sequence[Message]
    last: dict[str, str] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)

    def records(self) -> Iterator[Record[State]]:
        number = 0
        for at, m in enumerate(self.messages):
            if m.about in self.sets:
                clue = self.of_recipe(m, at)
            elif m.about in self.sets.values():
                clue = self.of_set(m)
            else:
                self.left_out[m.about] += 1
                continue
            number += 1
            if why := self.never_sent(m):
                yield Record(number, m.line, m.says, lambda state: (), Observation(), broken=why)
            else:
                yield self.shipped.explainer.record(number, m.line, m.says, clue)
            self.last[m.about] = m.status

    def never_sent(self, m: Message) -> str:
        """The reason why Beaker never sends this message about a recipe, in any state; "" if it may."""
        if m.about not in self.sets:
            return ""
        if self.last.get(m.about) == m.status:
            return f"{m.says}: it was that already, and a message is sent only when the status changes"
        if m.status in QUEUED_GROUP:
            return f"{m.says}: this status is written directly, and no message about the recipe is sent"
        return ""

    def members(self, recipe_set: str) -> list[str]:
        """The recipes of a set."""
        return [recipe for recipe, its in self.sets.items() if its == recipe_set]

    def direct(self, recipe_set: str) -> list[StepPattern]:
        """The steps that are written directly, in the order in which a set goes through them.

        Another order leads through other states, but no message distinguishes them. No message has these statuses of a
        recipe. A set has the status of the recipe that is furthest behind. Recipes continue independently until all are
        scheduled.
        """
        pattern, recipes = self.shipped.pattern, self.members(recipe_set)
        scheduling = [
            step
            for r in recipes
            for step in (pattern("schedule_pending", recipe=r), pattern("flag", system=_system(r)))
        ]
        return [
            *(pattern("process", recipe=r) for r in recipes),
            *(pattern("queue", recipe=r) for r in recipes),
            *scheduling,
            pattern("provision", recipe_set=recipe_set),
        ]

    def of_recipe(self, m: Message, at: int) -> Clue:
        """The clue of a message about a recipe."""
        recipe_set = self.sets[m.about]
        steps = [self.shipped.pattern(name, recipe=m.about) for name in STEPS.get(m.status, ())]
        unlogged, siblings = self.direct(recipe_set), self.members(recipe_set)
        if m.status in ("cancelled", "aborted"):
            steps.append(
                self.shipped.pattern("cancel_set" if m.status == "cancelled" else "abort_set", recipe_set=recipe_set)
            )
            unlogged += self.ended_before(m, siblings, at)
        return Clue(
            steps,
            or_none=True,
            unlogged=unlogged,
            longest=A_RECIPE_AT_MOST * len(siblings) + 1 + len(siblings),
            in_order=True,
            observed=self.shipped.observed(m.about, status=m.status),
        )

    def ended_before(self, m: Message, siblings: Sequence[str], at: int) -> list[StepPattern]:
        """The siblings' own ends that are reported after this message but must have come before it."""
        patterns = []
        for sibling in siblings:
            later_status = next((o.status for o in self.messages[at + 1 :] if o.about == sibling), "")
            if sibling != m.about and later_status in ("completed", "aborted") and later_status != m.status:
                patterns.append(
                    self.shipped.pattern("complete" if later_status == "completed" else "abort", recipe=sibling)
                )
        return patterns

    def of_set(self, m: Message) -> Clue:
        """The clue of a message about a set."""
        recipes = self.members(m.about)

        def derived(state: State) -> str:
            now = min((self.shipped.status(state, r) for r in recipes), key=SEVERITY.index)
            return "" if now == m.status else f"the recipes of {m.about} make it {now}, not {m.status}"

        return Clue(
            unlogged=self.direct(m.about),
            longest=A_RECIPE_AT_MOST * len(recipes) + 1,
            in_order=True,
            after=derived,
        )

    def note(self) -> str:
        """Reports the messages that were left out."""
        if not self.left_out:
            return ""
        kinds = Counter({"RS": 0})
        for about, count in self.left_out.items():
            kinds[about.split(":")[0]] += count
        total = self.left_out.total()
        what = "1 message is" if total == 1 else f"{total} messages are"
        advice = "; the first line can name the recipes of a set" if kinds["RS"] else ""
        return f"{what} about jobs, tasks or sets of unknown recipes and not checked{advice}"


def _system(recipe: str) -> str:
    return f"(the system of {recipe})"


def _read(model: Model, lines: Sequence[TextLine], requested: Requested) -> ModelLog:
    parsed = as_objects(lines)
    sets: dict[str, str] = {}
    if HEADER in parsed[0].value:
        header = parsed.pop(0)
        Shape.load(SCHEMA, "header").check(header)
        for name, recipes in header.value.get("recipe_sets", {}).items():
            for recipe in recipes:
                if sets.setdefault(recipe, name) != name:
                    raise header.error(f"{recipe} is in {sets[recipe]} and in {name}; a recipe has one set")
    shape = Shape.load(SCHEMA, "message")
    messages = [_message(line, shape) for line in parsed]
    for m in messages:
        if m.about.startswith("R:"):
            sets.setdefault(m.about, f"(the set of {m.about})")
    objects = NamedObjects(sets, {r: [_system(r)] for r in sets}, dict.fromkeys(sets, ""))
    reader = _Reader(Shipped(objects.instance(model)), sets, messages)
    records = list(reader.records())
    return ModelLog(reader.shipped.instance, records, len(records), note=reader.note())


def _recognises(lines: Sequence[TextLine]) -> bool:
    first = first_object(lines)
    parts = [p for p in (first.get("header"), first.get("body"), first) if isinstance(p, dict)]
    named = [p.get(key) for p in parts for key in ("t_id", "id")]
    return HEADER in first or any(isinstance(x, str) and ABOUT.fullmatch(x) for x in named)


BEAKER_MESSAGES = Format(
    "beaker-messages",
    'a message of Beaker has "t_id" or "id" such as "R:12" and "status" or "state"',
    _recognises,
    _read,
    validated_by="shipped",
    fits=fits,
)
"""The status messages of the Beaker that shipped."""
