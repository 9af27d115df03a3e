"""Random values of rigid attributes satisfy the axioms, and can be any that do."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from schedproof.model.lang import (
    NONE,
    Attribute,
    BoolType,
    IntRange,
    Machine,
    Model,
    Ref,
    SetOf,
    Sort,
    State,
    exists,
    forall,
    implies,
    variables,
)
from schedproof.model.lang.terms import Term
from schedproof.model.registry.discovery import system
from schedproof.model.semantics import Instance
from schedproof.model.semantics.evaluate import Moment, compile_term
from schedproof.proofs.strengthen.configurations import draw_configuration
from schedproof.proofs.strengthen.random_runs import random_runs

Run, Client = Sort("Run", "r"), Sort("Client", "c")
r, q = variables(Run, "r q")
c, d = variables(Client, "c d")

MODEL = Model(
    system="runs",
    variant="plain",
    about="runs with clients",
    machines=[
        Machine(Run, [State("Ready")], [
            Attribute("begun", BoolType(), rigid=True),
            Attribute("above", SetOf(Run), rigid=True),
            Attribute("rank", IntRange(3, 6), rigid=True),
        ]),
        Machine(Client, [State("Idle")], [Attribute("run", Ref(Run), rigid=True)]),
    ],
    rows=[],
    actions=[],
    rules=[],
    properties=[],
    axioms=[],
    default_scope={"Run": 3, "Client": 3},
)  # fmt: skip

ONE_EACH = forall([c, d], implies(c.run == d.run, c == d))
SOMEWHERE = forall(c, c.run != NONE)
OF_BEGUN = forall(c, c.run.begun & (c.run.rank > 4))
"""It reads an attribute of a run that there may not be."""
PARTIAL_ORDER = [
    forall([r, q], implies(r.above.has(q), ~q.above.has(r) & (q.rank > r.rank))),
    forall([r, q], implies(r.rank < q.rank, r.above.has(q))),
]


def values(axioms: Sequence[Term], sizes: dict[str, int], seed: int) -> dict[tuple[str, str], list[Any]] | None:
    instance = Instance(replace(MODEL, axioms=list(axioms)), sizes, rigid_in_state=True)
    configuration = draw_configuration(instance, random.Random(seed))
    return None if configuration is None else {key: list(its) for key, its in configuration.rigid.items()}


@pytest.mark.parametrize("seed", range(10))
def test_values_satisfy_the_axioms(seed: int) -> None:
    """As Python says, which knows nothing of terms."""
    its = values([OF_BEGUN, ONE_EACH, SOMEWHERE, *PARTIAL_ORDER], {"Run": 4, "Client": 2}, seed)
    assert its is not None
    runs, begun, above, rank = (
        its[key] for key in [("Client", "run"), *(("Run", a) for a in ("begun", "above", "rank"))]
    )
    assert len(set(runs)) == len(runs) and None not in runs
    assert all(begun[n] and rank[n] > 4 for n in runs)
    assert all(set(above[n]) == {m for m in range(4) if rank[m] > rank[n]} for n in range(4))
    assert all(3 <= n <= 6 for n in rank)


def test_all_values_that_satisfy_them_occur() -> None:
    sizes = {"Run": 3, "Client": 3}
    runs = {tuple(its["Client", "run"]) for n in range(150) if (its := values([SOMEWHERE, ONE_EACH], sizes, n))}
    assert len(runs) == 6  # each client has one of three runs


def test_without_axioms_all_values_occur() -> None:
    rows = {tuple(map(str, its["Run", "above"] + its["Client", "run"] + its["Run", "rank"])) for n in range(400)
             if (its := values([], {"Run": 1, "Client": 1}, n))}  # fmt: skip
    assert len(rows) == 2 * 2 * 4


def test_objects_that_are_too_many_are_left_out() -> None:
    its = values([SOMEWHERE, ONE_EACH], {"Run": 2, "Client": 4}, 1)
    assert its is not None and sorted(map(str, its["Client", "run"])) == ["0", "1"] and len(its["Run", "rank"]) == 2


def test_axioms_may_be_one_conjunction() -> None:
    its = values([SOMEWHERE & ONE_EACH], {"Run": 2, "Client": 4}, 1)
    assert its is not None and sorted(map(str, its["Client", "run"])) == ["0", "1"]


def test_objects_are_left_out_only_if_they_may_be() -> None:
    model = replace(MODEL, axioms=[SOMEWHERE, ONE_EACH])
    for clients, some in ((2, True), (4, False)):
        instance = Instance(model, {"Run": 2, "Client": clients}, rigid_in_state=True)
        assert (draw_configuration(instance, random.Random(1), fewer=False) is not None) is some


def test_no_client_is_left_where_there_is_no_run() -> None:
    its = values([SOMEWHERE], {"Run": 0, "Client": 2}, 1)
    assert its is not None and its["Client", "run"] == []


def test_there_are_none_that_are_impossible() -> None:
    assert values([exists(r, r.begun & ~r.begun)], {"Run": 2, "Client": 1}, 1) is None


def test_a_value_that_is_missing_satisfies_nothing() -> None:
    """The axiom reads an attribute of a run that a client may not have; no other one asks for the run."""
    for seed in range(10):
        its = values([OF_BEGUN], {"Run": 2, "Client": 2}, seed)
        assert its is not None and None not in its["Client", "run"]


def test_of_a_single_sort_no_object_is_left_out() -> None:
    server = Sort("Server", "s", single=True)
    (s,) = variables(server, "s")
    machine = Machine(server, [State("Up")], [Attribute("run", Ref(Run), rigid=True)])
    model = replace(MODEL, machines=[*MODEL.machines, machine], axioms=[forall(s, s.run != NONE)])
    sizes = {"Run": 0, "Client": 0, "Server": 1}
    assert draw_configuration(Instance(model, sizes, rigid_in_state=True), random.Random(1)) is None


@pytest.mark.long
@pytest.mark.parametrize("name", ["hived", "beaker", "jobmon", "yunikorn", "yunikorn-merge"])
def test_axioms_of_our_systems_hold_of_values(name: str) -> None:
    """Each axiom as a whole, where the search reads the objects one by one."""
    for model in system(name).variants.values():
        sizes = {sort.name: 1 if sort.single else 3 for sort in model.sorts}
        for seed in range(3):
            configuration = draw_configuration(Instance(model, sizes, rigid_in_state=True), random.Random(seed))
            assert configuration is not None, model.variant
            state = configuration.initial()
            assert all(compile_term(configuration, axiom, {})(Moment(state)) for axiom in model.premises), model.variant


@pytest.mark.parametrize(("name", "variant"), [("yunikorn", "v0.12.2"), ("jobmon", "shipped"), ("beaker", "repaired")])
def test_systems_with_many_axioms_have_random_runs(name: str, variant: str) -> None:
    """Objects of five sorts and more, of which each is of another one, seldom fit together by chance."""
    first = next(iter(random_runs(system(name).variants[variant], frozenset(), lambda: "")))
    assert len({tuple(row) for row in first.matrix.tolist()}) > 20
