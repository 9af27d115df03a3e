"""Parses the phrases of a description: one step, row, rule or declaration each.

    rlock PATH   wlock PATH   lock PATH   unlock PATH
    try rlock PATH   try wlock PATH   try lock PATH
    each [outermost] CLASS NAME [in PATH | around PATH]
    some [outermost] CLASS NAME [in PATH | around PATH]
    MODE each CLASS [in PATH]    MODE several CLASS [in PATH]
    if PATH before PATH    if PATH after PATH    if PATH is PATH
    maybe        either        serve        repeat NUMBER
    OPERATION(PATH, ...)
    read PATH.FIELD    write PATH.FIELD
    send CHANNEL [KIND]    receive CHANNEL    close CHANNEL    cancel CONTEXT
    select       of cases: send CHANNEL [KIND], receive CHANNEL, default, timeout
    receive CHANNEL    of branches: a KIND each, closed
    go
    add COUNTER [NUMBER]    subtract COUNTER [NUMBER]    set COUNTER NUMBER
    await COUNTER = NUMBER    if COUNTER = NUMBER    while COUNTER = NUMBER    swap COUNTER NUMBER NUMBER
    done GROUP   wait GROUP   acquire SEMAPHORE [NUMBER]   release SEMAPHORE [NUMBER]
    wait CONDITION   timed wait CONDITION   signal CONDITION   broadcast CONDITION
    once PATH          callback NAME

A PATH is a name, or the object that contains it: ``queue.Partition``. Classes begin with a capital, all other names do
not.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from schedproof.model.lang.errors import Place

from .errors import LocksError
from .language import (
    MOST_COUNTED,
    Access,
    Acquire,
    AcquireMany,
    Await,
    Branch,
    Call,
    Callback,
    Case,
    Close,
    CompareKeys,
    Comparison,
    Count,
    Either,
    Go,
    Kind,
    Loop,
    Mode,
    Once,
    OrderRow,
    Path,
    Receive,
    Release,
    Rule,
    Select,
    Send,
    Serve,
    SeveralRule,
    Signal,
    Step,
    Under,
    Verb,
    Wait,
    Where,
)

NAME = r"[a-z]\w*"
CLASS = r"[A-Z]\w*"
PATH = rf"{NAME}(?:\.{CLASS})*"
MODES = "|".join(Mode)
KINDS = "|".join(sorted(Kind, key=len, reverse=True))
TEST = rf"({NAME}) (=|!=|<=|>=|<|>) (\d{{1,3}})"

PERMITS = rf"acquire ({NAME})(?: (\d+))?"

MOST_REPEATED = 99
"""The largest number of ``repeat``."""

MOST_STEPS = 20_000
"""The most steps that a ``repeat`` stands for."""

STEPS = (
    "write one of: rlock PATH, wlock PATH, lock PATH, try lock PATH, unlock PATH, lock each CLASS in PATH, lock several CLASS in PATH, "
    "each CLASS NAME in PATH, some CLASS NAME in PATH, if PATH before PATH, "
    "maybe, either, serve, repeat NUMBER, OPERATION(PATH, ...), read PATH.FIELD, write PATH.FIELD, send CHANNEL, receive CHANNEL, "
    "select, go, once PATH, callback NAME, or a word for a counter or a condition"
)
BLOCKS = "each|some|maybe|either|serve|try|select|go|if|while|swap|once|repeat"

Body = tuple[Step, ...]


def path(text: str) -> Path:
    """A path from its text, which must have the form of a path."""
    variable, *classes = text.split(".")
    return Path(variable, tuple(classes))


def plain_step(text: str, place: Place) -> Step:
    """A step without steps inside it.

    Raises:
        LocksError: ``text`` is not one.
    """
    normalized = _normal(text)
    if parsed := re.fullmatch(rf"({MODES}) ({PATH})", normalized):
        return Acquire(text=normalized, place=place, mode=Mode(parsed[1]), path=path(parsed[2]), body=None)
    if parsed := re.fullmatch(rf"([rw]?)unlock ({PATH})", normalized):
        mode = {"r": Mode.READ, "w": Mode.WRITE, "": None}[parsed[1]]
        return Release(text=normalized, place=place, path=path(parsed[2]), mode=mode)
    if parsed := re.fullmatch(rf"(read|write) ({PATH})\.({NAME})", normalized):
        return Access(text=normalized, place=place, verb=Verb(parsed[1]), path=path(parsed[2]), field=parsed[3])
    if (message := _message(normalized, place)) is not None:
        return message
    if (counted := _counted(normalized, place)) is not None:
        return counted
    if parsed := re.fullmatch(rf"({NAME})\((?:({PATH}(?:, {PATH})*))?\)", normalized):
        arguments = tuple(path(p) for p in parsed[2].split(", ")) if parsed[2] else ()
        return Call(text=normalized, place=place, operation=parsed[1], arguments=arguments)
    if re.match(rf"({BLOCKS})\b|({MODES}) (each|several) {CLASS}", normalized):
        raise LocksError(
            place, f"{normalized!r} has no steps inside it", "end the line with a colon, and indent its steps below"
        )
    raise LocksError(place, f"{normalized!r} is not a step", STEPS)


def _counted(text: str, place: Place) -> Step | None:
    """A step that closes a channel, calls unknown code, or uses a counter or a condition; None if the text has another form."""
    if parsed := re.fullmatch(rf"(close|cancel) ({NAME})", text):
        return Close(text=text, place=place, channel=parsed[2], cancels=parsed[1] == "cancel")
    if parsed := re.fullmatch(rf"(add|subtract|done|release) ({NAME})(?: (\d+))?", text):
        return Count(text=text, place=place, verb=parsed[1], on=parsed[2], number=_whole(parsed[3] or "1"))
    if parsed := re.fullmatch(rf"set ({NAME}) (\d+)", text):
        return Count(text=text, place=place, verb="set", on=parsed[1], number=_whole(parsed[2]))
    if parsed := re.fullmatch(rf"await {TEST}", text):
        return Await(text=text, place=place, test=Comparison(parsed[1], parsed[2], _whole(parsed[3])))
    if parsed := re.fullmatch(PERMITS, text):
        permits = _permits(parsed, place)
        return Await(text=text, place=place, test=Comparison(parsed[1], ">=", permits), takes=permits)
    if parsed := re.fullmatch(rf"(timed )?wait ({NAME})", text):
        return Wait(text=text, place=place, condition=parsed[2], timed=parsed[1] is not None)
    if parsed := re.fullmatch(rf"callback ({NAME})", text):
        return Callback(text=text, place=place, name=parsed[1])
    if parsed := re.fullmatch(rf"(signal|broadcast) ({NAME})", text):
        return Signal(text=text, place=place, condition=parsed[2], everyone=parsed[1] == "broadcast")
    return None


def _permits(acquire: re.Match[str], place: Place) -> int:
    """How many permits a step acquires.

    Raises:
        LocksError: none.
    """
    if (permits := _whole(acquire[2] or "1")) == 0:
        raise LocksError(
            place, f"{acquire[0]!r} acquires no permit", f"write a number from 1 to {MOST_COUNTED}, or leave it out"
        )
    return permits


def _whole(digits: str) -> int:
    """A number from its digits; of one that is above all limits, the first ten."""
    return int(digits[:10])


def _message(text: str, place: Place) -> Send | Receive | None:
    """A step that sends or receives; None if the text has another form."""
    if parsed := re.fullmatch(rf"receive ({NAME})", text):
        return Receive(text=text, place=place, channel=parsed[1])
    if parsed := re.fullmatch(rf"send ({NAME})(?: ({NAME}))?", text):
        return Send(text=text, place=place, channel=parsed[1], kind=parsed[2] or "")
    return None


def branch(text: str, kind: str, place: Place, body: Body) -> Case:
    """The case of ``receive CHANNEL`` for messages of one kind.

    Raises:
        LocksError: ``text`` does not receive.
    """
    message = _message(normalized := _normal(text), place)
    if not isinstance(message, Receive):
        raise LocksError(place, f"{normalized!r} has branches for kinds of messages", "write receive CHANNEL")
    return Case(text=normalized, place=place, on=replace(message, kind=kind), waits=False, body=body)


def case(text: str, place: Place, body: Callable[[], Body] | None) -> Case:
    """A case of a ``select``; ``body`` reads its steps, None if it has none.

    Raises:
        LocksError: ``text`` is not one.
    """
    normalized = _normal(text)
    steps = body() if body is not None else ()
    if normalized in ("default", "timeout"):
        return Case(text=normalized, place=place, on=None, waits=normalized == "timeout", body=steps)
    if (message := _message(normalized, place)) is not None:
        return Case(text=normalized, place=place, on=message, waits=False, body=steps)
    raise LocksError(
        place,
        f"{normalized!r} is not a case of a select",
        "choose from send CHANNEL, receive CHANNEL, default, timeout",
    )


def block(
    text: str,
    place: Place,
    body: Callable[[], Body],
    alternatives: Callable[[], tuple[Body, ...]],
    cases: Callable[[], tuple[Case, ...]] = tuple,
) -> Step:
    """A step with steps inside it; ``body`` reads them, or ``alternatives`` for ``either``, ``cases`` for ``select``.

    Raises:
        LocksError: ``text`` is not one.
    """
    normalized = _normal(text)
    if match := re.fullmatch(rf"(try )?({MODES}) ({PATH})", normalized):
        return Acquire(
            text=normalized,
            place=place,
            mode=Mode(match[2]),
            path=path(match[3]),
            body=body(),
            tries=match[1] is not None,
        )
    if match := re.fullmatch(rf"(each|some)( outermost)? ({CLASS}) ({NAME})(?: (in|around) ({PATH}))?", normalized):
        return Loop(
            text=normalized,
            place=place,
            every=match[1] == "each",
            outermost=match[2] is not None,
            variable=match[4],
            over=match[3],
            where=Where(match[5] or ""),
            of=path(match[6]) if match[6] else None,
            body=body(),
        )
    if (inner := _counted_block(normalized, place, body)) is not None:
        return inner
    if normalized == "select":
        return Select(text=normalized, place=place, cases=cases())
    if normalized == "maybe":
        return Either(text=normalized, place=place, alternatives=(body(), ()))
    if match := re.fullmatch(r"repeat (\d+)", normalized):
        if not 1 <= (times := _whole(match[1])) <= MOST_REPEATED:
            problem = f"{normalized!r}: steps are repeated 1 to {MOST_REPEATED} times"
            raise LocksError(
                place, problem, f"write repeat 1 to repeat {MOST_REPEATED}; or serve for steps without an end"
            )
        if (all_steps := times * _size(steps := body())) > MOST_STEPS:
            problem = f"{normalized!r} stands for {all_steps} steps, more than {MOST_STEPS}"
            raise LocksError(place, problem, "describe less of it at once")
        return Either(text=normalized, place=place, alternatives=(steps * times,))
    if normalized == "serve":
        return Serve(text=normalized, place=place, body=body())
    if normalized == "either":
        return Either(text=normalized, place=place, alternatives=alternatives())
    try:
        plain_step(normalized, place)
    except LocksError:
        raise LocksError(place, f"{normalized!r} is not a step with steps inside it", STEPS) from None
    raise LocksError(
        place, f"{normalized!r} has no steps inside it", "drop the colon at its end, and what is indented below"
    )


def _counted_block(text: str, place: Place, body: Callable[[], Body]) -> Step | None:
    """A step with steps inside it that uses a counter or keys, starts a thread, or runs once; else None."""
    if parsed := re.fullmatch(rf"(if|while) {TEST}", text):
        test = Comparison(parsed[2], parsed[3], _whole(parsed[4]))
        return Branch(text=text, place=place, test=test, repeats=parsed[1] == "while", body=body())
    if parsed := re.fullmatch(rf"if ({PATH}) (before|after|is) ({PATH})", text):
        where = Where.ANYWHERE if parsed[2] == "is" else Where(parsed[2])
        return CompareKeys(
            text=text, place=place, first=path(parsed[1]), where=where, second=path(parsed[3]), body=body()
        )
    if parsed := re.fullmatch(rf"({MODES}) (each|several) ({CLASS})(?: in ({PATH}))?", text):
        of = path(parsed[4]) if parsed[4] else None
        return AcquireMany(
            text=text,
            place=place,
            mode=Mode(parsed[1]),
            every=parsed[2] == "each",
            over=parsed[3],
            of=of,
            body=body(),
        )
    if parsed := re.fullmatch(rf"swap ({NAME}) (\d+) (\d+)", text):
        test = Comparison(parsed[1], "=", _whole(parsed[2]))
        return Branch(text=text, place=place, test=test, repeats=False, body=body(), to=_whole(parsed[3]))
    if parsed := re.fullmatch(PERMITS, text):
        permits = _permits(parsed, place)
        return Await(text=text, place=place, test=Comparison(parsed[1], ">=", permits), takes=permits, body=body())
    if parsed := re.fullmatch(rf"once ({PATH})", text):
        return Once(text=text, place=place, path=path(parsed[1]), body=body())
    return Go(text=text, place=place, body=body()) if text == "go" else None


def _size(part: object) -> int:
    """The number of steps in steps, those inside them included."""
    if isinstance(part, Step):
        return 1 + sum(_size(each) for each in vars(part).values())
    return sum(_size(each) for each in part) if isinstance(part, tuple) else 0


def order_rows(text: str, line: int | None, place: Place) -> list[OrderRow]:
    """The rows of ``Holding > Acquired, Acquired in it``, one for each acquired class.

    Raises:
        LocksError: ``text`` has another form.
    """
    normalized = _normal(text)
    match = re.fullmatch(rf"({CLASS}) > ({CLASS}(?:, {CLASS})*)(?: (in|around|after|before) it)?", normalized)
    if match is None:
        raise LocksError(
            place,
            f"{normalized!r} is not a row of the order",
            "write, for example, Partition > Queue in it, Queue > Queue around it, Shard > Shard after it, or Application > Node",
        )
    return [OrderRow(match[1], name, Where(match[3] or ""), line, place) for name in match[2].split(", ")]


def rule(name: str, text: str, line: int | None, sentence: str, place: Place) -> Rule | SeveralRule:
    """The rule ``write CLASS.FIELD, FIELD needs MODE [CLASS]``, or ``write several of CLASS, CLASS needs MODE CLASS``.

    Raises:
        LocksError: ``text`` has neither form.
    """
    normalized = _normal(text)
    if match := re.fullmatch(
        rf"(read|write) ({CLASS})\.({NAME}(?:, {NAME})*) needs ({MODES})(?: ({CLASS}))?", normalized
    ):
        fields = tuple(match[3].split(", "))
        lock = match[5] or match[2]
        return Rule(name, Verb(match[1]), match[2], fields, Mode(match[4]), lock, line, sentence, place)
    if match := re.fullmatch(rf"write several of ({CLASS}(?:, {CLASS})*) needs ({MODES}) ({CLASS})", normalized):
        return SeveralRule(name, tuple(match[1].split(", ")), Mode(match[2]), match[3], line, sentence, place)
    raise LocksError(
        place,
        f"{normalized!r} is not a rule",
        "write, for example, write Queue.usage needs wlock, or write several of Queue, Node needs wlock Partition",
    )


def under(text: str, line: int | None, place: Place) -> Under:
    """The lock that callers must hold, from ``MODE PATH``.

    Raises:
        LocksError: ``text`` has another form.
    """
    if match := re.fullmatch(rf"({MODES}) ({PATH})", _normal(text)):
        return Under(Mode(match[1]), path(match[2]), line, place)
    raise LocksError(place, f"{text!r} is not a lock that callers hold", "write, for example, wlock queue.Partition")


def signature(text: str, place: Place) -> tuple[str, dict[str, str], dict[str, tuple[Where, Path]]]:
    """The parts of ``NAME(CLASS NAME [in PATH], ...)``: name, classes of the parameters, positions of some.

    Raises:
        LocksError: ``text`` has another form.
    """
    parameter = rf"{CLASS} {NAME}(?: (?:in|after|before) {PATH})?"
    match = re.fullmatch(rf"({NAME})(?:\((?:({parameter}(?:, {parameter})*))?\))?", _normal(text))
    if match is None:
        raise LocksError(
            place, f"{text!r} is not the name of an operation", "write, for example, delete_queue(Queue queue)"
        )
    parameters: dict[str, str] = {}
    positions = {}
    for each in match[2].split(", ") if match[2] else []:
        of, name, *where = each.split(" ")
        if name in parameters:
            raise LocksError(place, f"{text!r} has two parameters of one name", "give each its own")
        parameters[name] = of
        if where:
            positions[name] = Where(where[0]), path(where[1])
    return match[1], parameters, positions


def declared(text: str, place: Place) -> tuple[str, tuple[str, ...]]:
    """The parts of ``CLASS [in NAME, NAME]``: an object's class, and the objects it is directly in.

    Raises:
        LocksError: ``text`` has another form.
    """
    match = re.fullmatch(rf"({CLASS}|{KINDS})(?: in ({NAME}(?:, {NAME})*))?", _normal(text))
    if match is None:
        raise LocksError(
            place,
            f"{text!r} is not an object",
            f"write its class, for example Queue in root; or one of {', '.join(Kind)}",
        )
    return match[1], tuple(match[2].split(", ")) if match[2] else ()


def _normal(text: str) -> str:
    """The text with single blanks."""
    return re.sub(r"\s*,\s*", ", ", " ".join(text.split()))
