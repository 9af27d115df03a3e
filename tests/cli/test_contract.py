"""The command line: names, JSON keys and exit codes are a contract with scripts elsewhere.

Most tests use lamps (see tests/support/lamps.py), whose numbers are written down by hand.
"""

import itertools
import json
import re
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from xml.etree import ElementTree as ET

import pytest

from schedproof.cli import main
from schedproof.cli.differences import related
from schedproof.model.lang import (
    Action,
    Attribute,
    Change,
    Contradiction,
    DeadlockFree,
    IntRange,
    Invariant,
    InvariantAtScope,
    LeadsTo,
    LifeCycle,
    Machine,
    Reading,
    State,
    exists,
    forall,
    variable,
)
from schedproof.model.registry.discovery import systems
from schedproof.model.registry.system import System
from schedproof.proofs.induction import Recheck
from schedproof.proofs.verdict import Method, Result, Verdict
from tests.proofs.checking.test_unfired import with_idle_parts
from tests.support import places
from tests.support.ill_formed import EVEN, KEPT, STEPS
from tests.support.lamps import PROPERTIES, SWITCH_ON, VACUOUS, Lamp, lamps, system, x
from tests.support.needs import needs_dot
from tests.support.registry import put
from tests.support.sample import thinned
from tests.support.stderr import besides_progress
from tests.support.user_repository import imports_undone, repository

DATA = places.DATA / "hived"
y = variable(Lamp, "y")

WITHOUT_MANIFEST = "schedproof: no schedproof.toml in this directory or above it in the repository; checking 1 built-in system: lamps\n"


@pytest.fixture
def registered(monkeypatch):
    """Puts systems in place of the project's own."""

    def register(*systems):
        put(monkeypatch, {s.name: s for s in systems})

    register(system())
    return register


@pytest.fixture
def run(capfd):
    """Runs a command: its exit code, standard output, standard error."""

    def command(*arguments):
        code = main([str(a) for a in arguments])
        return code, *capfd.readouterr()

    return command


@pytest.fixture
def run_json(run, registered):
    """Runs a command with ``--json -``: its exit code and the result; standard output has nothing else."""

    def command(*arguments):
        code, out, err = run(*arguments, "--json", "-")
        assert besides_progress(err) in ("", WITHOUT_MANIFEST)
        return code, json.loads(out)

    return command


def test_no_result_is_written_over_what_is_read(run, tmp_path):
    """Not even if it does not conform, under another name of the same file."""
    log = tmp_path / "log.jsonl"
    log.write_text('{"schedproof": 1, "system": "hived"}\n{"action": "complete", "parameters": {"p": "x"}}\n')
    (tmp_path / "same").symlink_to(log)
    before = log.read_text()
    for option in ("--emit-test", "--json"):
        for name in (log, tmp_path / "same", tmp_path / "." / "log.jsonl"):
            code, out, err = run("validate", "hived", log, option, name)
            assert (code, out) == (2, "") and f"{option}: {str(name)!r} is an input of this command" in err
    assert log.read_text() == before
    assert (
        run("validate", "hived", "")[2]
        == "schedproof: LOG: the name is empty; write a file's name, or - for standard input\n"
    )


# verify


def test_verify_json(run_json):
    code, output = run_json("verify", "lamps")
    assert code == 0
    assert output["ok"] is True
    (variant,) = output["systems"]
    assert (variant["system"], variant["variant"]) == ("lamps", "plain")
    facts = {
        p["name"]: (p["kind"], p["expected"], p["verdict"], p["method"], p["scope"]) for p in variant["properties"]
    }
    assert facts == {
        "well-formed": ("well-formedness", "proved", "proved", "induction", None),
        "stays-dark": ("invariant", "refuted", "refuted", "exploration", {"Lamp": 2}),
        "on-or-off": ("invariant", "proved", "proved", "induction", None),
        "blinks": ("can happen", "proved", "proved", "exploration", {"Lamp": 2}),
        "one-state": ("by construction", "proved", "proved", "construction", None),
    }
    assert all(isinstance(p["seconds"], float) for p in variant["properties"])
    (refuted,) = (p for p in variant["properties"] if "counterexample" in p)
    (step,) = refuted["counterexample"]["steps"]
    assert (step["action"], list(step["parameters"])) == ("switch_on", ["x"])
    (change,) = step["changes"]
    assert (change["field"], change["before"], change["after"]) == ("state", "Off", "On")
    assert (change["event"], change["rule"], change["line"]) == ("Lamp.on", "action switch_on", 3)


def test_verify_table_and_closing_line(run, registered):
    code, out, err = run("verify")
    lines = out.splitlines()
    assert (code, besides_progress(err)) == (0, WITHOUT_MANIFEST)
    assert "\nlamps plain: as expected: 5 of 5 verdicts are what the manifests say (" in err
    assert lines[0] == "lamps plain"
    rows = [line.split("  ") for line in lines[2:7]]
    assert [(r[0], [c.strip() for c in r if c.strip()][2]) for r in rows] == [
        ("well-formed", "proved (any number)"),
        ("stays-dark", "refuted in 1 step at Lamp=2"),
        ("on-or-off", "proved (any number)"),
        ("blinks", "holds at Lamp=2"),
        ("one-state", "by construction"),
    ]
    assert lines[-1].startswith("as expected: 5 of 5 verdicts are what the manifests say (")


class TestManifest:
    """In a wrong folder, a job must not check the built-in systems and pass."""

    def test_without_one_the_systems_are_named(self, run, registered, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        code, _, err = run("verify", "--property", "blinks")
        assert (code, besides_progress(err)) == (0, WITHOUT_MANIFEST)
        assert besides_progress(run("verify", "lamps", "--property", "blinks")[2]) == ""

    def test_a_file_that_is_not_there_fails(self, run, registered, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        code, out, err = run("verify", "--manifest", "schedproof.toml")
        assert (code, out) == (2, "") and "no file 'schedproof.toml' here" in err

    def test_only_its_systems_are_checked(self, run, registered, tmp_path, monkeypatch):
        """From another folder, too; a report shows the run of a system that only this manifest names."""
        monkeypatch.chdir(tmp_path)
        with imports_undone():
            file = repository(tmp_path / "there", manifest=('"lease-is-held", ', "")) / "schedproof.toml"
            arguments = ("--manifest", file, "--property", "lease-is-held", "--variant", "as-written")
            code, out, err = run("verify", *arguments)
            assert (code, besides_progress(err)) == (1, "") and "3. l0 expires" in out
            code, out, _ = run("verify", *arguments, "--junit", "-")
            assert code == 1 and "3. l0 expires" in out and "lamps" not in out
            code, _, err = run("verify", "lamps", "--manifest", file)
            assert code == 2 and "unknown system of" in err and "choose from lease" in err


def test_verify_only(run_json, registered):
    registered(system(lamps("plain"), lamps("other", properties=[VACUOUS], refuted=())))
    code, output = run_json("verify", "--property", "blinks", "--property", "one-state")
    names = {v["variant"]: [p["name"] for p in v["properties"]] for v in output["systems"]}
    assert (code, names) == (0, {"plain": ["blinks", "one-state"]})


@pytest.mark.parametrize(
    ("refuted", "wrong"),
    [
        ((), "stays-dark: refuted in 1 step at Lamp=2, expected proved"),
        (("stays-dark", "on-or-off"), "on-or-off: proved (any number), expected refuted"),
    ],
)
def test_an_unexpected_verdict_exits_with_1(run, registered, refuted, wrong):
    """In both directions: a property that fails, and one that is said to fail but does not."""
    registered(system(lamps(refuted=refuted)))
    code, out, _ = run("verify")
    assert code == 1
    assert f"lamps plain {wrong}" in out
    assert out.splitlines()[-1].startswith("NOT as expected: 1 of 5 verdicts")


def test_a_vacuous_property_is_undetermined_and_exits_with_3(run_json, registered):
    registered(system(lamps(properties=[VACUOUS], refuted=())))
    code, output = run_json("verify")
    assert (code, output["ok"]) == (3, False)
    assert output["systems"][0]["properties"][1]["verdict"] == "undetermined"


def test_a_wrong_verdict_weighs_more_than_a_missing_one(run, registered):
    registered(system(lamps(properties=[*lamps().properties, VACUOUS], refuted=())))
    assert run("verify")[0] == 1


def test_junit(run, registered, tmp_path):
    properties = [*lamps().properties, VACUOUS]
    registered(system(lamps(refuted=(), properties=properties)))
    run("verify", "--junit", tmp_path / "report.xml")
    (suite,) = ET.parse(tmp_path / "report.xml").getroot()
    assert {k: suite.get(k) for k in ("name", "tests", "failures", "errors")} == {
        "name": "lamps plain", "tests": "6", "failures": "1", "errors": "1"
    }  # fmt: skip
    outcome = {case.get("name"): [child.tag for child in case if child.tag != "properties"] for case in suite}
    assert outcome == {
        "well-formed": [], "stays-dark": ["failure"], "on-or-off": [], "blinks": [], "one-state": [], "if-broken": ["error"]
    }  # fmt: skip
    assert " 1. l0 is switched on  [action switch_on, line 3]" in suite.find("testcase/failure").text


def test_summary(run, registered, tmp_path):
    registered(system(lamps(refuted=())))
    run("verify", "--summary", tmp_path / "summary.md")
    text = (tmp_path / "summary.md").read_text()
    assert text.startswith("## schedproof: NOT as expected\n\n1 of 5 verdicts is not what the manifests say.\n")
    assert "### lamps plain: stays-dark\n\nrefuted in 1 step at Lamp=2, expected proved.\n" in text
    assert "| stays-dark | refuted in 1 step at Lamp=2 | proved | NOT EXPECTED |" in text


def test_cached_verdicts_are_marked(run, run_json, registered, monkeypatch, tmp_path):
    monkeypatch.setenv("SCHEDPROOF_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("SCHEDPROOF_NO_CACHE")
    _, first = run_json("verify")
    assert not any("cached" in p for p in first["systems"][0]["properties"])
    code, out, _ = run("verify", "--junit", tmp_path / "x.xml", "--summary", tmp_path / "x.md")
    rows = {line.split()[0]: line.split()[-1] for line in out.splitlines()[2:7]}
    assert code == 0 and rows.pop("one-state") == "0.00" and set(rows.values()) == {"cached"}
    assert re.search(
        r"^as expected: 5 of 5 verdicts .*, 4 cached \(schedproof \S+, z3-solver \S+\) \(", out, re.MULTILINE
    )
    cached = ET.parse(tmp_path / "x.xml").getroot().findall("testsuite/testcase/properties/property[@name='cached']")
    assert len(cached) == 4 and (tmp_path / "x.md").read_text().count("as expected, cached") == 4
    _, second = run_json("verify")
    marks = [p.pop("cached", False) for p in second["systems"][0]["properties"]]
    assert marks == [True, True, True, True, False]
    for p in [*first["systems"][0]["properties"], *second["systems"][0]["properties"]]:
        del p["seconds"]
    assert first == second
    assert "cached" not in json.dumps(run_json("verify", "--no-cache")[1])


def test_a_cache_that_others_can_write_is_refused(run, registered, monkeypatch, tmp_path):
    folder = tmp_path / "cache"
    folder.mkdir()
    folder.chmod(0o777)
    monkeypatch.setenv("SCHEDPROOF_CACHE", str(folder))
    monkeypatch.delenv("SCHEDPROOF_NO_CACHE")
    code, _, err = run("verify", "lamps")
    assert code == 0 and list(folder.iterdir()) == []
    assert besides_progress(err) == (
        f"schedproof: nothing is cached: other users can write to {folder}; run 'chmod go-w' on it\n"
    )


def test_verify_one_variant(run_json, registered, run):
    registered(system(lamps("plain"), lamps("other")))
    code, output = run_json("verify", "--variant", "other")
    assert code == 0 and [v["variant"] for v in output["systems"]] == ["other"]
    assert run("verify", "lamps", "--variant", "othr")[::2] == (
        2, "schedproof: unknown variant 'othr'; did you mean other? choose from plain, other\n"
    )  # fmt: skip


def test_nothing_to_check_is_not_green(run, registered):
    registered(system(lamps("plain"), lamps("other", properties=[VACUOUS], refuted=())))
    code, out, err = run("verify", "--variant", "other", "--property", "if-broken")
    assert code == 3 and "if-broken" in out
    code, out, err = run("verify", "--variant", "other", "--property", "blinks")
    assert (code, out) == (2, "") and "unknown property 'blinks'" in err


def test_engines_that_disagree_exit_with_1(run, registered, monkeypatch):
    class ProvesAnything:
        def proved(self, name):
            return True

        def seconds(self, name):
            return 0.0

        def support(self, name):
            return frozenset()

        def lemmas(self, name):
            return []

        inductive = frozenset()
        bounds = MappingProxyType({})

    monkeypatch.setattr("schedproof.proofs.verification.parts.prove", lambda model, **options: ProvesAnything())
    code, out, err = run("verify", "lamps")
    assert (code, out) == (1, "")
    assert err.startswith("schedproof: two engines disagree: stays-dark: induction proves it, but exploration finds")
    assert err.count("\n") == 1


def test_former_verdicts_in_json(run):
    """Text says ``violates``; JSON keeps the word that scripts read."""
    code, out, _ = run("validate", "hived", places.DATA / "plain" / "nonconforming.jsonl")
    assert code == 1 and out.startswith("hived as-written: violates at record 6 (format schedproof)\n")
    assert (
        json.loads(_json(run, "validate", "hived", places.DATA / "plain" / "nonconforming.jsonl"))["verdict"]
        == "violates"
    )


# prove


def test_prove_json(run_json):
    code, output = run_json("prove", "lamps")
    assert code == 0
    pairs = [(o["invariant"], o["action"]) for o in output["obligations"] if o["invariant"] != "well-formed"]
    actions = ["(initial)", "switch_on", "switch_off"]
    assert sorted(pairs) == sorted(
        [(i, a) for i in ("stays-dark", "on-or-off") for a in actions] + [("one-state", "(every)")]
    )
    keys = {"invariant", "action", "verdict", "method", "scope", "seconds", "variant", "detail", "expected"}
    assert all(keys <= set(o) for o in output["obligations"])
    verdicts = {(o["invariant"], o["action"]): (o["verdict"], o["method"]) for o in output["obligations"]}
    assert verdicts["stays-dark", "(initial)"] == ("proved", "induction")
    assert verdicts["stays-dark", "switch_on"] == ("undetermined", "induction")  # a failed step refutes nothing
    (failed,) = [o for o in output["obligations"] if o["verdict"] == "undetermined"]
    assert failed["note"] == "not inductive" and failed["counterexample"]["start"]
    assert {p["name"]: (p["verdict"], p["expected"], p.get("note")) for p in output["properties"]} == {
        "stays-dark": ("undetermined", "refuted", "not inductive"),
        "on-or-off": ("proved", "proved", None),
        "well-formed": ("proved", "proved", None),
    }
    assert verdicts["one-state", "(every)"] == ("proved", "construction")
    assert {o["action"] for o in output["obligations"] if o["invariant"] == "well-formed"} == {
        "switch_on",
        "switch_off",
    }


def test_prove_is_checked_by_the_manifest(run, registered):
    registered(system(lamps(refuted=())))
    code, out, _ = run("prove", "lamps")
    assert code == 3
    assert "stays-dark / switch_on: not inductive" in out
    assert "refuted" not in out
    hint = f"'schedproof strengthen lamps --variant {lamps().variant} --property stays-dark' may find what the induction lacks\n"
    assert hint in out
    assert "From this state, which no assumed invariant excludes:" in out
    assert (
        out.splitlines()[-1]
        == "NOT as expected: 1 of 3 verdicts is not what the manifests say; all 3 verdicts: 1 not inductive, 2 proved"
    )


def test_cvc5_rechecks(run_json):
    code, output = run_json("prove", "lamps", "--solver", "cvc5")
    asked = [o for o in output["obligations"] if o["method"] == "induction"]
    assert code == 0
    assert all(o["cvc5"]["verdict"] in (o["verdict"], "undetermined") for o in asked)
    assert any(o["cvc5"]["verdict"] == "proved" for o in asked)


def test_solvers_that_disagree_exit_with_1(run, registered, monkeypatch):
    opposite = {Verdict.PROVED: Verdict.REFUTED, Verdict.UNDETERMINED: Verdict.PROVED}

    def recheck(induction, *, progress=None):
        return (Recheck(a, opposite[a.verdict], 0.0) for a in induction.answers)

    monkeypatch.setattr("schedproof.cli.commands.prove.recheck", recheck)
    code, out, err = run("prove", "lamps", "--solver", "cvc5")
    assert (code, out) == (1, "")
    assert "z3 says" in err and "cvc5" in err and err.count("\n") == 1


def test_emit_smt(run, registered, tmp_path):
    code, _, _ = run("prove", "lamps", "--emit-smt", tmp_path / "smt")
    scripts = sorted((tmp_path / "smt" / "plain").iterdir())
    assert code == 0
    assert [p.name for p in (tmp_path / "smt").iterdir()] == ["plain"]  # nothing else is left
    assert len(scripts) == len(json.loads(_json(run, "prove", "lamps"))["obligations"]) - 1  # one is by construction
    assert all("(check-sat)" in script.read_text() for script in scripts)


def _json(run, *arguments):
    return run(*arguments, "--json", "-")[1]


def test_prove_one_property(run, run_json):
    code, output = run_json("prove", "lamps", "--property", "stays-dark")
    assert code == 0 and {o["invariant"] for o in output["obligations"]} == {
        "stays-dark",
        "well-formed",
    }
    assert run("prove", "lamps", "--property", "blinks")[::2] == (
        2, "schedproof: --property blinks: 'prove' cannot check it; write 'schedproof verify lamps --property blinks'\n"
    )  # fmt: skip


def test_prove_some_variants(run_json, registered):
    registered(system(lamps("plain"), lamps("second"), lamps("third")))
    code, output = run_json("prove", "lamps", "--variant", "third", "--variant", "plain")
    assert code == 0
    assert list(dict.fromkeys(o["variant"] for o in output["obligations"])) == ["plain", "third"]


def test_prove_a_property_of_one_variant(run_json, registered):
    registered(system(lamps(), lamps("second", refuted=(), properties=PROPERTIES[1:])))
    code, output = run_json("prove", "lamps", "--property", "stays-dark")
    assert code == 0
    assert {(o["variant"], o["invariant"]) for o in output["obligations"]} == {
        ("plain", "stays-dark"),
        ("plain", "well-formed"),
    }


def test_prove_refuses_a_property_at_a_scope(run, registered):
    """It has no obligation: none of none would be as expected."""
    at_scope = InvariantAtScope(name="at-scope", says="", over=[x], then=x.is_("On", "Off"))
    registered(system(lamps(properties=[*PROPERTIES, at_scope])))
    code, _, err = run("prove", "lamps", "--property", "at-scope")
    assert code == 2 and "--property at-scope: 'prove' cannot check it" in err


# explore


def test_explore_one_property(run, run_json):
    code, output = run_json("explore", "lamps", "--property", "blinks", "--no-crash")
    assert code == 0 and output["states"] == 4 and output["not_judged"] == {}
    assert [p["name"] for p in output["properties"]] == ["well-formed", "blinks"]
    code, out, err = run("explore", "lamps", "--property", "blinks", "--counts-only")
    assert (code, out) == (2, "") and "--property, --counts-only: they contradict each other" in err


def test_simulate_one_property(run, registered):
    code, out, _ = run("simulate", "lamps", "--steps", "10", "--property", "on-or-off")
    assert code == 0 and "stays-dark" not in out and "0 properties violated" in out
    code, out, err = run("simulate", "lamps", "--property", "blinks")
    instead = "schedproof explore lamps --variant plain --property blinks"
    assert (code, out, err) == (
        2,
        "",
        f"schedproof: --property blinks: 'simulate' cannot check it; write '{instead}'\n",
    )


def test_simulate_with_weights(run_json, registered):
    code, output = run_json(
        "simulate", "lamps", "--steps", "100", "--weight", "switch_off=0", "--weight", "switch_on=3"
    )
    assert code == 0 and output["weights"] == {"switch_off": 0, "switch_on": 3}
    assert output["per_action"] == {"switch_on": 100, "switch_off": 0}


@pytest.mark.parametrize("options", [[], ["--no-symmetry"]])
def test_explore_json(run_json, options):
    code, output = run_json("explore", "lamps", "--scope", "Lamp=3", *options)
    assert code == 0
    assert {k: output[k] for k in ("states", "transitions", "depth", "complete", "ok")} == {
        "states": 8, "transitions": 24, "depth": 3, "complete": True, "ok": True
    }  # fmt: skip
    assert output["per_action"] == {"switch_on": 12, "switch_off": 12}
    assert output["representatives"] == (8 if options else 4)  # lamps differ only in whether they are on
    assert {p["name"] for p in output["properties"]} == {
        "well-formed",
        "stays-dark",
        "on-or-off",
        "blinks",
        "one-state",
    }


@pytest.mark.parametrize(
    ("scope", "states", "transitions"), thinned([("PodGroup=2,Cell=2", 47, 158), ("PodGroup=3,Cell=2", 354, 1579)], 2)
)
def test_explore_hived_counts_what_independent_models_count(run, scope, states, transitions):
    code, out, _ = run("explore", "hived", "--scope", scope, "--json", "-")
    output = json.loads(out)
    assert (code, output["states"], output["transitions"]) == (0, states, transitions)
    assert output["per_action"]["crash"] == states  # one in every state
    assert sum(output["per_action"].values()) == transitions


def test_a_scope_that_is_too_small_gives_no_verdict(run):
    """With two groups no group can first preempt and then be preempted: that needs three priorities."""
    code, out, _ = run("explore", "hived", "--scope", "PodGroup=2,Cell=2")
    assert code == 0
    assert "not checked: group-life-with-preemption: does not happen here; it may need more objects" in out


def test_no_crash(run):
    code, out, _ = run("explore", "hived", "--scope", "PodGroup=2,Cell=2", "--no-crash", "--json", "-")
    output = json.loads(out)
    assert code == 0
    assert "crash" not in output["per_action"]
    assert output["not_judged"]["recovery-from-durable"] == "is about crashes, which were not explored"


def test_max_states_is_undetermined_and_exits_with_3(run_json):
    code, output = run_json("explore", "lamps", "--scope", "Lamp=4", "--max-states", "3", "--no-symmetry")
    assert (code, output["complete"], output["ok"]) == (3, False, False)
    verdicts = {p["name"]: p["verdict"] for p in output["properties"]}
    assert verdicts["on-or-off"] == verdicts["blinks"] == "undetermined"
    assert verdicts["stays-dark"] == "refuted"  # a run that breaks it is one, however little was explored


def test_explore_finds_what_the_manifest_does_not_expect(run, registered):
    registered(system(lamps(refuted=())))
    code, out, _ = run("explore", "lamps")
    assert code == 1
    assert "stays-dark: refuted in 1 step at Lamp=2, expected proved" in out


def test_counts_only(run_json):
    code, output = run_json("explore", "lamps", "--counts-only")
    assert (code, output["states"], output["properties"]) == (0, 4, [])


# check


@pytest.mark.parametrize(
    ("name", "code", "verdict", "record"),
    [
        ("s-02-life-preemption", 0, "conforms", None),
        ("r-crash-0", 0, "conforms", None),
        ("s-17-cancel-one-of-two-pods", 1, "violates", 10),
    ],
)
def test_check_json(run, name, code, verdict, record):
    path = DATA / f"{name}.jsonl"
    found_code, out, err = run("validate", "hived", path, "--json", "-")
    output = json.loads(out)
    assert (found_code, err) == (code, "")
    assert (output["variant"], output["verdict"]) == ("as-written", verdict)
    assert output["records"] == len(path.read_text().splitlines()) - 1
    assert output.get("first_departure", {}).get("record") == record
    assert record is None or output["first_departure"]["reason"]


def test_check_undetermined_exits_with_3(run, monkeypatch):
    from schedproof.proofs.traces import LogVerdict, ValidationReport

    report = ValidationReport("hived", "as-written", "hived", LogVerdict.UNDETERMINED, 3, note="too many ways")
    monkeypatch.setattr("schedproof.cli.commands.validate.check_trace", lambda *a, **options: report)
    code, out, _ = run("validate", "hived", DATA / "r-crash-0.jsonl")
    assert code == 3
    assert "undetermined" in out


# diagram, findings, list, explain, diff


@pytest.mark.parametrize(("format_", "begins"), [("dot", "digraph"), ("mermaid", "---\n")])
def test_diagram_to_standard_output(run, registered, format_, begins):
    code, out, _ = run("diagram", "lamps", "Lamp", "--format", format_, "-o", "-")
    assert code == 0
    assert out.startswith(begins)
    assert "on" in out and "off" in out


@needs_dot
@pytest.mark.parametrize(("name", "begins"), [("lamp.svg", b"<?xml"), ("lamp.png", b"\x89PNG")])
def test_diagram_to_a_file_by_its_ending(run, registered, tmp_path, name, begins):
    assert run("diagram", "lamps", "Lamp", "-o", tmp_path / name) == (0, "", "")
    assert (tmp_path / name).read_bytes().startswith(begins)
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_findings_json(run_json, registered):
    from tests.support.lamps import BROKEN

    registered(system(lamps(), lamps().amend("broken", "no switch", [BROKEN], frozenset())))
    code, (defect,) = run_json("findings", "lamps")
    assert code == 0
    (finding,) = defect.pop("findings")
    repair = "A lamp that cannot be switched on stays dark (line 7). (variant broken)"
    assert defect == {
        "kind": "defect",
        "system": "lamps",
        "variants": ["plain"],
        "name": "stays-dark",
        "wrong": "",
        "document": "lamps.md",
        "line": 7,
        "sentence": "Lamps stay dark.",
        "sentences": [{"line": 7, "words": "Lamps stay dark."}],
        "repair": repair,
        "cost": "without switch_on; property blinks is dropped",
        "left": "",
        "rests_on": [],
    }
    trace = finding.pop("trace")
    finding.pop("problem")
    assert finding == {
        "system": "lamps",
        "variant": "plain",
        "property": "stays-dark",
        "readings": [],
        "document": "lamps.md",
        "line": 7,
        "sentence": "Lamps stay dark.",
        "setting": {},  # lamps have no rigid attributes; tests/proofs/exploration/test_run_facts.py has objects that do
        "objects": {"l0": {"sort": "Lamp", "rigid": {}}},
        "initial": {"l0": {"state": "Off"}},
        "end": {"l0": {"state": "On"}},
        "repair": repair,
        "assumes": {},
        "of": "plain",
    }
    assert [(step["action"], set(step)) for step in trace] == [
        ("switch_on", {"action", "parameters", "says", "line", "fact", "changes"})
    ]


def test_findings_list_what_is_unclear_below_the_defects(run, run_json, registered):
    """One list, numbered through; in JSON, too. The question of an interpretation stands beside the defect that rests on it."""
    bright = Reading("lamps-can-be-on", 3, "They can.", "They cannot.", drops=["switch_on"], rests=["stays-dark"],
                     breaks=["blinks"], question="Can lamps be on?", why="There is a switch.")  # fmt: skip
    dull = Reading("lamps-are-many", 2, "Many.", "One.", question="How many lamps are there?", why="Lamps is a plural.")
    never = Contradiction(
        "dark-and-bright", ((7, "Lamps stay dark."),), "They do not.", "They do not.", violates=["stays-dark"]
    )
    parts = {"interpretations": [dull, bright], "contradictions": [never]}
    registered(replace(system(), load=lambda key, default: parts.get(key, default)))
    code, out, _ = run("findings", "lamps")
    lines = out.splitlines()
    assert code == 0
    assert "  Rests on lamps-can-be-on (line 3): Can lamps be on? They can." in lines
    assert [line for line in lines if re.match(r"\d+\.", line)] == [
        "1. stays-dark (lamps.md:7, plain)",
        "2. lamps-can-be-on (line 3, plain): interpretation; 2 verdicts hang on it",
        "3. dark-and-bright (line 7, plain): contradiction; 1 verdict hangs on it; see defect 1, stays-dark",
        "4. lamps-are-many (line 2, plain): interpretation: How many lamps are there?",
    ]
    assert "  Then: no longer violated: stays-dark; also violated: blinks" in lines
    assert lines[-2:] == [
        "1 defect in lamps.md, 1 property violated",
        "2 interpretations in the words of lamps.md; 1 contradiction is a defect",
    ]
    assert "  Question: How many lamps are there?" in run("findings", "lamps", "--all")[1].splitlines()
    _, output = run_json("findings", "lamps")
    assert [(each["kind"], each["name"]) for each in output] == [
        ("defect", "stays-dark"), ("interpretation", "lamps-can-be-on"), ("contradiction", "dark-and-bright"),
        ("interpretation", "lamps-are-many"),
    ]  # fmt: skip
    assert output[0]["findings"][0]["readings"][0]["question"] == "Can lamps be on?"
    assert output[2]["defect"] == "stays-dark"


def test_list(run, run_json):
    code, output = run_json("list", "lamps")
    (one,) = output["systems"]
    (variant,) = one["variants"]
    assert code == 0
    assert (one["name"], one["judged_by"], variant["name"], variant["scope"]) == (
        "lamps",
        "plain",
        "plain",
        {"Lamp": 2},
    )
    lamp = {"name": "Lamp", "states": ["Off", "On"], "events": ["on", "off"], "attributes": []}
    assert variant["machines"] == [lamp]
    assert [a["name"] for a in variant["actions"]] == ["switch_on", "switch_off"]
    assert [p["name"] for p in variant["properties"]] == [
        "well-formed",
        "stays-dark",
        "on-or-off",
        "blinks",
        "one-state",
    ]
    assert "lamps  plain     lamps.md  Lamps and switches" in run("list")[1]


COUNTEREXAMPLE = """\
stays-dark (lamps plain): refuted in 1 step at Lamp=1, expected refuted
Property: no lamp is ever on.
Document: lamps.md, line 7: "Lamps stay dark."

Objects:
    lamp l0
Initial state: l0: Off.

 1. l0 is switched on  [action switch_on, line 3]
      l0.state  Off -> On  Lamp.on, action switch_on, line 3

Final state: l0: On.
Property stays-dark is violated for x = l0.
"""

SEQUENCE = """\
---
title: "lamps plain: stays-dark"
---
sequenceDiagram
    participant environment
    participant l0
    Note over environment,l0: 1. l0 is switched on
    environment->>l0: Lamp.on (line 3)
    Note right of l0: state: Off → On
    Note over environment,l0: property stays-dark is violated for x = l0<br/>l0: On
"""


def test_explain(run, registered):
    assert run("explain", "lamps", "stays-dark", "--scope", "Lamp=1") == (0, COUNTEREXAMPLE, "")
    assert run("explain", "lamps", "stays-dark", "--scope", "Lamp=1", "--mermaid") == (0, SEQUENCE, "")


def test_explain_what_was_checked(run, registered):
    code, out, _ = run("explain", "lamps", "on-or-off")
    assert code == 0
    assert out.splitlines()[-2:] == [
        "  exploration at Lamp=2: no reachable state violates it",
        "  induction: it is true at the start, and no step of any action violates it, for any number of objects",
    ]


def test_a_verdict_names_the_bounds_of_the_axioms(run, registered):
    """With at most two lamps, "any number" is at most two."""
    z = variable(Lamp, "z")
    registered(system(replace(lamps(), axioms=[forall([x, y, z], (x == y) | (y == z) | (x == z))])))
    assert "proved (any number, at most 2 Lamp)" in run("verify", "lamps", "--no-cache")[1]
    assert run("prove", "lamps")[1].startswith("lamps plain: induction, any number of objects, at most 2 Lamp\n")
    _, out, _ = run("explain", "lamps", "on-or-off")
    assert out.splitlines()[-3:] == [
        "  induction: it is true at the start, and no step of any action violates it, for any number of objects, at most 2 Lamp",
        "  axioms that the induction assumes:",
        "      for every x, y, z: x = y or y = z or x = z",
    ]
    assert json.loads(_json(run, "explain", "lamps", "on-or-off"))["axioms"] == [
        "for every x, y, z: x = y or y = z or x = z"
    ]
    (variant,) = json.loads(_json(run, "prove", "lamps"))["variants"]
    assert variant["bounds"] == {"Lamp": 2} and len(variant["axioms"]) == 1


def test_a_long_list_of_axioms_is_cut_short(run, registered):
    registered(system(replace(lamps(), axioms=[forall(x, x == x)] * 15)))
    out = run("explain", "lamps", "on-or-off")[1].splitlines()
    assert out.count("      for every x: x = x") == 12 and out[-1] == "      ... and 3 more; --json lists all"


def test_verify_names_what_never_happens_and_exits_with_0(run, registered):
    """In one line; a system in which everything happens has no such line."""
    assert "never at" not in run("verify", "lamps", "--jobs", "1")[1]
    model = with_idle_parts()
    registered(system(model))
    code, out, _ = run("verify", "lamps", "--jobs", "1")
    line = "lamps plain: never at Lamp=2: action burn; rules 'a lamp that is on goes on', 'nothing pops'"
    assert code == 0 and out.splitlines().count(line) == 1
    (variant,) = json.loads(run("verify", "lamps", "--jobs", "1", "--json", "-")[1])["systems"]
    assert variant["properties"][0]["unfired"]["actions"] == ["burn"]


def test_a_proof_names_its_lemmas(run, registered):
    registered(System.of(replace(STEPS, properties=[KEPT, EVEN])))
    assert "well-formed  even" in run("prove", "steps")[1].split("lemmas of the proofs")[1]
    assert "  invariants that the induction uses: even" in run("explain", "steps", "well-formed")[1].splitlines()
    properties = json.loads(_json(run, "prove", "steps"))["properties"]
    assert {p["name"]: p["lemmas"] for p in properties} == {"kept": [], "even": [], "well-formed": ["even"]}
    (variant,) = json.loads(_json(run, "verify", "steps", "--property", "well-formed", "--no-cache"))["systems"]
    assert variant["properties"][0]["lemmas"] == ["even"]


@pytest.mark.long
def test_explain_explores_as_verify_does(run, registered):
    """One lamp is not enough for a violation, two are."""
    together = InvariantAtScope(
        name="together", says="no lamps differ", over=[x, y], given=x.is_("On"), then=y.is_("On")
    )
    one = lamps(properties=[together], refuted=["together"])
    registered(system(replace(one, default_scope={"Lamp": 1}, verify_scope={"Lamp": 2})))
    verdict = "refuted in 1 step at Lamp=2"
    assert verdict in run("verify", "lamps", "--property", "together", "--no-cache")[1]
    code, out, _ = run("explain", "lamps", "together")
    assert code == 0 and out.startswith(f"together (lamps plain): {verdict}, expected refuted\n")
    code, out, _ = run("explain", "lamps", "together", "--scope", "Lamp=1")
    assert code == 1 and out.startswith("together (lamps plain): holds at Lamp=1, expected refuted\n")


def test_explain_a_state(run, registered):
    code, out, _ = run("explain", "lamps", "--state", "l0=On", "--state", "l1.state=On")
    assert code == 0
    assert [line[:20] for line in out.splitlines() if "switched" in line] == [
        " 1. l0 is switched o",
        " 2. l1 is switched o",
    ]
    assert "may have any value; that this state is reachable violates no property" in out


def test_the_initial_state_is_named_and_a_life_cycle_has_no_run(run, registered):
    lit = Invariant(name="lit", says="every lamp is on", over=[x], then=x.is_("On"))
    blinks = LifeCycle(name="blinks", says="a lamp goes on and off", sort=Lamp, states=["Off", "On", "Off"])
    model = replace(lamps(properties=[lit, blinks], refuted=("lit", "blinks")), actions=[SWITCH_ON])
    registered(system(model))
    assert "refuted in the initial state at Lamp=2" in run("explain", "lamps", "lit")[1]
    code, out, _ = run("explain", "lamps", "blinks")
    assert (
        code == 0 and "refuted at Lamp=2" in out and "there is no run to show, and a larger scope may have one" in out
    )


def test_explain_an_unreachable_state_exits_with_1(run):
    code, out, _ = run(
        "explain", "hived", "--state", "c0=Free", "--state", "c0.user=g0", "--scope", "PodGroup=1,Cell=1"
    )
    assert (code, out) == (
        1,
        "hived as-written at PodGroup=1,Cell=1: c0=Free, c0.user=g0: no state that is reachable at this scope satisfies this; "
        "a larger scope may have one\n",
    )


def test_an_arrow_comes_from_whose_event_the_rule_carries_on(run):
    _, out, _ = run("explain", "hived", "preemption-ongoing", "--mermaid")
    assert "    c0->>g0: PodGroup.e6 (line 193)\n" in out  # line 193: the cell's e2 preempts its user
    assert "    scheduler->>g1: PodGroup.e1 (line 63)\n" in out


def test_diff_json(run_json, registered):
    from tests.support.lamps import BROKEN

    registered(system(lamps(), lamps().amend("broken", "no switch", [BROKEN], frozenset())))
    code, output = run_json("diff", "lamps", "plain", "broken")
    assert code == 0
    assert [(d["kind"], d["change"], d["name"]) for d in output["differences"]] == [
        ("action", "removed", "switch_on"),
        ("property", "removed", "blinks"),
        ("verdict", "changed", "stays-dark"),
    ]
    reason = {"why": "A lamp that cannot be switched on stays dark (line 7).", "repairs": ["stays-dark"], "weakens": {}}
    assert all(d["reasons"] == [reason] for d in output["differences"])
    assert output["differences"][0]["before"] == ["choose x: Lamp", "when x Off", "fires Lamp.on on x", "line 3"]


def test_diff_sees_one_changed_conjunct(run_json, registered):
    plain = lamps()
    unguarded = replace(plain.action("switch_on"), when=[])
    other = replace(plain, variant="other", actions=[unguarded, plain.action("switch_off")])
    registered(system(plain, other))
    _, output = run_json("diff", "lamps", "plain", "other")
    (difference,) = output["differences"]
    assert set(difference["before"]) - set(difference["after"]) == {"when x Off"}
    assert run_json("diff", "lamps", "plain", "plain")[1]["differences"] == []


# Systems whose variants are models of their own, and that are explored at several configurations


@pytest.fixture
def streets(registered):
    """Lamps in two streets of different length; and a variant with machines of its own."""
    plain = replace(lamps(), configurations=lambda sizes: [street(1), street(2)], machines=[IN_A_STREET])
    gas = replace(lamps("gas"), machines=[Machine(Lamp, [State("Off"), State("Lit", unreachable=True), State("On")])])
    amended = plain.amend("amended", "the same", [Change(why="None.", repairs=[])], plain.refuted)
    registered(system(plain, amended, gas))


IN_A_STREET = Machine(
    Lamp, [State("Off"), State("On")], attributes=[Attribute("number", IntRange(0, 9), rigid=True)], line=2
)


def street(length):
    return {("Lamp", "number"): list(range(1, length + 1))}


def test_explore_sums_over_all_configurations(run, run_json, streets):
    """One lamp has 2 states and 2 transitions, two have 4 and 8."""
    _, output = run_json("explore", "lamps")
    assert {k: output[k] for k in ("topologies", "states", "transitions", "depth")} == {
        "topologies": 2, "states": 6, "transitions": 10, "depth": 2
    }  # fmt: skip
    last = run("explore", "lamps")[1].splitlines()[-1]
    assert last == "lamps plain at Lamp=2: in 2 configurations together: 6 states, 10 transitions, greatest depth 2"


def test_explain_a_state_looks_at_all_configurations(run, streets):
    """l1 is only in the second, and the shortest way may be in any."""
    code, out, _ = run("explain", "lamps", "--state", "l1=On")
    assert code == 0
    assert "Objects:\n    lamp l1: number 2\n" in out
    assert "After 1 step the state is as requested." in out
    code, out, err = run("explain", "lamps", "--state", "l7=On")
    assert (code, out) == (2, "")
    assert "unknown object 'l7'" in err and "l0, l1" in err


def test_explain_takes_the_shortest_way_of_all_configurations(run, registered):
    """The first configuration can have it only after two steps, the second after one."""
    second_only = Action("all_on", [x], [x.is_("Off"), x.number == 2], [x.fires("on")], "all lamps are on")
    plain = lamps()
    needs_two = replace(
        plain.action("switch_on"), when=[x.is_("Off"), exists(y, (y.number == 9) & y.is_("On")) | (x.number == 9)]
    )
    model = replace(
        plain,
        machines=[IN_A_STREET],
        actions=[needs_two, second_only, plain.action("switch_off")],
        configurations=lambda sizes: [{("Lamp", "number"): [1, 9]}, {("Lamp", "number"): [2, 1]}],
    )
    registered(system(model))
    _, out, _ = run("explain", "lamps", "--state", "l0=On")
    assert "After 1 step the state is as requested." in out
    assert "number 2" in out


def test_list_shows_the_machines_of_each_variant(run, run_json, streets):
    out = run("list", "lamps")[1]
    assert "Machines of plain, amended\n" in out
    gas = out.split("Machines of gas\n")[1].split("\n\n")[0]
    assert "Off, Lit, On" in gas
    _, output = run_json("list", "lamps")
    assert [v["machines"][0]["states"] for v in output["systems"][0]["variants"]] == [
        ["Off", "On"], ["Off", "On"], ["Off", "Lit", "On"]
    ]  # fmt: skip


def test_list_shows_the_types_of_attributes(run, run_json, registered):
    registered(system(lamps()))
    assert "Attributes" not in run("list", "lamps")[1], "lamps have none"
    registered(system(replace(lamps(), machines=[IN_A_STREET])))
    assert "\nAttributes\nname         type  kind   what it is\nLamp.number  0..9  rigid" in run("list", "lamps")[1]
    _, output = run_json("list", "lamps")
    (machine,) = output["systems"][0]["variants"][0]["machines"]
    assert machine["attributes"] == [{"name": "number", "type": "0..9", "kind": "rigid"}]


def test_list_needs_one_table_where_all_have_the_same_machines(run, registered):
    registered(system(lamps(), lamps("other")))
    assert "\nMachines\n" in run("list", "lamps")[1]


def test_list_one_variant(run, run_json, streets):
    out = run("list", "lamps", "--variant", "gas")[1]
    assert "\nMachines\n" in out and "Properties of gas" in out and "plain" not in out
    _, output = run_json("list", "lamps", "--variant", "gas", "--variant", "plain")
    assert [v["name"] for v in output["systems"][0]["variants"]] == ["plain", "gas"]
    assert run("list", "--variant", "gas")[0] == 2
    assert run("list", "lamps", "--variant", "gsa")[0] == 2


def test_diff_of_a_model_of_its_own_says_so(run, run_json, streets):
    out = run("diff", "lamps", "plain", "gas")[1]
    assert out.startswith("plain and gas amend no common variant: ")
    assert "Machines: 1 changed\n  ~ Lamp\n" in out
    assert "      + state Lit\n" in out and "      - attribute number: 0..9 (rigid)\n" in out
    assert "common" not in run("diff", "lamps", "plain", "amended")[1]
    _, output = run_json("diff", "lamps", "plain", "gas")
    assert next((d["kind"], d["change"], d["name"]) for d in output["differences"]) == ("machine", "changed", "Lamp")


LINES = {
    "jobmon": [
        "as-written as-written-repaired",
        "shipped repaired read-then-write check-then-write runs-read-then-write runs-check-then-write",
    ],
    "yunikorn": ["as-written v0.12.2 repaired unlocked-timers locked-timers parties parties-repaired"],
    "beaker": [
        "as-written interleaved repaired by-priority strict eager concurrent concurrent-checked repaired-concurrent",
        "batch batch-together batch-restarted",
        "shipped shipped-concurrent shipped-repaired",
    ],
}
"""Which variants amend a common one, as the README has them."""


@pytest.mark.parametrize("name", LINES)
def test_variants_are_comparable_that_amend_a_common_one(name):
    """In a chain or beside each other, whichever is named first."""
    known = systems()[name]
    of = {variant: line for line in LINES[name] for variant in line.split()}
    assert set(of) == set(known.variants)
    for one, other in itertools.product(of, repeat=2):
        models = known.variants[one], known.variants[other]
        assert related(known, *models) is (of[one] == of[other]), (one, other)
        assert known.first(models[0]).variant == of[one].split()[0]


def test_diff_follows_a_chain_of_amendments(run, run_json, registered):
    """What differs has the changes of all amendments between the two as its reasons, and no others."""
    plain = lamps()
    dark, dull = (
        plain.amend(f"no-{name}", "less", [Change(why=f"No {name}.", repairs=[], drops=[name])], plain.refuted)
        for name in ("blinks", "switch_off")
    )
    both = [Change(why="No switch_on.", repairs=["stays-dark"], drops=["switch_on"])]
    darker = dark.amend("darker", "two actions less", both, frozenset())
    registered(system(plain, dark, dull, darker, lamps("gas")))

    def reasons(one: str, other: str) -> dict[str, list[str]]:
        output = run_json("diff", "lamps", one, other)[1]["differences"]
        return {d["name"]: [reason["why"] for reason in d["reasons"]] for d in output}

    chain = {"blinks": ["No blinks."], "switch_on": ["No switch_on."], "stays-dark": ["No switch_on."]}
    assert reasons("plain", "darker") == reasons("darker", "plain") == chain
    assert reasons(dull.variant, "darker") == {**chain, "switch_off": ["No switch_off."]}
    assert set(reasons(dark.variant, "darker")) == {"switch_on", "stays-dark"}
    assert not any(reasons("darker", "gas").values())
    for one, other in (("plain", "darker"), (dull.variant, "darker"), ("darker", "darker")):
        assert "common" not in run("diff", "lamps", one, other)[1]
    assert run("diff", "lamps", "darker", "gas")[1].startswith("darker and gas amend no common variant: ")


def test_findings_report_once_what_an_amendment_breaks_as_well(run, run_json, registered):
    """Its own findings stay, and so do those of a model that is no amendment."""
    from tests.support.lamps import PROPERTIES

    worse = Change(why="A lamp more.", repairs=[], adds=[replace(PROPERTIES[1], name="all-off", then=x.is_("Off"))])
    amended = lamps().amend("worse", "more properties", [worse], frozenset({"stays-dark", "all-off"}))
    registered(system(lamps(), amended, lamps("gas")))
    _, output = run_json("findings", "lamps")
    assert [(f["variants"], f["name"]) for f in output] == [
        (["plain"], "stays-dark"), (["worse"], "all-off"), (["gas"], "stays-dark")
    ]  # fmt: skip
    _, output = run_json("findings", "lamps", "--variant", "gas")
    assert [(f["variants"], f["name"]) for f in output] == [(["gas"], "stays-dark")]
    assert "left out" not in run("findings", "--variant", "gas")[1]
    assert run("findings", "lamps", "--variant", "gsa")[::2] == (
        2, "schedproof: unknown variant 'gsa'; did you mean gas? choose from plain, worse, gas\n"
    )  # fmt: skip
    assert run("findings", "lamps")[1].splitlines()[-2:] == [
        "3 defects, 3 properties violated: 1 in lamps.md, 1 in lamps worse, 1 in lamps gas",
        "left out: 1 property that lamps worse violates just as plain does, which it amends "
        "('schedproof explain lamps PROPERTY --variant worse' shows one)",
    ]


def test_findings_say_what_is_not_violated_as_expected(run, registered):
    """A lamp is always on or off, and this model expects a violation of it."""
    holds = PROPERTIES[1].name
    registered(system(replace(lamps(), refuted=frozenset({holds, "stays-dark"})), lamps("gas")))
    line = (
        f"no violation in lamps plain, though expected: {holds} "
        "('schedproof verify lamps --variant plain' checks what is expected)"
    )
    code, out, _ = run("findings", "lamps")
    assert (
        code == 0
        and "2 defects, 2 properties violated: 1 in lamps.md, 1 in lamps gas" in out
        and line in out.splitlines()
    )
    assert line in run("findings", "lamps", "--variant", "plain")[1].splitlines()
    assert "no violation" not in run("findings", "lamps", "--variant", "gas")[1]


def test_findings_of_steps_that_are_not_well_formed(run, registered):
    """A lamp that is on does not expect to be switched on: the table has no row for it."""
    pressed = [replace(SWITCH_ON, when=[])]
    expecting = lamps(refuted=["well-formed"], properties=[])
    surprised = lamps("surprised", properties=PROPERTIES[:1], refuted=["stays-dark"])
    registered(system(replace(expecting, actions=pressed), replace(surprised, actions=pressed)))
    _, out, _ = run("findings", "lamps", "--variant", "plain")
    assert "  Violates: well-formed\n" in out and "no violation" not in out
    _, out, _ = run("findings", "lamps", "--variant", "surprised")
    assert "well-formed" not in out


def test_facts_that_cannot_be_read_are_no_output(run, registered):
    plain = lamps()
    citing = [replace(each, says=f"{each.says} (fact 1.1)") for each in plain.actions]
    document = replace(plain.document, facts=Path("missing.json"))
    registered(system(replace(plain, actions=citing, document=document)))
    code, _, err = run("explain", "lamps", "stays-dark")
    assert (code, err.splitlines()[-1]) == (
        2,
        "schedproof: cannot read 'missing.json': No such file or directory; "
        "write the path of a JSON object in facts= of the Document",
    )


def test_a_property_that_is_given_up_is_not_called_repaired(run_json, registered):
    given_up = Change(why="Lamps are for light.", repairs=[], drops=["stays-dark"])
    bright = lamps().amend("bright", "no such property", [given_up], frozenset())
    registered(system(lamps(), bright))
    _, (finding,) = run_json("findings", "lamps")
    assert finding["repair"] == "none: the property is given up. Lamps are for light. (variant bright)"


AT_NIGHT = replace(PROPERTIES[1], name="on-or-off-at-night", says="at night a lamp is on or off")
AS_IT_GOES = Change(why="Nights are dark.", repairs=[], weakens={"stays-dark": [AT_NIGHT.name]}, adds=[AT_NIGHT])


def test_a_property_that_is_weakened_says_what_is_kept_of_it(run, run_json, registered):
    registered(system(lamps(), lamps().amend("darker", "a weaker property", [AS_IT_GOES], frozenset())))
    _, (finding,) = run_json("findings", "lamps")
    assert finding["repair"] == "Nights are dark. (variant darker)"
    assert finding["cost"] == "stays-dark is weakened to on-or-off-at-night"
    assert finding["findings"][0]["repair"] == (
        "the property is weakened. Nights are dark. "
        "What holds is on-or-off-at-night: at night a lamp is on or off (variant darker)"
    )
    _, out, _ = run("diff", "lamps", "plain", "darker")
    assert "      weakens stays-dark to on-or-off-at-night\n" in out
    assert "  - stays-dark  [1]\n" in out and "  + on-or-off-at-night  [1]\n" in out


def test_a_variant_that_goes_back_on_a_repair_is_reported(run_json, registered):
    """What it breaks its base breaks too, but not the variant that it amends."""
    from tests.support.lamps import BROKEN

    plain = lamps()
    broken = plain.amend("broken", "no switch", [BROKEN], frozenset())
    switch_back = Change(why="A switch again.", repairs=[], adds=[plain.action("switch_on")])
    registered(system(plain, broken, broken.amend("mended", "a switch", [switch_back], frozenset({"stays-dark"}))))
    _, output = run_json("findings", "lamps")
    assert [(*f["variants"], f["repair"]) for f in output] == [
        ("plain", "A lamp that cannot be switched on stays dark (line 7). (variant broken)"),
        ("mended", "the property holds in variant broken. What is different here: A switch again."),
    ]


def test_two_changes_that_make_one_difference_are_both_reasons(run, registered):
    changes = [
        Change(why=f"Reason {n}.", repairs=["stays-dark"], drops=[name])
        for n, name in ((1, "switch_on"), (2, "blinks"))
    ]
    registered(system(lamps(), lamps().amend("broken", "no switch", changes, frozenset())))
    _, out, _ = run("diff", "lamps", "plain", "broken")
    assert "  ~ stays-dark: refuted -> proved  [1] [2]\n" in out
    assert [line.split("]")[0] for line in out.split("Reasons\n")[1].splitlines() if "[" in line] == ["  [1", "  [2"]


def test_what_the_document_has_not_got_is_cited_from_the_facts(run, registered):
    plain = lamps()
    fetched = replace(plain, actions=[replace(a, line=None, fact="2, lamp.c:7") for a in plain.actions])
    registered(system(plain, replace(fetched, variant="code")))
    assert "[action switch_on, fact 2, lamp.c:7]" in run("explain", "lamps", "stays-dark", "--variant", "code")[1]
    _, out, _ = run("diff", "lamps", "plain", "code")
    assert "      + fact 2, lamp.c:7\n" in out and "      - line 3\n" in out


# Models that may be ill-formed


def test_properties_of_a_maybe_ill_formed_model_are_undetermined(run, run_json, registered):
    registered(System.of(STEPS))
    why = "undetermined: the model is not proved well-formed"
    code, out, _ = run("prove", "steps", "--property", "kept")
    assert code == 3 and f"steps plain kept: {why}" in out
    code, out, _ = run("verify", "steps", "--property", "kept")
    assert code == 3 and f"steps plain kept: {why}: not inductive: well-formed / grow" in out
    code, output = run_json("prove", "steps", "--property", "kept")
    assert code == 3 and not output["ok"]
    assert {p["name"]: (p["verdict"], p["note"]) for p in output["properties"]} == {
        "kept": ("undetermined", "the model is not proved well-formed"),
        "well-formed": ("undetermined", "not inductive"),
    }


def test_verify_prints_a_shared_counterexample_once(run, registered):
    registered(System.of(STEPS))
    out = run("verify", "steps")[1]
    assert out.count("From this state, which no assumed invariant excludes:") == 1
    assert out.count("schedproof strengthen steps --variant plain --property kept") == 1
    assert "--property well-formed" not in out
    assert "  The same counterexample as for well-formed." in out


@pytest.mark.parametrize("command", thinned(["verify", "prove"], 2, first=1))
def test_well_formedness_alone_may_be_strengthened(run, registered, command):
    """If no other property lacks a proof by it, the command that is offered is one that works."""
    registered(System.of(replace(STEPS, properties=[])))
    offered = "strengthen steps --variant plain --property well-formed"
    code, out, _ = run(command, "steps")
    assert code == 3
    assert f"'schedproof {offered}' may find what the induction lacks\n" in out
    code, out, _ = run(*offered.split())
    assert code == 0
    assert out.startswith("steps plain well-formed: proved with 1 auxiliary invariant (any number of objects; ")
    assert run("strengthen", "steps")[1].startswith("steps plain well-formed: proved with 1 auxiliary invariant")


def test_explain_shows_a_run_of_a_life_cycle_that_can_happen(run, run_json):
    out = run("explain", "lamps", "blinks")[1]
    assert "A shortest run of one object:" in out and "l0 goes through Off -> On -> Off." in out
    assert [line[:4] for line in out.splitlines() if "[action" in line] == [" 1. ", " 2. "]
    _, output = run_json("explain", "lamps", "blinks")
    assert [step["action"] for step in output["witness"]["steps"]] == ["switch_on", "switch_off"]
    assert "sequenceDiagram" in run("explain", "lamps", "blinks", "--mermaid")[1]


def test_explain_names_the_fairness_that_a_verdict_assumes(run, registered):
    bright = LeadsTo(
        name="bright", says="a lamp goes on", over=[x], given=x.is_("Off"), goal=x.is_("On"), weak=["switch_on"]
    )
    registered(system(replace(lamps(properties=[bright], refuted=()), actions=[SWITCH_ON])))
    assert "  fairness that it assumes: weak switch_on\n" in run("explain", "lamps", "bright")[1]


def test_a_repeated_scope_is_one_scope(run):
    once = run("explore", "hived", "--scope", "PodGroup=2,Cell=1")[1].splitlines()[-1]
    assert (
        run("explore", "hived", "--scope", "PodGroup=2", "--scope", "Cell=1")[1].splitlines()[-1].split(":")[0]
        == once.split(":")[0]
    )
    assert "Cell is given twice" in run("explore", "hived", "--scope", "Cell=2", "--scope", "Cell=1")[2]


def test_a_proper_end_is_no_deadlock(run, registered):
    """With every lamp on, nothing can happen; the property says that this is an end."""
    done = DeadlockFree(name="done", says="it goes on until all lamps are on", ended=forall(x, x.is_("On")))
    model = replace(lamps(properties=[done], refuted=()), actions=[SWITCH_ON])
    registered(system(model))
    assert "no action is enabled in 1 state: in each the system has ended (done holds)" in run("explore", "lamps")[1]
    registered(system(replace(model, properties=[])))
    assert "deadlock: no action is enabled in 1 state" in run("explore", "lamps")[1]


def test_one_configuration_is_enough_for_a_life_cycle():
    made = Result("p", LifeCycle.kind, Verdict.PROVED, Method.EXPLORATION, {"Lamp": 2}, 0.0, configurations=3)
    assert made.reach == "holds in some of 3 configurations of up to Lamp=2"
    assert replace(made, kind="invariant").reach == "holds in 3 configurations of up to Lamp=2"
