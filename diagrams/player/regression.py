"""The run of a page as a test for pytest, which replays it by the public functions."""

from __future__ import annotations

import re

from schedproof.model.lang import Model, Property, Rigid
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.model.semantics import Instance, stepper_of
from schedproof.proofs.exploration.recorded_run import instance_of
from schedproof.proofs.exploration.safety import conditions_of
from schedproof.proofs.verdict import Counterexample, RecordedRun

LONGEST_NAME = 60
"""Characters of the test's name."""

_TEST = '''"""{title}

{problem}

It tests the model: it fails if a change of the model makes the run impossible, or the assertion at its end false.
To test that a repair prevents the run, expect AssertionError of replay, or UserError if the repair removes an action.
"""

from schedproof.api import load_system
from schedproof.testing import replay

SCOPE = {scope!r}
CONFIGURATION = {configuration}
RUN = [
{steps}]


def test_{name}() -> None:
    model = load_system({system!r}).variants[{variant!r}]
    run = replay(model, RUN, scope=SCOPE, configuration=CONFIGURATION)
    assert {claim}
'''


def regression_test(model: Model, example: Counterexample, title: str, prop: Property | None) -> str:
    """A test file that replays a run.

    Args:
        example: the run, from the initial state.
        title: the heading of the page.
        prop: the property that the run violates; None for a run that violates none.
    """
    run = example.recorded
    assert run is not None  # a page has no other runs
    instance = instance_of(model, run)
    name = re.sub(r"\W+", "_", f"run_{title}".lower(), flags=re.ASCII)[: LONGEST_NAME - len("test_")]
    return _TEST.format(
        title=_comment(title),
        problem=_comment(f"{example.problem[:1].upper()}{example.problem[1:]}."),
        steps="".join(
            f"    ({each.action!r}, {dict(each.parameters)!r}),  # {_plain(each.says)}\n" for each in example.steps
        ),
        name=name.strip("_"),
        system=model.system,
        variant=model.variant,
        scope={sort: size for sort, size in run.sizes.items() if size},  # a configuration without values has no object
        configuration=_configuration(instance.rigid),
        claim=_claim(model, example, run, instance, prop),
    )


def _configuration(rigid: Rigid) -> str:
    """The rigid values of a run, one attribute a line."""
    lines = [f"    {key!r}: {list(values)!r},\n" for key, values in rigid.items()]
    return "{\n" + "".join(lines) + "}" if lines else "{}"


def _claim(model: Model, example: Counterexample, run: RecordedRun, instance: Instance, prop: Property | None) -> str:
    """What is asserted of the replayed run."""
    if any(step.ill_formed for step in example.steps):
        return f"{WELL_FORMED!r} in run.violated"
    if prop is not None and conditions_of(model, prop):
        return f"{prop.name!r} in run.violated"
    states = [instance.initial()]
    for choice in run.choices:
        states.append(stepper_of(instance).step(states[-1], choice).after)
    first = example.loops_from
    if first is not None and first < len(run.choices) and states[first] == states[-1]:
        return f"run.states[{first}] == run.states[-1]  # it repeats for ever"
    changed = {each.object for step in example.steps for each in step.changes}
    end = {
        sort: {name: fields for name, fields in objects.items() if name in changed}
        for sort, objects in instance.describe(states[-1]).items()
    }
    ends = [
        f"run.states[-1][{sort!r}][{name!r}] == {fields!r}"
        for sort, objects in end.items()
        for name, fields in objects.items()
    ]
    return "\n    assert ".join(ends) or "run.states"


def _plain(text: str) -> str:
    """Text in one line."""
    return " ".join(text.split())


def _comment(text: str) -> str:
    """Text in one line of a docstring."""
    return _plain(text).replace("\\", "/").replace('"""', "'''").removesuffix('"')
