"""How long each part of ``verify`` took last time on this machine: what takes longest begins first, and the rest is estimated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from schedproof.proofs.cache import Cache

from .parts import Part, Work

DURATIONS = Cache("durations", most=1)

KEY = "seconds"

SECONDS_A_PAIR = {Work.EXPLORATION: 0.0015, Work.INDUCTION: 0.006}
"""Of a property and an action, where nothing is known of a part: what the systems here take on average."""

SECONDS_OF_AUXILIARY = 2.5
"""Of an auxiliary check, where nothing is known of it."""


def expected_seconds(parts: Iterable[tuple[Part, int]]) -> dict[Part, float]:
    """For each part what it took last time, or a guess.

    Args:
        parts: each with the number of its model's actions.
    """
    known = _known()
    found = {}
    for part, actions in parts:
        pairs = len(part.only) * actions
        guess = SECONDS_OF_AUXILIARY if part.work is Work.AUXILIARY else SECONDS_A_PAIR[part.work] * pairs
        found[part] = known.get(_name(part), guess)
    return found


def keep_seconds(seconds: Mapping[Part, float]) -> None:
    """Keeps what parts took, beside what is known of others."""
    if seconds:
        DURATIONS.store(KEY, msgspec.json.encode(_known() | {_name(part): took for part, took in seconds.items()}))


def _known() -> dict[str, float]:
    try:
        return msgspec.json.decode(DURATIONS.load(KEY) or b"{}", type=dict[str, float])
    except msgspec.DecodeError:
        return {}


def _name(part: Part) -> str:
    return f"{part.system} {part.variant} {part.work} {part.only[0] if part.work is Work.AUXILIARY else len(part.only)}"
