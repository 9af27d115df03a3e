"""Names that a document uses and never defines."""

from __future__ import annotations

import msgspec

from schedproof.model.ledger.ledger import Entry, Ledger, read
from schedproof.model.ledger.words import undefined
from schedproof.model.registry.discovery import systems
from tests.model.ledger.lamps import LEDGER, system
from tests.support.rows import each_row


def stating(*entries: Entry) -> Ledger:
    return msgspec.structs.replace(LEDGER, statements=list(entries))


@each_row(
    ("text", "names"),
    [
        ("A lamp is pushed.", []),
        ("The `Lamp` is ``On``, then `push` is heard: Lamp, On, ON, lamps.", []),
        ("The `dimmer` dims.", ["dimmer"]),
        ("See :ref:`the dimmers <dimmers>`.", ["the dimmers"]),
        (
            "A DimmerEvent goes to the dimmerProxy of the DIMMER and of lamp_state.",
            ["DIMMER", "DimmerEvent", "dimmerProxy"],
        ),
        ("The Lamps document uses capitals: A, I, Then.", []),
    ],
)
def test_a_name_is_a_literal_camel_case_or_capitals(text: str, names: list[str]) -> None:
    assert undefined(system(), stating(Entry(9, text))) == {name: [9] for name in names}


def test_a_defined_word_is_known_in_every_line() -> None:
    uses = [Entry(9, "The `dimmer` dims."), Entry(4, "A DIMMER.", background="no state"), Entry(9, "`dimmer` again")]
    assert undefined(system(), stating(*uses)) == {"DIMMER": [4], "dimmer": [9]}
    defined = Entry(7, "A dimmer is a lamp that is half on.", defines="dimmer")
    assert undefined(system(), stating(*uses, defined)) == {}


def test_a_reference_to_a_heading_is_defined_by_it() -> None:
    """The anchor above the heading has its words; a literal of these words is no reference."""
    uses = [Entry(3, "See :ref:`dimmed-lights` below.")]
    heading = Entry(9, "Dimmed lights")
    assert undefined(system(), stating(*uses)) == {"dimmed-lights": [3]}
    assert undefined(system(), stating(*uses, heading)) == {}
    assert undefined(system(), stating(Entry(3, "See `dimmed-lights`."), heading)) == {"dimmed-lights": [3]}


def test_what_the_documents_of_our_systems_leave_undefined() -> None:
    """Read in the documents: Jobmon's figures name boxes that its text calls something else, and call a function of no agent."""
    some = {name: undefined(each, read(each.ledger)) for name, each in systems().items() if each.ledger}
    assert {"DISTRIBUTER", "EPS", "_adjust_resources_and_queue()"} <= some["jobmon"].keys()
    assert {"RMProxy", "ReconcilePlugin", "PartitionManager"} <= some["yunikorn-merge"].keys()
    assert not {"PG", "Pending", "e0"} & some["hived"].keys()
