"""A thousand mutated copies of the recorded runs of real schedulers, checked by the validator and by brute force.

A field gets another legal value, a record is dropped, or two change places. The validator has to flag a copy if the search through
all that a hand-written model allows finds no explanation, and only then.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import pytest

from schedproof.proofs.traces import TraceError, check_trace
from tests.support import places
from tests.support.places import DATA
from tests.systems.hived.traces.test_mutations import checked_by_both
from tests.systems.yunikorn.traces.brute_force_walk import validate_walk
from tests.systems.yunikorn.traces.test_mutations import STATES

SHARED = places.SHARED / "traces"
OWN_SAMPLES = DATA
COUNTS = ("pending", "allocated", "allocatedPlaceholder", "asks", "allocations")


def samples(system: str) -> list[Path]:
    """Recorded runs, or walks; beside the project there are more of them than in it."""
    names = "walks-*.jsonl" if system == "yunikorn" and not SHARED.is_dir() else "*.jsonl"
    return sorted(((SHARED if SHARED.is_dir() else OWN_SAMPLES) / system).glob(names))


def mutated_walk(line: str, rng: random.Random) -> dict[str, object]:
    """A walk in which a field is flipped, a call dropped, or two are swapped."""
    walk = json.loads(line)
    steps = walk["steps"]
    one, two = rng.sample(range(len(steps)), 2)
    match rng.randrange(4):
        case 0:
            steps[one]["state"] = rng.choice([s for s in STATES if s != steps[one]["state"]])
        case 1:
            name = rng.choice(COUNTS)
            steps[one][name] = max(0, steps[one][name] + rng.choice([-1, 1]))
        case 2:
            steps.pop(one)
        case 3:
            steps[one], steps[two] = steps[two], steps[one]
    return dict(walk)


def explained(walk: dict[str, object]) -> bool:
    try:
        return validate_walk(walk) is None
    except (KeyError, ValueError):
        return False


def walks_checked_by_both(lines: list[str], numbers: range, scratch: Path) -> Counter[str]:
    verdicts: Counter[str] = Counter()
    for number in numbers:
        walk = mutated_walk(lines[number % len(lines)], random.Random(f"thousand {number}"))
        scratch.write_text(json.dumps(walk), "utf-8")
        try:
            report = check_trace("yunikorn", scratch)
        except TraceError:  # an ask that was never added, say: no trace at all
            assert not explained(walk), number
            verdicts["refused"] += 1
            continue
        record = report.first_nonconformance.record if report.first_nonconformance else None
        expected = validate_walk(walk)
        assert (str(report.verdict), record) == (("conforms", None) if expected is None else ("violates", expected)), (
            number
        )
        verdicts[str(report.verdict)] += 1
    return verdicts


@pytest.mark.long
def test_a_few_of_yunikorn(tmp_path: Path) -> None:
    lines = [line for path in samples("yunikorn") for line in path.read_text("utf-8").splitlines()]
    verdicts = walks_checked_by_both(lines, range(40), tmp_path / "walk")
    assert verdicts["violates"] >= 20 and verdicts["conforms"] >= 1, verdicts


@pytest.mark.long(one_in=12)
def test_a_thousand(tmp_path: Path) -> None:
    lines = [line for path in samples("yunikorn") for line in path.read_text("utf-8").splitlines()]
    verdicts = walks_checked_by_both(lines, range(1_000, 1_460), tmp_path / "walk")
    paths = samples("hived")
    for number, path in enumerate(paths):
        share = 540 // len(paths) + (number < 540 % len(paths))
        verdicts += checked_by_both(path, range(2_000, 2_000 + share), tmp_path / "trace")
    print(
        f"no explanation, and flagged: {verdicts['violates'] + verdicts['refused']}; explained, and not flagged: {verdicts['conforms']}"
    )
    assert verdicts.total() == 1000 and verdicts["undetermined"] == 0
    assert verdicts["violates"] >= 500 and verdicts["conforms"] >= 100
