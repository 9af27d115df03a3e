"""The answers of sessions, independent of HTTP and JSON-RPC."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


class Kind(enum.StrEnum):
    """How a request ended. The values are part of the interface: HTTP answers have them as ``error``."""

    DONE = "done"
    MALFORMED = "malformed"
    """It is not JSON, or does not have the form of the request."""
    BAD_SESSION = "bad-session"
    """No session can be created for this system, scope or header."""
    BAD_RECORD = "bad-record"
    """A record is invalid; those before it are taken."""
    CONFLICT = "conflict"
    """The session has not taken the number of records that the client expects."""
    UNKNOWN = "no-such-session"
    BUSY = "busy"
    """Too many requests to this session at once."""
    FULL = "full"
    """Too many sessions, or no process is available for another."""
    TOO_BIG = "too-big"
    ENDING = "ending"
    """The server ends."""
    FAULT = "fault"
    """An error of the service itself."""


@dataclass(frozen=True)
class Answer:
    """An answer. ``body`` is the result if the request was done; else it has a ``message`` of one line, and details."""

    kind: Kind
    body: Mapping[str, Any] = field(default_factory=dict)
    retry_after: int | None = None

    @property
    def done(self) -> bool:
        """Whether the request was done."""
        return self.kind is Kind.DONE


def problem(kind: Kind, message: str, retry_after: int | None = None, **more: Any) -> Answer:
    """The answer to a request that was not done: why, in one line."""
    return Answer(kind, {"message": " ".join(message.split()), **more}, retry_after)
