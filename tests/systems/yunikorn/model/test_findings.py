"""What v0.12.2 and the text itself do to the document's properties: each finding checked a second time.

Every violated property is said again here in plain Python over what is seen of a state, and its shortest run is replayed: the
property falls at the last step, and no shorter run of the same configuration makes it fall. The most important findings are
scenarios, with the facts that say why; each also has what the repaired core does instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import pytest

from schedproof.model.lang import LifeCycle, Model
from schedproof.model.semantics import Choice, Instance, State, Step, Stepper
from schedproof.model.systems.yunikorn import AS_WRITTEN, REPAIRED, V0_12_2
from schedproof.model.systems.yunikorn.configurations import CONFIGURATIONS, Configuration
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.verdict import Result, Verdict
from tests.support.sample import thinned
from tests.systems.yunikorn.model.runs import Run, instance

VARIANTS = {"as-written": AS_WRITTEN, "v0.12.2": V0_12_2}
SMALL_FIRST = sorted(
    (s for s in CONFIGURATIONS if s.about != "a node goes with a placeholder"), key=lambda s: "gang of two" in s.about
)
"""Small ones, the smallest first."""

# --- The properties again, over what is seen ---------------------------------------------------------------------------

Fields = Mapping[str, object]
Seen = Mapping[str, Mapping[str, Fields]]
"""Sort -> name -> field -> value; "state" is a field."""
HELD = {"allocated", "releasing"}
CYCLE = {"Accepted", "Starting", "Running"}


def asks(seen: Seen, application: str, *states: str, real: bool | None = None) -> list[str]:
    """The asks of an application in one of these states; real ones, placeholders or all."""
    return [
        name
        for name, k in seen["Ask"].items()
        if k["application"] == application and k["state"] in states and (real is None or k["placeholder"] != real)
    ]


def has(states: set[str], bad: Callable[[Seen, str], bool]) -> Callable[[Seen], bool]:
    """An application in one of these states of which ``bad`` is true."""
    return lambda seen: any(a["state"] in states and bad(seen, name) for name, a in seen["Application"].items())


def something(seen: Seen, a: str) -> bool:
    return bool(asks(seen, a, "pending", *HELD))


BAD_STATE: Mapping[str, Callable[[Seen], bool]] = {
    "accepted-has-no-allocation": has({"Accepted"}, lambda seen, a: bool(asks(seen, a, *HELD))),
    "starting-has-one-allocation": has({"Starting"}, lambda seen, a: len(asks(seen, a, *HELD)) != 1),
    "completing-has-nothing": has({"Completing"}, something),
    "completed-has-nothing": has({"Completed", "Expired"}, something),
    "failed-has-nothing": has({"Failed"}, something),
    "nothing-left-completes": has(CYCLE, lambda seen, a: not something(seen, a)),
    "failing-has-something-left": has({"Failing"}, lambda seen, a: not something(seen, a)),
}


@dataclass(frozen=True)
class Moved:
    """One step, and what is seen before and after it."""

    action: str
    before: Seen
    after: Seen

    def became(self, sort: str, field: str, value: object) -> list[str]:
        """The objects of which ``field`` has become ``value``."""
        was, now = self.before[sort], self.after[sort]
        return [name for name in now if now[name][field] == value != was[name][field]]

    def new(self, *states: str) -> list[str]:
        """The asks that have come into one of these states."""
        was, now = self.before["Ask"], self.after["Ask"]
        return [name for name in now if now[name]["state"] in states and was[name]["state"] not in states]


def grows_in_starting(step: Moved) -> bool:
    grown = {step.after["Ask"][k]["application"] for k in step.new(*HELD)}
    was, now = step.before["Application"], step.after["Application"]
    return any(was[a]["state"] == "Starting" and now[a]["state"] != "Running" for a in now if a in grown)


def used_unschedulable(step: Moved) -> bool:
    was, now = step.before["Ask"], step.after["Ask"]
    return any(
        now[k]["node"] not in (None, was[k]["node"])
        and step.before["Node"][str(now[k]["node"])]["state"] != "schedulable"
        for k in now
    )


def begun_on_unschedulable(step: Moved) -> bool:
    return any(
        step.before["Node"][str(step.after["Ask"][k]["node"])]["state"] != "schedulable" for k in step.new(*HELD)
    )


def scheduled_outside(step: Moved) -> bool:
    """Something pending has got a node, and its application was not in the cycle."""
    asks, applications = step.before["Ask"], step.before["Application"]
    given = [k for k in step.new("allocated") if asks[k]["state"] == "pending"]
    return any(applications[str(asks[k]["application"])]["state"] not in CYCLE for k in given)


def left(state: str) -> Callable[[Moved], bool]:
    """An application that was in ``state`` is in another one."""
    return lambda step: any(
        a["state"] == state != step.after["Application"][name]["state"]
        for name, a in step.before["Application"].items()
    )


def removed(sort: str) -> Callable[[Moved], bool]:
    """It is taken off, and was not Draining before."""
    return lambda step: any(
        step.before[sort][name]["state"] != "Draining" for name in step.became(sort, "deleted", True)
    )


def partition_with_queues(step: Moved) -> bool:
    """A partition goes, and a queue of it is on the tree."""
    deleted = step.became("Partition", "deleted", True)
    return any(q["partition"] in deleted and q["deleted"] is False for q in step.after["Queue"].values())


def into_draining(step: Moved) -> bool:
    added = step.became("Application", "known", True)
    return any(step.before["Queue"][str(step.before["Application"][a]["queue"])]["state"] == "Draining" for a in added)


BAD_STEP: Mapping[str, Callable[[Moved], bool]] = {
    "more-allocations-make-it-running": grows_in_starting,
    "only-the-completed-expire": lambda step: any(
        step.before["Application"][a]["state"] != "Completed" for a in step.became("Application", "state", "Expired")
    ),
    "failed-is-final": left("Failed"),
    "a-gang-fails-before-it-runs": lambda step: (
        step.action == "gang_wakes"
        and any(asks(step.before, a, *HELD, real=True) for a in step.became("Application", "state", "Failing"))
    ),
    "removed-queues-drain": removed("Queue"),
    "removed-partitions-drain": removed("Partition"),
    "stopped-queues-drain": removed("Queue"),
    "stopped-partitions-drain": removed("Partition"),
    "only-empty-partitions-go": partition_with_queues,
    "draining-queues-refuse-additions": into_draining,
    "only-the-cycle-is-scheduled": scheduled_outside,
    "unschedulable-nodes-are-not-used": used_unschedulable,
    "unschedulable-nodes-get-nothing": begun_on_unschedulable,
}

FINISHED = {"Completed", "Expired", "Failed", "Rejected"}
STUCK: Mapping[str, tuple[str, Callable[[Seen, str], bool], Callable[[Seen, str], bool], str]] = {
    # premise and goal for one object of the sort, and what may not be waited for
    "draining-queues-go": (
        "Queue",
        lambda seen, q: (
            seen["Queue"][q]["state"] == "Draining"
            and seen["Partition"][str(seen["Queue"][q]["partition"])]["deleted"] is False
        ),
        lambda seen, q: seen["Queue"][q]["deleted"] is True,
        "",
    ),
    "draining-partitions-go": (
        "Partition",
        lambda seen, p: seen["Partition"][p]["state"] == "Draining",
        lambda seen, p: seen["Partition"][p]["deleted"] is True,
        "",
    ),
    "failing-ends": (
        "Application",
        lambda seen, a: seen["Application"][a]["state"] == "Failing",
        lambda seen, a: seen["Application"][a]["state"] == "Failed",
        "add_ask",
    ),
    "resuming-ends": (
        "Application",
        lambda seen, a: seen["Application"][a]["state"] == "Resuming",
        lambda seen, a: seen["Application"][a]["state"] != "Resuming",
        "add_ask",
    ),
    "applications-can-end": (
        "Application",
        lambda seen, a: (
            seen["Application"][a]["known"] is True
            and seen["Application"][a]["state"] not in FINISHED
            and something(seen, a)
        ),
        lambda seen, a: seen["Application"][a]["state"] in FINISHED,
        "",
    ),
}
OF_HISTORY = {"completed-after-its-time"}


# --- Replaying -------------------------------------------------------------------------------------------------------


NAMED = {("Application", "queue"): "q", ("Ask", "application"): "a", ("Queue", "partition"): "p"}


def described(at: Instance, state: State) -> Seen:
    """A state with its rigid attributes, objects by name."""
    objects: dict[str, dict[str, dict[str, object]]] = at.describe(state)
    for (sort, name), values in at.rigid.items():
        for (_, fields), value in zip(objects.get(sort, {}).items(), values, strict=True):
            fields[name] = f"{NAMED[sort, name]}{value}" if (sort, name) in NAMED else value
    return objects


def alone(model: Model, configuration: Configuration) -> tuple[Model, Mapping[str, int]]:
    """``model`` with this configuration only, and its sizes."""
    scoped = instance(model, configuration)
    return replace(model, configurations=lambda sizes: [scoped.rigid]), {s: max(1, n) for s, n in scoped.sizes.items()}


def found_in(
    variant: str, missing: set[str], among: Sequence[Configuration]
) -> Mapping[str, tuple[Configuration, Result]]:
    """For each violated property a shortest run in the first configuration that breaks it, and where."""
    model = VARIANTS[variant]
    findings: dict[str, tuple[Configuration, Result]] = {}
    for configuration in among:
        for result in model_check(*alone(model, configuration), only=sorted(missing)) if missing else ():
            if result.verdict is Verdict.REFUTED:
                findings[result.name] = configuration, result
        missing -= set(findings)
    return findings


def replayed(model: Model, configuration: Configuration, result: Result) -> tuple[Instance, list[State], list[Moved]]:
    """The states that the run comes through, and its steps."""
    at, shown = instance(model, configuration), result.counterexample
    assert shown is not None
    stepper, states, moves = Stepper(at), [at.initial()], []
    for step in shown.steps:
        types = {v.name: v.type for v in model.action(step.action).parameters}
        choice = Choice(step.action, tuple((n, at.read(types[n], value)) for n, value in step.parameters.items()))
        states.append(stepper.step(states[-1], choice).after)
        moves.append(Moved(step.action, described(at, states[-2]), described(at, states[-1])))
    return at, states, moves


def reached(
    at: Instance, starts: Sequence[State], *, without: str = "", depth: int | None = None
) -> list[tuple[State, list[Step]]]:
    """The states within so many steps (or all), with the steps out of them; breadth first."""
    stepper, seen, level, visited, far = Stepper(at), set(starts), list(starts), [], 0
    while level and (depth is None or far < depth):
        following: list[State] = []
        for state in level:
            out = [step for step in stepper.steps(state) if step.choice.action != without]
            visited.append((state, out))
            fresh = [step.after for step in out if step.after not in seen]
            seen |= set(fresh)
            following += dict.fromkeys(fresh)
        level, far = following, far + 1
    return visited


def is_stuck(name: str, at: Instance, state: State) -> list[str]:
    """The objects of which the premise holds and the goal can not be reached."""
    sort, premise, goal, without = STUCK[name]
    objects = described(at, state)
    concerned = [a for a in objects[sort] if premise(objects, a)]
    if not concerned:
        return []
    reachable = [described(at, other) for other, _ in reached(at, [state], without=without)]
    return [a for a in concerned if not any(goal(seen, a) for seen in reachable)]


def first_time(name: str, at: Instance, states: Sequence[State], moves: Sequence[Moved]) -> None:
    """The property falls at the last step of the run, and in no shorter run."""
    earlier = reached(at, [at.initial()], depth=len(moves))
    if name in BAD_STATE:
        bad = BAD_STATE[name]
        assert bad(described(at, states[-1])), name
        assert not any(bad(described(at, state)) for state, _ in earlier), "a shorter run does it"
    elif name in BAD_STEP:
        assert BAD_STEP[name](moves[-1]), name
        earlier = reached(at, [at.initial()], depth=len(moves) - 1)
        steps = [
            Moved(s.choice.action, described(at, state), described(at, s.after)) for state, out in earlier for s in out
        ]
        assert not any(BAD_STEP[name](step) for step in steps), "a shorter run does it"
    elif name in STUCK:
        assert is_stuck(name, at, states[-1]), name
        assert not any(is_stuck(name, at, state) for state in states[:-1]), "it is stuck before"
    else:
        assert name == "completed-after-its-time"
        [a] = moves[-1].became("Application", "state", "Completed")
        began = max(n for n, step in enumerate(moves) if a in step.became("Application", "state", "Completing"))
        assert "run_out" not in [step.action for step in moves[began + 1 :]], "its time has run out in this stay"


NEEDS_A_GANG_OF_TWO = {
    "as-written": set[str](),
    "v0.12.2": {
        "failed-has-nothing",
    },
}
"""What falls only where a gang has two placeholders: one is there, or swapped, and one is not."""


def broken(variant: str) -> set[str]:
    """The violated properties but the life cycles: of these see test_what_nobody_fires_in_v0_12_2."""
    model = VARIANTS[variant]
    return {p.name for p in model.properties if p.name in model.refuted and not isinstance(p, LifeCycle)}


@pytest.mark.parametrize("variant", thinned(VARIANTS, 2))
def test_each_finding_is_one_by_another_verdict(variant: str) -> None:
    findings = found_in(variant, broken(variant), [s for s in SMALL_FIRST if "gang of two" not in s.about])
    assert set(findings) == broken(variant) - NEEDS_A_GANG_OF_TWO[variant]
    for name, (configuration, result) in findings.items():
        first_time(name, *replayed(VARIANTS[variant], configuration, result))


@pytest.mark.long
@pytest.mark.parametrize("variant", [v for v in VARIANTS if NEEDS_A_GANG_OF_TWO[v]])
def test_so_is_each_finding_about_a_gang_of_two(variant: str) -> None:
    violated = NEEDS_A_GANG_OF_TWO[variant]
    findings = found_in(variant, set(violated), SMALL_FIRST)
    assert set(findings) == violated
    for name, (configuration, result) in findings.items():
        first_time(name, *replayed(VARIANTS[variant], configuration, result))


def test_another_verdict_finds_nothing_where_there_is_nothing() -> None:
    """Else it would agree with everything: ``repaired`` breaks none of these properties, but those that are weakened."""
    weakened = {name for change in REPAIRED.changes for name in change.weakens}
    for configuration in SMALL_FIRST[:4]:
        at = instance(REPAIRED, configuration)
        for state, out in reached(at, [at.initial()]):
            seen = described(at, state)
            assert not any(bad(seen) for name, bad in BAD_STATE.items() if name not in weakened)
            for step in out:
                moved = Moved(step.choice.action, seen, described(at, step.after))
                assert not any(bad(moved) for bad in BAD_STEP.values())


# --- Scenarios -------------------------------------------------------------------------------------------------------


def both(configuration: Configuration, *actions: str) -> tuple[Run, Run]:
    """The same steps taken by v0.12.2 and by ``repaired``."""
    return Run(V0_12_2, configuration).do(*actions), Run(REPAIRED, configuration).do(*actions)


def test_an_earlier_stays_time_out_completes_a_later_at_once() -> None:
    """Line 23: "in the completing state for a defined time period". "All state timers capture the state name at start and
    do nothing if the state differs when they fire" (1.3): that it was left and come back to does not show in the name.
    """
    late = Configuration("", [("rr", "Soft")], wakeups=2)
    begin = ("submit", "add_ask 0", "remove_ask 0")
    shipped, repaired = both(late, *begin)
    assert shipped.of("Application") == repaired.of("Application") == "Completing"
    for run in (shipped, repaired):
        run.do("run_out 0 0", "add_ask 1")
        assert run.of("Application") == "Running", "an ask that comes while it is completing (1.2, application.go:517)"
        run.do("remove_ask 1")
        assert run.of("Application") == "Completing", "a second stay, of which no time has passed"
    assert shipped.do("wake").of("Application") == "Completed"
    assert "wake" not in repaired.possible() and repaired.of("Wakeup") == "free", "it was taken back"


def test_a_gang_is_completed_with_a_container_that_runs() -> None:
    """Line 22: "no pending requests or running containers". A removed ask completes it when nothing is pending and nothing
    real is allocated, "placeholders ignored" (1.2, application.go:473); the swap then brings the container.
    """
    begin = ("create_node", "submit", "add_ask 0", "add_ask 1", "allocate 0", "swap 1 0", "remove_ask 1")
    shipped, repaired = both(Configuration("", [("pr", "Soft")]), *begin)
    assert (shipped.of("Application"), shipped.of("Ask", 0), shipped.of("Ask", 1)) == (
        "Completing",
        "releasing",
        "swapping",
    )
    shipped.do("run_out", "wake")
    assert shipped.of("Application") == "Completing", "its time is over, but a placeholder is there (1.3, 259-271)"
    shipped.do("end 0")
    assert (shipped.of("Application"), shipped.of("Ask", 1)) == ("Completed", "allocated")
    assert repaired.of("Application") == "Starting", "a swap is under way"
    repaired.do("end 0")
    assert (repaired.of("Application"), repaired.of("Ask", 1)) == ("Running", "allocated")
    assert repaired.do("end 1").of("Application") == "Completing"


def test_who_fails_with_its_partition_never_has_failed() -> None:
    """Lines 25 and 26. The second fail, to Failed, is fired "Failing and last placeholder removed" (1.2, 1316-1330) only,
    and the partition is deleted at once, never Draining (2; line 51). Its applications go with it, and what is allocated
    (1.2, partition.go:385).
    """
    partition = Configuration("", [("r", "Soft")], people=["partition"])
    shipped, repaired = both(partition, "create_node", "submit", "add_ask 0", "allocate 0", "remove_partition 0")
    assert (shipped.of("Application"), shipped.of("Ask"), shipped.of("Partition")) == ("Failing", "released", "Active")
    assert described(shipped.instance, shipped.state)["Partition"]["p0"]["deleted"] is True
    states = [state for state, _ in reached(shipped.instance, [shipped.state])]
    assert {described(shipped.instance, s)["Application"]["a0"]["state"] for s in states} == {"Failing"}, "for ever"
    assert (repaired.of("Application"), repaired.of("Ask"), repaired.of("Partition")) == (
        "Failing",
        "releasing",
        "Draining",
    )
    repaired.do("end 0", "fail_for_good")
    assert repaired.of("Application") == "Failed"
    assert described(repaired.instance, repaired.state)["Partition"]["p0"]["deleted"] is False
    repaired.do("delete_queue", "delete_partition")
    assert described(repaired.instance, repaired.state)["Partition"]["p0"]["deleted"] is True


def test_a_running_hard_gang_fails_and_has_failed_anyway() -> None:
    """Line 25: "and the application has no real allocations yet". The first swap fires no run (1.2, 1246-1259), so it is
    still Accepted; the time-out looks at the state (1.3), and Failed comes with the last placeholder (1316-1330).
    """
    gang = Configuration("", [("ppr", "Hard")])
    begin = ("create_node", "submit", "add_ask 0", "add_ask 1", "add_ask 2", "allocate 0", "swap 2 0", "end 0")
    shipped, repaired = both(gang, *begin)
    assert (shipped.of("Application"), shipped.of("Ask", 2)) == ("Accepted", "allocated")
    shipped.do("allocate 1", "gang_times_out", "gang_wakes")
    assert (shipped.of("Application"), shipped.of("Ask", 2)) == ("Failing", "allocated")
    shipped.do("end 1")
    assert (shipped.of("Application"), shipped.of("Ask", 2)) == ("Failed", "allocated")
    assert repaired.of("Application") == "Starting", "a swapped-in allocation is one (line 20)"


def test_a_soft_gang_resumes_without_placeholders_and_stays_so() -> None:
    """It is left when "Resuming and last placeholder removed" (1.2, 1311-1330): here the last one went before."""
    gang = Configuration("", [("pr", "Soft")], exact=False)
    begin = ("create_node", "submit", "add_ask 0", "add_ask 1")
    shipped = Run(V0_12_2, gang).do(*begin, "allocate 0 0 0", "gang_times_out", "end 0", "gang_wakes")
    assert (shipped.of("Application"), shipped.of("Ask", 1)) == ("Resuming", "removed")
    assert shipped.possible() == set(), "deadlock: no ask is left that could be added"
    repaired = Run(REPAIRED, gang).do(*begin, "allocate 0 0 0", "gang_times_out", "end 0")
    assert repaired.of("Application") == "Accepted" and "gang_wakes" not in repaired.possible(), "it was taken back"
    assert repaired.do("allocate 1").of("Application") == "Starting"


def test_a_draining_queue_takes_new_applications() -> None:
    """Line 51: "it does not accept additions". "New apps are NOT refused by a Draining leaf" (2, RUN)."""
    shipped, repaired = both(Configuration("", [("r", "Soft")], people=["queues"]), "remove_queue")
    assert shipped.of("Queue") == repaired.of("Queue") == "Draining"
    shipped.do("submit", "add_ask 0")
    assert shipped.of("Application") == "Accepted"
    assert "submit" not in repaired.possible() and repaired.do("reject").of("Application") == "Rejected"


def test_a_dynamic_queue_goes_while_it_is_active() -> None:
    """Line 51. "Unmanaged (dynamic) queues ignore Remove", and the sweep removes "empty Draining or unmanaged queues"
    (2, 1.3). The configured queue above it drains first, in both.
    """
    queues = Configuration("", queues=[None, 0], dynamic=True, people=["queues"])
    shipped, repaired = both(queues, "remove_queue 0")
    for run in (shipped, repaired):
        assert (run.of("Queue", 0), run.of("Queue", 1)) == ("Draining", "Active")
    shipped.do("delete_queue 1", "delete_queue 0")
    assert shipped.of("Queue", 1) == "Active"
    repaired.do("drain_queue 1", "delete_queue 1", "delete_queue 0")
    assert repaired.of("Queue", 1) == "Draining"


def test_a_partition_that_is_removed_takes_its_applications_out() -> None:
    """Its applications fail, and are removed (1.2, partition_manager.go:150): asks, allocations and timers go (1.2,
    partition.go:385; 1.3). A Failing one is Failed by the second event, a Completing one Completed.
    """
    gang = Configuration("", [("pr", "Hard")], exact=False, people=["partition"])
    run = Run(V0_12_2, gang).do("create_node", "submit", "add_ask 0", "add_ask 1", "allocate 0 0 0")
    assert run.of("GangTimer") == "armed"
    run.do("remove_partition")
    assert (run.of("Application"), run.of("Ask", 0), run.of("Ask", 1)) == ("Failing", "released", "removed")
    assert run.of("GangTimer") == "off" and not run.possible() & {"submit", "add_ask", "remove_ask", "end", "wake"}
    started = Run(V0_12_2, gang).do("create_node", "submit", "add_ask 1", "allocate 1")
    assert started.do("remove_partition").of("Application") == "Failing" and "run_out" not in started.possible()
    idle = Run(V0_12_2, gang).do("submit", "add_ask 1", "remove_ask 1")
    assert idle.of("Application") == "Completing" and "run_out" in idle.possible()
    assert idle.do("remove_partition").of("Application") == "Completed" and "run_out" not in idle.possible()
    failing = Run(V0_12_2, gang).do("create_node", "submit", "add_ask 0", "allocate 0 0 0")
    failing.do("gang_times_out", "gang_wakes", "remove_partition")
    assert failing.of("Application") == "Failed" and "run_out" not in failing.possible()


def test_a_late_time_out_fails_a_gang_that_runs() -> None:
    """Line 25. Case 1 is "Running/Starting/Completing with placeholders" (1.3): without one a Hard gang fails. The timer
    stops with the last placeholder, so the time-out has to be under way then.
    """
    gang = Configuration("", [("pr", "Hard")], exact=False)
    begin = (
        "create_node",
        "submit",
        "add_ask 0",
        "allocate 0 0 0",
        "gang_times_out",
        "add_ask 1",
        "allocate 1",
        "end 0",
    )
    shipped, repaired = both(gang, *begin)
    assert shipped.of("Application") == "Starting"
    shipped.do("gang_wakes")
    assert (shipped.of("Application"), shipped.of("Ask", 1)) == ("Failing", "allocated")
    assert "gang_wakes" not in repaired.possible() and repaired.of("Application") == "Starting"
    with_one = Run(V0_12_2, gang).do(*begin[:-1], "gang_wakes")
    assert (with_one.of("Application"), with_one.of("Ask", 0)) == ("Starting", "releasing")


def test_a_queue_waits_for_a_gang_that_has_resumed_with_nothing() -> None:
    """Line 51, graceful removal. From Resuming it goes to Accepted with its last placeholder (1.2, 1311-1330), and nothing
    is left that could be removed, or could end, to complete it (473-484, 1332-1341).
    """
    gang = Configuration("", [("p", "Soft")], exact=False, people=["queues"], wakeups=0)
    begin = (
        "create_node",
        "submit",
        "add_ask 0",
        "allocate 0 0 0",
        "gang_times_out",
        "gang_wakes",
        "remove_queue",
        "end 0",
    )
    shipped, repaired = both(gang, *begin)
    assert shipped.of("Application") == "Accepted" and "delete_queue" not in shipped.possible()
    assert shipped.possible() == set()
    repaired.do("resume_completes")
    assert repaired.of("Application") == "Completing"


def test_an_ask_that_requires_a_drained_node_gets_it() -> None:
    """Line 64. "An ask with requiredNode ignores the flag" (3, node.go:382-399)."""
    node = Configuration("", [("n", "Soft")], adjustable_nodes=True)
    shipped, repaired = both(node, "create_node", "drain_node", "submit", "add_ask 0")
    assert shipped.do("allocate 0").of("Ask") == "allocated" and shipped.of("Node") == "unschedulable"
    assert "allocate" not in repaired.possible()
    assert repaired.do("restore_node", "allocate 0").of("Ask") == "allocated"


def test_what_has_failed_expires() -> None:
    """Line 26: "cannot change state after entering"; the timer of Failed is that of Completed, 72 h (1.3)."""
    gang = Configuration("", [("p", "Hard")], exact=False)
    begin = ("create_node", "submit", "add_ask 0", "allocate 0 0 0", "gang_times_out", "gang_wakes", "end 0")
    shipped, repaired = both(gang, *begin)
    assert shipped.of("Application") == "Failed"
    assert shipped.do("run_out", "wake").of("Application") == "Expired"
    assert repaired.do("fail_for_good").of("Application") == "Failed"
    assert not repaired.possible() & {"run_out", "wake"}


def test_a_gang_starts_with_two_placeholders_and_nothing_real() -> None:
    """Line 20: "exactly one allocation ... one running container". The last placeholder fires run in Accepted (1.2,
    1228-1245). The repaired core keeps this, and properties no more than one real allocation: it is a weaker property.
    """
    begin = ("create_node", "submit", "add_ask 0", "add_ask 1", "allocate 0", "allocate 1")
    for run in both(Configuration("", [("pp", "Soft")]), *begin):
        assert run.of("Application") == "Starting"
        assert asks(described(run.instance, run.state), "a0", *HELD, real=True) == []
        assert len(asks(described(run.instance, run.state), "a0", *HELD)) == 2
    assert "starting-has-one-allocation" in {name for change in REPAIRED.changes for name in change.weakens}
