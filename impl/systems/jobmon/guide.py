"""The help text of ``client --help`` for the user of a first workflow."""

from __future__ import annotations

from .exits import MEANINGS as MEANINGS_OF_EXITS

SAMPLE = """\
{"name": "w",
 "tasks": [
   {"name": "a", "command": "sleep 1", "max_attempts": 2},
   {"name": "b", "command": "sh -c 'echo $HOME >&2'", "upstream": ["a"],
    "queue": "small", "resources": [["memory", 500], ["runtime", 60]],
    "growth": [{"name": "memory", "by": 0.5}, {"name": "runtime", "values": [120, 600]}]}],
 "queues": [{"name": "small", "limits": [["memory", 600]]}, {"name": "large"}]}
"""
"""A workflow file that uses every field."""

COMMANDS = """\
python -m schedproof.impl.systems.jobmon server --database sqlite:///jobmon.db --port 8070
python -m schedproof.impl.systems.jobmon distributor --url http://127.0.0.1:8070 --log jobmon.log
python -m schedproof.impl.systems.jobmon reaper --url http://127.0.0.1:8070
python -m schedproof.impl.systems.jobmon client --url http://127.0.0.1:8070 workflow.json
"""
"""Each runs in a terminal of its own."""

MEANINGS = """\
command: the words of a command, and no shell reads them: for pipes, variables and the like write sh -c '...'.

upstream: names of tasks that are further up in the file and have to be done before.

max_attempts: how often a run tries the task until it fails; 3 unless it is said.

resources: a list of [name, whole number]. An attempt that uses more memory (MiB) or takes longer than runtime (s) is ended; other
names are only kept.

growth: what the next attempt gets after that: more by a part of itself (0.5: by half), or the next of the values.
Unless it is said, memory and runtime grow by half.

queues: each task asks for one (queue; "all" unless it is said). When it has grown beyond the limits of its own, it falls
back to the next ones of this list.
"""

RESUMING = """\
A client that is interrupted (Ctrl-C, SIGTERM) stops its run: nothing more is started, but commands that are running go on. To run the same
file again while some do, or while another client runs it: --resume hot lets them go on and takes them over, --resume cold
ends them first, and their tasks begin again. What is done is never done again.
"""


def exit_statuses() -> str:
    """Returns a table of the exit statuses."""
    rows = "\n".join(f"{exit.value:>5}  {meaning}" for exit, meaning in MEANINGS_OF_EXITS.items())
    return f"\b\nExit status:\n\n{_kept(rows)}"


def epilog() -> str:
    """Returns the whole guide, in the form in which click keeps lines together."""
    parts = [
        f"\b\nA workflow file:\n\n{_kept(SAMPLE)}",
        f"\b\nTo run it, each in a terminal of its own:\n\n{_kept(COMMANDS)}",
        MEANINGS,
        RESUMING,
        exit_statuses(),
    ]
    return "\n\n".join(part.strip("\n") for part in parts)


def _kept(lines: str) -> str:
    """A paragraph whose lines click does not join."""
    return "\b\n" + "\n".join(f"  {line}" for line in lines.splitlines())
