"""Wrong arguments of the libraries of timers and of orders, each with what the message says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from schedproof.model.lang import Sort, variable
from schedproof.model.lang.orders import around, below, ordered, ring, total_order
from schedproof.model.lang.timers import TimerKind, Timers

Request, Timer, Call = Sort("Request", "r"), Sort("Timer", "t"), Sort("Call", "c")
r = variable(Request, "r")
RETRY = TimerKind("retry", of="request")


def timers(**changes: Any) -> Timers:
    """Timers of requests, with some arguments changed."""
    return Timers(**{"timers": Timer, "calls": Call, "kinds": [RETRY], "owners": {"request": Request}, **changes})


ANY, ORDER, TICKS = timers(), timers(time="order"), timers(time="ticks")


def configured(**changes: Any) -> object:
    """A configuration, with some arguments changed."""
    return ORDER.configuration(**{"owners": {"request": 1}, "lasts": {"retry": (1, 2)}, **changes})


TIMERS: Mapping[str, tuple[Callable[[], object], str]] = {
    'Timers(..., time="tick")': (lambda: timers(time="tick"), "time is 'tick'; did you mean ticks?"),
    'Timers("Timer", ...)': (lambda: timers(timers="Timer"), "timers is 'Timer'; write a sort"),
    "Timers(Timer, Timer, ...)": (lambda: timers(calls=Timer), "calls is the sort of the timers"),
    "Timers(..., kinds=RETRY)": (lambda: timers(kinds=RETRY), "kinds is of type TimerKind"),
    'Timers(..., kinds=["retry"])': (lambda: timers(kinds=["retry"]), "kinds has 'retry'"),
    'TimerKind("", of="request")': (lambda: timers(kinds=[TimerKind("", of="request")]), "the name of a kind is ''"),
    'TimerKind("retry", of="job")': (
        lambda: timers(kinds=[TimerKind("retry", of="job")]),
        "kind retry belongs to 'job', which is not among the owners; choose from request",
    ),
    'TimerKind("retry", of=Request)': (
        lambda: timers(kinds=[TimerKind("retry", of=Request)]),  # type: ignore[arg-type]
        "the owner of kind retry is of type Sort; write the name of its attribute",
    ),
    "Timers(..., kinds=[RETRY, RETRY])": (lambda: timers(kinds=[RETRY, RETRY]), "two kinds have the name 'retry'"),
    "Timers(..., owners=[Request])": (lambda: timers(owners=[Request]), "owners is of type list"),
    "Timers(..., owners={})": (lambda: timers(owners={}), "owners is empty"),
    'Timers(..., owners={"request": "Request"})': (
        lambda: timers(owners={"request": "Request"}),
        "owners has 'Request' for 'request'",
    ),
    'Timers(Sort("Timer", "t", disposable=True), ...)': (
        lambda: timers(timers=Sort("Timer", "t", disposable=True)),
        "timers is the disposable sort Timer; leave disposable out",
    ),
    'Timers(..., owners={"request": Sort("Request", "r", disposable=True)})': (
        lambda: timers(owners={"request": Sort("Request", "r", disposable=True)}),
        "owners has the disposable sort Request, and a timer has one owner for ever; name a sort that stays",
    ),
    'Timers(..., owners={"late": Request})': (
        lambda: timers(owners={"late": Request}),
        "owners has the attribute 'late', a name that has another meaning",
    ),
    'Timers(..., owners={"request": Request, "server": Server})': (
        lambda: timers(owners={"request": Request, "server": Sort("Server", "s")}),
        "no kind belongs to the owner 'server'",
    ),
    'TIMERS.running("retries", ...)': (lambda: ORDER.running("retries", "sends"), "unknown kind 'retries'"),
    'TIMERS.function(..., "retries", ...)': (
        lambda: ORDER.function("it sends", "retries", [], r.fires("send")),
        "unknown kind 'retries'",
    ),
    'TIMERS.arming(..., "retry", Request)': (
        lambda: ORDER.arming("sending arms", r.fires("send"), [], "retry", Request),  # type: ignore[arg-type]
        "the owner of a retry timer is of type Sort; write a variable for the request",
    ),
    "TIMERS.owner()": (lambda: ORDER.owner(), "owner: kind is missing"),  # type: ignore[call-arg]
    'TIMERS.owner("retry", r)': (lambda: ORDER.owner("retry", r), "owner: 2 arguments have no name"),  # type: ignore[call-arg]
    'TIMERS.tick(), with time="order"': (lambda: ORDER.tick(), "time is 'order', which has no ticks"),
    'TIMERS.rules(), with time="ticks"': (lambda: TICKS.rules(), "its rules need the action that ticks"),
    'TIMERS.rules(tick), with time="order"': (lambda: ORDER.rules(TICKS.tick()), "time is 'order', which has no ticks"),
    'TIMERS.shorter("retry", than="retry")': (
        lambda: ORDER.shorter("retry", than="retry"),
        "no retry timer lasts for less than itself",
    ),
    'TIMERS.punctual("retry"), with time="any"': (lambda: ANY.punctual("retry"), "punctual is about durations"),
    "TIMERS.configuration(2)": (lambda: configured(owners=2), "the owners of a configuration are 2"),
    'TIMERS.configuration({"requests": 2})': (
        lambda: configured(owners={"requests": 2}),
        "unknown owner 'requests'; did you mean request?",
    ),
    "TIMERS.configuration({})": (lambda: configured(owners={}), "the number of owners 'request' is missing"),
    "TIMERS.configuration(..., lasts={})": (
        lambda: configured(lasts={}),
        "lasts does not say how long a retry timer lasts",
    ),
    "TIMERS.configuration(...), without lasts": (lambda: configured(lasts=None), "lasts is missing"),
    'TIMERS.configuration(..., lasts={"retry": (1, 2), "retries": (1, 2)})': (
        lambda: configured(lasts={"retry": (1, 2), "retries": (1, 2)}),
        "lasts has the unknown kind 'retries'; did you mean retry?",
    ),
    'TIMERS.configuration(..., lasts={"retry": 5})': (
        lambda: configured(lasts={"retry": 5}),
        "retry timer lasts for 5",
    ),
    'TIMERS.configuration(..., lasts={"retry": (0.5, 2)})': (
        lambda: configured(lasts={"retry": (0.5, 2)}),
        r"retry timer lasts for \(0.5, 2\)",
    ),
    'TIMERS.configuration(..., lasts={"retry": (2, 1)})': (
        lambda: configured(lasts={"retry": (2, 1)}),
        "a retry timer lasts for at least 2 and at most 1",
    ),
    'TIMERS.configuration(..., late="retry")': (lambda: configured(late="retry"), "late is 'retry'; write a list"),
    'TIMERS.configuration(..., late=["retries"])': (
        lambda: configured(late=["retries"]),
        "late has the unknown kind 'retries'; did you mean retry?",
    ),
    'TIMERS.configuration(..., unpunctual=["retries"])': (
        lambda: configured(unpunctual=["retries"]),
        "unpunctual has the unknown kind 'retries'; did you mean retry?",
    ),
}

ORDERS: Mapping[str, tuple[Callable[[], object], str]] = {
    'total_order("Node", "lower")': (
        lambda: total_order("Node", "lower"),  # type: ignore[arg-type]
        "total_order: sort is 'Node'; write the sort itself",
    ),
    "ring(Node)": (lambda: ring(Sort("Node", "n")), "ring: attribute is missing"),  # type: ignore[call-arg]
    "ring(Node, 3)": (lambda: ring(Sort("Node", "n"), 3), "ring: attribute is 3; write its name"),  # type: ignore[arg-type]
    'ordered("3")': (lambda: ordered("3"), "ordered: size is '3'; write the number"),  # type: ignore[arg-type]
    "around(-1)": (lambda: around(-1), "around: size is -1; write the number"),
    "below(3)": (lambda: below(3), "below: parents is 3; write a list of numbers"),  # type: ignore[arg-type]
    "below([None, -1])": (lambda: below([None, -1]), "below: -1 is not the number of one of 2 objects"),
    "below([None, 2])": (lambda: below([None, 2]), "below: 2 is not the number of one of 2 objects"),
}
