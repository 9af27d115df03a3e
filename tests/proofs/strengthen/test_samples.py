"""Samples: every orbit counts, scopes grow while they show something new, and a violation ends them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from schedproof.model.lang import Action, Attribute, BoolType, Invariant, Model, count, exists, variables
from schedproof.model.semantics import instances
from schedproof.proofs.exploration.explore import explore
from schedproof.proofs.strengthen import Limits, strengthen
from schedproof.proofs.strengthen.columns import States
from schedproof.proofs.strengthen.features import Vocabulary
from schedproof.proofs.strengthen.rows import Rows
from schedproof.proofs.strengthen.samples import Samples
from schedproof.proofs.strengthen.scopes import grow
from tests.proofs.strengthen.protocols import LEASES, LOCK_SERVER, QUEUE, TWO_PHASE
from tests.support.toys import WORKSHOP

p, q = LOCK_SERVER.properties[0].over


def never() -> str:
    return ""


def silent(text: str) -> None:
    """Reports nothing."""


@pytest.mark.parametrize("model", [LEASES, LOCK_SERVER, TWO_PHASE, WORKSHOP], ids=lambda m: m.system)
def test_representatives_have_the_rows_of_all_states(model: Model) -> None:
    samples = Samples(model)
    samples.explore({}, never)
    everything = [States.of(i, explore(i, symmetry=False).states) for i in instances(model, {})]
    for template in (each for cost in (1, 2) for each in Vocabulary(model).templates(cost)):
        whole = Rows(template)
        whole.extend(everything)
        few = samples.rows(template, False)
        assert {r.tobytes() for r in few.matrix} == {r.tobytes() for r in whole.matrix}


@pytest.mark.long
def test_compiled_samples_are_the_interpreted_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    interpreted, compiled = Samples(TWO_PHASE), Samples(TWO_PHASE)
    interpreted.explore({"Member": 3}, never)
    monkeypatch.setattr("schedproof.proofs.checking.engine.PAYS", 1)
    compiled.explore({"Member": 3}, never)
    one, other = (each.states[0].matrix for each in (interpreted, compiled))
    assert len(one) > 10
    assert np.array_equal(np.unique(one, axis=0), np.unique(other, axis=0))


def at_most(number: int) -> Model:
    """The lock server without a lock: as many processes may be granted it as the guard admits."""
    few = count(q, q.is_("Granted")) < number
    grant = Action("grant", [p], [p.is_("Asking"), few], [p.fires("grant")], "{p} is granted the lock")
    kept = [a for a in LOCK_SERVER.actions if a.name not in ("grant", "free")]
    return replace(LOCK_SERVER, actions=[*kept, grant])


SCOPES = ["Process=2,Lock=1", "Process=3,Lock=1", "Process=4,Lock=1"]
"""Two processes cannot show a third one that has the lock; a fourth one shows nothing that three do not."""


def test_scopes_grow_until_nothing_is_new() -> None:
    samples = Samples(LOCK_SERVER)
    assert grow(samples, LOCK_SERVER.properties, None, never, silent) is None
    assert list(samples.scopes) == SCOPES
    assert samples.complete


def test_no_larger_scope_begins_when_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """If random runs follow, in a model with rigid attributes; otherwise the scopes are all that there is."""
    monkeypatch.setattr("schedproof.proofs.strengthen.scopes.GROWING", -1.0)
    (process, *others) = LOCK_SERVER.machines
    rigid = replace(process, attributes=[*process.attributes, Attribute("old", BoolType(), rigid=True)])
    with_rigid = replace(LOCK_SERVER, machines=[rigid, *others])
    for model, scopes in ((with_rigid, ["Process=2,Lock=1", "random runs"]), (LOCK_SERVER, SCOPES)):
        samples = Samples(model)
        assert grow(samples, LOCK_SERVER.properties, None, never, silent) is None
        assert list(samples.scopes) == scopes


def test_a_violation_at_a_larger_scope_is_a_run() -> None:
    model = with_three()
    [three] = model.properties
    violation = grow(Samples(model), [three], None, never, silent)
    assert violation is not None
    assert (violation.prop, violation.scope) == ("no-three", "Process=3,Lock=1")
    assert len(violation.counterexample.steps) == 6


def test_a_violation_beyond_the_scope_that_is_asked_for() -> None:
    """Two processes show no violation; the state that is left has three, and they do."""
    result = strengthen(with_three(), "no-three", scope={"Process": 2}, limits=Limits(literals=1))
    assert not result.proved
    assert result.violation is not None
    assert result.why == "violated at Process=3,Lock=1"
    assert len(result.violation.counterexample.steps) == 6


def with_three() -> Model:
    """A lock that three processes can be granted, and the property that they cannot."""
    a, b, c = variables(p.type.sort, "a b c")
    three = Invariant(
        name="no-three",
        says="no three processes are granted the lock",
        over=[a, b, c],
        given=a.is_("Granted") & b.is_("Granted") & c.is_("Granted"),
        then=(a == b) | (b == c) | (a == c),
    )
    return replace(at_most(3), properties=[three])


def test_only_the_scope_that_is_asked_for() -> None:
    samples = Samples(LOCK_SERVER)
    grow(samples, [], {"Process": 2}, never, silent)
    assert list(samples.scopes) == ["Process=2,Lock=1"]


def test_rows_are_about_objects_that_are_present() -> None:
    """An invariant is about no object of a disposable sort that is absent."""
    samples = Samples(QUEUE)
    samples.explore({"Request": 2, "Server": 1}, lambda: "")
    for template in Vocabulary(QUEUE).templates(1):
        rows = samples.rows(template, False).matrix
        states = [n for n, feature in enumerate(template.features) if feature.key == "state of r"]
        assert len(rows)
        assert not (rows[:, states] == 0).any()


def test_a_part_of_the_states_is_not_all(monkeypatch: pytest.MonkeyPatch) -> None:
    samples = Samples(LOCK_SERVER)
    samples.explore({"Process": 2}, lambda: "")
    assert samples.complete
    monkeypatch.setattr("schedproof.proofs.strengthen.samples.MOST_STATES", 4)
    samples.explore({"Process": 3}, lambda: "")
    assert not samples.complete


def test_formulas_of_other_history_are_no_features() -> None:
    """History that the property does not read is not sampled."""
    worker, lease = LEASES.machines
    seen = replace(lease, attributes=[*lease.attributes, Attribute("seen", BoolType(), history=True)])
    it = LEASES.actions[0].parameters[1]
    other = Invariant(name="other", says="other", over=[], then=exists(it, it.seen & it.is_("Held")))
    model = replace(LEASES, machines=[worker, seen], properties=[*LEASES.properties, other])
    for history, expected in ((frozenset(), False), (frozenset({("Lease", "seen")}), True)):
        features = [each for template in Vocabulary(model, history).templates(1) for each in template.features]
        assert any("seen" in each.key and "some" in each.key for each in features) == expected
