"""What users do wrong ends as one line on standard error, exit 2, and nothing half-written."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from schedproof.cli import main
from tests.support.places import DATA
from tests.support.rows import each_row
from tests.support.stderr import besides_progress
from tests.support.user_repository import repository

TRACE = DATA / "hived" / "s-02-life-preemption.jsonl"
LONG = "x" * 300

MISTAKES = [
    ([], "no command is given; choose from verify, prove"),
    (["nosuch"], "unknown command 'nosuch'; 'schedproof --help' lists them"),
    (["valdate"], "did you mean validate?"),
    (["verify", "nosuch"], "unknown system 'nosuch'; choose from beaker"),
    (["verify", "--nosuch"], "'schedproof verify --help'"),
    (["verify", "hived", "--property", "allocated-hascells"], "did you mean allocated-has-cells"),
    (["verify", "hived", "--json", "/no/such/folder/x"], "directory '/no/such/folder' does not exist"),
    (["verify", "hived", "--json", "/"], "it is a directory"),
    (["verify", "hived", "--junit", LONG], "File name too long"),
    (["verify", "hived", "--summary", ""], "--summary: the name is empty"),
    (["verify", "--json", "-", "--junit", "-"], "--json, --junit: both write to '-'"),
    (["verify", "--sarif", "-", "--code-quality", "-"], "--sarif, --code-quality: both write to '-'"),
    (["verify", "--annotations", "--sarif", "-"], "--annotations, --sarif: both write to standard output"),
    (["verify", "--sarif", "/no/such/folder/x"], "--sarif: cannot write '/no/such/folder/x'"),
    (["verify", "--manifest", "x.toml", "--sarif", "x.toml"], "--sarif: 'x.toml' is an input of this command"),
    (["verify", "--manifest", "x.toml", "--code-quality", "x.toml"], "--code-quality: 'x.toml' is an input of"),
    (["coverage", "hived", "--html", "-", "--json", "-"], "--html, --json: both write to '-'"),
    (["coverage", "hived", "--markdown", "x", "--html", "./x"], "--markdown, --html: both write to 'x'"),
    (["verify", "--manifest", "x.toml", "--json", "./x.toml"], "--json: './x.toml' is an input of this command"),
    (["locks", "x.yaml", "--picture", "x.yaml"], "--picture: 'x.yaml' is an input of this command"),
    (["locks", "x.yaml", "--log", "x.jsonl", "--json", "x.jsonl"], "--json: 'x.jsonl' is an input of this command"),
    (["serve", "--openapi", "-", "--json", "-"], "--openapi, --json: both write to '-'"),
    (["prove", "hived", "--variant", "nosuch"], "choose from as-written, repaired"),
    (["prove", "hived", "--solver", "yices"], "'z3', 'cvc5'"),
    (["prove", "hived", "--emit-smt", "/dev/null"], "--emit-smt: cannot write to directory '/dev/null'"),
    (["prove", "hived", "--emit-smt", ""], "--emit-smt: the name is empty"),
    (["explore", "hived", "--scope", "PodGroup=0"], "PodGroup=0 cannot be explored; write a number from 1 to"),
    (["explore", "hived", "--scope", "PodGroup=-1"], "PodGroup=-1"),
    (["explore", "hived", "--scope", "PodGroup=1000000000"], "PodGroup=1000000000"),
    (["explore", "hived", "--scope", f"PodGroup={'9' * 5000}"], "is not of the form SORT=N"),
    (["explore", "hived", "--scope", "PodGroup=two"], "'PodGroup=two' is not of the form SORT=N"),
    (["explore", "hived", "--scope", "PodGroup"], "for example, --scope PodGroup=3,Cell=3"),
    (["explore", "hived", "--scope", ""], "is not of the form"),
    (["explore", "hived", "--scope", "Pod=2"], "unknown sort 'Pod' in the scope; choose from PodGroup, Cell"),
    (["explore", "hived", "--scope", "Cell=1,Cell=2"], "--scope: Cell is given twice"),
    (["explore", "hived", "--scope", "Cell=64"], "is too big to explore: action allocate"),
    (["explore", "hived", "--max-states", "0"], "--max-states"),
    (["explore"], "explore: missing argument 'SYSTEM'"),
    (["validate", "hived", "/no/such/trace"], "/no/such/trace: cannot be read"),
    (["validate", "hived", "/"], "is a directory"),
    (["validate", "hived", "/dev/zero"], "is a device"),
    (["validate", "hived", TRACE, "--format", "nosuch"], "unknown format 'nosuch'"),
    (["validate", "hived", TRACE, "--variant", "nosuch"], "unknown variant of hived 'nosuch'"),
    (["validate", "hived", TRACE, "--json", "/no/such/folder/x"], "directory '/no/such/folder' does not exist"),
    (["diagram", "hived", "-o", "picture"], "choose from svg, png, dot, mermaid"),
    (["diagram", "hived", "Nosuch", "-o", "-", "--format", "dot"], "choose from PodGroup, Cell, triggers"),
    (["diagram", "hived", "-o", "/dev/full", "--format", "dot"], "cannot write /dev/full"),
    (["findings", "nosuch"], "unknown system"),
    (["list", "no\nsuch"], r"'no\nsuch'"),
    (["list", "--json", "/dev/full"], "cannot write /dev/full"),
    (["explain", "hived"], "PROPERTY, --state: write one of the two"),
    (["explain", "hived", "nosuch"], "unknown property 'nosuch'"),
    (["explain", "hived", "--state", "c0"], "is not of the form OBJECT.FIELD=VALUE"),
    (["explain", "hived", "--state", "z9=Free"], "unknown object 'z9'; choose from g0"),
    (["explain", "hived", "--state", "g4=Pending"], "c2, or explore more objects: --scope PodGroup=5"),
    (["explain", "hived", "--state", "c0.colour=red"], "unknown field of c0 'colour'"),
    (["explain", "hived", "--state", "c0=Fre"], "did you mean Free?"),
    (
        ["explain", "hived", "--state", "c0.user=g9"],
        "unknown value of c0.user 'g9'; choose from g0, g1, g2, none, or explore more objects: --scope PodGroup=10",
    ),
    (["diff", "hived", "as-written"], "diff: missing argument 'TO_VARIANT'; see 'schedproof diff --help'"),
    (["diff", "hived", "as-written", "nosuch"], "unknown variant"),
    (["verify", "beaker", "--jobs", "0"], "--jobs"),
    (["verify", "beaker", "--jobs", "-2"], "--jobs"),
    (["verify", "beaker", "--jobs", "many"], "--jobs"),
    (["verify", "beaker", "--property", "no-dedlock"], "did you mean no-deadlock"),
    (["verify", "beaker", "--property", "as-written"], "unknown property 'as-written'"),
    (
        ["prove", "beaker", "--variant", "written"],
        "choose from as-written, interleaved, repaired, ",
    ),
    (["explore", "beaker", "--variant", "batch", "--scope", "Lab=1"], "unknown sort 'Lab'"),
    (["explore", "beaker", "--scope", "Scheduler=1"], "unknown sort 'Scheduler'"),
    (["explore", "beaker", "--variant", "shipped", "--scope", "System=0"], "System=0"),
    (["explore", "beaker", "--scope", "System=0"], "System=0"),
    (["explore", "beaker", "--variant", ""], "unknown variant of beaker ''"),
    (["explain", "beaker", "no-abba", "--variant", "shipped"], "unknown property 'no-abba'"),
    (["explain", "beaker", "only-automated-systems", "--variant", "batch"], "unknown property"),
    (["explain", "beaker", "no-abba", "--state", "r0=new"], "PROPERTY, --state: write one of the two"),
    (["explain", "beaker", "--state", "r0=processed"], "unknown state of r0 'processed'"),
    (["explain", "beaker", "--state", "r9=new"], "unknown object 'r9'; choose from"),
    (["explain", "beaker", "--state", "b0=queueing"], "unknown object 'b0'"),
    (["explain", "beaker", "--state", "s2.condition=automated"], "did you mean Automated?"),
    (["explain", "beaker", "--state", "j0.lab=l7"], "unknown value of j0.lab 'l7'"),
    (["explain", "beaker", "--state", "r0.viable=s0"], "r0.viable is rigid"),
    (["explain", "beaker", "--state", "r0.vaible=s0"], "unknown field of r0 'vaible'"),
    (["diff", "beaker", "batch", "shiped"], "did you mean shipped?"),
    (["findings", "beaker", "no-abba"], "unexpected extra argument"),
    (["validate", "beaker", TRACE, "--variant", "two-copy"], "unknown variant of beaker 'two-copy'"),
]


@each_row(("arguments", "says"), MISTAKES, ids=lambda v: " ".join(map(str, v))[:60] if v else "nothing")
def test_one_line_and_exit_2(arguments, says, capfd, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = main([str(a) for a in arguments])
    out, err = capfd.readouterr()
    assert (code, out) == (2, "")
    assert err.startswith("schedproof: ")
    assert says in err
    assert err.count("\n") == 1 and err.endswith("\n")
    assert list(tmp_path.iterdir()) == []


@each_row(
    ("content", "says"),
    [
        (b"", "the file is empty"),
        (b'{"header": true}\n{', "line 2: not JSON"),
        (b"\xff\xfe", "line 1"),
        (b"[" * 100_000, "line 1"),
        (b'{"a": 1}\n', "line 1"),
    ],
)
def test_a_trace_that_is_none(content, says, tmp_path, capfd):
    (tmp_path / "t.jsonl").write_bytes(content)
    assert main(["validate", "hived", str(tmp_path / "t.jsonl")]) == 2
    err = capfd.readouterr().err
    assert says in err
    assert err.count("\n") == 1


def test_a_missing_dot_names_the_package_and_keeps_the_picture(tmp_path, capfd, monkeypatch):
    (tmp_path / "cell.svg").write_text("old")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["diagram", "hived", "Cell", "-o", str(tmp_path / "cell.svg")]) == 2
    err = capfd.readouterr().err
    assert "graphviz" in err and err.count("\n") == 1
    assert [p.read_text() for p in tmp_path.iterdir()] == ["old"]


def test_a_full_disk_leaves_the_old_file(tmp_path, capfd, monkeypatch):
    path = tmp_path / "list.json"
    path.write_text("old")
    whole = Path.write_bytes

    def half(self, data):
        whole(self, data[: len(data) // 2])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", half)
    assert main(["list", "--json", str(path)]) == 2
    assert "No space left on device" in capfd.readouterr().err
    assert [p.read_text() for p in tmp_path.iterdir()] == ["old"]


def test_what_was_there_is_replaced_whole(tmp_path, capfd):
    path = tmp_path / "list.json"
    path.write_text("x" * 100_000)
    assert main(["list", "--json", str(path)]) == 0
    assert json.loads(path.read_text())["systems"]


# As a process: pipes, terminals, interrupts


def shell(command):
    script = command.replace("schedproof", f"'{sys.executable}' -m schedproof")
    return subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=120)


def test_a_pipe_is_silent_and_names_are_whole():
    done = shell("COLUMNS=40 schedproof list hived | cat")
    assert done.stderr == ""
    assert "cell-e2-preempts-an-allocated-group" in done.stdout
    assert "\x1b" not in done.stdout and "…" not in done.stdout


def test_a_terminal_sees_progress():
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "schedproof", "explore", "hived", "--scope", "PodGroup=2,Cell=2"],
        stdout=subprocess.PIPE, stderr=slave, env={**os.environ, "TERM": "xterm"},
    )  # fmt: skip
    os.close(slave)
    out, _ = process.communicate(timeout=120)
    assert b"\x1b" not in out
    assert b"47 states" in out
    assert b"states/s, frontier" in os.read(master, 100_000)


@pytest.mark.long
@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("schedproof list hived >/dev/full", "No space left on device"),
        ("schedproof list --json - >/dev/full", "No space left on device"),
        ("schedproof list >&-", "it is closed"),
        ("schedproof list hived | true; exit ${PIPESTATUS[0]}", "its reader has closed it"),
    ],
)
def test_standard_output_that_cannot_be_written(command, says):
    done = shell(command)
    assert done.returncode == 2
    assert says in done.stderr and done.stderr.count("\n") == 1


def interrupted(process, tmp_path):
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    err = "".join(line for line in err.splitlines(True) if not line.startswith("import time:"))
    assert (process.returncode, out, err) == (130, "", "schedproof: interrupted; nothing was written\n")
    assert list(tmp_path.iterdir()) == []


def command(*arguments, options=()):
    return subprocess.Popen(
        [sys.executable, *options, "-m", "schedproof", *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


@pytest.mark.parametrize("module", ["click", "yaml"])
def test_an_interrupt_while_modules_are_loaded_is_one_line(module, tmp_path):
    """Python lists each module once it is loaded."""
    process = command("verify", "hived", "--json", str(tmp_path / "x.json"), options=["-X", "importtime"])
    assert any(line.split()[-1] == module for line in process.stderr)
    interrupted(process, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("after", [0.5, 3.0])
def test_an_interrupt_is_one_line_and_exit_130(after, tmp_path):
    """Also inside a solver."""
    process = command("prove", "yunikorn-merge", "--json", str(tmp_path / "x.json"))
    time.sleep(after)
    interrupted(process, tmp_path)


@pytest.mark.long
def test_a_standard_error_that_is_full_is_no_result(tmp_path):
    done = shell(f"cd '{repository(tmp_path)}' && schedproof verify lease --jobs 2 2>/dev/full")
    assert (done.returncode, done.stdout.splitlines()[-1][:11]) == (0, "as expected")


@pytest.mark.long
def test_an_interrupt_of_verify_keeps_what_was_found(tmp_path):
    """One variant is complete, the other has more states than anyone waits for."""
    large = ("# scope = { Worker = 3, Lease = 2 }", "scope = { Worker = 9, Lease = 9 }")
    process = subprocess.Popen(
        [sys.executable, "-m", "schedproof", "verify", "lease", "--jobs", "4",
         "--json", str(tmp_path / "x.json"), "--junit", str(tmp_path / "x.xml"), "--summary", str(tmp_path / "x.md"),
         "--sarif", str(tmp_path / "x.sarif")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=repository(tmp_path / "own", manifest=large),
    )  # fmt: skip
    complete = process.stderr.readline()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 3 and besides_progress(complete + err) == ""
    system, variant = complete.partition(": ")[0].split()
    output = json.loads((tmp_path / "x.json").read_text())
    assert output["incomplete"] is True and output["ok"] is False
    missing = {(s["system"], s["variant"]): s.get("missing", []) for s in output["systems"]}
    assert missing[system, variant] == [] and any(missing.values())
    left_out = sum(map(len, missing.values()))
    assert re.search(rf"^INCOMPLETE, as expected so far: .*, {left_out} are missing: interrupted \(", out, re.MULTILINE)
    suites = ET.parse(tmp_path / "x.xml").getroot()
    assert len(suites.findall("testsuite/testcase/error[@type='missing']")) == left_out
    assert (tmp_path / "x.md").read_text().startswith("## schedproof: INCOMPLETE")
    (invocation,) = json.loads((tmp_path / "x.sarif").read_text())["runs"][0]["invocations"]
    assert invocation["executionSuccessful"] is False and len(invocation["toolExecutionNotifications"]) == left_out


IN_A_DESTRUCTOR = """
import os, signal, sys, time
import schedproof.cli
from schedproof.cli import app, main

schedproof.cli.REDELIVERY_SECONDS = float(sys.argv[1])

class Doomed:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000):
            pass

def run(arguments):
    Doomed()
    time.sleep(60)
    return 0

app.run = run
sys.exit(main([]))
"""


@pytest.mark.parametrize("delay", ["0.01", "0"])
def test_an_interrupt_in_a_destructor_is_one_line_too(delay):
    """Python ignores the exception there, so the interrupt is sent again. Without a delay it comes too early at first."""
    done = subprocess.run([sys.executable, "-c", IN_A_DESTRUCTOR, delay], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (130, "schedproof: interrupted; nothing was written\n")


IN_AN_ARGUMENT = """
import ctypes

class Argument:
    def from_param(self):
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000):
            pass
        return 1

call = ctypes.CDLL(None).abs
call.argtypes = [Argument]

class Doomed:
    def __del__(self):
        call(1)

def run(arguments):
"""

IN_A_REPORT = """
class Doomed:
    def __del__(self):
        raise ValueError(self)

def report(unraisable):
    os.kill(os.getpid(), signal.SIGINT)
    for _ in range(1000):
        pass

sys.unraisablehook = report

def run(arguments):
"""


@pytest.mark.parametrize("program", [IN_AN_ARGUMENT, IN_A_REPORT])
def test_an_interrupt_that_python_hides_is_one_line_too(program):
    """ctypes makes it an error of its own; and while another error is reported, it cannot be raised."""
    begin, end = re.split(r"class Doomed:(?s:.*)def run\(arguments\):\n", IN_A_DESTRUCTOR)
    done = subprocess.run(
        [sys.executable, "-c", begin + program + end, "0.01"], capture_output=True, text=True, timeout=50
    )
    assert (done.returncode, done.stderr) == (130, "schedproof: interrupted; nothing was written\n")


IN_A_CONSTRUCTOR = """
import os, signal, sys
from schedproof.cli import app, main

class HalfMade:
    def __init__(self, in_a_circle):
        if in_a_circle:
            self.circle = self
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000):
            pass
        self.late = 1

    def __del__(self):
        self.late

app.run = HalfMade
sys.exit(main([]))
"""


@pytest.mark.parametrize("circle", ["main([])", "main(['in a circle'])"])
def test_an_interrupt_in_a_constructor_is_one_line_too(circle):
    """The destructor of what was half-made finds no attributes: z3's objects are like that."""
    program = IN_A_CONSTRUCTOR.replace("main([])", circle)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (130, "schedproof: interrupted; nothing was written\n")


def test_another_error_in_a_destructor_is_reported():
    other = IN_A_DESTRUCTOR.replace("os.kill(os.getpid(), signal.SIGINT)", "raise ValueError").replace("60", "0")
    done = subprocess.run([sys.executable, "-c", other, "0.01"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "Exception ignored in" in done.stderr and "ValueError" in done.stderr
