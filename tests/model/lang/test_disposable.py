"""Disposable sorts: what is written out, what is refused, and what a life is in explorations, proofs and logs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from schedproof.model.lang import (
    NONE,
    Action,
    AlwaysCanReach,
    Attribute,
    BoolType,
    DeadlockFree,
    Event,
    Function,
    IntRange,
    Invariant,
    LeadsTo,
    LifeCycle,
    Machine,
    Model,
    ModelError,
    Property,
    Recovery,
    Ref,
    Restored,
    Row,
    Rule,
    SetOf,
    Sort,
    State,
    StepInvariant,
    after,
    disposable,
    each,
    ended,
    exists,
    forall,
    given,
    me,
    new,
    set_variable,
    those,
    variables,
)
from schedproof.model.lang.check import checked
from schedproof.model.lang.digest import Digester
from schedproof.model.lang.terms import lift
from schedproof.model.lang.wording import show_term
from schedproof.model.registry.system import System
from schedproof.model.semantics import ScopeError, bounds, check_scope, instances
from schedproof.proofs.checking.engine import Engine, Exploring, answer
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.exploration.liveness import Open
from schedproof.proofs.export import tla
from schedproof.proofs.induction import prove, recheck
from schedproof.proofs.refinement.modelside import ModelGraph
from schedproof.proofs.traces import LogVerdict, check_records
from schedproof.proofs.traces.engine.appearing import KEPT_ENDED
from schedproof.proofs.verdict import Result, Verdict
from tests.proofs.export.tla_reader import parse

Request, Server = Sort("Request", "r", disposable=True), Sort("Server", "s")
(r, q), (s, o) = variables(Request, "r q"), variables(Server, "s o")
R = set_variable(Request, "R")
REQUEST = Machine(Request, [State("Waiting"), State("Running")], [Attribute("urgent", BoolType())])
SERVER = Machine(
    Server,
    [State("Idle"), State("Busy")],
    [Attribute("serves", Ref(Request)), Attribute("last", Ref(Request))],
    [Event("take", {"request": Ref(Request)})],
)
ARRIVE = Action("arrive", [r], [new(r)], [r.fires("arrive")], "{r} arrives")
ROWS = [
    Row(Request, "arrive", "Absent", "Waiting"),
    Row(Request, "hurry", "Waiting", "Waiting", urgent=True),
    Row(Request, "start", "Waiting", "Running"),
    Row(Request, "finish", "Running", "Absent"),
    Row(Server, "take", "Idle", "Busy", serves=given("request")),
    Row(Server, "release", "Busy", "Idle", serves=NONE),
]
ACTIONS = [
    ARRIVE,
    Action("hurry", [r], [r.is_("Waiting"), ~r.urgent], [r.fires("hurry")], "{r} is urgent"),
    Action("take", [s, r], [s.is_("Idle"), r.is_("Waiting")], [s.fires("take", request=r), r.fires("start")], "{s} takes {r}"),
    Action("finish", [s], [s.is_("Busy")], [s.fires("release"), s.serves.fires("finish")], "{s} finishes"),
]  # fmt: skip
PROPERTIES: list[Property] = [
    Invariant(name="serves-one", says="", over=[s], given=s.is_("Busy"), then=(s.serves != NONE) & s.serves.is_("Running")),
    Invariant(name="one-server", says="", over=[s, o], given=s.is_("Busy") & o.is_("Busy") & (s.serves == o.serves), then=s == o),
    StepInvariant(name="ends-served", says="", over=[r], given=after(ended(r)), then=r.is_("Running")),
    StepInvariant(name="arrives-calm", says="", over=[], then=forall(q, ~after(q.is_("Waiting")) | ~q.fires("arrive")), given=exists(s, s.is_("Idle"))),
    LeadsTo(name="ends", says="", over=[r], given=r.is_("Running"), goal=ended(r), weak=["finish"]),
    DeadlockFree(name="lives", says=""),
]  # fmt: skip


def model(**parts: Any) -> Model:
    """Servers take requests; ``add_rows=[...]`` and the like add to a part."""
    right: dict[str, Any] = {
        "system": "queue",
        "variant": "as-written",
        "about": "servers take requests",
        "machines": [REQUEST, SERVER],
        "rows": ROWS,
        "actions": ACTIONS,
        "rules": [],
        "properties": PROPERTIES,
        "default_scope": {"Request": 3, "Server": 2},
    }
    for name, value in parts.items():
        right[name.removeprefix("add_")] = [*right[name.removeprefix("add_")], *value] if "add_" in name else value
    return Model(**right)


def verdicts(of: Model, **scope: int) -> dict[str, Result]:
    """The result of each property."""
    return {result.name: result for result in model_check(of, scope)}


# --- What is refused -------------------------------------------------------------------------------------------------

asks = Action("ask", [r], [], [], "")


def request(*attributes: Attribute, **other: Any) -> Model:
    """The model with a machine of Request changed."""
    return model(
        machines=[dataclasses.replace(REQUEST, attributes=[*REQUEST.attributes, *attributes], **other), SERVER]
    )


def server(attribute: Attribute) -> Model:
    """The model with an attribute of Server more."""
    return model(machines=[REQUEST, dataclasses.replace(SERVER, attributes=[*SERVER.attributes, attribute])])


def act(**other: Any) -> Model:
    """The model with an action more."""
    return model(add_actions=[dataclasses.replace(asks, **other)])


def leads(**other: Any) -> Model:
    """The model with a property of runs more."""
    parts: dict[str, Any] = {"name": "served", "says": "", "over": [r], "given": r.is_("Waiting"), "goal": ended(r)}
    return model(add_properties=[LeadsTo(**{**parts, **other})])


_both = Sort("Request", "r", disposable=True, single=True)
_arrives = r.fires("arrive")
_restored = Restored([r], r.is_("Waiting"), r.is_("Waiting"))

_counts = dataclasses.replace(
    SERVER, attributes=[*SERVER.attributes, Attribute("tries", Function(Request, to=IntRange(0, 3)))]
)


def counts(value: int) -> Model:
    """The model with a row that gives every request a number."""
    row = Row(Server, "count", "Idle", "Idle", tries=each(r, value))
    return model(machines=[REQUEST, _counts], add_rows=[row])


REFUSED: list[tuple[Callable[[], object], str]] = [
    (lambda: Sort("Request", "r", disposable="yes"), "disposable is 'yes'"),  # type: ignore[arg-type]
    (lambda: request(Attribute("size", BoolType(), rigid=True)), "would outlive an object of a disposable sort"),
    (lambda: server(Attribute("only", Ref(Request), rigid=True)), "would outlive an object of a disposable sort"),
    (lambda: server(Attribute("done", SetOf(Request), history=True)), "is history, and refers to objects of a disposable sort"),
    (lambda: model(machines=[dataclasses.replace(REQUEST, sort=_both), SERVER]), "both single and disposable"),
    (lambda: request(states=[]), "has the state Absent and others"),
    (lambda: request(states=[State("Waiting"), State("Absent")]), "has the state Absent and others"),
    (lambda: model(add_rows=[Row(Request, "arrive", "Waiting", "Running")]), "arrive creates a Request"),
    (lambda: model(add_rows=[Row(Request, "stay", "Absent", "Absent")]), "keeps the Request absent"),
    (lambda: model(add_rows=[Row(Request, "cancel", "Waiting", "Absent", urgent=True)]), "sets urgent of a Request that ends"),
    (lambda: counts(1), "gives tries a value at objects of a disposable sort that are absent"),
    (lambda: act(parameters=[R]), "parameter R is a set of objects of a disposable sort"),
    (lambda: act(parameters=[s], when=[new(s)]), "s is not of a disposable sort"),
    (lambda: act(when=[new(r), ~r.urgent], fires=[_arrives]), "its guard reads r"),
    (lambda: act(when=[new(r)]), "fires no event that creates r"),
    (lambda: act(fires=[_arrives]), "fires arrive, which creates an object, on one that is not new"),
    (lambda: model(rules=[Rule("twice", r.fires("start"), [q.is_("Waiting")], q.fires("arrive"))]), "on one that is not new"),
    (lambda: leads(goal=r.is_("Running")), "does not say what holds once r has ended"),
    (lambda: model(add_properties=[AlwaysCanReach(name="p", says="", over=[r], goal=r.is_("Running"))]), "once r has ended"),
    (lambda: leads(strong=["take"]), "take acts on r"),
    (lambda: model(add_properties=[LifeCycle(name="p", says="", sort=Request, states=["Absent", "Waiting", "Running", "Absent", "Waiting"])]), "pass Absent"),
    (lambda: model(add_properties=[Recovery(name="p", says="", restores=[_restored])]), "restores objects of a disposable sort"),
    (lambda: checked(model(default_scope={"Request": 1})), "leaves none for the next one"),
]  # fmt: skip


@pytest.mark.parametrize(("build", "problem"), REFUSED, ids=[problem for _, problem in REFUSED])
def test_what_would_mix_lives_is_refused(build: Callable[[], object], problem: str) -> None:
    with pytest.raises(ModelError, match=problem) as error:
        build()
    assert "^" in error.value.place.excerpt


def test_fairness_of_what_creates_names_no_free_object() -> None:
    """Requests arrive again and again, of whatever object."""
    come = leads(over=[], given=lift(True), goal=exists(r, r.is_("Waiting")), weak=["arrive"])
    (result,) = model_check(come, {}, only=["served"])
    assert result.verdict is Verdict.PROVED
    (instance,) = instances(come, {})
    text = tla(instance, only=["served"]).text
    parse(text)
    assert "(WF_vars(\\E r \\in Requests : arrive(r)))" in text


def test_workers_of_a_cluster_leave_it_open() -> None:
    """They would count each choice for itself."""
    come = leads(weak=["arrive"])
    (instance,) = instances(come, {})
    (prop,) = (p for p in come.properties if p.name == "served")

    class Shared:
        def answer(self, prop: Property) -> str:
            return "asked"

    unchecked = answer(instance, Shared(), prop)
    assert isinstance(unchecked, Open) and "no fairness of arrive, which creates objects" in unchecked.why
    assert answer(instance, Shared(), dataclasses.replace(prop, weak=["take"])) == "asked"


def test_a_scope_needs_one_for_the_next_life() -> None:
    with pytest.raises(ScopeError, match="Request=1 leaves no Request for the next one"):
        check_scope(model(), {"Request": 1})
    assert check_scope(model(default_scope={}), {}) == {"Request": 2, "Server": 1}


def test_a_refinement_is_refused() -> None:
    (instance,) = instances(model(), {})
    with pytest.raises(ScopeError, match="a refinement explores all of the model"):
        ModelGraph.explore(instance)


# --- What it means ---------------------------------------------------------------------------------------------------


def test_writing_out_twice_changes_nothing() -> None:
    once = checked(model())
    twice = checked(dataclasses.replace(once))
    for parts in ("machines", "rows", "actions", "rules", "properties"):
        assert Digester().digest(getattr(once, parts)) == Digester().digest(getattr(twice, parts))
    assert [show_term(c) for a in once.actions for c in a.when] == [show_term(c) for a in twice.actions for c in a.when]


def test_verdicts_name_how_many_at_a_time() -> None:
    results = verdicts(model())
    assert {result.verdict for result in results.values()} == {Verdict.PROVED}
    assert results["one-server"].within == "2 objects of Request at a time"
    (result,) = model_check(model(), {"Request": 2}, only=["one-server"])
    assert result.within == "1 object of Request at a time"


def test_a_model_that_limits_itself_has_no_bound() -> None:
    """One request at a time: a pool of three is never full."""
    alone = Action("arrive", [r], [new(r), ~exists(q, q.is_("Waiting", "Running"))], [r.fires("arrive")], "")
    results = verdicts(model(actions=[alone, *ACTIONS[1:]]))
    assert {result.within for result in results.values()} == {""}
    assert results["lives"].verdict is Verdict.PROVED


def test_a_full_pool_is_no_deadlock() -> None:
    """Nothing but arrivals: whatever the pool, another one can arrive."""
    results = verdicts(model(actions=[ARRIVE], properties=[DeadlockFree(name="lives", says="")]), Request=2)
    assert results["lives"].verdict is Verdict.PROVED and results["lives"].within


def test_proofs_know_no_bound() -> None:
    proof = prove(model())
    assert all(proof.kept(name) for name in ("serves-one", "one-server", "ends-served"))
    rechecked = {check.answer.obligation.name: check.agrees for check in recheck(proof)}
    assert False not in rechecked.values() and True in rechecked.values()


def test_a_new_object_hasfirst_values() -> None:
    """An urgent request ends; the next one in its place is not urgent. Without the reset it would be."""
    calm = StepInvariant(name="calm", says="", over=[], on=["arrive"], then=~after(r.urgent))
    results = verdicts(model(properties=[calm]), Request=2, Server=1)
    assert results["calm"].verdict is Verdict.PROVED
    assert prove(model(properties=[calm])).kept("calm")


def remembering(*properties: Property) -> Model:
    """A server keeps a reference to the request that it served last."""
    rows = [
        Row(Server, "release", "Busy", "Idle", serves=NONE, last=me.serves) if row.event == "release" else row
        for row in ROWS
    ]
    return model(rows=rows, properties=properties)


def test_an_object_with_references_is_not_used_again() -> None:
    stale = Invariant(name="stale", says="", over=[s], given=s.last != NONE, then=s.last.is_("Absent"))
    of = remembering(stale)
    assert verdicts(of)["stale"].verdict is Verdict.PROVED
    assert prove(dataclasses.replace(of, properties=[stale, *PROPERTIES[:2]])).kept("stale")


def test_a_reference_takes_a_place_in_the_pool() -> None:
    """With two places one request can be served, and then no other comes: the bound is reached, not the end."""
    second = Invariant(name="none-after", says="", over=[s], given=s.last != NONE, then=~exists(r, r.is_("Waiting")))
    of = remembering(second, DeadlockFree(name="lives", says=""))
    assert verdicts(of, Request=2, Server=1)["none-after"].verdict is Verdict.PROVED
    assert verdicts(of, Request=2, Server=1)["lives"].verdict is Verdict.PROVED
    assert verdicts(of, Request=3, Server=1)["none-after"].verdict is Verdict.REFUTED


def test_the_next_life_does_not_reach_the_goal_of_the_last() -> None:
    """A request that is cancelled while it waits was never served, although the next one in its place is."""
    cancel = Action("cancel", [r], [r.is_("Waiting")], [r.fires("cancel")], "{r} is cancelled")
    rows = [*ROWS, Row(Request, "cancel", "Waiting", "Absent")]
    end = StepInvariant(name="ends-served", says="", over=[r], given=after(ended(r)), then=r.is_("Running"))
    results = verdicts(model(rows=rows, actions=[*ACTIONS, cancel], properties=[end]), Request=2, Server=1)
    assert results["ends-served"].verdict is Verdict.REFUTED


def test_one_action_may_create_two() -> None:
    """Two objects, never one twice; a pool of two has no room for both and a next one."""
    pair = Action("pair", [r, q], [new(r), new(q)], [r.fires("arrive"), q.fires("arrive")], "{r} and {q} arrive")
    alone = Invariant(name="alone", says="", over=[r], then=exists(q, ~(q == r)) | exists(s, s.is_("Busy")))
    of = model(actions=[pair], properties=[alone], default_scope={"Request": 4})
    for engine in (Engine.INTERPRETED, Engine.COMPILED):
        formed, result = model_check(of, {"Request": 4}, how=Exploring(engine))
        assert formed.verdict is result.verdict is Verdict.PROVED
        assert result.within == "2 objects of Request at a time" and not result.vacuous
    with pytest.raises(ScopeError, match="Request=2 leaves no Request for the next one; write at least Request=4"):
        check_scope(of, {"Request": 2})
    with pytest.raises(ModelError, match="has 2 objects of Request, which leaves none"):
        checked(dataclasses.replace(of, default_scope={"Request": 2}))


@pytest.mark.parametrize("size", [4, 5])
@pytest.mark.parametrize("engine", [Engine.INTERPRETED, Engine.COMPILED])
def test_two_at_once_find_no_deadlock_in_any_pool(engine: Engine, size: int) -> None:
    """A pool in which one is left has no room for two. Their action is not enabled there, so the step before is cut."""
    pair = Action("pair", [r, q], [new(r), new(q)], [r.fires("arrive"), q.fires("arrive")], "{r} and {q} arrive")
    of = model(actions=[pair], properties=[DeadlockFree(name="lives", says="")], default_scope={})
    formed, lives = model_check(of, {"Request": size}, how=Exploring(engine))
    assert formed.verdict is lives.verdict is Verdict.PROVED
    assert lives.within.startswith(f"{size - 2} object")


def test_a_run_numbers_the_lives_of_an_object() -> None:
    """One request is served, and its place is used again: the only way to a server that served two."""
    second = Invariant(name="one", says="", over=[s], given=s.served, then=s.is_("Idle"))
    machines = [REQUEST, dataclasses.replace(SERVER, attributes=[*SERVER.attributes, Attribute("served", BoolType())])]
    rows = [
        Row(Server, "release", "Busy", "Idle", serves=NONE, served=True) if row.event == "release" else row
        for row in ROWS
    ]
    result = verdicts(model(machines=machines, rows=rows, properties=[second]), Request=2, Server=1)["one"]
    assert result.counterexample is not None
    says = [step.says for step in result.counterexample.steps]
    assert says[0].endswith("arrives") and says[3].endswith("arrives (r0 for the 2nd time)"), says


def test_a_set_has_no_object_that_ended() -> None:
    """A reference keeps pointing to a request that ended, and no set of requests has that one."""
    stale = Invariant(
        name="stale", says="", over=[s], given=s.last != NONE, then=~those(r, ~r.is_("Waiting")).has(s.last)
    )
    result = verdicts(remembering(stale))["stale"]
    assert result.verdict is Verdict.PROVED and not result.vacuous


def test_an_object_in_a_set_is_not_used_again() -> None:
    """A server knows all requests that it took, so a new one is none of them."""
    machine = dataclasses.replace(SERVER, attributes=[*SERVER.attributes, Attribute("known", SetOf(Request))])
    rows = [row for row in ROWS if row.event != "take"]
    rows.append(Row(Server, "take", "Idle", "Busy", serves=given("request"), known=me.known.with_(given("request"))))
    fresh = StepInvariant(name="fresh", says="", over=[], on=["arrive"], then=~exists(s, s.known.has(r)))
    result = verdicts(model(machines=[REQUEST, machine], rows=rows, properties=[fresh]), Request=3, Server=1)["fresh"]
    assert result.verdict is Verdict.PROVED and result.within


def test_variables_of_rules_are_present_objects() -> None:
    """Of the requests that are there, each waits or runs: the rule finds no other."""
    machine = dataclasses.replace(SERVER, attributes=[*SERVER.attributes, Attribute("noted", BoolType())])
    note = Row(Server, "note", "Idle", "Idle", noted=True)
    rule = Rule("note", r.fires("arrive"), [~q.is_("Waiting", "Running"), s.is_("Idle")], s.fires("note"))
    none = Invariant(name="none", says="", over=[s], then=~s.noted)
    of = model(machines=[REQUEST, machine], rows=[*ROWS, note], rules=[rule], properties=[none])
    assert verdicts(of, Request=3, Server=1)["none"].verdict is not Verdict.REFUTED
    assert prove(of).kept("none")


def test_variables_of_rules_beside_actions_are_present_objects() -> None:
    rule = Rule("count", ACTIONS[-1], [q.urgent], s.fires("release"))
    written = model(rules=[rule]).rules[0]
    assert [show_term(condition) for condition in written.when] == ["not (q Absent)", "q.urgent"]


def test_final_states_are_about_present_objects() -> None:
    """One request arrives, and nothing more happens: all requests wait."""
    alone = Action("arrive", [r], [new(r), ~exists(q, q.is_("Waiting"))], [r.fires("arrive")], "{r} arrives")
    lives = DeadlockFree(name="lives", says="", ended=forall(r, r.is_("Waiting")))
    assert verdicts(model(actions=[alone], properties=[lives]))["lives"].verdict is not Verdict.REFUTED


def test_values_are_about_present_objects() -> None:
    """What a row sets and what an action gives an event: no request is there that neither waits nor runs."""
    other = exists(r, ~r.is_("Waiting", "Running"))
    attributes = [*SERVER.attributes, Attribute("seen", BoolType()), Attribute("heard", BoolType())]
    events = [*SERVER.events, Event("notice", {"what": BoolType()})]
    machine = dataclasses.replace(SERVER, attributes=attributes, events=events)
    rows = [*ROWS, Row(Server, "notice", "Idle", "Idle", seen=other, heard=given("what"))]
    notice = Action("notice", [s], [s.is_("Idle")], [s.fires("notice", what=other)], "{s} notices")
    none = [Invariant(name=name, says="", over=[s], then=~getattr(s, name)) for name in ("seen", "heard")]
    results = verdicts(model(machines=[REQUEST, machine], rows=rows, actions=[*ACTIONS, notice], properties=none))
    assert {results[p.name].verdict for p in none} == {Verdict.PROVED}


def test_a_new_object_refers_to_nothing() -> None:
    """A request names one that it follows. The next one in its place follows none."""
    machine = dataclasses.replace(REQUEST, attributes=[*REQUEST.attributes, Attribute("follows", Ref(Request))],
                                  events=[Event("follow", {"first": Ref(Request)})])  # fmt: skip
    rows = [*ROWS, Row(Request, "follow", "Waiting", "Waiting", follows=given("first"))]
    follow = Action("follow", [r, q], [r.is_("Waiting")], [r.fires("follow", first=q)], "{r} follows {q}")
    alone = StepInvariant(name="alone", says="", over=[], on=["arrive"], then=after(r.follows == NONE))
    of = model(machines=[machine, SERVER], rows=rows, actions=[*ACTIONS, follow], properties=[alone])
    assert verdicts(of, Request=3, Server=1)["alone"].verdict is Verdict.PROVED
    assert prove(of).kept("alone")


def test_another_sort_may_have_an_event_of_the_same_name() -> None:
    peer = dataclasses.replace(SERVER, attributes=[*SERVER.attributes, Attribute("peer", Ref(Server), rigid=True)])
    join = Action("join", [s], [s.peer != NONE, s.peer.is_("Idle")], [s.peer.fires("arrive")], "{s} calls its peer")
    rows = [*ROWS, Row(Server, "arrive", "Idle", "Idle")]
    assert checked(model(machines=[REQUEST, peer], rows=rows, actions=[*ACTIONS, join]))
    with pytest.raises(ModelError, match="fires arrive, which creates an object, on one that is not new"):
        model(actions=[*ACTIONS, Action("again", [s], [s.is_("Busy")], [s.serves.fires("arrive")], "")])


# --- Changes of a model that is written out ---------------------------------------------------------------------------


def states_of(of: Model, *more: str) -> list[Machine]:
    """The machines with more states of requests."""
    return [
        dataclasses.replace(m, states=[*m.states, *map(State, more)]) if m.sort == Request else m for m in of.machines
    ]


def test_a_change_may_add_a_state() -> None:
    """Requests in it are present, too: parameters, quantifiers and variables of properties take them."""
    cancel = Action("cancel", [r], [], [r.fires("cancel")], "{r} is cancelled")
    doom = Action("doom", [r], [r.is_("Waiting")], [r.fires("doom")], "{r} is doomed")
    rows = [*ROWS, *(Row(Request, "cancel", state, "Absent") for state in ("Waiting", "Running"))]
    known = [
        Invariant(name="each", says="", over=[r], then=r.is_("Waiting", "Running")),
        Invariant(name="all", says="", over=[], then=forall(r, r.is_("Waiting", "Running"))),
        StepInvariant(name="kept", says="", over=[r], on=["cancel"], given=r.is_("Doomed"), then=~after(ended(r))),
    ]
    of = checked(model(rows=rows, actions=[ARRIVE, cancel], properties=known[:2]))
    assert {each.verdict for each in verdicts(of).values()} == {Verdict.PROVED}
    more = [Row(Request, "doom", "Waiting", "Doomed"), Row(Request, "cancel", "Doomed", "Absent")]
    changed = dataclasses.replace(
        of, machines=states_of(of, "Doomed"), rows=[*of.rows, *more], actions=[*of.actions, doom], properties=known
    )
    results = verdicts(changed)
    assert [results[p.name].verdict for p in known] == [Verdict.REFUTED] * 3
    assert not any(prove(changed).kept(p.name) for p in known)


def test_a_change_may_give_anotherfirst_value() -> None:
    calm = StepInvariant(name="calm", says="", over=[], on=["arrive"], then=~after(exists(r, r.urgent)))
    of = checked(model(actions=[ARRIVE], properties=[calm]))
    urgent = dataclasses.replace(REQUEST, attributes=[Attribute("urgent", BoolType(), initial=True)])
    changed = dataclasses.replace(of, machines=[urgent, *of.machines[1:]])
    ends = next(row for row in changed.rows if row.sort == Request and row.target == "Absent")
    assert show_term(dict(ends.sets)["urgent"]) == show_term(lift(True))
    assert verdicts(of)["calm"].verdict is Verdict.PROVED
    assert verdicts(changed)["calm"].verdict is Verdict.REFUTED


def test_a_step_invariant_may_be_about_what_an_event_creates() -> None:
    """The object of which the event happens is not present before the step."""
    calm = StepInvariant(name="calm", says="", over=[r], given=r.fires("arrive"), then=after(r.is_("Waiting")))
    runs = StepInvariant(name="runs", says="", over=[r], given=r.fires("arrive"), then=after(r.is_("Running")))
    of = model(properties=[calm, runs])
    results = verdicts(of)
    assert results["calm"].verdict is Verdict.PROVED and not results["calm"].vacuous
    assert results["runs"].verdict is Verdict.REFUTED
    proof = prove(of)
    assert proof.kept("calm") and not proof.kept("runs")


def test_the_same_model_without_the_declaration_is_another() -> None:
    """Written out by hand it has no bound, so a full pool is a deadlock: the two must not share a cached verdict."""
    of = checked(model(actions=[ARRIVE], properties=[DeadlockFree(name="lives", says="")]))
    plain = [dataclasses.replace(m, sort=Sort(m.sort.name, m.sort.short)) for m in of.machines]
    lasting = checked(dataclasses.replace(of, machines=plain))
    assert verdicts(of)["lives"].verdict is Verdict.PROVED
    assert verdicts(lasting)["lives"].verdict is Verdict.REFUTED
    assert Digester().digest(of.machines) != Digester().digest(lasting.machines)
    assert Digester().digest(SERVER) == Digester().digest(dataclasses.replace(SERVER))


# --- Logs ------------------------------------------------------------------------------------------------------------

HEADER = {"schedproof": 1, "system": "queue", "objects": {"Server": ["s0", "s1"]}}


def records(count: int) -> Iterator[dict[str, Any]]:
    """Each request arrives under a new name, and is served."""
    for n in range(count):
        yield {"action": "arrive", "parameters": {"r": f"q{n}"}, "objects": {"Request": [f"q{n}"]}}
        yield {"action": "take", "parameters": {"s": "s0", "r": f"q{n}"}}
        yield {"action": "finish", "parameters": {"s": "s0"}}


def test_a_log_has_more_requests_than_an_exploration() -> None:
    system = System("queue", "", {"as-written": model()}, validated_by="as-written")
    assert check_records(system, HEADER, [*records(100)]).verdict is LogVerdict.CONFORMS
    late = {"action": "take", "parameters": {"s": "s0", "r": "q1"}}
    report = check_records(system, HEADER, [*records(3), late])
    assert report.first_nonconformance is not None and report.first_nonconformance.record == 10


def test_a_log_keeps_few_objects_that_ended() -> None:
    system = System("queue", "", {"as-written": model()}, validated_by="as-written")
    wrong = {"action": "finish", "parameters": {"s": "s1"}}
    report = check_records(system, HEADER, [*records(60), wrong])
    assert report.first_nonconformance is not None
    assert len(report.first_nonconformance.candidates[0].state["Request"]) <= KEPT_ENDED + 1


# --- Seeded faults ---------------------------------------------------------------------------------------------------


def test_quantifiers_are_about_present_objects() -> None:
    """Each way to quantify: an absent object is in none."""
    busy = ["Waiting", "Running"]
    of = model(
        properties=[
            Invariant(name="over", says="", over=[r], then=r.is_(*busy)),
            Invariant(name="all", says="", over=[], then=forall(r, r.is_(*busy))),
            Invariant(name="some", says="", over=[], then=~exists(r, r.is_("Absent"))),
            Invariant(name="set", says="", over=[q], then=~those(r, r.is_("Absent")).has(q)),
            Invariant(name="final", says="", over=[s], given=forall(r, r.is_("Waiting")), then=s.is_("Idle")),
        ]
    )
    assert {result.verdict for result in verdicts(of).values()} == {Verdict.PROVED}


def doomed() -> Model:
    """A request that is doomed can only end. The next one in its place may run."""
    goal = AlwaysCanReach(name="runs", says="", over=[r], given=r.is_("Doomed"), goal=r.is_("Running"))
    return model(
        machines=[dataclasses.replace(REQUEST, states=[*REQUEST.states, State("Doomed")]), SERVER],
        rows=[*ROWS, Row(Request, "doom", "Waiting", "Doomed"), Row(Request, "drop", "Doomed", "Absent")],
        actions=[
            *ACTIONS,
            Action("doom", [r], [r.is_("Waiting")], [r.fires("doom")], ""),
            Action("drop", [r], [r.is_("Doomed")], [r.fires("drop")], ""),
        ],
        properties=[goal],
        default_scope={"Request": 2, "Server": 1},
    )


def test_a_life_must_not_reach_the_goal_of_the_last() -> None:
    with pytest.raises(ModelError, match="once r has ended"):
        doomed()


def never_referenced(machines: Any, var: Any) -> list[Any]:
    """An object is used again while something refers to it."""
    return []


def nofirst_value(attribute: Any) -> None:
    """The values of one life are those of the next."""


def any_object(self: Any, body: Any, present: Any, universal: Any) -> bool:
    """Quantifiers are about absent objects, too."""
    return True


def any_life(self: Any, prop: Any) -> None:
    """A property goes on with the next life."""


def full_is_the_end(self: Any) -> bool:
    """A pool that is full is a deadlock."""
    return False


FAULTS: list[tuple[Any, str, Any, Callable[[], object]]] = [
    (disposable, "unreferenced", never_referenced, test_an_object_with_references_is_not_used_again),
    (disposable, "first_value", nofirst_value, test_a_new_object_hasfirst_values),
    (disposable._Written, "_is_about", any_object, test_quantifiers_are_about_present_objects),
    (disposable._Written, "_follows_lives", any_life, test_a_life_must_not_reach_the_goal_of_the_last),
    (bounds.Bounds, "__bool__", full_is_the_end, test_verdicts_name_how_many_at_a_time),
]


@pytest.mark.parametrize(("where", "name", "wrong", "test"), FAULTS, ids=[wrong.__name__ for _, _, wrong, _ in FAULTS])
def test_a_fault_of_lives_is_noticed(
    where: Any, name: str, wrong: Any, test: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    test()
    monkeypatch.setattr(where, name, wrong)
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        test()


def test_without_the_end_the_next_life_would_reach_the_goal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Why the goal names the end: a doomed request would count as one that can run."""
    monkeypatch.setattr(disposable._Written, "_follows_lives", any_life)
    assert verdicts(doomed())["runs"].verdict is Verdict.PROVED
