"""Small recorded runs of HiveD, written call by call (for tests)."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Held = tuple[str, str] | None


class Run:
    """A trace under construction; every call carries on what the one before left.

    A group is given as (state, cells), one letter a cell: ``U`` or ``u`` used by it, ``X`` or
    ``x`` used by it and reserved for another (or the reverse: the other group says so too),
    ``r`` reserved for it, ``.`` none. Preempting groups reserve; the others use.
    """

    def __init__(self, groups: Mapping[str, int], cells: Sequence[str]) -> None:
        self.groups, self.cells = dict(groups), list(cells)
        self.held: dict[str, tuple[str, str]] = {}
        self.kube: dict[str, dict[str, str]] = {}
        self.epoch = 0
        self.records: list[dict[str, Any]] = []

    def copy(self) -> Run:
        return copy.deepcopy(self)

    def pods(self, name: str | None = None, /, *, crash: bool = False, **states: str | None) -> Run:
        """An AddUnallocatedPod (or Restart) after which the groups' pods are in these states."""
        for group, state in states.items():
            pod = name or f"{group}-1"
            self.kube.pop(pod, None)
            if state:
                self.kube[pod] = {"group": group, "state": state}
        return self.crash() if crash else self.call("AddUnallocatedPod", next(iter(states)))

    def crash(self) -> Run:
        """A Restart."""
        self.epoch += 1
        return self.call("Restart", None)

    def call(
        self,
        op: str,
        group: str | None,
        *,
        gone_groups: Sequence[str] = (),
        gone_pods: Sequence[str] = (),
        priorities: Mapping[str, int] | None = None,
        opportunistic: Sequence[str] = (),
        lazy: Sequence[str] = (),
        panic: str = "",
        **held: Held,
    ) -> Run:
        """One call; ``held`` changes what groups hold (None: not in the table)."""
        self.kube = {p: v for p, v in self.kube.items() if v["group"] not in gone_groups and p not in gone_pods}
        for name, what in held.items():
            self.held.pop(name, None)
            if what:
                self.held[name] = what
        entries: dict[str, Any] = {}
        for name, (state, _) in self.held.items():
            entries[name] = {"state": state, "prio": (priorities or {}).get(name, self.groups[name])}
            if name not in opportunistic:
                entries[name]["pod_vcells"] = [["A/0"]]
            if name in lazy:
                entries[name]["lazy_preempted_by"] = "another"
        self.records.append(
            {
                "i": len(self.records) + 1,
                "epoch": self.epoch,
                "op": op,
                "args": {"group": group} if group else {},
                "result": {"kind": "panic", "message": panic} if panic else {"kind": "ok"},
                "steps": [],
                "state": {"groups": entries, "leaf": {c: self._leaf(i) for i, c in enumerate(self.cells)}},
                "pods": copy.deepcopy(self.kube),
            }
        )
        return self

    def _leaf(self, cell: int) -> dict[str, str]:
        groups: dict[str, str] = {}
        for name, (state, cells) in self.held.items():
            if cells[cell] != ".":
                groups["reserving" if state == "Preempting" else "using"] = name
        states = {(): "Free", ("using",): "Used", ("reserving",): "Reserved"}
        return {"state": states.get(tuple(groups), "Reserving"), **groups}

    def lines(self) -> list[str]:
        """The trace, line by line."""
        header = {
            "header": True,
            "groups": [{"name": n, "prio": p} for n, p in self.groups.items()],
            "state": {"groups": {}, "leaf": {c: {"state": "Free"} for c in self.cells}},
            "physical": {"node": {"level": 2}, **{c: {"level": 1} for c in self.cells}},
        }
        return [json.dumps(line) for line in (header, *self.records)]

    def write(self, path: Path) -> Path:
        """The trace as a file."""
        path.write_text("\n".join(self.lines()) + "\n", "utf-8")
        return path
