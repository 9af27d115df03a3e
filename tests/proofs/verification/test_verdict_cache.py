"""Cached verdicts: the same as fresh ones, and none that a change of what it depends on would have changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

import pytest

from schedproof.model.errors import SchedproofError
from schedproof.model.lang import (
    AlwaysCanReach,
    Attribute,
    BoolType,
    Change,
    Invariant,
    LeadsTo,
    Model,
    Reading,
    Row,
    Sort,
    digest,
    exists,
    forall,
    me,
)
from schedproof.model.lang.digest import Digester
from schedproof.model.registry.discovery import systems
from schedproof.model.registry.system import LockFile, System
from schedproof.model.semantics import with_bound
from schedproof.proofs import cache
from schedproof.proofs.exploration.counterexample_text import counterexample_lines
from schedproof.proofs.verdict import Disagreement
from schedproof.proofs.verification import verdict_cache, verify
from schedproof.proofs.verification.parts import Work, parts
from schedproof.proofs.verification.verdict_cache import VerdictCache
from schedproof.proofs.verification.verify import Plan, Run, VariantReport, plan, verifiers
from tests.proofs.checking.test_bounds import b, counter
from tests.proofs.verification.test_interpreted_locks import RESTS, ROOM, with_one
from tests.proofs.verification.test_lock_repairs import NEWS
from tests.support.lamps import PROPERTIES, SWITCH_OFF, SWITCH_ON, Lamp, lamps, system, x
from tests.support.mutants import mutants
from tests.support.sample import thinned
from tests.support.toys import MUTEX, WORKSHOP


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty cache."""
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache" / "verdicts"


def plans(of: Model | System) -> list[Plan]:
    return plan([System.of(of) if isinstance(of, Model) else of], cached=True)


def todo(of: Model | System) -> dict[Work, set[str]]:
    """What is not cached of a model's properties."""
    parts = [part for each in plans(of) for part in each.todo]
    return {work: {name for part in parts if part.work is work for name in part.only} for work in Work}


def checked(of: Model | System, *, cached: bool = True) -> list[VariantReport]:
    work_plans = plans(of) if cached else plan([System.of(of) if isinstance(of, Model) else of])
    run = Run(work_plans)
    with verifiers(work_plans) as workers:
        list(run.work(workers, lambda line: None))
    return run.reports()


def verdicts(reports: list[VariantReport]) -> dict[tuple[str, str], object]:
    """All that is reported of a property but the time, and the text of its counterexample."""
    by_name: dict[tuple[str, str], object] = {}
    for report in reports:
        for verified in report.properties:
            content = {key: value for key, value in verified.as_json().items() if key not in ("seconds", "cached")}
            example = verified.result.counterexample
            text = None if example is None else counterexample_lines(lamps(), example)
            by_name[report.variant, verified.result.name] = (content, verified.result.reach, text)
    return by_name


@pytest.mark.parametrize(
    "of",
    thinned([system(lamps(), lamps("other", refuted=())), MUTEX, WORKSHOP], 3, first=1),
    ids=["lamps", "mutex", "workshop"],
)
def test_cached_verdicts_are_the_same(of: Model | System) -> None:
    fresh = checked(of, cached=False)
    first, second = checked(of), checked(of)
    assert verdicts(fresh) == verdicts(first) == verdicts(second)
    assert not any(j.cached for r in first for j in r.properties)
    assert {j.cached for r in second for j in r.properties} >= {True}
    for report in second:
        for verified in report.properties:
            is_rechecked = verified.result.kind == "by construction" or str(verified.result.verdict) == "undetermined"
            assert verified.cached is not is_rechecked, verified.result.name


@pytest.mark.long(seconds=9)
def test_every_system_s_results_survive_the_cache() -> None:
    """One variant of a system with counterexamples, lassos, configurations and history."""
    hived = systems()["hived"]
    one = replace(hived, variants={"as-written": hived.variants["as-written"]})
    assert verdicts(checked(one)) == verdicts(checked(one))


@pytest.mark.long
@pytest.mark.parametrize("model", thinned([MUTEX, WORKSHOP], 2), ids=["mutex", "workshop"])
def test_no_mutant_gets_the_verdicts_of_its_model(model: Model) -> None:
    checked(model)
    seen = changed = 0
    for mutant in mutants(model):
        try:
            other = mutant.build()
            fresh = verdicts(checked(other, cached=False))
        except Exception:  # refused: what matters here is what is verified
            continue
        seen += 1
        changed += fresh != verdicts(checked(model))
        assert verdicts(checked(other)) == fresh, mutant.name
    assert seen >= 5 and changed >= 5


def test_a_verdict_of_another_bound_is_another_one() -> None:
    # What is open within 3 is decided within 5; what holds within 3 holds within 4, and is said of 4.
    far = AlwaysCanReach(name="far", says="", over=[b], goal=b.is_("Shut"))
    near = LeadsTo(name="near", says="", over=[b], given=b.n == 0, goal=b.n == 1, weak=["up"])
    by_bound = {}
    for high in (3, 4, 5, 3):
        model = with_bound(counter(far, near), {("Box", "n"): high})
        assert verdicts(checked(model)) == verdicts(checked(model, cached=False))
        [report] = checked(model)
        by_bound[high] = {v.result.name: (v.result.reach, v.cached) for v in report.properties}
    assert by_bound[4]["near"] == ("holds at Box=1 within n <= 4", True)
    assert by_bound[5]["far"] == ("holds at Box=1 within n <= 5", True)
    assert by_bound[3]["far"][0].startswith("undetermined")


COUNTING = digest._counting

FORGETFUL: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "the rules": lambda patch: patch.setattr(VerdictCache, "_rules", ""),
    "the rules without history": lambda patch: patch.setattr(VerdictCache, "_rules_without_history", ""),
    "the name": lambda patch: patch.setattr(
        VerdictCache, "_key", lambda self, part, name: "\n".join([part.system, str(part.work)])
    ),
    "guards": lambda patch: patch.setattr(digest, "_counting", lambda kind: [f for f in COUNTING(kind) if f != "when"]),
}
"""Seeded faults: each leaves something out of the key."""


@pytest.mark.parametrize("fault", FORGETFUL)
def test_a_key_that_forgets_something_is_noticed(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    FORGETFUL[fault](monkeypatch)
    with pytest.raises((AssertionError, Disagreement)):
        test_no_mutant_gets_the_verdicts_of_its_model(MUTEX)


def test_where_it_is_written_does_not_matter() -> None:
    one, two = lamps(), lamps()
    assert one.rows[0].place == two.rows[0].place
    moved = replace(one, rows=[Row(Lamp, "on", "Off", "On", line=5), *one.rows[1:]])
    assert moved.rows[0].place != one.rows[0].place
    assert Digester().digest(one.rows) == Digester().digest(moved.rows)
    assert Digester(places=True).digest(one.rows) != Digester(places=True).digest(moved.rows)


@pytest.mark.parametrize(
    "models",
    [
        [with_bound(counter(), {("Box", "n"): high}) for high in (3, 4)],
        [
            replace(counter(), assuming=assuming)
            for assuming in ({}, {"same": forall(b, b == b)}, {"same": exists(b, b == b)})
        ],
    ],
    ids=["bound", "assuming"],
)
def test_an_interpretation_of_another_model_is_another_one(models: list[Model]) -> None:
    words = {"question": "How often?", "why": "No line says."}
    reading = Reading("counts", 3, "It counts.", "It does not.", adds=[counter().actions[1]], **words)
    keys = set()
    for model in models:
        of = interpreted(model, reading)
        [one] = plan([of], interpretations=True)
        cache = VerdictCache(of, model, "here")
        keys |= {cache._key(part, name) for part in one.all_parts for name in part.only if "counts" in name}
    assert len(keys) == len(models) and None not in keys


FLICKERS = Reading(
    "flickers",
    3,
    "Lamps are switched on.",
    "They are not.",
    drops=["switch_on"],
    rests=["stays-dark"],
    breaks=["blinks"],
    question="How does a lamp go on?",
    why="Line 3 says so.",
)


def interpreted(model: Model, reading: Reading) -> System:
    """A system with one interpretation."""
    return replace(System.of(model), load=lambda key, default: {"interpretations": [reading]}.get(key, default))


def test_names_of_interpretations_are_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    plans(interpreted(lamps(), FLICKERS))
    monkeypatch.setattr(verify, "require_known_names", lambda *_: pytest.fail("looked up again"))
    plans(interpreted(lamps(), FLICKERS))
    for other in (lambda: plan([interpreted(lamps(), FLICKERS)]), lambda: plans(interpreted(lamps("v2"), FLICKERS))):
        with pytest.raises(pytest.fail.Exception):
            other()


@pytest.mark.parametrize(
    ("model", "reading"),
    [
        (lamps(), replace(FLICKERS, rests=["on-or-off"])),
        (lamps(), replace(FLICKERS, breaks=["stays-dark"])),
        (lamps(), replace(FLICKERS, drops=["switch"])),
        (lamps(refuted=()), FLICKERS),
        (lamps(properties=[each for each in PROPERTIES if each.name != "blinks"]), FLICKERS),
        (lamps(properties=[each for each in PROPERTIES if each.name != "one-state"]), replace(FLICKERS, breaks=["one-state"])),
        (replace(lamps(), actions=[replace(SWITCH_ON, name="light"), SWITCH_OFF]), FLICKERS),
    ],
    ids=["rests", "breaks", "drops", "refuted", "property", "by-construction", "action"],
)  # fmt: skip
def test_after_an_edit_a_name_that_is_wrong_now_is_refused(model: Model, reading: Reading) -> None:
    plans(interpreted(lamps(), FLICKERS))
    plans(interpreted(lamps(), replace(FLICKERS, breaks=["one-state"])))
    for _ in range(2):
        with pytest.raises(SchedproofError, match="interpretation flickers"):
            plans(interpreted(model, reading))


def test_another_lock_file_is_read(tmp_path: Path) -> None:
    reading = replace(NEWS, locks="order: [Shed > House]")
    folders = [tmp_path / "one", tmp_path / "two"]
    for each in folders:
        each.mkdir()
    same, edited = (with_one(each, reading) for each in folders)
    plans(same)
    file = edited.locks["as-written"][0].file
    file.write_text(file.read_text().replace("Shed", "Barn"))
    with pytest.raises(SchedproofError, match=r"interpretation news-can-wait: locks: .*unknown class 'Shed'"):
        plans(edited)


def test_a_lock_file_of_another_name_has_other_checks(tmp_path: Path) -> None:
    same = with_one(tmp_path, replace(NEWS, locks=ROOM, rests=RESTS))
    plans(same)
    files = [replace(each, name=f"other-{each.name}") for each in same.locks["as-written"]]
    with pytest.raises(SchedproofError, match="interpretation news-can-wait"):
        plans(replace(same, locks={"as-written": files}))


def test_kinds_of_sorts_differ() -> None:
    """An axiom about the objects of a single sort may be the model's own."""
    kinds = [Sort("Lamp", "l"), Sort("Lamp", "l", single=True), Sort("Lamp", "l", disposable=True)]
    assert len({Digester().digest(each) for each in kinds}) == len(kinds)


@pytest.mark.parametrize("cached", [False, True])
def test_a_wrong_model_is_refused_before_it_is_planned(cached: bool) -> None:
    with pytest.raises(SchedproofError, match="not a list"):
        plan([System.of(replace(lamps(), properties=3))], cached=cached)


def test_terms_that_say_another_thing_differ() -> None:
    terms = [x.is_("On"), x.is_("Off"), x.is_("On", "Off"), ~x.is_("On"), x.is_("On") & x.is_("Off"), x.is_("On") | x.is_("Off"), x == x]  # fmt: skip
    assert len({Digester().digest(term) for term in terms}) == len(terms)
    assert Digester().digest(1) != Digester().digest(True) != Digester().digest("True")
    assert Digester().digest(["a", "b"]) != Digester().digest(["ab"]) != Digester().digest([["a"], "b"])


def test_what_has_no_content_is_refused() -> None:
    with pytest.raises(TypeError, match="function"):
        Digester().digest([lambda: 1])


def with_property(model: Model, name: str, **changes: object) -> Model:
    return replace(model, properties=[replace(p, **changes) if p.name == name else p for p in model.properties])  # type: ignore[arg-type]


def test_only_what_depends_on_a_property_is_checked_again() -> None:
    checked(MUTEX)
    always = todo(MUTEX)[Work.EXPLORATION]
    assert always == {"two-at-a-door"}, "it is undetermined"
    edited = with_property(MUTEX, "weakly-fair-entry", says="another sentence")
    left = {Work.EXPLORATION: {"weakly-fair-entry", *always}, Work.INDUCTION: set(), Work.AUXILIARY: set()}
    assert todo(edited) == left


def test_a_proof_depends_on_the_invariants_that_it_assumes() -> None:
    """Here no proof needs an invariant for well-formedness; otherwise all proofs would rest on it."""
    base = lamps()
    attributes = [Attribute(name, BoolType()) for name in ("seen", "shown", "used")]
    machine = replace(base.machines[0], attributes=attributes)
    rows = [Row(Lamp, "on", "Off", "On", seen=True), Row(Lamp, "off", "On", "Off", used=True, shown=me.seen)]
    held = Invariant(name="held", says="a lamp that is on was seen", over=[x], given=x.is_("On"), then=x.seen)
    resting_on_it = Invariant(name="resting", says="a used lamp was shown", over=[x], given=x.used, then=x.shown)
    alone = Invariant(name="somewhere", says="a lamp is On or Off", over=[x], then=x.is_("On", "Off"))
    model = replace(base, machines=[machine], rows=rows, properties=[held, resting_on_it, alone], refuted=frozenset())
    checked(model)
    inducted = {name: proof for done in plans(model)[0].known for name, proof in (done.inducted or {}).items()}
    proofs = {name: set(proof.support) for name, proof in inducted.items() if proof.proved}
    resting = {name for name, support in proofs.items() if "held" in support}
    assert {"held", "resting"} <= resting and {"somewhere", "well-formed"} <= set(proofs) - resting
    failed = set(inducted) - set(proofs)
    edited = with_property(model, "held", says="another sentence")
    assert todo(edited)[Work.INDUCTION] == resting | failed, "one that failed could have assumed it"
    assert verdicts(checked(edited)) == verdicts(checked(edited, cached=False))


def test_after_the_edit_of_a_rule_nothing_is_believed() -> None:
    checked(MUTEX)
    edited = replace(MUTEX, actions=[replace(MUTEX.actions[0], when=[]), *MUTEX.actions[1:]])
    left = todo(edited)
    assert left[Work.EXPLORATION] == {"well-formed", *(p.name for p in MUTEX.properties)}
    assert "well-formed" in left[Work.INDUCTION]


def test_what_does_not_read_history_does_not_depend_on_it() -> None:
    base = lamps()
    machine = replace(base.machines[0], attributes=[Attribute("seen", BoolType(), history=True)])
    rows = [Row(Lamp, "on", "Off", "On", line=5, seen=True), base.rows[1]]
    model = replace(base, machines=[machine], rows=rows)
    checked(model)
    other = replace(model, rows=[Row(Lamp, "on", "Off", "On", line=5, seen=False), base.rows[1]])
    assert todo(other)[Work.EXPLORATION] == {"well-formed", "one-state"}, "the latter is never cached"


@pytest.mark.parametrize(
    "change",
    [
        {"default_scope": {"Lamp": 3}},
        {"configurations": lambda sizes: [{}, {}]},
        {"axioms": [forall(x, x == x)]},
    ],
    ids=["scope", "configurations", "axioms"],
)
def test_a_verdict_depends_on_what_is_explored(change: dict[str, object]) -> None:
    checked(lamps())
    assert "blinks" not in todo(lamps())[Work.EXPLORATION]
    assert "blinks" in todo(replace(lamps(), **change))[Work.EXPLORATION]  # type: ignore[arg-type]


def test_other_versions_believe_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    checked(lamps())
    monkeypatch.setattr("schedproof.proofs.verification.verify.environment", lambda: "another")
    assert todo(lamps())[Work.INDUCTION] == {"well-formed", "stays-dark", "on-or-off"}
    monkeypatch.setattr("schedproof.proofs.verification.verify.environment", lambda: None)
    assert plans(lamps())[0].cache is None, "of unknown versions nothing is kept"


def test_the_environment_is_source_and_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    def now() -> str | None:
        verdict_cache.environment.cache_clear()
        return verdict_cache.environment()

    try:
        before = now()
        assert before == now()
        with monkeypatch.context() as patch:
            patch.setattr(verdict_cache, "_version", lambda name: "99")
            assert now() != before
        with monkeypatch.context() as patch:
            patch.setattr(verdict_cache, "source_of", lambda *folders: iter(["model/lang/terms.py 1234"]))
            assert now() != before
    finally:
        verdict_cache.environment.cache_clear()
    files = {line.split()[0] for line in verdict_cache.source_of("model", "impl", "proofs")}
    assert {"model/lang/terms.py", "proofs/induction/solve.py", "impl/store/memory.py"} <= files
    assert not any("/systems/" in each for each in files)
    paths = {line.split()[0] for line in verdict_cache.source_of("proofs/systems/hived", systems=True)}
    assert "proofs/systems/hived/refinement/explore.py" in paths


@pytest.mark.parametrize("places", [3, pytest.param(40, marks=pytest.mark.long)])
def test_no_byte_of_an_entry_can_be_changed(places: int, folder: Path) -> None:
    model = lamps()
    fresh = verdicts(checked(model))
    for path in folder.iterdir():
        data = path.read_bytes()
        for n in range(0, len(data), max(1, len(data) // places)):
            path.write_bytes(data[:n] + bytes([data[n] ^ 1]) + data[n + 1 :])
            before = path.read_bytes()
            assert verdicts(checked(model)) == fresh
            assert path.read_bytes() != before, "and it is mended"
        path.write_bytes(data)


def test_entries_that_change_places_are_none(folder: Path) -> None:
    model = lamps()
    fresh = verdicts(checked(model))
    paths = sorted(folder.iterdir())
    contents = [path.read_bytes() for path in paths]
    for path, content in zip(paths, [*contents[1:], contents[0]], strict=True):
        path.write_bytes(content)
    assert todo(model)[Work.INDUCTION] == {"well-formed", "stays-dark", "on-or-off"}
    assert verdicts(checked(model)) == fresh


def test_a_lock_description_is_checked_again_when_it_changes(tmp_path: Path) -> None:
    copied = tmp_path / "locks.yaml"
    copied.write_text("objects: {a: rw}\nthreads:\n  writer: [wlock a: []]\n  reader: [rlock a: []]\n")

    def lamps_with_locks() -> System:
        return replace(system(), locks={"plain": [LockFile("locks", copied)]})

    first = todo(lamps_with_locks())[Work.AUXILIARY]
    assert first
    checked(lamps_with_locks())
    assert todo(lamps_with_locks())[Work.AUXILIARY] == set()
    copied.write_text("# one more line\n" + copied.read_text())
    from schedproof.proofs.verification.auxiliary import _description

    _description.cache_clear()
    assert todo(lamps_with_locks())[Work.AUXILIARY] == first, "places are shown in counterexamples"


def test_a_stranger_s_implementation_is_always_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody knows what its code depends on."""
    hived = systems()["hived"]
    [refinement, *_] = hived.refinements
    copied_class = type("Mine", (type(refinement),), {"__module__": "somewhere.else"})
    stranger = copied_class(**{f: getattr(refinement, f) for f in refinement.__dataclass_fields__})

    def key(its: object, is_builtin: bool = True) -> str | None:
        of = replace(hived, load=lambda name, default: [its] if name == "refinements" else default)
        monkeypatch.setattr(verdict_cache, "_is_builtin", lambda system: is_builtin)
        one = VerdictCache(of, of.variants[refinement.variant], "here")
        [part] = [p for p in plan([of], variants=[refinement.variant])[0].todo if refinement.name in p.only and p.work is Work.AUXILIARY]  # fmt: skip
        return one._key(part, refinement.name)

    assert key(refinement) is not None and key(stranger) is None
    assert key(refinement, is_builtin=False) is None, "our class in somebody's system"
    assert key(replace(refinement, scope={"PodGroup": 1, "Cell": 1})) != key(refinement)


def test_only_systems_of_our_own_manifests_are_ours() -> None:
    hived = systems()["hived"]
    assert verdict_cache._is_builtin(hived)
    assert not verdict_cache._is_builtin(replace(hived, title="another"))
    assert not verdict_cache._is_builtin(system())


def test_nothing_is_kept_if_the_source_changes_meanwhile(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "stamp", lambda: (1, 1))
    monkeypatch.setattr(verdict_cache, "stamp", lambda: (1, 2))
    checked(interpreted(lamps(), FLICKERS))
    assert not folder.exists()
    monkeypatch.setattr(verdict_cache, "stamp", lambda: (1, 1))
    checked(interpreted(lamps(), FLICKERS))
    assert folder.exists()


def test_a_key_is_that_of_the_time_before_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """An implementation that is edited while it is explored is another one."""
    hived = systems()["hived"]
    one = VerdictCache(hived, hived.variants["repaired"], "here")
    [part, *_] = [p for each in plan([hived], variants=["repaired"]) for p in each.todo if p.work is Work.AUXILIARY]
    before = one._key(part, part.only[0])
    monkeypatch.setattr(verdict_cache, "source_of", lambda *folders, **options: iter(["edited"]))
    assert one._key(part, part.only[0]) == before is not None
    assert VerdictCache(hived, hived.variants["repaired"], "here")._key(part, part.only[0]) != before


def test_engines_that_disagree_leave_nothing_behind(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class ProvesAnything:
        inductive = frozenset[str]()
        bounds: Mapping[str, int] = MappingProxyType({})

        def proved(self, name: str) -> bool:
            return True

        def seconds(self, name: str) -> float:
            return 0.0

        def support(self, name: str) -> frozenset[str]:
            return frozenset()

        def lemmas(self, name: str) -> list[str]:
            return []

    with monkeypatch.context() as patch:
        patch.setattr("schedproof.proofs.verification.parts.prove", lambda model, **options: ProvesAnything())
        with pytest.raises(Disagreement):
            checked(lamps())
    assert list(folder.iterdir()) == []
    assert verdicts(checked(lamps())) == verdicts(checked(lamps(), cached=False))


def test_a_change_of_a_variant_s_texts_is_no_change() -> None:
    checked(lamps())
    other = replace(lamps(), about="other words", changes=[Change(why="", repairs=[])])
    assert todo(other)[Work.EXPLORATION] == {"one-state"}


@dataclass(frozen=True, kw_only=True)
class Odd(Invariant):
    """A user's own kind of property."""

    helper: Callable[[], int]


def test_what_has_no_content_is_always_checked() -> None:
    odd = Odd(name="odd", says="a lamp is on or off", over=[x], then=x.is_("On", "Off"), helper=lambda: 1)
    model = replace(lamps(), properties=[*lamps().properties, odd])
    checked(model)
    left = todo(model)
    assert left[Work.EXPLORATION] == {"odd", "one-state"}
    assert left[Work.INDUCTION] == {"well-formed", "stays-dark", "on-or-off", "odd"}, "a proof may assume the odd one"
    for _ in range(2):
        with pytest.raises(SchedproofError, match="interpretation flickers"):
            plans(interpreted(model, replace(FLICKERS, breaks=["nope"])))
    plans(interpreted(model, replace(FLICKERS, breaks=["odd"])))


def test_variants_that_share_a_digester_keep_their_keys() -> None:
    digester = Digester()
    hived = systems()["hived"]
    for model in hived.variants.values():
        alone, together = VerdictCache(hived, model, "here"), VerdictCache(hived, model, "here", digester)
        for part in parts(hived, model):
            names = part.only[:5]
            assert [alone._key(part, name) for name in names] == [together._key(part, name) for name in names]
