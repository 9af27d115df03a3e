"""Clocks: timers in time, late, stopped; and a core on the clock of the machine."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from schedproof.impl.clock import SECOND, Clock, ManualClock, RealClock
from schedproof.impl.scheduler_interface import (
    AddApplication,
    AddAsk,
    ApplicationUpdated,
    CreateNode,
    RegisterRM,
    Response,
)
from schedproof.impl.systems.yunikorn.core import Core, State, health


class TestManualClock:
    def test_nothing_comes_by_itself(self) -> None:
        clock, heard = ManualClock(), list[str]()
        clock.arm("t", 5, lambda: heard.append("t"))
        clock.advance(100)
        assert heard == [] and [t.name for t in clock.due()] == ["t"]
        clock.fire("t")
        assert heard == ["t"] and clock.pending() == clock.under_way() == ()

    def test_not_before_its_time(self) -> None:
        clock = ManualClock()
        clock.arm("t", 5, int)
        clock.advance(4.5)
        assert clock.due() == ()
        with pytest.raises(ValueError, match=r"timer t has 0\.5 s to go"):
            clock.run_out("t")
        clock.advance(0.5)
        clock.run_out("t")

    def test_without_times_everything_is_due(self) -> None:
        clock = ManualClock(timed=False)
        clock.arm("t", 5, int)
        assert [t.name for t in clock.due()] == ["t"]
        clock.fire("t")

    def test_running_out_and_delivery_are_two_steps(self) -> None:
        clock, heard = ManualClock(), list[str]()
        clock.arm("t", 0, lambda: heard.append("first"))
        clock.run_out("t")
        clock.stop("t")
        clock.arm("t", 0, lambda: heard.append("second"))
        clock.run_out("t")
        assert [t.name for t in clock.under_way()] == ["t", "t"]
        clock.deliver("t")
        clock.deliver("t")
        assert heard == ["first", "second"]
        with pytest.raises(ValueError, match="has not run out; under way: none"):
            clock.deliver("t")

    def test_stopped_timers_do_not_run_out(self) -> None:
        clock = ManualClock()
        clock.arm("t", 1, int)
        clock.arm("u", 2, int)
        clock.stop("t")
        clock.stop("nothing")
        clock.advance(3)
        with pytest.raises(ValueError, match="timer t is not armed; armed: u"):
            clock.run_out("t")

    def test_a_run_takes_them_in_the_order_of_their_deadlines(self) -> None:
        clock, heard = ManualClock(7 * SECOND), list[tuple[str, int]]()

        def rearm() -> None:
            heard.append(("again", clock.now()))
            clock.arm("again", 2, rearm)

        clock.arm("late", 3, lambda: heard.append(("late", clock.now())))
        clock.arm("again", 2, rearm)
        clock.run(5)
        assert heard == [("again", 9 * SECOND), ("late", 10 * SECOND), ("again", 11 * SECOND)]
        assert clock.now() == 12 * SECOND

    def test_what_is_refused(self) -> None:
        clock = ManualClock()
        clock.arm("t", 1, int)
        with pytest.raises(ValueError, match="timer t is armed already"):
            clock.arm("t", 1, int)
        with pytest.raises(ValueError, match="time does not go back"):
            clock.arm("u", -1, int)
        with pytest.raises(ValueError, match="time does not go back"):
            clock.advance(-1)

    def test_snapshots_and_the_death_of_the_owner(self) -> None:
        clock = ManualClock()
        clock.arm("t", 1, int)
        clock.arm("u", 1, int)
        clock.advance(1)
        clock.run_out("u")
        times = clock.snapshot()
        clock.clear()
        assert clock.pending() == clock.under_way() == ()
        clock.restore(times)
        assert clock.snapshot() == times and [t.name for t in clock.under_way()] == ["u"]


@pytest.fixture
def real() -> Iterator[RealClock]:
    clock = RealClock()
    yield clock
    clock.close()


class TestRealClock:
    def test_timers_come_in_time_and_in_order(self, real: RealClock) -> None:
        heard, done = list[str](), threading.Event()

        def second() -> None:
            heard.append("second")
            done.set()

        begun = time.monotonic()
        real.arm("second", 0.04, second)
        real.arm("first", 0.02, lambda: heard.append("first"))
        assert done.wait(5)
        assert heard == ["first", "second"] and time.monotonic() - begun >= 0.04

    def test_stopped_ones_do_not_come_and_can_be_armed_again(self, real: RealClock) -> None:
        heard, done = list[str](), threading.Event()

        def new() -> None:
            heard.append("new")
            done.set()

        real.arm("t", 0.01, lambda: heard.append("old"))
        real.stop("t")
        real.stop("nothing")
        real.arm("t", 0.03, new)
        with pytest.raises(ValueError, match="armed already"):
            real.arm("t", 1, int)
        assert done.wait(5)
        assert heard == ["new"]

    def test_one_that_fails_does_not_stop_the_others(self, real: RealClock, caplog: pytest.LogCaptureFixture) -> None:
        done = threading.Event()
        real.arm("bad", 0, lambda: 1 // 0)
        real.arm("good", 0.01, done.set)
        assert done.wait(5)
        assert "a timer's callback failed" in caplog.text

    def test_a_callback_may_arm_and_close(self) -> None:
        clock, done = RealClock(), threading.Event()

        def last() -> None:
            clock.close()
            done.set()

        clock.arm("t", 0, lambda: clock.arm("u", 0, last))
        assert done.wait(5)
        with pytest.raises(ValueError, match="the clock is closed"):
            clock.arm("t", 0, int)

    def test_it_knows_the_time_of_day(self, real: RealClock) -> None:
        assert abs(real.now() - time.time_ns()) < 10 * SECOND


def test_a_core_on_the_clock_of_the_machine(real: RealClock) -> None:
    """Its timers come by another thread while requests come by this one."""
    heard: list[Response] = []
    resuming, running = threading.Event(), threading.Event()

    def listen(responses: object) -> None:
        assert isinstance(responses, list)
        heard.extend(responses)
        for it in responses:
            if isinstance(it, ApplicationUpdated) and it.state == "Resuming":
                resuming.set()
            if isinstance(it, ApplicationUpdated) and it.state == "Running":
                running.set()

    clock: Clock = real
    core = Core(clock, listener=listen)
    core.handle(RegisterRM())
    core.handle(CreateNode("n", 100))
    core.handle(AddApplication("gang", placeholders=2, gang_timeout=0.05))
    core.handle(AddAsk("gang", "p0", placeholder=True, task_group="g"))
    core.schedule_all()
    core.handle(AddApplication("x", starting_timeout=False))
    core.handle(AddAsk("x", "r0"))
    core.schedule_all()
    for i in range(20):
        core.handle(AddApplication(f"y{i}", starting_timeout=False))
        core.handle(AddAsk(f"y{i}", f"s{i}"))
        core.schedule_all()
    assert running.wait(5) and resuming.wait(5)
    assert core.application("gang").state is State.RESUMING
    assert health(core.world) == []
    core.crash()
    assert core.world.applications == ()
