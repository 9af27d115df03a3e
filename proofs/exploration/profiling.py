"""Profiles of an exploration: the cost of each action and rule, and those that never happen."""

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
    """The cost of one action.

    Args:
        asked: the number of states in which its guard was evaluated.
        tried: the number of parameter values that were tried.
        enabled: the number of states in which the guard held for some choice of parameters.
        steps: the number of its steps.
        new: the number of steps that discovered a state.
        idle: the number of steps that changed nothing.
        guard_seconds: the time of its guard.
        step_seconds: the time of its cascades, with their updates.
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
    """The cost of one trigger rule.

    Args:
        on: the trigger: an action, or a sort and its event.
        asked: the number of steps in which the trigger happened.
        tried: the number of variable values that were tried.
        fired: the number of steps in which the rule fired an event.
        firings: the number of fired events; one step can fire several.
        seconds: the time of the rule, which is part of the actions' time.
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
    """Counts and times of one or several configurations.

    Attributes:
        ill_formed: some steps are ill-formed; the counts leave them out.
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
        """The actions that never took a step."""
        return [a for a in self.actions if not a.steps]

    @property
    def never_fired(self) -> list[RuleProfile]:
        """The rules that never fired."""
        return [r for r in self.rules if not r.fired]

    def as_json(self) -> dict[str, Any]:
        """The counts and times as ``profile --json`` prints them."""
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
    """Explores an instance without symmetry, and measures the cost of its actions and rules.

    The exploration is interpreted and caches nothing between states. So the times compare guards and rules with each other;
    they do not predict the duration of an exploration.

    Args:
        crash: take crash actions.
        limit: stop after this many states (then ``complete`` is false).
    """
    model, profiler = instance.model, Profiler(instance)
    exploration = explore(instance, symmetry=False, crash=crash, limit=limit, progress=progress, stepper=profiler)
    discovered = Counter(parent[1].action for parent in exploration.parents if parent is not None)
    idle = Counter(
        edge.choice.action for n, edges in enumerate(exploration.edges) for edge in edges if edge.target == n
    )
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
            continue  # left out with its action
        cost = profiler.rules[rule.name]
        rules.append(
            RuleProfile(rule.name, _on(model, rule), cost.asked, cost.tried, cost.held, cost.ways, cost.seconds)
        )
    seconds = sum(a.guard_seconds + a.step_seconds for a in actions)
    return Profile(
        exploration.state_count,
        exploration.transition_count,
        exploration.complete,
        exploration.ill_formed is not None,
        seconds,
        actions,
        rules,
    )


def _on(model: Model, rule: Rule) -> str:
    """The trigger of a rule, for a reader."""
    if isinstance(rule.on, Action):
        return rule.on.name
    return ".".join(looked_at(model, rule.on))


def together(profiles: Sequence[Profile]) -> Profile:
    """The sum of the profiles of several configurations of one model."""
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
