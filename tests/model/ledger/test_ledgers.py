"""The ledgers of the systems that come with schedproof are complete, and have their documents' words."""

from __future__ import annotations

import pytest

from schedproof.model.ledger.gaps import gaps, unlike, unnamed
from schedproof.model.ledger.ledger import read
from schedproof.model.registry.discovery import systems
from schedproof.model.registry.system import System
from tests.support.needs import needs_shared
from tests.support.places import SHARED
from tests.support.rows import each_row

SYSTEMS = systems().values()


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_every_statement_and_element_has_its_place(system: System) -> None:
    assert system.ledger is not None
    assert gaps(system, read(system.ledger)) == []


@needs_shared
@each_row("system", SYSTEMS, ids=lambda system: system.name)
def test_the_statements_are_those_of_the_document(system: System) -> None:
    assert system.ledger is not None
    ledger = read(system.ledger)
    text = (SHARED / "documents" / ledger.document).read_text("utf-8")
    assert unlike(ledger, text) == []
    assert unnamed(system, ledger, text) == []
