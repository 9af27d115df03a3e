"""Stories of Jobmon's agents: what they do together, and what becomes of it when one of them dies or is late."""

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
from tests.support.sample import thinned
from tests.systems.jobmon.agents.stories import Story, goes_on

TWO = (TaskSpec("a", "x", max_attempts=2), TaskSpec("b", "x", upstream=("a",), max_attempts=2))


def resuming(story: Story, client: str, resume: Resume) -> None:
    clients = story.world.clients
    assert isinstance(clients, dict)
    clients[client] = replace(clients[client], resume=resume)


def doomed_while_it_acts() -> Story:
    """The command of the first client's run acts, and the second has asked for a cold resume."""
    story = Story.of(clients=2)
    resuming(story, "c2", Resume.COLD)
    story.endings = goes_on
    story.bring_to("R R R R", "c1", "d1")
    story.step_until("job 0", lambda: bool(story.world.acting()))
    story.step_until("c2", lambda: story.states() == "R C R R")
    return story


def only(story: Story, *clients: str) -> None:
    """The other clients do not come."""
    for name in story.world.clients:
        if name not in clients:
            story.do(Kind.CRASH, name)


class TestWithoutDeaths:
    def test_tasks_run_one_after_the_other(self) -> None:
        story = Story.of(*TWO)
        story.rest()
        assert story.states() == "D D DD DD"
        assert story.over("c1") == "done"
        audits = story.world.store.snapshot().audits
        assert ["".join(a.new_status for a in audits if a.task_id == task) for task in (1, 2)] == ["GQIORD"] * 2
        assert story.ever_acted() == [1, 2]

    def test_an_error_is_tried_again(self) -> None:
        story = Story.of()
        story.endings = lambda instance: Ending.ERROR if instance == 1 else Ending.DONE
        story.rest()
        assert story.states() == "D D D ED"

    def test_attempts_are_used_up(self) -> None:
        story = Story.of(*TWO)
        story.endings = lambda instance: Ending.ERROR
        story.rest()
        assert story.states() == "F E FG EE"
        assert story.over("c1") == "failed"

    def test_what_can_run_does_before_the_run_fails(self) -> None:
        story = Story.of(TaskSpec("a", "x", max_attempts=1), TaskSpec("b", "x"), TaskSpec("c", "x", upstream=("b",)))
        story.endings = lambda instance: Ending.ERROR if instance == 1 else Ending.DONE
        story.rest()
        assert story.states() == "F E FDD EDD"

    def test_resources_grow(self) -> None:
        task = TaskSpec("a", "x", resources=(("cores", 2), ("memory", 40)), max_attempts=4)
        story = Story.of(task)
        story.endings = lambda instance: Ending.DONE if instance == 4 else Ending.RESOURCE_ERROR
        story.rest()
        assert story.states() == "D D D ZZZD"
        assert [dict(i.resources)["memory"] for i in story.world.store.snapshot().instances] == [40, 60, 90, 135]
        assert {dict(i.resources)["cores"] for i in story.world.store.snapshot().instances} == {2}

    def test_resources_grow_as_the_user_says_other_queues_are_tried(self) -> None:
        task = TaskSpec("a", "x", resources=(("memory", 40),), queue="short", max_attempts=4)
        queues = (Queue("short", (("memory", 50),)), Queue("long", (("memory", 70),)))
        story = Story.of(task, scaling={"a": Scaling({"memory": Series([45, 60, 100])}, queues)})
        story.endings = lambda instance: Ending.DONE if instance == 4 else Ending.RESOURCE_ERROR
        story.rest()
        found = [(dict(i.resources)["memory"], i.queue) for i in story.world.store.snapshot().instances]
        assert found == [(40, "short"), (45, "short"), (60, "long"), (70, "long")]

    def test_resources_grow_on_where_another_client_left_them(self) -> None:
        task = TaskSpec("a", "x", resources=(("memory", 40),), max_attempts=4)
        growing = Scaling({"memory": Series([45, 60, 100])})
        story = Story.of(task, clients=2, scaling={"a": growing})
        resuming(story, "c2", Resume.COLD)
        story.endings = lambda instance: Ending.DONE if instance == 4 else Ending.RESOURCE_ERROR
        story.bring_to("R R A ZZ", "c1", "d1")
        story.do(Kind.CRASH, "c1")
        growing.scales["memory"] = Series([45, 60, 100])  # type: ignore[index]
        story.rest()
        assert story.states() == "D TD D ZZZD"
        assert [dict(i.resources)["memory"] for i in story.world.store.snapshot().instances] == [40, 45, 60, 100]

    def test_resources_that_would_shrink_are_not_asked_for(self) -> None:
        task = TaskSpec("a", "x", resources=(("memory", 40),))
        story = Story.of(task, scaling={"a": Scaling({"memory": -0.5})})
        story.endings = lambda instance: Ending.RESOURCE_ERROR
        story.rest()
        assert (story.over("c1") or "").startswith(
            "the resources of task a cannot be scaled: memory cannot go from 40 to 20"
        )
        assert story.states() == "F E A Z"

    def test_resources_stay_after_other_errors(self) -> None:
        story = Story.of(TaskSpec("a", "x", resources=(("memory", 40),)))
        story.endings = lambda instance: Ending.DONE if instance == 2 else Ending.ERROR
        story.rest()
        assert [i.resources for i in story.world.store.snapshot().instances] == [(("memory", 40),)] * 2

    def test_a_client_that_cannot_go_on_says_so(self) -> None:
        def broken(value: int) -> int:
            raise ZeroDivisionError("no")

        task = TaskSpec("a", "x", resources=(("memory", 40),))
        story = Story.of(task, TaskSpec("b", "x"), scaling={"a": Scaling({"memory": broken})})
        story.endings = lambda instance: Ending.RESOURCE_ERROR if instance == 1 else None
        story.rest()
        assert story.over("c1") == "the resources of task a cannot be scaled: no"
        assert story.states() == "F E AR ZR"

    def test_many_tasks_and_distributors(self) -> None:
        story = Story.of(*(TaskSpec(f"a{n}", "x") for n in range(6)), distributors=3)
        story.rest()
        assert story.states() == "D D DDDDDD DDDDDD"

    def test_a_second_client_is_refused(self) -> None:
        story = Story.of(clients=2)
        story.bring_to("R R R R", "c1", "d1")
        story.settle("c2")
        assert (story.over("c2") or "").startswith("run 1 has workflow w (running); give --resume hot ")

    def test_the_user_stops(self) -> None:
        story = Story.of(*TWO)
        story.endings = goes_on
        story.bring_to("R R RG R")
        story.do(Kind.STOP, "c1")
        story.settle()
        assert (story.states(), story.over("c1")) == ("F S RG R", "stopped")
        story.endings = lambda instance: Ending.DONE
        story.rest()
        assert story.states() == "F S DG D"  # what ran went on

    def test_a_job_that_cannot_be_submitted(self, monkeypatch: pytest.MonkeyPatch) -> None:
        real, failures = SimulatedCluster.submit, [1]

        def submit(self: SimulatedCluster, instance: int, resources: Resources, queue: str) -> str:
            if failures:
                failures.pop()
                raise SubmitFailed("no")
            return real(self, instance, resources, queue)

        monkeypatch.setattr(SimulatedCluster, "submit", submit)
        story = Story.of()
        story.rest()
        assert story.states() == "D D D WD"


class TestResume:
    @pytest.mark.parametrize("dead", [True, False])
    def test_cold(self, dead: bool) -> None:
        """The command of the old run is ended before there is a new run."""
        story = Story.of(*TWO, clients=2)
        resuming(story, "c2", Resume.COLD)
        story.endings = goes_on
        story.bring_to("R R RG R", "c1", "d1")
        story.settle("c1", "d1")
        assert story.world.acting() == [(1, 1)]
        if dead:
            story.do(Kind.CRASH, "c1")
        story.settle()
        assert story.states() == "R C RG R"
        story.do(Kind.HEARTBEAT, "job 0")
        story.step("job 0")
        story.endings = lambda instance: Ending.DONE
        story.rest()
        assert story.states() == "D TD DD FDD"
        if not dead:
            assert story.over("c1") == "made room"

    @pytest.mark.parametrize("dead", [True, False])
    def test_hot(self, dead: bool) -> None:
        """What is running goes on; what has not started is ended."""
        story = Story.of(TaskSpec("a", "x"), TaskSpec("b", "x"), clients=2)
        resuming(story, "c2", Resume.HOT)
        story.endings = goes_on
        story.bring_to("R R RQ RQ", "c1", "d1")
        if dead:
            story.do(Kind.CRASH, "c1")
        story.settle("c1", "c2")
        while story.can(Kind.STEP, "c1") and story.over("c1") is None:
            story.settle("c1", "c2")
        assert story.states() == ("R H RG RF" if dead else "R TR RQ RFQ")
        story.rest()
        assert story.states() == "R TR RR RFR"
        assert story.world.acting() == [(1, 1), (2, 3)]
        story.endings = lambda instance: Ending.DONE
        story.rest()
        assert story.states() == "D TD DD DFD"

    def test_what_has_ended_before_it_was_doomed_is_done(self) -> None:
        """And is not run once more by the next client."""
        story = Story.of(clients=2)
        resuming(story, "c2", Resume.COLD)
        story.endings = goes_on
        story.bring_to("R R R R", "c1", "d1")
        while not story.world.acting():
            story.step("job 0")
        story.do(Kind.COMMAND_ENDS, "job 0", ending=Ending.DONE)
        story.step("job 0")
        while story.states() != "R C R R":
            story.step("c2")
        story.rest()
        assert story.states() == "D TD D D"
        assert story.ever_acted() == [1]

    def test_a_triaged_worker_that_killed_its_command_says_so_again(self) -> None:
        story = doomed_while_it_acts()
        story.do(Kind.HEARTBEAT, "job 0")
        story.step("job 0")
        assert story.world.acting() == []
        story.do(Kind.INSTANCE_LAPSES, "instance 1")
        for _ in range(2):
            story.step("reaper")
        assert story.states() == "R C R T"
        steps = []
        while story.can(Kind.STEP, "job 0"):
            steps.append(story.step("job 0"))
            if steps[-1] is None:
                story.step("d1")
            assert len(steps) < 20
        said = [step for step in steps if step is not None]
        assert said == ["say that it is killed", "renew before a report", "say that it is killed"]
        assert None in steps  # it waits until it is handed back
        assert story.states() == "R C G F"

    def test_who_makes_room_does_not_stop(self) -> None:
        story = Story.of(clients=2)
        resuming(story, "c2", Resume.HOT)
        story.endings = goes_on
        story.bring_to("R R Q Q", "c1")
        while story.states() != "R H G F":
            story.step("c2")
        story.do(Kind.HEARTBEAT, "c1")
        story.do(Kind.STOP, "c1")
        story.step("c1")
        assert (story.over("c1"), story.states()) == ("made room", "H T G F")

    @pytest.mark.parametrize("resume", [Resume.COLD, Resume.HOT])
    @pytest.mark.parametrize("state", ["I", "O", "T", "X"])
    def test_after_a_death_that_was_noticed(self, state: str, resume: Resume) -> None:
        """The reaper ended the run; what it left is ended by whoever owns it, or lapses."""
        story = Story.of(clients=2)
        resuming(story, "c2", resume)
        story.endings = goes_on
        story.bring_to(
            f"R R {'R' if state == 'T' else 'O' if state == 'X' else state} {'R' if state == 'T' else 'O' if state == 'X' else state}",
            "c1",
            "d1",
        )
        if state in "TX":
            story.do(Kind.INSTANCE_LAPSES, "instance 1")
            story.do(Kind.STEP, "reaper")
            story.do(Kind.STEP, "reaper")
        story.do(Kind.CRASH, "c1")
        story.do(Kind.RUN_LAPSES, "run 1")
        story.settle("reaper")
        assert story.states().startswith("F E ")
        story.endings = lambda instance: Ending.DONE
        story.rest()
        assert story.over("c2") == "done"
        assert story.states().startswith("D ED D ")

    def test_not_of_a_workflow_that_is_done(self) -> None:
        story = Story.of(clients=2)
        only(story, "c1")
        story.rest()
        story.do(Kind.RESTART, "c2")
        story.rest()
        assert (story.over("c2"), story.states()) == ("done", "D D D D")

    def test_a_client_that_was_given_up_is_fenced(self) -> None:
        story = Story.of(*TWO)
        story.endings = goes_on
        story.bring_to("R R RG R")
        story.do(Kind.RUN_LAPSES, "run 1")
        story.settle("reaper")
        story.endings = lambda instance: Ending.DONE
        story.rest()
        assert (story.over("c1"), story.states()) == ("failed", "F E DG D")


class TestDistributorDies:
    def story(self) -> Story:
        story = Story.of(distributors=2)
        story.do(Kind.CRASH, "d2")
        while story.states() != "R R Q Q":
            story.step("c1")
        return story

    def until(self, story: Story, act: Does) -> None:
        """The next thing that d1 would do."""
        for _ in range(20):
            memory = story.world.slots["d1"].memory
            assert isinstance(memory, DistributorMemory)
            if memory.todo[0].act is act:
                return
            story.step("d1")
        raise AssertionError(act)

    @pytest.mark.parametrize(
        ("before", "instances"), [(Does.SUBMIT, "WD"), (Does.LAUNCH, "WD"), (Does.FIND, "ED")], ids=str
    )
    def test_between_claim_submit_and_launch(self, before: Does, instances: str) -> None:
        """Nobody knows whether there is a job; if there is, it never starts."""
        story = self.story()
        self.until(story, Does.CLAIM)
        story.step("d1")
        self.until(story, before)
        story.do(Kind.CRASH, "d1")
        story.do(Kind.RESTART, "d2")
        assert len(story.world.cluster.jobs) == (0 if before is Does.SUBMIT else 1)
        assert story.time_passes()
        story.rest()
        assert story.states() == f"D D D {instances}"
        assert story.ever_acted() == [2]

    def test_a_late_one_removes_what_it_submitted(self) -> None:
        story = self.story()
        self.until(story, Does.LAUNCH)
        story.do(Kind.INSTANCE_LAPSES, "instance 1")
        story.do(Kind.STEP, "reaper")
        story.do(Kind.STEP, "reaper")
        assert story.states() == "R R G W"
        self.until(story, Does.CHECK_JOB)
        assert story.world.cluster.jobs[0].killed
        story.rest()
        assert story.states() == "D D D WD"
        assert story.ever_acted() == [2]

    def test_another_one_triages(self) -> None:
        story = self.story()
        story.endings = goes_on
        story.bring_to("R R R R")
        story.do(Kind.CRASH, "d1")
        story.do(Kind.CRASH, "job 0")
        story.do(Kind.RESTART, "d2")
        story.endings = lambda instance: Ending.DONE
        story.rest()
        assert story.states() == "D D D UD"

    def test_a_job_that_vanished_is_not_renewed(self) -> None:
        story = self.story()
        self.until(story, Does.SUBMIT)
        story.step("d1")
        story.step("d1")
        assert story.states() == "R R O O"
        story.do(Kind.HEARTBEAT, "d1")
        assert story.world.slots["d1"].memory.launched == ((1, "0"),)  # type: ignore[union-attr]
        story.do(Kind.COMES_UP, "job 0")
        story.do(Kind.CRASH, "job 0")
        story.rest()
        assert story.states() == "D D D ED"


class TestKilledCommand:
    def test_that_had_ended_before_is_reported(self) -> None:
        story = doomed_while_it_acts()
        story.do(Kind.HEARTBEAT, "job 0")
        story.do(Kind.COMMAND_ENDS, "job 0", ending=Ending.DONE)
        story.rest()
        assert story.states() == "D TD D D"
        assert story.ever_acted() == [1]


class TestLateWorker:
    def running(self) -> Story:
        story = Story.of()
        story.endings = goes_on
        story.bring_to("R R R R")
        story.settle("c1", "d1")
        story.do(Kind.INSTANCE_LAPSES, "instance 1")
        story.do(Kind.STEP, "reaper")
        story.do(Kind.STEP, "reaper")
        assert story.states() == "R R R T"
        return story

    def test_is_ended_before_there_is_another_attempt(self) -> None:
        story = self.running()
        for _ in range(3):
            story.step("d1")  # finds it, terminates it, looks
        assert story.world.cluster.jobs[0].killed
        for _ in range(20):
            story.step("d1")
            story.step("c1")
        assert story.states() == "R R R T"  # it acts still
        story.do(Kind.JOB_ENDS, "job 0")
        story.endings = lambda instance: Ending.DONE
        story.rest()
        assert story.states() == "D D D UD"

    def test_is_heard_of_again(self) -> None:
        story = self.running()
        story.do(Kind.HEARTBEAT, "job 0")
        assert story.states() == "R R R T"
        story.step("d1")
        story.step("d1")
        assert story.states() == "R R R R"  # handed back
        story.endings = lambda instance: Ending.DONE
        story.rest()
        assert story.states() == "D D D D"

    def test_is_heard_of_again_while_it_is_terminated(self) -> None:
        story = self.running()
        story.step("d1")
        story.step("d1")
        story.do(Kind.HEARTBEAT, "job 0")
        assert story.states() == "R R R T"
        story.rest()
        assert story.states().startswith("R R R UR")

    def test_the_cluster_says_that_it_exceeded_its_resources(self) -> None:
        story = self.running()
        story.world.cluster.put(0, ending=Ending.RESOURCE_ERROR, acts=False)
        story.do(Kind.CRASH, "job 0")
        story.endings = lambda instance: Ending.DONE
        story.rest()
        assert story.states() == "D D D ZD"

    def test_whose_end_was_not_heard(self) -> None:
        """It renews, and says it again."""
        story = self.running()
        story.do(Kind.COMMAND_ENDS, "job 0", ending=Ending.DONE)
        for _ in range(2):
            story.step("job 0")
        assert story.states() == "R R R T"
        story.rest()
        assert story.states() == "D D D D"


def test_a_heartbeat_before_a_lost_answer_is_asked_for_again() -> None:
    """The run is further than its client knows; that is no reason to give up."""
    story = Story.of()
    for _ in range(3):
        story.step("c1")
    assert story.states() == "G L G -"
    story.do(Kind.LOST, "c1")
    assert story.states() == "Q B G -"
    story.do(Kind.HEARTBEAT, "c1")
    story.rest()
    assert (story.states(), story.over("c1")) == ("D D D D", "done")


class TestAnyoneDiesAnywhere:
    """After each of the steps that it does when all goes well."""

    def steps(self, who: str) -> int:
        story = Story.of(*TWO)
        steps: list[Act] = []
        story.before_step = steps.append
        story.rest()
        return sum(act.who == who for act in steps)

    @pytest.mark.parametrize("who", thinned(["c1", "d1", "job 0", "job 1"], 2))
    def test_and_all_is_done(self, who: str) -> None:
        ended = set()
        for number in range(self.steps(who)):
            story = Story.of(*TWO)
            count = 0

            def dies(act: Act, story: Story = story, number: int = number) -> None:
                nonlocal count
                if act.who == who:
                    if count == number:
                        story.do(Kind.CRASH, who)
                        if not who.startswith("job"):
                            story.do(Kind.RESTART, who)
                    count += 1

            story.before_step = dies
            story.rest()
            ended.add(story.states())
            assert story.states().split()[0] == "D", (number, story.states())
            assert story.states().split()[2] == "DD"
        assert len(ended) > 1

    @pytest.mark.parametrize("first", [True, False])
    def test_and_is_not_heard_of_again_but_by_the_reaper(self, first: bool) -> None:
        """Everything comes to rest with the reaper and one distributor, whenever the client dies."""
        for number in range(self.steps("c1")):
            story = Story.of(*TWO, distributors=2)
            if first:
                story.do(Kind.CRASH, "d2")
            count = 0

            def dies(act: Act, story: Story = story, number: int = number) -> None:
                nonlocal count
                if act.who == "c1":
                    if count == number:
                        story.do(Kind.CRASH, "c1")
                    count += 1

            story.before_step = dies
            story.rest()
            workflows, runs, tasks, instances = story.states().split()
            assert set(workflows) <= set("DFHA-") or (runs, workflows) in (("-", "G"), ("A", "G")), (
                number,
                story.states(),
            )
            assert set(runs) <= set("DEATS-")
            assert set(tasks) <= set("DFGA-")
            assert set(instances) <= set("DEZUWF-")

    def test_no_answer_arrives_the_first_time(self) -> None:
        """Whatever is asked is asked twice, and the end is the same."""
        once, twice = Story.of(*TWO), Story.of(*TWO)
        twice.deaf = True
        for story in (once, twice):
            story.endings = lambda instance: Ending.RESOURCE_ERROR if instance == 1 else Ending.DONE
            story.rest()
        assert once.states() == twice.states() == "D D DD ZDD"
        assert once.world.store.snapshot() == twice.world.store.snapshot()


def test_clients_of_two_workflows() -> None:
    story = Story.of(clients=1)
    other = ClientSpec(replace(story.world.clients["c1"].workflow, name="v"))
    clients = story.world.clients
    assert isinstance(clients, dict)
    clients["c2"] = other
    story.world.slots["c2"] = story.world.slots["c1"]
    story.rest()
    assert story.states() == "DD DD DD DD"
