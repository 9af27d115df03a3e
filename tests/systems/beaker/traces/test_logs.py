"""The validator on logs of Beaker: samples, runs of the models, each kind of nonconformance with its reason."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from schedproof.model.lang import Action, Change, Model
from schedproof.model.registry.discovery import system, systems
from schedproof.model.systems.beaker import AS_WRITTEN
from schedproof.model.systems.beaker.shipped import SHIPPED
from schedproof.proofs.traces import LogVerdict, ValidationReport, check_trace
from schedproof.proofs.traces import check as entry
from schedproof.proofs.traces.engine.candidates import check_run
from schedproof.proofs.traces.files.lines import read_text
from schedproof.proofs.traces.formats import format as formats
from schedproof.proofs.traces.formats.format import Format, ModelLog, Requested
from tests.support.places import DATA, REFERENCE
from tests.support.rows import each_row
from tests.support.sample import thinned
from tests.systems.beaker.traces.logs import WRITTEN_HEADER, beakerd_log, changes, messages

LOGS = DATA / "beaker"
FORMATS = {f.name: f for f in entry.formats_of(system("beaker"))}


def check(lines: Sequence[str | dict[str, Any]], tmp_path: Path, variant: str | None = None) -> ValidationReport:
    path = tmp_path / "trace"
    path.write_text("\n".join(x if isinstance(x, str) else json.dumps(x) for x in lines) + "\n", "utf-8")
    return check_trace("beaker", path, variant)


def conforms(report: ValidationReport) -> bool:
    assert report.verdict is not LogVerdict.UNDETERMINED, report.note
    return report.verdict is LogVerdict.CONFORMS


def nonconformance(report: ValidationReport) -> tuple[int, str]:
    """The nonconforming record and the reason."""
    assert report.first_nonconformance is not None, report.verdict
    return report.first_nonconformance.record, report.first_nonconformance.reason


class TestSamples:
    @each_row("path", sorted(p for p in LOGS.iterdir() if p.suffix != ".md"), ids=lambda p: p.stem)
    def test_conform_to_the_variant_of_their_format(self, path: Path) -> None:
        report = check_trace("beaker", path)
        assert conforms(report)
        assert (report.format, report.variant) == {
            "changes": ("beaker", "as-written"),
            "beakerd": ("beakerd", "shipped"),
            "messages": ("beaker-messages", "shipped"),
        }[path.stem.split("-")[0]]

    @pytest.mark.long
    def test_the_deadlock_is_a_run_of_the_proposal_not_of_its_repair(self) -> None:
        path = LOGS / "changes-deadlock.jsonl"
        assert conforms(check_trace("beaker", path, "interleaved"))
        record, reason = nonconformance(check_trace("beaker", path, "repaired"))
        assert record == 12  # the system that the first set waits for is given to the second
        assert "closest is give_to_assigned(s=b, r=q2)" in reason and "w = r2: assigned" in reason and "203" in reason

    def test_a_format_knows_which_variants_can_check_it(self) -> None:
        for name in ("beakerd-aborts.log", "messages-set-of-two.jsonl"):
            with pytest.raises(ValueError, match="does not fit the variant 'as-written'; choose from shipped"):
                check_trace("beaker", LOGS / name, "as-written")
        with pytest.raises(
            ValueError, match="does not fit the variant 'shipped'; choose from as-written, interleaved, repaired"
        ):
            check_trace("beaker", LOGS / "changes-deadlock.jsonl", "shipped")


class TestRunsOfTheModels:
    @pytest.mark.parametrize("seed", thinned(range(12), 12))
    def test_conform(self, seed: int, tmp_path: Path) -> None:
        for lines in (
            beakerd_log(1000 + seed),
            messages(1000 + seed),
            messages(1000 + seed, with_sets=False),
            changes(1000 + seed),
            changes(1000 + seed, named=True),
            changes(1000 + seed, usage=False),
            changes(1000 + seed, grouped=False),
        ):
            assert conforms(check(lines, tmp_path))

    @pytest.mark.long
    def test_they_are_runs_worth_checking(self) -> None:
        """Together they show every kind of message and every status."""
        logs = "\n".join(line for seed in range(40) for line in beakerd_log(seed))
        for part in ("New to Aborted", "Processed to Queued", "guest 13", "Provisioning", "Releasing", "to Reserved"):
            assert part in logs
        sent = "\n".join(line for seed in range(20) for line in messages(seed))
        assert all(f'"{s}"' in sent for s in ("Installing", "Waiting", "Running", "Reserved", "Completed", "Aborted"))
        changed = "\n".join(line for seed in range(20) for line in changes(seed))
        assert all(f'"{s}"' in changed for s in ("assigned", "running", "completed", "aborted", "Broken", "idle"))


@each_row(
    ("model", "format_", "sample", "dropped", "record"),
    [
        (AS_WRITTEN, "beaker", "changes-set-of-two.jsonl", "find_idle assigns the other recipes", 3),
        (AS_WRITTEN, "beaker", "changes-set-of-two.jsonl", "give_to_assigned", 6),
        (AS_WRITTEN, "beaker", "changes-set-of-two.jsonl", "begin provisions the recipes", 7),
        (SHIPPED, "beakerd", "beakerd-set-of-two.log", "provision starts every recipe", 12),
        (SHIPPED, "beakerd", "beakerd-set-of-two.log", "Recipe.schedule from queued", 10),
        (SHIPPED, "beakerd", "beakerd-set-of-two.log", "Recipe.hold from waiting", 14),
        (SHIPPED, "beakerd", "beakerd-aborts.log", "Recipe.abort from new", 2),
        (SHIPPED, "beakerd", "beakerd-aborts.log", "schedule_pending schedules the guests", 8),
        (SHIPPED, "beaker-messages", "messages-set-of-two.jsonl", "Recipe.run from waiting", 6),
        (SHIPPED, "beaker-messages", "messages-set-of-two.jsonl", "Recipe.complete from running", 11),
    ],
)
def test_the_samples_exercise_the_model(model: Model, format_: str, sample: str, dropped: str, record: int) -> None:
    """A model that lacks what a sample does no longer explains it."""
    needed = [p.name for p in model.properties]
    seeded = _without(model, dropped, needed)
    log = FORMATS[format_].read(seeded, read_text(LOGS / sample), Requested())
    assert isinstance(log, ModelLog)
    validation = log.check()
    assert validation.nonconformance is not None and validation.nonconformance.record == record


def _without(model: Model, dropped: str, properties: Sequence[str]) -> Model:
    """A model without a row, a rule or an action (and the rules on it), and without properties."""
    names = [dropped, *(r.name for r in model.rules if isinstance(r.on, Action) and r.on.name == dropped)]
    change = Change(why="a seeded fault", repairs=[], drops=[*names, *properties])
    return model.amend("seeded", "a model with a seeded fault", [change], refuted=frozenset())


LOG = [
    "recipe ID 1 moved from New to Processed",
    "recipe ID 2 moved from New to Processed",
    "recipe: 1 moved from Processed to Queued",
    "Assigning recipe 2 to system b.example.com",
    "recipe ID 2 moved from Queued to Scheduled",
    "Idle system a.example.com changed status, flagging it for scheduling",
    "Assigning recipe 1 to system a.example.com",
    "recipe ID 1 moved from Queued to Scheduled",
    "Provisioning recipe 1 in RS:1",
    "Provisioning recipe 2 in RS:1",
    "2 moved to Reserved",
    "Releasing system a.example.com for recipe 1",
    "Releasing system b.example.com for recipe 2",
    "No recipes runnable on b.example.com, returning to idle",
]

Edit = Callable[[list[str]], object]


class TestBeakerd:
    def test_the_log_itself_conforms(self, tmp_path: Path) -> None:
        assert conforms(check(LOG, tmp_path))

    @each_row(
        ("edit", "record", "reasons"),
        [
            (lambda x: x.pop(6) and x.pop(6), 7, ["provision needs for every r", "r = R:1: queued"]),
            (lambda x: x.insert(8, x[7]), 9, ["R:1 moved from queued to scheduled", "needs r"]),
            (lambda x: x.insert(5, "Assigning recipe 1 to system b.example.com"), 6, ["s pending", "b.example.com: reserved"]),
            (lambda x: x.insert(10, "No recipes runnable on a.example.com, returning to idle"), 11, ["rest needs s pending"]),
            (lambda x: x.insert(10, "Idle system a.example.com changed lab, flagging it for scheduling"), 11, ["flag needs s idle"]),
            (lambda x: x.insert(0, x.pop(1)), None, []),
            (lambda x: x.insert(2, x.pop(1)), 2, ["queue needs for every q", "q = R:2: new"]),
            (lambda x: x.insert(11, "Releasing system c.example.com for recipe 2"), 12, ["R:2 holds b.example.com, not c.example.com"]),
            (lambda x: x.append(x[11]), 15, ["R:1 holds no system, not a.example.com"]),
            (lambda x: x.insert(12, "recipe ID 1 moved from Running to Queued"), 13, ["no such move", "leads from running nowhere but to"]),
            (lambda x: x.insert(11, "Provisioning recipe 2 in RS:1"), 12, ["provision needs", "R:1: waiting"]),
            (lambda x: x.insert(11, "Provisioning recipe 2 in RS:7"), 12, ["the recipe is in RS:1"]),
            (lambda x: x.append("1 moved to Reserved"), 15, ["hold needs r waiting or installing or running", "R:1: aborted"]),
            (lambda x: x.insert(8, "RS:1 moved from Processed to Aborted"), 9, ["no recipe of RS:1 is processed"]),
            (lambda x: x.insert(2, "RS:1 moved from Processed to Aborted"), 4, ["queue needs", "R:1: aborted"]),
            (lambda x: x.insert(5, "recipe ID 1 matches one system, bumping priority"), 6, ["R:1 is queued, not new or processed"]),
            (lambda x: x.insert(5, "recipe: 2 labController:l Removing system b.example.com"), 4, ["s in r.candidates"]),
        ],
    )  # fmt: skip
    def test_nonconformances(self, edit: Edit, record: int | None, reasons: list[str], tmp_path: Path) -> None:
        log = list(LOG)
        edit(log)
        report = check(log, tmp_path)
        if record is None:
            assert conforms(report)
            return
        at_record, reason = nonconformance(report)
        assert at_record == record, reason
        for part in reasons:
            assert part in reason

    def test_processed_to_scheduled_is_logged_as_from_queued(self, tmp_path: Path) -> None:
        at_once = [LOG[0], "recipe ID 1 moved from Queued to Scheduled", "Provisioning recipe 1 in RS:1"]
        assert conforms(check(at_once, tmp_path))
        assert conforms(check([LOG[0], LOG[2], *at_once[1:]], tmp_path))

    def test_what_began_before_the_log_is_left_out_and_counted(self, tmp_path: Path) -> None:
        more = ["Entering a pass", "Provisioning recipe 7 in RS:3", "RS:4 moved from Processed to Aborted"]
        report = check([*LOG[:5], *more, *LOG[5:]], tmp_path)
        assert conforms(report) and report.records == len(LOG)
        assert "1 line is no message of beakerd" in report.note
        assert "2 lines are about what the log does not show from its beginning (R:7, RS:4)" in report.note

    def test_any_text_before_a_message(self, tmp_path: Path) -> None:
        assert conforms(check([f"Mar  9 12:00:00 host beakerd[12]: bkr.server {x}" for x in LOG], tmp_path))

    def test_a_log_without_messages_must_be_forced(self, tmp_path: Path) -> None:
        (tmp_path / "log").write_text("nothing\nto say\n")
        with pytest.raises(ValueError, match="unknown format"):
            check_trace("beaker", tmp_path / "log")
        report = check_trace("beaker", tmp_path / "log", format="beakerd")
        assert (
            report.verdict == "undetermined"
            and "nothing was checked" in report.note
            and "2 lines are no message" in report.note
        )


SETS: dict[str, Any] = {"beaker-messages": 1, "recipe_sets": {"RS:1": ["R:1", "R:2"]}}


def messages_of(*texts: str) -> list[dict[str, Any]]:
    """Messages, each "R:1 Installing"."""
    return [{"t_id": x.split()[0], "status": x.split()[1]} for x in texts]


class TestMessages:
    @each_row(
        "sent",
        [
            "R:1 Installing,R:1 Waiting,R:1 Running,R:1 Waiting,R:1 Running,R:1 Completed",
            "R:1 Running,R:1 Reserved,R:1 Aborted",
            "R:1 Completed",
            "R:1 Cancelled,R:2 Cancelled,RS:1 Cancelled",
            "R:1 Installing,R:2 Cancelled,R:1 Completed,RS:1 Cancelled",  # it had ended before the set was cancelled
            "RS:1 Processed,RS:1 Queued,RS:1 Scheduled,RS:1 Waiting,R:2 Installing,RS:1 Installing",
            "RS:1 Queued,R:1 Aborted,R:2 Aborted,RS:1 Aborted",
            "R:1 Aborted,RS:1 Scheduled",  # the other one still goes on
        ],
    )
    def test_conform(self, sent: str, tmp_path: Path) -> None:
        assert conforms(check([SETS, *messages_of(*sent.split(","))], tmp_path))

    @each_row(
        ("sent", "record", "reasons"),
        [
            ("R:1 Installing,R:1 Installing", 2, ["it was that already"]),
            ("R:1 Completed,R:1 Running", 2, ["run needs r waiting or installing", "R:1: completed"]),
            ("R:1 Scheduled", 1, ["written directly, and no message about the recipe is sent"]),
            ("R:1 Running,R:1 Installing", 2, ["install needs r waiting", "R:1: running"]),
            ("R:1 Reserved,R:1 Running", 2, ["run needs", "R:1: reserved"]),
            ("R:1 Cancelled,R:2 Running", 2, ["run needs", "R:2: cancelled"]),
            ("R:1 Installing,RS:1 Queued", 2, ["the recipes of RS:1 make it installing, not queued"]),
            ("R:1 Completed,RS:1 Completed", 2, ["the recipes of RS:1 make it waiting, not completed"]),
            ("RS:1 Queued,R:1 Aborted,RS:1 Queued,R:2 Running", 4, ["run needs r waiting or installing", "R:2: "]),
            ("R:1 Aborted,R:1 Completed", 2, ["complete needs r waiting or installing or running or reserved"]),
        ],
    )
    def test_nonconformances(self, sent: str, record: int, reasons: list[str], tmp_path: Path) -> None:
        at_record, reason = nonconformance(check([SETS, *messages_of(*sent.split(","))], tmp_path))
        assert at_record == record
        for part in reasons:
            assert part in reason

    def test_without_sets_each_recipe_is_alone(self, tmp_path: Path) -> None:
        sent = messages_of("R:1 Aborted", "R:2 Running", "RS:1 Queued", "J:3 Running", "T:4 Completed")
        report = check(sent, tmp_path)
        assert conforms(report) and report.records == 2
        assert "3 messages are about jobs, tasks or sets of unknown recipes" in report.note
        assert "the first line can name the recipes of a set" in report.note

    def test_header_and_body_are_one_message(self, tmp_path: Path) -> None:
        header = {"id": "R:1", "state": "Installing", "state_label": "Installing", "worker": {"name": "w"}}
        body = {"id": 1, "t_id": "R:1", "status": "Installing", "is_finished": False, "resource": None}
        assert check([{"header": header, "body": body}], tmp_path).records == 1


def run(*changes_: dict[str, Any], **systems: str) -> list[dict[str, Any]]:
    """A trace of the sets and systems of the random runs; ``systems`` are idle, Manual or Broken at first."""
    first = {s: {"usage": how} if how == "idle" else {"condition": how} for s, how in systems.items()}
    known = {s: {**facts, **first.get(s, {})} for s, facts in WRITTEN_HEADER["systems"].items()}
    return [{**WRITTEN_HEADER, "systems": known}, *changes_]


def recipe(name: str, status: str, **more: Any) -> dict[str, Any]:
    return {"recipe": name, "status": status, **more}


QUEUED = [recipe("R:1", "queued"), recipe("R:2", "queued"), recipe("R:3", "queued"), recipe("R:4", "queued")]
PROVISIONED = [
    recipe("R:2", "scheduled", system="b"),
    recipe("R:1", "scheduled", system="a"),
    *(recipe(r, "waiting") for r in ("R:1", "R:2", "R:3")),
]
RUNNING = [recipe("R:1", "installing"), recipe("R:1", "running")]


class TestChanges:
    @each_row(
        "trace",
        [
            run(*QUEUED, *PROVISIONED, *RUNNING, recipe("R:3", "installing")),
            run(*QUEUED, *PROVISIONED, *RUNNING, recipe("R:1", "completed", system=None), recipe("R:3", "aborted")),
            run(recipe("R:2", "scheduled", system="b"), {"recipe": "R:1", "status": "assigned"}, b="idle"),
            run(*QUEUED, {"recipe_set": "RS:2", "priority": 1}, recipe("R:4", "scheduled", system="b")),
            run({"system": "c", "condition": "Broken"}, {"system": "c", "usage": "idle"}),
            run({"system": "a", "usage": "waiting"}, {"system": "a", "usage": "installing"}, a="Manual"),
            run(*QUEUED, {"crash": True}, *PROVISIONED),
            run({"recipe": "R:1", "status": "new"}, recipe("R:1", "cancelled"), recipe("R:3", "cancelled")),
        ],
    )
    def test_conform(self, trace: list[dict[str, Any]], tmp_path: Path) -> None:
        report = check(trace, tmp_path)
        assert conforms(report), report.text()

    @pytest.mark.long
    @each_row(
        ("trace", "record", "reasons"),
        [
            (run(recipe("R:1", "waiting")), 1, ["begin needs for every r", "new"]),
            (run(*QUEUED, recipe("R:1", "scheduled", system="c")), 5, ["needs s in r.viable"]),
            (
                run(*QUEUED, {"recipe_set": "RS:2", "priority": 1}, recipe("R:2", "scheduled", system="b")),
                6,
                ["give_to_queued needs not (some q", "q = R:4: queued", "line 206"],
            ),
            (
                run(*QUEUED, recipe("R:1", "scheduled", system="a"), recipe("R:4", "scheduled", system="b")),
                6,
                ["give_to_queued needs not (some q: q assigned", "q = R:2: assigned", "line 206"],
            ),
            (run(*QUEUED, *PROVISIONED, recipe("R:3", "installing")), 10, ["install needs", "line 234"]),
            (run(*QUEUED, *PROVISIONED, recipe("R:1", "running")), 10, ["run needs r installing", "line 240"]),
            (run(*QUEUED, recipe("R:4", "scheduled", system="a")), 5, ["needs s in r.viable", "s = a: pending"]),
            (run(*QUEUED, *PROVISIONED, recipe("R:1", "queued")), 10, ["settle needs j searched"]),
            (
                run(*QUEUED, *PROVISIONED[:2], recipe("R:2", "waiting"), recipe("R:2", "scheduled", system="a")),
                8,
                ["R:2"],
            ),
            (run(recipe("R:4", "assigned")), 1, ["R:4.state is new in the model, assigned observed"]),
            (run({"system": "a", "usage": "waiting"}), 1, ["reserve needs s.condition = Manual"]),
            (
                run({"system": "a", "usage": "pending", "step": 1}, a="Broken"),
                1,
                ["automate(s=a), but it changes a too (condition from Broken to Automated)"],
            ),
            (
                run({"recipe": "R:2", "status": "scheduled", "system": "b", "step": 1}, b="idle"),
                1,
                [
                    "find_idle(r=R:2, s=b), but it changes R:1 too (state from new to assigned), which the record does not say"
                ],
            ),
            (run({**recipe("R:1", "queued"), "action": "cancel"}), 1, ["cancel", "R:1"]),
        ],
    )
    def test_nonconformances(
        self, trace: list[dict[str, Any]], record: int, reasons: list[str], tmp_path: Path
    ) -> None:
        at_record, reason = nonconformance(check(trace, tmp_path))
        assert at_record == record, reason
        for part in reasons:
            assert part in reason

    def test_a_search_that_overlooks_an_idle_system(self, tmp_path: Path) -> None:
        trace = run(recipe("R:2", "queued"), b="idle")
        record, reason = nonconformance(check(trace, tmp_path))
        assert record == 1 and "settle" in reason
        # What came in between makes it possible, where events are not handled alone.
        late = run(recipe("R:2", "queued"), {"system": "b", "usage": "pending"}, b="Broken")
        late.insert(1, {"system": "b", "condition": "Automated"})
        assert conforms(check(late, tmp_path, "interleaved"))

    def test_a_step_says_all_that_it_changed(self, tmp_path: Path) -> None:
        step = [recipe("R:2", "scheduled", system="b"), recipe("R:1", "assigned"), recipe("R:3", "assigned")]
        assert conforms(check(run(*({**x, "step": "t1"} for x in step), b="idle"), tmp_path))
        assert not conforms(check(run(*({**x, "step": "t1"} for x in step[:2]), b="idle"), tmp_path))

    def test_objects_may_be_named_as_they_come(self, tmp_path: Path) -> None:
        trace: list[dict[str, Any]] = [
            {"beaker": 1},
            {"system": "s", "usage": "idle"},
            {"recipe": "r", "viable": ["s"], "status": "new"},
            {"recipe": "r", "status": "scheduled", "system": "s"},
            {"system": "s", "usage": "scheduled"},
        ]
        assert conforms(check(trace, tmp_path))

    def test_unlogged_steps_are_bounded(self, tmp_path: Path) -> None:
        """Six sets are taken up and settled without a word before the seventh: more than the bound allows."""
        systems = {"s": {"usage": "idle"}}
        recipes = {f"r{n}": {"viable": ["s" if n == 6 else "t"]} for n in range(7)}
        queued = [recipe(f"r{n}", "queued") for n in range(6)]
        header = {"beaker": 1, "systems": {**systems, "t": {"condition": "Broken"}}, "recipes": recipes}
        assert conforms(check([header, *queued, recipe("r6", "scheduled", system="s")], tmp_path))
        skipped = [header, recipe("r6", "scheduled", system="s"), recipe("r5", "queued")]
        assert conforms(check(skipped, tmp_path))

    def test_too_many_states_are_undetermined(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(formats, "check_run", lambda start, records, **more: check_run(start, records, 3, **more))
        report = check(run(recipe("R:1", "queued"), recipe("R:2", "queued"), recipe("R:4", "queued")), tmp_path)
        assert report.verdict is LogVerdict.UNDETERMINED and "more than 3 states explain the trace" in report.note


def test_exactly_one_format_recognises_a_sample() -> None:
    for path in LOGS.iterdir():
        lines = read_text(path)
        recognised = [name for name, f in FORMATS.items() if f.recognises(lines)]
        assert len(recognised) == (0 if path.suffix == ".md" else 1), path.name


def test_the_table_of_formats() -> None:
    assert all(isinstance(f, Format) for each in systems().values() for f in entry.formats_of(each))
    assert list(FORMATS) == ["beaker", "beakerd", "beaker-messages", "schedproof", "otel", "itf"]


def test_the_examples_of_the_readme_conform(tmp_path: Path) -> None:
    text = (REFERENCE / "trace-formats.md").read_text("utf-8")
    text = text.partition("## Logs of Beaker")[2].partition("\n## ")[0]
    examples = [block.partition("\n")[2].partition("\n```")[0] for block in text.split("```")[1::2]]
    assert len(examples) == 3
    for example, name in zip(examples, FORMATS, strict=False):
        report = check(example.splitlines(), tmp_path)
        assert conforms(report) and report.format == name and report.records >= 4
