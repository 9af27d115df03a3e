"""The shim's dispatcher and the cluster in memory."""

import pytest

from schedproof.impl.clock import SECOND
from schedproof.impl.scheduler_interface import NodeAccepted
from schedproof.impl.systems.yunikorn.shim import (
    Cluster,
    CoreNews,
    Dispatcher,
    KubeNode,
    KubernetesError,
    NodeChange,
    Outcome,
    Overflow,
    Phase,
    Pod,
    PodChange,
)
from tests.support.rows import each_row


def item(number):
    return CoreNews(NodeAccepted(f"n{number}"))


def drain(dispatcher):
    items = []
    while (queued := dispatcher.take()) is not None:
        items.append(queued)
    return items


def test_first_in_first_out():
    dispatcher = Dispatcher()
    assert [dispatcher.put(item(n), 0) for n in range(3)] == [Outcome.QUEUED] * 3
    assert item(1) in dispatcher and item(3) not in dispatcher
    assert drain(dispatcher) == [item(0), item(1), item(2)]


def test_what_waits_is_not_overtaken():
    dispatcher = Dispatcher(capacity=2)
    assert [dispatcher.put(item(n), 0) for n in range(4)] == [Outcome.QUEUED] * 2 + [Outcome.WAITING] * 2
    assert len(dispatcher) == 4 and item(3) in dispatcher
    assert dispatcher.take() == item(0)
    dispatcher.put(item(4), 0)
    assert drain(dispatcher) == [item(1), item(2), item(3), item(4)]


def test_what_waits_too_long_is_lost_and_said():
    dispatcher = Dispatcher(capacity=1, patience=3)
    for number, now in ((0, 0), (1, 0), (2, SECOND)):
        dispatcher.put(item(number), now)
    assert dispatcher.lose(3 * SECOND) == []
    assert dispatcher.lose(3 * SECOND + 1) == [item(1)]
    assert drain(dispatcher) == [item(0), item(2)]


def test_too_many_may_not_wait():
    dispatcher = Dispatcher(capacity=1, most_waiting=1)
    dispatcher.put(item(0), 0)
    dispatcher.put(item(1), 0)
    with pytest.raises(Overflow, match="n2"):
        dispatcher.put(item(2), 0)
    assert drain(dispatcher) == [item(0), item(1)]


def test_a_dispatcher_goes_back_to_a_snapshot():
    dispatcher = Dispatcher(capacity=1)
    dispatcher.put(item(0), 0)
    dispatcher.put(item(1), 0)
    before = dispatcher.snapshot()
    drain(dispatcher)
    dispatcher.restore(before)
    assert dispatcher.snapshot() == before and drain(dispatcher) == [item(0), item(1)]


@pytest.mark.parametrize("wrong", [{"capacity": 0}, {"most_waiting": -1}, {"patience": -1}])
def test_a_dispatcher_needs_room(wrong):
    with pytest.raises(ValueError, match="at least one"):
        Dispatcher(**wrong)


def test_a_pod_lives_and_all_watchers_are_notified():
    cluster, changes = Cluster(), []
    cluster.watch(changes.append)
    cluster.add_node(KubeNode("n1", 1))
    cluster.create_pod(Pod("p", "app"))
    cluster.bind_pod("p", "n1")
    cluster.delete_pod("p")
    cluster.delete_pod("p")  # once is enough
    assert cluster.pod("p").deleting
    cluster.reap_pod("p")
    pods = [(c.pod.phase, c.pod.deleting, c.deleted) for c in changes if isinstance(c, PodChange)]
    assert pods == [
        (Phase.PENDING, False, False),
        (Phase.RUNNING, False, False),
        (Phase.RUNNING, True, False),
        (Phase.RUNNING, True, True),
    ]
    cluster.cordon("n1")
    cluster.remove_node("n1")
    assert [(c.node.unschedulable, c.removed) for c in changes if isinstance(c, NodeChange)] == [
        (False, False),
        (True, False),
        (True, True),
    ]


def test_a_pod_that_has_no_node_or_has_ended_goes_at_once():
    cluster = Cluster()
    cluster.add_node(KubeNode("n1", 1))
    for name in ("p", "q"):
        cluster.create_pod(Pod(name, "app"))
    cluster.bind_pod("q", "n1")
    cluster.end_pod("q", Phase.FAILED)
    cluster.delete_pod("p")
    cluster.delete_pod("q")
    cluster.delete_pod("nobody")
    assert cluster.list_pods() == []


@each_row(
    ("call", "says"),
    [
        (lambda c: c.create_pod(Pod("p", "app")), "already"),
        (lambda c: c.bind_pod("p", "n1"), "is on n1"),
        (lambda c: c.bind_pod("q", "n2"), "no node n2"),
        (lambda c: c.bind_pod("nobody", "n1"), "no pod nobody"),
        (lambda c: c.end_pod("q"), "not running"),
        (lambda c: c.reap_pod("p"), "not deleted"),
        (lambda c: c.cordon("n2"), "no node n2"),
        (lambda c: c.remove_node("n2"), "no node n2"),
    ],
)
def test_what_cannot_be_done_changes_nothing(call, says):
    cluster = Cluster()
    cluster.add_node(KubeNode("n1", 1))
    for name in ("p", "q"):
        cluster.create_pod(Pod(name, "app"))
    cluster.bind_pod("p", "n1")
    before = cluster.snapshot()
    with pytest.raises(KubernetesError, match=says):
        call(cluster)
    assert cluster.snapshot() == before


def test_a_pod_that_is_to_go_is_not_bound():
    cluster = Cluster()
    cluster.add_node(KubeNode("n1", 1))
    cluster.create_pod(Pod("p", "app"))
    cluster.bind_pod("p", "n1")
    cluster.delete_pod("p")
    with pytest.raises(KubernetesError, match="n1"):
        cluster.bind_pod("p", "n1")


@pytest.mark.parametrize("call", ["create_pod", "bind_pod", "delete_pod"])
def test_calls_can_fail(call):
    cluster = Cluster()
    cluster.add_node(KubeNode("n1", 1))
    cluster.create_pod(Pod("p", "app"))
    cluster.failing = {call}
    arguments = {"create_pod": [Pod("q", "app")], "bind_pod": ["p", "n1"], "delete_pod": ["p"]}[call]
    with pytest.raises(KubernetesError, match="refused"):
        getattr(cluster, call)(*arguments)
