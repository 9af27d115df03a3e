"""Disposable sorts in relations and counts: a tuple that names an object keeps it from being used again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from operator import or_
from typing import Any

import pytest

from schedproof.model.lang import (
    EMPTY,
    Action,
    Attribute,
    BoolType,
    Event,
    Function,
    Invariant,
    Machine,
    Model,
    ModelError,
    Ref,
    Relation,
    Row,
    Sort,
    State,
    StepInvariant,
    Term,
    after,
    count,
    disposable,
    ended,
    exists,
    given,
    me,
    new,
    those,
    variable,
    variables,
)
from schedproof.model.lang.disposable import unreferenced
from schedproof.model.lang.terms import free_variables
from schedproof.model.registry.system import System
from schedproof.proofs.checking.engine import Engine, Exploring
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.induction import prove, recheck
from schedproof.proofs.traces import LogVerdict, check_records
from schedproof.proofs.verdict import Verdict
from tests.support.sample import thinned

Request, Key, Server = Sort("Request", "r", disposable=True), Sort("Key", "k"), Sort("Server", "s")
(r, q), (k,), (s,) = variables(Request, "r q"), variables(Key, "k"), variables(Server, "s")

ORDERS = [(Request, Key), (Key, Request), (Key, Request, Request), (Request, Request)]
"""The places at which a relation names a request."""


def entry(of: tuple[Sort, ...], requests: Sequence[Any], key: Any) -> list[Any]:
    """The tuple of requests and keys, at their places."""
    rest = iter(requests)
    return [next(rest) if sort == Request else key for sort in of]


def is_named(of: tuple[Sort, ...]) -> Term:
    """That the server holds a tuple with the new request ``r``, at each place where it may stand."""
    both = [[r, q], [q, r], [r, r]] if of.count(Request) > 1 else [[r]]
    return reduce(or_, [exists([s, k, q], s.held.has(*entry(of, each, k))) for each in both])


def model(of: tuple[Sort, ...] = (Request, Key), **other: Any) -> Model:
    """A server grants keys to requests. It takes back no key of a request that ends, until it forgets all."""
    held = me.held.with_(*entry(of, [given("request"), given("second")], given("key")))
    parts: dict[str, Any] = {
        "system": "keys", "variant": "as-written", "about": "a server grants keys to requests",
        "machines": [
            Machine(Request, [State("Open")]),
            Machine(Key),
            Machine(Server, [State("Up")], [Attribute("held", Relation(*of)), Attribute("holds", BoolType())], [Event("grant", {"request": Ref(Request), "second": Ref(Request), "key": Ref(Key)})]),
        ],
        "rows": [
            Row(Request, "begin", "Absent", "Open"),
            Row(Request, "end", "Open", "Absent"),
            Row(Server, "grant", "Up", "Up", held=held, holds=True),
            Row(Server, "forget", "Up", "Up", held=EMPTY, holds=False),
        ],
        "actions": [
            Action("begin", [r], [new(r)], [r.fires("begin")], "{r} begins"),
            Action("end", [r], [], [r.fires("end")], "{r} ends"),
            Action("grant", [s, r, q, k], [], [s.fires("grant", request=r, second=q, key=k)], "{s} grants {k} to {r} and {q}"),
            Action("forget", [s], [], [s.fires("forget")], "{s} forgets all"),
        ],
        "rules": [],
        "properties": [
            StepInvariant(name="fresh", says="a new request has no key", over=[], on=["begin"],
                          then=~is_named(of)),
        ],
        "default_scope": {"Request": 3},
    }  # fmt: skip
    return Model(**{**parts, **other})


def keeps(of: tuple[Sort, ...] = (Key, Request, Request)) -> None:
    """No new request is one that a tuple names: explored by both engines, and proved."""
    for engine in (Engine.INTERPRETED, Engine.COMPILED):
        _, fresh = model_check(model(of), {}, how=Exploring(engine))
        assert fresh.verdict is Verdict.PROVED and fresh.within and not fresh.vacuous
    assert prove(model(of)).kept("fresh")


@pytest.mark.parametrize("number", thinned(range(len(ORDERS)), 2))
def test_a_tuple_keeps_its_object_at_each_place(number: int) -> None:
    keeps(ORDERS[number])


def test_both_solvers_agree_on_new_objects_in_tuples() -> None:
    agreed = [check.agrees for check in recheck(prove(model()))]
    assert True in agreed and False not in agreed


def test_a_tuple_takes_a_place_in_the_pool() -> None:
    """With two places, what is held by a request that ended leaves none; with three there is one."""
    none = Invariant(name="none-after", says="", over=[s], given=s.holds, then=count(q, q.is_("Open")) <= 1)
    later = StepInvariant(name="never-new", says="", over=[], on=["begin"], then=~exists(s, s.holds))
    of = model(properties=[none, later])
    few = {each.name: each for each in model_check(of, {"Request": 2})}
    more = {each.name: each for each in model_check(of, {"Request": 3})}
    assert few["none-after"].verdict is few["never-new"].verdict is Verdict.PROVED and few["never-new"].within
    assert more["none-after"].verdict is more["never-new"].verdict is Verdict.REFUTED


def test_counts_and_relations_have_present_objects() -> None:
    """An absent object is not counted, and is in no tuple of ``those``."""
    absent = r.is_("Absent")
    of = model(
        properties=[
            Invariant(name="one", says="", over=[], then=count(r, absent) == 0),
            Invariant(name="two", says="", over=[], then=count([r, k], absent) == 0),
            Invariant(name="all", says="", over=[], given=count(r, r == r) >= 2, then=exists([r, q], ~(r == q))),
        ]
    )
    results = model_check(of, {})
    assert {result.verdict for result in results} == {Verdict.PROVED}
    assert not any(result.vacuous for result in results)


def test_a_relation_of_those_has_present_objects() -> None:
    """A server takes the pairs of keys and all requests: none of them is absent."""
    take = Row(Server, "take", "Up", "Up", held=those([r, k], k == k))
    act = Action("take", [s], [], [s.fires("take")], "{s} takes all")
    fresh = StepInvariant(name="fresh", says="", over=[], on=["begin"], then=~exists([s, k], s.held.has(r, k)))
    of = model(rows=[*model().rows, take], actions=[*model().actions[:2], act], properties=[fresh])
    (_, few), (_, more) = model_check(of, {"Request": 2}), model_check(of, {"Request": 4})
    assert few.verdict is more.verdict is Verdict.PROVED
    # With absent ones in the relation, no request could begin after the first taking.
    never = StepInvariant(name="never", says="", over=[], on=["begin"], then=~exists([s, q, k], s.held.has(q, k)))
    assert model_check(replace(of, properties=[never]), {"Request": 3})[1].verdict is Verdict.REFUTED


def test_a_new_object_has_no_tuples() -> None:
    """A request that grants keys itself; the next one in its place has granted none."""
    machine = Machine(
        Request,
        [State("Open")],
        [Attribute("gave", Relation(Key, Server))],
        [Event("give", {"key": Ref(Key), "to": Ref(Server)})],
    )
    give = Row(Request, "give", "Open", "Open", gave=me.gave.with_(given("key"), given("to")))
    act = Action("give", [r, k, s], [], [r.fires("give", key=k, to=s)], "{r} gives {k} to {s}")
    none = StepInvariant(name="none", says="", over=[], on=["begin"], then=~exists([k, s], after(r.gave.has(k, s))))
    kept = StepInvariant(
        name="kept", says="", over=[r, k, s], given=r.gave.has(k, s), then=after(r.gave.has(k, s)) | after(ended(r))
    )
    of = model(machines=[machine, *model().machines[1:]], rows=[*model().rows, give],
               actions=[*model().actions, act], properties=[none, kept])  # fmt: skip
    assert {result.verdict for result in model_check(of, {})} == {Verdict.PROVED}
    assert prove(of).kept("none")


def with_server(attribute: Attribute) -> Model:
    """The model with another attribute of the server."""
    server = model().machines[2]
    return model(machines=[*model().machines[:2], replace(server, attributes=[*server.attributes, attribute])])


@pytest.mark.parametrize(
    ("attribute", "problem"),
    [
        (Attribute("only", Relation(Key, Request), rigid=True), "would outlive an object of a disposable sort"),
        (Attribute("once", Relation(Request, Key), history=True), "is history, and refers to objects of a disposable"),
    ],
    ids=["rigid", "history"],
)
def test_a_relation_that_outlives_is_refused(attribute: Attribute, problem: str) -> None:
    with pytest.raises(ModelError, match=problem):
        with_server(attribute)


def test_relations_of_other_sorts_may_be_rigid() -> None:
    assert with_server(Attribute("only", Relation(Key, Server), rigid=True))


# --- Logs ------------------------------------------------------------------------------------------------------------

HEADER = {"schedproof": 1, "system": "keys", "objects": {"Server": ["s0"], "Key": ["k0"]}}


def records(many: int) -> Iterator[dict[str, Any]]:
    """The first request gets a key, and ends; others begin and end."""
    for n in range(many):
        yield {"action": "begin", "parameters": {"r": f"q{n}"}, "objects": {"Request": [f"q{n}"]}}
        if not n:
            yield {"action": "grant", "parameters": {"s": "s0", "r": "q0", "q": "q0", "k": "k0"}}
        yield {"action": "end", "parameters": {"r": f"q{n}"}}


def test_a_log_keeps_what_a_tuple_names() -> None:
    """After 40 other requests the server still holds the key of the first one."""
    system = System("keys", "", {"as-written": model(ORDERS[0])}, validated_by="as-written")
    conforms, violates = LogVerdict.CONFORMS, LogVerdict.VIOLATES
    for held, verdict in (([["q0", "k0"]], conforms), ([], violates), ([["q1", "k0"]], violates)):
        log = [*records(40), {"state": {"Server": {"s0": {"held": held}}}}]
        assert check_records(system, HEADER, log).verdict is verdict


# --- Seeded faults ---------------------------------------------------------------------------------------------------


def first_place(kind: Any, value: Any, var: Any) -> Iterator[Any]:
    """Only the first place of a relation counts."""
    yield from [*_WAYS(kind, value, var)][:1]


def no_tuples(kind: Any, value: Any, var: Any) -> Iterator[Any]:
    """A tuple does not refer to its objects."""
    if not isinstance(kind, Relation):
        yield from _WAYS(kind, value, var)


def counts_all(self: Any, body: Any, present: Any, universal: Any) -> bool:
    """Counts and relations are about absent objects, too."""
    return True


_WAYS = disposable._ways

FAULTS: list[tuple[Any, str, Any, Callable[[], object]]] = [
    (disposable, "_ways", no_tuples, keeps),
    (disposable, "_ways", first_place, keeps),
    (disposable._Written, "_is_about", counts_all, test_counts_and_relations_have_present_objects),
    (disposable._Written, "_is_about", counts_all, test_a_relation_of_those_has_present_objects),
]


@pytest.mark.parametrize(
    ("where", "name", "wrong", "test"),
    thinned(FAULTS, 3, first=2),
    ids=[f"{wrong.__name__}-{test.__name__[5:20]}" for _, _, wrong, test in FAULTS],
)
def test_a_fault_of_tuples_is_noticed(
    where: Any, name: str, wrong: Any, test: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(where, name, wrong)
    with pytest.raises(AssertionError):
        test()


@pytest.mark.parametrize("name", ["r", "at_0", "at_1", "any_Request", "any_Server"])
def test_no_quantifier_binds_the_new_object(name: str) -> None:
    """Whatever its name is: otherwise an object that a tuple still has would be used again."""
    sort, server = Sort("Request", "r", disposable=True), Sort("Server", "s")
    fresh = variable(sort, name)
    holders = [
        Machine(sort, [State("Here")], [Attribute("other", Ref(sort))]),
        Machine(
            server,
            [State("Up")],
            [Attribute("pairs", Relation(sort, sort)), Attribute("of", Function(sort, to=Ref(sort)))],
        ),
    ]
    conditions = unreferenced(holders, fresh)
    assert len(conditions) == 5 and all([*free_variables(each)] == [name] for each in conditions)
