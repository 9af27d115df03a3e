"""SPIN on the exported Promela: as many states and steps, and the same violated properties, by a search and a semantics of its own."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from schedproof.model.lang import Model
from schedproof.model.registry.discovery import systems
from schedproof.model.semantics import Instance, ScopeError
from schedproof.model.systems.hived import AS_WRITTEN, REPAIRED
from schedproof.proofs.compiled import explore as compiled
from schedproof.proofs.exploration.explore import explore
from schedproof.proofs.export import Unwritable, promela
from tests.proofs.compiled.test_corners import c, counting
from tests.proofs.export.exported import ODDLY_NAMED, by_exploration, only, scopes
from tests.support.needs import needs_spin
from tests.support.places import ROOT
from tests.support.sample import thinned
from tests.support.toys import MUTEX, WORKSHOP

TWO = {"PodGroup": 2, "Cell": 2}
BY_HAND = ROOT / "benchmarks" / "hived.pml"


@dataclass(frozen=True)
class Spins:
    """What SPIN says: states stored, transitions taken (to known states, too), assertions that failed."""

    states: int
    transitions: int
    broken: frozenset[str]


def done(folder: Path, *command: str) -> str:
    made = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, check=False)
    assert made.returncode == 0, made.stdout[-2000:] + made.stderr[-2000:]
    return made.stdout


def by_spin(text: str, folder: Path, *defined: str) -> Spins:
    """All that SPIN finds, not stopping at an error. It counts the coming into being of the initial state as a transition, too."""
    (folder / "model.pml").write_text(text, "utf-8")
    done(folder, "spin", "-a", *defined, "model.pml")
    done(folder, "gcc", "-O0", "-DSAFETY", "-DNOREDUCE", "-DVECTORSZ=8192", "-w", "-o", "pan", "pan.c")
    output = done(folder, "./pan", "-m500000", "-w20", "-c0")
    errors = re.findall(r"^pan:\d+: (.*) \(at depth \d+\)$", output, re.MULTILINE)
    failed = [re.fullmatch(r"assertion violated \(?(\w+)\)?", error) for error in errors]
    assert all(failed), errors
    [count] = re.findall(r"errors: (\d+)", output)
    assert (count == "0") == (not errors) and "search depth too small" not in output
    stored, matched = (int(n) for n in re.findall(r"^ *(\d+) states, (?:stored|matched)$", output, re.MULTILINE))
    return Spins(stored, stored + matched - 1, frozenset(one[1] for one in failed if one is not None))


def assertion(prop: str) -> str:
    return f"holds_{prop}".replace("-", "_")


def cut(instance: Instance) -> int:
    """The steps beyond the bounds of integers: each leads back to its state."""
    return sum(map(len, explore(instance, symmetry=False).cut.values()))


def same(instance: Instance, folder: Path) -> None:
    """Counts and verdicts. Where properties are checked of states, each state has a transition more, in which they are."""
    written, expected = promela(instance, only=None), by_exploration(instance)
    actual = by_spin(written.text, folder)
    checking = expected.states if "The properties of every state" in written.text else 0
    assert (actual.states, actual.transitions) == (expected.states, expected.transitions + checking + cut(instance))
    assert actual.broken == {assertion(name) for name in expected.broken}


@needs_spin
@pytest.mark.parametrize(
    "instance",
    thinned([only(AS_WRITTEN, **TWO), only(MUTEX), only(WORKSHOP, Worker=1, Tool=1)], 3, first=1),
    ids=["hived", "mutex", "workshop"],
)
def test_spin_finds_as_many_states_and_transitions(instance: Instance, tmp_path: Path) -> None:
    expected = explore(instance, symmetry=False)
    actual = by_spin(promela(instance).text, tmp_path)
    assert (actual.states, actual.transitions) == (expected.state_count, expected.transition_count)


@needs_spin
@pytest.mark.parametrize(
    "instance",
    thinned(
        [
            only(AS_WRITTEN, **TWO),
            replace(only(AS_WRITTEN, **TWO), with_history=True),
            only(MUTEX),
            only(WORKSHOP),
            only(ODDLY_NAMED),
        ],
        6,
    ),
    ids=["hived", "hived with history", "mutex", "workshop", "oddly named"],
)
def test_spin_finds_the_same_properties_broken(instance: Instance, tmp_path: Path) -> None:
    same(instance, tmp_path)


@needs_spin
@pytest.mark.parametrize(("groups", "cells"), thinned([(2, 2), (3, 3), (4, 4)], 3))
def test_hived_by_hand_is_the_same(groups: int, cells: int, tmp_path: Path) -> None:
    """What benchmarks compare with does the same work: it shares no line with what is exported."""
    expected = compiled(only(AS_WRITTEN, PodGroup=groups, Cell=cells))
    actual = by_spin(BY_HAND.read_text("utf-8"), tmp_path, f"-DGROUPS={groups}", f"-DCELLS={cells}")
    assert (actual.states, actual.transitions) == (expected.state_count, expected.transition_count)


SMALL = 1000
"""States: what SPIN does in no time. Most of it goes into its own program."""

EVERY = [
    *((name, next(iter(system.variants)), number) for name, system in systems().items() for number in range(3)),
    *((name, list(system.variants)[-1], 0) for name, system in systems().items()),
]


@needs_spin
@pytest.mark.long(one_in=32)
@pytest.mark.parametrize(("system", "variant", "number"), EVERY)
def test_spin_agrees_on_every_system(system: str, variant: str, number: int, tmp_path: Path) -> None:
    some = scopes(system, variant, SMALL)
    if not some:
        pytest.skip("each scope of it has more states")
    same(some[number], tmp_path)


@pytest.mark.long
@needs_spin
@pytest.mark.parametrize(
    ("model", "prop"),
    [(AS_WRITTEN, "victim-freed-with-the-preemptor"), (AS_WRITTEN, "allocated-has-cells"), (WORKSHOP, "never-tired")],
    ids=lambda v: v if isinstance(v, str) else v.system,
)
def test_the_shortest_run_is_as_short(model: Model, prop: str, tmp_path: Path) -> None:
    """The trail of SPIN's search for the shortest error lists its steps. Every step of ours is one level of that search."""
    instance = only(model, **(TWO if model is AS_WRITTEN else {}))
    (tmp_path / "model.pml").write_text(promela(instance, only=[prop]).text, "utf-8")
    done(tmp_path, "spin", "-a", "model.pml")
    done(tmp_path, "gcc", "-O0", "-DSAFETY", "-DNOREDUCE", "-DREACH", "-w", "-o", "pan", "pan.c")
    assert "assertion violated" in done(tmp_path, "./pan", "-m10000", "-i")
    steps = re.findall(r"^ *step (\w+)", done(tmp_path, "spin", "-t", "model.pml"), re.MULTILINE)
    assert len(steps) == by_exploration(instance).broken[prop]
    assert set(steps) <= {action.name for action in model.actions}


SHOP, HIVED = only(WORKSHOP), only(AS_WRITTEN, **TWO)
SEEDED = [
    ("an assertion that is never checked", SHOP, "assert(holds_never_tired);", ""),
    ("one that is turned round", SHOP, "holds_busy_holds = 1;", "holds_busy_holds = 0;"),
    (
        "the state after is not whole",
        HIVED,
        "{ next_PodGroup_at[me] = PodGroup_at[me]; }",
        "{ next_PodGroup_at[me] = 0; }",
    ),
    ("a row sets nothing", SHOP, "next_Worker_jobs[me] = (Worker_jobs[me] + 1);", ""),
    ("a guard is left out", SHOP, " && (Tool_wear[0] < 2)", ""),
    ("a firing too many", SHOP, "fires_Worker_kicked = 0;", "fires_Worker_kicked = 1;"),
    ("a state is taken for another", HIVED, "#define Cell_Reserving 3", "#define Cell_Reserving 2"),
]


@needs_spin
@pytest.mark.parametrize(("instance", "old", "new"), thinned([p[1:] for p in SEEDED], 6), ids=[p[0] for p in SEEDED])
def test_a_seeded_bug_is_noticed(instance: Instance, old: str, new: str, tmp_path: Path) -> None:
    text, expected = promela(instance, only=None).text, by_exploration(instance)
    assert old in text
    right = expected.states, expected.transitions + expected.states, {assertion(name) for name in expected.broken}
    try:
        actual = by_spin(text.replace(old, new), tmp_path)
    except AssertionError:  # no text that SPIN takes, or another error than a violated property
        return
    assert (actual.states, actual.transitions, actual.broken) != right


@needs_spin
def test_a_rule_that_is_not_written_is_noticed(tmp_path: Path) -> None:
    less, expected = replace(WORKSHOP, rules=WORKSHOP.rules[1:]), by_exploration(only(WORKSHOP, Worker=1, Tool=1))
    actual = by_spin(promela(only(less, Worker=1, Tool=1)).text, tmp_path)
    assert (actual.states, actual.transitions) != (expected.states, expected.transitions)


@needs_spin
def test_an_ill_formed_step_is_an_error(tmp_path: Path) -> None:
    """A worker that has a job and takes another leaves the range of its jobs; what such a step leads to is not explored."""
    [taking] = [a for a in WORKSHOP.actions if a.name == "take"]
    more = replace(WORKSHOP, actions=[replace(a, when=a.when[:-1]) if a is taking else a for a in WORKSHOP.actions])
    instance = only(more, Worker=1, Tool=1)
    expected = by_exploration(instance)
    assert "well-formed" in expected.broken
    actual = by_spin(promela(instance, only=["well-formed"]).text, tmp_path)
    assert actual.states == expected.states and actual.broken == {"holds_well_formed"}
    assert actual.transitions > expected.transitions, "what is ill-formed leads back, and is counted there"


def test_what_cannot_be_said_is_said_so() -> None:
    written = promela(only(AS_WRITTEN, **TWO), only=None)
    names = {p.name for p in AS_WRITTEN.properties}
    assert set(written.properties.names) | set(written.properties.left_out) == {"well-formed", *names}
    assert (
        "/* preempting-ends: what happens at the end, if actions are taken fairly, is no assertion */" in written.text
    )
    for prop in (
        "preempting-ends",
        "cells-can-always-be-free",
        "cell-life-with-preemption",
        "placements-are-disjoint",
    ):
        with pytest.raises(Unwritable, match=f"{prop!r} cannot be written"):
            promela(only(AS_WRITTEN, **TWO), only=[prop])


def test_more_objects_than_a_mask_has_bits_are_refused() -> None:
    with pytest.raises(ScopeError, match="Process=32: Promela has sets of up to 31 objects"):
        promela(only(MUTEX, Process=32))
    assert "(1 <<" in promela(only(MUTEX, Process=31)).text


@pytest.mark.parametrize(("workers", "kind"), [(8, "byte"), (9, "int")])
def test_a_set_has_a_bit_for_each_object(workers: int, kind: str) -> None:
    assert f"{kind} Tool_queue[1]" in promela(only(WORKSHOP, Worker=workers, Tool=1)).text


@pytest.mark.parametrize(("low", "high"), [(0, 1 << 31), (-(1 << 40), 0)])
def test_numbers_that_promela_has_not_are_refused(low: int, high: int) -> None:
    with pytest.raises(ScopeError, match="is too great for Promela, whose numbers have 32 bits"):
        promela(only(counting(low, high, 0)))


@needs_spin
@pytest.mark.parametrize(("low", "high", "first"), [(-3, 4, 0), (0, 300, 295), (-40_000, 5, -2), (7, 9, 8)])
def test_numbers_of_any_range(low: int, high: int, first: int, tmp_path: Path) -> None:
    instance = only(counting(low, high, first, guard=c.n < high))
    actual, expected = by_spin(promela(instance).text, tmp_path), by_exploration(instance)
    assert (actual.states, actual.transitions) == (expected.states, expected.transitions)


def test_the_text_can_be_read() -> None:
    text = promela(only(AS_WRITTEN, **TWO)).text
    assert "byte Cell_user[2] = {255, 255};" in text
    assert "#define Cell_Reserving 3" in text
    assert "atomic { /* vacate: the pod on {c} is deleted */" in text
    assert text.count("atomic {") == len(AS_WRITTEN.actions)
    assert "assert" not in text and "printf" not in text
    checked = promela(only(REPAIRED, **TWO), only=["free-cell"]).text
    assert checked.count("assert(holds_free_cell);") == 1
    assert 'printf("step preempt p=%d K=%d\\n", choice_p, choice_K);' in checked
