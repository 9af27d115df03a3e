"""Maps the log of beakerd to records of the shipped machine.

beakerd logs its own decisions. Actions of the web server and the harness are not in its log. Our interpretation of the
format:

* **Recipes** are checked from their move out of new. Lines about a recipe that began before the log are left out and
  counted. A recipe's set is known from its provisioning; a recipe that is never provisioned is alone in a set. A guest
  and its host are known from the guest's own messages.
* **Systems** are idle at first. The candidates of a recipe are not logged. They are the systems that the log names for
  it, without those that the log removes. If none are left, it has one candidate that the log does not name.
* **Several messages of one step.** Scheduling is logged as "Assigning", "Reserving" and "moved from Queued to
  Scheduled", in any order. Provisioning and release have one message for each recipe of the set. The first message is
  the step, and the others give its effects; a repeated message is a step of its own. All releases that belong together
  are checked at the first of them.
* "Queued to Scheduled" is logged for Processed to Scheduled too.
* **Unlogged steps**: a system is flagged, or reserved or given back by a user, at most ``AROUND`` times before a
  message about this system. A recipe ends before the release of its set. Nothing in this log distinguishes one end from
  another, so abortion represents all of them.
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
    """The content of the whole log about its recipes."""

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
    # A guest is checked with its host. An entry whose host is itself a guest is dropped.
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
        """Whether this message starts a step: it is the first of its step, or repeats a message that the last step had."""
        parts = self.opened.get((action, about))
        if parts is None or part in parts:
            self.opened[action, about] = {part}
            return True
        parts.add(part)
        return False

    def step(self, first: bool, steps: Sequence[StepPattern], clue: Clue) -> Clue:
        """The clue of a message: the first message of a step has the step, the others only observations."""
        return replace(clue, steps=steps) if first else replace(clue, unlogged=(), longest=0)

    def clue(self, m: Message, at: int) -> Clue | str | None:
        """The clue of a message; the reason why it is impossible; or None if its object is not checked."""
        if m.recipe and m.recipe not in self.roles.begun:
            return None
        pattern = self.shipped.pattern
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
                return Clue([pattern("rest", system=m.system)], unlogged=self.around([m.system]), longest=AROUND)
            case "flagged":
                return Clue([pattern("flag", system=m.system)], unlogged=self.around([m.system]), longest=AROUND)
            case "one system":
                return Clue(before=self.shipped.was(m.recipe, "new", "processed"))
            case "removing":
                return Clue(before=self.shipped.was(m.recipe, "processed"))
            case _:
                return Clue(
                    [pattern("hold", recipe=m.recipe)], observed=self.shipped.observed(m.recipe, status="reserved")
                )

    def around(self, systems: Sequence[str]) -> list[StepPattern]:
        """Steps of the web server on systems."""
        return [self.shipped.pattern(name, system=s) for name in ("flag", "take", "give_back") for s in systems]

    def moved(self, m: Message, recipe: str) -> Clue | str:
        """The clue of a recipe's own move message."""
        host, pattern = self.roles.host(recipe), self.shipped.pattern
        observed = self.shipped.observed(recipe, status=m.now)
        before = self.shipped.was(recipe, m.before)
        match m.before, m.now:
            case "new", "processed":
                first = self.opens("process", host, recipe)
                return self.step(first, [pattern("process", recipe=host)], Clue(observed=observed))
            case "processed", "queued":
                first = self.opens("queue", host, recipe)
                return self.step(first, [pattern("queue", recipe=host)], Clue(observed=observed))
            case (("queued" | "processed"), "scheduled"):
                return self.scheduled(m, recipe)
        if not any((row.source, row.target) == (m.before, m.now) for row in RECIPE_TABLE):
            return f"a recipe has no such move, its table leads from {m.before} nowhere but to {self.targets(m.before)}"
        names = [row.event for row in RECIPE_TABLE if (row.source, row.target) == (m.before, m.now)]
        own_set = self.roles.set(recipe)
        if m.before == "new" and m.now == "aborted":  # the whole set is aborted with it
            steps = [pattern("abort_set", recipe_set=own_set)]
            first = self.opens("abort", own_set, recipe)
            return self.step(first, steps, Clue(observed=observed, before=before if first else nothing))
        if m.now in ("aborted", "cancelled"):  # alone, or with the set, where one recipe after the other reports it
            steps = [pattern("abort_set" if m.now == "aborted" else "cancel_set", recipe_set=own_set)]
            if m.now == "aborted":
                steps.append(pattern("abort", recipe=recipe))
            return Clue(steps, or_none=True, before=self.shipped.was(recipe, m.before, m.now), observed=observed)
        return Clue([pattern(name, recipe=recipe) for name in names], before=before, observed=observed)

    def targets(self, source: str) -> str:
        """The statuses that follow a status in the table."""
        targets = dict.fromkeys(r.target for r in RECIPE_TABLE if r.source == source != r.target)
        return ", ".join(targets) or "its end"

    def scheduled(self, m: Message, recipe: str) -> Clue:
        """The clue of one of the messages that a host, with its guests, is scheduled."""
        host = self.roles.host(recipe)
        steps = [
            self.shipped.pattern(name, recipe=host, system=m.system)
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
        """The clue of the message that a set whose recipes are processed is aborted as a whole."""
        name = m.recipe_set
        if not self.shipped.knows("RecipeSet", name):
            return None
        members = self.members(name)

        def some_processed(state: State) -> str:
            some = any(self.shipped.status(state, r) == "processed" for r in members)
            return "" if some else f"no recipe of {name} is processed"

        return Clue([self.shipped.pattern("abort_set", recipe_set=name)], before=some_processed)

    def members(self, recipe_set: str) -> list[str]:
        """The recipes of a set that are checked."""
        return [r for r in self.shipped.instance.object_names("Recipe") if self.roles.set(r) == recipe_set]

    def provisioned(self, m: Message) -> Clue | str:
        """The clue of one of the messages that a set is provisioned."""
        own_set = self.roles.set(m.recipe)
        if own_set != m.recipe_set:
            return f"the recipe is in {own_set}"
        steps = [self.shipped.pattern("provision", recipe_set=own_set)]

        def started(state: State) -> str:
            now = self.shipped.status(state, m.recipe)
            return f"{m.recipe} is still {now}" if now in QUEUED_GROUP else ""

        return self.step(self.opens("provision", own_set, m.recipe), steps, Clue(after=started))

    def released(self, m: Message, at: int) -> Clue:
        """The clue of one of the messages that the systems of a set are released."""
        own_set = self.roles.set(m.recipe)
        observed = self.shipped.observed(m.recipe, system="")
        if not self.opens("release", own_set, m.recipe):
            return Clue(observed=observed)
        together: dict[str, str] = {}
        for other in self.messages[at:]:
            if (
                other.kind == "releasing"
                and other.recipe in self.roles.begun
                and self.roles.set(other.recipe) == own_set
            ):
                if other.recipe in together:
                    break
                together[other.recipe] = other.system

        def holding(state: State) -> str:
            for recipe, system in together.items():
                held = self.shipped.held(state, recipe)
                if held != system:
                    return f"{recipe} holds {held or 'no system'}, not {system}"
            return ""

        members = self.members(own_set)
        return Clue(
            [self.shipped.pattern("clean_up", recipe_set=own_set)],
            unlogged=[self.shipped.pattern("abort", recipe=r) for r in members],
            longest=len(members),
            before=holding,
            observed=observed,
        )

    def note(self, unknown: int) -> str:
        """Reports the lines that were left out."""
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
