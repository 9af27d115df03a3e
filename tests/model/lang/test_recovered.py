"""A derived attribute survives a crash because recovery computes it; the variants of a system say how."""

from __future__ import annotations

import dataclasses

import pytest

from schedproof.model.lang import NONE, Attribute, Model, ModelError, Recovery, Restored
from schedproof.model.lang.check import checked
from schedproof.model.lang.properties import Property
from schedproof.model.lang.recovered import check_recovered
from schedproof.model.lang.types import BoolType
from schedproof.model.registry.discovery import systems
from schedproof.model.registry.system import System
from schedproof.proofs.verification.verify import plan, verify_variant
from tests.model.lang.wrong_models import CRASH, CRASH_RULES, JOB, NODE, j, k, model
from tests.support.rows import each_row


def jobs(*properties: Property) -> Model:
    """Jobs that say whether they are new, which recovery is to compute."""
    new = Attribute("new", BoolType(), derived=True)
    job = dataclasses.replace(JOB, attributes=[*JOB.attributes, new])
    parts = {"machines": [job, NODE], "add_actions": [CRASH], "add_rules": CRASH_RULES}
    return checked(model(**parts, add_properties=properties))


SAVED = Recovery(name="recovery", says="", restores=[Restored([j], j.new, j.saved)])
OTHER = Recovery(name="recovery", says="", restores=[Restored([j, k], j.on == NONE, j.saved & k.saved)])


def test_a_derived_attribute_needs_a_recovery_that_computes_it() -> None:
    check_recovered(jobs(SAVED))
    for properties in ([], [OTHER]):
        with pytest.raises(
            ModelError, match=r"^[^ ]*: attribute Job.new: derived=True, and no Recovery of variant right"
        ):
            check_recovered(jobs(*properties))


def test_verify_refuses_it_before_any_work() -> None:
    alone = jobs()
    with pytest.raises(ModelError, match="add it to the restores of a Recovery, or leave derived out"):
        verify_variant(System.of(alone), alone)
    with pytest.raises(ModelError, match=r"attribute Job\.new"):
        plan([System.of(alone)])


def test_a_variant_may_be_asked_other_properties() -> None:
    """Each search for a run does so, and a question is no claim."""
    checked(jobs(SAVED).asking([]))


@each_row("name", sorted(systems()))
def test_every_variant_of_ours_computes_what_it_derives(name: str) -> None:
    for each in systems()[name].variants.values():
        check_recovered(each)
