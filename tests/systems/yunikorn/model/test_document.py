"""YuniKorn's models as an interpretation of the document and of the facts: tables, citations, quotations, coverage.

What is expected is written here from the text, sentence by sentence, with the words that stand at the line, and not
taken from the model. The matrix of v0.12.2 and the shim's tables are compared elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from schedproof.model.lang import Action, Model, Row, Rule
from schedproof.model.lang.infer import sort_of
from schedproof.model.systems.yunikorn import (
    AS_WRITTEN,
    COMPONENTS,
    COMPONENTS_REPAIRED,
    LOCKED_TIMERS,
    REPAIRED,
    UNLOCKED_TIMERS,
    V0_12_2,
)
from schedproof.model.systems.yunikorn.configurations import Configuration
from schedproof.proofs.exploration.explore import explore
from tests.support.needs import needs_shared
from tests.support.rows import each_row
from tests.systems.yunikorn.model.documents import lines, listed, rows, sections, squeezed
from tests.systems.yunikorn.model.runs import Run, instance

CORE = [AS_WRITTEN, V0_12_2, REPAIRED]
ALL = [*CORE, UNLOCKED_TIMERS, LOCKED_TIMERS, COMPONENTS, COMPONENTS_REPAIRED]


def ids(model: Model) -> str:
    return model.variant


# --- Tables ----------------------------------------------------------------------------------------------------------

FIGURE = "figure"
APPLICATION = """
    run      | New                       | Accepted   | 18     | transitions into the accepted state
    run      | Accepted                  | Starting   | 19     | moves into a starting state
    run      | Starting                  | Running    | 20     | transitions to running
    complete | Accepted Starting Running | Completing | 22     | no pending requests or running containers/pod will be completing
    complete | Completing                | Completed  | 23     | considered completed when it has been in the completing state
    expire   | Completed                 | Expired    | 24     | completed application is tracked for a period of time, after that is expired
    fail     | New Accepted Starting Running | Failing | 25    | marked for failing
    fail     | Failing                   | Failed     | 26     | considered failed when it was marked for failure
    reject   | New                       | Rejected   | 27     | gets created in a New state, and the scheduler rejects the creation
    run      | Completing                | Running    | figure |
    run      | Resuming                  | Accepted   | figure |
    resume   | New Accepted              | Resuming   | figure |
    expire   | Failed                    | Expired    | figure |
"""
"""Event, sources, target, where it stands, in which words. From which states an application fails no line says: that
is the figure's."""

OBJECT = """
    start    | Stopped   | Active   | 55     | make the object active
    stop     | Active    | Stopped  | 56     | make the object inactive
    remove   | Active    | Draining | 57     | mark an object for removal
    start    | Active    | Active   | figure |
    stop     | Stopped   | Stopped  | figure |
    remove   | Draining  | Draining | figure |
"""
NODE = """
    create       | to_come                    | schedulable   | 66 | status provided by the resource manager
    drain        | schedulable                | unschedulable | 66 | status provided by the resource manager
    restore      | unschedulable              | schedulable   | 66 | status provided by the resource manager
    decommission | schedulable unschedulable  | gone          | 66 | status provided by the resource manager
"""
DRAWN = {
    "application": """
        New: Accepted Rejected Failing Resuming
        Accepted: Starting Completing Failing Resuming
        Resuming: Accepted
        Starting: Running Completing Failing
        Running: Completing Failing
        Completing: Running Completed
        Failing: Failed
        Completed: Expired
        Failed: Expired
    """,
    "object": """
        Active: Stopped Draining Active
        Stopped: Active Stopped
        Draining: Draining
    """,
}
"""The arrows of the two figures of the core, from the facts, section 0."""

BESIDE = {
    # what is added, armed and taken off the tree: attributes of ours, and no state changes
    "Application": {"submit", "timer_ran", "timer_off", "discard"},
    "Queue": {"delete"},
    "Partition": {"delete"},
    "Node": set(),
}
EXPECTED = {"Application": APPLICATION, "Queue": OBJECT, "Partition": OBJECT, "Node": NODE}
Key = tuple[str, str, str]


def expected(sort: str) -> dict[Key, tuple[str, str]]:
    """(event, source, target) -> where it stands, in which words."""
    return {
        (event, source, target): (where, words)
        for event, sources, target, where, words in listed(EXPECTED[sort])
        for source in sources.split()
    }


def table(model: Model, sort: str) -> dict[Key, Row]:
    """What the model has, less what is beside it."""
    by_move = {(r.event, r.source, r.target): r for r in model.table(sort) if r.event not in BESIDE[sort]}
    assert len(by_move) == len([r for r in model.table(sort) if r.event not in BESIDE[sort]])
    return by_move


def arrows(figure: str) -> set[tuple[str, str]]:
    edges = (line.split(":") for line in DRAWN[figure].split("\n") if line.strip())
    return {(source.strip(), target) for source, targets in edges for target in targets.split()}


@needs_shared
@pytest.mark.parametrize("sort", EXPECTED)
def test_as_written_has_the_arrows_of_text_and_figure(sort: str) -> None:
    modelled, documented = table(AS_WRITTEN, sort), expected(sort)
    assert set(modelled) == set(documented)
    for key, row in modelled.items():
        where = documented[key][0]
        assert (row.line, row.fact[:9]) == ((None, "0, figure") if where == FIGURE else (int(where), "")), key


@needs_shared
@pytest.mark.parametrize("sort", EXPECTED)
def test_the_words_for_an_arrow_stand_at_its_line(sort: str) -> None:
    text = lines()
    for key, (where, words) in expected(sort).items():
        if where != FIGURE:
            assert words in text[int(where)], key


@needs_shared
@pytest.mark.parametrize(("figure", "sort"), [("application", "Application"), ("object", "Queue")])
def test_the_figures_show_these_arrows(figure: str, sort: str) -> None:
    """Text and figure differ in nothing that the text says: the figure has more."""
    assert {(source, target) for _, source, target in expected(sort)} == arrows(figure)


@needs_shared
def test_the_facts_list_these_arrows_of_the_figures() -> None:
    drawn = {name: edges for name, edges, _ in rows("0")}
    for figure in DRAWN:
        plain, _, loops = drawn[figure].partition("self loops")
        in_the_facts = {(source, to) for source, tos in re.findall(r"(\w+)->([\w/]+)", plain) for to in tos.split("/")}
        in_the_facts |= {(now, now) for now in re.findall(r"(\w+)/\w+", loops)}
        assert in_the_facts == arrows(figure), figure


INITIAL = {
    "Application": ("New", 14, "starts ain the new state"),
    "Queue": ("Active", 49, "the starting and normal state"),
}


@needs_shared
@each_row("model", ALL, ids=ids)
def test_states_stand_at_the_line_that_defines_them(model: Model) -> None:
    text = lines()
    for sort, (first, line, words) in {**INITIAL, "Partition": INITIAL["Queue"]}.items():
        machine = model.machine(sort)
        assert machine.states[0].name == first and words in text[line]
        defined = {m[1] for line in text for m in [re.match(r"  • (\w+): (?:A|T|B)\w*", line)] if m}
        for state in machine.states:
            if state.name == "Resuming":
                assert state.line is None and not any("Resuming" in line for line in text), "the figure has it only"
            else:
                assert state.line is not None and text[state.line].startswith(f"  • {state.name}:")
                assert state.name in defined
    assert {s.name for s in model.machine("Application").states} == {
        *("New", "Accepted", "Starting", "Running", "Completing", "Completed", "Expired"),
        *("Failing", "Failed", "Rejected", "Resuming"),
    }
    assert {s.name for s in model.machine("Queue").states} == {"Active", "Stopped", "Draining"}


@needs_shared
def test_machines_stand_below_their_headings() -> None:
    text = lines()
    headings = {
        "Application": "Application State", "Queue": "  • queues", "Partition": "  • partitions", "Node": "Node",
        "ShimApplication": "application state diagram", "Task": "task state diagram", "ShimNode": "node state diagram",
        "ShimScheduler": "scheduler state diagram",
    }  # fmt: skip
    for sort, heading in headings.items():
        line = AS_WRITTEN.machine(sort).line
        assert line is not None and text[line] == heading, sort


# --- v0.12.2 (facts, sections 1 to 3) --------------------------------------------------------------------------------


def test_v0_12_2_adds_one_row_to_the_figure_of_the_application() -> None:
    """ "only Running->Running (run) is missing" (section 0)"""
    assert set(table(V0_12_2, "Application")) - set(table(AS_WRITTEN, "Application")) == {("run", "Running", "Running")}
    assert set(table(AS_WRITTEN, "Application")) <= set(table(V0_12_2, "Application"))


@needs_shared
def test_the_facts_have_the_rows_of_v0_12_2() -> None:
    """The table of section 1, read here."""
    documented = {
        (event.removesuffix("Application"), source.strip(), target)
        for event, sources, target, _ in (row for row in rows("1") if len(row) == 4)
        for source in sources.split(",")
    }
    assert len(documented) == 20
    assert set(table(V0_12_2, "Application")) == documented


@needs_shared
def test_the_facts_have_the_rows_of_queues_and_partitions() -> None:
    documented = {
        (event.lower(), s.strip(), target) for event, sources, target, _ in rows("2") for s in sources.split(",")
    }
    for sort in ("Queue", "Partition"):
        assert set(table(V0_12_2, sort)) == set(table(AS_WRITTEN, sort)) == documented


def fired(model: Model) -> set[tuple[str, str]]:
    """The events (with their sort) that some action or rule fires."""
    by_actions = [firing for action in model.actions for firing in action.fires]
    return {(sort_of(model, f.of, {}), f.event) for f in [*by_actions, *(rule.fires for rule in model.rules)]}


def test_what_nobody_fires_in_v0_12_2() -> None:
    """ "reject: NOBODY" (1.2); "Start and Stop are never fired", and a partition is not removed: it is deleted (2)."""
    of_tables = {(sort, event) for sort in EXPECTED for event, _, _ in table(V0_12_2, sort)}
    assert of_tables - fired(V0_12_2) == {
        ("Application", "reject"),
        *((sort, event) for sort in ("Queue", "Partition") for event in ("start", "stop")),
        ("Partition", "remove"),
    }
    assert of_tables <= fired(REPAIRED) and of_tables <= fired(AS_WRITTEN)


def test_the_repaired_tables_differ_by_what_the_changes_say() -> None:
    shipped, repaired = (set(table(V0_12_2, "Application")), set(table(REPAIRED, "Application")))
    removal = {row for row in repaired if row[0] == "forget"}
    repaired -= removal
    # What is removed is as if nothing were left (22, 26), and one that has begun nothing begins anew.
    assert {(source, target) for _, source, target in removal} == {
        *((now, "Completing") for now in ("Accepted", "Starting", "Running", "Resuming", "Completing")),
        *(("Failing", "Failed"), ("New", "New")),
    }
    assert shipped - repaired == {("expire", "Failed", "Expired")}, "Failed is final (26)"
    assert repaired - shipped == {("complete", "Resuming", "Completing")}, (
        "no pending requests or running containers (22)"
    )
    for sort in ("Queue", "Partition"):
        was, now = set(table(V0_12_2, sort)), set(table(REPAIRED, sort))
        assert was <= now and now - was == {("remove", "Stopped", "Draining")}, "ready to be removed (50), by line 51"


# --- Citations -------------------------------------------------------------------------------------------------------


def elements(model: Model) -> list[Row | Action | Rule]:
    """All that says where it comes from."""
    return [*model.rows, *model.actions, *model.rules]


FILE_OR_LINES = re.compile(r"(\w+\.go)|(?<![\w.])(\d+)(?:-(\d+))?(?![\w.]*\.go)")


NUMBERED = re.compile(r"(\w+\.go):(\d+)")


def cited(section: str) -> Iterator[tuple[str, int, int]]:
    """The lines of code that a section of the facts cites: file, first, last.

    A bare number is of the file that is named before it, or of the one that the section is about: the first.
    """
    text = sections()[section].replace("(callback ", "(scheduler_callback.go:")
    about = first[0] if (first := re.search(r"\w+\.go", text)) else ""
    file = about
    for line in text.splitlines():
        file = about if line.startswith("|") else file
        for citation in FILE_OR_LINES.finditer(line):
            if citation[1]:
                file = citation[1]
            else:
                yield from ((name, int(citation[2]), int(citation[3] or citation[2])) for name in {file, about})


@needs_shared
@each_row("model", ALL, ids=ids)
def test_the_facts_that_are_cited_are_there(model: Model) -> None:
    """The section exists, and cites that file at these lines."""
    for element in elements(model):
        if element.fact:
            section, _, rest = element.fact.partition(", ")
            section = section.split(":")[0]
            assert section in sections(), element
            code = NUMBERED.match(rest)
            if code:
                name, line = code[1], int(code[2])
                assert any(f == name and a <= line <= z for f, a, z in cited(section)), (
                    f"{element.name}: {element.fact}"
                )


NOT_IN_THE_SOURCES = re.compile(r"crash|restart|a time-out ends Failed")
"""Crashes are no event of document or facts: an object that is made anew is New (4.2: "Initial New"). The time-out of
Failed is that of Completed: the figure has its arrow, and the facts its timer (1.3)."""
OF_THE_REPAIR = {change_add.name for change in COMPONENTS_REPAIRED.changes for change_add in change.adds}


@needs_shared
@each_row("model", ALL, ids=ids)
def test_every_row_action_and_rule_says_where_it_comes_from(model: Model) -> None:
    """A line or a fact; what the repair of the shim adds comes from the change, which says why."""
    for element in elements(model):
        if element.line is None and not element.fact and not NOT_IN_THE_SOURCES.search(element.name):
            assert model is COMPONENTS_REPAIRED and element.name in OF_THE_REPAIR, element.name
    assert all(len(change.why) > 20 for change in model.changes)
    text = lines()
    for element in elements(model):
        assert element.line is None or text[element.line].strip(), f"{element.name}: line {element.line} is empty"


# --- Quotations ------------------------------------------------------------------------------------------------------


@needs_shared
@each_row("model", ALL, ids=ids)
def test_each_property_quotes_the_document_at_its_line(model: Model) -> None:
    text = lines()
    for prop in model.properties:
        if not prop.sentence:
            continue
        assert prop.line is not None, prop.name
        at, line = 0, squeezed(text[prop.line])
        for part in prop.sentence.split("..."):
            position = line.find(squeezed(part), at)
            assert position >= 0, f"{prop.name}: {part!r} is not in line {prop.line}"
            at = position + len(squeezed(part))


@needs_shared
def test_a_wrong_quotation_is_noticed() -> None:
    line = squeezed(lines()[26])
    assert "This is a final state" in line and "This is the final state" not in line


# --- Every sentence of the document is a property, an arrow, or says nothing that a model could break --------------------

STATEMENTS = [10, 14, *range(18, 28), *range(49, 52), 64, 66]
DURATION = "how long a time is: here a time-out comes at any time after it is armed"
NO_PROPERTY = "an explanation: whatever happens, it is not wrong"
IN_THE_CYCLE = "who is scheduled: see test_who_is_scheduled"

ELSEWHERE: dict[tuple[int, str], str | tuple[str, str, str, str]] = {
    (10, "State change are triggered by events"): NO_PROPERTY,
    (10, "One event can cause a change for multiple"): NO_PROPERTY,
    (14, "Applications have a complex state model"): NO_PROPERTY,
    (18, "New: A new application"): ("Application", "run", "New", "Accepted"),
    (19, "This state is part of the normal"): IN_THE_CYCLE,
    (20, "The current time out is set to 5 minutes"): DURATION,
    (20, "If after the timeout expires"): ("Application", "run", "Starting", "Running"),
    (20, "The state change on time out is independent"): ("Application", "run", "Starting", "Running"),
    (20, "This state is part of the normal"): IN_THE_CYCLE,
    (21, "Running: The state in which"): NO_PROPERTY,
    (21, "Containers/pods can be added"): "see test_a_running_application_gets_and_loses_containers",
    (22, "This state shows that"): IN_THE_CYCLE,
    (23, "The current timeout is set to 30 seconds"): DURATION,
    (26, "The application cannot change state"): "failed-is-final",
    (27, "Applications can be rejected due ACLs"): "the reasons: the action reject asks for none",
    (27, "The application cannot change state"): "rejected-is-final",
    (49, "Active: The object is active"): IN_THE_CYCLE,
    (49, "This is the starting and normal state"): "the initial state",
    (50, "The object can transition back"): ("Queue", "start", "Stopped", "Active"),
    (64, "Node objects in the core are not using"): NO_PROPERTY,
    (64, "There is no complex state model"): NO_PROPERTY,
}
"""Sentences that no property quotes (by their beginnings), and where they are kept."""


def sentences(line: str) -> list[str]:
    """A line's sentences; one of line 23 has no full stop."""
    parts = re.split(r"(?<=[a-z])\. (?=[A-Z])|(?<=\)) (?=The current)", line.strip(" •"))
    return [squeezed(part) for part in parts]


def quoted(model: Model, number: int, line: str) -> set[int]:
    """The positions in a line that properties quote."""
    positions: set[int] = set()
    for prop in model.properties:
        if prop.line == number and prop.sentence:
            at = 0
            for part in map(squeezed, prop.sentence.split("...")):
                at = line.index(part, at)
                positions |= set(range(at, at + len(part)))
    return positions


@needs_shared
def test_every_sentence_is_a_property_or_kept_elsewhere() -> None:
    """A property quotes some words of it, or most of it if it is short, beside the name of the state."""
    text, left = lines(), dict(ELSEWHERE)
    for number in STATEMENTS:
        line, at = squeezed(text[number]), 0
        positions = quoted(AS_WRITTEN, number, line)
        for sentence in sentences(text[number]):
            at = line.index(sentence, at)
            by_property = len(positions & set(range(at, at + len(sentence)))) > 15
            known = [key for key in left if key[0] == number and sentence.startswith(key[1])]
            assert by_property != bool(known), f"line {number}: {sentence!r} is kept {'twice' if known else 'nowhere'}"
            for key in known:
                del left[key]
    assert not left, "no such sentence"


def test_what_is_kept_elsewhere_is_there() -> None:
    names = {p.name for p in AS_WRITTEN.properties} & {p.name for p in REPAIRED.properties}
    for where in ELSEWHERE.values():
        if isinstance(where, tuple):
            assert where[1:] in table(AS_WRITTEN, where[0]) and where[1:] in table(REPAIRED, where[0])
        elif " " not in where:
            assert where in names, where


# --- Who is scheduled (lines 19 to 22, 49 to 51) -----------------------------------------------------------------------

CYCLE = {"Accepted", "Starting", "Running"}
"""Of these "part of the normal scheduling cycle" is said (19, 20, 21)."""


def scheduled(model: Model, *kinds: str) -> set[str]:
    """The states of applications of which something is allocated or begins to be swapped, in some small configurations."""
    state_names: set[str] = set()
    for asks in kinds:
        seen = explore(instance(model, Configuration(asks, [(asks, "Soft")], exact=False)), symmetry=False)
        slot = seen.instance.slot("Application")
        states = seen.instance.model.machine("Application").states
        for state, out in zip(seen.states, seen.edges, strict=True):
            if any(e.choice.action in ("allocate", "swap") for e in out):
                state_names.add(states[state[slot]].name)
    return state_names


@pytest.mark.parametrize("model", [AS_WRITTEN, REPAIRED], ids=ids)
def test_who_is_scheduled(model: Model) -> None:
    """Applications in the cycle: not Completing ones (line 22), and no Failing or ended ones."""
    assert scheduled(model, "rr", "pr") == CYCLE


def test_v0_12_2_allocates_outside_the_cycle_too() -> None:
    """Its core does not look at the application's state (1.2): what is pending is allocated."""
    assert scheduled(V0_12_2, "rr", "pr") > CYCLE


def test_a_running_application_gets_and_loses_containers() -> None:
    """Line 21; in each variant, and it stays Running."""
    for model in CORE:
        run = Run(model, Configuration("", [("rrr", "Soft")], wakeups=0))
        run.do("create_node", "submit", "add_ask 0", "allocate 0", "add_ask 1", "allocate 1")
        assert run.of("Application") == "Running"
        run.do("end 0", "add_ask 2")
        assert run.of("Application") == "Running" and {"allocate", "end"} <= run.possible()
