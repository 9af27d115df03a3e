"""A model: one system in one variant. It is checked when it is used: see :mod:`.check`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from .errors import ModelError, Place, here
from .machine import Attribute, Durability, Machine, Row
from .properties import WELL_FORMED, Property
from .rules import Action, Rule
from .terms import Term, Value, Var, variable
from .types import Sort

Rigid = Mapping[tuple[str, str], Sequence[Value | frozenset[int] | None]]
"""The rigid attributes: (sort name, attribute name) -> one value per object; sets of object numbers."""

Element = Row | Action | Rule | Property
"""What variants differ in, element by element."""


@dataclass(frozen=True)
class Document:
    """What a model is read from: a file name, and what its lines are cited as.

    ``quotes`` is a JSON file with the lines that models cite: document -> line -> text. ``facts`` is one with what
    models cite that the document leaves out: number, or number and place in a source -> text.
    """

    name: str
    title: str
    quotes: Path | None = field(default=None, compare=False, repr=False)
    facts: Path | None = field(default=None, compare=False, repr=False)


NO_DOCUMENT = Document("", "")
"""Of a model that is read from no document: it is its own, and is cited by the name of its file."""


@dataclass(frozen=True)
class Model:
    """One variant of a system.

    Args:
        system, variant: names, as on the command line.
        about: one sentence on what this variant is.
        document: what it is read from; by default it is a design of its own, and its file is what is cited.
        configurations: the rigid attributes to explore at given sizes ({sort name: number of objects}); one
            that gives fewer values than there are objects of a sort is explored with so many.
        axioms: what proofs may assume of the rigid attributes.
        default_scope: sort name -> number of objects, where nothing else is said.
        verify_scope: of which sorts ``verify`` explores more objects than that, and how many; it is compiled then.
        refuted: the properties that this variant is expected not to keep; all others are
            expected to hold.
        amends, changes: on an amended variant, the name of the one that it amends, and what it drops and adds, and why.
    """

    system: str
    variant: str
    about: str
    machines: Sequence[Machine]
    rows: Sequence[Row]
    actions: Sequence[Action]
    rules: Sequence[Rule]
    properties: Sequence[Property]
    default_scope: Mapping[str, int]
    document: Document = NO_DOCUMENT
    axioms: Sequence[Term] = ()
    configurations: Callable[[Mapping[str, int]], Iterable[Rigid]] = lambda sizes: [{}]
    refuted: frozenset[str] = frozenset()
    amends: str = ""
    changes: Sequence[Change] = ()
    verify_scope: Mapping[str, int] = field(default_factory=dict)
    place: Place = field(default_factory=here, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.document == NO_DOCUMENT:
            object.__setattr__(
                self, "document", Document(Path(self.place.file).name, "no document but the model itself")
            )

    @property
    def sorts(self) -> tuple[Sort, ...]:
        """The sorts, in the order of their machines."""
        return tuple(m.sort for m in self.machines)

    def machine(self, sort: Sort | str) -> Machine:
        """The machine of a sort.

        Raises:
            KeyError: the model has no such sort.
        """
        return self._machines[sort if isinstance(sort, str) else sort.name]

    @cached_property
    def _machines(self) -> dict[str, Machine]:
        return {machine.sort.name: machine for machine in reversed(self.machines)}

    @cached_property
    def rigid_attributes(self) -> Mapping[tuple[str, str], Attribute]:
        """The rigid attributes, by (sort, attribute)."""
        return {(m.sort.name, a.name): a for m in self.machines for a in m.attributes if a.rigid}

    def table(self, sort: Sort | str) -> tuple[Row, ...]:
        """The rows of one sort's transition table, in document order."""
        name = sort if isinstance(sort, str) else sort.name
        return tuple(r for r in self.rows if r.sort.name == name)

    def action(self, name: str) -> Action:
        """The action of that name.

        Raises:
            KeyError: the model has no such action.
        """
        return self._actions[name]

    @cached_property
    def _actions(self) -> dict[str, Action]:
        return {action.name: action for action in reversed(self.actions)}

    def property(self, name: str) -> Property:
        """The property of that name.

        Raises:
            KeyError: the model has no such property.
        """
        for prop in self.properties:
            if prop.name == name:
                return prop
        raise KeyError(name)

    def amend(
        self,
        variant: str,
        about: str,
        changes: Sequence[Change],
        refuted: frozenset[str],
        machines: Sequence[Machine] = (),
        axioms: Sequence[Term] = (),
        configurations: Callable[[Mapping[str, int]], Iterable[Rigid]] | None = None,
        default_scope: Mapping[str, int] = {},
    ) -> Model:
        """A variant that differs from this one by ``changes``, in their order.

        ``machines`` replace those of their sorts, where what is added needs further attributes, events
        or sorts; ``axioms`` and ``default_scope`` are added then, and ``configurations`` take the place of this
        variant's.

        Raises:
            ModelError: a change that cannot be made.
        """
        parts: dict[type, list[Element]] = {
            Row: list(self.rows),
            Action: list(self.actions),
            Rule: list(self.rules),
            Property: list(self.properties),
        }
        for change in changes:
            # What is repaired or weakened is a property that this variant makes; well-formedness it makes unasked.
            required = [p.name for p in self.properties]
            _known(variant, change, "repairs", change.repairs, [*required, WELL_FORMED])
            _known(variant, change, "weakens", change.weakens, required)
            given_up = [name for name in change.weakens if any(p.name == name for p in parts[Property])]
            for name in [*change.drops, *given_up]:  # two changes may weaken one property
                _drop(parts, name, change.place)
            for element in change.adds:
                kind = next((k for k in parts if isinstance(element, k)), None)
                if kind is None:
                    raise ModelError(
                        f"change adds {_name(element)!r}",
                        change.place,
                        f"a {type(element).__name__} cannot differ between variants",
                        "add rows, actions, rules or properties",
                    )
                same = [i for i, old in enumerate(parts[kind]) if _name(old) == _name(element)]
                if same:
                    parts[kind][same[0]] = element
                else:
                    parts[kind].append(element)
        kept = [_name(p) for p in parts[Property]]
        for change in changes:
            _known(variant, change, "weakens a property to", change.weaker, kept)
        return replace(
            self,
            variant=variant,
            about=about,
            machines=[*{m.sort: m for m in [*self.machines, *machines]}.values()],
            rows=parts[Row],  # type: ignore[arg-type]
            actions=parts[Action],  # type: ignore[arg-type]
            rules=parts[Rule],  # type: ignore[arg-type]
            properties=parts[Property],  # type: ignore[arg-type]
            refuted=refuted,
            axioms=[*self.axioms, *axioms],
            configurations=configurations or self.configurations,
            default_scope={**self.default_scope, **default_scope},
            amends=self.variant,
            changes=tuple(changes),
            place=here(),
        )


@dataclass(frozen=True, kw_only=True)
class ByConstruction(Property):
    """No state of the encoding can violate it; ``because`` says why, ``checked`` where it can fail.

    ``holds`` looks at the model itself, where the reason is something that it must not contain.
    """

    because: str
    checked: str
    holds: Callable[[Model], bool] | None = None

    kind = "by construction"


@dataclass(frozen=True)
class Change:
    """One difference between two variants: elements dropped by name and elements added.

    An added element replaces one of the same name.

    Args:
        repairs: the properties that hold because of it.
        weakens: the properties that are dropped because this variant does not keep them together with the
            others; each with those that say what is kept of it.
    """

    why: str
    repairs: Sequence[str]
    adds: Sequence[Element] = ()
    drops: Sequence[str] = ()
    weakens: Mapping[str, Sequence[str]] = field(default_factory=dict)
    place: Place = field(default_factory=here, compare=False, repr=False)

    @property
    def weaker(self) -> list[str]:
        """What is kept of the properties that it weakens."""
        return list(dict.fromkeys(name for names in self.weakens.values() for name in names))


def common_parameters(model: Model, actions: Sequence[str]) -> list[Var]:
    """The parameters that all of ``actions`` have: what a step invariant on these actions may speak of."""
    if not actions:
        return []
    first, *others = [model.action(name).parameters for name in actions]
    return [v for v in first if all(any(v.name == w.name and v.type == w.type for w in other) for other in others)]


def _known(variant: str, change: Change, verb: str, named: Iterable[str], known: Sequence[str]) -> None:
    if unknown := sorted(set(named) - set(known)):
        raise ModelError(
            f"change of {variant}",
            change.place,
            f"it {verb} an unknown property {unknown[0]!r}",
            f"choose from {', '.join(known)}",
        )


def _name(element: Element | Machine) -> str:
    """What to call an element, also one that a change may not have."""
    return element.sort.name if isinstance(element, Machine) else element.name


def _drop(parts: Mapping[type, list[Element]], name: str, place: Place) -> None:
    found = [
        (kind, i) for kind, elements in parts.items() for i, element in enumerate(elements) if _name(element) == name
    ]
    if len(found) > 1:
        kinds = " and ".join(f"{'an' if kind is Action else 'a'} {kind.__name__.lower()}" for kind, _ in found)
        raise ModelError(f"change drops {name!r}", place, f"{kinds} have that name", "give one of them another name")
    for kind, i in found:
        del parts[kind][i]
        return
    raise ModelError(
        f"change drops {name!r}", place, "it is not an element of the model", "name a row, action, rule or property"
    )


def crash(
    name: str, event: str, machines: Sequence[Machine], rows: Sequence[Row], *, line: int | None = None
) -> tuple[Action, tuple[Rule, ...]]:
    """The crash action that declared persistence gives: every volatile object takes its recovery row.

    Args:
        event: the event of the recovery rows.
        machines: what dies; one rule for each of them that has recovery rows.
        line: where the document says that crashes happen; each rule cites its machine's recovery rows.

    Returns:
        The action, and the rules that carry it to every object at once.

    Raises:
        ModelError: a volatile state without a recovery row, or a recovery row that moves another state.
    """
    place = here()
    action = Action(name, [], [], [], "the scheduler crashes and restarts", line, crash=True, place=place)
    rules = []
    for machine in machines:
        recovery = [r for r in rows if r.sort == machine.sort and r.event == event]
        sources = [r.source for r in recovery]
        volatile = [s.name for s in machine.states if s.durability is Durability.VOLATILE]
        if missing := [s for s in volatile if s not in sources]:
            raise ModelError(
                f"state {missing[0]} of {machine.sort}",
                machine.place,
                "is volatile, and no recovery row takes it to another state",
                f'add Row({machine.sort}, "{event}", "{missing[0]}", ...)',
            )
        for row in recovery:
            state = machine.state(row.source)
            moves = row.target != row.source
            if moves and state is not None and state.durability is not Durability.VOLATILE:
                raise ModelError(
                    f"row {row.name}",
                    row.place,
                    f"a crash takes {row.source} to {row.target}, but {row.source} is declared {state.durability.value}",
                    f"declare it State({row.source!r}, Durability.VOLATILE), or drop the row",
                )
        if recovery:
            it = variable(machine.sort, machine.sort.short)
            when, then = [it.is_(*sources)], it.fires(event)
            rules.append(Rule(f"{name} takes every {machine.sort}", action, when, then, recovery[0].line, place=place))
    return action, tuple(rules)
