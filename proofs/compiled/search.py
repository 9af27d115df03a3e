"""The breadth-first search of the compiled engine, in one thread or several, each with its own part of the states."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np

from schedproof.model.semantics import Choice, Instance
from schedproof.proofs.exploration.explore import AT_LIMIT, Halt, Progress, real
from schedproof.proofs.exploration.limits import Saving, TooWide
from schedproof.proofs.exploration.symmetry import Symmetry

from .checkpoint import Checkpoint
from .files import Damaged, Scratch
from .layout import Words
from .llvm import level_for
from .part import Disk, Part
from .quotient import quotient, represent
from .steps import Condition, Program, Seen, program
from .table import U, entry, find, part_of, place_of

MOST_CHOICES = 1 << 16
"""The limit of choices of actions and parameters: a state's incoming choice takes two bytes."""

MOST_STATES = 1 << 31
"""The limit of states: a state's number takes four bytes."""


def place_in(parts: Sequence[Part], state: Words) -> tuple[int, int]:
    """The number of the part that a known state belongs to, and its place in the part's table."""
    words = len(state)
    value = U(entry(state, 0, words))
    number = int(part_of(value, U(len(parts))))
    part = parts[number]
    place = U(place_of(value, U(len(parts)), U(part.places)))
    return number, int(find(part.keys, state, 0, words, value, place))


@dataclass(frozen=True)
class Reached:
    """The result of a compiled exploration. A state's number encodes its part and its place there; 0 need not be the initial state.

    Predecessors take half as much memory as the states. Without them, ``path`` repeats the search up to the state, which gives
    the same numbers. Most counterexamples are short; for one of the greatest depth the search takes twice the time.

    Attributes:
        stopped: why the exploration stopped early; empty if all states were found.
        ill_formed: the first ill-formed step, as (state number, choice, ""); taking the step again gives the error.
        files: the files that have some of the states; they live as long as this object.
    """

    program: Program
    symmetry: Symmetry | None
    stopped: str
    parts: Sequence[Part] = field(repr=False)
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
        return self.parts[number % len(self.parts)].depth(number // len(self.parts))

    def path(self, number: int) -> list[Choice]:
        """A shortest run from the initial state to state number ``number``, as choices.

        With symmetry the choices lead from representative to representative, so the run is reconstructed from real states.
        """
        parts, run = self._traced(number), list[Choice]()
        while self._depth(number) > 0:
            number, choice = parts[number % len(parts)].origin(number // len(parts))
            run.append(self.program.choice(choice))
        run.reverse()
        return run if self.symmetry is None else real(self.symmetry, run)

    def _traced(self, number: int) -> Sequence[Part]:
        """Parts that have the predecessors of state ``number`` and of the states before it."""
        part, place = number % len(self.parts), number // len(self.parts)
        for reached in (self, *self._repeated):
            if reached.parts[part].traced and reached.parts[part].count > place:
                return reached.parts
        search = _Search(
            self.program,
            self.symmetry,
            len(self.parts),
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
    limit: int | None = None,
    memory: int | None = None,
    saving: Saving | None = None,
    halt: Halt | None = None,
    progress: Progress | None = None,
    on_depth: Callable[[Reached], str] | None = None,
    traced: bool = True,
    code: Program | None = None,
) -> Reached:
    """Explores all reachable states of ``instance``.

    Args:
        symmetry: explore interchangeable objects once.
        crash: take crash actions.
        conditions: conditions to check on all states and steps.
        limit: stop after this many states.
        memory: the limit in bytes of data that grow with the states; more data go to files.
        saving: where to save checkpoints; an existing checkpoint is continued.
        halt: called regularly; stops the exploration if it returns a reason.
        on_depth: like ``halt``, but called before each depth is expanded, when all states of that depth are known.
        traced: keep each state's predecessor; with files it is always kept.
        code: a compiled program with the same steps, to save compiling.

    Raises:
        TooWide: there are too many choices of parameters.
        CheckpointError: a checkpoint is damaged or belongs to something else.
    """
    actions = [a for a in instance.model.actions if crash or not a.crash]
    code = code or program(instance, actions, conditions)
    if code.choices > MOST_CHOICES:
        raise TooWide(
            f"at this scope there are {code.choices} choices of actions and parameters, and compiled code "
            f"distinguishes {MOST_CHOICES}; explore it interpreted"
        )
    reducer = Symmetry(instance) if symmetry else None
    if reducer is not None and not reducer.sorts:
        reducer = None
    checkpoint = None
    if saving is not None:
        checkpoint = Checkpoint(saving.folder, _described(code, reducer), code.text)
    search = _Search(
        code,
        reducer,
        threads,
        limit=limit,
        memory=memory,
        checkpoint=checkpoint,
        every=saving.every if saving is not None else 0.0,
        halt=halt,
        progress=progress,
        on_depth=on_depth,
        traced=traced or saving is not None or memory is not None,
    )
    return search.run()


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
    }


class _Order(Enum):
    """The action after a turn."""

    GO = 0
    SAVE = 1
    STOP = 2


class _Search:
    """One search: each thread expands the states of its part, and takes its share of all threads' results."""

    def __init__(
        self,
        program: Program,
        symmetry: Symmetry | None,
        threads: int,
        *,
        limit: int | None = None,
        memory: int | None = None,
        checkpoint: Checkpoint | None = None,
        every: float = 0.0,
        halt: Halt | None = None,
        progress: Progress | None = None,
        on_depth: Callable[[Reached], str] | None = None,
        traced: bool = True,
    ) -> None:
        self._program, self._symmetry = program, symmetry
        self._compile(0)
        self._checkpoint, self._every, self._saved = checkpoint, every, time.monotonic()
        self._files = checkpoint if checkpoint is not None or memory is None else Scratch()
        self._parts = [self._part(me, threads, memory, traced) for me in range(threads)]
        self._at = [0] * threads
        self._barrier = threading.Barrier(threads)
        self._busy = [[False] * threads, [False] * threads]
        self._orders = [_Order.GO, _Order.GO]
        self._errors: list[BaseException] = []
        self._limit = MOST_STATES if limit is None else min(limit, MOST_STATES)
        self._halt, self._progress, self._on_depth = halt, progress, on_depth
        self._stopped = self._enough = ""

    def _compile(self, states: int) -> None:
        """Compiles the program for about this many states."""
        self._level_of_code = level_for(states, self._program.text)
        self._address = self._program.machine(states).address("steps")

    def _part(self, me: int, threads: int, memory: int | None, traced: bool) -> Part:
        files, words = self._files, self._program.layout.words
        return Part(
            self._program,
            threads,
            me,
            quotient(self._symmetry, self._program.layout) if self._symmetry is not None else None,
            budget=memory // threads if memory is not None else None,
            folder=(lambda: files.path) if isinstance(files, Scratch) else None,
            disk=Disk.at(files.folder, me, words) if isinstance(files, Checkpoint) else None,
            traced=traced,
        )

    def run(self) -> Reached:
        """Runs the search."""
        try:
            if not self._resumed():
                self._begin()
            self._all()
            if self._checkpoint is not None and not self._stopped:
                self._save()
        except OSError as error:
            self._stopped = _full(error)
        finally:
            for part in self._parts:
                if part.disk is not None:
                    part.disk.runs.remove()
            if self._checkpoint is not None:
                self._checkpoint.release()
        if self._stopped:
            for part in self._parts:
                part.drop_uncompared()
        return self._reached()

    def _reached(self) -> Reached:
        return Reached(self._program, self._symmetry, self._stopped, self._parts, self._files)

    def _begin(self) -> None:
        first = np.array(self._program.layout.pack(self._program.instance.initial()), np.uint64)
        if self._parts[0].quotient is not None:
            represent(self._parts[0].quotient, first, 0, len(first))
        value = U(entry(first, 0, len(first)))
        home = self._parts[int(part_of(value, U(len(self._parts))))]
        home.take(np.array([value], np.uint64), first, np.zeros(1, np.uint64), 1)
        for part in self._parts:
            part.deepen()

    def _resumed(self) -> bool:
        """Restores the parts from a checkpoint; returns false if there is none."""
        if self._checkpoint is None:
            return False
        saved = self._checkpoint.load(len(self._parts))
        if saved is None:
            return False
        for me, (part, was) in enumerate(zip(self._parts, saved, strict=True)):
            try:
                part.restore(was)
            except Damaged as error:
                raise self._checkpoint.damaged(str(error)) from error
            self._at[me] = was.at
        return True

    def _all(self) -> None:
        threads = [threading.Thread(target=self._work, args=(me,)) for me in range(1, len(self._parts))]
        try:
            for thread in threads:
                thread.start()
            self._work(0)
        finally:
            if self._barrier.broken or not all(thread.ident for thread in threads):
                self._barrier.abort()
            for thread in threads:
                if thread.ident:
                    thread.join()
        if self._errors:
            raise self._errors[0]

    def _work(self, me: int) -> None:
        """The work of one thread, depth by depth."""
        try:
            while any(part.size for part in self._parts):
                if not self._level(me):
                    return
                self._barrier.wait()
                self._parts[me].deepen()
                self._at[me] = 0
                self._barrier.wait()
                if self._on_depth is None or not any(part.size for part in self._parts):
                    continue
                if me == 0:
                    self._stopped = self._enough = self._on_depth(self._reached())
                self._barrier.wait()
                if self._enough:  # not ``_stopped``: thread 0 may be a turn ahead and have overwritten it
                    return
        except threading.BrokenBarrierError:
            return
        except BaseException as error:  # also an interrupt or lack of memory: the others must not wait
            self._errors.append(error)
            self._barrier.abort()

    def _level(self, me: int) -> bool:
        """Expands all states of one depth; returns false to stop the search.

        In each turn a thread fills buckets for all threads. When all have done so, it takes the buckets for itself. It may be
        a turn ahead of others that still take theirs, so all shared data exist twice.
        """
        part, turn = self._parts[me], 0
        while True:
            self._at[me] = at = part.expand(self._address, self._at[me], turn)
            self._busy[turn][me] = at < part.size
            if me == 0:
                self._orders[turn] = self._plan_level()
            self._barrier.wait()
            for other in self._parts:
                part.take(
                    other.values[turn, me], other.states[turn, me], other.whence[turn, me], other.counts[turn, me]
                )
            order = self._orders[turn]
            if order is not _Order.GO:
                part.settle()
                self._barrier.wait()
                if me == 0 and self._checkpoint is not None:
                    self._save()
                self._barrier.wait()
            if order is _Order.STOP:
                return False
            if not any(self._busy[turn]):
                return True
            turn ^= 1

    def _plan_level(self) -> _Order:
        """Reports the progress, and decides what comes next."""
        states = sum(part.count for part in self._parts)
        if self._progress is not None:
            part = self._parts[0]
            self._progress(states, (part.base + self._at[0]) * len(self._parts), len(part.starts) - 1)
        if level_for(states, self._program.text) > self._level_of_code:
            self._compile(states)
        self._stopped = self._halt() if self._halt is not None else ""
        if not self._stopped and states > self._limit:
            self._stopped = AT_LIMIT
        if self._stopped:
            return _Order.STOP
        due = self._checkpoint is not None and time.monotonic() - self._saved >= self._every
        return _Order.SAVE if due else _Order.GO

    def _save(self) -> None:
        """Saves a checkpoint while all threads wait."""
        assert self._checkpoint is not None
        self._checkpoint.save([part.save(at) for part, at in zip(self._parts, self._at, strict=True)])
        self._saved = time.monotonic()


def _full(error: OSError) -> str:
    """Why a search stops if a file cannot be read or written."""
    where = f", '{error.filename}'" if error.filename else ""
    return f"stopped by the disk ({error.strerror or error}{where})"
