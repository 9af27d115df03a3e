"""Beaker's reference scheduler and the repaired model side by side."""

from __future__ import annotations

import re

import pytest
from planted_beaker import ABBA, BREAKS, GUEST, LABS, LEAVES, PEOPLE, PLANTED, RANKS, SHARED, TWO, Planted
from schedproof.impl.beaker import InHand, RecipeState, SqlStore, World
from schedproof.impl.beaker.records import RecipeSet
from schedproof.model.beaker import REPAIRED
from schedproof.model.beaker.situations import SITUATIONS, Situation
from schedproof.model.semantics import Instance
from schedproof.proofs.refinement import RefinementReport
from schedproof.proofs.refinement.beaker import check_refinement
from schedproof.proofs.refinement.beaker.abstraction import Abstraction, without_bygones
from schedproof.proofs.refinement.beaker.runner import Snapshot, ranked
from schedproof.proofs.refinement.mismatch import Broken
from schedproof.proofs.refinement.modelside import ModelGraph, NotAQuotient

ALL_TOUCHED = Situation("two recipes for two systems; people do what they can", [["AB"], ["A"]], [0, 0], [0], [1], [0])
CONDITIONS = Situation(
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


@pytest.mark.parametrize(
    "situation", [PEOPLE, TWO, GUEST, LABS, BREAKS, RANKS, ABBA, SHARED, LEAVES], ids=lambda s: s.about
)
def test_the_scheduler_is_the_model(situation: Situation) -> None:
    same_graph(check_refinement(situation))


@pytest.mark.long
@pytest.mark.parametrize("situation", [*SITUATIONS, ALL_TOUCHED, CONDITIONS], ids=lambda s: s.about)
def test_the_scheduler_is_the_model_in_larger_situations(situation: Situation) -> None:
    same_graph(check_refinement(situation))


@pytest.mark.long
@pytest.mark.parametrize("situation", [PEOPLE, LABS], ids=lambda s: s.about)
def test_the_same_on_a_database(situation: Situation) -> None:
    same_graph(check_refinement(situation, store=SqlStore))


@pytest.mark.parametrize("planted", PLANTED, ids=lambda p: p.bug)
def test_planted_bugs_are_caught(planted: Planted) -> None:
    report = check_refinement(planted.situation, planted.sides, store=planted.store)
    assert report.mismatch is not None
    assert re.search(planted.shows, report.mismatch.text, re.DOTALL), report.mismatch.text
    assert "  1. " in report.text
    assert "DIFFER" in report.text


def test_there_are_bugs_of_many_kinds() -> None:
    assert len({p.bug for p in PLANTED}) == len(PLANTED) >= 10
    assert len({(p.sides, p.store) for p in PLANTED}) == len(PLANTED)


def test_the_way_to_a_mismatch_can_be_followed() -> None:
    bug = next(p for p in PLANTED if p.bug == "a new recipe jumps the queue")
    report = check_refinement(bug.situation, bug.sides)
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
        return Instance(REPAIRED, ABBA.sizes, ABBA.rigid(with_shares=True))

    def test_places_are_an_order(self) -> None:
        instance = self.instance()
        sets = (RecipeSet("j0", "job", 1, "l0", 7), RecipeSet("j1", "job", 0, "l0", 3))
        at = Snapshot(World(sets), InHand("j1", searched=True))
        shown = instance.describe(Abstraction(instance).image(at))["RecipeSet"]
        assert shown == {
            "j0": {"state": "at_rest", "priority": 1, "lab": "l0", "behind": ["j1"]},
            "j1": {"state": "searched", "priority": 0, "lab": "l0", "behind": []},
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


class TestBygones:
    def test_a_begun_set_is_before_nobody(self) -> None:
        instance = Instance(REPAIRED, ABBA.sizes, ABBA.rigid(with_shares=True))
        state = list(instance.initial())
        state[instance.slot("RecipeSet", "lab") + 1] = 0
        state[instance.slot("RecipeSet", "behind") + 1] = 0b01
        expected = list(state)
        expected[instance.slot("RecipeSet", "behind") + 1] = 0
        assert without_bygones(instance)(tuple(state)) == tuple(expected)

    def test_a_finished_set_has_no_lab(self) -> None:
        instance = Instance(REPAIRED, PEOPLE.sizes, PEOPLE.rigid(with_shares=True))
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
        instance = Instance(REPAIRED, SHARED.sizes, SHARED.rigid(with_shares=True))
        behind = instance.slot("RecipeSet", "behind")

        def too_forgetful(state: tuple[int, ...]) -> tuple[int, ...]:
            return (*state[:behind], *(0 for _ in range(2)), *state[behind + 2 :])

        with pytest.raises(NotAQuotient):
            ModelGraph.explore(instance, too_forgetful)
