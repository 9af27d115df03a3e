"""Threads as separate automata, and the states of several threads as packed words, for the compiled search.

A thread's own steps determine the locks that it holds.
These, and which threads sleep, determine the state of each lock.
So a packed state has one small number for each thread and each counter; the rest is computed when needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise, product

import numpy as np
from numpy.typing import NDArray

from schedproof.model.locks.language import UNBOUNDED, Acquire, Kind, Mode, Receive, Release, Send

from .semantics import Lock, State
from .symmetry import Classes
from .unfold import DONE, Instruction, Program
from .ways import Act, Park, Side, Sign, Way

(
    FINISHED,
    READ,
    WRITE,
    RELEASE,
    RECEIVE,
    SEND,
    NOT_HELD,
    READER,
    WRITER,
    READ_FREE,
    READ_PAST,
    STEP,
    LEAVE,
    ACT,
    NAP,
    PARK,
) = range(16)
"""What a thread does next.

NOT_HELD: it must hold a lock that it does not hold. READER, WRITER: it sleeps until it gets the lock. READ_FREE: it
reads a lock that nobody hands over. READ_PAST: it may pass a writer that waits, or wait for it. STEP: it goes on, whatever others do. LEAVE: it releases a lock and waits for a
condition. ACT, PARK: those of :mod:`.ways`. NAP: it sleeps, and may stop at any time."""

KIND, TARGET, WRITES, READS, ASLEEP, GIVES, NEEDS, RESTS, FIRST, WAYS = range(10)
"""The columns of the table of nodes. Node numbers in it count from the first node of the automaton.

KIND and TARGET: the next instruction, and its lock or channel.
WRITES and READS: the locks that are held, as bits.
ASLEEP: the same node, asleep.
GIVES and NEEDS: the signs that the thread can still give, and those that it waits for, as bits.
RESTS: the thread waits for the next message and holds nothing.
FIRST and WAYS: the index of the first successor node, and the number of successors. Of ACT: of the first way, and the
number of ways; what is there is the index of the way's numbers.
"""

MEETS, WAKES, EVERYONE, FATAL, LAST, GUARDS, CHANGES, AFTER, BODY = range(9)
"""The numbers of a way.

MEETS: two times the channel, plus one for a receiver; -1 for none. WAKES: the queue, or -1. EVERYONE, FATAL, LAST: 0
or 1. GUARDS, CHANGES, AFTER: how many guards, changes and successors follow from BODY on, of three, three and one
numbers each."""

BASE, ALIKE, WORD, SHIFT, MASK, CAPACITY = range(6)
"""The columns of a packing, which has one row for each thread and then one for each counter.

BASE: the first node of the thread's automaton.
ALIKE: the next thread with the same program, or -1.
WORD, SHIFT and MASK: the word of a state that has this number, its lowest bit there, and its bits, shifted down.
CAPACITY: that of the channel, or the largest number of another counter.
"""

MOST_NODES = 1 << 16
"""The most nodes of one thread."""

MOST_READ = 64
"""The most read locks, and levels of other locks, that a thread holds at once.

A serving thread that reads repeatedly without a release has infinitely many nodes."""

MOST = 62
"""The most threads, locks or channels: sets of them are bits of a word."""

FOR_EVER = 32
"""The bits for the messages in an unbounded channel: a search never has enough states to exceed them."""


class TooWide(Exception):
    """Only the interpreter can explore these threads."""


@dataclass(frozen=True)
class Node:
    """The position of a thread, the locks it holds (read locks once for each acquisition), and whether it sleeps.

    ``levels`` has the locks that it holds for writing once more, once for each level.
    """

    at: int
    writes: frozenset[int] = frozenset()
    reads: tuple[int, ...] = ()
    asleep: bool = False
    levels: tuple[int, ...] = ()

    @property
    def order(self) -> tuple[object, ...]:
        """The key by which nodes are numbered."""
        return self.at, self.asleep, tuple(sorted(self.writes)), self.reads, self.levels


class Automata:
    """The automata of programs.

    Attributes:
        table: a row for each node of all automata.
        then: the successors of all nodes, and the numbers of all ways.

    Raises:
        TooWide: there are too many locks or counters, a program has too many nodes, or tries to acquire a lock.
    """

    def __init__(
        self, programs: Sequence[Program], locks: int, capacities: Sequence[int], starts: Sequence[int] = ()
    ) -> None:
        if max(locks, len(capacities)) > MOST or any(i.tries for one in programs for i in one.instructions):
            raise TooWide  # an acquisition that is tried has two kinds of successors
        self.locks, self.capacities = locks, tuple(capacities)
        self.first = tuple(starts) or (0,) * len(capacities)
        needs = {sign for one in programs for i in one.instructions for sign in i.needs()}
        if len(needs) > MOST:
            raise TooWide
        signs = {sign: number for number, sign in enumerate(sorted(needs))}
        self.each = [_Automaton(program, signs) for program in programs]
        self.base = [0, *accumulate(len(one.nodes) for one in self.each)]
        pool: list[int] = []
        table = []
        for one in self.each:
            for row, ways in zip(one.rows(), one.ways(), strict=True):
                first = len(pool)
                if row[KIND] != ACT:
                    pool += [node for way in ways for node in way]
                    table.append((*row, first, len(pool) - first))
                    continue
                pool += [0] * len(ways)
                for number, way in enumerate(ways):
                    pool[first + number] = len(pool)
                    pool += way
                table.append((*row, first, len(ways)))
        self.table = np.array(table, np.int64)
        self.then = np.array(pool, np.int64)

    def together(self, members: Sequence[int], same: Classes) -> Packing:
        """The packing for threads that run together.

        Args:
            members: for each thread the number of its program.
            same: the groups of threads with equal programs.

        Raises:
            TooWide: there are too many threads.
        """
        return Packing(self, tuple(members), same)


class _Automaton:
    """One thread by itself: a node for each position, set of held locks, and whether the thread sleeps."""

    def __init__(self, program: Program, signs: Mapping[Sign, int]) -> None:
        self.program, self.signs = program, signs
        self.numbers: dict[Node, int] = {}
        self.nodes: list[Node] = []
        for start in program.starts:
            self.number(Node(start))
        for node in self.nodes:  # the list grows during the loop
            for after in self.after(node):
                self.number(after)
            if (instruction := self.instruction(node)) is not None and instruction.kind is Acquire:
                self.number(replace(node, asleep=True))
        self.nodes.sort(key=lambda node: node.order)
        self.numbers = {node: number for number, node in enumerate(self.nodes)}
        self.starts = [self.numbers[Node(start)] for start in program.starts]

    def number(self, node: Node) -> None:
        if node not in self.numbers:
            if len(self.nodes) == MOST_NODES or len(node.reads) + len(node.levels) > MOST_READ:
                raise TooWide
            self.numbers[node] = len(self.nodes)
            self.nodes.append(node)

    def instruction(self, node: Node) -> Instruction | None:
        return None if node.at == DONE else self.program.instructions[node.at]

    def after(self, node: Node) -> Iterator[Node]:
        """The nodes after the next instruction."""
        if (instruction := self.instruction(node)) is None:
            return
        writes, reads, lock, levels = node.writes, node.reads, instruction.target, node.levels
        if self.not_held(node):
            return
        if instruction.kind is Acquire:
            if (held := self.held(node, lock)) is not None:
                if instruction.mode is not None and instruction.lock.reacquires(held, instruction.mode):
                    if instruction.mode is not Mode.READ:
                        levels = tuple(sorted([*levels, lock]))
                elif instruction.lock is Kind.ERRORCHECK:
                    yield from (replace(node, at=position, asleep=False) for position in instruction.otherwise)
                    return
                elif held is Mode.WRITE or instruction.mode is not Mode.READ:
                    return  # it waits for itself
            if instruction.mode is Mode.READ:
                reads = tuple(sorted([*reads, lock]))
            else:
                writes |= {lock}
        elif instruction.kind is Release:
            if lock in writes and instruction.mode is not Mode.READ:
                if lock in levels and not instruction.whole:
                    levels = _without(levels, lock)
                else:
                    writes -= {lock}
            elif lock in reads:
                reads = _without(reads, lock)
        for then in instruction.then:
            yield Node(then, writes, reads, levels=levels)

    def held(self, node: Node, lock: int) -> Mode | None:
        """The strongest mode in which a lock is held."""
        return Mode.WRITE if lock in node.writes else Mode.READ if lock in node.reads else None

    def releases(self, node: Node, instruction: Instruction) -> bool:
        """Whether the lock that an instruction releases is held, in its mode."""
        reads = instruction.target in node.reads and instruction.mode in (None, Mode.READ)
        return reads or (instruction.target in node.writes and instruction.mode is not Mode.READ)

    def not_held(self, node: Node) -> bool:
        """Whether the thread must hold a lock, and does not."""
        instruction = self.instruction(node)
        if instruction is None:
            return False
        if instruction.kind is Release and (instruction.lock is not Kind.ERRORCHECK or instruction.whole):
            return not self.releases(node, instruction)
        return instruction.needs_lock >= 0 and instruction.needs_lock not in node.writes

    def rows(self) -> Iterator[tuple[int, ...]]:
        """The table row of each node, without FIRST and WAYS."""
        gives = self.reachable()
        for node in self.nodes:
            instruction = self.instruction(node)
            yield (
                self.kind(node),
                instruction.target if instruction is not None else -1,
                sum(1 << lock for lock in node.writes),
                sum(1 << lock for lock in set(node.reads)),
                self.numbers.get(replace(node, asleep=True), -1),
                gives.get(node.at, 0),
                self.bits(instruction.needs()) if instruction is not None else 0,
                int(node.at in self.program.rests and not node.writes and not node.reads),
            )

    def ways(self) -> Iterator[list[list[int]]]:
        """Of each node the numbers of its ways, for ACT; else one list of the successors."""
        for node in self.nodes:
            instruction = self.instruction(node)
            if instruction is not None and instruction.kind is Act and not self.not_held(node):
                yield [self.way(node, way) for way in instruction.ways]
            else:
                yield [[self.numbers[after] for after in self.after(node)]]

    def way(self, node: Node, way: Way) -> list[int]:
        """The numbers of a way."""
        meets = -1 if way.meets is None else 2 * way.meets[0] + int(way.meets[1] is Side.RECEIVES)
        wakes = -1 if way.wakes is None else way.wakes
        head = [meets, wakes, int(way.everyone), int(bool(way.fatal)), int(way.last)]
        return [
            *head,
            *(len(way.guards), len(way.changes), len(way.then)),
            *(n for guard in way.guards for n in (guard.counter, guard.least, guard.most)),
            *(n for change in way.changes for n in (change.counter, change.keeps, change.plus)),
            *(self.numbers[replace(node, at=then)] for then in way.then),
        ]

    def kind(self, node: Node) -> int:
        instruction = self.instruction(node)
        if instruction is None:
            return FINISHED
        if self.not_held(node):
            return NOT_HELD
        if instruction.kind is Acquire:
            return self.kind_of_acquisition(node, instruction)
        if instruction.kind is Release:
            if not self.releases(node, instruction):
                return STEP
            return LEAVE if instruction.whole else RELEASE
        kinds: dict[object, int] = {
            Receive: RECEIVE,
            Send: SEND,
            Act: ACT,
            Park: NAP if instruction.timed else PARK,
        }
        return kinds[instruction.kind]

    def kind_of_acquisition(self, node: Node, instruction: Instruction) -> int:
        held = self.held(node, instruction.target)
        assert instruction.mode is not None
        if held is not None and instruction.lock.reacquires(held, instruction.mode):
            return STEP
        if held is Mode.WRITE and instruction.lock is Kind.ERRORCHECK:
            return STEP
        if instruction.mode is not Mode.READ:
            return WRITER if node.asleep else WRITE
        if node.asleep:
            return READER
        return {Kind.STAMPED: READ_PAST, Kind.REENTRANT_RW: READ_FREE}.get(instruction.lock, READ)

    def reachable(self) -> dict[int, int]:
        """Position -> the signs that steps from there on give, as bits."""
        instructions = self.program.instructions
        later = {at: self.bits(one.gives()) for at, one in enumerate(instructions)}
        changed = True
        while changed:  # programs are unfolded from their end, so two rounds are enough without loops
            changed = False
            for at, one in enumerate(instructions):
                more = later[at]
                for then in one.then + one.otherwise:
                    more |= later.get(then, 0)
                changed |= more != later[at]
                later[at] = more
        return later

    def bits(self, signs: Iterable[Sign]) -> int:
        """The signs that some thread waits for, as bits."""
        return sum(1 << self.signs[sign] for sign in set(signs) if sign in self.signs)


def _without(locks: tuple[int, ...], lock: int) -> tuple[int, ...]:
    """The locks, one of them once less."""
    at = locks.index(lock)
    return locks[:at] + locks[at + 1 :]


class Packing:
    """The encoding of the states of threads that run together; ``fields`` describes it to the kernel.

    Args:
        automata: the automata of all programs.
        members: for each thread the number of its program.
        same: the groups of threads with equal programs.
    """

    def __init__(self, automata: Automata, members: tuple[int, ...], same: Classes) -> None:
        if len(members) > MOST:
            raise TooWide
        self.automata, self.members, self.same = automata, members, same
        self.each = [automata.each[n] for n in members]
        most = [len(one.nodes) - 1 for one in self.each]
        most += [(1 << FOR_EVER) - 1 if room == UNBOUNDED else room for room in automata.capacities]
        places, word, used = [], 0, 0
        for bits in (number.bit_length() for number in most):
            if used + bits > 64:
                word, used = word + 1, 0
            places.append((word, used, (1 << bits) - 1))
            used += bits
        self.places, self.words = places, word + 1
        base = [automata.base[n] for n in members] + [0] * len(automata.capacities)
        following = dict(pair for threads in same for pair in pairwise(threads))
        room = [0] * len(members) + list(automata.capacities)
        self.fields = np.array(
            [(base[n], following.get(n, -1), *place, room[n]) for n, place in enumerate(places)], np.int64
        )

    def starts(self, *, ordered: bool) -> NDArray[np.uint64]:
        """The initial states, one in each row, in the order of :meth:`.semantics.Machine.starts`.

        Args:
            ordered: keep one of the states that differ only in the names of threads.
        """
        packed: dict[tuple[int, ...], None] = {}
        for chosen in product(*(one.starts for one in self.each)):
            numbers = list(chosen)
            for threads in self.same if ordered else ():
                for thread, number in zip(threads, sorted(numbers[n] for n in threads), strict=True):
                    numbers[thread] = number
            state = [0] * self.words
            for number, (word, shift, _) in zip([*numbers, *self.automata.first], self.places, strict=True):
                state[word] |= number << shift
            packed[tuple(state)] = None
        return np.array(list(packed), np.uint64)

    def unpack(self, words: Sequence[int]) -> State:
        """A packed state as the interpreter's state."""
        numbers = [words[word] >> shift & mask for word, shift, mask in self.places]
        nodes = [one.nodes[number] for one, number in zip(self.each, numbers, strict=False)]
        locks = []
        for lock in range(self.automata.locks):
            asleep = [n for n, node in enumerate(nodes) if node.asleep and self._target(n, node) == lock]
            writers = [n for n in asleep if self.each[n].kind(nodes[n]) == WRITER]
            locks.append(
                Lock(
                    next((n for n, node in enumerate(nodes) if lock in node.writes), None),
                    tuple(n for n, node in enumerate(nodes) for _ in range(node.reads.count(lock))),
                    next(iter(writers), None),
                    frozenset(asleep) - frozenset(writers),
                    tuple(n for n, node in enumerate(nodes) for _ in range(node.levels.count(lock))),
                )
            )
        return State(
            tuple(node.at for node in nodes),
            frozenset(n for n, node in enumerate(nodes) if node.asleep),
            tuple(locks),
            tuple(numbers[len(nodes) :]),
        )

    def _target(self, thread: int, node: Node) -> int | None:
        instruction = self.each[thread].instruction(node)
        return instruction.target if instruction is not None else None
