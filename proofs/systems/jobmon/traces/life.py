"""The moves of one instance or run in log events: the logged steps, and the unlogged steps that may lie between.

As in :mod:`.part`, values that an event does not show are guessed; here only the one object is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from schedproof.model.lang import Action, Model, StepInvariant
from schedproof.model.systems.jobmon.shipped.machines import i
from schedproof.proofs.traces.engine.partial import Obj, View
from schedproof.proofs.traces.engine.partial_steps import PartialStep, PartialSteps, Plan

from .words import CALLED, added, not_kept, table_of

UNLOGGED: Mapping[str, Mapping[str, frozenset[str] | None]] = {
    "TaskInstance": {
        "be_told_to_die": None,
        "end_at_once": None,
        "start": frozenset({"Triaging"}),
        "end": frozenset({"KillSelf"}),
    },
    "WorkflowRun": {"register": None, "be_reaped": None},
}
"""Per machine: the events that may happen without a line, and from which states (None: from any).

These are: a resume marks an instance to die or ends it; an instance in triage is heard of again; a marked instance
dies. The reaper does not log its writes. It is unknown which of its own moves a variant logs: they may have a line or
not.
"""

Move = tuple[str, str, PartialStep]
"""A step with the states of the one object before and after it."""


def view_of(model: Model, sort: str) -> View:
    """Returns a view of one object of ``sort``, and one unobserved object of each other sort."""
    fixed = {
        ("Client", "run", 0): ("WorkflowRun", 0),
        ("Distributor", "run", 0): ("WorkflowRun", 0),
        ("TaskInstance", "job", 0): ("Job", 0),
        ("TaskInstance", "task", 0): ("Task", 0),
        ("WorkflowRun", "workflow", 0): ("Workflow", 0),
        ("Task", "workflow", 0): ("Workflow", 0),
    }
    return View(model, {m.sort.name: 1 for m in model.machines}, ((sort, "", 0),), fixed)


@dataclass
class Machine:
    """How objects of one sort move, whatever the other objects do: every step of the model from every state."""

    model: Model
    sort: str
    steps: PartialSteps = field(init=False)
    moves: list[Move] = field(init=False)
    variant_moves: frozenset[tuple[str, str]] = field(init=False)
    """The states and events of the moves that only the variant has."""

    def __post_init__(self) -> None:
        view = view_of(self.model, self.sort)
        self.steps = PartialSteps(view, Plan.of(view))
        self.variant_moves = frozenset((row.source, row.event) for row in added(self.model, self.sort))
        self.moves = [(state, step.after[0], step) for state in self.states for step in self.steps.steps((state,))]

    @property
    def states(self) -> list[str]:
        """All states that an object may be in."""
        return [s.name for s in self.model.machine(self.sort).states if not s.unreachable]

    @property
    def required(self) -> list[StepInvariant]:
        """The step invariants that the machine violates."""
        return not_kept(self.model)

    def _unlogged(self, move: Move) -> bool:
        source, _, step = move
        me: Obj = (self.sort, 0)
        events = [event for who, event in step.fired if who == me]
        known = UNLOGGED[self.sort]
        return any(
            (source, e) in self.variant_moves or (e in known and ((among := known[e]) is None or source in among))
            for e in events
        )

    def between(self, states: Iterable[str], without: Sequence[StepInvariant] = ()) -> frozenset[str]:
        """Returns the states that the object may have reached without a line.

        Args:
            without: leaves out steps that break these properties.
        """
        reached, todo = set(states), list(states)
        while todo:
            now = todo.pop()
            for source, target, step in self.moves:
                if (
                    source == now
                    and target not in reached
                    and self._unlogged((source, target, step))
                    and self._keeps(source, step, without)
                ):
                    reached.add(target)
                    todo.append(target)
        return frozenset(reached)

    def after(
        self, states: Iterable[str], targets: frozenset[str], without: Sequence[StepInvariant] = ()
    ) -> frozenset[str]:
        """Returns the states after a logged step to one of ``targets``, with unlogged steps before it."""
        before = self.between(states, without)
        return frozenset(
            target
            for source, target, step in self.moves
            if source in before and target in targets and self._keeps(source, step, without)
        )

    def _keeps(self, source: str, step: PartialStep, without: Sequence[StepInvariant]) -> bool:
        return not any(self.steps.breaks(prop, (source,), step) for prop in without)

    def broken(self, states: Iterable[str], targets: frozenset[str]) -> list[StepInvariant]:
        """Returns the properties that every path to a logged step to ``targets`` breaks."""
        states = list(states)
        if self.after(states, targets, self.required):
            return []
        return [prop for prop in self.required if not self.after(states, targets, [prop])]

    def leads(self, state: str) -> list[str]:
        """Returns the states that one step from ``state`` may reach."""
        return sorted({target for source, target, _ in self.moves if source == state})


def with_all_rows(model: Model) -> Model:
    """Returns the model with one more step for each row of its instance table that no agent uses.

    The server allows every move of the table to every agent, and an agent of another release may ask for one. The model
    decides whether the task moves as well.
    """
    done = {(source, event) for source, _, step in Machine(model, "TaskInstance").moves for _, event in step.fired}
    sources: dict[str, list[str]] = {}
    for row in table_of(model, "TaskInstance"):
        if (row.source, row.event) not in done:
            sources.setdefault(row.event, []).append(row.source)
    more = [
        Action(f"ask_{event}", [i], [i.is_(*states)], [i.fires(event)], f"somebody asks {event} of {{i}}", fact="2.1")
        for event, states in sources.items()
    ]
    return replace(model, actions=[*model.actions, *more])


def who_is(sort: str, number: int) -> str:
    """Returns the name of an object in reports."""
    return f"{CALLED[sort]} {number}"
