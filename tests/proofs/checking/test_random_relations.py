"""Models at random that have relations of two and three sorts, in every way: interpreted, compiled, with symmetry, naively, and proved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import pytest

from schedproof.model.lang import (
    Action,
    Attribute,
    Document,
    Machine,
    Model,
    Relation,
    Row,
    Sort,
    State,
    exists,
    variables,
)
from schedproof.model.lang import terms as t
from schedproof.model.semantics import Instance, Moment, evaluate, tuples
from schedproof.proofs.checking.engine import Engine
from schedproof.proofs.compiled import quotient
from schedproof.proofs.compiled.code import binary
from schedproof.proofs.compiled.terms import Terms
from schedproof.proofs.exploration import symmetry
from schedproof.proofs.exploration.explore import explore
from schedproof.proofs.induction import prove, translate
from schedproof.proofs.induction.obligations import leaves_counts
from schedproof.proofs.verdict import Verdict
from tests.proofs.checking.test_random_models import (
    assert_naively_checked,
    by_graphs,
    by_quotients,
    by_representatives,
    naively,
    notices,
    of_shortest_runs,
)
from tests.proofs.compiled.test_beside_interpreted import assert_same_graph, assert_same_quotient, checked
from tests.proofs.induction.cross_check import CrossCheck
from tests.support.random_models import Drawn, RelationMaker, random_model
from tests.support.sample import thinned

SOME, MANY = range(10), range(10, 40)
"""The models of the default run, and of the long one."""


@cache
def drawn(seed: int) -> Drawn:
    """A model with relations."""
    return random_model(seed, RelationMaker)


def by_proofs(model: Drawn) -> None:
    """What is proved for any number of objects is not refuted for some."""
    refuted = {r.name for r in checked(model.model, {}, Engine.INTERPRETED) if r.verdict is Verdict.REFUTED}
    induction = prove(model.model)
    assert not [name for name in refuted if induction.proved(name)]


def by_structures(model: Drawn) -> None:
    """The formulas of the proofs mean in single states and steps what the interpreter computes."""
    if any(leaves_counts(model.model, prop.name) for prop in model.model.properties):
        return  # proofs take any number for these counts
    check = CrossCheck(model.model, dict(model.model.default_scope), seed=1)
    assert list(check.differences(30)) == []


def compare(model: Drawn) -> None:
    """Every way with every other."""
    interpreted = checked(model.model, {}, Engine.INTERPRETED)
    assert_naively_checked(model, interpreted)
    for threads in (1, 2):
        assert_same_graph(model.instance(), threads)
        assert_same_quotient(model.instance(), threads)
    assert checked(model.model, {}, Engine.COMPILED) == interpreted
    reduced = checked(model.model, {}, Engine.COMPILED, symmetry=True)
    assert reduced == checked(model.model, {}, Engine.INTERPRETED, symmetry=True)
    assert of_shortest_runs(model.model, reduced) == of_shortest_runs(model.model, interpreted)
    by_proofs(model)
    by_structures(model)


@pytest.mark.parametrize("seed", thinned(SOME, 10))
def test_all_ways_agree_on_relations(seed: int) -> None:
    compare(drawn(seed))


@pytest.mark.long(one_in=32)
@pytest.mark.parametrize("seed", MANY)
def test_all_ways_agree_on_more_relations(seed: int) -> None:
    compare(drawn(seed))


@pytest.mark.long
def test_the_relations_matter_in_random_models() -> None:
    """Relations take several values, models are well-formed, and objects are interchangeable often enough."""
    models = [drawn(seed) for seed in range(20)]
    explorations = [explore(m.instance()) for m in models]
    assert sum(f.ill_formed is None for f in explorations) >= 10
    assert sum(f.representatives < f.state_count for f in explorations) >= 6
    assert sum(changes(m) for m in models) >= 10


def changes(model: Drawn) -> bool:
    """Some relation takes three values or more, of the same object."""
    instance = model.instance()
    slots = [
        instance.slot(m.sort.name, a.name) + n
        for m in model.model.machines
        for a in instance.attributes(m.sort.name)
        if isinstance(a.type, Relation)
        for n in range(instance.sizes[m.sort.name])
    ]
    states = explore(instance, symmetry=False).states
    return any(len({state[slot] for state in states}) >= 3 for slot in slots)


# --- Seeded faults ---------------------------------------------------------------------------------------------------

RIGHT_TUPLE, RIGHT_COMPILED, RIGHT_COMPLETING = evaluate._tuple, Terms._tuple, Terms._completing
RIGHT_RENAMED, RIGHT_OBJECTS = symmetry.renamed_tuples, translate.Translator._objects


def swapped(parts: Any, dimensions: Any) -> Any:
    """The first two objects of a tuple are exchanged."""
    return RIGHT_TUPLE([parts[1], parts[0], *parts[2:]], [dimensions[1], dimensions[0], *dimensions[2:]])


def none_is_the_last(parts: Any, dimensions: Any) -> Any:
    """A tuple with nobody in it is the tuple before."""
    number = RIGHT_TUPLE([lambda m, part=part: max(0, part(m)) for part in parts], dimensions)
    return lambda m: number(m)


def another_tuple(self: Any, parts: Any, moment: Any) -> Any:
    """Compiled code reads and writes the entry of the tuple with the last object in every place."""
    return RIGHT_COMPILED(self, [parts[-1]] * len(parts), moment)


def one_place_forgotten(places: Any, renaming: Any) -> list[int]:
    """A renaming leaves the last place as it is."""
    to = [list(renaming.get(sort, range(size))) for sort, size in places]
    to[-1] = list(range(places[-1][1]))
    dimensions = [size for _, size in places]
    return [
        tuples.number([names[i] for names, i in zip(to, tuples.objects(n, dimensions), strict=True)], dimensions)
        for n in range(tuples.number_of(dimensions))
    ]


Lamp = Sort("Lamp", "l")
a, b, c = variables(Lamp, "a b c")
LAMPS = Model(
    system="lamps",
    variant="as-written",
    about="lamps that light in pairs, one pair after the other",
    document=Document("", ""),
    machines=[Machine(Lamp, [State("Off"), State("On")], [Attribute("pairs", Relation(Lamp, Lamp), rigid=True)])],
    rows=[Row(Lamp, "light", "Off", "On")],
    actions=[Action("light", [a, b], [exists(c, c.pairs.has(a, b)), a.is_("Off")], [a.fires("light")], "{a} lights")],
    rules=[],
    properties=[],
    default_scope={"Lamp": 3},
    configurations=lambda sizes: [{("Lamp", "pairs"): [frozenset({(0, 1), (1, 2)})] * 3}],
)


def test_a_rigid_relation_distinguishes_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    """The third lamp never lights. All lamps have the same relation, and differ in its tuples only."""
    lamps = Drawn(LAMPS)
    by_representatives(lamps)
    assert explore(lamps.instance()).state_count == 4
    monkeypatch.setattr(symmetry, "_keeps", keeps_all)
    assert notices(by_representatives, lamps)


Wire = Sort("Wire", "w")
w = variables(Wire, "w")[0]
WIRED = Model(
    system="wired",
    variant="as-written",
    about="lamps that a wire connects in pairs",
    document=Document("", ""),
    machines=[
        Machine(Lamp, [State("Off"), State("On")]),
        Machine(Wire, [State("Whole")], [Attribute("pairs", Relation(Lamp, Lamp), rigid=True)]),
    ],
    rows=[Row(Lamp, "light", "Off", "On")],
    actions=[Action("light", [w, a, b], [w.pairs.has(a, b), a.is_("Off")], [a.fires("light")], "{a} lights")],
    rules=[],
    properties=[],
    default_scope={"Lamp": 3, "Wire": 1},
    configurations=lambda sizes: [{("Wire", "pairs"): [frozenset({(0, 1), (0, 2)})]}],
)


def test_a_relation_of_one_sort_distinguishes_objects_of_another() -> None:
    """Only the first lamp lights. The relation is that of a wire, and no lamp has an attribute."""
    by_representatives(Drawn(WIRED))
    assert explore(Drawn(WIRED).instance()).state_count == 2


def test_a_search_completes_a_tuple_at_each_place() -> None:
    """Each tuple of three places is found by the object at any of them, given the other two."""
    x, y, v = *variables(Lamp, "x y"), variables(Wire, "v")[0]
    wired = replace(
        WIRED,
        machines=[WIRED.machines[0], Machine(Wire, [], [Attribute("pairs", Relation(Lamp, Wire, Lamp), rigid=True)])],
        actions=[replace(WIRED.actions[0], parameters=[a], when=[a.is_("Off")])],
    )
    has = w.pairs.has(x, v, y)
    searches = [(exists(x, has), (w, v, y)), (exists(v, has), (w, x, y)), (exists(y, has), (w, x, v))]
    for one in product(range(3), range(2), range(3)):
        rigid = {("Wire", "pairs"): [frozenset({one}), frozenset[Any]()]}
        instance = Instance(wired, {"Lamp": 3, "Wire": 2}, rigid)
        expected = {"x": one[0], "v": one[1], "y": one[2], "w": 0}
        for term, given in searches:
            holds = evaluate.compile_term(instance, term, {each.name: each for each in given})
            for values in product(*(instance.domain(each.type) for each in given)):
                bound = dict(zip([each.name for each in given], values, strict=True))
                moment = Moment(instance.initial(), dict(bound))
                assert bool(holds(moment)) == (bound.items() <= expected.items())


def keeps_all(instance: Any, sort: str, kind: Any, values: Any) -> bool:
    """Rigid relations distinguish nobody."""
    return True


def no_relation_refers(instance: Any, sort: str) -> bool:
    """Objects that only relations name are sorted as if nobody named them."""
    return not any(
        isinstance(a.type, Relation) and any(each.name == sort for each in a.type.sorts)
        for m in instance.model.machines
        for a in instance.attributes(m.sort.name)
    )


def other_objects(self: Any, element: t.Term) -> Any:
    """Proofs exchange the first object of a tuple with the last, if both are of one sort."""
    first, *between, last = [*RIGHT_OBJECTS(self, element), None]
    if not isinstance(element, t.Tuple) or self.sort_of(element.parts[0]) != self.sort_of(element.parts[-1]):
        return [first, *between]
    *between, last = between
    return [last, *between, first]


def nobody_completes(*arguments: Any) -> Any:
    """A search finds no object that completes a tuple."""
    return lambda m: ()


def the_first_place(self: Any, base: t.Term, parts: Any, var: t.Var, moment: Any) -> Any:
    """Compiled code takes the relation's first tuples, whatever the other objects are."""
    right = RIGHT_COMPLETING(self, base, parts, var, moment)
    return None if right is None else binary("&", self._pure(base, moment), self._everyone(var))


SEEDED: list[tuple[Any, str, Any, Callable[[Drawn], None]]] = [
    (evaluate, "_tuple", swapped, naively),
    (evaluate, "_tuple", none_is_the_last, naively),
    (Terms, "_tuple", another_tuple, by_graphs),
    (evaluate, "_completing", nobody_completes, naively),
    (Terms, "_completing", the_first_place, by_graphs),
    (symmetry, "renamed_tuples", one_place_forgotten, by_representatives),
    (quotient, "renamed_tuples", one_place_forgotten, by_quotients),
    (symmetry, "_referred", no_relation_refers, by_representatives),
    (translate.Translator, "_objects", other_objects, by_structures),
]


@pytest.mark.parametrize(
    ("where", "name", "wrong", "way"),
    thinned(SEEDED, 12, first=6),
    ids=[f"{way.__name__}-{wrong.__name__}" for _, _, wrong, way in SEEDED],
)
def test_a_fault_of_relations_is_noticed(
    where: Any, name: str, wrong: Any, way: Callable[[Drawn], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    models = [drawn(seed) for seed in SOME]
    monkeypatch.setattr(where, name, wrong)
    assert any(notices(way, model) for model in models)
