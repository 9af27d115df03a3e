"""The names that an error suggests: those that a reader may have meant, and no others."""

from __future__ import annotations

from schedproof.model.errors import did_you_mean
from tests.support.rows import each_row


@each_row(
    ("name", "known", "suggested"),
    [
        ("Waitng", ["Idle", "Waiting", "Working"], ["Waiting"]),
        ("alocate", ["allocate", "vacate", "delete_allocated"], ["allocate"]),
        ("free", ["tree", "Free"], ["Free"]),
        ("IDLE", ["Idle", "Held"], ["Idle"]),
        ("e12", ["e10", "e13", "f"], ["e13", "e10"]),
        ("aks", ["ask", "die"], ["ask"]),
        ("e12", ["e10", "e13", "e14"], []),
        ("revoke", ["free", "take"], []),
        ("", ["a"], []),
        (7, ["a"], []),
    ],
)
def test_only_similar_names_are_suggested(name: object, known: list[str], suggested: list[str]) -> None:
    says = did_you_mean(name, known)
    assert says == (f"did you mean {' or '.join(suggested)}? " if suggested else "")
