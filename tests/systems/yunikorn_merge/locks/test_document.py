"""The locks of the merged scheduler against the document that they are read from, line by line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import pytest
import yaml

from schedproof.model.locks import Locks, read
from schedproof.model.locks.language import Rule
from schedproof.proofs.locks.model_check import Answer, model_check
from schedproof.proofs.verdict import Verdict
from tests.support.needs import needs_shared
from tests.support.places import MODELS, SHARED
from tests.support.rows import each_row
from tests.support.sample import thinned

FOLDER = MODELS / "yunikorn_merge" / "locks"
AS_WRITTEN = read(FOLDER / "as-written.yaml")
REPAIRED = read(FOLDER / "repaired.yaml")
DOCUMENT = SHARED / "documents" / AS_WRITTEN.document


@cache
def lines() -> list[str]:
    """The document's lines, the first one twice, so that line n has number n."""
    text = DOCUMENT.read_text(encoding="utf-8").splitlines()
    # The sign for "element of" was stored in another encoding.
    return [text[0], *(line.replace("âˆˆ", "∈") for line in text)]


def plain(text: str) -> str:
    return " ".join(re.sub(r"[-#*]", " ", text).split()).lower()


def near(number: int, words: str, count: int = 3) -> bool:
    """The words stand at a line, or go on from it on the next ones."""
    return plain(words) in plain(" ".join(lines()[number : number + count]))


ROWS = {
    # What each row of the document's table says, by its line: who is held, who is acquired.
    253: {("Queue", "Queue", "in")},  # Direct-children-queue
    254: {("Queue", "Application", "in")},
    255: {("Partition", "Queue", "in"), ("Partition", "Application", "in"), ("Partition", "Node", "in")},
    256: {("Application", "Node", "")},
}


@needs_shared
def test_each_row_of_the_order_stands_in_the_table() -> None:
    rows: dict[int, set[tuple[str, str, str]]] = {}
    for row in AS_WRITTEN.order:
        assert row.line is not None
        rows.setdefault(row.line, set()).add((row.holding, row.acquired, str(row.where)))
        held, then = re.split(r"\s{3,}", lines()[row.line], maxsplit=1)
        assert held == row.holding
        assert row.acquired.lower() in then.lower()
    assert rows == ROWS
    assert near(248, "Anything not mentioned here is NOT allowed") and not AS_WRITTEN.closed


@needs_shared
@each_row("rule", AS_WRITTEN.rules, ids=lambda rule: rule.name)
def test_each_rule_is_a_sentence_of_the_document(rule: Rule) -> None:
    assert rule.line is not None and near(rule.line, rule.sentence)
    text = plain(" ".join(lines()[rule.line : rule.line + 3])).replace(" ", "")
    if rule.line != 200:  # in a list of what needs wlock(Partition), which its line does not repeat
        assert f"{rule.mode}({rule.lock})".lower() in text
    else:
        assert near(190, "Here's a list of operation needs wlock(Partition)")


WORDS = {
    # A word or two of the line that an operation is read from.
    "update_configuration": "RM send RegisterRMEvent/ConfigUpdateRMEvent",
    "update_queue": "scheduler wlock(queue) #along the hierarchy",
    "delete_all_apps": "scheduler.delete_all_apps(partition)",
    "delete_nodes": "scheduler.delete_nodes(partition)",
    "delete_queue": "scheduler.delete_queue(queue)",
    "delete_app": "scheduler.delete_app(app)",
    "remove_alloc": "app.remove_alloc(alloc)",
    "unreserve_alloc": "app.unreserve_allocation(alloc)",
    "get_partition": "Get/Loop partition needs rlock(Cluster)",
    "count_usage": "Change resource-usage",
    "count_pending": "queue (pending resource)",
    "commit_proposal": "commit a scheduling/preemption proposal need acquire wlock(Partition)",
    "release_allocation": "Do new allocation / remove allocation, will change application, queue and node",
    "reserve": "new/delete allocation reservation",
    "unreserve": "new/delete allocation reservation",
    "find_proposal": "Scheduler logic to get proposal only needs rlock",
    "try_queue": "Scheduler logic to get proposal only needs rlock",
    "find_preemption": "Preemption logic to get proposal of preemption only need rlock",
    "change_pending": "Change pending request of ask",
    "change_pending_as_argued": "this is arguable, if we lock app first, update pending resource",
    "update_node": "Update of Node Resource",
    "sort_queues": "Update pre-sorted queues, apps",
    "add_application": "Add/remove App/Queue belong to this queue",
}


@needs_shared
@each_row("name", AS_WRITTEN.operations)
def test_each_operation_is_read_from_its_line(name: str) -> None:
    operation = AS_WRITTEN.operations[name]
    assert operation.line is not None and near(operation.line, WORDS[name])
    for under in operation.under:
        if under.line in (284, 299, 311):
            lock = "application" if under.line == 311 else "partition"
            assert near(under.line, f"Always under {under.mode}({lock})", 1)


DOES = {
    # What is changed, called and sent, line by line of the pseudo-code; of what is only ruled on, as the rules have it.
    "update_configuration": {
        269: ["write cluster.partitions"],
        272: ["update_queue(root)"],
        276: ["delete_all_apps(partition)"],
        277: ["delete_queue(root)"],
        278: ["delete_nodes(partition)"],
    },
    "update_queue": {272: ["update_queue(child)"], 273: ["write queue.configuration"]},
    "delete_all_apps": {276: ["delete_app(app)"], 186: ["write partition.applications"]},
    "delete_nodes": {278: ["write partition.nodes"]},
    "delete_queue": {
        289: ["delete_queue(child)"],
        292: ["delete_app(app)"],
        293: ["write queue.usage"],
        186: ["write queue.Partition.queues"],
        218: ["write queue.applications", "write queue.queues"],
    },
    "delete_app": {303: ["remove_alloc(app, node)"], 305: ["unreserve_alloc(app, node)"]},
    "remove_alloc": {
        317: ["write node.allocations", "write node.usage"],
        318: ["write app.usage"],
        320: ["send rm_events"],
    },
    "unreserve_alloc": {305: ["write node.reservations", "write app.reservations"]},
    "get_partition": {},
    "count_usage": {219: ["write queue.usage", "count_usage(parent)"]},
    "count_pending": {197: ["write queue.pending", "count_pending(parent)"]},
    "commit_proposal": {
        179: ["get_partition(app.Partition)"],
        191: [
            *("write app.allocations", "write app.usage"),
            *("write node.allocations", "write node.usage"),
            "count_usage(app.Queue)",
        ],
    },
    "release_allocation": {
        179: ["get_partition(app.Partition)"],
        191: ["remove_alloc(app, node)", "count_usage(app.Queue)"],
    },
    "reserve": {
        179: ["get_partition(app.Partition)"],
        194: ["write app.reservations", "write node.reservations"],
        216: ["count_usage(app.Queue)"],
    },
    "unreserve": {
        179: ["get_partition(app.Partition)"],
        194: ["unreserve_alloc(app, node)"],
        216: ["count_usage(app.Queue)"],
    },
    "find_proposal": {179: ["get_partition(partition)"], 209: ["try_queue(root)"]},
    "try_queue": {209: ["try_queue(child)"]},
    "find_preemption": {179: ["get_partition(partition)"]},
    "change_pending": {
        179: ["get_partition(app.Partition)"],
        196: ["write app.pending"],
        197: ["count_pending(app.Queue)"],
    },
    "change_pending_as_argued": {
        179: ["get_partition(app.Partition)"],
        198: ["write app.pending", "write app.Queue.pending"],
    },
    "update_node": {
        179: ["get_partition(node.Partition)"],
        201: ["write node.usage"],
        202: ["write node.Partition.resource"],
    },
    "sort_queues": {179: ["get_partition(queue.Partition)"], 205: ["write queue.sorted"]},
    "add_application": {
        179: ["get_partition(queue.Partition)"],
        186: ["write queue.Partition.applications"],
        218: ["write queue.applications"],
    },
}
NO_CHANGE = ("read ", "each ", "some ", "rlock ", "wlock ", "either")


def steps(written: object) -> Iterator[str]:
    """The steps of an operation as they are written, one after the other."""
    match written:
        case str():
            yield written
        case list():
            for part in written:
                yield from steps(part)
        case dict():
            for step, inside in written.items():
                yield step
                yield from steps(inside)


@pytest.mark.parametrize("name", ["as-written", "repaired"])
def test_each_operation_does_what_its_lines_say_and_nothing_else(name: str) -> None:
    """No check of the locks could see it: an operation that does not change something needs no lock."""
    written = yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))["operations"]
    does = {
        heading.partition("(")[0]: sorted(step for step in steps(operation["steps"]) if not step.startswith(NO_CHANGE))
        for heading, operation in written.items()
    }
    expected = {op: sorted(step for changes in by_line.values() for step in changes) for op, by_line in DOES.items()}
    assert does == {op: expected[op] for op in does}
    assert name == "repaired" or set(does) == set(DOES)


@cache
def answers(locks_name: str) -> dict[str, Answer]:
    return checked({"as-written": AS_WRITTEN, "repaired": REPAIRED}[locks_name])


def checked(locks: Locks) -> dict[str, Answer]:
    """Two operations at once are enough for what is asked here; ``verify`` explores choices of three as well."""
    return {answer.check.name: answer for answer in model_check(replace(locks, together=(2,))).answers}


WHY = {
    # Why each check fails, as derived from the document; what the message then has to name.
    # Lines 268, 271 lock the partition under the cluster, and no row begins with a cluster.
    "update-configuration-follows-the-order": "no row of the order leads from Cluster cluster to Partition partition",
    # Line 272: "along the hierarchy", each under the one above: a grandchild is no direct child (line 253).
    "update-queue-follows-the-order": "no row of the order leads from Queue root to Queue leaf",
    # Lines 286, 288: the same, to delete.
    "delete-queue-follows-the-order": "no row of the order leads from Queue root to Queue leaf",
    # Line 209 with 208: queues are read from the root down, the same again.
    "find-proposal-follows-the-order": "no row of the order leads from Queue root to Queue leaf",
    # Under one leaf: its application, then a node (256), but no row leads from a queue to a node.
    "try-queue-follows-the-order": "no row of the order leads from Queue leaf (in parent) to Node node",
    "threads-follow-the-order": "no row of the order leads from",
    # Line 311 asks for the application alone; lines 317, 318 change a node and an application (187).
    "several-objects-are-changed-under-the-partition": "it needs wlock partition, and holds wlock app, wlock node",
    # Line 320 notifies the resource manager under the lock of line 311.
    "nothing-is-held-while-waiting": "wlock app is held meanwhile",
}


@pytest.mark.long
def test_what_fails_as_written_fails_for_the_documents_reason() -> None:
    results = answers("as-written")
    refuted = {name for name, answer in results.items() if answer.verdict is Verdict.REFUTED}
    assert refuted == set(WHY) == AS_WRITTEN.refuted
    for name, why in WHY.items():
        assert why in results[name].problem, name
    assert {answer.verdict for name, answer in results.items() if name not in WHY} == {Verdict.PROVED}


@pytest.mark.long
def test_everything_is_proved_of_what_was_repaired() -> None:
    assert {answer.verdict for answer in answers("repaired").values()} == {Verdict.PROVED}
    assert not REPAIRED.refuted


def failing(locks: Locks, *only: str) -> set[str]:
    """Which checks of these are not proved."""
    answers = model_check(replace(locks, together=(2,)), only=only).answers
    return {a.check.name for a in answers if a.verdict is not Verdict.PROVED}


@pytest.mark.long
def test_without_closed_a_grandchild_is_not_allowed_again() -> None:
    names = {"update-queue-follows-the-order", "delete-queue-follows-the-order", "find-proposal-follows-the-order"}
    assert failing(replace(REPAIRED, closed=False), *names) == names


@pytest.mark.parametrize("closed", thinned([False, True], 2))
def test_without_the_clusters_row_its_partitions_are_unlockable(closed: bool) -> None:
    """No row leads from a cluster anywhere."""
    name = "update-configuration-follows-the-order"
    rows = [row for row in REPAIRED.order if row.holding != "Cluster"]
    assert len(rows) == len(REPAIRED.order) - 1
    assert failing(replace(REPAIRED, order=rows, closed=closed), name) == {name}


@pytest.mark.long
def test_without_the_partition_a_removal_changes_two_objects() -> None:
    operations = {**REPAIRED.operations, "remove_alloc": AS_WRITTEN.operations["remove_alloc"]}
    rule = "several-objects-are-changed-under-the-partition"
    assert failing(replace(REPAIRED, operations=operations), rule) == {rule}


def test_each_failing_check_has_a_repair_that_says_what_is_wrong() -> None:
    assert {check for repair in REPAIRED.repairs for check in repair.checks} == AS_WRITTEN.refuted
    assert all(repair.name and repair.wrong for repair in REPAIRED.repairs)


@pytest.mark.long
def test_without_room_for_responses_a_waiter_holds_a_lock() -> None:
    name = "nothing-is-held-while-waiting"
    assert failing(replace(REPAIRED, channels=AS_WRITTEN.channels), name) == {name}


@pytest.mark.long
def test_without_the_drop_an_ask_changes_two_unlocked_objects() -> None:
    name = "change_pending_as_argued"
    operations = {**REPAIRED.operations, name: AS_WRITTEN.operations[name]}
    rule = "several-objects-are-changed-under-the-partition"
    assert failing(replace(REPAIRED, operations=operations), rule) == {rule}
