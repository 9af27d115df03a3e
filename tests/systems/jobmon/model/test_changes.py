"""Each change of Jobmon's ``repaired`` is needed: without it, or with a part as it was shipped, what it says to repair is broken again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from schedproof.model.lang import Change, Model, Row, Rule
from schedproof.model.systems.jobmon import REPAIRED, SHIPPED
from schedproof.model.systems.jobmon.repaired import variant as of
from schedproof.model.systems.jobmon.shipped import client, couplings, distributor, server, worker
from schedproof.model.systems.jobmon.shipped.machines import i, r
from schedproof.proofs.verdict import Verdict
from tests.support.sample import thinned
from tests.systems.jobmon.model.partly_repaired import (
    DEAD_CLIENT,
    HUNGRY,
    LATE,
    LISTING,
    RUNS,
    SMALL,
    START,
    WITH_KILL_SELF,
    checked,
    less,
    put_back,
)


def row(name: str) -> Row:
    """A row of the shipped tables."""
    [named] = [row for row in SHIPPED.rows if row.name == name]
    return named


# --- Changes that others rest on: parts of them are put back ----------------------------------------------------------------


def lists_before_it_claims() -> Model:
    """A distributor lists what is queued, and what it has listed becomes Instantiated, whatever it is by then."""
    rows = [
        row("TaskInstance.instantiate from ErrorFatal"),
        *(row(f"Distributor.{event} from Running") for event in ("list", "hold", "go")),
    ]
    return put_back([*rows, distributor.list_queued, distributor.instantiate], machines=[LISTING])


ENDS_WHAT_IS_INSTANTIATED = row("TaskInstance.end_at_once from Instantiated")


def the_client_ends_instances() -> Model:
    ends = couplings.end_instances(client.wind_up, client.RUN)[:1]
    return put_back([client.wind_up, *ends, ENDS_WHAT_IS_INSTANTIATED])


def the_reaper_ends_instances() -> Model:
    ends = couplings.end_instances(server.reap_resumed, r)[:1]
    return put_back([server.reap_resumed, *ends, ENDS_WHAT_IS_INSTANTIATED])


def what_runs_dies_by_its_state() -> Model:
    mark = Rule(
        "resume_cold lets what runs die",
        r.fires("resume_cold"),
        [i.run == r, i.is_("Running")],
        i.fires("be_told_to_die"),
    )
    rows = [row("TaskInstance.be_told_to_die from Running"), row("TaskInstance.end from KillSelf")]
    return put_back(
        [mark, *rows, worker.hear_that_it_is_to_die],
        drops=["resume_cold dooms what runs"],
        machines=[WITH_KILL_SELF],
    )


@dataclass(frozen=True)
class Needed:
    """Without ``change`` (or with what ``otherwise`` puts back of it) the properties fall in ``configuration``."""

    change: Change
    properties: tuple[str, ...]
    configuration: str
    otherwise: Callable[[], Model] | None = None
    long: bool = False


CLIENT, DISTRIBUTOR, WORKER, SERVER = (
    f"the-{agent}-moves-only-its-own" for agent in ("client", "distributor", "worker", "server")
)
IMAGE, ENDS, WORK = "task-is-the-image-of-its-instance", "instances-can-end", "finished-work-counts"
RUN_ON = "late-instances-can-run-again"
RUN_ENDS, DONE, RUN_AGAIN = "runs-can-end", "workflows-can-be-done", "workflows-can-be-run"
TAKEN_UP, HALTED = "signals-can-be-taken-up", "halted-before-a-new-run"
ALONG, SERVE = of.RUNS_TAKE_ALONG_WHAT_HAS_NOT_BEGUN, of.DISTRIBUTORS_SERVE_ALL
FOLLOW = of.TASKS_FOLLOW_WHAT_IS_ENDED
BEGINS, MARKED = of.A_RUN_BEGINS_WHEN_THE_LAST_IS_OVER, of.WHAT_IS_TO_END_IS_MARKED

NEEDED = [
    Needed(
        of.CLAIMS_ARE_ATOMIC, ("instances-end-for-good", DISTRIBUTOR, IMAGE), LATE, lists_before_it_claims, long=True
    ),
    Needed(of.CONTROL_IS_A_LEASE, (CLIENT, WORKER, ENDS, RUN_ENDS), SMALL),
    Needed(of.LOST_MEANS_OVER, ("one-live-instance", HALTED), LATE, long=True),
    Needed(of.LATE_WORKERS_GO_ON, (RUN_ON, WORK), SMALL),
    Needed(MARKED, (CLIENT,), SMALL, the_client_ends_instances),
    Needed(MARKED, (SERVER,), SMALL, the_reaper_ends_instances),
    Needed(MARKED, (WORKER,), SMALL, what_runs_dies_by_its_state),
    Needed(FOLLOW, (IMAGE,), SMALL),
    Needed(FOLLOW, (DONE,), HUNGRY),
    Needed(ALONG, (TAKEN_UP, ENDS, RUN_ENDS), SMALL),
    Needed(ALONG, (DONE, RUN_AGAIN), HUNGRY, long=True),
    Needed(SERVE, (WORK, ENDS, RUN_ENDS), SMALL),
    Needed(SERVE, (TAKEN_UP, DONE, RUN_AGAIN), HUNGRY),
    Needed(of.EVERY_RUN_IS_REAPED, (RUN_ENDS, RUN_AGAIN), RUNS),
    Needed(of.EVERY_RUN_IS_REAPED, (DONE,), START),
    Needed(of.A_LATE_CLIENT_IS_REFUSED, ("only-the-live-run-queues", TAKEN_UP, ENDS, RUN_ENDS), SMALL),
    Needed(of.A_LATE_CLIENT_IS_REFUSED, (DONE, RUN_AGAIN), DEAD_CLIENT, long=True),
    Needed(BEGINS, (HALTED, "one-live-instance", IMAGE, "resources-grow-on-resource-errors"), HUNGRY, long=True),
]


def test_a_property_that_a_change_says_to_repair_is_asked_for() -> None:
    to_repair = {(change.why, name) for change in REPAIRED.changes for name in change.repairs}
    assert {(needed.change.why, name) for needed in NEEDED for name in needed.properties} == to_repair
    assert {name for _, name in to_repair} == SHIPPED.refuted


@pytest.mark.parametrize(
    "needed",
    thinned(
        [
            pytest.param(
                each,
                id=f"{each.change.why[:30]} in {each.configuration[:30]} {each.properties[0]}",
                marks=[pytest.mark.long] if each.long else [],
            )
            for each in NEEDED
        ],
        6,
        first=1,
    ),
)
def test_without_a_change_what_it_repairs_is_broken(needed: Needed) -> None:
    without = needed.otherwise() if needed.otherwise else less(needed.change)
    verdicts = {
        name: result.verdict for name, result in checked(without, needed.properties, needed.configuration).items()
    }
    assert verdicts == dict.fromkeys(needed.properties, Verdict.REFUTED)


@pytest.mark.parametrize(
    "configuration",
    [SMALL, *(pytest.param(name, marks=pytest.mark.long) for name in (RUNS, START, HUNGRY, LATE, DEAD_CLIENT))],
)
def test_with_all_changes_nothing_is_broken_there(configuration: str) -> None:
    names = sorted({name for needed in NEEDED if needed.configuration == configuration for name in needed.properties})
    assert {r.verdict for r in checked(REPAIRED, names, configuration).values()} == {Verdict.PROVED}
