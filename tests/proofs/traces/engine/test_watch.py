"""The one engine of the validator: records as they come, objects that come and go, and what is kept of it all."""

from __future__ import annotations

import json
import random
import tracemalloc
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from schedproof.model.lang import Model, Ref, SetOf
from schedproof.model.quotes import read_quotes
from schedproof.model.registry.discovery import system, systems
from schedproof.model.registry.system import System
from schedproof.model.semantics import Choice, Instance, State, instances
from schedproof.model.semantics.step import stepper_of
from schedproof.model.systems.hived import AS_WRITTEN
from schedproof.proofs.exploration.explore import explore
from schedproof.proofs.traces import LogVerdict, TraceError, check_records, check_trace
from schedproof.proofs.traces.engine import collected_names
from schedproof.proofs.traces.engine.appearing import KEPT_ENDED
from schedproof.proofs.traces.engine.collected_names import CollectedNames
from schedproof.proofs.traces.engine.fast_path import FastPath
from schedproof.proofs.traces.engine.object_gc import collectable, refers
from schedproof.proofs.traces.engine.objects import ObjectMap
from schedproof.proofs.traces.engine.unobserved import noticing
from schedproof.proofs.traces.engine.watch import Watch
from schedproof.proofs.traces.reports.shorten import shortened
from tests.proofs.traces.formats.test_plain import GROUPS, HEADER, walk
from tests.proofs.traces.formats.test_plain_mutations import HEADER as SMALL
from tests.proofs.traces.formats.test_plain_mutations import flipped, logged_run
from tests.support.needs import needs_shared
from tests.support.places import DATA, SHARED
from tests.support.rows import each_row
from tests.support.sample import thinned
from tests.support.toys import WORKSHOP
from tests.systems.hived.traces.brute_force_plain import check as brute_check

CONFORMS, VIOLATES, UNDETERMINED = LogVerdict.CONFORMS, LogVerdict.VIOLATES, LogVerdict.UNDETERMINED
DOCUMENTS = SHARED / "documents"


def verdict(header: Mapping[str, Any], *records: Mapping[str, Any]) -> LogVerdict:
    return check_records("hived", header, records).verdict


class TestFastPath:
    """Names looked up in tables, and steps remembered, must say what the ordinary way says."""

    @pytest.mark.parametrize("time", [[], {}, True, None])
    def test_the_fast_path_refuses_a_wrong_time_too(self, time: object) -> None:
        with pytest.raises(TraceError, match=r'record 1: "time": .* is not a number or a text'):
            check_records(
                "hived", SMALL, [{"action": "allocate", "parameters": {"p": "low", "K": ["a"]}, "time": time}]
            )

    @pytest.mark.long
    @pytest.mark.parametrize("seed", thinned(range(6), 4))
    def test_both_ways_agree(self, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
        rng = random.Random(seed)
        traces = []
        for number in range(30):
            records = walk(AS_WRITTEN, 100 * seed + number, 12) if number % 2 else logged_run(rng, 12, 0)
            if number % 3:
                flipped(records, rng)
            traces.append((HEADER if number % 2 else SMALL, json.loads(json.dumps(records))))

        def checked() -> list[tuple[LogVerdict, int]]:
            reports = [check_records("hived", header, records) for header, records in traces]
            return [(r.verdict, r.first_nonconformance.record if r.first_nonconformance else 0) for r in reports]

        by_fast_path = checked()
        monkeypatch.setattr(FastPath, "after", lambda *_: None)
        assert checked() == by_fast_path
        assert {v for v, _ in by_fast_path} == {CONFORMS, VIOLATES}

    @each_row(
        "wrong",
        [
            {"parameters": {"p": "low", "K": "a"}},
            {"parameters": {"p": "low", "K": [["a"]]}},
            {"parameters": {"p": ["low"], "K": ["a"]}},
            {"state": {"Cell": {"a": {"user": True}}}},
            {"state": {"Cell": []}},
            {"state": None},
            {"time": "noon"},
        ],
    )
    def test_what_is_wrong_is_left_to_the_ordinary_way(self, wrong: dict[str, Any]) -> None:
        record = {"action": "allocate", "parameters": {"p": "low", "K": ["a"]}, **wrong}
        with pytest.raises(TraceError, match="record 1: "):
            Watch(system("hived"), None, HEADER).take(record)

    def test_true_is_no_number(self) -> None:
        """1 and True are the same key of a dictionary, but not the same value of a trace."""
        header = {"schedproof": 1, "system": "workshop", "objects": {"Worker": ["w"], "Tool": ["t"]}}
        toys = System("workshop", "toys", {WORKSHOP.variant: WORKSHOP}, validated_by=WORKSHOP.variant)
        numbers = [(m.sort.name, a.name) for m in WORKSHOP.machines for a in m.attributes if str(a.type) == "0..2"]
        sort, name = numbers[0]
        with pytest.raises(TraceError, match=r"True does not fit; write a value of 0\.\.2"):
            Watch(toys, None, header).take({"state": {sort: {sort[0].lower(): {name: True}}}})


def lives(number: int) -> Iterator[dict[str, Any]]:
    """Groups that come, are allocated the one cell, and go; each with a name of its own."""
    for i in range(number):
        yield {"action": "allocate", "parameters": {"p": f"job-{i}", "K": ["a"]}}
        yield {"action": "delete_allocated", "parameters": {"p": f"job-{i}"}, "state": {"Cell": {"a": {"user": None}}}}


OPEN = {"schedproof": 1, "system": "hived", "objects": {"Cell": ["a", "b"]}}
NEW = {"objects": {"PodGroup": ["x"]}}


class TestObjectsThatComeAndGo:
    def test_they_appear_as_they_are_named(self) -> None:
        assert verdict(OPEN, *lives(3)) is CONFORMS
        seen = {"state": {"PodGroup": {"x": {"state": "Pending"}}}}
        assert verdict(OPEN, seen, {"action": "allocate", "parameters": {"p": "x", "K": ["a", "b"]}}) is CONFORMS
        assert verdict(OPEN, {"state": {"Cell": {"a": {"user": "x"}}}}) is VIOLATES

    def test_of_a_sort_that_the_header_lists_they_are_introduced(self) -> None:
        with pytest.raises(TraceError, match="unknown Cell 'c'; choose from a, b"):
            verdict(OPEN, {"action": "allocate", "parameters": {"p": "x", "K": ["c"]}})
        assert (
            verdict(OPEN, {"objects": {"Cell": ["c"]}}, {"action": "allocate", "parameters": {"p": "x", "K": ["c"]}})
            is CONFORMS
        )

    def test_a_name_comes_back_when_it_is_introduced_again(self) -> None:
        life = list(lives(1))
        reintroduced = {"objects": {"PodGroup": ["job-0"]}}
        assert verdict(OPEN, *life, *life) is VIOLATES
        assert verdict(OPEN, *life, reintroduced, *life) is CONFORMS
        with pytest.raises(TraceError, match="job-0, which exists already and has not ended"):
            verdict(OPEN, life[0], reintroduced)

    def test_what_never_changes_is_said_when_they_appear(self) -> None:
        lower = {"objects": {"PodGroup": ["low"]}}
        higher = {"objects": {"PodGroup": ["high"]}, "rigid": {"PodGroup": {"outranks": {"high": ["low"]}}}}
        steps = [
            {"action": "allocate", "parameters": {"p": "low", "K": ["a"]}},
            {"action": "preempt", "parameters": {"p": "high", "K": ["a"]}},
        ]
        assert verdict(OPEN, lower, higher, *steps) is CONFORMS
        assert verdict(OPEN, lower, {"objects": {"PodGroup": ["high"]}}, *steps) is VIOLATES
        # Or of the other, when what it has to do with appears.
        late = {"objects": {"PodGroup": ["low"]}, "rigid": {"PodGroup": {"outranks": {"high": ["low"]}}}}
        assert verdict(OPEN, {"objects": {"PodGroup": ["high"]}}, late, *steps) is CONFORMS
        with pytest.raises(
            TraceError, match=r"high.outranks never changes; write it in the record in which high appears"
        ):
            verdict(OPEN, lower, {"objects": {"PodGroup": ["high"]}}, {"rigid": higher["rigid"]})
        # A set that gets a new object is written as a whole.
        more = {"objects": {"PodGroup": ["more"]}, "rigid": {"PodGroup": {"outranks": {"high": ["low", "more"]}}}}
        assert verdict(OPEN, lower, higher, more, *steps) is CONFORMS
        more["rigid"] = {"PodGroup": {"outranks": {"high": ["more"]}}}
        with pytest.raises(TraceError, match=r'high.outranks never changes; write the whole set: \["low", "more"\]'):
            verdict(OPEN, lower, higher, more)
        with pytest.raises(TraceError, match="violates an axiom of the model"):
            verdict(OPEN, lower, {**NEW, "rigid": {"PodGroup": {"outranks": {"x": ["x"]}}}})

    @pytest.mark.parametrize(
        ("record", "expected"),
        [
            ({"state": {"PodGroup": {"g0": {"state": "Deleted"}}}}, CONFORMS),
            ({"state": {"PodGroup": {"g0": {"state": "Pending"}}}}, VIOLATES),
            ({"action": "allocate", "parameters": {"p": "g0", "K": ["a"]}}, VIOLATES),
            ({"action": "allocate", "parameters": {"p": "g0", "K": ["a"]}, "objects": {"PodGroup": ["g0"]}}, CONFORMS),
        ],
    )
    def test_a_forgotten_name_is_still_that_of_what_has_ended(
        self, record: Mapping[str, Any], expected: LogVerdict
    ) -> None:
        header = {"schedproof": 1, "system": "hived", "objects": {"Cell": ["a"]}}
        watch = Watch(system("hived"), None, header)
        for number in range(3 * KEPT_ENDED):
            watch.take({"action": "allocate", "parameters": {"p": f"g{number}", "K": ["a"]}})
            watch.take({"action": "delete_allocated", "parameters": {"p": f"g{number}"}})
        assert watch.objects.number("PodGroup", "g0") < 0, "it is not forgotten, and nothing is tested"
        assert watch.take(record).verdict is expected
        since = watch.since
        assert since is not None
        if expected is VIOLATES:
            header, *records = shortened(system("hived"), watch.model, since)
            repeated = check_records("hived", header, records, shorten=False)
            assert repeated.first_nonconformance is not None and repeated.first_nonconformance.record == len(records)

    def test_what_was_forgotten_in_several_states_is_undetermined(self) -> None:
        """Nothing is made up of what it was like."""
        header = {"schedproof": 1, "system": "hived", "objects": {"Cell": ["a"], "PodGroup": ["g"]}}
        before = Watch(system("hived"), None, header).objects
        now = before.with_new("PodGroup", "h", 0)
        one = before.instance.initial()
        other = (*one[: before.instance.slot("PodGroup")], 1, *one[before.instance.slot("PodGroup") + 1 :])
        names = CollectedNames().after(before, now, [one, other])
        back = now.with_new("PodGroup", "g")
        assert names.restored(back, [("PodGroup", "g")], [back.instance.initial()]) is None

    def test_those_that_have_ended_are_forgotten(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(collected_names, "MOST_NAMES", 30)  # names that are kept; fewer than come here
        watch = Watch(system("hived"), None, OPEN)
        sizes, memory = set(), []
        tracemalloc.start()
        for number, record in enumerate(lives(400)):
            assert watch.take(record).verdict is CONFORMS
            if number % 200 == 199:
                sizes.add(len(watch.objects.names["PodGroup"]))
                memory.append(tracemalloc.get_traced_memory()[0])
        tracemalloc.stop()
        assert sizes == {KEPT_ENDED + 1}
        # A record takes more than a kilobyte; Python itself keeps some of the tuples that are free again.
        assert (memory[-1] - memory[0]) / 600 < 500, memory

    def test_a_bad_record_changes_nothing(self) -> None:
        watch = Watch(system("hived"), None, OPEN)
        watch.take({"action": "allocate", "parameters": {"p": "x", "K": ["a"]}, "time": 5})
        before = watch.objects, watch.records
        for bad in (
            {"action": "allocate", "parameters": {"p": "y", "K": ["q"]}},
            {"objects": {"PodGroup": ["z"]}, "state": {"PodGroup": {"z": {"colour": 1}}}},
            {"objects": {"PodGroup": ["z"]}, "time": 4},
        ):
            with pytest.raises(TraceError):
                watch.take(bad)
            assert (watch.objects, watch.records) == before
        assert watch.take({"action": "delete_allocated", "parameters": {"p": "x"}, "time": 5}).verdict is CONFORMS

    def test_one_that_was_listed_may_be_named_after_it_was_forgotten(self) -> None:
        names = [f"g{i}" for i in range(KEPT_ENDED + 2)]
        header = {**OPEN, "objects": {"Cell": ["a", "b"], "PodGroup": names}}
        deletions = [{"action": "delete_pending", "parameters": {"p": name}} for name in names]
        named = {"state": {"PodGroup": {"g0": {"state": "Deleted"}}}}
        assert verdict(header, *deletions, NEW, named) is CONFORMS
        assert (
            verdict(header, *deletions, NEW, {"action": "allocate", "parameters": {"p": "g0", "K": ["a"]}}) is VIOLATES
        )

    def test_nobody_is_accused_of_what_an_unnamed_one_may_have_done(self) -> None:
        """Whose allocation it was is not said, and the header lists no groups: it may be of one that is never named."""
        of_somebody = {"action": "allocate", "parameters": {"K": ["a"]}}
        not_logged = {"state": {"Cell": {"a": {"state": "Used"}}}, "unlogged": 1}
        heard = {"event": "Cell.e0"}
        for record in (of_somebody, not_logged, heard):
            report = check_records("hived", OPEN, [record])
            assert (report.verdict, report.first_nonconformance) == (UNDETERMINED, None)
            assert "record 1 (line 1): no step of the objects named so far explains it" in report.note
            assert "list those of PodGroup in the header" in report.note
            assert verdict({**OPEN, "objects": {"PodGroup": ["x"], "Cell": ["a"]}}, record) is CONFORMS
            assert verdict({**OPEN, "objects": {"PodGroup": [], "Cell": ["a"]}}, record) is VIOLATES

    def test_what_was_unlogged_once_is_not_forgotten(self) -> None:
        """Of x and a, or of a group that is never named: then x is still Pending, and may not complete."""
        named = {
            "state": {"PodGroup": {"x": {"state": "Pending"}}, "Cell": {"a": {"state": "Free"}, "b": {"state": "Free"}}}
        }
        of_somebody = {"action": "allocate", "parameters": {"K": ["a"]}}
        ended = {"action": "delete_pending", "parameters": {"p": "x"}}
        listed = {**OPEN, "objects": {"PodGroup": ["x"], "Cell": ["a", "b"]}}
        assert verdict(OPEN, named, of_somebody, ended) is UNDETERMINED
        assert verdict(listed, named, of_somebody, ended) is VIOLATES
        assert (
            verdict({**listed, "objects": {**listed["objects"], "PodGroup": ["x", "y"]}}, named, of_somebody, ended)
            is CONFORMS
        )

    def test_what_says_all_is_checked(self) -> None:
        of_x = {"action": "complete", "parameters": {"p": "x"}}
        assert verdict(OPEN, of_x) is VIOLATES
        assert verdict({**OPEN, "objects": {"Cell": ["a"]}}, of_x) is VIOLATES
        heard = {"event": "PodGroup.e2", "object": "x"}  # whose it is says the object
        assert verdict(OPEN, heard) is VIOLATES
        vacated = {"state": {"Cell": {"a": {"state": "Used"}}}, "unlogged": {"most": 2, "actions": ["vacate"]}}
        assert verdict({**OPEN, "objects": {"Cell": ["a"]}}, vacated) is VIOLATES  # only groups are not listed

    def test_there_may_be_too_many(self) -> None:
        names = {"PodGroup": [f"g{i}" for i in range(1001)]}
        with pytest.raises(TraceError, match="more than 1000 objects of PodGroup at a time"):
            Watch(system("hived"), None, OPEN).take({"objects": names})


SCOPES: Mapping[tuple[str, str], Mapping[str, int]] = {
    ("hived", "as-written"): {"PodGroup": 3, "Cell": 2},
    ("beaker", "repaired"): {"Recipe": 2, "RecipeSet": 2, "System": 2},
    ("jobmon", "shipped"): {},
}


ENOUGH = 40


class TestForgetting:
    """An object that may be forgotten makes no difference: without it, the others have the same steps."""

    @pytest.mark.parametrize(("system", "variant"), thinned(SCOPES, 4))
    def test_nothing_can_be_seen_of_it(self, system: str, variant: str) -> None:
        model = systems()[system].variants[variant]
        ended, compared = collectable(model), 0
        assert any(ended.values())
        for instance in islice(instances(model, {**model.default_scope, **SCOPES[system, variant]}), 2):
            states = explore(instance, symmetry=False, limit=3_000).states
            for state in random.Random(1).sample(states, len(states)):
                if compared < ENOUGH:
                    compared += sum(self.compared(instance, state, sort, over) for sort, over in ended.items())
        assert compared >= ENOUGH

    def compared(self, instance: Instance, state: State, sort: str, ended: frozenset[str]) -> int:
        machine = instance.model.machine(sort)
        differences = 0
        for number in range(instance.sizes[sort]):
            now = machine.states[state[instance.slot(sort) + number]].name if machine.states else ""
            if now not in ended or refers(instance, state, sort, number):
                continue
            differences += 1
            less, without = removed(instance, state, sort, number)
            assert steps_of(less, without) == {
                (action, removed(instance, after, sort, number)[1]) for action, after in steps_of(instance, state)
            }, (sort, number, instance.describe(state))
        return differences

    def test_hived_groups_may_be_forgotten_and_its_cells_not(self) -> None:
        """By hand: a Deleted group has no row in the table, and every condition of the document asks for another state."""
        assert collectable(AS_WRITTEN) == {"PodGroup": {"Deleted"}, "Cell": frozenset()}

    def test_what_counts_the_ended_is_not_forgotten(self) -> None:
        """Seeded fault: the value of a guard about all Pending groups, or about a Deleted one, depends on ended groups."""
        from schedproof.model.lang import exists, forall, variable
        from schedproof.model.systems.hived.machines import PodGroup

        g = variable(PodGroup, "g")
        for guard in (
            forall(g, g.is_("Pending")),
            exists(g, g.is_("Deleted")),
            ~exists(g, g.is_("Deleted", "Pending")),
        ):
            actions = [replace(a, when=[*a.when, guard]) if a.name == "vacate" else a for a in AS_WRITTEN.actions]
            assert not collectable(replaced(AS_WRITTEN, actions))["PodGroup"]


class TestUnnamed:
    """The actions that may depend on unobserved objects."""

    @pytest.mark.long
    @pytest.mark.parametrize(
        ("system", "variant"), thinned([(s.name, variant) for s in systems().values() for variant in s.variants], 4)
    )
    def test_other_actions_do_not_depend_on_them(self, system: str, variant: str) -> None:
        """With an object that has had no part in anything, and without it, they have the same steps."""
        model = systems()[system].variants[variant]
        compared = 0
        for instance in islice(instances(model, {}), 1):
            states = explore(instance, symmetry=False, limit=200).states
            for sort in instance.sizes:
                blind = {a.name for a in model.actions} - noticing(model, [sort])
                untouched = [
                    (state, number)
                    for state in states
                    for number in range(instance.sizes[sort])
                    if is_untouched(instance, state, sort, number)
                ]
                for state, number in random.Random(1).sample(untouched, min(6, len(untouched))):
                    less, without = removed(instance, state, sort, number)
                    steps = [
                        s for s in stepper_of(instance).steps(state) if not chooses(instance, s.choice, sort, number)
                    ]
                    assert {each for each in steps_of(less, without) if each[0] in blind} == {
                        (s.choice.action, removed(instance, s.after, sort, number)[1])
                        for s in steps
                        if s.choice.action in blind
                    }, (sort, number, instance.describe(state))
                    assert all(is_untouched(instance, s.after, sort, number) for s in steps if s.choice.action in blind)
                    compared += 1
        assert compared >= 6

    def test_of_hived_none(self) -> None:
        """By hand: a Free cell that is in no chosen set and has no reserver, and a Pending group that is not chosen."""
        for model in systems()["hived"].variants.values():
            assert noticing(model, ["PodGroup", "Cell"]) == frozenset()

    def test_of_a_guard_that_asks_for_some_recipe(self) -> None:
        """A set is taken up if some recipe of it is new; which one that is no parameter says."""
        header = {
            "schedproof": 1,
            "system": "beaker",
            "objects": {"Lab": ["l"], "System": ["a"], "RecipeSet": ["RS"]},
            "rigid": {"System": {"lab": {"a": "l"}}},
        }
        take_up = {"action": "take_up", "parameters": {"j": "RS"}}
        report = check_records("beaker", header, [take_up])
        assert report.verdict is UNDETERMINED and "list those of Recipe in the header" in report.note
        recipe = {"Recipe": {"recipe_set": {"R": "RS"}, "viable": {"R": ["a"]}}}
        listed = {**header, "objects": {**header["objects"], "Recipe": ["R"]}, "rigid": {**header["rigid"], **recipe}}
        assert check_records("beaker", listed, [take_up]).verdict is CONFORMS
        nobody = {**header, "objects": {**header["objects"], "Recipe": []}}
        assert check_records("beaker", nobody, [take_up]).verdict is VIOLATES

    def test_of_seeded_guards_rules_and_updates(self) -> None:
        """Each of these depends on whether there is one more Free cell, or one in an arbitrary state."""
        from schedproof.model.lang import Row, Rule, exists, forall, those, variable
        from schedproof.model.systems.hived.machines import Cell, PodGroup

        c, p = variable(Cell, "c"), variable(PodGroup, "p")
        model = replaced(AS_WRITTEN, list(AS_WRITTEN.actions))
        assert noticing(model, ["Cell"]) == frozenset()
        for guard in (exists(c, c.is_("Free")), forall(c, c.is_("Used")), ~forall(c, ~c.is_("Free"))):
            actions = [replace(a, when=[*a.when, guard]) if a.name == "complete" else a for a in model.actions]
            assert noticing(replaced(model, actions), ["Cell"]) == {"complete"}
        free = Rule("takes what is free", p.fires("e3"), [c.is_("Free")], c.fires("e0", user=p))
        assert noticing(replace(model, rules=[*model.rules, free]), ["Cell"]) == {"delete_allocated"}
        rows = [r for r in model.rows if r.name != "PodGroup.e0 from Pending"]
        marks = Row(PodGroup, "e0", "Pending", "Allocated", record="bound", placement=those(c, c.is_("Free")))
        assert noticing(replace(model, rows=[*rows, marks]), ["Cell"]) == {"allocate"}


def is_untouched(instance: Instance, state: State, sort: str, number: int) -> bool:
    """An object is as at the start, and nothing refers to it."""
    start = instance.initial()
    machine = instance.model.machine(sort)
    names = ([""] if machine.states else []) + [a.name for a in instance.attributes(sort)]
    slots = [instance.slot(sort, name) + number for name in names]
    return all(state[i] == start[i] for i in slots) and not refers(instance, state, sort, number)


def chooses(instance: Instance, choice: Choice, sort: str, number: int) -> bool:
    """An object is a parameter of a choice, or in one."""
    types = {v.name: v.type for v in instance.model.action(choice.action).parameters}
    return any(
        (isinstance(types[n], Ref) and types[n].sort.name == sort and value == number)
        or (isinstance(types[n], SetOf) and types[n].sort.name == sort and bool(value >> number & 1))
        for n, value in choice.parameters
    )


def replaced(model: Model, actions: list[Any]) -> Model:
    return replace(model, actions=actions, properties=[], refuted=frozenset())


def steps_of(instance: Instance, state: State) -> set[tuple[str, State]]:
    return {(step.choice.action, step.after) for step in stepper_of(instance).steps(state)}


def removed(instance: Instance, state: State, sort: str, number: int) -> tuple[Instance, State]:
    """The instance and the state without one object; those after it move up."""
    model = instance.model
    sizes = {**instance.sizes, sort: instance.sizes[sort] - 1}

    def moved(kind: Any, value: int) -> int:
        if getattr(kind, "sort", None) is None or kind.sort.name != sort:
            return value
        if str(kind).startswith("set"):
            low = value & ((1 << number) - 1)
            return low | (value >> (number + 1) << number)
        return value - 1 if value > number else value if value != number else -1

    rigid = {}
    for machine in model.machines:
        for a in machine.attributes:
            if a.rigid:
                values = [moved(a.type, v) for v in instance.rigid_values(machine.sort.name, a)]
                if machine.sort.name == sort:
                    del values[number]
                rigid[machine.sort.name, a.name] = values
    less = ObjectMap.of(Instance(model, sizes, {}))
    small = ObjectMap(model, less.names, {k: tuple(v) for k, v in rigid.items()}, less.births).unnamed
    smaller = [0] * small.width
    for machine in model.machines:
        owner = machine.sort.name
        kinds = {"": None, **{a.name: a.type for a in instance.attributes(owner)}}
        for name in ([""] if machine.states else []) + [a.name for a in instance.attributes(owner)]:
            start = instance.slot(owner, name)
            values = [moved(kinds[name], v) for v in state[start : start + instance.sizes[owner]]]
            if owner == sort:
                del values[number]
            smaller[small.slot(owner, name) : small.slot(owner, name) + len(values)] = values
    return small, tuple(smaller)


class TestEventsTimesAndCrashes:
    def test_an_event_stands_for_every_step_in_which_it_happens(self) -> None:
        """e6 of a victim is caused by another group's e1; no action begins with it."""
        steps = [
            {"action": "allocate", "parameters": {"p": "low", "K": ["a"]}},
            {"event": "PodGroup.e6", "object": "low", "state": {"PodGroup": {"high": {"state": "Preempting"}}}},
        ]
        assert verdict(HEADER, *steps) is CONFORMS
        assert verdict(HEADER, steps[0], {**steps[1], "object": "mid"}) is VIOLATES
        assert verdict(HEADER, {"event": "PodGroup.e6"}) is VIOLATES

    def test_time_does_not_go_back(self) -> None:
        first = {"action": "crash", "time": 10}
        assert verdict(HEADER, first, {"action": "crash", "time": 10}, {"crash": True, "time": 10.5}) is CONFORMS
        with pytest.raises(TraceError, match=r"record 2: time 9\.5 is before"):
            verdict(HEADER, first, {"action": "crash", "parameters": {}, "time": 9.5})
        with pytest.raises(TraceError, match="cannot be compared"):
            verdict(HEADER, first, {"crash": True, "time": "2026-01-01T00:00:00Z"})
        zoned = [{"crash": True, "time": "2026-01-01T01:00:00+01:00"}, {"crash": True, "time": "2026-01-01T00:00:00Z"}]
        assert verdict(HEADER, *zoned) is CONFORMS

    def test_time_may_be_any_whole_number(self) -> None:
        assert verdict(HEADER, {"crash": True, "time": 1.5}, {"crash": True, "time": 10**400}) is CONFORMS
        with pytest.raises(TraceError, match="is before"):
            verdict(HEADER, {"crash": True, "time": 10**400}, {"crash": True, "time": 1.5})

    def test_a_name_that_two_actions_use_for_different_things(self) -> None:
        """The event says which of them it was; where both cause it, the name."""
        from schedproof.model.lang import Action, Row, Rule, State, variable
        from schedproof.model.lang import Machine as Of
        from schedproof.model.lang import Sort as Kind

        task, slot = Kind("Task", "t"), Kind("Slot", "s")
        t, s = variable(task, "x"), variable(slot, "x")
        free = variable(slot, "s")
        go = Action("go", [t], [t.is_("New")], [t.fires("go")], "{x} goes")
        fill = Action("fill", [s], [s.is_("Free")], [s.fires("fill")], "{x} is filled")
        zoo = Model(
            system="zoo",
            variant="toy",
            about="tasks and slots",
            machines=[Of(task, [State("New"), State("Gone")]), Of(slot, [State("Free"), State("Full")])],
            rows=[Row(task, "go", "New", "Gone"), Row(slot, "fill", "Free", "Full")],
            actions=[go, fill],
            rules=[Rule("a task fills what is free", go, [free.is_("Free")], free.fires("fill"))],
            properties=[],
            default_scope={"Task": 2, "Slot": 1},
        )
        system = System("zoo", "a zoo", {"toy": zoo}, validated_by="toy")

        def checked(header: Mapping[str, Any], *records: Mapping[str, Any]) -> LogVerdict:
            return check_records(system, {"schedproof": 1, "system": "zoo", **header}, records).verdict

        listed = {"objects": {"Task": ["a", "b"], "Slot": ["s"]}}
        removed_task, full = {"Task": {"a": {"state": "Gone"}}}, {"Slot": {"s": {"state": "Full"}}}
        for name, also in (("a", removed_task), ("s", {"Task": {"a": {"state": "New"}}})):
            record = {"event": "Slot.fill", "parameters": {"x": name}}
            assert checked(listed, {**record, "state": {**full, **also}}) is CONFORMS
        assert checked(listed, {"event": "Slot.fill", "parameters": {"x": "s"}, "state": removed_task}) is VIOLATES
        with pytest.raises(TraceError, match=r"parameters.x: unknown Task 'z'"):
            checked(listed, {"event": "Slot.fill", "parameters": {"x": "z"}})
        assert checked({}, {"event": "Task.go", "parameters": {"x": "a"}, "state": removed_task}) is CONFORMS
        # Some slot was filled, and the header lists none: an unobserved one.
        assert checked({"objects": {"Task": ["a"]}}, {"event": "Slot.fill"}) is UNDETERMINED
        assert checked({"objects": {"Task": ["a"], "Slot": []}}, {"event": "Slot.fill"}) is VIOLATES

    def test_a_crash_is_a_step_of_the_crash_action(self) -> None:
        up = {"action": "preempt", "parameters": {"p": "high", "K": ["a"]}}
        start = {
            **HEADER,
            "start": {"PodGroup": {"low": {"state": "Allocated"}}, "Cell": {"a": {"state": "Used", "user": "low"}}},
        }
        after = {"state": {"PodGroup": {"high": {"state": "Pending"}, "low": {"state": "Allocated"}}}}
        assert verdict(start, up, {"crash": True, **after}) is CONFORMS
        assert verdict(start, up, after) is VIOLATES

    def test_where_the_run_begins_may_be_one_of_several_states(self) -> None:
        used = {"Cell": {"a": {"state": "Used", "user": "low"}}, "PodGroup": {"low": {"state": "Allocated"}}}
        steps = {"action": "delete_allocated", "parameters": {"p": "low"}}
        assert verdict({**HEADER, "start": [{}, used]}, steps) is CONFORMS
        assert verdict({**HEADER, "start": [{}]}, steps) is VIOLATES


class TestUnloggedSteps:
    @pytest.mark.parametrize("unlogged", [1.0, {"most": 1.0}])
    def test_one_may_be_written_with_a_point(self, unlogged: object) -> None:
        """JSON Schema has 1.0 for a whole number."""
        last = {"state": {"PodGroup": {"low": {"state": "Deleted"}}}, "unlogged": unlogged}
        assert verdict(HEADER, last) is CONFORMS
        assert verdict({**HEADER, "unlogged": unlogged}, {"state": last["state"]}) is CONFORMS

    def test_no_more_than_stated(self) -> None:
        last = {"state": {"PodGroup": {"low": {"state": "Deleted"}, "mid": {"state": "Deleted"}}}}
        for most, expected in ((1, VIOLATES), (2, CONFORMS)):
            assert verdict({**HEADER, "unlogged": most}, last) is expected
            assert verdict(HEADER, {**last, "unlogged": most}) is expected

    def test_only_the_actions_that_are_named(self) -> None:
        last = {"state": {"PodGroup": {"low": {"state": "Deleted"}}}}
        for name, expected in (("delete_pending", CONFORMS), ("delete_allocated", VIOLATES)):
            assert verdict({**HEADER, "unlogged": {"most": 1, "actions": [name]}}, last) is expected

    def test_full_records_leave_the_fast_path_then(self) -> None:
        """After the first record high may be Deleted, or not: only the second says which."""
        records = [
            {"action": "delete_pending", "parameters": {"p": "low"}},
            {
                "action": "delete_pending",
                "parameters": {"p": "mid"},
                "state": {"PodGroup": {"high": {"state": "Deleted"}}},
                "unlogged": 0,
            },
        ]
        assert verdict({**SMALL, "unlogged": 1}, *records) is CONFORMS
        assert brute_check({**SMALL, "unlogged": 1}, records) == ("conforms", None)


class TestWhatMatters:
    @pytest.mark.long
    def test_nothing_more_can_be_left_out(self) -> None:
        """Without any one of its records (any step may have happened there), or fields, the shortened trace conforms."""
        checked = 0
        for number in range(15):
            rng = random.Random(number)
            records = json.loads(json.dumps(logged_run(rng, 8, 0)))
            flipped(records, rng)
            report = check_records("hived", SMALL, records, shorten=True)
            if report.verdict is not VIOLATES:
                continue
            header, *rest = report.shortened
            assert verdict(header, *rest) is VIOLATES and len(rest) <= len(records)
            for at in range(len(rest) - 1):
                if rest[at].keys() != {"unlogged"}:
                    gap = {
                        "unlogged": rest[at].get("unlogged", 0)
                        + any(k in rest[at] for k in ("action", "event", "crash"))
                    }
                    assert verdict(header, *rest[:at], gap, *rest[at + 1 :]) is CONFORMS
                    checked += 1
            for at, record in enumerate(rest):
                if "state" in record:
                    silent = {k: v for k, v in record.items() if k != "state"}
                    assert verdict(header, *rest[:at], silent or {"unlogged": 0}, *rest[at + 1 :]) is CONFORMS
                    checked += 1
        assert checked >= 5

    def test_a_nonconformance_of_full_records_needs_one_of_them(self) -> None:
        records = walk(AS_WRITTEN, 4, 20)
        records[15]["state"]["Cell"]["a"]["user"] = next(
            g for g in [None, *GROUPS] if g != records[15]["state"]["Cell"]["a"]["user"]
        )
        report = check_records("hived", HEADER, records, shorten=True)
        assert report.first_nonconformance is not None and report.first_nonconformance.record == 16
        header, *rest = report.shortened
        assert len(rest) == 1 and rest[0]["state"].keys() == {"Cell"}
        assert "start" in header

    def test_what_many_states_explain_is_kept_within_bounds(self) -> None:
        watch = Watch(system("hived"), None, HEADER)
        for _ in range(500):
            watch.take(
                {"state": {"Cell": {"a": {"state": "Free"}}}, "unlogged": {"most": 1, "actions": ["delete_pending"]}}
            )
        assert watch.since is not None and len(watch.since.records) <= 200


class TestAllowed:
    def test_they_are_the_steps_of_the_model(self) -> None:
        """By hand: three Pending groups, three free cells: seven sets of cells each, three deletions, a crash."""
        watch = Watch(system("hived"), None, HEADER)
        allowed = watch.allowed()
        assert allowed.complete and len(allowed.events) == 3 * 7 + 3 + 1
        for event in allowed.events:
            assert Watch(system("hived"), None, HEADER).take(event).verdict is CONFORMS
        assert not watch.allowed(5).complete and len(watch.allowed(5).events) == 5

    def test_after_a_nonconformance_there_are_none(self) -> None:
        watch = Watch(system("hived"), None, HEADER)
        watch.take({"action": "complete", "parameters": {"p": "low"}})
        assert watch.allowed().events == () and watch.validation.verdict is VIOLATES


def lines(*records: Any) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


class TestBadInput:
    @each_row(
        ("bad", "message"),
        [
            ("{oops", "line 3: not JSON: "),
            (
                json.dumps({"action": "allocate", "parameters": {"p": "nobody"}}),
                "line 3: parameters.p: unknown PodGroup 'nobody'",
            ),
            (
                json.dumps({"state": {"Cell": {"a": {"state": "Gone"}}}}),
                "line 3: state.Cell.a.state: unknown state 'Gone'; choose from",
            ),
            (json.dumps({"crash": True, "time": 1}), "line 3: time 1 is before"),
            ('{"action": "' + "x" * (17 << 20) + '"}', "line 3: longer than 16 MiB"),
            ('{"action": "\udcff"}', "line 3: byte 13 is not UTF-8"),
        ],
        ids=["JSON", "name", "value", "time", "length", "UTF-8"],
    )
    def test_one_line_and_what_came_before(self, bad: str, message: str, tmp_path: Path) -> None:
        path = tmp_path / "log"
        text = lines(HEADER, {"action": "crash", "time": 2}) + bad + "\n" + lines({"action": "crash"})
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
        with pytest.raises(TraceError) as caught:
            check_trace("hived", path)
        assert message in str(caught.value) and "\n" not in str(caught.value)
        before = caught.value.before
        assert before is not None and (before.records, before.verdict) == (1, UNDETERMINED)
        assert before.as_json()["error"] == str(caught.value)

    def test_a_line_of_a_gigabyte_is_not_read(self, tmp_path: Path) -> None:
        path = tmp_path / "log"
        with path.open("wb") as file:
            file.write(lines(HEADER).encode())
            file.truncate(1 << 30)  # zeros, which take no room on the disk
        tracemalloc.start()
        with pytest.raises(TraceError, match="line 2: longer than 16 MiB"):
            check_trace("hived", path)
        assert tracemalloc.get_traced_memory()[1] < 100 << 20
        tracemalloc.stop()

    def test_formats_that_are_read_whole_say_it_too(self, tmp_path: Path) -> None:
        sample = DATA / "hived" / "s-02-life-preemption.jsonl"
        good = sample.read_text("utf-8").splitlines()
        path = tmp_path / "log"
        path.write_text("\n".join([*good[:6], "{oops", *good[6:]]))
        with pytest.raises(TraceError, match="line 7: not JSON") as caught:
            check_trace("hived", path)
        assert caught.value.before is not None and caught.value.before.records == 5


class TestQuotes:
    def test_the_document_is_quoted(self) -> None:
        """Line 79 of HiveD's document is the condition of e2."""
        report = check_records("hived", HEADER, [{"action": "complete", "parameters": {"p": "low"}}])
        assert report.first_nonconformance is not None
        refused = report.first_nonconformance.candidates[0].refused[0]
        assert refused.line == 79 and refused.sentence.startswith(
            "Condition: all the cells that the cell allocation algorithm"
        )

    def test_an_event_that_a_step_does_not_lead_to(self) -> None:
        records = [{"event": "PodGroup.e5", "object": "mid", "parameters": {"p": "low"}}]
        start = {"PodGroup": {"low": {"state": "Preempting"}}, "Cell": {"a": {"state": "Reserved", "reserver": "low"}}}
        report = check_records("hived", {**HEADER, "start": start}, records)
        assert report.first_nonconformance is not None
        assert "complete does not cause PodGroup.e5 of mid" in " ".join(report.text())
        assert report.first_nonconformance.before["mid"]["state"] == "Pending"

    def test_the_object_of_an_event_is_shown_where_a_guard_refuses(self) -> None:
        records = [{"event": "PodGroup.e5", "object": "mid", "parameters": {"p": "low"}}]
        shown = check_records("hived", HEADER, records).first_nonconformance
        assert shown is not None and shown.candidates[0].refused
        assert {"mid", "low"} <= shown.before.keys()

    @needs_shared
    def test_they_are_what_the_documents_say(self) -> None:
        for each in systems().values():
            quoted = read_quotes(each, DOCUMENTS)
            assert quoted
            for file, quotes in quoted.items():
                assert json.loads(file.read_text("utf-8")) == quotes
