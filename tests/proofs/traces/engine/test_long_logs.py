"""Long logs whose objects appear, end, come back and are spoken of again: the fast path, the ordinary way, and brute force."""

from __future__ import annotations

import gc
import random
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import FrameType
from typing import Any

import pytest

from schedproof.model.registry.discovery import system, systems
from schedproof.model.semantics import IllFormed, Instance, Moment, Stepper, Undefined, compile_term, instances
from schedproof.proofs.exploration.explore import explore
from schedproof.proofs.traces import LogVerdict, TraceError
from schedproof.proofs.traces.engine import collected_names
from schedproof.proofs.traces.engine.collected_names import CollectedNames
from schedproof.proofs.traces.engine.fast_path import FastPath
from schedproof.proofs.traces.engine.fast_run import FastRun
from schedproof.proofs.traces.engine.objects import Axioms, ObjectMap
from schedproof.proofs.traces.engine.trace_steps import TraceSteps
from schedproof.proofs.traces.engine.watch import Watch
from tests.support.rows import each_row
from tests.support.sample import thinned
from tests.systems.hived.traces import brute_force as brute
from tests.systems.hived.traces.brute_force_plain import steps

Log = list[dict[str, Any]]

CELLS = ["a", "b", "c"]
OPEN = {"schedproof": 1, "system": "hived", "objects": {"Cell": CELLS}}
LISTED = {"schedproof": 1, "system": "hived", "objects": {"Cell": CELLS, "PodGroup": []}}

MOST_LIVE = 3


class Run:
    """A run of the document, made up by the brute-force check's steps: groups come, end, and come back by their names."""

    def __init__(self, seed: int, listed: bool) -> None:
        self.rng, self.listed = random.Random(seed), listed
        self.state, self.outranks = brute.initial([], CELLS), dict[str, list[str]]()
        self.ended: list[str] = []
        self.names = 0

    def records(self, number: int) -> Log:
        return [self.record() for _ in range(number)]

    def record(self) -> dict[str, Any]:
        record: dict[str, Any] = {}
        if len(self.state.groups) < MOST_LIVE and self.rng.random() < 0.6:
            record = self.arrival()
            if self.listed and self.rng.random() < 0.3:
                return record  # the groups are there before anything happens to them
        options = list(steps(self.state, self.outranks))
        lively = [s for s in options if s[0] != "crash"]
        if len(self.state.groups) == MOST_LIVE:
            lively = [s for s in lively if s[0].startswith("delete")] or lively
        action, parameters, _, self.state = self.rng.choice(lively or options)
        shown = {n: sorted(v) if isinstance(v, set) else v for n, v in parameters.items()}
        record = {"action": action, "parameters": shown, **record, "state": self.shown()}
        over = [name for name, at in self.state.groups if at == brute.DELETED]
        self.ended += over
        self.state = self.state._replace(groups=tuple(g for g in self.state.groups if g[0] not in over))
        self.outranks = {n: [o for o in of if o not in over] for n, of in self.outranks.items() if n not in over}
        return record

    def arrival(self) -> dict[str, Any]:
        """A new group, or one by the name of one that has ended, and how a record introduces it."""
        present = [name for name, _ in self.state.groups]
        back = self.ended and self.rng.random() < 0.3
        name = self.rng.choice(self.ended[-12:]) if back else f"g{self.names}"
        self.names += 1
        self.ended = [other for other in self.ended if other != name]
        below = {n for n in present if self.rng.random() < 0.5}
        below |= {o for n in below for o in self.outranks[n]}
        self.outranks[name] = sorted(below)
        self.state = self.state._replace(groups=tuple(sorted([*self.state.groups, (name, brute.PENDING)])))
        introduced = {"objects": {"PodGroup": [name]}} if back or self.listed or self.rng.random() < 0.3 else {}
        return {**introduced, "rigid": {"PodGroup": {"outranks": {name: self.outranks[name]}}}}

    def shown(self) -> dict[str, Any]:
        """The whole state, and now and then some of those that have ended."""
        groups = {name: {"state": at} for name, at in self.state.groups}
        if self.ended and self.rng.random() < 0.2:
            groups[self.rng.choice(self.ended[-12:])] = {"state": brute.DELETED}
        return {"PodGroup": groups, "Cell": {name: cell._asdict() for name, cell in self.state.cells}}


def changed(log: Log, rng: random.Random) -> int:
    """Changes what one of the last records shows of a cell; its number."""
    at = rng.choice([i for i in range(len(log) * 3 // 4, len(log)) if "state" in log[i]])
    cell = log[at]["state"]["Cell"][rng.choice(CELLS)]
    cell["state"] = rng.choice([s for s in (brute.FREE, brute.USED, brute.RESERVED) if s != cell["state"]])
    return at + 1


def blurred(log: Log, rng: random.Random) -> None:
    """Leaves out some of what some records say, and speaks of what has ended, or never was, as if it were there."""
    for record in log:
        if rng.random() < 0.05 and "parameters" in record:
            record["parameters"].pop(rng.choice([*record["parameters"], ""]), None)
        if rng.random() < 0.1 and "state" in record:
            del record["state"][rng.choice(["PodGroup", "Cell"])]
        if rng.random() < 0.1:
            record["time"] = 5
    if rng.random() < 0.7:
        at = rng.randrange(len(log) // 2, len(log))
        name = rng.choice([f"g{rng.randrange(at // 3)}", "nobody", "a"])
        kind = rng.randrange(4)
        if kind == 0:
            live = list(log[at - 1].get("state", {}).get("PodGroup", {}))
            chosen = {"p": rng.choice([name, *live]), "K": rng.sample(CELLS, rng.randrange(1, 3))}
            log[at] = {"action": rng.choice(["allocate", "preempt"]), "parameters": chosen}
        elif kind == 1:
            log[at] = {**log[at], "objects": {"PodGroup": [name]}}
        elif kind == 2:
            log[at] = {"state": {"PodGroup": {name: {"state": "Pending"}}}}
        else:
            log[at] = {**log[at], "rigid": {"PodGroup": {"outranks": {name: [name]}}}}


def known(watch: Watch) -> object:
    """All that an engine knows after a record."""
    now = watch.candidates
    context = now.context
    return (
        now.states,
        now.records,
        now.exceeded,
        now.time,
        context.objects,
        list(context.collected.ended.items()),
        context.unobserved,
        now.since,
        watch.validation,
    )


def outcome(watch: Watch, record: Mapping[str, Any]) -> str:
    """An error's message, or "": Watch goes on after an error."""
    try:
        watch.take(record)
    except TraceError as error:
        return str(error)
    return ""


def compare(header: Mapping[str, Any], log: Log) -> tuple[Watch, int]:
    """Both engines, after each record the same; the verdict, and how many records the fast path took."""
    fast, slow, fast_steps = Watch(system("hived"), None, header), Watch(system("hived"), None, header), 0
    ordinary, steps = fast._steps.step, fast._steps
    slow._steps.fast_run = lambda *_: None  # type: ignore[method-assign]

    def counted(*args: Any) -> Any:
        nonlocal fast_steps
        fast_steps -= 1
        return ordinary(*args)

    steps.step = counted  # type: ignore[method-assign]
    for number, record in enumerate(log, 1):
        fast_steps += 1
        assert outcome(fast, record) == outcome(slow, record), number
        if number % 4 in (1, 2):  # in between, a run goes on whose state nobody asks for
            assert known(fast) == known(slow), number
        if not fast.open:
            break
    assert known(fast) == known(slow)
    assert fast.report() == slow.report() and fast.kept == slow.kept
    return fast, fast_steps


def conforming(seed: int, number: int = 150) -> tuple[Mapping[str, Any], Log]:
    listed = bool(seed % 2)
    return (LISTED if listed else OPEN), Run(seed, listed).records(number)


def check_all(seeds: range, number: int) -> None:
    """The fast path says what the ordinary way says; and of fully observed records both what the document says."""
    for seed in seeds:
        header, log = conforming(seed, number)
        watch, fast_steps = compare(header, log)
        assert watch.validation.verdict is LogVerdict.CONFORMS, (seed, "\n".join(watch.report().text()))
        assert fast_steps > 0.9 * number, (seed, fast_steps)
        rng = random.Random(seed)
        blurry = conforming(seed, number)[1]
        blurred(blurry, rng)
        compare(header, blurry)
        at = changed(log, rng)
        watch, _ = compare(header, log)
        nonconformance = watch.report().first_nonconformance
        assert nonconformance is not None and nonconformance.record == at, (seed, at)


@pytest.mark.long
@pytest.mark.parametrize("first", thinned(range(0, 12, 3), 4))
def test_fast_and_ordinary_way_agree(first: int) -> None:
    check_all(range(first, first + 3), 150)


@pytest.mark.long(seconds=8, one_in=32)
@pytest.mark.parametrize("seed", range(100, 104))
def test_fast_and_ordinary_way_agree_on_long_logs(seed: int) -> None:
    check_all(range(seed, seed + 1), 1_500)


@pytest.mark.long
def test_only_some_ended_names_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """With so few, many that ended are new ones when they are named again: in both ways alike, whatever the verdict."""
    monkeypatch.setattr(collected_names, "MOST_NAMES", 3)
    for seed in range(2):
        compare(*conforming(seed))


def keeps_old_names(monkeypatch: pytest.MonkeyPatch) -> None:
    original = FastPath._rename

    def rename(self: FastPath, sort: str, before: Any, now: Any) -> None:
        kept = dict(self._numbers[sort])
        original(self, sort, before, now)
        self._numbers[sort].update({name: i for name, i in kept.items() if name not in self._numbers[sort]})

    monkeypatch.setattr(FastPath, "_rename", rename)


def lets_all_outrank_all(monkeypatch: pytest.MonkeyPatch) -> None:
    original = FastPath.enter

    def enter(self: FastPath, objects: ObjectMap, known: Any) -> None:
        original(self, objects, known)
        self._rigid_state = tuple((1 << len(objects.names["PodGroup"])) - 1 for _ in objects.rigid_state)

    monkeypatch.setattr(FastPath, "enter", enter)


def keeps_old_slots(monkeypatch: pytest.MonkeyPatch) -> None:
    original = FastPath.enter

    def enter(self: FastPath, objects: ObjectMap, known: Any) -> None:
        before = getattr(self, "_fields", None)
        original(self, objects, known)
        self._fields = before or self._fields

    monkeypatch.setattr(FastPath, "enter", enter)


def compares_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    original = FastPath.take
    monkeypatch.setattr(
        FastPath,
        "take",
        lambda self, record, state: original(self, {k: v for k, v in record.items() if k != "state"}, state),
    )


def keeps_what_a_refused_record_wrote(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FastRun, "_restore", lambda self: None)


def restores_an_earlier_state(monkeypatch: pytest.MonkeyPatch) -> None:
    original = FastRun._restore

    def restore(self: FastRun) -> None:
        self._written = self._written[:-1]
        original(self)

    monkeypatch.setattr(FastRun, "_restore", restore)


def remembers_no_ended_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CollectedNames, "after", lambda self, *_: self)


def leaves_what_was_in_the_place(monkeypatch: pytest.MonkeyPatch) -> None:
    original = ObjectMap.moved
    monkeypatch.setattr(
        ObjectMap,
        "moved",
        lambda self, states, before: tuple(states) if self._sizes == before._sizes else original(self, states, before),
    )


def keeps_relations_of_the_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    original = ObjectMap.with_new

    def with_new(self: ObjectMap, sort: str, name: str, place: int | None = None) -> ObjectMap:
        return (
            replace(original(self, sort, name, place), rigid=self.rigid)
            if place is not None
            else original(self, sort, name)
        )

    monkeypatch.setattr(ObjectMap, "with_new", with_new)


def restores_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CollectedNames, "restored", lambda self, objects, back, states: states)


def knows_only_added_places(monkeypatch: pytest.MonkeyPatch) -> None:
    def new_places(self: ObjectMap, than: ObjectMap) -> dict[str, list[int]]:
        added = {s: list(range(len(than.births[s]), len(births))) for s, births in self.births.items()}
        return {sort: numbers for sort, numbers in added.items() if numbers}

    monkeypatch.setattr(ObjectMap, "new_places", new_places)


FAULTS: list[Callable[[pytest.MonkeyPatch], None]] = [
    keeps_old_names,
    lets_all_outrank_all,
    keeps_old_slots,
    compares_nothing,
    keeps_what_a_refused_record_wrote,
    restores_an_earlier_state,
    remembers_no_ended_names,
    leaves_what_was_in_the_place,
    keeps_relations_of_the_forgotten,
    restores_nothing,
    knows_only_added_places,
]


@pytest.mark.parametrize("fault", thinned(FAULTS, 6), ids=lambda fault: fault.__name__)
def test_seeded_faults_are_caught(fault: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch) -> None:
    fault(monkeypatch)
    with pytest.raises((AssertionError, KeyError)):
        check_all(range(12), 150)


class TestCollectedNames:
    """Versions that share one table are as copies would be."""

    @each_row("seed", range(5))
    def test_every_version_is_as_it_was(self, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(collected_names, "MOST_NAMES", 8)
        rng, names = random.Random(seed), 0
        objects = Watch(system("hived"), None, {**OPEN, "objects": {"Cell": ["a"], "PodGroup": ["x", "y"]}}).objects
        versions = [(objects, CollectedNames(), dict[tuple[str, str], Any]())]
        for _ in range(200):
            objects, collected, expected = versions[-1 if rng.random() < 0.9 else rng.randrange(len(versions))]
            places = rng.sample(range(2), rng.randrange(3))
            now = objects
            for place in places:
                back = [name for _, name in expected if rng.random() < 0.1 and now.number("PodGroup", name) < 0]
                names += 1
                now = now.with_new("PodGroup", back[0] if back else f"n{names}", place)
            state = tuple(rng.randrange(3) for _ in objects.instance.initial())
            after = dict(expected)
            for place in sorted(places):
                name = objects.names["PodGroup"][place]
                if now.number("PodGroup", name) < 0:
                    after["PodGroup", name] = (state[objects.instance.slot("PodGroup") + place],)
            for place in places:
                after.pop(("PodGroup", now.names["PodGroup"][place]), None)
            versions.append((now, collected.after(objects, now, [state]), dict(list(after.items())[-8:])))
            for _, some, right in rng.sample(versions, min(3, len(versions))) if rng.random() < 0.3 else versions[-1:]:
                assert list(some.ended.items()) == list(right.items()) and len(some) == len(right)


@pytest.mark.long
@pytest.mark.parametrize(
    ("system", "variant"), thinned([(s.name, v) for s in systems().values() for v in list(s.variants)[:2]], 3)
)
def test_steps_of_a_layout_are_those_of_its_configurations(system: str, variant: str) -> None:
    """With what never changes in the state, one stepper has the steps of all configurations; and so for the axioms."""
    model = systems()[system].variants[variant]
    layouts: dict[tuple[int, ...], Stepper] = {}
    compared = 0
    for instance in list(instances(model, {}))[:4]:
        objects = ObjectMap.of(instance)
        layout = layouts.setdefault(tuple(instance.sizes.values()), Stepper(objects.layout))
        assert objects.layout.initial()[: instance.width] == Instance(model, instance.sizes).initial()
        initial = instance.initial()
        for sort, size in instance.sizes.items():
            for number in range(size):
                assert objects._initial(sort, number) == [initial[slot] for slot in objects.slots(sort, number)]
        assert Axioms(objects.layout).broken(objects.rigid_state) == ""
        plain = Stepper(instance)
        for state in explore(instance, symmetry=False, limit=60).states[:60]:
            for action in model.actions:
                assert chosen(layout, action, state + objects.rigid_state) == chosen(plain, action, state)
                for choice in plain.choices(state, action):
                    assert layout.effect(choice, state + objects.rigid_state) == plain.effect(choice, state)
                    compared += 1
    assert compared > 20


def chosen(stepper: Stepper, action: Any, state: tuple[int, ...]) -> object:
    try:
        return stepper.choices(state, action)
    except (IllFormed, Undefined) as error:
        return str(error)


def test_axioms_of_a_layout_are_those_of_its_configurations() -> None:
    """All relations of three groups, also those that are no order."""
    model, rng = systems()["hived"].variants["as-written"], random.Random(3)
    sizes, broken = {"PodGroup": 3, "Cell": 1}, 0
    axioms = Axioms(Instance(model, sizes, rigid_in_state=True))
    for number in rng.sample(range(1 << 9), 200):
        masks = tuple(number >> 3 * i & 7 for i in range(3))
        sets = [frozenset(i for i in range(3) if mask >> i & 1) for mask in masks]
        instance = Instance(model, sizes, {("PodGroup", "outranks"): sets})
        kept = all(compile_term(instance, axiom, {})(Moment(instance.initial())) for axiom in model.axioms)
        assert (axioms.broken(masks) == "") == kept
        broken += not kept
    assert 0 < broken < 200


def lives(first: int, number: int) -> Iterator[dict[str, Any]]:
    """Groups that each have a name of their own, are allocated a cell and go."""
    for i in range(first, first + number):
        group = f"job-{i}"
        used = {"PodGroup": {group: {"state": "Allocated"}}, "Cell": {"a": {"state": "Used", "user": group}}}
        yield {"action": "allocate", "parameters": {"p": group, "K": ["a"]}, "state": used}
        yield {"action": "crash", "parameters": {}, "state": used}
        ended = {"PodGroup": {group: {"state": "Deleted"}}, "Cell": {"a": {"state": "Free", "user": None}}}
        yield {"action": "delete_allocated", "parameters": {"p": group}, "state": ended}


@pytest.mark.long
def test_work_for_a_record_does_not_grow_with_the_ended() -> None:
    """Counted in calls of Python functions, so that it is the same on any machine."""
    watch = Watch(system("hived"), None, OPEN)
    calls = 0

    def count(frame: FrameType, event: str, arg: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    def work(first: int) -> int:
        nonlocal calls
        calls = 0
        sys.setprofile(count)
        try:
            for record in lives(first, 50):
                watch.take(record)
        finally:
            sys.setprofile(None)
        return calls

    for record in lives(0, 50):
        watch.take(record)
    early = work(50)
    for record in lives(100, 2_000):
        watch.take(record)
    assert work(2_100) <= 1.02 * early and early / 150 < 400
    assert watch.validation.verdict is LogVerdict.CONFORMS


def test_ended_names_take_the_table_along() -> None:
    """Only the last version has the table: what a log has ended is not copied for every new object."""
    watch = Watch(system("hived"), None, OPEN)
    for record in lives(0, 20):
        watch.take(record)
    before = watch.candidates.context.collected
    table = before._table
    for record in lives(20, 1):
        watch.take(record)
    assert watch.candidates.context.collected._table is table and before._table is None
    assert len(before) + 1 == len(watch.candidates.context.collected)


@pytest.mark.long
def test_a_version_in_use_keeps_no_others() -> None:
    """Of all that come after one that somebody holds, only the last stay; else memory grows with the log."""
    watch = Watch(system("hived"), None, OPEN)
    held = watch.candidates.context.collected

    def versions() -> int:
        return sum(isinstance(each, CollectedNames) for each in gc.get_objects())

    for record in lives(0, 20):
        watch.take(record)
    gc.collect()
    before = versions()
    for record in lives(20, 100):
        watch.take(record)
    assert versions() == before and len(held) == 0 and len(watch.candidates.context.collected) > 100


def test_fast_path_is_what_long_logs_are_checked_by(monkeypatch: pytest.MonkeyPatch) -> None:
    """After the first few records the ordinary way is not asked."""
    watch = Watch(system("hived"), None, OPEN)
    for record in lives(0, 10):
        watch.take(record)
    monkeypatch.setattr(TraceSteps, "step", lambda *_: pytest.fail("the ordinary way was asked"))
    for record in lives(10, 100):
        watch.take(record)
