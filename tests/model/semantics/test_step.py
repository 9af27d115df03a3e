"""The step of a finite instance, construct by construct: each test a small model whose outcome is written by hand."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from schedproof.model.lang import Action, Model, Row, Rule, exists, forall, iff, implies, me
from schedproof.model.lang import terms as t
from schedproof.model.semantics import (
    Choice,
    IllFormed,
    Instance,
    Moment,
    ScopeError,
    State,
    Stepper,
    Undefined,
    check_scope,
    compile_term,
)
from schedproof.model.semantics import evaluate as evaluating
from schedproof.model.semantics import step as stepping
from schedproof.model.systems.hived import AS_WRITTEN
from schedproof.proofs.exploration.explore import explore
from tests.support.rows import each_row
from tests.support.toys import MUTEX, WORKSHOP, S, drop, kick, line_up, mend, take, v, w, x, y
from tests.support.toys import careful as careful_
from tests.support.toys import mood as mood_
from tests.support.toys import n as n_

SIZES = {"Worker": 2, "Tool": 2}


def instance(model: Model = WORKSHOP, sizes: Mapping[str, int] = SIZES) -> Instance:
    """The workshop with two workers and two tools."""
    return Instance(model, sizes)


def state(**fields: Mapping[str, object]) -> State:
    """The initial state with some fields of objects exchanged: ``w0={"holds": "t1"}``."""
    where = instance()
    result = list(where.initial())
    for machine in WORKSHOP.machines:
        sort = machine.sort.name
        for i, name in enumerate(where.object_names(sort)):
            for field, value in fields.get(name, {}).items():
                if field == "state":
                    result[where.slot(sort) + i] = [s.name for s in machine.states].index(str(value))
                else:
                    attribute = machine.attribute(field)
                    assert attribute is not None
                    result[where.slot(sort, field) + i] = where.read(attribute.type, value)
    return tuple(result)


def choice(action: Action, **parameters: object) -> Choice:
    """A choice by names."""
    types = {p.name: p.type for p in action.parameters}
    return Choice(action.name, tuple((n, instance().read(types[n], value)) for n, value in parameters.items()))


def done(before: State, chosen: Choice, model: Model = WORKSHOP) -> dict[str, dict[str, object]]:
    """What a step changes: object -> field -> new value."""
    where = instance(model)
    old, new = where.describe(before), where.describe(Stepper(where).step(before, chosen).after)
    return {
        o: changed
        for s in new
        for o in new[s]
        if (changed := {f: value for f, value in new[s][o].items() if value != old[s][o][f]})
    }


HOLDING = {
    "w0": {"state": "Busy", "holds": "t0", "jobs": 1, "knows": ["t0"]},
    "t0": {"state": "Taken", "by": "w0"},
}


# --- One step --------------------------------------------------------------------------------------------------------


def test_the_initial_state_is_as_declared() -> None:
    shown = instance().describe(instance().initial())
    assert shown["Worker"]["w1"] == {
        "state": "Idle", "holds": None, "tired": False, "mood": "tense", "jobs": 0, "knows": []
    }  # fmt: skip
    assert shown["Tool"]["t0"] == {"state": "Free", "by": None, "wear": 1, "queue": []}


def test_a_row_computes_from_the_state_before_and_the_parameters() -> None:
    before = state(w1={"knows": ["t1"]}, t0={"queue": ["w0", "w1"]})
    assert done(before, choice(take, w="w1", x="t0", careful=False)) == {
        "w1": {"state": "Busy", "holds": "t0", "tired": True, "jobs": 1, "knows": ["t0", "t1"]},
        "t0": {"state": "Taken", "by": "w1", "wear": 2, "queue": ["w0"]},
    }


def test_all_updates_are_made_at_once() -> None:
    """The worker reads its tool's wear, and the tool who knows it, while both change."""
    before = state(**HOLDING | {"t0": {"state": "Taken", "by": "w0", "wear": 2, "queue": ["w0", "w1"]}})
    assert done(before, choice(drop, w="w0")) == {
        "w0": {"state": "Idle", "holds": None, "mood": "calm", "tired": True},
        "t0": {"state": "Free", "by": None, "queue": ["w1"]},
    }


def test_a_rule_follows_references_from_object_to_object() -> None:
    before = state(**HOLDING | {"t0": {"state": "Taken", "by": "w0", "queue": ["w1"]}})
    assert done(before, choice(kick, x="t0")) == {
        "w0": {"state": "Idle", "holds": None, "jobs": 0},
        "t0": {"state": "Free", "by": None},
    }


def test_a_rule_fires_on_just_the_objects_that_meet_it() -> None:
    before = state(t1={"queue": ["w0", "w1"]}, **HOLDING)
    assert done(before, choice(mend, x="t1", n=0, mood="calm")) == {"t1": {"wear": 0}, "w1": {"mood": "calm"}}


def test_causes_name_the_action_or_the_rule() -> None:
    causes: Any = {}
    Stepper(instance()).firings(state(**HOLDING), choice(drop, w="w0"), causes)
    assert {key: cause.name for key, cause in causes.items()} == {
        ("Worker", "drop", 0): "drop",
        ("Tool", "dropped", 0): "a drop frees the tool",
    }


def test_choices_are_all_parameters_for_which_the_guard_holds() -> None:
    stepper = Stepper(instance())
    offered = list(stepper.choices(state(**HOLDING), line_up))
    assert offered == [choice(line_up, S=["w1"], x="t0")]
    assert [c.parameters for c in stepper.choices(state(), mend)] == [
        (("x", tool), ("n", 0), ("mood", mood)) for tool in (0, 1) for mood in (0, 1)
    ]
    everything = {Choice("take", (("w", i), ("x", k), ("careful", b))) for i in (0, 1) for k in (0, 1) for b in (0, 1)}
    assert set(stepper.choices(state(), take)) == everything
    assert all(stepper.enabled(state(), c) for c in everything)
    assert not stepper.enabled(state(**HOLDING), choice(take, w="w0", x="t1", careful=True))


def asked_alike() -> bool:
    """A stepper that has been asked in other states says the same as one that has not."""
    model = WORKSHOP
    alike = True
    for sizes in ({"Worker": 2, "Tool": 1}, {"Worker": 1, "Tool": 2}):
        where = instance(model, sizes)
        old, exploration = Stepper(where), explore(where, symmetry=False, limit=150)
        for now in exploration.states:
            new = Stepper(where)
            alike = alike and all(old.choices(now, a) == new.choices(now, a) for a in model.actions)
    return alike


def test_what_a_guard_does_not_read_changes_nothing() -> None:
    assert asked_alike()


@pytest.mark.parametrize("kind", [t.Is, t.Attr], ids=lambda kind: kind.__name__)
def test_a_guard_that_reads_what_is_not_known_is_noticed(kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
    right = evaluating.reads
    monkeypatch.setattr(
        stepping, "reads", lambda of, term: [r for r in right(of, term) if (r[1] == "") == (kind is t.Attr)]
    )
    assert not asked_alike()


def test_a_rule_has_its_own_variables_whatever_names_others_use() -> None:
    """The first rule's x runs over all tools and ends at t1; the second rule's x is still the action's, t0."""
    rules = [
        Rule("first", x.fires("mend"), [y.is_("Taken")], y.fires("line", who=x.queue)),
        Rule("second", mend, [w.is_("Idle"), ~x.fires("line")], w.fires("cheer", mood=mood_)),
    ]
    before = state(w0={"state": "Busy", "holds": "t1"}, t1={"state": "Taken", "by": "w0"}, t0={"queue": ["w1"]})
    changed = done(before, choice(mend, x="t0", n=0, mood="calm"), replace(WORKSHOP, rules=rules))
    assert changed == {"t0": {"wear": 0}, "t1": {"queue": ["w1"]}, "w1": {"mood": "calm"}}


# --- Ill-formed steps ------------------------------------------------------------------------------------------------


def ill_formed(model: Model, before: State, chosen: Choice) -> str:
    """What is said of an ill-formed step."""
    with pytest.raises(IllFormed) as caught:
        Stepper(instance(model)).step(before, chosen)
    return str(caught.value)


def test_an_object_that_fires_two_events_is_ill_formed() -> None:
    model = replace(WORKSHOP, rules=[*WORKSHOP.rules, Rule("too", take, [], x.fires("line", who=x.queue))])
    problem = ill_formed(model, state(), choice(take, w="w0", x="t0", careful=True))
    assert "t0 fires twice in one step: taken and line, by rule too (test_step.py:" in problem


def test_an_event_with_two_payloads_is_ill_formed_one_twice_not() -> None:
    def with_wear(wear: t.Term) -> Model:
        return replace(WORKSHOP, rules=[*WORKSHOP.rules, Rule("too", take, [], x.fires("taken", by=w, wear=wear))])

    chosen = choice(take, w="w0", x="t0", careful=True)
    assert "t0 fires twice in one step: taken and taken" in ill_formed(with_wear(x.wear), state(), chosen)
    assert done(state(), chosen, with_wear(x.wear + 1)) == done(state(), chosen)


def test_an_event_in_a_state_without_a_row_for_it_is_ill_formed() -> None:
    model = replace(WORKSHOP, rules=[*WORKSHOP.rules, Rule("too", take, [v != w], v.fires("kicked"))])
    problem = ill_formed(model, state(), choice(take, w="w0", x="t0", careful=True))
    assert problem == "w1 fires kicked in state Idle, where the table has no row for it"


def test_a_number_that_leaves_its_range_is_ill_formed() -> None:
    before = state(t0={"wear": 2})
    problem = ill_formed(WORKSHOP, before, choice(take, w="w0", x="t0", careful=True))
    assert problem.startswith("t0 fires taken, which sets wear to 3, outside of 0..2 (toys.py:")


def test_a_number_that_falls_out_of_its_range_is_ill_formed() -> None:
    before = state(**HOLDING | {"w0": {"state": "Busy", "holds": "t0", "jobs": 0}, "t0": {"state": "Taken", "by": "w0", "queue": ["w1"]}})  # fmt: skip
    assert "sets jobs to -1, outside of 0..1" in ill_formed(WORKSHOP, before, choice(kick, x="t0"))


def test_an_event_on_no_object_is_undefined() -> None:
    model = replace(WORKSHOP, rules=[*WORKSHOP.rules, Rule("too", mend, [], x.by.fires("kicked"))])
    with pytest.raises(Undefined, match=r"rule too \(test_step.py:\d+\) fires kicked on no Worker"):
        Stepper(instance(model)).step(state(), choice(mend, x="t0", n=0, mood="calm"))


def test_an_update_that_reads_no_object_is_undefined() -> None:
    before = state(w0={"state": "Busy"})
    with pytest.raises(Undefined, match=r"attribute Tool.wear of NONE is read"):
        Stepper(instance()).step(before, choice(drop, w="w0"))


# --- Terms -----------------------------------------------------------------------------------------------------------


def value(term: t.Term, before: State, **bound: int) -> int:
    """A term's value with these variables."""
    variables = {"w": w, "v": v, "x": x, "y": y, "S": S, "careful": careful_, "mood": mood_, "n": n_}
    return compile_term(instance(), term, {name: variables[name] for name in bound})(Moment(before, dict(bound)))


BUSY = state(**HOLDING | {"t0": {"state": "Taken", "by": "w0", "wear": 2, "queue": ["w1"]}})


@each_row(
    ("term", "expected"),
    [
        (w.is_("Busy"), True),
        (w.is_("Idle", "Busy"), True),
        (w.holds == x, True),
        (w.holds == y, False),
        (w.holds != y, True),
        (v.holds == w.holds, False),
        (x.by.holds == x, True),
        (w.tired == False, True),  # noqa: E712
        (~w.tired, True),
        (w.mood == "tense", True),
        (w.mood == v.mood, True),
        (w.mood == "calm", False),
        (x.wear > 1, True),
        (x.wear >= 2, True),
        (x.wear < 2, False),
        (x.wear <= 2, True),
        (x.wear - 2 == 0, True),
        (x.wear + y.wear == 3, True),
        (w.knows.has(x), True),
        (w.knows.has(y), False),
        (w.knows.with_(y).has(y), True),
        (w.knows.without(x).has(x), False),
        (w.knows.with_(v.holds).has(x), True),
        (w.knows.has(v.holds), False),
        (t.those(v, v.is_("Idle")).has(w), False),
        (t.those(v, x.queue.has(v)).has(v), True),
        (exists(x, x.is_("Free")), True),
        (forall(x, x.is_("Free")), False),
        (forall(x, implies(x.is_("Taken"), x.wear == 2)), True),
        (exists([x, y], (x != y) & (x.wear == y.wear)), False),
        (exists(n_, n_ == x.wear), True),
        (forall(n_, n_ <= 2), True),
        (exists(mood_, mood_ == "calm"), True),
        (iff(w.tired, v.tired), True),
        (w.is_("Idle") | v.is_("Idle"), True),
        (w.is_("Idle") & v.is_("Idle"), False),
    ],
    ids=repr,
)  # fmt: skip
def test_terms_mean_what_they_say(term: t.Term, expected: bool) -> None:
    """Worker w = w0 is busy with tool x = t0, for which v = w1 waits; y = t1 is free."""
    assert bool(value(term, BUSY, w=0, v=1, x=0, y=1)) is expected


@pytest.mark.parametrize(
    "term", [v.holds.wear == 0, v.holds.is_("Free"), ~v.holds.is_("Free"), exists(x, v.holds.wear == 1)]
)
def test_what_is_read_of_no_object_is_undefined(term: t.Term) -> None:
    with pytest.raises(Undefined, match=r"test_step\.py:\d+: .* of NONE is read"):
        value(term, BUSY, v=1)


@pytest.mark.parametrize(
    "term",
    [
        implies(v.holds != t.NONE, v.holds.wear == 0),
        (v.holds != t.NONE) & (v.holds.wear == 0),
        (v.holds == t.NONE) | (v.holds.wear == 0),
    ],
)
def test_what_is_decided_before_is_not_read(term: t.Term) -> None:
    value(term, BUSY, v=1)


def test_a_binder_may_reuse_a_name_the_outer_keeps_its_value() -> None:
    term = exists(x, x.is_("Free")) & x.is_("Taken") & t.those(x, x.is_("Free")).has(y) & x.is_("Taken")
    assert value(term, BUSY, x=0, y=1)


# --- Instances -------------------------------------------------------------------------------------------------------


def test_values_are_shown_and_read_back() -> None:
    where = instance()
    for machine in WORKSHOP.machines:
        for attribute in machine.attributes:
            for number in where.domain(attribute.type):
                assert where.read(attribute.type, where.show(attribute.type, number)) == number


@each_row(
    ("sort", "attribute", "shown", "problem"),
    [
        ("Worker", "holds", "t7", "unknown Tool 't7'; choose from t0, t1"),
        ("Worker", "knows", "t0", "'t0' is not a list; write a list of names of Tool"),
        ("Worker", "knows", ["w0"], "unknown Tool 'w0'"),
        ("Worker", "mood", "merry", "'merry' is not a value of type {calm, tense}"),
        ("Worker", "jobs", 2, "2 is not a value of type 0..1"),
        ("Worker", "jobs", "one", "'one' is not a value of type 0..1"),
    ],
)
def test_a_value_that_is_none_is_refused(sort: str, attribute: str, shown: object, problem: str) -> None:
    declared = WORKSHOP.machine(sort).attribute(attribute)
    assert declared is not None
    with pytest.raises(ValueError, match=re.escape(problem)):
        instance().read(declared.type, shown)


@pytest.mark.parametrize(
    ("scope", "problem"),
    [
        ({"Worker": 0}, "scope Worker=0 cannot be explored; write a number from 1 to 64"),
        ({"Worker": 10**9}, "scope Worker=1000000000 cannot be explored; write a number from 1 to 64"),
        ({"Workers": 2}, "unknown sort 'Workers' in the scope; choose from Worker, Tool"),
    ],
)
def test_an_impossible_scope_is_refused(scope: Mapping[str, int], problem: str) -> None:
    with pytest.raises(ScopeError) as caught:
        check_scope(WORKSHOP, scope)
    assert str(caught.value) == problem


def test_a_scope_is_completed_by_the_default() -> None:
    assert check_scope(WORKSHOP, {"Tool": 3}) == {"Worker": 2, "Tool": 3}


def test_history_is_part_of_the_state_only_when_asked_for() -> None:
    sizes = {"PodGroup": 2, "Cell": 2}
    [rigid] = AS_WRITTEN.configurations(sizes)
    without, with_ = Instance(AS_WRITTEN, sizes, rigid), Instance(AS_WRITTEN, sizes, rigid, with_history=True)
    assert without.width == 2 + 2 + 2 + 2
    assert with_.width == without.width + 2 + 2
    assert "record" not in without.describe(without.initial())["PodGroup"]["g0"]
    assert with_.describe(with_.initial())["PodGroup"]["g0"]["record"] == "submitted"


def test_configurations_satisfy_the_axioms_that_proofs_assume() -> None:
    """Else a proof would speak of other systems than the exploration."""
    for groups in (1, 2, 3, 4):
        sizes = {"PodGroup": groups, "Cell": 1}
        for rigid in AS_WRITTEN.configurations(sizes):
            where = Instance(AS_WRITTEN, sizes, rigid)
            assert all(compile_term(where, axiom, {})(Moment(where.initial())) for axiom in AS_WRITTEN.axioms)


def test_rigid_values_are_encoded_as_in_states() -> None:
    declared = AS_WRITTEN.machine("PodGroup").attribute("outranks")
    assert declared is not None
    ranks = [frozenset[int](), frozenset({0}), frozenset({0, 1})]
    where = Instance(AS_WRITTEN, {"PodGroup": 3, "Cell": 1}, {("PodGroup", "outranks"): ranks})
    assert where.rigid_values("PodGroup", declared) == [0b000, 0b001, 0b011]


def test_an_action_may_fire_on_two_objects() -> None:
    where = Instance(MUTEX, {"Process": 1, "Lock": 1})
    stepper, now = Stepper(where), where.initial()
    for name in ("try", "enter"):
        [chosen] = stepper.choices(now, MUTEX.action(name))
        now = stepper.step(now, chosen).after
    assert where.describe(now) == {
        "Process": {"p0": {"state": "Inside"}},
        "Lock": {"l0": {"state": "Held", "holder": "p0"}},
    }


def test_a_self_loop_may_update() -> None:
    rows = [
        Row(r.sort, r.event, r.source, r.target, wear=me.wear - 1) if r.event == "mend" else r for r in WORKSHOP.rows
    ]
    assert done(state(), choice(mend, x="t0", n=0, mood="calm"), replace(WORKSHOP, rows=rows)) == {"t0": {"wear": 0}}
