"""The service over HTTP: what it answers, how it describes itself, and who gets in."""

from __future__ import annotations

import json
from typing import Any

import pytest

from schedproof.model.registry.discovery import systems
from tests.support.growth import assert_grows_less
from tests.support.rows import each_row

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")
pytest.importorskip("httpx")

from schedproof.service.gate import LOOPBACK, Gate
from schedproof.service.limits import Limits
from schedproof.service.nursery import Nursery
from schedproof.service.sessions import Sessions
from schedproof.service.strict import NotJson, parse
from schedproof.service.web import application, described
from tests.service.bench import ALLOCATE, COMPLETE, HIVED, PREEMPT, client, created, family, sessions, together

NO_SESSION = [
    (b"", 400, "not JSON"),
    (b"[" * 100_000, 400, "nested deeper"),
    (b'{"system": "hived", "scope": {"Cell": 1' + b"0" * 5000 + b"}}", 400, "the JSON cannot be read"),
    (b'{"system": "hived", "system": "hived"}', 400, 'one object has "system" twice'),
    (b'{"system": NaN}', 400, "not JSON: NaN; send a number"),
    (b"\xff", 400, "byte 1 is not UTF-8"),
    (b"[]", 422, "a session needs an object"),
    (b"{}", 422, '"system" is missing; choose from beaker, hived'),
    (b'{"system": 7}', 422, "the system is not a text"),
    (b'{"system": "hived", "\\ud800": 1}', 422, "unknown field"),  # half of a character
    (b'{"\\ud800": 1, "\\ud800": 1}', 400, "twice"),
    (b'{"system": "hivd"}', 422, "did you mean hived?"),
    (b'{"system": "hived", "variant": "x"}', 422, "choose from as-written, repaired"),
    (b'{"system": "hived", "scope": {"Cells": 1}}', 422, "unknown sort 'Cells'"),
    (b'{"system": "hived", "scope": {"Cell": 65}}', 422, "from 1 to 64"),
    (b'{"system": "hived", "scope": {"Cell": true}}', 422, '"scope" is not an object of numbers'),
    (b'{"system": "hived", "objects": {}}', 422, 'unknown field "objects"'),
    (b'{"system": "beaker"}', 422, "has several configurations"),
    (b'{"system": "hived", "schedproof": 2}', 422, "header: "),
]
"""What is asked, the status of the answer, and some of what it says."""


class TestSession:
    def test_the_report_says_which_row_would_explain_a_record(self) -> None:
        async def scenario() -> None:
            async with client() as asking:
                session_url = f"/sessions/{await created(asking)}"
                freed = {"state": {"Cell": {"c0": {"state": "Free"}}}}
                assert (await asking.post(f"{session_url}/records", json=[ALLOCATE, freed])).json()[
                    "verdict"
                ] == "violates"
                (change,) = (await asking.get(session_url)).json()["first_departure"]["unexplained"]
                assert (change["object"], change["before"], change["observed"]) == ("c0", "Used", "Free")
                (row,) = change["rows"]
                assert row["row"] == "e1 from Used" and row["place"].startswith("hived/machines.py:")
                delete = next(way for way in row["ways"] if way["step"].startswith("delete_preempted("))
                assert delete["needs"] == "p BeingPreempted" and delete["reads"][0]["since"] == {"record": 1, "line": 1}

        together(scenario)

    def test_a_session_from_beginning_to_end(self) -> None:
        async def scenario() -> None:
            async with client() as asking:
                session_url = f"/sessions/{await created(asking)}"
                reply = (await asking.post(f"{session_url}/records", json=[ALLOCATE, PREEMPT])).json()
                assert (reply["taken"], reply["verdict"], reply["records"]) == (2, "conforms", 2)
                reply = (await asking.get(f"{session_url}/events")).json()
                # By hand: g0 is BeingPreempted on c0, its pod there goes first (line 95); or the preemptor g1 goes, or a crash comes.
                assert reply["complete"]
                assert sorted((e["action"], json.dumps(e["parameters"])) for e in reply["events"]) == [
                    ("crash", "{}"),
                    ("delete_preempting", '{"p": "g1"}'),
                    ("vacate", '{"c": "c0"}'),
                ]
                reply = (await asking.post(f"{session_url}/records", json=[COMPLETE, ALLOCATE])).json()
                assert (reply["taken"], reply["verdict"], reply["records"]) == (1, "violates", 3)
                assert reply["first_departure"]["record"] == 3
                report = (await asking.get(session_url)).json()
                assert report["format"] == "schedproof" and report["first_departure"]["candidates"]
                reply = (await asking.post(f"{session_url}/records", json=[ALLOCATE])).json()
                assert (reply["taken"], reply["verdict"], reply["records"]) == (0, "violates", 3), (
                    "nothing changes any more"
                )
                assert (await asking.get(f"{session_url}/events")).json()["events"] == []
                assert (await asking.delete(session_url)).status_code == 204
                assert (await asking.get(session_url)).status_code == 404
                assert len(asking.sessions) == 0

        together(scenario)

    def test_a_header_names_the_objects(self) -> None:
        async def scenario() -> None:
            header = {"schedproof": 1, "system": "hived", "objects": {"PodGroup": ["batch"], "Cell": ["gpu0"]}}
            async with client() as asking:
                session_url = f"/sessions/{await created(asking, {**header, 'variant': 'repaired'})}"
                record = {"action": "allocate", "parameters": {"p": "batch", "K": ["gpu0"]}}
                reply = (await asking.post(f"{session_url}/records", json=[record])).json()
                assert (reply["variant"], reply["verdict"]) == ("repaired", "conforms")

        together(scenario)

    def test_records_one_a_line_up_to_the_first_that_is_none(self) -> None:
        async def scenario() -> None:
            async with client() as asking:
                session_url = f"/sessions/{await created(asking)}/records"
                lines = {"Content-Type": "application/x-ndjson"}
                for bad, says in [
                    ("{", "record 2: not JSON"),
                    ("7", "record 2: a record is not an object"),
                    ('{"action": "fly"}', "record 2: unknown action 'fly'"),
                    ('{"action": "allocate", "parameters": {"p": "g9"}}', "record 2: "),
                    ('{"action": "\\ud800"}', "record 2: unknown action "),
                ]:
                    body = "\n".join(["", json.dumps(ALLOCATE), " ", bad, json.dumps(PREEMPT)])
                    answer = await asking.post(session_url, content=body, headers=lines)
                    reply = answer.json()
                    assert (answer.status_code, reply["error"]) == (422, "bad-record")
                    assert reply["message"].startswith(says) and "\n" not in reply["message"]
                    assert (reply["record"], reply["taken"], reply["records"], reply["verdict"]) == (
                        2,
                        1,
                        1,
                        "conforms",
                    )
                    session_url = f"/sessions/{await created(asking)}/records"

        together(scenario)

    def test_records_are_refused_after_others_than_expected(self) -> None:
        async def scenario() -> None:
            async with client() as asking:
                session_url = f"/sessions/{await created(asking)}/records"
                assert (await asking.post(f"{session_url}?after=0", json=[ALLOCATE])).json()["records"] == 1
                answer = await asking.post(f"{session_url}?after=0", json=[ALLOCATE])
                assert (answer.status_code, answer.json()["error"], answer.json()["records"]) == (409, "conflict", 1)
                assert (await asking.post(f"{session_url}?after=1", json=[PREEMPT])).json()["verdict"] == "conforms"

        together(scenario)

    def test_what_no_session_is_created_for(self) -> None:
        async def scenario() -> None:
            async with client() as asking:
                for asked, status, says in NO_SESSION:
                    answer = await asking.post("/sessions", content=asked, headers={"Content-Type": "application/json"})
                    reply = answer.json()
                    kind = "malformed" if status == 400 else "bad-session"
                    assert (answer.status_code, reply["error"]) == (status, kind), asked[:80]
                    assert says in reply["message"] and "\n" not in reply["message"], asked[:80]
                assert len(asking.sessions) == 0
                assert not family(asking.sessions.nursery.pid), "and nothing is left of it"

        together(scenario)

    @pytest.mark.long
    def test_every_system_can_be_checked(self) -> None:
        """Without names of objects at all: they appear as they are named."""

        async def scenario() -> None:
            async with sessions() as opened:
                for system in systems().values():
                    asked = {"schedproof": 1, "system": system.name}
                    answer = await opened.create(json.dumps(asked).encode())
                    assert answer.done, answer
                    assert answer.body["variant"] == system.validated_by

        together(scenario)


class TestDescription:
    def test_it_is_one_that_clients_can_be_made_of(self) -> None:
        validator = pytest.importorskip("openapi_spec_validator")
        opened = described(Limits())
        validator.validate(opened)
        operations = [o for path in opened["paths"].values() for o in path.values()]
        names = [o["operationId"] for o in operations]
        assert len(set(names)) == len(names) == 11
        assert all(o["description"] for o in operations)

    def test_its_headers_and_records_are_those_of_the_plain_format(self) -> None:
        schemas = described(Limits())["components"]["schemas"]
        assert {"$ref": "#/components/schemas/Objects"} in schemas["Header"]["properties"].values()
        assert {"action", "event", "parameters", "state"} <= set(schemas["Record"]["properties"])
        assert "$defs" not in json.dumps(schemas)

    def test_what_is_answered_is_as_it_says(self) -> None:
        """Every answer of a session's life, held against the schema of its status."""
        jsonschema = pytest.importorskip("jsonschema")
        document = described(Limits())

        def check(method: str, path: str, answer: Any) -> None:
            reply = document["paths"][path][method]["responses"][str(answer.status_code)]
            if "application/json" in reply.get("content", {}):
                schema = {**reply["content"]["application/json"]["schema"], "components": document["components"]}
                jsonschema.Draft202012Validator(schema).validate(answer.json())

        async def scenario() -> None:
            async with client(sessions=1) as asking:
                check("get", "/live", await asking.get("/live"))
                for path in ("/health", "/systems"):
                    check("get", path, await asking.get(path))
                answer = await asking.post("/sessions", json=HIVED)
                check("post", "/sessions", answer)
                for content in (b"", b"{}", b"[]"):
                    headers = {"Content-Type": "application/json"}
                    check("post", "/sessions", await asking.post("/sessions", content=content, headers=headers))
                check("post", "/sessions", await asking.post("/sessions"))
                session_url, form = f"/sessions/{answer.json()['id']}", "/sessions/{id}"
                for records in ([ALLOCATE], [{}], 7, [COMPLETE]):
                    check("post", f"{form}/records", await asking.post(f"{session_url}/records", json=records))
                check("post", f"{form}/records", await asking.post(f"{session_url}/records?after=x", json=[]))
                check("get", form, await asking.get(session_url))
                check("get", f"{form}/events", await asking.get(f"{session_url}/events"))
                check("get", f"{form}/events", await asking.get(f"{session_url}/events?most=0"))
                check("get", "/views", await asking.get("/views"))
                check("get", "/views/{live}", await asking.get("/views/nobody"))
                check("delete", form, await asking.delete(session_url))
                check("get", form, await asking.get(session_url))

            async with client("a token of this server") as asking:
                asking.headers["Authorization"] = "Bearer a token of this server"
                await asking.post("/sessions", json=HIVED)
                answer = await asking.get("/views")
                check("get", "/views", answer)
                assert len(answer.json()["views"]) == 1

        together(scenario)


class TestGate:
    def test_pages_of_the_web_cannot_get_in(self) -> None:
        asked: list[tuple[dict[str, str], int]] = [
            ({}, 200),
            ({"Host": "127.0.0.1:8470"}, 200),
            ({"Host": "LOCALHOST:1"}, 200),
            ({"Host": "[::1]:8470"}, 200),
            ({"Host": "evil.example"}, 403),
            ({"Host": "localhost.evil.example"}, 403),
            ({"Host": "evil.example@localhost:x"}, 403),
            ({"Host": ""}, 403),
            ({"Origin": "http://evil.example"}, 403),
            ({"Origin": "null"}, 403),
        ]

        async def scenario() -> None:
            async with client() as asking:
                for headers, status in asked:
                    answer = await asking.get("/systems", headers=headers)
                    assert answer.status_code == status, headers
                    assert not [name for name in answer.headers if name.startswith("access-control")], headers

        together(scenario)

    def test_nobody_is_held_up_by_a_request_with_very_many_headers(self) -> None:
        gate = Gate(application(Sessions(Nursery(Limits()), Limits())), "a-token-of-some-length", LOOPBACK)

        def refuse(count: int) -> None:
            many = [(b"x%d" % n, b"") for n in range(count)]
            refusal = gate.refusal({"path": "/systems", "headers": [*many, (b"host", b"localhost")]})
            assert refusal is not None and refusal.status_code == 401

        assert_grows_less(refuse, 6_000, 48_000, than=24)

    @pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
    def test_nor_with_what_they_may_send_unasked(self, kind: str) -> None:
        async def scenario() -> None:
            async with client() as asking:
                answer = await asking.post("/sessions", content=json.dumps(HIVED), headers={"Content-Type": kind})
                assert (answer.status_code, answer.json()["error"]) == (415, "unsupported")

        together(scenario)

    def test_who_brings_no_token_is_heard_of_health_only(self) -> None:
        asked = [
            (None, 401),
            ("Bearer a-token-of-some-length", 200),
            ("bearer a-token-of-some-length", 200),
            ("Bearer a-token-of-some-lengtg", 401),
            ("Bearer ", 401),
            ("Basic a-token-of-some-length", 401),
            ("Bearer \xe4", 401),
        ]

        async def scenario() -> None:
            async with client(token="a-token-of-some-length") as asking:
                for brought, status in asked:
                    headers = {} if brought is None else {"Authorization": brought.encode("latin-1")}
                    before = len(asking.sessions)
                    for path in ("/systems", "/openapi.json"):
                        assert (await asking.get(path, headers=headers)).status_code == status, brought
                    assert (await asking.post("/sessions", json=HIVED, headers=headers)).status_code in (201, status)
                    assert len(asking.sessions) - before == (status == 200), brought
                    assert (await asking.get("/health", headers=headers)).status_code == 200, brought

        together(scenario)


class TestStrict:
    def test_what_is_said_twice_is_found_among_very_many(self) -> None:
        def find(count: int) -> None:
            with pytest.raises(NotJson, match=f'"n{count - 1}" twice'):
                parse(json.dumps({f"n{n}": 0 for n in range(count)}).encode()[:-1] + b', "n%d": 0}' % (count - 1))

        assert_grows_less(find, 2_500, 20_000, than=24)

    @pytest.mark.parametrize("text", ['{"a": [1, 2.5, -3e2, null, true, "\\ud800"]}', "[" * 40 + "]" * 40])
    def test_what_is_json(self, text: str) -> None:
        assert parse(text.encode()) == json.loads(text)

    @each_row("text", ["", "{", "1e999", "-1e999", "Infinity", "[" * 41 + "]" * 41, '{"a":1,"a":1}', "9" * 5000])
    def test_what_is_not_taken(self, text: str) -> None:
        with pytest.raises(NotJson) as opened:
            parse(text.encode())
        assert "\n" not in str(opened.value)
