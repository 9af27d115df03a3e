"""The clause that excludes one counterexample to induction: what a person would look for by hand."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from schedproof.model.lang import Invariant, Model, Property
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.model.semantics import Instance, State, scope_text
from schedproof.proofs.checking.model_check import admitted
from schedproof.proofs.gc_paused import gc_paused
from schedproof.proofs.induction import TimeLimit, prove
from schedproof.proofs.verdict import Counterexample

from .columns import States
from .infer import Inference, Limits
from .samples import Samples, Violation, history_of
from .scopes import grow

ITS_SIZE, EXPLORE, SEARCH = 0.25, 0.4, 0.8
"""The parts of the time after which the exploration of the state's own configuration ends, that of all scopes, and the search."""


@dataclass(frozen=True)
class Exclusion:
    """What excludes the state before a step that violates a property.

    Attributes:
        prop: the clause, as an invariant; None if there is none.
        inductive: whether it is inductive together with the model's other invariants.
        proves: whether the property is proved with it.
        violation: a run that violates the property.
        why: why there is no clause, or why nothing is said of proofs with it.
        scopes: the explored scopes, each with its number of representatives.
        complete: whether every state of each scope was looked at.
    """

    prop: Invariant | None = None
    inductive: bool = False
    proves: bool = False
    violation: Violation | None = None
    why: str = ""
    scopes: Mapping[str, int] = field(default_factory=dict)
    complete: bool = True


def exclude(
    model: Model,
    prop: str,
    run: Counterexample,
    *,
    seconds: float = math.inf,
    limits: Limits | None = None,
    report: Callable[[str], None] = lambda text: None,
) -> Exclusion:
    """Looks for a clause that is false in the state before a step, and true in every reachable state of small scopes.

    If the state is reachable, so is a violation: the run to it is the answer.

    Args:
        model: the model.
        prop: the name of the property, or ``well-formed``.
        run: the counterexample to induction.
        seconds: the time limit; by default there is none.
        limits: how large the clause may be.
        report: called with what is being done.
    """
    limit, limits = TimeLimit(seconds), limits or Limits()
    goal = None if prop == WELL_FORMED else model.property(prop)
    watched: list[Property] = [] if goal is None else [goal]
    instance, state = state_before(model, run)
    stop = limit.share(SEARCH).reached
    samples = Samples(model, history_of(model, goal, None), halt=stop)
    with gc_paused():
        at = f"{scope_text(instance.sizes)} of the counterexample"
        report(f"explores {at}")
        violation = None
        if admitted(instance):
            violation = samples.explore_instance(instance, limit.share(ITS_SIZE).reached, watched)
            samples.scopes[at] = sum(len(each.matrix) for each in samples.states)
        violation = violation or grow(samples, watched, None, limit.share(EXPLORE).reached, report)
        if violation is not None:
            return Exclusion(violation=violation, scopes=samples.scopes, complete=samples.complete)
        report("looks for a clause")
        names = frozenset(p.name for p in model.properties)
        inference = Inference(model, samples, limits, stop, report, names, names, limit)
        choice = inference.choose(States.of(instance, [state]))
    if choice is None:
        why = stop() or (
            f"no clause of up to {limits.literals} literals about up to {limits.variables} objects, "
            f"{limits.together} of both together, excludes this state"
        )
        return Exclusion(why=why, scopes=samples.scopes, complete=samples.complete)
    report("proves with the clause")
    with_clause = model.asking([*model.properties, choice.prop])
    proof = prove(with_clause, every=False, only=[prop, choice.prop.name], time_limit=limit)
    inductive = proof.kept(choice.prop.name)
    proves = inductive and proof.proved(prop)
    why = "" if proves else limit.reached()
    return Exclusion(choice.prop, inductive, proves, why=why, scopes=samples.scopes, complete=samples.complete)


def state_before(model: Model, run: Counterexample) -> tuple[Instance, State]:
    """The state before the step of a counterexample to induction, read back from its names."""
    assert run.start is not None
    names = {sort.name: [each.object for each in run.objects if each.sort == sort.name] for sort in model.sorts}
    sizes = {sort: len(objects) for sort, objects in names.items()}
    plain = Instance(model, sizes, {}, with_history=True)

    def encoded(sort: str, name: str) -> list[int]:
        attribute = model.machine(sort).attribute(name)
        assert attribute is not None and run.start is not None
        return [plain.read(attribute.type, run.start[each][name]) for each in names[sort]]

    rigid = {
        (m.sort.name, a.name): [plain.decoded(a.type, value) for value in encoded(m.sort.name, a.name)]
        for m in model.machines
        for a in m.attributes
        if a.rigid
    }
    instance = Instance(model, sizes, rigid, with_history=True)
    state = list(instance.initial())
    for machine in model.machines:
        sort = machine.sort.name
        for n, name in enumerate(names[sort]):
            if machine.states:
                states = [each.name for each in machine.states]
                state[instance.slot(sort) + n] = states.index(run.start[name]["state"])
            for a in instance.attributes(sort):
                state[instance.slot(sort, a.name) + n] = encoded(sort, a.name)[n]
    return instance, tuple(state)
