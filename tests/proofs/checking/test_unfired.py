"""What never happens in an exploration: as the profile counts it, for each engine, and said in one line."""

from __future__ import annotations

import dataclasses
from typing import Any

import msgspec
import pytest

from schedproof.api import load_system
from schedproof.model.lang import Action, Model, Row, Rule
from schedproof.model.lang.triggers import caused
from schedproof.model.semantics import check_scope, instances
from schedproof.model.semantics.step import looked_at
from schedproof.proofs.checking import unfired as module
from schedproof.proofs.checking.engine import Engine, Exploring
from schedproof.proofs.checking.model_check import explored
from schedproof.proofs.checking.unfired import Fired
from schedproof.proofs.exploration.explore import explore
from schedproof.proofs.exploration.profiling import profile, together
from schedproof.proofs.verdict import Unfired
from schedproof.proofs.verification.verdict_cache import Entry
from schedproof.proofs.verification.verify import verify_variant
from tests.support.lamps import Lamp, lamps, system, x
from tests.support.toys import MUTEX, WORKSHOP


def fired(model: Model, scope: dict[str, int], how: Exploring | None = None) -> Unfired | None:
    seen = Fired(model)
    explored(model, scope, only=["well-formed"], how=how or Exploring(), on_found=seen.note)
    return seen.unfired()


def with_idle_parts() -> Model:
    """Lamps that burn out only while they are off, which no action does; and two rules that never fire."""
    burn = Action("burn", [x], [x.is_("Off"), x.is_("On")], [x.fires("burn")], "{x} burns out")
    switched_on = x.fires("on")
    model = lamps()
    return dataclasses.replace(
        model,
        rows=[*model.rows, Row(Lamp, "burn", "On", "Off"), Row(Lamp, "pop", "On", "Off")],
        actions=[*model.actions, burn],
        rules=[
            Rule("burning pops", burn, [], x.fires("pop")),
            Rule("a lamp that is on goes on", switched_on, [x.is_("On")], x.fires("pop")),
            Rule("nothing pops", x.fires("pop"), [], x.fires("burn")),
        ],
    )


@pytest.mark.parametrize("engine", [Engine.INTERPRETED, Engine.COMPILED])
def test_idle_actions_and_rules_are_found(engine: Engine) -> None:
    """A rule that only follows from an idle action is not listed: the action is."""
    idle = fired(with_idle_parts(), {"Lamp": 2}, Exploring(engine))
    assert idle == Unfired(("burn",), ("a lamp that is on goes on", "nothing pops"))


def test_of_many_states_only_rules_without_a_cause_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_STATES", 3)
    assert fired(with_idle_parts(), {"Lamp": 2}) == Unfired(("burn",), ())


def test_nothing_is_known_if_states_are_missing() -> None:
    assert fired(with_idle_parts(), {"Lamp": 3}, Exploring(max_states=2)) is None


def test_nothing_is_known_if_one_configuration_is_cut_short() -> None:
    """In any order of the configurations."""
    model = with_idle_parts()
    (instance,) = instances(model, {"Lamp": 3})
    explorations = [explore(instance, limit=2), explore(instance)]
    for several in (explorations, explorations[::-1]):
        seen = Fired(model)
        for each in several:
            seen.note(each)
        assert seen.unfired() is None


@pytest.mark.parametrize(
    ("model", "scope"),
    [
        (WORKSHOP, {"Worker": 1, "Tool": 1}),
        (MUTEX, {}),
        (load_system("hived").variants["as-written"], {"PodGroup": 2, "Cell": 1}),
        (load_system("beaker").variants["strict"], {}),
        (load_system("beaker").variants["batch"], {}),
    ],
    ids=["workshop", "mutex", "hived", "strict", "batch"],
)
def test_it_is_what_the_profile_counts(model: Model, scope: dict[str, int]) -> None:
    sizes = check_scope(model, scope)
    counted = together([profile(instance) for instance in instances(model, sizes)])
    idle = tuple(action.name for action in counted.never_enabled)
    actions_taken = [action.name for action in model.actions if action.name not in idle]
    of_taken = {(name, "") for name in actions_taken}.union(*(caused(model, name) for name in actions_taken))
    of_idle = {(name, "") for name in idle}.union(*(caused(model, name) for name in idle)) - of_taken
    on = {rule.name: looked_at(model, rule.on) for rule in model.rules}
    rules = tuple(rule.name for rule in counted.never_fired if on[rule.name] not in of_idle)
    assert fired(model, scope) == Unfired(idle, rules)


def test_the_verdict_on_well_formed_has_it() -> None:
    model = with_idle_parts()
    report = verify_variant(system(model), model)
    (formed,) = (each.result for each in report.properties if each.result.name == "well-formed")
    assert formed.unfired is not None
    assert formed.as_json()["unfired"] == {"actions": ["burn"], "rules": ["a lamp that is on goes on", "nothing pops"]}
    decoded = msgspec.json.decode(msgspec.json.encode(Entry(formed)), type=Entry)  # as the cache keeps it
    assert decoded.result is not None and decoded.result.unfired == formed.unfired
    assert [each.result.unfired for each in report.properties if each.result is not formed] == [None] * 4


@pytest.mark.parametrize(
    ("unfired", "text"),
    [
        (Unfired(), ""),
        (Unfired(("a",)), "action a"),
        (Unfired(("a", "b"), ("b c",)), "actions a, b; rule 'b c'"),
        (Unfired(rules=tuple("abcdefg")), "rules a, b, c, d, e, 2 more"),
    ],
)
def test_the_line_names_a_few(unfired: Unfired, text: Any) -> None:
    assert unfired.text == text
