"""The reference scheduler: what it does, what it refuses, and what it leans on."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from schedproof.impl.systems.hived import GroupSpec, InMemoryStore, Refused, Report, Scheduler, What
from schedproof.impl.systems.hived.memory import cells_of, spread
from tests.support.independence import IMPL, dependencies
from tests.systems.hived.impl.scheduling import CELLS, HIGH, LOW, MIDDLE, OTHER_LOW, on, started, states, submit


@pytest.fixture
def scheduler() -> Scheduler:
    """With three complete groups, all Pending."""
    scheduler = started(InMemoryStore())
    submit(scheduler, LOW, MIDDLE, HIGH)
    return scheduler


class TestScheduling:
    def test_allocation_uses_free_cells(self, scheduler: Scheduler) -> None:
        report = scheduler.schedule("low", on("c0", "c2"))
        assert report == Report(What.ALLOCATED, "low", "Pending", frozenset({"c0", "c2"}))
        assert states(scheduler) == {
            "low": "Allocated", "middle": "Pending", "high": "Pending",
            "c0": "Used low", "c1": "Free", "c2": "Used low",
        }  # fmt: skip
        assert scheduler.group("low").placement == (("a", ("c0",)), ("b", ("c2",)))

    def test_preemption_from_beginning_to_end(self, scheduler: Scheduler) -> None:
        scheduler.schedule("low", on("c0", "c1"))
        assert scheduler.schedule("high", on("c1", "c2")).what == What.PREEMPTING
        assert states(scheduler) == {
            "low": "BeingPreempted", "middle": "Pending", "high": "Preempting",
            "c0": "Used low", "c1": "Reserving low high", "c2": "Reserved high",
        }  # fmt: skip
        with pytest.raises(Refused, match="high waits for the pods on c1 to be deleted"):
            scheduler.complete("high")
        scheduler.delete_pod("low", "a")
        # The victim keeps all of its cells until its last pod is deleted.
        assert states(scheduler)["c0"] == "Used low"
        assert states(scheduler)["c1"] == "Reserving low high"
        scheduler.delete_pod("low", "b")
        assert states(scheduler) == {
            "low": "Deleted", "middle": "Pending", "high": "Preempting",
            "c0": "Free", "c1": "Reserved high", "c2": "Reserved high",
        }  # fmt: skip
        assert scheduler.complete("high").what == What.COMPLETED
        assert states(scheduler) | {"c0": "-"} == {
            "low": "Deleted", "middle": "Pending", "high": "Allocated",
            "c0": "-", "c1": "Used high", "c2": "Used high",
        }  # fmt: skip

    def test_an_overwritten_preemptor_gives_its_other_cells_back(self, scheduler: Scheduler) -> None:
        scheduler.schedule("low", on("c0", "c1"))
        scheduler.schedule("middle", on("c0", "c1", "c2"))
        scheduler.schedule("high", on("c1"))
        # c0 returns to the victim, which is still preempted by high; c2 was only reserved.
        assert states(scheduler) == {
            "low": "BeingPreempted", "middle": "Pending", "high": "Preempting",
            "c0": "Used low", "c1": "Reserving low high", "c2": "Free",
        }  # fmt: skip

    def test_taking_a_reserved_cell_frees_the_victim(self, scheduler: Scheduler) -> None:
        scheduler.schedule("low", on("c0"))
        scheduler.schedule("middle", on("c0", "c1"))
        assert scheduler.schedule("high", on("c1", "c2")).what == What.ALLOCATED
        assert states(scheduler) == {
            "low": "Allocated", "middle": "Pending", "high": "Allocated",
            "c0": "Used low", "c1": "Used high", "c2": "Used high",
        }  # fmt: skip

    def test_a_deleted_preemptor_frees_the_victim(self, scheduler: Scheduler) -> None:
        scheduler.schedule("low", on("c0"))
        scheduler.schedule("high", on("c0", "c1"))
        assert [r.what for r in scheduler.delete_group("high")] == [What.POD_DELETED, What.GROUP_DELETED]
        assert states(scheduler) == {
            "low": "Allocated", "middle": "Pending", "high": "Deleted",
            "c0": "Used low", "c1": "Free", "c2": "Free",
        }  # fmt: skip

    def test_a_victim_of_two_is_freed_by_the_second(self, scheduler: Scheduler) -> None:
        scheduler.schedule("low", on("c0", "c1"))
        scheduler.schedule("middle", on("c0"))
        scheduler.schedule("high", on("c1"))
        scheduler.delete_group("high")
        assert states(scheduler)["low"] == "BeingPreempted"
        scheduler.delete_group("middle")
        assert states(scheduler)["low"] == "Allocated"

    def test_a_victim_is_freed_though_others_are_still_preempted(self, scheduler: Scheduler) -> None:
        submit(scheduler, GroupSpec("highest", 9, ("a",)))
        scheduler.schedule("low", on("c0"))
        scheduler.schedule("middle", on("c1"))
        scheduler.schedule("high", on("c0", "c1"))
        scheduler.schedule("highest", on("c1"))
        assert (states(scheduler)["low"], states(scheduler)["middle"]) == ("Allocated", "BeingPreempted")

    def test_deleted_members_do_not_hold_a_group_up(self, scheduler: Scheduler) -> None:
        scheduler.delete_pod("low", "a")
        scheduler.schedule("low", on("c0", "c1"))
        assert scheduler.group("low").placement == (("b", ("c0", "c1")),)

    def test_the_default_choice_spares_whom_it_can(self, scheduler: Scheduler) -> None:
        scheduler.schedule("middle", on("c0"))
        scheduler.schedule("low", on("c1"))
        scheduler.schedule("high")
        # One free cell, and then the one of the lowest group.
        assert scheduler.group("high").reserved == {"c1", "c2"}

    def test_the_default_choice_waits_when_too_little_is_in_reach(self, scheduler: Scheduler) -> None:
        scheduler.schedule("high", on("c0", "c1"))
        with pytest.raises(Refused, match="no cells were chosen for group low"):
            scheduler.schedule("low")

    def test_the_observer_hears_what_is_installed(self) -> None:
        heard: list[Report] = []
        scheduler = Scheduler(InMemoryStore(), CELLS, observer=heard.append)
        scheduler.recover()
        submit(scheduler, LOW)
        scheduler.delete_group("low")
        whats = [What.SUBMITTED, What.SUBMITTED, What.POD_DELETED, What.GROUP_DELETED]
        assert [(r.what, r.pod) for r in heard] == list(zip(whats, "abab", strict=True))

    def test_threads_take_turns(self) -> None:
        scheduler = started(InMemoryStore(), [f"c{i}" for i in range(40)])
        specs = [GroupSpec(f"g{i}", 0, ("a", "b")) for i in range(20)]

        def live(spec: GroupSpec) -> None:
            submit(scheduler, spec)
            scheduler.schedule(spec.name)

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(live, specs))
        assert {g.state for g in scheduler.memory.groups} == {"Allocated"}
        assert sorted(c for g in scheduler.memory.groups for c in cells_of(g.placement)) == sorted(
            c.name for c in scheduler.memory.cells
        )


def test_cells_are_dealt_in_turn() -> None:
    assert spread({"c2", "c0", "c1"}, ("a", "b")) == (("a", ("c0", "c2")), ("b", ("c1",)))
    assert spread({"c0"}, ("a", "b")) == (("a", ("c0",)), ("b", ()))


DELETED_GROUP = GroupSpec("gone", 5, ("a",))
INCOMPLETE = GroupSpec("new", 5, ("a", "b"))
WRONG: list[tuple[str, Callable[[Scheduler], object], str]] = [
    ("unknown group", lambda s: s.schedule("nobody"), "unknown group 'nobody'; submitted groups: gone, high, low, middle, new"),
    ("unknown group to complete", lambda s: s.complete("nobody"), "unknown group"),
    ("unknown group to delete", lambda s: s.delete_group("nobody"), "unknown group"),
    ("unknown pod", lambda s: s.delete_pod("low", "z"), "no pod 'z' to delete; its live pods: a, b"),
    ("unknown pod to submit", lambda s: s.submit(LOW, "z"), "group low has no pod 'z'; it has a, b"),
    ("duplicate submit", lambda s: s.submit(LOW, "a"), "low/a was submitted before"),
    ("another description", lambda s: s.submit(OTHER_LOW, "a"), "every pod must say the same"),
    ("unknown cell", lambda s: s.schedule("middle", on("c9")), "unknown cell 'c9'; cells: c0, c1, c2"),
    ("no cells", lambda s: s.schedule("middle", on()), "no cells were chosen"),
    ("not outranked", lambda s: s.schedule("low", on("c0")), "held by group high, which group low does not outrank"),
    ("twice", lambda s: s.schedule("high", on("c1")), "high is Allocated; only a Pending group"),
    ("deleted before", lambda s: s.delete_group("gone"), "group gone has no live pods to delete"),
    ("pod deleted before", lambda s: s.delete_pod("gone", "a"), "no pod 'a' to delete; its live pods: none"),
    ("nothing to complete", lambda s: s.complete("low"), "low is Pending; only a Preempting group"),
    ("incomplete gang", lambda s: s.schedule("new", on("c1")), "new is not complete: submit b first"),
    ("up already", lambda s: s.recover(), "the scheduler is up"),
]  # fmt: skip


@pytest.mark.parametrize(("ask", "says"), [(ask, says) for _, ask, says in WRONG], ids=[name for name, *_ in WRONG])
def test_wrong_requests_change_nothing(scheduler: Scheduler, ask: Callable[[Scheduler], object], says: str) -> None:
    scheduler.submit(INCOMPLETE, "a")
    submit(scheduler, DELETED_GROUP)
    scheduler.delete_group("gone")
    scheduler.schedule("high", on("c0"))
    before = scheduler.snapshot()
    with pytest.raises(Refused, match=says):
        ask(scheduler)
    assert scheduler.snapshot() == before


def test_equal_priorities_do_not_outrank_each_other(scheduler: Scheduler) -> None:
    submit(scheduler, GroupSpec("peer", LOW.priority, ("a",)))
    scheduler.schedule("low", on("c0"))
    with pytest.raises(Refused, match="which group peer does not outrank"):
        scheduler.schedule("peer", on("c0"))


def test_a_reserved_cell_is_held_by_its_reserver(scheduler: Scheduler) -> None:
    scheduler.schedule("low", on("c0"))
    scheduler.schedule("high", on("c0", "c1"))
    for cell in ("c0", "c1"):
        with pytest.raises(Refused, match=f"cell {cell} is held by group high"):
            scheduler.schedule("middle", on(cell))


@pytest.mark.parametrize("cells", [[], ["c0", "c0"]])
def test_cells_must_be_different_names(cells: list[str]) -> None:
    with pytest.raises(Refused, match="different names"):
        Scheduler(InMemoryStore(), cells)


@pytest.mark.parametrize("pods", [(), ("a", "a")])
def test_groups_must_have_different_pods(pods: tuple[str, ...]) -> None:
    with pytest.raises(Refused, match=r"no pods|a pod twice"):
        GroupSpec("g", 0, pods)


# The scheduler must not lean on the model that it is compared with.


PACKAGE = IMPL / "systems" / "hived"


def test_only_the_tables_come_from_the_model() -> None:
    pairs = dependencies("systems/hived")
    assert {name for file, name in pairs if file == "systems/hived/tables.py"} == {
        "schedproof.model.systems.hived:REPAIRED",
        "schedproof.impl.machines:ObjectMachine",
        "schedproof.impl.machines:create_objects",
        "schedproof.impl.machines:generate_machine",
    }
    generating = {"systems/hived/tables.py", "machines.py", "codec.py", "values.py"}
    elsewhere = {name for file, name in pairs if file not in generating}
    shared = ("schedproof.impl.errors:", "schedproof.impl.hashed:", "schedproof.impl.store")
    assert elsewhere and all(name.startswith(shared) for name in elsewhere)
    tree = ast.parse((PACKAGE / "tables.py").read_text())
    of_model = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "REPAIRED"
    }
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == "REPAIRED"]
    assert of_model == {"machine", "table"}
    assert len(names) == 2, "the model is used for nothing but its machines and tables"


def test_the_step_is_not_even_loaded() -> None:
    code = "import sys, schedproof.impl.systems.hived; print(*[m for m in sys.modules if m.startswith('schedproof.')])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = run.stdout.split()
    assert "schedproof.impl.machines" in loaded
    assert [m for m in loaded if "semantics" in m or "cascade" in m or m.startswith("schedproof.proofs")] == []
