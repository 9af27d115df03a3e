"""Edges that the search records, beside those that a second pass over its states computes anew."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pytest
from numba import njit

from schedproof.model.lang import Model
from schedproof.model.semantics import Instance
from schedproof.model.systems.hived import AS_WRITTEN, REPAIRED
from schedproof.proofs import compiled
from schedproof.proofs.checking.engine import Engine, Exploring
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.checking.slices import NO_HISTORY, Slices
from schedproof.proofs.compiled import graph as graphs
from schedproof.proofs.compiled import recorder, table
from schedproof.proofs.compiled.carry import Carried
from schedproof.proofs.compiled.histories import Histories, histories_of
from schedproof.proofs.compiled.part import MOST_STATES
from schedproof.proofs.compiled.recorder import Recorder
from schedproof.proofs.exploration.limits import Saving
from schedproof.proofs.exploration.safety import SAFETY
from schedproof.proofs.verdict import Verdict
from tests.proofs.checking.two_graphs import untimed
from tests.proofs.compiled.test_beside_interpreted import assert_same_arrays, assert_same_recorded, instance_of
from tests.support.rows import each_row
from tests.support.sample import thinned

SMALL = {"PodGroup": 3, "Cell": 3}


@cache
def anew(model: Model = AS_WRITTEN) -> compiled.Graph:
    """The graph of a search that records nothing."""
    return compiled.graph_of(compiled.explore(instance_of(model, SMALL)))


def recorded(model: Model = AS_WRITTEN) -> compiled.Reached:
    return compiled.explore(instance_of(model, SMALL), record=True)


@each_row("room", [1, 64, 1 << 15])
def test_edges_are_recorded_in_turns_of_any_length(room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "ROOM", room)
    assert_same_recorded(anew(), recorded())


def points(instance: Instance) -> Histories:
    """The points of history that the properties of an instance read."""
    slices, model = Slices(instance), instance.model
    pointwise = [p for p in model.properties if slices.of(p) != NO_HISTORY and slices.is_pointwise(p)]
    histories = histories_of(instance, model.actions, pointwise)
    assert histories is not None
    return histories


@pytest.mark.parametrize("model", thinned([AS_WRITTEN, REPAIRED], 2), ids=["as-written", "repaired"])
@each_row("checks", [False, True])
def test_history_is_followed_during_the_search(model: Model, checks: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each state gets the same values as in a second pass, also where the search checks conditions of other properties."""
    values: list[Carried] = []
    right = Histories.end

    def end(self: Histories, machine: Any, carried: Carried, *arguments: Any) -> None:
        right(self, machine, carried, *arguments)
        values.append(carried)

    monkeypatch.setattr(Histories, "end", end)
    instance = instance_of(model, SMALL)
    slices = Slices(instance)
    props = [p for p in model.properties if checks and isinstance(p, SAFETY) and slices.of(p) == NO_HISTORY]
    during, after = points(instance), points(instance)
    reached, watches = compiled.watch(instance, props, record=True, histories=during)
    plain, expected = compiled.watch(instance, props)
    assert_same_arrays(compiled.graph_of(plain, histories=after), compiled.graph_of(reached, histories=during))
    assert [[(c.met, c.failed) for c in w.checks] for w in watches] == [
        [(c.met, c.failed) for c in w.checks] for w in expected
    ]
    assert not props or any(w.failed() is not None for w in expected) == (model is AS_WRITTEN)
    second, first = values
    for name in ("bits", "met", "failed"):
        assert np.array_equal(getattr(first, name), getattr(second, name)), name
    names = {w.prop.name for w in after.holding}
    assert names and {w.prop.name for w in during.holding} == names


def test_a_pass_after_the_search_follows_other_history() -> None:
    """A search that recorded edges without history is no obstacle to following history later."""
    instance, histories = instance_of(AS_WRITTEN, SMALL), points(instance_of(AS_WRITTEN, SMALL))
    assert_same_arrays(anew(), compiled.graph_of(compiled.explore(instance, record=True), histories=histories))
    assert histories.holding


@each_row("traced", [0, 50, MOST_STATES])
@each_row("follows", [False, True])
def test_a_search_of_too_many_edges_goes_on(traced: int, follows: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """It records no more, has the same numbers and runs, and a second pass makes the graph."""
    instance = instance_of(AS_WRITTEN, SMALL)
    for name, value in (("MOST_EDGES", 300), ("ROOM", 40)):
        monkeypatch.setattr(recorder, name, value)
    histories = points(instance) if follows else None
    reached = compiled.explore(instance, record=True, traced=traced, histories=histories)
    [whole] = reached.parts
    assert isinstance(whole, Recorder) and not whole.records and whole.linked == 0
    assert len(whole.parents) <= traced == whole.traced
    assert_same_arrays(anew(), compiled.graph_of(reached, histories=histories))
    assert [reached.path(n) for n in range(reached.state_count)] == [anew().path(n) for n in range(reached.state_count)]


def test_a_search_that_stops_has_runs_to_its_states(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "ROOM", 64)
    reached = compiled.explore(instance_of(AS_WRITTEN, SMALL), record=True, limit=100)
    assert not reached.complete and 100 < reached.state_count < anew().size
    assert [reached.path(n) for n in range(reached.state_count)] == [anew().path(n) for n in range(reached.state_count)]
    with pytest.raises(ValueError, match="complete"):
        compiled.graph_of(reached)


def test_only_one_thread_in_memory_records(tmp_path: Path) -> None:
    """A second pass makes the graph of other searches."""
    instance = instance_of(AS_WRITTEN, SMALL)
    for options in ({"threads": 2}, {"symmetry": True}, {"memory": 1 << 30}, {"saving": Saving(tmp_path)}):
        reached = compiled.explore(instance, record=True, **options)  # type: ignore[arg-type]
        assert not any(isinstance(each, Recorder) for each in reached.parts), options
        if reached.symmetry is None:
            assert_same_arrays(anew(), compiled.graph_of(reached))


@each_row("symmetry", [False, True])
def test_properties_need_no_second_pass(symmetry: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """They have the verdicts and runs that a second pass gives, which is made with a limit of memory, however large."""
    passes: list[int] = []
    right = graphs.link
    monkeypatch.setattr(graphs, "link", lambda *arguments: (passes.append(1), right(*arguments))[1])
    results = []
    for memory, made in ((None, []), (1 << 40, [1])):
        passes.clear()
        how = Exploring(Engine.COMPILED, symmetry=symmetry, memory=memory)
        results.append([untimed(r) for r in model_check(AS_WRITTEN, SMALL, how=how)])
        assert passes == made
    assert results[0] == results[1]
    assert {r.verdict for r in results[0]} == {Verdict.PROVED, Verdict.REFUTED}


def test_a_graph_takes_no_more_than_its_estimate() -> None:
    """The estimate decides whether memory suffices."""
    instance = instance_of(AS_WRITTEN, {"PodGroup": 4, "Cell": 3})
    reached = compiled.explore(instance, record=True)
    histories = points(instance)
    followed = compiled.explore(instance, record=True, histories=histories)
    assert reached.parts[0].memory <= compiled.memory_of(reached)
    carried = followed.parts[0].carried  # type: ignore[attr-defined]
    values = sum(each.nbytes for each in (carried.bits, carried.later, carried.met, carried.failed))
    assert followed.parts[0].memory + values <= compiled.memory_of(followed, histories)


# --- Seeded faults ---------------------------------------------------------------------------------------------------


def with_wrong_table(old: str, new: str) -> Any:
    """``record`` with a table in whose code a line is replaced."""
    return with_code(recorder.record, {"put_numbered": with_code(table.put_numbered, {}, old, new)})


def with_wrong_insert(old: str, new: str) -> Any:
    """``record`` with a table in whose insertion of states a line is replaced."""
    numbered = with_code(table.put_numbered, {"insert": with_code(table.insert, {}, old, new)})
    return with_code(recorder.record, {"put_numbered": numbered})


def with_wrong_record(old: str, new: str) -> Any:
    """``record`` in whose code a line is replaced."""
    return with_code(recorder.record, {}, old, new)


def with_code(function: Any, names: dict[str, Any], old: str = "", new: str = "") -> Any:
    """A compiled function with other global names, or with a piece of its code replaced."""
    plain: FunctionType = function.py_func
    source = re.sub(r"^@.*\n", "", inspect.getsource(plain))
    assert not old or source.count(old) == 1, old
    space = {**plain.__globals__, **names}
    exec(source.replace(old, new) if old else source, space)
    return njit(space[plain.__name__])


FAULTS: dict[str, Callable[[], Any]] = {
    "entries move without their numbers": lambda: with_wrong_insert("range(wide)", "range(words)"),
    "a known state gets the number of the next one": lambda: with_wrong_table(
        "return np.int64(keys[i + U(words)])", "return np.int64(keys[i + U(words)]) + 1"
    ),
    "the last edge of a group is lost": lambda: with_wrong_record(
        "        n = end\n", "        n = end\n        offsets[base + n] -= edges > 1\n"
    ),
    "the choice is that of the step before": lambda: with_wrong_record("= chosen[i]", "= chosen[max(0, i - 1)]"),
    "a group begins at the edges of the last but one": lambda: with_wrong_record(
        "targets[start + i] = number", "targets[max(0, start + i - 1)] = number"
    ),
}


@pytest.mark.long(seconds=20)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_recording_is_noticed(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_same_recorded(anew(), recorded())
    monkeypatch.setattr(recorder, "record", FAULTS[fault]())
    with pytest.raises(AssertionError):
        assert_same_recorded(anew(), recorded())


def raced(right: Any) -> Any:
    """A search in which the last two states of a turn race for their numbers: each has that of the other in the table."""
    raced_ones: list[int] = []

    def record(*arguments: Any) -> Any:
        at, count = right(*arguments)
        words, keys = arguments[5], arguments[6]
        numbers = keys.reshape(-1, words + 1)[:, words]
        if count > 200 and not raced_ones:
            [one], [two] = (np.flatnonzero(numbers == count - n) for n in (1, 2))
            numbers[one], numbers[two] = numbers[two], numbers[one]
            raced_ones.extend((one, two))
        return at, count

    return record


def test_states_that_race_for_numbers_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seeded fault: as if another thread had inserted a state in between."""
    monkeypatch.setattr(recorder, "ROOM", 40)
    monkeypatch.setattr(recorder, "record", raced(recorder.record))
    with pytest.raises(AssertionError, match="targets"):
        assert_same_recorded(anew(), recorded())


def test_first_edges_of_other_states_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seeded fault: the edge to a state is the one after the first."""
    right = recorder.find_first

    def late(targets: Any, whence: Any) -> None:
        right(targets, whence)
        whence[1:] += 1

    monkeypatch.setattr(recorder, "find_first", late)
    with pytest.raises(AssertionError):
        assert_same_recorded(anew(), recorded())
