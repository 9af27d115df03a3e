"""A record that takes for ever. Sessions' processes are copies of this one, so what is put in here is there as well."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from schedproof.proofs.traces.engine.watch import Watch
from schedproof.proofs.traces.files.lines import Line
from schedproof.proofs.traces.reports.report import Validation

SPIN = {"action": "crash", "parameters": {"for": "ever"}}


@contextmanager
def spinning() -> Iterator[None]:
    """``SPIN`` is checked for ever by sessions of servers that begin here."""
    take = Watch.take

    def patient(self: Watch, record: Mapping[str, Any], place: int | Line = 0) -> Validation:
        while record == SPIN:
            pass
        return take(self, record, place)

    with patch.object(Watch, "take", patient):
        yield
