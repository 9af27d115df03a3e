"""Expressions in the page have the values that the model gives them, whatever the formula and the state."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from schedproof.diagrams.player.data import Vocabulary
from schedproof.diagrams.player.page import FOLDER
from schedproof.diagrams.player.vocabulary import Encoder, vocabulary
from schedproof.model.lang import (
    EMPTY,
    NONE,
    AlwaysCanReach,
    BoolType,
    EnumType,
    IntRange,
    Invariant,
    LeadsTo,
    Property,
    StepInvariant,
    Term,
    after,
    exists,
    forall,
    iff,
    implies,
    set_variable,
    those,
    variable,
    variables,
)
from schedproof.model.lang import terms as t
from schedproof.model.lang.wording import show_exactly
from schedproof.model.semantics import (
    Choice,
    Firings,
    IllFormed,
    Instance,
    Moment,
    State,
    Undefined,
    compile_term,
    instances,
    stepper_of,
)
from schedproof.model.systems.hived import AS_WRITTEN as HIVED
from schedproof.model.systems.hived.machines import Cell, PodGroup
from schedproof.proofs.exploration.explore import explore
from tests.support.clocks import CLOCKS, a, b
from tests.support.needs import needs_chromium
from tests.support.random_models import random_model

if TYPE_CHECKING:
    from playwright.sync_api import Browser

MODELS = 20
MOMENTS = 8


@dataclass(frozen=True)
class Case:
    """A formula at a moment: in words, as data of the page, and with the value that the model gives it."""

    text: str
    moment: dict[str, Any]
    value: str


def formulas(prop: Property) -> Iterator[Term]:
    """The formulas of a property, closed."""
    match prop:
        case Invariant(over=over, given=given, then=then) | StepInvariant(over=over, given=given, then=then):
            yield forall(over, then if given is None else implies(given, then))
        case AlwaysCanReach(over=over, given=given, goal=goal) | LeadsTo(over=over, given=given, goal=goal):
            yield exists(over, goal)
            if given is not None:
                yield forall(over, given)


@dataclass(frozen=True)
class Occasion:
    """A state, or the step that leads from it to another."""

    state: State
    choice: Choice | None = None
    fired: Firings | None = None
    after: State = ()


def moments(instance: Instance, chance: Random) -> list[Occasion]:
    """Some states of an instance, and as many of its steps."""
    states = explore(instance, symmetry=False, limit=500).states
    drawn = [Occasion(chance.choice(states)) for _ in range(MOMENTS)]
    for _ in range(MOMENTS):
        state = chance.choice(states)
        with suppress(IllFormed, Undefined, IndexError):  # a random model is not always well-formed
            step = chance.choice(list(stepper_of(instance).steps(state)))
            drawn.append(Occasion(state, step.choice, step.fired, step.after))
    return drawn


def parameter_name(variable: t.Var) -> str:
    """A name for a parameter that is no object's name, and that parameters of other types do not have."""
    return f"given_{variable.name}_{re.sub(r'[^a-zA-Z0-9]+', '_', str(variable.type))}"


def named(term: Term, names: Mapping[str, str]) -> Term:
    """A formula with other names for its free variables."""
    if isinstance(term, t.Var):
        return t.Var(names.get(term.name, term.name), term.type)
    inner = {n: name for n, name in names.items() if n not in {v.name for v in t.bound_by(term)}}
    return t.rebuilt(term, lambda child: named(child, inner))


def case(instance: Instance, term: Term, occasion: Occasion) -> Case:
    encoder, moment = Encoder(instance), Moment(occasion.state, {}, occasion.fired or {}, occasion.after)
    data: dict[str, Any] = {"state": encoder.state(occasion.state), "after": None, "fired": None, "parameters": None}
    if occasion.choice is not None:
        moment.bound |= dict(occasion.choice.parameters)
        parameters = {v.name: v for v in instance.model.action(occasion.choice.action).parameters}
        data |= {
            "after": encoder.state(occasion.after),
            "parameters": {parameter_name(parameters[n]): v for n, v in encoder.parameters(occasion.choice).items()},
            "fired": [
                {
                    "object": instance.object_names(sort)[number],
                    "event": f"{sort}.{event}",
                    "payload": encoder.payload(sort, event, payload),
                }
                for (sort, event), by_object in (occasion.fired or {}).items()
                for number, payload in by_object.items()
            ],
        }
    free = t.free_variables(term)
    try:
        value = "true" if compile_term(instance, term, free)(moment) else "false"
    except Undefined:
        value = "undefined"
    return Case(show_exactly(named(term, {n: parameter_name(v) for n, v in free.items()})), data, value)


def words_of(instance: Instance) -> Vocabulary:
    """What formulas may read, with the names of parameters that :func:`case` gives them."""
    words = vocabulary(instance)
    actions = {}
    for action in instance.model.actions:
        types = words.actions[action.name]
        actions[action.name] = {parameter_name(v): types[v.name] for v in action.parameters}
    return replace(words, actions=actions)


EVALUATE = """([cases, vocabulary]) => {
  SCRIPT
  return cases.map(({ text, moment }) => {
    try {
      const expression = readExpression(text, vocabulary);
      const value = valueText(expression, { ...moment, bound: {} }, vocabulary);
      const part = partsOf(expression, { ...moment, bound: {} }, vocabulary);
      return [value, part.values[0][1], expression.isOfStep];
    } catch (error) { return [`${error.name}: ${error.message}`, "", false]; }
  });
}"""


def evaluated(browser: Browser, instance: Instance, cases: list[Case]) -> list[tuple[str, str, bool]]:
    """What the page's script says of each case: the value, that of the tree of its parts, and whether it reads a step."""
    page = browser.new_page()
    data = json.loads(json.dumps([msgspec.to_builtins(cases), msgspec.to_builtins(words_of(instance))]))
    script = "".join((FOLDER / name).read_text("utf-8") for name in ("expression.js", "parts.js"))
    seen: list[tuple[str, str, bool]] = [
        tuple(each) for each in page.evaluate(EVALUATE.replace("SCRIPT", script), data)
    ]
    page.close()
    return seen


def is_of_step(term: Term, actions: set[str]) -> bool:
    return any(
        isinstance(each, t.Fires | t.After) or (isinstance(each, t.Var) and each.name in actions)
        for each in t.subterms(term)
    )


@pytest.mark.long
@needs_chromium
def test_random_formulas_have_the_values_of_the_model(browser: Browser) -> None:
    kinds: Counter[str] = Counter()
    values: Counter[str] = Counter()
    for seed in range(MODELS):
        model = random_model(seed)
        instance, chance = model.instance(with_history=True), Random(seed)
        occasions = moments(instance, chance)
        cases = []
        for term in (each for prop in model.model.properties for each in formulas(prop)):
            parameters = set(t.free_variables(term))
            of_step = is_of_step(term, parameters)
            kinds.update(type(each).__name__ for each in t.subterms(term))
            # The model reads parameters only where the action has them.
            cases += [
                case(instance, term, each)
                for each in occasions
                if (each.choice is not None or not of_step)
                and parameters <= ({n for n, _ in each.choice.parameters} if each.choice else set())
            ]
        seen = evaluated(browser, instance, cases)
        for each, (value, of_parts, _) in zip(cases, seen, strict=True):
            assert value == each.value, each
            assert (each.text, of_parts) == (each.text, each.value)
        values.update(each.value for each in cases)
    assert min(values[each] for each in ("true", "false", "undefined")) > 50 and values.total() > 3_000
    assert {"Fires", "After", "Has", "Iff", "Less", "Sum", "Or", "Not", "Implies"} <= set(kinds)


g, h = variables(PodGroup, "g h")
c, d = variables(Cell, "c d")
S, n = set_variable(Cell, "S"), variable(IntRange(-1, 2), "n")
flag, record = variable(BoolType(), "flag"), variable(EnumType(("submitted", "bound", "deleted")), "record")

SHAPES = [
    forall(g, those(c, c.user == g) == g.placement),
    exists([g, c], g.placement.with_(c).without(c) == EMPTY),
    forall([g, c], g.placement.with_(c).has(c)),
    exists(c, c.user.outranks.has(c.reserver)),
    forall([g, c, d], implies(g.placement.without(c).with_(d).has(c), (c == d) | g.placement.has(c))),
    exists(S, forall(c, iff(S.has(c), c.is_("Used", "Reserving"))) & ~(S == EMPTY)),
    forall(n, (n + 1) - (n - 1) == 2),
    exists(n, (n - 1) + n < (n + 2) - n),
    exists([g, record], (g.record == record) & (record == "bound")),
    forall(flag, (flag == exists(c, c.is_("Free"))) == (flag == ~forall(c, ~c.is_("Free")))),
    forall(c, (c.user == NONE) == (c.reserver == NONE)),
    exists(c, exists(g, g.placement.has(c)) & c.is_("Used") & exists(h, c.reserver == h)),
    exists(c, implies(c.is_("Used"), c.user.is_("Allocated")) | c.is_("Reserved")),
    forall(
        c, implies(implies(c.is_("Free"), c.user == NONE), iff(c.is_("Free"), c.is_("Free") & (c.reserver == NONE)))
    ),
    exists(c, ~after(c.user == NONE) & after(c.is_("Used") | c.fires("e2")) & (after(c.user) == c.user)),
    exists([c, g], ~c.fires("e2", reserver=g) & c.fires("e2") | c.fires("e0", user=g)),
    exists(c, after(c.user.is_("Allocated", "Preempting")) & ~(after(c.user) == NONE)),
]
"""What random models have seldom: sets, other bound variables, and nesting in which brackets decide."""


FAR = [0, 2**31, 2**53 - 1, 2**53, 2**64, 10**30]


@needs_chromium
def test_integers_of_any_size_have_their_values(browser: Browser) -> None:
    """Formulas that a number one off would make false, or true."""
    (instance,) = instances(CLOCKS, {"Node": 2})
    for far in FAR:
        terms = [
            exists(a, a.time == far),
            exists(a, a.time == far + 1),
            exists([a, b], (a != b) & (a.time == b.time)),
            forall([a, b], implies(a != b, (a.time < b.time + 1) | (b.time + 1 == a.time))),
            exists(a, a.time + a.debt < 1),
            exists(a, a.debt == -far),
            exists(a, a.fires("adopt", time=far)),
            exists(a, a.fires("adopt", time=far + 1)),
            forall(a, after(a.time) >= a.time),
        ]
        for times in ((far, far + 1), (far + 1, far + 1)):
            state = [0] * instance.width
            for name, values in (("time", times), ("seen", (0, far)), ("debt", (-far, 0))):
                start = instance.slot("Node", name)
                state[start : start + 2] = values
            step = stepper_of(instance).step(tuple(state), Choice("sync", (("a", 0), ("b", 1))))
            occasion = Occasion(tuple(state), step.choice, step.fired, step.after)
            cases = [case(instance, term, occasion) for term in terms]
            assert [value for value, _, _ in evaluated(browser, instance, cases)] == [each.value for each in cases]
            assert {each.value for each in cases} == {"true", "false"}


@needs_chromium
def test_formulas_of_every_shape_read_back(browser: Browser) -> None:
    (instance, *_) = instances(HIVED, HIVED.default_scope, with_history=True)
    occasions = moments(instance, Random(1))
    cases = [
        case(instance, term, each)
        for term in SHAPES
        for each in occasions
        if each.choice is not None or not is_of_step(term, set())
    ]
    for each, (value, of_parts, is_step) in zip(cases, evaluated(browser, instance, cases), strict=True):
        assert (value, of_parts) == (each.value, each.value), each
        assert is_step == any(word in each.text for word in ("afterwards", " on "))
    assert {"Those", "Adjusted", "EmptySet"} <= {type(each).__name__ for term in SHAPES for each in t.subterms(term)}
