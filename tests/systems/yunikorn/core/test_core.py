"""YuniKorn's core: the scenarios of its repairs, timers, gangs, queues and nodes; its tables; its independence."""

from __future__ import annotations

import subprocess
import sys

import pytest

from schedproof.impl.clock import ManualClock
from schedproof.impl.scheduler_interface import (
    AddApplication,
    AddAsk,
    CreateNode,
    NewAllocation,
    RegisterRM,
    ReleaseAsk,
)
from schedproof.impl.systems.yunikorn.core import APPLICATION, OBJECT, Core, Draft, Refused, only
from schedproof.impl.systems.yunikorn.core.health import health
from schedproof.impl.table_machine import IllegalEvent, Row, TableMachine
from tests.support.independence import dependencies
from tests.support.rows import each_row
from tests.systems.yunikorn.core.bench import Bench
from tests.systems.yunikorn.core.scenarios import SCENARIOS, Scenario


@each_row("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_scenario(scenario: Scenario) -> None:
    scenario(Bench())


# The tables.

MATRIX = """
state      run       reject   complete   fail    expire  resume
New        Accepted  Rejected -          Failing -       Resuming
Accepted   Starting  -        Completing Failing -       Resuming
Starting   Running   -        Completing Failing -       -
Running    Running   -        Completing Failing -       -
Completing Running   -        Completed  -       -       -
Completed  -         -        -          -       Expired -
Failing    -         -        -          Failed  -       -
Failed     -         -        -          -       -       -
Resuming   Accepted  -        -          -       -       -
Rejected   -         -        -          -       -       -
Expired    -         -        -          -       -       -
"""
"""The matrix of the facts (section 1) but for Failed, from which nothing leads (D26)."""


def outcome(machine: TableMachine, state: str, event: str) -> str:
    try:
        return machine.target(state, event)
    except IllegalEvent:
        return "-"


def test_what_every_event_does_in_every_state_of_an_application() -> None:
    header, *lines = [line.split() for line in MATRIX.strip().splitlines()]
    assert len(lines) == len(APPLICATION.states) == 11
    for state, *expected in lines:
        outcomes = [outcome(APPLICATION, state, f"{event}Application") for event in header[1:]]
        assert outcomes == expected, state


def test_what_every_event_does_in_every_state_of_an_object() -> None:
    expected = {
        "Active": {"Start": "Active", "Stop": "Stopped", "Remove": "Draining"},
        "Stopped": {"Start": "Active", "Stop": "Stopped", "Remove": "Draining"},
        "Draining": {"Start": "-", "Stop": "-", "Remove": "Draining"},
    }
    for state, events in expected.items():
        for event, target in events.items():
            assert outcome(OBJECT, state, event) == target


def test_every_row_says_where_it_comes_from() -> None:
    for row in (*APPLICATION.rows, *OBJECT.rows):
        assert row.origin[:1] in "DF" and row.origin[1:], row
    assert APPLICATION.initial == "New" and OBJECT.initial == "Active"


def test_a_table_is_not_ambiguous_and_knows_its_events() -> None:
    with pytest.raises(ValueError, match="two rows"):
        TableMachine("lamp", ("off", "on"), [Row("flip", "off", "on", "1"), Row("flip", "off", "off", "2")])
    with pytest.raises(IllegalEvent, match="unknown event 'Flip'"):
        OBJECT.target("Active", "Flip")
    with pytest.raises(IllegalEvent, match="object cannot take Stop in state Draining; possible: Remove"):
        OBJECT.target("Draining", "Stop")


# The facade.


def test_a_choice_is_held_to_its_options() -> None:
    b = Bench()
    b.node()
    b.app()
    b.ask("r0")
    before = b.core.snapshot()
    with pytest.raises(Refused, match="r0 on m was wanted, but there is r0 on n to choose"):
        b.core.schedule(only("r0", "m"))
    with pytest.raises(Refused, match="nothing was chosen, though there are 1 options"):
        b.core.schedule(lambda options: None)
    with pytest.raises(Refused, match="is no option now"):
        b.core.schedule(lambda options: type(options[0])("r0", "m"))
    assert b.core.snapshot() == before


def test_a_non_request_is_an_error_and_what_is_unknown_is_said() -> None:
    b = Bench()
    with pytest.raises(TypeError, match="no request"):
        b.core.handle("AddAsk")  # type: ignore[arg-type]
    with pytest.raises(Refused, match="no application x, and no record of one"):
        b.core.application("x")


class FiresWhatIsIllegal(Draft):
    def release_ask(self, request: ReleaseAsk) -> None:
        super().release_ask(request)
        self.fire(request.application, "expireApplication")


def test_an_operation_that_raises_has_changed_nothing() -> None:
    b = Bench(FiresWhatIsIllegal)
    b.app()
    b.ask("r0")
    before, timers = b.core.snapshot(), b.clock.snapshot()
    with pytest.raises(IllegalEvent, match="application cannot take expireApplication in state"):
        b.core.handle(ReleaseAsk("x", "r0"))
    assert (b.core.snapshot(), b.clock.snapshot()) == (before, timers)


def test_snapshots() -> None:
    b = Bench()
    b.node()
    b.app()
    b.ask("r0")
    before, times = b.core.snapshot(), b.clock.snapshot()
    b.schedule()
    assert b.core.snapshot() != before
    b.core.restore(before)
    b.clock.restore(times)
    assert b.core.snapshot() == before and hash(b.core.snapshot()) == hash(before)
    assert b.core.application("x").state == "Accepted"


def test_the_state_log_has_the_form_of_the_rest_interface() -> None:
    b = Bench()
    b.clock.advance(7)
    b.app()
    b.ask("r0")
    assert b.core.state_log("x") == [{"time": 7 * 10**9, "applicationState": "Accepted"}]


def test_schedule_all_and_a_core_without_a_listener() -> None:
    core = Core(ManualClock())
    core.handle(RegisterRM())
    core.handle(CreateNode("n", 2))
    core.handle(AddApplication("x"))
    for i in range(3):
        core.handle(AddAsk("x", f"r{i}"))
    placed = [r.ask for r in core.schedule_all() if isinstance(r, NewAllocation)]
    assert placed == ["r0", "r1"], "oldest first, as many as fit"
    assert core.schedule() == []
    assert health(core.world) == []


# The core must not lean on the model that it is compared with.


def test_nothing_comes_from_the_model() -> None:
    """Not from another system either, nor do the modules that several systems share depend on such."""
    used = {name for _, name in dependencies("systems/yunikorn")}
    shared = ("choice:", "errors:", "hashed:", "clock:", "table_machine:", "scheduler_interface:")
    assert used and all(
        name.startswith(("schedproof.impl:", *(f"schedproof.impl.{module}" for module in shared))) for name in used
    )


def test_the_model_is_not_even_loaded() -> None:
    code = "import sys, schedproof.impl.systems.yunikorn.core; print(*[m for m in sys.modules if m.startswith('schedproof.')])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "schedproof.impl.systems.yunikorn.core.scheduling" in loaded
    assert [m for m in loaded if m.startswith(("schedproof.model", "schedproof.proofs"))] == []
