"""The exit codes of commands, and lines on standard error."""

from __future__ import annotations

import contextlib
import enum
import sys
from collections.abc import Iterable


class Exit(enum.IntEnum):
    """The exit codes of every command. Scripts rely on them."""

    OK = 0
    """Every verdict is the expected one; the log conforms."""
    DIFFERENT = 1
    """A verdict is not the expected one; the log violates the model; two engines disagree."""
    USAGE = 2
    """The command line, its input or its output is wrong; nothing was checked, or nothing was written."""
    UNDETERMINED = 3
    """A verdict could not be reached, and none is wrong."""
    INTERRUPTED = 130
    """Interrupted from the keyboard."""

    @classmethod
    def worst(cls, codes: Iterable[Exit]) -> Exit:
        """The most severe of several codes. A wrong verdict is more severe than a missing one."""
        distinct = set(codes)
        return next((code for code in (cls.DIFFERENT, cls.UNDETERMINED) if code in distinct), cls.OK)


def note(message: str, excerpt: str = "") -> None:
    """Writes one line to standard error.

    Args:
        message: what there is to know; it becomes one line.
        excerpt: the lines of a file that are shown below it.
    """
    with contextlib.suppress(OSError, AttributeError):  # its reader may have closed it
        sys.stderr.write(f"schedproof: {' '.join(message.split())}\n")
    with contextlib.suppress(OSError, AttributeError, UnicodeEncodeError):
        sys.stderr.write("".join(f"  {line}\n" for line in excerpt.splitlines()))


def fail(message: str, code: Exit, excerpt: str = "") -> Exit:
    """Writes what is wrong to standard error, and returns ``code``.

    Args:
        message: what is wrong; it becomes one line.
        excerpt: the lines of a file that are shown below it.
    """
    note(message, excerpt)
    return code
