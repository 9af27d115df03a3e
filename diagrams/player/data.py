"""What the page of a run shows, as plain data: the page's script reads it as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

Encoded = int | str
"""A value as a number, as in a state of the model. What may be too large for a number of JavaScript is a decimal text: the bit
mask of a set, and a great integer."""


@dataclass(frozen=True)
class About:
    """The property or the question that a run belongs to.

    Attributes:
        title: the heading of the page.
        verdict: in words; empty for a run that answers a question.
        says: the property in one sentence.
        line: of the document.
        sentence: the document's own wording.
        notes: what the verdict rests on, and what it assumes.
    """

    title: str
    verdict: str = ""
    says: str = ""
    line: int | None = None
    sentence: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Lane:
    """An object of the run.

    Attributes:
        name: the object's name.
        sort: the name of its sort.
        text: its sort and rigid facts in words.
        initial: its fields in the initial state, "state" first; values as counterexamples print them.
    """

    name: str
    sort: str
    text: str
    initial: Mapping[str, str]


@dataclass(frozen=True)
class Cause:
    """Why an event fired.

    Attributes:
        name: of the action or the rule.
        is_rule: whether it is a trigger rule.
        condition: of the rule, in words.
        line: of the document.
        fact: the id of a fact, if it comes from no line.
        firing: the position in the step of the firing that triggers the rule; None for the action's own firings.
    """

    name: str
    is_rule: bool
    condition: str
    line: int | None
    fact: str
    firing: int | None


@dataclass(frozen=True)
class Firing:
    """An event of one object in a step, and the fields that it changes.

    Attributes:
        object: the name of the object.
        event: ``Sort.event``.
        cause: why it fired.
        source, target: the states of the table's row; empty for a machine without states.
        line: of the document, from which the row comes.
        fact: the id of a fact, if the row comes from no line.
        changes: field -> (value before, value after).
        payload: the parameters of the event.
    """

    object: str
    event: str
    cause: Cause
    source: str
    target: str
    line: int | None
    fact: str
    changes: Mapping[str, tuple[str, str]]
    payload: Mapping[str, Encoded] = field(default_factory=dict)


@dataclass(frozen=True)
class PlayedStep:
    """A step of the run.

    Attributes:
        says: the step in plain words.
        action: the name of the action.
        line: of the document, from which the action comes.
        fact: the id of a fact, if the action comes from no line.
        firings: each after the firing that caused it.
        ill_formed: why no state follows the step; empty for a well-formed step.
        parameters: of the action.
        writes: the slots of the state that change, with their new values.
    """

    says: str
    action: str
    line: int | None
    fact: str
    firings: tuple[Firing, ...]
    ill_formed: str
    parameters: Mapping[str, Encoded] = field(default_factory=dict)
    writes: tuple[tuple[int, Encoded], ...] = ()


Values = tuple[tuple[int, str], ...]
"""Pairs of a position of the run and the value from there on. Position 0 is the initial state, position n the state after
step n."""


@dataclass(frozen=True)
class FieldValue:
    """A field that a formula reads, in words, and its values; "" is not evaluated, "undefined" reads a field of NONE."""

    text: str
    values: Values


@dataclass(frozen=True)
class Part:
    """A part of a formula, and its value at each position of the run.

    Attributes:
        role: its place in the whole: "if", "then", or the values of a quantifier's variables.
        text: the part in words; the joint alone ("all of") if ``parts`` are shown.
        required: the value that makes the property hold; None where either may.
        values: "true" or "false"; "" is not evaluated, "undefined" reads a field of NONE.
        parts: its parts.
        fields: the fields that a part without shown parts reads.
        is_fixed: whether its value is the same in every state and at every step: it reads rigid fields only.
    """

    role: str
    text: str
    required: bool | None
    values: Values
    parts: tuple[Part, ...] = ()
    fields: tuple[FieldValue, ...] = ()
    is_fixed: bool = False


@dataclass(frozen=True)
class Binding:
    """A variable of a formula, and the value for which the run shows it.

    Attributes:
        name: of the variable.
        value: as counterexamples print it.
        sort: of an object, in words; empty for another value.
    """

    name: str
    value: str
    sort: str


@dataclass(frozen=True)
class Formula:
    """A formula of the property.

    Attributes:
        title: its title.
        part: the formula with all its parts.
        text: the formula as the page reads it.
        actions: the actions at whose steps it is evaluated; None for a formula that is evaluated in every state.
        sentence: the formula in words, with its variables.
        bound: its variables.
    """

    title: str
    part: Part
    text: str = ""
    actions: tuple[str, ...] | None = None
    sentence: str = ""
    bound: tuple[Binding, ...] = ()


@dataclass(frozen=True)
class MachineRow:
    """A row of a machine's table."""

    source: str
    event: str
    target: str
    line: int | None
    fact: str


@dataclass(frozen=True)
class MachineTable:
    """The machine of a sort; ``states`` maps each name to its definition, which may be empty."""

    sort: str
    states: Mapping[str, str]
    rows: tuple[MachineRow, ...]


@dataclass(frozen=True)
class ValueType:
    """A type.

    Attributes:
        kind: "bool", "int", "enum", "ref" or "set".
        sort: of the objects of a reference or a set.
        values: of an enumeration.
    """

    kind: str
    sort: str = ""
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class FieldPlace:
    """Where the values of a field are: its type, and its first slot in a state, or a rigid field's value for each object."""

    type: ValueType
    slot: int | None = None
    values: tuple[Encoded, ...] = ()


@dataclass(frozen=True)
class SortWords:
    """What a formula may say of a sort.

    Attributes:
        short: the letter with which its objects' names begin.
        objects: the names of the objects.
        states: of its machine.
        slot: the first slot of the objects' states.
        fields: its attributes.
        events: name -> the types of the parameters.
    """

    short: str
    objects: tuple[str, ...]
    states: tuple[str, ...]
    slot: int
    fields: Mapping[str, FieldPlace]
    events: Mapping[str, Mapping[str, ValueType]]


@dataclass(frozen=True)
class Vocabulary:
    """What formulas over the run may read.

    Attributes:
        sorts: by name.
        actions: name -> the types of the parameters.
        initial: the initial state.
    """

    sorts: Mapping[str, SortWords] = field(default_factory=dict)
    actions: Mapping[str, Mapping[str, ValueType]] = field(default_factory=dict)
    initial: tuple[Encoded, ...] = ()


@dataclass(frozen=True)
class EnabledStep:
    """A step that is enabled in a state.

    Attributes:
        step: its position in :attr:`Branches.steps`.
        state: the position of the state after it in :attr:`Branches.states`; None if the page does not go on from there.
    """

    step: int
    state: int | None


@dataclass(frozen=True)
class Branches:
    """The steps that are enabled along a run, and where they lead.

    Attributes:
        depth: the most steps away from the run.
        steps: each step once.
        states: the enabled steps of each state.
        positions: for each position of the run, its state; None if its enabled steps are not on the page.
        run_steps: for each step of the run, its position among the enabled steps of the state before it.
        omitted: the number of states whose enabled steps are left out, since the page would be too large.
        lanes: the objects that these steps change and the run does not name.
        limit: which enabled steps the page has, if it has not all; empty if it has.
    """

    depth: int = 0
    steps: tuple[PlayedStep, ...] = ()
    states: tuple[tuple[EnabledStep, ...], ...] = ()
    positions: tuple[int | None, ...] = ()
    run_steps: tuple[int | None, ...] = ()
    omitted: int = 0
    lanes: tuple[Lane, ...] = ()
    limit: str = ""


@dataclass(frozen=True)
class Comparison:
    """What the page shows beside the run: the same actions in another variant, or another run.

    Attributes:
        variant: the name of its variant.
        lanes: the objects of the run that it has.
        steps: those of the other run, or as many of the same actions as the variant enables.
        stops: why the next action of the run is not possible; empty if all are, and for another run.
        property: the property of the other run; empty for the same actions.
    """

    variant: str
    lanes: tuple[Lane, ...]
    steps: tuple[PlayedStep, ...]
    stops: str
    property: str = ""


@dataclass(frozen=True)
class Played:
    """A run for the page.

    Attributes:
        problem: what the run shows, as the text of a counterexample ends.
        variant: of the model.
        loops_from: the number of steps before a lasso's loop.
        quotes: line of the document -> its text.
        facts: id -> text, of what the document leaves out.
        links: line of the document -> its address on the page of the document.
        examples: expressions that a reader may write.
        fields: sort -> name of an attribute -> what it is, in words.
        vocabulary: what formulas may read.
        branches: the steps that the run does not take.
        comparison: what is beside the run.
    """

    about: About
    document: str
    scope: str
    problem: str
    loops_from: int | None
    lanes: tuple[Lane, ...]
    steps: tuple[PlayedStep, ...]
    formulas: tuple[Formula, ...]
    machines: tuple[MachineTable, ...]
    quotes: Mapping[str, str]
    facts: Mapping[str, str]
    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    branches: Branches = field(default_factory=Branches)
    comparison: Comparison | None = None
    variant: str = ""
    links: Mapping[str, str] = field(default_factory=dict)
    examples: tuple[str, ...] = ()
    fields: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def as_json(self) -> Any:
        """The data as the page's script reads it."""
        return msgspec.to_builtins(self)
