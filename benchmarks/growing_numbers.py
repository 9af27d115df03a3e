"""Validation of logs whose integers grow: ``python benchmarks/growing_numbers.py``.

Nodes have terms, as in Raft: a node stands for election in the next term, or follows another into its term. No state comes
twice. The logs differ in the term in which they begin. The measured work is that of ``schedproof validate`` with the lines of
a file, on one core; the processor time counts.
"""

from __future__ import annotations

import random
import tempfile
import time
from pathlib import Path

import click
import orjson
from rich.console import Console
from rich.table import Table

from schedproof.model.lang import Action, Attribute, Event, Machine, Model, Nat, Row, Sort, State, given, me, variables
from schedproof.model.registry.system import System
from schedproof.proofs.traces import check_trace

Node = Sort("Node", "n")
n, m = variables(Node, "n m")
MACHINE = Machine(
    Node,
    [State("Follower"), State("Candidate")],
    [Attribute("term", Nat)],
    [Event("follow", {"term": Nat})],
)
MODEL = Model(
    system="terms",
    variant="only",
    about="nodes with terms",
    machines=[MACHINE],
    rows=[
        *[Row(Node, "stand", state.name, "Candidate", term=me.term + 1) for state in MACHINE.states],
        *[Row(Node, "follow", state.name, "Follower", term=given("term")) for state in MACHINE.states],
    ],
    actions=[
        Action("stand", [n], [], [n.fires("stand")], "{n} stands for election"),
        Action("follow", [n, m], [n.term < m.term], [n.fires("follow", term=m.term)], "{n} follows {m}"),
    ],
    rules=[],
    properties=[],
    default_scope={"Node": 5},
)
NAMES = [f"n{number}" for number in range(5)]


def write_log(path: Path, records: int, start: int) -> None:
    """Writes a log of ``records`` records that begins in the term ``start``."""
    rng, terms = random.Random(1), dict.fromkeys(NAMES, start)
    header = {"schedproof": 1, "system": "terms", "objects": {"Node": NAMES}}
    with path.open("wb") as file:
        file.write(orjson.dumps({**header, "start": {"Node": {name: {"term": start} for name in NAMES}}}) + b"\n")
        for _ in range(records):
            name, other = rng.sample(NAMES, 2)
            given_names = {"n": name}
            if terms[name] < terms[other]:
                given_names["m"], terms[name] = other, terms[other]
            else:
                terms[name] += 1
            state = {"state": "Follower" if "m" in given_names else "Candidate", "term": terms[name]}
            action = "follow" if "m" in given_names else "stand"
            record = {"action": action, "parameters": given_names, "state": {"Node": {name: state}}}
            file.write(orjson.dumps(record) + b"\n")


@click.command()
@click.option("--records", default=200_000, show_default=True, help="Records of each log.")
def main(records: int) -> None:
    """Prints records a second of processor time for each log."""
    table = Table("terms from", "records/s")
    system = System("terms", "Terms", {"only": MODEL}, validated_by="only")
    with tempfile.TemporaryDirectory() as folder:
        for start in (0, 10**3, 10**9, 10**18):
            path = Path(folder) / "log.jsonl"
            write_log(path, records, start)
            began = time.process_time()
            report = check_trace(system, path)
            spent = time.process_time() - began
            assert report.first_nonconformance is None, report
            table.add_row(f"{start:,}", f"{records / spent:,.0f}")
    Console().print(table)


if __name__ == "__main__":
    main()
