"""What one client may use, so that nothing it does can hurt another."""

from __future__ import annotations

from dataclasses import dataclass

MOST_EVENTS = 1000
"""Allowed next events in one answer."""


@dataclass(frozen=True)
class Limits:
    """Every limit of a server, with its default.

    Args:
        sessions: sessions at once; one more is refused until one ends.
        body: bytes of one request's body (of one line, of JSON-RPC).
        seconds: processor time that a session may take for one request; more, and the session is lost.
        patience: seconds of wall time after which a request is given up, and its session lost. Higher than ``seconds``, because
            others may be using the processors.
        memory: bytes of address space that a session may take beyond what all share; more, and the session is lost.
        idle: seconds after which a session that nobody asks anything ends.
        waiting: requests to one session at once. All sessions together stay below ``connections``, so that somebody who
            only waits never keeps another from being heard.
        connections: of HTTP, at once.
        head, content, reading: seconds that a client has to send a request's head, then its body, and to take the answer.
        keep: seconds that a connection is kept for another request.
        ending: seconds that clients have to take their answers when the server ends.
    """

    sessions: int = 32
    body: int = 4 << 20
    seconds: float = 10.0
    patience: float = 60.0
    memory: int = 256 << 20
    idle: float = 600.0
    waiting: int = 3
    connections: int = 128
    head: float = 10.0
    content: float = 30.0
    reading: float = 30.0
    keep: float = 5.0
    ending: float = 5.0
