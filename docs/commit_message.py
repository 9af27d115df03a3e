"""Checks a commit message.

    python docs/commit_message.py FILE

It must have a subject `area: imperative summary` of at most 72 characters, a blank line, and a body that says why.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

LONGEST = 72
SUBJECT = re.compile(r"[a-z0-9_./-]+(, [a-z0-9_./-]+)*: \S.*")
NOT_IMPERATIVE = re.compile(r": (?!embed|exceed|feed|need|proceed|seed|shed|speed|bring|string)(\w+ed|\w+ing)\b")
GENERATED = re.compile(r"(Merge|Revert|fixup!|squash!) ?")
"""The beginnings of messages that git writes itself."""


def problems(message: str) -> Iterator[str]:
    """The faults of a message, each with what to write instead.

    Args:
        message: the content of git's message file. Lines that begin with # are ignored.
    """
    subject, *rest = [line for line in message.splitlines() if not line.startswith("#")] or [""]
    if GENERATED.match(subject):
        return
    if len(subject) > LONGEST:
        yield f"the subject has {len(subject)} characters; write at most {LONGEST}"
    if not SUBJECT.fullmatch(subject):
        yield f"the subject is {subject!r}; write 'area: imperative summary', as 'locks: explore threads compiled'"
    elif verb := NOT_IMPERATIVE.search(subject):
        yield f"the summary begins with {verb[1]!r}; write the imperative"
    if subject.endswith("."):
        yield "the subject ends with a full stop; leave it out"
    if not any(line.strip() for line in rest):
        yield "the message has no body; say in one why the change is made"
    elif rest[0].strip():
        yield "the body begins in the second line; leave that empty"


def main() -> int:
    all_problems = list(problems(Path(sys.argv[1]).read_text()))
    for problem in all_problems:
        print(problem, file=sys.stderr)
    return bool(all_problems)


if __name__ == "__main__":
    sys.exit(main())
