"""Channels: what send and receive add to an action, what is refused, and messages in proofs, explorations and logs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from schedproof.model.lang import (
    NONE,
    Action,
    Attribute,
    Event,
    Function,
    Int,
    Invariant,
    LeadsTo,
    Machine,
    Model,
    ModelError,
    Nat,
    Ref,
    Relation,
    Row,
    Rule,
    SetOf,
    Sort,
    State,
    StepInvariant,
    after,
    ended,
    exists,
    given,
    me,
    variables,
)
from schedproof.model.lang.check import checked
from schedproof.model.lang.messages import Channel, Kind
from schedproof.model.lang.terms import free_variables
from schedproof.model.lang.wording import show_term
from schedproof.model.registry.system import System
from schedproof.model.semantics import instances
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.exploration.explore import explore
from schedproof.proofs.induction import prove, recheck
from schedproof.proofs.traces import LogVerdict, check_records
from schedproof.proofs.verdict import Verdict

Client, Server, Item = Sort("Client", "c"), Sort("Server", "s"), Sort("Item", "i")
(c, d), (s, o), (i,) = variables(Client, "c d"), variables(Server, "s o"), variables(Item, "i")
KINDS = [Kind("put", item=Item, term=Nat), Kind("close")]


def inbox(**how: Any) -> Channel:
    """A channel from clients to servers."""
    return Channel("inbox", **{"from_": Client, "to": Server, "kinds": KINDS, **how})


INBOX = inbox(ordered=True, capacity=2)
m, n = variables(INBOX.sort, "m n")


def model(channel: Channel = INBOX, *properties: Any, answers: Channel | None = None, **other: Any) -> Model:
    """Clients send items with numbers that grow; a server keeps the last item, and may answer."""
    answer = [answers.send("seen", s, m.sender, term=m.term)] if answers is not None else []
    answered = [*answers.machines] if answers is not None else []
    put = Action(
        "put",
        [c, s, i],
        [c.is_("Open")],
        [channel.send("put", c, s, item=i, term=c.term), c.fires("count")],
        "{c} sends {i}",
    )
    close = Action("close", [c, s], [c.is_("Open")], [c.fires("close"), channel.send("close", c, s)], "{c} closes")
    keep = Action(
        "keep",
        [s],
        [],
        [channel.receive(m, "put", by=s), s.fires("keep", item=m.item, term=m.term), *answer],
        "{s} keeps {m.item}",
    )
    note = Action("note", [s], [], [channel.receive(m, "close", by=s), s.fires("note")], "{s} notes the end")
    parts: dict[str, Any] = {
        "system": "store",
        "variant": "as-written",
        "about": "clients put items into a store",
        "machines": [
            Machine(Client, [State("Open"), State("Closed")], [Attribute("term", Nat)]),
            Machine(
                Server,
                [State("Up"), State("Ended")],
                [Attribute("item", Ref(Item)), Attribute("term", Nat)],
                [Event("keep", {"item": Ref(Item), "term": Nat})],
            ),
            Machine(Item),
            *channel.machines,
            *answered,
        ],
        "rows": [
            Row(Client, "count", "Open", "Open", term=me.term + 1),
            Row(Client, "close", "Open", "Closed"),
            Row(Server, "keep", "Up", "Up", item=given("item"), term=given("term")),
            Row(Server, "keep", "Ended", "Ended", item=given("item"), term=given("term")),
            Row(Server, "note", "Up", "Ended"),
            Row(Server, "note", "Ended", "Ended"),
            *channel.rows,
            *(answers.rows if answers is not None else []),
        ],
        "actions": [put, close, keep, note, *channel.actions, *(answers.actions if answers is not None else [])],
        "rules": [*channel.rules, *(answers.rules if answers is not None else [])],
        "properties": [*properties, *channel.properties, *(answers.properties if answers is not None else [])],
        "default_scope": {"Client": 1, "Server": 1, "Item": 1, "Inbox": 3},
        "bound": {("Client", "term"): 2, ("Server", "term"): 2, ("Inbox", "term"): 2},
    }
    return Model(**{**parts, **other})


GROWS = StepInvariant(
    name="grows",
    says="a server receives growing numbers",
    over=[s, m],
    given=m.fires("receive") & (m.receiver == s) & (m.kind == "put"),
    then=s.term <= m.term,
)


def verdicts(of: Model, **scope: int) -> dict[str, Verdict]:
    """The verdict on each property."""
    return {result.name: result.verdict for result in model_check(of, scope)}


# --- What an action gets ---------------------------------------------------------------------------------------------


def test_sending_adds_a_new_message_and_its_room() -> None:
    act = Action("put", [c, s, i], [], [INBOX.send("put", c, s, item=i, term=3)], "")
    assert [v.name for v in act.parameters] == ["c", "s", "i", "inbox"]
    assert "inbox Absent" in show_term(act.when[0])
    assert len(act.when) == 2 and "<= 1" in show_term(act.when[1])
    (firing,) = act.fires
    payload = {name: show_term(value) for name, value in firing.payload}
    assert payload == {
        "kind": "put",
        "sender": "c",
        "receiver": "s",
        "item": "i",
        "term": "3",
        "ahead": "none",
        "leaving": "the empty set",
    }


def test_what_a_kind_does_not_carry_has_its_first_value() -> None:
    act = Action("close", [c, s], [], [inbox().send("close", c, s)], "")
    payload = {name: show_term(value) for name, value in act.fires[0].payload}
    assert (payload["item"], payload["term"]) == ("none", "0")


def test_two_messages_of_an_action_have_two_names() -> None:
    act = Action("both", [c, s], [], [INBOX.send("close", c, s), INBOX.send("close", c, s)], "")
    assert [v.name for v in act.parameters] == ["c", "s", "inbox", "inbox2"]
    assert show_term(dict(act.fires[1].payload)["ahead"]) == "inbox"
    assert [show_term(condition).rpartition("<= ")[2] for condition in act.when[1::2]] == ["1", "0"]


def test_the_message_of_a_send_may_have_a_name() -> None:
    act = Action("close", [c, s], [], [INBOX.send("close", c, s, message=n)], "")
    assert [v.name for v in act.parameters] == ["c", "s", "n"]
    assert show_term(act.fires[0].of) == "n"


def test_receiving_adds_the_message_and_its_turn() -> None:
    act = Action("keep", [s], [], [INBOX.receive(m, "put", by=s)], "")
    assert [v.name for v in act.parameters] == ["s", "m"]
    assert [show_term(condition) for condition in act.when[:2]] == ["m.kind = put", "m.receiver = s"]
    assert len(act.when) == 3
    plain = Action("any", [s, m], [], [inbox().receive(m)], "")
    assert [v.name for v in plain.parameters] == ["s", "m"] and list(plain.when) == []


def test_an_action_is_written_out_once() -> None:
    act = Action("close", [c, s], [], [INBOX.send("close", c, s)], "")
    assert replace(act, says="x").parameters == act.parameters


def test_nobody_is_sent_no_message() -> None:
    """An attribute may name nobody: then the action is not enabled."""
    answers = Channel("answers", from_=Server, to=Client, kinds=[Kind("seen", term=Nat)])
    act = Action("inform", [s, m], [], [answers.send("seen", s, m.sender, term=0)], "")
    assert "m.sender not none" in [show_term(condition) for condition in act.when]


# --- What is refused -------------------------------------------------------------------------------------------------


def sends(*effects: Any, when: Any = ()) -> Action:
    """An action with these effects."""
    return Action("act", [c, s, o], list(when), list(effects), "")


CLOSE = Kind("close")
OF_CHANNEL = inbox(ordered=True, per="channel", dropped=True)
_restart = Action("restart", [s], [], [], "")

REFUSED: list[tuple[Callable[[], object], str]] = [
    (lambda: Kind("two words"), "its name is 'two words'"),
    (lambda: Kind("put", item="Item"), "item is 'Item', not a sort or a type"),  # type: ignore[arg-type]
    (lambda: Kind("put", pairs=Relation(Item, Item)), "pairs is .*, not a sort or a type of one value"),
    (lambda: Kind("put", clock=Function(Item, to=Nat)), "clock is .*, not a sort or a type of one value"),
    (lambda: Kind("put", sender=Client), "it carries sender, a name that has another meaning"),
    (lambda: Kind("put", to=Client), "it carries to, a name that has another meaning"),
    (lambda: Kind("put", message=Item), "it carries message, a name that has another meaning"),
    (lambda: Kind("put", state=Int), "it carries state, a name that has another meaning"),
    (lambda: Channel("in-box", from_=Client, to=Server, kinds=[CLOSE]), "its name is 'in-box'"),
    (lambda: inbox(to="Server"), "to is 'Server'"),
    (lambda: inbox(ordered=1), "ordered is 1"),
    (lambda: inbox(capacity=0), "capacity is 0"),
    (lambda: inbox(capacity=True), "capacity is True"),
    (lambda: inbox(per="server"), "per is 'server'"),
    (lambda: inbox(per=["server"]), "per is of type list"),
    (lambda: inbox(kinds=[]), "kinds is of type list"),
    (lambda: inbox(kinds=[CLOSE, CLOSE]), "two kinds have the name close"),
    (lambda: inbox(kinds=[Kind("a", v=Int), Kind("b", v=Item)]), "v of b is Item or none, and that of a is Int"),
    (lambda: INBOX.send("push", c, s), "unknown kind 'push'"),
    (lambda: INBOX.send("close", c, s, item=i), "close carries no item"),
    (lambda: INBOX.send("put", c, s, itme=i, term=0), "put carries no itme"),
    (lambda: INBOX.send("put", c, s, item=i), "term of put is missing"),
    (lambda: INBOX.send("close", c), "to is missing"),
    (lambda: INBOX.send("close", c, s, message="n"), "message is 'n', no message of it"),
    (lambda: INBOX.send("close", c, s, message=i), "message is i, no message of it"),
    (lambda: INBOX.receive(m, of="put"), "unknown argument 'of'"),
    (lambda: INBOX.receive(c), "message is c, no message of it"),
    (lambda: INBOX.receive(m, "push"), "unknown kind 'push'"),
    (lambda: inbox().room(c, s), "it has no capacity"),
    (lambda: INBOX.dropping("all", _restart), "its messages are not dropped"),
    (lambda: inbox(ordered=True, lossy=True).dropping("all", _restart), "its messages are not dropped"),
    (lambda: OF_CHANNEL.dropping("all", _restart, to=s), "a part of an ordered lane would be lost at once"),
    (lambda: OF_CHANNEL.dropping("all", _restart, [OF_CHANNEL.message.kind == "put"]), "a part of an ordered lane"),
    (lambda: sends(INBOX.send("close", c, s), INBOX.send("close", c, o)), "s and o may be one, so two messages"),
    (lambda: sends(INBOX.send("close", c, s), INBOX.send("close", c, o), when=[s == o]), "s and o may be one, so"),
    (lambda: sends(*(inbox().send("close", c, s, message=n) for _ in range(2))), "it sends n twice"),
    (lambda: sends(*(INBOX.receive(m) for _ in range(2))), "it receives m twice"),
    (lambda: model(rows=[]), "the model has no row of Inbox: for a channel, unpack its rows"),
    (lambda: checked(model(INBOX, rules=[])), "not its rule 'no message of inbox waits for one that was received'"),
    (lambda: checked(replace(model(inbox(lossy=True)), actions=model(inbox()).actions)), "not its action 'lose_inbox'"),
    (lambda: model(INBOX, GROWS, rules=[Rule("r", s.fires("note"), [], INBOX.receive(m))]), "receive of m is an effect of actions"),
    (lambda: model(INBOX, GROWS, rules=[Rule("r", INBOX.receive(m), [], s.fires("note"))]), "receive of m stands outside"),
    (lambda: model(INBOX, replace(GROWS, then=exists(s, INBOX.receive(m, by=s)))), "receive of m stands outside"),
    (lambda: sends(*(INBOX.send("close", c, s) for _ in range(3))), "it sends 3 messages through a lane of inbox"),
]  # fmt: skip


@pytest.mark.parametrize(("build", "problem"), REFUSED, ids=[problem for _, problem in REFUSED])
def test_wrong_channels_are_refused_at_their_line(build: Callable[[], object], problem: str) -> None:
    with pytest.raises(ModelError, match=problem) as error:
        build()
    assert error.value.place.file.endswith("test_messages.py")


def test_no_name_of_a_message_hides_its_turn() -> None:
    for channel in (INBOX, inbox(capacity=1)):
        earlier, others = variables(channel.sort, "earlier other_inbox")
        assert all("earlier" in free_variables(each) for each in channel.in_turn(earlier))
        assert {"other_inbox", "s"} <= {*free_variables(channel.room(others.sender, s))}


def test_lanes_that_differ_need_no_order() -> None:
    apart = sends(INBOX.send("close", c, s), INBOX.send("close", c, o), when=[~(s == o)])
    assert [show_term(dict(f.payload)["ahead"]) for f in apart.fires] == ["none", "none"]
    whole = inbox(ordered=True, per="sender")
    both = sends(whole.send("close", c, s), whole.send("close", c, o))
    assert show_term(dict(both.fires[1].payload)["ahead"]) == "inbox"
    free = inbox()
    assert sends(free.send("close", c, s), free.send("close", c, o))


def test_lanes_of_two_channels_are_two() -> None:
    other = Channel("other", from_=Client, to=Server, kinds=[CLOSE], ordered=True)
    both = sends(INBOX.send("close", c, s), other.send("close", c, s), other.send("close", c, s))
    assert [show_term(dict(f.payload)["ahead"]) for f in both.fires] == ["none", "none", "other"]


def test_a_copy_carries_what_its_message_carries() -> None:
    (copies,) = inbox(duplicating=True, ordered=True).actions
    carried = {name: show_term(value) for name, value in copies.fires[0].payload if name not in ("ahead", "leaving")}
    assert carried == {name: f"message.{name}" for name in ("kind", "sender", "receiver", "item", "term")}


def test_loss_is_of_all_ends_that_are_named() -> None:
    rule = inbox(dropped=True).dropping("lost", _restart, [s.is_("Up")], from_=c, to=s)
    shown = [show_term(condition) for condition in rule.when]
    assert shown[1:3] == ["message.sender = c", "message.receiver = s"]


def test_an_ordered_lane_with_a_capacity_has_five_invariants() -> None:
    names = ["inbox-ends", "inbox-order", "inbox-order-of-all", "inbox-order-of-three", "inbox-capacity"]
    assert [prop.name for prop in INBOX.properties] == names


# --- What it means ---------------------------------------------------------------------------------------------------


def test_order_is_kept() -> None:
    """Numbers that a client sends in order come in order, if there is one client; else they need a lane of the receiver."""
    of = model(INBOX, GROWS)
    assert {*verdicts(of).values()} == {Verdict.PROVED}
    assert verdicts(of, Client=2)["grows"] is Verdict.REFUTED
    assert verdicts(model(inbox(capacity=2), GROWS))["grows"] is Verdict.REFUTED


@pytest.mark.long
def test_the_order_is_proved_for_any_number() -> None:
    proof = prove(model(INBOX, GROWS))
    assert all(proof.proved(prop.name) for prop in INBOX.properties)
    assert not proof.proved("grows")


@pytest.mark.long
def test_a_proof_about_order_needs_no_number_of_messages() -> None:
    """Of one client, a message that is sent later has a higher number."""
    later = Invariant(
        name="later",
        says="",
        over=[m, n],
        given=(m.kind == "put") & (n.kind == "put") & m.behind.has(n),
        then=n.term < m.term,
    )
    sent = Invariant(name="sent", says="", over=[m], given=m.kind == "put", then=m.term < m.sender.term)
    proof = prove(model(INBOX, later, sent))
    assert proof.proved("later") and proof.proved("sent")


@pytest.mark.long
def test_both_solvers_agree_on_channels() -> None:
    assert False not in [check.agrees for check in recheck(prove(model()))]


@pytest.mark.parametrize("ordered", [False, True])
def test_two_received_messages_are_two(ordered: bool) -> None:
    """And what the same action sends waits for neither."""
    node = Sort("Node", "n")
    x, y = variables(node, "x y")
    wire = Channel("wire", from_=node, to=node, kinds=[CLOSE], ordered=ordered)
    a, b = variables(wire.sort, "a b")
    joins = [
        Action(
            f"join{k}", [x], [], [wire.receive(a, by=x), wire.receive(b, by=x), wire.send("close", each.sender, x)], ""
        )
        for k, each in enumerate([a, b])
    ]
    two = StepInvariant(
        name="two", says="", over=[a], given=a.fires("receive"), then=exists(b, b.fires("receive") & ~(a == b))
    )
    of = Model(
        "wire", "as-written", "a node that joins two messages",
        machines=[Machine(node, [State("Up")]), *wire.machines],
        rows=wire.rows, rules=wire.rules,
        actions=[Action("call", [x, y], [], [wire.send("close", x, y)], ""), *joins],
        properties=[two], default_scope={"Node": 2, "Wire": 4},
    )  # fmt: skip
    assert verdicts(of)["two"] is Verdict.PROVED
    (instance,) = instances(of, {})
    for state in explore(instance).states:
        sent = instance.describe(state)["Wire"]
        waited_for = {name for each in sent.values() for name in each.get("behind", [])}  # type: ignore[attr-defined]
        assert all(sent[name]["state"] == "UnderWay" for name in waited_for)


def test_a_full_lane_blocks() -> None:
    """With room for one message, a second client of the lane waits."""
    one = inbox(capacity=1, per="receiver")
    alone = Invariant(name="alone", says="", over=[m, n], given=m.receiver == n.receiver, then=m == n)
    results = model_check(model(one, alone), {"Client": 2})
    assert {result.verdict for result in results} == {Verdict.PROVED}
    wide = inbox(capacity=1)
    assert verdicts(model(wide, alone), Client=2)["alone"] is Verdict.REFUTED


def test_a_lossy_channel_loses_and_the_rest_keeps_its_order() -> None:
    lossy = inbox(ordered=True, capacity=2, lossy=True)
    assert verdicts(model(lossy, GROWS))["grows"] is Verdict.PROVED
    first = StepInvariant(
        name="first", says="", over=[s], given=(s.item == NONE) & s.fires("keep"), then=after(s.term == 0)
    )
    assert verdicts(model(lossy, first))["first"] is Verdict.REFUTED
    assert verdicts(model(INBOX, first))["first"] is Verdict.PROVED


def test_a_copy_may_come_after_the_end() -> None:
    end = StepInvariant(name="end", says="", over=[s], then=~(s.is_("Ended") & s.fires("keep")))
    assert verdicts(model(INBOX, end))["end"] is Verdict.PROVED
    assert verdicts(model(inbox(ordered=True, duplicating=True), end), Inbox=4)["end"] is Verdict.REFUTED


def test_a_crash_loses_what_comes() -> None:
    channel = inbox(ordered=True, dropped=True)
    restart = Action("restart", [s], [], [s.fires("restart")], "{s} restarts", crash=True)
    rows = [Row(Server, "restart", state, "Up") for state in ("Up", "Ended")]
    lost = StepInvariant(
        name="lost", says="", over=[s], given=s.fires("restart"), then=after(~exists(m, m.receiver == s))
    )
    base = model(channel, lost)
    rule = channel.dropping("a restart loses what comes", restart, to=s)
    of = replace(base, rows=[*base.rows, *rows], actions=[*base.actions, restart], rules=[*base.rules, rule])
    assert verdicts(of)["lost"] is Verdict.PROVED


def test_a_message_may_order_to_lose_the_others() -> None:
    """What the action itself receives is received, and not lost."""
    channel = inbox(ordered=True, per="receiver", dropped=True)
    base = model(channel)
    rule = channel.dropping("the end loses what comes", s.fires("note"), to=s)
    ends = StepInvariant(
        name="ends", says="", over=[m], given=m.fires("receive") & (m.kind == "close"), then=~m.fires("lose")
    )
    of = replace(base, rules=[*base.rules, rule], properties=[ends, *channel.properties])
    assert {*verdicts(of, Client=2, Inbox=3).values()} == {Verdict.PROVED}


@pytest.mark.long
def test_answers_go_through_a_channel_of_their_own() -> None:
    answers = Channel("answers", from_=Server, to=Client, kinds=[Kind("seen", term=Nat)])
    a = variables(answers.sort, "a")[0]
    seen = Invariant(name="seen", says="", over=[a], then=a.term < a.receiver.term)
    sent = Invariant(name="sent", says="", over=[m], given=m.kind == "put", then=m.term < m.sender.term)
    of = model(INBOX, seen, sent, answers=answers, default_scope={"Client": 1, "Inbox": 2, "Answers": 2})
    of = replace(of, bound={**of.bound, ("Answers", "term"): 2})
    assert verdicts(of)["seen"] is Verdict.PROVED
    assert prove(of).proved("seen")


def test_a_message_may_carry_a_set() -> None:
    """Sets of objects travel, and a node may send to its own sort."""
    node = Sort("Node", "n")
    x, y = variables(node, "x y")
    gossip = Channel("gossip", from_=node, to=node, kinds=[Kind("know", who=SetOf(Item))])
    g = gossip.message
    know = Row(node, "learn", "Up", "Up", knows=given("who"))
    of = Model(
        "gossip", "as-written", "nodes that pass on what they know",
        machines=[
            Machine(node, [State("Up")], [Attribute("knows", SetOf(Item))], [Event("learn", {"who": SetOf(Item)})]),
            Machine(Item), *gossip.machines,
        ],
        rows=[know, *gossip.rows],
        actions=[
            Action("find", [x, i], [], [x.fires("learn", who=x.knows.with_(i))], "{x} finds {i}"),
            Action("inform", [x, y], [], [gossip.send("know", x, y, who=x.knows)], "{x} informs {y}"),
            Action("hear", [x], [], [gossip.receive(g, by=x), x.fires("learn", who=g.who)], "{x} hears"),
        ],
        rules=gossip.rules,
        properties=[StepInvariant(name="kept", says="", over=[x, i], given=x.knows.has(i), then=after(x.knows.has(i)))],
        default_scope={"Node": 2, "Item": 1, "Gossip": 2},
    )  # fmt: skip
    assert verdicts(of)["kept"] is Verdict.REFUTED
    assert checked(of)


@pytest.mark.parametrize("lossy", [False, True])
def test_each_message_arrives_if_receiving_is_fair(lossy: bool) -> None:
    """That of one kind is received is not enough: others may stay. A message that is lost has ended, too."""
    channel = inbox(ordered=True, capacity=2, lossy=lossy)
    x = channel.message
    parts: dict[str, Any] = {"says": "", "over": [x], "given": x.is_("UnderWay"), "goal": ended(x)}
    arrives = LeadsTo(name="arrives", weak=["keep", "note"], **parts)
    stays = LeadsTo(name="stays", weak=["keep"], **parts)
    results = verdicts(model(channel, arrives, stays))
    assert results["arrives"] is Verdict.PROVED and results["stays"] is Verdict.REFUTED


# --- Logs ------------------------------------------------------------------------------------------------------------

HEADER = {"schedproof": 1, "system": "store", "objects": {"Client": ["c0"], "Server": ["s0"], "Item": ["i0"]}}


def put(name: str) -> dict[str, Any]:
    """A record of a message that has a name."""
    return {"action": "put", "parameters": {"c": "c0", "i": "i0", "inbox": name}, "objects": {"Inbox": [name]}}


def keep(name: str) -> dict[str, Any]:
    """A record that it is received."""
    return {"action": "keep", "parameters": {"m": name}}


def test_a_log_names_its_messages() -> None:
    system = System("store", "", {"as-written": model()}, validated_by="as-written")
    many = [record for k in range(60) for record in ([put(f"m{k}"), keep(f"m{k - 1}")] if k else [put("m0")])]
    assert check_records(system, HEADER, many).verdict is LogVerdict.CONFORMS
    overtaken = [*many[:19], put("x"), keep("x")]
    report = check_records(system, HEADER, overtaken)
    assert report.first_nonconformance is not None and report.first_nonconformance.record == 21
    full = check_records(system, HEADER, [put("a"), put("b"), put("c")])
    assert full.first_nonconformance is not None and full.first_nonconformance.record == 3


def test_a_log_without_names_lists_some() -> None:
    system = System("store", "", {"as-written": model()}, validated_by="as-written")
    header = {**HEADER, "objects": {**HEADER["objects"], "Inbox": ["one", "two"]}}  # type: ignore[dict-item]
    sends = {"action": "put", "parameters": {"c": "c0"}}
    ends, keeps, notes = {"action": "close"}, {"action": "keep"}, {"action": "note"}
    assert check_records(system, header, [sends, ends, keeps, notes]).verdict is LogVerdict.CONFORMS
    assert check_records(system, header, [sends, ends, notes]).verdict is LogVerdict.VIOLATES
