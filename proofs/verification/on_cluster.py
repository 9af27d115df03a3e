"""``verify`` by the workers of a cluster: each does one part at a time, and loads the systems by their manifests."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from schedproof.model.lang.digest import Digester
from schedproof.model.registry.discovery import is_registered
from schedproof.model.registry.discovery import system as registered_system
from schedproof.model.registry.loading import load
from schedproof.model.registry.manifest import read
from schedproof.model.registry.system import System
from schedproof.proofs.cluster import ClusterError, RemoteWorkers
from schedproof.proofs.exploration.limits import LostWorker

from .parts import Done, Part, ReportProgress
from .verdict_cache import PARTS, source_of
from .verify import Plan, timed
from .workers import LOST, WorkerDied, answered, shared_out

Manifests = Mapping[str, Path]
"""The manifests of the systems that a worker does not find by their names."""


class ClusterPool:
    """See :class:`.workers.Pool`. Before any work, each worker compares its code and the models with those of this process.

    Args:
        workers: the workers.
        plans: what they work on.

    Raises:
        ClusterError: a worker has another version of schedproof or of a model, or does not find it.
        WorkerDied: a worker is lost at once.
    """

    def __init__(self, workers: RemoteWorkers, plans: Sequence[Plan]) -> None:
        systems = {plan.system.name: plan.system for plan in plans}
        self._manifests: Manifests = {
            name: each.manifest.resolve()
            for name, each in systems.items()
            if not is_registered(each) and each.manifest is not None
        }
        self._workers = workers
        variants = [(plan.system.name, plan.model.variant) for plan in plans if plan.todo]
        try:
            codes = workers.each(partial(_code, manifests=self._manifests), variants)
        except LostWorker as error:
            raise WorkerDied(f"{error}; run the command again") from error
        for (system, variant), each in zip(variants, zip(*codes, strict=True), strict=True):
            if different := sum(code != code_of(systems[system], variant) for code in each):
                raise ClusterError(
                    f"--cluster: {different} of {len(codes)} workers have another version of schedproof, or not the same "
                    f"{system} {variant}; install both on each machine of the cluster, in the same folders"
                )

    def run(
        self, tasks: Sequence[Part], report_progress: ReportProgress, prepares: Callable[[Part], str] = lambda task: ""
    ) -> Iterator[tuple[Part, tuple[Done, float]]]:
        """See ``Pool``. A worker reports no progress of a part; what it begins is reported here."""
        team = self._workers.team(partial(_answered, manifests=self._manifests), LOST)
        return shared_out(tasks, _Reporting(team, report_progress), report_progress, prepares)


class _Reporting:
    """A team whose tasks are reported when they are given to a worker."""

    def __init__(self, team: Any, report_progress: ReportProgress) -> None:
        self._team, self._report_progress = team, report_progress
        self.messages = team.messages

    def __len__(self) -> int:
        return len(self._team)

    def give(self, worker: int, task: Part) -> None:
        """See :class:`.workers.Team`."""
        self._report_progress(f"{task.system} {task.variant}: {task.work}, worker {worker + 1} of {len(self._team)}")
        self._team.give(worker, task)


def _answered(part: Part, *, manifests: Manifests) -> tuple[str, Any]:
    """In a worker: does a part."""
    others = {name: _system(name, manifest) for name, manifest in manifests.items()}
    return answered(partial(timed, others=others), part, lambda line: None)


def _code(variants: Sequence[tuple[str, str]], *, manifests: Manifests) -> list[str]:
    """In a worker: the code of variants; empty where there is none."""
    codes = []
    for name, variant in variants:
        try:
            codes.append(code_of(_system(name, manifests.get(name)), variant))
        except Exception:  # whatever goes wrong in another version
            codes.append("")
    return codes


def _system(name: str, manifest: Path | None) -> System:
    return registered_system(name) if manifest is None else _of_manifest(manifest, name)


@cache
def _of_manifest(manifest: Path, name: str) -> System:
    return load(read(manifest)[name])


def code_of(system: System, variant: str) -> str:
    """A hash of schedproof's source and of a variant's elements. It must be the same in all workers."""
    try:
        content = Digester().digest(system.variants[variant])
    except TypeError:  # such as a function inside a user's own kind of element
        content = b""
    return hashlib.sha256("\n".join(_source()).encode() + content).hexdigest()


@cache
def _source() -> tuple[str, ...]:
    return tuple(source_of(*PARTS, systems=True))
