"""The library of timers beside a simulator with real time, with seeded faults; its invariants by z3 and cvc5."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from schedproof.model.lang import (
    Action,
    LeadsTo,
    Machine,
    Model,
    ModelError,
    Row,
    Rule,
    State,
    Term,
    exists,
    forall,
    variables,
)
from schedproof.model.lang.timers import TIMES, TimerKind, Timers
from schedproof.model.semantics import Instance
from schedproof.proofs.checking.engine import Engine, Exploring
from schedproof.proofs.checking.model_check import admitted, model_check
from schedproof.proofs.induction import prove, recheck
from schedproof.proofs.verdict import Verdict
from tests.support.rows import each_row
from tests.support.sample import seed_of_today, thinned
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


def due_ones_stand_still(model: Model) -> Model:
    rule = _rule(model, "a tick takes a unit of time from each timer")
    timer = rule.fires.of
    return without(model, rule.name, when=[timer.is_("armed"), timer.remains > 0])


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
    due_ones_stand_still: (
        "ticks",
        Setting({"a": (0, 1), "b": (2, 2)}),
        ("arm a", "arm b", "expire a", "expire b"),
    ),
    urgent_waits: ("ticks", RACE, ("arm a", "arm b", "expire b")),
    too_early: ("order", RACE, ("arm a", "arm b", "expire b")),
    waits_for_later_ones: ("order", RACE, ("arm a", "arm b", "arm a", "arm a", "expire b")),
}
"""Each fault with the time, the setting and an order that only one of model and fault has."""


@each_row("fault", FAULTS)
def test_a_seeded_fault_changes_the_orders(fault: Callable[[Model], Model]) -> None:
    time, setting, order = FAULTS[fault]
    right = model(setting, time)
    assert has(right, order) is happens(setting, order)
    assert has(fault(right), order) is not happens(setting, order)


# --- invariants


@pytest.mark.parametrize("time", thinned(TIMES, 3, first=2))
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
    """Nothing stops a timer there, but one may be armed again while its call is due."""
    name = "due-calls-are-of-due-timers"
    wrong = without(model(FIVE, "any"), "a timer that is armed again takes its call back")
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


def test_a_step_that_arms_and_stops_a_timer_arms_it() -> None:
    both = model(Setting({"a": (1, 1)}, stops=["a"]), "any", calls=1)
    arm, stop = both.action("arm_a"), both.action("stop_a")
    together = replace(
        both,
        actions=[each for each in both.actions if each is not stop],
        rules=[replace(rule, on=arm) if rule.on is stop else rule for rule in both.rules],
    )
    assert model_check(together, {}, only=["well-formed"])[0].verdict is Verdict.PROVED
    assert has(together, ("arm a", "expire a"))


@pytest.mark.parametrize("time", TIMES)
def test_a_step_may_stop_what_runs_or_waits(time: str) -> None:
    """A function stops its own timer, and arming a stops b, which waits for it."""
    timed = model(Setting({"a": (1, 1), "b": (3, 3)}, stops=["a", "b"]), time, calls=1)
    (arm_a, stop_a, stop_b, run_a) = map(timed.action, ("arm_a", "stop_a", "stop_b", "run_a"))
    on = {id(stop_a): run_a, id(stop_b): arm_a}
    together = replace(
        timed,
        actions=[each for each in timed.actions if each not in (stop_a, stop_b)],
        rules=[replace(rule, on=on.get(id(rule.on), rule.on)) for rule in timed.rules],
    )
    assert model_check(together, {}, only=["well-formed"])[0].verdict is Verdict.PROVED


def test_a_function_is_of_the_timers_of_its_kind() -> None:
    beating = model(Setting({"a": (1, 1), "b": (1, 1)}, periodic=["a"]), "any")
    assert has(beating, ("arm a", "expire a", "run a", "expire a"))
    assert not has(beating, ("arm b", "expire b", "run b", "expire a"))


# --- axioms, assumptions and configurations

TWO = Timers(Timer, Call, [TimerKind("a", of="job"), TimerKind("b", of="job")], {"job": Job}, "order")


def admits(*premises: Term, **changes: Sequence[Any]) -> bool:
    """Whether the premises are true of a job with an a that lasts from 1 to 2 and a b that lasts for 3, with changes."""
    durations = model(Setting({"a": (1, 2), "b": (3, 3)}), "order")
    rigid = {**TWO.configuration({"job": 1}, lasts={"a": (1, 2), "b": (3, 3)})}
    rigid |= {("Timer", name): values for name, values in changes.items()}
    sizes = {"Job": 1, "Timer": len(rigid["Timer", "kind"]), "Call": 1}
    return admitted(Instance(replace(durations, axioms=premises), sizes, rigid))


def test_formulas_for_assumptions_say_what_they_mean() -> None:
    assert admits(TWO.shorter("a", than="b")) and not admits(TWO.shorter("b", than="a"))
    assert not admits(TWO.shorter("a", than="b"), most=[3, 3])  # of equal ones, none is shorter
    assert admits(TWO.punctual("a"), punctual=[True, False]) and not admits(TWO.punctual("a"), punctual=[False, True])
    assert not admits(TWO.punctual("a"), punctual=[False, True], late=[True, True])
    assert admits(TWO.stops_in_time("a"), late=[False, True]) and not admits(TWO.stops_in_time("a"), late=[True, False])


@pytest.mark.parametrize(
    "changes",
    [
        {"kind": ["a", "a"]},
        {"kind": ["b", "b"]},
        {"job": [0, None]},
        {"least": [3, 3]},
        {name: values[:1] for name, values in {"kind": ["a"], "job": [0], "late": [False], "least": [1], "most": [2], "punctual": [True]}.items()},
        {"kind": ["a", "b", "b"], "job": [0] * 3, "late": [False] * 3, "least": [1] * 3, "most": [2] * 3, "punctual": [True] * 3},
    ],
    ids=["no b", "no a", "no owner", "least above most", "b is missing", "two of one kind"],
)  # fmt: skip
def test_axioms_refuse_other_timers(changes: dict[str, Sequence[Any]]) -> None:
    assert admits(*TWO.axioms)
    assert not admits(*TWO.axioms, **changes)


def test_a_configuration_has_a_timer_of_each_kind_for_each_owner() -> None:
    def lasting(kind: str, number: int) -> tuple[int, int]:
        return (number, number + (2 if kind == "a" else 5))

    rigid = TWO.configuration({"job": 2}, lasts=lasting, late=["a"], unpunctual=["b"])
    assert {name: values for (_, name), values in rigid.items()} == {
        "kind": ["a", "a", "b", "b"],
        "job": [0, 1, 0, 1],
        "late": [True, True, False, False],
        "least": [0, 1, 0, 1],
        "most": [2, 3, 5, 6],
        "punctual": [True, True, False, False],
    }


def test_time_waits_for_what_the_author_says() -> None:
    timers = Timers(Timer, Call, [TimerKind("a", of="job")], {"job": Job}, "ticks")
    quiet = ~j.is_("There")
    tick = timers.tick("a second passes", [forall(j, quiet)])
    stopped = model(Setting({"a": (1, 1)}), "ticks", calls=1)
    assert has(stopped, ("arm a", "expire a"))
    assert not has(without(stopped, "tick", when=tick.when), ("arm a", "expire a"))


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
