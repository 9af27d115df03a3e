"""Errors of a lock description: those of ``tests/model/locks``, and those that an exploration finds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from schedproof.model.locks.reading import LARGEST, parse, read
from schedproof.proofs.locks.explore import explore_all
from schedproof.proofs.locks.model_check import model_check
from tests.docs.errors.case import Case, Content, written
from tests.model.locks.test_language import CALLED, CLASSES, THREAD, WRONG


def _line(text: str, line: int) -> str:
    lines = text.splitlines()[line - 1 : line]
    return lines[0].strip() if lines else "(empty)"


def _parsed(text: str, line: int) -> Case:
    return Case(_line(text, line), lambda: parse(text, "locks.yaml"))


def _checked(text: str, line: int) -> Case:
    return Case(_line(text, line), lambda: model_check(parse(text, "locks.yaml")))


def _read(shown: str, files: dict[str, Content], name: str = "a.yaml") -> Case:
    def go() -> object:
        written(files)
        return read(Path(name))

    return Case(shown, go)


BASE = "objects: {x: rw}\nthreads: {x: [rlock x: []]}\n"


def cases() -> Iterator[Case]:
    for text, line, _ in WRONG:
        yield _parsed(text, line)
    for step in ("go(q)", "each Q q in p: []", "each P x in q: []", "each outermost P x: []", "rlock q.Q"):
        yield _parsed(f"{CALLED}threads:\n  t:\n    - {step}\n", 9)
    yield _parsed("objects: {a: mutex}\nthreads:\n  one:\n    - either: []\n", 4)
    yield _parsed(THREAD + "    - maybe:\n        - serve: [rlock a: []]\n", 5)
    yield _parsed(CLASSES + "objects:\n  p: P\n  r: P\n  q: Q in p, r\n", 7)
    yield _parsed("objects: {a: " + "[" * 5000 + "\n", 1)
    yield _checked(
        "rules:\n  no-deadlock: write Q.f needs wlock\nobjects: {q: Q}\nthreads: {t: [rlock q: []]}\n" + CLASSES, 2
    )
    yield _checked("classes: {Queue: {}}\n", 1)
    yield _checked("objects: {a: rw}\nthreads: {t: [rlock a: []]}\nrefuted: [no-dedlock]\n", 3)
    yield _checked("objects: {a: mutex}\noperations: {go: [go()]}\nthreads: {t: [go()]}\n", 2)
    yield _checked("objects: {a: rw}\nthreads:\n  t: [serve: [maybe: []]]\n", 3)
    yield _checked("objects: {a: rw}\nthreads:\n  t: [serve: [go: [rlock a: []]]]\n", 3)
    yield _checked(CLASSES + "objects: {q: Q}\nthreads:\n  t: [rlock q.P]\n", 6)
    yield _read("schedproof locks big.yaml", {"a.yaml": b"#" * (LARGEST + 1)})
    yield _read("schedproof locks missing.yaml", {}, "missing.yaml")
    yield _read("schedproof locks latin-1.yaml", {"a.yaml": b"\xff"})
    yield _read("schedproof locks 'a\\0b'", {}, "a\0b")
    yield _read("amends: folder/b.yaml", {"a.yaml": "amends: folder/b.yaml\n"})
    yield _read("amends: a.yaml", {"a.yaml": "amends: a.yaml\n"})
    yield _read("amends: b.yaml", {"a.yaml": "amends: b.yaml\n"})
    yield _read("drops: [y]", {"a.yaml": "amends: b.yaml\ndrops: [y]\n", "b.yaml": BASE})
    yield _read("drops: [x]", {"a.yaml": "amends: b.yaml\ndrops: [x]\n", "b.yaml": BASE})
    two = "objects:\n  a: P\n  b: P\n  q: Q in a\n  r: R in q, b\n"
    yield _parsed("classes:\n  P: {}\n  Q: {in: P}\n  R: {in: [P, Q]}\n" + two, 9)
    yield Case(
        "go: [go()]", lambda: explore_all(parse("operations: {go: [go()]}\nthreads: {t: [go()]}\n", "locks.yaml"))
    )
