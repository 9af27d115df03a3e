"""Every mutant of the repaired locks, and of the fixed deadlocks, is caught, or there is a reason why nothing can see it.

A mutant has one slip: a lock less, one for reading instead of writing or the other way round, one that changes places with its
neighbour, one that is kept too long, a step or a row less, callers that hold less. It is caught if a check fails, or if the
description is refused. Of the repaired locks the operations are checked, at any depth, and the threads left out: they only do these
operations. The default run checks all mutants of the deadlocks and one in sixty of the repaired locks, drawn by their names;
the long one one in ten, others each day.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import cache

import pytest

from schedproof.model.locks import read
from schedproof.proofs.locks.model_check import model_check
from schedproof.proofs.verdict import Verdict
from tests.support.places import MODELS
from tests.support.sample import thinned, todays
from tests.systems.yunikorn_merge.locks.mutants import (
    KEPT,
    ROW,
    STRONGER,
    SWAPPED,
    WEAKER,
    WITHOUT_HALF,
    WITHOUT_LOCK,
    WITHOUT_STEP,
    Mutant,
    caught,
    mutants,
)

FOLDER = MODELS / "yunikorn_merge"
FIXED = sorted(file.stem for file in (FOLDER / "deadlocks").glob("*-fixed.yaml"))

# Every check says what must not happen at a step, or how long a thread may wait. So nothing can be seen of less of what needs
# locks, or of a lock that allows more. What an operation has to change, to call and to send only the document says, and
# test_document compares; what it has to read is our reading, and nothing compares it.
EVERYWHERE = {
    WITHOUT_STEP: "what is not done needs no lock",
    STRONGER: "who may write may read, and the order is one of locks, however they are held",
}
# The deadlocks have no rules: only who is in the way of whom is checked.
IN_DEADLOCKS = {
    WITHOUT_LOCK: "no locks are nested that were not nested before, and so no circle comes of it",
    WEAKER: "no locks are nested that were not nested before, and so no circle comes of it",
}

STEP_BY_STEP = "the order is closed, and other rows lead there"
ACQUIRES_NOTHING = "what follows acquires nothing"
ONE_AT_A_TIME = "another thread that holds one of the two holds no other, or releases it first"

LISTED: Mapping[str, Mapping[str, str]] = {
    "repaired": {
        f"{ROW}: Partition > Application in it": STEP_BY_STEP,
        f"{ROW}: Partition > Node in it": STEP_BY_STEP,
        f"delete_queue 1: {KEPT}": ACQUIRES_NOTHING,
        f"remove_alloc 1: {KEPT}": ACQUIRES_NOTHING,
        f"unreserve_alloc 1: {KEPT}": ACQUIRES_NOTHING,
        f"remove_alloc 3: {WITHOUT_HALF}": "no operation waits for the message",
    },
    "yunikorn-2543-fixed": {
        f"responses 1, 2: {SWAPPED}": ONE_AT_A_TIME,
        f"shim 1: {SWAPPED}": ONE_AT_A_TIME,
    },
    "yunikorn-2630-fixed": {
        f"shim 3: {WITHOUT_HALF}": "no thread waits for the answer to be taken: there is room for it",
    },
    "yunikorn-2806-fixed": {f"scheduler 1: {SWAPPED}": "there is one thread, and it acquires two locks"},
    "yunikorn-481-fixed": {
        f"events 1, 2: {SWAPPED}": ONE_AT_A_TIME,
        f"scheduler 1: {SWAPPED}": ONE_AT_A_TIME,
    },
}


@cache
def named(name: str) -> Mapping[str, Mutant]:
    """The mutants of a description by name."""
    if name == "repaired":
        locks = replace(read(FOLDER / "locks" / "repaired.yaml"), threads={})
    else:
        locks = read(FOLDER / "deadlocks" / f"{name}.yaml")
    mutants_of_it = list(mutants(locks))
    assert len({mutant.name for mutant in mutants_of_it}) == len(mutants_of_it)
    return {mutant.name: mutant for mutant in mutants_of_it}


def reason(name: str, mutant: Mutant) -> str:
    """Why nothing can see a mutant; empty if something has to."""
    by_kind = EVERYWHERE if name == "repaired" else EVERYWHERE | IN_DEADLOCKS
    return by_kind.get(mutant.kind, "") or LISTED.get(name, {}).get(mutant.name, "")


def check(name: str, chosen: Collection[Mutant]) -> int:
    """Each of these mutants is caught, or not if there is a reason; how many they are."""
    for mutant in chosen:
        seen = caught(mutant, threads=name != "repaired")
        assert bool(seen) != bool(reason(name, mutant)), f"{mutant.name}: {seen or 'not caught'}"
    return len(chosen)


@pytest.mark.long
def test_one_mutant_in_sixty_of_the_repaired_locks_is_caught() -> None:
    assert check("repaired", [m for m in named("repaired").values() if zlib.crc32(m.name.encode()) % 60 == 0]) > 3


@pytest.mark.long(one_in=9)
def test_mutants_of_the_repaired_locks_are_caught() -> None:
    """One in ten; others each day."""
    assert check("repaired", todays(named("repaired").values(), 10)) > 15


@pytest.mark.parametrize("name", thinned(FIXED, 3, first=1))
def test_mutants_of_a_fixed_deadlock_are_caught(name: str) -> None:
    assert check(name, named(name).values()) > 3


def test_what_is_listed_is_a_mutant() -> None:
    for name, mutants_ in LISTED.items():
        assert mutants_.keys() <= named(name).keys()


def test_a_lock_kept_as_before_its_fix_deadlocks_again() -> None:
    """Those whose fix is to let go before the next step: by one slip the deadlock is back."""
    for name, slip in (
        ("core-50-fixed", "events 1"),
        ("yunikorn-2543-fixed", "responses 1"),
        ("yunikorn-2548-fixed", "inc_allocated 1"),
    ):
        mutant = named(name)[f"{slip}: {KEPT}"]
        (answer,) = model_check(mutant.locks, only=["no-deadlock"]).answers
        assert answer.verdict is Verdict.REFUTED
        assert caught(mutant, threads=True) == "derived-order-is-acyclic"
