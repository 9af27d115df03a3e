"""Every mutant of Beaker's models is caught, or stands in the list of equivalent mutants and is proved to be one.

The models' graphs are those of the brute-force schedulers (``test_brute_force`` and, for the batch
scheduler, ``test_brute_force_batch``), step by step. So a mutant is caught if it is refused, or takes a step that the model does not take, or
does not take one that it takes, in one of the configurations. Whether it also violates a property is looked at for
some of them: not every line of a table has one of its own.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest

from schedproof.model.lang import Action, Invariant, Model, ModelError, Property, Rule, StepInvariant, Term, Var, exists
from schedproof.model.lang import terms as t
from schedproof.model.lang.check import checked
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.model.lang.terms import Fires, both
from schedproof.model.lang.types import Ref
from schedproof.model.systems.beaker.batch import BATCH
from schedproof.model.systems.beaker.batch.machines import b
from schedproof.model.systems.beaker.configurations import (
    BATCH_CONFIGURATIONS,
    CONFIGURATIONS,
    SEATED_CONFIGURATIONS,
    Configuration,
)
from schedproof.model.systems.beaker.machines import EXECUTING, j, k, q, r, s
from schedproof.model.systems.beaker.variants import AS_WRITTEN, REPAIRED
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.induction import prove
from schedproof.proofs.verdict import Verdict
from tests.support.equivalence import unexplained
from tests.support.exchanges import exchanges
from tests.support.mutants import Mutant, Place, Twin, concerned, drawn, first_broken, graph_of, mutants, other_step
from tests.support.noticed import DIFFERS, SAME, Noticing
from tests.support.same_steps import SameSteps
from tests.systems.beaker.model.test_brute_force import CONFIGURATIONS as SMALL

VARIANTS = {"batch": BATCH, "as-written": AS_WRITTEN, "repaired": REPAIRED}
EQUIVALENT: Mapping[str, Mapping[str, Mapping[str, str]]] = tomllib.loads(
    (Path(__file__).parent / "equivalent_mutants.toml").read_text()
)
EMPTY_SET = Configuration("a set without recipes", [["A"], []], [0], [0, 1], [0, 1], [0])
GUEST = Configuration("a host with its guest; people do what they can", [["A", 0]], [0], [0], [], [0])
GUEST_BESIDE = Configuration("a guest beside a system whose condition changes", [["A", 0], ["B"]], [0, 0], [], [], [1])
GUEST_ASSIGNED = Configuration(
    "a host with its guest, which are assigned when their system changes", [["A", 0, "B"]], [0, 0], [], [], [0]
)
EITHER = Configuration("two recipes of a set wait for either of two systems", [["A", "BC", "BC"]], [0, 0, 0])
BESIDE_A_RUNNING_ONE = Configuration(
    "a recipe runs beside two of which one has a priority", [["AB"], ["A"], ["A"]], [0, 0], [], [1]
)
BESIDE_A_CANCELLED_ONE = Configuration(
    "a recipe can be cancelled beside two of which one has a priority", [["A"], ["A"], ["A"]], [0], [0], [1]
)
ASSIGNED_AGAIN = Configuration(
    "three recipes, each with its own system; one is assigned again", [["A"], ["B"], ["C"]], [0, 0, 0], [], [], [0]
)
CONTENDED = Configuration(
    "two sets wait for the same system; a priority changes", [["A", "C"], ["B", "C"]], [0, 0, 0], [], [0]
)

SEATED = [
    EITHER,
    *SEATED_CONFIGURATIONS[len(CONFIGURATIONS) :],
    BESIDE_A_CANCELLED_ONE,
    BESIDE_A_RUNNING_ONE,
    ASSIGNED_AGAIN,
]
"""Where only ``repaired`` differs from its mutants."""


def looked_at(variant: str) -> list[Configuration]:
    """The configurations, quick ones first."""
    if variant == "batch":
        return [*BATCH_CONFIGURATIONS[:2], EMPTY_SET, *BATCH_CONFIGURATIONS[2:]]
    common = [*SMALL[:7], EMPTY_SET, GUEST, GUEST_BESIDE, *CONFIGURATIONS, *SMALL[7:], GUEST_ASSIGNED, CONTENDED]
    return [*common, *SEATED] if variant == "repaired" else common


def places(variant: str) -> list[Place]:
    """The same with what never changes in them, as the variant has it."""
    model, kept_places = VARIANTS[variant], []
    for configuration in looked_at(variant):
        rigid = configuration.rigid(with_seatings=model is REPAIRED)
        known = {(m.sort.name, a.name) for m in model.machines for a in m.attributes if a.rigid}
        kept = {key: values for key, values in rigid.items() if key in known}
        sizes = {m.sort.name: configuration.sizes.get(m.sort.name, 1) for m in model.machines}
        sizes |= {sort: len(values) for (sort, _), values in kept.items()}
        kept_places.append(Place(configuration.about, sizes, kept))
    return kept_places


@cache
def twin(variant: str) -> Twin:
    """One check a variant: it keeps the graphs of the model itself."""
    return Twin(VARIANTS[variant], places(variant), properties=False)


def listed(variant: str) -> Mapping[str, Mapping[str, str]]:
    """The equivalent mutants of a variant."""
    return EQUIVALENT.get(variant, {})


@cache
def named(variant: str) -> Mapping[str, Mutant]:
    """The mutants of a variant by name."""
    return {m.name: m for m in mutants(VARIANTS[variant])}


def survivors(variant: str, part: int, of: int) -> list[str]:
    """The mutants that nothing catches, of one part of those that are not listed."""
    names = [name for name in named(variant) if name not in listed(variant)]
    return [name for name in names[part::of] if twin(variant).caught(named(variant)[name]) is None]


@pytest.mark.long
def test_every_mutant_of_the_batch_scheduler_is_caught() -> None:
    assert survivors("batch", 0, 1) == []


@pytest.mark.long(one_in=12)
@pytest.mark.parametrize("part", range(2))
@pytest.mark.parametrize("variant", ["as-written", "repaired"])
def test_every_mutant_is_caught(variant: str, part: int) -> None:
    assert survivors(variant, part, 2) == []


@pytest.mark.long
def test_one_mutant_in_twelve_is_caught() -> None:
    """All of them: see above."""
    assert survivors("as-written", 0, 12) == []


@pytest.mark.long
@pytest.mark.parametrize(
    ("variant", "one_in"),
    [
        ("batch", 8),
        pytest.param("batch", 2, marks=pytest.mark.long),
        pytest.param("as-written", 24, marks=pytest.mark.long),
    ],
)
def test_exchanges_are_caught_or_mean_the_same(variant: str, one_in: int) -> None:
    some = [m for m in exchanges(VARIANTS[variant]) if drawn(m.name, one_in)]
    assert len(some) > 40
    assert unexplained(VARIANTS[variant], some, twin(variant).caught, LEMMAS[variant]) == set()


UNNOTICED = {
    "action end_provisioning, firing 1, event: crash for next_phase": (
        "It also empties what is ahead, which nothing reads before the next pass sets it."
    ),
}
"""Exchanges that violate no property of the batch scheduler, and differ from it."""


@cache
def met_at(place: int) -> Sequence[str]:
    """The properties of the batch scheduler that are to hold, and whose premises are met at a place."""
    kept = [WELL_FORMED, *(prop.name for prop in BATCH.properties if prop.name not in BATCH.refuted)]
    while unmet := first_broken(BATCH, places("batch")[place], kept):
        kept.remove(unmet)
    return kept


def breaks_a_property(mutant: Mutant) -> bool:
    """Whether a mutant of the batch scheduler is refused, or has another verdict."""
    try:
        model = checked(mutant.build())
    except ModelError:
        return True
    if any(first_broken(model, place, met_at(n)) for n, place in enumerate(places("batch")[:2])):
        return True
    verdicts = {each.name: each.verdict for each in model_check(model, {})}
    return any((verdict is Verdict.REFUTED) != (name in BATCH.refuted) for name, verdict in verdicts.items())


@pytest.mark.long
@pytest.mark.parametrize("one_in", [64, pytest.param(3, marks=pytest.mark.long)])
def test_exchanges_break_a_property_of_the_batch_scheduler(one_in: int) -> None:
    """That the step is another one, notices the brute force. That it is wrong, has a property to notice."""
    some = [m for m in exchanges(BATCH) if drawn(m.name, one_in)]
    assert len(some) > 320 // one_in
    missed = [m for m in some if not breaks_a_property(m)]
    assert unexplained(BATCH, missed, lambda mutant: None) == {m.name for m in some} & set(UNNOTICED)


LEFT_OPEN: Mapping[str, Mapping[str, str]] = {
    "as-written": {
        "action reprioritize, conjunct 3, state: scheduled for assigned of r": (
            "No sentence says whether the priority of a set may change once none of its recipes waits: nothing reads it then."
        ),
    },
    "repaired": {
        "action abort_dead, conjunct 1, state: new for assigned of r": (
            "No sentence says whether a recipe may be aborted before the new job loop has looked for a system. An assigned one is never dead."
        ),
        "row System.release from scheduled, target: idle for pending": (
            "The interpretation a-scheduled-recipe-returns-its-system-as-pending: line 186 allows idle, and the retained loop wakes it."
        ),
    },
}
"""Exchanges that violate no property of the proposal, and differ from it."""
FIRST_OF_ALL = (
    "If an assigned recipe of an earlier set keeps the system from another one, then the first of all such sets can take it: for that "
    "recipe, or for the one whose seat it is. That there is a first of finitely many is no formula that z3 could be given."
)
UNPROVED: Mapping[str, str] = {
    f"action {action}, quantifier: every for some (2)": FIRST_OF_ALL
    for action in ("make_idle, conjunct 2", "wake, conjunct 3")
}
"""Exchanges of ``repaired`` that can take no other step, and are not proved to."""


def places_by_cost(variant: str) -> tuple[list[Place], range]:
    """The places of a variant, each once, and the numbers of those that ``verify`` explores."""
    shown = {each.about for each in (SEATED_CONFIGURATIONS if variant == "repaired" else CONFIGURATIONS)}
    once = {place.name: place for place in places(variant)}
    return sorted(once.values(), key=lambda place: place.name not in shown), range(len(shown))


def unproved_exchanges(variant: str, some: Sequence[Mutant]) -> set[str]:
    """The exchanges that are neither proved to mean the same nor to take the same steps."""
    model = VARIANTS[variant]
    left = unexplained(model, some, lambda mutant: None, LEMMAS[variant])
    invariants = [p for p in model.properties if isinstance(p, Invariant) and p.name not in model.refuted]
    same_steps = SameSteps(model, [*invariants, *LEMMAS[variant]])
    return {m.name for m in some if m.name in left and same_steps.unproved(checked(m.build())) is not None}


@pytest.mark.parametrize(
    ("variant", "one_in"),
    [
        pytest.param("as-written", 12, marks=pytest.mark.long(one_in=12)),
        pytest.param("repaired", 80, marks=pytest.mark.long(one_in=12)),
    ],
)
def test_exchanges_break_a_property_of_the_proposal(variant: str, one_in: int) -> None:
    """All are refused, violate a property or change a verdict, or are equivalent, but for those that are left open.

    There are 1625 of ``as-written``, and 2690 of ``repaired``: 2325 violate a property, 65 are refused, 296 are proved the same.
    """
    some = [m for m in exchanges(VARIANTS[variant]) if drawn(m.name, one_in)]
    assert len(some) > 1500 / one_in / 2
    noticing = Noticing(VARIANTS[variant], *places_by_cost(variant))
    ways = {m.name: noticing.noticed(m).by for m in some}
    assert {name for name, by in ways.items() if by == DIFFERS} == {m.name for m in some} & set(LEFT_OPEN[variant])
    left = unproved_exchanges(variant, [m for m in some if ways[m.name] == SAME])
    assert left == {m.name for m in some} & set(UNPROVED)


@pytest.mark.long
def test_the_exchanges_that_are_named_are_made() -> None:
    for variant, names in {**LEFT_OPEN, "repaired": {**LEFT_OPEN["repaired"], **UNPROVED}}.items():
        assert set(names) <= {m.name for m in exchanges(VARIANTS[variant])}


@pytest.mark.long
def test_what_a_mutant_does_not_concern_it_does_as_the_model() -> None:
    """Mutants are compared in the steps of the actions that they concern: of the others there is nothing to see."""
    places_of = {"batch": places("batch")[:2], "as-written": places("as-written")[:1]}
    differing = 0
    for variant, some in places_of.items():
        model = VARIANTS[variant]
        graphs = [graph_of(model, place) for place in some]
        for mutant in list(named(variant).values())[::8]:
            with suppress(ModelError):
                other = checked(mutant.build())
                names = concerned(model, other)
                others = {action.name for action in model.actions} - names
                for place, graph in zip(some, graphs, strict=True):
                    assert other_step(other, place, graph, others) is None, mutant.name
                    differing += other_step(other, place, graph, names) is not None
    assert differing > 5


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_rule_conjunct_and_row_has_its_mutant(variant: str) -> None:
    model = VARIANTS[variant]
    expected = len(model.rules) + len(model.rows)
    expected += sum(len(rule.when) for rule in model.rules) + sum(len(a.when) for a in model.actions)
    assert len(named(variant)) == len(list(mutants(model))) == expected


# --- Equivalent mutants, proved to be ----------------------------------------------------------------------------------

HARMLESS: Mapping[str, Term] = {
    # what is done although the condition does not hold changes nothing
    "rule find_idle fixes the lab, condition 1": r.recipe_set.lab == s.lab,
    "rule give_to_assigned fixes the lab, condition 1": r.recipe_set.lab == s.lab,
    # who does not have it in the set loses nothing: this says no more than the condition
    "rule the others forget an earlier assignment, condition 1": ~k.behind.has(j),
    **{
        f"rule {action} gives back what holds it, condition 2": (r.recipe_set.lab == t.NONE)
        & (r.recipe_set.seating == t.NONE)
        & ~exists(k, r.recipe_set.behind.has(k))
        for action in ("make_manual", "break_down")
    },
}

AHEAD = b.ahead.has(q)
SYSTEMS = [
    Invariant(name="system 1", says="", over=[s], given=s.is_("scheduled"), then=s.condition == "Automated"),
    Invariant(name="system 2", says="", over=[s], given=s.condition != "Automated", then=s.adjustable),
]
LEMMAS: Mapping[str, Sequence[Invariant]] = {
    "batch": [
        Invariant(name="ahead 1", says="", over=[b, q], given=AHEAD, then=~q.is_("new", "processed")),
        Invariant(name="ahead 2", says="", over=[b, q], given=AHEAD & q.is_("queued"), then=b.is_("scheduling")),
    ],
    "as-written": SYSTEMS,
    "repaired": [
        *SYSTEMS,
        Invariant(name="set 1", says="", over=[j, k], given=j.lab == t.NONE, then=~j.behind.has(k)),
        Invariant(
            name="set 2",
            says="",
            over=[r],
            given=r.is_(*EXECUTING),
            then=(r.recipe_set.lab == t.NONE) & (r.recipe_set.seating == t.NONE),
        ),
        Invariant(
            name="set 3",
            says="",
            over=[r, q],
            given=(r.recipe_set == q.recipe_set) & (r != q) & r.is_("completed"),
            then=~q.is_("new", "queued", "assigned", "scheduled"),
        ),
        Invariant(
            name="system 3",
            says="",
            over=[r, s],
            given=r.system == s,
            then=r.viable.has(s) & (s.condition == "Automated"),
        ),
    ],
}
"""What no property says, but the reasons rest on; proved with them."""


def over(parts: Sequence[Term], known: Sequence[Var]) -> list[Var]:
    """The variables of ``parts`` that are not ``known``."""
    free: dict[str, Var] = {}
    for part in parts:
        free |= t.free_variables(part)
    return [v for name, v in free.items() if name not in {k.name for k in known}]


def claims(model: Model, name: str) -> Iterator[Property]:
    """What makes the mutant of that name an equivalent one: what it leaves out says nothing new."""
    for action in model.actions:
        for n, conjunct in enumerate(action.when):
            if name == f"action {action.name}, conjunct {n + 1}":
                others = [*action.when[:n], *action.when[n + 1 :]]
                yield Invariant(name=name, says="", over=action.parameters, given=premise(others), then=conjunct)
    for rule in model.rules:
        if name == f"rule {rule.name}":
            yield of_a_step(rule, name, [], ~both([*rule.when]))
        for n, condition in enumerate(rule.when):
            if name == f"rule {rule.name}, condition {n + 1}":
                then = condition | HARMLESS[name] if name in HARMLESS else condition
                yield of_a_step(rule, name, [*rule.when[:n], *rule.when[n + 1 :]], then)
    for row in model.rows:
        if name == f"row {row.name}":
            it = Var("it", Ref(row.sort))
            yield StepInvariant(name=name, says="", over=[it], given=it.fires(row.event), then=~it.is_(row.source))


def premise(parts: Sequence[Term]) -> Term | None:
    """The conjunction of parts, if there are any."""
    return both(parts) if parts else None


def of_a_step(rule: Rule, name: str, others: Sequence[Term], then: Term) -> StepInvariant:
    """Whenever the rule is asked and the other conditions hold, so does ``then``."""
    if isinstance(rule.on, Action):
        variables = over([*rule.when, rule.fires], rule.on.parameters)
        return StepInvariant(name=name, says="", over=variables, on=[rule.on.name], given=premise(others), then=then)
    assert isinstance(rule.on, Fires)
    asked = [rule.on, *others]
    return StepInvariant(name=name, says="", over=over([*asked, *rule.when], []), given=both(asked), then=then)


def unproved(variant: str, names: Sequence[str]) -> list[str]:
    """The mutants among ``names`` that are not proved to be equivalent, for any number of objects.

    That the model's own invariants hold is what ``schedproof verify`` proves: they need not be proved here again.
    """
    model = VARIANTS[variant]
    asked = [claim for name in names for claim in claims(model, name)]
    assert [claim.name for claim in asked] == list(names), "there is no such mutant any more"
    kept = [p for p in model.properties if isinstance(p, Invariant) and p.name not in model.refuted]
    lemmas_too = model.asking([*kept, *LEMMAS[variant], *asked])
    induction = prove(lemmas_too, every=False, known={WELL_FORMED, *(p.name for p in kept)})
    return [name for name in names if not induction.proved(name)]


@pytest.mark.parametrize("variant", [pytest.param(v, marks=pytest.mark.long) for v in EQUIVALENT])
def test_equivalent_mutants_are_proved_to_be(variant: str) -> None:
    assert unproved(variant, list(listed(variant))) == []
    assert all(len(entry["reason"]) > 20 for entry in listed(variant).values())


@pytest.mark.parametrize(
    "variant", [v if v == "batch" else pytest.param(v, marks=pytest.mark.long) for v in EQUIVALENT]
)
def test_equivalent_mutants_are_not_caught(variant: str) -> None:
    twin = Twin(VARIANTS[variant], places(variant)[:9], properties=False)  # any number of objects: see above
    caught = {name: twin.caught(named(variant)[name]) for name in listed(variant)}
    assert {name: reason for name, reason in caught.items() if reason is not None} == {}, "take it off the list"


def test_a_mutant_that_differs_is_not_proved_to_be_equivalent() -> None:
    differing = ["action run, conjunct 1", "rule complete frees the system, condition 1", "row Recipe.run from waiting"]
    assert unproved("batch", differing) == differing
