"""What a command loads: what it needs, and of the systems the one that it is asked for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from schedproof.cli.app import cli
from schedproof.cli.commands import COMMANDS
from tests.support.places import DATA, ROOT
from tests.support.rows import each_row

HEAVY = {"z3", "cvc5", "numba", "llvmlite", "numpy", "sqlalchemy", "networkx", "transitions", "jsonschema", "ray"}

LOG = str(DATA / "hived" / "s-02-life-preemption.jsonl")

PROGRAM = """
import sys
from schedproof.cli import main
main(sys.argv[1:])
print("LOADED", *sys.modules)
"""


def loaded(*arguments: str, **environment: str) -> set[str]:
    """The modules that a command has loaded when it ends."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        capture_output=True, text=True, check=True, cwd=ROOT, env={**os.environ, **environment},
    )  # fmt: skip
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("LOADED "))
    return set(line.split()[1:])


def systems_of(modules: set[str]) -> set[str]:
    """The systems of which something is loaded."""
    return {m.split(".systems.")[1].split(".")[0] for m in modules if ".systems." in m and m.startswith("schedproof.")}


@pytest.mark.parametrize(
    "arguments",
    [
        ("explore", "hived", "--scope", "PodGroup=2,Cell=2", "--counts-only"),
        pytest.param(("explain", "hived", "preemption-ongoing"), marks=pytest.mark.long),
    ],
)
def test_no_solver_is_loaded_where_nothing_is_proved(arguments: tuple[str, ...]) -> None:
    assert loaded(*arguments) & HEAVY == set()


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("list",)])
def test_no_engine_and_no_system_is_loaded(arguments: tuple[str, ...]) -> None:
    modules = loaded(*arguments)
    assert modules & HEAVY == set()
    assert systems_of(modules) == set()
    assert "schedproof.cli.app" in modules


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("list", "hived"), marks=pytest.mark.long(one_in=32)),
        ("explain", "hived", "preemption-ongoing"),
        pytest.param(
            ("explore", "hived", "--scope", "PodGroup=2,Cell=2", "--counts-only"), marks=pytest.mark.long(one_in=32)
        ),
        ("validate", "hived", LOG),
        pytest.param(("table", "hived", "Cell"), marks=pytest.mark.long(one_in=32)),
    ],
)
def test_a_hived_command_loads_no_other_system(arguments: tuple[str, ...]) -> None:
    modules = loaded(*arguments)
    assert systems_of(modules) == {"hived"}
    assert modules & {"numba", "llvmlite", "sqlalchemy"} == set()


def test_a_list_of_properties_loads_no_reference_scheduler() -> None:
    assert not any(m.startswith("schedproof.impl.systems.hived.") for m in loaded("list", "hived"))


def test_completion_loads_no_command(tmp_path: Path) -> None:
    program = "from schedproof.cli import main; main([])"
    words = {"_SCHEDPROOF_COMPLETE": "bash_complete", "COMP_WORDS": "schedproof ex", "COMP_CWORD": "1"}
    code = f"import atexit, sys; atexit.register(lambda: print('LOADED', *sys.modules)); {program}"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **words}, cwd=tmp_path
    )
    lines = done.stdout.splitlines()
    assert {"plain,explain", "plain,explore", "plain,export"} == {line for line in lines if line.startswith("plain")}
    assert not any(m.startswith("schedproof.cli.commands.") for m in lines[-1].split())


@each_row("name", COMMANDS)
def test_what_help_says_of_a_command_is_what_the_command_says(name: str) -> None:
    command = COMMANDS[name].load()
    assert command.name == name
    first = " ".join((command.help or "").partition("\n\n")[0].split())
    assert COMMANDS[name].does == first


def test_the_group_has_every_command_module() -> None:
    files = {path.stem for path in (ROOT / "schedproof" / "cli" / "commands").glob("*.py")} - {"__init__"}
    assert {command.module for command in COMMANDS.values()} == files
    with cli.make_context("schedproof", ["--help"], resilient_parsing=True) as context:
        assert cli.list_commands(context) == sorted(COMMANDS)
