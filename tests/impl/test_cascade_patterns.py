"""Rules of every shape, on a model of friends: patterns, payloads, sets, numbers, negation in two layers."""

import pytest

from schedproof.impl.cascade import System
from schedproof.model.lang import (
    NONE,
    Action,
    Attribute,
    BoolType,
    Change,
    Document,
    EnumType,
    Event,
    IntRange,
    Machine,
    Model,
    Ref,
    Row,
    Rule,
    SetOf,
    Sort,
    State,
    exists,
    forall,
    given,
    implies,
    me,
    set_variable,
    those,
    variable,
    variables,
)
from tests.impl.machine_comparison import Counts, differences
from tests.support.sample import thinned

Person = Sort("Person", "p")
Topic = Sort("Topic", "t")  # has no states: only there to be pointed at

x, y, z = variables(Person, "x y z")
topic = variable(Topic, "topic")
Everyone = set_variable(Person, "Everyone")
level = variable(IntRange(0, 1), "level")

link = Action("link", [x, y], [x != y], [x.fires("link", to=y)], "{x} befriends {y}")
unlink = Action("unlink", [x], [x.friend != NONE], [x.fires("link", to=NONE)], "{x} has no friend any more")
wake = Action("wake", [Everyone], [exists(x, Everyone.has(x))], [], "{Everyone} wake up")
learn = Action(
    "learn", [x, topic, level], [x.is_("Awake")], [x.fires("learn", what=topic, how=level)], "{x} learns {topic}"
)
gather = Action("gather", [x], [x.is_("Awake")], [x.fires("gather")], "{x} sees who is awake")

FRIENDS = Model(
    system="friends",
    variant="only",
    about="rules of every shape",
    document=Document("none", "none"),
    machines=[
        Machine(
            Person,
            states=[State("Asleep"), State("Awake")],
            attributes=[
                Attribute("friend", Ref(Person)),
                Attribute("knows", Ref(Topic)),
                Attribute("mood", EnumType(("calm", "glad"))),
                Attribute("level", IntRange(0, 1)),
                Attribute("seen", SetOf(Person)),
                Attribute("shy", BoolType(), rigid=True),
                Attribute("red", BoolType()),
            ],
            events=[
                Event("link", {"to": Ref(Person)}),
                Event("learn", {"what": Ref(Topic), "how": IntRange(0, 1)}),
                Event("hear", {"what": Ref(Topic)}),
            ],
        ),
        Machine(Topic),
    ],
    rows=[
        Row(Person, "link", "Asleep", "Asleep", friend=given("to")),
        Row(Person, "link", "Awake", "Awake", friend=given("to")),
        Row(Person, "up", "Asleep", "Awake", red=me.shy),
        Row(Person, "down", "Awake", "Asleep", mood="calm", red=False),
        Row(Person, "learn", "Awake", "Awake", knows=given("what"), level=given("how")),
        Row(Person, "hear", "Awake", "Awake", knows=given("what"), mood="glad"),
        Row(Person, "hear", "Asleep", "Asleep"),
        Row(Person, "gather", "Awake", "Awake", seen=those(y, y.is_("Awake") & (y != me))),
    ],
    actions=[link, unlink, wake, learn, gather],
    rules=[
        # a pattern with a variable in its payload, which stands for a person: not for nobody
        Rule("the befriended wakes", x.fires("link", to=y), [y.is_("Asleep")], y.fires("up")),
        # on an action with a set
        Rule("those in the set wake", wake, [Everyone.has(x), x.is_("Asleep")], x.fires("up")),
        # negation: who is awake and not in the set goes to sleep, unless a friend of theirs wakes up
        Rule(
            "the others sleep",
            wake,
            [~Everyone.has(x), x.is_("Awake"), forall(y, implies(x.friend == y, ~y.fires("up")))],
            x.fires("down"),
        ),
        # an update that reads other objects, fired after one of them has changed
        Rule(
            "who waits for a friend looks around",
            y.fires("up"),
            [x.friend == y, x.is_("Awake"), ~x.fires("link")],
            x.fires("gather"),
        ),
        # a pattern on an attribute of the bound variable, and a payload from the firing
        Rule("friends hear", x.friend.fires("learn", what=topic), [~x.fires("learn")], x.fires("hear", what=topic)),
    ],
    properties=[],
    default_scope={"Person": 2, "Topic": 1},
)

SCOPE = {"Person": 3, "Topic": 2}
SHY = {("Person", "shy"): [True, False, True]}
ENOUGH = 300
"""States to compare: all are too many, and breadth first these hold every rule's firing."""


def without(name: str) -> Model:
    return FRIENDS.amend("wrong", "a rule left out", [Change("a seeded fault", [], drops=[name])], frozenset())


@pytest.mark.parametrize("states", [ENOUGH // 3, pytest.param(ENOUGH, marks=pytest.mark.long)])
def test_every_shape_of_rule_is_the_models_step(states: int) -> None:
    counts = Counts()
    assert next(differences(System(FRIENDS, SCOPE, rigid=SHY), FRIENDS, counts, most=states), None) is None
    # link: two persons, unlink: one, wake: a set, learn: person, topic and level, gather: one
    assert counts.choices == states * (3 * 3 + 3 + 2**3 + 3 * 2 * 2 + 3)


@pytest.mark.parametrize("rule", thinned([r.name for r in FRIENDS.rules], 3, first=2))
def test_each_of_them_matters(rule: str) -> None:
    assert next(differences(System(without(rule), SCOPE), FRIENDS, most=ENOUGH), None) is not None


def test_a_friend_who_hears_and_one_who_learns() -> None:
    system = System(FRIENDS, SCOPE)
    system.do("link", x="p0", y="p1")
    system.do("link", x="p2", y="p1")
    assert [fields["state"] for fields in system.describe()["Person"].values()] == ["Asleep", "Awake", "Asleep"]
    system.do("wake", Everyone={"p0", "p1"})
    log = system.do("learn", x="p1", topic="t1", level=1)
    assert {(f.name, f.event, f.payload["what"]) for f in log} == {
        ("p1", "learn", "t1"), ("p0", "hear", "t1"), ("p2", "hear", "t1"),
    }  # fmt: skip
    people = system.describe()["Person"]
    assert (people["p0"]["knows"], people["p0"]["mood"]) == ("t1", "glad")
    assert (people["p2"]["knows"], people["p2"]["mood"]) == (None, "calm"), "p2 sleeps"
    assert (people["p1"]["knows"], people["p1"]["level"]) == ("t1", 1)
    system.do("gather", x="p0")
    assert system.describe()["Person"]["p0"]["seen"] == frozenset({"p1"})


def test_who_has_a_friend_that_wakes_up_stays_awake() -> None:
    """Negation over a lower firing: p0 sleeps in neither case alone, p1 only without a waking friend."""
    system = System(FRIENDS, SCOPE)
    system.do("wake", Everyone={"p0"})
    system.do("link", x="p0", y="p1")
    system.do("link", x="p1", y="p2")  # all are awake
    system.do("wake", Everyone={"p0"})
    assert [fields["state"] for fields in system.describe()["Person"].values()] == ["Awake", "Asleep", "Asleep"]
    log = system.do("wake", Everyone={"p1"})  # p0, outside the set, has the friend p1, who wakes up
    assert [(f.name, f.event) for f in log] == [("p1", "up"), ("p0", "gather")]
    assert system.describe()["Person"]["p0"]["seen"] == frozenset(), "p1 was asleep when this began"


def test_a_sort_without_states_has_names_but_no_machines() -> None:
    system = System(FRIENDS, names={"Person": ["ann", "bob"], "Topic": ["go"]})
    system.do("wake", Everyone=["ann"])
    system.do("learn", x="ann", topic="go", level=0)
    assert list(system.describe()) == ["Person"]
    assert system.describe()["Person"]["ann"]["knows"] == "go"


@pytest.mark.parametrize(
    ("level", "says"),
    [(2, "2 is not a value of type 0..1"), (True, "True is not a value of type 0..1"), ("1", "'1' is not")],
)
def test_numbers_are_checked(level: object, says: str) -> None:
    system = System(FRIENDS, SCOPE)
    system.do("wake", Everyone=["p0"])
    with pytest.raises(ValueError, match=f"^learn: parameter level: {says}"):
        system.do("learn", x="p0", topic="t0", level=level)
