"""YuniKorn's Application of v0.12.2 by hand, call by call: what walks are made of, and checked by.

It shares no code with the package. What fires which event is copied by hand from what the real code does; a call
does at once what it does, and there is one application, so it is a small program and no search.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from tests.systems.yunikorn.traces.brute_force import CORE, CORE_EVENTS, _matrix

TABLE = _matrix(CORE)
TIMED = ("Starting", "Completing", "Completed", "Failed")
RUN, _, COMPLETE, FAIL, EXPIRE, RESUME = CORE_EVENTS


class Application:
    """An application that has been added to the scheduler."""

    def __init__(self, style: str, total: int) -> None:
        self.style, self.total = style, total
        self.state = "New"
        self.asks: dict[str, bool] = {}  # key -> it is pending; those that the application lists
        self.placeholder: dict[str, bool] = {}  # key -> it is one for a placeholder; all that ever were
        self.allocations: dict[str, str] = {}  # allocation -> its ask's key
        self.state_timer = self.placeholder_timer = False
        self.updates: list[str] = []
        self.stray: set[str] = set()  # asks that came when it had ended

    def pending(self) -> int:
        return sum(self.asks.values())

    def held(self, placeholder: bool) -> int:
        return sum(self.placeholder[key] == placeholder for key in self.allocations.values())

    def fire(self, event: str, reason: str = "") -> None:
        """An event without a row is an error that nobody sees; one that stays in its state sends no update."""
        after = TABLE.get((self.state, event), self.state)
        if after == self.state:
            return
        self.state = after
        self.state_timer = after in TIMED
        if after == "Completed":
            self.placeholder_timer = False
        self.updates.append(f"{after}:{reason or event}")

    def add_ask(self, key: str, placeholder: bool) -> None:
        self.asks[key], self.placeholder[key] = True, placeholder
        if self.state in ENDED:
            self.stray.add(key)
        if self.state in ("New", "Completing"):
            self.fire(RUN)

    def allocate(self, key: str, allocation: str) -> None:
        first = self.held(True) == 0
        self.asks[key] = False
        self.allocations[allocation] = key
        if not self.placeholder[key]:
            self.fire(RUN)
            return
        if first and self.state == "Accepted":
            self.placeholder_timer = True
        if self.held(True) == self.total:
            self.fire(RUN)

    def remove_allocation(self, allocation: str) -> None:
        if allocation not in self.allocations:
            return
        placeholder = self.placeholder[self.allocations.pop(allocation)]
        if placeholder and not self.held(True):
            self.placeholder_timer = False
            if self.state == "Resuming":
                self.fire(RUN)
            elif self.state == "Failing":
                self.fire(FAIL)
            elif self.state == "Completing" and not self.state_timer:
                self.fire(COMPLETE)
        elif not placeholder and not self.held(False) and not self.pending():
            self.fire(COMPLETE)

    def remove_ask(self, key: str, seen: str) -> None:
        """Whether the removal of what is not there looks for what is left is not known: ``seen`` decides."""
        if key not in self.asks and (seen != "Completing" or not self.asks):
            return
        self.asks.pop(key, None)
        if not self.pending() and not self.held(False) and self.state not in ("Failing", "Completing"):
            self.fire(COMPLETE)

    def state_timeout(self) -> None:
        if self.state == "Completing" and self.held(True):
            self.state_timer = False
        else:
            self.fire({"Starting": RUN, "Completing": COMPLETE, "Completed": EXPIRE, "Failed": EXPIRE}[self.state])

    def placeholder_timeout(self) -> None:
        if not (self.state in ("Running", "Starting", "Completing") and self.held(True)):
            self.fire(FAIL if self.style == "Hard" else RESUME, "ResourceReservationTimeout")
            self.asks.clear()
        self.placeholder_timer = False

    def call(self, step: Mapping[str, Any]) -> dict[str, Any]:
        """What is to be seen after a call."""
        self.updates = []
        key = step.get("key", "")
        match step["op"]:
            case "addAsk":
                self.add_ask(key, step.get("placeholder", False))
            case "addPlaceholderAsk":
                self.add_ask(key, True)
            case "allocate":
                self.allocate(*key.split("/"))
            case "removeAllocation":
                self.remove_allocation(key)
            case "removeAsk":
                self.remove_ask(key, step.get("state", ""))
            case "stateTimeout":
                self.state_timeout()
            case "placeholderTimeout":
                self.placeholder_timeout()
        return {
            "state": self.state,
            "pending": self.pending(),
            "allocated": self.held(False),
            "allocatedPlaceholder": self.held(True),
            "asks": len(self.asks),
            "allocations": len(self.allocations),
            "stateTimer": self.state_timer,
            "placeholderTimer": self.placeholder_timer,
            "stateUpdates": self.updates or None,
        }

    def possible(self, step: Mapping[str, Any]) -> bool:
        """The call can be made at all: no timer runs out that is not armed, nothing is allocated without an ask."""
        match step["op"]:
            case "allocate":
                return self.asks.get(step["key"].split("/")[0], False)
            case "stateTimeout":
                return self.state_timer
            case "placeholderTimeout":
                return self.placeholder_timer
            case _:
                return True

    def broken(self) -> set[str]:
        """The properties about states that the state breaks, by the names of the model's properties.

        What is asked of an application that has ended, which the scheduler would never do, counts for none.
        """
        held = sum(key not in self.stray for key in self.allocations.values())
        left = held + sum(waits for key, waits in self.asks.items() if key not in self.stray)
        return {
            name
            for name, broken in {
                "new-has-no-asks": self.state == "New" and left,
                "accepted-has-no-allocation": self.state == "Accepted" and held,
                "starting-has-one-allocation": self.state == "Starting" and held != 1,
                "completing-has-nothing": self.state == "Completing" and left,
                "completed-has-nothing": self.state in ("Completed", "Expired") and left,
                "failing-has-something-left": self.state == "Failing" and not left,
                "failed-has-nothing": self.state == "Failed" and left,
            }.items()
            if broken
        }


ENDED = ("Completed", "Expired", "Failed", "Rejected")


def validate_walk(walk: Mapping[str, Any]) -> int | None:
    """The first step that is not what the calls do; None if all are."""
    application = Application(walk["gangStyle"], walk["placeholderAsk"])
    for number, step in enumerate(walk["steps"], start=1):
        if not application.possible(step):
            return number
        seen = application.call(step)
        if any(seen[name] != step[name] for name in seen if name in step):
            return number
    return None


def broken_properties(walk: Mapping[str, Any]) -> list[set[str]]:
    """After each step, the properties about states that it newly breaks."""
    application, newly_broken = Application(walk["gangStyle"], walk["placeholderAsk"]), []
    before = application.broken()
    for step in walk["steps"]:
        application.call(step)
        now = application.broken()
        newly_broken.append(now - before)
        before = now
    return newly_broken


def random_walk(seed: int, length: int = 25, *, after_the_end: bool = False) -> dict[str, Any]:
    """A walk of random calls; time-outs are as likely as anything else, so that it gets far."""
    rng = random.Random(f"walk {seed}")
    total = rng.choice([0, 1, 2, 2, 3])
    application, steps = Application(rng.choice(["Soft", "Hard"]), total), []
    for number in range(length):
        if application.state in ENDED and not after_the_end and not application.state_timer:
            break
        pending = [key for key, waits in application.asks.items() if waits]
        calls: list[dict[str, Any]] = [{"op": "addAsk", "key": f"ask-{number}"}] * (1 if pending else 3)
        if total:
            calls += [{"op": "addAsk", "key": f"ask-{number}", "placeholder": True}] * 2
        for key in pending:
            marked = {"placeholder": True} if application.placeholder[key] else {}
            calls += [{"op": "allocate", "key": f"{key}/u-{number}", **marked}] * 2
        calls += [{"op": "removeAllocation", "key": u} for u in application.allocations]
        calls += [{"op": "removeAsk", "key": key} for key in application.placeholder if rng.random() < 0.4]
        calls += [{"op": "stateTimeout"}] * (3 * application.state_timer)
        calls += [{"op": "placeholderTimeout"}] * (3 * application.placeholder_timer)
        if application.state in ENDED and not after_the_end:
            calls = [{"op": "stateTimeout"}]
        call = rng.choice(calls)
        seen_state = {"state": "Completing"} if call["op"] == "removeAsk" and rng.random() < 0.5 else {}
        steps.append({**call, **application.call({**call, **seen_state})})
    return {"seed": seed, "gangStyle": application.style, "placeholderAsk": total, "steps": steps}
