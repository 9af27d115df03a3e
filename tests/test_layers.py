"""Who may import whom. Imports inside functions and for types only count, too."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

import grimp
import networkx as nx
import pytest

from tests.support.rows import each_row

LAYERS = [
    "cli",
    "service | testing",
    "diagrams",
    "proofs.verification",
    "proofs.refinement",
    "proofs.coverage | proofs.export | proofs.strengthen",
    "proofs.traces | proofs.checking | proofs.cluster",
    "proofs.compiled | proofs.induction | proofs.locks",
    "proofs.exploration | proofs.second_solver",
    "model.quotes",
    "proofs.verdict | proofs.gc_paused | proofs.cache | proofs.cvc5_process | proofs.inner_loops | model.ledger",
    "impl | model.cited",
    "model.registry",
    "model.locks | model.semantics",
    "model.lang",
    "model.errors | model.notebook",
]
"""From top to bottom: a room imports what is below it. Rooms side by side do not import each other."""

SYSTEMS = ("model", "impl", "proofs")
"""The parts that have a folder ``systems``: a system imports the tool, and nothing of another system."""

Arrow = tuple[str, str]


@cache
def arrows() -> frozenset[Arrow]:
    """Every import of one of our modules by another, by their names below ``schedproof``."""
    graph = grimp.build_graph("schedproof")
    imports = {(m, t) for m in graph.modules for t in graph.find_modules_directly_imported_by(m)}
    assert len(imports) > 2000
    return frozenset((m.removeprefix("schedproof."), t.removeprefix("schedproof.")) for m, t in imports)


def level(module: str) -> int | None:
    """Which layer a module of the tool is in; None for what is in none."""
    if system(module) is not None:
        return None
    rooms = {room: n for n, layer in enumerate(LAYERS) for room in layer.split(" | ")}
    return next((n for room, n in rooms.items() if f"{module}.".startswith(f"{room}.")), None)


def system(module: str) -> str | None:
    """The system that a module belongs to."""
    part, _, rest = module.partition(".")
    return rest.split(".")[1] if part in SYSTEMS and rest.startswith("systems.") else None


def upwards(arrow: Arrow) -> bool:
    """From a layer to one above, or to another room of the same."""
    above, below = level(arrow[0]), level(arrow[1])
    if above is None or below is None:
        return False
    return below < above or (below == above and room(arrow[0]) != room(arrow[1]))


def room(module: str) -> str:
    """The name that its layer has for a module."""
    return next(r for layer in LAYERS for r in layer.split(" | ") if f"{module}.".startswith(f"{r}."))


def from_the_tool_to_a_system(arrow: Arrow) -> bool:
    """Systems are found by their manifests, and named by nobody."""
    return system(arrow[0]) is None and system(arrow[1]) is not None


def from_a_system_to_another(arrow: Arrow) -> bool:
    """What two systems need belongs to the tool."""
    return None not in (system(arrow[0]), system(arrow[1])) and system(arrow[0]) != system(arrow[1])


def broken(rule: Callable[[Arrow], bool]) -> Iterator[str]:
    """The arrows that break a rule."""
    return (f"{a} imports {b}" for a, b in sorted(arrows()) if rule((a, b)))


@pytest.mark.parametrize("rule", [upwards, from_the_tool_to_a_system, from_a_system_to_another])
def test_no_import_breaks_the_layers(rule: Callable[[Arrow], bool]) -> None:
    assert list(broken(rule)) == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    circles = [sorted(c) for c in nx.strongly_connected_components(nx.DiGraph(arrows())) if len(c) > 1]
    assert circles == []


@each_row(
    ("arrow", "rule"),
    [
        (("model.lang.terms", "model.semantics.step"), upwards),
        (("proofs.compiled.search", "proofs.induction.solve"), upwards),
        (("service.web", "cli.errors"), upwards),
        (("proofs.traces.check", "proofs.systems.hived.traces.calls"), from_the_tool_to_a_system),
        (("impl.systems.yunikorn_merge.objects", "impl.systems.yunikorn.core.records"), from_a_system_to_another),
        (("proofs.systems.hived.traces.calls", "model.systems.beaker.sorts"), from_a_system_to_another),
    ],
)
def test_a_wrong_import_would_be_noticed(arrow: Arrow, rule: Callable[[Arrow], bool]) -> None:
    assert rule(arrow)


def test_every_module_is_in_a_room() -> None:
    packages = {"schedproof", "model", "impl", "proofs", "model.systems", "impl.systems", "proofs.systems"}
    front_doors = {"__main__", "api", "pytest_plugin"}
    modules = {module for arrow in arrows() for module in arrow}
    assert {m for m in modules if level(m) is None and system(m) is None} <= packages | front_doors
