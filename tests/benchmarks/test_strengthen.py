"""The table of what is inferred again: the clauses of what people wrote, and the summary of all variants."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from benchmarks.strengthen import Line, clauses, main, write_own
from schedproof.model.lang import NONE, Invariant, exists, forall, iff, implies
from schedproof.model.lang import terms as t
from tests.proofs.strengthen.protocols import LEASES

w, lease = LEASES.actions[0].parameters
FREE, NOBODY, ITS = lease.is_("Free"), lease.holder == NONE, lease.holder == w
CALM = lease.mood == "calm"


@pytest.mark.parametrize(
    ("given", "then", "count"),
    [
        (None, FREE, 1),
        (FREE, NOBODY, 1),
        (FREE & ITS, NOBODY | w.is_("Idle"), 1),
        (FREE, NOBODY & w.is_("Idle"), 2),
        (FREE | ITS, NOBODY & w.is_("Idle"), 4),
        (None, implies(FREE, NOBODY) & implies(~FREE, ~NOBODY), 2),
        (None, iff(FREE, NOBODY), 2),
        (ITS, implies(FREE, NOBODY) & implies(CALM, w.is_("Idle")), 2),
        (CALM | (lease.mood == "busy"), NOBODY, 1),
        (CALM | ITS, NOBODY, 2),
        (None, (lease.mood != "calm") & (lease.mood != "busy"), 1),
        (None, (lease.count >= 1) & (lease.count <= 2), 1),
        (None, (lease.count >= 1) & (lease.count <= lease.most), 2),
        (None, FREE & CALM, 2),
        (None, (CALM & NOBODY) | FREE, 2),
        (None, exists(w, ITS & w.is_("Idle")), 1),
        (None, forall(w, ~ITS & w.is_("Idle")), 2),
        (exists(w, ITS | w.is_("Idle")), FREE, 2),
        (~(FREE & ITS), NOBODY, 2),
    ],
)
def test_clauses_of_an_invariant(given: t.Term | None, then: t.Term, count: int) -> None:
    assert clauses(Invariant(name="some", says="some", over=[w, lease], given=given, then=then)) == count


def line(asked: int, more: list[tuple[int, int]], failures: list[str]) -> Line:
    return Line(f"| of {asked} |", failures, asked, more, 2.0)


def test_the_summary_is_of_all_variants(capsys: pytest.CaptureFixture[str]) -> None:
    write_own([line(3, [(-1, -2), (1, 0)], ["- one: no clause"]), line(1, [(0, -4)], [])])
    shown = capsys.readouterr()
    assert "| of 3 |\n| of 1 |\n" in shown.out
    assert "- one: no clause" in shown.out and "- one: no clause" in shown.err
    assert "3 of 4 proved again (75.0%)" in shown.out
    assert "4 s of processor time, median +0 invariants and -2 clauses" in shown.out


def test_an_error_leaves_the_summary_of_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    def lines() -> Iterator[Line]:
        yield line(2, [(0, 0)], [])
        raise ValueError("a process")

    with pytest.raises(ValueError, match="a process"):
        write_own(lines())
    assert "1 of 2 proved again" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "error"),
    [(["own", "hive"], "unknown system 'hive'; choose from jobmon"), (["own", "--jobs", "0"], "give at least 1")],
)
def test_bad_input_is_said_at_once(arguments: list[str], error: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(arguments)
    assert error in capsys.readouterr().err


@pytest.mark.long
def test_systems_are_measured_in_processes(capsys: pytest.CaptureFixture[str]) -> None:
    main(["own", "beaker", "hived", "--variant", "batch-restarted", "--variant", "as-written-without", "--jobs", "2"])
    shown = capsys.readouterr().out
    assert "| beaker | batch-restarted | 26 | 26 |" in shown
    assert "26 of 26 proved again" in shown
