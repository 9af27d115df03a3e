"""Wrong arguments of a declaration: the name that was meant, what is missing, and the place."""

from __future__ import annotations

import dataclasses
import pickle
from types import FunctionType
from typing import Any

import pytest

from schedproof.model import lang
from schedproof.model.lang import (
    IntRange,
    Invariant,
    LifeCycle,
    Machine,
    Model,
    ModelError,
    Row,
    Sort,
    State,
    forall,
    variables,
)
from tests.model.lang.wrong_models import Job, j
from tests.support.rows import each_row

DECLARATIONS = [
    kind
    for name in lang.__all__
    if isinstance(kind := getattr(lang, name), type)
    and dataclasses.is_dataclass(kind)
    and name not in ("Term", "Var", "Place", "Property")
    and not issubclass(kind, Exception)
]


@each_row("kind", DECLARATIONS, ids=lambda kind: kind.__name__)
def test_every_declaration_refuses_an_unknown_argument(kind: Any) -> None:
    assert len(DECLARATIONS) > 25
    with pytest.raises(ModelError) as refused:
        kind(nosuch=1)
    problem = str(refused.value).partition(": ")[2]
    assert problem.startswith(f"{kind.__name__}: ")
    if kind is not Row:  # a row sets attributes by their names; only its places are missing
        assert "unknown argument 'nosuch'" in problem


WORDS = [function for name in lang.__all__ if isinstance(function := getattr(lang, name), FunctionType)]


@pytest.mark.parametrize("function", WORDS, ids=lambda function: function.__name__)
def test_every_function_refuses_an_unknown_argument(function: Any) -> None:
    assert len(WORDS) > 10
    with pytest.raises(ModelError, match=rf"{function.__name__}: unknown argument 'nosuch'"):
        function(nosuch=1)


def misspelt() -> None:
    Invariant(
        name="two",
        saiys="no two",
        over=[j],
        then=j.is_("Idle"),
    )


@each_row(
    ("build", "message", "caret"),
    [
        (
            misspelt,
            "Invariant two: unknown argument 'saiys'; did you mean says? choose from name, says, line, sentence, over, then, ",
            ("saiys=", "^^^^^"),
        ),
        (lambda: LifeCycle(name="a", sort=Job), "LifeCycle a: says and states are missing; write says=..., states=...", None),
        (lambda: Sort("Job"), "Sort Job: short is missing; write short=...", None),
        (lambda: Row(Job, "go", "Idle"), "Row: target is missing; write target=...", None),
        (lambda: Row(Job, "go", "Idle", host=1), "Row: target is missing; write target=...", None),
        (lambda: IntRange(1, 2, 3), "IntRange: 3 arguments have no name, and 2 may; write low and high only", None),
        (lambda: Machine(Job, [State("A")], states=[]), "Machine: the argument 'states' is there twice; give it once", None),
        (lambda: Sort("Job", "j", True), "Sort Job: 3 arguments have no name, and 2 may; write the name before each other: single=...", None),
        (lambda: variables(Job), "variables: names is missing; write names=...", None),
        (lambda: forall(j), "forall: body is missing; write body=...", None),
        (lambda: variables(Job, "j", "k"), "variables: 3 arguments have no name, and 2 may; write kind and names only", None),
        (lambda: Invariant("a"), "Invariant: 1 argument has no name, and none may; write the name before each other: name=...", None),
    ],
)  # fmt: skip
def test_the_message_names_what_is_wrong_and_its_line(build: Any, message: str, caret: tuple[str, str] | None) -> None:
    with pytest.raises(ModelError) as refused:
        build()
    assert message in str(refused.value)
    assert str(refused.value).startswith("lang/test_arguments.py:")
    if caret is not None:
        line, below = refused.value.excerpt.splitlines()[1:]
        assert caret[0] in line and below.split("|")[1].strip() == caret[1]
        assert line.index(caret[0]) == below.index("^")


def test_other_type_errors_stay_what_they_are() -> None:
    """Not of the arguments' names, but of what is inside of a value."""

    class Comparing:
        def __eq__(self, other: object) -> bool:
            raise TypeError("neither true nor false")

    with pytest.raises(TypeError, match="neither true nor false"):
        Model("a", "b", "", [], [], [], [], [], {}, document=Comparing())  # type: ignore[arg-type]


def test_declarations_are_still_dataclasses() -> None:
    state = State("A", line=3)
    assert dataclasses.replace(state, line=4) == State("A", line=4)
    assert pickle.loads(pickle.dumps(state)) == state
    assert state.place.file == __file__
