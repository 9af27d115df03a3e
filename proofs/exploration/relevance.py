"""Which steps can meet the premise of a step invariant: those of some actions, or those that change some object."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass

from schedproof.model.lang import Model, Row, StepInvariant
from schedproof.model.lang import terms as t
from schedproof.model.lang.infer import sort_of
from schedproof.model.lang.triggers import caused
from schedproof.model.lang.types import Ref


def actions_that_meet(model: Model, prop: StepInvariant) -> frozenset[str]:
    """The actions to which the property applies and whose steps may meet its premise, computed once for a model.

    An object takes at most one row in a step, of an event that the action can cause. So no step meets a premise that needs
    an event, a change of state or a change of an attribute that no such row makes. A premise that may be undefined is
    always checked, since that counts as a violation.
    """
    known: dict[int, tuple[StepInvariant, frozenset[str]]] = vars(model).setdefault("_actions_that_meet", {})
    if id(prop) not in known:
        names = prop.on or [action.name for action in model.actions]
        # The property is kept, so that no other one gets its id.
        known[id(prop)] = prop, frozenset(name for name in names if _may_meet(model, prop, name))
    return known[id(prop)][1]


def _may_meet(model: Model, prop: StepInvariant, action: str) -> bool:
    if prop.given is None or not is_defined(prop.given):
        return True
    events = caused(model, action)
    rows = [row for row in model.rows if (row.sort.name, row.event) in events]
    literals = list(_literals(prop.given))
    scope = {**{v.name: v for v in model.action(action).parameters}, **{v.name: v for v in prop.over}}
    fired = [each.atom for each in literals if isinstance(each.atom, t.Fires) and each.true]
    if any((sort_of(model, atom.of, scope), atom.event) not in events for atom in fired):
        return False
    return all(_may_step(model, rows, v, literals) for v in prop.over if isinstance(v.type, Ref))


NAMES_AN_OBJECT = "names"
"""How the condition begins that an attribute is the object of a variable, which is never NONE."""


@dataclass(frozen=True)
class _Literal:
    """A part of a premise without connectives: whether it must be true, and whether after the step."""

    atom: t.Term
    true: bool
    after: bool


def _literals(term: t.Term, true: bool = True, after: bool = False) -> Iterator[_Literal]:
    """The literals of which each must be so for the term to have the truth value ``true``."""
    match term:
        case t.After(part):
            yield from _literals(part, true, True)
        case t.Not(part):
            yield from _literals(part, not true, after)
        case t.And(parts) if true:
            for part in parts:
                yield from _literals(part, true, after)
        case t.Or(parts) if not true:
            for part in parts:
                yield from _literals(part, true, after)
        case t.Implies(premise, conclusion) if not true:
            yield from _literals(premise, True, after)
            yield from _literals(conclusion, False, after)
        case _:
            yield _Literal(term, true, after)


@dataclass(frozen=True)
class _Seen:
    """What literals say of an object: its state before and after the step, and its attributes.

    Attributes:
        changed: the attributes that the step must change.
        some: the attributes that name an object after the step.
    """

    before: Set[str]
    after: Set[str]
    changed: Set[str]
    some: Set[str]

    @property
    def changes(self) -> bool:
        """Whether the step must change the object."""
        return bool(self.changed) or not self.before & self.after


def _seen(every: Set[str], v: t.Var, literals: Iterable[_Literal]) -> _Seen:
    """What literals say of the object ``v``, whose machine has the states ``every``."""
    before, after = set(every), set(every)
    values: dict[tuple[str, str], set[tuple[bool, bool]]] = {}
    for each in literals:
        match each.atom:
            case t.Is(t.Var(name), states) if name == v.name:
                (after if each.after else before).intersection_update(states if each.true else every - set(states))
            case atom:
                if (key := _value(atom, v)) is not None:
                    values.setdefault(key, set()).add((each.true, each.after))
    changed = {
        attribute
        for (attribute, _), seen in values.items()
        if any((not true, not is_after) in seen for true, is_after in seen)
    }
    some = {key[0] for key, seen in values.items() if (True, True) in seen and key[1].startswith(NAMES_AN_OBJECT)}
    return _Seen(before, after, changed, some)


def _states(model: Model, v: t.Var) -> frozenset[str]:
    assert isinstance(v.type, Ref)
    return frozenset(state.name for state in model.machine(v.type.sort).states)


def _may_step(model: Model, rows: Sequence[Row], v: t.Var, literals: Sequence[_Literal]) -> bool:
    """Whether an object can be and do what the literals say of it, by at most one of the rows."""
    assert isinstance(v.type, Ref)
    every = _states(model, v)
    seen = _seen(every, v, literals)
    if not every:  # a machine without states has no rows
        return not seen.changed
    if not seen.changes:
        return True
    return any(
        row.sort == v.type.sort
        and row.source in seen.before
        and row.target in seen.after
        and seen.changed <= {name for name, _ in row.sets}
        and not any(name in seen.some and isinstance(value, t.Nothing) for name, value in row.sets)
        for row in rows
    )


def _value(atom: t.Term, v: t.Var) -> tuple[str, str] | None:
    """The attribute of ``v`` that decides an atom, and what else does; None for atoms of other forms."""
    match atom:
        case t.Attr(t.Var(name), attribute) if name == v.name:
            return attribute, ""
        case t.Equal(t.Attr(t.Var(name), attribute), other) | t.Equal(other, t.Attr(t.Var(name), attribute)):
            if name == v.name and isinstance(other, t.Var):
                return attribute, f"{NAMES_AN_OBJECT} {other!r}"
            if name == v.name and isinstance(other, t.Constant | t.Nothing):
                return attribute, f"is {other!r}"
        case t.Has(t.Attr(t.Var(name), attribute), t.Var() as element) if name == v.name:
            return attribute, f"has {element!r}"
    return None


def is_defined(term: t.Term) -> bool:
    """Whether a term is never undefined: it reads attributes, states and events of variables only."""
    if isinstance(term, t.Attr | t.Is | t.Fires) and not isinstance(term.of, t.Var):
        return False
    if isinstance(term, t.Apply) and not t.are_variables(term.element):
        return False
    return all(is_defined(child) for child in t.children(term))


@dataclass(frozen=True)
class Change:
    """What a premise says of the state after a step, if that is about one object: without a change there, nothing new.

    Attributes:
        variable: the name of the object's variable.
        sort: its sort.
        fields: what is read of it after the step.
        unchanged: the premise in a step that changes none of these fields; None if it is false then.
    """

    variable: str
    sort: str
    fields: tuple[str, ...]
    unchanged: t.Term | None


def change_of(model: Model, over: Sequence[t.Var], premise: t.Term | None) -> Change | None:
    """What a premise about ``over`` says of the state after; None if that is more than fields of one of these objects.

    A premise that may be undefined has none, since not to evaluate it would hide a violation. Neither has one that reads events:
    they may happen in a step that changes none of the fields, and the state before does not say which.
    """
    if premise is None or len(over) < 2 or not is_defined(premise) or list(t.firings(premise)):
        return None
    parts = list(t.subterms(premise))
    read = [
        part
        for each in parts
        if isinstance(each, t.After)
        for part in t.subterms(each)
        if isinstance(part, t.Attr | t.Is | t.Quantified | t.Those | t.TuplesOf | t.Count)
    ]
    names = {part.of.name for part in read if isinstance(part, t.Attr | t.Is) and isinstance(part.of, t.Var)}
    inner = {v.name for part in parts for v in t.bound_by(part)}  # may have the name of one of ``over``
    if len(names) != 1 or names & inner or not all(isinstance(part, t.Attr | t.Is) for part in read):
        return None
    variable = next((v for v in over if v.name in names), None)
    if variable is None or not isinstance(variable.type, Ref):
        return None
    fields = tuple(sorted({part.name if isinstance(part, t.Attr) else "" for part in read}))
    every = _states(model, variable)
    changes = bool(every) and _seen(every, variable, _literals(premise)).changes
    return Change(variable.name, variable.type.sort.name, fields, None if changes else _before(premise))


def _before(term: t.Term) -> t.Term:
    """A term with the state before in place of the state after."""
    return _before(term.part) if isinstance(term, t.After) else t.rebuilt(term, _before)
