"""Words of the repaired Jobmon that only one property notices: with another word in its place, that property is violated."""

from __future__ import annotations

from functools import cache

import pytest

from schedproof.model.lang.check import checked
from schedproof.model.systems.jobmon import REPAIRED
from schedproof.proofs.verdict import Verdict
from tests.support.exchanges import exchanges
from tests.support.mutants import Mutant, Place, explored, mutants
from tests.support.sample import thinned
from tests.systems.jobmon.model.partly_repaired import HUNGRY, PLACES, RUNS, SMALL
from tests.systems.jobmon.model.test_shipped_mutants import place

NOTICED = {
    "action plan_cold, conjunct 4, quantifier: every for some": ("resumes-wait-for-the-last-run", RUNS),
    "action plan_hot, conjunct 1, state: Gone for NotStarted of c": ("life-of-a-hot-resume", RUNS),
    "action beat_run, conjunct 2, state: Done for Bound of c.run": ("live-clients-keep-their-run", RUNS),
    "action err_run, conjunct 3, state: Halted for Running of c.run.workflow": ("clients-can-post-errors", SMALL),
    "action stop_run, conjunct 2, state: Bound for Running of c.run": ("users-can-stop-a-run", SMALL),
    "action terminate_run, conjunct 3, state: Error for ColdResume of c.run": ("terminated-runs-leave-nothing", SMALL),
    "action get_no_id, firing 2, event: end for get_no_id": ("refused-submissions-can-be-reported", SMALL),
    "action triage_resources, conjunct 2, state: Queued for Triaging of i": (
        "triage-can-report-too-few-resources",
        SMALL,
    ),
    "action beat, conjunct 1, state: Absent for Stopped of i.job": ("live-workers-keep-control", SMALL),
    "action take_job, conjunct 2, state: KillSelf for NoDistributorId of i": ("leftovers-can-be-taken-away", SMALL),
    "rule clear dooms what runs, condition 2, state: Queued for Running of i": (
        "cold-resumes-can-end-what-runs",
        HUNGRY,
    ),
    "rule stop moves the workflow, firing, event: halt for fail": ("workflows-end-as-their-runs", SMALL),
    "row Job.report from Failed, target: OutOfResources for Reported": ("wrappers-end-with-their-report", SMALL),
    "row Job.be_killed from Running, recovery: Orphaned for Killed": ("removed-jobs-are-gone", SMALL),
    "row Distributor.go from Running, update: without held": ("the-dead-hold-nothing", SMALL),
}


@cache
def by_name() -> dict[str, Mutant]:
    return {mutant.name: mutant for mutant in [*mutants(REPAIRED), *exchanges(REPAIRED)]}


def somewhere(about: str) -> Place:
    return place(REPAIRED, next(each for each in PLACES if each.about == about))


@pytest.mark.parametrize("word", thinned(NOTICED, 15))
def test_a_property_notices_the_other_word(word: str) -> None:
    name, about = NOTICED[word]
    other = checked(by_name()[word].build())
    assert explored(REPAIRED, somewhere(about), [name]) == {name: Verdict.PROVED}
    assert explored(other, somewhere(about), [name])[name] is Verdict.REFUTED
