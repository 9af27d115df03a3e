"""The times that users wait for, in one table: ``python -m benchmarks``, or ``python -m benchmarks --against REF``.

Each command runs as a whole process, with start-up and properties. Its time is the processor time of the process and its
children, as the median of ``--runs``. With ``--against``, the same commands also run on the package of another commit,
alternating with this one, and the table has the ratio. Times vary by a factor of two between machines and moments; ratios do
not.

Each other module of this folder measures one thing in detail.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parents[1]

THREADS = "objects: {a: mutex, b: mutex, c: mutex}\nthreads:\n" + "".join(
    f"  thread{number}:\n" + "".join(f"    - lock {lock}: []\n" for lock in order * 2)
    for number, order in enumerate(permutations("abc"), 1)
)
"""Six threads with six acquisitions over three locks, each in another order."""


LOG = ROOT / "tests" / "data" / "hived" / "s-02-life-preemption.jsonl"
"""A recorded log of HiveD."""


@dataclass(frozen=True)
class Benchmark:
    """A command of schedproof.

    Attributes:
        name: the name in the table.
        arguments: the command's arguments; ``FOLDER`` is replaced by a folder with ``threads.yaml`` and ``log.jsonl``.
        warm: run the command once before, with the same cache.
        codes: the exit codes of a successful run.
    """

    name: str
    arguments: tuple[str, ...]
    warm: bool = False
    codes: Sequence[int] = (0,)


LARGE = ("--scope", "PodGroup=5,Cell=4", "--no-symmetry", "--engine", "compiled")

# Former names of validate (check) and --property (--only): an older commit may have only these.
BENCHMARKS = (
    Benchmark("start", ("--version",)),
    Benchmark("list hived", ("list", "hived")),
    Benchmark("explain", ("explain", "hived", "preemption-ongoing")),
    Benchmark("verify, first", ("verify",)),
    Benchmark("verify hived, first", ("verify", "hived")),
    Benchmark("verify hived, again", ("verify", "hived"), warm=True),
    Benchmark("verify hived, one property", ("verify", "hived", "--only", "reserving-cell")),
    Benchmark("explore, counts", ("explore", "hived", *LARGE, "--counts-only")),
    Benchmark("explore, with properties", ("explore", "hived", *LARGE), codes=(0, 1, 3)),
    Benchmark("locks, six threads", ("locks", "FOLDER/threads.yaml"), codes=(0, 1)),
    Benchmark("validation of a log", ("check", "hived", "FOLDER/log.jsonl")),
)


@dataclass
class Measured:
    """Seconds of a benchmark's runs, of this source and of the other one, or a failure."""

    this_seconds: list[float] = field(default_factory=list)
    other_seconds: list[float] = field(default_factory=list)
    failed: str = ""


@contextmanager
def installed(ref: str | None) -> Iterator[Path | None]:
    """A folder with the installed package of a commit."""
    if ref is None:
        yield None
        return
    with tempfile.TemporaryDirectory() as folder:
        clone, place = Path(folder) / "clone", Path(folder) / "packages"
        pip = (sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(place), str(clone))
        for command in (
            ("git", "clone", "--quiet", "--no-checkout", str(ROOT), str(clone)),
            ("git", "-C", str(clone), "checkout", "--quiet", ref),
            pip,
        ):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                raise click.BadParameter(f"cannot install {ref!r}: {done.stderr.strip().splitlines()[-1]}")
        yield place


def run(benchmark: Benchmark, place: Path, files: Path) -> float:
    """The processor seconds of one run of the package in ``place``.

    Raises:
        RuntimeError: the command fails.
    """
    command = [
        sys.executable,
        "-m",
        "schedproof",
        *(each.replace("FOLDER", str(files)) for each in benchmark.arguments),
    ]
    with tempfile.TemporaryDirectory() as folder:
        environment: Mapping[str, str] = {**os.environ, "PYTHONPATH": str(place), "SCHEDPROOF_CACHE": f"{folder}/cache"}
        for _ in range(2 if benchmark.warm else 1):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            if done.returncode not in benchmark.codes:
                raise RuntimeError((done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1])
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(benchmark: Benchmark, other_source: Path | None, files: Path, runs: int) -> Measured:
    """The measurements of both sources, taken alternately."""
    measured = Measured()
    for _ in range(runs):
        for place, seconds in ((ROOT, measured.this_seconds), (other_source, measured.other_seconds)):
            if place is None:
                continue
            try:
                seconds.append(run(benchmark, place, files))
            except RuntimeError as error:
                measured.failed = f"fails {'here' if place == ROOT else 'there'}: {error}"
                return measured
    return measured


@click.command()
@click.argument("names", nargs=-1)
@click.option("--against", metavar="REF", help="A commit to compare with, such as HEAD~1.")
@click.option("--runs", default=3, show_default=True, help="Runs of each command; the median counts.")
def main(names: tuple[str, ...], against: str | None, runs: int) -> None:
    """Measures the benchmarks whose names begin with one of NAMES, or all."""
    chosen = [each for each in BENCHMARKS if not names or each.name.startswith(names)]
    if not chosen:
        raise click.BadParameter(f"no benchmark begins so; choose from {', '.join(each.name for each in BENCHMARKS)}")
    load, began = os.getloadavg()[0], time.perf_counter()
    table = Table("benchmark", "seconds", "before", "before/now")
    failed = False
    with tempfile.TemporaryDirectory() as folder, installed(against) as other_source:
        files = Path(folder)
        (files / "threads.yaml").write_text(THREADS)
        (files / "log.jsonl").write_bytes(LOG.read_bytes())
        for benchmark in chosen:
            measured = measure(benchmark, other_source, files, runs)
            failed |= bool(measured.failed)
            now = statistics.median(measured.this_seconds) if measured.this_seconds else 0.0
            then = statistics.median(measured.other_seconds) if measured.other_seconds else 0.0
            ratio = f"{then / now:.1f}" if then and now and not measured.failed else ""
            table.add_row(benchmark.name, f"{now:.2f}" if now else "", f"{then:.2f}" if then else "", ratio)
            if measured.failed:
                click.echo(f"{benchmark.name}: {measured.failed}", err=True)
    Console().print(table)
    click.echo(
        f"processor seconds, medians of {runs}; load {load:.1f} on {os.cpu_count()} cores at the start; "
        f"{time.perf_counter() - began:.0f} s in all"
    )
    sys.exit(failed)


if __name__ == "__main__":
    main()
