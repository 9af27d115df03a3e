"""Models in TLA+: what is written parses, and a reader of its own (``tla_reader``) finds the same states, steps and violated properties."""

from __future__ import annotations

from dataclasses import replace

import pytest

from schedproof.model.lang import DeadlockFree, Invariant, LeadsTo
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.model.registry.discovery import systems
from schedproof.model.semantics import Instance, bounds_of, instances
from schedproof.model.systems.hived import AS_WRITTEN, REPAIRED
from schedproof.proofs.export import Module, Unwritable, tla
from tests.proofs.export.exported import ODDLY_NAMED, VARIANTS, by_exploration, only
from tests.proofs.export.tla_reader import Explored, Failed, Reader, Refused, explored, parse
from tests.support.rows import each_row
from tests.support.sample import thinned
from tests.support.toys import MUTEX, WORKSHOP


def invariants(module: Module) -> list[str]:
    """The invariants that the configuration asks TLC to check."""
    return configured(module, "INVARIANT")


def configured(module: Module, what: str) -> list[str]:
    """What the configuration names after a word."""
    words = [line.split() for line in module.configuration.splitlines()]
    return [line[1] for line in words if line[0] == what]


def read(module: Module, text: str | None = None, most: int = 10_000) -> Explored:
    """The states of the module, as TLC finds them."""
    constraint = "".join(configured(module, "CONSTRAINT"))
    return explored(Reader(module.text if text is None else text), invariants(module), most, constraint)


def steps(result: Explored, module: Module, instance: Instance) -> dict[str, int]:
    """The length of a shortest run to where each property is broken: what is said of steps is checked in the state before."""
    first, *checked = invariants(module)
    assert first == "TypeOK" and first not in result.broken, "what is no value of its type is no state"
    required = [p.name for p in module.properties.checked if not isinstance(p, LeadsTo)]
    names = dict(zip(checked, [WELL_FORMED, *required], strict=True))
    of_states = {p.name for p in instance.model.properties if isinstance(p, Invariant | DeadlockFree)}
    return {names[name]: depth + (names[name] not in of_states) for name, depth in result.broken.items()}


def same(instance: Instance, most: int = 10_000) -> None:
    """Counts and verdicts. Of a model with bounds, TLC checks the first states beyond them, too."""
    module = tla(instance, only=None)
    actual, expected = read(module, most=most), by_exploration(instance, most)
    assert (actual.states, actual.transitions) == (expected.states, expected.transitions)
    broken = steps(actual, module, instance)
    if not bounds_of(instance):
        assert broken == expected.broken
    assert all(broken[name] <= depth for name, depth in expected.broken.items())


@pytest.mark.parametrize(
    "instance",
    [
        only(AS_WRITTEN, PodGroup=2, Cell=2),
        pytest.param(
            replace(only(AS_WRITTEN, PodGroup=2, Cell=2), with_history=True), marks=pytest.mark.long(one_in=32)
        ),
        only(MUTEX),
        only(WORKSHOP),
        only(WORKSHOP, Worker=1, Tool=2),
    ],
    ids=["hived", "hived with history", "mutex", "workshop", "workshop of two tools"],
)
def test_the_same_states_steps_and_broken_properties(instance: Instance) -> None:
    same(instance)


MOST = 40
"""States from which steps are taken, and a layer more: enough for every action that begins there, and little enough for a reader in Python."""


@pytest.mark.long(one_in=18)
@pytest.mark.parametrize(("system", "variant"), VARIANTS)
def test_the_same_in_every_variant(system: str, variant: str) -> None:
    """The states that are nearest to the initial one, in the last configuration."""
    model = systems()[system].variants[variant]
    *_, last = instances(model, dict(model.default_scope))
    same(last, MOST)


@pytest.mark.parametrize(("system", "variant"), thinned(VARIANTS, 8))
def test_every_variant_parses(system: str, variant: str) -> None:
    model = systems()[system].variants[variant]
    module = tla(next(iter(instances(model, dict(model.default_scope), with_history=True))), only=None)
    parse(module.text)
    assert module.text.startswith(f"---- MODULE {module.name} ----\n")


def test_leads_to_is_written() -> None:
    module = tla(only(MUTEX), only=["strongly-fair-entry"])
    parse(module.text)
    assert '((Process[p].state = "Trying") ~> (Process[p].state = "Inside"))' in module.text
    assert "(\\A p \\in Processs, lock \\in Locks : SF_vars(enter(p, lock)))" in module.text
    assert "(<>[][~(\\E p \\in Processs : scare(p))]_vars)" in module.text
    assert module.configuration.splitlines()[-1] == "PROPERTY strongly_fair_entry"
    assert isinstance(module.properties.checked[0], LeadsTo)


def test_what_cannot_be_said_is_said_so() -> None:
    module = tla(only(WORKSHOP), only=None)
    assert set(module.properties.left_out) == {"worker-life", "can-be-free", "can-wear-out"}
    assert "\\* can-be-free: " in module.text
    with pytest.raises(Unwritable, match=r"'can-be-free' cannot be written: .*linear time"):
        tla(only(WORKSHOP), only=["can-be-free"])
    with pytest.raises(Unwritable, match="reads what is recorded"):
        tla(only(AS_WRITTEN), only=["placements-are-disjoint"])
    with pytest.raises(Unwritable, match="unknown property 'nosuch'"):
        tla(only(AS_WRITTEN), only=["nosuch"])
    with pytest.raises(Unwritable, match="speaks of crashes"):
        tla(replace(only(AS_WRITTEN), with_history=True), only=["recovery-from-durable"], crash=False)


def test_names_of_the_language_are_no_names() -> None:
    """Nor is one given twice: not to a variable that is named like an action, or like an action's parameter."""
    same(only(ODDLY_NAMED))
    assert "MODULE a_system_1_0 ----" in tla(only(ODDLY_NAMED), only=None).text


SEEDED = [
    ("a guard is left out", '  /\\ Tool[x].wear < 2\n', ""),
    ("nothing becomes of tools", "  /\\ Tool' = Tool_next(F)", "  /\\ UNCHANGED Tool"),
    ("nothing is said of tools", "  /\\ Tool' = Tool_next(F)\n", ""),
    ("a row sets nothing", "!.jobs = (Worker[f.me].jobs + 1), ", ""),
    ("a row leads elsewhere", '[Worker[x] EXCEPT !.state = "Idle"', '[Worker[x] EXCEPT !.state = "Busy"'),
    ("the condition of a rule is turned round", "Tool[x_2].by = v", "Tool[x_2].by # v"),
    ("a rule asks of the wrong event", "(~(\\E f \\in fires_Worker_drop : f.me = v))", "TRUE"),
    ("who begins is tense", 'mood |-> "tense"', 'mood |-> "calm"'),
    ("what fires is not passed on", "!.Worker_cheer = fires_Worker_cheer", "!.Worker_cheer = {}"),
    ("an action is left out of the steps", "  \\/ \\E x \\in Tools : kick(x)\n", ""),
    ("a property is weaker", "Worker[w].tired = FALSE", "Worker[w].tired \\in BOOLEAN"),
    ("another is stronger", "Worker[w].jobs = 1", "Worker[w].jobs = 0"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new"), thinned([p[1:] for p in SEEDED], 8), ids=[p[0] for p in SEEDED])
def test_a_seeded_bug_is_noticed(old: str, new: str) -> None:
    instance = only(WORKSHOP)
    module, expected = tla(instance, only=None), by_exploration(instance)
    assert old in module.text
    try:
        actual = read(module, module.text.replace(old, new))
    except (Failed, Refused):
        return
    assert (actual.states, actual.transitions, steps(actual, module, instance)) != (
        expected.states,
        expected.transitions,
        expected.broken,
    )


def test_a_rule_that_is_not_written_is_noticed() -> None:
    less, expected = only(replace(WORKSHOP, rules=WORKSHOP.rules[1:])), by_exploration(only(WORKSHOP))
    try:
        actual = read(tla(less, only=None))
    except Failed:
        return
    assert (actual.states, actual.transitions) != (expected.states, expected.transitions)


HEAD = "---- MODULE m ----\nEXTENDS Integers, FiniteSets\nVARIABLES a, b\nInit ==\n  /\\ a = 0\n  /\\ b = {}\n"


def of(body: str) -> Explored:
    return explored(Reader(f"{HEAD}{body}\n===="), ["P"] if "P ==" in body else [])


def test_the_reader_counts_as_it_should() -> None:
    """By hand: a counts to 2, b is any set of what a has been; each way to a state counts."""
    counted = of(
        "Next == (a < 2 /\\ a' = a + 1 /\\ \\E x \\in {{}, {a}} : b' = b \\cup x) \\/ (a = 2 /\\ UNCHANGED a /\\ UNCHANGED b)"
    )
    assert (counted.states, counted.transitions) == (1 + 2 + 4, 2 + 4 + 4)
    assert of("Next == a' = 1 - a /\\ UNCHANGED b\nP == a = 0").broken == {"P": 1}


@each_row(
    "body",
    [
        "Next == a' = 1",
        "Next == a' = 1 /\\ a' = 1 /\\ UNCHANGED b",
        "Next == \\E a \\in {1} : UNCHANGED a /\\ UNCHANGED b",
        "Next == \\E x \\in {1} : (\\E x \\in {2} : UNCHANGED a) /\\ UNCHANGED b",
        "Next == UNCHANGED a /\\ UNCHANGED b\nP == a = 0 /\\ a = 1 \\/ b = {}",
        "Next == UNCHANGED a /\\ UNCHANGED b\nP == a = 0 = TRUE",
        "Next == UNCHANGED a /\\ UNCHANGED b\nP == c = 0",
        "Next == UNCHANGED a /\\ UNCHANGED b\nP == LET f == 1\n f == 2 IN f = 1",
        "Next == UNCHANGED a /\\ UNCHANGED b\nP ==",
        "Q(x) == x = 1\nNext == UNCHANGED a /\\ UNCHANGED b\nP == Q(1, 2)",
    ],
)
def test_what_is_no_module_is_refused(body: str) -> None:
    with pytest.raises(Refused):
        of(body)


@each_row(
    "formula",
    [
        'a = "0"', "a = FALSE", '"x" \\in {1}', "[x \\in {1} |-> x][a] = 1", "[c |-> 1].d = 1", "a", "(CHOOSE x \\in {1, 2} : TRUE) = 1",
        "(CASE a = 1 -> 1) = 1", "[[c |-> 1] EXCEPT !.d = 2].c = 1",
    ],
)  # fmt: skip
def test_what_has_no_value_fails(formula: str) -> None:
    with pytest.raises(Failed):
        of(f"Next == UNCHANGED a /\\ UNCHANGED b\nP == {formula}")


def test_the_text_can_be_read() -> None:
    text = tla(only(REPAIRED, PodGroup=2, Cell=2), only=None).text
    assert "Cells == 0 .. 1\n" in text
    assert "PodGroup_outranks == [x \\in PodGroups |-> CASE x = 0 -> {} [] x = 1 -> {0}]\n" in text
    assert "fires_Cell_e9 == {c : <<p_2, c>> \\in {<<p_2, c>> \\in PodGroups \\X Cells : " in text
    assert "  \\/ \\E p \\in PodGroups, K \\in SUBSET Cells : preempt(p, K)\n" in text
