"""Logs with relations: objects appear and end, entries are right or are flagged, and runs of random models conform in both formats."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from schedproof.model.lang import (
    Action,
    Attribute,
    Document,
    Event,
    Machine,
    Model,
    Ref,
    Relation,
    Row,
    SetOf,
    Sort,
    State,
    count,
    given,
    me,
    variables,
)
from schedproof.model.registry.system import System
from schedproof.model.semantics import Instance, Run, instances, tuples
from schedproof.proofs.traces import LogVerdict, TraceError, ValidationReport, check_records
from schedproof.proofs.traces.engine import objects
from schedproof.proofs.traces.engine.object_gc import collectable, refers
from schedproof.proofs.traces.engine.trace_steps import TraceSteps
from schedproof.proofs.traces.formats.writing import as_itf, as_plain
from tests.proofs.traces.engine.changed_runs import changes_noticed
from tests.support.keys import KEYS, d
from tests.support.random_models import RelationMaker

SYSTEM = System("keys", "Keys", {"toy": KEYS}, validated_by="toy")
HEADER = {"schedproof": 1, "system": "keys", "objects": {"Node": ["n0", "n1"]}}
KEY_NAMES = ["door", "safe", "shed"]

Log = list[dict[str, Any]]


def log(many: int, seed: int) -> Log:
    """What nodes, clients and keys do at random, by an implementation that has sets of pairs: each record with both nodes."""
    rng, held, present, records = Random(seed), {"n0": set[tuple[str, str]](), "n1": set()}, list[str](), Log()
    made = 0
    while len(records) < many:
        record: dict[str, Any]
        match rng.choice(["come", "lock", "lock", "lock", "unlock", "leave"]):
            case "come" if len(present) < 4:
                client, made = f"client{made}", made + 1
                present.append(client)
                keys = {"Key": KEY_NAMES} if made == 1 else {}
                may = [[name, key] for name in held for key in KEY_NAMES]
                record = {"objects": {"Client": [client], **keys}, "rigid": {"Client": {"may": {client: may}}}}
            case "lock" if present:
                name, client, key = rng.choice(list(held)), rng.choice(present), rng.choice(KEY_NAMES)
                if any(key == other for pairs in held.values() for other, _ in pairs):
                    continue
                held[name].add((key, client))
                record = {"action": "lock", "parameters": {"n": name, "c": client, "k": key}}
            case "unlock" if any(held.values()):
                name, key, client = rng.choice([(name, *pair) for name in held for pair in sorted(held[name])])
                held[name].remove((key, client))
                record = {"action": "unlock", "parameters": {"n": name, "c": client, "k": key}}
            case "leave" if len(present) > 1:
                client = present.pop(rng.randrange(len(present)))
                for pairs in held.values():
                    pairs -= {pair for pair in pairs if pair[1] == client}
                record = {"action": "leave", "parameters": {"c": client}}
            case _:
                continue
        state = {name: {"held": [list(pair) for pair in sorted(pairs)]} for name, pairs in held.items()}
        records.append({**record, "state": {"Node": state}})
    return records


def first_wrong(report: ValidationReport) -> int | None:
    """The number of the record that does not conform."""
    return report.first_nonconformance.record if report.first_nonconformance is not None else None


def test_clients_that_left_are_collected() -> None:
    """Guards ask for membership only, and the rule that drops keys is not fired by them again."""
    assert collectable(KEYS) == {"Node": frozenset(), "Client": {"Gone"}, "Key": frozenset()}


@pytest.mark.parametrize("seed", range(3))
def test_a_log_conforms_while_clients_come_and_go(seed: int) -> None:
    """Objects appear in the middle of the log, so the numbers of tuples change, and those that left make room."""
    report = check_records(SYSTEM, HEADER, log(150, seed))
    assert (report.verdict, report.records) == (LogVerdict.CONFORMS, 150)


def test_the_fast_path_takes_records_of_relations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a record in which an object appears needs the complete check."""
    steps, complete = TraceSteps.step, list[object]()

    def counted(self: TraceSteps, *args: Any, **options: Any) -> Any:
        complete.append(args)
        return steps(self, *args, **options)

    monkeypatch.setattr(TraceSteps, "step", counted)
    records = log(200, 5)
    assert check_records(SYSTEM, HEADER, records).verdict is LogVerdict.CONFORMS
    assert len(complete) <= sum("objects" in record for record in records) < 60


def test_an_entry_of_another_tuple_is_flagged() -> None:
    wrong = 0
    for seed in range(12):
        rng, records = Random(seed), log(40, seed)
        at = rng.randrange(5, 40)
        present = {
            pair[1] for record in records[:at] for pairs in record["state"]["Node"].values() for pair in pairs["held"]
        }
        pairs = records[at]["state"]["Node"]["n0"]["held"]
        if not pairs or len(present) < 2:
            continue
        pairs[0][1] = next(name for name in sorted(present) if name != pairs[0][1])
        assert first_wrong(check_records(SYSTEM, HEADER, records)) == at + 1
        wrong += 1
    assert wrong >= 4


def test_a_report_writes_relations_as_such() -> None:
    come = {"objects": {"Client": ["c"], "Key": ["k", "l"]}}
    rigid = {"Client": {"may": {"c": [["n0", "k"], ["n0", "l"]]}}}
    lock = {"action": "lock", "parameters": {"n": "n0", "c": "c", "k": "k"}}
    report = check_records(SYSTEM, HEADER, [{**come, "rigid": rigid}, lock, {"state": {"Node": {"n0": {"held": []}}}}])
    assert report.first_nonconformance is not None
    (change,) = report.first_nonconformance.unexplained
    assert "lock(n=n0, c=c, k=l) is possible here, and gives {(k, c), (l, c)}" in "\n".join(change.text())


def test_a_report_says_what_a_count_counts() -> None:
    """A second client locks what c holds on n0: the guard counts c, and the property both."""
    come = {"objects": {"Client": ["c", "e"], "Key": ["k"]}}
    rigid = {"Client": {"may": {"c": [["n0", "k"]], "e": [["n1", "k"]]}}}
    lock, second = (
        {"action": "lock", "parameters": {"n": node, "c": client, "k": "k"}}
        for node, client in (("n0", "c"), ("n1", "e"))
    )
    report = check_records(SYSTEM, HEADER, [{**come, "rigid": rigid}, lock, second])
    assert report.first_nonconformance is not None
    text = "\n".join(report.first_nonconformance.text())
    assert "lock needs the number of (o, d) with ((k, d) in o.held) = 0 (k = k): 1 counted: (n0, c)" in text
    assert "(violated for k = k; 2 counted: (n0, c), (n1, e))" in text
    seen = {"state": {"Node": {"n1": {"held": [["k", "e"]]}}}}
    report = check_records(SYSTEM, HEADER, [{**come, "rigid": rigid}, lock, seen])
    assert report.first_nonconformance is not None
    (change,) = report.first_nonconformance.unexplained
    ways = [way for row in change.as_json()["rows"] for way in row["ways"]]
    assert [way["counted"] for way in ways if way["counted"]] == [[{"number": 1, "values": ["(n0, c)"]}]]
    assert (
        "lock(n=n1, c=e, k=k) needs the number of (o, d) with ((k, d) in o.held) = 0: 1 counted: (n0, c)"
        in "\n".join(change.text())
    )


def test_a_pair_with_the_wrong_shape_is_named() -> None:
    [come, *_] = log(1, 0)
    for shown in (["client0"], [["door"]], [["door", None]], "client0"):
        record = {"state": {"Node": {"n0": {"held": shown}}}}
        with pytest.raises(TraceError, match=r"write a list with a list of names \(Key, Client\) for each tuple"):
            check_records(SYSTEM, HEADER, [come, record])


def test_masks_that_are_not_moved_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A seeded fault: a new object leaves the numbers of tuples as they were."""
    monkeypatch.setattr(objects.tuples, "moved", lambda mask, before, after: mask)
    assert any(check_records(SYSTEM, HEADER, log(60, seed)).verdict is not LogVerdict.CONFORMS for seed in range(3))


Place, Guest = Sort("Place", "p"), Sort("Guest", "g")
p, q = variables(Place, "p q")
g, h = variables(Guest, "g h")
GUESTS = Model(
    system="guests",
    variant="toy",
    about="guests that travel, and like each other",
    document=Document("", ""),
    machines=[
        Machine(Place),
        Machine(
            Guest,
            [State("Here"), State("Gone")],
            [
                Attribute("trips", Relation(Place, Place)),
                Attribute("friend", Ref(Guest)),
                Attribute("likes", SetOf(Guest)),
                Attribute("tickets", Relation(Place, Guest), rigid=True),
            ],
            [Event("travel", {"a": Ref(Place), "b": Ref(Place)}), Event("like", {"whom": Ref(Guest)})],
        ),
    ],
    rows=[
        Row(Guest, "travel", "Here", "Here", trips=me.trips.with_(given("a"), given("b"))),
        Row(Guest, "like", "Here", "Here", friend=given("whom"), likes=me.likes.with_(given("whom"))),
        Row(Guest, "leave", "Here", "Gone"),
    ],
    actions=[
        Action("travel", [g, p, q], [g.is_("Here")], [g.fires("travel", a=p, b=q)], "{g} travels from {p} to {q}"),
        Action("like", [g, h], [g.is_("Here"), h.is_("Here")], [g.fires("like", whom=h)], "{g} likes {h}"),
        Action("leave", [g], [g.is_("Here")], [g.fires("leave")], "{g} leaves"),
    ],
    rules=[],
    properties=[],
    default_scope={"Place": 2, "Guest": 2},
)
ABOUT_GUESTS = {"schedproof": 1, "system": "guests"}


def guests(*last: dict[str, Any]) -> ValidationReport:
    """Ann travels and likes Bob; both leave, and so many after them that their places are those of others; then what is ``last``."""
    records: Log = [
        {"objects": {"Place": ["home", "sea"], "Guest": ["ann", "bob"]}},
        {"action": "travel", "parameters": {"g": "ann", "p": "sea", "q": "home"}},
        {"action": "like", "parameters": {"g": "ann", "h": "bob"}},
        *({"action": "leave", "parameters": {"g": name}} for name in ("ann", "bob")),
    ]
    for number in range(15):
        name = f"guest{number}"
        records += [{"objects": {"Guest": [name]}}, {"action": "leave", "parameters": {"g": name}}]
    records += [{"objects": {"Place": ["lake"]}}, *last]
    return check_records(System("guests", "Guests", {"toy": GUESTS}, validated_by="toy"), ABOUT_GUESTS, records)


@pytest.mark.parametrize(
    ("field", "right", "wrong"),
    [
        ("trips", [["sea", "home"]], [[["home", "sea"]], [["home", "lake"]], []]),
        ("friend", "bob", ["ann", "guest14", None]),
        ("likes", ["bob"], [["ann"], ["guest14"], []]),
    ],
)
def test_what_ended_returns_with_its_values(field: str, right: Any, wrong: list[Any]) -> None:
    """Tuples have other numbers by then, for there are more places, and Bob's number is another guest's."""
    assert guests({"state": {"Guest": {"ann": {field: right}}}}).verdict is LogVerdict.CONFORMS
    for value in wrong:
        assert guests({"state": {"Guest": {"ann": {field: value}}}}).verdict is LogVerdict.VIOLATES


def test_what_ended_returns_with_others_that_it_names() -> None:
    """Only the state of Ann is observed; Bob is observed later."""
    last = [{"state": {"Guest": {"ann": {"state": "Gone"}}}}, {"state": {"Guest": {"ann": {"friend": "bob"}}}}]
    assert guests(*last).verdict is LogVerdict.CONFORMS
    last[1] = {"state": {"Guest": {"bob": {"state": "Gone"}, "ann": {"likes": ["bob"], "friend": "guest14"}}}}
    assert first_wrong(guests(*last)) == 38


def test_a_rigid_relation_may_name_what_was_collected() -> None:
    new: dict[str, Any] = {"objects": {"Guest": ["eve"]}, "rigid": {"Guest": {"tickets": {"eve": [["sea", "bob"]]}}}}
    assert guests(new).verdict is LogVerdict.CONFORMS
    new["rigid"]["Guest"]["tickets"]["eve"] = [["sea", "bop"]]
    with pytest.raises(TraceError, match="unknown Guest 'bop'"):
        guests(new)


def test_who_is_in_a_tuple_is_referred_to() -> None:
    """At each place of it, and by the relation of another object only."""
    (instance,) = instances(KEYS, {})
    slot, kind = instance.slot("Node", "held") + 1, KEYS.machine("Node").attributes[0].type
    state = tuple(
        instance.read(kind, [["k1", "c0"]]) if n == slot else value for n, value in enumerate(instance.initial())
    )
    assert [refers(instance, state, "Key", n) for n in range(2)] == [False, True]
    assert [refers(instance, state, "Client", n) for n in range(2)] == [True, False]


def test_who_is_counted_is_not_collected() -> None:
    counting = replace(KEYS.action("lock"), when=[count(d, d.is_("Gone")) <= 1])
    model = replace(KEYS, actions=[counting, *KEYS.actions[1:]])
    assert not collectable(model)["Client"]


def test_who_is_in_a_copied_relation_is_not_collected() -> None:
    """A rigid relation may name guests that are gone, so a row that copies it would name them."""
    _, like, leave = GUESTS.rows
    guest = GUESTS.machine("Guest")
    copies = replace(guest, attributes=[*guest.attributes, Attribute("used", Relation(Place, Guest))])
    row = Row(Guest, "travel", "Here", "Here", used=me.tickets)
    model = replace(GUESTS, machines=[GUESTS.machines[0], copies], rows=[row, like, leave])
    assert collectable(GUESTS)["Guest"] == {"Gone"}
    assert not collectable(model)["Guest"]


@pytest.mark.parametrize(("node", "verdict"), [("n1", LogVerdict.CONFORMS), ("n0", LogVerdict.VIOLATES)])
def test_a_rigid_relation_is_kept_while_objects_appear(node: str, verdict: LogVerdict) -> None:
    may = {"Client": {"may": {"ann": [["n1", "door"]]}}}
    records: Log = [
        {"objects": {"Client": ["ann"], "Key": ["door"]}, "rigid": may},
        {"objects": {"Key": ["safe", "shed"]}},
        {"action": "lock", "parameters": {"n": node, "c": "ann", "k": "door"}},
    ]
    assert check_records(SYSTEM, HEADER, records).verdict is verdict


def test_a_rigid_relation_never_changes() -> None:
    """New objects may be related to those that are there; these keep their tuples, and get none with each other."""
    come = {"objects": {"Client": ["ann"], "Key": ["door", "safe"]}}
    rigid = {"Client": {"may": {"ann": [["n1", "door"]]}}}
    more = {"objects": {"Key": ["shed"]}, "rigid": {"Client": {"may": {"ann": [["n1", "door"], ["n0", "shed"]]}}}}
    lock = {"action": "lock", "parameters": {"n": "n0", "c": "ann", "k": "shed"}}
    assert check_records(SYSTEM, HEADER, [{**come, "rigid": rigid}, more, lock]).verdict is LogVerdict.CONFORMS
    for changed in ([["n1", "door"], ["n0", "safe"]], [["n0", "shed"]]):
        more["rigid"] = {"Client": {"may": {"ann": changed}}}
        with pytest.raises(TraceError, match=r"Client ann\.may never changes"):
            check_records(SYSTEM, HEADER, [{**come, "rigid": rigid}, more])


def one_tuple_more_or_less(instance: Instance, kind: Any, value: int, rng: Random) -> int:
    return value ^ 1 << rng.randrange(tuples.number_of(instance.dimensions(kind)))


@pytest.mark.parametrize(
    "seeds", [range(5), pytest.param(range(5, 28), marks=pytest.mark.long(one_in=32))], ids=["few", "many"]
)
@pytest.mark.parametrize("write", [as_plain, as_itf])
def test_random_runs_conform_and_other_entries_do_not(
    write: Callable[[Run], str], seeds: range, tmp_path: Path
) -> None:
    noticed = changes_noticed(seeds, RelationMaker, Relation, one_tuple_more_or_less, write, tmp_path / "run.json")
    assert noticed >= len(seeds) / 3
