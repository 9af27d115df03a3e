"""The rules that an action can trigger, ordered so that each comes after all that its conditions read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from schedproof.model.lang import terms as t
from schedproof.model.lang.infer import sort_of
from schedproof.model.lang.rules import Action, Rule
from schedproof.model.semantics import Instance

Event = tuple[str, str]
"""A sort and an event of its machine."""


@dataclass(frozen=True)
class Cascade:
    """The firings of an action, the rules that can follow, and the events that can fire.

    Args:
        roots: the firings of the action itself.
        rules: each as (trigger, rule, event): the trigger is an event, or the action's name and "".
        fired: the events that can fire. Events of sorts without objects are left out.
    """

    roots: Sequence[tuple[Event, t.Fires]]
    rules: Sequence[tuple[Event, Rule, Event]]
    fired: Sequence[Event]


Ordered = Sequence[tuple[Event, Rule, Event]]
"""Rules as (trigger, rule, event), each after all that its conditions read: see ``ordered_rules``."""


def cascade(instance: Instance, ordered: Ordered, action: Action) -> Cascade:
    """The cascade that ``action`` can start, by the rules of its model."""
    model, there_are = instance.model, {sort for sort, size in instance.sizes.items() if size > 0}
    scope = {v.name: v for v in action.parameters}
    roots = [((sort_of(model, f.of, scope), f.event), f) for f in action.fires]
    roots = [(event, f) for event, f in roots if event[0] in there_are]
    reached: set[Event] = {(action.name, ""), *(event for event, _ in roots)}
    rules = []
    for on, rule, event in ordered:
        if on in reached and event[0] in there_are:
            rules.append((on, rule, event))
            reached.add(event)
    fired = dict.fromkeys([*(event for event, _ in roots), *(event for _, _, event in rules)])
    return Cascade(roots, rules, list(fired))


def conditions(rule: Rule) -> list[t.Term]:
    """The conditions of a rule, in its order, including the event that it is triggered by."""
    return [*([rule.on] if isinstance(rule.on, t.Fires) else []), *rule.when]


def own_variables(rule: Rule) -> list[t.Var]:
    """The variables of a rule that are not parameters of its action, in the order of first appearance."""
    known = {v.name for v in rule.on.parameters} if isinstance(rule.on, Action) else set()
    free: dict[str, t.Var] = {}
    for part in (*conditions(rule), rule.fires):
        free |= {n: v for n, v in t.free_variables(part).items() if n not in known and n not in free}
    return list(free.values())
