"""The messages between the server and a session's process: JSON, each message after its length.

A request is a head (one object) and the client's body, which only the session's process parses. An answer is one
object.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any

LENGTH = struct.Struct("!I")
"""The length before each message."""

BIGGEST = 16 << 20
"""The limit for the bytes of one answer; regular answers are far smaller."""


def message(head: Mapping[str, Any], body: bytes = b"") -> bytes:
    """The bytes of a message."""
    content = json.dumps(head).encode() + b"\n" + body
    return LENGTH.pack(len(content)) + content


def content(data: bytes) -> tuple[dict[str, Any], bytes]:
    """The head and the body of a message without its length."""
    head, _, body = data.partition(b"\n")
    header: dict[str, Any] = json.loads(head)
    return header, body
