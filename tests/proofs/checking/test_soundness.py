"""Small models on which a careless engine would call a false property true.

Each truth is argued in the test; none is what the engines printed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest

from schedproof.model.lang import (
    NONE,
    Action,
    AlwaysCanReach,
    Attribute,
    BoolType,
    Change,
    Document,
    Event,
    IntRange,
    Invariant,
    LeadsTo,
    LifeCycle,
    Machine,
    Model,
    ModelError,
    Ref,
    Rigid,
    Row,
    Rule,
    Sort,
    State,
    StepInvariant,
    Var,
    after,
    exists,
    forall,
    given,
    implies,
    me,
    variable,
    variables,
)
from schedproof.model.lang.check import checked
from schedproof.model.registry.system import System
from schedproof.model.semantics import Instance, ScopeError, instances
from schedproof.model.systems.hived import AS_WRITTEN
from schedproof.proofs.checking import model_check as model_checking
from schedproof.proofs.checking.engine import Exploring
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.exploration.explore import explore
from schedproof.proofs.induction import prove
from schedproof.proofs.verdict import Method, Result, Verdict
from schedproof.proofs.verification.verify import verify_variant
from tests.support.rows import each_row

NOWHERE = Document("none.md", "No document")
A, B, C = Sort("A", "a"), Sort("B", "b"), Sort("C", "c")
x, y = variables(A, "x y")
b, c = variables(B, "b c")
d = variable(C, "d")


def model(**parts: Any) -> Model:
    """A model of the sorts used here, with the parts that matter."""
    whole: dict[str, Any] = {
        "system": "toy",
        "variant": "seeded",
        "about": "",
        "document": NOWHERE,
        "rows": [],
        "actions": [],
        "rules": [],
        "properties": [],
        "default_scope": {"A": 1},
    }
    return Model(**{**whole, **parts})


@pytest.mark.parametrize("name", ["j", "k", "x"])
def test_a_quantifier_of_a_rule_binds_no_variable_of_a_property(name: str) -> None:
    # start runs every job that some job has a lower rank than; up raises a rank from 0 to 1. With two
    # jobs: up(one), start: the one runs. So "no job runs" is false, whatever its variable is called.
    job = Sort("Job", "j")
    j, k = variables(job, "j k")
    of = Var(name, Ref(job))
    start = Action("start", [], [], [], "start")
    jobs = model(
        machines=[Machine(job, states=[State("Idle"), State("Run")], attributes=[Attribute("rank", IntRange(0, 1))])],
        rows=[Row(job, "up", "Idle", "Idle", rank=1), Row(job, "go", "Idle", "Run")],
        actions=[Action("up", [j], [j.is_("Idle"), j.rank == 0], [j.fires("up")], "up"), start],
        rules=[Rule("lower", start, [j.is_("Idle"), exists(k, k.rank < j.rank)], j.fires("go"))],
        properties=[Invariant(name="never-runs", says="no job runs", over=[of], then=of.is_("Idle"))],
        default_scope={"Job": 1},
    )
    assert not prove(jobs).proved("never-runs")
    report = {r.name: r.verdict for r in model_check(jobs, {"Job": 2})}
    assert report["never-runs"] is Verdict.REFUTED


def test_obligations_that_say_the_same_are_all_answered() -> None:
    # poke fires e on x.one, which nothing ever sets, and f on x.two, which is some. Only the first is wrong.
    toy = model(
        machines=[
            Machine(
                A,
                states=[State("S")],
                attributes=[Attribute("one", Ref(B)), Attribute("two", Ref(C))],
                events=[Event("set", {"w": Ref(C)})],
            ),
            Machine(B, states=[State("S")], attributes=[Attribute("n", BoolType())]),
            Machine(C, states=[State("S")], attributes=[Attribute("n", BoolType())]),
        ],
        rows=[
            Row(A, "set", "S", "S", two=given("w")),
            Row(B, "e", "S", "S", n=True),
            Row(C, "f", "S", "S", n=False),
        ],
        actions=[
            Action("set", [x, d], [x.two == NONE], [x.fires("set", w=d)], "set"),
            Action("poke", [x], [x.two != NONE, exists([b, c], b != c)], [x.one.fires("e"), x.two.fires("f")], "poke"),
        ],
        default_scope={"A": 1, "B": 1, "C": 1},
    )
    induction = prove(toy)
    names = [a.obligation.name for a in induction.answers]
    assert len(set(names)) == len(names)
    assert not induction.proved("well-formed")


def ranked(axiom: Any, ranks: Iterable[int]) -> Model:
    """Objects in a chain of parents; nothing ever leaves S unless there are two objects."""
    parent = Attribute("parent", Ref(A), rigid=True)
    rank = Attribute("rank", IntRange(0, 9), rigid=True)

    def chain(sizes: Mapping[str, int]) -> list[Rigid]:
        n = sizes["A"]
        return [{("A", "parent"): [None, *range(n - 1)], ("A", "rank"): list(ranks)[:n]}]

    return model(
        machines=[Machine(A, states=[State("S"), State("T")], attributes=[parent, rank])],
        rows=[Row(A, "e", "S", "T")],
        actions=[Action("poke", [x], [exists([y], x != y), x.is_("S")], [x.fires("e")], "poke")],
        properties=[Invariant(name="never-T", says="none is in T", over=[x], then=x.is_("S"))],
        axioms=[axiom],
        configurations=chain,
    )


def test_from_contradictory_axioms_nothing_is_proved() -> None:
    with pytest.raises(ModelError, match=r"test_soundness.py:\d+: axioms of toy seeded: no system of up to 16"):
        prove(ranked(forall(x, x.rank < x.rank), range(9)))


def test_an_axiom_that_reads_of_no_object_is_not_well_formed() -> None:
    rootless = ranked(forall(x, x.parent.rank < x.rank), range(9))  # the first object has no parent
    with pytest.raises(ModelError, match="is undefined on the configuration A=1"):
        model_check(rootless, {"A": 1})
    assert not _proved(rootless, "well-formed")


def _proved(toy: Model, name: str) -> bool:
    try:
        return prove(toy).proved(name)
    except ModelError:
        return False


def test_a_configuration_that_breaks_an_axiom_is_refused() -> None:
    downward = ranked(forall([x, y], (x.parent != y) | (y.rank < x.rank)), [5, 4, 3])
    with pytest.raises(ModelError, match="is false on the configuration A=2"):
        model_check(downward, {"A": 2})
    upward = ranked(forall([x, y], (x.parent != y) | (y.rank < x.rank)), [3, 4, 5])
    assert [r.verdict for r in model_check(upward, {"A": 2}, only=["never-T"])] == [Verdict.REFUTED]


def test_a_payload_cannot_ask_what_fires() -> None:
    act = Action("act", [x, b], [~x.n], [x.fires("e", f=b.fires("d"))], "act")
    with pytest.raises(ModelError, match=r"fires\(\.\.\.\) is used outside a step"):
        checked(
            model(
                machines=[
                    Machine(
                        A,
                        states=[State("S")],
                        attributes=[Attribute("n", BoolType())],
                        events=[Event("e", {"f": BoolType()})],
                    ),
                    Machine(B, states=[State("S")], attributes=[Attribute("n", BoolType())]),
                ],
                rows=[Row(A, "e", "S", "S", n=given("f")), Row(B, "d", "S", "S", n=True)],
                actions=[act],
                rules=[Rule("r", act, [], b.fires("d"))],
                default_scope={"A": 1, "B": 1},
            )
        )


def counting(history: bool) -> Model:
    """A counter to 2 that a third tick would overflow."""
    return model(
        machines=[Machine(A, states=[State("S")], attributes=[Attribute("count", IntRange(0, 2), history=history)])],
        rows=[Row(A, "tick", "S", "S", count=me.count + 1)],
        actions=[Action("tick", [x], [x.is_("S")], [x.fires("tick")], "tick")],
        properties=[
            StepInvariant(
                name="low",
                says="a tick leaves the count at most 2",
                over=[x],
                given=x.fires("tick"),
                then=after(x.count <= 2),
            )
        ],
    )


@pytest.mark.parametrize("history", [False, True])
def test_what_ill_formed_steps_lead_to_is_not_called_explored(history: bool) -> None:
    toy = counting(history)
    results = {r.name: r.verdict for r in model_check(toy, {})}
    assert results == {"well-formed": Verdict.REFUTED, "low": Verdict.UNDETERMINED}
    assert not verify_variant(System.of(toy), toy, only=["low"]).ok


def topped(configurations: Any) -> Model:
    return model(
        machines=[Machine(A, states=[State("S"), State("T")], attributes=[Attribute("r", IntRange(0, 3), rigid=True)])],
        rows=[Row(A, "e", "S", "T")],
        actions=[Action("e", [x], [x.is_("S")], [x.fires("e")], "e")],
        properties=[Invariant(name="never-T", says="none is in T", over=[x], then=x.is_("S"))],
        configurations=configurations,
    )


@each_row(
    ("configurations", "message"),
    [
        ([], "has no configuration at A=1"),
        ([{("A", "rr"): [1]}], "gives A.rr, which is not a rigid attribute"),
        ([{("Z", "r"): [1]}], "gives Z.r, which is not a rigid attribute"),
        ([{("A", "r"): [99]}], "the value 99; give a value of 0..3"),
        ([{("A", "r"): ["a0"]}], "the value 'a0'; give a value of 0..3"),
        ([{("A", "r"): [True]}], "the value True; give a value of 0..3"),
        ([{("A", "r"): [frozenset({0})]}], r"the value frozenset\(\{0\}\); give a value of 0..3"),
        ([{("A", "r"): [1, 2]}], "gives 2 values of A.r to 1 objects"),
    ],
)
def test_a_configuration_is_what_the_model_declares(configurations: list[Rigid], message: str) -> None:
    with pytest.raises(ScopeError, match=message):
        model_check(topped(lambda sizes: configurations), {})


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"A": {"r": [1]}}, "has the key 'A'"),
        ({("A", "r", 0): [1]}, "has the key "),
        (["r"], "is of type list, not a dictionary"),
        ({("A", "r"): 1}, "has 1 for A.r"),
    ],
)
def test_a_configuration_of_another_form_is_refused(wrong: Rigid, says: str) -> None:
    with pytest.raises(
        ModelError, match=rf"a configuration {says}.*; write \(sort, attribute\) and a value for each object"
    ):
        model_check(topped(lambda sizes: [wrong]), {})


def test_verdicts_of_several_configurations_are_the_worst() -> None:
    # At rank 1 only nothing happens, at rank 0 the property is broken, elsewhere it is kept.
    def toy(ranks: list[int]) -> Model:
        return replace(
            topped(lambda sizes: [{("A", "r"): [rank]} for rank in ranks]),
            properties=[Invariant(name="p", says="p", over=[x], given=x.is_("T") & (x.r != 1), then=x.r != 0)],
        )

    def verdict(ranks: list[int]) -> Result:
        (result,) = model_check(toy(ranks), {}, only=["p"])
        return result

    assert verdict([1, 2]).verdict is Verdict.PROVED
    assert verdict([2, 1]).verdict is Verdict.PROVED
    assert verdict([1, 0, 2]).verdict is Verdict.REFUTED
    assert verdict([1]).verdict is Verdict.UNDETERMINED
    assert verdict([1]).vacuous
    assert verdict([1, 2]).method is Method.EXPLORATION


def test_a_payload_that_is_always_none_is_read_where_it_is_some() -> None:
    toy = model(
        machines=[
            Machine(
                A,
                states=[State("S")],
                attributes=[Attribute("n", BoolType()), Attribute("r", Ref(A))],
                events=[Event("e", {"w": Ref(A)})],
            )
        ],
        rows=[Row(A, "e", "S", "S", n=(given("w") != NONE) & given("w").n, r=given("w"))],
        actions=[Action("e", [x], [], [x.fires("e", w=NONE)], "e")],
        properties=[Invariant(name="never", says="n stays false", over=[x], then=~x.n)],
    )
    assert prove(toy).proved("never")
    assert prove(toy).proved("well-formed")


def test_a_property_cannot_take_the_name_that_every_model_has() -> None:
    wrong = Invariant(name="well-formed", says="", over=[x], then=x.is_("S"))
    with pytest.raises(ModelError, match="that is a property of every model"):
        checked(replace(topped(lambda sizes: [{}]), properties=[wrong]))


def test_instances_without_rigid_values_take_the_defaults() -> None:
    instance = Instance(topped(lambda sizes: [{}]), {"A": 2})
    attribute = instance.model.machine("A").attribute("r")
    assert attribute is not None
    assert instance.rigid_values("A", attribute) == [0, 0]


def test_what_holds_by_construction_is_looked_up_in_the_model() -> None:
    group, other = variables(AS_WRITTEN.sorts[0], "p q")
    meeting = replace(
        AS_WRITTEN, rules=[*AS_WRITTEN.rules, Rule("meet", group.fires("e3"), [other != group], other.fires("e5"))]
    )
    name = "groups-meet-only-at-cells"
    (result,) = model_check(meeting, {"PodGroup": 2, "Cell": 2}, only=[name])
    assert (result.verdict, result.method) == (Verdict.REFUTED, Method.CONSTRUCTION)
    (result,) = model_check(AS_WRITTEN, {"PodGroup": 2, "Cell": 2}, only=[name])
    assert (result.verdict, result.method) == (Verdict.PROVED, Method.CONSTRUCTION)


# --- Configurations of fewer objects ---------------------------------------------------------------------------------------


def queueing(configurations: Any, **parts: Any) -> Model:
    """Objects that go to T one by one, each only when all of a lower rank are there."""
    go = Action("go", [x], [x.is_("S"), forall(y, implies(y.r < x.r, y.is_("T")))], [x.fires("e")], "go")
    built: dict[str, Any] = {
        "machines": [
            Machine(A, states=[State("S"), State("T")], attributes=[Attribute("r", IntRange(0, 3), rigid=True)]),
            Machine(B, states=[State("S")], attributes=[Attribute("n", BoolType())]),
        ],
        "rows": [Row(A, "e", "S", "T"), Row(B, "f", "S", "S", n=True)],
        "actions": [go, Action("f", [b], [~b.n], [b.fires("f")], "f")],
        "configurations": lambda sizes: configurations,
        "default_scope": {"A": 3, "B": 2},
    }
    return model(**{**built, **parts})


def ranks(*values: int) -> Rigid:
    """A configuration: one object for each rank."""
    return {("A", "r"): list(values)}


def alone(toy: Model, prop: Any, **how: Any) -> Result:
    """The verdict on one property."""
    [result] = model_check(replace(toy, properties=[prop]), {}, only=[prop.name], how=Exploring(**how))
    return result


def test_a_configuration_of_fewer_objects_is_explored_with_those() -> None:
    """And with as many of the sorts of which it says nothing as the scope has."""
    configurations = list(instances(queueing([ranks(0), ranks(0, 1), ranks(0, 1, 2)]), {}))
    assert [dict(instance.sizes) for instance in configurations] == [{"A": n, "B": 2} for n in (1, 2, 3)]
    assert [len(explore(instance, symmetry=False).states) for instance in configurations] == [
        (n + 1) * 4 for n in (1, 2, 3)
    ]


def test_a_configuration_larger_than_the_scope_is_refused() -> None:
    with pytest.raises(ScopeError, match=r"gives 3 values of A\.r to 2 objects"):
        list(instances(queueing([ranks(0, 1, 2)]), {"A": 2}))


def test_a_configuration_gives_attributes_to_the_same_objects() -> None:
    attributes = [Attribute("r", IntRange(0, 3), rigid=True), Attribute("p", BoolType(), rigid=True)]
    toy = queueing(
        [{("A", "r"): [0, 1], ("A", "p"): [True]}],
        machines=[
            Machine(A, states=[State("S"), State("T")], attributes=attributes),
            Machine(B, states=[State("S")], attributes=[Attribute("n", BoolType())]),
        ],
    )
    with pytest.raises(ScopeError, match=r"gives 2 values of A\.r to 1 objects"):
        list(instances(toy, {}))


ALL_IN_T = Invariant(name="p", says="not all are in T", over=[], then=exists(x, x.is_("S")))


@each_row("configurations", list(permutations([ranks(0, 1, 2), ranks(0), ranks(1, 2)])))
def test_the_shortest_run_of_all_configurations_refutes(configurations: Sequence[Rigid]) -> None:
    """With one object one step is enough, whatever comes first."""
    result = alone(queueing(configurations), ALL_IN_T)
    assert result.verdict is Verdict.REFUTED and result.counterexample is not None
    assert len(result.counterexample.steps) == 1 and result.scope == {"A": 1, "B": 2}
    result = alone(queueing([t for t in configurations if t != ranks(0)]), ALL_IN_T)
    assert result.counterexample is not None and len(result.counterexample.steps) == 2


def life(*states: str) -> LifeCycle:
    """Some A goes through these states."""
    return LifeCycle(name="p", says="it lives", sort=A, states=states)


STUCK = {"actions": [Action("go", [x], [x.is_("S"), x.r == 2], [x.fires("e")], "go")], "rows": [Row(A, "e", "S", "T")]}
WITHOUT_B = [Machine(A, states=[State("S"), State("T")], attributes=[Attribute("r", IntRange(0, 3), rigid=True)])]


@pytest.mark.parametrize(
    ("configurations", "verdict"),
    [
        ([ranks(0), ranks(2)], Verdict.PROVED),
        ([ranks(2), ranks(0)], Verdict.PROVED),
        ([ranks(0), ranks(1)], Verdict.REFUTED),
        ([ranks(2)], Verdict.PROVED),
    ],
)
def test_what_can_happen_need_happen_in_one_configuration_only(configurations: list[Rigid], verdict: Verdict) -> None:
    """Only an object of rank 2 gets on. A property to keep must be kept in all of them."""
    toy = queueing(configurations, machines=WITHOUT_B, default_scope={"A": 1}, **STUCK)
    assert alone(toy, life("S", "T")).verdict is verdict
    kept = AlwaysCanReach(name="p", says="each gets on", over=[x], goal=x.is_("T"))
    assert (alone(toy, kept).verdict is Verdict.PROVED) is (configurations == [ranks(2)])
    led = LeadsTo(name="p", says="each gets on", over=[x], given=x.is_("S"), goal=x.is_("T"), weak=["go"])
    assert (alone(toy, led).verdict is Verdict.PROVED) is (configurations == [ranks(2)])


def test_nothing_is_said_to_never_happen_if_not_all_is_explored() -> None:
    toy = queueing([ranks(0), ranks(0, 1, 2)])
    result = alone(toy, life("S", "T", "S"), max_states=3)
    assert result.verdict is Verdict.UNDETERMINED and "stopped" in result.note
    assert alone(toy, life("S", "T", "S")).verdict is Verdict.REFUTED


@pytest.mark.parametrize("wrong", ["first refuted", "any life"])
def test_a_wrong_way_to_put_configurations_together_is_noticed(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    right = model_checking._together

    def together(results: Sequence[Result]) -> Result:
        refuted = [r for r in results if r.verdict is Verdict.REFUTED]
        if refuted and (wrong == "any life" or results[0].kind != LifeCycle.kind):
            return refuted[0]
        return right(results)

    monkeypatch.setattr(model_checking, "_together", together)
    toy = queueing([ranks(0, 1, 2), ranks(0)])
    run = alone(toy, ALL_IN_T).counterexample
    stuck = queueing([ranks(0), ranks(2)], machines=WITHOUT_B, default_scope={"A": 1}, **STUCK)
    lives = alone(stuck, life("S", "T")).verdict
    assert (run is None or len(run.steps) != 1) or lives is not Verdict.PROVED


# --- An amendment with other machines ----------------------------------------------------------------------------------


def test_an_amendment_can_give_a_machine_more_attributes() -> None:
    base = topped(lambda sizes: [{}])
    counted = replace(base.machine("A"), attributes=[*base.machine("A").attributes, Attribute("n", BoolType())])
    change = Change("it counts", repairs=[], adds=[Row(A, "e", "S", "T", n=True)])
    amended = base.amend("counted", "", [change], refuted=frozenset(), machines=[counted])
    assert [a.name for a in amended.machine("A").attributes] == ["r", "n"]
    assert [a.name for a in base.machine("A").attributes] == ["r"], "the base stays as it is"
    [never] = model_check(replace(amended, properties=[replace(base.properties[0], then=~x.n)]), {}, only=["never-T"])
    assert never.verdict is Verdict.REFUTED


def test_without_the_machine_the_amendment_is_refused() -> None:
    base = topped(lambda sizes: [{}])
    change = Change("it counts", repairs=[], adds=[Row(A, "e", "S", "T", n=True)])
    with pytest.raises(ModelError, match="undeclared attribute 'n'"):
        checked(base.amend("counted", "", [change], refuted=frozenset()))


def test_a_machine_that_lacks_what_is_used_is_refused() -> None:
    base = topped(lambda sizes: [{}])
    with pytest.raises(ModelError, match="unknown state 'T' of A"):
        checked(
            base.amend("less", "", [], refuted=frozenset(), machines=[replace(base.machine("A"), states=[State("S")])])
        )


def test_an_amendment_adds_a_sort_and_keeps_the_others_places() -> None:
    base = topped(lambda sizes: [{}])
    more = Machine(B, states=[State("S")], attributes=[Attribute("whose", Ref(A))])
    wider = replace(base.machine("A"), attributes=[*base.machine("A").attributes, Attribute("to", Ref(B))])
    amended = base.amend("more", "", [], refuted=frozenset(), machines=[more, wider])
    assert [m.sort for m in amended.machines] == [A, B]
    assert [a.name for a in amended.machine("A").attributes] == ["r", "to"]
    with pytest.raises(ModelError, match="unknown sort"):
        checked(base.amend("more", "", [], refuted=frozenset(), machines=[wider]))
