"""Input that cannot be checked: one line that says what, where and what to write instead."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from schedproof.proofs.traces import TraceError, check_trace
from tests.support.rows import each_row
from tests.systems.hived.traces.runs import Run

HEADER: dict[str, Any] = {"schedproof": 1, "system": "hived", "objects": {"PodGroup": ["g"], "Cell": ["c"]}}


def refused(path: Path, **options: Any) -> str:
    """The message; it must be one line."""
    with pytest.raises(TraceError) as caught:
        check_trace(options.pop("system", "hived"), path, **options)
    message = str(caught.value)
    assert message and "\n" not in message and "Traceback" not in message
    return message


def written(tmp_path: Path, *lines: Any) -> Path:
    path = tmp_path / "trace.jsonl"
    path.write_text("\n".join(x if isinstance(x, str) else json.dumps(x) for x in lines), "utf-8")
    return path


class TestFiles:
    def test_no_such_file(self, tmp_path: Path) -> None:
        assert "nowhere.jsonl: cannot be read: No such file" in refused(tmp_path / "nowhere.jsonl")

    def test_a_directory(self, tmp_path: Path) -> None:
        assert "is a directory; name a file" in refused(tmp_path)

    def test_no_file_name(self) -> None:
        assert "cannot be a file name" in refused(Path("a\0b"))

    @pytest.mark.parametrize("content", [b"", b"\n\n  \n"])
    def test_an_empty_file(self, content: bytes, tmp_path: Path) -> None:
        (tmp_path / "t").write_bytes(content)
        assert "the file is empty" in refused(tmp_path / "t")

    def test_not_utf8(self, tmp_path: Path) -> None:
        (tmp_path / "t").write_bytes(json.dumps(HEADER).encode() + b'\n{"action": "caf\xe9"}\n')
        assert "t, line 2: byte 16 is not UTF-8" in refused(tmp_path / "t")

    def test_a_byte_order_mark_is_harmless(self, tmp_path: Path) -> None:
        (tmp_path / "t").write_bytes(b"\xef\xbb\xbf" + json.dumps(HEADER).encode())
        assert check_trace("hived", tmp_path / "t").records == 0

    @each_row(
        ("line", "message"),
        [
            ("nonsense", "line 3: not JSON: Expecting value at column 1"),
            ('{"action": "crash"', "line 3: not JSON"),
            (
                '{"action": "crash", "action": "complete"}',
                'line 3: the JSON cannot be read: one object has "action" twice',
            ),
            ('{"action" : "crash" , "action" : "complete"}', 'one object has "action" twice'),
            ('{"state": {"Cell": {"c": {"user": "g"}, "c": {}}}}', 'one object has "c" twice'),
            ("[1, 2]", "line 3: a list is not a JSON object; write {...}"),
            ("12", "line 3: 12 is not a JSON object"),
            ("[" * 100_000, "line 3: nested too deeply"),
            ('{"action": ' + "9" * 5000 + "}", "line 3: the JSON cannot be read"),
        ],
        ids=[
            "words",
            "cut off",
            "twice",
            "twice, with blanks",
            "twice inside",
            "list",
            "number",
            "deep",
            "long number",
        ],
    )
    def test_lines_that_are_no_objects(self, line: str, message: str, tmp_path: Path) -> None:
        assert message in refused(written(tmp_path, HEADER, "", line))

    @pytest.mark.parametrize("line", ['{"action" : "crash"}', '{"action": "crash", "time": "\\":"}'])
    def test_what_looks_like_a_name_is_none(self, line: str, tmp_path: Path) -> None:
        """Blanks before a colon, and a colon after a quote in a text: neither is a name twice."""
        path = written(tmp_path, HEADER, line)
        if "time" in line:
            assert "is not in ISO 8601" in refused(path)
        else:
            assert check_trace("hived", path).records == 1


class TestNames:
    def test_a_long_name_is_not_repeated_in_full(self, tmp_path: Path) -> None:
        record = {"action": "delete_pending", "parameters": {"p": "x" * 1_000_000}}
        assert len(refused(written(tmp_path, HEADER, record))) < 1_500

    def test_unknown_system_variant_format(self, tmp_path: Path) -> None:
        path = written(tmp_path, HEADER)
        assert "unknown system 'slurm'; choose from beaker, hived" in refused(path, system="slurm")
        assert "unknown variant of hived 'new'; choose from as-written, repaired" in refused(path, variant="new")
        assert "unknown format 'csv'; choose from hived, schedproof, otel, itf" in refused(path, format="csv")

    def test_unknown_header(self, tmp_path: Path) -> None:
        assert (
            'line 1: unknown format; the first line of a known one: a HiveD trace begins with "header": true'
            in refused(written(tmp_path, {"a": 1}))
        )

    def test_a_forced_format_must_fit(self, tmp_path: Path) -> None:
        assert 'write "header": true' in refused(written(tmp_path, HEADER), format="hived")
        run = Run({"g": 1}, ["c"]).write(tmp_path / "run")
        assert 'write "schedproof": 1' in refused(run, format="schedproof")


class TestPlainFormat:
    @each_row(
        ("change", "message"),
        [
            ({"schedproof": 2}, '"schedproof": 2 is not 1; write "schedproof": 1'),
            ({"system": 7}, '"system": 7 is not a text'),
            ({"system": "beaker"}, "this is a trace of 'beaker', and it is checked as 'hived'"),
            ({"objects": None}, '"objects": null is not an object {...}; write "objects" as {sort: [names]}'),
            ({"variant": "other"}, "unknown variant 'other' of hived; choose from as-written, repaired"),
            ({"objects": {"PodGroup": ["g", "g"], "Cell": ["c"]}}, "a list of different names"),
            ({"objects": {**HEADER["objects"], "Node": ["n"]}}, "unknown sort 'Node'"),
            ({"objects": {"PodGroup": ["g"], "Cell": [f"c{i}" for i in range(1001)]}}, "at most 1000"),
            (
                {"rigid": {"PodGroup": {"colour": {}}}},
                "the unknown attribute PodGroup.colour; choose from PodGroup.outranks",
            ),
            ({"rigid": {"PodGroup": {"outranks": {"x": []}}}}, "unknown PodGroup 'x'"),
            ({"rigid": {"PodGroup": {"outranks": {"g": ["x"]}}}}, "unknown PodGroup 'x'; choose from g"),
            ({"rigid": {"PodGroup": {"outranks": {"g": "g"}}}}, "'g' does not fit; write a list of names of PodGroup"),
            ({"rigid": {"PodGroup": {"outranks": {"g": ["g"]}}}}, '"rigid" violates an axiom of the model'),
            ({"extra": 1}, 'unknown field "extra"; choose from'),
        ],
    )
    def test_headers(self, change: dict[str, Any], message: str, tmp_path: Path) -> None:
        error = refused(written(tmp_path, {**HEADER, **change}))
        assert "line 1: " in error and message in error

    @each_row(
        ("record", "message"),
        [
            ({"action": 3}, '"action": 3 is not a text; write the name of an action'),
            ({"action": "explode"}, "unknown action 'explode'; choose from allocate, preempt"),
            ({"event": "PodGroup.e99"}, "unknown event 'PodGroup.e99'; choose from PodGroup.e0"),
            ({"object": "g"}, '"object" needs "event" beside it; write a record of'),
            ({"event": "crash", "object": "g"}, 'leave out "object"'),
            ({"action": "crash", "event": "crash"}, "action and event exclude each other; write one of"),
            ({"parameters": {"p": "g"}}, '"parameters" without "action" or "event"'),
            ({"action": "crash", "parameters": {"p": "g"}}, "unknown parameter 'p' of crash; choose from none"),
            ({"action": "complete", "parameters": {"p": "x"}}, "parameters.p: unknown PodGroup 'x'; choose from g"),
            ({"action": "complete", "parameters": {"p": None}}, "parameters.p: null"),
            ({"action": "complete", "parameters": ["g"]}, '"parameters": a list is not an object {...}'),
            (
                {"action": "allocate", "parameters": {"K": "c"}},
                "parameters.K: 'c' does not fit; write a list of names of Cell",
            ),
            ({"event": "PodGroup.e2", "object": "g", "parameters": {"p": "h"}}, "unknown PodGroup 'h'; choose from g"),
            ({"state": {"Node": {}}}, "unknown sort 'Node'; choose from PodGroup, Cell"),
            ({"state": {"Cell": {"x": {}}}}, "unknown object 'x'; choose from c"),
            (
                {"state": {"Cell": {"c": {"owner": "g"}}}},
                "unknown field 'owner'; choose from state, user, reserver",
            ),
            (
                {"state": {"Cell": {"c": {"state": "Gone"}}}},
                "unknown state 'Gone'; choose from Free, Used, Reserved, Reserving",
            ),
            ({"state": {"Cell": {"c": {"state": ["Free"]}}}}, "; choose from Free"),
            ({"state": {"Cell": {"c": {"user": 3}}}}, "3 does not fit; write a name of PodGroup (g) or null"),
            ({"state": {"Cell": {"c": "Free"}}}, '"state.Cell.c": "Free" is not an object {...}'),
            ({}, "an empty object; write a record of"),
            ({"when": 12}, 'unknown field "when"; choose from'),
        ],
    )
    def test_records(self, record: dict[str, Any], message: str, tmp_path: Path) -> None:
        error = refused(written(tmp_path, HEADER, {"action": "crash"}, record))
        assert "line 3: " in error and message in error


def _run() -> Run:
    return Run({"g": 1}, ["c"]).pods(g="waiting").call("Schedule", "g", g=("Allocated", "U"))


Edit = Callable[[list[dict[str, Any]]], object]


class TestHivedFormat:
    @each_row(
        ("edit", "message"),
        [
            (lambda t: t[0].pop("groups"), 'line 1: "groups" is missing'),
            (lambda t: t[0].update(groups=[]), "line 1: "),
            (lambda t: t[0]["groups"].append({"name": "g", "prio": 3}), "line 1: two groups are named g"),
            (lambda t: t[0]["groups"][0].update(prio="high"), '"groups.0.prio": "high" is not a whole number'),
            (lambda t: t[0].update(physical={}), "leaf cells do"),
            (lambda t: t[2].pop("epoch"), 'line 3: "epoch" is missing'),
            (lambda t: t[2].update(i="2"), 'line 3: "i": "2" is not a whole number'),
            (
                lambda t: t[2].update(op="Explode"),
                'line 3: "op": unknown value "Explode"; choose from AddNode, UpdateNode',
            ),
            (lambda t: t[2].update(args={}), 'line 3: "args": "group" is missing'),
            (lambda t: t[2].update(args=[]), 'line 3: "args": a list is not an object'),
            (
                lambda t: t[2]["args"].update(group="x"),
                "line 3: args.group names the unknown group 'x'; the header has g",
            ),
            (lambda t: t[2]["result"].update(kind="maybe"), "line 3: "),
            (lambda t: t[2]["state"]["groups"].update(x={"state": "Allocated", "prio": 1}), "unknown group 'x'"),
            (
                lambda t: t[2]["state"]["groups"]["g"].update(state="Gone"),
                'unknown value "Gone"; choose from Allocated',
            ),
            (lambda t: t[2]["state"]["leaf"].pop("c"), "line 3: state.leaf lacks the cell 'c'"),
            (
                lambda t: t[2]["state"]["leaf"].update(x={"state": "Free"}),
                "line 3: state.leaf has the unknown cell 'x'",
            ),
            (lambda t: t[2]["state"]["leaf"]["c"].update(using="x"), "state.leaf[c].using names the unknown group 'x'"),
            (lambda t: t[2]["state"]["leaf"]["c"].update(using=5), '"state.leaf.c.using": 5 is not a text or null'),
            (lambda t: t[2]["state"].pop("leaf"), 'line 3: "state": "leaf" is missing'),
            (lambda t: t[2]["pods"]["g-1"].update(group="x"), "line 3: pods[g-1] names the unknown group 'x'"),
            (
                lambda t: t[2]["pods"]["g-1"].update(state="lost"),
                'unknown value "lost"; choose from waiting, preempting, binding, bound',
            ),
        ],
    )
    def test_edited(self, edit: Edit, message: str, tmp_path: Path) -> None:
        trace = [json.loads(line) for line in _run().lines()]
        edit(trace)
        assert message in refused(written(tmp_path, *trace))

    def test_the_run_itself_is_well_formed(self, tmp_path: Path) -> None:
        assert check_trace("hived", _run().write(tmp_path / "t")).records == 2
