"""The guide to stacks has an example with every word of a lock file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from schedproof.model.locks import parse
from schedproof.model.locks.language import Acquire, Either, Loop, Mode, Step, Where
from schedproof.model.locks.reading import KEYS
from tests.support.places import ROOT

PAGE = ROOT / "docs" / "howto" / "stacks.md"
NOT_SHOWN = {"about", "document", "amends", "drops", "refuted", "repairs", "together"}
"""Keys of whole files, which are not words of programs."""


def example() -> str:
    """The file words.yaml of the page."""
    match = re.search(r"<!-- file words.yaml -->\n```yaml\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert match is not None
    return match[1]


def steps_of(value: Any) -> Iterator[Step]:
    """All steps in a step, or in a list of steps."""
    if isinstance(value, tuple):
        for each in value:
            yield from steps_of(each)
    elif isinstance(value, Step):
        yield value
        for inner in vars(value).values():
            yield from steps_of(inner)


def test_every_step_and_key_is_in_the_example() -> None:
    text = example()
    locks = parse(text, "words.yaml")
    programs = [*locks.operations.values(), *locks.threads.values()]
    steps = [step for program in programs for step in steps_of(program.steps)]
    assert {type(step) for step in steps} == set(Step.__subclasses__())
    assert {step.tries for step in steps if isinstance(step, Acquire)} == {True, False}
    assert {step.mode for step in steps if isinstance(step, Acquire)} == set(Mode)
    loops = [step for step in steps if isinstance(step, Loop)]
    assert {loop.every for loop in loops} == {True, False} and any(loop.outermost for loop in loops)
    assert {loop.where for loop in loops} >= {Where.IN, Where.AROUND}
    assert {len(step.alternatives) for step in steps if isinstance(step, Either)} == {2}
    assert all(f"{word}:" in text for word in ("maybe", "either"))
    assert {key for key in KEYS if not re.search(rf"^{key}:", text, re.MULTILINE)} == NOT_SHOWN
