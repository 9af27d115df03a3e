"""Every mutant of HiveD's model is caught, or stands in the list of equivalent mutants with the reason.

A mutant is the model less one rule, one condition of a rule, one guard conjunct or one row; or, an *exchange*, the
model with another word: a state, an event, a receiver, a quantifier, an attribute, a value (``exchanges``). It is
caught if it is refused, if a verdict of exploration differs from the model's, or if induction no
longer proves what it proved. So no line of the model is there without a property that needs it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
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
from tests.support.equivalence import proved_to_mean_the_same
from tests.support.exchanges import KINDS, Exchange, exchanges
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


@cache
def named(variant: str) -> Mapping[str, Mutant]:
    """The mutants of a variant by name."""
    return {m.name: m for m in (*mutants(VARIANTS[variant]), *exchanges(VARIANTS[variant]))}


def parts(variant: str, made: Iterable[Mutant], *, size: int) -> list[Sequence[str]]:
    """Those mutants that are not listed, a few at a time, so that two processes share them."""
    names = [mutant.name for mutant in made if mutant.name not in listed(variant)]
    return [names[i::size] for i in range(size)]


def survivors(variant: str, names: Sequence[str]) -> list[str]:
    """The mutants among ``names`` that nothing catches."""
    every = named(variant)
    return [name for name in names if check(variant).caught(every[name]) is None]


@pytest.mark.long
@pytest.mark.parametrize("names", thinned(parts("repaired", mutants(REPAIRED), size=8), 8, first=1), ids=range(8))
def test_every_mutant_of_the_repaired_model_is_caught(names: Sequence[str]) -> None:
    assert survivors("repaired", names) == []


@pytest.mark.long(one_in=18)
@pytest.mark.parametrize("names", parts("as-written", mutants(AS_WRITTEN), size=6), ids=range(6))
def test_every_mutant_of_the_model_as_written_is_caught(names: Sequence[str]) -> None:
    assert survivors("as-written", names) == []


@pytest.mark.parametrize("names", thinned(parts("repaired", exchanges(REPAIRED), size=192), 192, 24), ids=range(192))
def test_every_exchange_in_the_repaired_model_is_caught(names: Sequence[str]) -> None:
    assert survivors("repaired", names) == []


@pytest.mark.long(one_in=32)
@pytest.mark.parametrize("names", parts("as-written", exchanges(AS_WRITTEN), size=48), ids=range(48))
def test_every_exchange_in_the_model_as_written_is_caught(names: Sequence[str]) -> None:
    assert survivors("as-written", names) == []


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_rule_conjunct_and_row_has_its_mutant(variant: str) -> None:
    model = VARIANTS[variant]
    expected = len(model.rules) + len(model.rows)
    expected += sum(len(r.when) for r in model.rules) + sum(len(a.when) for a in model.actions)
    assert len({m.name for m in mutants(model)}) == len(list(mutants(model))) == expected


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_kind_of_exchange_is_made_but_bounds(variant: str) -> None:
    """The model has no numbers."""
    made = list(exchanges(VARIANTS[variant]))
    assert {mutant.kind for mutant in made} == {*KINDS} - {"bound"}
    assert len({mutant.name for mutant in made} | {m.name for m in mutants(VARIANTS[variant])}) == len(named(variant))


EQUIVALENTS = [(variant, name) for variant in VARIANTS for name in listed(variant)]


@pytest.mark.parametrize("variant", VARIANTS)
def test_each_equivalent_mutant_exists(variant: str) -> None:
    missing = [name for name in listed(variant) if name not in named(variant)]
    assert missing == [], "there are no such mutants any more: take them off the list"


@pytest.mark.parametrize(("variant", "name"), thinned(EQUIVALENTS, 24))
def test_an_equivalent_mutant_steps_as_the_model(variant: str, name: str) -> None:
    assert steps(named(variant)[name].build()) == steps_of_model(variant)


@pytest.mark.long
@pytest.mark.parametrize("variant", [variant for variant in VARIANTS if listed(variant)])
def test_the_reasons_why_mutants_are_equivalent_are_proved(variant: str) -> None:
    """From invariants and well-formedness alone; of an exchange, that both words mean the same, from those."""
    induction = prove(invariants_of(VARIANTS[variant]))
    obligations = {a.obligation.name for a in induction.answers if a.verdict is Verdict.PROVED}
    for name, entry in listed(variant).items():
        assert len(entry["reason"]) > 20, name
        for fact in entry["follows_from"]:
            assert fact in obligations or induction.proved(fact), f"{name}: {fact} is not proved"
        mutant = named(variant)[name]
        if isinstance(mutant, Exchange):
            assert proved_to_mean_the_same(mutant, entry["follows_from"]), name
        else:
            assert entry["follows_from"], name


@pytest.mark.long(one_in=12)
@pytest.mark.parametrize(("variant", "name"), EQUIVALENTS)
def test_an_equivalent_mutant_is_not_caught(variant: str, name: str) -> None:
    caught = check(variant).caught(named(variant)[name])
    assert caught is None, f"it is caught by {caught}: take it off the list"


@cache
def steps_of_model(variant: str) -> Mapping[object, object]:
    """The steps of the model itself."""
    return steps(VARIANTS[variant])


def steps(model: Model) -> Mapping[object, object]:
    """Every reachable state with each enabled choice, its firings and the state after, history included: nothing left out."""
    [rigid] = model.configurations(SCOPE)
    instance = Instance(model, SCOPE, rigid, with_history=True)
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
    assert steps(named("repaired")["rule e3 cancels the preemptor"].build()) != steps_of_model("repaired")


FOUR_GROUPS = "rule e5 returns its Reserving cells, condition 1"


@pytest.mark.long
def test_the_same_graph_at_three_groups_is_not_reason_enough() -> None:
    """This mutant shows at four groups only: hence ``follows_from``."""
    assert steps(named("repaired")[FOUR_GROUPS].build()) == steps_of_model("repaired")
    caught = check("repaired").caught(named("repaired")[FOUR_GROUPS])
    assert caught is not None and caught.by == "explored" and "at 4 PodGroup, 2 Cell" in caught.what


@pytest.mark.long(one_in=9)
def test_induction_catches_what_too_small_scopes_miss() -> None:
    caught = Checker(REPAIRED, places(REPAIRED, SCOPES[:1])).caught(named("repaired")[FOUR_GROUPS])
    assert caught is not None and caught.by == "induction"


@pytest.mark.long(one_in=12)
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


def test_an_exchange_that_differs_is_not_proved_to_be_equivalent() -> None:
    """Each has the shape of one that is: a guard's conjunct, a condition, an update."""
    facts = ["free-cell", "used-cell", "reserved-cell", "reserving-cell"]
    for name in (
        "action allocate, conjunct 2, quantifier: every for some",
        "rule e3 frees its cells, condition 1, attribute: reserver for c.user",
        "row Cell.e9 from Reserving, user, value: it.reserver for none",
    ):
        mutant = named("repaired")[name]
        assert isinstance(mutant, Exchange) and not proved_to_mean_the_same(mutant, facts)
