"""The kinds of errors, in the order of the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from tests.docs.errors.case import Case

from . import commands, locks, manifests, mappings, models, programs, service, sketches, traces

KINDS: Mapping[str, Callable[[], Iterator[Case]]] = {
    "Models": models.cases,
    "Python": programs.cases,
    "Manifests": manifests.cases,
    "Logs": traces.cases,
    "Mappings of logs": mappings.cases,
    "Lock descriptions": locks.cases,
    "Command line": commands.cases,
    "Diagrams and tables that init reads": sketches.cases,
    "Service": service.cases,
}
