"""Systems of a user's own: a manifest names them, every command works on them, and each mistake has a message of one line."""

import json
import re
from pathlib import Path

import pytest

from schedproof.cli import main
from schedproof.model.registry.discovery import find
from schedproof.model.registry.loading import load
from schedproof.model.registry.manifest import read
from tests.support.places import ROOT
from tests.support.stderr import besides_progress
from tests.support.user_repository import WORKING, imports_undone, reachable, repository

PROPERTIES = [
    "well-formed",
    "works-under-a-lease",
    "lease-is-held",
    "one-at-a-time",
    "held-by-somebody",
    "freed-in-between",
    "work-gets-done",
    "never-stuck",
    "leases-come-back",
    "nobody-starves",
]
BROKEN = {"lease-is-held", "one-at-a-time"}


@pytest.fixture(autouse=True)
def _imports():
    with imports_undone():
        yield


@pytest.fixture
def run(capfd, monkeypatch, tmp_path):
    """Runs a command in the user's folder: its exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)

    def command(*arguments):
        code = main([str(a) for a in arguments])
        return code, *capfd.readouterr()

    return command


@pytest.fixture
def run_json(run):
    def command(*arguments):
        code, out, err = run(*arguments, "--json", "-")
        assert besides_progress(err) == ""
        return code, json.loads(out)

    return command


def test_verify_holds_the_verdicts_against_the_manifest(run_json, tmp_path):
    repository(tmp_path)
    code, output = run_json("verify", "--jobs", "1")
    assert code == 0 and output["ok"]
    assert [(each["system"], each["variant"]) for each in output["systems"]] == [
        ("lease", "as-written"),
        ("lease", "fenced"),
    ]
    written, fenced = ({p["name"]: p for p in each["properties"]} for each in output["systems"])
    assert list(written) == list(fenced) == PROPERTIES
    assert {name for name, p in written.items() if p["verdict"] == "refuted"} == BROKEN
    assert {p["verdict"] for p in fenced.values()} == {"proved"}
    assert [name for name, p in fenced.items() if p["method"] == "induction"] == PROPERTIES[:6]


def test_what_it_breaks_is_what_a_hand_written_model_breaks():
    for fenced in (False, True):
        states, _ = reachable(2, 1, fenced)
        two = any(workers[0] == workers[1] == (WORKING, 0) for workers, _ in states)
        unheld = any(d == WORKING and holders[lease] != w for ws, holders in states for w, (d, lease) in enumerate(ws))
        assert (two, unheld) == ((False, False) if fenced else (True, True))


@pytest.mark.parametrize(("variant", "fenced"), [("as-written", False), ("fenced", True)])
@pytest.mark.parametrize(("workers", "leases"), [(2, 1), (3, 2)])
def test_explore_counts_what_a_hand_written_model_counts(run_json, tmp_path, variant, fenced, workers, leases):
    repository(tmp_path)
    scope = f"Worker={workers},Lease={leases}"
    _, output = run_json("explore", "lease", "--variant", variant, "--scope", scope, "--no-symmetry")
    states, transitions = reachable(workers, leases, fenced)
    assert (output["states"], output["transitions"]) == (len(states), transitions)


def test_every_command_works(run, tmp_path):
    repository(tmp_path)
    for arguments, expected in [
        (["prove", "lease"], "as expected: 12 of 12 verdicts are what the manifests say: 10 proved, 2 not inductive"),
        (["list", "lease"], "Workers and leases that run out (no document but the model itself: model.py)"),
        (["findings"], "1 defect in model.py, 2 properties violated"),
        (
            ["findings", "lease"],
            "stops the worker that still works under it, which then waits for another. (variant fenced)",
        ),
        (["explain", "lease", "one-at-a-time"], " 5. w1 acquires l0 and works"),
        (["explain", "lease", "--state", "w0=Working"], " 2. w0 acquires l0 and works"),
        (["diff", "lease", "as-written", "fenced"], "+ an expired lease stops its worker"),
        (["table", "lease", "Lease"], "Lease of lease as-written"),
        (["validate", "lease", "lease/log.jsonl"], "lease fenced: conforms (6 records, format schedproof)"),
        (["diagram", "lease", "-o", "-", "--format", "mermaid"], "lease (as-written): which event triggers which"),
        (
            [
                "diagram",
                "lease",
                "Worker",
                "-o",
                "-",
                "--format",
                "dot",
                "--variant",
                "fenced",
                "--compare-to",
                "as-written",
            ],
            "stop",
        ),
        (["diagram", "lease", "Lease.holder", "-o", "-", "--format", "dot"], "Held"),
    ]:
        code, out, err = run(*arguments)
        assert (code, err) == (0, ""), arguments
        assert expected in out, arguments


def test_a_violation_in_a_log_names_the_violated_property(run, tmp_path):
    repository(tmp_path, log=('"expire", "parameters": {"l": "printer"}, "state": {"Worker": {"ann": {"state": "Waiting"', '"expire", "parameters": {"l": "printer"}, "state": {"Worker": {"ann": {"state": "Working"'))  # fmt: skip
    code, out, _ = run("validate", "lease", "lease/log.jsonl")
    assert (
        code == 1
        and "lease fenced: violates at record 4 (" in out
        and "ann.state is Waiting in the model, Working observed" in out
    )
    code, out, _ = run("validate", "lease", "lease/log.jsonl", "--variant", "as-written")
    assert code == 0  # there, ann works on under a lease that has run out


def test_a_nonconformance_can_be_held_fast_as_a_test(run, tmp_path):
    repository(tmp_path, log=('"ann": {"state": "Waiting"}}}}\n{"action": "acquire", "parameters": {"w": "bob"}', '"ann": {"state": "Working"}}}}\n{"action": "acquire", "parameters": {"w": "bob"}'))  # fmt: skip
    assert run("validate", "lease", "lease/log.jsonl", "--emit-test", "test_late.py")[0] == 1
    written: dict[str, object] = {}
    exec((tmp_path / "test_late.py").read_text(), written)
    written["test_the_last_record_violates"]()


def test_other_formats_are_other_systems(run, tmp_path):
    repository(tmp_path)
    code, _, err = run("validate", "lease", "lease/log.jsonl", "--format", "hived")
    assert code == 2 and "unknown format 'hived'; choose from schedproof" in err


def test_list_has_the_users_systems_and_the_projects(run_json, tmp_path):
    repository(tmp_path)
    code, output = run_json("list")
    assert code == 0
    assert [s["name"] for s in output["systems"]] == [
        "lease",
        "beaker",
        "hived",
        "jobmon",
        "yunikorn",
        "yunikorn-merge",
    ]
    assert output["systems"][0]["judged_by"] == "fenced"


def test_the_former_key_of_the_variant_for_logs_is_read(run_json, tmp_path):
    repository(tmp_path, manifest=('validated_by = "fenced"', 'judged_by = "as-written"'))
    code, output = run_json("list")
    assert code == 0
    assert output["systems"][0]["judged_by"] == "as-written"


def test_a_manifest_is_found_from_below_within_a_repository(tmp_path):
    repository(tmp_path)
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    manifest = tmp_path / "schedproof.toml"
    assert find(tmp_path) == manifest
    assert find(inner) is None  # who knows whose it is
    (tmp_path / "pyproject.toml").touch()
    assert find(inner) == manifest
    (tmp_path / "a" / ".git").mkdir()  # another repository
    assert find(inner) is None
    assert find(tmp_path) == manifest


def test_the_project_s_own_systems_need_no_readable_manifest(run, tmp_path):
    (tmp_path / "schedproof.toml").write_text("nonsense")
    assert run("table", "hived", "Cell")[0] == 0
    assert run("table", "lease", "Lease")[0] == 2


def test_what_the_manifest_does_not_expect_fails_and_is_reported(run, tmp_path):
    repository(tmp_path, manifest=('refuted = ["lease-is-held", "one-at-a-time"]', 'refuted = ["lease-is-held", "nobody-starves"]'))  # fmt: skip
    code, out, _ = run("verify", "lease", "--jobs", "1")
    assert code == 1
    assert "lease as-written one-at-a-time: refuted in 5 steps at Worker=2,Lease=1, expected proved" in out
    assert "lease as-written nobody-starves: holds at Worker=2,Lease=1, expected refuted" in out
    assert "NOT as expected: 2 of 20 verdicts are" in out


def test_the_manifest_may_leave_to_the_model_what_is_expected(run, tmp_path):
    repository(
        tmp_path,
        manifest=('refuted = ["lease-is-held", "one-at-a-time"]', ""),
        model=('default_scope={"Worker": 2, "Lease": 1},', 'default_scope={"Worker": 2, "Lease": 1},\n    refuted=frozenset({"lease-is-held", "one-at-a-time"}),'),
    )  # fmt: skip
    assert run("verify", "lease", "--jobs", "1")[0] == 0


def test_the_manifest_names_the_scope(run, tmp_path):
    repository(tmp_path, manifest=("# scope = { Worker = 3, Lease = 2 }", "scope = { Worker = 3 }"))
    _, out, _ = run("verify", "lease", "--property", "nobody-starves", "--jobs", "1")
    assert re.findall(r"leads to +holds at (\S+)", out) == ["Worker=2,Lease=1", "Worker=3,Lease=1"]


def test_a_list_of_models_is_as_good_as_each_of_them(run_json, tmp_path):
    repository(
        tmp_path,
        manifest=('model = ["lease.model:AS_WRITTEN", "lease.model:FENCED"]', 'model = "lease.model:ALL"'),
    )
    with (tmp_path / "lease" / "model.py").open("a") as file:
        file.write("\nALL = [AS_WRITTEN, FENCED]\n")
    _, output = run_json("list", "lease")
    assert [v["name"] for v in output["systems"][0]["variants"]] == ["as-written", "fenced"]


def test_a_log_is_checked_by_the_first_variant_by_default(tmp_path):
    repository(tmp_path, manifest=('validated_by = "fenced"', ""))
    assert load(read(tmp_path / "schedproof.toml")["lease"]).validated_by == "as-written"


LOCKS_ONLY = """\
[systems.hangs]
variants.a.locks = [{ name = "ab", file = "ab.yaml" }, { name = "none", file = "ab.yaml", only = "no-deadlock" }]
"""


def test_a_system_of_lock_files_needs_no_model(run, tmp_path):
    steps = "  one: [{lock a: [lock b: []]}]\n  two: [{lock a: [lock b: []]}]\n"
    (tmp_path / "ab.yaml").write_text(f"objects: {{a: mutex, b: mutex}}\nthreads:\n{steps}")
    (tmp_path / "schedproof.toml").write_text(LOCKS_ONLY)
    code, out, _ = run("verify", "hangs", "--jobs", "1")
    assert code == 0 and "as expected: 4 of 4" in out and "well-formed" not in out
    reverse = steps.replace("a: [lock b", "b: [lock a", 1)
    (tmp_path / "ba.yaml").write_text(f"objects: {{a: mutex, b: mutex}}\nthreads:\n{reverse}")
    (tmp_path / "schedproof.toml").write_text(LOCKS_ONLY.replace("ab.yaml", "ba.yaml"))
    code, out, _ = run("verify", "hangs", "--jobs", "1")
    assert code == 1 and "NOT as expected: 3 of 4" in out
    # A model that is missing beside others, or a variant with nothing, is a mistake.
    both = 'variants.b = { model = "lease.model:FENCED", locks = [{ name = "ab", file = "ab.yaml" }] }\n'
    for rest in (both, 'variants.b.model = "lease.model:FENCED"\n', "variants.b = {}\n"):
        (tmp_path / "schedproof.toml").write_text(LOCKS_ONLY + rest)
        code, _, err = run("verify", "hangs")
        assert code == 2 and "systems.hangs.model: write where the model is" in err


def test_commands_without_a_model_name_the_command_for_locks(run, tmp_path):
    (tmp_path / "ab.yaml").write_text("objects: {a: mutex}\nthreads: {one: [lock a: []]}\n")
    (tmp_path / "schedproof.toml").write_text(LOCKS_ONLY)
    (tmp_path / "log").write_text("")
    commands = (
        *("simulate hangs", "explore hangs", "prove hangs", "strengthen hangs", "profile hangs", "table hangs X"),
        *("diagram hangs -o x.svg", "diagram hangs triggers -o x.svg", "generate hangs --cover states -o x"),
        *("export hangs --to tla -o x", "explain hangs --state a=b", "validate hangs log"),
    )
    says = "hangs has lock files and no model; run 'schedproof locks ab.yaml"
    for command in commands:
        code, out, err = run(*command.split())
        assert (code, out) == (2, "") and err.startswith(f"schedproof: {says}") and err.count("\n") == 1, command
    # What shows the lock files needs no model.
    assert [run(*words)[0] for words in (["list", "hangs"], ["diagram", "hangs", "ab", "-o", "x.dot"])] == [0, 0]


def test_the_manifest_that_the_docs_show_is_one(run, tmp_path):
    page = (ROOT / "docs" / "reference" / "manifest.md").read_text()
    shown = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)[0]
    repository(tmp_path)
    (tmp_path / "schedproof.toml").write_text(shown)
    code, out, _ = run("verify", "--jobs", "1")
    assert code == 0 and "as expected: 20 of 20" in out


MODELS = 'model = ["lease.model:AS_WRITTEN", "lease.model:FENCED"]'
FIRST = '"""lease: workers that work under a lease'
MISTAKES = {
    "no TOML": ({"manifest": (MODELS, "model = ")}, "schedproof.toml: is not TOML: Invalid value (at line "),
    "unknown key of the file": ({"manifest": ("[systems.lease]", "[system.lease]")}, "unknown key 'system'; did you mean systems?"),
    "unknown key of a system": ({"manifest": ("validated_by", "validated")}, "systems.lease: unknown key 'validated'; did you mean validated_by?"),
    "unknown key of a variant": ({"manifest": ("refuted = []", "refutes = []")}, "did you mean refuted?"),
    "no model": ({"manifest": (MODELS, "")}, 'systems.lease.model: write where the model is, as "package.module:OBJECT"'),
    "no object in the text": ({"manifest": (MODELS, 'model = "lease.model"')}, "'lease.model' is not a reference"),
    "code instead of a name": ({"manifest": (MODELS, 'model = "lease.model:exit()"')}, "is not a reference"),
    "no such module": ({"manifest": (MODELS, 'model = "leese.model:FENCED"')}, "no module 'leese' is in "),
    "no such file": ({"manifest": (MODELS, 'model = "lease.modle:FENCED"')}, "no module 'lease.modle' is in "),
    "no such object": ({"manifest": (MODELS, 'model = "lease.model:FENCE"')}, "unknown object of lease.model 'FENCE'; did you mean FENCED?"),
    "no model, but a machine": ({"manifest": (MODELS, 'model = "lease.model:WORKER"')}, "lease.model:WORKER is a Machine, not a Model; name one of: AS_WRITTEN, FENCED"),
    "expectations of a variant that is not named": ({"manifest": (MODELS, 'model = "lease.model:FENCED"')}, "unknown variant 'as-written'; choose from fenced"),
    "the same model twice": ({"manifest": (MODELS, 'model = ["lease.model:FENCED", "lease.model:FENCED"]')}, "two models are the variant 'fenced'"),
    "another system's model": ({"model": ('system="lease"', 'system="lock"')}, "lease.model:AS_WRITTEN is a model of the system 'lock'; write [systems.lock] here"),
    "a name that is taken": ({"manifest": ("systems.lease", "systems.hived")}, "schedproof.toml has a system of that name, too; rename one of the two"),
    "a name with a space": ({"manifest": ("[systems.lease]", '[systems."my lease"]')}, "choose letters, digits"),
    "no such check": ({"manifest": ('validated_by = "fenced"', 'validated_by = "fence"')}, "systems.lease.validated_by: unknown variant 'fence'; did you mean fenced?"),
    "no such variant": ({"manifest": ("variants.fenced]", "variants.fence]")}, "systems.lease.variants: unknown variant 'fence'"),
    "no such property": ({"manifest": ('"one-at-a-time"]', '"one-at-time"]')}, "variants.as-written.refuted: unknown property 'one-at-time'; did you mean one-at-a-time"),
    "refuted is no list": ({"manifest": ("refuted = []", 'refuted = "x"')}, "variants.fenced.refuted: is a text in quotes; write a list of properties"),
    "no such sort": ({"manifest": ("# scope = { Worker = 3, Lease = 2 }", "scope = { Wrker = 3 }")}, "variants.fenced.scope: unknown sort 'Wrker' in the scope; choose from Worker, Lease"),
    "scope is no number": ({"manifest": ("# scope = { Worker = 3, Lease = 2 }", "scope = { Worker = true }")}, "write a number of objects for each sort"),
    "two expectations": ({"model": ("refuted=frozenset(),", 'refuted=frozenset({"nobody-starves"}),')}, "refuted: none, but the model (model.py:"),
    "a name of the language": (
        {"model": ("    DeadlockFree,\n", "")},
        "NameError: name 'DeadlockFree' is not defined; import it: from schedproof.model.lang import DeadlockFree",
    ),
    "a name error": ({"model": ("# Variables: below", "print(nosuch)\n# Variables: below")}, "importing lease.model fails in lease/model.py, line "),
    "a syntax error": ({"model": ("v, w = variables", "v, w == = variables")}, "SyntaxError: invalid syntax; correct it there"),
    "an exit": ({"model": ("v, w = variables", "raise SystemExit(3)\nv, w = variables")}, "SystemExit: 3; correct it there"),
    "a missing library": ({"model": ("v, w = variables", "import nosuchlibrary\nv, w = variables")}, "No module named 'nosuchlibrary'; correct it there"),
    "no and for &": ({"model": ('l.is_("Held") & (l.holder == w)', 'l.is_("Held") and l.holder == w')}, "ArgumentError: a term is not true or false in Python"),
    "a model that says something impossible": ({"model": ('"Idle", "Waiting"),', '"Idle", "Wating"),')}, "lease.model has an error: lease/model.py:"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_reported_in_one_line(run, tmp_path, mistake):
    changes, expected = MISTAKES[mistake]
    repository(tmp_path, **changes)
    code, out, err = run("verify", "--jobs", "1")
    assert (code, out) == (2, "")
    message, *excerpt = err.splitlines()
    assert message.startswith("schedproof: ") and expected in message and "Traceback" not in err
    assert all(line.startswith("  ") for line in excerpt)


CARETS: dict[str, tuple[str, str]] = {
    "a name error": ("print(nosuch)", "nosuch"),
    "a syntax error": ("v, w = = variables", "="),
    "a missing library": ("import nosuchlibrary", "import nosuchlibrary"),
    "no and for &": ('l.is_("Held") and l.holder == w', 'l.is_("Held") and l.holder == w'),
    "a model that says something impossible": ('"Idle", "Wating"', '"Wating"'),
}
"""Of mistakes in the model: how its line reads, and what of it has carets below."""


@pytest.mark.parametrize("mistake", CARETS)
def test_a_mistake_in_the_model_is_shown_with_carets(run, tmp_path, mistake):
    changes, _ = MISTAKES[mistake]
    if mistake == "a syntax error":
        changes = {"model": ("v, w = variables", "v, w = = variables")}
    repository(tmp_path, **changes)
    _, _, err = run("verify", "--jobs", "1")
    reads, marked = CARETS[mistake]
    _, where, line, carets = err.splitlines()
    assert where.strip().startswith("--> lease/model.py:") and reads in line
    start = carets.index("^")
    assert line[start : start + carets.count("^")] == marked
    column, source = int(where.rpartition(":")[2]), Path("lease/model.py").read_text("utf-8").splitlines()
    number = int(where.split(":")[-2])
    assert source[number - 1][column - 1 :].startswith(marked)


def test_a_variant_needs_the_one_that_it_amends(run, tmp_path):
    repository(tmp_path)
    (tmp_path / "schedproof.toml").write_text('[systems.lease]\nmodel = "lease.model:FENCED"\n')
    code, _, err = run("verify")
    assert (
        code == 2
        and "the variant 'fenced' amends 'as-written', which the manifest does not name; name it as well" in err
    )


@pytest.mark.parametrize(("content", "expected"), [(b"", "the file names no system"), (b"systems = 3", "systems is not a table"), (b"\xff", "is not UTF-8"), (b"a = " + b"[" * 20_000, "is nested too deep"), (b"a = " + b"1" * 10_000, "has a number of too many digits")])  # fmt: skip
def test_an_invalid_manifest_is_reported_in_one_line(run, tmp_path, content, expected):
    (tmp_path / "schedproof.toml").write_bytes(content)
    code, _, err = run("verify")
    assert code == 2 and f"schedproof.toml: {expected}" in err and err.count("\n") == 1


WRONG = ('default_scope={"Worker": 2, "Lease": 1},', 'default_scope={"Worker": 2, "Lease": 1},\n    configurations=lambda sizes: [1 / 0],')  # fmt: skip


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_exception_of_the_model_is_reported_with_its_line(run, tmp_path, jobs):
    repository(tmp_path, model=WRONG)
    text = (tmp_path / "lease" / "model.py").read_text().splitlines()
    (line,) = [number for number, each in enumerate(text, 1) if "1 / 0" in each]
    code, out, err = run("verify", "--jobs", jobs)
    assert (code, out) == (2, "")
    assert err.splitlines() == [
        f"schedproof: lease/model.py, line {line}, which a model calls, fails: ZeroDivisionError: division by zero; correct it there",
        f"  {' ' * len(str(line))}--> lease/model.py:{line}",
        f"  {line} | {text[line - 1].strip()}",
    ]


def test_what_is_wrong_in_the_project_is_not_blamed_on_the_user(run, tmp_path, monkeypatch):
    repository(tmp_path)

    def broken(*arguments, **options):
        raise ZeroDivisionError

    monkeypatch.setattr("schedproof.cli.commands.verify.plan", broken)
    with pytest.raises(ZeroDivisionError):
        run("verify", "--jobs", "1")


def test_what_a_model_prints_is_no_result(run_json, run, tmp_path):
    repository(tmp_path, model=("# Variables: below", "print('hello')\n# Variables: below"))
    code, out, err = run("list", "lease", "--json", "-")
    assert code == 0 and json.loads(out) and err == "hello\n"


def test_the_line_of_an_exception_is_that_of_the_user_s_file(run, tmp_path):
    repository(tmp_path, model=('ask = Action("ask", [w]', 'ask = Action("ask", w.lease.nosuch + None'))
    text = (tmp_path / "lease" / "model.py").read_text().splitlines()
    (line,) = [number for number, line in enumerate(text, 1) if "nosuch" in line]
    _, _, err = run("verify")
    assert f"fails in lease/model.py, line {line}: ArgumentError: " in err


def test_the_error_for_an_unknown_system_lists_the_users_systems(run, tmp_path):
    repository(tmp_path)
    _, _, err = run("verify", "leese")
    assert "unknown system 'leese'; did you mean lease? choose from lease, beaker, hived" in err


def test_packages_of_the_same_name_are_not_taken_for_each_other(run, tmp_path, monkeypatch):
    one, other = repository(tmp_path / "one"), repository(tmp_path / "other")
    monkeypatch.chdir(one)
    assert run("list", "lease")[0] == 0
    monkeypatch.chdir(other)
    code, _, err = run("list", "lease")
    assert code == 2 and "'lease' is also the name of a module in " in err and "which is imported already" in err


def test_without_a_manifest_it_is_said_where_one_would_be(run):
    _, _, err = run("verify", "lease")
    assert "unknown system 'lease'; choose from beaker, hived" in err
    assert "your own systems are in schedproof.toml, here or in a folder above" in err


@pytest.mark.parametrize("command", [["verify", "--jobs", "1"], ["findings"], ["list"]])
def test_a_system_that_cannot_be_loaded_leaves_the_others_alone(run, tmp_path, command):
    repository(tmp_path)
    manifest = tmp_path / "schedproof.toml"
    manifest.write_text('[systems.gone]\nmodel = "nosuch:MODEL"\n\n' + manifest.read_text())
    code, out, err = run(*command)
    assert code == 2 and besides_progress(err).count("\n") == 1
    assert "schedproof.toml: systems.gone.model" in err and "nosuch" in err
    assert "lease" in out
