"""What commands write themselves while they act, and how it is read (for tests).

Run as a program it is such a command: WITNESS TASK TICKS. Every line is one write to the end of one file, so that their
order is the order in which they happened.
"""

from __future__ import annotations

import os
import sys
import time

TICK_SECONDS = 0.02


def overlaps(lines: list[str]) -> list[str]:
    """Where two attempts at one task acted at once, in words.

    A command that was killed says nothing at its end: it counts as acting until its last line. So two attempts overlap
    if one of them wrote anything between the first and the last line of the other one.
    """
    spans: dict[str, dict[str, list[int]]] = {}
    for number, line in enumerate(lines):
        _, task, instance, pid = line.split()
        span = spans.setdefault(task, {}).setdefault(f"{instance} (process {pid})", [number, number])
        span[1] = number
    overlapping = []
    for task, attempts in spans.items():
        (one, longest), *others = sorted(attempts.items(), key=lambda item: item[1])
        for other, span in others:
            if span[0] < longest[1]:
                overlapping.append(
                    f"task {task}: {other} began in line {span[0] + 1}, {one} acted until line {longest[1] + 1}"
                )
            if span[1] > longest[1]:
                one, longest = other, span
    return overlapping


def ended(lines: list[str]) -> dict[str, list[int]]:
    """The instances of each task whose command came to its end."""
    instances: dict[str, list[int]] = {}
    for line in lines:
        what, task, instance, _ = line.split()
        if what == "end":
            instances.setdefault(task, []).append(int(instance))
    return instances


def _act(path: str, task: str, ticks: int) -> None:
    witness = os.open(path, os.O_WRONLY | os.O_APPEND)
    who = f"{task} {os.environ['JOBMON_TASK_INSTANCE_ID']} {os.getpid()}\n"
    os.write(witness, f"start {who}".encode())
    for _ in range(ticks):
        time.sleep(TICK_SECONDS)
        os.write(witness, f"tick {who}".encode())
    os.write(witness, f"end {who}".encode())


if __name__ == "__main__":
    _act(sys.argv[1], sys.argv[2], int(sys.argv[3]))
