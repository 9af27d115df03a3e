"""What tests are called."""

from __future__ import annotations

import re

from tests.support.places import ROOT

LONGEST = 60
"""Characters: what a line of a report has room for, beside the file and the verdict."""


def test_names_are_at_most_sixty_characters() -> None:
    names = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        for name in re.findall(r"^ *(?:async )?def (test_\w+)", path.read_text("utf-8"), re.MULTILINE)
        if len(name) > LONGEST
    ]
    assert names == []
