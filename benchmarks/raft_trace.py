"""Validation of a trace as etcd's raft library writes it: ``python benchmarks/raft_trace.py``.

The trace is that of ``examples/raft/cluster.py``: three nodes, and losses, crashes and elections that are rare. The measured work is
that of ``schedproof validate`` with the lines of a file, on one core; the processor time counts. The best of several rounds is
printed, since other programs on the machine slow down all of them.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import click

from schedproof.model.registry.discovery import every
from schedproof.proofs.traces import check_trace
from schedproof.proofs.traces.reports.report import LogVerdict

FOLDER = Path(__file__).parents[1] / "examples" / "raft"


@click.command()
@click.option("--events", default=100_000, show_default=True, help="Events of the trace.")
@click.option("--rounds", default=3, show_default=True, help="How often the trace is validated.")
def main(events: int, rounds: int) -> None:
    """Prints events a second of processor time."""
    system, best = every(FOLDER).system("raft"), float("inf")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.ndjson"
        with path.open("wb") as file:
            command = [sys.executable, "cluster.py", "--calm", "--events", str(events)]
            subprocess.run(command, cwd=FOLDER, stdout=file, check=True)
        for _ in range(rounds):
            began = time.process_time()
            report = check_trace(system, path)
            best = min(best, time.process_time() - began)
            assert report.verdict is LogVerdict.CONFORMS, report.text()
    print(f"{events:,} events: {events / best:,.0f} events/s")


if __name__ == "__main__":
    main()
