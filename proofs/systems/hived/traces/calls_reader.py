"""Reads recorded runs of the HiveD scheduling algorithm: the parts that trace validation uses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schedproof.proofs.traces.files.lines import Line
from schedproof.proofs.traces.files.schema import Shape

SCHEMA = Path(__file__).parent / "calls.schema.json"

OPPORTUNISTIC = -1
"""The priority of a group without a placement in its virtual cluster."""


@dataclass(frozen=True)
class Entry:
    """A group in the group table: its state, and the priority at which it runs."""

    state: str
    priority: int


@dataclass(frozen=True)
class Leaf:
    """A leaf cell."""

    state: str
    using: str | None
    reserving: str | None


@dataclass(frozen=True)
class Pod:
    """A pod as Kubernetes sees it. An allocated pod has cells: it is binding or bound."""

    name: str
    state: str

    @property
    def allocated(self) -> bool:
        return self.state in ("binding", "bound")


@dataclass(frozen=True)
class Call:
    """One record: a call, and the state observed after it. ``pods`` has a list for every group."""

    number: int
    line: int
    epoch: int
    op: str
    group: str | None
    pod: str | None
    panic: str
    table: Mapping[str, Entry]
    leaves: Mapping[str, Leaf]
    pods: Mapping[str, Sequence[Pod]]

    @property
    def says(self) -> str:
        """The call as a short description."""
        about = f" of {self.group}" + (f" (pod {self.pod})" if self.pod else "") if self.group else ""
        return self.op + about


@dataclass(frozen=True)
class HivedTrace:
    """A trace: the priorities of the groups by name, the leaf cells and the calls."""

    groups: Mapping[str, int]
    cells: Sequence[str]
    calls: Sequence[Call]


def is_hived(header: Mapping[str, Any]) -> bool:
    """Whether ``header`` is the first line of a HiveD trace."""
    return header.get("header") is True


def read_hived(lines: Sequence[Line]) -> HivedTrace:
    """Returns the trace in ``lines``.

    Raises:
        TraceError: a value is missing, of the wrong type or not in the header.
    """
    header, *rest = lines
    if not is_hived(header.value):
        raise header.error('the header of a HiveD trace is missing; write "header": true in the first line')
    Shape.load(SCHEMA, "header").check(header)
    groups: dict[str, int] = {}
    for group in header.value["groups"]:
        if group["name"] in groups:
            raise header.error(f"two groups are named {group['name']}; give each its own name")
        groups[group["name"]] = group["prio"]
    cells = [address for address, cell in header.value["physical"].items() if cell["level"] == 1]
    if not cells:
        raise header.error('no cell of "physical" has level 1; leaf cells do')
    shape = Shape.load(SCHEMA, "record")
    return HivedTrace(groups, cells, [_call(line, shape, groups, cells) for line in rest])


def _call(line: Line, shape: Shape, groups: Mapping[str, int], cells: Sequence[str]) -> Call:
    shape.check(line)
    value = line.value

    def known(name: str | None, where: str) -> str | None:
        if name is not None and name not in groups:
            raise line.error(f"{where} names the unknown group {name!r}; the header has {', '.join(groups)}")
        return name

    state, args, result = value["state"], value["args"], value["result"]
    for name in state["groups"]:
        known(name, "state.groups")
    leaves = {}
    for address, leaf in state["leaf"].items():
        if address not in cells:
            raise line.error(f"state.leaf has the unknown cell {address!r}; the header has {', '.join(cells)}")
        where = f"state.leaf[{address}]"
        leaves[address] = Leaf(
            leaf["state"],
            known(leaf.get("using"), f"{where}.using"),
            known(leaf.get("reserving"), f"{where}.reserving"),
        )
    if missing := [c for c in cells if c not in leaves]:
        raise line.error(f"state.leaf lacks the cell {missing[0]!r}; every leaf cell of the header is observed")
    pods: dict[str, list[Pod]] = {name: [] for name in groups}
    for name, pod in value["pods"].items():
        known(pod["group"], f"pods[{name}]")
        pods[pod["group"]].append(Pod(name, pod["state"]))
    return Call(
        number=value["i"],
        line=line.number,
        epoch=value["epoch"],
        op=value["op"],
        group=known(args.get("group"), "args.group"),
        pod=args.get("pod"),
        panic=_panic(result),
        table={n: Entry(g["state"], _priority(g)) for n, g in state["groups"].items()},
        leaves=leaves,
        pods=pods,
    )


def _priority(group: Mapping[str, Any]) -> int:
    """The priority at which a group runs, which may differ from its own (rule 5 of the format)."""
    virtual = group.get("pod_vcells") is not None and not group.get("lazy_preempted_by")
    return int(group["prio"]) if virtual else OPPORTUNISTIC


def _panic(result: Mapping[str, Any]) -> str:
    if result["kind"] != "panic":
        return ""
    message = str(result.get("message", "")).split("\n")[0][:200]
    return f"panics: {message}" if message else "panics"
