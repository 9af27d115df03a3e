"""Systems put in place of those that come with schedproof."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from schedproof.model.registry import discovery, loading
from schedproof.model.registry.manifest import Entry, SystemTable
from schedproof.model.registry.system import System


def put(monkeypatch: pytest.MonkeyPatch, systems: Mapping[str, System]) -> None:
    """Has the registry find just ``systems``, as if each had a manifest."""
    entries = {name: Entry(Path(f"{name}.toml"), None, name, SystemTable(), (), {}) for name in systems}
    real = loading.load
    monkeypatch.setattr(discovery, "builtin", lambda: discovery.SystemIndex(entries))
    monkeypatch.setattr(
        loading, "load", lambda entry: systems[entry.name] if entry in entries.values() else real(entry)
    )
