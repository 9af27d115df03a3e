"""All that shim, core and cluster can come to with one application of one or two pods; every move is checked.

No time is kept: a timer may run out at any moment after it is armed, and take effect at any later one; so may a crash come.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from functools import partial

import networkx as nx
import pytest

from schedproof.impl.clock import ManualClock
from schedproof.impl.scheduler_interface import GangStyle
from schedproof.impl.systems.yunikorn.core import Kind, Wakeup, canonical
from schedproof.impl.systems.yunikorn.shim import KubeNode, Phase
from schedproof.impl.systems.yunikorn.shim.applications import Applications
from schedproof.impl.systems.yunikorn.shim.kubernetes import ENDED
from schedproof.impl.systems.yunikorn.shim.tasks import Tasks
from tests.support.sample import thinned
from tests.systems.yunikorn.shim.bench import Bench, gang, pod
from tests.systems.yunikorn.shim.checks import CORE_EVENTS

Move = Callable[[], object]


@dataclass(frozen=True)
class May:
    """What else may happen: pods end, people delete them, the shim crashes, so many times.

    With ``stutter`` the shim handles one event at a time, else all that it has.
    """

    stutter: bool = False
    end: bool = False
    delete: bool = False
    crashes: int = 0


def moves(bench: Bench, may: May) -> list[tuple[str, Move]]:
    """What can happen now, with its name."""
    possible: list[tuple[str, Move]] = []
    if bench.shim.snapshot().queued.queue:
        possible.append(("step", bench.shim.step) if may.stutter else ("run", partial(run, bench)))
    elif bench.shim.scheduler == "Running":
        possible.append(("schedule", bench.shim.schedule))
    possible += [(f"do {job.work}", partial(bench.shim.do, job)) for job in bench.shim.jobs]
    if bench.link.requests:
        possible.append(("request", bench.link.deliver_request))
    if bench.link.responses:
        possible.append(("response", bench.link.deliver_response))
    possible += [("allocate", partial(bench.core.schedule, lambda _, o=option: o)) for option in bench.core.options()]
    for it in bench.cluster.list_pods():
        if it.deleting:
            possible.append(("reap", partial(bench.cluster.reap_pod, it.name)))
        elif may.end and it.phase is Phase.RUNNING and not it.placeholder:
            possible.append(("end", partial(bench.cluster.end_pod, it.name)))
        if may.delete and not it.deleting and it.phase not in ENDED:
            possible.append(("delete", partial(bench.cluster.delete_pod, it.name)))
    possible += [
        ("time-out", partial(bench.clock.deliver, t.name)) for t in bench.clock.under_way() if is_timed(bench, t.name)
    ]
    if not bench.clock.under_way():
        possible += [
            ("time", partial(bench.clock.run_out, t.name)) for t in bench.clock.pending() if is_timed(bench, t.name)
        ]
    if bench.crashes < may.crashes:
        possible += [("crash", partial(crash, bench, lose)) for lose in (True, False)]
    return possible


def run(bench: Bench) -> None:
    """The shim handles all that it has to."""
    while bench.shim.step():
        pass


def is_timed(bench: Bench, name: Hashable) -> bool:
    """The timers of an application in the scheduler, not the sweeps, and not how long one that has ended is tracked."""
    live = {a.serial for a in bench.core.world.applications}
    return isinstance(name, Wakeup) and name.kind in (Kind.STATE, Kind.GANG) and name.application in live


def crash(bench: Bench, lose: bool) -> None:
    """The shim dies, and is started again."""
    bench.crash_shim(lose=lose)
    bench.shim.start()


Snapshot = tuple[object, ...]


def take(bench: Bench) -> Snapshot:
    return (
        bench.shim.snapshot(),
        bench.core.snapshot(),
        bench.cluster.snapshot(),
        bench.link.snapshot(),
        bench.clock.snapshot(),
        bench.core.process,
        bench.crashes,
    )


def put(bench: Bench, at: Snapshot) -> None:
    shim, core, cluster, link, times, process, bench.crashes = at
    bench.core.restore(core, process)
    bench.cluster.restore(cluster)
    bench.link.restore(link)
    bench.clock.restore(times)
    bench.shim.restore(shim)


def key(bench: Bench) -> Hashable:
    """Where all of it is."""
    under_way = [t.name for t in bench.clock.under_way() if isinstance(t.name, Wakeup)]
    live = replace(bench.core.world, tracked=())  # what has ended is a record, which grows
    core = canonical(live, under_way)
    return bench.shim.snapshot(), core, bench.cluster.snapshot(), bench.link.snapshot(), bench.crashes


def at_rest(bench: Bench) -> bool:
    """Nothing is under way, what runs is allocated, and every pod that is there runs, has ended or was given up."""
    pods = bench.cluster.list_pods()
    given_up = {t.name for t in bench.shim.tasks.values() if t.state == "Failed"}
    failed = {a.name for a in bench.shim.applications.values() if a.state == "Failed"}
    return (
        bench.shim.scheduler == "Running"
        and not bench.link.requests
        and not bench.link.responses
        and not bench.shim.snapshot().queued.queue
        and not bench.shim.jobs
        and bench.allocations() == bench.running()
        and all(
            it.phase is not Phase.PENDING or it.name in given_up or it.application in failed
            for it in pods
            if not it.deleting
        )
        and not any(it.deleting for it in pods)
    )


@dataclass
class Explored:
    """``stuck``: the first states from which rest cannot be reached; ``dropped``: what the core counted on, and where."""

    states: int = 0
    applications: Counter[tuple[str, str]] = field(default_factory=Counter)
    dropped: Counter[tuple[str, str]] = field(default_factory=Counter)
    stuck: int = 0
    complete: bool = True


def explore(start: Bench, may: May, limit: int = 60_000) -> Explored:
    """Breadth first, every move of every state."""
    explored = Explored()
    bench = start
    first = key(bench)
    numbers: dict[Hashable, int] = {first: 0}
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_node(0)
    resting = {0} if at_rest(bench) else set()
    queue = deque([(0, take(bench))])
    while queue:
        number, at = queue.popleft()
        put(bench, at)
        names = range(len(moves(bench, may)))
        for choice in names:
            put(bench, at)
            bench.dropped.clear()
            _, move = moves(bench, may)[choice]
            move()
            explored.dropped.update((d.event.event, d.state) for d in bench.dropped if d.event.event in CORE_EVENTS)
            where = key(bench)
            if where not in numbers:
                if len(numbers) >= limit:
                    explored.complete = False
                    continue
                numbers[where] = len(numbers)
                core = [str(a.state) for a in (*bench.core.world.applications, *bench.core.world.tracked)]
                explored.applications[bench.app(), core[-1] if core else ""] += 1
                if at_rest(bench):
                    resting.add(numbers[where])
                queue.append((numbers[where], take(bench)))
            graph.add_edge(number, numbers[where])
    reach = set(resting)
    todo = list(resting)
    while todo:
        for before in graph.predecessors(todo.pop()):
            if before not in reach:
                reach.add(before)
                todo.append(before)
    explored.states, explored.stuck = len(numbers), len(numbers) - len(reach)
    return explored


def bench_of(kinds: str, style: GangStyle = GangStyle.SOFT, capacity: int = 4) -> Bench:
    """A shim that runs, and the pods of one application: ``r`` a real one, each ``p`` a placeholder of its gang."""
    bench = Bench()
    bench.clock = ManualClock(timed=False)
    bench.core._clock = bench.shim._clock = bench.clock
    bench.cluster.add_node(KubeNode("n1", capacity))
    bench.shim.start()
    bench.settle()
    of = gang(kinds.count("p"), style) if "p" in kinds else None
    for number in range(kinds.count("r")):
        bench.cluster.create_pod(pod(f"r{number}", of=of))
    return bench


CONFIGURATIONS = {
    "a pod, event by event": ("r", GangStyle.SOFT, May(stutter=True)),
    "a pod that ends or is deleted": ("r", GangStyle.SOFT, May(end=True, delete=True)),
    "a pod, and the shim crashes": ("r", GangStyle.SOFT, May(crashes=1)),
    "a soft gang": ("pr", GangStyle.SOFT, May()),
    "a hard gang, and the pod ends": ("pr", GangStyle.HARD, May(end=True)),
}
LONG = {
    "a pod that ends or is deleted, and the shim crashes": ("r", GangStyle.SOFT, May(end=True, delete=True, crashes=1)),
    "a soft gang, and the shim crashes": ("pr", GangStyle.SOFT, May(crashes=1)),
    "a gang of two, hard": ("ppr", GangStyle.HARD, May()),
    "a pod, and the shim crashes twice": ("r", GangStyle.SOFT, May(crashes=2)),
}


def checked(kinds: str, style: GangStyle, may: May) -> Explored:
    explored = explore(bench_of(kinds, style, capacity=1 if kinds == "ppr" else 4), may)
    assert explored.complete, f"more than {explored.states} states"
    assert explored.stuck == 0, f"from {explored.stuck} of {explored.states} states rest can not be reached"
    assert not explored.dropped, f"dropped, though the core counts on it: {explored.dropped}"
    return explored


@pytest.mark.parametrize("name", thinned(CONFIGURATIONS, 6))
def test_rest_can_always_be_reached_and_nothing_is_dropped(name: str) -> None:
    checked(*CONFIGURATIONS[name])


@pytest.mark.long(one_in=12)
@pytest.mark.parametrize("name", LONG)
def test_the_same_in_more_of_a_configuration(name: str) -> None:
    checked(*LONG[name])


@pytest.mark.long
def test_a_gang_goes_through_what_its_figure_has() -> None:
    """What the exploration of a soft gang comes through, shim and core together."""
    explored = checked(*CONFIGURATIONS["a soft gang"])
    shim = {state for state, _ in explored.applications}
    assert {"New", "Submitted", "Accepted", "Reserving", "Running"} <= shim
    core = {state for _, state in explored.applications}
    assert {"New", "Accepted", "Starting", "Running", "Completing", "Completed"} <= core


# --- what an exploration must notice


def test_a_release_that_is_not_carried_out_is_stuck(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Applications, "_release", lambda self, event: None)
    assert explore(bench_of("pr"), May()).stuck > 0


def test_an_end_that_is_not_reported_is_stuck(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Tasks, "_released", lambda self, it, before: None)
    assert explore(bench_of("r"), May(delete=True)).stuck > 0
