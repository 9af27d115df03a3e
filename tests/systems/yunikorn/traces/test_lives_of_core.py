"""Lives that the reference core makes, as its state log has them: they conform; what is not legal in them does not.

The recorded samples visit four states; these go through the others. What is legal is asked of the tables that were
copied by hand (``brute_force``).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from schedproof.impl.scheduler_interface import Control
from schedproof.impl.systems.yunikorn.core import Kind
from schedproof.proofs.traces import LogVerdict
from tests.support.rows import each_row
from tests.systems.yunikorn.core.bench import Bench
from tests.systems.yunikorn.core.scenarios import HARD, SOFT, gang, works
from tests.systems.yunikorn.traces import brute_force as brute_yunikorn
from tests.systems.yunikorn.traces.questions import broken, check, nonconformance

MIDDLE = "1.0-1.5"
"""The releases that have a state log, and Starting."""
DAY = 24 * 3600


def expired(b: Bench) -> None:
    """It runs twice, is completed, and its time is over."""
    works(b, 2)
    b.stop("r0")
    b.stop("r1")
    b.ask("r2")
    b.schedule()
    b.stop("r2")
    b.run(30)
    b.wait(3 * DAY)


def resumed(b: Bench) -> None:
    """A soft gang that is not there in time goes on without."""
    gang(b, 2, 1, SOFT)
    b.fire(b.due(Kind.GANG))
    b.ask("r0")
    b.confirm_all()
    b.schedule()


def failed_with_its_gang(b: Bench) -> None:
    """A hard one fails."""
    gang(b, 2, 1, HARD)
    b.fire(b.due(Kind.GANG))
    b.confirm_all()


def failed_with_its_partition(b: Bench) -> None:
    """Its partition is removed while it runs."""
    works(b, 2)
    b.control(Control.REMOVE)
    b.confirm_all()


def resumed_and_failed(b: Bench) -> None:
    """Its partition is removed while it resumes."""
    gang(b, 2, 1, SOFT)
    b.fire(b.due(Kind.GANG))
    b.ask("r0")
    b.control(Control.REMOVE)
    b.confirm_all()


def rejected(b: Bench) -> None:
    """There is no such queue."""
    b.app(queue="root.nowhere")


LIVES: dict[Callable[[Bench], None], Sequence[str]] = {
    # lines 18 to 24, and the figure's way back from Completing
    expired: ["Accepted", "Starting", "Running", "Completing", "Running", "Completing", "Completed", "Expired"],
    resumed: ["Accepted", "Resuming", "Accepted", "Starting"],
    failed_with_its_gang: ["Accepted", "Failing", "Failed"],
    failed_with_its_partition: ["Accepted", "Starting", "Running", "Failing", "Failed"],
    resumed_and_failed: ["Accepted", "Resuming", "Accepted", "Failing", "Failed"],
    rejected: ["Rejected"],
}


def application_of(life: Callable[[Bench], None]) -> dict[str, Any]:
    """What the REST interface says of the application that lives so."""
    bench = Bench()
    life(bench)
    return {
        "applicationID": "x",
        "applicationState": str(bench.record().state),
        "stateLog": bench.core.state_log("x"),
    }


def names(application: dict[str, Any]) -> list[str]:
    return [entry["applicationState"] for entry in application["stateLog"]]


@each_row("life", LIVES, ids=lambda life: life.__name__)
def test_a_life_of_the_reference_core_conforms(life: Callable[[Bench], None], tmp_path: Path) -> None:
    application = application_of(life)
    assert names(application) == LIVES[life]
    report = check(json.dumps(application), tmp_path)
    assert report.verdict is LogVerdict.CONFORMS and MIDDLE in report.releases
    assert not broken(report)


def test_the_lives_go_through_what_the_samples_leave_out() -> None:
    seen = {state for states in LIVES.values() for state in states}
    assert {"Resuming", "Failing", "Failed", "Completed", "Expired", "Rejected"} <= seen


def changed(application: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """One entry less, two in the other order, or one more at the end; times go on as they were."""
    log, states = application["stateLog"], names(application)
    others = []
    for n in range(len(states)):
        others.append([*states[:n], *states[n + 1 :]])
        others.append([*states[:n], *reversed(states[n : n + 2]), *states[n + 2 :]])
    others += [[*states, more] for more in ("Running", "Accepted", "Failed", "Completing", "Expired")]
    for each in others:
        if each and each != states:
            times = [entry["time"] for entry in log] + [log[-1]["time"] + 1]
            entries = [{"time": t, "applicationState": s} for t, s in zip(times, each, strict=False)]
            yield {**application, "applicationState": each[-1], "stateLog": entries}


def is_legal(states: Sequence[str]) -> bool:
    """Each is one event away from the one before, in some release that has a state log; a loop enters no state (1.1)."""
    for release in brute_yunikorn.RELEASES[1:]:
        table = brute_yunikorn.tables(release)["Application"]
        steps = zip(["New", *states], states, strict=False)
        if all(now != then and any(s == now and to == then for (s, _), to in table.items()) for now, then in steps):
            return True
    return False


@pytest.mark.parametrize("life", LIVES, ids=lambda life: life.__name__)
def test_what_is_not_legal_violates(life: Callable[[Bench], None], tmp_path: Path) -> None:
    verdicts = set()
    for application in changed(application_of(life)):
        report = check(json.dumps(application), tmp_path)
        legal = is_legal(names(application))
        verdicts.add(legal)
        assert (report.verdict is LogVerdict.CONFORMS) == legal, names(application)
        if not legal:
            assert nonconformance(report)[0] >= 1
    assert False in verdicts


def test_the_release_without_starting_explains_none_that_has_it() -> None:
    assert is_legal(["Accepted", "Running", "Completing", "Completed"])
    assert not is_legal(["Accepted", "Starting", "Completing", "Running", "Accepted"])
    assert not is_legal(["Accepted", "Starting", "Running", "Starting"])
