"""The model that ``init --from`` writes: it has the table of the file, is valid, laid out as ruff does, and verifies."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedproof.api import load_system
from schedproof.cli import main
from schedproof.cli.sketches.model_text import CAN_END, model_text, named, refuted
from schedproof.cli.sketches.reading import read
from schedproof.cli.sketches.sketch import Draft
from schedproof.cli.sketches.source import Source
from schedproof.diagrams.from_model import diagram, picture_names
from schedproof.diagrams.mermaid import mermaid
from schedproof.model.lang import Model
from schedproof.model.lang.check import checked
from schedproof.model.registry.system import System
from schedproof.proofs.verdict import Unfired
from schedproof.proofs.verification.verify import verify_variant
from tests.cli.sketches.files import sketch, table
from tests.support.places import ROOT
from tests.support.rows import each_row
from tests.support.sample import thinned
from tests.support.user_repository import imports_undone

SYSTEMS = ("hived", "beaker", "yunikorn", "yunikorn-merge", "jobmon")
NOWHERE = Source(Path("x.mmd"), "")


def rows(model: Model, sort: str) -> set[tuple[str, str, str]]:
    return {(row.event, row.source, row.target) for row in model.table(sort)}


def loaded(text: str) -> Model:
    space: dict[str, object] = {"__name__": "written"}
    exec(compile(text, "written.py", "exec"), space)
    model = space["AS_WRITTEN"]
    assert isinstance(model, Model)
    return checked(model)


@pytest.mark.parametrize("system", thinned(SYSTEMS, 3))
def test_our_own_diagrams_give_the_same_tables(system, tmp_path):
    """Of each machine of each variant: drawn, read, written as a model, and loaded."""
    for variant in load_system(system).variants.values():
        for sort in picture_names(variant)[:-1]:
            machine = sketch(tmp_path, "x.mmd", mermaid(diagram(variant, sort)))
            assert table(machine) == rows(variant, sort), (variant.variant, sort)
            states = [(state.name, state.durability) for state in variant.machine(sort).states]
            assert [(state.name, state.durability) for state in machine.states] == states
            assert (machine.name, machine.notes) == (sort, [])
            (only,) = named([machine], system)
            assert rows(loaded(model_text([only], "x", NOWHERE)), only.sort) == rows(variant, sort)


@pytest.mark.long(seconds=7)
def test_what_is_written_of_our_diagrams_verifies(tmp_path):
    """All verdicts are what the manifest would say, and each action happens."""
    for system in SYSTEMS:
        variant = next(iter(load_system(system).variants.values()))
        for sort in picture_names(variant)[:-1]:
            machines = named([sketch(tmp_path, "x.mmd", mermaid(diagram(variant, sort)))], system)
            model = replace(loaded(model_text(machines, "x", NOWHERE)), refuted=frozenset(refuted(machines)))
            report = verify_variant(System.of(model), model)
            assert report.ok, (system, sort)
            assert report.properties[0].result.unfired == Unfired(), (system, sort)


def test_a_seeded_fault_in_a_diagram_is_noticed(tmp_path):
    variant = load_system("hived").variants["as-written"]
    text = mermaid(diagram(variant, "Cell"))
    arrow = next(line for line in text.splitlines() if "-->" in line and "[*]" not in line)
    assert table(sketch(tmp_path, "x.mmd", text.replace(f"{arrow}\n", ""))) != rows(variant, "Cell")


@pytest.fixture
def run(capfd, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)

    def command(*arguments: str):
        with imports_undone():
            return main(arguments), *capfd.readouterr()

    return command


ORDERS = """stateDiagram-v2
    [*] --> Draft
    Draft --> Placed : place [paid] / reserve
    Placed --> Shipped : ship
    Placed --> Lost : lose
    Lost --> Lost : search
    Shipped --> [*]
"""


def test_what_is_written_verifies_and_is_clean(run, monkeypatch, tmp_path):
    """Lost has no way to an end, but a step: only Shipped is an end. The manifest expects it."""
    (tmp_path / "orders.mmd").write_text(
        ORDERS.replace("search", "search\n    Lost --> Found : find\n    Found --> Lost : lose")
    )
    code, _, err = run("init", "orders", "--from", "orders.mmd")
    assert code == 0
    assert "the guard [paid] of place is not in the model" in err and "\n    |                           ^^^^\n" in err
    assert run("init", "again", "--from", "orders.mmd", "--json", "notes.json")[0] == 0
    notes = json.loads((tmp_path / "notes.json").read_text())["notes"]
    assert [(note["line"], note["text"]) for note in notes] == [(3, "Draft --> Placed : place [paid] / reserve")] * 2
    monkeypatch.chdir(tmp_path / "orders")
    text = Path("orders/model.py").read_text()
    assert text.count("DECIDE, line 3 of orders.mmd") == 2
    assert f'refuted = ["{CAN_END}"]' in Path("schedproof.toml").read_text()
    assert run("verify", "orders", "--jobs", "1")[0] == 0
    assert run("validate", "orders", "orders/log.jsonl")[0] == 0
    ruff = [str(Path(sys.executable).parent / "ruff")]
    for command in (["check"], ["format", "--check"]):
        done = subprocess.run(
            [*ruff, *command, "--config", ROOT / "pyproject.toml", "--no-cache", tmp_path],
            capture_output=True,
            text=True,
            cwd=tmp_path,
        )
        assert done.returncode == 0, done.stdout


def test_long_rows_and_actions_are_laid_out_as_ruff_does(tmp_path):
    states = [f"WaitingForSomething{n}" for n in range(12)]
    lines = [f"{a} --> {b} : the_event_that_takes_it_onwards_{a}" for a, b in pairwise(states)]
    lines += [f"{a} --> {states[-1]} : stop" for a in states[:-1]]
    machine = sketch(
        tmp_path, "x.mmd", "\n".join(["stateDiagram-v2", *lines, f"{states[-1]} --> {states[0]} : {'again' * 30}"])
    )
    (tmp_path / "model.py").write_text(model_text(named([machine], "x"), "x", NOWHERE))
    command = [
        str(Path(sys.executable).parent / "ruff"),
        "format",
        "--diff",
        "--config",
        ROOT / "pyproject.toml",
        "--no-cache",
    ]
    done = subprocess.run([*command, tmp_path / "model.py"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_machines_of_one_file_have_distinct_names(tmp_path):
    (tmp_path / "x.csv").write_text(
        "machine,from,event,to\nJob,A,import,B\nJob,B,Row,A\nJob,B,j,A\nJob,B,Job,A\njob,A,import,B\njob,B,1 x,A\njob,B,JOB,A\n"
    )
    _, machines = read(tmp_path / "x.csv", None)
    model = loaded(model_text(named(machines, "x"), "x", NOWHERE))
    assert [sort.name for sort in model.sorts] == ["Job", "Job2"]
    assert [action.name for action in model.actions] == [
        "import_",
        "job_Row",
        "job_j",
        "job_Job",
        "job2_import_",
        "_1_x",
        "job2_JOB",
    ]


@each_row("name", ["A", "Tables", "Properties", "As written", "None", "True", "JOB"])
def test_a_machine_may_have_any_name(name):
    """Names that the model uses itself, keywords, and those that are the same in capitals."""
    drafts = [Draft(name), Draft("Job")]
    for draft in drafts:
        draft.move("go", "x", "y", NOWHERE.span(1))
    model = loaded(model_text(named([draft.sketch() for draft in drafts], "x"), "x", NOWHERE))
    assert [len(model.table(sort.name)) for sort in model.sorts] == [1, 1]


EVENTS = st.sampled_from(
    ['C:\\new "x"', 'say "x\\', "go", "stop", "is", "State", "a", 'say "x"', "{x}", "é", "\\n", "Row", "l"]
)
STATES = st.sampled_from(["A", "B", "C d", "C-d", 'E"', "None", "end"])


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(EVENTS, STATES, STATES), min_size=1, max_size=12),
    st.sampled_from(["", "Job", "9 lives", "forall"]),
)
def test_any_table_becomes_a_valid_model(moves, name):
    draft = Draft(name)
    for event, source, target in moves:
        draft.move(event, source, target, NOWHERE.span(1))
    machine = draft.sketch()
    machines = named([machine], "some-system")
    model = loaded(model_text(machines, "some-system", NOWHERE))
    assert rows(model, machines[0].sort) == table(machine)
    assert set(refuted(machines)) <= {prop.name for prop in model.properties}
