"""``pytest --schedproof``: one test for each promise, a story for each that is not as expected; nothing without the option."""

import subprocess
import sys

import pytest

from schedproof import testing  # what the option and a test load: once, not in every run
from schedproof.testing import collected
from tests.support.own import imports_undone, repository

pytest_plugins = ["pytester"]

assert testing

OTHERS = ["xdist", "cacheprovider", "hypothesispytest", "anyio"]
"""Plugins that play no part: each run would load them anew."""

VARIANTS = [f"schedproof.toml::lease::{variant}" for variant in ("as-written", "fenced")]
PROMISES = 10  # nine of the model, and that it is well-formed
FENCED = "refuted = []"


@pytest.fixture
def judge(pytester, monkeypatch):
    """Runs pytest in a user's repository."""
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)

    def run(*arguments):
        with imports_undone():
            return pytester.runpytest_inprocess(*[f"-pno:{plugin}" for plugin in OTHERS], *arguments)

    return run


def test_there_is_a_test_for_each_promise_of_each_variant(judge, pytester):
    repository(pytester.path)
    done = judge("--schedproof", "-v")
    assert done.ret == 0
    done.assert_outcomes(passed=2 * PROMISES + 1)  # and the test of the log
    for variant in VARIANTS:
        for name in ("well-formed", "one-at-a-time", "nobody-starves"):
            done.stdout.fnmatch_lines([f"{variant}::{name} PASSED*"])


def test_without_the_option_there_is_nothing(judge, pytester):
    repository(pytester.path)
    judge().assert_outcomes(passed=1)


def test_without_the_option_nothing_is_imported():
    """pytest imports the plugin in every run, in every repository."""
    program = "import sys, schedproof.pytest_plugin; print([m for m in sys.modules if m.startswith(('schedproof.', 'z3', 'networkx'))])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "['schedproof.pytest_plugin']"


def test_the_engines_are_imported_as_they_are():
    """pytest would rewrite their asserts, because there is a plugin beside them."""
    assert type(collected.__spec__.loader).__name__ == "SourceFileLoader"


def test_without_a_manifest_the_option_is_a_mistake(judge, pytester):
    pytester.makepyfile("def test_nothing(): pass")
    done = judge("--schedproof")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines(["ERROR: --schedproof: no schedproof.toml is in * or below; write one with *"])


def test_a_variant_is_judged_once_and_only_what_is_wanted(judge, pytester, monkeypatch):
    repository(pytester.path)
    asked, real = [], collected.verify_variant

    def counted(system, model, *, only):
        asked.append((model.variant, list(only)))
        return real(system, model, only=only)

    monkeypatch.setattr(collected, "verify_variant", counted)
    judge("--schedproof", "-q").assert_outcomes(passed=2 * PROMISES + 1)
    assert asked == [("as-written", []), ("fenced", [])]
    asked.clear()
    judge("--schedproof", "-k", "fenced and (starves or held)").assert_outcomes(passed=3, deselected=2 * PROMISES - 2)
    assert asked == [("fenced", ["lease-is-held", "held-by-somebody", "nobody-starves"])]


def test_what_is_named_is_what_runs(judge, pytester):
    repository(pytester.path)
    judge("--schedproof", VARIANTS[0]).assert_outcomes(passed=PROMISES)
    judge("--schedproof", f"{VARIANTS[1]}::one-at-a-time").assert_outcomes(passed=1)
    judge("--schedproof", "test_lease.py").assert_outcomes(passed=1)


def test_manifests_below_the_root_are_found_from_anywhere(judge, pytester):
    """Not only in the folders that the configuration names for tests, but not in environments and hidden folders."""
    repository(pytester.path)
    repository(pytester.path / "parts" / "queue", "job-queue")
    for folder in (".hidden", "env"):
        repository(pytester.path / folder, "other")
    (pytester.path / "env" / "pyvenv.cfg").touch()
    pytester.makeini("[pytest]\ntestpaths = tests")
    (pytester.path / "tests").mkdir()
    (pytester.path / "tests" / "test_one.py").write_text("def test_one(): pass")
    done = judge("--schedproof", "-v")
    done.assert_outcomes(passed=4 * PROMISES + 1)
    done.stdout.fnmatch_lines(["parts/queue/schedproof.toml::job-queue::fenced::one-at-a-time PASSED*"])


def test_a_refuted_promise_fails_with_its_story(judge, pytester):
    repository(
        pytester.path, model=('[w.lease == l], w.fires("stop")', '[w.lease == l, w.is_("Idle")], w.fires("stop")')
    )
    done = judge("--schedproof", VARIANTS[1])
    done.assert_outcomes(passed=PROMISES - 2, failed=2)
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


def test_a_promise_that_holds_unexpectedly_fails(judge, pytester):
    repository(pytester.path, manifest=(FENCED, 'refuted = ["nobody-starves"]'))
    done = judge("--schedproof", f"{VARIANTS[1]}::nobody-starves")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(
        ["*nobody-starves: holds at Worker=2,Lease=1, expected refuted", "*take 'nobody-starves' out of *"]
    )


def test_undetermined_fails(judge, pytester):
    """Without this promise, induction does not know that a free lease has no holder."""
    repository(
        pytester.path,
        model=('then=iff(l.is_("Held"), l.holder != NONE)', "then=iff(l.holder == NONE, l.holder == NONE)"),
    )
    done = judge("--schedproof", f"{VARIANTS[1]}::freed-in-between")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(
        ["*undetermined: not inductive: freed-in-between / acquire, expected proved", "From this state, *"]
    )


def test_a_vacuous_promise_is_an_error(judge, pytester):
    repository(pytester.path, model=("given=w.lease == l,", 'given=(w.lease == l) & w.is_("Idle"),'))
    done = judge("--schedproof", f"{VARIANTS[1]}::lease-is-held")
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(
        ["*lease-is-held: undetermined: vacuous: its premise is never true at *", "A promise whose premise*"]
    )


def test_a_model_that_cannot_be_loaded_is_one_error(judge, pytester):
    repository(pytester.path, model=("v, w = variables", "raise ValueError('x')\nv, w = variables"))
    done = judge("--schedproof", "--ignore=test_lease.py")
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(
        ["*importing lease.model fails in lease/model.py, line *: ValueError: x; correct it there"]
    )
    assert "Traceback" not in done.stdout.str()


def test_a_wrong_manifest_is_one_error(judge, pytester):
    repository(pytester.path, manifest=("judged_by", "judge"))
    done = judge("--schedproof", "--ignore=test_lease.py")
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(["*schedproof.toml: systems.lease: unknown key 'judge'; did you mean judged_by?*"])


def test_engines_that_disagree_are_an_error(judge, pytester, monkeypatch):
    def disagreeing(system, model, *, only):
        raise collected.Disagreement("one of the two engines is wrong")

    monkeypatch.setattr(collected, "verify_variant", disagreeing)
    repository(pytester.path)
    done = judge("--schedproof", VARIANTS[0])
    done.assert_outcomes(errors=PROMISES)
    done.stdout.fnmatch_lines(["lease as-written: two engines disagree: one of the two engines is wrong"])


def test_what_a_function_of_the_model_raises_is_an_error(judge, pytester):
    repository(
        pytester.path,
        model=("    properties=PROMISES,", "    properties=PROMISES,\n    topologies=lambda sizes: [1 / 0],"),
    )
    done = judge("--schedproof", VARIANTS[0])
    done.assert_outcomes(errors=PROMISES)
    done.stdout.fnmatch_lines(
        ["lease as-written: lease/model.py, line *, which a model calls, fails: ZeroDivisionError: *"]
    )


@pytest.mark.long
def test_workers_of_xdist_share_the_tests(pytester):
    """Each of them judges a variant once; each test runs once."""
    repository(pytester.path)
    done = pytester.runpytest_subprocess("--schedproof", "-n", "2", "-p", "no:cacheprovider")
    done.assert_outcomes(passed=2 * PROMISES + 1)
