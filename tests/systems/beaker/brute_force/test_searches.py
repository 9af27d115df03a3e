"""What the recorded searches for deadlocks of recipe sets say, and that they are what they are said to be.

`searches` made them and wrote them down; here the small ones are made again, and the number of instances is
counted in another way.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import reduce
from itertools import permutations, product
from math import prod
from pathlib import Path

import pytest

from schedproof.proofs.cluster import Address, RemoteWorkers
from tests.proofs.cluster.local_hosts import LocalHosts
from tests.systems.beaker.brute_force import estimate, searches
from tests.systems.beaker.brute_force.deadlocks import ABBA, FINISHED_SIBLING, FORGOTTEN, LAB
from tests.systems.beaker.brute_force.patterns import Tally, instances, joined, orders, search
from tests.systems.beaker.brute_force.scheduler import AS_WRITTEN, ORDER, REPAIRED
from tests.systems.beaker.brute_force.searches import (
    REQUIRED,
    SEARCHES,
    Record,
    Search,
    Unusable,
    fingerprint,
    load,
    main,
    save,
)

NAMED = {of.name: of for of in SEARCHES}


@pytest.fixture(scope="module")
def record() -> Record:
    return load()


def tally_of(record: Record, name: str) -> Tally:
    assert name in NAMED, f"no such search: {name}"
    assert name in record.finished, (
        f"not searched yet: python -m tests.systems.beaker.brute_force.searches --only {name!r}"
    )
    return record.finished[name]


def recorded(record: Record, is_asked: Callable[[Search], bool]) -> dict[str, Tally]:
    """The finished searches among those, at least one."""
    tallies = {name: tally for name, tally in record.finished.items() if is_asked(NAMED[name])}
    assert tallies
    return tallies


# --- The record -----------------------------------------------------------------------------------------------------------


def test_every_required_search_is_recorded(record: Record) -> None:
    assert len(NAMED) == len(SEARCHES)
    assert [of.name for of in REQUIRED if of.name not in record.finished] == []
    assert set(record.finished) <= set(NAMED)


def instances_by_burnside(of: Search) -> int:
    """The classes of instances by Burnside's lemma: as many as the renamings leave instances as they are, on the average.

    A renaming moves the systems, labs kept together, and the recipes, sets kept together.  It leaves a choice of viable sets
    as it is if the choice for each recipe is the renamed choice for the one before it; so in a cycle of recipes of length n one
    choice, which n renamings leave as it is, gives the others.
    """
    systems, set_of = range(len(of.labs)), [s for s, size in enumerate(of.shape) for _ in range(size)]
    total = count = 0
    for p in permutations(systems):
        if any((of.labs[a] == of.labs[b]) != (of.labs[p[a]] == of.labs[p[b]]) for a in systems for b in systems):
            continue
        marks = sum(p[s] == s for s in systems) if of.one_adjustable else 1
        for q in permutations(range(len(set_of))):
            if any(
                (set_of[a] == set_of[b]) != (set_of[q[a]] == set_of[q[b]]) for a, b in product(range(len(q)), repeat=2)
            ):
                continue
            count += 1
            total += marks * prod((1 << len(cycles(power(p, len(cycle))))) - 1 for cycle in cycles(q))
    assert total % count == 0
    weak_orders = {1: 1, 2: 3, 3: 13}[len(of.shape)]  # Fubini's numbers: one of them is "all equal"
    return total // count * (weak_orders - 1 if of.unequal else 1)


def power(p: tuple[int, ...], n: int) -> tuple[int, ...]:
    result = tuple(range(len(p)))
    for _ in range(n):
        result = tuple(p[x] for x in result)
    return result


def cycles(p: tuple[int, ...]) -> list[list[int]]:
    orbits: list[list[int]] = []
    for first in range(len(p)):
        if not any(first in cycle for cycle in orbits):
            cycle = [first]
            while p[cycle[-1]] != first:
                cycle.append(p[cycle[-1]])
            orbits.append(cycle)
    return orbits


def test_burnside_by_hand() -> None:
    # Two recipes of one set on two systems, each on A, B or both: six choices whatever the order of the recipes.  A and B swapped
    # take A,A to B,B and A,AB to B,AB, and leave A,B and AB,AB as they are: four.  One of A and B marked: twelve, in pairs.
    assert instances_by_burnside(Search("repaired", (2,), (0, 0))) == 4
    assert instances_by_burnside(Search("repaired", (2,), (0, 0), one_adjustable=True)) == 6


def test_as_many_instances_were_searched_as_there_are(record: Record) -> None:
    for name, tally in record.finished.items():
        assert tally.instances == instances_by_burnside(NAMED[name]), name


@pytest.mark.parametrize("sets", [1, 2, 3])
def test_orders_are_all_the_weak_orders(sets: int) -> None:
    listed = orders(sets)
    compared = [tuple(a < b for a, b in product(ranks, repeat=2)) for ranks in listed]
    every = {tuple(a < b for a, b in product(ranks, repeat=2)) for ranks in product(range(5), repeat=sets)}
    assert listed[0] == (0,) * sets
    assert len(compared) == len(set(compared))
    assert set(compared) == every


def test_each_system_in_its_turn_is_the_one_that_people_touch() -> None:
    # one recipe, and a set of two, on A and B in one lab and C in another: A and B can be swapped, and nothing else
    swapped = [0, 2, 1, 3, 4, 6, 5, 7]

    def both(one: int, two: tuple[int, int], touched: int) -> frozenset[object]:
        other = (swapped[one], tuple(sorted(swapped[m] for m in two)), [1, 0, 2][touched])
        return frozenset({(one, tuple(sorted(two)), touched), other})

    every = {both(one, (a, b), s) for one, a, b, s in product(range(1, 8), range(1, 8), range(1, 8), range(3))}
    listed = list(instances((1, 2), [0, 0, 1], moves={"break"}, one_adjustable=True))
    assert [len(inst.adjustable) for inst in listed] == [1] * len(every)
    assert {both(inst.viable[0], (inst.viable[1], inst.viable[2]), *inst.adjustable) for inst in listed} == every


REPEATED = ["as-written 1+2 on 3"]
REPEATED_LONG = [
    "repaired 1+2 on 1+2",
    "as-written 2+2 on 3",
    "repaired 1+2 on 3, unequal priorities",
    "interleaved 2+2 on 3",
    "repaired 2+2 on 3",
    "as-written 2+3 on 3",
    "repaired 3+3 on 1+2",
    "as-written 1+1+2 on 3",
    "as-written 2+2 on 1+2, unequal priorities",
    "as-written 2+2 on 3, people break one system",
    "repaired 2+2 on 1+2",
]


@pytest.mark.parametrize(
    "name", REPEATED + [pytest.param(name, marks=pytest.mark.long(one_in=12)) for name in REPEATED_LONG]
)
def test_made_again_it_says_the_same(record: Record, name: str) -> None:
    of = NAMED[name]
    repeated = search(searches.VARIANTS[of.variant], of.instances())
    assert repeated == tally_of(record, name)


# --- What it says ---------------------------------------------------------------------------------------------------------


def test_repaired_has_no_deadlock_no_endless_wait_and_no_circle(record: Record) -> None:
    tallies = recorded(record, lambda of: of.variant == "repaired")
    pieces = {piece: tally for piece, tally in record.pieces.items() if piece.startswith("repaired ")}
    for name, tally in {**tallies, **pieces}.items():
        assert not tally.causes, name
        assert not tally.starved, name
        assert not tally.circles, name


def can_be_abba(of: Search) -> bool:
    """Whether there are a set of three and another that is not of one, and systems for three recipes in a lab.

    As written a system that was broken for a while is handed out a second time, so where one can be, two do for three.
    """
    *_, second, largest = sorted(of.shape)
    return second >= 2 and largest >= 3 and (largest_lab(of) >= 3 or bool({"break", "condition"} & set(of.moves)))


def largest_lab(of: Search) -> int:
    return max(of.labs.count(lab) for lab in of.labs)


def test_as_written_the_abba_takes_sets_of_three_and_of_several(record: Record) -> None:
    # Of the sets that wait for each other in a circle, take the one that was assigned last.  Its first system suited no recipe
    # that was assigned before (the assigned are served first, and no system that suits one of them is idle).  So what another
    # one wants of it is its second system, and it still waits for a third: it has three recipes, and the other one, which
    # holds one and waits for one, has two.  Priorities, people and a set that stands by change nothing of that.
    tallies = recorded(record, lambda of: of.variant == "as-written")
    for name, tally in tallies.items():
        assert (ABBA in tally.causes) == can_be_abba(NAMED[name]), name
    without = [NAMED[name] for name in tallies if not can_be_abba(NAMED[name])]
    assert {(of.shape, len(of.labs)) for of in without} >= {((2, 2), 3), ((2, 2), 4), ((1, 2, 2), 3), ((2, 2, 2), 3)}
    twos = {(len(of.labs), len(set(of.labs)), of.unequal, of.moves) for of in without if of.shape == (2, 2)}
    for systems, labs in product((3, 4), (1, 2)):
        assert twos >= {(systems, labs, *more) for more in ((False, ()), (True, ()), (False, ("priority",)))}
    assert twos >= {(*where, False, ("cancel",)) for where in ((3, 1), (3, 2), (4, 1))}
    assert twos >= {(*where, False, ("break",)) for where in ((3, 1), (3, 2))}


def test_as_written_the_shortest_abba_has_nine_steps(record: Record) -> None:
    tallies = recorded(record, lambda of: of.variant == "as-written" and can_be_abba(of) and largest_lab(of) >= 3)
    assert {(of.shape, len(of.labs)) for of in map(NAMED.__getitem__, tallies)} >= {((2, 3), 3), ((3, 3), 3)}
    assert {tally.causes[ABBA].steps for tally in tallies.values()} == {9}


@pytest.mark.long(one_in=9)
def test_as_written_a_set_of_two_of_higher_priority_locks_nobody() -> None:
    # then the system that suits an assigned recipe of each goes to it, and it begins
    assert ABBA not in search(AS_WRITTEN, instances((2, 3), [0] * 3, ranks=[(1, 0)])).causes


def test_interleaved_two_sets_of_two_deadlock_in_seven_steps(record: Record) -> None:
    # A set comes in hand and finds nothing, A becomes idle, the set is queued: four steps, and A suits it unobserved.  The other
    # set comes in hand, pending B goes to the first, and the other finds A: three.  It takes a lab of two systems, no more.
    tallies = recorded(record, lambda of: of.variant == "interleaved" and sum(size > 1 for size in of.shape) > 1)
    for name, tally in tallies.items():
        of = NAMED[name]
        if of.shape != (3, 3) or can_be_abba(of):
            assert tally.causes[ABBA].steps == 7, name


def test_wakeups_are_lost_only_if_an_event_is_not_handled_alone(record: Record) -> None:
    tallies = recorded(record, lambda of: of.variant != "repaired")
    for name, tally in tallies.items():
        assert (FORGOTTEN in tally.causes) <= (NAMED[name].variant == "interleaved"), name
    assert any(FORGOTTEN in tally.causes for tally in tallies.values())


def test_a_finished_recipe_blocks_its_set_only_by_peoples_doing(record: Record) -> None:
    for name, tally in recorded(record, lambda of: of.variant == "as-written").items():
        assert (FINISHED_SIBLING in tally.causes) == bool({"cancel", "break", "condition"} & set(NAMED[name].moves)), (
            name
        )


def test_a_lab_that_cannot_serve_a_set_takes_two_labs(record: Record) -> None:
    tallies = recorded(record, lambda of: of.variant != "repaired")
    for name, tally in tallies.items():
        assert (LAB in tally.causes) <= (len(set(NAMED[name].labs)) > 1), name
    assert any(LAB in tally.causes for tally in tallies.values())


# --- Searching ------------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_seeded_bug_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    of = Search("repaired", (2, 3), (0, 0, 0), parts=40)
    assert not of.run(0).causes
    monkeypatch.setitem(searches.VARIANTS, "repaired", REPAIRED.without(ORDER))
    assert ABBA in of.run(0).causes


@pytest.mark.long
def test_in_pieces_it_is_the_same() -> None:
    of = Search("as-written", (1, 2), (0, 0, 1), parts=3)
    whole = search(AS_WRITTEN, of.instances())
    assert len(whole.causes) > 1
    assert reduce(joined, [of.run(part) for part in (2, 0, 1)]) == whole


SMALL = [Search("as-written", (2,), (0, 0), parts=3), Search("repaired", (2,), (0, 0), moves=("crash",), parts=2)]


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(searches, "SEARCHES", SMALL)
    return tmp_path / "searches.json"


def test_broken_off_it_goes_on_where_it_was(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made: list[tuple[str, int]] = []

    def run_until_interrupted(of: Search, part: int) -> Tally:
        if len(made) == 2:
            raise KeyboardInterrupt
        made.append((of.name, part))
        return search(searches.VARIANTS[of.variant], of.instances(), part, of.parts)

    with monkeypatch.context() as patch:
        patch.setattr(Search, "run", run_until_interrupted)
        assert main(["--file", str(path)]) == 130
    assert made == [(SMALL[0].name, 0), (SMALL[0].name, 1)]
    assert "goes on from here" in capsys.readouterr().err
    main(["--list", "--file", str(path)])
    assert capsys.readouterr().out.splitlines() == [
        f"{SMALL[0].name}: 2 of 3 pieces",
        f"{SMALL[1].name}: not run",
    ]
    assert main(["--file", str(path)]) == 0
    assert [line.split("] ")[1].split(":")[0] for line in capsys.readouterr().out.splitlines()] == [
        SMALL[0].piece(2),
        SMALL[1].piece(0),
        SMALL[1].piece(1),
    ]
    assert load(path) == Record(
        {of.name: search(searches.VARIANTS[of.variant], of.instances()) for of in SMALL}, pieces={}
    )
    assert main(["--file", str(path)]) == 0
    assert capsys.readouterr().out == ""


def test_two_at_once_make_the_same(path: Path) -> None:
    assert main(["--workers", "2", "--file", str(path)]) == 0
    assert load(path).finished == {of.name: search(searches.VARIANTS[of.variant], of.instances()) for of in SMALL}


def test_workers_of_a_cluster_make_the_same(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also a piece whose worker was lost."""

    @contextmanager
    def connected(address: Address, report: Callable[[str], None]) -> Iterator[RemoteWorkers]:
        assert str(address) == "local:2"
        yield RemoteWorkers(hosts, report)

    hosts = LocalHosts(2, [2])
    monkeypatch.setattr(searches, "connected", connected)
    assert main(["--cluster", "local:2", "--file", str(path)]) == 0
    assert hosts.replaced == 1
    assert load(path).finished == {of.name: search(searches.VARIANTS[of.variant], of.instances()) for of in SMALL}


def test_one_can_be_chosen(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--only", "people crash", "--file", str(path)]) == 0
    assert list(load(path).finished) == [SMALL[1].name]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--only", "five sets"], "no search has 'five sets' in its name; --list shows the names"),
        (["--workers", "0"], "at least one process must search"),
    ],
)
def test_what_cannot_be_asked(
    arguments: list[str], message: str, path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main([*arguments, "--file", str(path)])
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err
    assert not path.exists()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"fingerprint": "0", "finished": {"x": {}}, "pieces": {}}'])
def test_a_file_of_something_else_is_left_alone(text: str, path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path.write_text(text)
    assert main(["--file", str(path)]) == 2
    assert f"{path} has no record of searches" in capsys.readouterr().err
    assert path.read_text() == text


def test_a_folder_that_is_not_there(tmp_path: Path, path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--file", str(tmp_path / "none" / "searches.json")]) == 2
    assert "none" in capsys.readouterr().err


def test_searches_of_other_schedulers_are_out_of_date(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save(Record({SMALL[0].name: SMALL[0].run(0)}, {}), path)
    path.write_text(path.read_text().replace(fingerprint(), "0" * 16))
    with pytest.raises(Unusable, match="have changed since"):
        load(path)
    assert main(["--file", str(path)]) == 2
    assert "--anew" in capsys.readouterr().err
    assert main(["--anew", "--file", str(path)]) == 0
    assert load(path).finished[SMALL[0].name].instances == instances_by_burnside(SMALL[0])


@pytest.mark.parametrize(
    ("source", "old", "new", "same"),
    [
        ("steps.py", "# The order of assignment stands", "# So the order of assignment stands", True),
        ("steps.py", '"""Rule 4: what executes', '"""By rule 4 what executes', True),
        ("steps.py", "PENDING if condition == AUTOMATED else IDLE", "PENDING", False),
        ("scheduler.py", "NONE = -1", "NONE = -2", False),
        ("deadlocks.py", "return SELF", "return ABBA", False),
        ("graph.py", "queue.popleft()", "queue.pop()", False),
        ("patterns.py", "candidate <= ", "candidate < ", False),
    ],
)
def test_the_fingerprint_is_of_what_the_code_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, old: str, new: str, same: bool
) -> None:
    before = fingerprint()
    for name in searches.SOURCES:
        shutil.copy(searches.FOLDER / name, tmp_path / name)
    text = (tmp_path / source).read_text()
    assert old in text
    (tmp_path / source).write_text(text.replace(old, new))
    monkeypatch.setattr(searches, "FOLDER", tmp_path)
    assert (fingerprint() == before) is same


# --- Estimates of what was not searched -----------------------------------------------------------------------------------


@pytest.mark.long
def test_estimates_count_every_pattern_and_scale_by_growth(record: Record) -> None:
    """By hand from the numbers of the record, for one lab; the patterns by Burnside's lemma."""
    [one_lab, *two_labs] = estimate.estimated(record, "repaired", (1, 1, 2))
    tallies = {size: record.finished[f"repaired 2+2 on {size}"] for size in (3, 4)}
    known = record.finished["repaired 1+1+2 on 3"]
    growth = (tallies[4].states / tallies[4].instances) / (tallies[3].states / tallies[3].instances)
    assert one_lab.patterns == instances_by_burnside(one_lab.search)
    assert one_lab.states == pytest.approx(one_lab.patterns * known.states / known.instances * growth)
    assert [each.search.name for each in two_labs] == ["repaired 1+1+2 on 1+3", "repaired 1+1+2 on 2+2"]
    assert all(each.patterns == instances_by_burnside(each.search) for each in two_labs)
