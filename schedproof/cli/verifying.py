"""The work of ``verify`` and of ``findings`` in processes, with progress."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from schedproof.cli.cluster import workers_at
from schedproof.cli.progress import ReportProgress, progress, verifying
from schedproof.cli.verdict_status import conclusion
from schedproof.model.registry.discovery import system as registered_system
from schedproof.model.registry.system import System
from schedproof.proofs.verification.ambiguities import Ambiguity, ambiguities
from schedproof.proofs.verification.defect import Defect
from schedproof.proofs.verification.defects import defects
from schedproof.proofs.verification.durations import keep_seconds
from schedproof.proofs.verification.links import linked
from schedproof.proofs.verification.parts import Done, Part
from schedproof.proofs.verification.verdict_cache import VERDICTS
from schedproof.proofs.verification.verify import Plan, Run, verifiers
from schedproof.proofs.verification.workers import Pool, Workers, for_processes


def work(run: Run, plans: Sequence[Plan], *, jobs: int, cached: bool, cluster: str | None = None) -> None:
    """Does the work of some plans, and shows progress. An interrupt ends it, and ``run`` has the verdicts so far.

    Args:
        run: of these plans.
        plans: the plans.
        jobs: the number of processes.
        cached: also keep how long each part took, and limit the size of the cache.
        cluster: the address of a cluster whose workers do the work instead.

    Raises:
        UserError: the cluster's address is wrong, or Ray is not installed.
        ClusterError: the cluster does not answer, or its workers do not fit.
        Disagreement: exploration refutes what induction proves.
        KeyboardInterrupt: there is no verdict yet.
    """
    try:
        with _pool(plans, jobs, cluster) as (pool, size), verifying(run, size) as (report_progress, complete):
            for report in run.work(pool, report_progress):
                complete(f"{report.system} {report.variant}: {conclusion([report])} ({report.seconds:.1f} s)")
    except KeyboardInterrupt:
        if not run.verdicts:
            raise
    finally:
        if cached:
            keep_seconds(run.seconds)
            VERDICTS.shrink()


@contextmanager
def _pool(
    plans: Sequence[Plan], jobs: int, cluster: str | None
) -> Iterator[tuple[Pool[Part, tuple[Done, float]], int]]:
    """What works on some plans, and how many parts at a time. Without any part to do, no cluster is asked."""
    if cluster is None or not any(plan.todo for plan in plans):
        with verifiers(plans, jobs=jobs) as workers:
            yield workers, jobs
        return
    with workers_at(cluster) as remote:
        from schedproof.proofs.verification import on_cluster  # loads the compiled engine

        assert remote is not None
        yield on_cluster.verifying(remote, plans), len(remote)


@dataclass(frozen=True)
class SystemFindings:
    """The findings of a system: what is wrong with its documents, and what is unclear in them."""

    defects: Sequence[Defect]
    unclear: Sequence[Ambiguity]


def findings_of(systems: Sequence[System], variants: Sequence[str], *, jobs: int) -> dict[str, SystemFindings]:
    """The findings of each system, by its name.

    Args:
        systems: the systems.
        variants: names of the variants to report; () means all.
        jobs: the number of processes.
    """
    function, jobs = for_processes(partial(_findings_of_system, variants=tuple(variants)), systems, jobs)
    with Workers(function, max(1, min(jobs, len(systems)))) as workers, progress("findings") as report_progress:
        return dict(workers.run([each.name for each in systems], report_progress))


def _findings_of_system(
    name: str, report_progress: ReportProgress, *, variants: Sequence[str], others: Mapping[str, System]
) -> SystemFindings:
    system = others.get(name) or registered_system(name)
    its = [each for each in variants if each in system.variants]
    if variants and not its:
        return SystemFindings((), ())
    all_defects = defects(system, variants=its, progress=report_progress)
    return SystemFindings(all_defects, linked(ambiguities(system, variants=its), all_defects))
