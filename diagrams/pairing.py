"""The pairing of two machines: the states in which an object and the object it refers to occur together.

An attribute that refers to an object (``Recipe.system``) pairs the machines of the two objects.
The picture shows the pairs in the explored states, the steps between them, and the pairs that a property forbids.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from schedproof.model.lang import Attribute, Invariant, Model, Ref, Type
from schedproof.model.semantics import Instance, Moment, State, Step, Undefined, check_scope, compile_term, instances
from schedproof.model.semantics.instance import NO_OBJECT
from schedproof.proofs.checking.model_check import reads_history
from schedproof.proofs.exploration.explore import Progress

from .errors import DiagramError
from .explored import explored_at, reachable
from .fold import folded
from .representation import Diagram, Edge, EdgeKind, Node, NodeKind, merged
from .style import in_lines

Pair = tuple[str, str | None]
"""The state of an object, and the state of the object that it refers to (None: it refers to none)."""


@dataclass
class Pairing:
    """The observed pairs of an attribute, and the steps between them.

    Attributes:
        breaks: pair -> the invariants over one object of each sort that are false wherever the pair occurs.
        steps: (pair before, pair after) -> the actions between them.
    """

    sort: str
    attribute: str
    target: str
    scope: str
    breaks: dict[Pair, frozenset[str]] = field(default_factory=dict)
    steps: dict[tuple[Pair, Pair], dict[str, None]] = field(default_factory=dict)


def pairing_names(model: Model) -> tuple[str, ...]:
    """The attributes whose pairing can be drawn: ``Sort.attribute``, from a sort with states to one with states."""
    return tuple(
        f"{machine.sort.name}.{attribute.name}"
        for machine in model.machines
        for attribute in machine.attributes
        if machine.states and _paired(model, attribute)
    )


def changing_pairings(model: Model) -> tuple[str, ...]:
    """Those of :func:`pairing_names` whose references change. Rigid references are structure and rarely informative."""
    return tuple(
        name
        for name in pairing_names(model)
        for sort, _, attribute in [name.partition(".")]
        if any(a.name == attribute and not a.rigid for a in model.machine(sort).attributes)
    )


def _paired(model: Model, attribute: Attribute) -> bool:
    kind = attribute.type
    return isinstance(kind, Ref) and not attribute.history and bool(model.machine(kind.sort).states)


def observed(
    model: Model, name: str, scope: Mapping[str, int] | None = None, progress: Progress | None = None
) -> Pairing:
    """The pairing ``name`` (``Sort.attribute``) in the explored states of ``model``.

    Args:
        model: the model to explore.
        name: the attribute that refers to an object.
        scope: the number of objects of each sort; by default the model's own.
        progress: called during the exploration.

    Raises:
        DiagramError: there is no such pairing.
        ScopeError: the scope is impossible.
        ModelError: an integer has no bound.
    """
    return all_observed(model, [name], scope, progress)[name]


def all_observed(
    model: Model, names: Sequence[str], scope: Mapping[str, int] | None = None, progress: Progress | None = None
) -> dict[str, Pairing]:
    """The results of :func:`observed` for each of ``names``, from one exploration."""
    sizes = check_scope(model, scope or {})
    by_name = {name: _unobserved(model, name, explored_at(model, sizes)) for name in names}
    for instance in instances(model, sizes) if names else ():
        readers = [_Reader(instance, pairing) for pairing in by_name.values()]
        for state in reachable(instance, partial(_see, readers), progress):
            for reader in readers:
                reader.check(state)
    return by_name


def _unobserved(model: Model, name: str, at: str) -> Pairing:
    if name not in pairing_names(model):
        raise DiagramError(
            f"{model.system} ({model.variant}) has no pairing {name!r}, an attribute that refers from a "
            f"machine with states to another; choose from {', '.join(pairing_names(model)) or 'none'}"
        )
    sort, _, attribute = name.partition(".")
    kind = next(a.type for a in model.machine(sort).attributes if a.name == attribute)
    assert isinstance(kind, Ref)
    return Pairing(sort, attribute, kind.sort.name, at)


def _see(readers: Sequence[_Reader], state: State, step: Step) -> None:
    for reader in readers:
        reader.see(state, step)


def pairing(model: Model, seen: Pairing, *, every_step: bool = False) -> Diagram:
    """The picture of a pairing that :func:`observed` returned.

    Args:
        model: the explored model.
        seen: its pairing.
        every_step: also draw the steps from pairs that already violate a property.
    """
    order = _order(model, seen)
    forbidden = {pair for pair, broken in seen.breaks.items() if broken}
    drawn = [pairs for pairs in seen.steps if every_step or pairs[0] not in forbidden]
    edges = tuple(
        Edge(_name(before), _name(after), EdgeKind.TRANSITION, (action,), alarm=after in forbidden)
        for before, after in sorted(drawn, key=lambda p: (order.index(p[0]), order.index(p[1])))
        for action in seen.steps[before, after]
    )
    joined = {pair for pairs in drawn for pair in pairs}
    nodes = [_node(seen, pair) for pair in order if pair in joined or (pair in seen.breaks and pair not in forbidden)]
    if apart := [pair for pair in order if pair in forbidden and pair not in joined]:
        names = tuple(_name(pair) for pair in apart)
        nodes.append(
            Node("(apart)", f"{len(apart)} more pairs", NodeKind.GROUP, in_lines(names, 30), members=names, alarm=True)
        )
    broken_names = ", ".join(sorted({name for broken in seen.breaks.values() for name in broken}))
    left = len(seen.steps) - len(drawn)
    alarm = f"a property forbids this pair ({broken_names})" + (
        f"; {left} arrows that start at one are not drawn" * bool(left)
    )
    title = f"{model.system} ({model.variant}): the pairs of {seen.sort}.{seen.attribute}"
    note = (
        f"The state of a {seen.sort}, below it that of its {seen.attribute}: all pairs that occur in the states "
        f"explored at {seen.scope}, and the actions that lead from pair to pair."
    )
    return merged(folded(Diagram(title, tuple(nodes), edges, note=note, alarm=alarm)))


def _order(model: Model, seen: Pairing) -> list[Pair]:
    """The pairs to draw, in the order of the machines' states; a pair with None is included if a step joins it."""
    pairs = {*seen.breaks, *(pair for step in seen.steps for pair in step)}
    first = [state.name for state in model.machine(seen.sort).states]
    second = [None, *(state.name for state in model.machine(seen.target).states)]
    return sorted(pairs, key=lambda pair: (first.index(pair[0]), second.index(pair[1])))


def _name(pair: Pair) -> str:
    return f"{pair[0]} / {pair[1] or 'none'}"


def _node(seen: Pairing, pair: Pair) -> Node:
    state, other = pair
    what = f"no {seen.attribute}" if other is None else f"{seen.attribute} {other}"
    return Node(_name(pair), state, NodeKind.PAIR, details=(what,), alarm=bool(seen.breaks.get(pair)))


class _Reader:
    """Reads the pairs of an instance from its states."""

    def __init__(self, instance: Instance, of: Pairing) -> None:
        model = instance.model
        self._of = of
        self._objects = range(instance.sizes[of.sort])
        self._state, self._other = instance.slot(of.sort), instance.slot(of.target)
        self._names = [s.name for s in model.machine(of.sort).states]
        self._other_names = [s.name for s in model.machine(of.target).states]
        attribute = next(a for a in model.machine(of.sort).attributes if a.name == of.attribute)
        self._rigid = instance.rigid_values(of.sort, attribute) if attribute.rigid else None
        self._reference = 0 if attribute.rigid else instance.slot(of.sort, of.attribute)
        self._properties = [
            (prop.name, one.name, other.name, _breaks(instance, prop))
            for prop in model.properties
            if isinstance(prop, Invariant) and len(prop.over) == 2 and not reads_history(model, prop)
            for one, other in (prop.over, prop.over[::-1])
            if (_sort(one.type), _sort(other.type)) == (of.sort, of.target)
        ]

    def see(self, state: State, step: Step) -> None:
        """Records the pairs before and after a step."""
        for number in self._objects:
            before, after = self._pair(state, number), self._pair(step.after, number)
            if before != after and not (before[1] is None and after[1] is None):
                self._of.steps.setdefault((before, after), {})[step.choice.action] = None

    def check(self, state: State) -> None:
        """Records the pairs of a state, and the properties that they violate."""
        for number in self._objects:
            pair = self._pair(state, number)
            if pair[1] is not None:
                broken = self._broken(state, number)
                self._of.breaks[pair] = self._of.breaks.get(pair, broken) & broken

    def _pair(self, state: State, number: int) -> Pair:
        target = self._target(state, number)
        other = None if target == NO_OBJECT else self._other_names[state[self._other + target]]
        return self._names[state[self._state + number]], other

    def _target(self, state: State, number: int) -> int:
        return self._rigid[number] if self._rigid is not None else state[self._reference + number]

    def _broken(self, state: State, number: int) -> frozenset[str]:
        target = self._target(state, number)
        return frozenset(
            name for name, one, other, breaks in self._properties if breaks(Moment(state, {one: number, other: target}))
        )


def _breaks(instance: Instance, prop: Invariant) -> Callable[[Moment], bool]:
    """Whether ``prop`` is false for the objects in a moment; True also if it reads an attribute of NONE."""
    scope = {v.name: v for v in prop.over}
    given = None if prop.given is None else compile_term(instance, prop.given, scope)
    then = compile_term(instance, prop.then, scope)

    def decide(moment: Moment) -> bool:
        try:
            return (given is None or bool(given(moment))) and not then(moment)
        except Undefined:
            return True

    return decide


def _sort(kind: Type) -> str:
    return kind.sort.name if isinstance(kind, Ref) else ""
