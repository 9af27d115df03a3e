"""A model: one variant of a system. :func:`.check.checked` checks it at first use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, get_args

from schedproof.model.errors import choose_from, did_you_mean, shown
from schedproof.model.notebook import InNotebook, table

from .arguments import declaration, word
from .disposable import Parts, written_out
from .errors import ModelError, Place, calling_place
from .machine import Attribute, Durability, Machine, Row
from .properties import WELL_FORMED, Invariant, Property
from .rules import Action, Rule
from .terms import Equal, Quantified, Term, Value, Var, variable, without_caches
from .types import Ref, Sort, integer_of
from .types import Sequence as SequenceType
from .wording import show_term

MOST_OBJECTS = 64
"""The most objects of a sort in one exploration; more could not be explored anyway."""

RigidValue = (
    Value
    | frozenset[int | tuple[int, ...]]
    | Mapping[int | tuple[int, ...], Value | None]
    | tuple[Value | None, ...]
    | None
)
"""A value of a rigid attribute. Objects are numbers, sets hold numbers, relations tuples of numbers."""

Rigid = Mapping[tuple[str, str], Sequence[RigidValue]]
"""The rigid attributes: (sort name, attribute name) -> one value per object."""

Bound = Mapping[tuple[str, str], int | tuple[int, int]]
"""How far explorations follow integers: (sort name, attribute name) -> the highest value, or the lowest and the highest.

For an ``Int`` one number is the highest absolute value.
"""

Configurations = Callable[[Mapping[str, int]], Iterable[Rigid]]
"""The rigid attributes to explore at given sizes: sort name -> number of objects."""

Element = Row | Action | Rule | Property
"""The elements that variants add, replace or drop."""


def at_most_one(sort: Sort) -> Term:
    """The axiom that a sort has no two objects. No axiom is needed for one: no exploration or proof is about none."""
    one, other = (Var(f"{sort.short}{number}", Ref(sort), place=sort.place) for number in (1, 2))
    return Quantified(True, (one, other), Equal(one, other, place=sort.place), place=sort.place)


def one_configuration(sizes: Mapping[str, int]) -> list[Rigid]:
    """The configuration of a model without rigid attributes."""
    return [{}]


@declaration
@dataclass(frozen=True)
class Document:
    """The document of a model.

    Args:
        name: the name of its file.
        title: the title under which its lines are cited.
        quotes: a JSON file with the lines that models cite: document -> line -> text.
        facts: a JSON file with what models cite that the document leaves out: number, or number and place in a source
            -> text.
    """

    name: str
    title: str
    quotes: Path | None = field(default=None, compare=False, repr=False)
    facts: Path | None = field(default=None, compare=False, repr=False)


NO_DOCUMENT = Document("", "")
"""The document of a model that has none: the model is cited by the name of its file."""


@declaration
@dataclass(frozen=True)
class Model(InNotebook):
    """One variant of a system.

    Args:
        system, variant: names, as on the command line.
        about: one sentence that describes the variant.
        machines: the machines, one for each sort.
        rows: the rows of their transition tables.
        actions: what the environment or an algorithm may do.
        rules: which event causes which other event.
        properties: what must hold.
        document: the document that the model formalizes; by default the model is its own document, cited by file name.
        configurations: the rigid attributes to explore at given sizes ({sort name: number of objects}). A configuration
            may give fewer values than there are objects of a sort; the exploration then has only that many.
        axioms: what proofs may assume of the rigid attributes; that a sort is ``single`` is added to them.
        assuming: axioms with names, such as ``{"renew < lease": ...}``: verdicts name them.
        default_scope: sort name -> number of objects, unless a scope is given. A sort that is left out has one object.
        verify_scope: the sorts of which ``verify`` explores more objects, and how many; it uses the compiled engine
            then.
        bound: how far explorations follow the attributes of type ``Int`` and ``Nat``: ``{("Node", "term"): 3}``. They take no
            step to a state beyond it. Proofs and logs ignore it.
        refuted: the properties that this variant is expected to violate; all others are expected to hold.
        assumes: of an ``AlwaysCanReach`` or ``LeadsTo``: its name -> the assumptions on the environment on which its verdict rests. Each
            is a rigid attribute with ``assumed``: ``Job.mortal``. ``verify --property assumptions`` compares.
        amends: of an amended variant: the name of the variant that it amends.
        changes: of an amended variant: what it drops and adds, and why.
        amended: internal; set by :meth:`amend`.
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
    configurations: Configurations = field(default_factory=lambda: one_configuration)
    refuted: frozenset[str] = frozenset()
    assumes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    amends: str = ""
    changes: Sequence[Change] = ()
    verify_scope: Mapping[str, int] = field(default_factory=dict)
    bound: Bound = field(default_factory=dict)
    place: Place = field(default_factory=calling_place, compare=False, repr=False)
    amended: Amended | None = field(default=None, compare=False, repr=False)
    assuming: Mapping[str, Term] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.document == NO_DOCUMENT:
            object.__setattr__(
                self, "document", Document(Path(self.place.file).name, "no document but the model itself")
            )
        if isinstance(self.axioms, list | tuple) and isinstance(self.machines, list | tuple):
            sorts = [m.sort for m in self.machines if isinstance(m, Machine) and isinstance(m.sort, Sort)]
            if single := [at_most_one(sort) for sort in sorts if sort.single]:
                known = {show_term(axiom) for axiom in self.axioms if isinstance(axiom, Term)}
                added = [axiom for axiom in single if show_term(axiom) not in known]
                object.__setattr__(self, "axioms", (*self.axioms, *added))
            if any(sort.disposable for sort in sorts):
                self._write_out()

    def _write_out(self) -> None:
        """Writes out the disposable sorts. A model with elements of the wrong kind stays as it is until it is checked."""
        parts = Parts(self.machines, self.rows, self.actions, self.rules, self.properties)
        for name, value in written_out(parts).items():
            object.__setattr__(self, name, value)

    def __getstate__(self) -> dict[str, Any]:
        return without_caches(self)

    @property
    def _in_words(self) -> str:
        return f"{self.system} {self.variant}: {self.about}"

    def _repr_html_(self) -> str:
        machines = [
            [each.sort.name, ", ".join(state.name for state in each.states), ", ".join(a.name for a in each.attributes)]
            for each in self.machines
        ]
        properties = [
            [each.name, each.kind, each.says, "refuted" if each.name in self.refuted else "proved"]
            for each in self.properties
        ]
        return table(self._in_words, ["sort", "states", "attributes"], machines) + table(
            f"{len(properties)} properties", ["property", "kind", "says", "expected"], properties
        )

    @property
    def sorts(self) -> tuple[Sort, ...]:
        """The sorts, in the order of their machines."""
        return tuple(m.sort for m in self.machines)

    @property
    def premises(self) -> tuple[Term, ...]:
        """What proofs assume of the rigid attributes, which is the axioms and those with names."""
        return (*self.axioms, *self.assuming.values())

    @property
    def elements(self) -> list[Element]:
        """The rows, actions, rules and properties."""
        return [*self.rows, *self.actions, *self.rules, *self.properties]

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

    def assumptions_of(self, prop: str) -> dict[str, bool]:
        """The assumptions on which the verdict on a property rests -> the value with which the environment does less."""
        values = {f"{m.sort}.{a.name}": a.assumed for m in self.machines for a in m.attributes if a.assumed is not None}
        return {name: values[name] for name in self.assumes.get(prop, ())}

    @cached_property
    def integers(self) -> Mapping[tuple[str, str], Attribute]:
        """The attributes that change and have integers without a bound, by (sort, attribute)."""
        return {
            (m.sort.name, a.name): a
            for m in self.machines
            for a in m.attributes
            if integer_of(a.type) is not None and not a.rigid
        }

    @cached_property
    def bounded(self) -> frozenset[tuple[str, str]]:
        """The attributes whose values an exploration bounds, by (sort, attribute). They are integers, and sequences with their length."""
        lists = {(m.sort.name, a.name) for m in self.machines for a in m.attributes if isinstance(a.type, SequenceType)}
        return frozenset({*self.integers, *lists})

    def asking(self, properties: Sequence[Property]) -> Model:
        """This variant with other properties, all of which are expected to hold. It is not compared with what it amends.

        What a property ``follows_from`` is left out where that is not among them.
        """
        names = {p.name for p in properties}
        hinted = [
            replace(p, follows_from=[n for n in p.follows_from if n in names])
            if isinstance(p, Invariant) and not names.issuperset(p.follows_from)
            else p
            for p in properties
        ]
        return replace(self, properties=hinted, refuted=frozenset(), assumes={}, amended=None)

    def amend(
        self,
        variant: str,
        about: str,
        changes: Sequence[Change],
        refuted: frozenset[str],
        machines: Sequence[Machine] = (),
        axioms: Sequence[Term] = (),
        configurations: Configurations | None = None,
        default_scope: Mapping[str, int] = {},
        assumes: Mapping[str, Sequence[str]] = {},
        bound: Mapping[tuple[str, str], int | tuple[int, int]] = {},
        assuming: Mapping[str, Term] | None = None,
    ) -> Model:
        """A variant that differs from this one by ``changes``, applied in their order.

        Args:
            machines: replace the machines of their sorts, where the changes need additional attributes, events or
                sorts.
            axioms, default_scope, bound: are added to this variant's. The bound of an integer that is no more is left out.
            configurations, assuming: replace this variant's.
            assumes: of the new variant; it takes none from this one, as with ``refuted``.

        Raises:
            ModelError: a change cannot be made.
        """
        parts: dict[type, list[Element]] = {
            Row: list(self.rows),
            Action: list(self.actions),
            Rule: list(self.rules),
            Property: list(self.properties),
        }
        if variant == self.variant:
            raise ModelError(
                f"variant {variant}", calling_place(), "the amended variant has that name", "write another"
            )
        _require_changes(variant, changes, calling_place())
        for change in changes:
            # A change repairs or weakens a property of this variant; well-formedness is implicit in every variant.
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
                name = _name(element)
                same = next((i for i, old in enumerate(parts[kind]) if _name(old) == name), None)
                if same is None:
                    parts[kind].append(element)
                else:
                    parts[kind][same] = element
        kept = [_name(p) for p in parts[Property]]
        for change in changes:
            _known(variant, change, "weakens a property to", change.weaker, kept)
        amended = replace(
            self,
            variant=variant,
            about=about,
            machines=[*{m.sort: m for m in [*self.machines, *machines]}.values()],
            rows=parts[Row],  # type: ignore[arg-type]
            actions=parts[Action],  # type: ignore[arg-type]
            rules=parts[Rule],  # type: ignore[arg-type]
            properties=parts[Property],  # type: ignore[arg-type]
            refuted=refuted,
            assumes=assumes,
            assuming=self.assuming if assuming is None else assuming,
            axioms=[*self.axioms, *axioms],
            configurations=configurations or self.configurations,
            default_scope={**self.default_scope, **default_scope},
            amends=self.variant,
            changes=tuple(changes),
            place=calling_place(),
            amended=Amended(self, self.elements),
        )
        kept_bound = {key: value for key, value in self.bound.items() if key in amended.integers} if self.bound else {}
        return replace(amended, bound={**kept_bound, **bound})


@dataclass(frozen=True)
class Amended:
    """The variant that another one amends, and the elements that it had at that time. A list may grow afterwards."""

    model: Model
    elements: Sequence[Element]

    @property
    def later(self) -> list[Element]:
        """The elements that the amended variant got since."""
        known = {id(each) for each in self.elements}
        return [each for each in self.model.elements if id(each) not in known]


@declaration
@dataclass(frozen=True, kw_only=True)
class ByConstruction(Property):
    """A property that no state of the encoding can violate.

    Args:
        because: why no state can violate it.
        checked: where it can fail.
        holds: checks the model itself, where the reason is that the model contains no such element.
    """

    because: str
    checked: str
    holds: Callable[[Model], bool] | None = None

    kind = "by construction"


@declaration
@dataclass(frozen=True)
class Mistake:
    """A mistake of an earlier variant that a change repairs as well, and that is another one than the change's own.

    Args:
        name: the name of the defect.
        wrong: what is wrong, in one sentence.
        variant: the name of the variant that has it.
        violates: the properties of that variant that it violates; the run of the first is shown.
    """

    name: str
    wrong: str
    variant: str
    violates: Sequence[str]


@declaration
@dataclass(frozen=True)
class Change:
    """One difference between two variants: elements dropped by name and elements added.

    Args:
        why: the reason, in one sentence.
        adds: the elements to add. One of the same name as an old element replaces it.
        drops: the names of the elements to drop.
        repairs: the properties that hold because of it.
        weakens: the properties that are dropped because this variant cannot satisfy them together with the others. Each
            has the names of the weaker properties that remain of it.
        name: the name of the defect that it repairs; by default, that of a property.
        wrong: what is wrong without it, in one sentence.
        shown: the property whose violation shows that best; by default, the one with the shortest run.
        asks: what must also be true where the property ``shown`` is violated: in the state, before the step, or in the state
            from which its goal is not reached.
        avoids: of an invariant or a step invariant that is ``shown``: the names of actions that its run must not have.
        prompt: of the same: the names of actions that its run takes as soon as they are possible.
        lines: of the document, what is wrong; by default, the line of ``shown``.
        mistakes: what else it repairs, of earlier variants that are wrong for another reason.
    """

    why: str
    repairs: Sequence[str]
    adds: Sequence[Element] = ()
    drops: Sequence[str] = ()
    weakens: Mapping[str, Sequence[str]] = field(default_factory=dict)
    name: str = ""
    wrong: str = ""
    shown: str = ""
    asks: Term | None = None
    avoids: Sequence[str] = ()
    prompt: Sequence[str] = ()
    lines: Sequence[int] = ()
    mistakes: Sequence[Mistake] = ()
    place: Place = field(default_factory=calling_place, compare=False, repr=False)

    @property
    def weaker(self) -> list[str]:
        """The names of the properties that remain of those it weakens."""
        return list(dict.fromkeys(name for names in self.weakens.values() for name in names))

    @property
    def chooses_its_run(self) -> bool:
        """Whether the author asks for more of the run of ``shown`` than that it is the shortest."""
        return self.asks is not None or bool(self.avoids or self.prompt)


def common_parameters(model: Model, actions: Sequence[str]) -> list[Var]:
    """The parameters that all of ``actions`` have. A step invariant on these actions may use them."""
    if not actions:
        return []
    first, *others = [model.action(name).parameters for name in actions]
    return [v for v in first if all(any(v.name == w.name and v.type == w.type for w in other) for other in others)]


def _require_changes(variant: str, changes: object, place: Place) -> None:
    """Refuses what is not a list of changes, or a change whose parts are not lists.

    Raises:
        ModelError: names the part, and what to write instead.
    """
    if not isinstance(changes, Sequence) or not all(isinstance(each, Change) for each in changes):
        raise ModelError(f"variant {variant}", place, "changes is not a list of changes", "write [Change(...), ...]")
    for change in changes:
        for field_name in ("repairs", "adds", "drops"):
            value = getattr(change, field_name)
            if isinstance(value, str) or not isinstance(value, Sequence):
                problem = f"{field_name} is {shown(value)}, not a list"
                raise ModelError(f"change of {variant}", change.place, problem, f"write {field_name}=[...]")
        for element in change.adds:
            if not isinstance(element, (*get_args(Element), Machine)):
                problem = f"adds has {shown(element)}"
                raise ModelError(
                    f"change of {variant}", change.place, problem, "add rows, actions, rules or properties"
                )


def _known(variant: str, change: Change, verb: str, named: Iterable[str], known: Sequence[str]) -> None:
    if unknown := sorted(set(named) - set(known)):
        raise ModelError(
            f"change of {variant}",
            change.place,
            f"it {verb} an unknown property {unknown[0]!r}",
            choose_from(unknown[0], known),
            name=unknown[0],
        )


def _name(element: Element | Machine) -> str:
    """The name of an element, or of a machine, which a change may not have."""
    return element.sort.name if isinstance(element, Machine) else element.name


def _drop(parts: Mapping[type, list[Element]], name: str, place: Place) -> None:
    elements_of_name = [
        (kind, i) for kind, elements in parts.items() for i, element in enumerate(elements) if _name(element) == name
    ]
    if len(elements_of_name) > 1:
        kinds = " and ".join(
            f"{'an' if kind is Action else 'a'} {kind.__name__.lower()}" for kind, _ in elements_of_name
        )
        problem, remedy = f"{kinds} have that name", "give one of them another name"
        raise ModelError(f"change drops {name!r}", place, problem, remedy, name=name)
    for kind, i in elements_of_name:
        del parts[kind][i]
        return
    hint = did_you_mean(name, [_name(element) for elements in parts.values() for element in elements])
    raise ModelError(
        f"change drops {name!r}",
        place,
        "it is not an element of the model",
        f"{hint}name a row, action, rule or property",
        name=name,
    )


@word
def crash(
    name: str, event: str, machines: Sequence[Machine], rows: Sequence[Row], *, line: int | None = None
) -> tuple[Action, tuple[Rule, ...]]:
    """The crash action that declared persistence implies: every volatile object takes its recovery row.

    Args:
        name: the name of the action.
        event: the event of the recovery rows.
        machines: the machines that crash; each with recovery rows gets one rule.
        rows: the rows of the model.
        line: where the document says that crashes happen; each rule cites its machine's recovery rows.

    Returns:
        The action, and the rules that carry it to every object at once.

    Raises:
        ModelError: a volatile state has no recovery row, or a recovery row moves another state.
    """
    place = calling_place()
    for what, values, kind in (("machines", machines, Machine), ("rows", rows, Row)):
        if not isinstance(values, Sequence) or not all(isinstance(each, kind) for each in values):
            raise ModelError(f"crash {name}", place, f"{what} is {shown(values)}", f"write a list of {what}")
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
