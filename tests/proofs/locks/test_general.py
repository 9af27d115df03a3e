"""Orders that are derived for any number of objects: what is proved, and the remark if it is not."""

from __future__ import annotations

from typing import Any

import pytest

from schedproof.model.locks import parse
from schedproof.proofs.locks import general, model_check
from schedproof.proofs.locks.answer import Answer
from schedproof.proofs.verdict import Method, Verdict
from tests.support.rows import each_row

CHECKS = ("derived-order-is-acyclic", "no-lock-is-acquired-again")

PROVED = {
    "the lower key first": (
        "classes: {Table: {lock: rw}, Shard: {lock: mutex, in: Table}}\noperations:\n  move(Shard from, Shard to):\n"
        "    - if from before to: [lock from: [lock to: []]]\n    - if from after to: [lock to: [lock from: []]]\n"
        "  all(Table t): [rlock t: [lock each Shard in t: []]]\n"
    ),
    "down a tree": "classes: {Queue: {in: Queue}}\noperations:\n  down(Queue q): [wlock q: [each Queue child in q: [down(child)]]]\n",
    "up a tree": "classes: {Queue: {in: Queue}}\noperations:\n  up(Queue q): [wlock q: [each Queue outer around q: [up(outer)]]]\n",
    "two classes": "classes: {A: {lock: mutex}, B: {lock: rw}}\noperations:\n  one(A a, B b): [lock a: [rlock b: []]]\n  two(B b): [wlock b: []]\n",
}
LEFT = {
    # The text, and why nothing is proved for any number of objects.
    "a gate": (
        "classes: {G: {lock: mutex}, A: {lock: mutex, in: G}, B: {lock: mutex, in: G}}\noperations:\n"
        "  one(G g, A a in g, B b in g): [lock g: [lock a: [lock b: []]]]\n"
        "  two(G g, A a in g, B b in g): [lock g: [lock b: [lock a: []]]]\n",
        "no order of the classes agrees with all operations",
    ),
    "threads": (
        "classes: {S: {lock: mutex}}\nobjects: {s1: S, s2: S}\nthreads:\n  t: [lock s1: [lock s2: []]]\n",
        "threads run on the objects of the file",
    ),
    "a thread that holds two of a class if there are two": (
        "classes: {S: {lock: mutex}, T: {lock: mutex}}\nobjects: {s1: S}\nthreads:\n"
        "  t: [each S s: [lock s], each S s: [unlock s]]\noperations:\n  one(S s, T t): [lock s: [lock t: []]]\n",
        "threads run on the objects of the file",
    ),
    "another block": (
        "classes: {A: {lock: mutex}, B: {lock: mutex}}\noperations:\n  one(A a, B b): [lock a, maybe: [unlock a], lock b: []]\n",
        "one is not proved: lock b (made.yaml:3)",
    ),
}


def answers(text: str) -> list[Answer]:
    """The answers of the two checks of the derived order."""
    checked = model_check.model_check(parse(text, "made.yaml"), only=CHECKS)
    return list(checked.answers)


@each_row("name", PROVED)
def test_an_order_is_proved_for_any_number_of_objects(name: str) -> None:
    for answer in answers(PROVED[name]):
        assert (answer.verdict, answer.method, answer.scope) == (Verdict.PROVED, Method.INDUCTION, None), (
            answer.check.name
        )


@each_row("name", LEFT)
def test_what_is_not_proved_is_said(name: str) -> None:
    text, why = LEFT[name]
    for answer in answers(text):
        assert (answer.verdict, answer.method) == (Verdict.PROVED, Method.EXPLORATION)
        assert answer.scope and any(f"not proved for any number of objects: {why}" in each for each in answer.remarks)


def test_locks_without_a_class_are_all_that_there_are() -> None:
    text = "objects: {a: mutex, b: mutex}\nthreads:\n  t: [lock a: [lock b: []]]\n"
    assert not any(answer.remarks for answer in answers(text))


def _all_of_a_class(world: Any, held: str, acquired: str) -> Any:
    """Whatever is seen, the higher key comes later."""
    return {general.Where.AFTER}


def test_a_wrong_guess_is_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    """The guess is only a guess: the higher key first is not proved by rows of the lower key first."""
    text = "classes: {S: {lock: mutex}}\noperations:\n  move(S from, S to): [if from after to: [lock from: [lock to: []]]]\n"
    assert all(answer.method is Method.INDUCTION for answer in answers(text))
    monkeypatch.setattr(general, "_positions", _all_of_a_class)
    for answer in answers(text):
        assert answer.method is Method.EXPLORATION
        assert "move is not proved: lock to" in answer.remarks[-1]


FOUR_KEYS = (
    "classes: {A: {lock: mutex}}\noperations:\n"
    "  far(A a, A b, A c, A d): [if a before b: [if b before c: [if c before d: [lock d: [lock a: []]]]]]\n"
    "  near(A a, A b): [if a before b: [lock a: [lock b: []]]]\n"
)
FOUR_LEVELS = (
    "classes: {Q: {lock: mutex, in: Q}}\noperations:\n"
    "  far(Q q): [each Q a in q: [each Q b in a: [each Q c in b: [lock c: [lock q: []]]]]]\n"
    "  near(Q q): [lock q: [each Q c in q: [near(c)]]]\n"
)


@each_row("text", [FOUR_KEYS, FOUR_LEVELS], ids=["keys", "levels"])
def test_an_acquisition_that_no_object_reaches_is_undetermined(text: str) -> None:
    for answer in answers(text):
        assert answer.verdict is Verdict.UNDETERMINED
        assert "never runs on these objects" in answer.note


def test_four_objects_show_the_circle_of_four_keys() -> None:
    circle, _ = answers(f"{FOUR_KEYS}objects: {{a1: A, a2: A, a3: A, a4: A}}\n")
    assert circle.verdict is Verdict.REFUTED


ACQUIRE_NOTHING_NEW = {
    "of its own": "classes: {A: {lock: reentrant}}\noperations:\n  f(A a): [lock a: [lock a: []]]\n",
    "with an error": "classes: {A: {lock: errorcheck}}\noperations:\n  f(A a): [lock a: [lock a: []]]\n",
}


@each_row("text", list(ACQUIRE_NOTHING_NEW.values()), ids=list(ACQUIRE_NOTHING_NEW))
def test_a_step_that_acquires_nothing_new_has_run(text: str) -> None:
    for answer in answers(text):
        assert answer.verdict is Verdict.PROVED, answer.note


def test_locks_without_an_owner_have_no_order() -> None:
    """Only threads check them: two operations in opposite orders are not green without any."""
    text = (
        "classes: {A: {lock: unowned}, B: {lock: mutex}}\noperations:\n"
        "  f(A a, B b): [lock a: [lock b: []]]\n  g(A a, B b): [lock b: [lock a: []]]\n"
    )
    others = "  h(B b, B c): [if b before c: [lock b: [lock c: []]]]\n"  # which have an order for any number
    another = "objects: {a: A, b: B}\nthreads:\n  one: ['f(a, b)']\n"  # which does not run g
    for answer in [*answers(text), *answers(f"{text}{others}"), *answers(f"{text}{another}")]:
        assert answer.verdict is Verdict.UNDETERMINED
        assert answer.note.startswith("A: no order holds for locks without an owner; write threads")
    threads = "objects: {a: A, b: B}\nthreads:\n  one: ['f(a, b)']\n  two: ['g(a, b)']\n"
    checked = model_check.model_check(parse(f"{text}{threads}", "made.yaml"))
    assert [each.verdict for each in checked.answers if each.check.name == "no-deadlock"] == [Verdict.REFUTED]
