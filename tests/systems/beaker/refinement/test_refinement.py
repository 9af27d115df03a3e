"""Beaker's reference scheduler and the repaired model side by side."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from schedproof.impl.systems.beaker import (
    Condition,
    InHand,
    Recipe,
    RecipeSet,
    RecipeState,
    System,
    Usage,
    World,
)
from schedproof.impl.systems.beaker.sql_store import SqlStore
from schedproof.model.semantics import Instance
from schedproof.model.systems.beaker import REPAIRED
from schedproof.model.systems.beaker.configurations import CONFIGURATIONS, Configuration
from schedproof.proofs.refinement.mismatch import Broken
from schedproof.proofs.refinement.modelside import ModelGraph, NotAQuotient
from schedproof.proofs.refinement.report import RefinementReport
from schedproof.proofs.systems.beaker.refinement import check
from schedproof.proofs.systems.beaker.refinement.abstraction import Abstraction, without_bygones
from schedproof.proofs.systems.beaker.refinement.check import check_refinement, instance_of
from schedproof.proofs.systems.beaker.refinement.operations import Names, operations
from schedproof.proofs.systems.beaker.refinement.runner import Operation, Snapshot, ranked
from tests.support.sample import thinned
from tests.systems.beaker.refinement.seeded import (
    ABBA,
    APART,
    BREAKS,
    GUEST,
    LABS,
    LEAVES,
    PEOPLE,
    RANKS,
    SEEDED,
    SHARED,
    THREE,
    TWO,
    Seeded,
)

ALL_TOUCHED = Configuration(
    "two recipes for two systems; people do what they can", [["AB"], ["A"]], [0, 0], [0], [1], [0]
)
CONDITIONS = Configuration(
    "a set of two with a spare system; two conditions change", [["AC", "B"]], [0] * 3, [], [], [0, 1]
)


def same_graph(report: RefinementReport) -> None:
    assert report.ok, report.text
    assert report.states == report.model_states == report.model_states_covered
    assert report.edges == report.model_edges == report.model_edges_covered
    assert report.silent_edges == 0
    # Two points in each operation that is not refused, and one between two of them.
    assert report.crash_points > 2 * report.states
    assert all(report.states_by_kind.values())


@pytest.mark.long
@pytest.mark.parametrize("configuration", [PEOPLE, BREAKS], ids=lambda s: s.about)
def test_the_scheduler_is_the_model(configuration: Configuration) -> None:
    same_graph(check_refinement(configuration))


@pytest.mark.long(one_in=32)
@pytest.mark.parametrize(
    "configuration",
    [ABBA, LEAVES, TWO, GUEST, LABS, RANKS, SHARED, THREE, APART, *CONFIGURATIONS, ALL_TOUCHED, CONDITIONS],
    ids=lambda s: s.about,
)
def test_the_scheduler_is_the_model_in_larger_configurations(configuration: Configuration) -> None:
    same_graph(check_refinement(configuration))


@pytest.mark.long(one_in=18)
@pytest.mark.parametrize("configuration", [PEOPLE, LABS], ids=lambda s: s.about)
def test_the_same_on_a_database(configuration: Configuration) -> None:
    same_graph(check_refinement(configuration, store=SqlStore))


@pytest.mark.parametrize("seeded", thinned(SEEDED, 16, first=3), ids=lambda p: p.bug)
def test_seeded_bugs_are_caught(seeded: Seeded) -> None:
    report = check_refinement(seeded.configuration, seeded.sides, store=seeded.store)
    assert report.mismatch is not None
    assert re.search(seeded.shows, report.mismatch.text, re.DOTALL), report.mismatch.text
    assert "  1. " in report.text
    assert "DIFFER" in report.text


def test_an_operation_that_reads_the_memory_unannounced_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its outcome would be taken for that of every memory."""

    def unannounced(names: Names) -> list[Operation]:
        return [replace(operation, reads_memory=False) for operation in operations(names)]

    monkeypatch.setattr(check, "operations", unannounced)
    report = check_refinement(PEOPLE)
    assert report.mismatch is not None
    assert re.search("the operation fails: AttributeError.*the new job loop", report.mismatch.text, re.DOTALL)


def test_there_are_bugs_of_many_kinds() -> None:
    assert len({p.bug for p in SEEDED}) == len(SEEDED) >= 10
    assert len({(p.sides, p.store) for p in SEEDED}) == len(SEEDED)


@pytest.mark.long
def test_the_way_to_a_mismatch_can_be_followed() -> None:
    bug = next(p for p in SEEDED if p.bug == "a new recipe jumps the queue")
    report = check_refinement(bug.configuration, bug.sides)
    assert report.mismatch is not None
    assert list(report.mismatch.path) == [
        "the new job loop takes up j0",
        "the new job loop finds no idle system",
        "the pending system loop makes s0 idle",
        "the new job loop puts its set away",
        "the new job loop takes up j1",
        "j0 gets priority 1",
        "the new job loop gives idle s0 to r1",
    ]


class TestTheAbstraction:
    """By hand: a set of two in two labs."""

    def instance(self) -> Instance:
        return instance_of(ABBA)

    def test_places_are_an_order(self) -> None:
        instance = self.instance()
        sets = (RecipeSet("j0", "job", 1, "l0", 7), RecipeSet("j1", "job", 0, "l0", 3))
        at = Snapshot(World(sets), InHand("j1", searched=True))
        shown = instance.describe(Abstraction(instance).image(at))["RecipeSet"]
        assert shown == {
            "j0": {"state": "at_rest", "priority": 1, "lab": "l0", "behind": ["j1"], "seating": None},
            "j1": {"state": "searched", "priority": 0, "lab": "l0", "behind": [], "seating": None},
        }

    def test_only_the_order_of_places_counts(self) -> None:
        sets = (RecipeSet("j0", "job", 0, "l0", 7), RecipeSet("j1", "job", 0), RecipeSet("j2", "job", 0, "l0", 3))
        assert [s.place for s in ranked(World(sets)).recipe_sets] == [2, None, 1]

    def test_a_lab_without_a_place_is_refused(self) -> None:
        instance = self.instance()
        sets = (RecipeSet("j0", "job", 0, "l0"), RecipeSet("j1", "job", 0))
        with pytest.raises(Broken, match="j0 has a lab without a place"):
            Abstraction(instance).image(Snapshot(World(sets), None))

    def test_what_never_changes_is_watched(self) -> None:
        instance = self.instance()
        abstraction = Abstraction(instance)
        sets = (RecipeSet("j0", "job", 0), RecipeSet("j1", "job", 0))
        abstraction.image(Snapshot(World(sets), None))
        with pytest.raises(Broken, match="something changed that never does"):
            abstraction.image(Snapshot(World((sets[0], RecipeSet("j1", "another", 0))), None))


class TestSeatings:
    """By hand: three recipes, AB, A and B; the pairs are (A, -, B), (B, A, -) and (-, A, B), in some order."""

    def test_all_pairs_are_there(self) -> None:
        instance = instance_of(THREE)
        assert instance.sizes["Seating"] == 3
        assert instance.sizes["Seat"] == 6

    def world(self, *recipes: Recipe) -> Snapshot:
        systems = tuple(System(name, "l0", Usage.PENDING, Condition.AUTOMATED) for name in ("s0", "s1"))
        return Snapshot(World((RecipeSet("j0", "job", 0),), recipes, systems), None)

    def seats(self, at: Snapshot) -> set[tuple[str, str]]:
        instance = instance_of(THREE)
        rigid = THREE.rigid(with_seatings=True)
        number = Abstraction(instance).image(at)[instance.slot("RecipeSet", "seating")]
        seats = zip(rigid["Seat", "seating"], rigid["Seat", "recipe"], rigid["Seat", "system"], strict=True)
        return {(f"r{r}", f"s{s}") for of, r, s in seats if of == number}

    def test_rows_are_a_seating(self) -> None:
        at = self.world(
            Recipe("r0", "j0", RecipeState.QUEUED, seat="s1"),
            Recipe("r1", "j0", RecipeState.QUEUED, seat="s0"),
            Recipe("r2", "j0", RecipeState.CANCELLED),
        )
        assert self.seats(at) == {("r0", "s1"), ("r1", "s0")}

    def test_a_seat_that_is_left_may_be_any(self) -> None:
        """Of r1's seat on s0 alone two seatings are the rest; the one that stands for both has it."""
        at = self.world(
            Recipe("r0", "j0", RecipeState.CANCELLED),
            Recipe("r1", "j0", RecipeState.QUEUED, seat="s0"),
            Recipe("r2", "j0", RecipeState.CANCELLED),
        )
        assert ("r1", "s0") in self.seats(at)

    @pytest.mark.parametrize(
        ("recipes", "says"),
        [
            ([("queued", "s0"), ("queued", "s0"), ("cancelled", None)], "no seating of the model"),
            ([("queued", "s1"), ("queued", "s0"), ("cancelled", "s1")], "has a seat that is not new"),
            ([("queued", "s1"), ("queued", None), ("queued", None)], "no seating of the model"),
        ],
        ids=["two on one", "of a finished recipe", "one too few"],
    )
    def test_rows_that_are_no_seating(self, recipes: list[tuple[str, str | None]], says: str) -> None:
        rows = [Recipe(f"r{n}", "j0", RecipeState(state), seat=seat) for n, (state, seat) in enumerate(recipes)]
        with pytest.raises(Broken, match=says):
            self.seats(self.world(*rows))

    def test_seats_that_steps_ask_for_may_not_be_taken_away(self) -> None:
        instance = instance_of(LEAVES)
        seating = instance.slot("RecipeSet", "seating")
        with pytest.raises(NotAQuotient):
            ModelGraph.explore(instance, lambda state: (*state[:seating], -1, *state[seating + 1 :]))

    def test_seats_of_finished_recipes_are_taken_away(self) -> None:
        """r2 is cancelled: the seatings (A, -, B) and its like no longer differ in r2."""
        instance = instance_of(THREE)
        rigid = THREE.rigid(with_seatings=True)
        of_r1 = [
            p
            for p, r, s in zip(rigid["Seat", "seating"], rigid["Seat", "recipe"], rigid["Seat", "system"], strict=True)
            if (r, s) == (1, 0)
        ]
        assert len(of_r1) == 2  # with r0 on s1, and with r2 on s1
        states = [s.name for s in REPAIRED.machine("Recipe").states]
        normal = set()
        for p in of_r1:
            state = list(instance.initial())
            for r in (0, 2):
                state[instance.slot("Recipe") + r] = states.index("cancelled")
            state[instance.slot("RecipeSet", "seating")] = p
            normal.add(without_bygones(instance)(tuple(state)))
        assert len(normal) == 1


class TestBygones:
    def test_a_begun_set_is_before_nobody(self) -> None:
        instance = instance_of(ABBA)
        state = list(instance.initial())
        state[instance.slot("RecipeSet", "lab") + 1] = 0
        state[instance.slot("RecipeSet", "behind") + 1] = 0b01
        expected = list(state)
        expected[instance.slot("RecipeSet", "behind") + 1] = 0
        assert without_bygones(instance)(tuple(state)) == tuple(expected)

    def test_a_finished_set_has_no_lab(self) -> None:
        instance = instance_of(PEOPLE)
        state = list(instance.initial())
        state[instance.slot("RecipeSet", "lab")] = 0
        assert without_bygones(instance)(tuple(state)) == tuple(state)
        states = [s.name for s in REPAIRED.machine("Recipe").states]
        state[instance.slot("Recipe")] = states.index(RecipeState.CANCELLED)
        expected = list(state)
        expected[instance.slot("RecipeSet", "lab")] = -1
        assert without_bygones(instance)(tuple(state)) == tuple(expected)

    def test_what_steps_ask_for_may_not_be_taken_away(self) -> None:
        """Places that count are no bygones: the comparison must not be blind to them."""
        instance = instance_of(SHARED)
        behind = instance.slot("RecipeSet", "behind")

        def too_forgetful(state: tuple[int, ...]) -> tuple[int, ...]:
            return (*state[:behind], *(0 for _ in range(2)), *state[behind + 2 :])

        with pytest.raises(NotAQuotient):
            ModelGraph.explore(instance, too_forgetful)
