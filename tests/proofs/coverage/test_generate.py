"""``schedproof generate``: what it writes, counted once more from the files alone, and replayed on the implementations."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from schedproof.cli import main
from schedproof.cli.commands import generate as command
from schedproof.impl.cascade import System
from schedproof.impl.systems.yunikorn_merge import MergedScheduler
from schedproof.model.lang import Model, Rule
from schedproof.model.registry.discovery import systems
from schedproof.model.semantics import Instance, check_scope, instances
from schedproof.model.semantics.run import Run
from schedproof.model.systems.beaker.configurations import CONFIGURATIONS as BEAKER_CONFIGURATIONS
from schedproof.model.systems.beaker.configurations import Configuration as BeakerConfiguration
from schedproof.model.systems.hived import AS_WRITTEN, REPAIRED
from schedproof.model.systems.jobmon import SHIPPED
from schedproof.model.systems.yunikorn.configurations import CONFIGURATIONS as CORE_CONFIGURATIONS
from schedproof.model.systems.yunikorn.configurations import Configuration as CoreConfiguration
from schedproof.proofs.coverage import Cover, Suite, generate
from schedproof.proofs.coverage.goals import goals_of
from schedproof.proofs.coverage.graph import Edge, Graph, explored
from schedproof.proofs.coverage.search import search_for
from schedproof.proofs.coverage.walk import Walk, walks
from schedproof.proofs.refinement.replay import on_machines
from schedproof.proofs.systems.beaker.refinement.check import instance_of as in_beaker
from schedproof.proofs.systems.beaker.refinement.replay import replay as on_beaker
from schedproof.proofs.systems.hived.refinement.replay import replay as on_hived
from schedproof.proofs.systems.yunikorn.refinement.check import side_by_side as beside_core
from schedproof.proofs.systems.yunikorn.refinement.component import Parts
from schedproof.proofs.systems.yunikorn.refinement.replay import replay as on_core
from schedproof.proofs.systems.yunikorn_merge.refinement.replay import replay as on_merged
from schedproof.proofs.traces import check_trace
from tests.support.rows import each_row
from tests.support.sample import thinned
from tests.systems.beaker.refinement.seeded import SEEDED as BEAKER_BUGS
from tests.systems.beaker.refinement.seeded import Seeded as SeededInBeaker
from tests.systems.hived.seeded.schedulers import SEEDED as HIVED_BUGS
from tests.systems.hived.seeded.schedulers import Seeded
from tests.systems.yunikorn.core import seeded as core_bugs
from tests.systems.yunikorn_merge.impl.seeded import BelievesTheProposal, FromTheLeafUp, NodeGoesAlone, OnlyTheLeaf

TWO = ("--scope", "PodGroup=2,Cell=2", "--no-prove")


def run(folder: Path, *arguments: str) -> int:
    return main(["generate", *arguments, "-o", str(folder)])


# A reader of its own, which knows JSON and nothing else.

State = dict[tuple[str, str, str], Any]
"""(sort, object, field) -> value; sets as sorted tuples, no object as None."""


def plain(path: Path) -> tuple[dict[str, Any], list[tuple[str, dict[str, Any], State]]]:
    header, *records = (json.loads(line) for line in path.read_text().splitlines())
    return header, [(r["action"], r["parameters"], dict(flat(r["state"]))) for r in records]


def flat(state: dict[str, Any]) -> Iterator[tuple[tuple[str, str, str], Any]]:
    for sort, objects in state.items():
        for name, fields in objects.items():
            for field, value in fields.items():
                yield (sort, name, field), tuple(sorted(value)) if isinstance(value, list) else value


def value(encoded: Any) -> Any:
    match encoded:
        case {"#bigint": number}:
            return int(number)
        case {"#set": items}:
            return tuple(sorted(items))
        case {"tag": "Some", "value": inside}:
            return inside
        case {"tag": "None"}:
            return None
    return encoded


def itf(path: Path) -> tuple[dict[str, Any], list[tuple[str, dict[str, Any], State]]]:
    content = json.loads(path.read_text())
    steps = []
    for number, state in enumerate(content["states"]):
        assert state["#meta"] == {"index": number}
        assert set(state) == {"#meta", *content["vars"]}
        fields = {
            (name.partition("_")[0], obj, name.partition("_")[2] or "state"): value(held)
            for name in content["vars"]
            if name not in ("action", "parameters")
            for obj, held in state[name]["#map"]
        }
        steps.append((state["action"], {n: value(v) for n, v in state["parameters"].items()}, fields))
    return content["#meta"], steps


def covered(folder: Path, cover: str) -> set[str]:
    """States, actions, and changes of state of what was written."""
    goals: set[str] = set()
    for path in sorted(folder.glob("*.itf.json")):
        before: State = {}
        for action, _, state in itf(path)[1]:
            if cover == "actions":
                goals.add(action)
            for (sort, name, field), now in state.items():
                was = before.get((sort, name, field))
                if field == "state" and cover == "states":
                    goals.add(f"{sort}.{now}")
                if field == "state" and cover == "transitions" and was not in (None, now):
                    goals.add(f"{sort}: {was} -> {now}")
            before = state
    return goals - {"init"}


def report(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "coverage.json").read_text()))


@pytest.mark.parametrize("variant", thinned(["as-written", "repaired"], 2, first=1))
def test_what_is_covered_is_covered_by_the_files(variant: str, tmp_path: Path) -> None:
    model = systems()["hived"].variants[variant]
    expected = {
        "states": {f"{m.sort}.{s.name}" for m in model.machines for s in m.states},
        "actions": {a.name for a in model.actions},
        "transitions": {f"{r.sort}: {r.source} -> {r.target}" for r in model.rows if r.source != r.target},
    }
    for cover, goals in expected.items():
        folder = tmp_path / cover
        assert run(folder, "hived", "--variant", variant, "--cover", cover) == 0
        assert covered(folder, cover) == goals
        content = report(folder)
        assert content["goals"] == content["reached"] == len(content["covered"]) and not content["not_covered"]
        assert [one["jsonl"] for one in content["sequences"]] == sorted(p.name for p in folder.glob("*.jsonl"))
        for one in content["sequences"]:
            header, records = plain(folder / one["jsonl"])
            assert one["steps"] == len(records)
            assert content["topologies"][one["topology"]]["objects"] == {
                s: len(n) for s, n in header["objects"].items()
            }


@pytest.mark.long
def test_both_files_of_a_sequence_say_the_same(tmp_path: Path) -> None:
    """Of a system with references, sets, numbers, booleans, and sorts without objects."""
    assert run(tmp_path / "suite", "beaker", "--variant", "repaired", "--cover", "actions", "--no-prove") == 0
    seen = 0
    for path in sorted((tmp_path / "suite").glob("*.jsonl")):
        header, records = plain(path)
        meta, states = itf(path.with_suffix(".itf.json"))
        assert (meta["objects"], meta["rigid"]) == (header["objects"], header["rigid"])
        assert states[0][:2] == ("init", {})
        for (action, given, state), (as_itf, itf_given, itf_state) in zip(records, states[1:], strict=True):
            assert action == as_itf and state == itf_state
            assert {n: tuple(sorted(v)) if isinstance(v, list) else v for n, v in given.items()} == itf_given
            seen += 1
    assert seen == report(tmp_path / "suite")["steps"] > 20


def test_the_validator_takes_what_was_written_and_nothing_else(tmp_path: Path) -> None:
    assert run(tmp_path / "suite", "hived", "--cover", "transitions", *TWO) == 0
    for path in (tmp_path / "suite").iterdir():
        if path.name != "coverage.json":
            assert check_trace("hived", path).verdict.value == "conforms"
            spoilt = tmp_path / path.name
            spoilt.write_text("Allocated".join(path.read_text().rsplit("Pending", 1)))  # the last one
            assert check_trace("hived", spoilt).verdict.value == "violates"


def test_the_table_and_the_json_say_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["generate", "hived", "--cover", "transitions", *TWO]
    assert main([*arguments, "-o", str(tmp_path / "a")]) == 0
    printed = capsys.readouterr().out
    assert main([*arguments, "-o", str(tmp_path / "b"), "--json", "-"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert (
        {n: v for n, v in content.items() if n not in ("scope", "replayed")}
        == report(tmp_path / "b")
        == report(tmp_path / "a")
    )
    assert (
        f"{content['reached']} of {content['goals']} goals covered by {len(content['sequences'])} sequences, {content['steps']} steps"
        in printed
    )
    for one in content["not_covered"]:
        assert f"{one['goal']}  " in printed and one["why"] == "unreachable at this scope"
    assert len(content["not_covered"]) == 3 == content["goals"] - content["reached"]


def test_a_long_list_of_what_is_not_covered_is_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "MOST_SHOWN", 1)
    assert run(tmp_path / "suite", "hived", "--cover", "transitions", *TWO) == 0
    assert "... and 2 more, in coverage.json" in capsys.readouterr().out


def test_a_longest_sequence_is_kept_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path / "suite", "hived", "--cover", "actions", *TWO, "--max-length", "3") == 0
    content = report(tmp_path / "suite")
    assert max(one["steps"] for one in content["sequences"]) == 3
    assert {(one["why"], one["least"]) for one in content["not_covered"]} == {("farther than the longest sequence", 4)}
    assert {one["goal"] for one in content["not_covered"]} == {"complete", "delete_preempted"}
    assert "needs 4 steps" in capsys.readouterr().out


def test_a_cut_exploration_is_undetermined(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path / "suite", "hived", "--cover", "transitions", "--max-states", "20", "--no-prove") == 3
    assert {one["why"] for one in report(tmp_path / "suite")["not_covered"]} == {"not reached, exploration incomplete"}
    assert "exploration stopped early" in capsys.readouterr().out
    assert run(tmp_path / "all", "hived", "--cover", "states", "--max-states", "100") == 0  # nothing is missing
    assert run(tmp_path / "graph", "hived", "--cover", "transitions", "--of", "graph", "--max-states", "9") == 3


@pytest.mark.long
def test_the_route_over_the_graph_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path / "suite", "hived", *TWO, "--cover", "transitions", "--of", "graph", "--replay") == 0
    assert "no suite costs less" in capsys.readouterr().out
    content = report(tmp_path / "suite")
    assert content["goals"] == content["reached"] == 158 and content["optimal"]  # as many as an exploration counts
    steps = {
        (tuple(before.items()), action, json.dumps(given, sort_keys=True))
        for path in (tmp_path / "suite").glob("*.itf.json")
        for (_, _, before), (action, given, _) in zip(itf(path)[1], itf(path)[1][1:], strict=False)
    }
    assert len(steps) == 158


# The folder.


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine").write_text("mine")
    assert run(tmp_path, "hived", "--cover", "states", *TWO) == 2
    assert "is not empty; write a new name" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
    for wrong, problem in (
        (tmp_path / "mine", "is not a directory"),
        (tmp_path / "no" / "where", "does not exist; create it first"),
        (Path("/proc/suite"), "cannot write to directory"),
    ):
        assert run(wrong, "hived", "--cover", "states", *TWO) == 2
        assert problem in capsys.readouterr().err
    assert main(["generate", "hived", "--cover", "states", "-o", ""]) == 2
    assert "--output: the name is empty" in capsys.readouterr().err


def test_an_empty_folder_is_filled(tmp_path: Path) -> None:
    (tmp_path / "suite").mkdir()
    assert run(tmp_path / "suite", "hived", "--cover", "states", *TWO) == 0
    assert sorted(p.name for p in (tmp_path / "suite").iterdir()) == ["001.itf.json", "001.jsonl", "coverage.json"]
    assert [path.name for path in tmp_path.iterdir()] == ["suite"]


def test_what_the_validator_does_not_take_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from schedproof.proofs.coverage import files

    for name, written in (("as_plain", files.as_plain), ("as_itf", files.as_itf)):
        for old, new in (("Used", "Free"), ('"allocate"', '"fly"')):
            with monkeypatch.context() as patch:
                patch.setattr(files, name, lambda *a, w=written, o=old, n=new: w(*a).replace(o, n))
                assert run(tmp_path / "suite", "hived", "--cover", "transitions", *TWO) == 1
            assert "two engines disagree: sequence 1: the validator" in capsys.readouterr().err
            assert not list(tmp_path.iterdir())


def test_an_implementation_that_violates_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from schedproof.proofs.refinement import replay

    less = without(AS_WRITTEN, AS_WRITTEN.rules[0])
    monkeypatch.setattr(replay, "on_machines", lambda run: on_machines(run, machines_of(less)))
    assert run(tmp_path / "suite", "hived", "--cover", "transitions", *TWO, "--replay") == 1
    assert "sequence 1 on the generated machines: the machines come to another state" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@each_row(
    ("arguments", "problem"),
    [
        (["hived"], "missing option '--cover'"),
        (["hived", "--cover", "branches"], "'branches' is not one of"),
        (["hived", "--cover", "states", "--of", "graph"], "--of: graph has no states to cover"),
        (["hived", "--cover", "states", "--max-length", "0"], "--max-length"),
        (["hived", "--cover", "states", "--max-states", "0"], "--max-states"),
        (["hived", "--cover", "states", "--variant", "v9"], "unknown variant"),
        (["hived", "--cover", "states", "--scope", "Pod=1"], "unknown sort 'Pod'"),
        (["nosuch", "--cover", "states"], "unknown system"),
    ],
)
def test_mistakes_end_in_one_line(
    arguments: list[str], problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path / "suite", *arguments) == 2
    err = capsys.readouterr().err
    assert problem in err and err.count("\n") == 1
    assert not list(tmp_path.iterdir())


# The implementations.


def machines_of(model: Model) -> Any:
    """What makes the machines of another model than the run's."""
    return lambda instance: System.of(replace(instance, model=model))


def without(model: Model, rule: Rule) -> Model:
    return replace(model, rules=[each for each in model.rules if each is not rule])


@pytest.mark.parametrize("system", thinned(systems(), 3))
def test_the_generated_machines_take_a_suite_of_each_system(system: str) -> None:
    model = systems()[system].base
    suite = generate(model, check_scope(model, {}), Cover.ACTIONS, limit=100)
    assert suite.steps > 5
    for _, walk in suite.walks[:4]:
        assert (mismatch := on_machines(walk.run)) is None, mismatch.text


def test_objects_that_begin_elsewhere_do_so_as_machines() -> None:
    """Jobmon's agents are there from the start in some configurations."""
    beginning = [i for i in instances(SHIPPED, {}) if any(state.begins for m in SHIPPED.machines for state in m.states)]
    assert beginning
    for instance in beginning:
        assert on_machines(Run(instance, [], [instance.initial()])) is None


@each_row("rule", AS_WRITTEN.rules, ids=lambda r: r.name)
def test_pairs_of_transitions_show_every_left_out_rule_of_hived(rule: Rule) -> None:
    factory = machines_of(without(AS_WRITTEN, rule))
    assert any(on_machines(walk.run, factory) is not None for walk in PAIRS)


PAIRS = [walk for _, walk in generate(AS_WRITTEN, {"PodGroup": 3, "Cell": 3}, Cover.PAIRS).walks]


@cache
def hived_suite(groups: int, cells: int) -> Suite:
    return generate(REPAIRED, {"PodGroup": groups, "Cell": cells}, Cover.TRANSITIONS)


def is_shown(seeded: Seeded) -> bool:
    """Whether some sequence of a suite is not green."""
    return any(
        on_hived(walk.run, seeded.scheduler, seeded.store, pods_per_group=seeded.pods)
        for _, walk in hived_suite(seeded.groups, seeded.cells).walks
    )


@each_row(("groups", "cells", "pods"), [(2, 2, 1), (2, 3, 3)])
@each_row("cover", Cover)
def test_hiveds_scheduler_takes_every_suite(cover: Cover, groups: int, cells: int, pods: int) -> None:
    suite = generate(REPAIRED, {"PodGroup": groups, "Cell": cells}, cover)
    for _, walk in suite.walks:
        assert (mismatch := on_hived(walk.run, pods_per_group=pods)) is None, mismatch.text


def test_hiveds_scheduler_takes_every_step_of_its_model() -> None:
    suite = generate(REPAIRED, {"PodGroup": 2, "Cell": 2}, Cover.TRANSITIONS, of_graph=True)
    assert suite.goal_count == 97  # as the side by side exploration counts them
    assert all(on_hived(walk.run) is None for _, walk in suite.walks)


NOT_OF_POSSIBLE_STEPS = {
    # Requests that have to be refused are in no run of the model.
    "a group preempts another of equal priority",
    "priorities are not looked at",
    "a preemption completes while the victim's pods run",
    "a refused completion gives the cells up",
    "a deleted pod can come back for ever",
    "a row is written and the request refused",
    # A group's pods go at once, one process dies between two requests, and what is reported is not compared.
    "cells are released with a group's first pod",
    "a preemption is reported as an allocation",
    "a group's deletion is reported as a pod's",
    "the state after is reported",
    "a pod is marked bound before its placement",
    "binding passes through deleted rows",
    "the memory is updated before the rows",
    "recovery ends before its writes",
    "recovery binds anew",
    "recovery does not finish a binding",
    "recovery undoes a half-made binding",
    "recovery gives a group only its live pods' cells",
    # They need a certain order of steps, which no row of the tables asks for: a route over the graph finds them.
    "a victim is freed while another group still preempts it",
    "a victim waits until nobody is preempted",
    "recovery forgets deleted pods",
}


@each_row("seeded", [b for b in HIVED_BUGS if b.bug not in NOT_OF_POSSIBLE_STEPS], ids=lambda b: b.bug)
def test_a_suite_shows_the_bugs_of_hiveds_schedulers(seeded: Seeded) -> None:
    assert seeded.priorities is None and is_shown(seeded)


def test_most_kinds_of_bugs_are_shown() -> None:
    assert {b.bug for b in HIVED_BUGS} > NOT_OF_POSSIBLE_STEPS
    assert len(HIVED_BUGS) - len(NOT_OF_POSSIBLE_STEPS) >= 20


def suite_in(instance: Instance, cover: Cover) -> list[Walk]:
    graph, goals = explored(instance), goals_of(instance.model, cover)
    return walks(search_for(graph, cover, goals), set(range(len(goals))))


@pytest.mark.parametrize(
    "configuration", thinned([BEAKER_CONFIGURATIONS[n] for n in (2, 3)], 2, first=1), ids=lambda s: s.about
)
def test_beakers_scheduler_takes_the_suite_of_a_configuration(configuration: BeakerConfiguration) -> None:
    for walk in suite_in(in_beaker(configuration), Cover.TRANSITIONS):
        assert (mismatch := on_beaker(walk.run)) is None, mismatch.text


@pytest.mark.parametrize("seeded", thinned(BEAKER_BUGS[26:41:5], 3, first=2), ids=lambda b: b.bug)
def test_a_suite_shows_bugs_of_beakers_scheduler(seeded: SeededInBeaker) -> None:
    made = suite_in(in_beaker(seeded.configuration), Cover.TRANSITIONS)
    assert any(on_beaker(w.run, seeded.sides, store=seeded.store, configuration=seeded.configuration) for w in made)


@cache
def merged_suite() -> list[Walk]:
    model = systems()["yunikorn-merge"].variants["merged"]
    return [walk for _, walk in generate(model, check_scope(model, {}), Cover.TRANSITIONS).walks]


@pytest.mark.parametrize("bug", [None, BelievesTheProposal, FromTheLeafUp, NodeGoesAlone, OnlyTheLeaf], ids=str)
def test_the_merged_scheduler_takes_its_suite_a_buggy_one_not(bug: type[MergedScheduler] | None) -> None:
    differences = (on_merged(walk.run, bug or MergedScheduler) for walk in merged_suite())
    assert any(differences) == (bug is not None)


def core_graph(configuration: CoreConfiguration) -> Graph:
    """The steps of the model that the core can be asked for one by one; which rows they take is left out."""
    model = beside_core(configuration).model
    numbers = {state: n for n, state in enumerate(model.steps)}
    assert numbers[model.initial] == 0, "exploration begins in the initial state"
    edges = [[Edge(choice, numbers[after], {}) for choice, after in steps] for steps in model.steps.values()]
    return Graph(model.instance, list(numbers), edges, True)


@cache
def core_suite() -> list[Walk]:
    graph = core_graph(GANG)
    goals = goals_of(graph.instance.model, Cover.ACTIONS)
    return walks(search_for(graph, Cover.ACTIONS, goals), set(range(len(goals))))


GANG = next(s for s in CORE_CONFIGURATIONS if s.about == "a gang of one with a real ask, hard")


@pytest.mark.parametrize(
    "bug",
    thinned([None, core_bugs.R2CompletesOverItsPlaceholders, core_bugs.GangTimerOutlivesTheGang], 3),
    ids=str,
)
def test_yunikorns_core_takes_its_suite_a_buggy_one_not(bug: Any) -> None:
    made = core_suite()
    assert len({choice.action for walk in made for choice in walk.choices}) == 13
    parts = Parts() if bug is None else Parts(draft=bug)
    assert any(on_core(walk.run, GANG, parts) for walk in made) == (bug is not None)


def test_a_run_of_another_variant_is_no_run_of_the_scheduler() -> None:
    (instance,) = instances(AS_WRITTEN, {})
    for replay in (on_hived, on_beaker, on_merged):
        with pytest.raises(ValueError, match="is one for"):
            replay(Run(instance, [], [instance.initial()]))
