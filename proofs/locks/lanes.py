"""Interleavings of threads as a table with a lane for each thread, and as a Mermaid sequence diagram."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from schedproof.model.locks.language import Mode

from .derived import Circle
from .explore import Problem


@dataclass(frozen=True)
class LaneStep:
    """One step in a lane.

    Args:
        thread: the lane.
        how, on: what it does, and on which lock or channel.
        waits: whether it waits there, now or for ever.
        final: whether it is what the thread waits for in the final state.
        other: the thread that takes a message directly; "" if there is none.
        takes: how that thread takes it: "receive" or "select".
    """

    thread: str
    how: str
    on: str
    waits: bool = False
    final: bool = False
    other: str = ""
    takes: str = "receive"

    @property
    def text(self) -> str:
        """The cell."""
        return f"{self.how} {self.on}{' ...' if self.waits else ''}"


def of_problem(problem: Problem) -> list[LaneStep]:
    """The interleaving of a deadlock, and what each thread waits for in the final state."""
    steps = [LaneStep(s.thread, s.how, s.on, waits=not s.granted, other=s.other, takes=s.takes) for s in problem.steps]
    return [*steps, *(LaneStep(w.thread, w.how, w.on, waits=True, final=True) for w in problem.waits)]


def of_circle(circle: Circle) -> list[LaneStep]:
    """The programs of a circle: each has acquired a lock and waits for the next; a program that occurs twice is numbered.

    Between readers there are the writers for which they wait.
    """
    between = list(zip(circle.through_writers, circle.writers, strict=True))
    names = [*(one.program for one in circle.by), *(one.program if one else f"a writer of {on}" for on, one in between)]
    lanes = [name if names.count(name) == 1 else f"{name}, {n + 1}" for n, name in enumerate(names)]
    pairs = list(zip(lanes[: len(circle.by)], circle.locks, circle.by, strict=True))
    writers = [
        (lane, str(one.mode if one else Mode.WRITE), on)
        for lane, (on, one) in zip(lanes[len(circle.by) :], between, strict=True)
    ]
    steps = [LaneStep(lane, str(one.held_as(lock)), lock) for lane, lock, one in pairs]
    steps += [LaneStep(lane, how, on, waits=True) for lane, how, on in writers]
    steps += [LaneStep(lane, str(one.mode), one.lock, waits=True, final=True) for lane, _, one in pairs]
    return [*steps, *(LaneStep(lane, how, on, waits=True, final=True) for lane, how, on in writers)]


def table(steps: Sequence[LaneStep]) -> list[str]:
    """A row for each step, and one for the final state. ``...`` marks a thread that waits."""
    lanes = _lanes(steps)
    rows = [["", *lanes]]
    for number, step in enumerate((s for s in steps if not s.final), 1):
        cells = {step.thread: step.text}
        if step.other:
            cells[step.other] = f"{step.takes} {step.on}"
        rows.append([str(number), *(cells.get(lane, "") for lane in lanes)])
    if final := {step.thread: step.text for step in steps if step.final}:
        rows.append(["", *(final.get(lane, "") for lane in lanes)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join([row[0].rjust(widths[0]), *map(str.ljust, row[1:], widths[1:])]).rstrip() for row in rows]
    return [lines[0], "  ".join("-" * width for width in widths), *lines[1:]]


def mermaid(steps: Sequence[LaneStep], title: str, ends: str) -> list[str]:
    """A sequence diagram: threads ask locks and channels; a cross ends what is not granted.

    Args:
        steps: the steps.
        title: the title.
        ends: what is wrong in the final state.
    """
    lanes = _lanes(steps)
    things = list(dict.fromkeys(step.on for step in steps))
    ids = {("t", lane): f"t{n}" for n, lane in enumerate(lanes)} | {("l", on): f"l{n}" for n, on in enumerate(things)}
    lines = ["---", f'title: "{_plain(title)}"', "---", "sequenceDiagram"]
    lines += [f"    participant {ids['t', lane]} as {_plain(lane)}" for lane in lanes]
    lines += [f"    participant {ids['l', on]} as {_plain(on)}" for on in things]
    for step in steps:
        arrow = "--x" if step.final else "-x" if step.waits else "->>"
        waits = ", and waits for ever" if step.final else ", and waits" if step.waits else ""
        lines.append(f"    {ids['t', step.thread]}{arrow}{ids['l', step.on]}: {_plain(step.how)}{waits}")
        if step.other:
            lines.append(f"    {ids['l', step.on]}->>{ids['t', step.other]}: {step.takes}")
    if lanes and ends:
        over = ids["t", lanes[0]] if len(lanes) == 1 else f"{ids['t', lanes[0]]},{ids['t', lanes[-1]]}"
        lines.append(f"    Note over {over}: {_plain(ends)}")
    return lines


def _lanes(steps: Iterable[LaneStep]) -> list[str]:
    return list(dict.fromkeys(name for step in steps for name in (step.thread, step.other) if name))


def _plain(text: str) -> str:
    """A text without characters that mean something in Mermaid."""
    return "".join("'" if c == '"' else " " if c in ";#\n\r" else c for c in text)
