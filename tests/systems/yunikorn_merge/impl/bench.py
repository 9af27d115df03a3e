"""A merged scheduler under many threads: what they do, what is written down of it, and what is asked at the end."""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from schedproof.impl.locks import Acquired, LockOrder
from schedproof.impl.scheduler_interface import NewAllocation, PartitionSpec, QueueSpec, ReleasedAllocation, Response
from schedproof.impl.systems.yunikorn_merge import ORDER, Allocation, MergedScheduler, health

LEAVES = ("root.a.x", "root.a.y", "root.b")
BASE = PartitionSpec(
    "p", QueueSpec("root", (QueueSpec("a", (QueueSpec("x"), QueueSpec("y", maximum=6))), QueueSpec("b")))
)
OTHER = PartitionSpec("q", QueueSpec("root", (QueueSpec("b"),)))
LONGEST = 60.0
"""Seconds after which threads that have not ended are taken for stuck."""


@dataclass
class Log:
    """What happened to locks, in its order."""

    records: list[Acquired] = field(default_factory=list)
    mutex: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, record: Acquired) -> None:
        with self.mutex:
            self.records.append(record)

    def write(self, path: Path) -> None:
        path.write_text("".join(json.dumps(record.as_json()) + "\n" for record in self.records))


def scheduler(log: Log | None = None, kind: type[MergedScheduler] = MergedScheduler) -> MergedScheduler:
    configured = kind(LockOrder(ORDER, observer=log))
    configured.configure([BASE])
    return configured


def do_something(it: MergedScheduler, rng: random.Random, turn: int) -> None:
    """One operation of the resource manager, the scheduler or people."""
    partition = "q" if rng.random() < 0.1 else "p"
    # Responses name no partition, so a name is of one partition only.
    app, node, ask = f"app-{partition}{rng.randrange(6)}", f"node-{rng.randrange(4)}", f"ask-{rng.randrange(30)}"
    choices: list[Callable[[], object]] = [
        lambda: it.add_application(partition, app, rng.choice(LEAVES)),
        lambda: it.add_ask(partition, app, f"{app}/{ask}", rng.randint(1, 3)),
        lambda: it.add_ask(partition, app, f"{app}/{ask}", rng.randint(1, 3)),
        lambda: it.schedule(partition),
        lambda: it.schedule(partition),
        lambda: it.schedule(partition),
        lambda: it.release(partition, app, f"{app}/{ask}"),
        lambda: it.remove_ask(partition, app, f"{app}/{ask}"),
        lambda: it.add_node(
            partition,
            node,
            rng.randint(4, 8),
            [Allocation(f"{app}/old-{turn}", app, node, 1)] if rng.random() < 0.3 else [],
        ),
        lambda: it.update_node(partition, node, rng.randint(2, 8)),
    ]
    seldom: list[Callable[[], object]] = [
        lambda: it.remove_application(partition, app),
        lambda: it.remove_node(partition, node),
        lambda: it.configure([BASE, OTHER] if rng.random() < 0.7 else [BASE]),
    ]
    rng.choice(seldom if rng.random() < 0.08 else choices)()


@dataclass
class Hammered:
    """What came of it: what the threads raised, which are stuck, and the responses to the resource manager."""

    raised: list[BaseException]
    stuck: list[str]
    responses: list[Response]


def hammer(it: MergedScheduler, *, threads: int, turns: int, seed: int, longest: float = LONGEST) -> Hammered:
    """Lets ``threads`` threads do ``turns`` things each; who has not ended after ``longest`` seconds is taken for stuck."""
    raised: list[BaseException] = []

    def work(number: int) -> None:
        rng = random.Random(f"{seed}/{number}")
        try:
            for turn in range(turns):
                do_something(it, rng, turn * 100 + number)
                if kept := it.order.holds():
                    raise AssertionError(f"still held: {', '.join(map(str, kept))}")
        except BaseException as problem:
            raised.append(problem)

    workers = [threading.Thread(target=work, args=(n,), name=f"thread-{n}", daemon=True) for n in range(threads)]
    for worker in workers:
        worker.start()
    deadline = time.monotonic() + longest
    for worker in workers:
        worker.join(max(0.0, deadline - time.monotonic()))
    responses = []
    while not it.outbox.empty():
        responses.append(it.outbox.get())
    return Hammered(raised, [worker.name for worker in workers if worker.is_alive()], responses)


def out_of_order(responses: Iterable[Response], recovered: Sequence[str] = ()) -> list[str]:
    """What is wrong with the order of responses: an allocation ends only after it has begun, and each happens once."""
    wrong, running = [], set(recovered)
    for response in responses:
        match response:
            case NewAllocation(allocation=name):
                if name in running:
                    wrong.append(f"{name} begins twice")
                running.add(name)
            case ReleasedAllocation(allocation=name):
                if name not in running and "/old-" not in name:
                    wrong.append(f"{name} is released, and never began")
                running.discard(name)
    return wrong


def wrong_with(it: MergedScheduler, hammered: Hammered) -> list[str]:
    """All that is wrong after a hammering, in words."""
    problems = [f"{type(problem).__name__}: {problem}" for problem in hammered.raised]
    problems += [f"{name} is stuck" for name in hammered.stuck]
    # A thread that ended early may have kept a lock, and the health check would wait for it.
    looked_at = health(it) if not problems or not kept_by(hammered) else []
    return problems + looked_at + out_of_order(hammered.responses)


def kept_by(hammered: Hammered) -> bool:
    """A thread is stuck, or has ended with locks that it did not release."""
    return bool(hammered.stuck) or any(isinstance(problem, AssertionError) for problem in hammered.raised)
