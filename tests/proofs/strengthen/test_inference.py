"""The steps of an inference: what begins, what is kept, and what is forgotten with a lemma that is dropped."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import z3

from schedproof.model.lang import (
    NONE,
    Action,
    Attribute,
    BoolType,
    Invariant,
    Machine,
    Model,
    Row,
    Sort,
    State,
    me,
    variables,
)
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.proofs.induction.solve import Context
from schedproof.proofs.strengthen import prover, strengthen
from schedproof.proofs.strengthen.columns import States
from schedproof.proofs.strengthen.infer import OUTSIDE, Inference, Limits
from schedproof.proofs.strengthen.prover import Prover
from schedproof.proofs.strengthen.samples import Samples
from tests.proofs.strengthen.protocols import LEASES, LOCK_SERVER

p, q = LOCK_SERVER.properties[0].over


Flag = Sort("Flag", "f")
(flag,) = variables(Flag, "f")


def inference() -> Inference:
    samples = Samples(LOCK_SERVER)
    samples.explore({"Process": 3}, lambda: "")
    return Inference(LOCK_SERVER, samples, Limits(), lambda: "", lambda text: None)


def test_a_candidate_must_hold_at_the_beginning() -> None:
    prover = Prover(LOCK_SERVER)
    out = Invariant(name="out", says="nobody is out", over=[p], then=~p.is_("Out"))
    away = Invariant(name="away", says="nobody is in", over=[p], then=~p.is_("In"))
    assert [prover.begins(prover.translated(each)) for each in (out, away)] == [False, True]


def test_nothing_is_assumed_at_the_beginning() -> None:
    """An invariant that no state satisfies would prove everything, itself too."""
    prover = Prover(LOCK_SERVER)
    absurd = Invariant(name="absurd", says="no process is itself", over=[p], then=p != p)
    formulas = prover.translated(absurd)
    prover.add("absurd", formulas)
    initial = [each for each in formulas.obligations if not each.inductive]
    assert [prover.ask(each, {"absurd", "mutex"}).proved for each in initial] == [False]
    assert prover.ask(prover.goals[-1], {"absurd"}).used == {"absurd"}


def test_a_step_assumes_its_own_invariant() -> None:
    _, lease = LEASES.actions[0].parameters
    prover = Prover(LEASES)
    free = Invariant(
        name="free", says="a free lease has no holder", over=[lease], given=lease.is_("Free"), then=lease.holder == NONE
    )
    formulas = prover.translated(free)
    steps = [each for each in formulas.obligations if each.inductive]
    assert not all(prover.ask(each, (), short=True).proved for each in steps)
    prover.add("free", formulas)
    assert all(prover.ask(each, {"nosuch"}).used == {"free"} for each in steps)
    prover.remove("free")
    assert not all(prover.ask(each, {"free"}, short=True).proved for each in steps)


def test_obligations_of_actions_that_failed_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also the number of those that are left stays the same."""
    prover = Prover(LOCK_SERVER)
    formulas = prover.translated(LOCK_SERVER.properties[0])
    asked: list[z3.BoolRef] = []
    ask = Context.ask_nearby

    def asking(context: Context, goal: z3.BoolRef, *others: Any) -> tuple[bool, frozenset[str]]:
        asked.append(goal)
        return ask(context, goal, *others)

    monkeypatch.setattr(Context, "ask_nearby", asking)
    every = prover.failing(formulas, (), 9, lambda: "")
    last = len(asked)
    assert 0 < every < last
    assert prover.failing(formulas, (), every, lambda: "") == every
    assert len(asked) - last == every


def test_what_used_a_dropped_lemma_is_proved_again() -> None:
    one = inference()
    assert one.run()
    name = next(iter(one.lemmas))
    used_it = {key for key, used in one.proofs.items() if name in used}
    assert used_it
    one.drop(name)
    assert name not in one.lemmas
    assert not used_it & one.proofs.keys()
    assert one.run()
    assert used_it - {each for each in used_it if each.startswith(name)} <= one.proofs.keys()


def test_only_inductive_lemmas_are_kept_without_the_goals() -> None:
    one = inference()
    assert one.run()
    wrong = Invariant(name="wrong", says="nobody is in", over=[p], then=~p.is_("In"))
    formulas = one.prover.translated(wrong)
    one.prover.add("wrong", formulas)
    some = next(iter(one.lemmas.values()))
    one.lemmas["wrong"] = replace(some, prop=wrong, obligations=formulas.obligations)
    one.keep_inductive()
    assert "wrong" not in one.lemmas
    sound = {*one.lemmas, *one.given}
    assert all(one.proofs[each.name] <= sound for lemma in one.lemmas.values() for each in lemma.obligations)


def test_an_ill_formed_step_is_a_violation() -> None:
    w, lease = LEASES.actions[0].parameters
    hasty = Action(
        "acquire",
        [w, lease],
        [lease.is_("Free")],
        [w.fires("start"), lease.fires("take", by=w)],
        "{w} acquires",
    )
    model = replace(LEASES, actions=[hasty, LEASES.actions[1]])
    result = strengthen(model, "one-lease-each")
    assert result.violation is not None
    assert (result.violation.prop, len(result.violation.counterexample.steps)) == (WELL_FORMED, 2)


def test_no_lemma_is_kept_by_the_goal_that_it_serves() -> None:
    """The holder of a lease works since no worker holds two: without the goal, only the other lemma is inductive."""
    samples = Samples(LEASES)
    samples.explore({"Worker": 2, "Lease": 2}, lambda: "")
    one = Inference(LEASES, samples, Limits(), lambda: "", lambda text: None)
    assert one.run()
    assert len(one.lemmas) == 2
    one.keep_inductive()
    assert list(one.lemmas) == ["free-holder-none"]


def test_the_initial_state_assumes_nothing() -> None:
    out = Invariant(name="out", says="nobody is out", over=[p], then=~p.is_("Out"))
    prover = Prover(replace(LOCK_SERVER, properties=[out]))
    (initial,) = [each for each in prover.goals if each.invariant == "out" and not each.inductive]
    assert not prover.ask(initial, ["out"]).proved


def test_clauses_about_other_sorts_come_later() -> None:
    """Nothing but the order changes: with all sorts, the same clauses come."""
    samples = Samples(LEASES)
    samples.explore({"Worker": 2, "Lease": 2}, lambda: "")
    one = Inference(LEASES, samples, Limits(), lambda: "", lambda text: None)
    instance = replace(samples.states[0].instance)
    state = list(instance.initial())
    state[instance.slot("Lease", "holder")] = 0  # of a free lease
    states = States.of(instance, [tuple(state)])
    clauses = {
        sorts: [clause for _, clause in one._candidates(states, sorts)] for sorts in (None, frozenset({"Lease"}))
    }
    assert {clause.key for clause in clauses[None]} == {clause.key for clause in clauses[frozenset({"Lease"})]}
    about = ["w" in "".join(clause.names) for clause in clauses[frozenset({"Lease"})]]
    sizes = [len(clause.names) + len(clause.literals) for clause in clauses[frozenset({"Lease"})]]
    first = about.index(True)
    assert sizes[first] + OUTSIDE >= max(size for size, other in zip(sizes[:first], about, strict=False) if not other)
    assert [clause.key for clause in clauses[None]] != [clause.key for clause in clauses[frozenset({"Lease"})]]


def test_the_sorts_of_a_step_are_of_its_events_and_the_property() -> None:
    one = Inference(LEASES, Samples(LEASES), Limits(), lambda: "", lambda text: None)
    goals = {each.name: each for each in one.prover.goals}
    sorts = {name: one._sorts_of(each) for name, each in goals.items()}
    assert sorts["one-lease-each / (initial)"] == {"Worker", "Lease"}
    assert {each for name, its in sorts.items() if name.startswith("well-formed") for each in its} <= {
        "Worker",
        "Lease",
    }
    assert one.prover.sorts_of(goals["one-lease-each / acquire"]) == {"Worker", "Lease"}


def test_a_lemma_may_need_no_endless_list_of_others() -> None:
    """A goal may: nothing else is asked for."""
    one = inference()
    assert one.run()
    most, (lemma, *_) = one.limits.for_a_lemma, one.lemmas.values()
    (kept, *others) = (each for each in lemma.obligations if each.inductive)
    one._excluded.clear()
    assert [one._gives_up(kept) for _ in range(most + 2)] == [False] * most + [True, True]
    assert not one._gives_up(others[0])
    assert not any(one._gives_up(one.goals[0]) for _ in range(most + 2))


def test_a_lemma_that_gives_up_is_dropped() -> None:
    """That no flag is first rests on that none is second, which rests on that none is third."""
    flags = ("first", "second", "third")
    model = Model(
        system="flags",
        variant="plain",
        about="each mark is taken from the next one",
        machines=[Machine(Flag, [State("There")], [Attribute(name, BoolType()) for name in flags])],
        rows=[Row(Flag, "one", "There", "There", first=me.second), Row(Flag, "two", "There", "There", second=me.third)],
        actions=[Action(name, [flag], [], [flag.fires(name)], "{f} moves") for name in ("one", "two")],
        rules=[],
        properties=[Invariant(name="never", says="never", over=[flag], then=~flag.first)],
        default_scope={"Flag": 1},
    )
    samples = Samples(model)
    samples.explore({"Flag": 1}, lambda: "")
    for most in (0, 1):
        one = Inference(model, samples, replace(Limits(), for_a_lemma=most), lambda: "", lambda text: None)
        assert one.run() is bool(most)
        assert len(one.dropped) == (0 if most else 1)
        assert len(one.lemmas) == (2 if most else 0)
    assert len(samples.rounds) == 1


def test_only_lemmas_that_goals_rest_on_are_proved() -> None:
    one = inference()
    assert one.run()
    wrong = Invariant(name="nobody", says="nobody is in", over=[p], then=~p.is_("In"))
    formulas = one.prover.translated(wrong)
    some = next(iter(one.lemmas.values()))
    one.prover.add("nobody", formulas)
    one.lemmas["nobody"] = replace(some, prop=wrong, obligations=formulas.obligations)
    assert one._next() is None and "nobody" not in one.needed()
    one.proofs[one.goals[-1].name] = frozenset({"nobody"})
    assert (asked := one._next()) is not None and asked.invariant == "nobody"


def test_new_solvers_answer_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are made after some questions, because z3 keeps something of each."""
    expected, one, made = inference(), inference(), list[Context]()
    assert expected.run()
    monkeypatch.setattr(prover, "MOST_ASKED", 2)

    def context(*arguments: Any) -> Context:
        made.append(Context(*arguments))
        return made[-1]

    monkeypatch.setattr(prover, "Context", context)
    assert one.run()
    assert [lemma.prop.says for lemma in one.lemmas.values()] == [lemma.prop.says for lemma in expected.lemmas.values()]
    assert len(made) > len(LOCK_SERVER.actions) + 1, "more than one for each action and the beginning"
