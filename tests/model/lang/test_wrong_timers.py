"""Wrong arguments of timers and of orders are refused at the author's line, with a caret; none ends in a TypeError."""

from __future__ import annotations

from dataclasses import replace

import pytest

from schedproof.model.lang import ModelError, Rule
from schedproof.model.lang.check import checked
from tests.model.lang.wrong_timers import ANY, ORDERS, TIMERS, r
from tests.support.timed import Setting, j, model


@pytest.mark.parametrize("case", [*TIMERS, *ORDERS])
def test_a_wrong_argument_is_refused_at_its_line(case: str) -> None:
    build, problem = {**TIMERS, **ORDERS}[case]
    with pytest.raises(ModelError, match=problem) as refused:
        build()
    assert refused.value.place.in_folder().startswith("lang/wrong_timers.py:")
    assert "^" in refused.value.excerpt


@pytest.mark.parametrize("when", [r.is_("New"), None, "New"])
def test_conditions_without_a_list_are_refused_as_of_rules(when: object) -> None:
    """The library passes on what is not a list, so that the rule or the action says what to write."""
    made: list[Rule] = [
        ANY.arming("it arms", r.fires("send"), when, "retry", r),  # type: ignore[arg-type]
        ANY.stopping("it stops", r.fires("send"), when, "retry", r),  # type: ignore[arg-type]
        ANY.function("it runs", "retry", when, r.fires("send")),  # type: ignore[arg-type]
    ]
    assert [rule.when for rule in made] == [when] * 3


def test_a_condition_without_a_list_has_a_caret() -> None:
    timed = model(Setting({"a": (1, 2)}), "any")
    wrong = ANY.arming("it arms", j.fires("beat"), j.is_("There"), "retry", j)  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="rule it arms: when is of type Is, not a list") as refused:
        checked(replace(timed, rules=[wrong]))
    assert "^" in refused.value.excerpt
