"""Logs with functions: objects appear, entries are right or are flagged, and runs of random models conform in both formats."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from schedproof.model.lang import Function
from schedproof.model.registry.system import System
from schedproof.model.semantics import Instance, Run, instances
from schedproof.proofs.traces import LogVerdict, TraceError, ValidationReport, check_records
from schedproof.proofs.traces.engine.object_gc import refers
from schedproof.proofs.traces.engine.unobserved import noticing
from schedproof.proofs.traces.formats.writing import as_itf, as_plain
from tests.proofs.traces.engine.changed_runs import changes_noticed
from tests.support.messages import NATURALS, RANGES
from tests.support.random_models import FunctionMaker

Log = list[dict[str, Any]]
HEADER = {"schedproof": 1, "system": "messages", "objects": {"Node": ["n0"], "Item": ["a"]}}


def system(model: Any) -> System:
    return System("messages", "Messages", {"toy": model}, validated_by="toy")


def log(many: int, seed: int) -> Log:
    """What nodes do at random, by an implementation that has dictionaries; nodes come, and each record has a whole node."""
    rng, records = Random(seed), Log()
    sent: dict[str, dict[str, int]] = {"n0": {}}
    heard: dict[str, dict[str, str]] = {"n0": {}}
    while len(records) < many:
        if len(sent) < 5 and (len(sent) < 2 or rng.random() < 0.3):
            name = f"n{len(sent)}"
            most = {other: {"most": None} for other in sent}
            rigid = {"Node": {"most": {who: [[o, 2] for o in (*sent, name)] for who in (*most, name)}}}
            # Who was there may have entries for new nodes only.
            records.append({"objects": {"Node": [name]}, "rigid": rigid})
            sent[name], heard[name] = {}, {}
            continue
        one, other = rng.sample(sorted(sent), 2)
        if sent[one].get(other, 0) >= 2:
            if all(sent[a].get(b, 0) >= 2 for a in sent for b in sent if a != b):
                if len(sent) == 5:
                    break
                continue
            continue
        sent[one][other] = sent[one].get(other, 0) + 1
        heard[other]["a"] = one
        state = {
            one: {
                "sent": [[o, number] for o, number in sorted(sent[one].items())],
                "mood": [[o, "busy"] for o in sorted(sent[one])],
            },
            other: {"from_": [[[other, item], by] for item, by in heard[other].items()], "known": [["a", True]]},
        }
        records.append({"action": "send", "parameters": {"n": one, "o": other, "i": "a"}, "state": {"Node": state}})
    return records


def checked(records: Log, model: Any = RANGES, rigid: bool = True) -> ValidationReport:
    first = {"rigid": {"Node": {"most": {"n0": [["n0", 2]]}}}} if rigid else {}
    return check_records(system(model), {**HEADER, **first}, records)


@pytest.mark.parametrize("model", [RANGES, NATURALS], ids=["ranges", "naturals"])
def test_a_log_with_entries_conforms_while_nodes_come(model: Any) -> None:
    for seed in range(3):
        report = checked(log(24, seed), model)
        assert report.verdict is LogVerdict.CONFORMS, report


@pytest.mark.parametrize(
    ("field", "value"),
    [("sent", [["n1", 2]]), ("sent", []), ("mood", [["n1", "lost"]]), ("mood", [["n1", "busy"], ["n0", "busy"]])],
)
def test_another_entry_does_not_conform(field: str, value: Any) -> None:
    records = log(2, 0)
    [sender] = [name for name, fields in records[1]["state"]["Node"].items() if "sent" in fields]
    other = "n1" if sender == "n0" else "n0"
    swapped = [[{"n1": other, "n0": sender}[at], to] for at, to in value]
    records[1]["state"]["Node"][sender][field] = swapped
    assert checked(records).verdict is LogVerdict.VIOLATES


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ([["n9", 1]], "unknown Node 'n9'"),
        ([["n1", 5]], "5 is not a value of type 0..2"),
        ([["n1", 1], ["n1", 2]], "is a second entry for the same objects"),
        ([["n1"]], "is not an entry of the function; write [Node, value]"),
        ({"n1": 1}, "does not fit; write a list with [Node, value] for each entry"),
        ([[["n1", "n0"], 1]], "unknown Node ['n1', 'n0']"),
    ],
)
def test_what_is_no_entry_is_refused(value: Any, says: str) -> None:
    records = log(2, 0)
    for fields in records[1]["state"]["Node"].values():
        if "sent" in fields:
            fields["sent"] = value
    with pytest.raises(TraceError) as caught:
        checked(records)
    assert says in str(caught.value)


def another_entry(instance: Instance, kind: Any, value: int, rng: Random) -> int:
    packing = instance.packing(kind)
    place = rng.randrange(packing.tuples)
    old = packing.at(value, place)
    return packing.put(value, place, next(v for v in range(packing.low, packing.low + packing.values) if v != old))


@pytest.mark.long
@pytest.mark.parametrize("write", [as_plain, as_itf])
def test_random_runs_conform_and_other_entries_do_not(write: Callable[[Run], str], tmp_path: Path) -> None:
    assert changes_noticed(range(8), FunctionMaker, Function, another_entry, write, tmp_path / "run.json") >= 4


def test_the_last_of_two_entries_is_no_better() -> None:
    """The second one is right, and the record is refused all the same."""
    records = log(2, 0)
    [fields] = [each for each in records[1]["state"]["Node"].values() if "sent" in each]
    [[other, number]] = fields["sent"]
    fields["sent"] = [[other, number + 1], [other, number]]
    with pytest.raises(TraceError, match="second entry for the same objects"):
        checked(records)


def test_an_entry_refers_to_its_objects() -> None:
    """Also one that names them as its value; one that has the first value does not."""
    [instance] = instances(RANGES, {"Node": 3, "Item": 1})
    kind = RANGES.machine("Node").attribute("from_")
    assert kind is not None and isinstance(kind.type, Function)
    packing, state = instance.packing(kind.type), list(instance.initial())
    assert not any(refers(instance, tuple(state), "Node", number) for number in range(3))
    state[instance.slot("Node", "from_")] = packing.put(0, 1, 2)  # of n0: from n1 is n2
    assert [refers(instance, tuple(state), "Node", number) for number in range(3)] == [False, True, True]
    assert refers(instance, tuple(state), "Item", 0)
    state[instance.slot("Node", "from_")] = packing.put(
        0, 0, 0
    )  # of n0: from n0 is n0, which keeps nobody but the item
    assert not any(refers(instance, tuple(state), "Node", number) for number in range(3))
    assert refers(instance, tuple(state), "Item", 0)


def test_what_each_gives_to_unobserved_objects_is_noticed() -> None:
    """Moods are lost of all nodes, so a node that no record names matters; items are only unknown again, as they began."""
    assert "forget" in noticing(RANGES, ["Node"])
    assert "forget" not in noticing(RANGES, ["Item"])
