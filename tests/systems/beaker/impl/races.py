"""The Beaker scheduler's loops, people and labs at the same time, on one store (for tests)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from schedproof.impl.systems.beaker import (
    BeakerStore,
    Condition,
    Lab,
    PendingSystems,
    RecipeState,
    Refused,
    Report,
    Usage,
    Web,
)
from tests.systems.beaker.impl.bench import Bench, job

AUTOMATED, MANUAL, BROKEN = Condition.AUTOMATED, Condition.MANUAL, Condition.BROKEN


class Races:
    """Loops, people and labs at the same time, on one ``store`` that several threads may use."""

    def test_nothing_is_given_out_twice(self, store: BeakerStore) -> None:
        """Eight loops after the same six pending systems."""
        bench = Bench(store)
        bench.systems(*"ABCDEF")
        bench.submit(**{f"s{n}": ["ABCDEF"] for n in range(12)})
        bench.queue(*(f"s{n}" for n in range(12)))
        outcomes = together([lambda: tried(PendingSystems(store).process, "ABCDEF")] * 8)
        given = [report for done in outcomes for report in done]
        assert sorted(report.system or "" for report in given) == list("ABCDEF")
        assert len({report.recipe for report in given}) == 6
        held = [r.system for r in store.snapshot().recipes if r.system]
        assert sorted(held) == list("ABCDEF")

    def test_a_job_is_submitted_once(self, store: BeakerStore) -> None:
        Bench(store).systems("A", "B")
        outcomes = together([lambda: tried(lambda name: Web(store).submit(job(**{name: ["A", "B"]})), ["s"])] * 8)
        assert sum(len(done) for done in outcomes) == 1
        assert [s.name for s in store.snapshot().recipe_sets] == ["s"]
        assert [r.name for r in store.snapshot().recipes] == ["s.0", "s.1"]

    def test_a_cancelled_recipe_gets_no_system(self, store: BeakerStore) -> None:
        """People cancel recipes that the loop gives systems to; the order does not matter, and both agree afterwards."""
        bench = Bench(store)
        names = [f"s{n}" for n in range(10)]
        bench.systems(*"ABCDEFGHIJ")
        bench.submit(**{name: ["ABCDEFGHIJ"] for name in names})
        bench.queue(*names)
        cancels = [f"{name}.0" for name in names]
        together(
            [lambda: tried(PendingSystems(store).process, "ABCDEFGHIJ"), lambda: tried(Web(store).cancel, cancels)]
        )
        world = store.snapshot()
        assert {r.state for r in world.recipes} == {RecipeState.CANCELLED}
        assert {s.usage for s in world.systems} <= {Usage.PENDING, Usage.IDLE}
        for system in world.systems:
            last = store.usage(system.name)[-1]
            assert (last.usage, last.finished) == (system.usage, None)

    def test_everything_at_once(self, store: BeakerStore) -> None:
        """Conditions change while sets are scheduled and begin; at the end all is in step."""
        bench = Bench(store)
        bench.systems(*"ABCD")
        sets = {f"s{n}": ["AB", "CD"] for n in range(6)}
        bench.submit(**sets)

        def conditions() -> list[Report]:
            web, done = Web(store), []
            for _ in range(6):
                for condition in (BROKEN, AUTOMATED):
                    done += tried(lambda name, to=condition: web.change_condition(name, to), "AC")  # type: ignore[misc]
            return done

        def loops() -> list[Report]:
            thread_bench = Bench(store)
            for _ in range(15):
                for name in thread_bench.new.new_sets():
                    if tried(thread_bench.new.take_up, [name]):
                        while in_hand := thread_bench.new.in_hand:
                            if in_hand.searched:
                                thread_bench.new.settle()
                            elif not tried(lambda _: thread_bench.new.search(), [name]):
                                tried(thread_bench.new.seat, [name])
                tried(thread_bench.pending.process, thread_bench.pending.pending())
                tried(thread_bench.provisioning.begin, thread_bench.provisioning.ready())
                tried(thread_bench.consistency.seat, thread_bench.consistency.unseated())
                tried(thread_bench.consistency.wake, thread_bench.consistency.sleeping())
            return thread_bench.reports

        def labs() -> list[Report]:
            lab, done = Lab(store), []
            for _ in range(15):
                for call in (lab.installs, lab.runs, lab.completes):
                    done += tried(call, [f"{name}.{n}" for name in sets for n in (0, 1)])
            return done

        together([conditions, loops, labs])
        world = store.snapshot()
        systems = {s.name: s for s in world.systems}
        assert {s.condition for s in world.systems} == {AUTOMATED}
        for recipe in world.recipes:
            if recipe.system:
                assert systems[recipe.system].usage.value == recipe.state.value
        held = [r.system for r in world.recipes if r.system]
        assert len(held) == len(set(held))
        in_use = {s.name for s in world.systems if s.usage not in (Usage.IDLE, Usage.PENDING)}
        assert in_use == set(held)
        bench.finish_all()
        assert all(not r.unfinished for r in store.snapshot().recipes)


def tried(call: Callable[[str], Report], names: Iterable[str]) -> list[Report]:
    """What a call did to those names that it was not refused for."""
    done = []
    for name in names:
        try:
            done.append(call(name))
        except Refused:
            continue
    return done


def together(work: Sequence[Callable[[], list[Report]]]) -> list[list[Report]]:
    """Does all of it at once, in a thread each."""
    start = Barrier(len(work))

    def begin(each: Callable[[], list[Report]]) -> list[Report]:
        start.wait()
        return each()

    with ThreadPoolExecutor(len(work)) as pool:
        return list(pool.map(begin, work))
