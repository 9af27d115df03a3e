"""What a counterexample says besides its steps: objects, initial state, chosen sets, the verdict, terms."""

from __future__ import annotations

import re
from dataclasses import replace

from schedproof.model.lang import (
    Action,
    AlwaysCanReach,
    Attribute,
    BoolType,
    Event,
    Invariant,
    LeadsTo,
    LifeCycle,
    Machine,
    Model,
    Property,
    Row,
    SetOf,
    Sort,
    State,
    StepInvariant,
    after,
    count,
    exists,
    given,
    variable,
)
from schedproof.model.lang.terms import Var
from schedproof.proofs.checking.engine import Engine, Exploring
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.exploration.counterexample_text import counterexample_lines
from schedproof.proofs.verdict import Counterexample
from tests.support.keys import KEYS
from tests.support.rows import each_row

Shelf = Sort("Shelf", "s")
Book = Sort("Book", "b")
s = variable(Shelf, "s")
b = variable(Book, "b")
B = Var("B", SetOf(Book))

SHELF = Machine(
    Shelf,
    [State("open"), State("in_use", about="holds at least one book"), State("shut")],
    attributes=[
        Attribute("books", SetOf(Book), about="the books that it holds"),
        Attribute("fixed", BoolType(), rigid=True, about="cannot be moved"),
        Attribute("plain", BoolType(), rigid=True),
    ],
    events=[Event("fill", {"books": SetOf(Book)})],
)
ROWS = [
    Row(Shelf, "fill", "open", "in_use", books=given("books")),
    Row(Shelf, "shut", "in_use", "shut"),
    Row(Shelf, "turn", "shut", "shut"),
]
FILL = Action("fill", [s, B], [s.is_("open")], [s.fires("fill", books=B)], "{s} is filled")
SHUT = Action("shut", [s], [s.is_("in_use")], [s.fires("shut")], "{s} is shut")
TURN = Action("turn", [s], [s.is_("shut")], [s.fires("turn")], "{s} is turned")


def model(*properties: Property) -> Model:
    """A shelf that is fixed, another that is plain, and two books."""
    return Model(
        system="library",
        variant="plain",
        about="shelves and books",
        machines=[SHELF, Machine(Book)],
        rows=ROWS,
        actions=[FILL, SHUT, TURN],
        rules=[],
        properties=properties,
        default_scope={"Shelf": 2, "Book": 2},
        configurations=lambda sizes: [{("Shelf", "fixed"): [True, False], ("Shelf", "plain"): [False, True]}],
        refuted=frozenset(p.name for p in properties),
    )


def counterexample(prop: Property) -> Counterexample:
    """Of a property that the shelves violate."""
    result = next(r for r in model_check(model(prop), {}, only=[prop.name]) if r.name == prop.name)
    assert result.counterexample is not None, result.reach
    return result.counterexample


NEVER_SHUT = Invariant(name="never-shut", says="no shelf is shut", over=[s], then=~s.is_("shut"))


def test_a_report_reads_from_objects_to_terms() -> None:
    """In this order: the objects, how they begin, the steps with their sets, how it ends, the verdict, the definitions."""
    lines = counterexample_lines(model(NEVER_SHUT), counterexample(NEVER_SHUT))
    assert [line for line in lines if not line.startswith("      ")] == [
        "Objects:",
        "    shelf s0: cannot be moved",
        "Initial state: s0: open.",
        "",
        " 1. s0 is filled, with B = {}  [action fill]",
        " 2. s0 is shut  [action shut]",
        "",
        "Final state: s0: shut.",
        "Property never-shut is violated for s = s0.",
        "",
        "Terms:",
        "    in_use (shelf): holds at least one book",
    ]


def test_objects_that_begin_alike_share_a_line() -> None:
    both = Invariant(name="one-open", says="a shelf is open", over=[], then=exists(s, s.is_("open")))
    lines = counterexample_lines(model(both), counterexample(both))
    assert lines[:4] == [
        "Objects:",
        "    shelf s0: cannot be moved",
        "    shelf s1: plain",
        "Initial state: s0, s1: open.",
    ]
    assert "Property one-open is violated in the final state." in lines


@each_row(
    ("prop", "says"),
    [
        (
            StepInvariant(name="kept", says="what is filled stays open", over=[s], on=["shut"], then=s.is_("open")),
            "Property kept is violated for s = s0.",
        ),
        (
            AlwaysCanReach(name="reopens", says="a shelf can be open again", over=[s], goal=s.is_("open")),
            "From this state property reopens can no longer be satisfied for s = s0.",
        ),
        (
            LeadsTo(name="fills", says="a shelf is filled", over=[s], given=s.is_("open"), goal=s.is_("in_use")),
            "Property fills is violated for s = s0: the run may stay in the final state for ever, because no action "
            "that is taken fairly is enabled.",
        ),
        (
            LeadsTo(
                name="rests",
                says="a shut shelf is open",
                over=[s],
                given=s.is_("shut"),
                goal=s.is_("open"),
                weak=["turn"],
            ),
            "Property rests is violated for s = s0: the last steps repeat for ever, and what is required never happens.",
        ),
        (
            LifeCycle(name="twice", says="a shelf is open twice", sort=Shelf, states=["open", "in_use", "open"]),
            "Property twice is violated: no shelf goes through open -> in_use -> open; the farthest that can happen "
            "is open -> in_use; there is no run to show, and a larger scope may have one that does.",
        ),
    ],
    ids=lambda value: value.kind if isinstance(value, Property) else "",
)
def test_a_report_names_the_property(prop: Property, says: str) -> None:
    assert says in counterexample_lines(model(prop), counterexample(prop))


def test_the_steps_of_a_loop_are_announced() -> None:
    rests = LeadsTo(
        name="rests", says="a shut shelf is open", over=[s], given=s.is_("shut"), goal=s.is_("open"), weak=["turn"]
    )
    example = counterexample(rests)
    assert example.loops_from is not None
    announced = f"From here, steps {example.loops_from + 1} to {len(example.steps)} repeat for ever:"
    lines = counterexample_lines(model(rests), example)
    assert lines[lines.index(announced) + 1].startswith(f"{example.loops_from + 1:2}. ")


def test_a_term_that_does_not_occur_is_not_defined() -> None:
    opened = replace(NEVER_SHUT, name="stays", then=s.is_("open"))
    lines = counterexample_lines(model(opened), counterexample(opened))
    assert lines[lines.index("Terms:") + 1 :] == ["    in_use (shelf): holds at least one book"]


@each_row("engine", [Engine.INTERPRETED, Engine.COMPILED])
def test_a_broken_count_says_what_it_counts(engine: Engine) -> None:
    """Each step of a shortest run gives a client a key."""
    (one,) = [r for r in model_check(KEYS, KEYS.default_scope, how=Exploring(engine)) if r.name == "one-key"]
    assert one.counterexample is not None
    locked = [(step.parameters["n"], step.parameters["k"]) for step in one.counterexample.steps]
    assert len(locked) == 2
    pairs = ", ".join(f"({node}, {key})" for node, key in sorted(locked))
    assert one.counterexample.problem == f"property one-key is violated for c = c0 (2 counted: {pairs})"


def test_a_count_of_a_step_is_of_the_state_that_it_reads() -> None:
    """Books of shelves that are in use, before the step and after it."""
    books = count(b, exists(s, s.is_("in_use") & s.books.has(b)))
    less = StepInvariant(name="less", says="", over=[], on=["fill"], then=~(books < after(books)) | (books > 0))
    problem = counterexample(less).problem
    assert problem.startswith("property less is violated in the final state (0 counted; ")
    assert re.search(r"; (1 counted: b0|1 counted: b1|2 counted: b0, b1); 0 counted\)$", problem)
