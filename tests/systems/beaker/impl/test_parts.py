"""The small parts of Beaker's reference scheduler: choices, seatings, what single objects may do."""

from __future__ import annotations

import random

import pytest

import schedproof.impl.systems.beaker as beaker
from schedproof.impl.systems.beaker import (
    Condition,
    IllegalMove,
    MemoryStore,
    Recipe,
    RecipeState,
    Refused,
    System,
    Usage,
    first,
    only,
)
from schedproof.impl.systems.beaker.choice import chosen
from schedproof.impl.systems.beaker.legal import check_recipe, check_system
from schedproof.impl.systems.beaker.view import seating
from tests.systems.beaker.impl.runs import filled


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


def seated(**viable: str) -> dict[str, str] | None:
    return seating({name: frozenset(systems) for name, systems in viable.items()}, LABS)


class TestPlacement:
    def test_the_one_that_suits_only_one_gets_it(self) -> None:
        assert seated(r="AB", q="A") == {"r": "B", "q": "A"}
        assert seated(r="ABC", q="AB", p="A") == {"r": "C", "q": "B", "p": "A"}

    def test_a_lab_that_cannot_hold_all_is_left_out(self) -> None:
        assert seated(r="AD", q="AE") == {"r": "D", "q": "E"}
        assert seated(r="A", q="A") is None
        assert seated(r="A", q="D") is None
        assert seated(r="", q="A") is None

    def test_recipes_and_systems_may_have_the_same_names(self) -> None:
        assert seated(A="AB", B="A") == {"A": "B", "B": "A"}

    def test_no_recipes_or_no_systems(self) -> None:
        assert seating({}, {}) is None
        assert seated(r="") is None

    def test_there_is_a_seating_if_some_assignment_serves_everybody(self) -> None:
        """Against brute force; and what is found is one, in the first lab that has one."""
        dice = random.Random(7)
        found_some = 0
        for _ in range(500):
            viable = {name: "".join(s for s in LABS if dice.random() < 0.5) for name in "rqp"[: dice.randint(1, 3)]}
            seats = seated(**viable)
            able = [
                lab
                for lab in ("one", "two")
                if can_all_be_served([{s for s in systems if LABS[s] == lab} for systems in viable.values()], set())
            ]
            assert (seats is not None) == bool(able)
            if seats is not None:
                found_some += 1
                assert seats.keys() == viable.keys()
                assert all(seats[name] in viable[name] for name in viable)
                assert len(set(seats.values())) == len(seats)
                assert {LABS[s] for s in seats.values()} == {able[0]}
        assert 100 < found_some < 500


def can_all_be_served(viable: list[set[str]], used: set[str]) -> bool:
    return not viable or any(can_all_be_served(viable[1:], used | {s}) for s in viable[0] - used)


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
