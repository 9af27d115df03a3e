"""Checks the properties of a model by exploration."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from schedproof.model.errors import require
from schedproof.model.lang import (
    ByConstruction,
    LifeCycle,
    Model,
    ModelError,
    Property,
    Recovery,
    StepInvariant,
)
from schedproof.model.lang import terms as t
from schedproof.model.lang.infer import sort_of
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.model.registry.errors import UserError, require_known
from schedproof.model.semantics import (
    Instance,
    Moment,
    ScopeError,
    Undefined,
    bounds_of,
    check_scope,
    compile_term,
    configurations,
    fitted,
    scope_text,
)
from schedproof.model.semantics.reasons import configuration_text, first_false
from schedproof.proofs.exploration.explore import AT_LIMIT, Exploration, ExplorationResult
from schedproof.proofs.exploration.limits import ALL_REFUTED, GREW, Enough, Halted
from schedproof.proofs.exploration.liveness import NEVER, Open
from schedproof.proofs.exploration.safety import SAFETY, Watch, counterexample, ill_formed
from schedproof.proofs.verdict import Counterexample, Method, Result, Verdict

from .engine import Engine, Exploring, answer, code_of, prepare, stopped
from .slices import NO_HISTORY, Slice, Slices, formulas
from .vacuity import MOST_INSTANCES, nothing_enabled, premise_never_true

if TYPE_CHECKING:
    from schedproof.proofs.compiled import Graph
    from schedproof.proofs.compiled.histories import Histories
    from schedproof.proofs.compiled.shared import SharedGraph

ORDINARY = Exploring()
"""The default way to explore."""


FOLLOWED = 5_000
"""Points of history are followed on graphs with more states than this; others are searched in slices as fast."""

TRIED = 500_000
"""So many states of a slice are searched before all states without history are."""


def reads_history(model: Model, prop: Property) -> bool:
    """Whether the property reads a history attribute, so that its graph must include it."""
    read = [part for formula in formulas(prop) for part in t.subterms(formula) if isinstance(part, t.Attr)]
    attributes = [model.machine(sort_of(model, part.of, {})).attribute(part.name) for part in read]
    return any(attribute is not None and attribute.history for attribute in attributes)


def model_check(
    model: Model,
    scope: Mapping[str, int],
    *,
    only: Sequence[str] = (),
    how: Exploring = ORDINARY,
) -> list[Result]:
    """Checks the properties of ``model`` (or those named ``only``) by exploration at ``scope``.

    A property holds if it holds in every configuration; one configuration suffices to refute it, and to show that a life
    cycle can happen. Symmetry applies to safety only: life cycles and liveness follow single objects, so they need every
    state. Properties that concern only crashes are left out if ``how`` takes no crashes.

    Args:
        model: the model.
        scope: sort name -> number of objects, 1 to 64; sorts that are left out have the model's default.
        only: names of properties; () means all.
        how: the engine, and its limits.

    Returns:
        Results in the order of the model's properties; ``well-formed`` comes first.

    Raises:
        UserError: a name of ``only`` is unknown, or of a property about crashes although ``how`` leaves crashes out.
        ScopeError: the scope is impossible.
        TooWide: the compiled engine is required, and an instance is too large for it.
        CheckpointError: a checkpoint cannot be written, is damaged or belongs to something else.
    """
    return explored(model, scope, only=only, how=how)


def explored(
    model: Model,
    scope: Mapping[str, int],
    *,
    only: Sequence[str] = (),
    how: Exploring = ORDINARY,
    on_found: Callable[[ExplorationResult], None] | None = None,
) -> list[Result]:
    """As :func:`model_check`; ``on_found`` is called with the finished exploration of each configuration."""
    sizes = check_scope(model, scope)
    require("how", how, Exploring, "Exploring(...)")
    known = [WELL_FORMED, *(p.name for p in model.properties)]
    require_known("only", "property", only, known, of=f"{model.system} {model.variant}")
    skipped = () if how.crash else about_crashes(model)
    for name in only:
        if name in skipped:
            raise UserError(
                f"property {name!r} of {model.system} {model.variant} is about crashes only, and Exploring(crash=False) "
                "takes none; leave out the property or crash=False"
            )
    props = [p for p in model.properties if (not only or p.name in only) and p.name not in skipped]
    results: dict[str, list[Result]] = {}
    sizes_of_graphs = _Sizes()
    instances: list[Instance] = []
    all_rigid = configurations(model, sizes)
    for rigid in all_rigid:
        instance = Instance(model, fitted(sizes, rigid), rigid)
        if len(instances) < MOST_INSTANCES:  # what is kept alive
            instances.append(instance)
        check_axioms(instance)
        for result in _in_configuration(
            instance, props, not only or WELL_FORMED in only, how, sizes_of_graphs, on_found
        ):
            results.setdefault(result.name, []).append(result)
    if not results and (props or not only):
        at = scope_text(sizes)
        raise ScopeError(
            f"{model.system} {model.variant} has no configuration at {at}, so nothing was explored; choose another scope"
        )
    reasons = (_with_reason(_together(r), model, instances, len(all_rigid)) for r in results.values())
    together = (_assuming(result, model) for result in reasons)
    return sorted(together, key=lambda r: known.index(r.name))


def _assuming(result: Result, model: Model) -> Result:
    """The result, with the assumptions that all configurations meet if the property holds in them."""
    holds = result.verdict is Verdict.PROVED and result.method is Method.EXPLORATION
    return replace(result, assuming=tuple(model.assuming)) if holds and model.assuming else result


def _with_reason(result: Result, model: Model, instances: Sequence[Instance], count: int) -> Result:
    """The result; if its premise is never true, with the condition that no state meets.

    Args:
        result: the verdict in all configurations.
        model: the model.
        instances: the first configurations.
        count: the number of all.
    """
    if not (result.vacuous and NEVER in result.note):
        return result
    prop = model.property(result.name)
    if reads_history(model, prop):
        instances = [Instance(model, each.sizes, each.rigid, with_history=True) for each in instances]
    why = premise_never_true(instances, prop, count)
    return replace(result, note=f"{result.note}: {why}") if why else result


def _in_configuration(
    instance: Instance,
    props: Sequence[Property],
    formed: bool,
    how: Exploring,
    sizes_of_graphs: _Sizes,
    on_found: Callable[[ExplorationResult], None] | None,
) -> Iterator[Result]:
    """Checks properties, and well-formedness if ``formed``, each on the slice that it needs.

    Slices share one search while it has few more states than the search without history: an attribute that is a function
    of the state adds none. If it has many more, the properties that are not yet refuted continue on separate slices.
    Properties that read one point of history need none of these if they hold: the graph without history has all points.
    If all properties need the full graph, slices share no search: that search could not stop when its graph grows.
    """
    slices = Slices(instance)
    groups: dict[Slice, list[Property]] = {NO_HISTORY: []}
    for prop in props:
        groups.setdefault(slices.of(prop), []).append(prop)
    if formed and slices.fragile:
        groups.setdefault(slices.fragile, []).append(WELL_FORMEDNESS)
    plain = groups.pop(NO_HISTORY)
    follows = how.engine is not Engine.INTERPRETED  # only compiled graphs follow points
    pointwise = [prop for each in groups.values() for prop in each if follows and slices.is_pointwise(prop)]
    first = _Search(
        instance, [*plain, *([WELL_FORMEDNESS] if formed else [])], how, pointwise if plain or formed else []
    )
    yield from first.results(states=sizes_of_graphs.expected(instance), on_found=on_found)
    sizes_of_graphs.note(instance, first.states)
    groups = _without(groups, first.held)
    if pointwise and not first.states and not how.symmetry and how.checkpoint is None:
        # Small slices and near violations come first: they need no graph of all states.
        for kept, each in groups.items():
            trial = _Search(slices.instance(kept), each, how)
            yield from trial.results(pace=[TRIED])
            groups = _without(groups, {p.name for p in each} - {p.name for p in trial.left})
        left = [prop for prop in pointwise if any(prop in each for each in groups.values())]
        first = _Search(instance, [], how, left)
        yield from first.results()
        groups = _without(groups, first.held)
    measured = any(isinstance(prop, SAFETY) for each in groups.values() for prop in each)
    # An integer or a sequence of history cuts steps, which would be missing for properties that do not read it.
    shared = measured and not any(field in instance.model.bounded for kept in groups for field in kept)
    if len(groups) > 1 and shared and (first.pace is not None or first.cut_short):
        every = NO_HISTORY.union(*groups)
        together = _Search(slices.instance(every), [prop for each in groups.values() for prop in each], how)
        yield from together.results(pace=first.pace, states=first.states)
        groups = _without(groups, {p.name for each in groups.values() for p in each} - {p.name for p in together.left})
    for kept, each in groups.items():
        yield from _Search(slices.instance(kept), each, how).results(states=first.states)


def _without(groups: Mapping[Slice, Sequence[Property]], decided: Collection[str]) -> dict[Slice, list[Property]]:
    """The groups of properties, less those with these names."""
    left = {kept: [prop for prop in each if prop.name not in decided] for kept, each in groups.items()}
    return {kept: each for kept, each in left.items() if each}


class _Sizes:
    """State counts of other configurations: one with at least as many objects of each sort seldom has fewer states."""

    def __init__(self) -> None:
        self._known: list[tuple[Mapping[str, int], int]] = []

    def note(self, instance: Instance, states: int) -> None:
        """Records the number of states of an instance."""
        self._known.append((instance.sizes, states))

    def expected(self, instance: Instance) -> int:
        """The states of the largest graph with no more objects of any sort."""
        return max(
            (states for sizes, states in self._known if all(n <= instance.sizes[sort] for sort, n in sizes.items())),
            default=0,
        )


class _Search:
    """One search of an instance, for a group of properties.

    Attributes:
        pace: the cumulative number of states by depth; None if some states were not found.
        states: the least number of states.
        cut_short: the search stopped early, for lack of time or memory.
        left: the properties to check in searches of smaller slices.
        held: the names of the properties with one point of history that hold.

    Args:
        pointwise: properties that read one point of history, to check on the graph without history.
    """

    def __init__(
        self, instance: Instance, props: Sequence[Property], how: Exploring, pointwise: Sequence[Property] = ()
    ) -> None:
        self._instance, self._how, self._pointwise = instance, how, pointwise
        self._formed = WELL_FORMEDNESS in props
        self._constructed = [p for p in props if isinstance(p, ByConstruction)]
        self._safe = [p for p in props if isinstance(p, SAFETY)]
        self._runs = [p for p in props if not isinstance(p, (*SAFETY, ByConstruction, WellFormed))]
        self.pace: Sequence[int] | None = None
        self.states = 0
        self.cut_short = False
        self.left: list[Property] = []
        self.held: set[str] = set()

    def results(
        self,
        *,
        pace: Sequence[int] | None = None,
        states: int = 0,
        on_found: Callable[[ExplorationResult], None] | None = None,
    ) -> Iterator[Result]:
        """Searches, and checks all properties except those in ``left``.

        Args:
            pace: of the search without history, if this search may leave properties to others.
            states: the expected number of states.
            on_found: called with the exploration; it then includes every state.
        """
        for constructed in self._constructed:
            yield _constructed(self._instance.model, constructed)
        if on_found is None and self._how.workers is not None and (why := self._halted()):
            # Workers still do what was interrupted, and a search would wait for them.
            self.cut_short = True
            asked = [*self._safe, *([WELL_FORMEDNESS] if self._formed else []), *self._runs]
            yield from (_open(self._instance, prop, why) for prop in asked)
            return
        exploration: ExplorationResult | None = None
        if self._safe or self._formed:
            all_states = on_found is not None or self._formed or bool(self._runs)
            exploration, watches = self._how.watch(
                self._instance,
                self._safe,
                Enough(not all_states, pace),
                states,
                record=bool(self._runs or self._pointwise),
                histories=lambda: self._histories,
            )
            self._note(exploration)
            if on_found is not None:
                on_found(exploration)
            if pace is not None and exploration.stopped in (GREW, AT_LIMIT):
                watches = self._refuted_only(watches)
            yield from (_safety(exploration, w) for w in watches)
            if self._formed:
                yield _well_formed(exploration)
        if self._runs or self._follows(exploration):
            states = exploration.state_count if exploration is not None else states
            code = None
            if exploration is not None and exploration.symmetry is not None:
                code = code_of(exploration)
                exploration = None  # frees its memory
            exploration, graph = self._how.graph(
                self._instance, exploration, states, code, lambda states: self._histories if states > FOLLOWED else None
            )
            self._note(exploration)
            # Few graphs follow points, and making the code for it takes longer than most searches.
            followed = self._histories if "_histories" in self.__dict__ else None
            for watched in followed.holding if followed is not None else []:
                self.held.add(watched.prop.name)
                yield _safety(exploration, watched)
            if not isinstance(graph, str):
                prepare(graph, self._runs)
            for prop in self._runs:
                yield _check(exploration, self._halted() or graph, prop)

    def _halted(self) -> str:
        return self._how.halt() if self._how.halt is not None else ""

    def _follows(self, exploration: ExplorationResult | None) -> bool:
        """Whether points of history are worth a graph that nothing else needs."""
        if exploration is None:
            return bool(self._pointwise) and not self._constructed
        many = exploration.complete and exploration.symmetry is None and exploration.representatives > FOLLOWED
        return bool(self._pointwise) and many

    @cached_property
    def _histories(self) -> Histories | None:
        """The points of history to follow on a graph; None if there are none."""
        if not self._pointwise:
            return None
        from schedproof.proofs.compiled.histories import histories_of

        actions = [action for action in self._instance.model.actions if self._how.crash or not action.crash]
        return histories_of(self._instance, actions, self._pointwise, crash=self._how.crash)

    def _note(self, exploration: ExplorationResult) -> None:
        self.pace = exploration.up_to() if exploration.complete else None
        self.states = exploration.state_count
        self.cut_short = exploration.stopped not in ("", ALL_REFUTED)

    def _refuted_only(self, watches: Sequence[Watch]) -> list[Watch]:
        """Moves the properties that are not refuted to ``left``."""
        undecided = [w.prop for w in watches if w.failed() is None]
        self.left = [*undecided, *self._runs, *([WELL_FORMEDNESS] if self._formed else [])]
        self._runs, self._formed = [], False
        return [w for w in watches if w.failed() is not None]


@dataclass(frozen=True, kw_only=True)
class WellFormed(Property):
    """The property of every model that its steps are well-formed."""

    kind = "well-formedness"


WELL_FORMEDNESS = WellFormed(
    name=WELL_FORMED,
    says="in every step each object fires at most once, from a source state of its event; no attribute of NONE is read, and "
    "every new value is of its attribute's type",
)


def about_crashes(model: Model) -> frozenset[str]:
    """The names of the properties that are only about crashes: without crashes, an exploration says nothing of them."""
    crashes = {a.name for a in model.actions if a.crash}
    return frozenset(
        prop.name
        for prop in model.properties
        if isinstance(prop, Recovery) or (isinstance(prop, StepInvariant) and prop.on and set(prop.on) <= crashes)
    )


def _safety(exploration: ExplorationResult, watched: Watch) -> Result:
    prop, scope = watched.prop, dict(exploration.instance.sizes)
    failed = watched.failed()
    if failed is not None:
        verdict, note, example = Verdict.REFUTED, "", counterexample(exploration, failed)
    elif not exploration.complete:
        verdict, note, example = Verdict.UNDETERMINED, stopped(exploration), None
    elif exploration.ill_formed is not None:
        verdict, note, example = Verdict.UNDETERMINED, ILL_FORMED, None
    elif not watched.met:
        at = scope_text(scope)
        verdict, note, example = Verdict.UNDETERMINED, f"{NEVER} at {at}{_bounded(exploration)}", None
    else:
        verdict, note, example = Verdict.PROVED, "", None
    vacuous = failed is None and exploration.complete and exploration.ill_formed is None and not watched.met
    result = Result(prop.name, prop.kind, verdict, Method.EXPLORATION, scope, watched.seconds, example, note, vacuous)
    return _within(result, exploration)


def _within(result: Result, exploration: ExplorationResult) -> Result:
    """The result, with the bounds of integers if it holds only where no step leads beyond them."""
    if result.verdict is not Verdict.PROVED or not exploration.frontier_count:
        return result
    return replace(result, within=bounds_of(exploration.instance).text)


def _bounded(exploration: ExplorationResult) -> str:
    """The bounds of integers for a note, if the exploration took no step beyond them."""
    return f" within {bounds_of(exploration.instance).text}" if exploration.frontier_count else ""


ILL_FORMED = "the model is not well-formed, and what its ill-formed steps lead to was not explored"


def _together(results: Sequence[Result]) -> Result:
    """The combined verdict of several configurations: the worst one.

    One configuration suffices to meet a premise, and to show that a life cycle can happen. The counterexample is a shortest
    one, and its scope is the number of objects that it needs.
    """
    refuted = [r for r in results if r.verdict is Verdict.REFUTED]
    if refuted and (results[0].kind != LifeCycle.kind or len(refuted) == len(results)):
        return min(refuted, key=lambda r: len(r.counterexample.steps) if r.counterexample else 0)
    unknown = [r for r in results if r.verdict is Verdict.UNDETERMINED and not r.vacuous]
    proved = [r for r in results if r.verdict is Verdict.PROVED]
    enough = proved if results[0].kind == LifeCycle.kind else []
    worst = [*enough, *unknown, *proved, *results][0]
    if worst.scope is None:
        return worst
    most = {sort: max((r.scope or {}).get(sort, 0) for r in results) for sort in worst.scope}
    within = next((r.within for r in proved if r.within), "") if worst.verdict is Verdict.PROVED else ""
    seconds = sum(r.seconds for r in results)
    return replace(worst, scope=most, seconds=seconds, configurations=len(results), within=within)


def admitted(instance: Instance) -> bool:
    """Whether the axioms are true of a configuration."""
    return all(compile_term(instance, axiom, {})(Moment(instance.initial())) for axiom in instance.model.premises)


def check_axioms(instance: Instance) -> None:
    """Refuses a configuration that violates an axiom: proofs would be about other systems than explorations.

    Raises:
        ModelError: an axiom is false, or reads an attribute of NONE.
    """
    model = instance.model
    named = [("axiom", axiom) for axiom in model.axioms]
    named += [(f"assumption {name}", formula) for name, formula in model.assuming.items()]
    for what, axiom in named:
        element = f"{what} of {model.system} {model.variant}"
        remedy = f"correct the {what.split()[0]} or the configurations"
        try:
            holds = compile_term(instance, axiom, {})(Moment(instance.initial()))
        except Undefined as error:
            where = f"is undefined on the configuration {configuration_text(instance, axiom)}"
            raise ModelError(element, axiom.place, f"{where}: {error}", remedy) from error
        if not holds:
            false = first_false(instance, Moment(instance.initial()), [axiom], {})
            because = f": {false.because}" if false is not None and false.values else ""
            where = f"is false on the configuration {configuration_text(instance, axiom)}"
            raise ModelError(element, axiom.place, f"{where}{because}", remedy)


def _well_formed(exploration: ExplorationResult) -> Result:
    prop, scope = WELL_FORMEDNESS, dict(exploration.instance.sizes)
    vacuous = False
    if exploration.ill_formed is not None:
        verdict, note, example = Verdict.REFUTED, "", ill_formed(exploration)
    elif not exploration.complete:
        verdict, note, example = Verdict.UNDETERMINED, stopped(exploration), None
    elif not exploration.transition_count:
        if exploration.frontier_count:
            note = f"vacuous: every step from the initial state leads beyond {bounds_of(exploration.instance).text}"
        else:
            why = nothing_enabled(exploration.instance)
            note = f"{NOTHING_HAPPENS} at {scope_text(scope)}{f': {why}' if why else ''}"
        verdict, example, vacuous = Verdict.UNDETERMINED, None, True
    else:
        verdict, note, example = Verdict.PROVED, "", None
    result = Result(prop.name, prop.kind, verdict, Method.EXPLORATION, scope, 0.0, example, note, vacuous)
    return _within(result, exploration)


NOTHING_HAPPENS = "vacuous: no action is enabled in the initial state, so nothing happens"


def _constructed(model: Model, prop: ByConstruction) -> Result:
    holds = prop.holds is None or prop.holds(model)
    verdict = Verdict.PROVED if holds else Verdict.REFUTED
    example = (
        None
        if holds
        else Counterexample((), f"property {prop.name} is violated: it is no longer true that {prop.because}")
    )
    return Result(prop.name, prop.kind, verdict, Method.CONSTRUCTION, None, 0.0, example, prop.because)


def _open(instance: Instance, prop: Property, why: str) -> Result:
    """The result of a property that was not checked."""
    scope = dict(instance.sizes)
    return Result(prop.name, prop.kind, Verdict.UNDETERMINED, Method.EXPLORATION, scope, 0.0, note=why)


def _check(exploration: ExplorationResult, graph: Exploration | Graph | SharedGraph | str, prop: Property) -> Result:
    start = time.perf_counter()
    scope = dict(exploration.instance.sizes)
    if isinstance(graph, str):
        return _open(exploration.instance, prop, graph)
    try:
        checked = answer(exploration.instance, graph, prop)
    except Undefined as error:
        checked = Counterexample(
            (), f"property {prop.name} is violated: it reads an object that does not exist: {error}"
        )
    except Halted as error:
        return _check(exploration, str(error), prop)
    seconds = time.perf_counter() - start
    method = Method.EXPLORATION
    if isinstance(checked, str):
        note = f"{checked} at {scope_text(scope)}{_bounded(exploration)}"
        return Result(prop.name, prop.kind, Verdict.UNDETERMINED, method, scope, seconds, note=note, vacuous=True)
    if isinstance(checked, Open):
        note = checked.why if exploration.ill_formed is None else ILL_FORMED
        return Result(prop.name, prop.kind, Verdict.UNDETERMINED, method, scope, seconds, note=note)
    has_run = isinstance(prop, LifeCycle) and checked is None  # a run of well-formed steps
    if exploration.ill_formed is not None and not has_run:
        return Result(prop.name, prop.kind, Verdict.UNDETERMINED, method, scope, seconds, note=ILL_FORMED)
    if checked is None:
        result = Result(prop.name, prop.kind, Verdict.PROVED, method, scope, seconds)
        return result if has_run else _within(result, exploration)
    return Result(prop.name, prop.kind, Verdict.REFUTED, method, scope, seconds, checked)
