"""Every word of Jobmon's ``repaired`` counts: with another one, a property is violated, or each step stays.

A word that is exchanged is decided if the language refuses the mutant, if the mutant violates a property at a place that is seen
whole, or if it is proved to take exactly the model's steps, for any number of objects. One that is none of these stands in ``OPEN``,
with what leaves it open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from random import Random

import pytest

from schedproof.model.lang import NONE, Invariant, ModelError, Term, Var, implies
from schedproof.model.lang.check import checked
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.model.lang.terms import both
from schedproof.model.semantics import State
from schedproof.model.systems.jobmon import REPAIRED
from schedproof.model.systems.jobmon.repaired.machines import OVER, WRAPPED
from schedproof.model.systems.jobmon.shipped.configurations import LATE, Configuration
from schedproof.model.systems.jobmon.shipped.machines import d, i, r
from schedproof.proofs.checking.engine import Exploring
from schedproof.proofs.induction import prove
from tests.support.exchanges import exchanges
from tests.support.mutants import Mutant, Place, graph_of
from tests.support.same_steps import SameSteps
from tests.support.sample import seed_of_today, thinned
from tests.support.verdicts import INTERPRETED, Verdicts
from tests.systems.jobmon.model.partly_repaired import PLACES
from tests.systems.jobmon.model.test_brute_force_shipped import OTHERS
from tests.systems.jobmon.model.test_shipped_mutants import place

FROM_THE_START, TWO_TASKS = (
    "a task from the start of its run, and nobody dies",
    "one run, and two tasks that have one attempt each",
)
ONCE_MORE = [
    Configuration(about, runs, (attempts,), attempts, begun=True, mortal=(), punctual=LATE, ceiling=1)
    for about, runs, attempts in (
        ("a task that may get more once", 1, 3),
        ("a task that may get more once, and two runs", 2, 2),
    )
]
THREE_ATTEMPTS = Configuration(
    "a task with three attempts, and two runs", 2, (3,), 2, begun=True, mortal=(), punctual=LATE
)
SMALL = (
    FROM_THE_START,
    *("a workflow without tasks, whose only run may be late", "two runs without tasks, the first of which runs"),
    "one run, and a task that needs more than any queue has",
    "one run, and a task whose job may be submitted though nobody knows",
    *("a task that may get more once", "one run, and a task that has one attempt"),
    *("a task with three attempts, nothing late", "two workflows, one of which has a task, and whose runs may be late"),
)
LARGER = (
    *("two runs after one that runs", "a run that is resumed, whose distributor and jobs may die"),
    *("a task that may get more once, and two runs", "one run, and a task whose command may fail"),
    *("a run that is resumed when its task runs out of resources", TWO_TASKS, THREE_ATTEMPTS.about),
    *("a run whose client may die before it runs, and a task", "two workflows, one of which is resumed"),
    *("a run whose client may die, and that is resumed", "a run that is resumed, and a task whose worker may be late"),
)


@cache
def places() -> Mapping[str, Place]:
    """All places by name."""
    return {each.about: place(REPAIRED, each) for each in (*PLACES, *OTHERS, *ONCE_MORE, THREE_ATTEMPTS)}


# --- What no property says, but a proof rests on ---------------------------------------------------------------------------

NOT_STARTED = ("Submitted", "Killed", "Refused")
STARTED = ("Running", "Orphaned", *WRAPPED, "Killed")
JOBS: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(("Absent", "Queued"), ("Absent",)),
    **dict.fromkeys(("Instantiated", "NoDistributorId"), ("Absent", *NOT_STARTED)),
    **dict.fromkeys(("Launched", "NoHeartbeat"), NOT_STARTED),
    **dict.fromkeys(("Running", "Triaging"), STARTED),
    **dict.fromkeys(("Error", "UnknownError", "ErrorFatal"), OVER),
    "Done": ("Reported",),
    "ResourceError": ("Reported", "OutOfResources", "Killed"),
}
"""For each state of an instance, the states that its job may have."""


def lemma(says: str, over: Sequence[Var], given: Term | None, then: Term) -> Invariant:
    return Invariant(name=f"lemma: {says}", says=says, over=over, given=given, then=then)


LEMMAS = [
    lemma("a job is where its instance is", [i], None, both([implies(i.is_(at), i.job.is_(*j)) for at, j in JOBS.items()])),
    lemma("no instance is in KillSelf", [i], None, ~i.is_("KillSelf")),
    lemma("an instance that is not there is of no run", [i], i.is_("Absent"), i.run == NONE),
    lemma("what was not claimed has no mark", [i], i.is_("Absent", "Queued"), ~i.overdue & ~i.doomed & ~i.fenced),
    lemma("what is held is not launched", [d, i], d.held.has(i), i.is_("Instantiated", "NoDistributorId")),
    lemma("a stopped command was to end", [i], i.job.is_("Stopped"), i.doomed),
    lemma("what is punctual is not triaged", [i], i.punctual, ~i.is_("Triaging", "NoHeartbeat")),
    lemma(
        "a run that runs from the start has begun",
        [r],
        r.begun,
        ~r.is_("Absent", "Registered", "Linking", "Bound", "Instantiated", "Launched"),
    ),
]  # fmt: skip
INVARIANTS = [prop for prop in REPAIRED.properties if isinstance(prop, Invariant)]


@pytest.mark.long
def test_the_lemmas_hold() -> None:
    induction = prove(REPAIRED.asking([*INVARIANTS, *LEMMAS]), known={WELL_FORMED, *(p.name for p in INVARIANTS)})
    assert [each.name for each in LEMMAS if not induction.proved(each.name)] == []


# --- What is decided -------------------------------------------------------------------------------------------------------

LATE_AGAIN = "what is late is found late again, and what is fenced is fenced again, which changes nothing"
TOGETHER = "whether wrapper and command die together: the interpretation commands-may-outlive-their-wrappers"
AT_ANY_TIME = "a client may end with an error at any time: the interpretation clients-end-with-an-error-at-any-time"
HOW_MUCH = "how many more resources a task gets: line 105 says that they are increased"
OPEN: Mapping[str, str] = {
    "action run_is_late, conjunct 3, attribute: punctual for r.overdue": LATE_AGAIN,
    "action instance_is_late, conjunct 3, attribute: punctual for i.overdue": LATE_AGAIN,
    "action instance_is_late, conjunct 3, attribute: fenced for i.overdue": LATE_AGAIN,
    "action fence, conjunct 4, attribute: punctual for i.fenced": LATE_AGAIN,
    "action wrapper_dies, firing 1, event: be_killed for lose_wrapper": TOGETHER,
    "action give_up_run, conjunct 3, quantifier: some for every": AT_ANY_TIME,
    "row Task.queue_with_more from AdjustingResources, resources, value: it.ceiling for it.resources + 1": HOW_MUCH,
}
"""What the document leaves open, or only the encoding has."""


@cache
def words() -> Mapping[str, Mutant]:
    """All exchanges by name."""
    return {mutant.name: mutant for mutant in exchanges(REPAIRED)}


@cache
def same_steps() -> SameSteps:
    """Compares with the model, given its invariants, which ``schedproof verify`` proves, and the lemmas."""
    return SameSteps(REPAIRED, [*INVARIANTS, *LEMMAS])


@cache
def at(*names: str, how: Exploring = INTERPRETED) -> Verdicts:
    """Keeps the graphs of the model itself at some places."""
    return Verdicts(REPAIRED, [places()[name] for name in names], how)


def is_decided(mutant: Mutant, small: Sequence[str] = SMALL, larger: Sequence[str] = LARGER) -> bool:
    """Whether ``mutant`` is refused, violates a property, or is proved to change nothing."""
    try:
        other = checked(mutant.build())
    except ModelError:
        return True
    return (
        at(*small).violated(other) is not None
        or same_steps().unproved(other) is None
        or at(*larger, how=Exploring()).violated(other) is not None
    )


@pytest.mark.long(one_in=9)
def test_words_are_noticed_or_mean_the_same() -> None:
    """Others each day."""
    names = [name for name in words() if name not in OPEN]
    drawn = Random(seed_of_today("words of Jobmon")).sample(names, 12)
    assert [name for name in drawn if not is_decided(words()[name])] == []


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    thinned(
        [
            "action take_job, conjunct 2, state: KillSelf for Done of i",  # nothing is left of the job of what is done
            "action stop_command, conjunct 2, attribute: overdue for i.doomed",
            "action hand_back, conjunct 3, attribute: fenced for i.overdue",
            "action get_no_id, conjunct 3, negation: negated",
        ],
        4,
    ),
)
def test_these_words_are_decided(name: str) -> None:
    assert is_decided(words()[name], [FROM_THE_START], [])


@pytest.mark.long
def test_what_is_open_is_not_proved_to_change_nothing() -> None:
    assert [name for name in OPEN if same_steps().unproved(checked(words()[name].build())) is None] == []


@pytest.mark.parametrize(
    ("name", "where"),
    [
        *((name, FROM_THE_START) for name, why in OPEN.items() if why == LATE_AGAIN),
        *(pytest.param(name, TWO_TASKS, marks=pytest.mark.long) for name, why in OPEN.items() if why == AT_ANY_TIME),
    ],
)
def test_some_that_are_open_lead_to_the_same_states(name: str, where: str) -> None:
    assert moves(words()[name], where) == moves(None, where)


def moves(mutant: Mutant | None, where: str) -> Mapping[State, set[State]]:
    """The other states that follow each state, whatever the steps are called."""
    model = REPAIRED if mutant is None else checked(mutant.build())
    return {state: {*steps.values()} - {state} for state, steps in graph_of(model, places()[where]).items()}
