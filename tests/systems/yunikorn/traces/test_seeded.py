"""Seeded faults: a table with a row less or a row that leads elsewhere, a trigger that is missing, a rule of a format that is
not applied. The checks that share no code with the validator must disagree with each of them, on some log."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from schedproof.model.lang import Model
from schedproof.model.registry.discovery import systems
from schedproof.proofs.systems.yunikorn.traces import lives as yunikorn_lives
from schedproof.proofs.systems.yunikorn.traces import log as yunikorn_log
from schedproof.proofs.systems.yunikorn.traces import releases as yunikorn_releases
from schedproof.proofs.systems.yunikorn.traces import walks as yunikorn_walks
from schedproof.proofs.systems.yunikorn.traces.lives import Entry
from schedproof.proofs.systems.yunikorn.traces.releases import NAMES, Key, Table, releases_of
from schedproof.proofs.systems.yunikorn.traces.walk_objects import core_of
from schedproof.proofs.traces import check_trace
from schedproof.proofs.traces.files.lines import TextLine
from tests.systems.yunikorn.traces.brute_force import tables, validate_events, validate_log, validate_statelog
from tests.systems.yunikorn.traces.brute_force_walk import random_walk, validate_walk
from tests.systems.yunikorn.traces.logs import KINDS, events, log, statelog
from tests.systems.yunikorn.traces.test_mutations import mutate_events, mutate_log, mutate_statelog, mutate_walk

Case = tuple[str, Callable[[], tuple[str, int | None, tuple[str, ...]]]]


def cases(kind: str, seeds: range) -> Iterator[Case]:
    """Logs of a kind, mutated or not, each with what the check by hand says."""
    for seed in seeds:
        rng = random.Random(f"seeded {kind} {seed}")
        if kind == "statelog":
            applications = statelog(seed)
            for _ in range(seed % 3):
                mutate_statelog(applications, rng)
            text = json.dumps(applications)
            yield text, lambda text=text: validate_statelog(text)
        elif kind == "events":
            records = events(seed)
            for _ in range(seed % 3):
                mutate_events(records, rng)
            lines = [json.dumps(record) for record in records]
            yield "\n".join(lines), lambda lines=lines: validate_events(lines)
        else:
            lines = log(seed)
            for _ in range(seed // 3 % 3):
                mutate_log(lines, rng)
            yield "\n".join(lines), lambda lines=lines: validate_log(lines)


def caught(kinds: Sequence[str], tmp_path: Path, most: int = 600) -> bool:
    """Some log is checked otherwise than by hand."""
    path = tmp_path / "trace"
    for kind in kinds:
        for text, by_hand in cases(kind, range(most)):
            path.write_text(text, "utf-8")
            report = check_trace("yunikorn", path)
            record = report.first_nonconformance.record if report.first_nonconformance else None
            if (report.verdict.value, record, tuple(report.releases)) != by_hand():
                return True
    return False


def seeded_rows(model: Model) -> list[tuple[str, Key, Callable[[Table], Table]]]:
    """Every row of every release: gone, or leading to the next state of its machine."""
    faults: list[tuple[str, Key, Callable[[Table], Table]]] = []
    for release in releases_of(model):
        for key, target in release.rows.items():

            def less(table: Table, key=key, name=release.name) -> Table:  # type: ignore[no-untyped-def]
                return Table(table.name, {k: v for k, v in table.rows.items() if k != key or table.name != name})

            faults.append((f"{release.name} {' '.join(key)} gone", key, less))
            states = [s.name for s in model.machine(key[0]).states]
            other = states[(states.index(target) + 1) % len(states)]

            def elsewhere(table: Table, key=key, name=release.name, other=other) -> Table:  # type: ignore[no-untyped-def]
                return Table(table.name, {**table.rows, key: other}) if table.name == name else table

            faults.append((f"{release.name} {' '.join(key)} to {other}", key, elsewhere))
    return faults


Change = tuple[Entry, tuple[str, int | None, tuple[str, ...]]]


@pytest.fixture(scope="module")
def every_change() -> list[Change]:
    """Each machine's every source, event and target, alone in a log, with what the check by hand says."""
    lines = []
    for kind, (message, names) in KINDS.items():
        table = tables("1.0-1.5")[kind]
        states = sorted({s for s, _ in table} | set(table.values()) | ({"Expired"} if kind == "Application" else set()))
        for source, event, target in product(states, sorted({e for _, e in table}), states):
            fields = {**dict.fromkeys(names, "x"), "source": source, "destination": target, "event": event}
            lines.append(f"x\t{message}\t{json.dumps(fields)}")
    numbered = [TextLine("log", number, line) for number, line in enumerate(lines, start=1)]
    entries, _ = yunikorn_log._read(systems()["yunikorn"].variants["v0.12.2"], numbered)
    return [(replace(e, number=1, line=1), validate_log([line])) for e, line in zip(entries, lines, strict=True)]


def verdict(releases: Sequence[Table], entry: Entry) -> tuple[str, int | None, tuple[str, ...]]:
    validation = yunikorn_lives.Lives(systems()["yunikorn"].variants["v0.12.2"], releases, [entry]).check()
    nonconformance = validation.nonconformance
    return validation.verdict.value, nonconformance.record if nonconformance else None, tuple(validation.releases)


@pytest.mark.long
@pytest.mark.parametrize("one_in", [5, pytest.param(1, marks=pytest.mark.long)])
def test_every_change_alone(every_change: list[Change], one_in: int) -> None:
    releases = releases_of(systems()["yunikorn"].variants["v0.12.2"])
    assert len(every_change) == 11 * 6 * 11 + 3 * 3 * 3 + 13 * 15 * 13 + 10 * 9 * 10 + 6 * 6 * 6 + 6 * 6 * 6
    assert [entry for entry, by_hand in every_change[::one_in] if verdict(releases, entry) != by_hand] == []


@pytest.mark.long
def test_every_wrong_row(every_change: list[Change]) -> None:
    """One is as good as right: that Running stays Running is never logged, so its row may be missing."""
    model = systems()["yunikorn"].variants["v0.12.2"]
    of_source: dict[tuple[str, str], list[Change]] = {}
    for entry, by_hand in every_change:
        source = "Allocated" if entry.source == "TaskAllocated" else entry.source
        of_source.setdefault((entry.sort, source), []).append((entry, by_hand))
    survivors = []
    seeded = seeded_rows(model)
    for name, (sort, _, source), change in seeded:
        changed = [change(table) for table in releases_of(model)]
        if all(verdict(changed, entry) == by_hand for entry, by_hand in of_source[sort, source]):
            survivors.append(name)
    assert survivors == [f"{release} Application runApplication Running gone" for release in NAMES]
    assert len(seeded) > 500


RULES_OF_FORMATS: dict[str, tuple[str, Callable[[pytest.MonkeyPatch], None]]] = {
    "an older application cannot come again": (
        "log",
        lambda patch: patch.setattr(yunikorn_lives, "ENDED", {**yunikorn_lives.ENDED, "Application": frozenset()}),
    ),
    "a node cannot come again": (
        "log",
        lambda patch: patch.setattr(yunikorn_lives, "RENEWED", frozenset({"ShimScheduler"})),
    ),
    "anything may come again": (
        "log",
        lambda patch: patch.setattr(yunikorn_lives, "RENEWED", frozenset({"Application", "ShimNode", "ShimScheduler"})),
    ),
    "queues begin in New": ("log", lambda patch: patch.setattr(yunikorn_lives, "FIRST", {"Node": "there"})),
    "loops of applications are allowed": (
        "log",
        lambda patch: patch.setattr("schedproof.proofs.systems.yunikorn.traces.log.LOOPS", {}),
    ),
    "lives go on from anything": (
        "events",
        lambda patch: patch.setattr(yunikorn_lives.Lives, "begins_anew", lambda self, entry, state: True),
    ),
    "all releases have a state log": (
        "statelog",
        lambda patch: patch.setattr("schedproof.proofs.systems.yunikorn.traces.state_log.SINCE_1_0", (frozenset(), "")),
    ),
    "all releases have an empty one": (
        "statelog",
        lambda patch: patch.setattr(
            "schedproof.proofs.systems.yunikorn.traces.state_log.UP_TO_1_3", (frozenset(NAMES[1:]), "")
        ),
    ),
    "all releases leave it out": (
        "statelog",
        lambda patch: patch.setattr(
            "schedproof.proofs.systems.yunikorn.traces.state_log.BEFORE_1_0", (frozenset(), "")
        ),
    ),
    "nodes are not checked": (
        "events",
        lambda patch: patch.setattr("schedproof.proofs.systems.yunikorn.traces.events.NODE", 99),
    ),
    "Rejected is written as Resuming": (
        "events",
        lambda patch: patch.setitem(
            __import__("schedproof.proofs.systems.yunikorn.traces.events", fromlist=["STATES"]).STATES, 202, "Resuming"
        ),
    ),
    "releases do not change": (
        "log",
        lambda patch: patch.setattr(yunikorn_releases, "SINCE_1_6", {}),
    ),
}


BY_DEFAULT = (
    "anything may come again",
    "lives go on from anything",
    "all releases leave it out",
    "releases do not change",
)


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[] if n in BY_DEFAULT else [pytest.mark.long]) for n in RULES_OF_FORMATS]
)
def test_rules_of_formats(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kind, plant = RULES_OF_FORMATS[name]
    plant(monkeypatch)
    assert caught([kind], tmp_path)


@pytest.mark.long
def test_without_a_bug_nothing_is_caught(tmp_path: Path) -> None:
    assert not any(caught([kind], tmp_path, most=600) for kind in ("statelog", "events", "log"))


# --- Triggers: what fires what, in walks

TRIGGERS = (
    "an ask wakes its application",
    "an allocation moves its application on",
    "the last placeholder of a gang moves its application on",
    "without placeholders a Resuming application goes on",
    "without its last ask an application completes",
    "without its last container an application completes",
    "without its last placeholder an application whose time is over is completed",
    "without its last placeholder a Failing application has failed",
    "a time-out ends Completing",
    "a time-out of Completing waits for placeholders",
    "the first placeholder arms the gang's timer",
    "the last placeholder stops the gang's timer",
    "a hard gang fails",
    "a soft gang resumes",
    "a gang that has not begun drops its asks",
)


def walk_is_caught(tmp_path: Path, most: int) -> bool:
    path = tmp_path / "trace"
    for seed in range(most):
        walk = random_walk(seed)
        if seed % 3 == 2 and walk["steps"]:
            mutate_walk(walk, random.Random(f"seeded walk {seed}"))
        path.write_text(json.dumps(walk), "utf-8")
        report = check_trace("yunikorn", path)
        if (report.first_nonconformance.record if report.first_nonconformance else None) != validate_walk(walk):
            return True
    return False


def without(rule: str) -> Callable[[Model], Model]:
    def seeded(model: Model) -> Model:
        core = core_of(model)
        assert rule in {r.name for r in core.rules}, rule
        return replace(core, rules=[r for r in core.rules if r.name != rule])

    return seeded


@pytest.mark.parametrize("rule", [TRIGGERS[4], TRIGGERS[13]])
def test_a_trigger_is_missing(rule: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yunikorn_walks, "core_of", without(rule))
    assert walk_is_caught(tmp_path, 60)


@pytest.mark.long(one_in=18)
@pytest.mark.parametrize("rule", TRIGGERS)
def test_any_trigger_is_missing(rule: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yunikorn_walks, "core_of", without(rule))
    assert walk_is_caught(tmp_path, 1200)
