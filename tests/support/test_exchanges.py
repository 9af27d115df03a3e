"""The mutants of a small model with another word are those that its lines have, named here one by one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from schedproof.model.lang import (
    Action,
    Attribute,
    Durability,
    IntRange,
    Invariant,
    Machine,
    Model,
    ModelError,
    Ref,
    Row,
    Rule,
    Sort,
    State,
    crash,
    exists,
    forall,
    given,
    iff,
    implies,
    me,
    variable,
)
from schedproof.model.lang.check import checked
from schedproof.model.lang.machine import Event
from tests.support.equivalence import equivalent, in_context, proved_to_mean_the_same
from tests.support.exchanges import KINDS, Exchange, exchanges
from tests.support.mutants import graph_of, other_step, places
from tests.support.rows import each_row

Job, Box = Sort("Job", "j"), Sort("Box", "b")
j, b, x = variable(Job, "j"), variable(Box, "b"), variable(Box, "x")

JOB = Machine(
    Job,
    states=[State("Idle"), State("Busy", Durability.VOLATILE)],
    attributes=[
        Attribute("box", Ref(Box), durable=True),
        Attribute("spare", Ref(Box), durable=True),
        Attribute("uses", IntRange(0, 3), initial=3, durable=True),
    ],
    events=[Event("take", {"box": Ref(Box)})],
)
BOX = Machine(Box, states=[State("Free"), State("Full")])
ROWS = [
    Row(Job, "take", "Idle", "Busy", box=given("box")),
    Row(Job, "end", "Busy", "Idle", uses=me.uses - 1),
    Row(Job, "lose", "Busy", "Idle"),
    Row(Box, "fill", "Free", "Full"),
    Row(Box, "empty", "Full", "Free"),
]
take = Action(
    "take",
    [j, b],
    [j.is_("Idle"), forall(x, x.is_("Free")), j.uses > 0],
    [j.fires("take", box=b)],
    "{j} takes {b}",
)
end = Action("end", [j], [j.is_("Busy")], [j.fires("end")], "{j} ends")
CRASH, CRASH_RULES = crash("crash", "lose", [JOB], ROWS)
BOXES = Model(
    system="boxes",
    variant="as-written",
    about="jobs that take boxes",
    machines=[JOB, BOX],
    rows=ROWS,
    actions=[take, end, CRASH],
    rules=[
        Rule("take fills", j.fires("take", box=b), [], b.fires("fill")),
        Rule("end empties", j.fires("end"), [j.box == b], b.fires("empty")),
        *CRASH_RULES,
    ],
    properties=[
        Invariant(name="idle", says="an Idle job is not Busy", over=[j], then=iff(j.is_("Idle"), ~j.is_("Busy")))
    ],
    default_scope={"Job": 2, "Box": 2},
)

EXPECTED = {
    "state": {
        "action take, conjunct 1, state: Busy for Idle of j",
        "action take, conjunct 2, state: Full for Free of x",
        "action end, conjunct 1, state: Idle for Busy of j",
    },
    "event": {
        "action end, firing 1, event: lose for end",
        "rule take fills, firing, event: empty for fill",
        "rule end empties, firing, event: fill for empty",
    },
    "receiver": {
        *(f"rule take fills, firing, receiver: j.{name} for b" for name in ("box", "spare")),
        *(f"rule end empties, firing, receiver: j.{name} for b" for name in ("box", "spare")),
    },
    "quantifier": {"action take, conjunct 2, quantifier: some for every"},
    "attribute": {
        "rule end empties, condition 1, attribute: spare for j.box",
        "row Job.take from Idle, attribute: writes spare for box",
    },
    "value": {
        *(f"action take, firing 1, value: box: {name} for b" for name in ("none", "j.box", "j.spare")),
        *(f"row Job.take from Idle, box, value: {name} for box" for name in ("none", "it.spare")),
    },
    "negation": {
        *(f"action take, conjunct {n}, negation: negated" for n in (1, 2, 3)),
        "action end, conjunct 1, negation: negated",
        "rule end empties, condition 1, negation: negated",
    },
    "bound": {
        *(f"action take, conjunct 3, bound: {words}" for words in ("<= for <", "-1 for 0", "1 for 0")),
        *(f"row Job.end from Busy, uses, bound: {n} for 1" for n in (0, 2)),
    },
    "target": {
        "row Job.take from Idle, target: Idle for Busy",
        "row Job.end from Busy, target: Busy for Idle",
        "row Box.fill from Free, target: Free for Full",
        "row Box.empty from Full, target: Full for Free",
    },
    "recovery": {"row Job.lose from Busy, recovery: Busy for Idle"},
    "update": {
        "row Job.take from Idle, update: without box",
        "row Job.end from Busy, update: without uses",
    },
}
OF_A_CRASH = ("action crash", "rule crash")


@each_row("kind", KINDS)
def test_the_exchanges_of_a_kind_are_these(kind: str) -> None:
    made = [m.name for m in exchanges(BOXES) if m.kind == kind and not m.name.startswith(OF_A_CRASH)]
    assert sorted(made) == sorted(EXPECTED[kind])


def test_an_exchange_changes_the_line_that_it_names() -> None:
    made = {m.name: m.build() for m in exchanges(BOXES)}
    assert made["action end, firing 1, event: lose for end"].action("end").fires[0].event == "lose"
    [row, *_] = made["row Job.take from Idle, attribute: writes spare for box"].rows
    assert [name for name, _ in row.sets] == ["spare"]
    assert [r.target for r in made["row Box.fill from Free, target: Free for Full"].rows][3] == "Free"


def test_a_recovery_to_a_state_that_is_lost_is_refused() -> None:
    [mutant] = [m for m in exchanges(BOXES) if m.kind == "recovery"]
    with pytest.raises(ModelError, match="a crash loses that state too"):
        checked(mutant.build())


@each_row(
    ("name", "same"),
    [
        ("rule end empties, firing, receiver: j.box for b", True),  # its condition says that b is j.box
        ("rule end empties, firing, receiver: j.spare for b", False),
        ("rule end empties, condition 1, attribute: spare for j.box", False),
        ("action take, conjunct 2, quantifier: some for every", False),
        ("row Job.take from Idle, box, value: it.spare for box", False),
        ("row Job.take from Idle, update: without box", False),
    ],
)
def test_what_means_the_same_is_proved_to(name: str, same: bool) -> None:
    [mutant] = [m for m in exchanges(BOXES) if m.name == name]
    assert isinstance(mutant, Exchange) and proved_to_mean_the_same(mutant, []) is same


# "clear" does to a box what "empty" does, as does "wipe" unless it is Full; no box is Full when it is filled.
SPARE_ROWS = replace(
    BOXES,
    rows=[
        *ROWS,
        Row(Box, "clear", "Full", "Free"),
        Row(Box, "wipe", "Free", "Free"),
        Row(Box, "fill", "Full", "Full"),
        Row(Job, "stop", "Busy", "Idle", uses=me.uses - 1),
    ],
)
TWO_CAUSES = replace(
    SPARE_ROWS,
    rules=[*BOXES.rules, Rule("end empties the spare one", j.fires("end"), [j.spare == b], b.fires("empty"))],
)


@each_row(
    ("model", "name", "same"),
    [
        (SPARE_ROWS, "rule end empties, firing, event: clear for empty", True),
        (TWO_CAUSES, "rule end empties, firing, event: clear for empty", False),  # the box may be the spare one, too
        (SPARE_ROWS, "rule end empties, firing, event: wipe for empty", False),
        (SPARE_ROWS, "action end, firing 1, event: stop for end", False),  # a rule hears "end"
        (SPARE_ROWS, "row Box.fill from Full, target: Free for Full", True),
        (SPARE_ROWS, "row Box.fill from Free, target: Free for Full", False),
    ],
)
def test_other_events_and_targets_that_change_nothing(model: Model, name: str, same: bool) -> None:
    [mutant] = [m for m in exchanges(model) if m.name == name]
    assert proved_to_mean_the_same(mutant, []) is same


# What is inside of the two quantified conjuncts decides something only for a box that is not Free, or not the one to be taken.
DECIDED = replace(
    take,
    when=[
        j.is_("Idle"),
        b.is_("Free"),
        exists(x, (x == b) & (x.is_("Free") | j.is_("Busy"))),
        forall(x, implies(x == b, ~(x.is_("Full") & j.is_("Idle")))),
        j.uses > 0,
    ],
)
NESTED = replace(BOXES, actions=[DECIDED, end, CRASH])


@pytest.mark.long
def test_what_is_proved_in_its_context_has_the_same_graph() -> None:
    some = [m for m in exchanges(NESTED) if in_context(m)]
    proved = equivalent(some, [])
    assert "action take, conjunct 3, state: Idle for Busy of j" in proved
    for place in places(NESTED, [{"Job": 2, "Box": 2}]):
        right = graph_of(NESTED, place)
        names = {action.name for action in NESTED.actions}
        differ = {m.name for m in some if other_step(checked(m.build()), place, right, names) is not None}
        assert differ & proved == set() and len(differ) > 5
