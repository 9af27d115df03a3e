"""Where Beaker's reference scheduler keeps its records: transactions, schema, errors."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import schedproof.impl.systems.beaker as beaker
from schedproof.impl.store import ATTEMPTS
from schedproof.impl.store.protocol import Transaction
from schedproof.impl.systems.beaker import (
    BeakerStore,
    Condition,
    Contended,
    MemoryStore,
    Recipe,
    RecipeSet,
    RecipeState,
    StoreError,
    System,
    Usage,
    What,
)
from schedproof.impl.systems.beaker.sql_store import SqlStore
from schedproof.impl.systems.beaker.store import Changes, read_world, write
from tests.support.sample import thinned
from tests.systems.beaker.impl.bench import Bench
from tests.systems.beaker.impl.runs import filled


@pytest.mark.parametrize("kind", thinned([MemoryStore, SqlStore], 2))
def test_a_snapshot_can_be_restored(kind: Callable[[], BeakerStore]) -> None:
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


@pytest.mark.parametrize("kind", [MemoryStore, SqlStore])
def test_a_transaction_finds_what_it_has_written(kind: Callable[[], BeakerStore]) -> None:
    """Which sets are unfinished changes with the last recipe, also after they were asked for."""
    with kind() as store:
        recipes = [Recipe("r1", "a"), Recipe("r2", "b")]
        sets = [RecipeSet("a", "j", 0), RecipeSet("b", "j", 0)]
        store.transact(lambda t: [t.add(each) for each in (*sets, *recipes)])

        def work(t: Transaction) -> list[list[str]]:
            before = [each.name for each in read_world(t).recipe_sets]
            t.update(recipes[0], replace(recipes[0], state=RecipeState.CANCELLED))
            return [before, [each.name for each in read_world(t).recipe_sets]]

        assert store.transact(work) == [["a", "b"], ["b"]]


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
    def test_a_write_holds_only_if_nothing_came_in_between(self, kind: Callable[[], BeakerStore]) -> None:
        store = kind()
        bench = filled(store)
        bench.consistency.seat("s")
        with store.transaction() as transaction:
            world = read_world(transaction)
        bench.settle_down()
        stale = [
            Changes(systems=tuple((s, System(s.name, s.lab, Usage.IDLE, s.condition)) for s in world.systems[:1])),
            Changes(recipes=tuple((r, Recipe(r.name, r.recipe_set, RecipeState.CANCELLED)) for r in world.recipes[:1])),
        ]
        seated = next(r for r in world.recipes if r.name == "s.0")
        assert seated.seat == "A"  # since then it has got the system, and left its seat
        stale.append(Changes(recipes=((seated, replace(seated, seat="C")),)))
        before = store.snapshot()
        for changes in stale:
            with pytest.raises(Contended, match="is not as it was read"), store.transaction() as transaction:
                write(transaction, changes)
        assert store.snapshot() == before

    @pytest.mark.parametrize("kind", [MemoryStore, SqlStore])
    def test_an_error_rolls_everything_back(self, kind: Callable[[], BeakerStore]) -> None:
        store = kind()
        bench = filled(store)
        before, usage = store.snapshot(), store.usage()
        system = before.systems[0]
        changes = Changes(systems=((system, System("A", "one", Usage.IDLE, Condition.BROKEN)),))

        def fail() -> None:
            with store.transaction() as transaction:
                write(transaction, changes)
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            fail()
        assert store.snapshot() == before
        assert store.usage() == usage
        assert bench.states("A") == {"A": "pending"}

    def test_an_operation_is_tried_again_if_another_came_between(self) -> None:
        """The other transaction takes the only system, so the second attempt finds nothing."""
        store = MemoryStore()
        bench = Bench(store)
        bench.idle("A")
        bench.submit(s=["A"])

        class Interrupted(beaker.Draft):
            tries: list[str] = []  # noqa: RUF012 - shared on purpose

            def changes(self) -> Changes:
                self.tries.append("try")
                changed = super().changes()
                if len(self.tries) == 1:
                    raise Contended("another one came in between")
                return changed

        bench.new.draft_type = Interrupted
        bench.new.take_up("s")
        assert bench.new.search().what is What.FOUND_IDLE
        assert len(Interrupted.tries) == 3  # two for taking up

    def test_contention_without_end_is_reported(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("schedproof.impl.store.retry.time.sleep", lambda seconds: None)
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
            for changes in (*wrong, Changes(recipes=((holder, replace(holder, seat="A")),))):
                with pytest.raises(StoreError, match=r"constraint failed"), store.transaction() as transaction:
                    write(transaction, changes)
            assert store.snapshot() == world

    def test_the_schema_forbids_a_seat_for_two(self) -> None:
        with SqlStore() as store:
            bench = Bench(store)
            bench.systems("A", "B")
            bench.submit(s=["AB", "AB"])
            world = store.snapshot()
            both = tuple((r, replace(r, seat="A")) for r in world.recipes)
            with pytest.raises(StoreError, match=r"UNIQUE constraint failed"), store.transaction() as transaction:
                write(transaction, Changes(recipes=both))
            assert store.snapshot() == world

    @pytest.mark.parametrize("kind", [MemoryStore, SqlStore])
    def test_siblings_may_exchange_their_seats(self, kind: Callable[[], BeakerStore]) -> None:
        """Neither can move before the other has."""
        bench = Bench(kind())
        bench.systems("A", "B")
        bench.submit(s=["AB", "AB"])
        bench.consistency.seat("s", {"s.0": "A", "s.1": "B"})
        with bench.store.transaction() as transaction:
            one, other = read_world(transaction).recipes
            changes = Changes(recipes=((one, replace(one, seat="B")), (other, replace(other, seat="A"))))
            write(transaction, changes)
        assert bench.seats() == {"s.0": "B", "s.1": "A"}

    @pytest.mark.parametrize(
        ("url", "says"),
        [
            ("nonsense", "'nonsense' is not a database URL; give sqlite:///file"),
            ("mssql://somewhere/x", "no driver for this kind of database"),
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
        monkeypatch.setattr("schedproof.impl.store.database.BUSY_SECONDS", 0.01)
        with SqlStore(f"sqlite:///{tmp_path}/x.db") as store:
            other = sqlite3.connect(tmp_path / "x.db", isolation_level=None)
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(Contended, match="another transaction came in between"), store.transaction():
                pass
            other.execute("ROLLBACK")
            other.close()
            with store.transaction() as transaction:
                assert read_world(transaction).systems == ()

    def test_passwords_are_not_shown(self) -> None:
        with pytest.raises(StoreError) as caught:
            SqlStore("postgresql://somebody:secret@127.0.0.1:1/nothing")
        assert "secret" not in str(caught.value)
