"""The properties of a model judged on its explored graphs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from schedproof.model.lang import (
    AlwaysCanReach,
    ByConstruction,
    Invariant,
    LeadsTo,
    LifeCycle,
    Model,
    Property,
    Recovery,
    StepInvariant,
    Var,
    after,
    iff,
)
from schedproof.model.lang import terms as t
from schedproof.model.lang.check import WELL_FORMED, sort_of
from schedproof.model.semantics import Choice, Instance, Moment, Undefined, check_scope, compile_term
from schedproof.model.semantics.evaluate import Eval

from . import liveness
from .explore import Exploration, Progress, explore
from .trace import run
from .verdict import Counterexample, Method, Result, Verdict


@dataclass(frozen=True)
class Binder:
    """All ways to bind a property's variables."""

    instance: Instance
    over: Sequence[Var]

    def bindings(self, moment: Moment) -> Iterator[Moment]:
        """``moment`` with each binding in turn (the same object, changed in place)."""
        yield from self._from(moment, 0)

    def _from(self, moment: Moment, depth: int) -> Iterator[Moment]:
        if depth == len(self.over):
            yield moment
            return
        var = self.over[depth]
        for value in self.instance.domain(var.type):
            moment.bound[var.name] = value
            yield from self._from(moment, depth + 1)

    def compile(self, formula: t.Term) -> Eval:
        """A formula over the bound variables as a function."""
        return compile_term(self.instance, formula, {v.name: v for v in self.over})


@dataclass
class Watch:
    """One property while its graph is explored: whether its premise was met, and where it first failed."""

    prop: Property
    met: bool = False
    failed: tuple[int, Choice | None, str] | None = None
    seconds: float = field(default=0.0)


def reads_history(model: Model, prop: Property) -> bool:
    """The property speaks of a history attribute (so it needs the graph that carries them)."""
    return any(_reads(model, part) for part in formulas(prop))


def formulas(prop: Property) -> list[t.Term]:
    """The formulas of a property."""
    match prop:
        case Invariant() | StepInvariant():
            return [*([prop.given] if prop.given is not None else []), prop.then]
        case AlwaysCanReach() | LeadsTo():
            return [*([prop.given] if prop.given is not None else []), prop.goal]
        case Recovery():
            return [part for r in prop.restores for part in (r.what, r.durable)]
        case _:
            return []


def _reads(model: Model, term: t.Term) -> bool:
    if isinstance(term, t.Attr):
        attribute = model.machine(sort_of(model, term.of, {})).attribute(term.name)
        if attribute is not None and attribute.history:
            return True
    return any(_reads(model, child) for child in t.children(term))


def recovery_steps(model: Model, prop: Recovery) -> list[StepInvariant]:
    """A recovery property as one step invariant of the crash for each part."""
    crashes = [a.name for a in model.actions if a.crash]
    return [
        StepInvariant(
            name=prop.name,
            says=prop.says,
            line=prop.line,
            over=restored.over,
            on=crashes,
            then=iff(after(restored.what), restored.durable),
            place=prop.place,
        )
        for restored in prop.restores
    ]


def _state_check(instance: Instance, watch: Watch, prop: Invariant) -> Callable[[int, Moment], None]:
    binder = Binder(instance, prop.over)
    given = binder.compile(prop.given) if prop.given is not None else None
    then = binder.compile(prop.then)

    def check(number: int, moment: Moment) -> None:
        for m in binder.bindings(moment):
            if given is None or given(m):
                watch.met = True
                if not then(m):
                    watch.failed = (number, None, _naming(instance, prop.over, m))
                    return

    return check


def _naming(instance: Instance, over: Sequence[Var], moment: Moment) -> str:
    return ", ".join(f"{v.name} = {instance.show(v.type, moment.bound[v.name])}" for v in over)


def examine_safety(instance: Instance, found: Exploration, props: Sequence[Property]) -> list[Watch]:
    """Judges invariants, step invariants and recovery on an explored graph."""
    watches: list[Watch] = []
    on_state: list[tuple[Watch, Callable[[int, Moment], None]]] = []
    on_step: list[tuple[Watch, StepInvariant]] = []
    for prop in props:
        watch = Watch(prop)
        watches.append(watch)
        if isinstance(prop, Invariant):
            on_state.append((watch, _state_check(instance, watch, prop)))
        elif isinstance(prop, StepInvariant):
            on_step.append((watch, prop))
        elif isinstance(prop, Recovery):
            on_step += [(watch, part) for part in recovery_steps(instance.model, prop)]
    for watch, check in on_state:
        start = time.perf_counter()
        for number, state in enumerate(found.states):
            _guarded(watch, number, None, lambda n=number, s=state, c=check: c(n, Moment(s)))  # type: ignore[misc]
            if watch.failed:
                break
        watch.seconds += time.perf_counter() - start
    _examine_steps(instance, found, on_step)
    return watches


def _guarded(watch: Watch, number: int, choice: Choice | None, check: Callable[[], None]) -> None:
    try:
        check()
    except Undefined as error:
        watch.failed = (number, choice, f"the property is undefined here: {error}")


def _examine_steps(instance: Instance, found: Exploration, checks: Sequence[tuple[Watch, StepInvariant]]) -> None:
    from schedproof.model.semantics import Stepper

    stepper = Stepper(instance)
    compiled = []
    for watch, prop in checks:
        binder = Binder(instance, prop.over)
        given = binder.compile(prop.given) if prop.given is not None else None
        compiled.append((watch, prop, binder, given, binder.compile(prop.then)))
    for number, edges in enumerate(found.edges):
        for edge in edges:
            step = None
            for watch, prop, binder, given, then in compiled:
                if watch.failed or (prop.on and edge.choice.action not in prop.on):
                    continue
                start = time.perf_counter()
                step = step or stepper.step(found.states[number], edge.choice)
                moment = Moment(found.states[number], {}, step.fired, step.after)
                try:
                    for m in binder.bindings(moment):
                        if given is None or given(m):
                            watch.met = True
                            if not then(m):
                                watch.failed = (number, edge.choice, _naming(instance, prop.over, m))
                                break
                except Undefined as error:
                    watch.failed = (number, edge.choice, f"the property is undefined here: {error}")
                watch.seconds += time.perf_counter() - start


def _result(prop: Property, instance: Instance, found: Exploration, watch: Watch) -> Result:
    scope = dict(instance.sizes)
    common = (prop.name, prop.kind)
    if watch.failed is not None:
        number, choice, where = watch.failed
        choices = found.path(number)
        if choice is not None:
            choices = _last(found, number, choices, choice)
        problem = f"{prop.says}: not so" + (f" for {where}" if where else "")
        counterexample = Counterexample(run(instance, choices), problem)
        return Result(*common, Verdict.REFUTED, Method.EXPLORATION, scope, watch.seconds, counterexample)
    if not found.complete:
        note = f"stopped after {len(found.states)} states"
    elif not watch.met:
        note = "vacuous: its premise is never true at " + ",".join(f"{s}={n}" for s, n in scope.items())
    else:
        return Result(*common, Verdict.PROVED, Method.EXPLORATION, scope, watch.seconds)
    return Result(*common, Verdict.UNDETERMINED, Method.EXPLORATION, scope, watch.seconds, note=note)


def _last(found: Exploration, number: int, choices: list[Choice], choice: Choice) -> list[Choice]:
    """The run to state ``number`` and then ``choice``, renamed like the run if symmetry renamed it."""
    if found.symmetry is None:
        return [*choices, choice]
    from schedproof.model.semantics import Stepper

    stepper, now = Stepper(found.instance), found.instance.initial()
    for earlier in choices:
        now = stepper.step(now, earlier).after
    if now == found.states[number]:
        return [*choices, choice]
    raise AssertionError("step properties are judged without symmetry")


def examine(
    model: Model,
    scope: Mapping[str, int],
    *,
    only: Sequence[str] = (),
    crash: bool = True,
    limit: int | None = None,
    progress: Progress | None = None,
) -> list[Result]:
    """Every property of ``model`` (or those named ``only``) by exploration at ``scope``.

    With several topologies a property holds if it holds in each; it is refuted by the first that does.
    The first result is ``well-formed``.

    Raises:
        ScopeError: the scope is impossible.
    """
    sizes = check_scope(model, scope)
    props = [p for p in model.properties if not only or p.name in only]
    results: dict[str, Result] = {}
    for rigid in model.topologies(sizes):
        for with_history in (False, True):
            mine = [p for p in props if reads_history(model, p) == with_history]
            if with_history and not mine:
                continue
            instance = Instance(model, sizes, rigid, with_history)
            found = explore(instance, symmetry=False, crash=crash, limit=limit, progress=progress)
            fresh = [_judge(instance, found, p) for p in mine if not isinstance(p, _SAFETY)]
            watches = examine_safety(instance, found, [p for p in mine if isinstance(p, _SAFETY)])
            fresh += [_result(w.prop, instance, found, w) for w in watches]
            if not with_history and (not only or WELL_FORMED in only):
                fresh.append(_well_formed(instance, found))
            for result in fresh:
                results[result.name] = _worse(results.get(result.name), result)
    order = [WELL_FORMED, *(p.name for p in model.properties)]
    return sorted(results.values(), key=lambda r: order.index(r.name))


@dataclass(frozen=True, kw_only=True)
class WellFormed(Property):
    """The property that every model has."""

    kind = "well-formedness"


WELL_FORMEDNESS = WellFormed(
    name=WELL_FORMED,
    says="in every step each object fires at most once, from a source state, and nothing is read of no object",
)

_SAFETY = (Invariant, StepInvariant, Recovery)


def _worse(old: Result | None, new: Result) -> Result:
    rank = [Verdict.PROVED, Verdict.UNDETERMINED, Verdict.REFUTED]
    if old is None:
        return new
    if "vacuous" in old.note and new.verdict is Verdict.PROVED:
        return new  # the premise need only be met in some topology
    return new if rank.index(new.verdict) > rank.index(old.verdict) and "vacuous" not in new.note else old


def _well_formed(instance: Instance, found: Exploration) -> Result:
    watch = Watch(WELL_FORMEDNESS, met=True, failed=found.ill_formed)
    return _result(watch.prop, instance, found, watch)


def _judge(instance: Instance, found: Exploration, prop: Property) -> Result:
    start = time.perf_counter()
    scope = dict(instance.sizes)
    if isinstance(prop, ByConstruction):
        return Result(prop.name, prop.kind, Verdict.PROVED, Method.CONSTRUCTION, None, 0.0, note=prop.because)
    if not found.complete:
        note = f"stopped after {len(found.states)} states"
        return Result(prop.name, prop.kind, Verdict.UNDETERMINED, Method.EXPLORATION, scope, 0.0, note=note)
    match prop:
        case LifeCycle():
            answer = liveness.life_cycle(instance, found, prop)
        case AlwaysCanReach():
            answer = liveness.always_can_reach(instance, found, prop)
        case LeadsTo():
            answer = liveness.leads_to(instance, found, prop)
        case _:
            raise AssertionError(f"no way to judge a {type(prop).__name__}")
    seconds = time.perf_counter() - start
    if answer is None:
        return Result(prop.name, prop.kind, Verdict.PROVED, Method.EXPLORATION, scope, seconds)
    if isinstance(answer, str):
        return Result(prop.name, prop.kind, Verdict.UNDETERMINED, Method.EXPLORATION, scope, seconds, note=answer)
    return Result(prop.name, prop.kind, Verdict.REFUTED, Method.EXPLORATION, scope, seconds, answer)
