"""Checks a model and refuses a wrong one with one message: element, place, problem, remedy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from itertools import pairwise

from schedproof.model.errors import choose_from, require, shown

from . import terms as t
from .bounds import check_bound
from .declarations import check_declarations, unique
from .disposable import least
from .errors import ModelError
from .infer import Context, formula, infer, machine_of, no_sets
from .machine import Durability
from .model import MOST_OBJECTS, Model, common_parameters
from .properties import (
    WELL_FORMED,
    AlwaysCanReach,
    DeadlockFree,
    Invariant,
    LeadsTo,
    LifeCycle,
    Property,
    Recovery,
    StepInvariant,
)
from .rules import Action, Rule, placeholders
from .same import NOTHING_SAME, Checked, Same
from .shapes import check_shapes
from .triggers import caused, trigger_graph
from .types import Ref


def checked(model: Model) -> Model:
    """``model`` itself, checked at the first call. Every function that uses a model starts here.

    Raises:
        ArgumentError: it is not a model.
        ModelError: the model contradicts itself; names the element, its place, and what to write instead.
    """
    require("model", model, Model, "a model, for example system.variants['as-written']")
    if "_checked" not in vars(model):
        _check(model)
        object.__setattr__(model, "_checked", Checked.of(model))  # models are immutable
    return model


def _check(model: Model) -> None:
    same = _same(model)
    check_shapes(model, same)
    _nothing_later(model)
    check_declarations(model, same)
    _has_needed(model)
    unique("action", [(a.name, a.place) for a in model.actions])
    unique("rule", [(r.name, r.place) for r in model.rules])
    unique("property", [(p.name, p.place) for p in model.properties])
    for prop in model.properties:
        if prop.name == WELL_FORMED:
            raise ModelError(
                f"property {prop.name}", prop.place, "that is a property of every model", "give it another name"
            )
    for axiom in model.axioms:
        formula(axiom, Context(model, "axiom", axiom.place, rigid_only=True))
    for name, assumption in model.assuming.items():
        formula(assumption, Context(model, f"assumption {name}", assumption.place, rigid_only=True))
    for action in model.actions:
        if action not in same:
            _action(model, action)
    for rule in model.rules:
        if isinstance(rule.on, Action):
            _known_trigger(model, rule, rule.on)
        if rule not in same:
            _rule(model, rule)
    _acyclic(model)
    for action in model.actions:
        if action.crash:
            _survives(model, action)
    for prop in model.properties:
        _known_names(model, prop)
        if prop not in same or not all(model.action(name) in same for name in getattr(prop, "on", ())):
            _property(model, prop)
    _manifest(model)


def _same(model: Model) -> Same:
    """What a variant has in common with the checked variant that it amends, where its terms mean the same."""
    before = vars(model.amended.model).get("_checked") if model.amended is not None else None
    if before is None or not before.means_the_same_in(model):
        return NOTHING_SAME
    return Same(before)


def _nothing_later(model: Model) -> None:
    """Refuses a variant that lacks elements that the variant it amends got afterwards: nobody would miss them."""
    if model.amended is None:
        return
    if "_checked" not in vars(model.amended.model):
        check_shapes(model.amended.model)
    if later := model.amended.later:
        raise ModelError(
            f"variant {model.variant}",
            model.place,
            f"{model.amends} got {later[0].name!r} after it was amended, so {model.variant} lacks it",
            f"write amend(...) below everything that {model.amends} is made of",
        )


def _has_needed(model: Model) -> None:
    """Refuses a model that forgot a part of a library. A change may drop one."""
    known = {("action", a.name) for a in model.actions} | {("rule", r.name) for r in model.rules}
    for machine in () if model.changes else model.machines:
        if forgotten := next((each for each in machine.needs if each not in known), None):
            kind, name = forgotten
            problem = f"the model has its machine, and not its {kind} {name!r}"
            remedy = f"unpack its {kind}s, too, for example {kind}s=[..., *{machine.sort.short}.{kind}s]"
            raise ModelError(f"machine {machine.sort}", machine.place, problem, remedy, name=f"{kind}s")


def _action(model: Model, action: Action) -> None:
    context = Context(model, f"action {action.name}", action.place, history=False).bind(action.parameters)
    names = [v.name for v in action.parameters]
    for part in _placeholders(action, context):
        first, *fields = part.split(".")
        if first not in names:
            raise ModelError(
                context.element,
                action.place,
                f"its sentence has {{{part}}}, which is not a parameter",
                choose_from(first, names),
                name=part,
            )
        _fields(action, action.parameters[names.index(first)], fields, context)
    if isinstance(action.by, t.Var) and not any(action.by is v and isinstance(v.type, Ref) for v in action.parameters):
        objects = [v.name for v in action.parameters if isinstance(v.type, Ref)]
        problem = f"by is {action.by.name}, which is not an object among its parameters"
        raise ModelError(context.element, action.place, problem, choose_from(action.by.name, objects), name="by")
    for conjunct in action.when:
        formula(conjunct, context)
    for firing in action.fires:
        _complete(model, firing, replace(context, fires=True))


def _survives(model: Model, crash: Action) -> None:
    """Refuses a crash that leaves what it loses: a row from a volatile state that ends in one, or that keeps an attribute.

    A row keeps an attribute that it does not set, or that it sets to the value that it has.
    """
    events = caused(model, crash.name)
    for row in model.rows:
        if (row.sort.name, row.event) not in events:
            continue
        machine = model.machine(row.sort)
        source, target = machine.state(row.source), machine.state(row.target)
        if source is None or source.durability is not Durability.VOLATILE:
            continue
        if target is not None and target.durability is Durability.VOLATILE:
            raise ModelError(
                f"row {row.name}",
                row.place,
                f"{crash.name} takes {row.source} to {row.target}, but a crash loses that state too: it is volatile",
                "name a state that survives",
                name=row.target,
            )
        for attribute in machine.attributes:
            survives = attribute.durable or attribute.derived or attribute.rigid or attribute.history
            value = dict(row.sets).get(attribute.name)
            if not survives and (value is None or _is_kept(value, attribute.name)):
                keeps = "does not set it" if value is None else "keeps its value"
                raise ModelError(
                    f"row {row.name}",
                    row.place,
                    f"{crash.name} loses attribute {attribute.name!r} of {row.sort}, and the row {keeps}",
                    "set it in the row, or declare it durable=True or derived=True",
                    name=attribute.name,
                )


def _is_kept(value: t.Term, attribute: str) -> bool:
    """Whether a row sets an attribute of its object to the value that it has."""
    return isinstance(value, t.Attr) and isinstance(value.of, t.Me) and value.name == attribute


def _placeholders(action: Action, context: Context) -> list[str]:
    """The placeholders of the action's sentence: the names in braces."""
    try:
        return placeholders(action.says)
    except ValueError as error:
        raise ModelError(
            context.element, action.place, f"its sentence cannot be read: {error}", "write {p} for parameter p"
        ) from None


def _fields(action: Action, parameter: t.Var, fields: Sequence[str], context: Context) -> None:
    """Refuses a placeholder ``{p.field}`` whose field the parameter does not have. ``state`` is the state of its machine."""
    term: t.Term = parameter
    for number, name in enumerate(fields):
        kind = infer(term, context)
        stateful = isinstance(kind, Ref) and bool(machine_of(context, kind.sort, action.place).states)
        if name == "state" and stateful and number + 1 == len(fields):
            return
        term = t.Attr(term, name, place=action.place)
        infer(term, context)


def _rule(model: Model, rule: Rule) -> None:
    element = f"rule {rule.name}"
    free = {n: v for part in (*rule.when, rule.fires) for n, v in t.free_variables(part).items()}
    if isinstance(rule.on, Action):
        known = {v.name: v for v in rule.on.parameters}
        no_sets(Context(model, element, rule.place), [v for n, v in free.items() if n not in known])
        free |= known
    else:
        free |= t.free_variables(rule.on)
        no_sets(Context(model, element, rule.place), list(free.values()))
    context = Context(model, element, rule.place, fires=True, history=False).bind(list(free.values()))
    if not isinstance(rule.on, Action):
        formula(rule.on, context)
    for conjunct in rule.when:
        formula(conjunct, context)
    _complete(model, rule.fires, context)


def _known_trigger(model: Model, rule: Rule, on: Action) -> None:
    """Refuses a rule whose action the model does not have, or has with other parameters.

    The rule's action may otherwise be an earlier version of the model's, with another guard.
    """
    if all(a.name != on.name for a in model.actions):
        remedy = choose_from(on.name, [a.name for a in model.actions])
        raise ModelError(f"rule {rule.name}", rule.place, f"unknown action {on.name!r}", remedy, name=on.name)
    expected = {v.name: v.type for v in model.action(on.name).parameters}
    if expected != {v.name: v.type for v in on.parameters}:
        listed = ", ".join(f"{n}: {kind}" for n, kind in expected.items()) or "none"
        raise ModelError(
            f"rule {rule.name}",
            rule.place,
            f"its action {on.name!r} has other parameters than the model's",
            f"write the rule on the model's action, with the parameters {listed}",
        )


def _complete(model: Model, firing: t.Fires, context: Context) -> None:
    """Refuses a firing that an action or rule causes without giving every parameter of its event."""
    formula(firing, replace(context, causes=True))
    receiver = infer(firing.of, context)
    assert not isinstance(receiver, str) and hasattr(receiver, "sort")
    declared = model.machine(receiver.sort).parameters(firing.event)
    if missing := [name for name in declared if name not in dict(firing.payload)]:
        raise ModelError(
            context.element,
            firing.place,
            f"{firing.event} is fired without its parameter {missing[0]}",
            f"write fires({firing.event!r}, {missing[0]}=...)",
        )


def _acyclic(model: Model) -> None:
    graph = trigger_graph(model)
    cycle = graph.cycle()
    if not cycle:
        return
    cycle.append(cycle[0])
    trigger = graph.successors[cycle[0]][cycle[1]]
    path = " -> ".join(".".join(filter(None, node)) for node in cycle)
    raise ModelError(
        f"rule {trigger.rule}",
        trigger.place,
        f"trigger cycle: {path}",
        "let an action fire one of these events, so that every cascade ends",
    )


def _known_names(model: Model, prop: Property) -> None:
    """Refuses a property that names elements which the model does not have."""
    match prop:
        case Invariant():
            _known_invariants(model, prop, prop.follows_from)
        case StepInvariant():
            _known_actions(model, prop, prop.on)
        case DeadlockFree() | AlwaysCanReach():
            _known_actions(model, prop, prop.without)
        case LeadsTo():
            _known_actions(model, prop, [*prop.weak, *prop.strong, *prop.without])
            if both := sorted({*prop.weak, *prop.strong} & {*prop.without}):
                raise ModelError(
                    f"property {prop.name}",
                    prop.place,
                    f"{both[0]} is both fair and excluded",
                    "name it in weak or strong, or else in without",
                    name=both[0],
                )
        case Recovery():
            if not any(a.crash for a in model.actions):
                raise ModelError(
                    f"property {prop.name}",
                    prop.place,
                    "a Recovery needs a crash, and the model declares none",
                    "add one with crash(...)",
                )
        case _:
            pass


def _property(model: Model, prop: Property) -> None:
    context = Context(model, f"property {prop.name}", prop.place, after=False)
    parts = prop.restores if isinstance(prop, Recovery) else [prop]
    for each in parts:
        no_sets(context, getattr(each, "over", ()))
    match prop:
        case Invariant(over=over, given=premise, then=then):
            inside = context.bind(over)
            for part in _given((premise, then)):
                formula(part, inside)
        case StepInvariant(over=over, given=premise, then=then, on=on):
            inside = replace(context.bind(common_parameters(model, on)).bind(over), after=True, fires=True)
            for part in _given((premise, then)):
                formula(part, inside)
        case DeadlockFree(ended=ended):
            for part in _given((ended,)):
                formula(part, context)
        case LifeCycle(sort=sort, states=states):
            machine = machine_of(context, sort, prop.place)
            if not states:
                raise ModelError(context.element, prop.place, "it names no state", "list the states of the life cycle")
            for name in states:
                if machine.state(name) is None:
                    remedy = choose_from(name, [s.name for s in machine.states])
                    problem = f"unknown state {name!r} of {sort}"
                    raise ModelError(context.element, prop.place, problem, remedy, name=name)
            for name, following in pairwise(states):
                if name == following:
                    problem = f"its states have {name!r} twice in a row"
                    remedy = "write it once: a step that keeps the state is the same visit"
                    raise ModelError(context.element, prop.place, problem, remedy, name=name)
            starts = [machine.states[0].name, *(s.name for s in machine.states[1:] if s.begins)]
            if states[0] not in starts:
                problem = f"its states begin with {states[0]!r}, but no {sort} begins there"
                raise ModelError(
                    context.element, prop.place, problem, f"begin with {' or '.join(starts)}", name=states[0]
                )
        case AlwaysCanReach(over=over, given=premise, goal=goal) | LeadsTo(over=over, given=premise, goal=goal):
            inside = context.bind(over)
            for part in _given((premise, goal)):
                formula(part, inside)
        case Recovery(restores=restores):
            for restored in restores:
                inside = context.bind(restored.over)
                formula(restored.what, inside)
                formula(restored.durable, replace(inside, durable_only=True))
        case _:
            pass


def _known_actions(model: Model, prop: Property, names: Sequence[str]) -> None:
    known = [a.name for a in model.actions]
    for name in names:
        if name not in known:
            problem, remedy = f"unknown action {name!r}", choose_from(name, known)
            skip = int(name == prop.name)  # it comes first
            raise ModelError(f"property {prop.name}", prop.place, problem, remedy, name=name, skip=skip)


def _known_invariants(model: Model, prop: Property, names: Sequence[str]) -> None:
    known = [p.name for p in model.properties if isinstance(p, Invariant) and p.name != prop.name]
    for name in names:
        if name not in known:
            raise ModelError(
                f"property {prop.name}",
                prop.place,
                f"follows_from names {name!r}, which is not another invariant",
                choose_from(name, known),
                name=name,
                skip=int(name == prop.name),  # it comes first
            )


def _assumes(model: Model) -> None:
    """Checks ``assumes``: properties that it may name, and what assumes something."""
    element = f"variant {model.variant}"
    reaching = [p.name for p in model.properties if isinstance(p, AlwaysCanReach | LeadsTo)]
    assumed = [f"{m.sort}.{a.name}" for m in model.machines for a in m.attributes if a.assumed is not None]
    if not isinstance(model.assumes, Mapping):
        problem = f"assumes is {shown(model.assumes)}"
        remedy = 'write assumes={"name of a property": ["Sort.attribute"]}'
        raise ModelError(element, model.place, problem, remedy, name="assumes")
    for name, assumptions in model.assumes.items():
        if not isinstance(assumptions, list | tuple):
            problem = f"assumes has {shown(assumptions)} for {name}, not a list"
            raise ModelError(element, model.place, problem, f'write assumes={{{name!r}: ["Sort.attribute"]}}')
    for name, assumptions in model.assumes.items():
        if name not in reaching:
            raise ModelError(
                element,
                model.place,
                f"assumes names {name!r}, which is not an AlwaysCanReach or LeadsTo of the variant",
                choose_from(name, reaching) if reaching else "leave it out",
                name=name,
            )
        for number, assumption in enumerate(assumptions):
            if not isinstance(assumption, str):
                problem = f"assumes has {shown(assumption)} for {name}, not the name of an attribute"
                raise ModelError(element, model.place, problem, f'write assumes={{{name!r}: ["Sort.attribute"]}}')
            if assumption in assumptions[:number]:
                problem = f"{name} assumes {assumption!r} twice"
                raise ModelError(element, model.place, problem, "write it once", name=assumption)
            if assumption not in assumed:
                raise ModelError(
                    element,
                    model.place,
                    f"{name} assumes {assumption!r}, which is not an attribute with assumed=",
                    choose_from(assumption, assumed) if assumed else "write assumed= at the Attribute",
                    name=assumption,
                )


def _manifest(model: Model) -> None:
    known = [WELL_FORMED, *(p.name for p in model.properties)]
    if not isinstance(model.refuted, Set):
        raise ModelError(
            f"variant {model.variant}",
            model.place,
            f"refuted is {shown(model.refuted)}, not a set",
            "write refuted=frozenset({...}) with the names of properties",
            name="refuted",
        )
    for name in sorted(model.refuted):
        if name not in known:
            raise ModelError(
                f"variant {model.variant}",
                model.place,
                f"refuted names an unknown property {name!r}",
                choose_from(name, known),
                name=name,
            )
    _assumes(model)
    for sort in [*model.default_scope, *model.verify_scope]:
        if sort not in {s.name for s in model.sorts}:
            raise ModelError(
                f"variant {model.variant}",
                model.place,
                f"its scope has an unknown sort {sort!r}",
                choose_from(sort, [s.name for s in model.sorts]),
                name=sort,
            )
    for name, scope in (("default_scope", model.default_scope), ("verify_scope", model.verify_scope)):
        for sort, size in scope.items():
            if type(size) is not int or not 1 <= size <= MOST_OBJECTS:
                raise ModelError(
                    f"variant {model.variant}",
                    model.place,
                    f"{name} has {size!r} objects of {sort}",
                    f"write a whole number from 1 to {MOST_OBJECTS}",
                    name=sort,
                )
            few = next(least(model.actions, each) for each in model.sorts if each.name == sort)
            if size < few:
                problem = f"{name} has {size} object{'s' * (size > 1)} of {sort}, which leaves none for the next one"
                remedy = f"write at least {few}"
                raise ModelError(f"variant {model.variant}", model.place, problem, remedy, name=sort)
            if size > 1 and any(each.name == sort and each.single for each in model.sorts):
                problem = f"{name} has {size} objects of {sort}, which has exactly one"
                raise ModelError(f"variant {model.variant}", model.place, problem, "leave it out", name=sort)
    check_bound(model)
    for sort, size in model.verify_scope.items():
        if size < model.default_scope.get(sort, 1):
            raise ModelError(
                f"variant {model.variant}",
                model.place,
                f"verify_scope has {size} objects of {sort}, fewer than the default scope",
                "write at least as many, or leave it out",
                name=sort,
            )


def _given(parts: Sequence[t.Term | None]) -> list[t.Term]:
    return [part for part in parts if part is not None]
