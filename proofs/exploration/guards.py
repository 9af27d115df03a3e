"""Why an action is not enabled, in words."""

from __future__ import annotations

from collections.abc import Mapping

from schedproof.model.lang import Action, EnumType, Ref, SetOf
from schedproof.model.lang import terms as t
from schedproof.model.lang.types import Type
from schedproof.model.lang.wording import quoted, show_exactly
from schedproof.model.semantics import Instance, Moment, State, Undefined, compile_term

from .counterexample_text import shown


def why_disabled(instance: Instance, state: State, action: Action, given: Mapping[str, int]) -> str:
    """The first condition of an action's guard that is not true for these parameters, in words."""
    scope = {v.name: v for v in action.parameters}
    names = {name: value_words(instance, scope[name].type, value) for name, value in given.items()}
    for condition in (part for each in action.when for part in t.conjuncts(each)):
        if not set(t.free_variables(condition)) <= set(given):
            continue
        try:
            holds = bool(compile_term(instance, condition, scope)(Moment(state, dict(given))))
        except Undefined:
            holds = False
        if not holds:
            return f"{action.name} needs: {show_exactly(renamed(condition, names))}"
    return f"no choice of the parameters of {action.name} fulfils its guard"


def value_words(instance: Instance, kind: Type, value: int) -> str:
    """A value as a formula names it."""
    shown_value = instance.show(kind, value)
    if isinstance(kind, SetOf) and isinstance(shown_value, list):
        return shown([quoted(name) for name in shown_value])
    return quoted(str(shown_value)) if isinstance(kind, Ref | EnumType) and value >= 0 else shown(shown_value)


def renamed(term: t.Term, names: Mapping[str, str]) -> t.Term:
    """A term with other names for its free variables."""
    if isinstance(term, t.Var):
        return t.Var(names.get(term.name, term.name), term.type, place=term.place)
    inner = {n: name for n, name in names.items() if n not in {v.name for v in t.bound_by(term)}}
    return t.rebuilt(term, lambda child: renamed(child, inner))
