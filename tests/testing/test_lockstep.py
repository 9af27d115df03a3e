"""Lockstep testing: what is right passes, every seeded fault is found, and the report on it is short and true."""

import re
import sys
from collections import deque
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from schedproof.impl.cascade import GuardFailed, System
from schedproof.impl.machines import IllegalEvent
from schedproof.impl.systems.hived import GroupSpec, InMemoryStore, Scheduler
from schedproof.impl.systems.hived import Refused as HivedRefused
from schedproof.model.lang import Action
from schedproof.model.registry.errors import UserError
from schedproof.model.semantics import IllFormed, ScopeError, Stepper, Undefined, instances
from schedproof.model.systems.hived import AS_WRITTEN, REPAIRED
from schedproof.testing import OutOfStep, Refused, conforms, lockstep
from schedproof.testing.lockstep import Agreement, Pair
from tests.support.rows import each_row
from tests.support.sample import thinned
from tests.support.toys import MUTEX, WORKSHOP
from tests.support.user_repository import imports_undone, repository
from tests.systems.hived.seeded.cascades import ForgottenCancellation, VictimNotSpared, spoilt_by
from tests.testing import leases
from tests.testing.leases import Leases


@pytest.fixture(scope="module")
def lease(tmp_path_factory):
    """The first model, both variants."""
    with imports_undone():
        folder = repository(tmp_path_factory.mktemp("lease"), "lockstep-lease")
        sys.path.insert(0, str(folder))
        yield import_module("lockstep_lease.model")


def run(machine, examples=12, steps=25, shrink=False):
    """Runs a machine, always the same way."""
    phases = [Phase.generate, *([Phase.shrink] if shrink else [])]
    run_state_machine_as_test(
        machine,
        settings=settings(
            suppress_health_check=list(HealthCheck),
            report_multiple_bugs=False,
            max_examples=examples,
            stateful_step_count=steps,
            derandomize=True,
            database=None,
            deadline=None,
            phases=phases,
        ),
    )


def walked(model, implementation, scope, *walk):
    """The two side by side, after some actions with their parameters."""
    (instance,) = instances(model, scope, with_history=True)
    pair = Pair(Agreement(model, implementation, model.actions, {}, frozenset(), (Refused, HivedRefused)), instance)
    pair.begin()
    for name, given in walk:
        pair.take(model.action(name), tuple(given.items()))
    return pair


def report_of(machine, error=OutOfStep, **effort):
    """The report on the bug that a machine finds."""
    with pytest.raises(error) as caught:
        run(machine, **effort)
    return "\n".join([str(caught.value), *getattr(caught.value, "__notes__", ())])


def steps(text):
    """The steps of a failure."""
    return re.findall(r"^ *\d+\. .*\[(.*)\]$", text, re.MULTILINE)


# What is right passes.


@pytest.mark.parametrize("refusals", [False, True])
def test_an_implementation_that_does_as_the_model_passes(lease, refusals):
    run(lockstep(lease.FENCED, Leases, scope={"Worker": 2, "Lease": 2}, refusals=refusals))


def test_the_machine_is_a_test_for_pytest_and_unittest(lease):
    machine = lockstep(lease.FENCED, Leases)
    assert issubclass(machine, RuleBasedStateMachine)
    case = machine.TestCase
    case.settings = settings(case.settings, max_examples=2, database=None)
    case("runTest").debug()


def generated(model):
    """Machines made from a model's tables and rules, as an implementation."""

    class Generated:
        def __init__(self, world):
            self.system = System(model, {sort: len(names) for sort, names in world.objects.items()})

        def __getattr__(self, name):
            if name not in {action.name for action in model.actions}:
                raise AttributeError(name)
            return lambda **given: self.system.do(
                name, **{n: frozenset(v) if isinstance(v, list) else v for n, v in given.items()}
            )

        def observe(self):
            return self.system.describe()

    return Generated


REFUSING = (GuardFailed, Undefined)


@pytest.mark.parametrize(
    ("model", "refusals"), thinned([(WORKSHOP, True), (MUTEX, False), (WORKSHOP, False), (MUTEX, True)], 4, first=0)
)
def test_machines_generated_from_a_model_keep_in_step_with_it(model, refusals):
    """All types of parameters and attributes, and rules from object to object."""
    run(lockstep(model, generated(model), refused=REFUSING, refusals=refusals))


class Reference:
    """HiveD's reference scheduler, whose choice of cells is the model's; each group is one pod."""

    scheduler = Scheduler

    def __init__(self, world):
        outranks = world.rigid["PodGroup"]["outranks"]
        self.groups = world.objects["PodGroup"]
        self.it = self.scheduler(InMemoryStore(), world.objects["Cell"])
        self.it.recover()
        for group in self.groups:
            self.it.submit(GroupSpec(group, len(outranks[group]), ("pod",)), "pod")

    def schedule(self, p, K):  # noqa: N803
        self.it.schedule(p, lambda memory, group: K)

    def complete(self, p):
        self.it.complete(p)

    def delete(self, p):
        self.it.delete_pod(p, "pod")

    allocate = preempt = schedule
    delete_allocated = delete_preempted = delete_preempting = delete_pending = delete

    def crash(self):
        self.it.crash()
        self.it.recover()

    def observe(self):
        groups = {group: {"state": self.it.group(group).state} for group in self.groups}
        cells = {c.name: {"state": c.state, "user": c.user, "reserver": c.reserver} for c in self.it.memory.cells}
        return {"PodGroup": groups, "Cell": cells}


def test_hiveds_reference_scheduler_keeps_in_step_with_repaired():
    run(lockstep(REPAIRED, Reference, scope={"PodGroup": 3, "Cell": 3}, refused=HivedRefused))


# What is wrong is found.

BUGS = {
    # the class, whether it takes refusals to see it, the report, and the steps of a shortest run to it
    "Unstopped": (False, "Waiting in the model (Worker.stop, rule an expired lease stops its worker), Working in", 3),
    "DeadHolds": (False, ".state: Held in the model, Free in the implementation", 3),
    "NoSecondLease": (False, "which the model allows (w", 4),
    "TakesWhatIsHeld": (True, ", which the model does not allow: acquire needs l Free (l = l", 3),
    "HalfARefusal": (True, "which it refused:\n  w", 1),
    "WrongWord": (False, "unknown state 'Running'; choose from Idle, Waiting, Working", 2),
}  # fmt: skip
MORE = 2
"""Steps more than needed: Hypothesis leaves out what it can, but not in every combination."""


@pytest.mark.parametrize("bug", ["Unstopped", "WrongWord", *(pytest.param(b, marks=pytest.mark.long) for b in ("DeadHolds", "HalfARefusal"))])  # fmt: skip
def test_a_seeded_bug_is_reported_with_a_short_run(lease, bug):
    refusals, expected, shortest = BUGS[bug]
    machine = lockstep(lease.FENCED, getattr(leases, bug), scope={"Worker": 2, "Lease": 2}, refusals=refusals)
    text = report_of(machine, examples=200, shrink=True)
    assert expected in text
    assert shortest <= len(steps(text)) <= shortest + MORE, text


@pytest.mark.parametrize("bug", [b for b in BUGS if b not in ("Unstopped", "WrongWord")])
def test_a_seeded_bug_is_found(lease, bug):
    """The others; a long test checks that the reports on them are short."""
    refusals, expected, _ = BUGS[bug]
    machine = lockstep(lease.FENCED, getattr(leases, bug), scope={"Worker": 2, "Lease": 2}, refusals=refusals)
    assert expected in report_of(machine, examples=200)


def test_a_bug_that_only_refusals_show_is_not_seen_without_them(lease):
    run(lockstep(lease.FENCED, leases.TakesWhatIsHeld))


def test_the_report_names_the_broken_property_and_both_states(lease):
    with pytest.raises(OutOfStep) as caught:
        walked(
            lease.FENCED, leases.Unstopped, {}, ("ask", {"w": 0}), ("acquire", {"w": 0, "l": 0}), ("expire", {"l": 0})
        )
    assert str(caught.value).splitlines() == [
        "Unstopped is out of step with lockstep-lease fenced after step 3, expire(l=l0):",
        "  w0.state: Waiting in the model (Worker.stop, rule an expired lease stops its worker), Working in the implementation",
        "  w0.lease: none in the model (Worker.stop, rule an expired lease stops its worker), l0 in the implementation",
        "That violates lease-is-held, which requires: a worker that works under a lease holds it (violated for w = w0, l = l0)",
        "The steps so far:",
        "   1. w0 asks for a lease  [ask(w=w0)]",
        "   2. w0 acquires l0 and works  [acquire(w=w0, l=l0)]",
        "   3. l0 expires  [expire(l=l0)]",
        "In the model:",
        "    w0: state Waiting, lease none",
        "    w1: state Idle, lease none",
        "    l0: state Free, holder none",
        "In the implementation, what observe() shows:",
        "    w0: state Working, lease l0",
        "    w1: state Idle, lease none",
        "    l0: state Free, holder none",
    ]


def test_a_test_in_which_no_step_is_taken_fails(lease):
    """An implementation that refuses everything would pass otherwise."""

    class Refuses(leases.Leases):
        def ask(self, w):
            raise Refused

    case = lockstep(lease.FENCED, Refuses, may_refuse=["ask"]).TestCase
    case.settings = settings(case.settings, max_examples=5, database=None)
    result = case().run()
    assert [text.splitlines()[-1] for _, text in result.failures] == [
        "AssertionError: no step of lockstep-lease fenced was taken, so nothing was tested; see what the model allows and what is refused"
    ]
    case = lockstep(lease.FENCED, leases.Leases).TestCase
    case.settings = settings(case.settings, max_examples=5, database=None)
    assert case().run().wasSuccessful()


def test_actions_that_no_run_took_are_named():
    """One group has nobody to preempt."""
    case = lockstep(AS_WRITTEN, generated(AS_WRITTEN), scope={"PodGroup": 1, "Cell": 1}).TestCase
    case.settings = settings(case.settings, max_examples=30, database=None)
    named = "no step of preempt, complete, delete_preempted, delete_preempting, vacate; take more objects"
    with pytest.warns(UserWarning, match=named):
        assert case().run().wasSuccessful()


def test_a_step_that_changes_nothing_is_taken_once_in_a_state(lease):
    crashes = []
    waiting = Action("pause", [], [], [], "nothing happens")
    paused = replace(lease.FENCED, actions=[*lease.FENCED.actions, waiting])

    class Pauses(Leases):
        def pause(self):
            crashes.append(repr(self.observe()))

        def __getattribute__(self, name):
            if name in {action.name for action in lease.FENCED.actions}:
                crashes.append("step")
            return super().__getattribute__(name)

    run(lockstep(paused, Pauses))
    assert any(each != "step" for each in crashes)
    assert not any(a == b != "step" for a, b in pairwise(crashes))


def test_a_model_that_is_not_well_formed_is_at_fault_itself(lease):
    """It lets an idle worker finish, for which the table has no row."""

    class Tolerant(leases.Leases):
        def finish(self, w):
            pass

    fenced = lease.FENCED
    model = replace(fenced, actions=[replace(a, when=[]) if a.name == "finish" else a for a in fenced.actions])
    with pytest.raises(OutOfStep) as caught:
        walked(model, Tolerant, {}, ("ask", {"w": 1}), ("finish", {"w": 0}))
    first, *rest = str(caught.value).splitlines()
    assert first.startswith("the model lockstep-lease fenced is not well-formed: w0 fires finish in state Idle")
    assert first.endswith("check it with model_check(model, {}, only=['well-formed'])")
    assert "The steps so far:" in rest


def test_the_line_of_the_document_is_cited():
    class Seeded(Reference):
        scheduler = spoilt_by(ForgottenCancellation)

    walk = [("allocate", {"p": 0, "K": 1}), ("preempt", {"p": 1, "K": 1}), ("preempt", {"p": 2, "K": 1})]
    with pytest.raises(OutOfStep) as caught:
        walked(REPAIRED, Seeded, {"PodGroup": 3, "Cell": 1}, *walk)
    text = str(caught.value)
    assert (
        "g1.state: Pending in the model (PodGroup.e5, rule e3 cancels the preemptor, line 203), Preempting in the"
        in text
    )
    assert (
        "That violates preempting-has-cells, " in text
        and '(hived-state-machines.md, line 21): "`Preempting`: the PG has' in text
    )


@pytest.mark.long
def test_the_report_of_an_error_has_the_steps_to_it(lease):
    text = report_of(lockstep(lease.FENCED, leases.Fails), KeyError, shrink=True)
    assert "Fails failed in expire(l=l0)" in text and steps(text) == ["ask(w=w0)", "acquire(w=w0, l=l0)"]


def shortest(model, other):
    """The fewest steps after which two models of the same objects differ, found by trying all runs."""
    (one,), (two,) = instances(model, {}), instances(other, {})
    first, second = Stepper(one), Stepper(two)
    work, seen = deque([(one.initial(), 0)]), {one.initial()}
    while work:
        state, depth = work.popleft()
        for step in first.steps(state):
            try:
                same = second.enabled(state, step.choice) and second.step(state, step.choice).after == step.after
            except (IllFormed, Undefined):
                same = False
            if not same:
                return depth + 1
            if step.after not in seen:
                seen.add(step.after)
                work.append((step.after, depth + 1))
    return None


def spoilt():
    """The workshop without one of its rules, or with a row that leaves an attribute as it is."""
    for rule in WORKSHOP.rules:
        yield pytest.param(replace(WORKSHOP, rules=[r for r in WORKSHOP.rules if r is not rule]), id=rule.name)
    for row in WORKSHOP.rows:
        for name, _ in row.sets:
            lazy = type(row)(row.sort, row.event, row.source, row.target, **{n: v for n, v in row.sets if n != name})
            rows = [lazy if r is row else r for r in WORKSHOP.rows]
            yield pytest.param(replace(WORKSHOP, rows=rows), id=f"{row.name}, {name}")


SPOILT = list(spoilt())
SHORT = {
    "a drop frees the tool",
    "a dropped tool sends its worker away",
    "Tool.mend from Free, wear",
    "Worker.take from Idle, knows",
}
FAILURES = (OutOfStep, IllegalEvent, GuardFailed)


@pytest.mark.parametrize("model", [p for p in SPOILT if p.id in SHORT])
def test_a_spoilt_models_machines_fall_out_of_step(model):
    report_of(lockstep(WORKSHOP, generated(model)), FAILURES, examples=200)


@pytest.mark.long(one_in=18)
@pytest.mark.parametrize("model", [p for p in SPOILT if p.id in SHORT or "," not in p.id or "take from" in p.id])
def test_the_report_has_a_short_run(model):
    fewest = shortest(WORKSHOP, model)
    if fewest is None:
        pytest.skip("at this scope the two are the same")
    text = report_of(lockstep(WORKSHOP, generated(model)), FAILURES, examples=200, shrink=True)
    # A step that fails is not among those so far.
    assert fewest - 1 <= len(steps(text)) <= fewest + MORE, text


@pytest.mark.parametrize(
    ("draft", "expected"),
    [
        (ForgottenCancellation, "Pending in the model (PodGroup.e5"),
        pytest.param(VictimNotSpared, "Allocated in the model (PodGroup.e10", marks=pytest.mark.long),
    ],
)
def test_bugs_seeded_in_the_reference_scheduler_are_found(draft, expected):
    class Seeded(Reference):
        scheduler = spoilt_by(draft)

    scope = {"PodGroup": 3, "Cell": 2}
    assert expected in report_of(lockstep(REPAIRED, Seeded, refused=HivedRefused, scope=scope), examples=100)


class ForgetsAtVacation:
    """HiveD's machines, made from the model; a cell that becomes empty forgets for whom it is reserved."""

    def __init__(self, world):
        self.machines = generated(AS_WRITTEN)(world)
        self.observed = self.machines.observe
        self.forgotten = False

    def __getattr__(self, name):
        return getattr(self.machines, name)

    def vacate(self, c):
        self.machines.vacate(c=c)
        self.forgotten = True

    def observe(self):
        shown = self.machines.observe()
        if not self.forgotten:
            return shown
        return {**shown, "Cell": {cell: {**fields, "reserver": None} for cell, fields in shown["Cell"].items()}}


def test_a_bug_of_an_action_that_needs_others_first_is_found():
    """By random steps alone, twenty runs of a hundred found it half of the time: deletions end most of them."""
    text = report_of(
        lockstep(AS_WRITTEN, ForgetsAtVacation, scope={"PodGroup": 2, "Cell": 2}), examples=20, shrink=True
    )
    assert [step.partition("(")[0] for step in steps(text)] == ["allocate", "preempt", "vacate"]


class OverlooksUsedCells(ForgetsAtVacation):
    """It refuses an allocation for its group or for no cells, but not for cells that another group uses."""

    def allocate(self, p, K):  # noqa: N803
        if K and self.observed()["PodGroup"][p]["state"] == "Pending":
            with suppress(*REFUSING):
                self.machines.allocate(p=p, K=K)
        else:
            self.machines.allocate(p=p, K=K)


@pytest.mark.long
def test_each_condition_of_a_guard_is_asked_for():
    """Drawn at random, nine of ten forbidden allocations are of a group that is not Pending, or of no cells."""
    machine = lockstep(
        AS_WRITTEN, OverlooksUsedCells, scope={"PodGroup": 2, "Cell": 2}, refused=REFUSING, refusals=True
    )
    text = report_of(machine, examples=10, shrink=True)
    assert "OverlooksUsedCells does allocate(p=g1, K={c0}), which the model does not allow: allocate needs" in text
    assert [step.partition("(")[0] for step in steps(text)] == ["allocate"]


# What can be said.


def test_actions_can_be_left_out(lease):
    run(lockstep(lease.FENCED, leases.Unstopped, without=["expire"]))


def test_an_action_may_be_refused_where_that_is_said(lease):
    run(lockstep(lease.FENCED, leases.NoSecondLease, scope={"Lease": 2}, may_refuse=["acquire"]))


class Chooses(Leases):
    """Chooses the lease itself: the last that is free."""

    last = -1

    def acquire(self, w):
        free = [lease for lease, by in self.holder.items() if by is None]
        self.need(free, "no lease is free")
        super().acquire(w, free[self.last])
        return {"l": free[self.last]}


class ChoosesAnyway(Chooses):
    """Chooses the last lease, free or not."""

    def acquire(self, w):
        l = list(self.holder)[self.last]  # noqa: E741
        self.doing[w], self.under[w], self.holder[l] = "Working", l, w
        return {"l": l}


class SaysAnother(Chooses):
    def acquire(self, w):
        super().acquire(w)
        return {"l": "l0"}


class SaysNothing(Chooses):
    def acquire(self, w):
        super().acquire(w)


CHOOSES = {"acquire": ["l"]}
TWO = {"Worker": 2, "Lease": 2}


@pytest.mark.parametrize("refusals", thinned([False, True], 2))
def test_an_implementation_may_choose_itself(lease, refusals):
    run(lockstep(lease.FENCED, Chooses, scope=TWO, chooses=CHOOSES, refusals=refusals))


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        (
            ChoosesAnyway,
            r"chose acquire\(w=w\d, l=l1\), which the model does not allow: acquire needs l Free \(l = l1: Held holder w",
        ),
        (SaysAnother, r"w\d\.lease: l0 in the model \(Worker\.start, action acquire\), l1 in the implementation"),
        (SaysNothing, r"acquire of SaysNothing must return what it chose, \{'l': \.\.\.\}, not None"),
    ],
)
def test_what_it_chooses_is_held_against_the_model(lease, wrong, expected):
    text = report_of(lockstep(lease.FENCED, wrong, scope=TWO, chooses=CHOOSES), examples=200)
    assert re.search(expected, text), text


def test_each_configuration_is_drawn_or_the_one_that_is_given():
    seen = set()

    class Seen(Reference):
        def __init__(self, world):
            super().__init__(world)
            seen.add(tuple(sorted((g, tuple(o)) for g, o in world.rigid["PodGroup"]["outranks"].items())))

    two = [
        {("PodGroup", "outranks"): [frozenset(), frozenset({0})]},
        {("PodGroup", "outranks"): [frozenset({1}), frozenset()]},
    ]
    both = replace(REPAIRED, configurations=lambda sizes: two)
    scope = {"PodGroup": 2, "Cell": 1}
    run(lockstep(both, Seen, scope=scope, refused=HivedRefused))
    assert seen == {(("g0", ()), ("g1", ("g0",))), (("g0", ("g1",)), ("g1", ()))}
    seen.clear()
    run(lockstep(both, Seen, scope=scope, configuration=two[1], refused=HivedRefused), examples=5)
    assert seen == {(("g0", ("g1",)), ("g1", ()))}


def test_an_implementation_shows_as_much_as_it_knows(lease):
    class Half(leases.Unstopped):
        def observe(self):
            return {"Lease": super().observe()["Lease"]}

    walk = [("ask", {"w": 0}), ("acquire", {"w": 0, "l": 0}), ("expire", {"l": 0})]
    pair = walked(lease.FENCED, Half, {}, *walk)  # what is different by now is not shown
    with pytest.raises(
        OutOfStep, match=r"^Half refuses acquire\(w=w0, l=l0\), which the model allows \(w0 cannot have l0\)"
    ):
        pair.take(lease.acquire, (("w", 0), ("l", 0)))


def test_an_implementation_that_moves_by_itself_is_seen(lease):
    class Restless(Leases):
        def observe(self):
            seen = super().observe()
            self.doing = dict.fromkeys(self.doing, "Idle")
            return seen

    pair = walked(lease.FENCED, Restless, {}, ("ask", {"w": 0}))
    with pytest.raises(OutOfStep, match=r"though nothing happened:\n  w0\.state: Waiting in the model, Idle in the"):
        pair.compare_unchanged()


def test_an_implementation_is_closed_at_the_end(lease):
    made = []

    class Closing(Leases):
        def __init__(self, world):
            super().__init__(world)
            made.append(self)

        def close(self):
            self.closed = True

    run(lockstep(lease.FENCED, Closing), examples=5)
    assert made and all(one.closed for one in made)
    made.clear()
    Closing.observe = lambda self: {}
    Closing.expire = None  # a method is missing
    report_of(lockstep(lease.FENCED, Closing), TypeError, examples=5)
    assert made and all(one.closed for one in made)


def test_a_model_that_comes_to_an_end_is_no_problem(lease):
    ended = replace(lease.FENCED, actions=[lease.ask], rules=[], properties=[], refuted=frozenset())
    run(lockstep(ended, Leases), examples=5)


# Mistakes.


@pytest.mark.parametrize(
    ("options", "error", "expected"),
    [
        ({"without": ["expiry"]}, UserError, "unknown action of lockstep-lease 'expiry'; did you mean expire?"),
        ({"may_refuse": ["x"]}, UserError, "unknown action of lockstep-lease 'x'"),
        ({"chooses": {"acquire": ["lease"]}}, UserError, "unknown parameter of acquire 'lease'"),
        ({"scope": {"Wrker": 1}}, ScopeError, "unknown sort 'Wrker'"),
    ],
)
def test_a_mistake_is_reported_when_the_machine_is_made(lease, options, error, expected):
    with pytest.raises(error, match=re.escape(expected)):
        lockstep(lease.FENCED, Leases, **options)


class NoExpire:
    def observe(self):
        return {}

    ask = acquire = finish = die = observe


@each_row(
    ("shown", "expected"),
    [
        (None, "must return {sort: {object: {field: value}}}, not None"),
        ({"Leese": {}}, "unknown sort 'Leese'; choose from Worker, Lease"),
        ({"Lease": {"l7": {}}}, "unknown object of Lease 'l7'; choose from l0"),
        ({"Lease": {"l0": {"owner": None}}}, "unknown field of Lease 'owner'; choose from state, holder"),
        ({"Lease": {"l0": {"holder": "w9"}}}, "l0.holder: unknown Worker 'w9'; choose from w0, w1"),
        ({"Lease": {"l0": "Free"}}, "Lease l0 must be {field: value}, not 'Free'"),
        ({}, "observe() of Showing shows nothing at the beginning; return the fields that it knows"),
        ({"Lease": {"l0": {}}}, "shows nothing at the beginning"),
    ],
)
def test_what_cannot_be_observed_is_reported(lease, shown, expected):
    class Showing(Leases):
        def observe(self):
            return shown

    assert expected in report_of(lockstep(lease.FENCED, Showing), examples=1)


def test_a_missing_method_is_reported(lease):
    text = report_of(lockstep(lease.FENCED, lambda world: NoExpire()), TypeError, examples=1)
    assert (
        "NoExpire lacks a method for the action 'expire' of the model; write it, or leave the action out: without=['expire']"
        in text
    )


def test_without_hypothesis_it_is_said_what_to_install(monkeypatch):
    monkeypatch.delitem(sys.modules, "schedproof.testing.driver", raising=False)
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    with pytest.raises(ModuleNotFoundError, match=r"needs Hypothesis; install it: pip install hypothesis$"):
        lockstep(REPAIRED, Reference)


# Logs.


def test_a_log_that_conforms_and_one_that_violates(lease, tmp_path):
    log = repository(tmp_path, "lockstep-lease") / "lockstep_lease" / "log.jsonl"
    assert conforms(lease.FENCED, log).records == 6
    with pytest.raises(AssertionError, match=r"record 4 \(line 5\): expire\(l=printer\)"):
        conforms(lease.AS_WRITTEN, log)


def test_a_log_that_a_mapping_reads(lease, tmp_path):
    log, mapping = tmp_path / "log", tmp_path / "mapping.yaml"
    mapping.write_text(
        "schedproof-mapping: 1\nsystem: lockstep-lease\nlines:\n- {action: {value: did}, parameters: {w: who}}\n",
        "utf-8",
    )
    log.write_text('{"did": "ask", "who": "ann"}\n', "utf-8")
    assert conforms(lease.FENCED, log, mapping=mapping).records == 1
    log.write_text('{"did": "finish", "who": "ann"}\n', "utf-8")
    with pytest.raises(AssertionError, match=r"record 1 \(line 1\): finish\(w=ann\)"):
        conforms(lease.FENCED, log, mapping=mapping)
