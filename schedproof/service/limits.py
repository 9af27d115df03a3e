"""The resources that one client may use, so that it cannot harm another."""

from __future__ import annotations

from dataclasses import dataclass

MOST_EVENTS = 1000
"""The limit for the next events in one answer."""


@dataclass(frozen=True)
class Limits:
    """Every limit of a server, with its default.

    Args:
        sessions: sessions at once; one more is refused until one ends.
        body: bytes of one request's body (in JSON-RPC, of one line).
        seconds: processor time, in seconds, of a session for one request. Beyond it the session is lost.
        patience: wall time, in seconds, after which a request is abandoned and its session lost. It exceeds ``seconds``
            because other processes may use the processors.
        memory: bytes of address space of a session beyond what all share. Beyond it the session is lost.
        idle: seconds without a request after which a session ends.
        waiting: requests to one session at once. All sessions together stay below ``connections``, so that waiting
            clients never block others.
        connections: HTTP connections at once.
        head: seconds in which a client must send the head of a request.
        content: seconds in which it must send the body.
        reading: seconds in which it must read the answer.
        keep: seconds that a connection stays open for another request.
        streams: streams of live views at once.
        pause: seconds between two events of a stream at least; changes in between are one event.
        beat: seconds without an event after which a stream sends a sign of life.
        ending: seconds that clients have to read their answers when the server ends.
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
    streams: int = 16
    pause: float = 0.5
    beat: float = 15.0
    ending: float = 5.0
