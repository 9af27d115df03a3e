"""The sequences of a test suite as texts, checked by the validator and replayed on implementations: parts that processes share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from schedproof.model.registry.discovery import system as registered_system
from schedproof.model.registry.system import System
from schedproof.model.semantics import Instance, Run, State
from schedproof.proofs.coverage import Suite, description_of, texts_of
from schedproof.proofs.exploration.recorded_run import instance_of, recorded_run
from schedproof.proofs.refinement.replay import replays_of
from schedproof.proofs.verdict import Disagreement, RecordedRun

from .workers import Pool, ReportProgress, Workers, for_processes

AT_ONCE = 16
"""The sequences of one task: many enough that a worker is seldom idle between two, and few enough to share them evenly."""

Texts = tuple[str, str]
"""A sequence as JSON Lines, and as ITF."""


@dataclass(frozen=True)
class Sequences:
    """Some sequences of a suite.

    Attributes:
        first: the number of the first one, from 1 on.
        descriptions: what their files say of them.
        runs: their steps, with their states, as the suite has them.
        replayed: also on the implementations.
    """

    system: str
    variant: str
    first: int
    descriptions: tuple[str, ...]
    runs: tuple[tuple[RecordedRun, tuple[State, ...]], ...]
    replayed: bool


SequencePool = Pool[Sequences, list[Texts] | str]
"""What works on sequences."""


def tasks_of(suite: Suite, *, replayed: bool) -> list[Sequences]:
    """The sequences of a suite as tasks, in their order."""
    tasks = []
    for at in range(0, len(suite.walks), AT_ONCE):
        walks = [walk for _, walk in suite.walks[at : at + AT_ONCE]]
        descriptions = tuple(description_of(suite, at + n) for n in range(1, len(walks) + 1))
        runs = tuple((recorded_run(walk.instance, walk.choices, {}), tuple(walk.states)) for walk in walks)
        tasks.append(Sequences(suite.model.system, suite.model.variant, at + 1, descriptions, runs, replayed))
    return tasks


def checked(task: Sequences, report_progress: ReportProgress, *, others: Mapping[str, System]) -> list[Texts] | str:
    """The texts of a task's sequences; or what is wrong with the first one that is refused.

    Args:
        others: systems that are not found by their names.
    """
    system = others.get(task.system) or registered_system(task.system)
    model, known, texts = system.variants[task.variant], dict[Any, Instance](), list[Texts]()
    replays = replays_of(system, model) if task.replayed else {}
    for number, (description, (recorded, states)) in enumerate(
        zip(task.descriptions, task.runs, strict=True), start=task.first
    ):
        configuration = tuple(recorded.sizes.items()), recorded.rigid
        if configuration not in known:
            known[configuration] = instance_of(model, recorded)
        run = Run(known[configuration], recorded.choices, states)
        try:
            texts.append(texts_of(run, description))
        except Disagreement as error:
            return f"sequence {number}: {error}"
        for name, replay in replays.items():
            if (mismatch := replay(run)) is not None:
                return f"sequence {number} on {name}: {mismatch.text}"
    return texts


def writers(system: System, *, jobs: int) -> Workers[Sequences, list[Texts] | str]:
    """Up to ``jobs`` processes for :func:`all_texts`; enter them with ``with`` before any thread starts."""
    function, jobs = for_processes(checked, [system], jobs)
    return Workers(function, jobs)


def all_texts(tasks: Sequence[Sequences], pool: SequencePool, report_progress: ReportProgress) -> list[Texts]:
    """The texts of all sequences, in their order.

    Raises:
        Disagreement: a sequence is refused; of several the first one.
    """
    total = sum(len(task.runs) for task in tasks)
    texts: list[Texts] = []
    for some in _in_order(tasks, pool, report_progress):
        if isinstance(some, str):
            raise Disagreement(some)
        texts += some
        report_progress(f"replaying {len(texts)} of {total} sequences")
    return texts


def _in_order(
    tasks: Sequence[Sequences], pool: SequencePool, report_progress: ReportProgress
) -> Iterator[list[Texts] | str]:
    """The results of tasks in the order of these, each as soon as it and those before it are there."""
    done: dict[int, list[Texts] | str] = {}
    nexts = iter([task.first for task in tasks])
    first = next(nexts, 0)
    for task, result in pool.run(tasks, report_progress):
        done[task.first] = result
        while first in done:
            yield done.pop(first)
            first = next(nexts, 0)
