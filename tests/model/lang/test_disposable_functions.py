"""Functions of objects that are created and end: an entry refers to its objects, so they are not used again before it is gone."""

from __future__ import annotations

from typing import Any

import pytest

from schedproof.model.lang import (
    Action,
    Attribute,
    BoolType,
    Document,
    Event,
    Function,
    IntRange,
    Invariant,
    Machine,
    Model,
    ModelError,
    Ref,
    Row,
    Sort,
    State,
    each,
    given,
    me,
    new,
    variables,
)
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.induction import prove
from schedproof.proofs.verdict import Verdict

Node, Request = Sort("Node", "n"), Sort("Request", "r", disposable=True)
(n,), (r, s) = variables(Node, "n"), variables(Request, "r s")


def requests(**changes: Any) -> Model:
    """Nodes that try requests, and forget their tries when a request ends."""
    parts: dict[str, Any] = {
        "system": "requests",
        "variant": "toy",
        "about": "nodes that try requests",
        "document": Document("", ""),
        "machines": [
            Machine(
                Node,
                [State("Up")],
                [
                    Attribute("tries", Function(Request, to=IntRange(0, 2))),
                    Attribute("last", Function(Node, to=Ref(Request))),
                ],
                [Event("try", {"of": Ref(Request)}), Event("forget", {"of": Ref(Request)})],
            ),
            Machine(
                Request,
                [State("Open")],
                [Attribute("seen", Function(Node, to=BoolType()))],
                [Event("see", {"by": Ref(Node)})],
            ),
        ],
        "rows": [
            Row(Node, "try", "Up", "Up", tries=me.tries.with_(given("of"), to=me.tries[given("of")] + 1)),
            Row(Node, "forget", "Up", "Up", tries=me.tries.with_(given("of"), to=0)),
            Row(Request, "begin", "Absent", "Open"),
            Row(Request, "see", "Open", "Open", seen=me.seen.with_(given("by"), to=True)),
            Row(Request, "end", "Open", "Absent"),
        ],
        "actions": [
            Action("begin", [r], [new(r)], [r.fires("begin")], "{r} begins"),
            Action("try", [n, r], [n.tries[r] < 2], [n.fires("try", of=r), r.fires("see", by=n)], "{n} tries {r}"),
            Action("end", [n, r], [n.tries[r] > 0], [r.fires("end"), n.fires("forget", of=r)], "{r} ends at {n}"),
        ],
        "rules": [],
        "properties": [
            Invariant(
                name="fresh", says="Who tried a request saw it.", over=[n, r], then=(n.tries[r] == 0) | r.seen[n]
            ),
            Invariant(name="twice", says="(wrong) Nobody tries twice.", over=[n, r], then=n.tries[r] <= 1),
        ],
        "default_scope": {"Node": 1, "Request": 2},
        "refuted": frozenset({"twice"}),
    }
    return Model(**{**parts, **changes})


def test_an_object_is_used_again_when_no_entry_is_left() -> None:
    results = {r.name: r for r in model_check(requests(), {})}
    assert results["fresh"].verdict is Verdict.PROVED and results["twice"].verdict is Verdict.REFUTED
    assert results["well-formed"].verdict is Verdict.PROVED
    assert prove(requests()).proved("fresh")


def test_an_entry_that_is_left_keeps_the_object() -> None:
    """Without forgetting, a request that was tried is never used again: all verdicts hold within the objects at hand."""
    ends = Action("end", [n, r], [n.tries[r] > 0], [r.fires("end")], "{r} ends")
    forgetful = requests(actions=[*requests().actions[:2], ends])
    results = {r.name: r for r in model_check(forgetful, {})}
    assert results["fresh"].verdict is Verdict.PROVED
    assert "1 object of Request at a time" in results["fresh"].within


def test_a_value_that_names_an_object_keeps_it() -> None:
    """A request that a node tried last is not used again, so a new request is nobody's last one."""
    attempt = Row(Node, "try", "Up", "Up", last=me.last.with_(me, to=given("of")))
    end = Action("end", [r], [], [r.fires("end")], "{r} ends")
    attempts = Action("try", [n, r], [], [n.fires("try", of=r), r.fires("see", by=n)], "{n} tries {r}")
    seen = Invariant(name="seen", says="The last one was seen.", over=[n, r], given=n.last[n] == r, then=r.seen[n])
    rows, actions = [attempt, *requests().rows[1:]], [requests().actions[0], attempts, end]
    model = requests(rows=rows, actions=actions, properties=[seen], refuted=frozenset())
    assert {x.name: x for x in model_check(model, {})}["seen"].verdict is Verdict.PROVED
    assert prove(model).proved("seen")


def test_each_gives_absent_objects_only_the_first_value() -> None:
    row = Row(Node, "reset", "Up", "Up", tries=each(r, 0))
    reset = Action("reset", [n], [], [n.fires("reset")], "{n} resets")
    model = requests(rows=[*requests().rows, row], actions=[*requests().actions, reset])
    assert {r.name: r for r in model_check(model, {})}["well-formed"].verdict is Verdict.PROVED
    row = Row(Node, "reset", "Up", "Up", tries=each(r, 1))
    with pytest.raises(ModelError, match="gives tries a value at objects of a disposable sort that are absent"):
        requests(rows=[*requests().rows, row], actions=[*requests().actions, reset])
