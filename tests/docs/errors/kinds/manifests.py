"""Errors of ``schedproof.toml``, and of the modules that it names."""

from __future__ import annotations

from collections.abc import Iterator

from tests.docs.errors.case import Case, Content, lease
from tests.model.locks.test_language import THREAD
from tests.model.registry.test_own_systems import MISTAKES

HEAD = "[systems.lease]\n"
FENCED = 'model = "lease.model:FENCED"'
TOGETHER = 'model = ["lease.model:AS_WRITTEN", "lease.model:FENCED"]'


def _manifest(shown: str, content: Content) -> Case:
    return lease("list lease", shown=shown, files={"schedproof.toml": content})


def _variant(line: str, table: str = "") -> Case:
    return _manifest(line, f"{HEAD}{TOGETHER}\n{table}[systems.lease.variants.fenced]\n{line}\n")


def cases() -> Iterator[Case]:
    for changes, _ in MISTAKES.values():
        yield lease("verify --jobs 1", **changes)
    yield _manifest(FENCED, f"{HEAD}{FENCED}\n")
    yield _manifest("(empty)", b"")
    yield _manifest("systems = 3", b"systems = 3")
    yield _manifest("systems.lease = 3", b"systems.lease = 3")
    yield _manifest("\\xff", b"\xff")
    yield _manifest("a = [[[[...", b"a = " + b"[" * 20_000)
    yield _manifest("a = 1111...", b"a = " + b"1" * 10_000)
    yield _variant(f"{FENCED}  # and in the system's model")
    yield _variant('locks = [{ name = "x" }]')
    yield _variant('locks = [{ name = "x", file = "x.yaml", refuted = true }]')
    yield _variant("scope = { Worker = -9999999999999999999 }")
    yield _variant('bound = { "Lease.term" = 3 }')
    yield _variant("bound = 3")
    yield _variant('bound = { "Lease.term" = [3] }')
    alone = '[systems.lease.variants.{}]\nmodel = "lease.model:{}"\n'
    yield _manifest('[systems.lease.variants.fence]  # model = "lease.model:FENCED"', alone.format("fence", "FENCED"))
    yield _manifest("[systems.lease.variants.fenced]  # alone", alone.format("fenced", "FENCED"))
    yield _manifest('validated_by = "other"', f'{HEAD}validated_by = "other"\n' + alone.format("fenced", "FENCED"))
    named = HEAD + TOGETHER + '\ncontradictions = "lease.model:{}"\n'
    for name in ("NOSUCH", "WORKER"):
        yield lease(
            "findings lease",
            shown=f'contradictions = "lease.model:{name}"',
            files={"schedproof.toml": named.format(name)},
        )
    derived = 'attributes=[Attribute("holder", Ref(Worker), derived=True)],'
    yield lease("list lease", model=('attributes=[Attribute("holder", Ref(Worker))],', derived))
    words = 'Contradiction("ends", ((3, "Leases end."),), "Leases end and do not.", "They end.", violates=["nosuch"])'
    yield lease(
        "findings lease",
        shown=words,
        files={"schedproof.toml": named.format("WORDS")},
        model=(
            "v, w = variables",
            f"from schedproof.model.lang import Contradiction\nWORDS = [{words}]\nv, w = variables",
        ),
    )
    silent = 'Contradiction("ends", (), "Leases end and do not.", "They end.")'
    yield lease(
        "findings lease",
        shown=silent,
        files={"schedproof.toml": named.format("SILENT")},
        model=(
            "v, w = variables",
            f"from schedproof.model.lang import Contradiction\nSILENT = [{silent}]\nv, w = variables",
        ),
    )
    crash = "from schedproof.model.lang import Durability, crash\ncrash('crash', 'lost', [Machine(Worker, states=[State('A', Durability.VOLATILE)])], [])\n"
    first = "v, w = variables"
    yield lease("verify lease", shown=crash.splitlines()[1], model=(first, crash + first))
    replays = ('validated_by = "fenced"', 'replays = "lease.model:REPLAYS"')
    yield lease(
        "generate lease --cover actions --replay -o out",
        shown='REPLAYS = {"other": print}',
        manifest=replays,
        model=(first, 'REPLAYS = {"other": print}\n' + first),
    )
    named = f'{HEAD}{TOGETHER}\ninterpretations = "lease.model:ANSWERS"\n'
    for changes in (
        'breaks=["one-at-a-time"]',
        'rests=["one-at-a-time"]',
        'drops=["nosuch"]',
        'drops=["nobody-starves"], breaks=["nosuch"]',
    ):
        answers = (
            "from schedproof.model.lang import Reading\n"
            f'ANSWERS = [Reading("leases-end", 3, "Leases end.", "They do not.", question="Do leases end?", why="They have a term.", {changes})]\n'
        )
        yield lease(
            "verify lease --jobs 1",
            shown=answers.splitlines()[1],
            files={"schedproof.toml": named},
            model=(first, answers + first),
        )
    change = "locks='order: [A > B]'"
    answers = (
        "from schedproof.model.lang import Reading\n"
        f'ANSWERS = [Reading("leases-end", 3, "Leases end.", "They do not.", question="Do leases end?", why="They have a term.", {change})]\n'
    )
    locked = f'{named}[systems.lease.variants.as-written]\nlocks = [{{ name = "once", file = "x.yaml" }}]\n'
    for manifest in (named, locked):
        yield lease(
            "verify lease --jobs 1",
            shown=answers.splitlines()[1],
            files={"schedproof.toml": manifest, "x.yaml": THREAD + "    - rlock a: []\n"},
            model=(first, answers + first),
        )
    for words in (
        '"Leases end.", "They do not.", question="", why="So."',
        '"So.", "So.", question="Do leases end?", why="So."',
        '"Leases end.", "They do not.", question="Do leases end?", why="So."',
    ):
        answers = f"from schedproof.model.lang import Reading\nANSWERS = [Reading('leases-end', 3, {words})]\n"
        yield lease(
            "verify lease --jobs 1",
            shown=answers.splitlines()[1],
            files={"schedproof.toml": named},
            model=(first, answers + first),
        )
    ledgers: dict[str, Content] = {
        "(no such file)": "",
        "statements: [": "statements: [",
        "document: x": "document: x",
        "elements: {}": "{document: x, variants: [as-written], statements: [], elements: {}}",
    }
    for line, content in ledgers.items():
        files: dict[str, Content] = {
            "schedproof.toml": f'{HEAD}{TOGETHER}\nledger = "ledger.yaml"\n',
            "ledger.yaml": content,
        }
        if not content:
            del files["ledger.yaml"]
        yield lease("verify lease", shown=line, files=files)
    for options in ("", " --document nosuch.md", " --draft"):
        yield lease(f"coverage lease{options}", shown=f"schedproof coverage lease{options}")
    for entry in ('file = "missing.yaml"', 'file = "x.yaml", only = "nosuch"', 'file = "x.yaml", only = "no-deadlock"'):
        line = f'locks = [{{ name = "one-at-a-time", {entry} }}]'
        text = f"{HEAD}{TOGETHER}\n[systems.lease.variants.fenced]\n{line}\n"
        files = {"schedproof.toml": text, "x.yaml": THREAD + "    - rlock a: []\n"}
        yield lease("list lease", shown=line, files=files)
    line = 'locks = [{ name = "one-at-a-time", file = "x.yaml", only = "no-deadlock", refuted = true }]'
    text = f"{HEAD}{TOGETHER}\n[systems.lease.variants.fenced]\n{line}\n"
    for repair in ("once: no-dedlock", "once: {checks: no-deadlock, rests: no-such}"):
        stuck = THREAD + f"    - wlock a:\n        - wlock a: []\ndocument: lease.md\nrepairs:\n  {repair}\n"
        yield lease("findings lease", shown=repair, files={"schedproof.toml": text, "x.yaml": stuck})
