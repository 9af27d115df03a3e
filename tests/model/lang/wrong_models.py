"""Small models with one mistake each, on the line marked "wrong", and what must be said of it.

Each case: what builds the model; the element, the problem and the remedy that the error must name.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from schedproof.model.lang import (
    EMPTY,
    NONE,
    Action,
    AlwaysCanReach,
    Attribute,
    BoolType,
    Change,
    DeadlockFree,
    Document,
    Durability,
    EnumType,
    Event,
    Function,
    IntRange,
    Invariant,
    LeadsTo,
    LifeCycle,
    Machine,
    Model,
    Nat,
    Property,
    Recovery,
    Ref,
    Relation,
    Restored,
    Row,
    Rule,
    Sequence,
    SetOf,
    Sort,
    State,
    StepInvariant,
    Term,
    after,
    count,
    crash,
    each,
    exists,
    forall,
    given,
    implies,
    length,
    me,
    set_variable,
    those,
    variable,
    variables,
)
from schedproof.model.lang import terms as t

Job, Node = Sort("Job", "j"), Sort("Node", "n")
Ghost = Sort("Ghost", "x")
j, k = variables(Job, "j k")
n, m = variables(Node, "n m")
ghost = variable(Ghost, "x")
number, N = variable(IntRange(0, 3), "number"), set_variable(Node, "N")

COLOURS = EnumType(("red", "green"))
ATTRIBUTES = [
    Attribute("on", Ref(Node)),
    Attribute("tries", IntRange(0, 3)),
    Attribute("urgent", BoolType(), rigid=True),
    Attribute("colour", COLOURS),
    Attribute("log", SetOf(Node), history=True),
    Attribute("saved", BoolType(), durable=True),
]
JOB = Machine(
    Job,
    states=[State("Waiting"), State("Running", Durability.VOLATILE), State("Done")],
    attributes=ATTRIBUTES,
    events=[Event("start", {"on": Ref(Node)})],
)
NODE = Machine(
    Node,
    states=[State("Idle"), State("Busy", Durability.DERIVED)],
    attributes=[Attribute("holds", SetOf(Job))],
)
ROWS = [
    Row(Job, "start", "Waiting", "Running", on=given("on"), log=those(n, n.is_("Idle"))),
    Row(Job, "finish", "Running", "Done", on=NONE, colour="green"),
    Row(Job, "lost", "Running", "Waiting", on=NONE, tries=0, colour="red"),
    Row(Node, "take", "Idle", "Busy"),
    Row(Node, "drop", "Busy", "Idle", holds=EMPTY),
]
start = Action("start", [j, n], [j.is_("Waiting"), n.is_("Idle")], [j.fires("start", on=n)], "{j} starts on {n}")
finish = Action("finish", [j], [j.is_("Running")], [j.fires("finish")], "{j} is done")
ACTIONS = [start, finish]
RULES = [
    Rule("a start takes the node", start, [], n.fires("take")),
    Rule("a finish drops the node", j.fires("finish"), [], j.on.fires("drop")),
]
PROPERTIES = [Invariant(name="running-has-a-node", says="", over=[j], given=j.is_("Running"), then=j.on != NONE)]


def model(**parts: Any) -> Model:
    """The right model, with some parts replaced; ``add_rows=[...]`` and the like add to a part."""
    right: dict[str, Any] = {
        "system": "toy",
        "variant": "right",
        "about": "jobs on nodes",
        "document": Document("none.md", "None"),
        "machines": [JOB, NODE],
        "rows": ROWS,
        "actions": ACTIONS,
        "rules": RULES,
        "properties": PROPERTIES,
        "default_scope": {"Job": 2, "Node": 2},
    }
    for name, value in parts.items():
        right[name.removeprefix("add_")] = [*right[name.removeprefix("add_")], *value] if "add_" in name else value
    return Model(**right)


def act(*when: Term, **other: Any) -> Model:
    """The model with an action more."""
    parts = {"name": "act", "parameters": [j], "fires": [], "says": "", "when": list(when)} | other
    return model(add_actions=[Action(**parts)])


def node_machine(**other: Any) -> Model:
    """The model with a machine of Node changed."""
    return model(machines=[JOB, dataclasses.replace(NODE, **other)])


def invariant(then: Term, over: Any = (j, n)) -> Model:
    """The model with an invariant more."""
    return model(add_properties=[Invariant(name="wrong", says="", over=list(over), then=then)])


def step(then: Term, on: Any = ()) -> Model:
    """The model with a step invariant more."""
    return model(add_properties=[StepInvariant(name="wrong", says="", over=[k], then=then, on=list(on))])


AGED = dataclasses.replace(NODE, attributes=[*NODE.attributes, Attribute("age", Nat)])


def aged(**parts: Any) -> Model:
    """The model whose nodes have an age without a bound."""
    return model(**{"machines": [JOB, AGED], **parts})


Case = tuple[Callable[[], object], str, str, str]

DECLARATIONS: dict[str, Case] = {
    "two machines of a sort": (
        lambda: model(machines=[JOB, NODE, Machine(Job)]),  # wrong
        "sort Job", "is declared twice (first at lang/wrong_models.py:", "another name",
    ),
    "two sorts of a letter": (
        lambda: model(machines=[JOB, NODE, Machine(Sort("Jar", "j"))]),  # wrong
        "the letter of a sort, j", "is declared twice", "another letter",
    ),
    "two states of a name": (
        lambda: node_machine(states=[State("Idle"), State("Busy"), State("Idle")]),  # wrong
        "machine Node: state Idle", "is declared twice", "another name",
    ),
    "two attributes of a name": (
        lambda: node_machine(attributes=[Attribute("holds", SetOf(Job)), Attribute("holds", BoolType())]),  # wrong
        "machine Node: attribute holds", "is declared twice", "another name",
    ),
    "two events of a name": (
        lambda: node_machine(events=[Event("take", {}), Event("take", {"by": Ref(Job)})]),  # wrong
        "machine Node: event take", "is declared twice", "another name",
    ),
    "an attribute that would be a method of terms": (
        lambda: node_machine(attributes=[Attribute("has", BoolType())]),  # wrong
        "attribute Node.has", "another meaning in terms", "another name",
    ),
    "an attribute called state": (
        lambda: node_machine(attributes=[Attribute("state", BoolType())]),  # wrong
        "attribute Node.state", "another meaning", "another name",
    ),
    "an attribute over an unknown sort": (
        lambda: node_machine(attributes=[Attribute("haunted_by", Ref(Ghost))]),  # wrong
        "attribute Node.haunted_by", "unknown sort Ghost", "choose from Job, Node",
    ),
    "a set over an unknown sort": (
        lambda: node_machine(attributes=[Attribute("haunted_by", SetOf(Ghost))]),  # wrong
        "attribute Node.haunted_by", "unknown sort Ghost", "choose from Job, Node",
    ),
    "an empty range": (
        lambda: node_machine(attributes=[Attribute("load", IntRange(3, 1))]),  # wrong
        "attribute Node.load", "the range 3..1 is empty", "IntRange(1, 3)",
    ),
    "an initial value that is no Nat": (
        lambda: node_machine(attributes=[Attribute("load", Nat, initial=-1)]),  # wrong
        "attribute Node.load", "-1 is not a value of type Nat", "give an initial value of that type",
    ),
    "an integer where a value of it is needed": (
        lambda: aged(add_rows=[Row(Node, "rest", "Idle", "Idle", age="old")]),  # wrong
        "row Node.rest from Idle", "type mismatch: age is of type Nat", "set a value of its type",
    ),
    "a Nat that is set below 0": (
        lambda: aged(add_rows=[Row(Node, "rest", "Idle", "Idle", age=-1)]),  # wrong
        "row Node.rest from Idle", "-1 is not a Nat, the type of age", "set a value from 0",
    ),
    "an enumeration of nothing": (
        lambda: node_machine(attributes=[Attribute("kind", EnumType(()))]),  # wrong
        "attribute Node.kind", "is not an enumeration", "at least one value",
    ),
    "an enumeration with a value twice": (
        lambda: node_machine(attributes=[Attribute("kind", EnumType(("a", "b", "a")))]),  # wrong
        "attribute Node.kind", "is not an enumeration", "each value once",
    ),
    "an initial value of another type": (
        lambda: node_machine(attributes=[Attribute("load", IntRange(0, 3), initial="red")]),  # wrong
        "attribute Node.load", "type mismatch: 'red' is not a value of type 0..3", "give an initial value of that type",
    ),
    "an initial value out of its range": (
        lambda: node_machine(attributes=[Attribute("load", IntRange(0, 3), initial=4)]),  # wrong
        "attribute Node.load", "4 is not a value of type 0..3", "give an initial value of that type",
    ),
    "an initial value that the enumeration has not": (
        lambda: node_machine(attributes=[Attribute("kind", COLOURS, initial="blue")]),  # wrong
        "attribute Node.kind", "'blue' is not a value", "give an initial value of that type",
    ),
    "an initial value that is no value at all": (
        lambda: node_machine(attributes=[Attribute("kind", SetOf(Job), initial=frozenset({1}))]),  # type: ignore[arg-type]  # wrong
        "attribute Node.kind", "type mismatch", "give an initial value of that type",
    ),
    "an event without source": (
        lambda: node_machine(events=[Event("explode", {"by": Ref(Job)})]),  # wrong
        "event Node.explode", "no row of the table has this event", "add a row for it",
    ),
    "an event parameter over an unknown sort": (
        lambda: node_machine(events=[Event("take", {"by": Ref(Ghost)})]),  # wrong
        "event Node.take", "unknown sort Ghost", "choose from Job, Node",
    ),
    "a state that no row leads to": (
        lambda: node_machine(states=[State("Idle"), State("Busy"), State("Broken")]),  # wrong
        "state Broken of Node", "is unreachable", "unreachable=True",
    ),
    "a state that is declared unreachable but is not": (
        lambda: node_machine(states=[State("Idle"), State("Busy", unreachable=True)]),  # wrong
        "state Busy of Node", "rows lead to it", "drop unreachable=True",
    ),
}  # fmt: skip

TABLE: dict[str, Case] = {
    "an unknown source": (
        lambda: model(add_rows=[Row(Node, "repair", "Broken", "Idle")]),  # wrong
        "row Node.repair from Broken", "unknown state 'Broken' of Node", "choose from Idle, Busy",
    ),
    "an unknown target": (
        lambda: model(add_rows=[Row(Node, "crash", "Busy", "Broken")]),  # wrong
        "row Node.crash from Busy", "unknown state 'Broken' of Node", "choose from Idle, Busy",
    ),
    "a row of an unknown sort": (
        lambda: model(add_rows=[Row(Ghost, "boo", "A", "B")]),  # wrong
        "row Ghost.boo from A", "unknown sort Ghost", "choose from Job, Node",
    ),
    "a row of a machine without states": (
        lambda: model(machines=[JOB, NODE, Machine(Ghost)], add_rows=[Row(Ghost, "boo", "A", "B")]),  # wrong
        "row Ghost.boo from A", "unknown state 'A' of Ghost", "the machine has no states",
    ),
    "two rows for one event and source": (
        lambda: model(add_rows=[Row(Job, "finish", "Running", "Waiting")]),  # wrong
        "row Job.finish from Running", "is declared twice (first at", "merge the two rows",
    ),
    "an update of an undeclared attribute": (
        lambda: model(add_rows=[Row(Node, "clean", "Idle", "Idle", dirt=0)]),  # wrong
        "row Node.clean from Idle", "undeclared attribute 'dirt'", "choose from holds",
    ),
    "an update of a rigid attribute": (
        lambda: model(add_rows=[Row(Job, "hurry", "Waiting", "Waiting", urgent=True)]),  # wrong
        "row Job.hurry from Waiting", "attribute 'urgent' is rigid", "choose from on, tries, colour, log, saved",
    ),
    "an update by a value of another type": (
        lambda: model(add_rows=[Row(Job, "again", "Waiting", "Waiting", tries=NONE)]),  # wrong
        "row Job.again from Waiting", "type mismatch: tries is of type 0..3, not none", "a value of its type",
    ),
    "an update by a reference to another sort": (
        lambda: model(add_rows=[Row(Job, "again", "Waiting", "Waiting", on=me)]),  # wrong
        "row Job.again from Waiting", "type mismatch: on is of type Node or none", "a value of its type",
    ),
    "an update by a quoted value that the type has not": (
        lambda: model(add_rows=[Row(Job, "paint", "Waiting", "Waiting", colour="blue")]),  # wrong
        "row Job.paint from Waiting", "unknown value 'blue' of colour", "choose from red, green",
    ),
    "an update by a quoted value of no enumeration": (
        lambda: model(add_rows=[Row(Job, "paint", "Waiting", "Waiting", tries="blue")]),  # wrong
        "row Job.paint from Waiting", "type mismatch: tries is of type 0..3, not quoted value 'blue'", "a value of its type",
    ),
    "an update by a parameter that the event has not": (
        lambda: model(add_rows=[Row(Job, "again", "Waiting", "Waiting", on=given("where"))]),  # wrong
        "row Job.again from Waiting", "unknown parameter where of the event", "declare it in the machine's events",
    ),
    "an update by a variable": (
        lambda: model(add_rows=[Row(Job, "again", "Waiting", "Waiting", on=n)]),  # wrong
        "row Job.again from Waiting", "variable n is not bound here", "write me, or given('...')",
    ),
    "an update by a number outside of the range": (
        lambda: model(add_rows=[Row(Job, "again", "Waiting", "Waiting", tries=4)]),  # wrong
        "row Job.again from Waiting", "4 is not in 0..3, the range of tries", "set a value of the range",
    ),
    "a firing of an object that is no parameter": (
        lambda: act(fires=[n.fires("wake")]),  # wrong
        "action act", "variable n is not bound here", "list it in the parameters",
    ),
    "an event with parameters that have no types": (
        lambda: node_machine(events=[Event("take", ["by"])]),  # wrong
        "event take", "its parameters are of type list", 'write Event("take"',
    ),
    "an update that reads history for what is no history": (
        lambda: model(add_rows=[Row(Node, "echo", "Idle", "Idle", holds=those(j, j.log.has(me)))]),  # wrong
        "row Node.echo from Idle", "history attribute 'log' is read", "history may be read by properties only",
    ),
    "an update by one enumeration of another's type": (
        lambda: model(
            machines=[JOB, dataclasses.replace(NODE, attributes=[Attribute("kind", EnumType(("green", "red", "blue")))])],
            rows=[r for r in ROWS if r.event != "drop"] + [
                Row(Node, "drop", "Busy", "Idle"),
                Row(Job, "dye", "Waiting", "Waiting", colour=me.on.kind),  # wrong
            ],
        ),
        "row Job.dye from Waiting", "type mismatch: colour is of type {red, green}", "a value of its type",
    ),
}  # fmt: skip

TERMS: dict[str, Case] = {
    "an unknown state": (
        lambda: act(j.is_("Sleeping")),  # wrong
        "action act", "unknown state 'Sleeping' of Job", "choose from Waiting, Running, Done",
    ),
    "no state": (
        lambda: act(j.is_()),  # wrong
        "action act", "is_() names no state", "choose from Waiting, Running, Done",
    ),
    "an undeclared attribute": (
        lambda: act(j.weight == 1),  # wrong
        "action act", "undeclared attribute 'weight' of Job", "choose from on, tries, urgent, colour, log, saved",
    ),
    "an attribute of NONE": (
        lambda: act(j.tries.size == 1),  # wrong
        "action act", "an object is needed, and this is of type 0..3", "use a variable or a reference",
    ),
    "a state as an attribute": (
        lambda: act(j.state == "Running"),  # wrong
        "action act", "undeclared attribute 'state' of Job", "write .is_('Waiting') to ask for its state",
    ),
    "an object that is compared with a state": (
        lambda: act(j == "Running"),  # wrong
        "action act", "Job is compared with quoted value 'Running'", "write .is_('Running') to ask for its state",
    ),
    "a reference that is compared with the text none": (
        lambda: act(j.on != "none"),  # wrong
        "action act", "Node is compared with quoted value 'none'", "write NONE for no object",
    ),
    "an unbound variable": (
        lambda: act(exists(n, n.is_("Idle")), m.is_("Idle")),  # wrong
        "action act", "variable m is not bound here", "bind it with forall or exists",
    ),
    "a variable that means another sort here": (
        lambda: act(forall(j, j.is_("Done")), forall(variable(Node, "j"), implies(j.is_("Done"), j.is_("Done")))),  # wrong
        "action act", "type mismatch: variable j is of type Job or none, but here j is of type Node or none", "another name",
    ),
    "a formula that is none": (
        lambda: act(j.on),  # wrong
        "action act", "a formula is needed, and this is of type Node or none", "compare it with something",
    ),
    "objects of two sorts compared": (
        lambda: act(j.on == j),  # wrong
        "action act", "type mismatch: Node is compared with Job", "compare values of one type",
    ),
    "a number compared with a quoted value": (
        lambda: act(j.tries == "red"),  # wrong
        "action act", "type mismatch", "compare values of one type",
    ),
    "a number outside of the range": (
        lambda: act(j.tries == 4),  # wrong
        "action act", "4 is not in 0..3, so the two are never equal", "compare with a number of the range",
    ),
    "an unknown enumeration value": (
        lambda: act(j.colour == "blue"),  # wrong
        "action act", "unknown value 'blue'", "choose from red, green",
    ),
    "two quoted values compared": (
        lambda: act(t.lift("red") == "red"),  # wrong
        "action act", "two quoted values are compared", "compare an attribute",
    ),
    "two sets compared": (
        lambda: act(n.holds == EMPTY, parameters=[n]),  # wrong
        "action act", "sets cannot be compared", "compare their elements",
    ),
    "an element of another sort": (
        lambda: act(n.holds.has(n), parameters=[n]),  # wrong
        "action act", "type mismatch: Node or none as an element of a set of Job", "use an object of the set's sort",
    ),
    "an element of no set": (
        lambda: act(j.tries.has(j)),  # wrong
        "action act", "a set is needed, and this is of type 0..3", "use a set variable or a set attribute",
    ),
    "a Nat that is compared with a number below 0": (
        lambda: aged(add_actions=[Action("act", [n], [n.age == -1], [], "")]),  # wrong
        "action act", "-1 is not a Nat, so the two are never equal", "compare with a number from 0",
    ),
    "a variable over all integers": (
        lambda: act(parameters=[variable(Nat, "age")]),
        "action act", "variable age is Nat, and an exploration cannot try all numbers", "give it a range",
    ),
    "an order of what is no number": (
        lambda: act(j.tries < j.urgent),  # wrong
        "action act", "a number is needed", "IntRange",
    ),
    "a sum of what is no number": (
        lambda: act(j.tries + j.urgent > 1),  # wrong
        "action act", "a number is needed", "IntRange",
    ),
    "those of what is no object": (
        lambda: act(those(number, number > 1).has(j)),  # wrong
        "action act", "number is not an object variable", "use a variable over a sort",
    ),
    "me outside a row": (
        lambda: act(t.Me().is_("Done")),  # wrong
        "action act", "'me' is used outside a table row", "name the object with a variable",
    ),
    "the state after, in a guard": (
        lambda: act(after(j.is_("Done"))),  # wrong
        "action act", "after(...) is used outside a step", "use it in a StepInvariant",
    ),
    "the state after, in an invariant": (
        lambda: invariant(after(j.is_("Done"))),  # wrong
        "property wrong", "after(...) is used outside a step", "use it in a StepInvariant",
    ),
    "the state after the state after": (
        lambda: step(after(after(k.is_("Done")))),  # wrong
        "property wrong", "after(...) is used outside a step", "use it in a StepInvariant",
    ),
    "the state after the state after, of values": (
        lambda: step(after(after(k.tries) + 1) > 1),  # wrong
        "property wrong", "after(...) is used outside a step", "use it in a StepInvariant",
    ),
    "a number after the step, in an invariant": (
        lambda: invariant(after(j.tries) > 1),  # wrong
        "property wrong", "after(...) is used outside a step", "use it in a StepInvariant",
    ),
    "a number after the step in place of a formula": (
        lambda: step(after(k.tries)),  # wrong
        "property wrong", "a formula is needed, and this is of type 0..3", "compare it with something",
    ),
    "a number after the step beside a text": (
        lambda: step(after(k.tries) == "low"),  # wrong
        "property wrong", "type mismatch: 0..3 is compared with quoted value 'low'", "compare values of one type",
    ),
    "no object, after the step": (
        lambda: step(k.on == after(NONE)),  # wrong
        "property wrong", "after(...) of a none, which no step changes", "write the value without after(...)",
    ),
    "a firing in a guard": (
        lambda: act(j.fires("finish")),  # wrong
        "action act", "fires(...) is used outside a step", "use it in rules and step invariants",
    ),
    "a firing in an invariant": (
        lambda: invariant(j.fires("finish")),  # wrong
        "property wrong", "fires(...) is used outside a step", "use it in rules and step invariants",
    ),
    "history in a guard": (
        lambda: act(exists(n, j.log.has(n))),  # wrong
        "action act", "history attribute 'log' is read by a guard or rule", "properties only",
    ),
    "a quantifier over sets": (
        lambda: invariant(exists(N, N.has(n))),  # wrong
        "property wrong", "N is a set variable", "only parameters of actions may be sets",
    ),
    "a variable bound twice": (
        lambda: invariant(forall([k, k], k.is_("Done"))),  # wrong
        "property wrong", "variable k is bound twice", "another name",
    ),
}  # fmt: skip

SHAPES: dict[str, Case] = {
    "a formula in place of a list": (
        lambda: act(when=j.is_("Running")),
        "action act",
        "when is of type Is, not a list",
        "write a list of formulas",
    ),
    "a parameter in place of a list": (
        lambda: act(parameters=j),
        "action act",
        "parameters is of type Var, not a list",
        "write a list of variables",
    ),
    "names in one string": (
        lambda: model(
            add_properties=[StepInvariant(name="p", says="", over=[], then=exists(n, n.is_("Idle")), on="start")]
        ),
        "property p",
        "on is 'start', not a list",
        "write a list of names",
    ),
    "a condition in place of a firing": (
        lambda: act(fires=[j.is_("Done")]),
        "action act",
        "an element of fires is of type Is",
        "write firings, for example x.fires('take')",
    ),
    "True in place of a formula": (
        lambda: act(when=[True]),
        "action act",
        "an element of when is True",
        "write formulas",
    ),
    "a list in a list": (
        lambda: model(rows=[ROWS]),
        "variant right",
        "rows has a list in the list",
        "unpack the inner one with *",
    ),
    "a name in place of a state": (
        lambda: model(machines=[JOB, Machine(Node, ["Idle", "Busy"])]),  # type: ignore[list-item]  # wrong
        "machine Node",
        "an element of states is 'Idle'",
        "write State(...)",
    ),
    "a list of firings in a rule": (
        lambda: model(rules=[Rule("r", start, [], [n.fires("take")])]),  # type: ignore[arg-type]  # wrong
        "rule r",
        "fires is of type list",
        "write one firing, without a list",
    ),
    "a rule on the name of an action": (
        lambda: model(rules=[Rule("r", "start", [], n.fires("take"))]),  # type: ignore[arg-type]  # wrong
        "rule r",
        "on is 'start'",
        "write an action, or a firing of an object",
    ),
    "a list in place of a formula": (
        lambda: model(add_properties=[Invariant(name="p", says="", over=[j], then=[j.is_("Done")])]),  # type: ignore[arg-type]  # wrong
        "property p",
        "then is of type list",
        "write one formula",
    ),
    "a list of refuted properties": (
        lambda: model(refuted=["running-has-a-node"]),
        "variant right",
        "refuted is of type list, not a set",
        "write refuted=frozenset({...})",
    ),
    "a scope in strings": (
        lambda: model(default_scope={"Job": "2", "Node": 1}),
        "variant right",
        "default_scope has '2' objects of Job",
        "write a whole number from 1 to 64",
    ),
    "a larger scope in fractions": (
        lambda: model(verify_scope={"Job": 2.5}),
        "variant right",
        "verify_scope has 2.5 objects of Job",
        "write a whole number from 1 to 64",
    ),
    "a sort in place of a type": (
        lambda: node_machine(attributes=[Attribute("held_by", Job)]),  # type: ignore[arg-type]  # wrong
        "attribute Node.held_by",
        "Job is a sort, not a type",
        "write Ref(Job) for one object or none",
    ),
    "a class of Python in place of a type": (
        lambda: node_machine(attributes=[Attribute("up", bool)]),  # type: ignore[arg-type]  # wrong
        "attribute Node.up",
        "<class 'bool'> is not a type",
        "choose from BoolType()",
    ),
    "the name of a sort in a type": (
        lambda: node_machine(attributes=[Attribute("held_by", Ref("Job"))]),  # type: ignore[arg-type]  # wrong
        "attribute Node.held_by",
        "Ref(sort='Job') is not a type",
        "Ref(Sort)",
    ),
}
"""Lists and single elements in each other's places, and values of other classes."""

HAPPENINGS: dict[str, Case] = {
    "two actions of a name": (
        lambda: model(add_actions=[Action("start", [], [], [], "")]),  # wrong
        "action start", "is declared twice", "another name",
    ),
    "two parameters of a name": (
        lambda: act(parameters=[j, j]),
        "action act", "variable j is bound twice", "another name",
    ),
    "a parameter over an unknown sort": (
        lambda: act(parameters=[ghost]),
        "action act", "unknown sort Ghost", "choose from Job, Node",
    ),
    "a sentence about what is no parameter": (
        lambda: act(says="{n} acts"),
        "action act", "its sentence has {n}, which is not a parameter", "choose from j",
    ),
    "an action by what is no parameter": (
        lambda: act(by=k),
        "action act", "by is k, which is not an object among its parameters", "choose from j",
    ),
    "an action by a number": (
        lambda: act(by=3),
        "action act", "by is 3", "write a parameter, or the name of a component",
    ),
    "a sentence about a field that is not there": (
        lambda: act(says="{j.gpu} acts"),
        "action act", "undeclared attribute 'gpu' of Job", "choose from on, tries",
    ),
    "a sentence about a field of a number": (
        lambda: act(says="{j.tries.more} acts"),
        "action act", "an object is needed, and this is of type 0..3", "use a variable or a reference",
    ),
    "a sentence about history": (
        lambda: act(says="{j.log} acts"),
        "action act", "history attribute 'log'", "history may be read by properties only",
    ),
    "a sentence with an open brace": (
        lambda: act(says="{j acts"),
        "action act", "its sentence", "write {p} for parameter p",
    ),
    "an event that no row answers to": (
        lambda: act(fires=[j.fires("explode")]),  # wrong
        "action act", "unknown event 'explode' of Job: no row", "choose from finish, lost, start",
    ),
    "an event without its parameter": (
        lambda: act(fires=[j.fires("start")]),  # wrong
        "action act", "start is fired without its parameter on", "write fires('start', on=...)",
    ),
    "an event with a parameter too many": (
        lambda: act(fires=[j.fires("finish", on=NONE)]),  # wrong
        "action act", "unknown parameter on of event Job.finish", "choose from none",
    ),
    "an event with a parameter of another type": (
        lambda: act(fires=[j.fires("start", on=j)]),  # wrong
        "action act", "type mismatch: parameter on of start is of type Node or none", "pass a value of that type",
    ),
    "two rules of a name": (
        lambda: model(add_rules=[Rule("a start takes the node", start, [], n.fires("take"))]),  # wrong
        "rule a start takes the node", "is declared twice", "another name",
    ),
    "a rule on an unknown action": (
        lambda: model(rules=[Rule("r", Action("stop", [], [], [], ""), [], n.fires("drop"))]),  # wrong
        "rule r", "unknown action 'stop'", "choose from start, finish",
    ),
    "a rule on an action of other parameters": (
        lambda: model(rules=[Rule("r", dataclasses.replace(finish, parameters=[k]), [], k.on.fires("drop"))]),  # wrong
        "rule r", "its action 'finish' has other parameters than the model's", "j: Job or none",
    ),
    "a rule that means another sort by a parameter's name": (
        lambda: model(rules=[Rule("r", finish, [], variable(Node, "j").fires("drop"))]),  # wrong
        "rule r", "type mismatch: variable j is of type Node or none, but here j is of type Job or none", "another name",
    ),
    "a rule over a set that is no parameter": (
        lambda: model(rules=[Rule("r", finish, [N.has(n)], n.fires("drop"))]),  # wrong
        "rule r", "N is a set variable", "only parameters of actions may be sets",
    ),
    "a rule that fires without a parameter": (
        lambda: model(rules=[Rule("r", n.fires("drop"), [n.holds.has(j)], j.fires("start"))]),  # wrong
        "rule r", "start is fired without its parameter on", "write fires('start', on=...)",
    ),
    "a rule on an event that no row answers to": (
        lambda: model(rules=[Rule("r", n.fires("explode"), [n.holds.has(j)], j.fires("finish"))]),  # wrong
        "rule r", "unknown event 'explode' of Node: no row", "choose from drop, take",
    ),
    "a rule that asks for an event by a set": (
        lambda: model(
            machines=[JOB, dataclasses.replace(NODE, events=[Event("take", {"all": SetOf(Job)})])],
            rules=[Rule("r", n.fires("take", all=n.holds), [], j.fires("finish"))],  # wrong
        ),
        "rule r", "parameter all of take is a set, and sets cannot be compared", "leave this parameter out",
    ),
    "history in a rule": (
        lambda: model(rules=[Rule("r", finish, [j.log.has(n)], n.fires("drop"))]),  # wrong
        "rule r", "history attribute 'log' is read by a guard or rule", "properties only",
    ),
    "a trigger cycle of two rules": (
        lambda: model(
            add_rules=[Rule("back", n.fires("drop"), [n.holds.has(j)], j.fires("finish"))]  # either rule may be named
        ),
        "rule ", "trigger cycle: ", "so that every cascade ends",
    ),
    "a trigger cycle by negation": (
        lambda: model(
            rules=[Rule("unless", finish, [j.on == n, ~n.fires("drop")], n.fires("drop"))]  # wrong
        ),
        "rule unless", "trigger cycle: Node.drop -> Node.drop", "so that every cascade ends",
    ),
}  # fmt: skip

REQUIRED: dict[str, Case] = {
    "two properties of a name": (
        lambda: model(add_properties=[Invariant(name="running-has-a-node", says="", over=[j], then=j.on == NONE)]),  # wrong
        "property running-has-a-node", "is declared twice", "another name",
    ),
    "a property over an unknown sort": (
        lambda: invariant(ghost == ghost, over=[ghost]),
        "property wrong", "unknown sort Ghost", "choose from Job, Node",
    ),
    "a property over a variable twice": (
        lambda: invariant(j.is_("Done"), over=[j, j]),
        "property wrong", "variable j is bound twice", "another name",
    ),
    "a property over sets": (
        lambda: invariant(N.has(n), over=[N, n]),
        "property wrong", "N is a set variable", "only parameters of actions may be sets",
    ),
    "a step property of an unknown action": (
        lambda: step(k.is_("Done"), on=["stop"]),
        "property wrong", "unknown action 'stop'", "choose from start, finish",
    ),
    "a step property that speaks of a parameter of some other action": (
        lambda: step(n.is_("Idle"), on=["start", "finish"]),  # wrong
        "property wrong", "variable n is not bound here", "choose from j, k",
    ),
    "a life cycle of an unknown state": (
        lambda: model(add_properties=[LifeCycle(name="wrong", says="", sort=Node, states=["Idle", "Gone"])]),  # wrong
        "property wrong", "unknown state 'Gone' of Node", "choose from Idle, Busy",
    ),
    "a life cycle of an unknown sort": (
        lambda: model(add_properties=[LifeCycle(name="wrong", says="", sort=Ghost, states=["A"])]),  # wrong
        "property wrong", "unknown sort Ghost", "choose from Job, Node",
    ),
    "a life cycle of nothing": (
        lambda: model(add_properties=[LifeCycle(name="wrong", says="", sort=Node, states=[])]),  # wrong
        "property wrong", "it names no state", "list the states",
    ),
    "a goal that is no formula": (
        lambda: model(add_properties=[AlwaysCanReach(name="wrong", says="", over=[j], goal=j.on)]),  # wrong
        "property wrong", "a formula is needed", "compare it",
    ),
    "an end that is no formula": (
        lambda: model(add_properties=[DeadlockFree(name="wrong", says="", ended=exists(j, j.on))]),  # wrong
        "property wrong", "a formula is needed", "compare it",
    ),
    "an end of an object that is not bound": (
        lambda: model(add_properties=[DeadlockFree(name="wrong", says="", ended=j.is_("Done"))]),  # wrong
        "property wrong", "variable j is not bound here", "bind it with forall or exists",
    ),
    "no deadlock without an unknown action": (
        lambda: model(add_properties=[DeadlockFree(name="wrong", says="", without=["fin"])]),  # wrong
        "property wrong", "unknown action 'fin'", "choose from start, finish",
    ),
    "fairness of an unknown action": (
        lambda: model(
            add_properties=[
                LeadsTo(name="wrong", says="", over=[j], given=j.is_("Running"), goal=j.is_("Done"), weak=["fin"])  # wrong
            ]
        ),
        "property wrong", "unknown action 'fin'", "choose from start, finish",
    ),
    "fairness to what is not taken": (
        lambda: model(
            add_properties=[
                LeadsTo(name="wrong", says="", over=[j, n], given=j.on == n, goal=j.on == n, weak=["finish"], without=["finish"])  # wrong
            ]
        ),
        "property wrong", "finish is both fair and excluded", "or else in without",
    ),
    "a recovery without a crash": (
        lambda: model(add_properties=[Recovery(name="wrong", says="", restores=[])]),  # wrong
        "property wrong", "a Recovery needs a crash, and the model declares none", "add one with crash(...)",
    ),
    "a crash that keeps what it loses": (
        lambda: model(
            rows=[*(r for r in ROWS if r.event != "lost"), Row(Job, "lost", "Running", "Waiting", on=NONE, tries=0)],  # wrong
            add_actions=[CRASH],
            add_rules=CRASH_RULES,
        ),
        "row Job.lost from Running", "crash loses attribute 'colour' of Job, and the row does not set it", "durable=True or derived=True",
    ),
    "a crash that sets what it loses to what it was": (
        lambda: model(
            rows=[*(r for r in ROWS if r.event != "lost"), Row(Job, "lost", "Running", "Waiting", on=NONE, tries=0, colour=me.colour)],  # wrong
            add_actions=[CRASH],
            add_rules=CRASH_RULES,
        ),
        "row Job.lost from Running", "crash loses attribute 'colour' of Job, and the row keeps its value", "durable=True or derived=True",
    ),
    "a recovery from what a crash loses": (
        lambda: model(
            add_actions=[CRASH],
            add_rules=CRASH_RULES,
            add_properties=[
                Recovery(
                    name="wrong",
                    says="",
                    restores=[
                        Restored([j], j.is_("Waiting"), j.tries == 0),  # wrong
                    ],
                )
            ],
        ),
        "property wrong", "attribute 'tries' is lost in a crash", "durable attributes only",
    ),
    "a recovery from states": (
        lambda: model(
            add_actions=[CRASH],
            add_rules=CRASH_RULES,
            add_properties=[
                Recovery(
                    name="wrong",
                    says="",
                    restores=[
                        Restored([j], j.is_("Waiting"), ~j.is_("Done")),  # wrong
                    ],
                )
            ],
        ),
        "property wrong", "recovery reads a state, which a crash may lose", "read a durable attribute",
    ),
    "an axiom about what changes": (
        lambda: model(axioms=[forall(j, j.tries < 3)]),  # wrong
        "axiom", "an axiom reads attribute 'tries', which changes", "write an Invariant instead",
    ),
    "an axiom about states": (
        lambda: model(axioms=[forall(j, j.is_("Waiting"))]),  # wrong
        "axiom", "an axiom reads a state, which changes", "rigid attributes only",
    ),
    "a manifest that names no property": (
        lambda: model(refuted=frozenset({"runing-has-a-node"})),
        "variant right", "refuted names an unknown property 'runing-has-a-node'", "choose from well-formed, ",
    ),
    "an assumption with a name that is a text": (
        lambda: model(assuming={"nothing is urgent": "Job.urgent"}),
        "variant right", "assuming has 'Job.urgent' for 'nothing is urgent'", 'write a name and a formula: assuming={"hold < lease": forall(...)}',
    ),
    "an assumption without a name": (
        lambda: model(assuming=[forall(j, j.urgent)]),
        "variant right", "assuming is of type list", 'write assuming={"hold < lease": forall(...)}',
    ),
    "an assumption with a name that changes": (
        lambda: model(assuming={"all are done": forall(j, j.is_("Done"))}),
        "assumption all are done", "an axiom reads a state, which changes", "read rigid attributes only",
    ),
    "assumptions that are a text": (
        lambda: model(assumes="Job.urgent"),
        "variant right", "assumes is 'Job.urgent'", "write assumes={",
    ),
    "assumptions without a list": (
        lambda: model(assumes={"running-has-a-node": "Job.urgent"}),
        "variant right", "assumes has 'Job.urgent' for running-has-a-node, not a list", "write assumes={'running-has-a-node': [",
    ),
    "an assumption of an invariant": (
        lambda: model(assumes={"running-has-a-node": ["Job.urgent"]}),
        "variant right", "assumes names 'running-has-a-node', which is not an AlwaysCanReach or LeadsTo", "leave it out",
    ),
    "an assumption that assumes nothing": (
        lambda: model(
            add_properties=[LeadsTo(name="ends", says="", over=[j], given=j.is_("Running"), goal=j.is_("Done"))],
            assumes={"ends": ["Job.urgent"]},
        ),
        "variant right", "ends assumes 'Job.urgent', which is not an attribute with assumed=", "write assumed= at the Attribute",
    ),
    "an assumption that is a term": (
        lambda: model(
            add_properties=[LeadsTo(name="ends", says="", over=[j], given=j.is_("Running"), goal=j.is_("Done"))],
            assumes={"ends": [j.urgent]},
        ),
        "variant right", "assumes has of type Attr for ends, not the name of an attribute", "write assumes={'ends': [\"Sort.attribute\"]}",
    ),
    "an assumption that is named twice": (
        lambda: model(
            machines=[dataclasses.replace(JOB, attributes=[*ATTRIBUTES, Attribute("live", BoolType(), rigid=True, assumed=True)]), NODE],
            add_properties=[LeadsTo(name="ends", says="", over=[j], given=j.is_("Running"), goal=j.is_("Done"))],
            assumes={"ends": ["Job.live", "Job.live"]},
        ),
        "variant right", "ends assumes 'Job.live' twice", "write it once",
    ),
    "an assumption that is a word": (
        lambda: model(machines=[dataclasses.replace(JOB, attributes=[*ATTRIBUTES, Attribute("live", BoolType(), rigid=True, assumed="yes")]), NODE]),  # type: ignore[arg-type]  # wrong
        "attribute Job.live", "assumed='yes' of an attribute that is", "write assumed=True or assumed=False",
    ),
    "an assumption that changes": (
        lambda: model(machines=[dataclasses.replace(JOB, attributes=[*ATTRIBUTES, Attribute("live", BoolType(), assumed=True)]), NODE]),  # wrong
        "attribute Job.live", "and not rigid", "of a rigid BoolType",
    ),
    "a scope of an unknown sort": (
        lambda: model(default_scope={"Jobs": 2}),
        "variant right", "its scope has an unknown sort 'Jobs'", "choose from Job, Node",
    ),
    "a scope of nothing": (
        lambda: model(default_scope={"Job": 0, "Node": 2}),
        "variant right", "default_scope has 0 objects of Job", "write a whole number from 1 to 64",
    ),
}  # fmt: skip

CRASH, CRASH_RULES = crash("crash", "lost", [JOB], ROWS)


def amended_too_early() -> Model:
    properties = list(PROPERTIES)
    other = model(properties=properties).amend("other", "", [], frozenset())  # wrong
    properties.append(Invariant(name="late", says="", over=[j], then=j.is_("Done")))
    return other


def changed(**change: Any) -> Model:
    """A variant of the right model by one change."""
    return model().amend("other", "", [Change("why", **({"repairs": []} | change))], frozenset())


VARIANTS: dict[str, Case] = {
    "a change that drops what is not there": (
        lambda: changed(drops=["a finish drops the job"]),
        "change drops 'a finish drops the job'", "it is not an element of the model", "name a row, action, rule or property",
    ),
    "a change that drops one of two elements of a name": (
        lambda: model(
            properties=[Invariant(name="finish", says="", over=[j], then=j.on == NONE)]
        ).amend("other", "", [Change("why", [], drops=["finish"])], frozenset()),  # wrong
        "change drops 'finish'", "an action and a property have that name", "give one of them another name",
    ),
    "a change that adds a machine": (
        lambda: changed(adds=[Machine(Ghost)]),
        "change adds 'Ghost'", "a Machine cannot differ between variants", "add rows, actions, rules or properties",
    ),
    "a change that repairs an unknown property": (
        lambda: changed(repairs=["runing-has-a-node"]),
        "change of other", "it repairs an unknown property 'runing-has-a-node'", "choose from running-has-a-node",
    ),
    "a change that weakens an unknown property": (
        lambda: changed(weakens={"runing-has-a-node": ["running-has-a-node"]}),
        "change of other", "it weakens an unknown property 'runing-has-a-node'", "choose from running-has-a-node",
    ),
    "a change that weakens a property to one that is not kept": (
        lambda: changed(weakens={"running-has-a-node": ["running-had-a-node"]}),
        "change of other", "it weakens a property to an unknown property 'running-had-a-node'", "choose from",
    ),
    "a volatile state without a recovery row": (
        lambda: crash("crash", "lost", [Machine(Job, states=[State("A", Durability.VOLATILE)])], ROWS[:1]),  # wrong
        "state A of Job", "is volatile, and no recovery row takes it to another state", 'add Row(Job, "lost", "A", ...)',
    ),
    "a persistent state with a recovery row": (
        lambda: crash("crash", "lost", [JOB], [*ROWS, Row(Job, "lost", "Done", "Waiting")]),  # wrong
        "row Job.lost from Done", "a crash takes Done to Waiting, but Done is declared persistent", "Durability.VOLATILE",
    ),
    "a derived state with a recovery row": (
        lambda: crash("crash", "off", [NODE], [Row(Node, "off", "Busy", "Idle")]),  # wrong
        "row Node.off from Busy", "but Busy is declared derived", "Durability.VOLATILE",
    ),
}  # fmt: skip

NAMES: dict[str, Case] = {
    "a model whose document is a text": (
        lambda: model(document="none.md"),
        "variant right", "document is 'none.md'", 'write document=Document("jobs.md"',
    ),
    "a model without a name": (
        lambda: model(system=""),
        "variant right", "system is ''", 'write a name, for example system="jobs"',
    ),
    "a scope that is no dictionary": (
        lambda: model(default_scope=None),
        "variant right", "default_scope is None", 'write default_scope={"Job": 2}',
    ),
    "a scope that cannot be explored": (
        lambda: model(default_scope={"Job": 100}),
        "variant right", "default_scope has 100 objects of Job", "write a whole number from 1 to 64",
    ),
    "configurations that are no function": (
        lambda: model(configurations=[{}]),
        "variant right", "configurations is of type list, not a function of the scope", "write configurations=lambda sizes: [...]",
    ),
    "a machine of a text": (
        lambda: model(machines=[JOB, Machine("Node")]),  # type: ignore[arg-type]  # wrong
        "machine", "its sort is 'Node'", 'write Machine(Sort("Job", "j"), ...)',
    ),
    "a bound of a range": (
        lambda: aged(bound={("Job", "tries"): 3}),
        "variant right", "Job.tries is not an attribute of type Int or Nat that changes", "choose from Node.age",
    ),
    "a bound without integers": (
        lambda: model(bound={("Job", "tries"): 3}),
        "variant right", "Job.tries is not an attribute of type Int or Nat that changes", "leave it out",
    ),
    "a bound in words": (
        lambda: aged(bound={("Node", "age"): "3"}),
        "variant right", "the bound of Node.age is '3'", "write its highest value, or (lowest, highest)",
    ),
    "a bound without the initial value": (
        lambda: aged(bound={("Node", "age"): (1, 3)}),
        "variant right", "Node.age starts at 0, outside of its bound 1..3", "give a bound with 0",
    ),
    "a bound of a text": (
        lambda: aged(bound={"Node.age": 3}),
        "variant right", "bound has the key 'Node.age'", 'write for example bound={("Node", "term"): 3}',
    ),
    "a bound that is no dictionary": (
        lambda: aged(bound=3),
        "variant right", "bound is 3", 'write for example bound={("Node", "term"): 3}',
    ),
    "a sort without a name": (
        lambda: Sort("", "b"),  # wrong
        "sort", "its name is ''", 'write for example Sort("Job", "j")',
    ),
    "a range of texts": (
        lambda: IntRange("0", 3),  # type: ignore[arg-type]  # wrong
        "IntRange", "a bound is '0', not a whole number", "write for example IntRange(0, 3)",
    ),
    "an enumeration of letters": (
        lambda: EnumType("ab"),  # type: ignore[arg-type]  # wrong
        "EnumType", "values is 'ab', not several names", 'write for example EnumType(("batch", "service"))',
    ),
    "a row from two states": (
        lambda: Row(Job, "finish", ["Waiting", "Running"], "Done"),  # type: ignore[arg-type]  # wrong
        "row of Job", "its source is of type list, not one name", "write a row for each source",
    ),
    "a state without a name": (
        lambda: node_machine(states=[State("")]),  # wrong
        "machine Node", "'' cannot be the name of its state", "write one in words",
    ),
    "an attribute without a name": (
        lambda: node_machine(attributes=[Attribute(" ", Ref(Job))]),  # wrong
        "machine Node", "' ' cannot be the name of its attribute", "write one in words",
    ),
    "an action whose name is none": (
        lambda: act(name=None),
        "action None", "None cannot be the name of its action", "write one in words",
    ),
    "a rule without a name": (
        lambda: model(add_rules=[Rule("", start, [], n.fires("take"))]),  # wrong
        "rule", "'' cannot be the name of its rule", "write one in words",
    ),
    "a property without a kind": (
        lambda: model(add_properties=[Property(name="wrong", says="")]),  # wrong
        "property wrong", "it is of no kind", "write Invariant(...), LeadsTo(...) or another kind",
    ),
    "a property whose sentence is no text": (
        lambda: model(add_properties=[LifeCycle(name="wrong", says=None, sort=Job, states=["Waiting"])]),  # wrong
        "property wrong", "says is None, not a text", "write a sentence",
    ),
    "a life cycle that stays": (
        lambda: model(add_properties=[LifeCycle(name="wrong", says="", sort=Job, states=["Waiting", "Waiting"])]),  # wrong
        "property wrong", "its states have 'Waiting' twice in a row", "write it once: a step that keeps the state is the same visit",
    ),
    "a life cycle that begins in the middle": (
        lambda: model(add_properties=[LifeCycle(name="wrong", says="", sort=Job, states=["Running", "Done"])]),  # wrong
        "property wrong", "its states begin with 'Running', but no Job begins there", "begin with Waiting",
    ),
    "a comparison without brackets": (
        lambda: n.holds == 1 & j.is_("Done"),  # wrong
        "formula", "& joins 1 with a term, since it binds more tightly than ==", "put comparisons in brackets",
    ),
    "a variant with the name of the one that it amends": (
        lambda: model().amend("right", "", [], frozenset()),  # wrong
        "variant right", "the amended variant has that name", "write another",
    ),
    "a property that the amended variant comes too early for": (
        lambda: amended_too_early(),
        "variant other", "right got 'late' after it was amended, so other lacks it",
        "write amend(...) below everything that right is made of",
    ),
    "changes that are none": (
        lambda: model().amend("other", "", ["finish"], frozenset()),  # type: ignore[list-item]  # wrong
        "variant other", "changes is not a list of changes", "write [Change(...), ...]",
    ),
    "a change that adds one element without a list": (
        lambda: changed(adds=finish),
        "change of other", "adds is of type Action, not a list", "write adds=[...]",
    ),
    "a change that adds a text": (
        lambda: changed(adds=["finish"]),
        "change of other", "adds has 'finish'", "add rows, actions, rules or properties",
    ),
    "a crash that ends in a state that it loses": (
        lambda: model(
            machines=[JOB, dataclasses.replace(NODE, states=[State("Idle", Durability.VOLATILE), State("Busy", Durability.VOLATILE)])],
            add_rows=[Row(Node, "off", "Busy", "Idle")],  # wrong
            add_actions=[Action("power", [n], [n.is_("Busy")], [n.fires("off")], "", crash=True)],
        ),
        "row Node.off from Busy", "power takes Busy to Idle, but a crash loses that state too", "name a state that survives",
    ),
    "a crash of one machine without a list": (
        lambda: crash("crash", "lost", JOB, ROWS),  # type: ignore[arg-type]  # wrong
        "crash crash", "machines is of type Machine", "write a list of machines",
    ),
}  # fmt: skip

LOADED = dataclasses.replace(NODE, attributes=[*NODE.attributes, Attribute("load", Relation(Job, Node))])

RELATIONS: dict[str, Case] = {
    "a relation of one sort": (
        lambda: node_machine(attributes=[Attribute("load", Relation(Job))]),  # wrong
        "Relation",
        "it has 1 sort",
        "write SetOf(Job)",
    ),
    "a relation of no sort": (
        lambda: node_machine(attributes=[Attribute("load", Relation())]),  # wrong
        "Relation",
        "it has no sorts",
        "write two sorts or more",
    ),
    "a relation of a type": (
        lambda: node_machine(attributes=[Attribute("load", Relation(Job, Ref(Node)))]),  # type: ignore[arg-type]  # wrong
        "Relation",
        "is not a sort",
        "write for example Relation(Worker, Job)",
    ),
    "a relation over an unknown sort": (
        lambda: node_machine(attributes=[Attribute("load", Relation(Job, Ghost))]),  # wrong
        "attribute Node.load",
        "unknown sort Ghost",
        "choose from Job, Node",
    ),
    "an event parameter that is a relation": (
        lambda: node_machine(events=[Event("take", {"by": Relation(Job, Node)})]),  # wrong
        "event Node.take",
        "a parameter is a set of (Job, Node), and only attributes are relations",
        "give the event a parameter for each object",
    ),
    "a variable that is a relation": (
        lambda: act(parameters=[j, variable(Relation(Job, Node), "r")]),
        "action act",
        "variable r is a set of (Job, Node), and only attributes are relations",
        "use a variable over each sort",
    ),
    "an element of a relation with too few objects": (
        lambda: model(
            machines=[JOB, LOADED],
            add_properties=[
                Invariant(name="wrong", says="", over=[j, n], then=n.load.has(j)),  # wrong
            ],
        ),
        "property wrong",
        "1 object as an element of a set of (Job, Node)",
        "write the objects in this order: Job, Node",
    ),
    "several objects as an element of a set": (
        lambda: invariant(n.holds.has(j, n)),  # wrong
        "property wrong",
        "2 objects as an element of a set of Job",
        "write the objects in this order: Job",
    ),
    "an element of a relation in another order": (
        lambda: model(
            machines=[JOB, LOADED],
            add_properties=[
                Invariant(name="wrong", says="", over=[j, n], then=n.load.has(n, j)),  # wrong
            ],
        ),
        "property wrong",
        "type mismatch: object 1 of an element of a set of (Job, Node) is",
        "write the objects in this order: Job, Node",
    ),
    "a number in an element of a relation": (
        lambda: model(
            machines=[JOB, LOADED],
            add_properties=[
                Invariant(name="wrong", says="", over=[j, n], then=n.load.has(j, t.Constant(1))),  # wrong
            ],
        ),
        "property wrong",
        "an object is needed, and this is of type integer",
        "use a variable",
    ),
    "tuples of values": (
        lambda: invariant(those([j, number], j.is_("Running")).has(j, n)),  # wrong
        "property wrong",
        "number is not an object variable",
        "use a variable over a sort",
    ),
    "a count of sets": (
        lambda: invariant(count(N, N.has(n)) <= 1),  # wrong
        "property wrong",
        "N is a set variable",
        "use a variable over a sort",
    ),
}

SENT = dataclasses.replace(
    NODE,
    attributes=[
        *NODE.attributes,
        Attribute("sent", Function(Node, to=IntRange(0, 3))),
        Attribute("mode", Function(Node, Job, to=EnumType(("low", "high")))),
        Attribute("seen", Function(Node, to=Nat)),
    ],
)


def sending(**parts: Any) -> Model:
    """The model whose nodes have functions."""
    return model(**{"machines": [JOB, SENT], **parts})


FUNCTIONS: dict[str, Case] = {
    "a function of no sort": (
        lambda: node_machine(attributes=[Attribute("sent", Function(to=Nat))]),  # wrong
        "Function", "it has no sort", "write for example Function(Node, to=IntRange(0, 3))",
    ),
    "a function of a type": (
        lambda: node_machine(attributes=[Attribute("sent", Function(Ref(Node), to=Nat))]),  # type: ignore[arg-type]  # wrong
        "Function", "is not a sort", "write for example Function(Node, to=IntRange(0, 3))",
    ),
    "a function to nothing": (
        lambda: node_machine(attributes=[Attribute("sent", Function(Node))]),  # wrong
        "Function", "it has no type of its values", "write for example Function(Node, to=IntRange(0, 3))",
    ),
    "a function to sets": (
        lambda: node_machine(attributes=[Attribute("sent", Function(Node, to=SetOf(Job)))]),  # type: ignore[arg-type]  # wrong
        "Function", "its values are", "for a set of objects, write a Relation",
    ),
    "a function over an unknown sort": (
        lambda: node_machine(attributes=[Attribute("sent", Function(Ghost, to=Nat))]),  # wrong
        "attribute Node.sent", "unknown sort Ghost", "choose from Job, Node",
    ),
    "a function that begins elsewhere": (
        lambda: node_machine(attributes=[Attribute("sent", Function(Node, to=IntRange(0, 3)), initial=1)]),  # wrong
        "attribute Node.sent", "a function begins with the first value of 0..3 everywhere", "leave out initial",
    ),
    "an event parameter that is a function": (
        lambda: node_machine(events=[Event("take", {"by": Function(Job, to=Nat)})]),  # wrong
        "event Node.take",
        "a parameter is a function of (Job) to Nat, and only attributes are functions",
        "give the event a parameter for each object",
    ),
    "a variable that is a function": (
        lambda: act(parameters=[j, variable(Function(Job, to=Nat), "f")]),
        "action act", "variable f is a function of (Job) to Nat, and only attributes are functions", "use a variable over each sort",
    ),
    "a value of what is no function": (
        lambda: invariant(n.holds[j] == 1),  # wrong
        "property wrong", "a function is needed, and this is of type set of Job", "use an attribute of type Function(A, to=...)",
    ),
    "a value at an object of another sort": (
        lambda: sending(add_properties=[Invariant(name="wrong", says="", over=[j, n], then=n.sent[j] == 1)]),  # wrong
        "property wrong", "type mismatch: object 1 of the argument of a function of (Node) to 0..3 is", "in this order: Node",
    ),
    "a value at too few objects": (
        lambda: sending(add_properties=[Invariant(name="wrong", says="", over=[j, n], then=n.mode[n] == "low")]),  # wrong
        "property wrong", "1 object as the argument of a function of (Node, Job)", "in this order: Node, Job",
    ),
    "a value of a function that is made": (
        lambda: sending(add_properties=[Invariant(name="wrong", says="", over=[j, n], then=n.sent.with_(n, to=1)[n] == 1)]),  # wrong
        "property wrong", "a value is read of a function that is made here", "read it of an attribute",
    ),
    "a function called in Python": (
        lambda: sending(add_properties=[Invariant(name="wrong", says="", over=[n], then=n.sent(n) == 1)]),  # wrong
        "term", "it is called like a function of Python", "read a value with f[x]",
    ),
    "a value of a function without its name": (
        lambda: sending(add_rows=[Row(Node, "note", "Idle", "Idle", sent=me.sent.with_(me, 1))]),  # type: ignore[arg-type]  # wrong
        "row Node", "a set is needed, and this is a function of (Node) to 0..3", "f.with_(x, to=...)",
    ),
    "a value of a function at nothing": (
        lambda: sending(add_rows=[Row(Node, "note", "Idle", "Idle", sent=me.sent.with_(to=1))]),  # type: ignore[call-arg]  # wrong
        "with_", "element is missing", "write element=...",
    ),
    "functions compared": (
        lambda: sending(add_properties=[Invariant(name="wrong", says="", over=[j, n], then=n.sent == n.sent)]),  # wrong
        "property wrong", "functions cannot be compared", "compare their values: forall(x, f[x] == g[x])",
    ),
    "a value of a set": (
        lambda: model(add_rows=[Row(Node, "note", "Idle", "Idle", holds=me.holds.with_(me, to=1))]),  # wrong
        "row Node", "with_(..., to=...) of a term of type set of Job", "leave out to=... for a set",
    ),
    "a value of another type": (
        lambda: sending(add_rows=[Row(Node, "note", "Idle", "Idle", sent=me.sent.with_(me, to=NONE))]),  # wrong
        "row Node", "type mismatch: a value of a function of (Node) to 0..3 is of type none", "after to=",
    ),
    "a value outside of the range": (
        lambda: sending(add_rows=[Row(Node, "note", "Idle", "Idle", sent=me.sent.with_(me, to=4))]),  # wrong
        "row Node", "4 is not in 0..3", "write a value of the range",
    ),
    "a value below 0 of naturals": (
        lambda: sending(add_rows=[Row(Node, "note", "Idle", "Idle", seen=me.seen.with_(me, to=-1))]),  # wrong
        "row Node", "-1 is not a Nat", "write a value from 0",
    ),
    "each value of another type": (
        lambda: sending(add_rows=[Row(Node, "note", "Idle", "Idle", sent=each(n, "low"))]),  # wrong
        "row Node", "type mismatch: sent is of type function of (Node) to 0..3, not function of (Node) to quoted value 'low'", "set a value of its type",
    ),
    "each of other objects": (
        lambda: sending(add_rows=[Row(Node, "note", "Idle", "Idle", sent=each(j, 1))]),  # wrong
        "row Node", "type mismatch: sent is of type function of (Node) to 0..3, not function of (Job) to integer", "set a value of its type",
    ),
    "each value outside of the range": (
        lambda: sending(add_rows=[Row(Node, "note", "Idle", "Idle", sent=each(n, 7))]),  # wrong
        "row Node", "7 is not in 0..3, the range of sent", "set a value of the range",
    ),
    "each unknown value": (
        lambda: sending(add_rows=[Row(Node, "note", "Idle", "Idle", mode=each([n, j], "mid"))]),  # wrong
        "row Node", "unknown value 'mid' of mode", "choose from low, high",
    ),
    "each of a number": (
        lambda: sending(add_rows=[Row(Node, "note", "Idle", "Idle", sent=each(number, 1))]),  # wrong
        "row Node", "number is not an object variable", "use a variable over a sort",
    ),
}  # fmt: skip

LOGGED = dataclasses.replace(
    NODE,
    attributes=[
        *NODE.attributes,
        Attribute("log", Sequence(IntRange(0, 3), at_most=2)),
        Attribute("queue", Sequence(Ref(Job), at_most=2)),
        Attribute("kinds", Sequence(EnumType(("put", "drop")), at_most=2)),
        Attribute("terms", Sequence(Nat, at_most=2)),
    ],
)
at, until = variable(Nat, "at"), variable(Nat, "until")


def logging(then: Term | None = None, **parts: Any) -> Model:
    """The model whose nodes have sequences, with a property."""
    if then is None:
        return model(**{"machines": [JOB, LOGGED], **parts})
    return model(machines=[JOB, LOGGED], add_properties=[Invariant(name="wrong", says="", over=[j, n], then=then)])


SEQUENCES: dict[str, Case] = {
    "a sequence of sets": (
        lambda: node_machine(attributes=[Attribute("log", Sequence(SetOf(Job), at_most=2))]),  # type: ignore[arg-type]  # wrong
        "Sequence", "its items are of type SetOf", "write for example Sequence(Nat, at_most=3)",
    ),
    "a sequence of a sort": (
        lambda: node_machine(attributes=[Attribute("log", Sequence(Job, at_most=2))]),  # type: ignore[arg-type]  # wrong
        "Sequence", "its items are of type Sort", "write Sequence(Ref(Job), at_most=3)",
    ),
    "a sequence of no items": (
        lambda: node_machine(attributes=[Attribute("log", Sequence(Nat, at_most=0))]),  # wrong
        "Sequence", "at_most is 0, not a number from 1", "write for example Sequence(Nat, at_most=3)",
    ),
    "a sequence of an unknown sort": (
        lambda: node_machine(attributes=[Attribute("log", Sequence(Ref(Ghost), at_most=2))]),  # wrong
        "attribute Node.log", "unknown sort Ghost", "choose from Job, Node",
    ),
    "a sequence that begins with items": (
        lambda: node_machine(attributes=[Attribute("log", Sequence(Nat, at_most=2), initial=1)]),  # wrong
        "attribute Node.log", "a sequence begins empty, and initial is 1", "leave out initial",
    ),
    "a rigid sequence": (
        lambda: node_machine(attributes=[Attribute("log", Sequence(Nat, at_most=2), rigid=True)]),  # wrong
        "attribute Node.log", "a sequence begins empty and grows, and this attribute is rigid", "leave out rigid",
    ),
    "an event parameter that is a sequence": (
        lambda: node_machine(events=[Event("take", {"by": Sequence(Nat, at_most=2)})]),  # wrong
        "event Node.take", "a parameter is a sequence of Nat, and only attributes are sequences", "give the event the object",
    ),
    "a variable that is a sequence": (
        lambda: act(parameters=[j, variable(Sequence(Nat, at_most=2), "s")]),
        "action act", "variable s is a sequence of Nat, and only attributes are sequences", "read its attribute",
    ),
    "the length of a set": (
        lambda: logging(length(n.holds) == 1),  # wrong
        "property wrong", "a sequence is needed, and this is of type set of Job", "write count(x, s.has(x)) for the number of elements of a set",
    ),
    "the length of an object": (
        lambda: logging(length(n) == 1),  # wrong
        "property wrong", "a sequence is needed, and this is of type Node or none", "use an attribute of type Sequence",
    ),
    "an item before the first": (
        lambda: logging(n.log[-1] == 1),  # wrong
        "property wrong", "a sequence has no item at -1: the first has index 0", "count from the end with s[length(s) - 1]",
    ),
    "an item at an object": (
        lambda: logging(n.log[j] == 1),  # wrong
        "property wrong", "an index of a sequence is a number, and this is of type Job or none", "write s[0] for the first item",
    ),
    "an item of a sequence that is made": (
        lambda: logging(n.log.append(1)[0] == 1),  # wrong
        "property wrong", "an item is read of a sequence that is made here", "read it of an attribute",
    ),
    "the length of a sequence that is made": (
        lambda: logging(length(EMPTY.append(j)) == 1),  # wrong
        "property wrong", "the length is read of a sequence that is made here", "read it of an attribute, or write the number itself",
    ),
    "a part that ends before the first item": (
        lambda: logging(n.log[:-1] == n.log),  # wrong
        "property wrong", "a part of a sequence ends at -1, and a number of items is not below 0", "count from the end with length(s) - 1",
    ),
    "a part up to an object": (
        lambda: logging(n.log[:n] == n.log),  # wrong
        "property wrong", "a number of items is needed", "write for example s[:length(s) - 1]",
    ),
    "a part with a step": (
        lambda: logging(n.log[::2] == n.log),  # wrong
        "term", "a part of a sequence with a step", "write s[:n] for the first n items",
    ),
    "a part without an index": (
        lambda: logging(n.log[:] == n.log),  # wrong
        "term", "a part of a sequence without an index", "write s[:n] for the first n items",
    ),
    "an item of another type": (
        lambda: logging(add_rows=[Row(Node, "note", "Idle", "Idle", log=me.log.append(NONE))]),  # wrong
        "row Node", "type mismatch: an item of a sequence of 0..3 is of type none", "write a value of that type",
    ),
    "an item outside of the range": (
        lambda: logging(add_rows=[Row(Node, "note", "Idle", "Idle", log=me.log.append(4))]),  # wrong
        "row Node", "4 is not in 0..3", "write a value of the range",
    ),
    "the only item outside of the range": (
        lambda: logging(add_rows=[Row(Node, "note", "Idle", "Idle", log=EMPTY.append(4)[:1])]),  # wrong
        "row Node", "4 is not in 0..3, the range of log", "set a value of the range",
    ),
    "an item below 0 of naturals": (
        lambda: logging(add_rows=[Row(Node, "note", "Idle", "Idle", terms=me.terms.append(-1))]),  # wrong
        "row Node", "-1 is not a Nat", "write a value from 0",
    ),
    "an unknown item": (
        lambda: logging(n.kinds.has("get")),  # wrong
        "property wrong", "type mismatch: an item of a sequence of {put, drop} is of type quoted value 'get'", "write a value of that type",
    ),
    "an item added as to a set": (
        lambda: logging(add_rows=[Row(Node, "note", "Idle", "Idle", queue=me.queue.with_(me.queue[0]))]),  # wrong
        "row Node", "a set is needed, and this is a sequence of Job or none", "write s.append(x) for one more item",
    ),
    "an item of an attribute that is none": (
        lambda: logging(n.holds.append(j) == n.queue),  # wrong
        "property wrong", "a sequence is needed, and this is of type set of Job", "and s.with_(x) for one more",
    ),
    "sequences of two types compared": (
        lambda: logging(n.log == n.queue),  # wrong
        "property wrong", "type mismatch: sequence of 0..3 is compared with sequence of Job or none", "compare values of one type",
    ),
    "sequences that are made compared": (
        lambda: logging(EMPTY.append(j) == EMPTY),  # wrong
        "property wrong", "two sequences that are made here are compared", "compare an attribute with one",
    ),
    "an index without a limit": (
        lambda: logging(forall(at, n.log[at] == 1)),  # wrong
        "property wrong", "variable at is Nat, and its first condition does not say where it ends", "write implies((i < length(s)) & ..., ...)",
    ),
    "an index whose limit comes late": (
        lambda: logging(exists(at, (n.log[at] == 1) & (at < length(n.log)))),  # wrong
        "property wrong", "variable at is Nat, and its first condition does not say where it ends", "write (i < length(s)) & ...",
    ),
    "an index whose limit is a later index": (
        lambda: logging(exists([at, until], (at < until) & (until < length(n.log)))),  # wrong
        "property wrong", "variable at is Nat, and its first condition does not say where it ends", "behind the variables that its limit needs",
    ),
}  # fmt: skip

CASES = (
    SEQUENCES | FUNCTIONS | RELATIONS | SHAPES | DECLARATIONS | TABLE | TERMS | HAPPENINGS | REQUIRED | VARIANTS | NAMES
)
