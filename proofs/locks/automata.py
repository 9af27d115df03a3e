"""Threads as automata of their own, and the states of several as packed words: what the compiled search explores.

What a thread holds follows from its own steps, and all that a lock knows from what threads hold and which of them sleep.
So a state is one small number for each thread and each channel: these are packed, and the rest is worked out when needed.
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
"""What a thread does next; NOT_HELD: it releases what it does not hold; READER, WRITER: it sleeps until it has the lock."""

KIND, TARGET, WRITES, READS, ASLEEP, SENDS, RECEIVES, RESTS, FIRST, WAYS = range(10)
"""What a table says of a node; nodes in it are counted from the first of their automaton.

KIND and TARGET: what is done next, and with which lock or channel. WRITES and READS: the locks that are held, as bits. ASLEEP: the
same node, asleep. SENDS and RECEIVES: the channels that the thread can still send to, or receive from, as bits. RESTS: it waits
for the next message with nothing held. FIRST and WAYS: where the nodes that it leads to begin, and how many there are.
"""

BASE, ALIKE, WORD, SHIFT, MASK, CAPACITY = range(6)
"""What a packing says of each thread, and then of each channel.

BASE: the first node of the thread's automaton. ALIKE: the next thread that does the same, or -1. WORD, SHIFT and MASK: the word of a state that has its number, the lowest bit of that
there, and its bits, shifted down. CAPACITY: that of the channel.
"""

MOST_NODES = 1 << 16
"""Nodes of one thread."""

MOST_READ = 64
"""What one thread reads at once. Who serves, and reads again and again without a release, has infinitely many nodes."""

MOST = 62
"""Threads, locks and channels: sets of them are bits of a word."""

FOR_EVER = 32
"""Bits for the messages in an unbounded channel: in so few states there are never more."""


class TooWide(Exception):
    """Threads that only the interpreter can explore."""


@dataclass(frozen=True)
class Node:
    """Where a thread is, the locks that it holds (for reading: once for each time), and whether it sleeps."""

    at: int
    writes: frozenset[int] = frozenset()
    reads: tuple[int, ...] = ()
    asleep: bool = False

    @property
    def order(self) -> tuple[object, ...]:
        """That of the nodes' numbers."""
        return self.at, self.asleep, tuple(sorted(self.writes)), self.reads


class Automata:
    """The automata of programs: a ``table`` with a row for each of their nodes, and the nodes ``then`` that these lead to.

    Raises:
        TooWide: there are too many locks or channels, or a program has too many nodes.
    """

    def __init__(self, programs: Sequence[Program], locks: int, capacities: Sequence[int]) -> None:
        if max(locks, len(capacities)) > MOST:
            raise TooWide
        self.locks, self.capacities = locks, tuple(capacities)
        self.each = [_Automaton(program) for program in programs]
        self.base = [0, *accumulate(len(one.nodes) for one in self.each)]
        then = [after for one in self.each for after in one.then]
        first = [0, *accumulate(map(len, then))]
        rows = [row for one in self.each for row in one.rows()]
        self.table = np.array([(*row, first[n], len(then[n])) for n, row in enumerate(rows)], np.int64)
        self.then = np.array([node for after in then for node in after], np.int64)

    def together(self, members: Sequence[int], same: Classes) -> Packing:
        """The states of threads that run these programs, given by number; ``same`` are the threads that do the same.

        Raises:
            TooWide: there are too many threads.
        """
        return Packing(self, tuple(members), same)


class _Automaton:
    """One thread by itself: a node for each place, for what may be held there, and for whether it sleeps there."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.numbers: dict[Node, int] = {}
        self.nodes: list[Node] = []
        for start in program.starts:
            self.number(Node(start))
        for node in self.nodes:  # there come more meanwhile
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
        """Where a thread can be when it has done what comes next."""
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
        """By node its row, but for where it leads to."""
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
        """By place, the channels that steps of this kind from there on are about, as bits."""
        instructions = self.program.instructions
        found = {at: 1 << one.target if one.kind is kind else 0 for at, one in enumerate(instructions)}
        changed = True
        while changed:  # programs are unfolded from their end: twice, but for loops
            changed = False
            for at, one in enumerate(instructions):
                more = found[at]
                for then in one.then:
                    more |= found.get(then, 0)
                changed |= more != found[at]
                found[at] = more
        return found


class Packing:
    """How the states of threads that run together are packed, which ``fields`` says to the kernel.

    Args:
        members: by thread the number of its program.
        same: the threads that do the same.
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
        """The initial states, a row each, in the order of :meth:`.semantics.Machine.starts`.

        Args:
            ordered: one of those that differ in the names of threads only.
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
        """A state as the interpreter has it."""
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
