"""What other model checkers are compared with: our own exploration, without symmetry, as they see it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

from schedproof.model.lang import (
    NONE,
    Action,
    Attribute,
    BoolType,
    Document,
    Event,
    IntRange,
    Invariant,
    Machine,
    Model,
    Ref,
    Row,
    Rule,
    Sort,
    State,
    StepInvariant,
    after,
    given,
    variable,
)
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.model.registry.discovery import systems
from schedproof.model.semantics import Instance, instances
from schedproof.proofs.checking.model_check import reads_history
from schedproof.proofs.exploration.explore import explore
from schedproof.proofs.exploration.safety import SAFETY, watch


@dataclass(frozen=True)
class Counts:
    """What an exploration finds.

    Args:
        states: distinct ones.
        transitions: (state, action, parameters) that are enabled.
        broken: each violated property with the steps that a shortest run to it takes.
    """

    states: int
    transitions: int
    broken: dict[str, int]


def by_exploration(instance: Instance, most: int | None = None) -> Counts:
    """All states of an instance, and what of its safety properties is broken.

    Args:
        most: as if only so many states, or a little more, had their successors looked for, in whole layers.
    """
    props = [
        p
        for p in instance.model.properties
        if isinstance(p, SAFETY) and (instance.with_history or not reads_history(instance.model, p))
    ]
    exploration, watches = watch(instance, props, symmetry=False, limit=None if most is None else 20 * most)
    near = exploration.depth + 1
    if most is not None:
        within = Counter(exploration.depths)
        near = next((d for d in range(near) if sum(within[i] for i in range(d)) >= most), near)
        assert exploration.complete or near < exploration.depth, "that layer may not be whole"
    broken = {}
    for watched in watches:
        if (check := watched.failed()) is not None and check.failed is not None:
            depth = exploration.depths[check.failed[0]]
            if depth < near:
                broken[watched.prop.name] = depth + isinstance(check.prop, StepInvariant)
    if exploration.ill_formed is not None and exploration.depths[exploration.ill_formed[0]] < near:
        broken[WELL_FORMED] = exploration.depths[exploration.ill_formed[0]] + 1
    states = sum(d <= near for d in exploration.depths)
    transitions = sum(len(edges) for edges, d in zip(exploration.edges, exploration.depths, strict=True) if d < near)
    return Counts(states, transitions, broken)


def only(model: Model, **scope: int) -> Instance:
    """A model in its first configuration."""
    return next(iter(instances(model, {**model.default_scope, **scope})))


def small(model: Model, most: int) -> Iterator[Instance]:
    """The configurations of a model's default scope that have no more states than so many."""
    for instance in instances(model, dict(model.default_scope)):
        if explore(instance, symmetry=False, limit=most).complete:
            yield instance


Odd = Sort("EXCEPT int", "x")
init, other = variable(Odd, "Init"), variable(Odd, "None")
act = Action("Init", [init], [init.is_("IF so")], [init.fires("Next step")], "{Init}")

ODDLY_NAMED = Model(
    system="a system",
    variant="1.0",
    about='of "quoted" \\ names */ and *)',
    document=Document("none.md", "None"),
    machines=[
        Machine(
            Odd,
            [State("IF so"), State('THEN "so"')],
            [Attribute("CASE", Ref(Odd)), Attribute("IF so", IntRange(-2, 1)), Attribute("at", BoolType())],
            [Event("Next step", {"me": Ref(Odd), "if": IntRange(-2, 1)})],
        )
    ],
    rows=[
        Row(Odd, "Next step", "IF so", 'THEN "so"', **{"CASE": given("me"), "IF so": given("if")}),
        Row(Odd, "back", 'THEN "so"', "IF so", CASE=NONE),
    ],
    actions=[
        replace(act, fires=[init.fires("Next step", **{"me": init, "if": -1})]),
        Action("vars", [other], [other.is_('THEN "so"')], [other.fires("back")], "{None} goes back */ %d"),
    ],
    rules=[
        Rule(
            'all */ go " together',
            act,
            [other != init, other.is_("IF so")],
            other.fires("Next step", **{"me": init, "if": 1}),
        )
    ],
    properties=[
        Invariant(name="Init", says="(wrong) nobody moves", over=[init], then=init.is_("IF so")),
        Invariant(name="Next", says="(wrong) None is always one", over=[other], then=other.CASE != other),  # noqa: SIM300
        StepInvariant(
            name="Next-step",
            says="back it goes",
            over=[init],
            on=["vars"],
            then=after(init.is_("IF so")) | (init != other),
        ),
    ],
    default_scope={"EXCEPT int": 2},
)
"""What is named like words of Promela and TLA+, like what is written beside it, or by no identifier at all."""

VARIANTS = [(system.name, variant) for system in systems().values() for variant in system.variants]


@cache
def scopes(system: str, variant: str, most: int) -> list[Instance]:
    """Up to three scopes or configurations of a variant, small ones."""
    model = systems()[system].variants[variant]
    if system == "hived":
        return [only(model, PodGroup=n, Cell=m) for n, m in ((2, 2), (3, 2), (2, 3))]
    small_instances = []
    for instance in small(model, most):
        small_instances.append(instance)
        if len(small_instances) == 3:
            break
    return small_instances
