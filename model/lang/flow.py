"""Event flows between parties, as a document tables them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Flow:
    """A row of a document's table: who sends an event to whom, and whether it is proposed to remove it.

    Args:
        senders: who sends it; two where the table says "Cache/Scheduler".
        kinds: the messages of the model that stand for it.
        remark: what the table adds to the event's name.
    """

    line: int
    event: str
    senders: tuple[str, ...]
    receiver: str
    remove: bool
    kinds: tuple[str, ...]
    remark: str = ""

    @property
    def row(self) -> tuple[str, str, str]:
        """The cells of the row, as the document writes them."""
        event = f"{self.event} ({self.remark})" if self.remark else self.event
        return event, f"{'/'.join(self.senders)} -> {self.receiver}", "Remove" if self.remove else ""
