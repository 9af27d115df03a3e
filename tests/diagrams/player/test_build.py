"""The data of a page: what a run changes and why, and the value of each part of a formula."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from schedproof.diagrams.errors import DiagramError
from schedproof.diagrams.player import build
from schedproof.diagrams.player.build import played
from schedproof.diagrams.player.data import About, Part, Played
from schedproof.diagrams.player.formulas import MOST_PARTS
from schedproof.model.lang import Invariant, Model, StepInvariant, after, exists, forall, iff, implies, variable
from schedproof.model.lang.terms import both
from schedproof.model.semantics import Instance
from schedproof.model.systems.beaker import AS_WRITTEN as BEAKER
from schedproof.model.systems.hived import AS_WRITTEN as HIVED
from schedproof.proofs.exploration.counterexample_text import shown
from schedproof.proofs.exploration.runs import counterexample_of
from schedproof.proofs.verdict import Counterexample
from tests.diagrams.player.runs import RUNS, blinking, refuted
from tests.support.lamps import Lamp, lamps
from tests.support.toys import MUTEX

x, y = variable(Lamp, "x"), variable(Lamp, "y")

runs = pytest.mark.parametrize(("model", "name"), RUNS, ids=lambda each: each if isinstance(each, str) else each.system)


def data(model: Model, name: str) -> Played:
    return played(model, refuted(model, name), About(name), model.property(name))


def at(values: tuple[tuple[int, str], ...], position: int) -> str:
    """The value at a position."""
    return [value for first, value in values if first <= position][-1]


def every_part(part: Part) -> Iterator[Part]:
    yield part
    for each in part.parts:
        yield from every_part(each)


@runs
def test_the_changes_are_those_of_the_counterexample(model: Model, name: str) -> None:
    example, shown_run = refuted(model, name), data(model, name)
    for step, reported in zip(shown_run.steps, example.steps, strict=True):
        changed = {(f.object, f.event, k): v for f in step.firings for k, v in f.changes.items()}
        assert changed == {(c.object, c.event, c.field): (shown(c.before), shown(c.after)) for c in reported.changes}
        assert (step.says, step.action, step.line) == (reported.says, reported.action, reported.line)


@runs
def test_the_changes_lead_from_the_first_to_the_final_state(model: Model, name: str) -> None:
    example, shown_run = refuted(model, name), data(model, name)
    state = {lane.name: dict(lane.initial) for lane in shown_run.lanes}
    for step in shown_run.steps:
        for firing in step.firings:
            for field, (old, new) in firing.changes.items():
                assert state[firing.object][field] == old
                state[firing.object][field] = new
            if firing.source:
                assert firing.target == state[firing.object]["state"]
    for facts in example.end:
        assert {field: state[facts.object][field] for field in facts.fields} == {
            field: shown(value) for field, value in facts.fields.items()
        }


@runs
def test_every_chain_of_causes_begins_with_the_action(model: Model, name: str) -> None:
    for step in data(model, name).steps:
        for number, firing in enumerate(step.firings):
            cause = firing.cause
            assert cause.is_rule or (cause.name, cause.firing) == (step.action, None)
            assert cause.firing is None or cause.firing < number
            if cause.firing is not None:
                rule = next(rule for rule in model.rules if rule.name == cause.name)
                assert step.firings[cause.firing].event.endswith(f".{rule.on.event}")  # type: ignore[union-attr]


def test_hived_s_victim_is_preempted_by_its_cell() -> None:
    """Line 69 reserves the cell, and line 193 preempts the group that uses it."""
    step = data(HIVED, "placements-are-disjoint").steps[1]
    chain = [(f.object, f.event, f.cause.name, f.cause.line, f.cause.firing) for f in step.firings]
    assert chain == [
        ("g1", "PodGroup.e1", "preempt", 63, None),
        ("c0", "Cell.e2", "e1 reserves Used cells", 69, None),
        ("g0", "PodGroup.e6", "e2 preempts the user", 193, 1),
    ]


@runs
def test_a_property_fails_at_the_end_and_not_before(model: Model, name: str) -> None:
    shown_run = data(model, name)
    last = len(shown_run.steps)
    if [formula.title for formula in shown_run.formulas] == ["The property"]:
        (formula,) = shown_run.formulas
        assert formula.part.required
        assert at(formula.part.values, last) == "false"
        assert all(at(formula.part.values, n) in ("", "true") for n in range(last))
    else:
        premise, goal = shown_run.formulas
        assert at(goal.part.values, last) == "false"
        assert "true" in dict(premise.part.values).values()


@runs
def test_a_compound_has_the_value_of_its_parts(model: Model, name: str) -> None:
    """Each part is evaluated by itself, so the joints say whether all of them are right."""
    shown_run = data(model, name)
    compounds = [p for formula in shown_run.formulas for p in every_part(formula.part) if p.parts]
    for part in compounds:
        for position in range(len(shown_run.steps) + 1):
            values = [at(each.values, position) for each in part.parts]
            if set(values) <= {"true", "false"}:
                truths = [value == "true" for value in values]
                joints = {
                    "all of": all(truths),
                    "one of": any(truths),
                    "not": not truths[0],
                    "if, then": not truths[0] or truths[-1],
                    "both or neither": truths[0] == truths[-1],
                }
                is_true = joints.get(part.text, any(truths) if part.text.startswith("for some") else all(truths))
                assert at(part.values, position) == ("true" if is_true else "false"), part.text
            elif set(values) == {""}:
                assert at(part.values, position) == ""


def test_every_joint_is_among_the_runs() -> None:
    formulas = [formula for run in RUNS for formula in data(*run).formulas]
    joints = {part.text.split(" x")[0] for formula in formulas for part in every_part(formula.part) if part.parts}
    assert {"all of", "one of", "not", "if, then"} <= joints
    assert {joint.split()[1] for joint in joints if joint.startswith("for ")} == {"every", "some"}


def test_hived_s_property_part_by_part() -> None:
    """g0 has c0 on record from step 1 on, g2 from step 4 on."""
    (formula,) = data(HIVED, "placements-are-disjoint").formulas
    premise, conclusion = formula.part.parts
    assert (premise.role, premise.required, conclusion.role, conclusion.required) == ("if", False, "then", True)
    differ, on_record = premise.parts
    assert (differ.text, differ.values) == ("g0 not g2", ((0, "true"),))
    assert (on_record.text, on_record.values) == ("c0 in g0.placement", ((0, "false"), (1, "true")))
    assert [(f.text, f.values) for f in on_record.fields] == [("g0.placement", ((0, "{}"), (1, "{c0}")))]
    assert (conclusion.text, conclusion.values) == ("not (c0 in g2.placement)", ((0, "true"), (4, "false")))


def test_a_step_is_evaluated_with_its_events_and_both_states() -> None:
    (formula,) = data(HIVED, "cell-e2-preempts-an-allocated-group").formulas
    assert formula.part.values == ((0, ""), (1, "true"), (3, "false"))
    (fires, _), _ = formula.part.parts[0].parts, formula.part.parts[1]
    assert (fires.text, fires.values) == ("e2 on c1", ((0, ""), (1, "false"), (3, "true")))


def test_a_compound_after_the_step_is_read_after_it() -> None:
    """Lamp l0 is switched on, then off; l1 is off."""
    then = after((x.is_("On") & ~exists(y, y.is_("Off"))) | iff(x.is_("Off"), x.fires("off")))
    prop = StepInvariant(name="p", says="p", over=[x], given=x.is_("Off"), then=then)
    run = blinking(2)
    assert run.recorded is not None
    example = replace(run, recorded=replace(run.recorded, bound={"x": 0}))
    (formula,) = played(lamps(), example, About("p"), prop).formulas
    assert [(p.role, p.text, p.required, [at(p.values, n) for n in range(3)]) for p in every_part(formula.part)] == [
        ("", "if, then", True, ["", "true", "true"]),
        ("if", "l0 Off", False, ["", "true", "false"]),
        ("then", "one of", True, ["", "true", "true"]),
        ("", "all of", True, ["", "false", "false"]),
        ("", "afterwards l0 On", True, ["", "true", "false"]),
        ("", "not", True, ["", "false", "false"]),
        ("", "for some y", False, ["", "true", "true"]),
        ("y = l0", "afterwards l0 Off", False, ["", "false", "true"]),
        ("y = l1", "afterwards l1 Off", False, ["", "true", "true"]),
        ("", "both or neither", True, ["", "true", "true"]),
        ("", "afterwards l0 Off", None, ["", "false", "true"]),
        ("", "afterwards off on l0", None, ["", "false", "true"]),
    ]


def test_a_quantifier_over_many_objects_is_one_part() -> None:
    name = "held"
    prop = Invariant(name=name, says="p", over=[], then=forall([x, y], implies(x.is_("On"), y.is_("On"))))
    (small,) = played(lamps(), blinking(1), About(name), prop).formulas
    assert [part.role for part in small.part.parts] == [f"x = l{a}, y = l{b}" for a in (0, 1) for b in (0, 1)]
    many = counterexample_of(Instance(lamps(), {"Lamp": 4}), [], "nothing happens")
    (large,) = played(lamps(), many, About(name), prop).formulas
    assert (large.part.parts, large.part.text) == ((), "for every Lamp x, y: if x On, then y On")


def test_a_long_formula_shows_its_first_parts() -> None:
    """A part is shown with all of its parts, or as a whole."""
    lights = [variable(Lamp, f"y{n}") for n in range(100)]
    prop = Invariant(
        name="p", says="p", over=[], then=both([exists(v, v.is_("On")) | exists(v, v.is_("Off")) for v in lights])
    )
    (formula,) = played(lamps(), blinking(1), About("p"), prop).formulas
    parts = list(every_part(formula.part))
    assert MOST_PARTS - 10 < len(parts) <= MOST_PARTS
    assert len(formula.part.parts) == 100
    assert all(len(part.parts) in (0, 2) for part in parts[1:])


def test_equal_parts_are_one_part() -> None:
    on = x.is_("On")
    prop = Invariant(name="p", says="p", over=[x], then=(on & x.is_("Off") & on) | on)
    run = blinking(1)
    assert run.recorded is not None
    example = replace(run, recorded=replace(run.recorded, bound={"x": 0}))
    (formula,) = played(lamps(), example, About("p"), prop).formulas
    assert [part.text for part in every_part(formula.part)] == ["one of", "all of", "l0 On", "l0 Off", "l0 On"]
    assert [(each.name, each.value, each.sort) for each in formula.bound] == [("x", "l0", "lamp")]


def test_a_part_of_rigid_fields_is_fixed() -> None:
    """The jobs of two recipes are rigid; what is assigned and what a lab has is not."""
    (formula,) = data(BEAKER, "no-abba").formulas
    fixed = {part.text for part in every_part(formula.part) if part.is_fixed}
    assert {"r1.recipe_set not r2.recipe_set", "s1 in r1.viable", "s0 = s0", "s1 = s0"} <= fixed
    assert not {text for text in fixed if " assigned" in text or " scheduled" in text or "lab = none" in text}


def test_a_loop_is_that_of_the_lasso() -> None:
    example, shown_run = refuted(MUTEX, "weakly-fair-entry"), data(MUTEX, "weakly-fair-entry")
    assert shown_run.loops_from == example.loops_from is not None
    assert shown_run.loops_from < len(shown_run.steps)


def test_an_ill_formed_step_leads_to_no_state() -> None:
    example = blinking(1)
    (step,) = example.steps
    assert example.recorded is not None
    broken = Counterexample(
        [type(step)(step.action, step.parameters, step.says, step.line, (), ill_formed="x0 fires twice")],
        "x0 fires twice",
        recorded=example.recorded,
    )
    (shown_step,) = played(lamps(), broken, About("lamps"), None).steps
    assert (shown_step.firings, shown_step.ill_formed) == ((), "x0 fires twice")


def test_the_cited_lines_have_their_text() -> None:
    shown_run = data(HIVED, "placements-are-disjoint")
    assert shown_run.quotes["247"] == "Condition: the pod on this cell is deleted."
    assert not shown_run.facts


def test_a_run_that_is_not_the_model_s_is_refused() -> None:
    with pytest.raises(DiagramError, match="not a run of the model"):
        played(lamps(), Counterexample((), "a deadlock of threads"), About("locks"), None)


def test_a_run_that_is_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "MOST_STEPS", 3)
    assert len(played(lamps(), blinking(3), About("lamps"), None).steps) == 3
    with pytest.raises(DiagramError, match="the run has 4 steps, and a page plays at most 3"):
        played(lamps(), blinking(4), About("lamps"), None)
