"""What the alternatives of several topics are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from schedproof.model.lang import Action, Rule, Term, variable
from schedproof.model.systems.beaker.events import AUTOMATED
from schedproof.model.systems.beaker.machines import Recipe, System, r, s

o = variable(Recipe, "o")
x = variable(System, "x")


def also(action: Action, *conditions: Term) -> Action:
    """The action with more conditions."""
    return replace(action, when=[*action.when, *conditions])


def releases(usages: Sequence[str], *conditions: Term) -> list[Rule]:
    """The rules that release a system whose recipe ends, for systems in ``usages`` and with more conditions."""
    return [
        Rule(
            f"{event} releases the system",
            r.fires(event),
            [r.system == s, AUTOMATED, *([s.is_(*usages)] if usages else []), *conditions],
            s.fires("release"),
            line=line,
        )
        for event, line in (("complete", 198), ("cancel", 199), ("abort", 199))
    ]
