"""Threads as separate automata, and the states of several threads as packed words, for the compiled search.

A thread's own steps determine the locks that it holds.
These, and which threads sleep, determine the state of each lock.
So a packed state has one small number for each thread and each channel; the rest is computed when needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise, product

import numpy as np
from numpy.typing import NDArray

from schedproof.model.locks.language import UNBOUNDED, Acquire, Mode, Receive, Release, Send

from .semantics import Lock, State
from .symmetry import Classes
from .unfold import DONE, Instruction, Program

FINISHED, READ, WRITE, RELEASE, RECEIVE, SEND, NOT_HELD, READER, WRITER = range(9)
"""What a thread does next.

NOT_HELD: it releases a lock that it does not hold. READER, WRITER: it sleeps until it gets the lock."""

KIND, TARGET, WRITES, READS, ASLEEP, SENDS, RECEIVES, RESTS, FIRST, WAYS = range(10)
"""The columns of the table of nodes. Node numbers in it count from the first node of the automaton.

KIND and TARGET: the next instruction, and its lock or channel.
WRITES and READS: the locks that are held, as bits.
ASLEEP: the same node, asleep.
SENDS and RECEIVES: the channels that the thread can still send to, or receive from, as bits.
RESTS: the thread waits for the next message and holds nothing.
FIRST and WAYS: the index of the first successor node, and the number of successors.
"""

BASE, ALIKE, WORD, SHIFT, MASK, CAPACITY = range(6)
"""The columns of a packing, which has one row for each thread and then one for each channel.

BASE: the first node of the thread's automaton.
ALIKE: the next thread with the same program, or -1.
WORD, SHIFT and MASK: the word of a state that has this number, its lowest bit there, and its bits, shifted down.
CAPACITY: that of the channel.
"""

MOST_NODES = 1 << 16
"""The most nodes of one thread."""

MOST_READ = 64
"""The most read locks that a thread holds at once.

A serving thread that reads repeatedly without a release has infinitely many nodes."""

MOST = 62
"""The most threads, locks or channels: sets of them are bits of a word."""

FOR_EVER = 32
"""The bits for the messages in an unbounded channel: a search never has enough states to exceed them."""


class TooWide(Exception):
    """Only the interpreter can explore these threads."""


@dataclass(frozen=True)
class Node:
    """The position of a thread, the locks it holds (read locks once for each acquisition), and whether it sleeps."""

    at: int
    writes: frozenset[int] = frozenset()
    reads: tuple[int, ...] = ()
    asleep: bool = False

    @property
    def order(self) -> tuple[object, ...]:
        """The key by which nodes are numbered."""
        return self.at, self.asleep, tuple(sorted(self.writes)), self.reads


class Automata:
    """The automata of programs.

    Attributes:
        table: a row for each node of all automata.
        then: the successors of all nodes.

    Raises:
        TooWide: there are too many locks or channels, a program has too many nodes, or tries to acquire a lock.
    """

    def __init__(self, programs: Sequence[Program], locks: int, capacities: Sequence[int]) -> None:
        if max(locks, len(capacities)) > MOST or any(i.otherwise for one in programs for i in one.instructions):
            raise TooWide  # an acquisition that is tried has two kinds of successors
        self.locks, self.capacities = locks, tuple(capacities)
        self.each = [_Automaton(program) for program in programs]
        self.base = [0, *accumulate(len(one.nodes) for one in self.each)]
        then = [after for one in self.each for after in one.then]
        first = [0, *accumulate(map(len, then))]
        rows = [row for one in self.each for row in one.rows()]
        self.table = np.array([(*row, first[n], len(then[n])) for n, row in enumerate(rows)], np.int64)
        self.then = np.array([node for after in then for node in after], np.int64)

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

    def __init__(self, program: Program) -> None:
        self.program = program
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
        self.then = [[self.numbers[after] for after in self.after(node)] for node in self.nodes]

    def number(self, node: Node) -> None:
        if node not in self.numbers:
            if len(self.nodes) == MOST_NODES or len(node.reads) > MOST_READ:
                raise TooWide
            self.numbers[node] = len(self.nodes)
            self.nodes.append(node)

    def instruction(self, node: Node) -> Instruction | None:
        return None if node.at == DONE else self.program.instructions[node.at]

    def after(self, node: Node) -> Iterator[Node]:
        """The nodes after the next instruction."""
        if (instruction := self.instruction(node)) is None:
            return
        writes, reads, lock = node.writes, node.reads, instruction.target
        if instruction.kind is Acquire:
            if lock in writes or (lock in reads and instruction.mode is not Mode.READ):
                return  # it waits for itself
            if instruction.mode is Mode.READ:
                reads = tuple(sorted([*reads, lock]))
            else:
                writes |= {lock}
        elif instruction.kind is Release:
            if lock in writes:
                writes -= {lock}
            elif lock in reads:
                at = reads.index(lock)
                reads = reads[:at] + reads[at + 1 :]
            else:
                return
        for then in instruction.then:
            yield Node(then, writes, reads)

    def rows(self) -> Iterator[tuple[int, ...]]:
        """The table row of each node, without FIRST and WAYS."""
        sends, receives = self.reachable(Send), self.reachable(Receive)
        for node in self.nodes:
            instruction = self.instruction(node)
            yield (
                self.kind(node),
                instruction.target if instruction is not None else -1,
                sum(1 << lock for lock in node.writes),
                sum(1 << lock for lock in set(node.reads)),
                self.numbers.get(replace(node, asleep=True), -1),
                sends.get(node.at, 0),
                receives.get(node.at, 0),
                int(node.at in self.program.rests and not node.writes and not node.reads),
            )

    def kind(self, node: Node) -> int:
        match self.instruction(node):
            case None:
                return FINISHED
            case Instruction(kind=kind, mode=Mode.READ) if kind is Acquire:
                return READER if node.asleep else READ
            case Instruction(kind=kind) if kind is Acquire:
                return WRITER if node.asleep else WRITE
            case Instruction(kind=kind, target=lock) if kind is Release:
                return RELEASE if lock in node.writes or lock in node.reads else NOT_HELD
            case Instruction(kind=kind):
                return RECEIVE if kind is Receive else SEND

    def reachable(self, kind: type[Send] | type[Receive]) -> dict[int, int]:
        """Position -> the channels that steps of this kind from there on use, as bits."""
        instructions = self.program.instructions
        later = {at: 1 << one.target if one.kind is kind else 0 for at, one in enumerate(instructions)}
        changed = True
        while changed:  # programs are unfolded from their end, so two rounds are enough without loops
            changed = False
            for at, one in enumerate(instructions):
                more = later[at]
                for then in one.then:
                    more |= later.get(then, 0)
                changed |= more != later[at]
                later[at] = more
        return later


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
            for number, (word, shift, _) in zip(numbers, self.places, strict=False):
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
