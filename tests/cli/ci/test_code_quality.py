"""Code quality reports: the members that GitLab requires."""

from __future__ import annotations

import json

from tests.cli.ci.conftest import Verify
from tests.support.lamps import lamps, system
from tests.support.places import ROOT


def test_each_verdict_to_look_at_is_an_issue(verify: Verify) -> None:
    code, out, _ = verify("--code-quality", "-", of=system(lamps(refuted=("stays-dark", "on-or-off"))))
    wrong, expected = json.loads(out)
    assert code == 1 and wrong["description"] == "lamps plain: on-or-off: proved (any number), expected refuted"
    assert (wrong["check_name"], wrong["severity"]) == ("lamps/on-or-off", "major")
    assert (expected["check_name"], expected["severity"]) == ("lamps/stays-dark", "info")
    assert wrong["fingerprint"] != expected["fingerprint"]
    lines = (ROOT / wrong["location"]["path"]).read_text().splitlines()
    assert 'name="on-or-off"' in lines[wrong["location"]["lines"]["begin"] - 1]


def test_without_any_it_is_an_empty_list(verify: Verify) -> None:
    """GitLab compares it with the report of the target branch."""
    assert json.loads(verify("--code-quality", "-", of=system(lamps(refuted=(), properties=[])))[1]) == []
