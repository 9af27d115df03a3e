"""Errors of a model: those of ``tests/model/lang``, and those that only an exploration or a proof finds."""

from __future__ import annotations

import dataclasses
import linecache
import re
from collections.abc import Iterator

from schedproof.cli.commands.explain import _slot
from schedproof.cli.scopes import bounded
from schedproof.model.lang import Attribute, Mistake, ModelError, Ref, Sort, State, forall, variables
from schedproof.model.lang.check import checked
from schedproof.model.lang.terms import Constant
from schedproof.model.registry.system import System
from schedproof.model.semantics import Instance, bounds_of, check_scope, instances
from schedproof.model.systems.hived import AS_WRITTEN
from schedproof.proofs.checking.model_check import check_axioms
from schedproof.proofs.export import promela
from schedproof.proofs.induction.solve import prove
from schedproof.proofs.refinement.modelside import ModelGraph
from schedproof.proofs.traces import check_records
from tests.docs.errors.case import Case
from tests.model.lang import test_coalescing as coalescing
from tests.model.lang import test_disposable as disposable
from tests.model.lang import test_messages as messages
from tests.model.lang import wrong_models as w
from tests.model.lang.test_coalescing import model as channels
from tests.model.lang.test_single import model as single_model
from tests.model.lang.wrong_timers import ORDERS, TIMERS
from tests.proofs.verification import test_defects as doors
from tests.support import logs
from tests.support.keys import KEYS
from tests.support.lamps import lamps
from tests.support.messages import RANGES


def _wrong(build: w.Case) -> Case:
    """A case of another test, whose places move with its file."""

    def go() -> str:
        try:
            checked(build[0]())  # type: ignore[arg-type]
        except ModelError as error:
            return re.sub(r"lang/wrong_models\.py:\d+", "jobs/model.py:12", str(error))
        return ""

    return Case(_line(build), go)


def _line(build: w.Case) -> str:
    """The line of the mistake."""
    code = build[0].__code__  # type: ignore[attr-defined]
    numbers = sorted({line for *_, line in code.co_lines() if line})
    lines = [linecache.getline(w.__file__, n).strip() for n in numbers]
    marked = [line for line in lines if line.endswith("# wrong")] or lines[:1]
    return marked[0].removesuffix("# wrong").strip().removeprefix("lambda: ").rstrip(",")


def _placed(shown: str, build: object) -> Case:
    """A case whose place is a line of a helper."""

    def go() -> str:
        try:
            build()  # type: ignore[operator]
        except ModelError as error:
            return re.sub(r"\w+/\w+\.py:\d+", "jobs/model.py:12", str(error))
        return ""

    return Case(shown, go)


def _false_axiom(*axioms: object) -> object:
    return check_axioms(Instance(dataclasses.replace(lamps(), axioms=list(axioms)), {"Lamp": 2}))


def _timers() -> Iterator[Case]:
    """Errors of the libraries of timers and of orders."""
    for text, (build, _) in {**TIMERS, **ORDERS}.items():
        yield _placed(text, build)


def cases() -> Iterator[Case]:
    kicked = dataclasses.replace(doors.FIRM, name="kicked", shown="quiet", avoids=["kick"])
    yield _placed(
        'Change(..., shown="quiet", avoids=["kick"])', lambda: doors.defects(doors.repaired([doors.SOFT, kicked]))
    )
    yield _placed('Change(..., shown="can-be-shut", avoids=["kick"])', doors.prompt_on_the_way_to_a_goal)
    yield _placed('Change(..., shown="shut-again", asks=d.is_("Open"))', doors.asked_of_a_life)
    for violates in ((), ("quite",)):
        kicks = dataclasses.replace(
            doors.FIRM, mistakes=[Mistake("kicked", "Doors are kicked.", "as-written", violates)]
        )
        yield _placed(
            f'Mistake("kicked", "Doors are kicked.", "as-written", {list(violates)})',
            lambda kicks=kicks: doors.defects(doors.repaired([doors.SOFT, kicks])),  # type: ignore[misc]
        )
    yield from map(_wrong, w.CASES.values())
    yield Case(
        "export --promela, of a relation of 4 clients and 8 keys",
        lambda: promela(next(iter(instances(KEYS, {"Client": 4, "Key": 8, "Node": 1}))), only=None),
    )
    yield Case(
        "export --promela, of a function of 4 nodes and 3 items to nodes",
        lambda: promela(next(iter(instances(RANGES, {"Node": 4, "Item": 3}))), only=None),
    )
    prop = w.PROPERTIES[0]
    yield _placed(
        'Invariant(name="well-formed", ...)',
        lambda: checked(w.model(add_properties=[dataclasses.replace(prop, name="well-formed")])),
    )
    yield _placed('State("on", begins="nonsense")', lambda: checked(channels(begins="nonsense")))
    yield _placed(
        'follows_from=["running"]',
        lambda: checked(w.model(add_properties=[dataclasses.replace(prop, name="p", follows_from=["running"])])),
    )
    yield _placed("verify_scope={'Job': 1}", lambda: checked(w.model(verify_scope={"Job": 1})))
    clocks = single_model(True)
    header = {"schedproof": 1, "system": "clocks", "objects": {"Lamp": []}}
    two = [{"action": "show", "parameters": {"c": name}} for name in ("wall", "wrist")]
    system = System("clocks", "", {"as-written": clocks}, validated_by="as-written")
    yield _placed('Sort("Clock", "c", single="yes")', lambda: Sort("Clock", "c", single="yes"))  # type: ignore[arg-type]
    yield _placed(
        'Sort("Clock", "c", single=True) and default_scope={"Clock": 2}',
        lambda: checked(dataclasses.replace(clocks, default_scope={"Clock": 2})),
    )
    for build, problem in disposable.REFUSED:
        yield _placed(f"a disposable sort: {problem}", build)
    for build, problem in messages.REFUSED:
        yield _placed(f"a channel: {problem}", build)
    for build, problem in coalescing.REFUSED:
        yield _placed(f"channels that coalesce: {problem}", build)
    queue = disposable.model()
    yield Case('model_check(model, {"Request": 1})', lambda: check_scope(queue, {"Request": 1}))
    yield Case("a refinement of a disposable sort", lambda: ModelGraph.explore(next(instances(queue, {}))))
    yield Case('model_check(model, {"Clock": 2})', lambda: check_scope(clocks, {"Clock": 2}))
    yield Case('{"action": "show", "parameters": {"c": "wrist"}}', lambda: check_records(system, header, two))
    yield Case(
        '"objects": {"Clock": ["wall", "wrist"]}',
        lambda: check_records(system, {**header, "objects": {"Clock": ["wall", "wrist"]}}, []),
    )
    yield _placed('State("on", lin=3)', lambda: State("on", lin=3))  # type: ignore[call-arg]
    yield _placed('Sort("Job")', lambda: Sort("Job"))  # type: ignore[call-arg]
    yield _placed('Sort("Job", "j", True)', lambda: Sort("Job", "j", True))  # type: ignore[misc]
    yield _placed('State("on", name="off")', lambda: State("on", name="off"))  # type: ignore[misc]
    yield _placed("variables(Job, 'j, k')", lambda: variables(w.Job, "j, k"))
    yield _placed("axioms=[Constant(False)], in an exploration", lambda: _false_axiom(Constant(False)))
    yield _placed(
        "axioms=[Constant(False)], in a proof", lambda: prove(dataclasses.replace(lamps(), axioms=[Constant(False)]))
    )
    dark = dataclasses.replace(lamps(), assuming={"all is dark": Constant(False)})
    yield _placed('assuming={"all is dark": Constant(False)}', lambda: check_axioms(Instance(dark, {"Lamp": 2})))
    yield from _timers()
    boss = dataclasses.replace(w.JOB, attributes=[*w.ATTRIBUTES, Attribute("boss", Ref(w.Job), rigid=True)])
    lost = w.model(machines=[boss, w.NODE], axioms=[forall(w.j, w.j.boss.urgent)])
    nobody = {("Job", "boss"): (None,), ("Job", "urgent"): (False,)}
    yield _placed(
        "axioms=[forall(j, j.boss.urgent)]", lambda: check_axioms(Instance(lost, {"Job": 1, "Node": 1}, nobody))
    )
    for text, factor in (("m.age", w.m.age), ("100", 100)):
        yield Case(f"{text} * n.age", lambda factor=factor: factor * w.n.age)  # type: ignore[misc]
    old = w.aged()
    yield _placed('Attribute("age", Nat), in an exploration', lambda: bounds_of(Instance(old, old.default_scope)))
    yield _placed(
        'Attribute("age", Nat), in a refinement', lambda: ModelGraph.explore(Instance(old, old.default_scope))
    )
    endless = logs.endless()
    yield Case(
        'Attribute("log", Sequence(IntRange(0, 2), at_most=2)), in a refinement',
        lambda: ModelGraph.explore(Instance(endless, {"Node": 1, "Job": 1})),
    )
    for text in ("Node.age=old", "Node.age=1,Node.age=2", "Node.age=-1", "Node.aged=1"):
        yield Case(f"schedproof explore jobs --bound {text}", lambda text=text: bounded(old, [text]))  # type: ignore[misc]
    timed = dataclasses.replace(old, bound={("Node", "age"): 3})
    yield Case(
        "schedproof explain jobs --state n0.age=old", lambda: _slot(Instance(timed, timed.default_scope), "n0.age=old")
    )
    sizes = {"PodGroup": 1, "Cell": 1}
    for rigid in (
        {("Cell", "colour"): ()},
        {("PodGroup", "outranks"): ()},
        {("PodGroup", "outranks"): (frozenset({7}),)},
    ):
        yield Case(f"Instance(model, {sizes}, {rigid})", lambda rigid=rigid: Instance(AS_WRITTEN, sizes, rigid))  # type: ignore[misc]
