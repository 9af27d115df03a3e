"""What an action can set going, in an order in which each part comes after all that it asks about."""

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
    """The firings that an action begins with, the rules that can follow, and the events that can happen.

    Args:
        roots: what the action fires.
        rules: what each looks at (an action's name and "", or an event), the rule, and what it fires.
        fired: the events that can happen; nothing happens to sorts that have no objects here.
    """

    roots: Sequence[tuple[Event, t.Fires]]
    rules: Sequence[tuple[Event, Rule, Event]]
    fired: Sequence[Event]


Ordered = Sequence[tuple[Event, Rule, Event]]
"""Rules, each with what it looks at and what it fires, after all that it asks about: see ``ordered_rules``."""


def cascade(instance: Instance, ordered: Ordered, action: Action) -> Cascade:
    """What ``action`` can set going, by the rules of its model."""
    model, there_are = instance.model, {sort for sort, size in instance.sizes.items() if size > 0}
    scope = {v.name: v for v in action.parameters}
    roots = [((sort_of(model, f.of, scope), f.event), f) for f in action.fires]
    roots = [(event, f) for event, f in roots if event[0] in there_are]
    there: set[Event] = {(action.name, ""), *(event for event, _ in roots)}
    rules = []
    for on, rule, event in ordered:
        if on in there and event[0] in there_are:
            rules.append((on, rule, event))
            there.add(event)
    fired = dict.fromkeys([*(event for event, _ in roots), *(event for _, _, event in rules)])
    return Cascade(roots, rules, list(fired))


def conditions(rule: Rule) -> list[t.Term]:
    """What a rule asks for, in its order."""
    return [*([rule.on] if isinstance(rule.on, t.Fires) else []), *rule.when]


def own_variables(rule: Rule) -> list[t.Var]:
    """The variables of a rule that are no parameters of its action, in the order in which they are named."""
    known = {v.name for v in rule.on.parameters} if isinstance(rule.on, Action) else set()
    free: dict[str, t.Var] = {}
    for part in (*conditions(rule), rule.fires):
        free |= {n: v for n, v in t.free_variables(part).items() if n not in known and n not in free}
    return list(free.values())
