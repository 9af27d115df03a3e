"""Parses the log of beakerd, Beaker's scheduler, line by line.

A line may have text before the message (time, thread, module) and after it. Lines without a known message are skipped
and counted. ``daemon_log`` maps messages to steps of the model.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from schedproof.model.systems.beaker.shipped.machines import STATUSES
from schedproof.proofs.traces.files.lines import TextLine


@dataclass(frozen=True)
class Message:
    """One message: its kind, its objects and its line."""

    kind: str
    line: int
    recipe: str = ""
    recipe_set: str = ""
    system: str = ""
    guest: str = ""
    before: str = ""
    now: str = ""

    @property
    def says(self) -> str:
        """The message as a short description."""
        match self.kind:
            case "moved":
                return f"{self.recipe} moved from {self.before} to {self.now}"
            case "guest moved":
                return f"{self.guest}, guest of {self.recipe}, moved from {self.before} to {self.now}"
            case "set aborted":
                return f"{self.recipe_set} moved from processed to aborted"
            case "assigning" | "reserving" | "releasing":
                return f"{self.kind} {self.system} for {self.recipe}"
            case "provisioning":
                return f"provisioning {self.recipe} in {self.recipe_set}"
            case "kept":
                return f"{self.recipe} moved to reserved"
            case "one system":
                return f"{self.recipe} matches one system"
            case "removing":
                return f"{self.system} removed from the candidates of {self.recipe}"
            case "no recipes":
                return f"no recipes runnable on {self.system}"
            case _:
                return f"idle {self.system} flagged for scheduling"


_MOVE = r"moved from (?P<before>\w+) to (?P<now>\w+)"

MESSAGES: Sequence[tuple[str, re.Pattern[str]]] = [
    (kind, re.compile(pattern))
    for kind, pattern in (
        ("guest moved", rf"\brecipe ID (?P<recipe>\d+) guest (?P<guest>\d+) {_MOVE}\b"),
        ("moved", rf"\brecipe(?: ID|:) (?P<recipe>\d+) {_MOVE}\b"),
        ("set aborted", r"\bRS:(?P<set>\d+) moved from Processed to Aborted\b"),
        ("assigning", r"\bAssigning recipe (?P<recipe>\d+) to system (?P<system>\S+)"),
        ("reserving", r"\bReserving system (?P<system>\S+) for recipe (?P<recipe>\d+)\b"),
        ("provisioning", r"\bProvisioning recipe (?P<recipe>\d+) in RS:(?P<set>\d+)\b"),
        ("releasing", r"\bReleasing system (?P<system>\S+) for recipe (?P<recipe>\d+)\b"),
        ("no recipes", r"\bNo recipes runnable on (?P<system>[^\s,]+), returning to idle\b"),
        ("flagged", r"\bIdle system (?P<system>\S+) changed .*flagging it for scheduling\b"),
        ("one system", r"\brecipe ID (?P<recipe>\d+) matches one system, bumping priority\b"),
        ("removing", r"\brecipe: (?P<recipe>\d+) labController:\S+ Removing system (?P<system>\S+)"),
        ("kept", r"\b(?P<recipe>\d+) moved to Reserved\b"),
    )
]


def message(line: TextLine) -> Message | None:
    """Returns the message in a line; None if it is not one of beakerd's messages about recipes and systems."""
    for kind, pattern in MESSAGES:
        match = pattern.search(line.text)
        if match is None:
            continue
        part = {name: value for name, value in match.groupdict().items() if value is not None}
        before, now = part.get("before", "").lower(), part.get("now", "").lower()
        if "moved" in kind and not {before, now} <= set(STATUSES):
            return None
        return Message(
            kind,
            line.number,
            recipe=_named("R", part.get("recipe")),
            recipe_set=_named("RS", part.get("set")),
            system=part.get("system", "").rstrip(".,;:"),
            guest=_named("R", part.get("guest")),
            before=before,
            now=now,
        )
    return None


def _named(letters: str, number: str | None) -> str:
    return f"{letters}:{number}" if number is not None else ""
