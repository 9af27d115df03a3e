"""SPIN on the exported Promela: it stores as many states and takes as many steps, by a search and a semantics of its own."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from schedproof.model.hived import AS_WRITTEN
from schedproof.model.lang import Model
from schedproof.model.semantics import Instance, ScopeError, instances
from schedproof.model.systems import SYSTEMS
from schedproof.proofs.explore import explore
from schedproof.proofs.export import promela
from toys import MUTEX, WORKSHOP

needs_spin = pytest.mark.skipif(
    not all(shutil.which(tool) for tool in ("spin", "gcc")), reason="SPIN is not installed (apt-get install spin gcc)"
)


def by_spin(instance: Instance, folder: Path) -> tuple[int, int]:
    """The states that SPIN stores and the transitions that it takes; it counts the coming into being of the initial one, too."""
    (folder / "model.pml").write_text(promela(instance), "utf-8")
    for command in (
        ["spin", "-a", "model.pml"],
        ["gcc", "-O1", "-DSAFETY", "-DNOREDUCE", "-DVECTORSZ=8192", "-w", "-o", "pan", "pan.c"],
        ["./pan", "-m500000", "-w22"],
    ):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, check=False)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "errors: 0" in done.stdout
    stored, matched = (
        int(n) for n in re.findall(r"^ *(\d+) (?:states, stored|states, matched)$", done.stdout, re.MULTILINE)
    )
    return stored, stored + matched - 1


def ours(instance: Instance) -> tuple[int, int]:
    """The same by our own exploration."""
    found = explore(instance, symmetry=False)
    return found.state_count, found.transition_count


def only(model: Model, **scope: int) -> Instance:
    """A model in its first topology."""
    return next(iter(instances(model, {**model.default_scope, **scope})))


@needs_spin
@pytest.mark.parametrize(
    "instance",
    [only(AS_WRITTEN, PodGroup=2, Cell=2), only(MUTEX), only(WORKSHOP, Worker=1, Tool=1)],
    ids=["hived", "mutex", "workshop"],
)
def test_spin_finds_as_many_states_and_transitions(instance: Instance, tmp_path: Path) -> None:
    assert by_spin(instance, tmp_path) == ours(instance)


EVERY = [
    pytest.param(system.name, variant, number, id=f"{system.name} {variant} {number}")
    for system in SYSTEMS.values()
    for variant in list(system.variants)[:2]
    for number in (0, 1)
    if system.name != "hived" or number == 0
]


@needs_spin
@pytest.mark.long
@pytest.mark.parametrize(("system", "variant", "number"), EVERY)
def test_spin_agrees_on_every_system(system: str, variant: str, number: int, tmp_path: Path) -> None:
    model = SYSTEMS[system].variants[variant]
    instance = list(instances(model, dict(model.default_scope)))[number]
    assert by_spin(instance, tmp_path) == ours(instance)


@needs_spin
def test_a_rule_that_is_not_written_is_noticed(tmp_path: Path) -> None:
    less = replace(WORKSHOP, rules=WORKSHOP.rules[1:])
    assert by_spin(only(less, Worker=1, Tool=1), tmp_path) != ours(only(WORKSHOP, Worker=1, Tool=1))


def test_more_objects_than_a_mask_has_bits_are_refused() -> None:
    with pytest.raises(ScopeError, match="Process=32: Promela has sets of up to 31 objects"):
        promela(only(MUTEX, Process=32))
    assert "(1 <<" in promela(only(MUTEX, Process=31))


def test_the_text_can_be_read() -> None:
    text = promela(only(AS_WRITTEN, PodGroup=2, Cell=2))
    assert "byte Cell_user[2] = {255, 255};" in text
    assert "#define Cell_Reserving 3" in text
    assert "atomic { /* vacate: the pod on {c} is deleted */" in text
    assert text.count("atomic {") == len(AS_WRITTEN.actions)
