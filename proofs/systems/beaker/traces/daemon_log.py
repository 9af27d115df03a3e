"""The log of beakerd as records of the shipped machine.

beakerd logs what it decides itself; what the web server and the harness do is not in its log. The
choices of the reading:

* **Recipes** are checked from their move out of new on. Lines about a recipe that began before the log
  does are left out and counted. A recipe's set is known from its provisioning; a recipe that is never
  provisioned is alone in a set. A guest and its host are known from the guest's own messages.
* **Systems** are idle at first. Which candidates a recipe has is not logged: it has the systems that
  the log names for it, less those that the log removes, or else one that the log does not name.
* **Several messages of one step.** Scheduling is logged as "Assigning", "Reserving" and "moved from Queued
  to Scheduled", in any order; provisioning and release have one message for each recipe of the set. The
  first of them is the step, the others say what it did; one that comes again is a step of its own.
  All releases that belong together are checked at the first of them.
* "Queued to Scheduled" is logged for Processed to Scheduled too.
* **Unlogged steps**: that a system is flagged, or reserved or given back by a user, at most ``AROUND`` of
  these before a message about this system; and that a recipe ends, before the release of its set. As
  nothing in this log tells an end from another, abortion stands for them all.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from schedproof.model.lang import Model
from schedproof.model.semantics import State
from schedproof.model.systems.beaker.shipped.machines import QUEUED_GROUP, RECIPE_TABLE
from schedproof.proofs.traces.engine.candidates import Observation, Record
from schedproof.proofs.traces.engine.explain import Clue, nothing
from schedproof.proofs.traces.engine.steps import StepPattern
from schedproof.proofs.traces.files.lines import TextLine
from schedproof.proofs.traces.formats.format import Format, ModelLog, Requested

from .daemon_lines import Message, message
from .shipped import NamedObjects, Shipped, fits

AROUND = 2
"""Unlogged steps of one system before a message about it: a user's reservation and its return."""


@dataclass(frozen=True)
class _Roles:
    """What the whole log says of its recipes."""

    begun: frozenset[str]
    sets: Mapping[str, str]
    hosts: Mapping[str, str]
    systems: Mapping[str, Sequence[str]]
    every_system: Sequence[str]

    def host(self, recipe: str) -> str:
        """The recipe that decides for ``recipe``: its host, or itself."""
        return self.hosts.get(recipe, recipe)

    def set(self, recipe: str) -> str:
        """The name of a recipe's set."""
        host = self.host(recipe)
        known = self.sets.get(host) or self.sets.get(recipe)
        return known or f"(the set of {host})"


def _roles(messages: Iterable[Message]) -> _Roles:
    first: dict[str, str] = {}
    sets: dict[str, str] = {}
    hosts: dict[str, str] = {}
    named: defaultdict[str, dict[str, None]] = defaultdict(dict)
    removed: defaultdict[str, set[str]] = defaultdict(set)
    every: dict[str, None] = {}
    for m in messages:
        if m.kind == "guest moved":
            hosts.setdefault(m.guest, m.recipe)
        elif m.recipe and m.kind != "one system":
            first.setdefault(m.recipe, m.before)
        if m.kind == "provisioning":
            sets.setdefault(m.recipe, m.recipe_set)
        if m.kind in ("assigning", "reserving", "releasing"):
            named[m.recipe][m.system] = None
        if m.kind == "removing":
            removed[m.recipe].add(m.system)
        if m.system:
            every[m.system] = None
    begun = {recipe for recipe, before in first.items() if before == "new"}
    # A guest is checked with its host; the host of a host is no such thing and is left alone.
    hosts = {guest: host for guest, host in hosts.items() if host not in hosts and guest != host}
    begun = {r for r in begun if r not in hosts} | {g for g, h in hosts.items() if h in begun}
    systems = {r: [s for s in named[r] if s not in removed[r]] or [f"(a system for {r})"] for r in begun}
    return _Roles(frozenset(begun), sets, hosts, systems, list(every))


@dataclass
class _Reader:
    """Turns messages into records, in their order."""

    shipped: Shipped
    roles: _Roles
    messages: Sequence[Message]
    opened: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)

    def records(self) -> Iterator[Record[State]]:
        number = 0
        for at, m in enumerate(self.messages):
            clue = self.clue(m, at)
            if clue is None:
                self.left_out[m.recipe_set if m.kind == "set aborted" else m.recipe] += 1
                continue
            number += 1
            if isinstance(clue, str):
                yield Record(number, m.line, m.says, lambda state: (), Observation(), broken=f"{m.says}: {clue}")
            else:
                yield self.shipped.explainer.record(number, m.line, m.says, clue)

    def opens(self, action: str, about: str, part: str) -> bool:
        """This message is the first of its step (or one that its step has had already)."""
        parts = self.opened.get((action, about))
        if parts is None or part in parts:
            self.opened[action, about] = {part}
            return True
        parts.add(part)
        return False

    def step(self, first: bool, steps: Sequence[StepPattern], clue: Clue) -> Clue:
        """The clue of a message whose step is its own if it is the first of it."""
        return replace(clue, steps=steps) if first else replace(clue, unlogged=(), longest=0)

    def clue(self, m: Message, at: int) -> Clue | str | None:
        """What a message says; why it can never be; or None if it is about what is not checked."""
        if m.recipe and m.recipe not in self.roles.begun:
            return None
        wanted = self.shipped.wanted
        match m.kind:
            case "moved":
                return self.moved(m, m.recipe)
            case "guest moved":
                return self.scheduled(m, m.guest)
            case "assigning" | "reserving":
                return self.scheduled(m, m.recipe)
            case "set aborted":
                return self.set_aborted(m)
            case "provisioning":
                return self.provisioned(m)
            case "releasing":
                return self.released(m, at)
            case "no recipes":
                return Clue([wanted("rest", system=m.system)], unlogged=self.around([m.system]), longest=AROUND)
            case "flagged":
                return Clue([wanted("flag", system=m.system)], unlogged=self.around([m.system]), longest=AROUND)
            case "one system":
                return Clue(before=self.shipped.was(m.recipe, "new", "processed"))
            case "removing":
                return Clue(before=self.shipped.was(m.recipe, "processed"))
            case _:
                return Clue(
                    [wanted("hold", recipe=m.recipe)], observed=self.shipped.observed(m.recipe, status="reserved")
                )

    def around(self, systems: Sequence[str]) -> list[StepPattern]:
        """What the web server may have done to systems."""
        return [self.shipped.wanted(name, system=s) for name in ("flag", "take", "give_back") for s in systems]

    def moved(self, m: Message, recipe: str) -> Clue | str:
        """A recipe's move by its own message."""
        host, wanted = self.roles.host(recipe), self.shipped.wanted
        observed = self.shipped.observed(recipe, status=m.now)
        before = self.shipped.was(recipe, m.before)
        match m.before, m.now:
            case "new", "processed":
                first = self.opens("process", host, recipe)
                return self.step(first, [wanted("process", recipe=host)], Clue(observed=observed))
            case "processed", "queued":
                first = self.opens("queue", host, recipe)
                return self.step(first, [wanted("queue", recipe=host)], Clue(observed=observed))
            case (("queued" | "processed"), "scheduled"):
                return self.scheduled(m, recipe)
        if not any((row.source, row.target) == (m.before, m.now) for row in RECIPE_TABLE):
            return f"a recipe has no such move, its table leads from {m.before} nowhere but to {self.targets(m.before)}"
        names = [row.event for row in RECIPE_TABLE if (row.source, row.target) == (m.before, m.now)]
        mine = self.roles.set(recipe)
        if m.before == "new" and m.now == "aborted":  # it takes the whole set with it
            steps = [wanted("abort_set", recipe_set=mine)]
            first = self.opens("abort", mine, recipe)
            return self.step(first, steps, Clue(observed=observed, before=before if first else nothing))
        if m.now in ("aborted", "cancelled"):  # alone or, said by one after the other, with the set
            steps = [wanted("abort_set" if m.now == "aborted" else "cancel_set", recipe_set=mine)]
            if m.now == "aborted":
                steps.append(wanted("abort", recipe=recipe))
            return Clue(steps, or_none=True, before=self.shipped.was(recipe, m.before, m.now), observed=observed)
        return Clue([wanted(name, recipe=recipe) for name in names], before=before, observed=observed)

    def targets(self, source: str) -> str:
        """Where the table leads from a status."""
        targets = dict.fromkeys(r.target for r in RECIPE_TABLE if r.source == source != r.target)
        return ", ".join(targets) or "its end"

    def scheduled(self, m: Message, recipe: str) -> Clue:
        """One of the messages that a host, with its guests, is scheduled."""
        host = self.roles.host(recipe)
        steps = [
            self.shipped.wanted(name, recipe=host, system=m.system)
            for name in ("schedule_processed", "schedule_pending")
        ]
        observed = self.shipped.observed(host, system=m.system) if m.system else Observation()
        status = self.shipped.observed(recipe, status="scheduled")
        clue = Clue(
            unlogged=self.around(self.roles.systems[host]),
            longest=AROUND,
            observed=Observation({**status.slots, **observed.slots}),
        )
        return self.step(self.opens("schedule", host, f"{m.kind} {recipe}"), steps, clue)

    def set_aborted(self, m: Message) -> Clue | None:
        """A set whose recipes are processed is aborted as a whole."""
        name = m.recipe_set
        if not self.shipped.knows("RecipeSet", name):
            return None
        members = self.members(name)

        def some_processed(state: State) -> str:
            some = any(self.shipped.status(state, r) == "processed" for r in members)
            return "" if some else f"no recipe of {name} is processed"

        return Clue([self.shipped.wanted("abort_set", recipe_set=name)], before=some_processed)

    def members(self, recipe_set: str) -> list[str]:
        """The recipes of a set, as far as they are checked."""
        return [r for r in self.shipped.instance.object_names("Recipe") if self.roles.set(r) == recipe_set]

    def provisioned(self, m: Message) -> Clue | str:
        """One of the messages that a set is provisioned."""
        mine = self.roles.set(m.recipe)
        if mine != m.recipe_set:
            return f"the recipe is in {mine}"
        steps = [self.shipped.wanted("provision", recipe_set=mine)]

        def started(state: State) -> str:
            now = self.shipped.status(state, m.recipe)
            return f"{m.recipe} is still {now}" if now in QUEUED_GROUP else ""

        return self.step(self.opens("provision", mine, m.recipe), steps, Clue(after=started))

    def released(self, m: Message, at: int) -> Clue:
        """One of the messages that the systems of a set are released."""
        mine = self.roles.set(m.recipe)
        observed = self.shipped.observed(m.recipe, system="")
        if not self.opens("release", mine, m.recipe):
            return Clue(observed=observed)
        together: dict[str, str] = {}
        for other in self.messages[at:]:
            if other.kind == "releasing" and other.recipe in self.roles.begun and self.roles.set(other.recipe) == mine:
                if other.recipe in together:
                    break
                together[other.recipe] = other.system

        def holding(state: State) -> str:
            for recipe, system in together.items():
                held = self.shipped.held(state, recipe)
                if held != system:
                    return f"{recipe} holds {held or 'no system'}, not {system}"
            return ""

        members = self.members(mine)
        return Clue(
            [self.shipped.wanted("clean_up", recipe_set=mine)],
            unlogged=[self.shipped.wanted("abort", recipe=r) for r in members],
            longest=len(members),
            before=holding,
            observed=observed,
        )

    def note(self, unknown: int) -> str:
        """What the reading left out."""
        parts = []
        if unknown:
            parts.append(f"{_lines(unknown)} no message of beakerd about recipes or systems")
        if self.left_out:
            shown = ", ".join(list(self.left_out)[:5]) + (", ..." if len(self.left_out) > 5 else "")
            parts.append(
                f"{_lines(self.left_out.total())} about what the log does not show from its beginning ({shown})"
            )
        return "; ".join(parts)


def _lines(count: int) -> str:
    return "1 line is" if count == 1 else f"{count} lines are"


def _read(model: Model, lines: Sequence[TextLine], requested: Requested) -> ModelLog:
    messages = [m for m in map(message, lines) if m is not None]
    roles = _roles(messages)
    order = [r for r in dict.fromkeys(x for m in messages for x in (m.recipe, m.guest) if x) if r in roles.begun]
    objects = NamedObjects(
        {r: roles.set(r) for r in order},
        {r: [] if r in roles.hosts else roles.systems[r] for r in order},
        {r: roles.hosts.get(r, "") for r in order},
    )
    reader = _Reader(Shipped(objects.instance(model, roles.every_system)), roles, messages)
    records = list(reader.records())
    return ModelLog(reader.shipped.instance, records, len(records), note=reader.note(len(lines) - len(messages)))


def _recognises(lines: Sequence[TextLine]) -> bool:
    return not lines[0].text.startswith("{") and any(message(line) is not None for line in lines)


BEAKERD = Format(
    "beakerd",
    'a log of beakerd has lines such as "recipe ID 1 moved from New to Processed"',
    _recognises,
    _read,
    validated_by="shipped",
    fits=fits,
    text=True,
)
"""beakerd's own log."""
