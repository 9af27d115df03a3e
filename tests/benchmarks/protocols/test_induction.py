"""Each protocol is well-formed for any number of objects, and nearly each property needs a lemma."""

from __future__ import annotations

import pytest

from benchmarks.protocols.table import protocols
from schedproof.api import prove
from tests.support.sample import thinned

INDUCTIVE = {
    "blockchain": {"same-blocks", "same-transactions"},
    "consensus-once": {"agreement"},
    "database-chain-replication": {"atomic"},
    "learning-switch": {"transitive"},
    "learning-switch-lossy": {"transitive", "one-way"},
    "sharded-kv-no-lost-keys": {"no-lost-key"},
    "transaction-commit": {"consistent"},
}
"""The properties that are inductive by themselves, as the README says."""


@pytest.mark.parametrize("name", thinned(protocols(), 16, first=3))
def test_properties_that_need_no_lemma(name):
    model = protocols()[name]
    induction = prove(model)
    assert induction.proved("well-formed")
    assert {each.name for each in model.properties if induction.proved(each.name)} == INDUCTIVE.get(name, set())
