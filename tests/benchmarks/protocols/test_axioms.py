"""The axioms of the protocols exclude what a proof must not assume: quorums apart, two first holders, no order, no ring."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from benchmarks.protocols.table import first_scope, protocols
from schedproof.api import ModelError, model_check
from schedproof.model.lang import Attribute, BoolType, Model, SetOf

FREE = {
    *("Node.internal", "Node.honest", "Node.begins", "Node.known", "Node.links", "Round.fast", "Request.matches"),
    *("Time.leader", "Transaction.due", "Packet.begin", "Packet.goal"),
    *("Operation.transaction", "Operation.reads", "Operation.writes"),
    "Second.members",  # a quorum of all nodes meets any
}
"""Rigid attributes whose values may be any, or nearly any."""


def wrong(attribute: Attribute, size: int) -> Sequence[Any]:
    """Values that no protocol may have: of members, single nodes; of other sets and relations, none; true for all; no object."""
    if attribute.name == "members":
        return [frozenset({number}) for number in range(size)]
    if isinstance(attribute.type, SetOf) or attribute.name == "round":
        return [frozenset()] * size
    return [True if isinstance(attribute.type, BoolType) else None] * size


def cases() -> Iterator[tuple[str, str, str]]:
    """The protocols with each rigid attribute that an axiom restricts."""
    for name, model in protocols().items():
        for machine in model.machines:
            for attribute in machine.attributes:
                if attribute.rigid and f"{machine.sort.name}.{attribute.name}" not in FREE and model.axioms:
                    yield name, machine.sort.name, attribute.name


def with_wrong(model: Model, sort: str, name: str) -> Model:
    """The model with wrong values of an attribute, for two objects of each sort at least."""
    (attribute,) = (
        each
        for machine in model.machines
        if machine.sort.name == sort
        for each in machine.attributes
        if each.name == name
    )

    def configurations(sizes):
        return [{**each, (sort, name): wrong(attribute, sizes[sort])} for each in model.configurations(sizes)][:1]

    return replace(model, configurations=configurations)


@pytest.mark.parametrize(("name", "sort", "attribute"), list(cases()))
def test_wrong_values_are_refused(name, sort, attribute):
    model = protocols()[name]
    sizes = {each: max(2, size) for each, size in first_scope(name).items()}
    with pytest.raises(ModelError, match="is false on the configuration"):
        model_check(with_wrong(model, sort, attribute), sizes, only=["well-formed"])
