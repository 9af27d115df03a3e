"""What the sessions answer, before it is said in HTTP or JSON-RPC."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


class Kind(enum.StrEnum):
    """How a request ended. The names are part of the interface: they are the ``error`` of an answer in HTTP."""

    DONE = "done"
    MALFORMED = "malformed"
    """It is no JSON, or not of the form that the request has."""
    BAD_SESSION = "bad-session"
    """No session can be created for this system, scope or header."""
    BAD_RECORD = "bad-record"
    """A record is none; those before it are taken."""
    CONFLICT = "conflict"
    """The session has not taken as many records as the client counts on."""
    UNKNOWN = "no-such-session"
    BUSY = "busy"
    """Too many requests to this session at once."""
    FULL = "full"
    """Too many sessions, or no process can be had for one more."""
    TOO_BIG = "too-big"
    ENDING = "ending"
    """The server ends."""
    FAULT = "fault"
    """An error of the service itself."""


@dataclass(frozen=True)
class Answer:
    """``body`` is the result if it is done; else it has a ``message`` of one line, and what else there is to say."""

    kind: Kind
    body: Mapping[str, Any] = field(default_factory=dict)
    retry_after: int | None = None

    @property
    def done(self) -> bool:
        """The request was done."""
        return self.kind is Kind.DONE


def problem(kind: Kind, message: str, retry_after: int | None = None, **more: Any) -> Answer:
    """A request that was not done, and why."""
    return Answer(kind, {"message": " ".join(message.split()), **more}, retry_after)
