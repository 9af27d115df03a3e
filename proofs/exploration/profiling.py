"""What an exploration of a model costs, action by action and rule by rule, and what never happens in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from schedproof.model.lang import Action, Model, Rule
from schedproof.model.semantics import Instance, Profiler
from schedproof.model.semantics.step import looked_at

from .explore import Progress, explore


@dataclass(frozen=True)
class ActionProfile:
    """One action.

    Args:
        asked: in how many states its guard was asked; ``enabled`` in how many it held for some choice of parameters.
        tried: how many values its parameters were given on the way.
        steps: how many steps it took; ``new`` of them were the first to find a state, and ``idle`` changed nothing.
        guard_seconds, step_seconds: the time that its guard took; and its cascades, with their updates.
    """

    name: str
    asked: int
    tried: int
    enabled: int
    steps: int
    new: int
    idle: int
    guard_seconds: float
    step_seconds: float


@dataclass(frozen=True)
class RuleProfile:
    """One rule.

    Args:
        on: what it looks at: an action, or a sort and its event.
        asked: in how many steps that has happened; ``fired`` in how many the rule had something happen.
        firings: how often, as one step can make it happen to many.
        tried: how many values its variables were given on the way.
        seconds: the time that it took, which is part of that of the actions.
    """

    name: str
    on: str
    asked: int
    tried: int
    fired: int
    firings: int
    seconds: float


@dataclass(frozen=True)
class Profile:
    """What was counted and timed, in one configuration or in several.

    ``ill_formed`` says that there are steps that the model must not allow, which are not among those that are counted.
    """

    states: int
    transitions: int
    complete: bool
    ill_formed: bool
    seconds: float
    actions: Sequence[ActionProfile]
    rules: Sequence[RuleProfile]

    @property
    def never_enabled(self) -> list[ActionProfile]:
        """The actions that cannot be taken anywhere."""
        return [a for a in self.actions if not a.steps]

    @property
    def never_fired(self) -> list[RuleProfile]:
        """The rules that have never had anything happen."""
        return [r for r in self.rules if not r.fired]

    def as_json(self) -> dict[str, Any]:
        """The part of ``profile --json`` that is counted and timed."""
        return {
            "states": self.states,
            "transitions": self.transitions,
            "complete": self.complete,
            "ill_formed": self.ill_formed,
            "seconds": round(self.seconds, 6),
            "actions": [_rounded(vars(a)) for a in self.actions],
            "rules": [_rounded(vars(r)) for r in self.rules],
            "never_enabled": [a.name for a in self.never_enabled],
            "never_fired": [r.name for r in self.never_fired],
        }


def _rounded(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: round(value, 6) if isinstance(value, float) else value for name, value in fields.items()}


def profile(
    instance: Instance, *, crash: bool = True, limit: int | None = None, progress: Progress | None = None
) -> Profile:
    """Explores an instance, each state for itself, and counts and times what that takes.

    It is interpreted, and nothing is remembered from one state to the next: the times say what guards and rules cost in relation
    to each other, not how long an exploration takes.

    Args:
        crash: take crash actions.
        limit: stop after this many states (then ``complete`` is false).
    """
    model, profiler = instance.model, Profiler(instance)
    found = explore(instance, symmetry=False, crash=crash, limit=limit, progress=progress, stepper=profiler)
    discovered = Counter(parent[1].action for parent in found.parents if parent is not None)
    idle = Counter(edge.choice.action for n, edges in enumerate(found.edges) for edge in edges if edge.target == n)
    actions = []
    for action in model.actions:
        guard, steps = profiler.guards[action.name], profiler.steps_of[action.name]
        if crash or not action.crash:
            actions.append(
                ActionProfile(
                    action.name,
                    asked=guard.asked,
                    tried=guard.tried,
                    enabled=guard.held,
                    steps=steps.asked,
                    new=discovered[action.name],
                    idle=idle[action.name],
                    guard_seconds=guard.seconds,
                    step_seconds=steps.seconds,
                )
            )
    rules = []
    for rule in model.rules:
        if isinstance(rule.on, Action) and rule.on.crash and not crash:
            continue  # it is left out with its action
        cost = profiler.rules[rule.name]
        rules.append(
            RuleProfile(rule.name, _on(model, rule), cost.asked, cost.tried, cost.held, cost.ways, cost.seconds)
        )
    seconds = sum(a.guard_seconds + a.step_seconds for a in actions)
    return Profile(
        found.state_count,
        found.transition_count,
        found.complete,
        found.ill_formed is not None,
        seconds,
        actions,
        rules,
    )


def _on(model: Model, rule: Rule) -> str:
    """What a rule looks at, as a reader knows it."""
    if isinstance(rule.on, Action):
        return rule.on.name
    return ".".join(looked_at(model, rule.on))


def together(profiles: Sequence[Profile]) -> Profile:
    """What was counted and timed in several configurations of one model."""
    first = profiles[0]
    return Profile(
        states=sum(p.states for p in profiles),
        transitions=sum(p.transitions for p in profiles),
        complete=all(p.complete for p in profiles),
        ill_formed=any(p.ill_formed for p in profiles),
        seconds=sum(p.seconds for p in profiles),
        actions=[
            _summed(ActionProfile, [p.actions[n] for p in profiles], ("name",)) for n in range(len(first.actions))
        ],
        rules=[_summed(RuleProfile, [p.rules[n] for p in profiles], ("name", "on")) for n in range(len(first.rules))],
    )


def _summed(kind: Any, parts: Sequence[Any], same: Sequence[str]) -> Any:
    fields = {f: getattr(parts[0], f) if f in same else sum(getattr(p, f) for p in parts) for f in vars(parts[0])}
    return kind(**fields)
