"""What is offered for a counterexample to induction: true of all reachable states, false in this one, or the run to it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from schedproof.model.lang import Action, Invariant, Model
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.model.semantics import Moment, instances
from schedproof.proofs.exploration.explore import explore
from schedproof.proofs.exploration.safety import Check
from schedproof.proofs.induction import prove
from schedproof.proofs.induction.counterexample import shown, state_of
from schedproof.proofs.strengthen.exclusion import Exclusion, exclude, state_before
from schedproof.proofs.strengthen.infer import Limits
from schedproof.proofs.strengthen.prover import Prover
from schedproof.proofs.verdict import Counterexample
from tests.proofs.strengthen.protocols import LEASES, LOCK_SERVER, QUEUE, TWO_PHASE

MODELS = {"leases": LEASES, "lock-server": LOCK_SERVER, "two-phase": TWO_PHASE, "queue": QUEUE}


def failing(model: Model) -> tuple[str, Counterexample]:
    """The property whose induction fails, and how."""
    proof = prove(model)
    name = model.properties[0].name
    why = proof.why_not(name)
    assert why is not None and why.counterexample is not None
    return why.obligation.invariant, why.counterexample


@pytest.fixture(scope="module", params=MODELS)
def excluded(request: pytest.FixtureRequest) -> tuple[Model, Counterexample, Exclusion]:
    model = MODELS[request.param]
    name, run = failing(model)
    return model, run, exclude(model, name, run, seconds=60.0)


Excluded = tuple[Model, Counterexample, Exclusion]


def test_the_clause_is_false_in_the_state(excluded: Excluded) -> None:
    """The interpreter, which the search does not use, says so."""
    model, run, exclusion = excluded
    assert exclusion.prop is not None
    instance, state = state_before(model.asking([*model.properties, exclusion.prop]), run)
    assert Check(instance, exclusion.prop).violated(Moment(state)) is not None


def test_the_clause_is_true_of_all_reachable_states(excluded: Excluded) -> None:
    model, _, exclusion = excluded
    assert exclusion.prop is not None
    asked = model.asking([exclusion.prop])
    for instance in instances(asked, {}):
        check = Check(instance, exclusion.prop)
        states = explore(instance, symmetry=False).states
        assert len(states) > 2
        assert all(check.violated(Moment(state)) is None for state in states)


def test_what_is_said_of_proofs_is_so(excluded: Excluded) -> None:
    model, _, exclusion = excluded
    assert exclusion.prop is not None
    proof = prove(model.asking([*model.properties, exclusion.prop]))
    assert exclusion.inductive is proof.kept(exclusion.prop.name)
    assert exclusion.proves is proof.proved(model.properties[0].name)


def test_a_state_is_read_back_from_its_names() -> None:
    for model in MODELS.values():
        prover = Prover(model)
        for obligation in prover.goals:
            step = prover.ask(obligation, ()).step
            if step is None:
                continue
            instance, state = state_of(prover._proof, step.solution)
            read, same = state_before(model, shown(prover._proof, obligation, *step.solution))
            assert (read.sizes, same) == (instance.sizes, state)


def test_no_clause_of_the_size() -> None:
    name, run = failing(LEASES)
    exclusion = exclude(LEASES, name, run, limits=Limits(literals=0), seconds=60.0)
    assert exclusion.prop is None
    assert exclusion.why.startswith("no clause of up to 0 literals about up to 5 objects, 7 of both together")


def test_the_time_limit() -> None:
    name, run = failing(LEASES)
    exclusion = exclude(LEASES, name, run, seconds=0.001)
    assert (exclusion.prop, exclusion.violation) == (None, None)
    assert exclusion.why == "the time limit of 0.001 s"


def test_a_reachable_state_is_answered_by_its_run() -> None:
    """Two leases show nothing, as one worker holds one: the violation needs a scope that the model's own one does not have."""
    p, q = LOCK_SERVER.properties[0].over
    some = Invariant(
        name="one-waits",
        says="at most one process asks",
        over=[p, q],
        given=p.is_("Asking") & q.is_("Asking"),
        then=p == q,
    )
    model = replace(LOCK_SERVER, properties=[some], default_scope={"Process": 1})
    name, run = failing(model)
    assert name == "one-waits"
    violation = exclude(model, name, run, seconds=60.0).violation
    assert violation is not None
    assert violation.prop == "one-waits"
    assert [step.action for step in violation.counterexample.steps] == ["ask", "ask"]


def test_an_ill_formed_step_that_is_reachable() -> None:
    w, lease = LEASES.actions[0].parameters
    hasty = Action("acquire", [w, lease], [lease.is_("Free")], LEASES.actions[0].fires, "{w} acquires {l}")
    model = replace(LEASES, actions=[hasty, LEASES.actions[1]])
    why = prove(model, only=[WELL_FORMED]).why_not(WELL_FORMED)
    assert why is not None and why.counterexample is not None
    violation = exclude(model, WELL_FORMED, why.counterexample, seconds=60.0).violation
    assert violation is not None
    assert violation.prop == WELL_FORMED
