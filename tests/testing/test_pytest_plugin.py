"""``pytest --schedproof``: one test for each property, a counterexample for each unexpected verdict; nothing without the option."""

import subprocess
import sys

import pytest

from schedproof import testing  # what the option and a test load: once, not in every run
from schedproof.testing import collected
from tests.support.user_repository import imports_undone, repository

pytest_plugins = ["pytester"]

assert testing

OTHERS = ["xdist", "cacheprovider", "hypothesispytest", "anyio"]
"""Plugins that play no part: each run would load them anew."""

VARIANTS = [f"schedproof.toml::lease::{variant}" for variant in ("as-written", "fenced")]
PROPERTIES = 10  # nine of the model, and that it is well-formed
FENCED = "refuted = []"


@pytest.fixture
def check(pytester, monkeypatch):
    """Runs pytest in a user's repository."""
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)

    def run(*arguments):
        with imports_undone():
            return pytester.runpytest_inprocess(*[f"-pno:{plugin}" for plugin in OTHERS], *arguments)

    return run


def test_there_is_a_test_for_each_property_of_each_variant(check, pytester):
    repository(pytester.path)
    done = check("--schedproof", "-v")
    assert done.ret == 0
    done.assert_outcomes(passed=2 * PROPERTIES + 1)  # and the test of the log
    for variant in VARIANTS:
        for name in ("well-formed", "one-at-a-time", "nobody-starves"):
            done.stdout.fnmatch_lines([f"{variant}::{name} PASSED*"])


def test_without_the_option_there_is_nothing(check, pytester):
    repository(pytester.path)
    check().assert_outcomes(passed=1)


def test_without_the_option_nothing_is_imported():
    """pytest imports the plugin in every run, in every repository."""
    program = "import sys, schedproof.pytest_plugin; print([m for m in sys.modules if m.startswith(('schedproof.', 'z3', 'networkx'))])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "['schedproof.pytest_plugin']"


def test_the_engines_are_imported_as_they_are():
    """pytest would rewrite their asserts, because there is a plugin beside them."""
    assert type(collected.__spec__.loader).__name__ == "SourceFileLoader"


def test_without_a_manifest_the_option_is_a_mistake(check, pytester):
    pytester.makepyfile("def test_nothing(): pass")
    done = check("--schedproof")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines(["ERROR: --schedproof: no schedproof.toml is in * or below; write one with *"])


def test_a_variant_is_checked_once_and_only_what_is_wanted(check, pytester, monkeypatch):
    repository(pytester.path)
    asked, real = [], collected.verify_variant

    def counted(system, model, *, only):
        asked.append((model.variant, list(only)))
        return real(system, model, only=only)

    monkeypatch.setattr(collected, "verify_variant", counted)
    check("--schedproof", "-q").assert_outcomes(passed=2 * PROPERTIES + 1)
    assert asked == [("as-written", []), ("fenced", [])]
    asked.clear()
    check("--schedproof", "-k", "fenced and (starves or held)").assert_outcomes(passed=3, deselected=2 * PROPERTIES - 2)
    assert asked == [("fenced", ["lease-is-held", "held-by-somebody", "nobody-starves"])]


def test_what_is_named_is_what_runs(check, pytester):
    repository(pytester.path)
    check("--schedproof", VARIANTS[0]).assert_outcomes(passed=PROPERTIES)
    check("--schedproof", f"{VARIANTS[1]}::one-at-a-time").assert_outcomes(passed=1)
    check("--schedproof", "test_lease.py").assert_outcomes(passed=1)


def test_manifests_below_the_root_are_found_from_anywhere(check, pytester):
    """Not only in the folders that the configuration names for tests, but not in environments and hidden folders."""
    repository(pytester.path)
    repository(pytester.path / "parts" / "queue", "job-queue")
    for folder in (".hidden", "env"):
        repository(pytester.path / folder, "other")
    (pytester.path / "env" / "pyvenv.cfg").touch()
    pytester.makeini("[pytest]\ntestpaths = tests")
    (pytester.path / "tests").mkdir()
    (pytester.path / "tests" / "test_one.py").write_text("def test_one(): pass")
    done = check("--schedproof", "-v")
    done.assert_outcomes(passed=4 * PROPERTIES + 1)
    done.stdout.fnmatch_lines(["parts/queue/schedproof.toml::job-queue::fenced::one-at-a-time PASSED*"])


def test_a_refuted_property_fails_with_its_counterexample(check, pytester):
    repository(
        pytester.path, model=('[w.lease == l], w.fires("stop")', '[w.lease == l, w.is_("Idle")], w.fires("stop")')
    )
    done = check("--schedproof", VARIANTS[1])
    done.assert_outcomes(passed=PROPERTIES - 2, failed=2)
    done.stdout.fnmatch_lines(
        [
            "lease fenced one-at-a-time: refuted in 5 steps at Worker=2,Lease=1, expected proved",
            "Property: no two workers work under the same lease.",
            " 5. w1 acquires l0 and works *",
            "Final state: w0: Working, lease l0; w1: Working, lease l0; l0: Held, holder w1.",
            "Property one-at-a-time is violated for v = w0, w = w1, l = l0.",
        ]
    )
    assert "Traceback" not in done.stdout.str() and "collected.py" not in done.stdout.str()


def test_a_property_that_holds_unexpectedly_fails(check, pytester):
    repository(pytester.path, manifest=(FENCED, 'refuted = ["nobody-starves"]'))
    done = check("--schedproof", f"{VARIANTS[1]}::nobody-starves")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(
        ["*nobody-starves: holds at Worker=2,Lease=1, expected refuted", "*take 'nobody-starves' out of *"]
    )


def test_undetermined_fails(check, pytester):
    """Without this property, induction does not know that a free lease has no holder."""
    repository(
        pytester.path,
        model=('then=iff(l.is_("Held"), l.holder != NONE)', "then=iff(l.holder == NONE, l.holder == NONE)"),
    )
    done = check("--schedproof", f"{VARIANTS[1]}::freed-in-between")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(
        ["*undetermined: not inductive: freed-in-between / acquire; holds at *, expected proved", "From this state, *"]
    )


def test_a_vacuous_property_is_an_error(check, pytester):
    repository(pytester.path, model=("given=w.lease == l,", 'given=(w.lease == l) & w.is_("Idle"),'))
    done = check("--schedproof", f"{VARIANTS[1]}::lease-is-held")
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(
        ["*lease-is-held: undetermined: vacuous: its premise is never true at *", "A property whose premise*"]
    )


def test_a_model_that_cannot_be_loaded_is_one_error(check, pytester):
    repository(pytester.path, model=("v, w = variables", "raise ValueError('x')\nv, w = variables"))
    done = check("--schedproof", "--ignore=test_lease.py")
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(
        ["*importing lease.model fails in lease/model.py, line *: ValueError: x; correct it there"]
    )
    assert "Traceback" not in done.stdout.str()


def test_a_wrong_model_is_shown_with_carets(check, pytester):
    repository(pytester.path, model=('"Idle", "Waiting"),', '"Idle", "Wating"),'))
    done = check("--schedproof", "--ignore=test_lease.py")
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(["*unknown state 'Wating' of Worker; did you mean Waiting?*"])
    done.stdout.fnmatch_lines(["*--> lease/model.py:*", '*| Row(Worker, "ask", "Idle", "Wating"),', "*|  *^^^^^^^^"])


def test_a_wrong_manifest_is_one_error(check, pytester):
    repository(pytester.path, manifest=("validated_by", "validate"))
    done = check("--schedproof", "--ignore=test_lease.py")
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(["*schedproof.toml: systems.lease: unknown key 'validate'; did you mean validated_by?*"])


def test_engines_that_disagree_are_an_error(check, pytester, monkeypatch):
    def disagreeing(system, model, *, only):
        raise collected.Disagreement("one of the two engines is wrong")

    monkeypatch.setattr(collected, "verify_variant", disagreeing)
    repository(pytester.path)
    done = check("--schedproof", VARIANTS[0])
    done.assert_outcomes(errors=PROPERTIES)
    done.stdout.fnmatch_lines(["lease as-written: two engines disagree: one of the two engines is wrong"])


def test_what_a_function_of_the_model_raises_is_an_error(check, pytester):
    repository(
        pytester.path,
        model=("    properties=PROPERTIES,", "    properties=PROPERTIES,\n    configurations=lambda sizes: [1 / 0],"),
    )
    done = check("--schedproof", VARIANTS[0])
    done.assert_outcomes(errors=PROPERTIES)
    done.stdout.fnmatch_lines(
        ["lease as-written: lease/model.py, line *, which a model calls, fails: ZeroDivisionError: *"]
    )


@pytest.mark.long
def test_workers_of_xdist_share_the_tests(pytester):
    """Each of them checks a variant once; each test runs once."""
    repository(pytester.path)
    done = pytester.runpytest_subprocess("--schedproof", "-n", "2", "-p", "no:cacheprovider")
    done.assert_outcomes(passed=2 * PROPERTIES + 1)
