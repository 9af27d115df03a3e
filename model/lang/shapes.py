"""Checks that the fields of a model have values of the right kind, before anything reads them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from schedproof.model.errors import shown

from .errors import ModelError, Place
from .machine import Attribute, Event, Machine, Row, State
from .model import Document, Model
from .properties import (
    AlwaysCanReach,
    DeadlockFree,
    Invariant,
    LeadsTo,
    LifeCycle,
    Property,
    Recovery,
    Restored,
    StepInvariant,
)
from .rules import Action, Rule
from .same import NOTHING_SAME, Same
from .terms import Fires, Term, Var
from .types import Sort

LISTS: Mapping[type, Mapping[str, type]] = {
    Model: {"machines": Machine, "rows": Row, "actions": Action, "rules": Rule, "properties": Property, "axioms": Term},
    Machine: {"states": State, "attributes": Attribute, "events": Event},
    Action: {"parameters": Var, "when": Term, "fires": Fires},
    Rule: {"when": Term},
    Invariant: {"over": Var, "follows_from": str},
    StepInvariant: {"over": Var, "on": str},
    DeadlockFree: {"without": str},
    LifeCycle: {"states": str},
    AlwaysCanReach: {"over": Var, "without": str},
    LeadsTo: {"over": Var, "weak": str, "strong": str, "without": str},
    Recovery: {"restores": Restored},
    Restored: {"over": Var},
}
"""The fields that are lists, with the class of their items."""

SINGLE: Mapping[type, Mapping[str, type | tuple[type, ...]]] = {
    Rule: {"on": (Action, Fires), "fires": Fires},
    Invariant: {"given": (Term, type(None)), "then": Term},
    StepInvariant: {"given": (Term, type(None)), "then": Term},
    DeadlockFree: {"ended": (Term, type(None))},
    AlwaysCanReach: {"given": (Term, type(None)), "goal": Term},
    LeadsTo: {"given": Term, "goal": Term},
    Restored: {"what": Term, "durable": Term},
}
"""The fields that are one formula or firing."""

EXAMPLES: Mapping[type, str] = {
    Term: "formulas, for example x.is_('Free')",
    Fires: "firings, for example x.fires('take')",
    Var: "variables, as variables(...) makes them",
    str: "names",
}
"""What to write; for any other class, its name."""


def check_shapes(model: Model, same: Same = NOTHING_SAME) -> None:
    """Refuses a list where one element belongs, one element where a list belongs, and elements of other classes.

    Args:
        same: what was checked before.

    Raises:
        ModelError: names the element, its place, and what to write instead.
    """
    _model(model)
    for element, place, part in _parts(model, same):
        for kind, fields in LISTS.items():
            for field, item in fields.items() if isinstance(part, kind) else ():
                _list(element, place, field, getattr(part, field), item)
        for kind, singles in SINGLE.items():
            for field, expected_type in singles.items() if isinstance(part, kind) else ():
                value = getattr(part, field)
                if not isinstance(value, expected_type):
                    instead = "an action, or a firing of an object" if field == "on" else "one formula"
                    instead = "one firing, without a list" if field == "fires" else instead
                    raise ModelError(element, place, f"{field} is {shown(value)}", f"write {instead}", name=field)
        _named(element, place, part)


def _model(model: Model) -> None:
    """Refuses fields of the model itself that have another type."""
    element = f"variant {model.variant}"
    for name, kind, write in (
        ("system", str, 'a name, for example system="jobs"'),
        ("variant", str, 'a name, for example variant="as-written"'),
        ("about", str, 'a sentence, for example about="jobs and GPUs"'),
        ("document", Document, 'document=Document("jobs.md", "How our jobs run")'),
        ("default_scope", Mapping, 'default_scope={"Job": 2}'),
        ("verify_scope", Mapping, 'verify_scope={"Job": 2}'),
    ):
        value = getattr(model, name)
        if not isinstance(value, kind) or (name in ("system", "variant") and not re.fullmatch(NAME, str(value))):
            raise ModelError(element, model.place, f"{name} is {shown(value)}", f"write {write}", name=name)
    assumptions = 'assuming={"hold < lease": forall(...)}'
    if not isinstance(model.assuming, Mapping):
        problem = f"assuming is {shown(model.assuming)}"
        raise ModelError(element, model.place, problem, f"write {assumptions}", name="assuming")
    for name, formula in model.assuming.items():
        if not (isinstance(name, str) and re.fullmatch(NAME, name) and isinstance(formula, Term)):
            problem = f"assuming has {shown(formula)} for {shown(name)}"
            raise ModelError(
                element, model.place, problem, f"write a name and a formula: {assumptions}", name="assuming"
            )
    if not callable(model.configurations):
        problem = f"configurations is {shown(model.configurations)}, not a function of the scope"
        remedy = "write configurations=lambda sizes: [...]"
        raise ModelError(element, model.place, problem, remedy, name="configurations")


NAME = r"\S(.*\S)?"
"""A name: a text of one line. Documents have names with spaces; reports and exports write them as they are."""


def _named(element: str, place: Place, part: object) -> None:
    """Refuses an element whose name is empty, not a text, or cannot be written where names are used."""
    names: list[tuple[str, object, Place]] = []
    if isinstance(part, Machine):
        if not isinstance(part.sort, Sort):
            raise ModelError(
                "machine", place, f"its sort is {shown(part.sort)}", 'write Machine(Sort("Job", "j"), ...)'
            )
        names += [("state", each.name, each.place) for each in part.states if isinstance(each, State)]
        names += [("attribute", each.name, each.place) for each in part.attributes if isinstance(each, Attribute)]
        names += [("event", each.name, each.place) for each in part.events if isinstance(each, Event)]
        for event in part.events:
            if not (isinstance(event.parameters, Mapping) and all(isinstance(n, str) for n in event.parameters)):
                problem = f"its parameters are {shown(event.parameters)}"
                raise ModelError(
                    f"event {event.name}", event.place, problem, 'write Event("take", {"by": Ref(Worker)})'
                )
    elif isinstance(part, Action):
        names.append(("action", part.name, place))
    elif isinstance(part, Rule):
        names.append(("rule", part.name, place))
    elif isinstance(part, Property):
        names.append(("property", part.name, place))
        if type(part) is Property:
            raise ModelError(element, place, "it is of no kind", "write Invariant(...), LeadsTo(...) or another kind")
    if isinstance(part, Action) and not isinstance(part.by, Var | str):
        problem = f"by is {shown(part.by)}"
        raise ModelError(
            element, place, problem, 'write a parameter, or the name of a component: by="scheduler"', name="by"
        )
    if isinstance(part, Action | Property) and not isinstance(part.says, str):
        problem = f"says is {shown(part.says)}, not a text"
        raise ModelError(element, place, problem, "write a sentence", name="says")
    for what, name, at in names:
        if not (isinstance(name, str) and re.fullmatch(NAME, name)):
            raise ModelError(element, at, f"{shown(name)} cannot be the name of its {what}", "write one in words")


def _parts(model: Model, same: Same) -> Iterator[tuple[str, Place, object]]:
    """Everything with fields to check: what to call it, its place, and itself. A part comes after what contains it."""
    yield f"variant {model.variant}", model.place, model
    for machine in (each for each in model.machines if each not in same):
        yield f"machine {machine.sort}", machine.place, machine
    for action in (each for each in model.actions if each not in same):
        yield f"action {action.name}", action.place, action
    for rule in (each for each in model.rules if each not in same):
        yield f"rule {rule.name}", rule.place, rule
    for prop in (each for each in model.properties if each not in same):
        yield f"property {prop.name}", prop.place, prop
        for restored in prop.restores if isinstance(prop, Recovery) else ():
            yield f"property {prop.name}", prop.place, restored


def _list(element: str, place: Place, field: str, value: object, item: type) -> None:
    example = EXAMPLES.get(item, f"{item.__name__}(...)")
    if isinstance(value, str) or not isinstance(value, Sequence):
        problem = f"{field} is {shown(value)}, not a list"
        raise ModelError(element, place, problem, f"write a list of {example}", name=field)
    for each in value:
        if isinstance(each, list | tuple):
            problem = f"{field} has a list in the list"
            raise ModelError(element, place, problem, "unpack the inner one with *", name=field)
        if not isinstance(each, item):
            problem = f"an element of {field} is {shown(each)}"
            raise ModelError(element, place, problem, f"write {example}", name=field)
