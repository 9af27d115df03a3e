"""Work by the workers of a cluster, such as that of ``verify``: each does one task at a time, and loads the systems by their manifests."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, Generic, TypeVar

from schedproof.model.lang.digest import Digester
from schedproof.model.registry.discovery import is_registered
from schedproof.model.registry.discovery import system as registered_system
from schedproof.model.registry.loading import load
from schedproof.model.registry.manifest import read
from schedproof.model.registry.system import System
from schedproof.proofs.cluster import ClusterError, RemoteWorkers
from schedproof.proofs.exploration.limits import LostWorker

from .own_code import digest_of_code
from .parts import Done, Part, ReportProgress
from .verdict_cache import PARTS, source_of
from .verify import Plan, timed
from .workers import LOST, WorkerDied, answered, shared_out

T = TypeVar("T")
R = TypeVar("R")

Manifests = Mapping[str, Path]
"""The manifests of the systems that a worker does not find by their names."""


class ClusterPool(Generic[T, R]):
    """See :class:`.workers.Pool`. Before any work, each worker compares its code and the models with those of this process.

    Args:
        workers: the workers.
        systems: what they work on.
        variants: the names of the systems and variants.
        function: called in a worker with a task, what reports its progress, and ``others``: by name, systems of the user.
        title: what is reported of a task when a worker begins it.

    Raises:
        ClusterError: a worker has another version of schedproof or of a model, or does not find it.
        WorkerDied: workers are lost again and again.
    """

    def __init__(
        self,
        workers: RemoteWorkers,
        systems: Sequence[System],
        variants: Sequence[tuple[str, str]],
        function: Callable[..., R],
        title: Callable[[T], str],
    ) -> None:
        by_name = {each.name: each for each in systems}
        self._manifests: Manifests = {
            name: each.manifest.resolve()
            for name, each in by_name.items()
            if not is_registered(each) and each.manifest is not None
        }
        self._workers, self._function, self._title = workers, function, title
        try:
            answers = workers.each(partial(_codes, manifests=self._manifests), variants)
        except LostWorker as error:
            raise WorkerDied(f"{error}; run the command again") from error
        for (system, variant), each in zip(variants, zip(*answers, strict=True), strict=True):
            if why := different(Code.of(by_name[system], variant), each, f"{system} {variant}"):
                raise ClusterError(why)

    def run(
        self, tasks: Sequence[T], report_progress: ReportProgress, prepares: Callable[[T], str] = lambda task: ""
    ) -> Iterator[tuple[T, R]]:
        """See ``Pool``. A worker reports no progress of a task; what it begins is reported here."""
        function = partial(_answered, function=self._function, manifests=self._manifests)
        team = _Reporting(self._workers.team(function, LOST), self._title, report_progress)
        return shared_out(tasks, team, report_progress, prepares)


def verifying(workers: RemoteWorkers, plans: Sequence[Plan]) -> ClusterPool[Part, tuple[Done, float]]:
    """The pool for the work of some plans; raises as :class:`ClusterPool`."""
    variants = [(plan.system.name, plan.model.variant) for plan in plans if plan.todo]
    systems = [plan.system for plan in plans]
    return ClusterPool(workers, systems, variants, timed, lambda part: f"{part.system} {part.variant}: {part.work}")


class _Reporting:
    """A team whose tasks are reported when they are given to a worker."""

    def __init__(self, team: Any, title: Callable[[Any], str], report_progress: ReportProgress) -> None:
        self._team, self._title, self._report_progress = team, title, report_progress
        self.messages = team.messages

    def __len__(self) -> int:
        return len(self._team)

    def give(self, worker: int, task: Any) -> None:
        """See :class:`.workers.Team`."""
        self._report_progress(f"{self._title(task)}, worker {worker + 1} of {len(self._team)}")
        self._team.give(worker, task)


def _answered(task: Any, *, function: Callable[..., Any], manifests: Manifests) -> tuple[str, Any]:
    """In a worker: does a task."""
    others = {name: _system(name, manifest) for name, manifest in manifests.items()}
    return answered(partial(function, others=others), task, lambda line: None)


def _codes(variants: Sequence[tuple[str, str]], *, manifests: Manifests) -> list[Code | str]:
    """In a worker: the code of variants; where one cannot be loaded, the reason."""
    return [_code(name, variant, manifests.get(name)) for name, variant in variants]


def _code(name: str, variant: str, manifest: Path | None) -> Code | str:
    try:
        return Code.of(_system(name, manifest), variant)
    except Exception as error:  # whatever goes wrong in another version
        return f"{type(error).__name__}: {error}".splitlines()[0]


def _system(name: str, manifest: Path | None) -> System:
    return registered_system(name) if manifest is None else _of_manifest(manifest, name)


@cache
def _of_manifest(manifest: Path, name: str) -> System:
    return load(read(manifest)[name])


@dataclass(frozen=True)
class Code:
    """What must be the same in all workers: hashes of schedproof's source, of a variant's elements, and of its system's own code."""

    schedproof: str
    model: str
    system: str

    @staticmethod
    def of(system: System, variant: str) -> Code:
        """The code of a variant in this process.

        Raises:
            Exception: whatever its modules raise.
        """
        model = Digester(functions=True).digest(system.variants[variant]).hex()
        return Code(_source(), model, digest_of_code(system))


def different(code: Code, answers: Sequence[Code | str], what: str) -> str:
    """Which workers have other code than this process, and what to do; empty if none has.

    Args:
        answers: of each worker; a text where it cannot load the variant.
        what: the system and the variant.
    """
    some = f"of {len(answers)} workers"
    codes = [each for each in answers if isinstance(each, Code)]
    failures = [each for each in answers if isinstance(each, str)]
    others = (
        (failures, f"do not load {what} ({failures[0] if failures else ''})", "install it on each machine, in the same folder"),
        ([c for c in codes if c.schedproof != code.schedproof], "have another version of schedproof", "install the same on each machine"),
        ([c for c in codes if c.system != code.system], f"have other code of {what}", "install the same on each machine"),
        ([c for c in codes if c.model != code.model], f"have another model of {what}", "install the same on each machine"),
    )  # fmt: skip
    return next((f"--cluster: {len(its)} {some} {problem}; {remedy}" for its, problem, remedy in others if its), "")


@cache
def _source() -> str:
    return hashlib.sha256("\n".join(source_of(*PARTS, systems=True)).encode()).hexdigest()
