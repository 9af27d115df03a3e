"""Steps that share their cases with those of other objects write what steps that are computed anew write."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from random import Random

import pytest

from schedproof.model.lang import (
    Action,
    Attribute,
    BoolType,
    Machine,
    Model,
    Ref,
    Row,
    Sort,
    State,
    Term,
    exists,
    variables,
)
from schedproof.model.semantics import Choice, Instance, Stepper, instances
from schedproof.proofs.traces.engine import known_steps
from schedproof.proofs.traces.engine.known_steps import KnownSteps
from schedproof.proofs.traces.engine.steps import Steps
from tests.model.semantics.test_traced import states
from tests.support.messaging import model_of, random_program
from tests.support.random_models import IntegerMaker, random_model


class Compared:
    """The known steps of an instance, beside steps that are computed anew."""

    def __init__(self, plain: Instance) -> None:
        self.instance = Instance(plain.model, plain.sizes, plain.rigid, rigid_in_state=True)
        self.steps = Steps(Stepper(self.instance))
        self.known = KnownSteps(self.steps)

    def differences(self, seed: int, many: int) -> Iterator[object]:
        domains = {a.name: [self.instance.domain(v.type) for v in a.parameters] for a in self.instance.model.actions}
        for state in states(self.instance, Random(seed), many):
            for action, values in domains.items():
                for chosen in product(*values):
                    names = (v.name for v in self.instance.model.action(action).parameters)
                    anew = self.known._find(Choice(action, tuple(zip(names, chosen, strict=True))), state)
                    if self.known.writes(action, chosen, list(state)) != anew:
                        yield action, chosen, state

    @property
    def sharing(self) -> int:
        """How many choices share their cases with another one."""
        return len(self.known._known) - len(self.known._shared)


def random_differences(seeds: Iterable[int], many: int = 12) -> tuple[list[object], int]:
    """The differences in random models, and how many choices shared their cases."""
    differences, sharing = list[object](), 0
    for seed in seeds:
        compared = Compared(random_model(seed, IntegerMaker).instance())
        differences += compared.differences(seed, many)
        sharing += compared.sharing
    return differences, sharing


FEW = (0, 1, 4, 6, 7, 18)
"""Seeds of models with steps that share their cases."""


@pytest.mark.parametrize(
    "seeds", [FEW, pytest.param(range(20, 80), marks=pytest.mark.long(one_in=32))], ids=["few", "many"]
)
def test_steps_of_random_models_are_those_computed_anew(seeds: Sequence[int]) -> None:
    differences, sharing = random_differences(seeds)
    assert differences == [] and sharing > 30


@pytest.mark.parametrize("seed", [4, 9])
def test_steps_with_messages_are_those_computed_anew(seed: int) -> None:
    model = model_of(random_program(seed))
    (instance,) = instances(model, model.default_scope)
    compared = Compared(instance)
    assert list(compared.differences(seed, 12)) == []
    assert compared.sharing > 100


# --- Objects that are not exchanged -----------------------------------------------------------------------------------

Owner, Item = Sort("Owner", "o"), Sort("Item", "i")
(o,), (i, j) = variables(Owner, "o"), variables(Item, "i j")


def used(when: Term, *attributes: Attribute, **values: int) -> list[bool]:
    """Whether each of two items can be used in a state: computed, and as it is known after the other one."""
    model = Model(
        system="items",
        variant="toy",
        about="an owner of items",
        machines=[
            Machine(Owner, [State("Here")], [Attribute("busy", BoolType()), *attributes]),
            Machine(Item, [State("Idle"), State("Used")], [Attribute("owner", Ref(Owner))]),
        ],
        rows=[Row(Item, "use", "Idle", "Used")],
        actions=[Action("use", [i], [when], [i.fires("use")], "{i} is used")],
        rules=[],
        properties=[],
        default_scope={"Owner": 1, "Item": 2},
    )
    (instance,) = instances(model, {"Owner": 1, "Item": 2})
    compared = Compared(instance)
    for n in range(2):  # the values of the first item, and then the same ones of the second
        state = list(compared.instance.initial())
        for name, value in values.items():
            of_item = name == "owner"
            state[compared.instance.slot("Item" if of_item else "Owner", name) + (n if of_item else 0)] = value
        compared.known.writes("use", (0,), state)
    anew = [compared.known._find(Choice("use", (("i", n),)), tuple(state)) is not None for n in range(2)]
    assert [compared.known.writes("use", (n,), state) is not None for n in range(2)] == anew
    return anew


def is_used_after_none() -> list[bool]:
    """The first item has no owner, so that a quantifier must not stop at the second one."""
    return used(exists(j, j.owner.busy), busy=1, owner=0)


def is_used_by_name() -> list[bool]:
    return used(exists(o, o.last == i), Attribute("last", Ref(Item)), last=0)


def test_items_are_not_exchanged_that_a_term_distinguishes() -> None:
    assert is_used_after_none() == [False, False]
    assert is_used_by_name() == [True, False]


# --- Seeded faults ----------------------------------------------------------------------------------------------------


def test_fields_that_are_forgotten_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = known_steps._columns
    monkeypatch.setattr(
        known_steps,
        "_columns",
        lambda instance: {sort: starts[1:] for sort, starts in columns(instance).items()},
    )
    assert random_differences(FEW)[0]


def test_quantifiers_that_are_not_seen_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_steps, "subterms", lambda term: [])
    with pytest.raises(AssertionError):
        is_used_after_none()


def test_references_that_are_not_seen_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_steps, "mentions", lambda kind, sort: False)
    with pytest.raises(AssertionError):
        is_used_by_name()
