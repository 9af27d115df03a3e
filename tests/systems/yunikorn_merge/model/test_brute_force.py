"""The models of cache and scheduler beside one that was written by hand: the same states, steps and shortest runs."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from schedproof.model.semantics import Instance, State, Stepper
from schedproof.model.systems.yunikorn_merge import TWO_COPY, TWO_COPY_REPAIRED
from schedproof.model.systems.yunikorn_merge.configurations import CONFIGURATIONS, Configuration
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.exploration.explore import explore
from schedproof.proofs.verdict import Verdict
from tests.support.sample import thinned
from tests.systems.yunikorn_merge.model import brute_force as brute
from tests.systems.yunikorn_merge.model.mutant_places import CROWDS, TIGHT, place, twice

VARIANTS = {model.variant: model for model in (TWO_COPY, TWO_COPY_REPAIRED)}
QUEUES = {"scheduler": "scheduler", "cache_from_rm": "rm>cache", "cache_from_scheduler": "scheduler>cache", "rm": "rm"}


def setup(configuration: Configuration, variant: str, times: int = 1) -> brute.Setup:
    return brute.Setup(
        kinds={*configuration.kinds},
        partition=configuration.partition,
        applications=configuration.applications,
        nodes=configuration.nodes,
        refused=configuration.refused,
        asks=configuration.asks,
        recovered=configuration.recovered,
        allocations=configuration.allocations,
        running=configuration.running,
        room={QUEUES[name]: room for name, room in configuration.room.items()},
        repaired=variant == "two-copy-repaired",
        times=times,
    )


@pytest.mark.long
@pytest.mark.parametrize("variant", thinned(VARIANTS, 2))
@pytest.mark.parametrize(
    "configuration", thinned([*CONFIGURATIONS, *CROWDS, *TIGHT], 4, 2), ids=lambda configuration: configuration.about
)
def test_both_have_the_same_states_and_break_the_same_properties(configuration: Configuration, variant: str) -> None:
    model = VARIANTS[variant]
    at = place(model, configuration.about, configuration.rigid)
    exploration = explore(at.of(model), symmetry=False)
    hand = brute.explore(setup(configuration, variant))
    assert (len(exploration.states), exploration.transition_count, exploration.depth) == (
        hand.states,
        hand.transitions,
        hand.depth,
    )

    in_model = {prop.name for prop in model.properties}
    names = in_model & {*brute.BAD_STEPS, *brute.BAD_STATES, "copies-can-agree-again"}
    some = {sort: size for sort, size in at.sizes.items() if size}
    checked = model_check(at.alone(model), some, only=sorted(names))
    broken = {r.name: len(r.counterexample.steps) for r in checked if r.verdict is Verdict.REFUTED and r.counterexample}
    assert broken == {name: length for name, length in hand.broken.items() if name in in_model}


@pytest.mark.parametrize("variant", thinned(VARIANTS, 2, first=1))
def test_what_is_broken_by_hand_is_what_the_manifest_says(variant: str) -> None:
    """Of the properties that are written by hand as well."""
    broken = {name for configuration in CONFIGURATIONS for name in brute.explore(setup(configuration, variant)).broken}
    names = {*brute.BAD_STEPS, *brute.BAD_STATES, "copies-can-agree-again"}
    model = VARIANTS[variant]
    assert broken & {prop.name for prop in model.properties} == model.refuted & names


# --- Every configuration twice: too large to be seen whole, so both are walked through side by side --------------------------


def as_by_hand(instance: Instance, state: State) -> brute.Frozen:
    """A state of the model as the other writes it down."""
    described = instance.describe(state)
    rm, cache, scheduler = {}, [], {}
    for sort, letter in (("Partition", "p"), ("Application", "a"), ("Ask", "k"), ("Allocation", "x"), ("Node", "n")):
        for name, fields in described.get(sort, {}).items():
            thing = (letter, int(name[1:]))
            if (known := str(fields["state"])) != "unknown":
                rm[thing] = known.replace("_", " ")
            if letter != "k" and described[f"{sort}Info"][f"cache_{name}"]["state"] == "present":
                cache.append(thing)
            if (copy := str(described[f"Scheduling{sort}"][f"scheduler_{name}"]["state"])) != "absent":
                scheduler[thing] = copy.replace("present", "there")
    return (
        tuple(sorted(rm.items())),
        tuple(sorted(cache)),
        tuple(sorted(scheduler.items())),
        tuple((name, _queue(instance, state, name)) for name in ("rm>cache", "scheduler>cache", "scheduler", "rm")),
        any(fields["state"] == "overflown" for fields in described.get("EventQueue", {}).values()),
    )


def _queue(instance: Instance, state: State, name: str) -> tuple[tuple[str, brute.Thing], ...]:
    """What is under way in a queue, the first first: what has fewer before it, and the lower rank of what came together."""
    described = instance.describe(state).get("Message", {})
    attributes = {a.name: a for a in instance.model.machine("Message").attributes}
    rigid = {
        key: instance.rigid_values("Message", attributes[key])
        for key in ("kind", "channel", "rank", "partition", "application", "ask", "allocation", "node")
    }
    queued = []
    for number, fields in enumerate(described.values()):
        kind, channel = (instance.show(attributes[key].type, rigid[key][number]) for key in ("kind", "channel"))
        if fields["state"] != "under_way" or QUEUES[str(channel)] != name:
            continue
        (about,) = [
            (letter, rigid[key][number])
            for key, letter in (
                ("partition", "p"), ("application", "a"), ("ask", "k"), ("allocation", "x"), ("node", "n")
            )
            if rigid[key][number] >= 0
        ]  # fmt: skip
        before = fields["behind"]
        assert isinstance(before, list)
        queued.append((len(before), rigid["rank"][number], str(kind), about))
    return tuple((kind, about) for _, _, kind, about in sorted(queued))


@pytest.mark.long
@pytest.mark.parametrize("variant", thinned(VARIANTS, 3))
@pytest.mark.parametrize(
    "configuration",
    thinned([s for s in CONFIGURATIONS if not s.room], 3, 2),
    ids=lambda configuration: configuration.about,
)
def test_both_step_alike_where_everything_is_there_twice(configuration: Configuration, variant: str) -> None:
    """In each state of some random walks, all that can happen next."""
    model = VARIANTS[variant]
    chance = random.Random(f"{variant} {configuration.about}")
    instance = place(model, configuration.about, twice(model, configuration.rigid)).of(model)
    stepper = Stepper(instance)
    met: set[str] = set()
    for _ in range(4):
        state, by_hand = instance.initial(), brute.State.first(setup(configuration, variant, times=2))
        assert as_by_hand(instance, state) == by_hand.frozen()
        for _ in range(25):
            following = [(as_by_hand(instance, step.after), step) for step in stepper.steps(state)]
            others = {after.frozen(): (move, after) for move, after in brute.moves(by_hand)}
            assert Counter(frozen for frozen, _ in following) == Counter(
                after.frozen() for _, after in brute.moves(by_hand)
            )
            if not following:
                break
            kinds = sorted({step.choice.action for _, step in following})
            kind = chance.choice(kinds)
            frozen, step = chance.choice([(frozen, step) for frozen, step in following if step.choice.action == kind])
            state, by_hand = step.after, others[frozen][1]
            met.add(kind)
    assert len(met) > 3
