"""What Jobmon's reference server does with requests about workflows and their runs."""

from __future__ import annotations

import pytest

from schedproof.impl.systems.jobmon import requests as ask
from schedproof.impl.systems.jobmon.errors import Refused
from schedproof.impl.systems.jobmon.records import RunState
from schedproof.impl.systems.jobmon.requests import Request, TaskSpec
from schedproof.impl.systems.jobmon.store import MemoryStore
from tests.systems.jobmon.server.bench import WAY, Bench


@pytest.fixture
def bench() -> Bench:
    return Bench(MemoryStore())


def refused(bench: Bench, request: Request) -> Refused:
    """Why; and nothing changed."""
    before = bench.store.snapshot()
    with pytest.raises(Refused) as caught:
        bench.ask(request)
    assert bench.store.snapshot() == before
    return caught.value


class TestRegister:
    def test_once(self, bench: Bench) -> None:
        tasks = (TaskSpec("a", "true"), TaskSpec("b", "false", upstream=("a",), max_attempts=1))
        first = bench.ask(ask.Register("w", tasks))
        second = bench.ask(ask.Register("w", tasks))
        assert first.changed and not second.changed
        assert first.tasks == second.tasks
        assert [(t.name, t.upstream, t.status) for t in first.tasks] == [("a", (), "G"), ("b", (1,), "G")]

    def test_other_tasks_are_refused(self, bench: Bench) -> None:
        bench.register(TaskSpec("a", "x"), TaskSpec("b", "x", upstream=("a",)))
        for tasks, says in (
            ((TaskSpec("c", "x"),), "it has no task c"),
            ((TaskSpec("a", "x"),), "it has a task b besides"),
            ((TaskSpec("a", "y"),), "command of its task a is 'x', not 'y'"),
            ((TaskSpec("a", "x", max_attempts=2),), "max_attempts of its task a is 3, not 2"),
            ((TaskSpec("a", "x"), TaskSpec("b", "x")), "upstream of its task b is ('a',), not ()"),
        ):
            assert refused(bench, ask.Register("w", tasks)).reason == (
                f"there is a workflow w with other tasks: {says}; "
                "give this one another name, or the tasks that it has there"
            )

    def test_the_order_of_tasks_is_part_of_a_workflow(self, bench: Bench) -> None:
        one, other = TaskSpec("a", "x"), TaskSpec("b", "x")
        bench.register(one, other)
        assert "they are in another order" in refused(bench, ask.Register("w", (other, one))).reason
        assert not bench.ask(ask.Register("w", (one, other))).changed

    @pytest.mark.parametrize(
        ("tasks", "says"),
        [
            ((), "a workflow has at least one task; write one"),
            ((TaskSpec("a", "x"), TaskSpec("a", "x")), "there are two tasks a; give one of them another name"),
            (
                (TaskSpec("a", "x", upstream=("b",)), TaskSpec("b", "x")),
                "task a comes after b, but no task before it has that name; put b further up, or leave it out of upstream",
            ),
            ((TaskSpec("a", "x", upstream=("a",)),), "task a comes after a, but no task before it has that name"),
            ((TaskSpec("a", "x", max_attempts=0),), "task a has 0 attempts; give it 1 or more as max_attempts"),
            ((TaskSpec("a", "x", resources=(("b", 1), ("a", 1))),), "not in the order of their names"),
            ((TaskSpec("a", "x", resources=(("a", -1),)),), "task a asks for -1 of a; write 0 or more"),
            (
                (TaskSpec("a" * 501, "x"),),
                "a task is called by 501 characters: aaaaaaaaaaaaaaaaaaaa...; 500 are the most",
            ),
        ],
    )
    def test_what_is_no_workflow(self, bench: Bench, tasks: tuple[TaskSpec, ...], says: str) -> None:
        assert says in refused(bench, ask.Register("w", tasks)).reason


class TestWayOfARun:
    def test_workflow_goes_along(self, bench: Bench) -> None:
        bench.register()
        run = bench.run(to=RunState.REGISTERED)
        seen = []
        for state in WAY:
            bench.ask(ask.AdvanceRun(run, state))
            seen.append(bench.runs() + bench.workflow())
        assert seen == ["LG", "BQ", "II", "OO", "RR"]

    @pytest.mark.parametrize("at", ["G", *WAY])
    def test_one_step_at_a_time(self, bench: Bench, at: RunState) -> None:
        bench.register()
        run = bench.run(to=RunState(at))
        way = ["G", *WAY]
        for to in RunState:
            if to == way[min(way.index(at) + 1, 5)] or to == at:
                continue
            assert refused(bench, ask.AdvanceRun(run, to)).state == at
        if at != "G":
            assert not bench.ask(ask.AdvanceRun(run, RunState(at))).changed

    def test_the_token_says_whose_it_is(self, bench: Bench) -> None:
        bench.register()
        bench.register(name="v")
        assert bench.run(token="mine") == 1
        second = bench.ask(ask.CreateRun(1, "mine"))
        assert (second.changed, second.runs[0].id, second.runs[0].status) == (False, 1, "R")
        assert refused(bench, ask.CreateRun(2, "mine")).reason == "the token mine is taken by workflow run 1"
        assert "called by 501 characters" in refused(bench, ask.CreateRun(2, "x" * 501)).reason

    @pytest.mark.parametrize("at", ["G", *WAY, "C", "H"])
    def test_one_run_has_a_workflow(self, bench: Bench, at: str) -> None:
        """As long as it is on its way no other one is created, and nothing is cleared."""
        bench.register()
        bench.run(token="one", to=RunState.RUNNING if at in "CH" else RunState(at))
        if at in "CH":
            bench.ask(ask.AskResume(1, at == "C"))
        before = bench.store.snapshot()
        for request in (ask.CreateRun(1, "other"), ask.CreateRun(1, "other", cold=False), ask.Clear(1)):
            answer = refused(bench, request)
            assert (answer.state, answer.for_good) == (at, False)
        assert bench.store.snapshot() == before

    def test_each_advance_is_a_heartbeat(self, bench: Bench) -> None:
        bench.register()
        bench.run(to=RunState.REGISTERED)
        for at in WAY:
            bench.time += 8.0
            assert bench.ask(ask.AdvanceRun(1, RunState(at))).runs[0].heartbeat_date == bench.time + 10.0

    def test_heartbeats(self, bench: Bench) -> None:
        bench.register()
        for at in ("G", *WAY):
            run = 1 if at != "G" else bench.run(to=RunState.REGISTERED)
            if at != "G":
                bench.ask(ask.AdvanceRun(run, RunState(at)))
            bench.time += 7
            assert bench.ask(ask.RenewRun(run, RunState(at))).runs[0].heartbeat_date == bench.time + 10
            other = RunState.LINKING if at == "G" else RunState.REGISTERED
            assert refused(bench, ask.RenewRun(run, other)).state == at
        bench.ask(ask.FinishRun(1, RunState.STOPPED))
        assert refused(bench, ask.RenewRun(1, RunState.STOPPED)).state == "S"


class TestQueueing:
    def test_only_in_a_running_run(self, bench: Bench) -> None:
        bench.register()
        run = bench.run(to=RunState.REGISTERED)
        for state in WAY:
            assert refused(bench, ask.QueueTask(run, 1, 1)).reason.endswith("not R")
            bench.ask(ask.AdvanceRun(run, state))
        bench.queue()
        assert bench.instances() + bench.tasks() == "QQ"

    def test_the_number_of_the_attempt_says_which_is_meant(self, bench: Bench) -> None:
        bench.register()
        bench.run()
        first = ask.QueueTask(1, 1, 1)
        assert refused(bench, ask.QueueTask(1, 1, 2)).state == "G"
        assert bench.ask(first).changed
        assert not bench.ask(first).changed
        bench.bring(1, "E")
        assert not bench.ask(first).changed  # it was done, though all is over meanwhile
        assert bench.ask(ask.QueueTask(1, 1, 2)).instances[0].id == 2
        bench.bring(2, "E")
        assert bench.tasks() == "F"
        assert refused(bench, ask.QueueTask(1, 1, 3)).state == "F"

    def test_what_an_earlier_run_queued_is_not_its_own(self, bench: Bench) -> None:
        bench.register()
        bench.run()
        bench.queue()
        bench.bring(1, "R")
        bench.ask(ask.FinishRun(1, RunState.STOPPED))
        bench.run(token="next", cold=False)
        assert refused(bench, ask.QueueTask(2, 1, 1)).state == "R"

    @pytest.mark.parametrize("state", "QIORTXD")
    def test_not_while_an_attempt_is_on_its_way_or_done(self, bench: Bench, state: str) -> None:
        bench.register()
        bench.run()
        bench.queue()
        bench.bring(1, state)
        assert refused(bench, ask.QueueTask(1, 1, 2)).state in "QIORD"

    def test_after_what_it_waits_for(self, bench: Bench) -> None:
        bench.register(TaskSpec("a", "x"), TaskSpec("b", "x", upstream=("a",)))
        bench.run()
        bench.queue()
        bench.bring(1, "R")
        assert refused(bench, ask.QueueTask(1, 2, 1)).reason == "task 2 waits for task 1"
        bench.ask(ask.End(1, "j1", ask.InstanceState.DONE))
        bench.queue(task=2)

    def test_resources_change_when_they_were_too_small_and_only_then(self, bench: Bench) -> None:
        small, big = (("memory", 4),), (("memory", 6),)
        bench.register(TaskSpec("a", "x", resources=small, max_attempts=4))
        bench.run()
        assert refused(bench, ask.QueueTask(1, 1, 1, big)).state == "G"
        bench.queue()
        bench.bring(1, "E")
        assert refused(bench, ask.QueueTask(1, 1, 2, big)).state == "G"
        bench.queue()
        bench.bring(2, "Z")
        assert refused(bench, ask.QueueTask(1, 1, 3)).state == "A"
        assert "other resources" in refused(bench, ask.QueueTask(1, 1, 3, (("cores", 6),))).reason
        less = tuple((name, amount - 1) for name, amount in small)
        assert "can only grow" in refused(bench, ask.QueueTask(1, 1, 3, less)).reason
        bench.queue(resources=big, queue="long")
        records = bench.store.snapshot()
        assert [(i.resources, i.queue) for i in records.instances] == [(small, "all"), (small, "all"), (big, "long")]
        assert (records.tasks[0].resources, records.tasks[0].queue) == (big, "long")

    def test_of_another_workflow(self, bench: Bench) -> None:
        bench.register()
        bench.register(name="v")
        bench.run()
        assert "not of the workflow" in refused(bench, ask.QueueTask(1, 2, 1)).reason


class TestEnds:
    """Task 1 comes to a state, and task 2 to another one."""

    def two(self, bench: Bench, one: str, other: str) -> None:
        bench.register(TaskSpec("a", "x", max_attempts=1), TaskSpec("b", "x", max_attempts=1))
        bench.run()
        for number, state in ((1, one), (2, other)):
            if state != "G":
                bench.queue(task=number)
                bench.bring(number, state)

    @pytest.mark.parametrize(("states", "ends"), [("DD", "D"), ("DE", "E"), ("EG", "E"), ("DR", ""), ("ER", ""), ("EQ", ""), ("ET", ""), ("EX", ""), ("DG", "")])  # fmt: skip
    def test_when(self, bench: Bench, states: str, ends: str) -> None:
        self.two(bench, *states)
        for to in (RunState.DONE, RunState.ERROR):
            if to != ends:
                assert refused(bench, ask.FinishRun(1, to)).state == "R"
        if ends:
            request = ask.FinishRun(1, RunState(ends))
            assert bench.ask(request).changed
            assert not bench.ask(request).changed
            assert bench.runs() + bench.workflow() == {"D": "DD", "E": "EF"}[ends]

    @pytest.mark.parametrize(
        ("state", "after", "task", "doomed"),
        [("Q", "F", "F", True), ("I", "I", "I", True), ("O", "O", "O", True), ("R", "R", "R", False), ("T", "T", "R", False), ("X", "X", "O", False)],
    )  # fmt: skip
    @pytest.mark.parametrize("how", ["stopped", "failed", "reaped"])
    def test_takes_with_it_what_has_not_started(
        self, bench: Bench, state: str, after: str, task: str, doomed: bool, how: str
    ) -> None:
        self.two(bench, state, "G")
        if how == "reaped":
            assert refused(bench, ask.ReapRun(1)).reason == "workflow run 1 is not overdue"
            bench.time = 10.0
            assert bench.ask(ask.FindDead()).runs[0].id == 1
            bench.ask(ask.ReapRun(1))
            assert not bench.ask(ask.ReapRun(1)).changed
        else:
            bench.ask(ask.FinishRun(1, RunState.STOPPED if how == "stopped" else RunState.ERROR, failed=True))
        assert bench.runs() + bench.workflow() == ("SF" if how == "stopped" else "EF")
        assert (bench.instances(), bench.tasks()[0]) == (after, task)
        assert bench.store.snapshot().instances[0].doomed is doomed

    def test_with_attempts_left_the_task_waits_for_the_next_run(self, bench: Bench) -> None:
        bench.register()
        bench.run()
        bench.queue()
        bench.ask(ask.FinishRun(1, RunState.STOPPED))
        assert (bench.tasks(), bench.store.snapshot().tasks[0].num_attempts) == ("G", 1)

    @pytest.mark.parametrize(("at", "after", "workflow"), [("G", "A", "G"), ("L", "A", "A"), ("B", "E", "F"), ("I", "E", "F"), ("O", "E", "F"), ("R", "E", "F")])  # fmt: skip
    def test_reaped(self, bench: Bench, at: str, after: str, workflow: str) -> None:
        bench.register()
        bench.run(to=RunState(at))
        bench.time = 10.0
        bench.ask(ask.ReapRun(1))
        assert bench.runs() + bench.workflow() == after + workflow
        bench.run(token="next", to=RunState.RUNNING)
        assert bench.runs() + bench.workflow() == after + "RR"


class TestMakingRoom:
    @pytest.mark.parametrize("cold", [True, False])
    @pytest.mark.parametrize("state", "QIORTXDE")
    def test_waits_for_what_it_has_to(self, bench: Bench, state: str, cold: bool) -> None:
        """The next run waits for what has not started, and if it is cold for what is running as well."""
        bench.register()
        bench.run()
        bench.queue()
        bench.bring(1, state)
        request = ask.AskResume(1, cold)
        assert bench.ask(request).changed
        assert not bench.ask(request).changed
        assert bench.runs() + bench.workflow() == ("CR" if cold else "HR")
        assert refused(bench, ask.AskResume(1, not cold)).state == ("C" if cold else "H")
        assert bench.instances() == state.replace("Q", "F")
        assert bench.store.snapshot().instances[0].doomed is (state in ("QIORT" if cold else "QIO"))
        bench.time = 10.0
        waits = state in ("IORTX" if cold else "IOX")
        assert (bench.ask(ask.FindDead()).runs == ()) is waits
        if waits:
            assert not refused(bench, ask.WindUp(1)).for_good
            assert not refused(bench, ask.ReapRun(1)).for_good
        else:
            end = ask.WindUp(1) if cold else ask.ReapRun(1)
            assert bench.ask(end).changed and not bench.ask(end).changed
            assert bench.runs() + bench.workflow() == "TH"

    @pytest.mark.parametrize("at", ["G", "L", "I", "O"])
    def test_only_a_bound_or_running_run_is_asked(self, bench: Bench, at: str) -> None:
        bench.register()
        bench.run(to=RunState(at))
        assert refused(bench, ask.AskResume(1, True)).for_good is (at in "GL")

    def test_nothing_begins_meanwhile(self, bench: Bench) -> None:
        bench.register(TaskSpec("a", "x"), TaskSpec("b", "x"), TaskSpec("c", "x"))
        bench.run()
        bench.queue(task=1)
        bench.bring(1, "I")
        bench.ask(ask.AskResume(1, False))
        assert refused(bench, ask.QueueTask(1, 2, 1)).reason == "workflow run 1 is H, not R"
        assert refused(bench, ask.Launched(1, "t1", "j1")).reason == "task instance 1 is doomed"
        assert refused(bench, ask.FinishRun(1, RunState.DONE)).state == "H"
        bench.ask(ask.RenewRun(1, RunState.HOT_RESUME))

    @pytest.mark.parametrize("cold", [True, False])
    @pytest.mark.parametrize("state", "IORTX")
    def test_a_new_run_waits_as_well(self, bench: Bench, state: str, cold: bool) -> None:
        bench.register(TaskSpec("a", "x"))
        bench.run()
        bench.queue()
        bench.bring(1, state)
        bench.ask(ask.FinishRun(1, RunState.STOPPED))
        new = ask.CreateRun(1, "new", cold)
        if cold or state in "IOX":
            assert not refused(bench, new).for_good
            bench.ask(ask.Clear(1))
            assert not bench.ask(ask.Clear(1)).changed
            assert bench.store.snapshot().instances[0].doomed is (state != "X")
            end: dict[str, Request] = {
                "I": ask.GiveUp(1, "t1"),
                "R": ask.Killed(1, "j1"),
            }
            if state == "T":
                bench.ask(ask.Fence(1))
            bench.ask(end.get(state, ask.JobOver(1, ask.InstanceState(state))))
            assert bench.instances() == ("E" if state == "X" else "F")
        bench.ask(new)
        assert bench.tasks() == ("R" if not cold and state in "RT" else "G")

    def test_a_late_word_to_clear_is_not_for_what_another_run_left(self, bench: Bench) -> None:
        """A client saw what run 1 left and died; another one lets that go on, and is dead as well when the word arrives."""
        bench.register()
        bench.run()
        bench.queue()
        bench.bring(1, "R")
        bench.ask(ask.FinishRun(1, RunState.STOPPED))
        seen = bench.ask(ask.ReadWorkflow(1)).runs
        late = ask.Clear(seen[0].id)
        bench.run(token="hot", cold=False)
        bench.ask(ask.FinishRun(2, RunState.STOPPED))
        answer = refused(bench, late)
        assert (answer.reason, answer.for_good) == ("workflow run 2 came after run 1", True)
        assert [run.id for run in bench.ask(ask.ReadWorkflow(1)).runs] == [2]
        assert bench.ask(ask.Clear(2)).changed
        assert bench.store.snapshot().instances[0].doomed

    def test_clearing_is_for_workflows_that_nobody_has(self, bench: Bench) -> None:
        bench.register()
        bench.run(to=RunState.LINKING)
        assert refused(bench, ask.Clear(1)).state == "L"

    def test_a_new_run_begins_anew(self, bench: Bench) -> None:
        """Failed tasks are tried again, all with all attempts; done ones stay, and adjusted ones are to grow still."""
        bench.register(*(TaskSpec(name, "x", max_attempts=2) for name in "abcd"))
        bench.run()
        for number, end in enumerate(["D", "E", "Z", "E"], start=1):
            bench.queue(task=number)
            bench.bring(number, end)
        bench.queue(task=2)
        bench.bring(5, "E")
        assert bench.tasks() == "DFAG"
        bench.ask(ask.FinishRun(1, RunState.ERROR))
        bench.run(token="next")
        assert bench.tasks() == "DGAG"
        assert [t.num_attempts for t in bench.store.snapshot().tasks] == [1, 0, 0, 0]
        assert bench.audits(2).endswith("RFG")

    def test_done_is_done(self, bench: Bench) -> None:
        bench.register()
        bench.run()
        bench.queue()
        bench.bring(1, "D")
        bench.ask(ask.FinishRun(1, RunState.DONE))
        assert refused(bench, ask.CreateRun(1, "next")).reason == "workflow 1 is done"
        assert bench.runs() + bench.workflow() == "DD"

    def test_a_run_never_linked_leaves_its_workflow_as_it_is(self, bench: Bench) -> None:
        bench.register()
        bench.run()
        bench.ask(ask.FinishRun(1, RunState.STOPPED))
        bench.run(token="next", to=RunState.REGISTERED)
        bench.time = 10.0
        bench.ask(ask.ReapRun(2))
        assert bench.runs() + bench.workflow() == "SAF"


@pytest.mark.parametrize(
    "request_of_nothing",
    [ask.CreateRun(9, "t"), ask.AdvanceRun(9, RunState.LINKING), ask.QueueTask(9, 1, 1), ask.Claim(9, "d", "t"), ask.ReadRun(9), ask.Clear(9)],
    ids=lambda request: type(request).__name__,
)  # fmt: skip
def test_what_is_not_there(bench: Bench, request_of_nothing: Request) -> None:
    assert refused(bench, request_of_nothing).reason.startswith("there is no ")
