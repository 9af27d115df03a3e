"""The report on a dump: its circles, who waits for whom, and how it differs from a lock file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from schedproof.proofs.traces.reports.report import LogVerdict, ValidationReport, printable

from .circle import Circle
from .comparison import Comparison
from .dump import Dump

MOST = 20
"""The most waiting threads that the text shows."""

NOTHING = "no thread waits for a lock, so there is nothing to check; take a dump while the program hangs"


@dataclass(frozen=True)
class DumpReport:
    """What a dump shows.

    Args:
        name: the name of the lock file.
        dump: the dump.
        circles: its circles.
        comparison: how its orders differ from those of the file.
    """

    name: str
    dump: Dump
    circles: tuple[Circle, ...]
    comparison: Comparison

    @property
    def verdict(self) -> LogVerdict:
        """Violates with a circle, a deadlock that the runtime reports, or an order that is certainly not described.

        Undetermined if no thread waits.
        """
        if self.circles or self.comparison.certain or self.dump.deadlock:
            return LogVerdict.VIOLATES
        waits = any(one.waits is not None and one.waits.lock is not None for one in self.dump.threads)
        return LogVerdict.CONFORMS if waits or self.dump.orders else LogVerdict.UNDETERMINED

    def text(self) -> list[str]:
        """The report in lines."""
        dump = self.dump
        waiting = [one for one in dump.threads if one.waits is not None and one.waits.lock is not None]
        threads = "1 thread" if len(dump.threads) == 1 else f"{len(dump.threads)} threads"
        waits = "1 waits" if len(waiting) == 1 else f"{len(waiting)} wait"
        lines = [f"{self.name}: {self.verdict} (format {dump.format}, {threads}, {waits} for a lock)"]
        if dump.deadlock:
            lines.append(dump.deadlock)
        for circle in self.circles:
            lines += [circle.text, *(f"  {number}. {step}" for number, step in enumerate(circle.steps, 1))]
        if self.verdict is LogVerdict.UNDETERMINED:
            lines.append(NOTHING)
        elif not self.circles:
            lines.append("no circle")
        on_circle = {name for circle in self.circles for name in circle.names}
        if dump.deadlock:  # then messages, conditions and groups matter too
            waiting = [one for one in dump.threads if one.waits is not None]
        others = [one for one in waiting if one.name not in on_circle]
        for one in others[:MOST]:
            assert one.waits is not None
            lines.append(f"{one.name} waits {one.waits.text}{self._holder(one.name)}")
        if len(others) > MOST:
            lines.append(f"and {len(others) - MOST} more threads wait; --json has them all")
        lines += [*self.comparison.text(), *dump.limitations]
        return [printable(line) for line in lines]

    def _holder(self, name: str) -> str:
        """The holder of the lock for which a thread waits, and what the holder waits for, if the lock has a name."""
        one = next(each for each in self.dump.threads if each.name == name)
        assert one.waits is not None
        lock = one.waits.lock
        for other in self.dump.threads:
            for hold in other.holds if other is not one else ():
                if lock is not None and lock.name and hold.lock.name == lock.name:
                    verb = "holds" if hold.certain else "may hold"
                    then = f" and waits {other.waits.text}" if other.waits is not None else ""
                    return f", which {other.name} {verb}{then}"
        return ""

    def as_json(self) -> dict[str, Any]:
        """The report as data."""
        return {
            "locks": self.name,
            "format": self.dump.format,
            "verdict": self.verdict.value,
            "circles": [
                {"names": list(circle.names), "steps": list(circle.steps), "certain": circle.certain}
                for circle in self.circles
            ],
            "threads": [
                {
                    "name": one.name,
                    "line": one.line,
                    "waits": one.waits.text if one.waits is not None else None,
                    "holds": [{"lock": h.lock.text, "where": h.where, "certain": h.certain} for h in one.holds],
                }
                for one in self.dump.threads
            ],
            **self.comparison.as_json(),
            "limitations": list(self.dump.limitations),
            "deadlock": self.dump.deadlock or None,
        }


@dataclass(frozen=True)
class RecordsReport:
    """The report on records of locks, and how the orders in them differ from those of the lock file."""

    report: ValidationReport
    comparison: Comparison

    @property
    def verdict(self) -> LogVerdict:
        """The verdict of the report."""
        return self.report.verdict

    def text(self) -> list[str]:
        """The report in lines."""
        return [*self.report.text(), *map(printable, self.comparison.text())]

    def as_json(self) -> dict[str, Any]:
        """The report as data."""
        return {**self.report.as_json(), **self.comparison.as_json()}
