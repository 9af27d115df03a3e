"""The page of error messages: it is fresh, complete, and each message says what to write instead."""

from __future__ import annotations

from tests.docs.errors.page import ran

MESSAGES = [message for entries in ran().entries.values() for _, message in entries]
