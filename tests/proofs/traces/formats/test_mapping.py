"""Logs that no format of ours knows, read by a mapping file; and OpenTelemetry's log records."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from schedproof.model.registry.discovery import system
from schedproof.proofs import traces as validator
from schedproof.proofs.traces import LogVerdict, TraceError, ValidationReport, check_trace
from tests.support.places import REFERENCE
from tests.support.queue_model import SYSTEM as QUEUE
from tests.support.rows import each_row

PACKAGE = Path(validator.__file__).parent
CONFORMS, VIOLATES, UNDETERMINED = LogVerdict.CONFORMS, LogVerdict.VIOLATES, LogVerdict.UNDETERMINED

MAPPING = """\
schedproof-mapping: 1
system: hived
names:
  states: {running: Allocated, queued: Pending, gone: Deleted, victim: BeingPreempted}
header:
  objects: {Cell: [gpu0, gpu1]}
lines:
- when: "msg == 'placed'"
  time: ts
  action: allocate
  parameters: {p: job, K: "gpus[].id"}
  state:
    PodGroup: [{object: job, state: {value: status, names: states}}]
    Cell: [{each: gpus, object: id, user: holder}]
- when: "msg == 'arrived'"
  objects: {PodGroup: "[job]"}
  rigid: {PodGroup: {outranks: [{object: job, value: "above || `[]`"}]}}
- when: "msg == 'preempting'"
  event: PodGroup.e1
  object: job
- when: "msg == 'restarted'"
  records:
  - {crash: true}
  - {state: {PodGroup: [{each: jobs, object: name, state: {value: status, names: states}}]}}
- {when: "msg == 'tick'", stutter: true}
"""

LOG: list[dict[str, Any]] = [
    {"ts": 1, "msg": "arrived", "job": "batch"},
    {"ts": 1, "msg": "tick"},
    {"ts": 2, "msg": "placed", "job": "batch", "status": "running", "gpus": [{"id": "gpu0", "holder": "batch"}]},
    {"ts": 3, "msg": "arrived", "job": "urgent", "above": ["batch"]},
    {"ts": 4, "msg": "preempting", "job": "urgent"},
    {
        "ts": 5,
        "msg": "restarted",
        "jobs": [{"name": "batch", "status": "running"}, {"name": "urgent", "status": "queued"}],
    },
]


def written(folder: Path, name: str, content: str | list[Any]) -> Path:
    path = folder / name
    path.write_text(
        content if isinstance(content, str) else "".join(json.dumps(line) + "\n" for line in content), "utf-8"
    )
    return path


def checked(folder: Path, log: str | list[Any], mapping: str = MAPPING, **options: Any) -> ValidationReport:
    return check_trace(
        "hived", written(folder, "log", log), mapping=written(folder, "mapping.yaml", mapping), **options
    )


class TestMapping:
    def test_a_log_is_read_by_it(self, tmp_path: Path) -> None:
        report = checked(tmp_path, LOG)
        assert (report.verdict, report.records, report.format) == (CONFORMS, 6, "mapping")
        assert report.note == "1 line is no step"

    @pytest.mark.parametrize(
        ("line", "field", "value"),
        [(2, "status", "victim"), (4, "job", "batch"), (5, "jobs", [{"name": "batch", "status": "gone"}])],
    )
    def test_and_checked(self, line: int, field: str, value: Any, tmp_path: Path) -> None:
        log = json.loads(json.dumps(LOG))
        log[line][field] = value
        report = checked(tmp_path, log)
        assert report.first_nonconformance is not None and report.first_nonconformance.line == line + 1
        assert report.excerpt == [(line + 1, json.dumps(log[line]))]
        assert f"  the log, line {line + 1}: {json.dumps(log[line])}" in report.text()

    def test_text_is_read_by_a_pattern(self, tmp_path: Path) -> None:
        mapping = r"""
schedproof-mapping: 1
system: hived
pattern: '^(?P<time>\S+) (?P<what>bind|free) (?P<job>\S+)(?: on (?P<gpus>\S+))?$'
otherwise: skip
lines:
- {when: "what == 'bind'", time: time, action: allocate, parameters: {p: job, K: "[gpus]"}}
- {when: "what == 'free'", time: time, action: delete_allocated, parameters: {p: job}}
"""
        log = "2026-01-01T10:00:00Z bind a on x\nanything\n2026-01-01T10:00:01Z free a\n2026-01-01T10:00:02Z bind b on x\n"
        report = checked(tmp_path, log, mapping)
        assert (report.verdict, report.records, report.note) == (
            CONFORMS,
            3,
            f"1 line fits no rule of {tmp_path / 'mapping.yaml'}: line 2",
        )
        report = checked(tmp_path, log.replace("free a", "free b"), mapping)
        assert report.first_nonconformance is not None and report.first_nonconformance.line == 3

    def test_rules_that_are_of_no_use_are_named(self, tmp_path: Path) -> None:
        note = checked(tmp_path, LOG[:3]).note
        assert f"no line fits the rules in {tmp_path / 'mapping.yaml'}, lines 18, 21" in note

    def test_queries_that_never_find_anything_are_named(self, tmp_path: Path) -> None:
        """A misspelt 'each' finds no elements: the log conforms, although nothing is compared."""
        mapping = """schedproof-mapping: 1
system: hived
lines:
- when: "what == 'seen'"
  state:
    Cell: [{each: slots, object: "@", state: "'Used'"}]
"""
        log = [{"what": "seen", "slots": ["s0"]}]
        assert (checked(tmp_path, log, mapping).verdict, checked(tmp_path, log, mapping).note) == (VIOLATES, "")
        report = checked(tmp_path, log, mapping.replace("slots", "slotz"))
        assert report.note == f"the query slotz in {tmp_path / 'mapping.yaml'}, line 6, finds nothing in any line"

    @pytest.mark.parametrize(
        ("query", "problem"),
        [
            ("to_string(slut)", "the query to_string(slut) gives null"),
            ("cells[].to_string(slut)", "nothing in an element"),
        ],
    )
    def test_the_text_of_nothing_names_no_object(self, tmp_path: Path, query: str, problem: str) -> None:
        mapping = f'''schedproof-mapping: 1
system: hived
lines:
- {{action: vacate, parameters: {{c: "{query}"}}}}
'''
        with pytest.raises(TraceError, match=re.escape(problem)):
            checked(tmp_path, [{"slot": 0, "cells": [{"slot": 0}]}], mapping)

    def test_an_entry_for_each_element_may_ask_the_whole_line(self, tmp_path: Path) -> None:
        mapping = """schedproof-mapping: 1
system: hived
names: {gangs: {A: a}}
lines:
- {when: "what == 'runs'", action: allocate, parameters: {p: gang, K: nodes}}
- when: "what == 'seen'"
  state:
    Cell: [{each: nodes, object: "@", user: {value: $.gang, names: gangs}, state: $.as}]
"""
        runs = {"what": "runs", "gang": "a", "nodes": ["s0", "s1"]}
        seen = {"what": "seen", "gang": "A", "nodes": ["s1", "s0"], "as": "Used"}
        assert checked(tmp_path, [runs, seen], mapping).verdict is CONFORMS
        report = checked(tmp_path, [runs, {**seen, "gang": "b"}], mapping)
        assert report.verdict is VIOLATES and "s0.user is a in the model, b observed" in "\n".join(report.text())

    @pytest.mark.parametrize(
        ("table", "values"),
        [
            ("{true: Busy, false: Idle}", (True, False)),
            ("{True: Busy, False: Idle}", (True, False)),
            ("{1: Busy, null: Idle}", (1, None)),
            ("{'yes': Busy, no: Idle}", ("yes", "no")),
        ],
    )
    def test_a_table_translates_values_of_every_kind(
        self, tmp_path: Path, table: str, values: tuple[object, object]
    ) -> None:
        mapping = f"""schedproof-mapping: 1
system: queue
names: {{states: {table}, flags: {{aged: true, young: false}}}}
header: {{objects: {{Worker: [ann, bob], Entry: [web]}}}}
lines:
- when: what == 'take'
  action: take
  parameters: {{w: who, e: "'web'"}}
  state: {{Worker: [{{each: now, object: name, state: {{value: busy, names: states}}, old: {{value: age, names: flags}}}}]}}
"""
        busy, idle = values
        now = [{"name": "ann", "busy": busy, "age": "young"}, {"name": "bob", "busy": idle, "age": "young"}]

        def verdict(workers: list[Any]) -> LogVerdict:
            log = written(tmp_path, "log", [{"what": "take", "who": "ann", "now": workers}])
            return check_trace(QUEUE, log, mapping=written(tmp_path, "mapping.yaml", mapping)).verdict

        assert verdict(now) is CONFORMS
        assert verdict([{**now[0], "busy": idle}, now[1]]) is VIOLATES
        assert verdict([{**now[0], "age": "aged"}, now[1]]) is VIOLATES

    def test_but_not_before_the_log_has_ended(self, tmp_path: Path) -> None:
        log = [*LOG[:2], {**LOG[2], "status": "victim"}, *LOG[3:]]
        report = checked(tmp_path, log)
        assert (report.verdict, report.note) == (VIOLATES, "1 line is no step")

    def test_rules_in_the_same_line_of_two_files_are_distinct(self, tmp_path: Path) -> None:
        base = "schedproof-mapping: 1\nsystem: hived\nlines:\n- {when: \"msg == 'crashed'\", crash: true}\n"
        written(tmp_path, "base.yaml", base)
        more = "schedproof-mapping: 1\nextends: base.yaml\nlines:\n- {when: \"msg == 'note'\", stutter: true}\n"
        note = checked(tmp_path, [{"msg": "note"}], more).note
        assert f"no line fits the rule in {tmp_path / 'base.yaml'}, line 4" in note
        note = checked(tmp_path, [{"msg": "crashed"}], more).note
        assert note == f"no line fits the rule in {tmp_path / 'mapping.yaml'}, line 4"

    def test_an_error_names_the_rule_with_the_wrong_name(self, tmp_path: Path) -> None:
        with pytest.raises(TraceError, match=r"line 3: unknown action 'alocate'; .*made by the rule in .*yaml, line 8"):
            checked(tmp_path, LOG, MAPPING.replace("action: allocate", "action: {value: to_string('alocate')}"))

    @each_row(
        ("rule", "problem"),
        [
            ("action: alocate", "unknown action 'alocate'; did you mean allocate"),
            ("event: Cell.e99", "unknown event 'Cell.e99'"),
            ("action: complete, parameters: {q: job}", "unknown parameter 'q'; choose from p"),
            ("event: Cell.e9, parameters: {q: job}", "unknown parameter 'q'; choose from c"),
            ("crash: true, parameters: {q: job}", "unknown parameter 'q'; leave it out"),
            ("state: {Cel: [{object: job}]}", "unknown sort 'Cel'; did you mean Cell?"),
            ("state: {Cell: [{object: job, usr: job}]}", "unknown field of Cell 'usr'; did you mean user?"),
            ("state: {PodGroup: [{object: job, outranks: job}]}", "unknown field of PodGroup 'outranks'"),
            ("action: complete, objects: {Cel: job}", "unknown sort 'Cel'; did you mean Cell?"),
            ("action: complete, rigid: {PodGroup: {rank: [{object: job, value: job}]}}", "unknown field of PodGroup 'rank'"),
            ("records: [{action: complete}, {action: alocate}]", "unknown action 'alocate'"),
        ],
    )  # fmt: skip
    def test_a_wrong_name_is_found_before_a_line_fits_its_rule(self, tmp_path: Path, rule: str, problem: str) -> None:
        never = f"- {{when: \"msg == 'never'\", {rule}}}\n"
        with pytest.raises(TraceError, match=re.escape(problem)) as caught:
            checked(tmp_path, LOG, MAPPING + never)
        line = MAPPING.count("\n") + 1
        assert str(caught.value).startswith(f"{tmp_path / 'mapping.yaml'}, line {line}: ")

    def test_of_equal_mistakes_the_first_is_reported(self, tmp_path: Path) -> None:
        wrong = "- {when: \"msg == 'never'\", action: complete, params: {p: job}}\n" * 12
        line = MAPPING.count("\n") + 1
        with pytest.raises(TraceError, match=rf'mapping\.yaml, line {line}: "lines.5": unknown field "params"'):
            checked(tmp_path, LOG, MAPPING + wrong)

    @pytest.mark.parametrize(
        "rule",
        [
            "{when: \"msg == 'done'\", state: {PodGroup: [{object: job, state: \"'Pending'\"}], Cell: [{object: \"'gpu0'\", user: agent.id}]}}",
            "{when: \"msg == 'done'\", action: complete, parameters: {p: agent.id}}",
            "{when: agent.id}",
        ],
    )  # fmt: skip
    def test_a_query_for_a_name_that_must_be_quoted(self, tmp_path: Path, rule: str) -> None:
        """Without quotes it is a path, which gives null: in a state that would be no object."""
        line = {"msg": "done", "job": "batch", "agent.id": "batch"}
        more = rule.replace("{when: agent.id}", "{when: agent.id, stutter: true}")
        with pytest.raises(TraceError, match=r"the query agent\.id gives null, but a field of the line has this name"):
            checked(tmp_path, [line], MAPPING.split("lines:")[0] + f"lines:\n- {more}\n")

    def test_a_query_that_is_not_jmespath_names_the_remedy(self, tmp_path: Path) -> None:
        with pytest.raises(TraceError, match="quote the name of a field that is not a plain word"):
            checked(tmp_path, LOG, MAPPING.replace("time: ts", "time: '@t'"))

    def test_an_object_has_a_text_as_its_name(self, tmp_path: Path) -> None:
        rule = "- {when: \"msg == 'seen'\", state: {Cell: [{object: id, state: \"'Free'\"}]}}\n"
        with pytest.raises(TraceError, match=r"the name of the object is 1, not a text: write to_string"):
            checked(tmp_path, [{"msg": "seen", "id": 1}], MAPPING + rule)
        text = rule.replace("object: id", "object: \"join('', ['gpu', to_string(id)])\"")
        assert checked(tmp_path, [{"msg": "seen", "id": 1}], MAPPING + text).verdict is CONFORMS

    def test_a_name_of_another_variant_is_allowed(self, tmp_path: Path) -> None:
        """One mapping may serve several variants: Beaker's batch daemon has actions that its other variants have not."""
        batch, shipped = (system("beaker").variants[variant] for variant in ("batch", "shipped"))
        other = next(a.name for a in batch.actions if a.name not in {b.name for b in shipped.actions})
        mapping = "schedproof-mapping: 1\nsystem: beaker\nheader: {variant: shipped}\notherwise: skip\nlines:\n"
        rule = f"- {{when: \"msg == 'never'\", action: {other}}}\n"
        written(tmp_path, "mapping.yaml", mapping + rule)
        log = written(tmp_path, "log", [{"msg": "other"}])
        assert check_trace("beaker", log, mapping=tmp_path / "mapping.yaml").verdict is UNDETERMINED

    @pytest.mark.parametrize(
        ("rule", "problem"),
        [
            ("stutter: true, state: {Cell: [{object: job}]}", '"state" stands beside "stutter"'),
            ("records: [{action: complete}], time: ts", '"time" stands beside "records"'),
            ("action: complete, stutter: true", '"action" stands beside "stutter"'),
        ],
    )
    def test_a_rule_has_one_meaning(self, tmp_path: Path, rule: str, problem: str) -> None:
        with pytest.raises(TraceError, match=problem):
            checked(tmp_path, LOG, MAPPING + f"- {{when: \"msg == 'never'\", {rule}}}\n")

    @pytest.mark.parametrize(
        "rule", ["action: complete, parameters: {p: nosuch}", "action: complete, parameters: {p: {value: nosuch}}"]
    )
    def test_a_query_for_a_parameter_that_finds_nothing_is_named(self, tmp_path: Path, rule: str) -> None:
        with pytest.raises(TraceError, match=r"parameters\.p: the query nosuch gives null in this line"):
            checked(tmp_path, [{"msg": "done"}], MAPPING + f"- {{when: \"msg == 'done'\", {rule}}}\n")
        event = "- {when: \"msg == 'done'\", event: Cell.e9, object: nosuch}\n"
        with pytest.raises(TraceError, match="object: the query nosuch gives null in this line"):
            checked(tmp_path, [{"msg": "done"}], MAPPING + event)

    def test_a_query_that_finds_nothing_is_named(self, tmp_path: Path) -> None:
        placed = {"ts": 2, "msg": "placed", "job": "batch", "gpus": [{"holder": "batch"}]}
        problem = (
            r"line 1: the rule in .*yaml, line 8 cannot be applied: state.Cell: the query for the object finds nothing"
        )
        with pytest.raises(TraceError, match=problem):
            checked(tmp_path, [{**placed, "status": "running"}], MAPPING.replace(', K: "gpus[].id"', ""))
        problem = (
            r"line 1: state.PodGroup.batch.state: null is no state; choose from .* \(made by the rule in .*, line 8\)"
        )
        with pytest.raises(TraceError, match=problem):
            checked(tmp_path, [{**placed, "gpus": [{"id": "gpu0", "holder": "batch"}]}])

    def test_lines_that_fit_no_rule_are_listed(self, tmp_path: Path) -> None:
        mapping = "schedproof-mapping: 1\nsystem: hived\notherwise: skip\nlines:\n- {when: \"msg == 'crash'\", stutter: true}\n"
        note = checked(tmp_path, [{"msg": "crash"}, *[{"msg": "?"}] * 3], mapping).note
        assert note.endswith("; 3 lines fit no rule of " + f"{tmp_path / 'mapping.yaml'}: lines 2, 3, 4")
        note = checked(tmp_path, [{"msg": "crash"}, *[{"msg": "?"}] * 12], mapping).note
        assert note.endswith("mapping.yaml: lines 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, ...")

    def test_lines_that_are_no_objects_are_skipped(self, tmp_path: Path) -> None:
        """A service that logs JSON prints banners and stack traces, too. A damaged record is an error."""
        log = "listening on :80\n" + json.dumps(LOG[2]) + "\ngoroutine 1 [running]:\n\tmain.go:3\n"
        report = checked(tmp_path, log, MAPPING + "otherwise: skip\n")
        assert (report.verdict, report.records) == (CONFORMS, 1)
        assert "3 lines fit no rule of" in report.note and "lines 1, 3, 4" in report.note
        for mapping, damaged in ((MAPPING, log), (MAPPING + "otherwise: skip\n", '{"ts": 1, "ms\n')):
            with pytest.raises(TraceError, match="line 1: not JSON"):
                checked(tmp_path, damaged, mapping)

    def test_a_mapping_that_matches_nothing_is_no_validation(self, tmp_path: Path) -> None:
        """A mistyped message in every rule would pass otherwise."""
        mapping = MAPPING.replace("msg ==", "message ==") + "otherwise: skip\n"
        report = checked(tmp_path, [*LOG[:1], *[{"msg": "?"}] * 2], mapping)
        assert (report.verdict, report.records) == (LogVerdict.UNDETERMINED, 0)
        assert report.note.startswith("the log has no records, so nothing was checked; 3 lines fit no rule of ")
        assert ': lines 1, 2, 3 (line 1 is {"ts": 1, "msg": "arrived", "job": "batch"}); ' in report.note

    def test_nor_are_lines_that_are_no_steps(self, tmp_path: Path) -> None:
        report = checked(tmp_path, LOG[1:2])
        assert (report.verdict, report.records) == (LogVerdict.UNDETERMINED, 0) and "1 line is no step" in report.note

    def test_a_line_that_fits_no_rule_is_quoted(self, tmp_path: Path) -> None:
        with pytest.raises(
            TraceError, match=r"""log, line 2: fits no rule of .*mapping.yaml: \{"msg":"what\?"\}; add a rule"""
        ):
            checked(tmp_path, [LOG[0], {"msg": "what?"}])

    def test_a_header_in_an_extended_file_is_named(self, tmp_path: Path) -> None:
        base = "schedproof-mapping: 1\nsystem: hived\nheader:\n  variant: as-written\n  objects:\n    PodGroup: [a]\n    Cel: [b]\n"
        written(tmp_path, "base.yaml", base)
        more = "schedproof-mapping: 1\nextends: base.yaml\nlines:\n- {when: msg, stutter: true}\n"
        with pytest.raises(TraceError, match=r"base\.yaml, line 7: .objects. has the unknown sort 'Cel'"):
            checked(tmp_path, LOG, more)

    def test_one_extends_another(self, tmp_path: Path) -> None:
        written(tmp_path, "base.yaml", MAPPING)
        more = "schedproof-mapping: 1\nextends: base.yaml\nlines:\n- {when: \"msg == 'note'\", stutter: true}\n"
        assert checked(tmp_path, [*LOG, {"msg": "note"}], more).verdict is CONFORMS

    def test_the_readme_example(self, tmp_path: Path) -> None:
        text = (REFERENCE / "trace-formats.md").read_text("utf-8")
        (mapping,) = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
        (log,) = re.findall(r"```json\n(\{\"ts.*?)```", text, re.DOTALL)
        report = checked(tmp_path, log, mapping)
        assert (report.verdict, report.records) == (CONFORMS, 2)
        assert checked(tmp_path, log.replace('batch"}]', 'other"}]'), mapping).verdict is VIOLATES

    def test_the_schema_is_one(self) -> None:
        schema = json.loads((PACKAGE / "formats" / "mapping.schema.json").read_text("utf-8"))
        jsonschema.Draft202012Validator.check_schema(schema)
        jsonschema.validate(yaml.safe_load(MAPPING), schema)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (
                ("system: hived", "system: beaker"),
                "mapping.yaml, line 2: this is a mapping for 'beaker', and the trace is checked as 'hived'",
            ),
            (("system: hived\n", ""), 'line 1: "system" is missing'),
            (
                ("lines:", "rows:"),
                'mapping.yaml, line 7: unknown field "rows"; choose from schedproof-mapping, system',
            ),
            (("action: allocate", "acton: allocate"), 'line 10: "lines.0": unknown field "acton"'),
            (("msg == 'tick'", "msg == "), "line 25: the query is not JMESPath"),
            (
                ("names: states}}]\n    Cell", "names: stats}}]\n    Cell"),
                "line 13: unknown table of names 'stats'; choose from states",
            ),
            (("stutter: true", "stutter: false"), '"lines.4.stutter": false is not true'),
            (("system: hived", "system: hived\nextends: mapping.yaml"), "leave out one of the two 'extends'"),
            (("system: hived", "system: hived\nextends: other.yaml"), "other.yaml: cannot be read"),
            (("system: hived", "system: *hived"), "line 2: an alias"),
            (("system: hived", "system: [hived"), "not YAML"),
            (("system: hived", "system: hived\nsystem: hived"), "line 3: the key 'system' is written twice"),
            (("system: hived", "system: hived\npattern: '(?P<a>'"), "line 3: the pattern is not a regular expression"),
            (("system: hived", "system: hived\npattern: 'a'"), "line 3: the pattern has no named groups"),
            (("action: allocate", "action: alocate"), "mapping.yaml, line 10: unknown action 'alocate'"),
            (
                ("objects: {Cell: [gpu0, gpu1]}", "objects: {Cel: [gpu0]}"),
                "mapping.yaml, line 6: \"objects\" has the unknown sort 'Cel'",
            ),
            (("schedproof-mapping: 1", "schedproof-mapping: 2"), '"schedproof-mapping": 2 is not 1'),
            (("- {when: \"msg == 'tick'\", stutter: true}", ""), "line 2: fits no rule of"),
            (("msg == 'tick'", f"{'(' * 900}msg{')' * 900}"), "line 25: the query is nested too deep"),
            (("msg == 'tick'", "[" * 2_000), "line 25: "),
            (("msg == 'tick'", "!" * 100_000), "line 25: the query has 100,000 characters"),
            (("msg == 'tick'", f"msg == '{'x' * 1_000_000}'"), "line 25: the query has 1,000,009 characters"),
        ],
    )
    def test_what_is_wrong_is_one_line(self, change: tuple[str, str], message: str, tmp_path: Path) -> None:
        assert change[0] in MAPPING
        with pytest.raises(TraceError) as caught:
            checked(tmp_path, LOG, MAPPING.replace(*change, 1))
        assert message in str(caught.value) and "\n" not in str(caught.value)

    def test_a_circle_of_files_is_found(self, tmp_path: Path) -> None:
        written(tmp_path, "a.yaml", "schedproof-mapping: 1\nextends: mapping.yaml\n")
        with pytest.raises(
            TraceError, match=r"a\.yaml, line 2: extends mapping\.yaml, which extends this file in turn"
        ):
            checked(tmp_path, LOG, MAPPING + "extends: a.yaml\n")

    def test_no_format_and_no_mapping(self, tmp_path: Path) -> None:
        with pytest.raises(TraceError, match="--mapping cannot read the format hived; leave out --format"):
            checked(tmp_path, LOG, format="hived")


HEADER = {"schedproof": 1, "system": "hived", "objects": {"PodGroup": ["g"], "Cell": ["c"]}}


def value(of: Any) -> dict[str, Any]:
    """A value as OTLP/JSON has it."""
    match of:
        case bool():
            return {"boolValue": of}
        case int():
            return {"intValue": str(of)}
        case str():
            return {"stringValue": of}
        case list():
            return {"arrayValue": {"values": [value(v) for v in of]}}
        case dict():
            return {"kvlistValue": {"values": [{"key": k, "value": value(v)} for k, v in of.items()]}}
    return {}


def batch(*records: dict[str, Any], resource: dict[str, Any] | None = None) -> dict[str, Any]:
    """A batch of log records; each with its attributes, and a body."""

    def attributes(of: dict[str, Any]) -> list[dict[str, Any]]:
        return [{"key": k, "value": value(v)} for k, v in of.items()]

    logs = [
        {"timeUnixNano": "1769904005000000000", "body": value("said"), "attributes": attributes(r)} for r in records
    ]
    scopes = [{"scope": {"name": "scheduler"}, "logRecords": logs}]
    return {"resourceLogs": [{"resource": {"attributes": attributes(resource or {})}, "scopeLogs": scopes}]}


STEP = {
    "action": "allocate",
    "parameters": {"p": "g", "K": ["c"]},
    "state": {"PodGroup": {"g": {"state": "Allocated"}}},
}


class TestITF:
    def test_a_mapping_reads_the_states_of_any_specification(self, tmp_path: Path) -> None:
        """A specification of somebody else: one variable for who holds which GPU, and the name of the step."""
        mapping = """
schedproof-mapping: 1
system: hived
header:
  objects: {PodGroup: [a, b], Cell: [x, y]}
lines:
- {when: '"#" == `0`', stutter: true}
- when: "step == 'Bind'"
  action: allocate
  parameters: {p: job, K: gpus}
  state: {Cell: [{each: holder, object: "[0][0]", user: "[1]"}]}
"""

        def trace(holder: str) -> str:
            states = [
                {"step": "Init", "job": "", "gpus": {"#set": []}, "holder": {"#map": []}},
                {
                    "step": "Bind",
                    "job": "a",
                    "gpus": {"#set": ["y", "x"]},
                    "holder": {"#map": [[{"#tup": ["x", 0]}, holder]]},
                },
            ]
            return json.dumps({"#meta": {}, "vars": ["step", "job", "gpus", "holder"], "states": states}, indent=1)

        assert checked(tmp_path, trace("a"), mapping, format="itf").verdict is CONFORMS
        report = checked(tmp_path, trace("b"), mapping, format="itf")
        assert report.first_nonconformance is not None and report.first_nonconformance.record == 1


def nested(value: Any) -> Any:
    """A batch of one log record, whose one attribute has a value."""
    record = {"attributes": [{"key": "a", "value": value}]}
    return {"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}


class TestOpenTelemetry:
    @pytest.mark.parametrize("form", [json.dumps, lambda record: record], ids=["text", "map"])
    def test_log_records_carry_records(self, form: Any, tmp_path: Path) -> None:
        lines = [batch({"level": 3}, {"schedproof.record": form(STEP)}, resource={"schedproof.header": form(HEADER)})]
        report = check_trace("hived", written(tmp_path, "log", lines))
        assert (report.verdict, report.records, report.format) == (CONFORMS, 1, "otel")
        assert report.note == "1 log records carry no record"
        wrong = {**STEP, "state": {"PodGroup": {"g": {"state": "Pending"}}}}
        lines.append(batch({"schedproof.record": form(wrong)}))
        report = check_trace("hived", written(tmp_path, "log", lines))
        assert report.first_nonconformance is not None
        assert (report.first_nonconformance.record, report.first_nonconformance.line) == (2, 2)

    def test_or_a_mapping_reads_them(self, tmp_path: Path) -> None:
        mapping = """
schedproof-mapping: 1
system: hived
lines:
- {when: "attributes.op == 'bind'", time: time, action: allocate, parameters: {p: attributes.job, K: attributes.gpus}}
"""
        lines = [
            batch({"op": "bind", "job": "a", "gpus": ["x", "y"]}),
            batch({"op": "bind", "job": "b", "gpus": ["y"]}),
        ]
        report = checked(tmp_path, lines, mapping)
        assert report.first_nonconformance is not None and report.first_nonconformance.line == 2

    @each_row(
        ("line", "message"),
        [
            ({"resourceLogs": [7]}, '"resourceLogs" is not a list of objects'),
            (nested({"arrayValue": {"values": True}}), '"values" is not a list of objects'),
            (nested({"kvlistValue": {"values": [{"value": {}}]}}), 'an attribute has no "key"'),
            (nested({"kvlistValue": {"values": [{"key": ["a"], "value": {}}]}}), 'an attribute has no "key"'),
            ({"resourceLogs": [{"resource": 7}]}, "7 is not an object"),
            (batch({"schedproof.header": "{"}), '"schedproof.header" is not JSON'),
            (batch({"schedproof.record": json.dumps(STEP)}), "a record comes before the header"),
            (batch({"other": 1}), "the log has no header"),
            (
                {"resourceLogs": [{"scopeLogs": [{"logRecords": [{"body": {"intValue": "x"}}]}]}]},
                "is not a whole number",
            ),
            (
                {"resourceLogs": [{"scopeLogs": [{"logRecords": [{"body": {"a": 1, "b": 2}}]}]}]},
                "is not a value of OpenTelemetry; write one such as",
            ),
            (
                {"resourceLogs": [{"scopeLogs": [{"logRecords": [{"attributes": [{"value": {}}]}]}]}]},
                'an attribute has no "key"',
            ),
        ],
    )
    def test_what_is_wrong_is_one_line(self, line: dict[str, Any], message: str, tmp_path: Path) -> None:
        with pytest.raises(TraceError) as caught:
            check_trace("hived", written(tmp_path, "log", [line]))
        assert message in str(caught.value) and "\n" not in str(caught.value)
