"""The process of one session: it answers requests within its limits until the connection closes."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NoReturn

from schedproof.proofs.traces import LogVerdict, TraceError
from schedproof.proofs.traces.engine.watch import Watch

from .answers import Answer, Kind, problem
from .frames import LENGTH, content, message
from .limits import Limits
from .mapped import MappedLines, Mappings
from .opening import BadSession, opened
from .strict import NotJson, parse
from .view import View

OUT_OF_MEMORY = 71
"""The exit code when the process may not have more memory."""

FAULT = 70
"""The exit code after an internal error."""


class Checking:
    """One session: its check, with the records that it took."""

    def __init__(self, limits: Limits, mappings: Mappings) -> None:
        self.limits, self.mappings = limits, mappings
        self.watch: Watch | None = None
        self.view: View | None = None
        self.mapped: MappedLines | None = None
        """Reads lines of a log, if the session has a mapping."""

    def answer(self, head: Mapping[str, Any], body: bytes) -> Answer:
        """The answer to one request."""
        match head["ask"]:
            case "create":
                return self.create(body)
            case "records":
                return self.take(body, lines=head["lines"], after=head["after"])
            case "report":
                return Answer(Kind.DONE, self.report())
            case "events":
                return self.events(head["most"])
            case "view":
                return self.see()
            case other:
                raise AssertionError(f"the server asks for {other!r}")

    @property
    def check(self) -> Watch:
        """The check. It exists as soon as the session is created; no client knows the session before."""
        assert self.watch is not None
        return self.watch

    def create(self, body: bytes) -> Answer:
        """Creates the session that ``body`` asks for."""
        try:
            self.watch, self.mapped = opened(parse(body), self.mappings)
        except NotJson as error:
            return problem(Kind.MALFORMED, str(error))
        except BadSession as error:
            return problem(Kind.BAD_SESSION, str(error))
        return Answer(Kind.DONE, self.standing())

    @property
    def count(self) -> int:
        """How much the session has taken: records, or lines if it has a mapping."""
        return self.check.records if self.mapped is None else self.mapped.taken

    def report(self) -> dict[str, Any]:
        """The whole report; of a session with a mapping also how many lines it took, and which made no record."""
        report = self.check.report()
        if self.mapped is None:
            return report.as_json()
        note = "; ".join(part for part in (report.note, self.mapped.note) if part)
        return {**replace(report, note=note).as_json(), "lines": self.mapped.taken}

    def standing(self) -> dict[str, Any]:
        """The verdict so far, in short."""
        report = self.report()
        kept: dict[str, Any] = {
            name: report[name]
            for name in ("system", "variant", "verdict", "records", "lines", "note")
            if name in report
        }
        if "first_departure" in report:
            kept["first_departure"] = {name: report["first_departure"][name] for name in ("record", "reason")}
        return kept

    def take(self, body: bytes, *, lines: bool, after: int | None) -> Answer:
        """Takes the records of ``body``, a list or one a line.

        It stops at an invalid one, or when the verdict is final.

        Args:
            body: the records.
            lines: whether they are one a line.
            after: how many records (with a mapping: lines) the client expects to be taken before; None: any number.
        """
        before, begun = self.count, time.process_time()
        if after is not None and after != before:
            what = "records" if self.mapped is None else "lines"
            return problem(Kind.CONFLICT, f"the session has taken {before} {what}, not {after}", **{what: before})
        try:
            for given in _records(body, lines=lines):
                if self.check.validation.verdict is not LogVerdict.CONFORMS:
                    break  # the verdict is final
                if time.process_time() - begun > self.limits.seconds / 2 and self.count > before:
                    return self._rest(before)
                if self.mapped is not None:
                    self._take_line(self.mapped, given)
                    continue
                record = parse(given) if isinstance(given, bytes) else given
                if not isinstance(record, dict):
                    raise NotJson("a record is not an object; send {...}")
                self.check.take(record)
        except _NoList as error:
            return problem(Kind.MALFORMED, str(error))
        except (NotJson, TraceError) as error:
            number = self.count + 1
            says = str(error) if isinstance(error, TraceError) else f"record {number}: {error}"
            return problem(Kind.BAD_RECORD, says, record=number, taken=number - 1 - before, **self.standing())
        return Answer(Kind.DONE, {"taken": self.count - before, **self.standing()})

    def _take_line(self, mapped: MappedLines, given: object) -> None:
        """Takes one line of the log, with all its records or none: a wrong line changes nothing.

        Raises:
            TraceError: the mapping cannot read the line, or the model does not have what a record of it names.
        """
        self.check.take_all(mapped.records(given))
        mapped.taken += 1

    def _rest(self, before: int) -> Answer:
        """Half of the time is over: asks the client to send fewer records at a time, before the session is lost."""
        taken, count = self.count - before, self.count
        what = "records" if self.mapped is None else "lines"
        says = (
            f"checking {taken} {what} took long; send the rest in another request, after={count}, and fewer at a time"
        )
        return problem(Kind.TOO_BIG, says, taken=taken, **self.standing())

    def events(self, most: int) -> Answer:
        """The events that may happen next."""
        allowed = self.check.allowed(most)
        return Answer(
            Kind.DONE, {"events": list(allowed.events), "complete": allowed.complete, "records": self.check.records}
        )

    def see(self) -> Answer:
        """What a viewer sees."""
        if self.view is None:
            self.view = View(self.check)
        return Answer(Kind.DONE, self.view.content())


class _NoList(ValueError):
    """The body as a whole is not a list of records."""


def _records(body: bytes, *, lines: bool) -> Iterator[Any]:
    """Yields the records of a list, or the lines that are not blank, not yet parsed."""
    if lines:
        yield from (line for line in body.split(b"\n") if line.strip())
        return
    try:
        value = parse(body)
    except NotJson as error:
        raise _NoList(str(error)) from None
    if not isinstance(value, list):
        raise _NoList("the records are not a list; send [...], or one a line as application/x-ndjson")
    yield from value


def live(connection: socket.socket, limits: Limits, mappings: Mappings) -> NoReturn:
    """Answers requests until the connection closes. It always ends this process."""
    code = FAULT
    try:
        _confine(limits)
        code = _serve(connection, Checking(limits, mappings), limits)
    except MemoryError:
        code = OUT_OF_MEMORY
    except (OSError, EOFError):
        code = 0  # the server closed the connection
    finally:
        os._exit(code)


def _serve(connection: socket.socket, checking: Checking, limits: Limits) -> int:
    while True:
        head, body = content(_exactly(connection, LENGTH.unpack(_exactly(connection, LENGTH.size))[0]))
        signal.setitimer(signal.ITIMER_PROF, limits.seconds)  # the signal ends the process at any point
        try:
            reply = checking.answer(head, body)
            data = message({"kind": reply.kind, "body": dict(reply.body)})
        except Exception as error:
            if isinstance(error, MemoryError):
                raise
            says = f"an error of the service itself: {type(error).__name__}: {str(error)[:200]}"
            connection.sendall(message({"kind": Kind.FAULT, "body": {"message": " ".join(says.split())}}))
            return FAULT
        signal.setitimer(signal.ITIMER_PROF, 0)
        connection.sendall(data)


def _exactly(connection: socket.socket, size: int) -> bytes:
    received = bytearray()
    while len(received) < size:
        part = connection.recv(min(size - len(received), 1 << 20))
        if not part:
            raise EOFError
        received += part
    return bytes(received)


def _confine(limits: Limits) -> None:
    """Limits memory, forbids writing files, and lowers the priority below the server's."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    ceiling = _address_space() + limits.memory
    for what, most in ((resource.RLIMIT_AS, ceiling), (resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, 0)):
        with contextlib.suppress(ValueError, OSError):  # a lower limit is already set
            resource.setrlimit(what, (most, most))
    with contextlib.suppress(OSError):
        os.nice(5)
    if sys.platform == "linux":
        with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:
            score.write("500")  # if the machine runs short of memory, the kernel ends a session before the server


def _address_space() -> int:
    """The bytes of address space that this process already has; all sessions share most of it."""
    try:
        with open("/proc/self/statm") as sizes:
            return int(sizes.read().split()[0]) * resource.getpagesize()
    except OSError:
        return 1 << 30
