"""The end of a command's ``--help``: examples and exit codes."""

from __future__ import annotations

from .errors import Exit

MISTAKE = "wrong usage, unreadable input or unwritable output"


def ending(*examples: str, ok: str = "done", different: str = "", undetermined: str = "", notes: str = "") -> str:
    """The epilog of a command, as click takes it.

    Args:
        examples: command lines, without ``schedproof``.
        ok: the meaning of exit code 0.
        different: the meaning of exit code 1, if the command can end so.
        undetermined: the meaning of exit code 3, if the command can end so.
        notes: lines before the examples, printed unchanged.
    """
    meanings = {Exit.OK: ok, Exit.DIFFERENT: different, Exit.USAGE: MISTAKE, Exit.UNDETERMINED: undetermined}
    parts = [notes.strip("\n")] if notes else []
    parts.append("\n".join(["Examples:" if examples[1:] else "Example:", *(f"  schedproof {e}" for e in examples)]))
    parts.append("\n".join(["Exit codes:", *(f"  {code:d}  {means}" for code, means in meanings.items() if means)]))
    return "\n\n".join(f"\b\n{part}" for part in parts)
