"""Configurations of the library ``transitions`` as sketches; the library itself says what each table is."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from transitions.extensions import HierarchicalMachine

from schedproof.cli.sketches.reading import read
from schedproof.model.registry.errors import UserError
from tests.cli.sketches.files import Table, noted, sketch, sketches, table
from tests.support.rows import each_row
from tests.support.sample import thinned

LAMP: dict[str, Any] = {
    "name": "Lamp",
    "states": ["dark", {"name": "lit", "on_enter": "log"}, "broken"],
    "initial": "dark",
    "transitions": [
        ["toggle", "dark", "lit"],
        ["toggle", "lit", "dark"],
        {"trigger": "smash", "source": "*", "dest": "broken", "before": "log"},
        {"trigger": "count", "source": ["dark", "lit"], "dest": "="},
        {"trigger": "look_at", "source": "lit", "dest": None},
        {"trigger": "mend", "source": "broken", "dest": "dark", "conditions": ["paid"], "unless": "lost"},
    ],
}
DOOR: dict[str, Any] = {
    "states": ["closed", {"name": "open", "initial": "narrow", "children": ["narrow", "wide"]}],
    "initial": "closed",
    "transitions": [["push", "closed", "open"], ["push", "open_narrow", "open_wide"], ["pull", "open", "closed"]],
}


class Callbacks:
    """The model that the library calls."""

    def log(self) -> None:
        """Does nothing."""

    def paid(self) -> bool:
        """A guard."""
        return True

    def lost(self) -> bool:
        """A guard that must be false."""
        return False


def by_the_library(config: dict[str, Any], states: list[str]) -> Table:
    """Each event, tried in each state: what the library does."""
    result = set()
    for state in states:
        for event in {t[0] if isinstance(t, list) else t["trigger"] for t in config["transitions"]}:
            model = Callbacks()
            machine = HierarchicalMachine(model, **config, ignore_invalid_triggers=True, auto_transitions=False)
            machine.set_state(state, model)
            if machine.get_triggers(state) and model.trigger(event):
                result.add((event, state, model.state))
    return result


@each_row("config", [LAMP, DOOR])
@each_row("suffix", ["json", "yaml", "py"])
def test_the_table_is_what_the_library_does(tmp_path, config, suffix):
    if suffix == "py":
        text = f"import transitions\nCONFIG = 1\nSTATES = {config['states']!r}\nmachine = transitions.Machine(None, STATES, transitions={config['transitions']!r}, initial={config['initial']!r})\n"
    else:
        text = json.dumps(config, indent="\t") if suffix == "json" else yaml.safe_dump(config)
    machine = sketch(tmp_path, f"machine.{suffix}", text)
    assert table(machine) == by_the_library(config, [state.name for state in machine.states])
    assert machine.states[0].name == config["initial"]


def test_what_is_no_part_of_the_table_is_noted(tmp_path):
    machine = sketch(
        tmp_path, "lamp.json", json.dumps({**LAMP, "after_state_change": "save", "queued": True}, indent=1)
    )
    assert {problem for _, problem in noted(machine)} == {
        "on_enter of the state lit is not in the model",
        "before log of smash is not in the model",
        "conditions paid of mend is not in the model",
        "unless lost of mend is not in the model",
        "after_state_change is not in the model",
    }


PYTHON = """
from enum import Enum
from transitions import Machine as Automaton, State

class Mode(Enum):
    OFF = 0
    ON: int = 1

class Lamp:
    arrows = [dict(trigger="push", source=Mode.OFF, dest=Mode.ON)] + [["pull", Mode.ON, Mode.OFF]]

    def __init__(self):
        raise RuntimeError("this file is not run")
        self.machine = Automaton(self, states=Mode, transitions=Lamp.arrows, initial=Mode.ON)
        self.machine.add_transition("drop", Mode.ON, Mode.OFF)
        self.machine.add_transition("toss", somewhere(), Mode.OFF)

other = Automaton(states=[State("a"), State(name="b")], transitions=[["go", "a", "b"]], initial="a")
"""


def test_a_python_file_is_read_and_not_run(tmp_path):
    _, (lamp, other) = sketches(tmp_path, "lamp.py", PYTHON)
    assert (lamp.name, lamp.states[0].name) == ("Lamp", "ON")
    assert table(lamp) == {("push", "OFF", "ON"), ("pull", "ON", "OFF"), ("drop", "ON", "OFF")}
    assert noted(lamp) == [(16, "somewhere() is computed")]
    assert table(other) == {("go", "a", "b")} and noted(other) == []


def test_plain_lists_of_a_python_file(tmp_path):
    machine = sketch(tmp_path, "x.py", "states = ['a', 'b']\ninitial = 'b'\ntransitions = [['go', ['a', 'b'], 'a']]\n")
    assert table(machine) == {("go", "a", "a"), ("go", "b", "a")} and machine.states[0].name == "b"


TWO = """
from transitions import Machine

class Door:
    arrows = [["close", "open", "shut"]]
    def __init__(self):
        self.machine = Machine(self, ["open", "shut"], "open", Door.arrows)

class Lamp:
    arrows = [["switch", "on", "off"]]
    def __init__(self):
        self.machine = Machine(self, states=["on", "off"], initial="on", transitions=self.arrows)

config = {"states": ["a", "b"], "initial": "a", "transitions": [["go", "a", "b"]]}
first = Machine(**config)
later = [["come", "x", "y"]]
later.append(["leave", "y", "x"])
second = Machine(states=["x", "y"], initial="x", transitions=later, **unknown())
first.add_transition("back", "b", "a")
get().add_transition("lost", "b", "a")
"""


def test_each_machine_has_what_is_its_own(tmp_path):
    """Attributes of two classes with one name, a machine of a mapping, and transitions that are added to the first of two."""
    _, (door, lamp, first, second) = sketches(tmp_path, "two.py", TWO)
    assert (table(door), table(lamp)) == ({("close", "open", "shut")}, {("switch", "on", "off")})
    assert table(first) == {("go", "a", "b"), ("back", "b", "a")} and table(second) == {("come", "x", "y")}
    assert not (door.notes or lamp.notes or first.notes)
    assert noted(second) == [
        (17, "later.append(['leave', 'y', 'x']) is computed"),
        (18, "**unknown() is not in the model"),
        (20, "what get().add_transition('lost', 'b', 'a') adds is not in the model"),
    ]


def test_a_name_with_two_values_is_computed(tmp_path):
    text = "T = [['go', 'a', 'b']]\nif new:\n    T = [['stop', 'a', 'b']]\nMachine(states=['a', 'b'], initial='a', transitions=[*T, ['x', 'b', 'a']])\n"
    assert noted(sketch(tmp_path, "x.py", text))[0] == (4, "*T is computed")
    imported = (
        "import other\nstates = ['a']\nMachine(states=other.states, initial='a', transitions=[['go', 'a', 'b']])\n"
    )
    assert noted(sketch(tmp_path, "x.py", imported))[0] == (3, "other.states is computed")
    with pytest.raises(UserError, match="no transition is written here"):
        sketch(tmp_path, "x.py", text.replace("[*T, ['x', 'b', 'a']]", "T"))


def test_names_of_names_are_not_followed_for_ever(tmp_path):
    lists = "\n".join(f"{n} = [{', '.join([p] * 9)}]" for p, n in ["ab", "bc", "cd", "de", "ef", "fg"])
    with pytest.raises(UserError, match="more than 200,000 values"):
        sketch(tmp_path, "x.py", f"a = 'x'\n{lists}\nMachine(states=g, transitions=[['go', 'x', 'x']])\n")


def test_where_a_machine_begins(tmp_path):
    """The library begins in a state ``initial`` unless the machine names another."""
    machine = sketch(tmp_path, "x.yaml", "states: [a, initial]\ntransitions: [[go, a, initial]]\n")
    assert machine.states[0].name == "initial" and machine.notes == []
    machine = sketch(tmp_path, "x.yaml", "states: [a, b]\ntransitions: [[go, a, b]]\n")
    assert noted(machine) == [(2, "the machine names no initial state")]
    machine = sketch(
        tmp_path, "x.yaml", "states: [{name: a, initial: c, children: [b]}]\ninitial: a\ntransitions: [[go, a, a]]\n"
    )
    assert machine.states[0].name == "a_b" and noted(machine) == [(1, "c is not a state in a")]


def test_ordered_transitions_are_noted(tmp_path):
    for word, problems in (
        ("true", ["the events next_state of ordered_transitions are not in the model"]),
        ("false", []),
    ):
        text = f"states: [a, b]\ninitial: a\ntransitions: [[go, a, b]]\nordered_transitions: {word}\n"
        assert [problem for _, problem in noted(sketch(tmp_path, "x.yaml", text))] == problems


def test_what_follows_a_transition_without_conditions(tmp_path):
    """The library never tries it. With conditions, both may happen."""
    text = "states: [a, b]\ninitial: a\ntransitions:\n- {trigger: go, source: a, dest: b%s}\n- [go, a, a]\n- [go, '*', b]\n"
    machine = sketch(tmp_path, "x.yaml", text % "")
    assert table(machine) == {("go", "a", "b"), ("go", "b", "b")}
    assert noted(machine) == [(5, "go from a to a never happens")]
    for condition in ("conditions: paid", "unless: [lost]"):
        machine = sketch(tmp_path, "x.yaml", text % f", {condition}")
        assert table(machine) == {("go_to_b", "a", "b"), ("go_to_a", "a", "a"), ("go", "b", "b")}


def test_merged_keys_of_yaml_are_keys(tmp_path):
    """A key that is written counts, not the merged one."""
    text = "x: &from_a {source: a, dest: a}\nstates: [a, b]\ninitial: a\ntransitions:\n- {trigger: go, <<: *from_a, dest: b}\n- {trigger: stop, source: [], dest: b}\n"
    machine = sketch(tmp_path, "x.yaml", text)
    assert table(machine) == {("go", "a", "b")}
    assert noted(machine) == [(1, "x is not in the model"), (6, "stop has no source, so it never happens")]


NAMES = ["A", "B", "N", "N_x", "N_y", "N_y_p", "N_y_q"]
SOURCES = st.just("*") | st.lists(st.sampled_from(NAMES), min_size=1, max_size=2) | st.sampled_from(NAMES)
ARROWS = st.lists(
    st.tuples(st.sampled_from(["go", "stop"]), SOURCES, st.sampled_from(["=", None, *NAMES])).map(list),
    min_size=1,
    max_size=6,
)


@pytest.mark.long
@settings(max_examples=100, deadline=None)
@given(ARROWS, st.sampled_from(NAMES), st.sampled_from("xy"), st.sampled_from("pq"))
def test_any_transitions_are_what_the_library_does(tmp_path_factory, arrows, initial, outer, inner):
    """With states in states in states; stars, lists, ``=`` and no target; several for one event and state."""
    inside = ["x", {"name": "y", "initial": inner, "children": ["p", "q"]}]
    config = {
        "states": ["A", {"name": "N", "initial": outer, "children": inside}, "B"],
        "initial": initial,
        "transitions": arrows,
    }
    machine = sketch(tmp_path_factory.getbasetemp(), "any.json", json.dumps(config))
    assert table(machine) == by_the_library(config, [state.name for state in machine.states])
    model = Callbacks()
    HierarchicalMachine(model, **config)
    assert machine.states[0].name == model.state


def test_yaml_words_that_are_names_stay_names(tmp_path):
    """YAML reads on and off as truth values, and 1 as a number."""
    machine = sketch(tmp_path, "x.yaml", "states: [off, on, 1]\ntransitions:\n- [go, off, on]\n- [go, on, 1]\n")
    assert table(machine) == {("go", "off", "on"), ("go", "on", "1")}


VALUES = st.recursive(
    st.sampled_from(["a", "b", "a_b", "*", "=", "", 1, True, None]),
    lambda inside: st.lists(inside, max_size=4)
    | st.dictionaries(st.sampled_from(["name", "children", "initial", "trigger", "source", "dest", "conditions"]), inside, max_size=4),
    max_leaves=12,
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.sampled_from(["states", "initial", "transitions", "name", "queued", "after"]), VALUES))
@pytest.mark.parametrize("suffix", thinned(["json", "py"], 2, first=1))
def test_any_configuration_is_a_sketch_or_an_error(tmp_path_factory, suffix, config):
    path = tmp_path_factory.getbasetemp() / f"any.{suffix}"
    named = ", ".join(f"{key}={value!r}" for key, value in config.items())
    path.write_text(json.dumps(config) if suffix == "json" else f"Machine({named})\n")
    try:
        (machine,) = read(path, None)[1]
    except UserError:
        return
    names = {state.name for state in machine.states}
    assert {name for _, *ends in table(machine) for name in ends} <= names


def test_an_undeclared_state_is_noted(tmp_path):
    machine = sketch(tmp_path, "x.yaml", "states: [a, b]\ninitial: a\ntransitions:\n- [go, a, bb]\n")
    assert noted(machine) == [(4, "the state bb is not among the states")]
    assert table(machine) == {("go", "a", "bb")}
