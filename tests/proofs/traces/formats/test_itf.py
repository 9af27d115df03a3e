"""ITF traces: values there and back, what is refused and where, and that they are checked as the plain format is."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedproof.model.lang import Model
from schedproof.model.registry.discovery import systems
from schedproof.model.registry.system import System
from schedproof.model.semantics import Instance, instances, stepper_of
from schedproof.model.semantics.run import Run
from schedproof.model.systems.hived import AS_WRITTEN
from schedproof.proofs.traces import TraceError, ValidationReport, check_trace
from schedproof.proofs.traces.check import EVERY, formats_of
from schedproof.proofs.traces.engine.watch import Watch
from schedproof.proofs.traces.files.lines import TextLine
from schedproof.proofs.traces.formats.format import Plain, Requested
from schedproof.proofs.traces.formats.itf import NONE, Map, Record, Tup, decode, encode, some
from schedproof.proofs.traces.formats.itf_trace import ITF
from schedproof.proofs.traces.formats.plain import PLAIN
from schedproof.proofs.traces.formats.writing import as_itf, as_plain
from schedproof.proofs.traces.reports.report import Validation
from tests.support.places import REFERENCE
from tests.support.rows import each_row
from tests.support.sample import thinned
from tests.support.toys import WORKSHOP

VALUES: list[tuple[object, object]] = [
    (True, True),
    ("Pending", "Pending"),
    ({"#bigint": "12"}, 12),
    ({"#bigint": "-3"}, -3),
    ({"#bigint": "1180591620717411303424"}, 2**70),
    ([{"#bigint": "1"}, {"#bigint": "1"}], (1, 1)),
    ({"#tup": [{"#bigint": "1"}, "a"]}, Tup((1, "a"))),
    ({"#set": []}, frozenset()),
    ({"#set": ["a", "b"]}, frozenset({"a", "b"})),
    ({"#set": [{"#set": []}]}, frozenset({frozenset()})),
    ({"#map": [["a", {"#bigint": "1"}], ["b", {"#bigint": "2"}]]}, Map.of({"a": 1, "b": 2})),
    ({"#map": [[{"#tup": []}, True]]}, Map.of({Tup(()): True})),
    ({"name": "a", "on": False}, Record.of({"name": "a", "on": False})),
    ({}, Record.of({})),
    ({"tag": "None", "value": {"#tup": []}}, NONE),
    ({"tag": "Some", "value": "g0"}, some("g0")),
]


@each_row(("written", "value"), VALUES, ids=[str(written)[:40] for written, _ in VALUES])
def test_a_value_is_written_and_read(written: object, value: object) -> None:
    assert decode(written, "x") == value
    assert encode(value) == written


def test_a_plain_number_is_read_too() -> None:
    assert decode(12, "x") == 12 and decode([2**70], "x") == (2**70,)


LEAVES = st.text(max_size=3) | st.integers()
ANY = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3).map(tuple)
        | st.lists(inner, max_size=3).map(lambda items: Tup(tuple(items)))
        | st.frozensets(inner, max_size=3)
        | st.dictionaries(inner, inner, max_size=3).map(Map.of)
        | st.dictionaries(st.text(max_size=3).filter(lambda n: not n.startswith("#")), inner, max_size=3).map(Record.of)
    ),
    max_leaves=12,
)


@settings(max_examples=30)
@given(ANY)
def test_what_is_written_is_what_is_read(value: object) -> None:
    assert decode(json.loads(json.dumps(encode(value))), "x") == value


WRONG: list[tuple[object, str]] = [
    (None, 'x: null is not a value of ITF; no object is written {"tag": "None"'),
    (1.5, "x: 1.5 is not a value of ITF; numbers are whole"),
    ({"#bigint": 3}, 'x.#bigint: 3 is not a whole number as text; write one such as "12"'),
    ({"#bigint": "3.0"}, "x.#bigint"),
    ({"#bigint": "0x10"}, "x.#bigint"),
    ({"#bigint": ""}, "x.#bigint"),
    ({"#bigint": "٣"}, "x.#bigint"),
    ({"#bigint": "1" * 5000}, "x.#bigint"),
    ({"#tup": "ab"}, 'x.#tup: "ab" is not a list; write [...]'),
    ({"#set": {"a": 1}}, "x.#set: an object is not a list; write [...]"),
    ({"#set": [1, True]}, "x.#set: numbers and truth values are mixed"),
    ({"#map": [["a", 1], ["a", 2]]}, 'x.#map[1]: the argument "a" has two results; leave out one'),
    ({"#map": [["a"]]}, "x.#map[0]: a list of 1 is not a pair; write [argument, result]"),
    ({"#map": [["a", None]]}, "x.#map[0][1]: null is not a value"),
    ({"#map": [], "#set": []}, "x: #map has '#set' beside it; leave that out"),
    ({"#set": [], "a": 1}, "x: #set has 'a' beside it; leave that out"),
    ({"#unserializable": "[Int -> Int]"}, 'x: "[Int -> Int]" could not be written as ITF'),
    ({"#lambda": []}, "x: unknown '#lambda'; choose from #bigint"),
    ({"f": [{"#set": [{"g": None}]}]}, "x.f[0].#set[0].g: null"),
]


@each_row(("written", "problem"), WRONG, ids=lambda each: str(each)[:40])
def test_what_is_no_value_is_refused_with_its_place(written: object, problem: str) -> None:
    with pytest.raises(TraceError) as refused:
        decode(written, "x")
    assert str(refused.value).startswith(problem)


def test_what_itf_cannot_say_is_not_written() -> None:
    for value in (1.5, None, [1], Record.of({"#set": 1})):
        with pytest.raises(TypeError):
            encode(value)


# A trace by hand: g1 outranks g0 and preempts it, the pod on the cell is deleted, and g0 with it.
NO, G0, G1 = {"tag": "None", "value": {"#tup": []}}, {"tag": "Some", "value": "g0"}, {"tag": "Some", "value": "g1"}


def state(
    groups: tuple[str, str], cell: str, user: object, reserver: object, action: str = "init", **parameters: object
) -> dict[str, Any]:
    return {
        "action": action,
        "parameters": parameters,
        "PodGroup": {"#map": [["g0", groups[0]], ["g1", groups[1]]]},
        "Cell": {"#map": [["c", cell]]},
        "Cell_user": {"#map": [["c", user]]},
        "Cell_reserver": {"#map": [["c", reserver]]},
    }


CELL = {"#set": ["c"]}
STATES = [
    state(("Pending", "Pending"), "Free", NO, NO),
    state(("Allocated", "Pending"), "Used", G0, NO, "allocate", p="g0", K=CELL),
    state(("BeingPreempted", "Preempting"), "Reserving", G0, G1, "preempt", p="g1", K=CELL),
    state(("BeingPreempted", "Preempting"), "Reserved", NO, G1, "vacate", c="c"),
    state(("Deleted", "Preempting"), "Reserved", NO, G1, "delete_preempted", p="g0"),
    state(("Deleted", "Allocated"), "Used", G1, NO, "complete", p="g1"),
]
VARS = list(STATES[0])
RIGID = {"PodGroup": {"outranks": {"g1": ["g0"]}}}


def trace(states: list[dict[str, Any]] | None = None, **changes: object) -> dict[str, Any]:
    whole = {"#meta": {"rigid": RIGID}, "vars": VARS, "states": STATES if states is None else states}
    return {name: value for name, value in {**whole, **changes}.items() if value is not ...}


def check(content: object, folder: Path, indent: int | None = 1) -> ValidationReport:
    path = folder / "trace.itf.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content, indent=indent), "utf-8")
    return check_trace("hived", path)


@pytest.mark.parametrize("indent", [None, 1])
def test_a_trace_by_hand_conforms(indent: int | None, tmp_path: Path) -> None:
    report = check(trace(), tmp_path, indent)
    assert (report.format, report.verdict.value, report.records) == ("itf", "conforms", 6)


def test_without_meta_objects_are_those_of_the_first_state(tmp_path: Path) -> None:
    """What nothing says never changes is as an exploration would choose it: g1 outranks g0."""
    assert check(trace(**{"#meta": ...}), tmp_path).verdict.value == "conforms"


def test_a_nonconformance_names_the_line_of_its_state(tmp_path: Path) -> None:
    wrong = [*STATES[:4], state(("Deleted", "Preempting"), "Free", NO, NO, "delete_preempted", p="g0")]
    report = check(trace(wrong), tmp_path)
    assert report.verdict.value == "violates" and report.first_nonconformance is not None
    assert report.first_nonconformance.record == 5
    text = json.dumps(trace(wrong), indent=1)
    line = text[: text.index('"delete_preempted"')].count("\n")  # the brace stands on the line before
    assert report.first_nonconformance.line == line


def test_the_first_state_is_held_against_the_initial_one(tmp_path: Path) -> None:
    first = {**STATES[1], "action": "init", "parameters": {}}
    report = check(trace([first, *STATES[2:]]), tmp_path)
    assert report.verdict.value == "violates" and report.first_nonconformance is not None
    assert report.first_nonconformance.record == 1


def test_a_wrong_parameter_violates(tmp_path: Path) -> None:
    wrong = [STATES[0], state(("Allocated", "Pending"), "Used", G0, NO, "allocate", p="g1", K=CELL)]
    assert check(trace(wrong), tmp_path).verdict.value == "violates"


def test_a_state_without_a_step_has_to_stay_as_it_is(tmp_path: Path) -> None:
    still = {**STATES[1], "action": "", "parameters": {}}
    assert check(trace([*STATES[:2], still, *STATES[2:]]), tmp_path).verdict.value == "conforms"
    assert check(trace([*STATES[:1], still]), tmp_path).verdict.value == "violates"


def test_variables_that_are_left_out_are_not_compared(tmp_path: Path) -> None:
    some_of_it = [{n: v for n, v in s.items() if not n.startswith("Cell_")} for s in STATES]
    names = [n for n in VARS if not n.startswith("Cell_")]
    assert check(trace(some_of_it, vars=names), tmp_path).verdict.value == "conforms"


def test_what_is_no_object_may_be_written_in_other_words(tmp_path: Path) -> None:
    text = json.dumps(trace()).replace(json.dumps(NO), '{"tag": "None", "value": "U_OF_UNIT"}')
    assert check(text.replace(json.dumps(G0), '"g0"'), tmp_path).verdict.value == "conforms"


def test_the_example_of_the_readme_conforms(tmp_path: Path) -> None:
    text = (REFERENCE / "trace-formats.md").read_text("utf-8")
    example = text.partition("**itf**")[2].partition("```json\n")[2].partition("\n```")[0]
    report = check(example, tmp_path)
    assert (report.format, report.verdict.value, report.records) == ("itf", "conforms", 2)
    assert check(example.replace('"Used"', '"Free"'), tmp_path).verdict.value == "violates"


def test_the_variant_that_a_trace_names_checks_it(tmp_path: Path) -> None:
    """Repaired, the victim keeps its cells until it is deleted: nothing vacates them before."""
    kept = [*STATES[:3], *STATES[4:]]
    assert check(trace(kept), tmp_path).verdict.value == "violates"
    report = check(trace(kept, **{"#meta": {"variant": "repaired", "rigid": RIGID}}), tmp_path)
    assert (report.variant, report.verdict.value) == ("repaired", "conforms")


def test_the_way_back_of_a_loop_is_noted(tmp_path: Path) -> None:
    report = check(trace(loop=2), tmp_path)
    assert report.verdict.value == "conforms" and "state 2 (loop) names no action and is not checked" in report.note


def but(number: int, **changes: object) -> dict[str, Any]:
    changed = {n: v for n, v in {**STATES[number], **changes}.items() if v is not ...}
    return trace([*STATES[:number], changed, *STATES[number + 1 :]])


MISTAKES: list[tuple[object, str]] = [
    (trace([]), 'line 1: "states" is empty'),
    (trace(vars=...), '"vars" is missing or not a list'),
    (trace(vars="Cell"), '"vars" is missing or not a list'),
    (trace(vars=[*VARS, "Cells"]), "states[0] lacks the variable Cells"),
    (trace([1]), "states[0]: 1 is not an object"),
    (trace(loop=6), '"loop": 6 is not the number of a state; write one from 0 to 5'),
    (trace(loop=True), '"loop": True'),
    (trace(**{"#meta": []}), '"#meta": [] is not an object'),
    (trace(**{"#meta": {"system": "beaker"}}), "this is a trace of 'beaker', and it is checked as 'hived'"),
    (trace(**{"#meta": {"objects": {"Cell": ["d"]}}}), "unknown object 'c'; choose from d"),
    (trace(**{"#meta": {"objects": 3}}), '"objects": 3 is not an object'),
    (but(1, Cell=...), ": states[1] lacks the variable Cell"),
    (but(1, Cells=1), "states[1] has 'Cells', which \"vars\" does not name"),
    (but(2, Cell="Used"), "states[2].Cell: this is not a map; write a #map from names of Cell"),
    (but(2, Cell={"#map": [["c", "Busy"]]}), "state.Cell.c.state: unknown state 'Busy'; choose from Free, Used"),
    (but(2, Cell={"#map": [["c", {"#set": []}]]}), "state.Cell.c.state: unknown state []; choose from Free, Used"),
    (but(2, Cell={"#map": [["d", "Used"]]}), "unknown object 'd'"),
    (but(2, Cell={"#map": [[1, "Used"]]}), "states[2].Cell: 1 is not a name of an object"),
    (
        but(2, Cell_user={"#map": [["c", {"tag": "Many", "value": "g0"}]]}),
        "states[2].Cell_user(c): a record is not a value of a field; write a name, a number",
    ),
    (but(2, Cell_user={"#map": [["c", "g7"]]}), "state.Cell.c.user: unknown PodGroup 'g7'; choose from g0, g1"),
    (but(2, Cell_user={"#map": [["c", None]]}), "states[2].Cell_user.#map[0][1]: null is not a value of ITF"),
    (trace([{**s, "Tool": {"#map": []}} for s in STATES], vars=[*VARS, "Tool"]), "unknown sort 'Tool'"),
    (trace([{**s, "Cell_hue": {"#map": [["c", 1]]}} for s in STATES], vars=[*VARS, "Cell_hue"]), "unknown field 'hue'"),
    (trace(**{"#meta": {"variant": "v9"}}), "'v9'"),
    (but(2, action="fly"), "unknown action 'fly'"),
    (but(2, action=3), "states[2].action: this is not the name of an action"),
    (but(0, action="allocate"), "states[0].action: a step 'allocate' leads to the first state"),
    (but(2, action="init"), "unknown action 'init'"),
    (but(2, parameters=[]), "states[2].parameters: this is not a record"),
    (but(2, parameters={"p": "g1", "L": CELL}), "unknown parameter 'L' of preempt"),
    (but(2, parameters={"p": "g1", "K": "c"}), "parameters.K: 'c' does not fit; write a list of names of Cell"),
    (but(2, parameters={"p": NO, "K": CELL}), "parameters.p: null does not fit"),
    (json.dumps(trace(), indent=1)[:-40], "not JSON"),
    (json.dumps(trace()) + json.dumps(trace()), "an ITF trace is one JSON object"),
]


@each_row(("content", "problem"), MISTAKES, ids=lambda each: str(each)[-40:])
def test_a_wrong_trace_is_refused_in_one_line(content: object, problem: str, tmp_path: Path) -> None:
    with pytest.raises(TraceError) as refused:
        check(content, tmp_path)
    message = str(refused.value)
    assert problem in message and "\n" not in message
    assert "trace.itf.json, line " in message


def test_a_trace_that_nests_too_deeply_is_refused(tmp_path: Path) -> None:
    deep = json.dumps(trace()).replace('"Free"', "[" * 5000 + "]" * 5000, 1)
    with pytest.raises(TraceError):
        check(deep, tmp_path)


# Against the plain format.


def read(model: Model, text: str, kind: str) -> Validation:
    format_ = {"itf": ITF, "plain": PLAIN}[kind]
    lines = [TextLine("t", n, line.strip()) for n, line in enumerate(text.splitlines(), 1) if line.strip()]
    assert [
        f.name
        for f in (formats_of(systems()[model.system]) if model.system in systems() else EVERY)
        if f.recognises(lines)
    ] == [format_.name]
    trace = format_.read(model, iter(lines), Requested())
    assert isinstance(trace, Plain)
    watch = Watch(System(model.system, "", {model.variant: model}, model.variant), None, trace.header)
    for line in trace.records:
        watch.take(line.value, line.number)
    return watch.validation


def walked(instance: Instance, steps: int, seed: int) -> Run:
    rng, stepper, now = random.Random(seed), stepper_of(instance), instance.initial()
    choices, states = [], [now]
    for _ in range(steps):
        possible = list(stepper.steps(now))
        if not possible:
            break
        step = rng.choice(possible)
        now = step.after
        choices.append(step.choice)
        states.append(now)
    return Run(instance, choices, states)


@pytest.mark.parametrize("system", thinned(systems(), 6, first=1))
def test_walks_of_every_variant_conform_in_both_formats(system: str) -> None:
    """In the smallest and the biggest configuration of each; some of them do without a sort."""
    for model in systems()[system].variants.values():
        every = sorted(instances(model, {}), key=lambda one: sum(one.sizes.values()))
        for instance in {id(one): one for one in (every[0], every[-1])}.values():
            run = walked(instance, 8, 1)
            for kind, text in (("itf", as_itf(run)), ("plain", as_plain(run))):
                assert read(model, text, kind).verdict.value == "conforms", (model.variant, kind)


def test_values_of_every_type_are_written_and_read() -> None:
    """The workshop has booleans, enumerations, numbers, references and sets, in states and in parameters."""
    (instance,) = instances(WORKSHOP, {})
    for seed in range(20):
        run = walked(instance, 12, seed)
        assert read(WORKSHOP, as_itf(run), "itf").verdict.value == "conforms"
        assert '"#bigint"' in as_itf(run)


def test_a_changed_state_violates_at_one_record_in_both_formats() -> None:
    """One slot of one state is changed: each format says of it what the other does, one record later for the initial state."""
    rng = random.Random(7)
    (instance,) = instances(AS_WRITTEN, {"PodGroup": 2, "Cell": 2})
    violated = 0
    for seed in range(25):
        run = walked(instance, 6, seed)
        at = rng.randrange(1, len(run.states))
        slot = rng.randrange(instance.width)
        wrong = list(run.states[at])
        low = 0 if slot < 4 else -1
        wrong[slot] = rng.choice([v for v in range(low, 2) if v != wrong[slot]])
        changed = Run(instance, run.choices, [*run.states[:at], tuple(wrong), *run.states[at + 1 :]])
        itf, plain = read(AS_WRITTEN, as_itf(changed), "itf"), read(AS_WRITTEN, as_plain(changed), "plain")
        assert itf.verdict is plain.verdict and itf.nonconformance is not None and plain.nonconformance is not None
        assert (itf.nonconformance.record, plain.nonconformance.record) == (at + 1, at)
        violated += 1
    assert violated == 25
