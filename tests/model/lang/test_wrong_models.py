"""A wrong model is refused with one message: which element, where it stands, what to write instead."""

from __future__ import annotations

import dataclasses
import linecache
import re
from typing import Any

import pytest

from schedproof.model.lang import Model, ModelError, StepInvariant, after, implies
from schedproof.model.lang import terms as t
from schedproof.model.lang.check import checked
from schedproof.model.lang.declarations import FIELDS
from schedproof.model.lang.model import Amended
from tests.model.lang import wrong_models
from tests.model.lang.wrong_models import (
    ATTRIBUTES,
    CASES,
    JOB,
    NODE,
    ROWS,
    RULES,
    Case,
    Job,
    Node,
    changed,
    finish,
    j,
    k,
    model,
    n,
    start,
    step,
)
from tests.support.rows import each_row


def test_the_right_model_is_accepted() -> None:
    assert model().sorts == (Job, Node)


@each_row("case", CASES.values(), ids=CASES.keys())
def test_a_wrong_model_is_refused_with_element_place_and_remedy(case: Case) -> None:
    build, element, problem, remedy = case
    with pytest.raises(ModelError) as caught:
        checked(build())
    error = caught.value
    assert error.element.startswith(element)
    assert problem in error.problem
    assert remedy in error.remedy
    assert str(error) == f"{error.place.in_folder()}: {error.element}: {error.problem}; {error.remedy}"
    assert "\n" not in str(error)
    assert error.place.file == wrong_models.__file__


REPLACED: dict[str, dict[str, Any]] = {
    "a machine": {"machines": [dataclasses.replace(JOB, attributes=ATTRIBUTES[1:]), NODE]},
    "the rows of an event": {"rows": [row for row in ROWS if row.event != "drop"]},
    "an action": {
        "actions": [dataclasses.replace(start, parameters=[n], when=[], fires=[], says=""), finish],
        "rules": RULES[1:],
    },
}
"""What may be replaced in the right model, so that something that stays as it is means another thing, or nothing."""


def _of(wrong: object) -> Model:
    assert isinstance(wrong, Model)
    return wrong


def _amending(wrong: Model, right: Model) -> Model:
    """``wrong`` as if it amended ``right``, a checked model with which it shares elements."""
    return dataclasses.replace(wrong, amended=Amended(checked(right), right.elements))


@each_row("case", CASES.values(), ids=CASES.keys())
def test_what_amends_a_checked_model_is_refused_as_well(case: Case) -> None:
    try:
        wrong = _of(case[0]())
    except ModelError:
        return  # it cannot be made at all
    if wrong.amended is not None:
        return  # it is wrong because of what it amends
    with pytest.raises(ModelError) as alone:
        checked(wrong)
    with pytest.raises(ModelError) as amending:
        checked(_amending(_of(case[0]()), model()))
    assert (amending.value.element, amending.value.problem) == (alone.value.element, alone.value.problem)


@each_row("parts", REPLACED.values(), ids=REPLACED.keys())
def test_unchanged_elements_that_mean_another_thing_are_checked(parts: dict[str, Any]) -> None:
    right = model(add_properties=[StepInvariant(name="stepped", says="", over=[k], then=j == k, on=["start"])])
    wrong = dataclasses.replace(right, **parts)
    with pytest.raises(ModelError) as alone:
        checked(wrong)
    with pytest.raises(ModelError, match=re.escape(alone.value.problem)):
        checked(_amending(wrong, right))


def test_unchanged_elements_are_not_checked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    right = checked(model())
    longer = dataclasses.replace(right, actions=[*right.actions, dataclasses.replace(finish, name="finish again")])
    seen: list[str] = []
    monkeypatch.setattr("schedproof.model.lang.check._action", lambda model, action: seen.append(action.name))
    checked(_amending(longer, right))
    assert seen == ["finish again"]


def _lines(case: Case) -> range:
    code = case[0].__code__
    return range(code.co_firstlineno, max(line or 0 for *_, line in code.co_lines()) + 1)


def _marked(line: int) -> bool:
    return linecache.getline(wrong_models.__file__, line).rstrip().endswith("# wrong")


MARKED = {name: case for name, case in CASES.items() if any(map(_marked, _lines(case)))}
"""The cases whose mistake has a line of its own (the others use a variable of this file's head, or a helper)."""


@each_row("case", MARKED.values(), ids=MARKED.keys())
def test_the_place_is_the_line_of_the_mistake(case: Case) -> None:
    with pytest.raises(ModelError) as caught:
        checked(case[0]())
    assert _marked(caught.value.place.line), f"{caught.value} does not point at the mistake"


def test_attributes_cannot_be_called_like_a_field_of_any_term() -> None:
    """Else ``x.name`` would silently be something else than the attribute."""
    kinds = [kind for kind in vars(t).values() if isinstance(kind, type) and issubclass(kind, t.Term)]
    fields = {f.name for kind in kinds for f in dataclasses.fields(kind)}
    methods = {name for name in dir(t.Term) if not name.startswith("_")}
    assert fields | methods <= FIELDS


def test_terms_joined_by_and_are_refused_naming_the_operator() -> None:
    with pytest.raises(TypeError, match=re.escape("join terms with &, | and ~")):
        assert j.is_("Done") and j.is_("Running")


def test_a_term_of_no_value_is_refused_with_what_to_use() -> None:
    with pytest.raises(TypeError, match="use a variable, NONE, a number, True, False or an enumeration value"):
        assert j.on == None  # noqa: E711


def test_a_step_property_may_speak_of_its_actions_parameters() -> None:
    assert step(implies(k == j, after(j.on == n)), on=["start"]).property("wrong")
    assert step(k != j, on=["start", "finish"]).property("wrong")


def test_a_change_replaces_the_element_of_the_same_name_and_kind() -> None:
    other = dataclasses.replace(finish, says="{j} ends")
    variant = changed(adds=[other])
    assert [a.says for a in variant.actions] == ["{j} starts on {n}", "{j} ends"]
    assert variant.rules == model().rules


def test_a_rule_may_be_on_an_earlier_version_of_its_action() -> None:
    """So that a variant can change a guard without repeating the rules."""
    variant = changed(adds=[dataclasses.replace(start, when=start.when[:1])])
    assert len(variant.action("start").when) == 1
