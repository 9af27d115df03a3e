"""The table of the protocols in the README: ``python -m benchmarks.protocols.table`` writes it anew.

States are counted by exploration, at the default scope of the model and at a second one.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from schedproof.model.lang import Model
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.model.registry.discovery import systems_of_folder
from schedproof.model.registry.loading import load
from schedproof.proofs.checking.model_check import explored

FOLDER = Path(__file__).parent
README = FOLDER / "README.md"
COLUMNS = ("protocol", "source", "sorts", "actions", "properties", "scope", "states", "second scope", "states")
MARK = "<!-- the table: python -m benchmarks.protocols.table -->\n"

SECOND: Mapping[str, Mapping[str, int]] = {
    "blockchain": {"Time": 2},
    "chord": {"Node": 2},
    "client-server": {"Node": 2, "Request": 2, "Response": 2},
    "client-server-db": {"Node": 2, "Request": 2, "Response": 2, "Number": 2},
    "consensus-epr": {"Node": 3, "Quorum": 3, "Value": 1},
    "consensus-forall": {"Node": 3, "Quorum": 3, "Value": 1},
    "consensus-once": {"Value": 5},
    "consensus-wo-decide": {"Node": 3, "Quorum": 3},
    "database-chain-replication": {"Transaction": 5, "Operation": 8},
    "decentralized-lock": {"Node": 3, "Time": 3},
    "distributed-lock": {"Node": 3, "Epoch": 3},
    "fast-paxos": {"Node": 3, "Classic": 3},
    "firewall": {"Node": 4},
    "flexible-paxos": {"Node": 3, "First": 1, "Second": 2, "Round": 2, "Value": 2},
    "german": {"Client": 3},
    "hybrid-reliable-broadcast": {"Node": 2, "QuorumA": 2, "QuorumB": 2},
    "learning-switch": {"Node": 4, "Packet": 1},
    "learning-switch-lossy": {"Node": 2},
    "lock-server": {"Node": 4},
    "lock-server-async": {"Node": 3, "Lock": 2},
    "lock-server-sync": {"Client": 3, "Server": 3},
    "majorityset-leader-election": {"Node": 4, "Majority": 4},
    "multi-paxos": {"Node": 2, "Quorum": 1, "Round": 2, "Instance": 2, "Value": 2},
    "naive-consensus": {"Node": 4, "Quorum": 4, "Value": 3},
    "paxos": {"Node": 3, "Quorum": 3, "Round": 2, "Value": 2},
    "peterson": {},
    "quorum-leader-election": {"Node": 4, "Quorum": 4},
    "raft-election": {"Node": 3, "Quorum": 3, "Term": 2},
    "ricart-agrawala": {"Node": 3},
    "ring-election": {"Node": 5},
    "ring-not-dead": {"Node": 4},
    "sharded-kv": {"Node": 3, "Key": 2, "Value": 2},
    "sharded-kv-no-lost-keys": {"Node": 3, "Key": 2, "Value": 2},
    "sharded-kv-retransmit": {"Node": 2, "Key": 1, "Value": 2, "Number": 1},
    "simple": {"Process": 5},
    "simple-decentralized-lock": {"Node": 5},
    "simple-election": {"Acceptor": 4, "Quorum": 4, "Proposer": 3},
    "simple-regular": {"Process": 4},
    "ticket-lock": {"Thread": 3, "Ticket": 5},
    "token-ring": {"Node": 5},
    "toy-consensus": {"Node": 4, "Quorum": 4, "Value": 3},
    "toy-consensus-epr": {"Node": 5, "Quorum": 10, "Value": 3},
    "toy-consensus-forall": {"Node": 4, "Quorum": 4, "Value": 3},
    "transaction-commit": {"Resource": 4},
    "two-phase-commit": {"Node": 3},
    "two-phase-tla": {"Resource": 4},
}
"""The numbers of objects of a second scope that differ from those of the model's default scope."""


@cache
def protocols() -> Mapping[str, Model]:
    """The model of each protocol, by name."""
    return {name: load(entry).base for name, entry in sorted(systems_of_folder(FOLDER).items())}


def module(name: str) -> str:
    """The name of the module of a protocol."""
    return name.replace("-", "_")


def first_scope(name: str) -> Mapping[str, int]:
    """The default scope of a protocol."""
    return protocols()[name].default_scope


def second_scope(name: str) -> Mapping[str, int]:
    """The second scope of a protocol."""
    return {**first_scope(name), **SECOND[name]}


def states(name: str, sizes: Mapping[str, int]) -> int:
    """The number of reachable states at a scope, in all its configurations."""
    numbers: list[int] = []
    explored(protocols()[name], sizes, only=[WELL_FORMED], on_found=lambda graph: numbers.append(graph.state_count))
    return sum(numbers)


def source(name: str) -> str:
    """The first sentence on the source of a protocol, from the first lines of its module."""
    text = (FOLDER / "suite" / f"{module(name)}.py").read_text("utf-8").split('"""')[1]
    paragraph = text[text.index("Source:") + len("Source:") : text.index("Safety:")]
    sentence = re.split(r"\.\s+(?=[A-Z])", " ".join(paragraph.split()))[0]
    return sentence.rstrip(".").replace("``", "`")


def scope_text(sizes: Mapping[str, int]) -> str:
    """A scope in a few words, such as 2 Node, 1 Key."""
    return ", ".join(f"{count} {sort}" for sort, count in sizes.items())


def row(name: str) -> Sequence[str]:
    """What is known of a protocol without exploring it: the first five columns, and its scopes."""
    model = protocols()[name]
    sorts = ", ".join(machine.sort.name for machine in model.machines)
    properties = ", ".join(each.name for each in model.properties)
    link = f"[{name}](suite/{module(name)}.py)"
    scopes = (scope_text(first_scope(name)), scope_text(second_scope(name)))
    return (link, source(name), sorts, str(len(model.actions)), properties, *scopes)


def line(name: str, first: int, second: int) -> str:
    """A line of the table, with the numbers of states at both scopes."""
    *known, first_text, second_text = row(name)
    return "| " + " | ".join([*known, first_text, f"{first:,}", second_text, f"{second:,}"]) + " |"


def table() -> str:
    """The whole table; this explores each protocol at both scopes."""
    lines = ["| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
    lines += [line(each, states(each, first_scope(each)), states(each, second_scope(each))) for each in protocols()]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Writes the table into the README."""
    before = README.read_text("utf-8").partition(MARK)[0]
    README.write_text(f"{before}{MARK}\n{table()}", "utf-8")


if __name__ == "__main__":
    sys.exit(main())
