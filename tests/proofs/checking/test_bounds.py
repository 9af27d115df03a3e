"""Verdicts within the bounds of integers, on a counter whose truths are argued in the tests."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from schedproof.model.lang import (
    Action,
    AlwaysCanReach,
    Attribute,
    BoolType,
    Change,
    DeadlockFree,
    Event,
    Int,
    IntRange,
    Invariant,
    LeadsTo,
    LifeCycle,
    Machine,
    Model,
    ModelError,
    Nat,
    Property,
    Row,
    Sort,
    State,
    StepInvariant,
    after,
    given,
    me,
    variables,
)
from schedproof.model.semantics import Stepper, instances, with_bound
from schedproof.proofs.checking.engine import Engine, Exploring
from schedproof.proofs.checking.model_check import WELL_FORMEDNESS, model_check
from schedproof.proofs.compiled.walks import walk
from schedproof.proofs.exploration.limits import TooWide
from schedproof.proofs.verdict import Result, Verdict
from tests.support.rows import each_row

Box = Sort("Box", "b")
(b,) = variables(Box, "b")
OPEN = Machine(Box, [State("Open")], [Attribute("n", Nat)])
LIVES = DeadlockFree(name="lives", says="")
ENGINES = [Engine.INTERPRETED, Engine.COMPILED]


def counter(*properties: Property, **parts: Any) -> Model:
    """A box counts up as long as it is open, and can be closed at 5 or above."""
    whole: dict[str, Any] = {
        "system": "counter",
        "variant": "plain",
        "about": "",
        "machines": [Machine(Box, [State("Open"), State("Shut")], [Attribute("n", Nat)])],
        "rows": [Row(Box, "up", "Open", "Open", n=me.n + 1), Row(Box, "shut", "Open", "Shut")],
        "actions": [
            Action("up", [b], [b.is_("Open")], [b.fires("up")], "{b} counts"),
            Action("shut", [b], [b.is_("Open"), b.n >= 5], [b.fires("shut")], "{b} is shut"),
        ],
        "rules": [],
        "properties": properties,
        "default_scope": {"Box": 1},
        "bound": {("Box", "n"): 3},
    }
    return Model(**{**whole, **parts})


def verdicts(model: Model, engine: Engine, **how: Any) -> dict[str, Result]:
    """By the name of the property."""
    return {r.name: r for r in model_check(model, {}, how=Exploring(engine, **how))}


def only(prop: Property, engine: Engine, high: int | tuple[int, int] = 3) -> Result:
    """The result of one property of the counter up to ``high``."""
    return verdicts(with_bound(counter(prop), {("Box", "n"): high}), engine)[prop.name]


@pytest.mark.parametrize("engine", ENGINES)
def test_what_holds_within_bounds_says_so(engine: Engine) -> None:
    small = Invariant(name="small", says="", over=[b], then=b.n <= 3)
    grows = StepInvariant(name="grows", says="", over=[b], then=after(b.n <= 3) | (b.n >= 3))
    both = verdicts(counter(small, grows), engine)
    for result in both.values():
        assert result.reach == "holds at Box=1 within n <= 3"
        assert result.as_json()["within"] == "n <= 3"
    assert only(small, engine, 4).verdict is Verdict.REFUTED  # the false bound of a range would have kept it


@pytest.mark.parametrize("engine", ENGINES)
def test_a_bound_that_cuts_nothing_is_not_named(engine: Engine) -> None:
    [up, shut] = counter().actions
    model = counter(actions=[dataclasses.replace(up, when=[*up.when, b.n < 2]), shut])
    assert verdicts(model, engine)[WELL_FORMEDNESS.name].reach == "holds at Box=1"


@pytest.mark.parametrize("engine", ENGINES)
def test_a_deadlock_is_none_that_the_bound_makes(engine: Engine) -> None:
    # An open box can always count.
    lives = DeadlockFree(name="lives", says="", ended=None)
    assert only(lives, engine).reach == "holds at Box=1 within n <= 3"
    assert only(lives, engine, 5).verdict is Verdict.REFUTED  # after shut


@pytest.mark.parametrize("engine", ENGINES)
def test_a_goal_beyond_the_bound_is_open(engine: Engine) -> None:
    # An open box can be shut, from every n on: within 3 nobody sees that.
    goal = AlwaysCanReach(name="ends", says="", over=[b], goal=b.is_("Shut"))
    result = only(goal, engine)
    assert result.verdict is Verdict.UNDETERMINED
    assert result.note == "some state can reach the goal only beyond n <= 3, if at all; try a greater bound"
    assert only(goal, engine, 5).reach == "holds at Box=1 within n <= 5"
    # Without counting, 0 stays 0, and nothing beyond the bound can help.
    assert only(dataclasses.replace(goal, without=["up"]), engine).verdict is Verdict.REFUTED


@pytest.mark.parametrize("engine", ENGINES)
def test_a_life_beyond_the_bound_is_open(engine: Engine) -> None:
    life = LifeCycle(name="life", says="", sort=Box, states=["Open", "Shut"])
    result = only(life, engine)
    assert result.verdict is Verdict.UNDETERMINED
    assert result.note == "within n <= 3 no box goes through Open -> Shut; try a greater bound"
    assert only(life, engine, 5).reach == "holds at Box=1"  # its run is a run


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("fair", "verdict"),
    [
        ({"weak": ["up"]}, Verdict.PROVED),
        pytest.param({"strong": ["up"]}, Verdict.PROVED, marks=pytest.mark.long(one_in=32)),
        ({}, Verdict.REFUTED),
    ],
)
def test_no_run_stays_at_the_bound_unfairly(engine: Engine, fair: Any, verdict: Verdict) -> None:
    # From 2 on, a box that counts fairly passes 3. It does not stay there: it can count, which is cut.
    later = LeadsTo(name="later", says="", over=[b], given=b.n != 1, goal=(b.n == 1) | (b.n >= 9), **fair)
    result = only(later, engine)
    assert result.verdict is verdict
    assert result.within == ("n <= 3" if verdict is Verdict.PROVED else "")


@pytest.mark.parametrize("engine", ENGINES)
def test_a_goal_that_no_run_reaches_does_not_hold(engine: Engine) -> None:
    # Every fair run counts beyond the bound. What it does there is not known: it may reach 9, and never 0.
    far = LeadsTo(name="far", says="", over=[b], given=b.n == 1, goal=b.n >= 9, weak=["up"])
    never = dataclasses.replace(far, name="never", goal=b.n == 0)
    for prop in (far, never):
        result = only(prop, engine)
        assert result.verdict is Verdict.UNDETERMINED
        assert result.note == "within n <= 3 no run leads from its premise to its goal; try a greater bound"
    assert only(never, engine, 4).verdict is Verdict.UNDETERMINED
    passes = dataclasses.replace(far, name="passes", goal=b.n == 3)
    assert only(passes, engine).reach == "holds at Box=1 within n <= 3"


@pytest.mark.parametrize("engine", ENGINES)
def test_an_ill_formed_step_is_none_less_beyond(engine: Engine) -> None:
    # At 0 it counts down to -1, which no Nat is, however far the other number goes.
    two = Machine(Box, [State("Open")], [Attribute("n", Nat), Attribute("m", Int)])
    rows = [Row(Box, "up", "Open", "Open", m=me.m + 9, n=me.n - 1)]
    actions = [Action("up", [b], [], [b.fires("up")], "{b} counts")]
    model = counter(machines=[two], rows=rows, actions=actions, bound={("Box", "n"): 3, ("Box", "m"): 3})
    result = verdicts(model, engine)[WELL_FORMEDNESS.name]
    assert result.verdict is Verdict.REFUTED
    assert result.counterexample is not None
    assert "sets n to -1, outside of Nat" in result.counterexample.problem


@pytest.mark.parametrize("engine", ENGINES)
def test_every_step_may_lead_beyond(engine: Engine) -> None:
    result = verdicts(with_bound(counter(), {("Box", "n"): 0}), engine)[WELL_FORMEDNESS.name]
    assert result.reach == "undetermined: vacuous: every step from the initial state leads beyond n <= 0"


@pytest.mark.parametrize("engine", ENGINES)
def test_one_configuration_that_is_cut_bounds_the_verdict(engine: Engine) -> None:
    # A box counts up to its limit, which is rigid and has no bound: 2, or one far beyond.
    limited = Machine(Box, [State("Open")], [Attribute("n", Nat), Attribute("limit", Nat, rigid=True)])
    rows = [Row(Box, "up", "Open", "Open", n=me.n + 1)]
    actions = [Action("up", [b], [b.n < b.limit], [b.fires("up")], "{b} counts")]
    kept = Invariant(name="kept", says="", over=[b], then=b.n <= b.limit)

    def model(*limits: int) -> Model:
        return counter(
            kept,
            machines=[limited],
            rows=rows,
            actions=actions,
            configurations=lambda sizes: [{("Box", "limit"): [limit]} for limit in limits],
        )

    assert verdicts(model(2), engine)["kept"].reach == "holds at Box=1"
    assert verdicts(model(10**12), engine)["kept"].reach == "holds at Box=1 within n <= 3"
    both = "holds in 2 configurations of up to Box=1 within n <= 3"
    assert verdicts(model(2, 10**12), engine)["kept"].reach == both
    assert verdicts(model(10**12, 2), engine)["kept"].reach == both


@pytest.mark.parametrize("engine", ENGINES)
def test_a_step_that_a_property_leaves_out_leads_nowhere(engine: Engine) -> None:
    # Only counting leads beyond the bound. A box that may not count is never shut, with any bound.
    shut = AlwaysCanReach(name="shut", says="", over=[b], given=b.n == 3, goal=b.is_("Shut"), without=["up"])
    for high in (3, 4):
        assert only(shut, engine, high).reach == "refuted in 3 steps at Box=1"
    counting = dataclasses.replace(shut, without=["shut"])
    assert only(counting, engine).verdict is Verdict.UNDETERMINED


@each_row("engine", ENGINES)
@each_row(
    ("limits", "reach"),
    [
        ((2, 4), "holds in some of 2 configurations of up to Box=1"),
        ((4, 2), "holds in some of 2 configurations of up to Box=1"),
        ((4,), "undetermined: within n <= 3 no box goes through Open -> Shut; try a greater bound"),
        ((4, 9), "undetermined: within n <= 3 no box goes through Open -> Shut; try a greater bound"),
    ],
)
def test_one_configuration_with_a_life_cycle_is_enough(engine: Engine, limits: tuple[int, ...], reach: str) -> None:
    # A box is shut where it has counted to its limit. Within 3 it gets to 2, and not to 4.
    limited = Machine(Box, [State("Open"), State("Shut")], [Attribute("n", Nat), Attribute("limit", Nat, rigid=True)])
    up, shut = counter().actions
    model = counter(
        LifeCycle(name="shuts", says="", sort=Box, states=["Open", "Shut"]),
        machines=[limited],
        actions=[up, dataclasses.replace(shut, when=[b.is_("Open"), b.n == b.limit])],
        configurations=lambda sizes: [{("Box", "limit"): [limit]} for limit in limits],
    )
    assert verdicts(model, engine)["shuts"].reach == reach


@pytest.mark.parametrize("engine", ENGINES)
def test_arithmetic_is_linear(engine: Engine) -> None:
    # n goes 0, 1, 3, 7, ... and m = 5 - 2 n with it: 5, 3, -1, -9, and then -25.
    two = Machine(Box, [State("Open")], [Attribute("n", Nat), Attribute("m", Int, initial=5)])
    rows = [Row(Box, "up", "Open", "Open", n=2 * me.n + 1, m=5 - (me.n * 2 + 1) * 2)]
    actions = [Action("up", [b], [], [b.fires("up")], "{b} counts")]
    sums = Invariant(
        name="sums", says="", over=[b], then=(b.m + 2 * b.n == 5) & (-3 * b.n <= 0 * b.m) & (-b.m == 2 * b.n - 5)
    )
    ends = Invariant(name="ends", says="", over=[b], then=b.n != 7)
    model = counter(sums, ends, machines=[two], rows=rows, actions=actions, bound={("Box", "n"): 20, ("Box", "m"): 20})
    both = verdicts(model, engine)
    assert both["sums"].reach == "holds at Box=1 within n <= 20, -20 <= m <= 20"
    assert both["ends"].reach == "refuted in 3 steps at Box=1"
    states = Exploring(engine).graph(next(instances(model, {})))[0].state_count
    assert states == 4


@pytest.mark.parametrize("engine", ENGINES)
def test_each_object_has_the_bound(engine: Engine) -> None:
    # Three boxes count to 2, each for itself: on the frontier are the states with one at 2.
    model = counter(rows=[Row(Box, "up", "Open", "Open", n=me.n + 1)], actions=[counter().actions[0]], machines=[OPEN])
    [instance] = instances(with_bound(model, {("Box", "n"): 2}), {"Box": 3})
    explored, _ = Exploring(engine).graph(instance)
    assert (explored.state_count, explored.frontier_count, explored.stuck_count) == (27, 27 - 8, 0)


def test_numbers_too_great_for_compiled_code_are_interpreted() -> None:
    far = with_bound(counter(), {("Box", "n"): (0, 1 << 50)})
    with pytest.raises(TooWide, match="more than compiled code counts to"):
        verdicts(far, Engine.COMPILED, max_states=10)
    assert verdicts(far, Engine.AUTO, max_states=10)[WELL_FORMEDNESS.name].verdict is Verdict.UNDETERMINED


@pytest.mark.parametrize("times", [(3, 1), (1, 3), (2, 2)])
def test_sums_do_not_wrap_around(times: tuple[int, int]) -> None:
    # n is 2^48, and m becomes 2^64: to 64 bits it is 0, and all would be within the bounds. 16 n > 0 is true.
    def times_16(term: Any, times: int) -> Any:
        return term if times == 0 else 16 * times_16(term, times - 1)

    greatest = 1 << 48
    machine = Machine(
        Box,
        [State("Open"), State("Shut")],
        [Attribute("n", Nat, initial=greatest), Attribute("m", Nat)],
        [Event("up", {"by": Nat})],
    )
    rows = [Row(Box, "up", "Open", "Shut", m=times_16(given("by"), times[1]))]
    actions = [
        Action("up", [b], [b.is_("Open"), 16 * b.n > 0], [b.fires("up", by=times_16(b.n, times[0]))], "{b} counts")
    ]
    bound = {("Box", "n"): greatest, ("Box", "m"): greatest}
    model = counter(LIVES, machines=[machine], rows=rows, actions=actions, bound=bound)
    for engine in (Engine.INTERPRETED, Engine.AUTO):
        assert verdicts(model, engine)["lives"].reach == f"holds at Box=1 within n <= {greatest}, m <= {greatest}"
    with pytest.raises(TooWide, match="more than compiled code counts to"):
        verdicts(model, Engine.COMPILED)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_multiple_of_a_small_number_is_compiled(engine: Engine) -> None:
    rows = [Row(Box, "up", "Open", "Open", n=16 * (16 * me.n) + 1)]
    actions = [Action("up", [b], [], [b.fires("up")], "{b} counts")]
    model = counter(LIVES, machines=[OPEN], rows=rows, actions=actions, bound={("Box", "n"): 1 << 20})
    results = verdicts(model, engine)
    assert results["lives"].reach == "holds at Box=1 within n <= 1048576"


@pytest.mark.parametrize("engine", ENGINES)
def test_bounds_of_integers_are_from_minus_to_plus(engine: Engine) -> None:
    # Down and up from 0 within 2: five states.
    two = Machine(Box, [State("Open")], [Attribute("n", Int)])
    rows = [Row(Box, "up", "Open", "Open", n=me.n + 1), Row(Box, "down", "Open", "Open", n=me.n - 1)]
    actions = [Action(name, [b], [], [b.fires(name)], "{b} counts") for name in ("up", "down")]
    model = counter(machines=[two], rows=rows, actions=actions, bound={("Box", "n"): 2})
    within = Invariant(name="within", says="", over=[b], then=(b.n <= 2) & (b.n >= -2))
    result = verdicts(model.asking([within]), engine)["within"]
    assert result.reach == "holds at Box=1 within -2 <= n <= 2"
    narrow = with_bound(model, {("Box", "n"): (-1, 0)})
    assert verdicts(narrow.asking([within]), engine)["within"].within == "-1 <= n <= 0"
    for each, states in ((model, 5), (narrow, 2)):
        [instance] = instances(each, {})
        assert Exploring(engine).graph(instance)[0].state_count == states


def test_a_nat_is_never_below_0() -> None:
    below = only(DeadlockFree(name="lives", says=""), Engine.INTERPRETED, high=(-5, 2))
    assert below.reach == "holds at Box=1 within n <= 2"


def test_a_variant_without_an_integer_has_no_bound_of_it() -> None:
    change = Change(
        "a box only shuts",
        [],
        drops=["up", "Box.up from Open"],
        adds=[Action("shut", [b], [b.is_("Open")], [b.fires("shut")], "{b} is shut")],
    )
    boxes = [Machine(Box, [State("Open"), State("Shut")])]
    other = counter(bound={("Box", "n"): 3}).amend("uncounted", "", [change], frozenset(), machines=boxes)
    assert verdicts(other, Engine.INTERPRETED)[WELL_FORMEDNESS.name].reach == "holds at Box=1"


def test_a_step_of_the_model_knows_no_bound() -> None:
    [instance] = instances(counter(), {})
    stepper, state = Stepper(instance), instance.initial()
    for _ in range(1000):
        [step] = stepper.steps(state, [counter().action("up")])
        state = step.after
    assert state[instance.slot("Box", "n")] == 1000


@pytest.mark.parametrize("engine", ENGINES)
def test_an_exploration_needs_a_bound(engine: Engine) -> None:
    with pytest.raises(ModelError, match=r"Box\.n: an exploration needs a bound of Nat.*--bound Box\.n=3"):
        verdicts(counter(bound={}), engine)


def test_walks_that_end_are_no_walks_that_are_cut() -> None:
    # At 1 a box may be shut, and nothing follows. Or it counts on, and at 3 only the bound stops it.
    up, shut = counter().actions
    model = counter(actions=[up, dataclasses.replace(shut, when=[b.is_("Open"), b.n == 1])])
    [instance] = instances(model, {})
    walked = walk(instance, [], steps=2000, length=10, seed=1)
    assert walked.ended == walked.action_counts["shut"] > 200
    assert walked.walks - 1 <= walked.ended + walked.cut <= walked.walks


@pytest.mark.parametrize("engine", ENGINES)
def test_a_run_passes_the_frontier(engine: Engine) -> None:
    # At 3 the bound cuts a step. From there a box is shut, and then lost.
    machine = Machine(Box, [State("Open"), State("Shut"), State("Lost")], [Attribute("n", Nat)])
    up, shut = counter().actions
    lose = Action("lose", [b], [b.is_("Shut")], [b.fires("lose")], "{b} is lost")
    open_ = AlwaysCanReach(name="open", says="", over=[b], given=b.is_("Lost"), goal=b.is_("Open"))
    model = counter(
        open_,
        machines=[machine],
        rows=[*counter().rows, Row(Box, "lose", "Shut", "Lost")],
        actions=[up, dataclasses.replace(shut, when=[b.is_("Open"), b.n == 3]), lose],
    )
    example = verdicts(model, engine)["open"].counterexample
    assert example is not None
    assert [step.action for step in example.steps] == ["up", "up", "up", "shut", "lose"]


@pytest.mark.parametrize("engine", ENGINES)
def test_an_integer_of_history_cuts_no_other_history(engine: Engine) -> None:
    """Two properties read two attributes of history; the bound of one cuts runs that the other needs."""
    attributes = [
        Attribute("level", IntRange(0, 4)),
        Attribute("ups", Nat, history=True),
        Attribute("high", BoolType(), history=True),
    ]
    model = counter(
        Invariant(name="few", says="", over=[b], then=b.ups < 9),
        Invariant(name="low", says="", over=[b], then=~b.high),
        machines=[Machine(Box, [State("Open")], attributes)],
        rows=[Row(Box, "up", "Open", "Open", level=me.level + 1, ups=me.ups + 1, high=me.level >= 3)],
        actions=[Action("up", [b], [b.level < 4], [b.fires("up")], "{b} counts")],
        bound={("Box", "ups"): 1},
    )
    results = verdicts(model, engine)
    assert (results["few"].verdict, results["few"].within) == (Verdict.PROVED, "ups <= 1")
    assert results["low"].verdict is Verdict.REFUTED
    assert results["low"].counterexample is not None and len(results["low"].counterexample.steps) == 4
