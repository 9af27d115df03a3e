"""The breadth-first search of the compiled engine, by a crew: threads or workers, each with its own part of the states."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np

from schedproof.model.semantics import Choice, Instance, bounds_of
from schedproof.proofs.exploration.explore import AT_LIMIT, Halt, Progress, real
from schedproof.proofs.exploration.limits import LostWorker, Saving, TooWide
from schedproof.proofs.exploration.symmetry import Symmetry

from .carry import Carried
from .checkpoint import Checkpoint
from .crew import Crew, Known, Standing, Threads, Workers
from .files import Damaged, Scratch
from .layout import Words
from .part import MOST_STATES, Disk, Part
from .quotient import quotient, represent
from .recorder import Follower, Recorder
from .steps import Condition, Program, Seen, program
from .table import U, entry, find, part_of, place_of

MOST_CHOICES = 1 << 16
"""The limit of choices of actions and parameters: a state's incoming choice takes two bytes."""

MOST_LOST = 3
"""A search ends when more workers are lost than this without a new checkpoint: they may be lost each time."""


def place_in(tables: Sequence[tuple[Words, int]], state: Words) -> tuple[int, int]:
    """The number of the part that a known state belongs to, and its place in the part's table."""
    words = len(state)
    value = U(entry(state, 0, words))
    number = int(part_of(value, U(len(tables))))
    keys, places = tables[number]
    place = U(place_of(value, U(len(tables)), U(places)))
    return number, int(find(keys, state, 0, words, value, place))


@dataclass(frozen=True)
class Reached:
    """The result of a compiled exploration. A state's number encodes its part and its place there; 0 need not be the initial state.

    Predecessors take half as much memory as the states, so those of later states may be missing. Then ``path`` repeats the search
    up to the state, which gives the same numbers. Most counterexamples are short; for one of the greatest depth the search takes
    twice the time.

    Attributes:
        stopped: why the exploration stopped early; empty if all states were found.
        ill_formed: the first ill-formed step, as (state number, choice, ""); taking the step again gives the error.
        files: the files that have some of the states; they live as long as this object.
    """

    program: Program
    symmetry: Symmetry | None
    stopped: str
    parts: Sequence[Known] = field(repr=False)
    files: Scratch | Checkpoint | None = field(default=None, repr=False)
    _repeated: list[Reached] = field(default_factory=list, repr=False, compare=False)

    @property
    def instance(self) -> Instance:
        """The explored instance."""
        return self.program.instance

    @property
    def complete(self) -> bool:
        """Whether every reachable state was found."""
        return not self.stopped

    @property
    def in_memory(self) -> bool:
        """Whether all states are in memory."""
        return not any(part.spilled for part in self.parts)

    @property
    def state_count(self) -> int:
        """The number of states, symmetric ones included; orbits are counted for expanded states only."""
        if self.symmetry is not None:
            return max(self.representatives, sum(part.totals[0] for part in self.parts))
        return self.representatives

    @property
    def representatives(self) -> int:
        """The number of representatives."""
        return sum(part.count for part in self.parts)

    @property
    def transition_count(self) -> int:
        """The number of enabled (state, action, parameters), self-loops included."""
        return sum(self.per_action().values())

    @property
    def depth(self) -> int:
        """The greatest distance of a state from the initial state."""
        return max(
            self._depth((part.count - 1) * len(self.parts) + p) for p, part in enumerate(self.parts) if part.count
        )

    def up_to(self) -> list[int]:
        """The cumulative number of representatives by depth."""
        firsts = [[*part.starts, part.base + part.size][1:] for part in self.parts]
        return [sum(each) for each in zip(*firsts, strict=True)][: self.depth + 1]

    def per_action(self) -> Counter[str]:
        """The number of transitions of each action, symmetric ones included."""
        totals: Counter[str] = Counter()
        for part in self.parts:
            counts = part.totals[1:-1] if self.symmetry is not None else part.seen[self.program.seen.taken_actions]
            for action, times in zip(self.program.actions, counts, strict=True):
                totals[action.name] += int(times)
        return +totals

    @property
    def stuck_count(self) -> int:
        """The number of expanded states in which no action is enabled, symmetric ones included."""
        if self.symmetry is not None:
            return sum(part.totals[-1] for part in self.parts)
        return sum(int(part.seen[self.program.seen.stuck]) for part in self.parts)

    @property
    def frontier_count(self) -> int:
        """The number of representatives with a step that was cut, since it leads beyond the bounds of integers."""
        return sum(int(part.seen[self.program.seen.cut]) for part in self.parts)

    @property
    def bytes_per_state(self) -> float:
        """Bytes per representative of the data that grow with the states."""
        return sum(part.memory for part in self.parts) / self.representatives

    @property
    def ill_formed(self) -> tuple[int, Choice, str] | None:
        """The first ill-formed step."""
        first = self._first(Seen.ill_formed)
        return None if first is None else (first[0], Choice(first[1]), "")

    def met(self, condition: int) -> bool:
        """Whether a condition's premise was true somewhere."""
        return any(bool(part.seen[self.program.seen.condition(condition)]) for part in self.parts)

    def failed(self, condition: int) -> tuple[int, str | None] | None:
        """The number of the first state that violates a condition, and for conditions on steps the action; None if it holds."""
        first = self._first(self.program.seen.condition(condition) + 1)
        if first is None:
            return None
        return first[0], first[1] if self.program.conditions[condition].actions is not None else None

    def _first(self, at: int) -> tuple[int, str] | None:
        """The state nearest to the initial one that was noted at an index of ``seen``, and the action."""
        noted = [
            (int(p.seen[at]) - 1, self.program.actions[int(p.seen[at + 1])].name) for p in self.parts if p.seen[at]
        ]
        return min(noted, key=lambda note: (self._depth(note[0]), note[0]), default=None)

    def _depth(self, number: int) -> int:
        part, place = self.parts[number % len(self.parts)], number // len(self.parts)
        return bisect_right([*part.starts, part.base + part.size], place) - 1

    def path(self, number: int) -> list[Choice]:
        """A shortest run from the initial state to state number ``number``, as choices.

        With symmetry the choices lead from representative to representative, so the run is reconstructed from real states.
        """
        run = list[Choice]()
        while self._depth(number) > 0:
            parts = self._traced(number)
            number, choice = parts[number % len(parts)].origin(number // len(parts))
            run.append(self.program.choice(choice))
        run.reverse()
        return run if self.symmetry is None else real(self.symmetry, run)

    def _traced(self, number: int) -> Sequence[Known]:
        """Parts that have the predecessor of state ``number``. Of a state before it, another thread may not have kept it."""
        part, place = number % len(self.parts), number // len(self.parts)
        for reached in (self, *self._repeated):
            if place < min(reached.parts[part].traced, reached.parts[part].count):
                return reached.parts
        threads = len(self.parts)
        search = _Search(
            self.program,
            self.symmetry,
            _crew_of_threads(self.program, self.symmetry, threads),
            threads,
            limit=self.representatives,
            on_depth=lambda reached: "found" if reached.parts[part].count > place else "",
        )
        self._repeated[:] = [search.run()]
        return self._repeated[0].parts


def explore(
    instance: Instance,
    *,
    symmetry: bool = False,
    crash: bool = True,
    conditions: Sequence[Condition] = (),
    threads: int = 1,
    workers: Workers | None = None,
    limit: int | None = None,
    memory: int | None = None,
    saving: Saving | None = None,
    halt: Halt | None = None,
    progress: Progress | None = None,
    on_depth: Callable[[Reached], str] | None = None,
    on_turn: Callable[[Reached], str] | None = None,
    traced: int = MOST_STATES,
    code: Program | None = None,
    record: bool = False,
    histories: Follower | None = None,
) -> Reached:
    """Explores all reachable states of ``instance``.

    Args:
        symmetry: explore interchangeable objects once.
        crash: take crash actions.
        conditions: conditions to check on all states and steps.
        workers: processes that explore instead of threads of this one.
        limit: stop after this many states.
        memory: the limit in bytes of data that grow with the states; more data go to files. Of ``workers``, the limit of all that
            the process of each uses.
        saving: where to save checkpoints; an existing checkpoint is continued.
        halt: called regularly; stops the exploration if it returns a reason.
        on_depth: like ``halt``, but called before each depth is expanded, when all states of that depth are known.
        on_turn: like ``halt``, but called with what is known so far, and only if one thread searches: it notes violations in the
            order of the states, so the first ones are final.
        traced: keep the predecessors of so many states of each thread; with files all are kept.
        code: a compiled program with the same steps, to save compiling.
        record: also record the edges, for :func:`.graph.graph_of`; only a search by one thread in memory does, without symmetry.
        histories: points of history to follow on the edges.

    Raises:
        TooWide: there are too many choices of parameters.
        CheckpointError: a checkpoint is damaged or belongs to something else.
        LostWorker: a worker was lost, and no checkpoint has its states.
    """
    actions = [a for a in instance.model.actions if crash or not a.crash]
    records = record and threads == 1 and not symmetry and memory is None and saving is None and workers is None
    carried: Carried | None = None
    if records and histories is not None:
        code, carried = histories.follow(conditions)
    code = code or program(instance, actions, conditions)
    if code.choices > MOST_CHOICES:
        raise TooWide(
            f"at this scope there are {code.choices} choices of actions and parameters, and compiled code "
            f"distinguishes {MOST_CHOICES}; explore it interpreted"
        )
    reducer = Symmetry(instance) if symmetry else None
    if reducer is not None and not reducer.sorts:
        reducer = None
    files: Scratch | Checkpoint | None = None
    if saving is not None:
        files = Checkpoint(saving.folder, _described(code, reducer), code.text)
    elif memory is not None and workers is None:
        files = Scratch()
    if workers is not None:
        folder = files.folder if isinstance(files, Checkpoint) else None
        parts, crew = len(workers), workers.crew(code, reducer, folder, memory)
    elif records:
        parts, crew = 1, Threads(code, [Recorder(code.shape, 1, 0, None, traced=traced, carried=carried)])
    else:
        parts = threads
        crew = _crew_of_threads(
            code, reducer, threads, memory=memory, files=files, traced=traced if files is None else MOST_STATES
        )
    search = _Search(
        code,
        reducer,
        crew,
        parts,
        limit=limit,
        files=files,
        every=saving.every if saving is not None else 0.0,
        halt=halt,
        progress=progress,
        on_depth=on_depth,
        on_turn=on_turn if parts == 1 and workers is None else None,
    )
    return search.run()


def _crew_of_threads(
    code: Program,
    symmetry: Symmetry | None,
    threads: int,
    *,
    memory: int | None = None,
    files: Scratch | Checkpoint | None = None,
    traced: int = MOST_STATES,
) -> Crew:
    """The crew of a search in this process; arguments as for :func:`explore`."""
    parts = [
        Part(
            code.shape,
            threads,
            me,
            quotient(symmetry, code.layout) if symmetry is not None else None,
            budget=memory // threads if memory is not None else None,
            folder=(lambda: files.path) if isinstance(files, Scratch) else None,
            disk=Disk.at(files.folder, me, code.layout.words) if isinstance(files, Checkpoint) else None,
            traced=traced,
        )
        for me in range(threads)
    ]
    return Threads(code, parts)


def _described(code: Program, symmetry: Symmetry | None) -> dict[str, Any]:
    """The description of a search in a checkpoint."""
    instance = code.instance
    return {
        "system": instance.model.system,
        "variant": instance.model.variant,
        "scope": dict(instance.sizes),
        "topology": [
            [*key, [sorted(v) if isinstance(v, frozenset) else v for v in values]]
            for key, values in sorted(instance.rigid.items())
        ],
        "begins": code.layout.pack(instance.initial()),
        "history": instance.with_history if instance.history is None else sorted(map(list, instance.history)),
        "symmetric": [] if symmetry is None else list(symmetry.sorts),
        "actions": [action.name for action in code.actions],
        "conditions": len(code.conditions),
        "within": bounds_of(instance).text,
    }


class _Order(Enum):
    """The action after a turn."""

    GO = 0
    SAVE = 1
    STOP = 2


class _Search:
    """One search: its crew expands states and takes the results turn by turn, and it decides after each turn what comes next."""

    def __init__(
        self,
        program: Program,
        symmetry: Symmetry | None,
        crew: Crew,
        parts: int,
        *,
        limit: int | None = None,
        files: Scratch | Checkpoint | None = None,
        every: float = 0.0,
        halt: Halt | None = None,
        progress: Progress | None = None,
        on_depth: Callable[[Reached], str] | None = None,
        on_turn: Callable[[Reached], str] | None = None,
    ) -> None:
        self._program, self._symmetry, self._crew, self._parts = program, symmetry, crew, parts
        self._files, self._checkpoint = files, files if isinstance(files, Checkpoint) else None
        self._every, self._saved, self._lost = every, time.monotonic(), 0
        self._limit = MOST_STATES if limit is None else min(limit, MOST_STATES)
        self._halt, self._progress, self._on_depth, self._on_turn = halt, progress, on_depth, on_turn
        self._standings: Sequence[Standing] = ()
        self._stopped = ""

    @property
    def _states(self) -> int:
        """The number of states, as far as the last turn knows it."""
        return sum(s.count for s in self._standings)

    def run(self) -> Reached:
        """Runs the search.

        Raises:
            LostWorker: a worker was lost, and no checkpoint has its states.
        """
        known: Sequence[Known] | None = None
        try:
            lost: LostWorker | None = None
            while True:
                try:
                    if lost is not None:
                        self._crew.renew(lost)
                    if not self._resumed():
                        self._begin()
                    self._all()
                    if self._checkpoint is not None and not self._stopped:
                        self._save()
                    known = self._crew.known()
                    break
                except LostWorker as error:
                    self._require_renewable(error)
                    lost = error
        except OSError as error:
            self._stopped = _full(error)
        finally:
            try:
                self._crew.end(stopped=bool(self._stopped))
            finally:
                if self._checkpoint is not None:
                    self._checkpoint.release()
        return self._reached(known)

    def _require_renewable(self, lost: LostWorker) -> None:
        """Counts a loss after which the search goes on from the last checkpoint.

        Raises:
            LostWorker: there is no checkpoint, or workers are lost again and again without any progress.
        """
        self._lost += 1
        if self._checkpoint is None:
            raise LostWorker(
                f"{lost}, and with it the states that it had; with --checkpoint DIRECTORY a search goes on after that"
            ) from lost
        if self._lost > MOST_LOST:
            raise LostWorker(
                f"{lost}, and this happened {self._lost} times since the last checkpoint; give each worker more memory, "
                "or choose a smaller scope; the same command resumes the search"
            ) from lost

    def _reached(self, known: Sequence[Known] | None = None) -> Reached:
        return Reached(self._program, self._symmetry, self._stopped, known or self._crew.known(), self._files)

    def _begin(self) -> None:
        first = np.array(self._program.layout.pack(self._program.instance.initial()), np.uint64)
        if self._symmetry is not None:
            represent(quotient(self._symmetry, self._program.layout), first, 0, len(first))
        value = U(entry(first, 0, len(first)))
        self._crew.begin(int(part_of(value, U(self._parts))), int(value), first)
        self._standings = self._crew.deepen()

    def _resumed(self) -> bool:
        """Restores the parts from a checkpoint; returns false if there is none."""
        if self._checkpoint is None:
            return False
        saved = self._checkpoint.load(self._parts)
        if saved is None:
            return False
        try:
            self._standings = self._crew.restore(saved)
        except Damaged as error:
            raise self._checkpoint.damaged(str(error)) from error
        return True

    def _all(self) -> None:
        """Expands all depths, until no state is left or something ends the search."""
        while any(s.size for s in self._standings):
            if not self._level():
                return
            self._standings = self._crew.deepen()
            if self._on_depth is not None and any(s.size for s in self._standings):
                self._stopped = self._on_depth(self._reached())
                if self._stopped:
                    return

    def _level(self) -> bool:
        """Expands all states of one depth; returns false to stop the search."""
        while True:
            self._standings = self._crew.expand(self._states)
            busy = any(s.at < s.size for s in self._standings)
            order = self._plan()
            if order is not _Order.GO or not busy:
                self._crew.settle()
            if order is not _Order.GO and self._checkpoint is not None:
                self._save()
            if order is _Order.STOP:
                return False
            if not busy:
                return True

    def _plan(self) -> _Order:
        """Reports the progress, and decides what comes next."""
        if self._progress is not None:
            expanded = sum(s.base + s.at for s in self._standings)
            self._progress(self._states, expanded, self._standings[0].depth)
        self._stopped = self._halt() if self._halt is not None else ""
        if not self._stopped and self._states > self._limit:
            self._stopped = AT_LIMIT
        if not self._stopped and self._on_turn is not None:
            self._stopped = self._on_turn(self._reached())
        if self._stopped:
            return _Order.STOP
        due = self._checkpoint is not None and time.monotonic() - self._saved >= self._every
        return _Order.SAVE if due else _Order.GO

    def _save(self) -> None:
        """Saves a checkpoint."""
        assert self._checkpoint is not None
        self._checkpoint.save(self._crew.save())
        self._saved, self._lost = time.monotonic(), 0


def _full(error: OSError) -> str:
    """Why a search stops if a file cannot be read or written."""
    where = f", '{error.filename}'" if error.filename else ""
    return f"stopped by the disk ({error.strerror or error}{where})"
