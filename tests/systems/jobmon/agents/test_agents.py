"""Scenarios of Jobmon's agents: what they do together, and what becomes of it when one of them dies or is late."""

from __future__ import annotations

from dataclasses import replace

import pytest

from schedproof.impl.systems.jobmon.client import Resume
from schedproof.impl.systems.jobmon.cluster import Ending
from schedproof.impl.systems.jobmon.distributor import Act as Does
from schedproof.impl.systems.jobmon.distributor import DistributorMemory
from schedproof.impl.systems.jobmon.errors import SubmitFailed
from schedproof.impl.systems.jobmon.records import Resources
from schedproof.impl.systems.jobmon.requests import TaskSpec
from schedproof.impl.systems.jobmon.resources import Queue, Scaling, Series
from schedproof.impl.systems.jobmon.simulated_cluster import SimulatedCluster
from schedproof.impl.systems.jobmon.world import Act, ClientSpec, Kind
from tests.support.rows import each_row
from tests.support.sample import thinned
from tests.systems.jobmon.agents.scenarios import Scenario, goes_on

TWO = (TaskSpec("a", "x", max_attempts=2), TaskSpec("b", "x", upstream=("a",), max_attempts=2))


def resuming(scenario: Scenario, client: str, resume: Resume) -> None:
    clients = scenario.world.clients
    assert isinstance(clients, dict)
    clients[client] = replace(clients[client], resume=resume)


def doomed_while_it_acts() -> Scenario:
    """The command of the first client's run acts, and the second has asked for a cold resume."""
    scenario = Scenario.of(clients=2)
    resuming(scenario, "c2", Resume.COLD)
    scenario.endings = goes_on
    scenario.bring_to("R R R R", "c1", "d1")
    scenario.step_until("job 0", lambda: bool(scenario.world.acting()))
    scenario.step_until("c2", lambda: scenario.states() == "R C R R")
    return scenario


def only(scenario: Scenario, *clients: str) -> None:
    """The other clients do not come."""
    for name in scenario.world.clients:
        if name not in clients:
            scenario.do(Kind.CRASH, name)


class TestWithoutDeaths:
    def test_tasks_run_one_after_the_other(self) -> None:
        scenario = Scenario.of(*TWO)
        scenario.rest()
        assert scenario.states() == "D D DD DD"
        assert scenario.over("c1") == "done"
        audits = scenario.world.store.snapshot().audits
        assert ["".join(a.new_status for a in audits if a.task_id == task) for task in (1, 2)] == ["GQIORD"] * 2
        assert scenario.ever_acted() == [1, 2]

    def test_an_error_is_tried_again(self) -> None:
        scenario = Scenario.of()
        scenario.endings = lambda instance: Ending.ERROR if instance == 1 else Ending.DONE
        scenario.rest()
        assert scenario.states() == "D D D ED"

    def test_attempts_are_used_up(self) -> None:
        scenario = Scenario.of(*TWO)
        scenario.endings = lambda instance: Ending.ERROR
        scenario.rest()
        assert scenario.states() == "F E FG EE"
        assert scenario.over("c1") == "failed"

    def test_what_can_run_does_before_the_run_fails(self) -> None:
        scenario = Scenario.of(
            TaskSpec("a", "x", max_attempts=1), TaskSpec("b", "x"), TaskSpec("c", "x", upstream=("b",))
        )
        scenario.endings = lambda instance: Ending.ERROR if instance == 1 else Ending.DONE
        scenario.rest()
        assert scenario.states() == "F E FDD EDD"

    def test_resources_grow(self) -> None:
        task = TaskSpec("a", "x", resources=(("cores", 2), ("memory", 40)), max_attempts=4)
        scenario = Scenario.of(task)
        scenario.endings = lambda instance: Ending.DONE if instance == 4 else Ending.RESOURCE_ERROR
        scenario.rest()
        assert scenario.states() == "D D D ZZZD"
        assert [dict(i.resources)["memory"] for i in scenario.world.store.snapshot().instances] == [40, 60, 90, 135]
        assert {dict(i.resources)["cores"] for i in scenario.world.store.snapshot().instances} == {2}

    def test_resources_grow_as_the_user_says_other_queues_are_tried(self) -> None:
        task = TaskSpec("a", "x", resources=(("memory", 40),), queue="short", max_attempts=4)
        queues = (Queue("short", (("memory", 50),)), Queue("long", (("memory", 70),)))
        scenario = Scenario.of(task, scaling={"a": Scaling({"memory": Series([45, 60, 100])}, queues)})
        scenario.endings = lambda instance: Ending.DONE if instance == 4 else Ending.RESOURCE_ERROR
        scenario.rest()
        asked = [(dict(i.resources)["memory"], i.queue) for i in scenario.world.store.snapshot().instances]
        assert asked == [(40, "short"), (45, "short"), (60, "long"), (70, "long")]

    def test_resources_grow_on_where_another_client_left_them(self) -> None:
        task = TaskSpec("a", "x", resources=(("memory", 40),), max_attempts=4)
        growing = Scaling({"memory": Series([45, 60, 100])})
        scenario = Scenario.of(task, clients=2, scaling={"a": growing})
        resuming(scenario, "c2", Resume.COLD)
        scenario.endings = lambda instance: Ending.DONE if instance == 4 else Ending.RESOURCE_ERROR
        scenario.bring_to("R R A ZZ", "c1", "d1")
        scenario.do(Kind.CRASH, "c1")
        growing.scales["memory"] = Series([45, 60, 100])  # type: ignore[index]
        scenario.rest()
        assert scenario.states() == "D TD D ZZZD"
        assert [dict(i.resources)["memory"] for i in scenario.world.store.snapshot().instances] == [40, 45, 60, 100]

    def test_resources_that_would_shrink_are_not_asked_for(self) -> None:
        task = TaskSpec("a", "x", resources=(("memory", 40),))
        scenario = Scenario.of(task, scaling={"a": Scaling({"memory": -0.5})})
        scenario.endings = lambda instance: Ending.RESOURCE_ERROR
        scenario.rest()
        assert (scenario.over("c1") or "").startswith(
            "the resources of task a cannot be scaled: memory cannot go from 40 to 20"
        )
        assert scenario.states() == "F E A Z"

    def test_resources_stay_after_other_errors(self) -> None:
        scenario = Scenario.of(TaskSpec("a", "x", resources=(("memory", 40),)))
        scenario.endings = lambda instance: Ending.DONE if instance == 2 else Ending.ERROR
        scenario.rest()
        assert [i.resources for i in scenario.world.store.snapshot().instances] == [(("memory", 40),)] * 2

    def test_a_client_that_cannot_go_on_says_so(self) -> None:
        def broken(value: int) -> int:
            raise ZeroDivisionError("no")

        task = TaskSpec("a", "x", resources=(("memory", 40),))
        scenario = Scenario.of(task, TaskSpec("b", "x"), scaling={"a": Scaling({"memory": broken})})
        scenario.endings = lambda instance: Ending.RESOURCE_ERROR if instance == 1 else None
        scenario.rest()
        assert scenario.over("c1") == "the resources of task a cannot be scaled: no"
        assert scenario.states() == "F E AR ZR"

    def test_many_tasks_and_distributors(self) -> None:
        scenario = Scenario.of(*(TaskSpec(f"a{n}", "x") for n in range(6)), distributors=3)
        scenario.rest()
        assert scenario.states() == "D D DDDDDD DDDDDD"

    def test_a_second_client_is_refused(self) -> None:
        scenario = Scenario.of(clients=2)
        scenario.bring_to("R R R R", "c1", "d1")
        scenario.settle("c2")
        assert (scenario.over("c2") or "").startswith("run 1 has workflow w (running); give --resume hot ")

    def test_the_user_stops(self) -> None:
        scenario = Scenario.of(*TWO)
        scenario.endings = goes_on
        scenario.bring_to("R R RG R")
        scenario.do(Kind.STOP, "c1")
        scenario.settle()
        assert (scenario.states(), scenario.over("c1")) == ("F S RG R", "stopped")
        scenario.endings = lambda instance: Ending.DONE
        scenario.rest()
        assert scenario.states() == "F S DG D"  # what ran went on

    def test_a_job_that_cannot_be_submitted(self, monkeypatch: pytest.MonkeyPatch) -> None:
        real, failures = SimulatedCluster.submit, [1]

        def submit(self: SimulatedCluster, instance: int, resources: Resources, queue: str) -> str:
            if failures:
                failures.pop()
                raise SubmitFailed("no")
            return real(self, instance, resources, queue)

        monkeypatch.setattr(SimulatedCluster, "submit", submit)
        scenario = Scenario.of()
        scenario.rest()
        assert scenario.states() == "D D D WD"


class TestResume:
    @pytest.mark.parametrize("dead", [True, False])
    def test_cold(self, dead: bool) -> None:
        """The command of the old run is ended before there is a new run."""
        scenario = Scenario.of(*TWO, clients=2)
        resuming(scenario, "c2", Resume.COLD)
        scenario.endings = goes_on
        scenario.bring_to("R R RG R", "c1", "d1")
        scenario.settle("c1", "d1")
        assert scenario.world.acting() == [(1, 1)]
        if dead:
            scenario.do(Kind.CRASH, "c1")
        scenario.settle()
        assert scenario.states() == "R C RG R"
        scenario.do(Kind.HEARTBEAT, "job 0")
        scenario.step("job 0")
        scenario.endings = lambda instance: Ending.DONE
        scenario.rest()
        assert scenario.states() == "D TD DD FDD"
        if not dead:
            assert scenario.over("c1") == "made room"

    @pytest.mark.parametrize("dead", [True, False])
    def test_hot(self, dead: bool) -> None:
        """What is running goes on; what has not started is ended."""
        scenario = Scenario.of(TaskSpec("a", "x"), TaskSpec("b", "x"), clients=2)
        resuming(scenario, "c2", Resume.HOT)
        scenario.endings = goes_on
        scenario.bring_to("R R RQ RQ", "c1", "d1")
        if dead:
            scenario.do(Kind.CRASH, "c1")
        scenario.settle("c1", "c2")
        while scenario.can(Kind.STEP, "c1") and scenario.over("c1") is None:
            scenario.settle("c1", "c2")
        assert scenario.states() == ("R H RG RF" if dead else "R TR RQ RFQ")
        scenario.rest()
        assert scenario.states() == "R TR RR RFR"
        assert scenario.world.acting() == [(1, 1), (2, 3)]
        scenario.endings = lambda instance: Ending.DONE
        scenario.rest()
        assert scenario.states() == "D TD DD DFD"

    def test_what_has_ended_before_it_was_doomed_is_done(self) -> None:
        """And is not run once more by the next client."""
        scenario = Scenario.of(clients=2)
        resuming(scenario, "c2", Resume.COLD)
        scenario.endings = goes_on
        scenario.bring_to("R R R R", "c1", "d1")
        while not scenario.world.acting():
            scenario.step("job 0")
        scenario.do(Kind.COMMAND_ENDS, "job 0", ending=Ending.DONE)
        scenario.step("job 0")
        while scenario.states() != "R C R R":
            scenario.step("c2")
        scenario.rest()
        assert scenario.states() == "D TD D D"
        assert scenario.ever_acted() == [1]

    def test_a_triaged_worker_that_killed_its_command_says_so_again(self) -> None:
        scenario = doomed_while_it_acts()
        scenario.do(Kind.HEARTBEAT, "job 0")
        scenario.step("job 0")
        assert scenario.world.acting() == []
        scenario.do(Kind.INSTANCE_LAPSES, "instance 1")
        for _ in range(2):
            scenario.step("reaper")
        assert scenario.states() == "R C R T"
        steps = []
        while scenario.can(Kind.STEP, "job 0"):
            steps.append(scenario.step("job 0"))
            if steps[-1] is None:
                scenario.step("d1")
            assert len(steps) < 20
        described = [step for step in steps if step is not None]
        assert described == ["say that it is killed", "renew before a report", "say that it is killed"]
        assert None in steps  # it waits until it is handed back
        assert scenario.states() == "R C G F"

    def test_who_makes_room_does_not_stop(self) -> None:
        scenario = Scenario.of(clients=2)
        resuming(scenario, "c2", Resume.HOT)
        scenario.endings = goes_on
        scenario.bring_to("R R Q Q", "c1")
        while scenario.states() != "R H G F":
            scenario.step("c2")
        scenario.do(Kind.HEARTBEAT, "c1")
        scenario.do(Kind.STOP, "c1")
        scenario.step("c1")
        assert (scenario.over("c1"), scenario.states()) == ("made room", "H T G F")

    @each_row("resume", [Resume.COLD, Resume.HOT])
    @each_row("state", ["I", "O", "T", "X"])
    def test_after_a_death_that_was_noticed(self, state: str, resume: Resume) -> None:
        """The reaper ended the run; what it left is ended by its owner, or lapses."""
        scenario = Scenario.of(clients=2)
        resuming(scenario, "c2", resume)
        scenario.endings = goes_on
        scenario.bring_to(
            f"R R {'R' if state == 'T' else 'O' if state == 'X' else state} {'R' if state == 'T' else 'O' if state == 'X' else state}",
            "c1",
            "d1",
        )
        if state in "TX":
            scenario.do(Kind.INSTANCE_LAPSES, "instance 1")
            scenario.do(Kind.STEP, "reaper")
            scenario.do(Kind.STEP, "reaper")
        scenario.do(Kind.CRASH, "c1")
        scenario.do(Kind.RUN_LAPSES, "run 1")
        scenario.settle("reaper")
        assert scenario.states().startswith("F E ")
        scenario.endings = lambda instance: Ending.DONE
        scenario.rest()
        assert scenario.over("c2") == "done"
        assert scenario.states().startswith("D ED D ")

    def test_not_of_a_workflow_that_is_done(self) -> None:
        scenario = Scenario.of(clients=2)
        only(scenario, "c1")
        scenario.rest()
        scenario.do(Kind.RESTART, "c2")
        scenario.rest()
        assert (scenario.over("c2"), scenario.states()) == ("done", "D D D D")

    def test_a_client_that_was_given_up_is_fenced(self) -> None:
        scenario = Scenario.of(*TWO)
        scenario.endings = goes_on
        scenario.bring_to("R R RG R")
        scenario.do(Kind.RUN_LAPSES, "run 1")
        scenario.settle("reaper")
        scenario.endings = lambda instance: Ending.DONE
        scenario.rest()
        assert (scenario.over("c1"), scenario.states()) == ("failed", "F E DG D")


class TestDistributorDies:
    def scenario(self) -> Scenario:
        scenario = Scenario.of(distributors=2)
        scenario.do(Kind.CRASH, "d2")
        while scenario.states() != "R R Q Q":
            scenario.step("c1")
        return scenario

    def until(self, scenario: Scenario, act: Does) -> None:
        """The next thing that d1 would do."""
        for _ in range(20):
            memory = scenario.world.slots["d1"].memory
            assert isinstance(memory, DistributorMemory)
            if memory.todo[0].act is act:
                return
            scenario.step("d1")
        raise AssertionError(act)

    @pytest.mark.parametrize(
        ("before", "instances"), [(Does.SUBMIT, "WD"), (Does.LAUNCH, "WD"), (Does.FIND, "ED")], ids=str
    )
    def test_between_claim_submit_and_launch(self, before: Does, instances: str) -> None:
        """Nobody knows whether there is a job; if there is, it never starts."""
        scenario = self.scenario()
        self.until(scenario, Does.CLAIM)
        scenario.step("d1")
        self.until(scenario, before)
        scenario.do(Kind.CRASH, "d1")
        scenario.do(Kind.RESTART, "d2")
        assert len(scenario.world.cluster.jobs) == (0 if before is Does.SUBMIT else 1)
        assert scenario.time_passes()
        scenario.rest()
        assert scenario.states() == f"D D D {instances}"
        assert scenario.ever_acted() == [2]

    def test_a_late_one_removes_what_it_submitted(self) -> None:
        scenario = self.scenario()
        self.until(scenario, Does.LAUNCH)
        scenario.do(Kind.INSTANCE_LAPSES, "instance 1")
        scenario.do(Kind.STEP, "reaper")
        scenario.do(Kind.STEP, "reaper")
        assert scenario.states() == "R R G W"
        self.until(scenario, Does.CHECK_JOB)
        assert scenario.world.cluster.jobs[0].killed
        scenario.rest()
        assert scenario.states() == "D D D WD"
        assert scenario.ever_acted() == [2]

    def test_another_one_triages(self) -> None:
        scenario = self.scenario()
        scenario.endings = goes_on
        scenario.bring_to("R R R R")
        scenario.do(Kind.CRASH, "d1")
        scenario.do(Kind.CRASH, "job 0")
        scenario.do(Kind.RESTART, "d2")
        scenario.endings = lambda instance: Ending.DONE
        scenario.rest()
        assert scenario.states() == "D D D UD"

    def test_a_job_that_vanished_is_not_renewed(self) -> None:
        scenario = self.scenario()
        self.until(scenario, Does.SUBMIT)
        scenario.step("d1")
        scenario.step("d1")
        assert scenario.states() == "R R O O"
        scenario.do(Kind.HEARTBEAT, "d1")
        assert scenario.world.slots["d1"].memory.launched == ((1, "0"),)  # type: ignore[union-attr]
        scenario.do(Kind.COMES_UP, "job 0")
        scenario.do(Kind.CRASH, "job 0")
        scenario.rest()
        assert scenario.states() == "D D D ED"


class TestKilledCommand:
    def test_that_had_ended_before_is_reported(self) -> None:
        scenario = doomed_while_it_acts()
        scenario.do(Kind.HEARTBEAT, "job 0")
        scenario.do(Kind.COMMAND_ENDS, "job 0", ending=Ending.DONE)
        scenario.rest()
        assert scenario.states() == "D TD D D"
        assert scenario.ever_acted() == [1]


class TestLateWorker:
    def running(self) -> Scenario:
        scenario = Scenario.of()
        scenario.endings = goes_on
        scenario.bring_to("R R R R")
        scenario.settle("c1", "d1")
        scenario.do(Kind.INSTANCE_LAPSES, "instance 1")
        scenario.do(Kind.STEP, "reaper")
        scenario.do(Kind.STEP, "reaper")
        assert scenario.states() == "R R R T"
        return scenario

    def test_is_ended_before_there_is_another_attempt(self) -> None:
        scenario = self.running()
        for _ in range(3):
            scenario.step("d1")  # finds it, terminates it, looks
        assert scenario.world.cluster.jobs[0].killed
        for _ in range(20):
            scenario.step("d1")
            scenario.step("c1")
        assert scenario.states() == "R R R T"  # it acts still
        scenario.do(Kind.JOB_ENDS, "job 0")
        scenario.endings = lambda instance: Ending.DONE
        scenario.rest()
        assert scenario.states() == "D D D UD"

    def test_is_heard_of_again(self) -> None:
        scenario = self.running()
        scenario.do(Kind.HEARTBEAT, "job 0")
        assert scenario.states() == "R R R T"
        scenario.step("d1")
        scenario.step("d1")
        assert scenario.states() == "R R R R"  # handed back
        scenario.endings = lambda instance: Ending.DONE
        scenario.rest()
        assert scenario.states() == "D D D D"

    def test_is_heard_of_again_while_it_is_terminated(self) -> None:
        scenario = self.running()
        scenario.step("d1")
        scenario.step("d1")
        scenario.do(Kind.HEARTBEAT, "job 0")
        assert scenario.states() == "R R R T"
        scenario.rest()
        assert scenario.states().startswith("R R R UR")

    def test_the_cluster_says_that_it_exceeded_its_resources(self) -> None:
        scenario = self.running()
        scenario.world.cluster.put(0, ending=Ending.RESOURCE_ERROR, acts=False)
        scenario.do(Kind.CRASH, "job 0")
        scenario.endings = lambda instance: Ending.DONE
        scenario.rest()
        assert scenario.states() == "D D D ZD"

    def test_whose_end_was_not_heard(self) -> None:
        """It renews, and says it again."""
        scenario = self.running()
        scenario.do(Kind.COMMAND_ENDS, "job 0", ending=Ending.DONE)
        for _ in range(2):
            scenario.step("job 0")
        assert scenario.states() == "R R R T"
        scenario.rest()
        assert scenario.states() == "D D D D"


def test_a_heartbeat_before_a_lost_answer_is_asked_for_again() -> None:
    """The run is further than its client knows; that is no reason to give up."""
    scenario = Scenario.of()
    for _ in range(3):
        scenario.step("c1")
    assert scenario.states() == "G L G -"
    scenario.do(Kind.LOST, "c1")
    assert scenario.states() == "Q B G -"
    scenario.do(Kind.HEARTBEAT, "c1")
    scenario.rest()
    assert (scenario.states(), scenario.over("c1")) == ("D D D D", "done")


class TestAnyoneDiesAnywhere:
    """After each of the steps that it does when all goes well."""

    def steps(self, who: str) -> int:
        scenario = Scenario.of(*TWO)
        steps: list[Act] = []
        scenario.before_step = steps.append
        scenario.rest()
        return sum(act.who == who for act in steps)

    @pytest.mark.parametrize("who", thinned(["job 0", "c1", "d1", "job 1"], 4))
    def test_and_all_is_done(self, who: str) -> None:
        ended = set()
        for number in range(self.steps(who)):
            scenario = Scenario.of(*TWO)
            count = 0

            def dies(act: Act, scenario: Scenario = scenario, number: int = number) -> None:
                nonlocal count
                if act.who == who:
                    if count == number:
                        scenario.do(Kind.CRASH, who)
                        if not who.startswith("job"):
                            scenario.do(Kind.RESTART, who)
                    count += 1

            scenario.before_step = dies
            scenario.rest()
            ended.add(scenario.states())
            assert scenario.states().split()[0] == "D", (number, scenario.states())
            assert scenario.states().split()[2] == "DD"
        assert len(ended) > 1

    @pytest.mark.parametrize("first", thinned([True, False], 2))
    def test_and_is_not_heard_of_again_but_by_the_reaper(self, first: bool) -> None:
        """Everything comes to rest with the reaper and one distributor, whenever the client dies."""
        for number in range(self.steps("c1")):
            scenario = Scenario.of(*TWO, distributors=2)
            if first:
                scenario.do(Kind.CRASH, "d2")
            count = 0

            def dies(act: Act, scenario: Scenario = scenario, number: int = number) -> None:
                nonlocal count
                if act.who == "c1":
                    if count == number:
                        scenario.do(Kind.CRASH, "c1")
                    count += 1

            scenario.before_step = dies
            scenario.rest()
            workflows, runs, tasks, instances = scenario.states().split()
            assert set(workflows) <= set("DFHA-") or (runs, workflows) in (("-", "G"), ("A", "G")), (
                number,
                scenario.states(),
            )
            assert set(runs) <= set("DEATS-")
            assert set(tasks) <= set("DFGA-")
            assert set(instances) <= set("DEZUWF-")

    def test_no_answer_arrives_the_first_time(self) -> None:
        """Whatever is asked is asked twice, and the end is the same."""
        once, twice = Scenario.of(*TWO), Scenario.of(*TWO)
        twice.deaf = True
        for scenario in (once, twice):
            scenario.endings = lambda instance: Ending.RESOURCE_ERROR if instance == 1 else Ending.DONE
            scenario.rest()
        assert once.states() == twice.states() == "D D DD ZDD"
        assert once.world.store.snapshot() == twice.world.store.snapshot()


def test_clients_of_two_workflows() -> None:
    scenario = Scenario.of(clients=1)
    other = ClientSpec(replace(scenario.world.clients["c1"].workflow, name="v"))
    clients = scenario.world.clients
    assert isinstance(clients, dict)
    clients["c2"] = other
    scenario.world.slots["c2"] = scenario.world.slots["c1"]
    scenario.rest()
    assert scenario.states() == "DD DD DD DD"
