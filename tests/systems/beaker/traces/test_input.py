"""Logs of Beaker that cannot be checked: one line that says what, where and what to write instead."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from schedproof.proofs.systems.beaker import traces
from schedproof.proofs.traces import TraceError, check_trace
from tests.support.rows import each_row
from tests.systems.beaker.traces.logs import changes, messages

PACKAGE = Path(traces.__file__).parent
HEADER: dict[str, Any] = {"beaker": 1, "systems": {"s": {}}, "recipes": {"r": {"viable": ["s"]}}}
GUEST = {"recipe": "g", "host": "r"}
SETS: dict[str, Any] = {"beaker-messages": 1, "recipe_sets": {"RS:1": ["R:1"]}}
RUNNING = {"t_id": "R:1", "status": "Running"}


def refused(tmp_path: Path, *lines: Any, **options: Any) -> str:
    """The message; it must be one line."""
    path = tmp_path / "trace"
    path.write_text("\n".join(x if isinstance(x, str) else json.dumps(x) for x in lines), "utf-8")
    with pytest.raises(TraceError) as caught:
        check_trace("beaker", path, **options)
    message = str(caught.value)
    assert message and "\n" not in message and "Traceback" not in message
    return message


class TestFormats:
    def test_no_known_format(self, tmp_path: Path) -> None:
        for line in ("nothing of beakerd", {"a": 1}):
            message = refused(tmp_path, line)
            assert "line 1: unknown format; a known one" in message
            for begin in ('"beaker": 1', '"recipe ID 1 moved from New to Processed"', '"t_id"', '"schedproof": 1'):
                assert begin in message

    def test_unknown_names(self, tmp_path: Path) -> None:
        assert "unknown format 'csv'; choose from beaker, beakerd, beaker-messages, schedproof" in refused(
            tmp_path, HEADER, format="csv"
        )
        assert "unknown variant of beaker 'new'" in refused(tmp_path, HEADER, variant="new")

    def test_a_forced_format_must_fit(self, tmp_path: Path) -> None:
        assert 'write "beaker": 1' in refused(tmp_path, RUNNING, format="beaker")
        assert "not JSON" in refused(tmp_path, "recipe ID 1 moved from New to Processed", format="beaker-messages")
        assert '"t_id" is missing' in refused(tmp_path, HEADER, format="beaker-messages")

    def test_json_that_breaks_off(self, tmp_path: Path) -> None:
        assert "line 2: not JSON" in refused(tmp_path, HEADER, '{"recipe": "r"')


class TestChanges:
    @each_row(
        ("change", "message"),
        [
            ({"beaker": 2}, '"beaker": 2 is not 1; write "beaker": 1'),
            ({"systems": []}, '"systems": a list is not an object {...}; write "systems" as {system:'),
            ({"systems": {"s": {"condition": "Removed"}}}, 'unknown value "Removed"; choose from Automated, Manual, Broken'),
            ({"systems": {"s": {"usage": "running"}}}, 'unknown value "running"; choose from idle, pending'),
            ({"systems": {"s": {"usage": "pending", "condition": "Broken"}}}, "s is pending, but Broken; it can only be idle"),
            ({"systems": {"s": {"colour": 1}}}, 'unknown field "colour"; choose from'),
            ({"recipe_sets": {"j": {"priority": 7}}}, "unknown value 7; choose from 0, 1; write 0, or 1 for the higher priority"),
            ({"recipes": {"r": {"viable": "s"}}}, '"s" is not a list [...]; write a list of different names'),
            ({"recipes": {"r": {}}}, "the viable systems of r are not known"),
            ({"recipes": {"r": {"host": "r"}}}, "r is a guest of r; a host is another recipe and no guest"),
            ({"recipes": {"r": {"host": "q"}, "q": {"host": "r"}}}, "a host is another recipe and no guest"),
            ({"recipes": {"r": {"viable": []}, "g": {"host": "r", "viable": ["s"]}}}, "a guest has no viable systems"),
            (
                {"recipes": {"r": {"viable": [], "recipe_set": "j"}, "g": {"host": "r", "recipe_set": "k"}}},
                "g is a guest of r, but of another recipe set",
            ),
        ],
    )  # fmt: skip
    def test_headers(self, change: dict[str, Any], message: str, tmp_path: Path) -> None:
        error = refused(tmp_path, {**HEADER, **change})
        assert "line 1: " in error and message in error

    @each_row(
        ("record", "message"),
        [
            ({}, 'a change names a "recipe", a "recipe_set" or a "system", or says "crash": true'),
            ({"crash": False}, '"crash": false is not true'),
            ({"crash": True, "recipe": "r"}, 'unknown field "recipe"; choose from'),
            ({"recipe": 3}, '"recipe": 3 is not a text; write a name as a text'),
            ({"recipe": "r", "status": "reserved"}, 'unknown value "reserved"; choose from new, queued, assigned'),
            ({"recipe": "r", "usage": "idle"}, 'unknown field "usage"; choose from'),
            ({"recipe": "r", "system": 3}, '"system": 3 is not a text or null; write the name of a system'),
            ({"recipe": "x", "status": "new"}, "the viable systems of x are not known"),
            ({"recipe": "r", "viable": []}, "viable of r is [], but ['s'] before; it never changes"),
            ({"recipe_set": "j", "priority": 2}, "unknown value 2; choose from 0, 1"),
            ({"recipe_set": "j", "status": "queued"}, 'unknown field "status"; choose from'),
            ({"system": "s", "usage": "reserved"}, 'unknown value "reserved"; choose from idle, scheduled'),
            ({"system": "s", "lab": None}, '"lab": null is not a text'),
            (
                {"system": "s", "condition": "automated"},
                'unknown value "automated"; choose from Automated, Manual, Broken',
            ),
            ({"recipe": "r", "action": "queue_it", "status": "queued"}, "unknown action 'queue_it'; as-written has"),
            ({"recipe": "r", "action": "cancel"}, '"action" without a change; write what it changed: status or system'),
            ({"recipe": "r", "status": "queued", "step": None}, '"step": null is not'),
        ],
    )
    def test_changes(self, record: dict[str, Any], message: str, tmp_path: Path) -> None:
        error = refused(tmp_path, HEADER, {"system": "s", "usage": "idle"}, record)
        assert "line 3: " in error and message in error

    @each_row(
        ("records", "message"),
        [
            (
                [{"recipe": "r", "status": "queued", "step": 1}, {"crash": True}, {"system": "s", "usage": "idle", "step": 1}],
                "line 4: step 1 comes again after other lines",
            ),
            (
                [{"recipe": "r", "status": "queued", "step": 1}, {"recipe": "r", "status": "new", "step": 1}],
                "line 3: status of r has two values in one step",
            ),
            ([{"recipe": "r", "status": "queued", "step": 1}, {"crash": True, "step": 1}], "line 3: a crash shares its step"),
            (
                [
                    {"recipe": "r", "status": "queued", "step": 1, "action": "settle"},
                    {"system": "s", "usage": "idle", "step": 1, "action": "make_idle"},
                ],
                "one step is settle and make_idle; it is one action",
            ),
            (
                [{"recipe": "r", "recipe_set": "j", "status": "queued"}, {"recipe": "r", "recipe_set": "k"}],
                "line 3: recipe_set of r is 'k', but 'j' before",
            ),
        ],
    )  # fmt: skip
    def test_several_lines(self, records: list[dict[str, Any]], message: str, tmp_path: Path) -> None:
        assert message in refused(tmp_path, HEADER, *records)

    def test_a_status_that_the_variant_lacks(self, tmp_path: Path) -> None:
        """The batch scheduler has other recipes: it cannot check this format at all."""
        assert "does not fit the variant 'batch'; choose from" in refused(tmp_path, HEADER, variant="batch")


class TestMessages:
    @each_row(
        ("change", "message"),
        [
            ({"beaker-messages": 2}, '"beaker-messages": 2 is not 1'),
            ({"recipe_sets": []}, '"recipe_sets": a list is not an object {...}; write "recipe_sets" as'),
            ({"recipe_sets": {"5": ["R:1"]}}, "write a recipe set such as"),
            ({"recipe_sets": {"RS:5": []}}, "write a list of recipes such as"),
            ({"recipe_sets": {"RS:5": ["12"]}}, 'write a recipe such as "R:12"'),
            ({"recipe_sets": {"RS:5": ["R:1"], "RS:6": ["R:1"]}}, "R:1 is in RS:5 and in RS:6; a recipe has one set"),
            ({"extra": 1}, 'unknown field "extra"; choose from'),
        ],
    )
    def test_headers(self, change: dict[str, Any], message: str, tmp_path: Path) -> None:
        error = refused(tmp_path, {**SETS, **change}, RUNNING)
        assert "line 1: " in error and message in error

    @each_row(
        ("record", "message"),
        [
            ({"status": "Running"}, '"t_id" is missing; write what the message says, such as "t_id": "R:12"'),
            ({"t_id": "R:1"}, '"status" is missing; write what the message says, such as "status": "Installing"'),
            ({"t_id": 5, "status": "Running"}, '"t_id": 5 is not a text; write "t_id" as a text such as "R:12"'),
            ({"id": 5, "status": "Running"}, '"t_id" is missing'),
            ({"t_id": "recipe 5", "status": "Running"}, "'recipe 5' is not a task; write R:, RS:, J: or T: and a number"),
            ({"t_id": "R:1", "status": "Sleeping"}, "unknown status 'sleeping'; choose from new, processed, queued, scheduled, waiting"),
            ({"t_id": "R:1", "status": 3}, '"status": 3 is not a text'),
            ({"header": 3}, '"header": 3 is not an object {...}'),
            ({"header": {"id": "R:1", "state": "Running"}, "body": {"t_id": "R:2"}}, "header and body differ: R:1 and R:2"),
        ],
    )  # fmt: skip
    def test_messages(self, record: dict[str, Any], message: str, tmp_path: Path) -> None:
        error = refused(tmp_path, SETS, RUNNING, record)
        assert "line 3: " in error and message in error


@pytest.mark.parametrize(
    ("schema", "lines"),
    [("changes.schema.json", changes(3, named=True)), ("messages.schema.json", messages(3))],
    ids=["changes", "messages"],
)
def test_the_schemas_say_what_a_trace_is(schema: str, lines: list[str]) -> None:
    """Another program can check a trace by the published schema alone."""
    validator = jsonschema.Draft202012Validator(json.loads((PACKAGE / schema).read_text("utf-8")))
    assert len(lines) > 5
    for line in lines:
        assert not list(validator.iter_errors(json.loads(line))), line
    assert list(validator.iter_errors([1])) and list(validator.iter_errors({"status": 1}))
