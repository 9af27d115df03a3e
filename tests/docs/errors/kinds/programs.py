"""Errors of calls from Python: wrong types, unknown names, numbers out of range."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis.stateful import run_state_machine_as_test

from schedproof.api import (
    Engine,
    Exploring,
    Following,
    Saving,
    System,
    check_records,
    check_trace,
    checked,
    counterexample_text,
    findings,
    load_system,
    model_check,
    prove,
    verify,
    verify_variant,
)
from schedproof.model.lang import (
    Attribute,
    BoolType,
    Document,
    LeadsTo,
    Model,
    Relation,
    Row,
    count,
    forall,
    set_variable,
    those,
    variable,
    variables,
)
from schedproof.model.lang.terms import Constant
from schedproof.model.quotes import fact
from schedproof.model.systems.hived import AS_WRITTEN
from schedproof.testing import conforms, lockstep, replay
from tests.docs.errors.case import Case
from tests.model.lang import wrong_models as w
from tests.support.lamps import lamps
from tests.support.toys import MUTEX


def _read_facts(name: str, text: str | None) -> str:
    """Reads facts from a file with this text, if any."""
    if text is not None:
        Path(name).write_text(text)
    return fact(Document("doors.md", "Doors", facts=Path(name)), "1")


def _too_many_pairs() -> object:
    """A relation whose value does not fit into a word of compiled code."""
    model = lamps()
    pairs = Attribute("pairs", Relation(model.sorts[0], model.sorts[0]))
    wide = replace(model, machines=[replace(model.machines[0], attributes=[pairs])])
    return model_check(wide, {"Lamp": 8}, how=Exploring(Engine.COMPILED))


def cases() -> Iterator[Case]:
    model: Any = lamps()
    system: Any = System.of(model)
    j: Any = w.j
    yield Case("model_check(system, {})", lambda: model_check(system, {}))
    yield Case("verify_variant(model, model)", lambda: verify_variant(model, model))
    live = Attribute("live", BoolType(), rigid=True, assumed=True)
    ends = LeadsTo(name="ends", says="", over=[j], given=j.is_("Running"), goal=j.is_("Done"))
    machines = [dataclasses.replace(w.JOB, attributes=[*w.ATTRIBUTES, live]), w.NODE]
    assuming = w.model(machines=machines, add_properties=[ends], assumes={"ends": ["Job.live"]})
    yield Case("verify_variant(system, model)", lambda: verify_variant(System.of(assuming), assuming))
    for name, text in (("missing.json", None), ("list.json", "[]"), ("wrong.json", "{")):
        yield Case(f'facts=Path("{name}")', lambda name=name, text=text: _read_facts(name, text))
    yield Case("verify([model])", lambda: verify([model]))
    yield Case("verify([])", lambda: verify([]))
    yield Case("verify(system)", lambda: verify(system))
    yield Case("findings(model)", lambda: findings(model))
    yield Case("System.of(system)", lambda: System.of(system))
    yield Case("check_trace(model, 'run.jsonl')", lambda: check_trace(model, "run.jsonl"))
    yield Case("check_trace('hived', 3)", lambda: check_trace("hived", 3))  # type: ignore[arg-type]
    yield Case("check_trace(..., following=True)", lambda: check_trace("hived", "x", following=True))  # type: ignore[arg-type]
    yield Case("check_records('hived', None, [])", lambda: check_records("hived", None, []))  # type: ignore[arg-type]
    yield Case("check_records('hived', {}, None)", lambda: check_records("hived", {}, None))  # type: ignore[arg-type]
    yield Case("check_trace(..., mapping=3)", lambda: check_trace("hived", "x", mapping=3))  # type: ignore[arg-type]
    yield Case("counterexample_text(model, None)", lambda: counterexample_text(model, None))  # type: ignore[arg-type]
    yield Case("load_system(3)", lambda: load_system(3))  # type: ignore[arg-type]
    yield Case("load_system('hived', 3)", lambda: load_system("hived", 3))  # type: ignore[arg-type]
    yield Case("load_system('hived', 'missing')", lambda: load_system("hived", "missing"))
    yield Case("load_system('hived', Path('file'))", lambda: _of_a_file())
    yield Case("model_check(model, [2])", lambda: model_check(model, [2]))  # type: ignore[arg-type]
    yield Case("model_check(model, {Lamp: 2})", lambda: model_check(model, {model.sorts[0]: 2}))  # type: ignore[dict-item]
    for number in ("2", 2.0, True):
        yield Case(
            f"model_check(model, {{'Lamp': {number!r}}})", lambda number=number: model_check(model, {"Lamp": number})
        )
    yield Case("model_check(model, {}, how='compiled')", lambda: model_check(model, {}, how="compiled"))  # type: ignore[arg-type]
    yield Case("model_check(model, {}, only='stays-dark')", lambda: model_check(model, {}, only="stays-dark"))
    yield Case("model_check(model, {}, only=[1])", lambda: model_check(model, {}, only=[1]))  # type: ignore[list-item]
    yield Case("model_check(model, {}, only=['stay-dark'])", lambda: model_check(model, {}, only=["stay-dark"]))
    yield Case("Exploring('fast')", lambda: Exploring("fast"))  # type: ignore[arg-type]
    yield Case("Exploring(threads=-3)", lambda: Exploring(Engine.COMPILED, threads=-3))
    yield Case("Exploring(threads='2')", lambda: Exploring(threads="2"))  # type: ignore[arg-type]
    yield Case("Exploring(max_states=0)", lambda: Exploring(max_states=0))
    yield Case("Exploring(memory=-1)", lambda: Exploring(memory=-1))
    yield Case("Exploring(symmetry='no')", lambda: Exploring(symmetry="no"))  # type: ignore[arg-type]
    yield Case("Exploring(halt=True)", lambda: Exploring(halt=True))  # type: ignore[arg-type]
    yield Case("Saving(3)", lambda: Saving(3))  # type: ignore[arg-type]
    yield Case("Saving('kept', every=-1)", lambda: Saving(Path("kept"), every=-1))
    yield Case("prove(model, every='no')", lambda: prove(model, every="no"))  # type: ignore[arg-type]
    yield Case("prove(model, progress=7)", lambda: prove(model, progress=7))  # type: ignore[arg-type]
    yield Case(
        "prove(model, only=['on-or-off'], known=['on-or-off'])",
        lambda: prove(model, only=["on-or-off"], known=["on-or-off"]),
    )
    yield Case("prove(model).proved(None)", lambda: prove(model).proved(None))  # type: ignore[arg-type]
    yield Case("verify([system], progress=3)", lambda: verify([system], progress=3))  # type: ignore[arg-type]
    yield Case(
        "lockstep(model, lambda world: object())",
        lambda: run_state_machine_as_test(lockstep(model, lambda world: object())),
    )
    yield Case("replay(model, 'switch_on')", lambda: replay(model, "switch_on"))  # type: ignore[arg-type]
    yield Case("replay(model, ['switch_on'])", lambda: replay(model, ["switch_on"]))  # type: ignore[list-item]
    yield Case("replay(model, [('switch', {})])", lambda: replay(model, [("switch", {})]))
    yield Case("replay(model, [('switch_on', {})])", lambda: replay(model, [("switch_on", {})]))
    yield Case("replay(model, [('switch_on', {'x': 'l7'})])", lambda: replay(model, [("switch_on", {"x": "l7"})]))
    several = replace(model, configurations=lambda sizes: [{}, {}])
    yield Case("replay(a model with two configurations, [])", lambda: replay(several, []))
    yield Case("conforms(model, None)", lambda: conforms(model, None))  # type: ignore[arg-type]
    yield Case(
        "check_records('hived', header, [None])",
        lambda: check_records("hived", {"schedproof": 1, "system": "hived"}, [None]),  # type: ignore[list-item]
    )
    yield Case(
        "check_records('hived', {'objects': {'Cell': {'c0'}}}, [])",
        lambda: check_records("hived", {"objects": {"Cell": {"c0"}}}, []),
    )
    yield Case(
        "Model(..., configurations=lambda sizes: 3)",
        lambda: model_check(replace(model, configurations=lambda sizes: 3), {}),
    )
    yield Case(
        'Model(..., configurations=lambda sizes: [{"Lamp": 3}])',
        lambda: model_check(replace(model, configurations=lambda sizes: [{"Lamp": 3}]), {}),
    )
    yield Case("variable(Lamp, 'a b')", lambda: variable(model.sorts[0], "a b"))
    yield Case("forall([], x.is_('On'))", lambda: forall([], j.is_("Done")))
    yield Case("those(Lamp, x.is_('On'))", lambda: those(model.sorts[0], j.is_("Done")))
    yield Case("Row('Lamp', 'on', 'Off', 'On')", lambda: Row("Lamp", "on", "Off", "On"))  # type: ignore[arg-type]
    yield Case("lockstep(model, Mine, refused=())", lambda: lockstep(model, object, refused=()))  # type: ignore[arg-type]
    yield Case(
        "lockstep(model, Mine, configuration={'Lamp': [1]})",
        lambda: lockstep(model, object, configuration={"Lamp": [1]}),  # type: ignore[dict-item, arg-type]
    )
    observing = replace(model, actions=[replace(model.actions[0], name="observe")])
    yield Case("lockstep(a model with an action 'observe', Mine)", lambda: lockstep(observing, object))  # type: ignore[arg-type]
    yield Case("variable('Lamp', 'x')", lambda: variable("Lamp", "x"))  # type: ignore[arg-type]
    yield Case("set_variable(Lamp, 3)", lambda: set_variable(model.sorts[0], 3))  # type: ignore[arg-type]
    yield Case("those([], running)", lambda: those([], Constant(True)))
    yield Case("count([], running)", lambda: count([], Constant(True)))
    yield Case('Attribute("pairs", Relation(Lamp, Lamp)), with 8 lamps and the compiled engine', _too_many_pairs)
    yield Case("Following(every=0)", lambda: Following(every=0))
    yield Case("Following(idle='1')", lambda: Following(idle="1"))  # type: ignore[arg-type]
    yield Case("verify([System.of(model)], jobs=0)", lambda: verify([System.of(model)], jobs=0))
    yield Case("verify_variant(load_system('hived'), model)", lambda: verify_variant(load_system("hived"), model))
    yield Case("lockstep(model, None)", lambda: lockstep(model, None))  # type: ignore[arg-type]
    yield Case("lockstep(..., refused='Busy')", lambda: lockstep(model, object, refused="Busy"))  # type: ignore[arg-type]
    yield Case("lockstep(..., chooses=['on'])", lambda: lockstep(model, object, chooses=["on"]))  # type: ignore[arg-type]
    yield Case("lockstep(..., without=[every action])", lambda: lockstep(model, object, without=_actions(model)))
    yield Case("Exploring(checkpoint='kept')", lambda: Exploring(checkpoint="kept"))  # type: ignore[arg-type]
    yield Case("model_check(hived, {}, only=['recovery-from-durable'], how=Exploring(crash=False))", _without_crashes)
    yield Case("prove(model, only=['leaving'])", lambda: prove(MUTEX, only=["leaving"]))
    yield Case("prove(model).support('stays-dark')", lambda: prove(model).support("stays-dark"))
    yield Case("prove(model).proved('stay-dark')", lambda: prove(model).proved("stay-dark"))
    yield Case("lockstep(..., without='switch_on')", lambda: lockstep(model, object, without="switch_on"))
    yield Case("variables('Job', 'j k')", lambda: variables("Job", "j k"))  # type: ignore[arg-type]
    yield Case("variables(Job, ['j', 'k'])", lambda: variables(w.Job, ["j", "k"]))  # type: ignore[arg-type]
    yield Case("forall('j', ...)", lambda: forall("j", j.is_("Done")))  # type: ignore[arg-type]
    yield Case("j.is_(['Done'])", lambda: j.is_(["Done"]))
    yield Case("j.on == None", lambda: j.on == None)  # noqa: E711
    yield Case("forall(j, None)", lambda: forall(j, None))  # type: ignore[arg-type]
    yield Case("j in j.on", lambda: j in j.on)
    yield Case('j.is_("Done") and j.is_("Running")', lambda: j.is_("Done") and j.is_("Running"))
    yield Case("checked(None)", lambda: checked(None))  # type: ignore[arg-type]


def _without_crashes() -> object:
    return model_check(AS_WRITTEN, {}, only=["recovery-from-durable"], how=Exploring(crash=False))


def _actions(model: Model) -> list[str]:
    return [action.name for action in model.actions]


def _of_a_file() -> System:
    Path("file").write_text("")
    return load_system("hived", Path("file"))
