"""Cascades of generated machines: the same step as the model's, all or nothing, one at a time."""

import random
import sys
from collections.abc import Callable
from dataclasses import replace
from threading import Barrier, Event, Thread, current_thread

import pytest
from transitions.extensions import LockedMachine

from schedproof.impl import cascade as cascade_module
from schedproof.impl.cascade import GuardFailed, System
from schedproof.impl.machines import IllegalEvent, ObjectMachine
from schedproof.impl.triggers import Trigger
from schedproof.model.lang import Action, Change, Model, ModelError, Row, Rule, Sort
from schedproof.model.lang.check import checked
from schedproof.model.semantics.evaluate import Moment, Undefined
from schedproof.model.semantics.instance import Instance, State
from schedproof.model.semantics.step import Stepper
from schedproof.model.systems.hived import AS_WRITTEN, REPAIRED
from schedproof.model.systems.hived.machines import Cell, PodGroup, c, p, q
from tests.impl.machine_comparison import Counts, changing, differences, put
from tests.support.rows import each_row
from tests.support.sample import thinned

VARIANTS = {"as-written": AS_WRITTEN, "repaired": REPAIRED}
TWO = {"PodGroup": 2, "Cell": 2}
THREE_TWO = {"PodGroup": 3, "Cell": 2}
THREE = {"PodGroup": 3, "Cell": 3}


def reachable(model: Model, scope: dict[str, int]) -> dict[State, Instance]:
    """Every reachable state of the model's step, with its instance."""
    instance = Instance(model, scope, next(iter(model.configurations(scope))))
    stepper = Stepper(instance)
    reached = {instance.initial(): instance}
    frontier = [instance.initial()]
    for state in frontier:
        for step in stepper.steps(state):
            if step.after not in reached:
                reached[step.after] = instance
                frontier.append(step.after)
    return reached


# The same step as the model's


def choices_per_state(groups: int, cells: int, *, vacate: bool) -> int:
    """Choices of parameters per state, counted by hand: (p, K) twice, p five times, a cell, the crash."""
    return 2 * groups * 2**cells + 5 * groups + (cells if vacate else 0) + 1


# States and enabled choices of as-written as an independent model of the document has them
@pytest.mark.parametrize(
    ("groups", "cells", "states", "enabled"),
    [
        (2, 2, 47, 158),
        pytest.param(3, 2, 354, 1579, marks=pytest.mark.long),
        pytest.param(3, 3, 1512, 7706, marks=pytest.mark.long(one_in=9)),
    ],
)
def test_as_written_is_the_models_step_on_every_state_and_choice(
    groups: int, cells: int, states: int, enabled: int
) -> None:
    counts = Counts()
    system = System(AS_WRITTEN, {"PodGroup": groups, "Cell": cells})
    assert next(differences(system, AS_WRITTEN, counts), None) is None
    assert (counts.states, counts.enabled) == (states, enabled)
    assert counts.choices == states * choices_per_state(groups, cells, vacate=True)


@pytest.mark.parametrize("scope", [TWO, THREE_TWO, pytest.param(THREE, marks=pytest.mark.long)], ids=str)
def test_repaired_is_the_models_step_on_every_state_and_choice(scope: dict[str, int]) -> None:
    counts = Counts()
    assert next(differences(System(REPAIRED, scope), REPAIRED, counts), None) is None
    assert counts.states == len(reachable(REPAIRED, scope))
    assert counts.choices == counts.states * choices_per_state(scope["PodGroup"], scope["Cell"], vacate=False)


AT_TWO_AND_MORE = pytest.mark.parametrize("scope", [TWO, pytest.param(THREE_TWO, marks=pytest.mark.long)], ids=str)


@AT_TWO_AND_MORE
@pytest.mark.parametrize("variant", thinned(VARIANTS, 2, first=1))
def test_with_the_attributes_that_record_history_too(variant: str, scope: dict[str, int]) -> None:
    """``placement`` on e2 is computed from other objects: the cells that are reserved for the group."""
    model = VARIANTS[variant]
    assert next(differences(System(model, scope, history=True), model), None) is None


@AT_TWO_AND_MORE
@pytest.mark.parametrize("variant", thinned(VARIANTS, 2, first=1))
def test_the_thread_safe_machines_do_the_same(variant: str, scope: dict[str, int]) -> None:
    model = VARIANTS[variant]
    assert next(differences(System(model, scope, thread_safe=True), model), None) is None


@pytest.mark.parametrize("variant", thinned(VARIANTS, 2, first=1))
def test_a_long_random_run_with_more_objects(variant: str) -> None:
    """Five groups and five cells: too many states for all of them, so 400 steps of one run after another."""
    model = VARIANTS[variant]
    system = System(model, {"PodGroup": 5, "Cell": 5})
    instance = system.instance
    stepper, chance = Stepper(instance), random.Random(20)
    state = instance.initial()
    for _ in range(400):
        steps = list(stepper.steps(state))
        lively = [s for s in steps if not s.choice.action.startswith("delete_pending")] or steps
        step = chance.choice(lively)
        types = {v.name: v.type for v in model.action(step.choice.action).parameters}
        shown = {n: instance.show(types[n], v) for n, v in step.choice.parameters}
        system.do(step.choice.action, **shown)
        assert system.describe() == changing(instance, step.after)
        state = step.after
        if len(steps) == 1:  # only the crash is left: all groups are deleted
            state = instance.initial()
            put(system, changing(instance, state))


# One cascade, from the document by hand


def test_an_overwritten_preemptor_gives_back_its_other_cells() -> None:
    """Lines 63-75 and 100-108: e1 of g2 takes two cells of g1, whose e5 returns and frees the others."""
    system = System(AS_WRITTEN, {"PodGroup": 3, "Cell": 5})
    system.do("allocate", p="g0", K={"c0", "c1"})
    system.do("preempt", p="g1", K={"c0", "c1", "c2", "c3"})
    log = system.do("preempt", p="g2", K={"c0", "c2", "c4"})
    cells = {name: tuple(fields.values()) for name, fields in system.describe()["Cell"].items()}
    assert cells == {
        "c0": ("Reserving", "g0", "g2"),  # e3: taken over, not returned
        "c1": ("Used", "g0", None),  # e4: returned to the victim
        "c2": ("Reserved", None, "g2"),  # e6: taken over, not freed
        "c3": ("Free", None, None),  # e7: freed
        "c4": ("Reserved", None, "g2"),  # e5
    }
    groups = {name: fields["state"] for name, fields in system.describe()["PodGroup"].items()}
    assert groups == {"g0": "BeingPreempted", "g1": "Pending", "g2": "Preempting"}
    assert {(f.name, f.event) for f in log} == {
        ("g2", "e1"), ("c0", "e3"), ("c2", "e6"), ("c4", "e5"), ("g1", "e5"), ("c1", "e4"), ("c3", "e7"),
    }  # fmt: skip
    order = [f.name for f in log]
    assert len(order) == len(set(order)), "g1 is cancelled by two cells, but takes e5 once"
    assert max(order.index("c0"), order.index("c2")) < order.index("g1") < min(order.index("c1"), order.index("c3"))
    causes = {f.name: f.cause.name for f in log}
    assert causes["g2"] == "preempt" and causes["c1"] == "e5 returns its Reserving cells"


def test_objects_may_have_any_names() -> None:
    system = System(AS_WRITTEN, names={"PodGroup": ["low", "high"], "Cell": ["a", "b", "c"]})
    system.do("allocate", p="low", K=["a", "c"])
    system.do("preempt", p="high", K={"a", "b"})
    assert system.describe()["Cell"] == {
        "a": {"state": "Reserving", "user": "low", "reserver": "high"},
        "b": {"state": "Reserved", "user": None, "reserver": "high"},
        "c": {"state": "Used", "user": "low", "reserver": None},
    }


# Refusals


def test_a_false_guard_says_which_part_and_changes_nothing() -> None:
    system = System(AS_WRITTEN, TWO)
    system.do("allocate", p="g1", K={"c0"})
    before = system.snapshot()
    with pytest.raises(
        GuardFailed, match=r"^preempt\(p=g0, K=\{c0, c1\}\) is not possible: part 3 of its guard \(events.py:"
    ):
        system.do("preempt", p="g0", K={"c0", "c1"})  # g0 does not outrank g1
    assert system.snapshot() == before


@each_row(
    ("action", "parameters", "says"),
    [
        ("evict", {}, "unknown action 'evict'; choose from allocate, preempt,"),
        ("complete", {}, r"complete needs its parameter p, of type PodGroup or none: do\('complete', p=...\)"),
        ("complete", {"p": "g0", "q": "g1"}, "unknown parameter 'q' of complete; choose from p"),
        ("complete", {"p": "g9"}, "complete: parameter p: unknown PodGroup 'g9'; choose from g0, g1"),
        ("complete", {"p": None}, "complete: parameter p: name a PodGroup, not None"),
        ("complete", {"p": 1}, "complete: parameter p: 1 is not a name of a PodGroup"),
        ("allocate", {"p": "g0", "K": "c0"}, "allocate: parameter K: 'c0' is not a set; give a set of names of Cell"),
        ("allocate", {"p": "g0", "K": {"c0", "g1"}}, "allocate: parameter K: unknown Cell 'g1'; choose from c0, c1"),
        ("crash", {"p": "g0"}, "unknown parameter 'p' of crash; choose from none"),
    ],
)
def test_a_wrong_action_is_refused(action: str, parameters: dict[str, object], says: str) -> None:
    system = System(AS_WRITTEN, TWO)
    before = system.snapshot()
    with pytest.raises(ValueError, match="^" + says):
        system.do(action, **parameters)
    assert system.snapshot() == before


def test_names_must_fit_the_scope() -> None:
    with pytest.raises(ValueError, match="2 names for 3 objects of Cell"):
        System(AS_WRITTEN, {"Cell": 3}, names={"Cell": ["a", "b"]})
    with pytest.raises(ValueError, match="unknown sort 'Node'"):
        System(AS_WRITTEN, names={"Node": ["a"]})


# All or nothing: failures in the middle


def without(model: Model, *names: str, adds: tuple[Row | Rule | Action, ...] = ()) -> Model:
    """A wrong copy of a model: some elements dropped, some added."""
    change = Change("a seeded fault", [], adds=adds, drops=names)
    return replace(model.amend("wrong", "a seeded fault", [change], frozenset()), properties=[])


# Events that only rules fire, deep in a cascade, and a source that they are never fired in
FIRED_LATE = [
    (PodGroup, "e5", "Preempting", "Deleted"),
    (Cell, "e4", "Reserving", "Free"),
    (Cell, "e7", "Reserved", "Used"),
]


def with_row_moved(model: Model, sort: Sort, event: str, source: str, elsewhere: str) -> Model:
    """The row of ``event`` answers in another state, so that it is missing where rules fire it."""
    old = next(r for r in model.rows if r.name == f"{sort}.{event} from {source}")
    return without(model, old.name, adds=(Row(sort, event, elsewhere, old.target, **dict(old.sets)),))


def events_before_failures(
    monkeypatch: pytest.MonkeyPatch, wrong: Model, model: Model, most: int | None = None
) -> tuple[list[int], list[str]]:
    """Runs ``wrong`` on all states of ``model``, or ``most``: how many events had happened before each IllegalEvent,
    and what the comparison says beside those refusals."""
    happened = [0]
    original = ObjectMachine.trigger_event

    def counting(self: ObjectMachine, *arguments: object) -> None:
        original(self, *arguments)  # type: ignore[arg-type]
        happened[0] += 1

    failures: list[int] = []
    do = System.do

    def watched(self: System, action: str, /, **parameters: object) -> object:
        happened[0] = 0
        try:
            return do(self, action, **parameters)
        except IllegalEvent:
            failures.append(happened[0])
            raise

    monkeypatch.setattr(ObjectMachine, "trigger_event", counting)
    monkeypatch.setattr(System, "do", watched)
    other_differences = [
        d for d in differences(System(wrong, THREE_TWO), model, most=most) if "is enabled, but refused" not in d
    ]
    return failures, other_differences


@pytest.mark.parametrize(
    "row", thinned([pytest.param(row) for row in FIRED_LATE], 3), ids=lambda row: f"{row[0]}.{row[1]}"
)
@pytest.mark.parametrize("variant", [pytest.param("as-written", marks=pytest.mark.long), "repaired"])
def test_a_missing_row_late_in_a_cascade_changes_nothing(
    variant: str, row: tuple[Sort, str, str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = VARIANTS[variant]
    failures, others = events_before_failures(monkeypatch, with_row_moved(model, *row), model)
    assert others == []  # differences() looks at every object after every refusal
    assert failures and max(failures) >= 2, "no cascade has failed in its middle"


def test_the_refusal_says_what_failed_and_why() -> None:
    system = System(with_row_moved(AS_WRITTEN, *FIRED_LATE[0]), THREE_TWO)
    system.do("allocate", p="g0", K={"c0"})
    system.do("preempt", p="g1", K={"c0"})
    with pytest.raises(IllegalEvent) as refused:
        system.do("preempt", p="g2", K={"c0"})
    message = str(refused.value)
    assert message.startswith("preempt(p=g2, K={c0}): rule 'e3 cancels the preemptor' (events.py:")
    assert message.endswith("fires e5, but g1 cannot take e5 in state Preempting; possible there: e2, e7, ec")


@pytest.mark.long
def test_without_undo_the_comparison_sees_what_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    def keep(data: object) -> None:
        raise data.error  # type: ignore[attr-defined]

    monkeypatch.setattr(cascade_module, "_undo", keep)
    _, others = events_before_failures(monkeypatch, with_row_moved(AS_WRITTEN, *FIRED_LATE[0]), AS_WRITTEN, 120)
    assert any("but something has changed" in d for d in others)


def test_two_events_for_one_object_are_refused() -> None:
    both = Rule("also deletes", AS_WRITTEN.action("allocate"), [], p.fires("e8"))
    system = System(without(AS_WRITTEN, adds=(both,)), TWO)
    before = system.snapshot()
    with pytest.raises(
        IllegalEvent, match=r"^allocate\(p=g0, K=\{c0\}\): .* on g0, which takes e\d in the same cascade"
    ):
        system.do("allocate", p="g0", K={"c0"})
    assert system.snapshot() == before


def test_one_event_with_two_payloads_is_refused() -> None:
    allocate = AS_WRITTEN.action("allocate")
    cells = allocate.parameters[1]
    everyone = Rule("e0 uses Free cells", allocate, [cells.has(c)], c.fires("e0", user=q))
    system = System(without(AS_WRITTEN, adds=(everyone,)), TWO)
    before = system.snapshot()
    with pytest.raises(IllegalEvent, match="on c0, which takes e0 in the same cascade"):
        system.do("allocate", p="g0", K={"c0"})
    assert system.snapshot() == before


def test_an_undefined_read_is_reported_and_undone() -> None:
    stray = Rule("e5 preempts nobody", c.fires("e5"), [], c.user.fires("e6"))
    system = System(without(AS_WRITTEN, adds=(stray,)), TWO)
    system.do("allocate", p="g0", K={"c0"})
    before = system.snapshot()
    with pytest.raises(Undefined, match=r"rule 'e5 preempts nobody' \(test_cascade.py:\d+\) fires e6 on no PodGroup"):
        system.do("preempt", p="g1", K={"c0", "c1"})
    assert system.snapshot() == before


# Seeded faults: each must make the comparison speak


def noticed(system: System, model: Model) -> bool:
    return next(differences(system, model), None) is not None


RULES = [(v, r.name) for v, m in VARIANTS.items() for r in m.rules]

# In repaired, with three groups and two cells, a preemptor that takes a Reserved cell takes a
# Reserving one of the same group too (its Used cells would need a fourth group), and e3 cancels it.
NEEDS_A_THIRD_CELL = {("repaired", "e6 cancels the preemptor")}


@pytest.mark.parametrize(("variant", "rule"), thinned(RULES, 18))
def test_a_rule_left_out_is_noticed(variant: str, rule: str) -> None:
    model = VARIANTS[variant]
    scope = THREE if (variant, rule) in NEEDS_A_THIRD_CELL else THREE_TWO
    assert noticed(System(without(model, rule), scope), model)


GUARDS = [(v, a.name, i) for v, m in VARIANTS.items() for a in m.actions for i in range(len(a.when))]


@pytest.mark.parametrize(("variant", "action", "part"), thinned(GUARDS, 6))
def test_a_part_of_a_guard_left_out_is_noticed(variant: str, action: str, part: int) -> None:
    model = VARIANTS[variant]
    guard = model.action(action)
    weaker = replace(guard, when=[c for i, c in enumerate(guard.when) if i != part])
    # rules hang on the action itself, so they must follow it
    moved = tuple(replace(r, on=weaker) for r in model.rules if r.on is guard)
    assert noticed(System(without(model, adds=(weaker, *moved)), THREE_TWO), model)


UPDATES = [
    (v, r.name, name) for v, m in VARIANTS.items() for r in m.rows for name, _ in r.sets if r.sort.name == "Cell"
]


@pytest.mark.parametrize(("variant", "row", "attribute"), thinned(UPDATES, 6))
def test_an_update_left_out_is_noticed(variant: str, row: str, attribute: str) -> None:
    model = VARIANTS[variant]
    old = next(r for r in model.rows if r.name == row)
    kept = {name: term for name, term in old.sets if name != attribute}
    faulty = without(model, adds=(Row(old.sort, old.event, old.source, old.target, **kept),))
    assert refused(faulty) or noticed(System(faulty, THREE_TWO), model)


def refused(model: Model) -> bool:
    """Whether the language refuses it: a recovery row that keeps what a crash loses."""
    try:
        checked(model)
    except ModelError:
        return True
    return False


def test_rules_that_run_before_all_is_decided_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The agenda in the wrong order: "all the other cells" is asked before the overwritten ones are known."""
    ranked = Trigger.__init__

    def reversed_rank(self: Trigger, *arguments: object, **fields: object) -> None:
        ranked(self, *arguments, **{**fields, "rank": -int(str(fields["rank"]))})  # type: ignore[arg-type]

    monkeypatch.setattr(Trigger, "__init__", reversed_rank)
    assert noticed(System(AS_WRITTEN, THREE_TWO), AS_WRITTEN)


def test_rules_that_read_the_changed_state_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    system = System(AS_WRITTEN, THREE_TWO)

    def now(self: object) -> Moment:
        return Moment(system._codec.pack(system._objects), dict(self.parameters), self.fired)  # type: ignore[attr-defined]

    monkeypatch.setattr(cascade_module._Cascade, "moment", now)
    assert noticed(system, AS_WRITTEN)


def test_callbacks_that_post_nothing_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cascade_module, "_post", lambda trigger, data: None)
    assert noticed(System(AS_WRITTEN, THREE_TWO), AS_WRITTEN)


# Threads


def pause_in_the_middle(monkeypatch: pytest.MonkeyPatch, until: Event) -> Event:
    """The thread named "first" stops once before its first event: after its guard was read.

    Returns the event that says that it has stopped there. It goes on when ``until`` is set, or
    after a moment: if the other thread is made to wait for it, nobody can set that.
    """
    stopped = Event()
    original = ObjectMachine.trigger_event

    def pausing(self: ObjectMachine, *arguments: object) -> None:
        if current_thread().name == "first" and not stopped.is_set():
            stopped.set()
            until.wait(0.3)
        original(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(ObjectMachine, "trigger_event", pausing)
    return stopped


def two_preemptors_of_one_group(
    monkeypatch: pytest.MonkeyPatch, *, thread_safe: bool
) -> tuple[System, dict[str, Exception]]:
    """g1 and g2 preempt different cells of g0, the second while the first is in its cascade."""
    system = System(AS_WRITTEN, THREE_TWO, thread_safe=thread_safe)
    system.do("allocate", p="g0", K={"c0", "c1"})
    second_is_done = Event()
    stopped = pause_in_the_middle(monkeypatch, second_is_done)
    problems: dict[str, Exception] = {}

    def run(name: str, work: Callable[[], object]) -> None:
        try:
            work()
        except Exception as problem:
            problems[name] = problem

    def second() -> None:
        assert stopped.wait(5)
        system.do("preempt", p="g2", K={"c1"})
        second_is_done.set()

    threads = [
        Thread(name="first", target=run, args=("first", lambda: system.do("preempt", p="g1", K={"c0"}))),
        Thread(name="second", target=run, args=("second", second)),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
        assert not thread.is_alive()
    return system, problems


BOTH = {
    "c0": {"state": "Reserving", "user": "g0", "reserver": "g1"},
    "c1": {"state": "Reserving", "user": "g0", "reserver": "g2"},
}


def test_actions_of_several_threads_happen_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """In both orders both preemptions succeed, so they must here."""
    system, problems = two_preemptors_of_one_group(monkeypatch, thread_safe=True)
    assert problems == {}
    assert system.describe()["Cell"] == BOTH
    machines = [system._actions, *(objects[0]._machine for objects in system._objects.values())]
    assert all(isinstance(machine, LockedMachine) for machine in machines)


def test_without_the_lock_the_same_threads_go_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first has read that g0 is Allocated, and sends it e6 a second time: the test above can fail."""
    system, problems = two_preemptors_of_one_group(monkeypatch, thread_safe=False)
    assert isinstance(problems.get("first"), IllegalEvent)
    assert system.describe()["Cell"] != BOTH


@pytest.mark.parametrize("thread_safe", [True, False])
def test_a_reader_never_sees_half_a_cascade(monkeypatch: pytest.MonkeyPatch, thread_safe: bool) -> None:
    """The writer rests after its first event while another thread reads; without the lock it sees the middle."""
    system = System(AS_WRITTEN, THREE_TWO, thread_safe=thread_safe)
    before = system.snapshot()
    halfway, seen = Event(), Event()
    original = ObjectMachine.trigger_event

    def resting(self: ObjectMachine, *arguments: object) -> None:
        original(self, *arguments)  # type: ignore[arg-type]
        if not halfway.is_set():
            halfway.set()
            seen.wait(0.3)

    monkeypatch.setattr(ObjectMachine, "trigger_event", resting)
    writer = Thread(target=system.do, args=("allocate",), kwargs={"p": "g0", "K": {"c0", "c1"}})
    writer.start()
    assert halfway.wait(5)
    observed = system.snapshot()
    seen.set()
    writer.join(10)
    after = system.snapshot()
    assert before != after
    assert (observed == after) is thread_safe
    assert observed != before


def test_many_threads_never_leave_the_reachable_states() -> None:
    """Eight threads try random actions; whatever they catch each other in, only guards refuse."""
    states = {tuple(map(repr, changing(i, s).items())) for s, i in reachable(AS_WRITTEN, THREE_TWO).items()}
    system = System(AS_WRITTEN, THREE_TWO, thread_safe=True)
    start = system.snapshot()
    strange: list[object] = []
    done: list[str] = []
    together = Barrier(8)

    def work(seed: int) -> None:
        chance = random.Random(seed)
        together.wait()
        for _ in range(150):
            if chance.random() < 0.05:
                system.restore(start)  # else all groups end up Allocated or Deleted
            action = chance.choice([*AS_WRITTEN.actions, AS_WRITTEN.action("preempt")])
            parameters: dict[str, object] = {}
            for v in action.parameters:
                some = frozenset(cell for cell in ("c0", "c1") if chance.random() < 0.6)
                parameters[v.name] = {"p": f"g{chance.randrange(3)}", "K": some, "c": f"c{chance.randrange(2)}"}[v.name]
            if action.crash and chance.random() < 0.9:
                continue
            try:
                system.do(action.name, **parameters)
                done.append(action.name)
            except GuardFailed:
                pass
            except Exception as problem:
                strange.append(problem)
            if (seen := tuple(map(repr, system.describe().items()))) not in states:
                strange.append(seen)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [Thread(target=work, args=(seed,)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    finally:
        sys.setswitchinterval(interval)
    assert strange == []
    # Which actions come about is a matter of who comes when; most of the nine do.
    assert len(set(done)) >= 5 and len(done) > 100, "the threads have hardly done anything"
