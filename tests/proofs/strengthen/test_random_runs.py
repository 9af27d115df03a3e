"""Random runs are runs, of configurations that the axioms permit; what configurations show is not believed of all."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest

from schedproof.model.lang import (
    NONE,
    Action,
    Attribute,
    BoolType,
    IntRange,
    Invariant,
    Machine,
    Model,
    Ref,
    Relation,
    Row,
    Sort,
    State,
    exists,
    forall,
    me,
    variables,
)
from schedproof.model.lang import terms as t
from schedproof.model.semantics import Instance
from schedproof.model.semantics.step import stepper_of
from schedproof.proofs.exploration.explore import explore
from schedproof.proofs.strengthen import strengthen
from schedproof.proofs.strengthen import together as module
from schedproof.proofs.strengthen.columns import States
from schedproof.proofs.strengthen.cubes import Clause
from schedproof.proofs.strengthen.features import Vocabulary
from schedproof.proofs.strengthen.infer import Inference, Lemma, Limits, true_of
from schedproof.proofs.strengthen.random_runs import CONFIGURATIONS, IN_VAIN, SIZES, StartStates, _Runs, random_runs
from schedproof.proofs.strengthen.rows import every_row
from schedproof.proofs.strengthen.samples import Samples, merged
from schedproof.proofs.strengthen.scopes import grow
from schedproof.proofs.strengthen.together import strengthen_each

Job = Sort("Job", "j")
j, k = variables(Job, "j k")

JOBS = Model(
    system="jobs",
    variant="plain",
    about="jobs that are tried several times, each after another one",
    machines=[
        Machine(
            Job,
            [State("Waiting"), State("Running"), State("Failed")],
            [
                Attribute("after", Ref(Job), rigid=True),
                Attribute("most", IntRange(1, 3), rigid=True),
                Attribute("urgent", BoolType(), rigid=True),
                Attribute("tries", IntRange(0, 3)),
            ],
        )
    ],
    rows=[Row(Job, "begin", "Waiting", "Running", tries=me.tries + 1), Row(Job, "fail", "Running", "Failed"),
          Row(Job, "again", "Failed", "Waiting")],
    actions=[
        Action("begin", [j], [j.is_("Waiting"), j.tries < j.most, ~j.urgent | (j.after == NONE)], [j.fires("begin")], "{j} begins"),
        Action("fail", [j], [j.is_("Running")], [j.fires("fail")], "{j} fails"),
        Action("again", [j], [j.is_("Failed")], [j.fires("again")], "{j} waits again"),
    ],
    rules=[],
    properties=[Invariant(name="tried", says="what runs was tried", over=[j], given=j.is_("Running"), then=j.tries != 0)],
    axioms=[],
    default_scope={"Job": 2},
    configurations=lambda sizes: [{("Job", "most"): [1] * sizes["Job"]}],
)  # fmt: skip
"""Its only configuration has jobs that are tried once, after no other one, and are not urgent."""

HISTORY = frozenset({("Job", "ran"), ("Job", "failures")})
REMEMBERING = replace(
    JOBS,
    machines=[
        replace(
            JOBS.machines[0],
            attributes=[
                *JOBS.machines[0].attributes,
                Attribute("ran", BoolType(), history=True),
                Attribute("failures", IntRange(0, 3), history=True),
            ],
        )
    ],
    rows=[
        Row(Job, "begin", "Waiting", "Running", tries=me.tries + 1, ran=True),
        Row(Job, "fail", "Running", "Failed", failures=me.tries),
        Row(Job, "again", "Failed", "Waiting", tries=0),
    ],
    properties=[
        Invariant(name="ran", says="what runs ran", over=[j], given=j.is_("Running"), then=j.ran),
        Invariant(
            name="failed",
            says="what fails was tried so often",
            over=[j],
            given=j.is_("Failed"),
            then=j.failures == j.tries,
        ),
    ],
)
"""Jobs of which two properties read one history attribute each."""

URGENT = Invariant(name="x", says="x", over=[j], given=j.urgent, then=j.most == 1)
AXIOMS = replace(JOBS, axioms=[forall(j, j.after != j)])


def test_states_are_reachable_and_axioms_hold() -> None:
    """By exploration of each configuration, which knows nothing of runs."""
    seen = 0
    for states in random_runs(AXIOMS, frozenset(), lambda: ""):
        (size,) = states.instance.sizes.values()
        kinds = [states.instance.model.machine(Job).attribute(name) for name in ("after", "most", "urgent")]
        for rigid in {tuple(row[2 * size :]) for row in states.matrix.tolist()}:
            values = [rigid[n * size : (n + 1) * size] for n in range(3)]
            assert all(values[0][n] != n for n in range(size))
            names = {
                ("Job", kind.name): [states.instance.decoded(kind.type, v) for v in its]
                for kind, its in zip(kinds, values, strict=True)
                if kind
            }
            reachable = set(explore(Instance(AXIOMS, {"Job": size}, names), symmetry=False).states)
            visited = {tuple(row[: 2 * size]) for row in states.matrix.tolist() if tuple(row[2 * size :]) == rigid}
            assert visited <= reachable
            seen += len(visited)
    assert seen > 100


def test_they_are_the_same_each_time() -> None:
    one, other = ([each.matrix.tolist() for each in random_runs(JOBS, frozenset(), lambda: "")] for _ in range(2))
    assert one == other


def test_what_only_declared_configurations_show_is_not_believed() -> None:
    samples = Samples(JOBS)
    grow(samples, [], None, lambda: "", lambda line: None)
    few = Samples(JOBS)
    few.explore({"Job": 2}, lambda: "")
    (one,) = Vocabulary(JOBS).templates(1)
    at = {feature.key: n for n, feature in enumerate(one.features)}
    for key in ("j.urgent", "j.most"):
        assert len(np.unique(few.rows(one, False).matrix[:, at[key]])) == 1
        assert len(np.unique(samples.rows(one, False).matrix[:, at[key]])) > 1
    assert samples.scopes["random runs"] > 100


def test_the_property_is_proved_for_all_configurations() -> None:
    result = strengthen(JOBS, "tried")
    assert result.proved
    assert all("most" not in each.prop.says and "urgent" not in each.prop.says for each in result.inferred)


def test_axioms_that_no_random_value_satisfies_leave_no_runs() -> None:
    never = replace(JOBS, axioms=[exists(j, j.urgent & ~j.urgent)])
    assert not list(random_runs(never, frozenset(), lambda: ""))


LADDER = [f"Step{n}" for n in range(12)]
CLIMBERS = replace(
    JOBS,
    machines=[Machine(Job, [State(each) for each in LADDER], [Attribute("urgent", BoolType(), rigid=True)])],
    rows=[Row(Job, "up", below, above) for below, above in pairwise(LADDER)]
    + [Row(Job, "down", each, "Step0") for each in LADDER],
    actions=[
        Action("climb", [j], [~j.is_(LADDER[-1])], [j.fires("up")], "{j} climbs"),
        *(Action(f"fall{n}", [j], [~j.is_("Step0")], [j.fires("down")], "{j} falls") for n in range(4)),
    ],
    properties=[],
    configurations=lambda sizes: [{("Job", "urgent"): [False] * sizes["Job"]}],
)
"""A job that climbs is four times as likely to fall as to climb on."""


def test_runs_lead_far() -> None:
    """After the first step each has a chance of one in five: all from the initial state one in ten million."""
    some = (each for each in random_runs(CLIMBERS, frozenset(), lambda: "") if each.instance.sizes["Job"])
    assert {n for each in some for n in each.state("Job", 0).tolist()} == set(range(len(LADDER)))


COUNTERS = replace(
    JOBS,
    machines=[
        Machine(
            Job,
            [State("Waiting"), State("Running")],
            [Attribute("urgent", BoolType(), rigid=True), Attribute("tries", IntRange(0, 11))],
        )
    ],
    rows=[Row(Job, "begin", "Waiting", "Running", tries=me.tries + 1), Row(Job, "again", "Running", "Waiting"),
          *(Row(Job, "reset", state, "Waiting", tries=0) for state in ("Waiting", "Running"))],
    actions=[
        Action("begin", [j], [j.is_("Waiting"), j.tries < 11], [j.fires("begin")], "{j} begins"),
        Action("again", [j], [j.is_("Running")], [j.fires("again")], "{j} waits again"),
        Action("reset", [j], [j.tries != 0], [j.fires("reset")], "{j} begins anew"),
    ],
    properties=[],
    configurations=CLIMBERS.configurations,
)  # fmt: skip
"""A job that counts what it tried, and is as likely to begin anew as to go on: two states, and many numbers."""


def test_runs_count_far() -> None:
    """If only machines' states were compared, ten steps from the first state of each would see six tries of one job at most."""
    some = (each for each in random_runs(COUNTERS, frozenset(), lambda: "") if each.instance.sizes["Job"])
    assert max(n for each in some for n in each.matrix[:, each.instance.slot("Job", "tries")].tolist()) > 6


def changed(instance: Instance, name: str, job: int) -> tuple[int, ...]:
    """The initial state with 1 as the state or an attribute of one job."""
    state = list(instance.initial())
    state[instance.slot("Job", name) + job] = 1
    return tuple(state)


def test_runs_begin_as_often_in_each_control_state() -> None:
    """That is every second one; the others begin as often in each state of an object, whichever object it is."""
    instance = Instance(JOBS, {"Job": 2}, rigid_in_state=True)
    start, running, other = instance.initial(), changed(instance, "", 0), changed(instance, "", 1)
    tried, tried_other = changed(instance, "tries", 0), changed(instance, "tries", 1)
    starts = StartStates(instance, start)
    for state in (running, other, tried, tried_other, running):
        starts.add(state)
    begun = Counter(starts.next(random.Random(n)) for n in range(36))
    assert begun == {start: 6 + 6, running: 6 + 6, other: 6, tried: 6}


def test_without_machine_states_attributes_are_compared() -> None:
    (machine,) = JOBS.machines
    model = replace(JOBS, machines=[replace(machine, states=[State("Waiting")])], rows=[], actions=[], properties=[])
    instance = Instance(model, {"Job": 2}, rigid_in_state=True)
    start, tried, other = instance.initial(), changed(instance, "tries", 0), changed(instance, "tries", 1)
    starts = StartStates(instance, start)
    for state in (tried, other):
        starts.add(state)
    assert Counter(starts.next(random.Random(n)) for n in range(12)) == {start: 2 + 3, tried: 2 + 3, other: 2}


def test_runs_end_where_nothing_is_enabled() -> None:
    """There are few such runs: they show nothing new."""
    runs = []
    assert list(random_runs(replace(JOBS, actions=[]), frozenset(), lambda: runs.append(1) or ""))  # type: ignore[func-returns-value]
    assert len(runs) <= SIZES * CONFIGURATIONS * (IN_VAIN + 1)


def test_an_ill_formed_step_ends_a_run() -> None:
    careless = replace(JOBS, actions=[replace(each, when=[]) for each in JOBS.actions])
    assert list(random_runs(careless, frozenset(), lambda: ""))


def test_merged_states_are_those_of_the_configurations() -> None:
    """With the same values of all features, rigid ones among them."""
    wide = replace(JOBS, configurations=lambda sizes: [
        {("Job", "most"): [a, b], ("Job", "urgent"): [a == 2, False], ("Job", "after"): [None, 0]}
        for a, b in product((1, 2, 3), repeat=2)
    ])  # fmt: skip
    samples = Samples(wide)
    samples.explore({"Job": 2}, lambda: "")
    (whole,) = samples.states
    parts = []
    for rigid in wide.configurations({"Job": 2}):
        alone = Samples(replace(wide, configurations=lambda sizes, rigid=rigid: [rigid]))
        alone.explore({"Job": 2}, lambda: "")
        parts += alone.states
    assert len(whole.matrix) == sum(len(each.matrix) for each in parts) and len(parts) == 9
    for template in (each for cost in (1, 2) for each in Vocabulary(wide).templates(cost)):
        rows = {row.tobytes() for row in every_row(template, whole)}
        assert rows == {row.tobytes() for each in parts for row in every_row(template, each)}
    assert merged(parts)[0].matrix.tolist() == whole.matrix.tolist()


@pytest.mark.long
def test_each_round_doubles_the_runs() -> None:
    samples = Samples(JOBS)
    counts = []
    while added := samples.run_at_random(lambda: ""):
        counts.append(len(samples.rounds))
        assert samples.states[-len(added) :] == added
    assert counts == [1, 2, 4, 8, 16]
    assert samples.scopes["random runs"] == sum(samples.rounds) == sum(len(each.matrix) for each in samples.states)
    few, other = (
        {tuple(row) for row in states.matrix.tolist()} for states in (samples.states[1], samples.states[SIZES + 1])
    )
    assert few != other


def test_what_more_runs_refute_is_no_lemma() -> None:
    few = Samples(JOBS)
    few.explore({"Job": 2}, lambda: "")
    (template,) = Vocabulary(JOBS).templates(1)
    inference = Inference(JOBS, few, Limits(), lambda: "", lambda text: None)
    bounded = Invariant(name="bounded", says="", over=[j], then=j.tries <= j.most)
    for n, prop in enumerate((URGENT, bounded)):
        formulas = inference.prover.translated(prop)
        inference.prover.add(prop.name, formulas)
        clause = Clause(template, ((template.features[n], frozenset()),))
        inference.lemmas[prop.name] = Lemma(prop, formulas.obligations, clause)
        assert all(true_of(prop, states) for states in few.states)
    inference.learn_more()
    assert list(inference.lemmas) == ["bounded"] and len(inference.dropped) == 1


def values_of_all(states: States, names: Collection[str]) -> list[tuple[object, ...]]:
    """The values of some attributes of all jobs, for each state."""
    jobs = range(states.instance.sizes["Job"])
    columns = [states.value(t.Attr(j, name), {"j": n}) for n in jobs for name in names]
    return list(zip(*[states.state("Job", n).tolist() for n in jobs], *[c.tolist() for c in columns], strict=True))


@pytest.mark.parametrize("kept", [set(), {"ran"}, {"failures"}, {"ran", "failures"}])
def test_states_keep_some_history_and_all_else(kept: set[str]) -> None:
    """Each state that differs in what is kept is there once."""
    names = [a.name for a in REMEMBERING.machines[0].attributes if not a.history or a.name in kept]
    lost = 0
    for states in random_runs(REMEMBERING, HISTORY, lambda: ""):
        fewer = states.keeping(frozenset(("Job", name) for name in kept))
        assert {a.name for a in fewer.instance.attributes("Job") if a.history} == kept
        before, after = values_of_all(states, names), values_of_all(fewer, names)
        assert list(dict.fromkeys(before)) == after
        lost += len(before) - len(after)
    assert (lost > 0) == ("failures" not in kept)  # a job that failed or runs is one that ran


def test_properties_share_the_rounds_of_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has the states with the history that it reads."""
    rounds: list[tuple[frozenset[tuple[str, str]], int]] = []

    def counted(
        model: Model, history: frozenset[tuple[str, str]], halt: Callable[[], str], seed: int
    ) -> Iterator[States]:
        rounds.append((history, seed))
        return random_runs(model, history, halt, seed)

    monkeypatch.setattr(module, "random_runs", counted)
    explored: list[Samples] = []
    monkeypatch.setattr(module, "grow", lambda samples, *others: explored.append(samples) or grow(samples, *others))  # type: ignore[func-returns-value]
    assert all(each.proved for each in strengthen_each(REMEMBERING, ["ran", "failed"]).results)
    assert len(explored) == 3 and {each.history for each in explored} == {
        frozenset(),
        frozenset({("Job", "ran")}),
        frozenset({("Job", "failures")}),
    }
    assert rounds and all(history == HISTORY for history, _ in rounds)
    assert [seed for _, seed in rounds] == list(range(1, len(rounds) + 1))
    for samples in explored:
        assert samples.rounds and all(each.instance.history == (samples.history or None) for each in samples.states)


def test_wide_history_leaves_other_columns_narrow() -> None:
    """A relation of many tuples has more bits than a number of numpy."""
    wide = Attribute("seen", Relation(Job, Job, Job), history=True)
    model = replace(
        REMEMBERING, machines=[replace(REMEMBERING.machines[0], attributes=[*REMEMBERING.machines[0].attributes, wide])]
    )
    instance = Instance(model, {"Job": 4}, {}, True, rigid_in_state=True)
    start = list(instance.initial())
    seen, ran = instance.slot("Job", "seen"), instance.slot("Job", "ran")
    rows = []
    for value, first in ((1 << 63, 0), (1 << 62, 0), (0, 1)):
        start[seen], start[ran] = value, first
        rows.append(tuple(start))
    states = States.of(instance, rows)
    assert states.matrix.dtype == object
    fewer = states.keeping(frozenset({("Job", "ran")}))
    assert fewer.matrix.dtype == np.int64
    assert fewer.value(t.Attr(j, "ran"), {"j": 0}).tolist() == [0, 1]
    assert states.keeping(frozenset({("Job", "seen")})).value(t.Attr(j, "seen"), {"j": 0}).tolist() == [
        1 << 63,
        1 << 62,
        0,
    ]


class At:
    """Runs begin in one state."""

    def __init__(self, state: tuple[int, ...]) -> None:
        self.state = state

    def next(self, chance: random.Random) -> tuple[int, ...]:
        return self.state

    def add(self, state: tuple[int, ...]) -> None:
        pass


def test_each_enabled_action_is_as_likely() -> None:
    """However many choices of objects it has: two jobs may begin, and one may fail."""
    instance = Instance(JOBS, {"Job": 3}, {}, rigid_in_state=True)
    stepper = stepper_of(instance)
    first = instance.initial()
    state = stepper.step(first, stepper.choices(first, JOBS.actions[0])[0]).after
    assert [len(stepper.choices(state, each)) for each in JOBS.actions] == [2, 1, 0]
    runs, chance = _Runs(instance), random.Random(1)
    after = Counter(list(runs.next(At(state), chance))[1] for _ in range(300))  # type: ignore[arg-type]
    assert len(after) == 3
    assert 120 < after[stepper.step(state, stepper.choices(state, JOBS.actions[1])[0]).after] < 180


@pytest.mark.parametrize("low", [-300, 0, 200, 1000])
def test_numbers_may_need_more_than_a_byte(low: int) -> None:
    """What is inferred is about their distance from the least one."""
    machine = JOBS.machines[0]
    attributes = [
        replace(a, type=IntRange(low, low + 3), initial=low) if a.name == "tries" else a for a in machine.attributes
    ]
    model = replace(
        JOBS,
        machines=[replace(machine, attributes=attributes)],
        actions=[replace(JOBS.actions[0], when=[j.is_("Waiting"), j.tries < low + j.most]), *JOBS.actions[1:]],
        properties=[
            Invariant(name="tried", says="what failed was tried", over=[j], given=j.is_("Failed"), then=j.tries != low)
        ],
    )
    result = strengthen(model, "tried")
    assert result.proved and len(result.inferred) == 1


def test_a_round_that_was_halted_is_not_kept() -> None:
    session = module._Session(REMEMBERING, Limits(), 60.0, lambda: "", lambda text: None)
    halts = iter(["", "", "long"])
    few = list(session._random_runs(REMEMBERING, frozenset(), lambda: next(halts, "long"), 1))
    whole = list(session._random_runs(REMEMBERING, frozenset(), lambda: "", 1))
    assert len(few) < len(whole) == len(list(random_runs(REMEMBERING, HISTORY, lambda: "")))
