"""The sentence of a step has the parameters of its action, and fields of them as they are before the step."""

from __future__ import annotations

from schedproof.model.lang import (
    Action,
    Attribute,
    EnumType,
    Event,
    Machine,
    Model,
    Ref,
    Row,
    SetOf,
    Sort,
    State,
    given,
    set_variable,
    variables,
)
from schedproof.model.lang.check import checked
from schedproof.model.registry.system import System
from schedproof.model.semantics import Choice, Instance
from schedproof.proofs.exploration.runs import run
from schedproof.proofs.traces.engine.watch import Watch
from schedproof.service.view import View
from tests.support.rows import each_row

Entry, Worker = Sort("Entry", "e"), Sort("Worker", "w")
(e,), (w,) = variables(Entry, "e"), variables(Worker, "w")
S = set_variable(Worker, "S")


def model(says: str) -> Model:
    return Model(
        system="queue",
        variant="as-written",
        about="workers own entries",
        machines=[
            Machine(
                Entry,
                [State("Free"), State("Owned")],
                [Attribute("owner", Ref(Worker)), Attribute("kind", EnumType(("web", "db")), rigid=True)],
                [Event("give", {"to": Ref(Worker)})],
            ),
            Machine(
                Worker, [State("Idle")], [Attribute("boss", Ref(Worker), rigid=True), Attribute("knows", SetOf(Worker))]
            ),
        ],
        rows=[
            Row(Entry, "give", "Free", "Owned", owner=given("to")),
            Row(Entry, "give", "Owned", "Owned", owner=given("to")),
        ],
        actions=[Action("give", [e, w, S], [e.owner != w], [e.fires("give", to=w)], says)],
        rules=[],
        properties=[],
        default_scope={"Entry": 1, "Worker": 2},
    )


def sentences(says: str) -> list[str]:
    """e0 is given to w0, which has the boss w1, then to w1, which has none."""
    rigid = {("Entry", "kind"): ("db",), ("Worker", "boss"): (1, None)}
    instance = Instance(checked(model(says)), {"Entry": 1, "Worker": 2}, rigid)
    choices = [Choice("give", (("e", 0), ("w", to), ("S", 0b01))) for to in (0, 1)]
    return [step.says for step in run(instance, choices)]


@each_row(
    ("says", "expected"),
    [
        ("{e.owner} gives {e} to {w} {S}", ["none gives e0 to w0 {w0}", "w0 gives e0 to w1 {w0}"]),
        ("{e} ({e.kind}, {e.state})", ["e0 (db, Free), with S = {w0}", "e0 (db, Owned), with S = {w0}"]),
        ("{e.owner.boss} of {e.owner}", ["none of none, with S = {w0}", "w1 of w0, with S = {w0}"]),
        ("{w.boss.state}: {w.knows}", ["Idle: {}, with S = {w0}", "none: {}, with S = {w0}"]),
        ("{{literally}} {w}", ["{literally} w0, with S = {w0}", "{literally} w1, with S = {w0}"]),
    ],
)
def test_fields_are_those_before_the_step(says: str, expected: list[str]) -> None:
    assert sentences(says) == expected


def test_a_sentence_about_no_step_names_the_field() -> None:
    assert model("{e.owner} gives {e} to {w}").actions[0].sentence == "e.owner gives e to w"


def test_a_live_view_names_the_field_of_the_object() -> None:
    """Several states may come before what may happen next."""
    queue = model("{e.owner} gives {e} to {w}")
    system = System("queue", "The queue", {"as-written": queue}, validated_by="as-written")
    header = {"schedproof": 1, "system": "queue", "objects": {"Entry": ["web"], "Worker": ["ann"]}}
    view = View(Watch(system, queue, header))
    event = {"action": "give", "parameters": {"e": "web", "w": "ann", "S": ["ann"]}}
    assert view._sentence(event) == "web.owner gives web to ann, with S = {ann}"
