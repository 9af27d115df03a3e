"""Beaker's reference scheduler on SQLite and in memory; threads, crashes, and what it leans on."""

from __future__ import annotations

import ast
import logging
import random
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest
import schedproof.impl.beaker as beaker

pytest.register_assert_rewrite("beaker_scenarios", "beaker_daemons", "beaker_runs")

from beaker_bench import Bench  # noqa: E402
from beaker_daemons import Daemons, until  # noqa: E402
from beaker_runs import always_so, filled, outcome, random_requests  # noqa: E402
from beaker_scenarios import Conditions, Ends, Lives, Order, Races, Refusals, Wakes  # noqa: E402
from schedproof.impl.beaker import (  # noqa: E402
    Condition,
    Contended,
    Daemon,
    IllegalMove,
    MemoryStore,
    Recipe,
    RecipeSet,
    RecipeState,
    Refused,
    SqlStore,
    Store,
    StoreError,
    System,
    Usage,
    What,
    first,
    only,
)
from schedproof.impl.beaker.choice import chosen  # noqa: E402
from schedproof.impl.beaker.legal import check_recipe, check_system  # noqa: E402
from schedproof.impl.beaker.placement import shares  # noqa: E402
from schedproof.impl.beaker.store import ATTEMPTS, Changes  # noqa: E402


@pytest.fixture(params=["memory", "sqlite"])
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    if request.param == "memory":
        yield Bench(MemoryStore())
        return
    with SqlStore() as store:
        yield Bench(store)


class TestLives(Lives): ...


class TestOrder(Order): ...


class TestWakes(Wakes): ...


class TestEnds(Ends): ...


class TestConditions(Conditions): ...


class TestRefusals(Refusals): ...


class TestRaces(Races):
    @pytest.fixture(params=["memory", "sqlite in memory", "sqlite file"])
    def store(self, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
        if request.param == "memory":
            yield MemoryStore()
            return
        with SqlStore("sqlite://" if "memory" in request.param else f"sqlite:///{tmp_path}/x.db") as store:
            yield store


# What a random run does is the same on every store, and keeps what must always hold.


@pytest.mark.parametrize("seed", range(4))
def test_every_store_does_the_same_on_random_runs(seed: int) -> None:
    steps = random.Random(seed)
    with SqlStore() as store:
        one, other = filled(MemoryStore()), filled(store)
        requests, again = random_requests(one), random_requests(other)
        done = 0
        while done < 60:
            i = steps.randrange(len(requests))
            found = outcome(one, requests[i][1])
            if str(found[0]).startswith("refused") and steps.random() < 0.9:
                continue  # most requests are refused; a database need not say all of it again
            assert found == outcome(other, again[i][1]), requests[i][0]
            done += not str(found[0]).startswith("refused")
            always_so(one)
        always_so(other)
        assert [(e.system, e.usage, e.condition) for e in one.store.usage()] == [
            (e.system, e.usage, e.condition) for e in store.usage()
        ]


def test_no_random_run_ends_where_a_set_can_never_begin() -> None:
    """When people stop and every recipe has a viable Automated system, loops and labs finish it all."""
    ends = ("cancel", "abort")
    with_work_left = 0
    for seed in range(150):
        steps = random.Random(seed)
        bench = filled(MemoryStore())
        requests = random_requests(bench)
        seldom = [said.startswith(ends) for said, _ in requests]
        for _ in range(600):
            i = steps.randrange(len(requests))
            if not seldom[i] or steps.random() < 0.05:
                outcome(bench, requests[i][1])
        with_work_left += any(r.unfinished for r in bench.store.snapshot().recipes)
        bench.new.crash()
        for system in bench.store.snapshot().systems:
            for call in (bench.web.install, bench.web.run, bench.web.give_back):
                if system.condition is Condition.MANUAL and system.usage is not Usage.IDLE:
                    outcome(bench, lambda call=call, name=system.name: call(name))  # type: ignore[misc]
            if system.condition is not Condition.AUTOMATED:
                bench.web.change_condition(system.name, Condition.AUTOMATED)
        bench.finish_all()
        left = {r.name: r.state for r in bench.store.snapshot().recipes if r.unfinished}
        assert left == {}, f"seed {seed}"
        assert set(bench.states(*"ABCD").values()) == {"idle"}
    assert with_work_left > 50


@pytest.mark.parametrize("kind", [MemoryStore, SqlStore])
def test_a_snapshot_can_be_restored(kind: Callable[[], Store]) -> None:
    bench = filled(kind())
    bench.settle_down()
    at, states = bench.store.snapshot(), bench.states()
    bench.finish_all()
    assert bench.states() != states
    bench.store.restore(at)
    assert bench.states() == states
    assert bench.store.snapshot() == at
    assert bench.usage("A") == ["waiting Automated ..."]
    bench.finish_all()


# Stores.


class TestStores:
    def test_a_file_is_there_the_next_time(self, tmp_path: Path) -> None:
        url = f"sqlite:///{tmp_path}/beaker.db"
        with SqlStore(url) as store:
            bench = filled(store)
            bench.settle_down()
            states, usage = bench.states(), store.usage()
        with SqlStore(url) as store:
            assert Bench(store).states() == states
            assert store.usage() == usage
            Bench(store).finish_all()

    @pytest.mark.parametrize("kind", [MemoryStore, SqlStore])
    def test_a_write_holds_only_if_nothing_came_in_between(self, kind: Callable[[], Store]) -> None:
        store = kind()
        bench = filled(store)
        with store.transaction() as transaction:
            world = transaction.read()
        bench.settle_down()
        stale = [
            Changes(systems=tuple((s, System(s.name, s.lab, Usage.IDLE, s.condition)) for s in world.systems[:1])),
            Changes(recipes=tuple((r, Recipe(r.name, r.recipe_set, RecipeState.CANCELLED)) for r in world.recipes[:1])),
        ]
        before = store.snapshot()
        for changes in stale:
            with pytest.raises(Contended, match="is not as it was read"), store.transaction() as transaction:
                transaction.write(changes)
        assert store.snapshot() == before

    @pytest.mark.parametrize("kind", [MemoryStore, SqlStore])
    def test_an_error_rolls_everything_back(self, kind: Callable[[], Store]) -> None:
        store = kind()
        bench = filled(store)
        before, usage = store.snapshot(), store.usage()
        system = before.systems[0]
        changes = Changes(systems=((system, System("A", "one", Usage.IDLE, Condition.BROKEN)),))

        def fail() -> None:
            with store.transaction() as transaction:
                transaction.write(changes)
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            fail()
        assert store.snapshot() == before
        assert store.usage() == usage
        assert bench.states("A") == {"A": "pending"}

    def test_an_operation_is_tried_again_when_another_came_in_between(self) -> None:
        """The other transaction takes the only system, so the second attempt finds nothing."""
        store = MemoryStore()
        bench = Bench(store)
        bench.idle("A")
        bench.submit(s=["A"])

        class Interrupted(beaker.Draft):
            tries: list[str] = []  # noqa: RUF012 - shared on purpose

            def changes(self) -> Changes:
                self.tries.append("try")
                found = super().changes()
                if len(self.tries) == 1:
                    raise Contended("another one came in between")
                return found

        bench.new.draft_type = Interrupted
        bench.new.take_up("s")
        assert bench.new.search().what is What.FOUND_IDLE
        assert len(Interrupted.tries) == 3  # two for taking up

    def test_contention_without_end_is_reported(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("schedproof.impl.beaker.store.time.sleep", lambda seconds: None)
        bench = filled(MemoryStore())
        tries: list[object] = []

        class Never(beaker.Draft):
            def changes(self) -> Changes:
                tries.append(self)
                raise Contended("another one came in between")

        bench.web.draft_type = Never
        with pytest.raises(Contended):
            bench.web.cancel_set("s")
        assert len(tries) == ATTEMPTS

    def test_the_schema_forbids_what_must_never_be(self) -> None:
        """Even a scheduler that is wrong cannot write this."""
        with SqlStore() as store:
            bench = filled(store)
            bench.settle_down()
            world = store.snapshot()
            systems = {s.name: s for s in world.systems}
            holder = next(r for r in world.recipes if r.system)
            assert holder.system
            other = next(r for r in world.recipes if r.host is None and r.name != holder.name)
            at = systems[holder.system]
            second = Recipe(other.name, other.recipe_set, RecipeState.WAITING, system=holder.system)
            none = Recipe(holder.name, holder.recipe_set, RecipeState.WAITING)
            wrong = [
                Changes(recipes=((other, second),)),
                Changes(recipes=((holder, none),)),
                Changes(systems=((at, System(at.name, at.lab, Usage.RUNNING, Condition.BROKEN)),)),
                Changes(systems=((at, System(at.name, at.lab, Usage.PENDING, Condition.MANUAL)),)),
                Changes(recipe_sets=((world.recipe_sets[0], RecipeSet("s", "job of s", 0, "one")),)),
            ]
            for changes in wrong:
                with pytest.raises(StoreError, match=r"constraint failed"), store.transaction() as transaction:
                    transaction.write(changes)
            assert store.snapshot() == world

    @pytest.mark.parametrize(
        ("url", "says"),
        [
            ("nonsense", "'nonsense' is no database URL; give sqlite:///file"),
            ("oracle://somewhere/x", "no driver for this kind of database"),
            ("sqlite:////nowhere/at/all/x.db", "cannot be opened"),
        ],
    )
    def test_a_wrong_url_is_said(self, url: str, says: str) -> None:
        with pytest.raises(StoreError, match=says):
            SqlStore(url)

    def test_a_file_of_something_else_is_said(self, tmp_path: Path) -> None:
        (tmp_path / "x.db").write_text("not a database, but long enough to be looked at " * 100)
        with pytest.raises(StoreError, match="file is not a database"):
            SqlStore(f"sqlite:///{tmp_path}/x.db")

    def test_a_locked_file_is_contention(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("schedproof.impl.beaker.sql_store.BUSY_SECONDS", 0.01)
        with SqlStore(f"sqlite:///{tmp_path}/x.db") as store:
            other = sqlite3.connect(tmp_path / "x.db", isolation_level=None)
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(Contended, match="another transaction came in between"), store.transaction():
                pass
            other.execute("ROLLBACK")
            other.close()
            with store.transaction() as transaction:
                assert transaction.read().systems == ()

    def test_passwords_are_not_shown(self) -> None:
        with pytest.raises(StoreError) as caught:
            SqlStore("postgresql://somebody:secret@127.0.0.1:1/nothing")
        assert "secret" not in str(caught.value)


# Threads and processes.


class TestDaemons(Daemons):
    @pytest.fixture
    def url(self, tmp_path: Path) -> str:
        return f"sqlite:///{tmp_path}/beaker.db"

    @pytest.fixture
    def store(self, url: str) -> Iterator[Store]:
        with SqlStore(url) as store:
            yield store


class TestDaemon:
    def test_it_goes_on_when_the_database_is_back(self, caplog: pytest.LogCaptureFixture) -> None:
        failing = Event()

        class Failing(MemoryStore):
            def transaction(self) -> Any:
                if failing.is_set():
                    raise StoreError("the database is away")
                return super().transaction()

        bench = Bench(Failing())
        bench.idle("A")
        with caplog.at_level(logging.WARNING), Daemon(bench.store, interval=0.01):
            failing.set()
            assert until(lambda: "the database is away" in caplog.text)
            failing.clear()
            bench.submit(s=["A"])
            assert until(lambda: bench.states("s.0") == {"s.0": "waiting on A"})

    def test_a_fault_of_a_loop_comes_out_when_it_is_stopped(self, caplog: pytest.LogCaptureFixture) -> None:
        daemon = Daemon(MemoryStore(), interval=0.01)
        daemon._provisioning.ready = lambda: 1 // 0  # type: ignore[assignment, return-value]
        daemon.start()
        assert until(lambda: "the loop for provisioning ends" in caplog.text)
        with pytest.raises(ZeroDivisionError):
            daemon.stop()

    def test_a_set_in_hand_is_put_away_after_a_failure(self) -> None:
        bench = Bench(MemoryStore())
        bench.idle("A", "B")
        bench.submit(s=["A"], t=["B"])
        daemon = Daemon(bench.store)
        settle = daemon._new_jobs.settle
        daemon._new_jobs.settle = lambda: 1 // 0  # type: ignore[assignment, return-value]
        with pytest.raises(ZeroDivisionError):
            daemon.process_new_jobs()
        daemon._new_jobs.settle = settle  # type: ignore[method-assign]
        assert daemon.process_new_jobs()
        assert bench.states("s.0", "t.0") == {"s.0": "scheduled on A", "t.0": "scheduled on B"}
        assert not daemon.process_new_jobs()

    def test_the_interval_must_be_positive(self) -> None:
        with pytest.raises(ValueError, match="must be more than 0 seconds, not 0"):
            Daemon(MemoryStore(), interval=0)


# Small parts.


class TestChoice:
    OPTIONS = (("a",), ("b", "x"))

    def test_the_first(self) -> None:
        assert first(self.OPTIONS) == ("a",)
        assert first(()) is None

    def test_only(self) -> None:
        assert only("b", "x")(self.OPTIONS) == ("b", "x")
        assert only()(()) is None
        for choice, options in ((only("c"), self.OPTIONS), (only("c"), ()), (only(), self.OPTIONS)):
            with pytest.raises(Refused, match="was wanted, but there is"):
                choice(options)

    def test_a_choice_is_held_to_its_contract(self) -> None:
        with pytest.raises(Refused, match="nothing was chosen, though there are 2 options"):
            chosen(lambda options: None, self.OPTIONS)
        with pytest.raises(Refused, match="c was chosen, but it is no option now"):
            chosen(lambda options: ("c",), self.OPTIONS)


LABS = {"A": "one", "B": "one", "C": "one", "D": "two", "E": "two"}


def parts(**viable: str) -> dict[str, str]:
    found = shares({name: frozenset(systems) for name, systems in viable.items()}, LABS)
    return {name: "".join(sorted(systems)) for name, systems in found.items()}


class TestPlacement:
    def test_a_recipe_alone_has_all(self) -> None:
        assert parts(r="ABD") == {"r": "ABD"}

    def test_the_one_that_suits_only_one_gets_it(self) -> None:
        assert parts(r="AB", q="A") == {"r": "B", "q": "A"}
        assert parts(r="ABC", q="AB", p="A") == {"r": "C", "q": "B", "p": "A"}

    def test_a_lab_that_cannot_hold_all_is_left_out(self) -> None:
        assert parts(r="AD", q="AE") == {"r": "D", "q": "E"}
        assert parts(r="A", q="A") == {"r": "", "q": ""}
        assert parts(r="A", q="D") == {"r": "", "q": ""}
        assert parts(r="", q="A") == {"r": "", "q": ""}

    def test_no_recipes_or_no_systems(self) -> None:
        assert shares({}, {}) == {}
        assert parts(r="") == {"r": ""}

    def test_shares_are_disjoint_viable_and_matched(self) -> None:
        """Against brute force: a lab is shared out if and only if some assignment serves everybody."""
        dice = random.Random(7)
        for _ in range(500):
            viable = {name: "".join(s for s in LABS if dice.random() < 0.5) for name in "rqp"[: dice.randint(1, 3)]}
            found = parts(**viable)
            for lab in ("one", "two"):
                here = {name: {s for s in systems if LABS[s] == lab} for name, systems in viable.items()}
                mine = {name: {s for s in systems if LABS[s] == lab} for name, systems in found.items()}
                if can_all_be_served(list(here.values()), set()):
                    assert all(mine.values())
                    assert sum(map(len, mine.values())) == len(set().union(*here.values()))
                    assert set().union(*mine.values()) == set().union(*here.values())
                    assert all(mine[name] <= here[name] for name in here)
                else:
                    assert not any(mine.values())


def can_all_be_served(viable: list[set[str]], taken: set[str]) -> bool:
    return not viable or any(can_all_be_served(viable[1:], taken | {s}) for s in viable[0] - taken)


class TestLegality:
    def test_a_finished_recipe_stays_so(self) -> None:
        for state in (RecipeState.COMPLETED, RecipeState.CANCELLED, RecipeState.ABORTED):
            for other in RecipeState:
                if other is not state:
                    with pytest.raises(IllegalMove, match=f"recipe r cannot go from {state} to {other}"):
                        check_recipe(Recipe("r", "s", state), Recipe("r", "s", other))

    def test_a_broken_system_is_idle(self) -> None:
        broken = System("A", "lab", Usage.IDLE, Condition.BROKEN)
        for usage in Usage:
            if usage is not Usage.IDLE:
                with pytest.raises(IllegalMove):
                    check_system(broken, System("A", "lab", usage, Condition.BROKEN))

    def test_a_wrong_draft_writes_nothing(self) -> None:
        class Wrong(beaker.Draft):
            def finish(self, recipe: Recipe, state: RecipeState) -> None:
                super().finish(recipe, state)
                super().finish(self.recipes[recipe.name], RecipeState.ABORTED)

        bench = filled(MemoryStore())
        bench.web.draft_type = Wrong
        before = bench.store.snapshot()
        with pytest.raises(IllegalMove, match=r"s.0 cannot go from cancelled to aborted"):
            bench.web.cancel("s.0")
        assert bench.store.snapshot() == before


# The scheduler must not lean on the model that it is compared with.


PACKAGE = Path(beaker.__file__).parent


def test_nothing_comes_from_the_model() -> None:
    for path in PACKAGE.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                assert node.level <= 1, f"{path.name} imports from outside of its package"
                assert node.level or not (node.module or "").startswith("schedproof"), path.name
            if isinstance(node, ast.Import):
                assert not any(alias.name.startswith("schedproof") for alias in node.names), path.name
            if isinstance(node, ast.Name):
                assert node.id not in ("__import__", "importlib", "eval", "exec", "globals"), path.name


def test_the_model_is_not_even_loaded() -> None:
    code = "import sys, schedproof.impl.beaker; print(*[m for m in sys.modules if m.startswith('schedproof.')])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "schedproof.impl.beaker.draft" in loaded
    assert [m for m in loaded if m.startswith(("schedproof.model", "schedproof.proofs"))] == []
