"""Jobmon's simulated world: one value that can be kept and restored; the properties hold in all states that few bad things lead to."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from dataclasses import FrozenInstanceError, replace

import pytest

from schedproof.impl.systems.jobmon.client import Resume
from schedproof.impl.systems.jobmon.cluster import Ending
from schedproof.impl.systems.jobmon.distributor import Act as DistributorAct
from schedproof.impl.systems.jobmon.distributor import DistributorMemory, Todo
from schedproof.impl.systems.jobmon.records import InstanceState, Records, RunState, TaskState, WorkflowState
from schedproof.impl.systems.jobmon.requests import READS, Request, TaskSpec
from schedproof.impl.systems.jobmon.world import Act, ClientSpec, Kind, Sides, World
from schedproof.model.lang import Invariant
from schedproof.model.systems.jobmon import REPAIRED
from tests.support.rows import each_row
from tests.support.sample import thinned
from tests.systems.jobmon.agents.properties import PROPERTIES, broken
from tests.systems.jobmon.agents.scenarios import Scenario, workflow
from tests.systems.jobmon.agents.seeded import BUGS
from tests.systems.jobmon.agents.walks import BAD, Broken, explore, small

TWO = workflow(TaskSpec("a", "x", max_attempts=3), TaskSpec("b", "x", upstream=("a",), max_attempts=3))


def busy_world(sides: Sides | None = None) -> World:
    """Two clients that want the same workflow, and two distributors; the server is started again now and then."""
    clients = {"c1": ClientSpec(TWO), "c2": ClientSpec(TWO, resume=Resume.HOT, resume_later=Resume.HOT)}
    return World(clients, 2, sides or Sides(), server_restarts=True)


def walk(world: World, rng: random.Random, steps: int, *, bad: float = 0.03) -> list[Act]:
    """Random acts, of which few are bad."""
    done = []
    for _ in range(steps):
        acts = world.acts()
        good = [a for a in acts if a.kind not in BAD | {Kind.STOP} or (a.kind is Kind.RESTART and rng.random() < 0.2)]
        good = [a for a in good if a.kind not in (Kind.HEARTBEAT, Kind.COMMAND_ENDS) or rng.random() < 0.1]
        others = [a for a in acts if a.kind in BAD]
        if others and (not good or rng.random() < bad):
            kind = rng.choice(sorted({a.kind for a in others}))  # many may die, but few leases are there to run out
            good = [a for a in others if a.kind is kind]
        act = rng.choice(good or acts)
        world.do(act)
        done.append(act)
        assert broken(world) is None, (broken(world), done)
    return done


class TestOneValue:
    def test_the_same_acts_lead_to_the_same_state(self) -> None:
        one, other = busy_world(), busy_world()
        acts = walk(one, random.Random(1), 1000)
        for act in acts:
            other.do(act)
        assert other.state() == one.state()
        assert hash(other.state()) == hash(one.state())
        assert len(set(one.state().records.instances)) > 0

    def test_a_state_can_be_gone_back_to(self) -> None:
        """Each act gives the same from a state that was restored, in this world or in another one."""
        world, fork = busy_world(), busy_world()
        rng = random.Random(2)
        seen = []
        for _ in range(300):
            before = world.state()
            (act,) = walk(world, rng, 1)
            seen.append((before, act, world.state()))
        rng.shuffle(seen)
        for before, act, after in seen:
            for each in (world, fork):
                each.restore(before)
                assert each.state() == before
                each.do(act)
                assert each.state() == after, act

    def test_acts_are_those_of_the_state(self) -> None:
        world, fork = busy_world(), busy_world()
        walk(world, random.Random(3), 200)
        fork.restore(world.state())
        assert fork.acts() == world.acts()

    def test_an_act_is_one_request_at_most(self) -> None:
        """An act that the observer does not see changes nothing in the database, unless leases run out."""
        seen: list[Request] = []
        world = World(busy_world().clients, 2, observer=lambda request, report: seen.append(request))
        rng = random.Random(5)
        for _ in range(1500):
            before = world.state().records
            seen.clear()
            (act,) = walk(world, rng, 1)
            assert len(seen) <= 1
            lapses = act.kind in (Kind.INSTANCE_LAPSES, Kind.RUN_LAPSES)
            if not lapses and (not seen or isinstance(seen[0], READS)):
                assert world.state().records == before

    def test_nothing_in_it_can_be_changed(self) -> None:
        world = busy_world()
        walk(world, random.Random(4), 200)
        state = world.state()
        assert copy.deepcopy(state) == state
        parts = [*state.records.instances, *state.jobs, *(slot for _, slot in state.agents)]
        for part in (state, state.records, *parts):
            with pytest.raises(FrozenInstanceError):
                part.life = 0  # type: ignore[union-attr]


def at_work() -> World:
    """The command of the second attempt acts."""
    scenario = Scenario.of(distributors=2)
    scenario.endings = lambda instance: Ending.ERROR if instance == 1 else None
    scenario.bring_to("R R R ER")
    scenario.step_until("job 1", lambda: bool(scenario.world.acting()))
    assert broken(scenario.world) is None
    return scenario.world


def changed(records: Records, kind: str, number: int, **columns: object) -> Records:
    objects = getattr(records, kind)
    new = (*objects[: number - 1], replace(objects[number - 1], **columns), *objects[number:])
    return replace(records, **{kind: new})  # type: ignore[arg-type]


def more_runs(records: Records, status: RunState) -> Records:
    return replace(records, runs=(*records.runs, replace(records.runs[0], id=2, token="x", status=status)))


WRONG: dict[str, Callable[[Records], Records]] = {
    # a property: how records are changed so that it is broken; others may be, too
    "done-iff-an-instance-is-done": lambda r: changed(r, "tasks", 1, status=TaskState.DONE),
    "task-is-the-image-of-its-instance": lambda r: changed(r, "tasks", 1, status=TaskState.LAUNCHED),
    "attempts-within-the-maximum": lambda r: changed(r, "tasks", 1, num_attempts=3),
    "one-live-run": lambda r: more_runs(r, RunState.LINKING),
    "workflow-is-the-image-of-its-run": lambda r: changed(r, "workflows", 1, status=WorkflowState.LAUNCHED),
    "done-workflows-have-done-tasks": lambda r: changed(r, "workflows", 1, status=WorkflowState.DONE),
    "instances-have-a-task": lambda r: changed(r, "instances", 1, workflow_id=2),
    "latest-instances-are-there": lambda r: replace(r, instances=()),
    "jobs-have-an-instance": lambda r: replace(r, instances=r.instances[:1]),
    "waiting-tasks-have-attempts-left": lambda r: changed(r, "tasks", 1, status=TaskState.REGISTERING),
    "runs-are-their-clients": lambda r: changed(r, "runs", 1, token="x"),
    "live-jobs-are-running-or-triaged": lambda r: changed(r, "instances", 2, status=InstanceState.LAUNCHED),
    "open-instances-are-the-latest": lambda r: changed(r, "instances", 1, status=InstanceState.TRIAGING),
    "what-is-fenced-is-triaged": lambda r: changed(r, "instances", 2, fenced=True),
    "queued-by-a-run-that-runs": lambda r: changed(
        changed(r, "instances", 1, status=InstanceState.QUEUED), "runs", 1, status=RunState.BOUND
    ),
    "one-run-on-its-way": lambda r: more_runs(r, RunState.REGISTERED),
    "workflows-rest-without-a-run": lambda r: changed(r, "runs", 1, status=RunState.ERROR),
    "registered-runs-can-be-linked": lambda r: changed(
        more_runs(r, RunState.REGISTERED), "workflows", 1, status=WorkflowState.DONE
    ),
}
HELD = {"distributors-have-what-was-queued": ("d1",), "claimed-by-one": ("d1", "d2")}
"""Broken by what distributors remember."""


BY_CONSTRUCTION = {"the-dead-hold-nothing"}
"""The memory of a dead agent is None: see ``Slot``."""

OF_CONFIGURATIONS = {"what-is-punctual-is-never-late", "resources-within-the-ceiling"}
"""They are about switches that a configuration of the model has, and the world has not."""


class TestProperties:
    def test_all_that_is_required_of_states_is_asked(self) -> None:
        required = {prop.name for prop in REPAIRED.properties if isinstance(prop, Invariant)}
        assert {*PROPERTIES, *BY_CONSTRUCTION, *OF_CONFIGURATIONS} == required
        assert {*WRONG, *HELD, "one-live-instance"} == set(PROPERTIES)

    @each_row("name", WRONG)
    def test_wrong_records_break_it(self, name: str) -> None:
        world = at_work()
        records = WRONG[name](world.store.snapshot())
        assert not PROPERTIES[name](world, records)

    @pytest.mark.parametrize("name", HELD)
    def test_what_distributors_remember_breaks_it(self, name: str) -> None:
        world = at_work()
        for who in HELD[name]:
            held = DistributorMemory(todo=(Todo(DistributorAct.SUBMIT, 2),))
            world.slots[who] = replace(world.slots[who], memory=held)
        status = InstanceState.QUEUED if len(HELD[name]) == 1 else InstanceState.INSTANTIATED
        assert not PROPERTIES[name](world, changed(world.store.snapshot(), "instances", 2, status=status))

    def test_two_commands_of_one_task_break_it(self) -> None:
        world = at_work()
        world.cluster.jobs = tuple(replace(job, acts=True) for job in world.cluster.jobs)
        assert "one-live-instance" in (broken(world) or "")

    @pytest.mark.long
    def test_one_bad_thing_at_any_moment(self) -> None:
        assert 3000 < explore(small(), bad=1, most=20_000) < 20_000

    @pytest.mark.long(one_in=18)
    def test_two_bad_things_at_any_moments(self) -> None:
        assert 40_000 < explore(small(), bad=2, most=500_000) < 500_000

    @pytest.mark.parametrize("bug", thinned(BUGS, 3, first=2))
    def test_bugs_are_found(self, bug: str) -> None:
        with pytest.raises(Broken):
            explore(small(BUGS[bug]), bad=1, most=20_000)

    @pytest.mark.parametrize("seed", thinned(range(8), 8))
    def test_walks_come_to_rest(self, seed: int) -> None:
        """Whatever happened: with the reaper and a distributor alive, all that was begun ends."""
        scenario = Scenario(busy_world())
        rng = random.Random(seed)
        walk(scenario.world, rng, 1500)
        for name, slot in list(scenario.world.slots.items()):
            if slot.memory is None:
                if name in ("d1", "reaper"):
                    scenario.do(Kind.RESTART, name)
            elif name in ("c1", "c2"):
                scenario.do(Kind.CRASH, name) if scenario.can(Kind.CRASH, name) else None
        scenario.rest()
        workflows, _, tasks, instances = scenario.states().split()
        runs = scenario.world.store.snapshot().runs
        assert workflows in "DFHA" or not runs, scenario.states()
        assert all(run.status in "DEATS" for run in runs)
        assert set(tasks) <= set("DFGA")
        assert set(instances) <= set("DEZUWF-")
        assert len(instances) > 1 or len(runs) > 1
        assert not scenario.world.acting()

    @pytest.mark.long
    def test_walks_do_all_there_is(self) -> None:
        """Else what is said of them means little."""
        done: set[Kind] = set()
        instances: set[str] = set()
        for seed in range(12):
            world = busy_world()
            done |= {act.kind for act in walk(world, random.Random(seed), 1500)}
            instances |= {i.status for i in world.store.snapshot().instances}
        assert done == set(Kind) - {Kind.STOP}
        assert instances >= set("DEZUWF")
