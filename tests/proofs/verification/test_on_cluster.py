"""``verify`` by workers of a cluster, without Ray: the reports of one process, also after workers were lost."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache, cached_property, partial
from pathlib import Path
from textwrap import dedent
from threading import Lock
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from schedproof.model.lang.digest import Digester
from schedproof.model.registry.discovery import systems
from schedproof.model.registry.loading import load
from schedproof.model.registry.manifest import read
from schedproof.model.registry.system import System
from schedproof.proofs.cluster import ClusterError, RemoteWorkers
from schedproof.proofs.verdict import Disagreement
from schedproof.proofs.verification import on_cluster
from schedproof.proofs.verification.on_cluster import Code, verifying
from schedproof.proofs.verification.verify import Run, VariantReport, plan, verify
from schedproof.proofs.verification.workers import WorkerDied
from tests.proofs.cluster.local_hosts import LocalHosts
from tests.support.lamps import lamps, system
from tests.support.registry import put
from tests.support.rows import each_row
from tests.support.sample import thinned


def three() -> System:
    """A registered system with three variants."""
    return system(lamps(), lamps("other", refuted=()), lamps("third"))


def verified(own_system: System, hosts: LocalHosts, notes: list[str] | None = None) -> list[VariantReport]:
    """The reports of workers."""
    plans = plan([own_system])
    run, lines = Run(plans), list[str]()
    pool = verifying(RemoteWorkers(hosts, (notes if notes is not None else lines).append), plans)
    for _ in run.work(pool, lines.append):
        pass
    assert any(" of 2" in line or " of 1" in line for line in lines), "what is begun is reported"
    return run.reports()


@pytest.mark.parametrize("count", thinned([1, 2], 2, first=1))
def test_the_reports_are_those_of_one_process(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the order of the variants, although the parts end in another one."""
    put(monkeypatch, {"lamps": three()})
    own_system = systems()["lamps"]
    reports = verified(own_system, LocalHosts(count))
    assert reports == verify([own_system])  # seconds are not compared
    assert [r.variant for r in reports] == ["plain", "other", "third"]


def test_a_part_whose_worker_was_lost_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """At any call."""
    put(monkeypatch, {"lamps": three()})
    own_system, expected = systems()["lamps"], verify([systems()["lamps"]])
    hosts = LocalHosts(2)
    verified(own_system, hosts)
    for call in range(3, hosts.calls + 1):
        notes, lost = list[str](), LocalHosts(2, [call])
        assert verified(own_system, lost, notes) == expected
        assert lost.replaced == len(notes) == 1
        assert lost.calls == hosts.calls + 1
        assert notes[0].endswith("it is replaced, and what it did is tried again")


def test_a_part_that_loses_each_worker_ends_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    put(monkeypatch, {"lamps": three()})
    with pytest.raises(
        WorkerDied, match=r"worker [12] of 2 was lost, as each of the 3 times .* was tried: Part\(system="
    ):
        verified(systems()["lamps"], LocalHosts(2, range(3, 100)))


@pytest.mark.parametrize("call", [1, 2])
def test_a_worker_that_is_lost_before_the_work_is_replaced(call: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the code of all is compared. Then all are asked again, as the new one was not."""
    put(monkeypatch, {"lamps": three()})
    own_system, notes, lost = systems()["lamps"], list[str](), LocalHosts(2, [call])
    assert verified(own_system, lost, notes) == verify([own_system])
    assert notes == [f"worker {call} of 2 was lost: it is replaced, and all are asked again"]
    assert lost.replaced == 1


def test_workers_that_are_lost_before_the_work_end_it(monkeypatch: pytest.MonkeyPatch) -> None:
    put(monkeypatch, {"lamps": three()})
    with pytest.raises(WorkerDied, match=r"worker 2 of 2 was lost; run the command again"):
        verified(systems()["lamps"], LocalHosts(2, [2, 4, 6]))


def disagree(*_: object, **__: object) -> None:
    """What a worker may raise."""
    raise Disagreement("the engines")


def test_what_goes_wrong_in_a_worker_goes_wrong_here(monkeypatch: pytest.MonkeyPatch) -> None:
    put(monkeypatch, {"lamps": three()})
    monkeypatch.setattr(on_cluster, "timed", disagree)
    with pytest.raises(Disagreement, match=r"^the engines"):
        verified(systems()["lamps"], LocalHosts(2))


def test_workers_with_another_model_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """They find one of the same name, with another property; or none at all."""
    put(monkeypatch, {"lamps": three()})
    own_system, right = systems()["lamps"], on_cluster._codes
    others = iter([{"lamps": system(lamps(properties=lamps().properties[:2]))}, {"others": three()}])
    own_lamps = ["have another model of lamps plain; install the same", "do not load lamps plain (UserError: "]

    def each(self: RemoteWorkers, function: object, task: Sequence[tuple[str, str]]) -> list[list[Code | str]]:
        with pytest.MonkeyPatch.context() as patch:
            put(patch, next(others))
            return [right(task, manifests={})]

    monkeypatch.setattr(RemoteWorkers, "each", each)
    for problem in own_lamps:
        with pytest.raises(ClusterError, match=re.escape(f"--cluster: 1 of 1 workers {problem}")):
            verified(own_system, LocalHosts(2))


def test_each_variant_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last one, too."""
    put(monkeypatch, {"lamps": three()})
    own_system, right = systems()["lamps"], on_cluster._codes
    changed = lamps("third", properties=lamps().properties[:2])

    def each(self: RemoteWorkers, function: object, task: Sequence[tuple[str, str]]) -> list[list[Code | str]]:
        with pytest.MonkeyPatch.context() as patch:
            put(patch, {"lamps": system(lamps(), lamps("other", refuted=()), changed)})
            return [right(task, manifests={})]

    monkeypatch.setattr(RemoteWorkers, "each", each)
    with pytest.raises(ClusterError, match="1 of 1 workers have another model of lamps third; install"):
        verified(own_system, LocalHosts(2))


def test_workers_with_other_code_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the system, whose model is the same; or of schedproof."""
    (tmp_path / "coded_lamps.py").write_text("from tests.support.lamps import lamps\nPLAIN = lamps()\n")
    (tmp_path / "schedproof.toml").write_text(
        '[systems.lamps]\nmodel = "coded_lamps:PLAIN"\n[systems.lamps.variants.plain]\nrefuted = ["stays-dark"]\n'
    )
    own_system = load(read(tmp_path / "schedproof.toml")["lamps"])
    right, source = on_cluster._codes, (tmp_path / "coded_lamps.py").read_text()

    def elsewhere(*arguments: Any, **named: Any) -> Any:
        (tmp_path / "coded_lamps.py").write_text(source + "# changed\n")
        try:
            return right(*arguments, **named)
        finally:
            (tmp_path / "coded_lamps.py").write_text(source)

    def each(self: RemoteWorkers, function: Any, task: Any) -> list[Any]:
        return [right(task, **function.keywords), elsewhere(task, **function.keywords)]

    monkeypatch.setattr(RemoteWorkers, "each", each)
    with pytest.raises(ClusterError, match="1 of 2 workers have other code of lamps plain; install the same on each"):
        verified(own_system, LocalHosts(2))


def test_the_message_names_what_is_different() -> None:
    """Another schedproof first: it may be why the rest differs."""
    code, same = Code("a", "m", "o"), "install the same on each machine"
    assert on_cluster.different(code, [code, code], "lamps plain") == ""
    for others, message in (
        ([Code("b", "m", "p"), code], f"1 of 2 workers have another version of schedproof; {same}"),
        ([Code("a", "n", "p"), code], f"1 of 2 workers have other code of lamps plain; {same}"),
        ([Code("a", "n", "o")] * 2, f"2 of 2 workers have another model of lamps plain; {same}"),
    ):
        assert on_cluster.different(code, others, "lamps plain") == f"--cluster: {message}"


class Dimmer:
    """What a user's own kind of element may have: no content to compare, but attributes."""

    def __init__(self, level: int, follows: object = None) -> None:
        self.level, self.follows = level, follows


def _levels(level: int) -> Callable[[], int]:
    return lambda: level


class Narrow:
    """Has attributes without a dictionary."""

    __slots__ = ("level",)

    def __init__(self, level: int) -> None:
        self.level = level


class Lazy:
    """Computes an attribute when it is asked for."""

    @cached_property
    def level(self) -> int:
        """One."""
        return 1


def _asked(lazy: Lazy) -> Lazy:
    assert lazy.level == 1
    return lazy


def _written(text: str) -> Callable[[], int]:
    """A function whose source is in no file."""
    scope: dict[str, Any] = {}
    exec(f"def written():\n    return {text}", scope)
    written: Callable[[], int] = scope["written"]
    return written


def _with_module() -> Callable[[], object]:
    module = ModuleType("own")
    module.loaded = object()  # type: ignore[attr-defined]
    return lambda: module


@each_row(
    ("one", "other", "same"),
    [
        (Narrow(1), Narrow(1), True),
        (Narrow(1), Narrow(2), False),
        (np.arange(2), np.arange(2), True),
        (np.arange(2), np.arange(2) + 1, False),
        (re.compile("a"), re.compile("b"), False),
        (Fraction(1, 2), Fraction(1, 3), False),
        (Lazy(), _asked(Lazy()), True),
        (_written("1"), _written("1"), True),
        (_written("1"), _written("2"), False),
        (cache(_written("1")), cache(_written("2")), False),
        (_with_module(), _with_module(), True),
        (Lock(), Lock(), True),
        (_levels(1), _levels(1), True),
        (_levels(1), _levels(2), False),
        (partial(_levels, 1), partial(_levels, 2), False),
        (partial(_levels, 1), partial(_levels, 1), True),
        (Dimmer(1), Dimmer(1), True),
        (Dimmer(1), Dimmer(1, _levels), False),
        (Dimmer(1).__init__, Dimmer(2).__init__, False),
        (len, sorted, False),
        (Dimmer, Path, False),
    ],
)
def test_functions_in_a_model_do_not_hide_the_rest(one: object, other: object, same: bool) -> None:
    """Elements with functions count by what these were made with, and all other elements as ever."""
    digests = [Digester(functions=True).digest([lamps(), each]) for each in (one, other)]
    assert (digests[0] == digests[1]) is same
    changed = lamps(properties=lamps().properties[:2])
    assert Digester(functions=True).digest([changed, one]) != digests[0]


def test_a_function_that_refers_to_itself_has_a_digest() -> None:
    def one() -> object:
        return one

    assert Digester(functions=True).digest([one]) == Digester(functions=True).digest([one])


def test_a_system_of_the_user_is_found_by_its_manifest(tmp_path: Path) -> None:
    (tmp_path / "own_lamps.py").write_text(
        dedent("""
            from tests.support.lamps import lamps
            PLAIN = lamps()
        """)
    )
    (tmp_path / "schedproof.toml").write_text(
        dedent("""
            [systems.lamps]
            model = "own_lamps:PLAIN"
            [systems.lamps.variants.plain]
            refuted = ["stays-dark"]
        """)
    )
    own_system = load(read(tmp_path / "schedproof.toml")["lamps"])
    [report] = verified(own_system, LocalHosts(2))
    assert report.ok
    assert [report] == verify([own_system])
