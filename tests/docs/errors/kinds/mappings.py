"""Errors of a mapping file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from schedproof.proofs.traces import check_trace
from tests.docs.errors.case import Case, Content, written
from tests.docs.errors.kinds.traces import short
from tests.proofs.traces.formats.test_mapping import LOG, MAPPING
from tests.proofs.traces.formats.test_mapping import written as written_log

SMALL = "schedproof-mapping: 1\nsystem: hived\n"


def _mapped(
    shown: str, text: Content, log: object = LOG, files: dict[str, Content] | None = None, **options: str
) -> Case:
    def go() -> object:
        written({"mapping.yaml": text, **(files or {})})
        return check_trace("hived", written_log(Path.cwd(), "log.jsonl", log), mapping=Path("mapping.yaml"), **options)  # type: ignore[arg-type]

    return Case(short(shown), go)


def _changed(old: str, new: str, shown: str = "") -> Case:
    assert old in MAPPING
    return _mapped(
        shown or new.strip().splitlines()[-1] if (shown or new).strip() else f"(without) {old.strip()}",
        MAPPING.replace(old, new, 1),
    )


def _query(query: str) -> str:
    return f"{SMALL}lines:\n- {{when: msg, action: allocate, parameters: {{p: '{query}'}}}}\n"


def cases() -> Iterator[Case]:
    yield _changed("system: hived", "system: beaker")
    yield _changed("system: hived\n", "")
    yield _changed("lines:", "rows:")
    yield _changed("action: allocate", "acton: allocate")
    yield _changed("msg == 'tick'", "msg == ", 'when: "msg == "')
    yield _changed("names: states}}]\n    Cell", "names: stats}}]\n    Cell", "state: {value: status, names: stats}")
    yield _changed("stutter: true", "stutter: false")
    yield _changed("system: hived", "system: hived\nextends: mapping.yaml")
    yield _changed("system: hived", "system: hived\nextends: other.yaml")
    yield _changed("system: hived", "system: *hived")
    yield _changed("system: hived", "system: [hived")
    yield _changed("system: hived", "system: hived\nsystem: hived")
    yield _changed("system: hived", "system: hived\n[1]: hived")
    yield _changed("system: hived", "system: hived\npattern: '(?P<a>'")
    yield _changed("system: hived", "system: hived\npattern: 'a'")
    yield _changed("action: allocate", "action: alocate")
    yield _changed("action: allocate", "action: {value: to_string('alocate')}")
    yield _changed("stutter: true", "stutter: true, crash: true")
    yield _changed("objects: {Cell: [gpu0, gpu1]}", "objects: {Cel: [gpu0]}")
    yield _changed("schedproof-mapping: 1", "schedproof-mapping: 2")
    yield _changed("{each: gpus, object: id, user: holder}", "{each: gpus, object: name, user: holder}")
    yield _changed("- {when: \"msg == 'tick'\", stutter: true}", "", '(no rule for) {"ts": 1, "msg": "tick"}')
    yield _changed("msg == 'tick'", f"{'(' * 900}msg{')' * 900}", "when: ((((...msg...))))")
    yield _changed("msg == 'tick'", "!" * 100_000, "when: !!!!...")
    yield _mapped("(no lines)", SMALL)
    yield _mapped("(empty)", "")
    yield _mapped("\\xff", b"\xff")
    yield _mapped("\\a", b"\a")
    yield _mapped("[[[[...", "[" * 60)
    yield _mapped("pattern: '^(?P<a>x)$'", f"{SMALL}pattern: '^(?P<a>x)$'\nlines:\n- {{stutter: true}}\n", "y\n")
    yield _mapped("p: 'length(job)'", _query("length(job)"), [{"msg": 1, "job": 3}])
    yield _mapped(
        "p: 'a.b.c' in a line that is nested too deep", _query("[*]" * 900), '{"msg": ' + "[" * 900 + "]" * 900 + "}\n"
    )
    yield _mapped("--format hived", MAPPING, format="hived")
    yield Case(
        "--mapping missing.yaml",
        lambda: check_trace("hived", written_log(Path.cwd(), "log.jsonl", LOG), mapping=Path("missing.yaml")),
    )
    yield Case(
        "--mapping 'a\\0b'",
        lambda: check_trace("hived", written_log(Path.cwd(), "log.jsonl", LOG), mapping=Path("a\0b")),
    )
