"""HiveD's model as an interpretation of its document: each change of ``repaired`` is needed, each quotation is one."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from schedproof.model.lang import (
    Change,
    Contradiction,
    Invariant,
    Model,
    ModelError,
    Rule,
    StepInvariant,
    exists,
    implies,
    variable,
)
from schedproof.model.lang.check import checked
from schedproof.model.lang.terms import And, Implies, Term
from schedproof.model.ledger.statements import statements
from schedproof.model.registry.discovery import systems
from schedproof.model.systems.hived import AS_WRITTEN, REPAIRED
from schedproof.model.systems.hived.contradictions import CONTRADICTIONS
from schedproof.model.systems.hived.machines import Cell, c, p, q
from schedproof.model.systems.hived.variants import FAIR_TO_THE_GROUP
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.verdict import Verdict
from schedproof.proofs.verification.defects import defects
from schedproof.proofs.verification.findings import repair_of
from tests.support.needs import needs_shared
from tests.support.places import SHARED
from tests.support.rows import each_row
from tests.support.sample import thinned

REPAIRS = [change for change in REPAIRED.changes if change.repairs or change.weakens]


def less(change: Change) -> Model:
    """The repaired variant without one of its changes."""
    others = [other for other in REPAIRED.changes if other is not change]
    return AS_WRITTEN.amend("less", "", others, refuted=frozenset())


def refuted(model: Model) -> set[str]:
    """What exploration refutes, of the properties that the document breaks as written."""
    broken = [prop.name for prop in model.properties if prop.name in AS_WRITTEN.refuted]
    return {r.name for r in model_check(model, {}, only=broken) if r.verdict is Verdict.REFUTED}


@pytest.mark.parametrize("change", thinned(REPAIRS, 3, first=1), ids=lambda change: change.why[:30])
def test_without_one_change_just_what_it_repairs_is_broken_again(change: Change) -> None:
    """So no change is idle, and none keeps silent about a property that it is needed for."""
    assert refuted(less(change)) == {*change.repairs, *change.weakens}


def test_the_change_that_repairs_nothing_only_follows_another() -> None:
    """Its property speaks of an action that is no longer there."""
    assert [change for change in REPAIRED.changes if change not in REPAIRS] == [FAIR_TO_THE_GROUP]
    with pytest.raises(ModelError, match="unknown action 'vacate'"):
        checked(less(FAIR_TO_THE_GROUP))


def test_every_broken_property_is_repaired() -> None:
    assert {name for change in REPAIRS for name in (*change.repairs, *change.weakens)} == AS_WRITTEN.refuted


def test_a_finding_names_every_change_that_its_property_needs() -> None:
    needed = [change.why for change in REPAIRED.changes if "preemption-ongoing" in change.repairs]
    assert len(needed) == 2
    repair = repair_of(systems()["hived"], "preemption-ongoing")
    assert all(why in repair for why in needed)
    assert repair_of(systems()["hived"], "deleted-is-final") == "none is modelled"


def test_a_victim_on_two_cells_comes_back_with_one() -> None:
    """The finding does not hang on victims with a single cell: some of the cells may be left."""
    partly = Invariant(
        name="allocated-in-part",
        says="an Allocated group that uses one of its cells uses all of them",
        over=[p, c],
        given=p.is_("Allocated") & exists(c, c.user == p),
        then=implies(p.placement.has(c), c.user == p),
    )
    model = AS_WRITTEN.amend("partly", "", [Change("", repairs=[], adds=[partly])], refuted=AS_WRITTEN.refuted)
    [result] = [r for r in model_check(model, {}, only=[partly.name]) if r.name == partly.name]
    assert result.verdict is Verdict.REFUTED and result.counterexample is not None
    assert [step.action for step in result.counterexample.steps] == ["allocate", "preempt", "vacate", "crash"]


# --- Properties of the kind "only when": a rule too many breaks them (a rule too few: see test_mutants) --------------------

d = variable(Cell, "d")
complete = AS_WRITTEN.action("complete")
STRAY = {
    "preempted-only-at-its-cells": Rule("stray", p.fires("e1"), [q.is_("Allocated"), p.outranks.has(q)], q.fires("e6")),
    "cancelled-only-when-it-loses-a-cell": Rule(
        "stray", p.fires("e1"), [q.is_("Preempting"), p.outranks.has(q)], q.fires("e5")
    ),
    "free-cell-used-only-at-allocation": Rule("stray", complete, [c.is_("Free")], c.fires("e0", user=p)),
    "reserved-only-by-a-new-preemptor": Rule(
        "stray", c.fires("e9"), [d.is_("Free")], d.fires("e5", reserver=c.reserver)
    ),
}


@pytest.mark.parametrize("broken", STRAY)
def test_what_happens_without_its_cause_breaks_the_property(broken: str) -> None:
    change = Change("a seeded rule", repairs=[], adds=[STRAY[broken]])
    of = AS_WRITTEN if any(broken == each.name for each in AS_WRITTEN.properties) else REPAIRED
    stray = of.amend("stray", "", [change], refuted=of.refuted)
    for model, verdict in ((of, Verdict.PROVED), (stray, Verdict.REFUTED)):
        [result] = [r for r in model_check(model, {"PodGroup": 3, "Cell": 2}, only=[broken]) if r.name == broken]
        assert result.verdict is verdict


# --- The quotations ---------------------------------------------------------------------------------------------------

DOCUMENT = SHARED / "documents" / AS_WRITTEN.document.name
PROPERTIES = {p.name: p for model in (AS_WRITTEN, REPAIRED) for p in model.properties}
LINES = 10
"""How far below its line a quotation may reach: an operation is a list."""


def plain(text: str) -> str:
    """The document's text as quoted: events written e0, names of states without the bold."""
    return " ".join(re.sub(r"e<sub>(\w)</sub>", r"e\1", text).replace("__", "").split())


def is_quoted(sentence: str, text: str) -> bool:
    """The parts of ``sentence`` between dots stand in ``text``, in this order."""
    at = 0
    for part in sentence.split("..."):
        position = text.find(part.strip(), at)
        if position < 0:
            return False
        at = position + len(part.strip())
    return True


@needs_shared
@each_row("contradiction", CONTRADICTIONS, ids=lambda contradiction: contradiction.name)
def test_a_contradiction_quotes_the_document(contradiction: Contradiction) -> None:
    """In whole sentences: a reader sees each condition."""
    stated = {(each.line, each.text) for each in statements(DOCUMENT.read_text("utf-8"))}
    assert contradiction.quotes and contradiction.problem and contradiction.reading
    assert {*contradiction.quotes} <= stated


@needs_shared
@each_row("name", PROPERTIES)
def test_a_property_quotes_the_document_at_its_line(name: str) -> None:
    prop = PROPERTIES[name]
    assert prop.sentence and prop.line is not None
    lines = DOCUMENT.read_text().splitlines()[prop.line - 1 :]
    text = plain("\n".join(lines[:LINES]))
    assert is_quoted(prop.sentence, text)
    first = prop.sentence.removeprefix("...").split("...")[0].strip()
    assert first in plain(lines[0]) or plain(lines[0]) in first, "the quotation begins at its line"


def test_what_is_no_quotation_would_be_noticed() -> None:
    assert is_quoted("a ... c", "a b c") and not is_quoted("c ... a", "a b c") and not is_quoted("a c", "a b c")


def inner_premises(term: Term) -> list[Term]:
    """The premises of the implications that ``term`` is a conjunction of."""
    if isinstance(term, And):
        return [premise for part in term.parts for premise in inner_premises(part)]
    return [term.premise] if isinstance(term, Implies) else []


@pytest.mark.parametrize("model", thinned([AS_WRITTEN, REPAIRED], 2, first=1), ids=lambda model: model.variant)
def test_no_implication_inside_a_property_is_idle(model: Model) -> None:
    """``verify`` sees that every ``given`` is met; the premises inside ``then`` are met as well."""
    asked = []
    for prop in model.properties:
        if isinstance(prop, Invariant | StepInvariant):
            for n, premise in enumerate(inner_premises(prop.then)):
                given = premise if prop.given is None else prop.given & premise
                asked.append(replace(prop, name=f"{prop.name} {n}", given=given, then=premise))
    assert asked
    results = model_check(model.asking(asked), {}, only=[prop.name for prop in asked])
    assert {r.name: r.verdict for r in results} == {prop.name: Verdict.PROVED for prop in asked}


@pytest.mark.long
def test_e1_forgets_victims_also_without_another_mistake() -> None:
    """Its run has a victim whose preemption goes on: no preemptor gives up, as in no-way-back-to-allocated."""
    (shown,) = [
        each.shown for each in defects(systems()["hived"], variants=["as-written"]) if each.name == "e1-forgets-victims"
    ]
    assert [step.action for step in shown.counterexample.steps] == ["allocate", "preempt", "vacate", "delete_preempted"]
