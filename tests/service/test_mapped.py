"""Sessions that take lines of a log as its program writes them, by a mapping of the server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from schedproof.cli import main
from schedproof.model.registry.errors import UserError
from schedproof.proofs.traces import TraceError, check_trace
from schedproof.service.catalogue import systems
from schedproof.service.mapped import Mappings, read_mappings
from tests.service.bench import client, together
from tests.service.test_rpc import asked, call

APP = """\
schedproof-mapping: 1
system: hived
header: {objects: {PodGroup: [batch], Cell: [gpu0, gpu1]}, rigid: {PodGroup: {outranks: {batch: []}}}}
otherwise: skip
lines:
- when: "msg == 'placed'"
  action: allocate
  parameters: {p: job, K: gpus}
- when: "msg == 'gone and seen'"
  records:
  - {action: delete_allocated, parameters: {p: job}}
  - {state: {Cell: [{each: gpus, object: "@", state: $.as}]}}
- {when: "msg == 'tick'", stutter: true}
"""
TEXT = """\
schedproof-mapping: 1
system: hived
pattern: '^(?P<job>\\w+) takes (?P<gpu>\\w+)$'
header: {objects: {PodGroup: [batch], Cell: [gpu0, gpu1]}, rigid: {PodGroup: {outranks: {batch: []}}}}
otherwise: skip
lines:
- {action: allocate, parameters: {p: job, K: "[gpu]"}}
"""
PLACED = {"msg": "placed", "job": "batch", "gpus": ["gpu0"]}
LEFT_CELL = {"msg": "gone and seen", "job": "batch", "gpus": ["gpu0"], "as": "Free"}
TICK, NOTE = {"msg": "tick"}, {"msg": "note"}


@pytest.fixture
def mappings(tmp_path: Path) -> Mappings:
    """The mappings ``app`` and ``text``."""
    for name, content in (("app.yaml", APP), ("text.yaml", TEXT)):
        (tmp_path / name).write_text(content, "utf-8")
    return read_mappings([str(tmp_path / "app.yaml"), str(tmp_path / "text.yaml")], systems())


async def session(asking: Any, **more: object) -> str:
    answer = await asking.post("/sessions", json={"mapping": "app", **more})
    assert answer.status_code == 201, answer.text
    return f"/sessions/{answer.json()['id']}"


def test_lines_are_checked_as_they_are(mappings: Mappings) -> None:
    async def scenario() -> None:
        async with client(mappings=mappings) as asking:
            url = await session(asking)
            reply = (await asking.post(f"{url}/records", json=[PLACED, TICK, NOTE])).json()
            assert (reply["taken"], reply["lines"], reply["records"], reply["verdict"]) == (3, 3, 1, "conforms")
            assert reply["note"].startswith("1 line is no step; 1 line fits no rule of ")
            reply = (await asking.post(f"{url}/records?after=3", json=[LEFT_CELL])).json()
            assert (reply["taken"], reply["lines"], reply["records"], reply["verdict"]) == (1, 4, 3, "conforms")
            assert (await asking.post(f"{url}/records?after=3", json=[LEFT_CELL])).status_code == 409

    together(scenario)


def test_the_report_is_that_of_validate(mappings: Mappings, tmp_path: Path) -> None:
    lines = [PLACED, TICK, {**LEFT_CELL, "as": "Used"}, PLACED]
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    expected = check_trace("hived", log, mapping=tmp_path / "app.yaml").as_json()

    async def scenario() -> None:
        async with client(mappings=mappings) as asking:
            url = await session(asking)
            reply = (await asking.post(f"{url}/records", json=lines)).json()
            assert (reply["taken"], reply["verdict"]) == (3, "violates")
            report = (await asking.get(url)).json()
            assert report["lines"] == 3 and report["format"] == "mapping"
            assert report["first_departure"] == expected["first_departure"]
            assert report["first_departure"]["line"] == 3

    together(scenario)


def test_lines_of_text_are_those_of_the_body(mappings: Mappings) -> None:
    async def scenario() -> None:
        async with client(mappings=mappings) as asking:
            url = await session(asking, mapping="text")
            body = b"starting up\n\nbatch takes gpu1\n"
            headers = {"content-type": "application/x-ndjson"}
            reply = (await asking.post(f"{url}/records", content=body, headers=headers)).json()
            assert (reply["taken"], reply["records"], reply["verdict"]) == (2, 1, "conforms")
            reply = (await asking.post(f"{url}/records", json=["batch takes gpu0"])).json()
            assert (reply["taken"], reply["verdict"]) == (1, "violates")

    together(scenario)


def test_a_wrong_line_changes_nothing(mappings: Mappings) -> None:
    wrong: list[tuple[object, str]] = [
        ({**PLACED, "gpus": ["gpu7"]}, "log, line 2: "),
        ({"msg": "placed"}, "parameters.p: the query job gives null in this line"),
        ({**LEFT_CELL, "gpus": ["gpu7"]}, "log, line 2: state.Cell has the unknown object 'gpu7'"),  # its second record
        (3, "log, line 2: 3 is neither an object nor a text; send a line of the log"),
    ]

    async def scenario() -> None:
        async with client(mappings=mappings) as asking:
            for line, says in wrong:
                url = await session(asking)
                answer = await asking.post(f"{url}/records", json=[PLACED, line])
                reply = answer.json()
                assert answer.status_code == 422 and says in reply["message"], reply
                assert "/" not in reply["message"], "the folders of the server are not the client's business"
                assert (reply["record"], reply["taken"], reply["lines"]) == (2, 1, 1)
                assert (await asking.post(f"{url}/records?after=1", json=[LEFT_CELL])).json()["verdict"] == "conforms"

    together(scenario)


@pytest.mark.parametrize("odd", ["\ud800", 10**30], ids=["half a character", "a large number"])
def test_odd_values_of_a_skipped_line_are_quoted(mappings: Mappings, odd: object) -> None:
    async def scenario() -> None:
        async with client(mappings=mappings) as asking:
            url = await session(asking)
            body = json.dumps([{"msg": "note", "of": odd}, PLACED])
            headers = {"content-type": "application/json"}
            reply = (await asking.post(f"{url}/records", content=body, headers=headers)).json()
            assert (reply["taken"], reply["records"], reply["verdict"]) == (2, 1, "conforms"), reply

    together(scenario)


def test_ends_of_lines_may_be_those_of_windows(mappings: Mappings) -> None:
    async def scenario() -> None:
        async with client(mappings=mappings) as asking:
            url = await session(asking, mapping="text")
            headers = {"content-type": "application/x-ndjson"}
            reply = (await asking.post(f"{url}/records", content=b"batch takes gpu1\r\n", headers=headers)).json()
            assert (reply["records"], reply.get("note")) == (1, None)

    together(scenario)


def test_a_line_that_is_not_utf_8_is_refused(mappings: Mappings) -> None:
    async def scenario() -> None:
        async with client(mappings=mappings) as asking:
            url = await session(asking)
            headers = {"content-type": "application/x-ndjson"}
            answer = await asking.post(f"{url}/records", content=b"\xff\n", headers=headers)
            assert (
                answer.status_code == 422 and answer.json()["message"] == "log, line 1: not UTF-8; send text as UTF-8"
            )

    together(scenario)


def test_the_request_may_replace_the_header(mappings: Mappings) -> None:
    async def scenario() -> None:
        async with client(mappings=mappings) as asking:
            url = await session(asking, objects={"PodGroup": ["batch"], "Cell": ["gpu9"]}, variant="repaired")
            reply = (await asking.post(f"{url}/records", json=[{**PLACED, "gpus": ["gpu9"]}])).json()
            assert (reply["verdict"], reply["variant"]) == ("conforms", "repaired")

    together(scenario)


def test_a_wrong_request_says_what_to_write(mappings: Mappings) -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"mapping": "ap"}, "unknown mapping 'ap'; did you mean app? choose from app, text"),
        (
            {"mapping": "app", "scope": {}},
            'unknown field "scope" beside a mapping; choose from mapping, objects, variant',
        ),
        ({"mapping": "app", "system": "beaker"}, "the mapping is for hived; leave out the system"),
        ({"mapping": "app", "variant": "nosuch"}, "unknown variant of hived 'nosuch'"),
    ]

    async def scenario() -> None:
        async with client(mappings=mappings) as asking:
            for body, says in wrong:
                answer = await asking.post("/sessions", json=body)
                assert answer.status_code == 422 and answer.json()["message"].startswith(says), body

    together(scenario)


def test_a_server_without_mappings_says_so() -> None:
    async def scenario() -> None:
        async with client() as asking:
            answer = await asking.post("/sessions", json={"mapping": "app"})
            assert answer.json()["message"].startswith("the server has no mappings; start it with --mapping FILE")

    together(scenario)


def test_json_rpc_takes_lines_too(mappings: Mappings) -> None:
    listed, created, checked, report = asked(
        call("systems"),
        call("session.create", mapping="app"),
        call("session.records", session="{id}", records=[PLACED, TICK, {**LEFT_CELL, "as": "Used"}]),
        call("session.report", session="{id}"),
        mappings=mappings,
    )
    assert listed["result"]["mappings"] == {"app": "hived", "text": "hived"}
    assert created["result"]["lines"] == 0
    assert (checked["result"]["taken"], checked["result"]["verdict"]) == (3, "violates")
    assert report["result"]["first_departure"]["unexplained"][0]["object"] == "gpu0"


def test_mappings_are_checked_when_the_server_begins(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a").mkdir()
    for name, content in (
        ("app.yaml", APP), ("a/app.yaml", APP), ("other.yaml", APP.replace("system: hived", "system: hive")),
        ("wrong.yaml", APP.replace("action: allocate", "action: alocate")),
    ):  # fmt: skip
        (tmp_path / name).write_text(content, "utf-8")
    with pytest.raises(UserError, match="'app' is the name of two mappings; rename one of the files"):
        read_mappings([str(tmp_path / "app.yaml"), str(tmp_path / "a" / "app.yaml")], systems())
    with pytest.raises(UserError, match="unknown system 'hive'; did you mean hived"):
        read_mappings([str(tmp_path / "other.yaml")], systems())
    with pytest.raises(TraceError, match="unknown action 'alocate'; did you mean allocate"):
        read_mappings([str(tmp_path / "wrong.yaml")], systems())
    assert main(["serve", "--mapping", str(tmp_path / "missing.yaml"), "--openapi", "-"]) == 2
    assert "cannot be read" in capsys.readouterr().err
