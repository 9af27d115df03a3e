"""Mutated logs of Beaker, checked by the validator and by a brute-force search that shares no code with it.

The originals are random runs of the models. Validator and search must agree on the verdict and on the record.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from schedproof.model.systems.beaker.shipped.machines import STATUSES
from schedproof.proofs.systems.beaker.traces import changes as beaker_changes
from schedproof.proofs.systems.beaker.traces import daemon_log as beakerd
from schedproof.proofs.systems.beaker.traces import messages as beaker_messages
from schedproof.proofs.traces import LogVerdict, TraceError, check_trace
from schedproof.proofs.traces.engine import explain
from tests.support.sample import thinned
from tests.systems.beaker.brute_force.changes import validate_changes
from tests.systems.beaker.brute_force.daemon_log import validate_log
from tests.systems.beaker.brute_force.shipped import validate_messages
from tests.systems.beaker.traces.logs import beakerd_log, changes, messages

Lines = list[str]
Mutation = Callable[[Lines, random.Random], str]
Checker = Callable[[Lines], tuple[str, int | None]]


def dropped(lines: Lines, rng: random.Random) -> str:
    """A line is missing."""
    return f"dropped {lines.pop(rng.randrange(1, len(lines)))}"


def repeated(lines: Lines, rng: random.Random) -> str:
    """A line comes again, at once or later."""
    at = rng.randrange(1, len(lines))
    lines.insert(rng.choice([at, rng.randrange(at, len(lines))]) + 1, lines[at])
    return f"repeated {lines[at]}"


def swapped(lines: Lines, rng: random.Random) -> str:
    """Two lines change places, half of the time neighbours."""
    one = rng.randrange(1, len(lines) - 1)
    two = one + 1 if rng.random() < 0.5 else rng.randrange(one + 1, len(lines))
    lines[one], lines[two] = lines[two], lines[one]
    return f"swapped {lines[two]} and {lines[one]}"


def _edited(lines: Lines, rng: random.Random, pattern: str, values: Sequence[str]) -> str:
    """A part of a line becomes another value of its kind."""
    places = [(n, m) for n, line in enumerate(lines) if n for m in re.finditer(pattern, line)]
    if not places:
        return dropped(lines, rng)
    n, match = rng.choice(places)
    new = rng.choice([v for v in values if v != match.group()])
    lines[n] = lines[n][: match.start()] + new + lines[n][match.end() :]
    return f"line {n} says {new}"


def other_recipe_in_log(lines: Lines, rng: random.Random) -> str:
    return _edited(lines, rng, r"(?<= )(?:11|12|13|21)(?= |$)", ["11", "12", "13", "21"])


def other_system_in_log(lines: Lines, rng: random.Random) -> str:
    return _edited(lines, rng, r"\b[abc]\.example\.com", [f"{x}.example.com" for x in "abc"])


def other_move_in_log(lines: Lines, rng: random.Random) -> str:
    moves = ["New to Processed", "New to Aborted", "Processed to Queued", "Queued to Scheduled", "Queued to Aborted"]
    return _edited(lines, rng, r"[A-Z]\w+ to [A-Z]\w+", [*moves, "Queued to Running", "Running to Completed"])


def other_set_in_log(lines: Lines, rng: random.Random) -> str:
    return _edited(lines, rng, r"\bRS:[12]", ["RS:1", "RS:2"])


def other_recipe_in_message(lines: Lines, rng: random.Random) -> str:
    message = json.loads(lines[at := rng.randrange(1, len(lines))])
    part = message.get("body") or message.get("header") or message
    others = [x for x in ("R:11", "R:12", "R:13", "R:21") if x != (part.get("t_id") or part["id"])]
    lines[at] = json.dumps({"id": rng.choice(others), "state": part.get("status") or part["state"]})
    return f"line {at} is {lines[at]}"


def other_status_in_message(lines: Lines, rng: random.Random) -> str:
    message = json.loads(lines[at := rng.randrange(1, len(lines))])
    part = message.get("body") or message.get("header") or message
    statuses = ["Waiting", "Installing", "Running", "Reserved", "Completed", "Cancelled", "Aborted", "Scheduled"]
    lines[at] = json.dumps({"t_id": part.get("t_id") or part["id"], "status": rng.choice(statuses)})
    return f"line {at} is {lines[at]}"


def _field(lines: Lines, rng: random.Random, key: str, values: Sequence[Any], owner: str = "") -> str:
    """A field of a change becomes another value."""
    places = [n for n, x in enumerate(map(json.loads, lines)) if n and key in x and (not owner or owner in x)]
    if not places:
        return dropped(lines, rng)
    change = json.loads(lines[at := rng.choice(places)])
    change[key] = rng.choice([v for v in values if v != change[key]])
    lines[at] = json.dumps(change)
    return f"line {at} is {lines[at]}"


def other_status(lines: Lines, rng: random.Random) -> str:
    statuses = [
        "new",
        "queued",
        "assigned",
        "scheduled",
        "waiting",
        "installing",
        "running",
        "completed",
        "cancelled",
        "aborted",
    ]
    return _field(lines, rng, "status", statuses)


def other_system(lines: Lines, rng: random.Random) -> str:
    return _field(lines, rng, "system", ["a", "b", "c"], rng.choice(["recipe", "usage", ""]))


def other_recipe(lines: Lines, rng: random.Random) -> str:
    return _field(lines, rng, "recipe", ["R:1", "R:2", "R:3", "R:4"])


def other_usage(lines: Lines, rng: random.Random) -> str:
    return _field(lines, rng, "usage", ["idle", "pending", "scheduled", "waiting", "installing", "running"])


def other_condition(lines: Lines, rng: random.Random) -> str:
    return _field(lines, rng, "condition", ["Automated", "Manual", "Broken"])


def other_priority_or_lab(lines: Lines, rng: random.Random) -> str:
    return _field(lines, rng, *rng.choice([("priority", [0, 1, 0]), ("lab", ["brno", "boston"])]))


def a_crash(lines: Lines, rng: random.Random) -> str:
    lines.insert(at := rng.randrange(1, len(lines)), '{"crash": true}')
    return f"a crash before line {at}"


COMMON: list[Mutation] = [dropped, repeated, swapped]
IN_LOGS = [*COMMON, other_recipe_in_log, other_system_in_log, other_move_in_log, other_set_in_log]
IN_MESSAGES = [*COMMON, other_recipe_in_message, other_status_in_message]
IN_CHANGES = [*COMMON, other_status, other_system, other_recipe, other_usage, other_condition, other_priority_or_lab]
IN_CHANGES.append(a_crash)
IN_STEPS = [*IN_CHANGES[3:9], dropped]  # a swap or a repetition would tear steps apart


def checked_by_both(
    original: Callable[[int], Lines], mutations: Sequence[Mutation], check: Checker, runs: range, scratch: Path
) -> Counter[str]:
    """Checks each mutation of each run by both checks and counts the verdicts."""
    verdicts: Counter[str] = Counter()
    for seed in runs:
        unchanged = original(seed)
        if len(unchanged) < 4:
            continue
        for number, mutation in enumerate(mutations):
            lines = list(unchanged)
            done = mutation(lines, random.Random(f"{seed} {number}"))
            scratch.write_text("\n".join(lines) + "\n", "utf-8")
            try:
                report = check_trace("beaker", scratch)
            except TraceError as error:  # the mutation left no trace at all: one step says two things
                if "has two values in one step" not in str(error):
                    raise
                continue
            assert report.verdict is not LogVerdict.UNDETERMINED
            record = report.first_nonconformance.record if report.first_nonconformance else None
            assert (str(report.verdict), record) == check(lines), f"run {seed}: {done}"
            verdicts[report.verdict] += 1
    return verdicts


CASES: dict[str, tuple[Callable[[int], Lines], Sequence[Mutation], Checker]] = {
    "beakerd": (beakerd_log, IN_LOGS, lambda x: validate_log("\n".join(x))),
    "messages": (messages, IN_MESSAGES, validate_messages),
    "messages without sets": (lambda n: messages(n, with_sets=False), IN_MESSAGES, validate_messages),
    "changes": (lambda n: changes(n, grouped=False), IN_CHANGES, validate_changes),
    "changes without usage": (lambda n: changes(n, grouped=False, usage=False), IN_CHANGES, validate_changes),
    "steps": (changes, IN_STEPS, validate_changes),
}


@pytest.mark.parametrize(
    ("case", "runs", "nonconforming", "conforming"),
    [
        ("beakerd", range(3), 6, 3),
        pytest.param("messages", range(3), 3, 2, marks=pytest.mark.long),
        ("messages without sets", range(100, 103), 2, 2),
        pytest.param("changes", range(1), 2, 1, marks=pytest.mark.long),
        pytest.param("changes without usage", range(1), 2, 1, marks=pytest.mark.long),
        pytest.param("steps", range(200, 203), 6, 1, marks=pytest.mark.long),
    ],
)
def test_mutants_are_checked_alike(case: str, runs: range, nonconforming: int, conforming: int, tmp_path: Path) -> None:
    verdicts = checked_by_both(*CASES[case], runs, tmp_path / "mutant")
    # The comparison says little if nearly all mutants are checked the same way.
    assert verdicts["violates"] >= nonconforming and verdicts["conforms"] >= conforming


@pytest.mark.long(one_in=12)
@pytest.mark.parametrize("case", CASES)
def test_many_mutants_are_checked_alike(case: str, tmp_path: Path) -> None:
    checked_by_both(*CASES[case], range(1000, 1010), tmp_path / "mutant")


def _anything(*_: object) -> bool:
    return True


SEEDED = [
    ("beakerd", beakerd, "AROUND", 0, range(6)),
    ("beakerd", beakerd._Reader, "opens", _anything, range(3)),
    ("beakerd", beakerd._Reader, "around", lambda self, systems: [], range(6)),
    ("messages", beaker_messages, "SEVERITY", STATUSES, range(6)),
    ("messages", beaker_messages, "A_RECIPE_AT_MOST", 0, range(6)),
    ("messages", beaker_messages, "STEPS", {**beaker_messages.STEPS, "waiting": ("boot",)}, range(6)),
    ("messages", beaker_messages._Reader, "never_sent", lambda self, m: "", range(6)),
    ("changes", beaker_changes, "UNLOGGED", 1, range(3)),
    ("changes", beaker_changes, "SILENT", ("take_up", "search_ends"), range(3)),
    ("steps", explain.Explainer, "fits", _anything, range(200, 204)),
]


@pytest.mark.parametrize(
    ("case", "where", "name", "bug", "runs"),
    thinned(SEEDED, 6),
    ids=[f"{p[0]}-{p[2]}-{n}" for n, p in enumerate(SEEDED)],
)
def test_a_seeded_bug_of_the_validator_is_found(
    case: str, where: Any, name: str, bug: object, runs: range, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The comparison with the brute-force search is no formality."""
    monkeypatch.setattr(where, name, bug)
    with pytest.raises(AssertionError, match="run "):
        checked_by_both(*CASES[case], runs, tmp_path / "mutant")
