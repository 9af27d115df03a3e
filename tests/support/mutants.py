"""Mutants of a model: the model less one rule, one condition of a rule, one guard conjunct or one row."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TypeVar

from schedproof.model.lang import Action, Invariant, Model, ModelError, Rigid, Rule, StepInvariant
from schedproof.model.lang.check import checked
from schedproof.model.lang.infer import sort_of
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.model.lang.triggers import trigger_graph
from schedproof.model.semantics import Choice, IllFormed, Instance, Moment, State, Step, Stepper, Undefined, check_scope
from schedproof.model.semantics.instance import fitted
from schedproof.proofs.checking.model_check import model_check, reads_history
from schedproof.proofs.exploration.explore import explore
from schedproof.proofs.exploration.safety import Check
from schedproof.proofs.induction import prove
from schedproof.proofs.verdict import Verdict


@dataclass(frozen=True)
class Mutant:
    """A model less one part; ``name`` says which. ``build`` may raise ModelError: then it is refused."""

    name: str
    kind: str
    build: Callable[[], Model]


@dataclass(frozen=True)
class Caught:
    """How a mutant was distinguished from the model: ``by`` "refused", "explored", "compared" or "induction", and the difference."""

    by: str
    what: str


def drawn(name: str, one_in: int) -> bool:
    """Whether a mutant is one of those that are drawn, one in so many, by their names."""
    return zlib.crc32(name.encode()) % one_in == 0


def mutants(model: Model) -> Iterator[Mutant]:
    """Every mutant of ``model``."""
    for rule in model.rules:
        yield _without_rule(model, rule)
        for n in range(len(rule.when)):
            yield _without_condition(model, rule, n)
    for action in model.actions:
        for n in range(len(action.when)):
            yield _without_conjunct(model, action, n)
    for row in model.rows:
        rows = [r for r in model.rows if r is not row]
        yield Mutant(f"row {row.name}", "row", lambda rows=rows: replace(model, rows=rows))  # type: ignore[misc]


def _without_rule(model: Model, rule: Rule) -> Mutant:
    return Mutant(f"rule {rule.name}", "rule", lambda: replace(model, rules=[r for r in model.rules if r is not rule]))


def _without_condition(model: Model, rule: Rule, n: int) -> Mutant:
    less = replace(rule, when=[*rule.when[:n], *rule.when[n + 1 :]])
    rules = [less if r is rule else r for r in model.rules]
    return Mutant(f"rule {rule.name}, condition {n + 1}", "condition", lambda: replace(model, rules=rules))


def _without_conjunct(model: Model, action: Action, n: int) -> Mutant:
    """Rules that name the action name the new one."""
    less = replace(action, when=[*action.when[:n], *action.when[n + 1 :]])
    actions = [less if a is action else a for a in model.actions]
    return Mutant(f"action {action.name}, conjunct {n + 1}", "guard", lambda: replace(model, actions=actions))


# --- What is looked at -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Place:
    """One configuration to explore mutants at."""

    name: str
    sizes: Mapping[str, int]
    rigid: Rigid

    def of(self, model: Model) -> Instance:
        """``model`` here."""
        return Instance(model, self.sizes, self.rigid)

    def alone(self, model: Model) -> Model:
        """``model`` with this as its only configuration."""
        return replace(model, configurations=lambda sizes: [self.rigid])


def places(model: Model, scopes: Sequence[Mapping[str, int]]) -> list[Place]:
    """The configurations of ``model`` at each of ``scopes``, small ones first."""
    all_places = []
    for scope in scopes:
        whole = check_scope(model, scope)
        for n, rigid in enumerate(model.configurations(whole)):
            sizes = fitted(whole, rigid)
            at = ", ".join(f"{size} {sort}" for sort, size in sizes.items())
            all_places.append(Place(f"{at} ({n + 1})", sizes, rigid))
    return all_places


def seen_at_once(model: Model) -> list[Invariant | StepInvariant]:
    """The properties that one state or step refutes."""
    return [p for p in model.properties if isinstance(p, Invariant | StepInvariant) and not reads_history(model, p)]


class _Broken(Exception):
    """A property is broken: no need to look further."""


def first_broken(model: Model, place: Place, kept: Sequence[str], *, vacuous: bool = True) -> str | None:
    """One of the safety properties ``kept`` that ``model`` breaks here, found without exploring on; None if none.

    With ``vacuous`` also one whose premise is never true.
    """
    instance = place.of(model)
    checks = [Check(instance, prop) for prop in seen_at_once(model) if prop.name in kept]
    on_states = [c for c in checks if isinstance(c.prop, Invariant)]
    on_steps = [c for c in checks if isinstance(c.prop, StepInvariant)]
    of_action = {a.name: [c for c in on_steps if c.concerns(a.name)] for a in model.actions}
    seen: set[State] = set()

    def check_state(state: State) -> None:
        for check in on_states:
            if check.violated_in(state) is not None:
                raise _Broken(check.prop.name)

    def on_step(state: State, number: int, step: Step) -> None:
        for check in of_action[step.choice.action]:
            if check.violated(Moment(state, dict(step.choice.parameters), step.fired, step.after)) is not None:
                raise _Broken(check.prop.name)
        if step.after not in seen:
            seen.add(step.after)
            check_state(step.after)

    try:
        check_state(instance.initial())
        exploration = explore(instance, symmetry=False, on_step=on_step)
    except _Broken as broken:
        return str(broken)
    if exploration.ill_formed is not None and WELL_FORMED in kept:
        return WELL_FORMED
    return next((c.prop.name for c in checks if vacuous and not c.met), None)


def explored(model: Model, place: Place, only: Sequence[str] = ()) -> Mapping[str, Verdict]:
    """The verdict of exploration on every property (or those named ``only``) at a place."""
    some = {sort: size for sort, size in place.sizes.items() if size}  # of the others the configuration has none
    return {r.name: r.verdict for r in model_check(place.alone(model), some, only=only)}


def proved(model: Model) -> frozenset[str]:
    """The properties that induction proves for any number of objects."""
    induction = prove(model, every=False)
    return frozenset(n for n in (WELL_FORMED, *(p.name for p in model.properties)) if induction.proved(n))


def invariants_of(model: Model) -> Model:
    """``model`` with no other properties than its invariants: a shorter proof, which most often is enough."""
    kept = [p for p in model.properties if isinstance(p, Invariant)]
    return replace(model.asking(kept), refuted=model.refuted & {p.name for p in kept})


Part = TypeVar("Part")
Graph = Mapping[State, Mapping[Choice, State]]
"""Every reachable state with each enabled choice and the state after it."""


def graph_of(model: Model, place: Place) -> Graph:
    """All that can happen at a place."""
    exploration = explore(place.of(model), symmetry=False)
    assert exploration.complete and exploration.ill_formed is None
    edges = ({e.choice: exploration.states[e.target] for e in out} for out in exploration.edges)
    return dict(zip(exploration.states, edges, strict=True))


def concerned(model: Model, other: Model) -> frozenset[str]:
    """The actions whose steps may differ: other ones, and those that can lead to a rule or row that is another one.

    What an action can lead to says the trigger graph; of all other actions the steps are computed from the same parts.
    """
    rules = _not_in_both(model.rules, other.rules)
    about = {(row.sort.name, row.event) for row in _not_in_both(model.rows, other.rows)}
    about |= {(r.on.name, "") if isinstance(r.on, Action) else (sort_of(model, r.on.of, {}), r.on.event) for r in rules}
    graph = trigger_graph(model)
    before = {node for what in about if what in graph for node in (what, *graph.ancestors(what))}
    changed = {action.name for action in _not_in_both(model.actions, other.actions)}
    return frozenset(changed | {name for name, event in before if event == ""})


def _not_in_both(some: Sequence[Part], others: Sequence[Part]) -> list[Part]:
    """The parts that only one of them has, by identity: terms define their own equality."""
    kept = {id(part) for part in some} & {id(part) for part in others}
    return [part for part in (*some, *others) if id(part) not in kept]


def other_step(model: Model, place: Place, graph: Graph, names: Container[str]) -> str | None:
    """The first step of ``model`` that is none of the graph, or that it lacks, of the actions ``names``; None if none."""
    stepper = Stepper(place.of(model))
    actions = [action for action in model.actions if action.name in names]
    for state, steps in graph.items():
        expected = {choice: after for choice, after in steps.items() if choice.action in names}
        try:
            for step in stepper.steps(state, actions):
                if expected.pop(step.choice, None) != step.after:
                    return f"takes {step.choice.action} otherwise"
        except (IllFormed, Undefined) as error:
            return str(error)
        if expected:
            return f"does not take {next(iter(expected)).action}"
    return None


class Twin:
    """Distinguishes mutants from a model whose graphs are, as other tests show, those of an independent model.

    A mutant is refused, or violates a property ("explored"), or takes other steps ("compared").

    Args:
        model: what the mutants are mutants of.
        places: where the two were compared, small ones first.
        properties: whether to look for a property that is broken; without, it is faster.
    """

    def __init__(self, model: Model, places: Sequence[Place], *, properties: bool = True) -> None:
        self.model, self.places, self.properties = model, places, properties
        self._graph = cache(lambda n: graph_of(model, places[n]))
        self._explored = cache(lambda n: explored(model, places[n]))

    def caught(self, mutant: Mutant) -> Caught | None:
        """How ``mutant`` is caught; None if all its graphs are the model's, and so all verdicts."""
        try:
            other = checked(mutant.build())
        except ModelError as error:
            return Caught("refused", str(error))
        compared, names = None, concerned(self.model, other)
        for n, place in enumerate(self.places):
            differs = other_step(other, place, self._graph(n), names)
            if differs is None:
                continue
            compared = compared or Caught("compared", f"{differs} at {place.name}")
            if not self.properties:
                return compared
            kept = [name for name, verdict in self._explored(n).items() if verdict is Verdict.PROVED]
            if (broken := first_broken(other, place, kept)) is not None:
                return Caught("explored", f"{broken} at {place.name}")
        return compared


class Checker:
    """Distinguishes mutants from the model, by the cheapest way first.

    Args:
        model: what the mutants are mutants of.
        places: where to explore, small ones first.
        inductive: whether induction is asked where exploration sees no difference.
    """

    def __init__(self, model: Model, places: Sequence[Place], *, inductive: bool = True) -> None:
        self.model, self.places, self.inductive = model, places, inductive
        self._explored = cache(lambda n: explored(model, places[n]))
        self._proved = cache(lambda less: proved(less(model)))

    def caught(self, mutant: Mutant) -> Caught | None:
        """How ``mutant`` is caught; None if every verdict on it is the model's."""
        try:
            other = checked(mutant.build())
        except ModelError as error:
            return Caught("refused", str(error))
        for n, place in enumerate(self.places):
            kept = [name for name, verdict in self._explored(n).items() if verdict is Verdict.PROVED]
            if (broken := first_broken(other, place, kept)) is not None:
                return Caught("explored", f"{broken} at {place.name}")
        at_once = {WELL_FORMED, *(p.name for p in seen_at_once(other))}
        for n, place in enumerate(self.places):
            right = self._explored(n)
            rest = [name for name in right if name not in at_once or right[name] is not Verdict.PROVED]
            wrong = explored(other, place, rest)
            if differing := [name for name in rest if wrong[name] is not right[name]]:
                return Caught("explored", f"{differing[0]} at {place.name}")
        for less in (invariants_of, replace) if self.inductive else ():
            if lost := sorted(self._proved(less) - proved(less(other))):
                return Caught("induction", lost[0])
        return None
