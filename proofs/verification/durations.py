"""How long each part of ``verify`` took last time on this machine: to start the longest first and to estimate the rest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from schedproof.proofs.cache import Cache

from .parts import Part, Work

DURATIONS = Cache("durations", most=1)

KEY = "seconds"

SECONDS_A_PAIR = {Work.EXPLORATION: 0.0015, Work.INDUCTION: 0.006}
"""Seconds for each pair of a property and an action, if a part has no recorded duration: averages over the built-in systems."""

SECONDS_OF_AUXILIARY = 2.5
"""Seconds of an auxiliary check without a recorded duration."""


def expected_seconds(parts: Iterable[tuple[Part, int]]) -> dict[Part, float]:
    """For each part its last duration in seconds, or an estimate.

    Args:
        parts: each with the number of actions of its model.
    """
    known = _known()
    seconds = {}
    for part, actions in parts:
        pairs = len(part.only) * actions
        guess = SECONDS_OF_AUXILIARY if part.work is Work.AUXILIARY else SECONDS_A_PAIR[part.work] * pairs
        seconds[part] = known.get(_name(part), guess)
    return seconds


def keep_seconds(seconds: Mapping[Part, float]) -> None:
    """Records durations of parts in seconds, beside those of other parts."""
    if seconds:
        DURATIONS.store(KEY, msgspec.json.encode(_known() | {_name(part): took for part, took in seconds.items()}))


def _known() -> dict[str, float]:
    try:
        return msgspec.json.decode(DURATIONS.load(KEY) or b"{}", type=dict[str, float])
    except msgspec.DecodeError:
        return {}


def _name(part: Part) -> str:
    return f"{part.system} {part.variant} {part.work} {part.only[0] if part.work is Work.AUXILIARY else len(part.only)}"
