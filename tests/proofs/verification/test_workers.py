"""Worker processes: the same answers as without them, and none left behind however the work ends."""

import dataclasses
import gc
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import time
from types import SimpleNamespace
from unittest.mock import patch

import pytest

from schedproof.cli import main
from schedproof.model.lang import ModelError
from schedproof.model.lang.errors import calling_place
from schedproof.model.lang.terms import Constant
from schedproof.model.registry.discovery import systems
from schedproof.proofs.gc_paused import collected_seldom
from schedproof.proofs.verdict import Disagreement
from schedproof.proofs.verification import workers as workers_module
from schedproof.proofs.verification.verify import plan, verifiers, verify
from schedproof.proofs.verification.workers import WorkerDied, Workers, now_and_then
from tests.support.lamps import lamps, system
from tests.support.registry import put
from tests.support.sample import thinned
from tests.support.stderr import besides_progress

linux = pytest.mark.skipif(
    sys.platform != "linux", reason="elsewhere processes are not copies, and know no test's systems"
)


class Unsendable(Exception):
    """Made of two things, of which pickle knows one."""

    def __init__(self, code, text):
        super().__init__(text)


def square(number, report_progress):
    """What workers do here: say it, and answer; some numbers go wrong."""
    report_progress(f"at {number} in {os.getpid()}")
    match number:
        case 13:
            raise Disagreement("thirteen")
        case 14:
            raise ModelError("fourteen", calling_place(), "cannot be", "take another")  # not made of one text
        case 15:
            raise Unsendable(1, "fifteen")
        case 99:
            os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def ran(jobs, tasks):
    lines = []
    with Workers(square, jobs) as workers:
        results = dict(workers.run(tasks, lines.append))
    return results, lines


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_every_task_is_done_once_and_reports(jobs):
    results, lines = ran(jobs, range(10))
    assert results == {n: n * n for n in range(10)}
    assert sorted(int(line.split()[1]) for line in lines) == list(range(10))
    assert multiprocessing.active_children() == []


def leave_file(task, report):
    """Leaves a file with the task's name; first waits for the file ``awaited``, and refuses to run before ``earlier``."""
    folder, name, awaited, earlier = task
    if earlier and not (folder / earlier).exists():
        raise Disagreement(f"{name} runs before {earlier}")
    for _ in range(1000):
        if not awaited or (folder / awaited).exists():
            (folder / name).touch()
            return name
        time.sleep(0.01)
    raise Disagreement(f"{awaited} did not run")


def test_others_run_while_a_task_prepares_its_kind(tmp_path):
    tasks = [(tmp_path, "first", "other", ""), (tmp_path, "second", "", "other"), (tmp_path, "other", "", "")]
    with Workers(leave_file, 2) as workers:
        done = [result for _, result in workers.run(tasks, print, lambda task: "" if task[1] == "other" else "kind")]
    assert set(done) == {"first", "second", "other"}


def test_a_task_does_not_wait_when_only_its_kind_is_left(tmp_path):
    tasks = [(tmp_path, "first", "second", ""), (tmp_path, "second", "", "")]
    with Workers(leave_file, 2) as workers:
        done = [result for _, result in workers.run(tasks, print, lambda task: "kind")]
    assert set(done) == {"first", "second"}


def test_one_job_needs_no_process_and_more_share_the_work():
    assert {line.split()[3] for line in ran(1, range(5))[1]} == {str(os.getpid())}
    assert str(os.getpid()) not in {line.split()[3] for line in ran(2, range(5))[1]}


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_goes_wrong_in_a_worker_goes_wrong_here(jobs):
    with pytest.raises(Disagreement, match=r"^thirteen"):
        ran(jobs, [1, 13, 2])
    assert multiprocessing.active_children() == []


def talk(number, report_progress):
    """Says a thousand lines at once."""
    for at in range(1000):
        report_progress(f"{number} {at}")


def test_workers_pass_some_lines_of_progress_on():
    """The first of each task at once, and not all others, however slow the machine is."""
    lines = []
    with Workers(talk, 2) as workers:
        list(workers.run([1, 2, 3], lines.append))
    assert {f"{number} 0" for number in (1, 2, 3)} <= set(lines)
    assert len(lines) < 3 * 1000 and len(set(lines)) == len(lines)


def test_a_line_follows_where_the_last_one_is_old(monkeypatch):
    times = iter([0.0, 0.05, 0.1, 0.15, 0.5])
    monkeypatch.setattr(workers_module, "time", SimpleNamespace(monotonic=lambda: next(times)))
    lines = []
    report_progress = now_and_then(lines.append)
    for number in range(5):
        report_progress(number)
    assert lines == [0, 2, 4]


def test_a_model_error_of_a_worker_is_the_same_line():
    with pytest.raises(ModelError) as alone:
        ran(1, [14])
    with pytest.raises(ModelError) as sent:
        ran(2, [14, 1])
    assert str(sent.value) == str(alone.value) and "\n" not in str(sent.value)
    assert sent.value.place == alone.value.place


def test_an_error_that_cannot_be_sent_is_reported_all_the_same():
    with pytest.raises(RuntimeError, match=r"Unsendable in a worker process:(.|\n)*fifteen"):
        ran(2, [15, 1])


@linux
def test_the_command_says_a_model_error_with_its_line(capfd, monkeypatch):
    """Two axioms that contradict each other: only a prover finds it, in a worker process."""
    contradicting = dataclasses.replace(lamps(), axioms=[Constant(True), Constant(False)])
    put(monkeypatch, {"lamps": system(contradicting)})
    assert main(["verify", "lamps", "--jobs", "2"]) == 2
    message = besides_progress(capfd.readouterr().err)
    excerpt = r"  +--> \S+:\d+:\d+\n  \d+ \| .*Constant\(False\).*\n +\| +\^+\n"
    assert re.fullmatch(rf"schedproof: \S+/\S+\.py:\d+: axiom[^\n]*; correct the axioms?[^\n]*\n{excerpt}", message)


def killed_once(task, report_progress):
    """Ends its process when it is tried for the first time; before that, it has been idle or has answered others."""
    folder, number = task
    if number == 2 and not (folder / "tried").exists():
        (folder / "tried").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def test_a_task_whose_process_is_killed_is_tried_by_another(tmp_path):
    lines = []
    with Workers(killed_once, 3) as workers:
        done = [result for _, result in workers.run([(tmp_path, n) for n in range(6)], lines.append)]
    assert sorted(done) == list(range(6))
    [line] = lines
    assert line.startswith("a worker process ended early (exit code -9)") and line.endswith(
        "another one tries again what it did"
    )
    assert multiprocessing.active_children() == []


def test_a_process_that_is_killed_while_idle_loses_nothing():
    with Workers(square, 2) as workers:
        first = dict(workers.run([1, 2], lambda line: None))
        os.kill(workers._processes[0][0].pid, signal.SIGKILL)
        second = dict(workers.run([3, 4, 5], lambda line: None))
    assert {**first, **second} == {n: n * n for n in range(1, 6)}


def test_a_task_that_kills_three_processes_ends_the_work():
    with pytest.raises(WorkerDied, match=r"exit code -9.*as each of the 3 times .* was tried: 99$"):
        ran(4, [99, 1, 2])


def test_a_worker_that_is_killed_is_no_answer():
    with pytest.raises(WorkerDied, match=r"exit code -9.*--jobs 1"):
        ran(2, [1, 99, 2])
    assert multiprocessing.active_children() == []


@linux
@pytest.mark.parametrize("only", thinned([[], ["blinks", "on-or-off"]], 2, first=1))
def test_verify_says_the_same_however_many_processes(only, monkeypatch):
    own_system = system(lamps(), lamps("other", refuted=()), lamps("third"))
    put(monkeypatch, {"lamps": own_system})
    alone = verify([own_system], only=only)
    together = verify([own_system], only=only, jobs=3)
    assert together == alone  # seconds are not compared
    assert [r.variant for r in together] == ["plain", "other", "third"]
    assert [r.ok for r in together] == ([True, False, True] if not only else [True, True, True])


@linux
def test_a_system_that_is_not_registered_goes_with_the_copies():
    own_system = system()
    assert verifiers(plan([own_system]), jobs=4).jobs == 2  # one variant, two ways
    together = verify([own_system], jobs=4)
    assert together == verify([own_system]) and all(report.ok for report in together)


def test_a_system_that_no_other_process_knows_is_checked_here():
    own_system = system()
    with patch("schedproof.proofs.verification.workers.copied", return_value=False):
        assert verifiers(plan([own_system]), jobs=4).jobs == 1
        assert all(report.ok for report in verify([own_system], jobs=4))


def test_there_are_no_more_processes_than_parts():
    assert verifiers(plan([systems()["hived"]], only=["reserving-cell"]), jobs=100).jobs == 4  # two variants, two ways


@linux
def test_the_command_prints_the_same(capfd, monkeypatch):
    put(monkeypatch, {"lamps": system()})
    printed = []
    for jobs in ("1", "2"):
        assert main(["verify", "lamps", "--jobs", jobs]) == 0
        out, err = capfd.readouterr()
        assert besides_progress(err) == ""
        printed.append(
            [" ".join(w for w in line.split() if not w.replace(".", "").isdigit()) for line in out.splitlines()]
        )
    assert printed[0][:-1] == printed[1][:-1]  # the last line has the time in the middle
    assert "as expected: 5 of 5 verdicts" in out


def started():
    process = subprocess.Popen(
        [sys.executable, "-m", "schedproof", "verify", *systems(), "--jobs", "2"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    time.sleep(4)
    return process


def group_is_gone(group, within=30.0):
    """No process of the group is left; the signal 0 only asks."""
    end = time.monotonic() + within
    while time.monotonic() < end:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


@pytest.mark.long
@pytest.mark.parametrize("send", thinned([os.kill, os.killpg], 2), ids=["to the command", "from a terminal, to all"])
def test_an_interrupt_leaves_no_process(send):
    process = started()
    send(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    if process.returncode == 3:  # some verdicts were there
        assert out.splitlines()[-1].startswith("INCOMPLETE, ") and besides_progress(err) == ""
    else:
        assert (process.returncode, out, err) == (130, "", "schedproof: interrupted; nothing was written\n")
    assert group_is_gone(process.pid, within=1)


@pytest.mark.long
def test_workers_of_a_killed_command_end_too():
    process = started()
    process.kill()
    process.communicate(timeout=60)
    assert group_is_gone(process.pid)


def test_garbage_is_collected_as_before_when_a_part_is_done() -> None:
    before = gc.get_threshold()
    with collected_seldom():
        assert gc.get_threshold() > before
    assert gc.get_threshold() == before
