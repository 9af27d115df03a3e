"""Which runs of one variant another can take: doors of which one part is different."""

from __future__ import annotations

from dataclasses import replace

from schedproof.model.lang import AlwaysCanReach, Invariant, Model, Row
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.exploration.recorded_run import instance_of, repeats
from schedproof.proofs.verdict import Counterexample
from schedproof.proofs.verification.replayed import replayed, replays
from tests.proofs.verification.test_defects import DOORS, Door, d, e, move
from tests.support.rows import each_row


def run_of(model: Model, name: str) -> Counterexample:
    """The shortest run that violates a property."""
    (result,) = [each for each in model_check(model, {}, only=[name]) if each.name == name]
    assert result.counterexample is not None
    return result.counterexample


JAMMED = DOORS.property("never-jammed")
KICKED = run_of(DOORS, "never-jammed")
SLAMMED = run_of(replace(DOORS, actions=[a for a in DOORS.actions if a.name != "kick"]), "never-jammed")


def test_the_runs_are_those_that_are_meant() -> None:
    assert [step.action for step in KICKED.steps] == ["kick"]
    assert [step.action for step in SLAMMED.steps] == ["open", "slam"]


def test_a_run_of_a_part_is_one_of_the_whole() -> None:
    assert replays(DOORS, JAMMED, KICKED) and replays(DOORS, JAMMED, SLAMMED)


OTHERS = {
    "no such action": replace(DOORS, actions=[a for a in DOORS.actions if a.name != "kick"]),
    "another guard": replace(DOORS, actions=[move("open", "Shut"), move("slam", "Open"), move("kick", "Open")]),
    "another target": replace(DOORS, rows=[*DOORS.rows[:2], Row(Door, "kick", "Shut", "Open", loud=True)]),
    "another update": replace(DOORS, rows=[*DOORS.rows[:2], Row(Door, "kick", "Shut", "Jammed", loud=False)]),
    "no row": replace(DOORS, rows=[*DOORS.rows[:2], Row(Door, "kick", "Open", "Jammed", loud=True)]),
}


@each_row("name", OTHERS)
def test_another_model_has_another_run(name: str) -> None:
    assert not replays(OTHERS[name], JAMMED, KICKED)


def test_fewer_objects_than_the_run_has() -> None:
    apart = Invariant(
        name="apart",
        says="no two doors are jammed",
        over=[d, e],
        given=d != e,
        then=~d.is_("Jammed") | ~e.is_("Jammed"),
    )
    model = replace(DOORS, properties=[apart], refuted=frozenset())
    assert replays(model, apart, run_of(model, "apart"))
    assert not replays(replace(model, default_scope={"Door": 1}), apart, run_of(model, "apart"))


def test_what_can_be_reached_after_a_run_is_not_in_the_run() -> None:
    shut = AlwaysCanReach(name="can-be-shut", says="a door can be shut", over=[d], goal=d.is_("Shut"))
    model = replace(DOORS, properties=[shut], refuted=frozenset())
    assert not replays(model, shut, run_of(model, "can-be-shut"))


def test_a_replayed_run_is_recorded_in_the_other_model() -> None:
    """Also if the model of the run has attributes, or objects in another configuration, that the other lacks."""
    in_doors = replayed(DOORS, JAMMED, SLAMMED)
    assert in_doors is not None and in_doors.recorded is not None
    assert [choice.action for choice in in_doors.recorded.choices] == ["open", "slam"]
    assert repeats(DOORS, in_doors.recorded)
    assert replayed(OTHERS["no row"], JAMMED, KICKED) is None


def test_a_replayed_run_keeps_the_history_of_its_property() -> None:
    (machine,) = DOORS.machines
    loud = [replace(each, history=each.name == "loud") for each in machine.attributes]
    quiet = Invariant(name="quiet", says="no door is loud", over=[d], then=~d.loud)
    model = replace(DOORS, machines=[replace(machine, attributes=loud)], properties=[quiet], refuted=frozenset())
    run = replayed(model, quiet, run_of(model, "quiet"))
    assert run is not None and run.recorded is not None
    instance = instance_of(model, run.recorded)
    assert "loud" in {each.name for each in instance.attributes("Door")}


def test_a_recorded_run_repeats_where_each_step_can_be_taken() -> None:
    recorded = KICKED.recorded
    assert recorded is not None and repeats(DOORS, recorded)
    for name in ("no such action", "another guard", "no row"):
        assert not repeats(OTHERS[name], recorded), name
    assert not repeats(DOORS, replace(recorded, sizes={**recorded.sizes, "Window": 1}))
    assert not repeats(DOORS, replace(recorded, rigid=(("Door", "colour", (0,)),)))
