"""The library of timers beside a simulator with real time, with seeded faults; its invariants by z3 and cvc5."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from schedproof.model.lang import Action, LeadsTo, Machine, Model, ModelError, Row, Rule, State, exists, variables
from schedproof.model.lang.timers import TIMES, TimerKind, Timers
from schedproof.proofs.checking.engine import Engine, Exploring
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.induction import prove, recheck
from schedproof.proofs.verdict import Verdict
from tests.support.sample import seed_of_today
from tests.support.timed import (
    Call,
    Job,
    Order,
    Setting,
    Simulator,
    Timer,
    armed_once,
    happens,
    has,
    j,
    model,
    orders_in_real_time,
    orders_of_model,
    words_of,
)

RACE = Setting({"a": (1, 1), "b": (3, 3)}, late=["a"], stops=["a"])
"""Two timers that compare; stopping the shorter one may be too late."""

SETTINGS = [
    RACE,
    Setting({"a": (1, 2), "b": (2, 3)}, stops=["a", "b"]),
    Setting({"a": (1, 2), "b": (3, 3)}, late=["a"], periodic=["a"]),
    Setting({"a": (1, 2), "b": (2, 2)}, unpunctual=["a"]),
    Setting({"a": (0, 0), "b": (1, 4)}, late=["b"], stops=["b"]),
]


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("most", [3, pytest.param(5, marks=pytest.mark.long)])
def test_ticks_have_the_orders_of_real_time(setting: Setting, most: int) -> None:
    assert orders_of_model(model(setting, "ticks", calls=3), most) == orders_in_real_time(setting, most)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("most", [3, pytest.param(5, marks=pytest.mark.long)])
def test_an_order_has_all_that_real_time_has(setting: Setting, most: int) -> None:
    real = orders_in_real_time(setting, most)
    compared, free = (orders_of_model(model(setting, time, calls=3), most) for time in ("order", "any"))
    assert real <= compared <= free


@pytest.mark.parametrize("most", [4, pytest.param(6, marks=pytest.mark.long)])
def test_an_order_of_two_timers_has_durations(most: int) -> None:
    """The reverse: each order of events is one of real time, for some durations that compare as these do."""
    setting = Setting({"a": (1, 2), "b": (3, 4)}, late=["a"], stops=["a"])
    longest = [
        each for each in armed_once(orders_of_model(model(setting, "order", calls=3), most)) if len(each) == most
    ]
    assert longest
    for order in longest:
        simulator = Simulator(setting)
        assert all(simulator.happens(word) for word in order)
        assert simulator.possible_for_some_durations(), order


SUMS: Order = ("arm b", "expire b", "arm c", "arm a", "run b", "expire c")


def test_an_order_of_three_timers_knows_no_sums() -> None:
    """What no durations allow, since a and c would last for more than b and b: an order compares two timers at a time."""
    setting = Setting({"a": (1, 1), "b": (2, 2), "c": (3, 3)})
    simulator = Simulator(setting)
    assert all(simulator.happens(word) for word in SUMS)
    assert not simulator.possible_for_some_durations()
    assert has(model(setting, "order"), SUMS)
    assert not has(model(setting, "ticks"), SUMS)


def random_order(setting: Setting, length: int, chosen: random.Random) -> Order:
    """An order that can happen in real time, built event by event."""
    order: Order = ()
    while len(order) < length:
        words = words_of(setting)
        chosen.shuffle(words)
        order = (*order, next(word for word in words if happens(setting, (*order, word))))
    return order


THREE = Setting({"a": (1, 2), "b": (3, 3), "c": (4, 6)}, late=["a", "c"], periodic=["b"], stops=["a", "b", "c"])


@pytest.mark.parametrize("time", TIMES)
def test_long_runs_of_real_time_are_runs_of_the_model(time: str) -> None:
    order = random_order(THREE, 9, random.Random(29))
    assert has(model(THREE, time), order), order


@pytest.mark.long
@pytest.mark.parametrize("time", TIMES)
def test_runs_of_today_are_runs_of_the_model(time: str) -> None:
    chosen = random.Random(seed_of_today("timers"))
    for _ in range(10):
        order = random_order(THREE, 9, chosen)
        assert has(model(THREE, time), order), order


# --- seeded faults


def without(model: Model, name: str, **changes: object) -> Model:
    """The model, with one rule or action changed, or left out if nothing is to be changed."""

    def kept(elements: Sequence[Any]) -> list[Any]:
        return [replace(e, **changes) if e.name == name else e for e in elements if changes or e.name != name]

    changed = replace(model, rules=kept(model.rules), actions=kept(model.actions))
    assert [id(e) for e in changed.elements] != [id(e) for e in model.elements]
    return changed


def leading_to(model: Model, name: str, target: str) -> Model:
    """The model with another target of one row, which then sets nothing."""
    rows = [Row(r.sort, r.event, r.source, target) if r.name == name else r for r in model.rows]
    return replace(model, rows=rows)


def _rule(model: Model, name: str) -> Rule:
    return next(rule for rule in model.rules if rule.name == name)


def stopped_fires(model: Model) -> Model:
    rule = _rule(model, "a timer that is stopped takes its call back")
    return without(model, rule.name, fires=_rule(model, "a timer that is stopped too late").fires)


def fires_twice(model: Model) -> Model:
    return leading_to(model, "Call.run from due", "late")


def late_is_lost(model: Model) -> Model:
    rule = _rule(model, "a timer that is stopped too late")
    return without(model, rule.name, fires=_rule(model, "a timer that is stopped takes its call back").fires)


def late_is_taken_twice(model: Model) -> Model:
    return leading_to(model, "Call.run from late", "late")


def due_ones_are_forgotten(model: Model) -> Model:
    timer, earlier = variables(Timer, "timer earlier")
    waiting = exists(earlier, timer.waits.has(earlier) & earlier.is_("armed"))
    return without(model, "expire_b", when=[*model.action("expire_b").when[:3], ~waiting])


def time_stands_still(model: Model) -> Model:
    return without(model, "a tick takes a unit of time from each timer")


def urgent_waits(model: Model) -> Model:
    return without(model, "tick", when=[])


def too_early(model: Model) -> Model:
    return without(model, "expire_b", when=model.action("expire_b").when[:3])


def waits_for_later_ones(model: Model) -> Model:
    return without(model, "no timer waits for one that is armed later")


FAULTS: dict[Callable[[Model], Model], tuple[str, Setting, Order]] = {
    stopped_fires: ("any", replace(RACE, late=[]), ("arm a", "expire a", "stop a", "late a")),
    fires_twice: ("any", RACE, ("arm a", "expire a", "run a", "late a")),
    late_is_lost: ("any", RACE, ("arm a", "expire a", "stop a", "late a")),
    late_is_taken_twice: ("any", RACE, ("arm a", "expire a", "stop a", "late a", "late a")),
    due_ones_are_forgotten: ("order", RACE, ("arm a", "arm b", "expire a", "expire b")),
    time_stands_still: ("ticks", RACE, ("arm a", "expire a")),
    urgent_waits: ("ticks", RACE, ("arm a", "arm b", "expire b")),
    too_early: ("order", RACE, ("arm a", "arm b", "expire b")),
    waits_for_later_ones: ("order", RACE, ("arm a", "arm b", "arm a", "arm a", "expire b")),
}
"""Each fault with the time, the setting and an order that only one of model and fault has."""


@pytest.mark.parametrize("fault", FAULTS)
def test_a_seeded_fault_changes_the_orders(fault: Callable[[Model], Model]) -> None:
    time, setting, order = FAULTS[fault]
    right = model(setting, time)
    assert has(right, order) is happens(setting, order)
    assert has(fault(right), order) is not happens(setting, order)


# --- invariants


@pytest.mark.parametrize("time", TIMES)
def test_the_invariants_are_proved_for_any_number(time: str) -> None:
    timers = model(replace(THREE, lasts={"a": (1, 2), "b": (3, 3)}, late=["a"], stops=["a", "b"]), time)
    induction = prove(timers)
    assert all(induction.proved(name) for name in ("well-formed", *(prop.name for prop in timers.properties)))


FIVE = Setting(dict.fromkeys("abcde", (1, 2)))
"""The axioms demand five timers, more objects of a sort than counterexamples have otherwise."""


def test_owners_may_have_more_kinds_than_few_objects() -> None:
    timers = model(FIVE, "any")
    assert prove(timers, only=["timers-fire-once"]).proved("timers-fire-once")


@pytest.mark.long
def test_a_failed_proof_about_five_timers_shows_them() -> None:
    name = "due-calls-are-of-due-timers"
    wrong = without(model(FIVE, "any"), "a timer that is stopped takes its call back")
    why = prove(wrong, every=False, only=[name]).why_not(name)
    assert why is not None and why.counterexample is not None


@pytest.mark.long
@pytest.mark.parametrize("time", TIMES)
def test_cvc5_agrees_on_every_obligation(time: str) -> None:
    answers = list(recheck(prove(model(RACE, time))))
    assert answers
    assert [each.answer.obligation.name for each in answers if each.agrees is not True] == []


@pytest.mark.parametrize("engine", [Engine.INTERPRETED, pytest.param(Engine.COMPILED, marks=pytest.mark.long)])
@pytest.mark.parametrize("time", TIMES)
def test_explorations_find_them_true(time: str, engine: Engine) -> None:
    results = model_check(model(RACE, time, calls=2), {}, how=Exploring(engine=engine))
    assert {each.verdict for each in results} == {Verdict.PROVED}


@pytest.mark.parametrize("time", TIMES)
def test_a_timer_that_is_armed_for_ever_need_not_expire(time: str) -> None:
    """In real time a watchdog that is fed in time never barks, however fair the run: its time begins anew.

    Where nothing feeds it, it barks.
    """
    for fed in (True, False):
        barks = watchdog(time, fed=fed)
        (checked,) = model_check(barks, {}, only=["barks"])
        assert checked.verdict is (Verdict.REFUTED if fed else Verdict.PROVED), checked.reach


def watchdog(time: str, *, fed: bool) -> Model:
    """A job whose timer is armed at once; ``feed`` arms it anew if it is ``fed``."""
    dog = Timers(Timer, Call, [TimerKind("dog", of="job")], {"job": Job}, time)
    begin = Action("begin", [j], [j.is_("New")], [j.fires("begin")], "{j} begins")
    feed = Action("feed", [j], [j.is_("Quiet")], [], "{j} is fed")
    tick = dog.tick() if time == "ticks" else None
    return Model(
        system="watchdog",
        variant="as-written",
        about="a watchdog",
        machines=[Machine(Job, [State("New"), State("Quiet"), State("Barking")]), *dog.machines],
        rows=[Row(Job, "begin", "New", "Quiet"), Row(Job, "bark", "Quiet", "Barking"), *dog.rows],
        actions=[begin, *dog.running("dog", "barks"), *([feed] if fed else []), *([tick] if tick else [])],
        rules=[
            dog.arming("it is armed", begin, [], "dog", j),
            *([dog.arming("food arms it anew", feed, [], "dog", j)] if fed else []),
            dog.function("it barks", "dog", [], dog.owner("dog").fires("bark")),
            *dog.rules(tick),
        ],
        properties=[
            LeadsTo(
                name="barks",
                says="the dog barks",
                over=[j],
                given=j.is_("Quiet"),
                goal=j.is_("Barking"),
                weak=["expire_dog", "run_dog", *(["feed"] if fed else []), *(["tick"] if tick else [])],
            )
        ],
        default_scope={"Job": 1, "Timer": 1, "Call": 1},
        axioms=dog.axioms,
        bound={("Timer", "remains"): 2} if tick else {},
        configurations=lambda sizes: [dog.configuration({"job": 1}, lasts={"dog": (0, 2)})],
    )


def test_a_stopped_timer_that_fires_breaks_an_invariant() -> None:
    wrong = stopped_fires(model(replace(RACE, late=[]), "any", calls=2))
    assert not prove(wrong).proved("late-calls-are-of-late-timers")
    results = {each.name: each.verdict for each in model_check(wrong, {})}
    assert results["late-calls-are-of-late-timers"] is Verdict.REFUTED


def test_an_unknown_kind_is_refused() -> None:
    timers = Timers(Timer, Call, [TimerKind("a", of="job")], {"job": Job})
    with pytest.raises(ModelError, match="unknown kind 'b'"):
        timers.owner("b")


def test_a_late_timer_is_named_in_its_step() -> None:
    late = model(RACE, "any").action("run_a_late")
    assert late.says == "the a timer of {timer.job} runs, too late: it was stopped or armed again"


def test_two_timers_for_which_one_waits_are_armed_in_two_steps() -> None:
    """Where they are armed in one, the step is ill-formed: the waiting timer would have to forget both at once."""
    setting = Setting({"a": (1, 1), "b": (1, 1), "c": (3, 3)})
    waiting = model(setting, "order", calls=1)
    both = replace(waiting.rules[1], name="b is armed with a", on=waiting.rules[0].on)
    together = replace(waiting, rules=[*waiting.rules, both])
    (formed, *_) = model_check(together, {}, only=["well-formed"])
    assert formed.verdict is Verdict.REFUTED and formed.counterexample is not None
    assert "forget" in formed.counterexample.problem
    assert model_check(waiting, {}, only=["well-formed"])[0].verdict is Verdict.PROVED
