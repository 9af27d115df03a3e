"""The small parts of Beaker's reference scheduler: choices, shares, what single objects may do."""

from __future__ import annotations

import random

import pytest
import schedproof.impl.beaker as beaker
from beaker_runs import filled
from schedproof.impl.beaker import (
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
from schedproof.impl.beaker.choice import chosen
from schedproof.impl.beaker.legal import check_recipe, check_system
from schedproof.impl.beaker.placement import shares


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
