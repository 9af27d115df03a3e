"""Marks for what a test needs beyond the extra ``dev``. ``tests/conftest.py`` skips a test whose needs are missing.

``pytest -m needs`` runs only the tests with such a mark.
"""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.jdk import VIRTUAL, newest_jdk
from tests.support.places import SHARED
from tests.support.postgres import Unavailable, find_program, server

needs_dot = pytest.mark.needs("dot")
needs_spin = pytest.mark.needs("spin")
needs_psycopg = pytest.mark.needs("psycopg")
needs_postgresql = pytest.mark.needs("postgresql")
needs_shared = pytest.mark.needs("shared")
needs_curl = pytest.mark.needs("curl")
needs_chromium = pytest.mark.needs("chromium")
needs_proc = pytest.mark.needs("proc")
needs_ray = pytest.mark.needs("ray")
needs_go = pytest.mark.needs("go")
needs_java = pytest.mark.needs("java")
needs_virtual_threads = pytest.mark.needs("virtual threads")
needs_gcc = pytest.mark.needs("gcc")
needs_zsh = pytest.mark.needs("zsh")
needs_fish = pytest.mark.needs("fish")
needs_node = pytest.mark.needs("node")


def _in_path(*programs: str) -> bool:
    return all(shutil.which(program) for program in programs)


def _has_driver() -> bool:
    return importlib.util.find_spec("psycopg") is not None


def _has_browser() -> bool:
    return _in_path("chromium") and all(map(importlib.util.find_spec, ("playwright", "axe_playwright_python")))


def _has_postgresql() -> bool:
    try:
        find_program("initdb"), find_program("postgres")
    except Unavailable:
        return False
    return _has_driver()


NEEDS: dict[str, tuple[str, Callable[[], bool]]] = {
    "dot": ("graphviz's dot (apt-get install graphviz)", lambda: _in_path("dot")),
    "spin": ("SPIN and a C compiler (apt-get install spin gcc)", lambda: _in_path("spin", "gcc")),
    "psycopg": ("psycopg (the extra postgresql)", _has_driver),
    "postgresql": (
        "a PostgreSQL server and psycopg (apt-get install postgresql, the extra postgresql)",
        _has_postgresql,
    ),
    "shared": (
        "the documents, facts and recordings in ../shared",
        lambda: all((SHARED / part).is_dir() for part in ("documents", "facts", "traces")),
    ),
    "curl": ("curl (apt-get install curl)", lambda: _in_path("curl")),
    "gcc": ("a C compiler (apt-get install gcc)", lambda: _in_path("gcc")),
    "go": ("the Go compiler (apt-get install golang-go)", lambda: _in_path("go")),
    "java": (
        "a Java development kit (apt-get install default-jdk-headless)",
        lambda: _in_path("javac", "java", "jstack"),
    ),
    "virtual threads": (
        f"a Java development kit of version {VIRTUAL} or later, in JAVA_HOME or /usr/lib/jvm",
        lambda: (kit := newest_jdk()) is not None and kit[0] >= VIRTUAL,
    ),
    "zsh": ("zsh (apt-get install zsh)", lambda: _in_path("zsh")),
    "fish": ("fish (apt-get install fish)", lambda: _in_path("fish")),
    "node": ("Node (apt-get install nodejs)", lambda: _in_path("node")),
    "chromium": ("chromium and Playwright (apt-get install chromium, the extra browser)", _has_browser),
    "ray": ("Ray (the extra cluster)", lambda: importlib.util.find_spec("ray") is not None),
    "proc": ("Linux's /proc", Path("/proc/self/status").exists),
}
"""By the mark's argument: what the test needs, and a check whether it is there."""


def missing(item: pytest.Item) -> list[str]:
    """Returns the descriptions of the needs of a test that are missing."""
    names = dict.fromkeys(name for mark in item.iter_markers("needs") for name in mark.args)
    return [description for description, is_there in map(NEEDS.__getitem__, names) if not is_there()]


@contextmanager
def postgresql() -> Iterator[str]:
    """Yields the URL of an empty database. Skips the test if the server does not start."""
    try:
        with server() as url:
            yield url
    except Unavailable as reason:
        pytest.skip(f"no PostgreSQL here: {reason}")
