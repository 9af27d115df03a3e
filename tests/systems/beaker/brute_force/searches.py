"""The searches for deadlocks that were made, and the program that makes them.

``python -m tests.systems.beaker.brute_force.searches`` makes every search of `SEARCHES` that ``data/beaker_searches.json`` does not
have, the cheap ones first, and writes down what it sees as it goes: a run that is broken off goes on where it was.
``--list`` lists the searches that are done and those that are not; ``--only "repaired 2+3"`` makes those whose names contain that.
``--cluster`` gives the pieces to the workers of a Ray cluster.

The file has the fingerprint of the schedulers that were searched.  If they change, it is out of date, and a test says
so; ``--anew`` then begins again.  Times depend on the machine: all that is in the file took about an hour, with
scheduler, steps, graph and deadlocks compiled by mypyc, which says the same in half the time.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import sys
from collections.abc import Iterator
from functools import reduce
from pathlib import Path
from typing import Any, NamedTuple

from schedproof.model.registry.errors import UserError
from schedproof.proofs.cluster import Address, ClusterError, connected
from schedproof.proofs.verification.workers import LOST, ReportProgress, WorkerDied, Workers, answered, shared_out
from tests.support.places import DATA
from tests.systems.beaker.brute_force.patterns import Finding, Tally, instances, joined, lab_splits, orders, search
from tests.systems.beaker.brute_force.scheduler import AS_WRITTEN, INTERLEAVED, REPAIRED, Instance

FOLDER = Path(__file__).parent
FILE = DATA / "beaker_searches.json"
SOURCES = ["scheduler.py", "steps.py", "graph.py", "deadlocks.py", "patterns.py"]

VARIANTS = {"as-written": AS_WRITTEN, "interleaved": INTERLEAVED, "repaired": REPAIRED}


class Search(NamedTuple):
    """All patterns of a shape (recipes per set) on systems in labs, with what people do and how priorities are at first."""

    variant: str
    shape: tuple[int, ...]
    labs: tuple[int, ...]
    """Per system its lab."""
    moves: tuple[str, ...] = ()
    unequal: bool = False
    """Every order of the sets by priority but the one in which all are equal; otherwise that one."""
    one_adjustable: bool = False
    """People touch one system only, each in its turn; otherwise all."""
    parts: int = 1
    """Into how many pieces the search is cut, so that little is lost when a run is broken off."""

    @property
    def name(self) -> str:
        """It says all there is to say: e.g. ``repaired 2+3 on 1+2, unequal priorities``: a lab of one system and one of two."""
        sizes = [self.labs.count(lab) for lab in sorted(set(self.labs))]
        text = f"{self.variant} {'+'.join(map(str, self.shape))} on {'+'.join(map(str, sizes))}"
        if self.unequal:
            text += ", unequal priorities"
        if self.moves:
            text += f", people {' '.join(self.moves)}"
        return text + (" one system" if self.one_adjustable else "")

    def ranks(self) -> list[tuple[int, ...]]:
        return orders(len(self.shape))[1:] if self.unequal else orders(len(self.shape))[:1]

    def instances(self) -> Iterator[Instance]:
        moves = frozenset(self.moves)
        return instances(
            self.shape, list(self.labs), moves=moves, ranks=self.ranks(), one_adjustable=self.one_adjustable
        )

    def piece(self, part: int) -> str:
        return f"{self.name} ({part + 1}/{self.parts})"

    def run(self, part: int) -> Tally:
        """Make one piece of the search."""
        return search(VARIANTS[self.variant], self.instances(), part, self.parts)


def _over(
    variants: str, shape: tuple[int, ...], systems: int, labs: tuple[int, ...] = (1, 2), parts: int = 1, **more: Any
) -> list[Search]:
    """One search per variant and way to share the systems out among that many labs."""
    splits = [tuple(split) for count in labs for split in lab_splits(systems, count)]
    return [Search(variant, shape, split, parts=parts, **more) for split in splits for variant in variants.split()]


def _required() -> list[Search]:
    """The searches that the file must have for the tests, the cheap ones first."""
    every, both = "as-written interleaved repaired", "as-written repaired"
    searches: list[Search] = []
    # Two sets, and nobody does anything; priorities equal, then every other order of them.
    for unequal in (False, True):
        searches += _over(every, (1, 2), 3, unequal=unequal)
        searches += _over(every, (2, 2), 3, unequal=unequal)
        searches += _over(every, (2, 3), 3, unequal=unequal, parts=4)
        searches += _over(every, (3, 3), 3, unequal=unequal, parts=4)
        searches += _over("as-written", (2, 2), 4, unequal=unequal)
    # Three sets.
    searches += _over(every, (1, 1, 2), 3)
    searches += _over("as-written", (1, 1, 2), 3, unequal=True, parts=2)
    searches += _over("as-written", (1, 2, 2), 3, parts=2)
    searches += _over("as-written", (2, 2, 2), 3, parts=4)
    # People act, on two sets.
    for moves in (("priority",), ("cancel_set",), ("abort_set",), ("crash",)):
        searches += _over(both, (2, 2), 3, moves=moves, parts=4)
    searches += _over(both, (2, 2), 3, moves=("break",), one_adjustable=True, parts=4)
    searches += _over(both, (2, 3), 3, moves=("priority",), parts=8)
    searches += _over(both, (2, 3), 3, moves=("break",), one_adjustable=True, parts=8)
    searches += _over("as-written", (2, 2), 3, moves=("condition", "reserve"), one_adjustable=True, parts=4)
    searches += _over("as-written", (2, 2), 3, moves=("cancel",), parts=4)
    searches += _over("as-written", (2, 2), 4, moves=("priority",), parts=4)
    # Larger ones.
    searches += _over("repaired", (2, 2), 4, parts=8)
    searches += _over("repaired", (1, 2, 2), 3, parts=8)
    searches += _over("as-written", (2, 3), 4, labs=(1,), parts=16)
    searches += _over("as-written", (1, 2, 3), 3, labs=(1,), parts=8)
    searches += _over("as-written", (2, 3), 3, labs=(1,), moves=("cancel",), parts=16)
    searches += _over("as-written", (2, 2), 4, labs=(1,), moves=("cancel",), parts=8)
    searches += _over(both, (1, 2), 3, moves=("cancel",), parts=4)
    searches += _over("repaired", (2, 2, 2), 3, labs=(1,), parts=60)
    return searches


def _optional() -> list[Search]:
    """Searches of minutes to hours each, for when there is time; those that show most for their time come first."""
    both = "as-written repaired"
    searches: list[Search] = []
    searches += _over("as-written", (2, 2), 4, labs=(2,), moves=("cancel",), parts=8)
    searches += _over("repaired", (2, 2), 3, labs=(1,), moves=("cancel",), parts=16)
    searches += _over("repaired", (2, 2), 3, labs=(2,), moves=("cancel",), parts=16)
    searches += _over("repaired", (1, 1, 2), 3, labs=(1,), unequal=True, parts=16)
    searches += _over("repaired", (2, 2), 4, unequal=True, parts=16)
    searches += _over("as-written", (1, 2, 2), 3, labs=(1,), unequal=True, parts=4)
    searches += _over("as-written", (2, 3), 3, labs=(2,), moves=("cancel",), parts=8)
    searches += _over("repaired", (1, 1, 2), 3, labs=(2,), unequal=True, parts=16)
    searches += _over("as-written", (3, 3), 4, labs=(1,), parts=16)
    searches += _over(both, (1, 1, 2), 3, moves=("priority",), parts=16)
    searches += _over("as-written", (2, 2, 2), 3, labs=(1,), unequal=True, parts=16)
    searches += _over("as-written", (2, 3), 4, labs=(2,), parts=16)
    searches += _over("as-written", (1, 2, 3), 3, labs=(2,), parts=16)
    searches += _over("as-written", (1, 2, 2), 3, labs=(2,), unequal=True, parts=16)
    searches += _over("repaired", (1, 2, 2), 3, labs=(1,), moves=("priority",), parts=60)
    searches += _over("repaired", (2, 3), 3, moves=("cancel",), parts=60)
    searches += _over("repaired", (2, 3), 4, labs=(1,), parts=120)
    # Three sets on four systems: `estimate` says how long they take.
    for shape, parts in (((1, 1, 2), 24), ((1, 2, 2), 240), ((2, 2, 2), 2400)):
        searches += _over(both, shape, 4, parts=parts)
    return searches


REQUIRED = _required()
SEARCHES = REQUIRED + _optional()


# --- The file -----------------------------------------------------------------------------------------------------------


def fingerprint() -> str:
    """A hash of the code that was searched and that searches; comments, docstrings and layout do not count."""
    texts = [f"{name}: {_shape(ast.parse((FOLDER / name).read_text()))}" for name in SOURCES]
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


def _shape(node: object) -> str:
    """The tree without docstrings and without what is empty: the same in every version of Python."""
    if isinstance(node, ast.AST):
        fields = ((name, _shape(value)) for name, value in ast.iter_fields(node) if value not in (None, []))
        return f"{type(node).__name__}({', '.join(f'{name}={text}' for name, text in fields if text != '[]')})"
    if isinstance(node, list):
        return f"[{', '.join(_shape(item) for item in node if not _is_docstring(item))}]"
    return repr(node)


def _is_docstring(node: object) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


class Record(NamedTuple):
    """What the file has: the searches that are finished, and pieces of others, by name."""

    finished: dict[str, Tally]
    pieces: dict[str, Tally]


class Unusable(Exception):
    """The file has no searches of the schedulers as they are now."""


def load(path: Path = FILE) -> Record:
    """The searches that were made.

    Raises:
        Unusable: they are of other schedulers than those that are here now, or the file has something else.
    """
    if not path.exists():
        return Record({}, {})
    try:
        data = json.loads(path.read_text())
        of, tallies = data["fingerprint"], [data[field] for field in Record._fields]
        record = Record(*({name: _tally(tally) for name, tally in field.items()} for field in tallies))
    except (ValueError, LookupError, TypeError, AttributeError) as problem:
        raise Unusable(f"{path} has no record of searches; give its place with --file") from problem
    if of != fingerprint():
        raise Unusable(
            f"{path} has searches of schedulers that have changed since (one of {', '.join(SOURCES)}): "
            "search again with `python -m tests.systems.beaker.brute_force.searches --anew`, which takes hours"
        )
    return record


def save(record: Record, path: Path) -> None:
    """Written aside first, so that the file is never half-written."""
    data: dict[str, Any] = {"fingerprint": fingerprint()}
    for field, tallies in record._asdict().items():
        data[field] = {name: _plain(tally) for name, tally in tallies.items()}
    aside = path.with_suffix(".new")
    aside.write_text(json.dumps(data, indent=1) + "\n")
    os.replace(aside, path)


def _plain(tally: Tally) -> dict[str, Any]:
    causes = {cause: finding._asdict() for cause, finding in sorted(tally.causes.items())}
    return {**tally._asdict(), "causes": causes}


def _tally(record: dict[str, Any]) -> Tally:
    return Tally(**{**record, "causes": {cause: Finding(**finding) for cause, finding in record["causes"].items()}})


def add(record: Record, of: Search, part: int, tally: Tally) -> None:
    """Take a piece in; the last one finishes its search."""
    record.pieces[of.piece(part)] = tally
    pieces = [of.piece(number) for number in range(of.parts)]
    if all(piece in record.pieces for piece in pieces):
        record.finished[of.name] = reduce(joined, [record.pieces.pop(piece) for piece in pieces])


# --- The program --------------------------------------------------------------------------------------------------------


def _piece(todo: tuple[int, int], report: ReportProgress) -> tuple[int, int, Tally]:
    number, part = todo
    return number, part, SEARCHES[number].run(part)


def _answered_piece(todo: tuple[int, int]) -> tuple[str, Any]:
    """In a worker of a cluster: the message for a piece."""
    return answered(_piece, todo, lambda line: None)


def _run(numbers: list[int], record: Record, path: Path, workers: int, cluster: str) -> None:
    todo = [
        (number, part)
        for number in numbers
        if SEARCHES[number].name not in record.finished
        for part in range(SEARCHES[number].parts)
        if SEARCHES[number].piece(part) not in record.pieces
    ]
    for done, (number, part, tally) in enumerate(_pieces(todo, workers, cluster), 1):
        of = SEARCHES[number]
        add(record, of, part, tally)
        save(record, path)
        print(f"[{done}/{len(todo)}] {of.piece(part)}: {_verdict(tally)}", flush=True)


def _pieces(todo: list[tuple[int, int]], workers: int, cluster: str) -> Iterator[tuple[int, int, Tally]]:
    if cluster:
        with connected(Address.of(cluster), print) as remote:
            for _, tally in shared_out(todo, remote.team(_answered_piece, LOST), print):
                yield tally
    else:
        with Workers(_piece, workers) as pool:
            for _, tally in pool.run(todo, print):
                yield tally


def _verdict(tally: Tally) -> str:
    causes = [f"{cause} ({finding.instances}, {finding.steps} steps)" for cause, finding in tally.causes.items()]
    text = f"{tally.instances} instances, {tally.states} states; {', '.join(causes) or 'no deadlock'}"
    return text + f"; starved {tally.starved}; circles {tally.circles}"


def _list(numbers: list[int], record: Record) -> None:
    for of in (SEARCHES[number] for number in numbers):
        pieces = sum(of.piece(part) in record.pieces for part in range(of.parts))
        if of.name in record.finished:
            verdict = _verdict(record.finished[of.name])
        else:
            verdict = f"{pieces} of {of.parts} pieces" if pieces else "not run"
        print(f"{of.name}: {verdict}")


def main(arguments: list[str]) -> int:
    """0 if what was asked is done, 2 if it cannot be done, 130 if it was broken off."""
    parser = argparse.ArgumentParser(description="Search small instances of Beaker's schedulers for deadlocks.")
    parser.add_argument("--only", default="", metavar="TEXT", help="the searches whose names contain this")
    parser.add_argument("--list", action="store_true", help="list what has been searched and what has not")
    parser.add_argument("--anew", action="store_true", help="discard all that has been searched")
    parser.add_argument("--workers", type=int, default=1, help="processes at once (1)")
    parser.add_argument("--cluster", default="", metavar="ADDRESS", help="a Ray cluster: HOST:PORT, or local:N")
    parser.add_argument("--file", type=Path, default=FILE, help=f"where the results go (tests/data/{FILE.name})")
    options = parser.parse_args(arguments)
    numbers = [number for number, of in enumerate(SEARCHES) if options.only in of.name]
    if not numbers:
        parser.error(f"no search has {options.only!r} in its name; --list shows the names")
    if options.workers < 1:
        parser.error(f"--workers {options.workers}: at least one process must search")
    try:
        record = Record({}, {}) if options.anew else load(options.file)
        if options.list:
            _list(numbers, record)
        else:
            _run(numbers, record, options.file, options.workers, options.cluster)
    except (Unusable, OSError, UserError, ClusterError, WorkerDied) as problem:
        print(problem, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("broken off; the next run goes on from here", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
