"""How a command ends: the exit codes."""

from __future__ import annotations

import contextlib
import enum
import sys
from collections.abc import Iterable


class Exit(enum.IntEnum):
    """The exit codes of every command. Scripts rely on them."""

    OK = 0
    """Every verdict is the expected one; the trace conforms."""
    DIFFERENT = 1
    """A verdict is not the expected one; the trace departs; two engines disagree."""
    USAGE = 2
    """The command, its input or its output is wrong; nothing was judged or nothing was written."""
    UNDETERMINED = 3
    """Some verdict could not be reached, and none is wrong."""
    INTERRUPTED = 130
    """Stopped from the keyboard."""

    @classmethod
    def worst(cls, codes: Iterable[Exit]) -> Exit:
        """A wrong verdict weighs more than a missing one."""
        found = set(codes)
        return next((code for code in (cls.DIFFERENT, cls.UNDETERMINED) if code in found), cls.OK)


def fail(message: str, code: Exit) -> Exit:
    """Says what is wrong, in one line on standard error, and passes the exit code on."""
    with contextlib.suppress(OSError, AttributeError):  # no one may be left to tell
        sys.stderr.write(f"schedproof: {' '.join(message.split())}\n")
    return code
