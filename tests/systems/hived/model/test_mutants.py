"""Every mutant of HiveD's model is caught, or stands in the list of equivalent mutants with the reason.

A mutant is the model less one rule, one condition of a rule, one guard conjunct or one row. It is
caught if it is refused, if a verdict of exploration differs from the model's, or if induction no
longer proves what it proved. So no line of the model is there without a property that needs it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from schedproof.model.lang import Model
from schedproof.model.semantics import Instance, Stepper
from schedproof.model.systems.hived import AS_WRITTEN, REPAIRED
from schedproof.proofs.induction import prove
from schedproof.proofs.verdict import Verdict
from tests.support.mutants import Checker, Mutant, invariants_of, mutants, places
from tests.support.sample import thinned

SCOPES = [{"PodGroup": groups, "Cell": cells} for groups, cells in ((2, 2), (3, 2), (3, 3), (4, 2))]
"""Where to explore a mutant, small scopes first. Some show only where two preempt beside a third."""
VARIANTS = {"repaired": REPAIRED, "as-written": AS_WRITTEN}
EQUIVALENT: Mapping[str, Mapping[str, Mapping[str, Any]]] = tomllib.loads(
    (Path(__file__).parent / "equivalent_mutants.toml").read_text()
)

# "Equivalent" is not decided by what checks mutants here, but by the mutant's own graph.
SCOPE = {"PodGroup": 3, "Cell": 3}


@cache
def check(variant: str) -> Checker:
    """One check a variant: it keeps the verdicts on the model itself."""
    return Checker(VARIANTS[variant], places(VARIANTS[variant], SCOPES))


def listed(variant: str) -> Mapping[str, Mapping[str, Any]]:
    """The equivalent mutants of a variant."""
    return EQUIVALENT.get(variant, {})


def named(variant: str) -> Mapping[str, Mutant]:
    """The mutants of a variant by name."""
    return {m.name: m for m in mutants(VARIANTS[variant])}


def parts(variant: str, *, size: int) -> list[Sequence[str]]:
    """The mutants that are not listed, a few at a time, so that two processes share them."""
    names = [name for name in named(variant) if name not in listed(variant)]
    return [names[i::size] for i in range(size)]


def survivors(variant: str, names: Sequence[str]) -> list[str]:
    """The mutants among ``names`` that nothing catches."""
    every = named(variant)
    return [name for name in names if check(variant).caught(every[name]) is None]


@pytest.mark.parametrize("names", thinned(parts("repaired", size=8), 8, first=1), ids=range(8))
def test_every_mutant_of_the_repaired_model_is_caught(names: Sequence[str]) -> None:
    assert survivors("repaired", names) == []


@pytest.mark.long(one_in=3)
@pytest.mark.parametrize("names", parts("as-written", size=6), ids=range(6))
def test_every_mutant_of_the_model_as_written_is_caught(names: Sequence[str]) -> None:
    assert survivors("as-written", names) == []


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_rule_conjunct_and_row_has_its_mutant(variant: str) -> None:
    model = VARIANTS[variant]
    expected = len(model.rules) + len(model.rows)
    expected += sum(len(r.when) for r in model.rules) + sum(len(a.when) for a in model.actions)
    assert len(named(variant)) == len(list(mutants(model))) == expected


EQUIVALENTS = [(variant, name) for variant in VARIANTS for name in listed(variant)]


@pytest.mark.parametrize(("variant", "name"), EQUIVALENTS)
def test_an_equivalent_mutant_exists_and_steps_as_the_model(variant: str, name: str) -> None:
    assert name in named(variant), "there is no such mutant any more: take it off the list"
    assert steps(named(variant)[name].build()) == steps(VARIANTS[variant])


@pytest.mark.long
@pytest.mark.parametrize("variant", [variant for variant in VARIANTS if listed(variant)])
def test_the_reasons_why_mutants_are_equivalent_are_proved(variant: str) -> None:
    """From invariants and well-formedness alone."""
    induction = prove(invariants_of(VARIANTS[variant]))
    obligations = {a.obligation.name for a in induction.answers if a.verdict is Verdict.PROVED}
    for name, entry in listed(variant).items():
        assert len(entry["reason"]) > 20, name
        assert entry["follows_from"], name
        for fact in entry["follows_from"]:
            assert fact in obligations or induction.proved(fact), f"{name}: {fact} is not proved"


@pytest.mark.long
@pytest.mark.parametrize(("variant", "name"), EQUIVALENTS)
def test_an_equivalent_mutant_is_not_caught(variant: str, name: str) -> None:
    caught = check(variant).caught(named(variant)[name])
    assert caught is None, f"it is caught by {caught}: take it off the list"


def steps(model: Model) -> Mapping[object, object]:
    """Every reachable state with each enabled choice, its firings and the state after: nothing left out."""
    [rigid] = model.configurations(SCOPE)
    instance = Instance(model, SCOPE, rigid)
    stepper = Stepper(instance)
    graph: dict[object, object] = {}
    waiting = [instance.initial()]
    while waiting:
        state = waiting.pop()
        if state not in graph:
            steps_of_state = list(stepper.steps(state))
            graph[state] = {s.choice: (s.fired, s.after) for s in steps_of_state}
            waiting += [s.after for s in steps_of_state]
    return graph


# --- The test can fail: what must not pass as caught or as equivalent -------------------------------------------------


def test_a_mutant_that_differs_has_another_graph() -> None:
    assert steps(named("repaired")["rule e3 cancels the preemptor"].build()) != steps(REPAIRED)


FOUR_GROUPS = "rule e5 returns its Reserving cells, condition 1"


@pytest.mark.long
def test_the_same_graph_at_three_groups_is_not_reason_enough() -> None:
    """This mutant shows at four groups only: hence ``follows_from``."""
    assert steps(named("repaired")[FOUR_GROUPS].build()) == steps(REPAIRED)
    caught = check("repaired").caught(named("repaired")[FOUR_GROUPS])
    assert caught is not None and caught.by == "explored" and "at 4 PodGroup, 2 Cell" in caught.what


@pytest.mark.long
def test_induction_catches_what_too_small_scopes_miss() -> None:
    caught = Checker(REPAIRED, places(REPAIRED, SCOPES[:1])).caught(named("repaired")[FOUR_GROUPS])
    assert caught is not None and caught.by == "induction"


@pytest.mark.long(one_in=2)
def test_the_model_itself_is_not_caught() -> None:
    same = Mutant("nothing less", "none", lambda: replace(REPAIRED))
    assert check("repaired").caught(same) is None


def test_without_properties_only_ill_formed_mutants_are_caught() -> None:
    """What catches the mutants is the properties, not some accident of the comparison."""
    silent = replace(REPAIRED, properties=[])
    every = {m.name: m for m in mutants(silent)}
    bare = Checker(silent, places(silent, SCOPES[:1]))
    assert bare.caught(every["action preempt, conjunct 3"]) is None
    caught = bare.caught(every["rule crash takes every Cell"])
    assert caught is not None and caught.what.startswith("well-formed")
