"""The start-up time of commands, as a ratio to ``python -c "import click, rich.console"`` in the same run.

``python benchmarks/startup.py`` runs all commands in turn, as whole processes, and prints the median of five runs (``--runs``).
It exits with 1 if a ratio exceeds its limit.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parents[1]

LIMITS: Mapping[tuple[str, ...], float] = {
    ("--version",): 2,
    ("--help",): 2,
    ("list",): 3,
    ("list", "hived"): 8,
    ("explain", "hived", "preemption-ongoing"): 8,
    ("explore", "hived", "--scope", "PodGroup=2,Cell=2", "--counts-only"): 8,
    ("validate", "hived", "TRACE"): 8,
    ("COMPLETION", "explore --sc"): 8,
}
"""Arguments of schedproof, and the limit of the ratio to the imports; TRACE is a HiveD log of 20 records."""

RECORDS = 20


def trace(folder: Path) -> Path:
    """Writes a HiveD log of 20 records: the beginning of a recorded one."""
    lines = (
        (ROOT / "tests" / "data" / "hived" / "s-02-life-preemption.jsonl").read_text("utf-8").splitlines(keepends=True)
    )
    file = folder / "twenty.jsonl"
    file.write_text("".join(lines[: RECORDS + 1]), "utf-8")
    return file


def seconds(command: Sequence[str], environment: Mapping[str, str]) -> float:
    """The seconds of one run of a whole process."""
    began = time.perf_counter()
    subprocess.run(command, check=False, env=dict(environment), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return time.perf_counter() - began


def commands(file: Path) -> Iterator[tuple[str, list[str], dict[str, str], float]]:
    """For each command its name, its arguments, its environment, and its limit."""
    schedproof = str(Path(sys.executable).with_name("schedproof"))
    for arguments, limit in LIMITS.items():
        if arguments[0] == "COMPLETION":
            words = {
                "_SCHEDPROOF_COMPLETE": "bash_complete",
                "COMP_WORDS": f"schedproof {arguments[1]}",
                "COMP_CWORD": "2",
            }
            yield f"completion of {arguments[1]}", [schedproof], {**os.environ, **words}, limit
        else:
            spelt = [str(file) if word == "TRACE" else word for word in arguments]
            yield " ".join(arguments), [schedproof, *spelt], dict(os.environ), limit


@click.command()
@click.option("--runs", default=5, show_default=True, help="Runs of each command; the median counts.")
def main(runs: int) -> None:
    """Prints the ratios; exits with 1 where one is over its limit."""
    base = [sys.executable, "-c", "import click, rich.console"]
    with tempfile.TemporaryDirectory() as folder:
        rows = list(commands(trace(Path(folder))))
        for _, command, environment, _ in rows:
            seconds(command, environment)  # warms up bytecode and the disk's cache
        took: dict[str, list[float]] = {}
        for _ in range(runs):
            took.setdefault("", []).append(seconds(base, os.environ))
            for name, command, environment, _ in rows:
                took.setdefault(name, []).append(seconds(command, environment))
    whole = statistics.median(took[""])
    table = Table("command", "seconds", "ratio", "at most", title=f"import click, rich.console: {whole:.3f} s")
    over = False
    for name, _, _, limit in rows:
        median = statistics.median(took[name])
        over |= median / whole > limit
        table.add_row(name, f"{median:.3f}", f"{median / whole:.1f}", f"{limit:.0f}")
    Console().print(table)
    sys.exit(over)


if __name__ == "__main__":
    main()
