"""Values that compute their hash once."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, replace

from schedproof.impl.hashed import hashed_once


class Counted:
    """A part of a value that counts how often it is hashed."""

    def __init__(self) -> None:
        self.hashed = 0

    def __hash__(self) -> int:
        self.hashed += 1
        return 1


@hashed_once
@dataclass(frozen=True)
class Value:
    part: object
    number: int = 0


def test_a_value_is_hashed_once() -> None:
    part = Counted()
    value = Value(part)
    assert hash(value) == hash(value) == hash(Value(part))
    assert part.hashed == 2  # once for each of the two values


def test_a_changed_copy_has_its_own_hash() -> None:
    value = Value("a")
    hash(value)
    assert hash(replace(value, number=1)) == hash(Value("a", 1)) != hash(value)


def test_a_hash_does_not_go_to_another_process() -> None:
    value = Value("a")
    hash(value)
    copy = pickle.loads(pickle.dumps(value))
    assert vars(copy) == {"part": "a", "number": 0}
    assert copy == value
