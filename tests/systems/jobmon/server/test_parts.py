"""Jobmon's smaller parts: the tables of legal moves, resources, JSON, workflow files, processes and commands."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import repeat
from pathlib import Path

import pytest

from schedproof.impl.systems.jobmon import requests as ask
from schedproof.impl.systems.jobmon.client import WorkflowSpec
from schedproof.impl.systems.jobmon.cluster import Ending, Granted
from schedproof.impl.systems.jobmon.errors import IllegalMove, Malformed
from schedproof.impl.systems.jobmon.legal import INSTANCE_MOVES, OF_RUN, RUN_MOVES, TASK_MOVES, WORKFLOW_MOVES, check
from schedproof.impl.systems.jobmon.local_commands import LocalCommands
from schedproof.impl.systems.jobmon.records import ENDED, FINAL, InstanceState, RunState, TaskState, WorkflowState
from schedproof.impl.systems.jobmon.requests import Report
from schedproof.impl.systems.jobmon.resources import Queue, Scale, Scaling, Series
from schedproof.impl.systems.jobmon.wire import parsed, plain
from schedproof.impl.systems.jobmon.workflow_file import read_workflow
from schedproof.model.lang import Row
from schedproof.model.systems.jobmon.shipped import tables as shipped
from tests.support.rows import each_row


class TestLegal:
    """The repaired tables against those that run: what was taken away, and what was added, each for a reason."""

    @pytest.mark.parametrize(
        ("moves", "table", "states", "removed", "added"),
        [
            # No state to kill oneself; no way into final ones past an owner; nothing runs that was not launched.
            (
                INSTANCE_MOVES, shipped.TASK_INSTANCE_TABLE, shipped.TASK_INSTANCE_STATES,
                "QK IK OK RK KF KD IR OU OZ RU", "QF IF RF",
            ),
            # E is passed through in one transaction; what is doomed goes back, or fails; a new run takes failed ones up.
            (
                TASK_MOVES, shipped.TASK_TABLE, shipped.TASK_STATES,
                "IE OE RE EA EQ EF EG IR", "QG QF IG IF OG OF RG RA RF FG",
            ),
            (RUN_MOVES, shipped.WORKFLOW_RUN_TABLE, shipped.WORKFLOW_RUN_STATES, "", "GA"),
            (WORKFLOW_MOVES, shipped.WORKFLOW_TABLE, shipped.WORKFLOW_STATES, "", ""),
        ],
    )  # fmt: skip
    def test_what_differs_from_what_runs(
        self, moves: dict[str, set[str]], table: list[Row], states: dict[str, str], removed: str, added: str
    ) -> None:
        letters = {name: letter for letter, name in states.items()}
        shipped_moves = {letters[row.source] + letters[row.target] for row in table}
        repaired_moves = {str(before) + str(after) for before, afters in moves.items() for after in afters}
        assert shipped_moves - repaired_moves == set(removed.split())
        assert repaired_moves - shipped_moves == set(added.split())

    def test_final_states_are_those_without_a_move(self) -> None:
        assert {state for state, after in INSTANCE_MOVES.items() if not after} == FINAL
        assert {state for state, after in RUN_MOVES.items() if not after} == ENDED
        assert all(
            len(table) == len(type(next(iter(table))))
            for table in (INSTANCE_MOVES, TASK_MOVES, RUN_MOVES, WORKFLOW_MOVES)
        )

    def test_a_workflow_can_follow_its_run(self) -> None:
        """Whatever a run that has it does, from the state that the run brought it to."""
        for before in RunState:
            for after in RUN_MOVES[before]:
                if after in OF_RUN and before in OF_RUN:
                    assert OF_RUN[after] in WORKFLOW_MOVES[OF_RUN[before]], (before, after)
        assert OF_RUN[RunState.LINKING] is WorkflowState.REGISTERING

    def test_what_is_not_there_is_said(self) -> None:
        with pytest.raises(IllegalMove, match="task 1 cannot go from D to Q"):
            check("task 1", TASK_MOVES, TaskState.DONE, TaskState.QUEUED)


class TestResources:
    def test_by_half_unless_said(self) -> None:
        scaling = Scaling()
        resources, queue = (("cores", 4), ("memory", 40), ("runtime", 3)), "all"
        seen = []
        for _ in range(2):
            resources, queue = scaling.adjusted(resources, queue)
            seen.append(resources)
        assert seen == [(("cores", 4), ("memory", 60), ("runtime", 5)), (("cores", 4), ("memory", 90), ("runtime", 8))]

    @each_row(("value", "scale", "after"), [(40, 0.5, 60), (41, 0.5, 62), (10, 0.1, 11), (1, 0.01, 2), (7, 0.0, 7), (3, 2, 9)])  # fmt: skip
    def test_numbers_are_rounded_up_exactly(self, value: int, scale: float, after: int) -> None:
        assert Scaling({"memory": scale}).adjusted((("memory", value),), "all")[0] == (("memory", after),)

    def test_functions(self) -> None:
        assert Scaling({"memory": lambda v: v + 7}).adjusted((("memory", 1),), "all")[0] == (("memory", 8),)

    def test_series_go_on_from_what_there_is_to_their_last_value(self) -> None:
        scaling = Scaling({"memory": Series(iter([5, 9]))})
        assert [scaling.adjusted((("memory", n),), "all")[0][0][1] for n in (1, 5, 9, 10, 1, 6)] == [5, 9, 9, 10, 5, 9]

    @each_row(
        ("scale", "says"),
        [
            (Series([]), "needs at least one value"),
            (Series([9, 5, 20]), "5 follows 9"),
            (Series(repeat(3)), "3 follows 3"),
            (-0.5, "memory cannot go from 10 to 5"),
            (lambda value: value - 1, "memory cannot go from 10 to 9"),
            (lambda value: value * 1.5, "memory cannot go from 10 to 15.0"),
            (lambda value: 2**63, "up to 9223372036854775807"),
            (float("nan"), "nan"),
            (float("inf"), "inf"),
        ],
    )
    def test_what_does_not_grow_is_said(self, scale: Scale, says: str) -> None:
        with pytest.raises(ValueError, match=says):
            Scaling({"memory": scale}).adjusted((("memory", 10),), "all")

    @each_row(
        ("queue", "memory", "after"),
        [
            ("short", 4, (6, "short")),
            ("short", 8, (12, "middle")),
            ("middle", 4, (6, "middle")),  # never back
            ("short", 30, (45, "long")),
            ("short", 40, (50, "long")),  # up to the limits of the last one
            ("short", 80, (80, "long")),  # but never down to them
            ("else", 4, (6, "else")),  # a queue without known limits
        ],
    )
    def test_queues(self, queue: str, memory: int, after: tuple[int, str]) -> None:
        queues = tuple(Queue(name, (("memory", most),)) for name, most in (("short", 10), ("middle", 20), ("long", 50)))
        resources, next_queue = Scaling(queues=queues).adjusted((("memory", memory),), queue)
        assert (resources[0][1], next_queue) == after


class TestWire:
    def test_there_and_back(self) -> None:
        for request in (
            ask.Register("w", (ask.TaskSpec("a", "x", ("b",), (("memory", 1),)),)),
            ask.QueueTask(1, 2, 3, (("memory", 4),), "long"),
            ask.QueueTask(1, 2, 3),
            ask.RenewLaunched((1, 2), "d"),
            ask.End(1, "g", InstanceState.DONE),
        ):
            assert parsed(type(request), json.loads(json.dumps(plain(request)))) == request

    @each_row(
        ("kind", "data", "says"),
        [
            (ask.Claim, {"instance": 1, "distributor": "d"}, "Claim: 'token' is missing"),
            (ask.ReapRun, {"run": 1, "walk": 2}, "ReapRun: unknown 'walk'; choose from run"),
            (ask.ReapRun, {"run": "1"}, "ReapRun.run: write a whole number, not '1'"),
            (ask.ReapRun, {"run": True}, "ReapRun.run: write a whole number, not True"),
            (ask.ReapRun, [1], r"ReapRun: write an object, not \[1\]"),
            (
                ask.AdvanceRun,
                {"run": 1, "to": "Y"},
                "AdvanceRun.to: write one of G, L, B, I, O, R, D, S, E, C, H, T, A, not 'Y'",
            ),
            (ask.RenewLaunched, {"instances": 3, "distributor": "d"}, "RenewLaunched.instances: write a list, not 3"),
            (
                ask.QueueTask,
                {"run": 1, "task": 1, "attempt": 1, "resources": [["a"]]},
                r"resources: write a list of 2, not \['a'\]",
            ),
        ],
    )
    def test_what_is_malformed_is_said(self, kind: type[object], data: object, says: str) -> None:
        with pytest.raises(Malformed, match=says):
            parsed(kind, data)

    def test_what_is_long_or_deep_is_said_in_a_line(self) -> None:
        for data in ("x" * 10_000, [["x"] * 10_000] * 1000, json.loads("[" * 900 + "]" * 900), {"y" * 10_000: 1}):
            with pytest.raises(Malformed) as caught:
                parsed(ask.ReapRun, {"run": data})
            assert len(str(caught.value)) < 1000

    def test_whole_numbers_are_times_too(self) -> None:
        assert parsed(Report, {"request": "x", "lease": 3}).lease == 3.0


def written(directory: Path, data: object) -> WorkflowSpec:
    """Read from a file that says so."""
    path = directory / "w.json"
    if isinstance(data, bytes):
        path.write_bytes(data)
    else:
        path.write_text(data if isinstance(data, str) else json.dumps(data))
    return read_workflow(path)


def of_task(**more: object) -> object:
    return {"name": "w", "tasks": [{"name": "a", "command": "true", **more}]}


def of_growth(**how: object) -> object:
    return of_task(growth=[{"name": "memory", **how}])


class TestWorkflowFile:
    def test_all_that_can_be_said(self, tmp_path: Path) -> None:
        task = {"name": "a", "command": "true", "resources": [["runtime", 1], ["memory", 2]], "growth": [{"name": "memory", "values": [5]}]}  # fmt: skip
        spec = written(tmp_path, {"name": "w", "tasks": [task, {"name": "b", "command": "x", "upstream": ["a"]}]})
        assert spec.tasks[0].resources == (("memory", 2), ("runtime", 1))
        assert spec.scaling["a"].adjusted(spec.tasks[0].resources, "all")[0] == (("memory", 5), ("runtime", 1))
        assert spec.scaling["b"].adjusted((("memory", 2),), "all")[0] == (("memory", 3),)

    @each_row(
        ("data", "says"),
        [
            ("{", "cannot be read"),
            ({"name": "w"}, "'tasks' is missing"),
            ({"name": "w", "tasks": [{"name": "a"}]}, r"w.json: task 1 \(a\): 'command' is missing"),
            ({"name": "w", "tasks": [{"name": "a", "command": "x", "growth": [{"name": "memory"}]}]}, "memory of task a grows either by"),
            ("[" * 10_000, "cannot be read: it is nested too deep"),
            ('{"name": "w", "name": "v", "tasks": []}', "cannot be read: it says 'name' twice in one object"),
            (b'{"name": "\xff"}', "cannot be read: it is not JSON: 'utf-8' codec can't decode"),
            ({"name": "w\0", "tasks": []}, "w.json: the workflow: name: .* has a NUL character in it"),
            ({"name": "w\ud800", "tasks": []}, "w.json: the workflow: name: .* has half of a character"),
            (of_task(max_attempts=2**63), "w.json: task 1 \\(a\\): max_attempts: 9223372036854775808 is beyond 9223372036854775807"),
            (of_task(resources=[["memory", -(2**64)]]), "w.json: task 1 \\(a\\): resources: -18446744073709551616 is beyond"),
            (of_task(resources=[["memory", 1.5]]), "w.json: task 1 \\(a\\): resources: write a whole number, not 1.5"),
            (of_task(upstream="b"), "w.json: task 1 \\(a\\): upstream: write a list, not 'b'"),
            (of_task(command=["x" * 1000]), r"w.json: task 1 \(a\): command: write a text, not \['x{1,60}\.\.\.x{1,60}'\]"),
            ({"name": "w", "tasks": [{"name": "a", "command": "x"}, 7]}, "w.json: task 2: write an object, not 7"),
            ({"name": "w", "tasks": 7}, "w.json: the workflow: tasks: write a list, not 7"),
            ([], r"w.json: the workflow: write an object, not \[\]"),
            (of_task(comand="x"), r"w.json: task 1 \(a\): unknown 'comand'; did you mean 'command'\?"),
            ({"name": "w", "tasks": [], "queues": [{"name": "q", "limits": 5}]}, r"w.json: queue 1 \(q\): limits: write a list, not 5"),
            (of_growth(by=-0.5), r"memory of task a can only grow, but by -0\.5 it would shrink"),
            (of_growth(by=float("nan")), "growth.by: write a number, not nan"),
            (of_growth(by=float("inf")), "growth.by: write a number, not inf"),
            (of_growth(values=[4, 8, 8]), "memory of task a can only grow, but its values do not"),
            (of_task(growth=[{"name": "memory", "by": 1}] * 2), "the growth in task a of memory is there twice"),
            ({"name": "w", "tasks": [], "queues": [{"name": "q"}] * 2}, "the queue q is there twice"),
            ({"name": "w", "tasks": [], "queues": [{"name": "q", "limits": [["memory", -1]]}]}, "the limit of memory in queue q is below zero"),
            ({"name": "w", "tasks": [], "queues": [{"name": "q", "limits": [["memory", 1]] * 2}]}, "the limit in queue q of memory is there twice"),
        ],
    )  # fmt: skip
    def test_what_is_no_workflow_is_said(self, tmp_path: Path, data: object, says: str) -> None:
        with pytest.raises(Malformed, match=says):
            written(tmp_path, data)

    def test_no_file(self, tmp_path: Path) -> None:
        with pytest.raises(Malformed, match="cannot be read"):
            read_workflow(tmp_path / "none.json")


def test_a_worker_imports_little() -> None:
    """It imports neither the database, nor the web, nor what the client needs."""
    code = "import sys, schedproof.impl.systems.jobmon.__main__, schedproof.impl.systems.jobmon.worker, schedproof.impl.systems.jobmon.local_commands; print(*sys.modules)"
    imported = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    roots = {name.partition(".")[0] for name in imported}
    assert not roots & {"sqlalchemy", "fastapi", "pydantic", "uvicorn", "httpx", "z3", "cvc5", "networkx"}
    assert LocalCommands.__module__ in imported and Ending.__module__ in imported and Granted.__module__ in imported
