"""The safety properties that the document requires of tasks and workflows: invariants, and step invariants.

``progress`` has the liveness properties. The names are the same in all variants of Jobmon. Most properties are stated
for tasks and for workflows alike.
"""

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import or_

from schedproof.model.lang import Invariant, Property, StepInvariant, Term, Var, after, exists, iff, implies
from schedproof.model.lang.terms import both
from schedproof.model.systems.jobmon.universal import OWNER, TAKEN_UP_BY

from .auxiliary_invariants import AUXILIARY_INVARIANTS
from .machines import IMAGES, RUN_ERRORS, RUN_IMAGES, TASK_ERRORS, UNFINISHED_ERRORS, i, j, q, r, t, w

ONE_OWNER = (
    "When a deployment unit has control over the progression of the FSM it is specified by an **-ing** suffix unique to that "
    "deployment unit (REGISTERING, INSTANTIATING, RUNNING)."
)
SIGNALS = (
    "When the deployment unit wants to pass off control it signals using an **-ed** word to signal to the next deployment unit that "
    "it can claim control."
)
DRIVEN = "The transitions in each are driven by the progression of associated instance finite state machines."
FATAL = "Alternatively, if all retries are used then the error is fatal and the FSM terminates."
INCREASED = "If Jobmon detects that a job has died due to resource enforcing, the resources are increased and the job will be retried if it has not exceeded the maximum attempts."
HALTED = "The key difference between the Workflow Run FSM and the Task Instance FSM is that the Workflow Run FSM mandates that the worker node signals back that the process has successfully halted before a new instance can be created."

IN_CONTROL = ("Registering", "Instantiating", "Running", "Triaging")
"""The -ing states: an agent has control."""

CLAIMED = {"Queued": "Instantiating", "Launched": "Running", "Halted": "Registering"}
"""For each signal, the state after an agent has claimed control."""

ENDS = ("Done", "Failed", "Aborted")

AFTER_AN_ERROR = ("Triaging", "Halted", "Failed")
"""The states in which an object may be after its latest instance ended in an error."""


def either(parts: Sequence[Term]) -> Term:
    """Returns the disjunction of the parts."""
    return reduce(or_, parts)


def leaves(it: Var, state: str) -> Term:
    """Returns the condition that ``it`` is in ``state`` before the step, and not after it."""
    return it.is_(state) & after(~it.is_(state))


def leaves_any(it: Var, states: tuple[str, ...]) -> Term:
    """Returns the condition that the step moves ``it`` out of one of these states."""
    return either([leaves(it, state) for state in states])


def stays(it: Var, states: tuple[str, ...]) -> Term:
    """Returns the condition that the step does not move ``it`` out of any of these states."""
    return both([implies(it.is_(state), after(it.is_(state))) for state in states])


def image(instance: Var, it: Var, images: Mapping[str, str]) -> Term:
    """Returns the condition that ``it`` is in the state that its instance's state stands for."""
    return both([implies(instance.is_(state), it.is_(stands_for)) for state, stands_for in images.items()])


# --- Properties of tasks and workflows alike


def moved_by_its_owner(name: str, it: Var, one: str) -> Property:
    """Returns the property that only the agent in control moves the object on."""
    return StepInvariant(
        name=name,
        says=f"{one} that an agent has control over is moved on by that agent only",
        line=46,
        sentence=ONE_OWNER,
        over=[it],
        given=leaves_any(it, IN_CONTROL),
        then=both([implies(leaves(it, state), after(it.mover == str(OWNER[state]))) for state in IN_CONTROL]),
    )


def claimed_by_whom_it_is_for(name: str, it: Var, one: str) -> Property:
    """Returns the property that only the agent that a signal is for claims control; the claim records the agent."""
    claims = [(it.is_(signal) & after(it.is_(claimed)), signal) for signal, claimed in CLAIMED.items()]
    return StepInvariant(
        name=name,
        says=f"control of {one} is claimed by the one agent that the signal is for",
        line=47,
        sentence=SIGNALS,
        over=[it],
        given=either([claim for claim, _ in claims]),
        then=both([implies(claim, after(it.mover == str(TAKEN_UP_BY[signal]))) for claim, signal in claims]),
    )


def ends_are_final(name: str, it: Var, one: str) -> Property:
    """Returns the property that Done, Failed and Aborted are final."""
    return StepInvariant(
        name=name,
        says=f"{one} that is Done, Failed or Aborted stays so",
        line=51,
        sentence=FATAL,
        over=[it],
        given=it.is_(*ENDS),
        then=stays(it, ENDS),
    )


def within_the_maximum(name: str, it: Var, one: str) -> Property:
    """Returns the property that the object is not attempted too often."""
    return Invariant(
        name=name,
        says=f"{one} is not attempted more often than its maximum",
        line=67,
        sentence="- FAILED (F) = Encountered a fatal error or have reached the maximum number of attempts.",
        over=[it],
        given=~it.is_("Absent"),
        then=(it.attempts >= 1) & (it.attempts <= it.maximum),
    )


def fails_when_all_is_used(name: str, it: Var, one: str) -> Property:
    """Returns the property that the object fails only after all its attempts.

    The document does not say which errors are fatal before that, except for the client's.
    """
    return Invariant(
        name=name,
        says=f"{one} fails only when it has been attempted as often as its maximum",
        line=51,
        sentence=FATAL,
        over=[it],
        given=it.is_("Failed"),
        then=it.attempts >= it.maximum,
    )


def stopped_is_halted(name: str, it: Var, instance: Var, how: str, one: str) -> Property:
    """Returns the property that a stopped object becomes Halted: it neither fails nor is tried again."""
    return StepInvariant(
        name=name,
        says=f"{one} that was stopped is Halted, and nothing else",
        line=68,
        sentence="- HALTED (H) = Execution was stopped mid-run.",
        over=[it, instance],
        given=leaves(it, "Triaging") & (it.latest == instance) & instance.is_(how),
        then=after(it.is_("Halted")),
    )


SHARED = [
    moved_by_its_owner("only-the-owner-moves", t, "a task"),
    moved_by_its_owner("only-the-owner-moves-workflows", w, "a workflow"),
    claimed_by_whom_it_is_for("signals-are-taken-up-by-one", t, "a task"),
    claimed_by_whom_it_is_for("workflow-signals-are-taken-up-by-one", w, "a workflow"),
    ends_are_final("ends-are-final", t, "a task"),
    ends_are_final("workflow-ends-are-final", w, "a workflow"),
    within_the_maximum("attempts-within-the-maximum", t, "a task"),
    within_the_maximum("workflow-attempts-within-the-maximum", w, "a workflow"),
    fails_when_all_is_used("fails-when-all-is-used", t, "a task"),
    fails_when_all_is_used("workflow-fails-when-all-is-used", w, "a workflow"),
    stopped_is_halted("stopped-is-halted", t, i, "KillSelf", "a task"),
    stopped_is_halted("stopped-workflow-is-halted", w, r, "Halted", "a workflow"),
]

# --- Properties of tasks

TASK_PROPERTIES = [
    Invariant(
        name="task-is-the-image-of-its-instance",
        says=(
            "a task is in the state that corresponds to its latest instance's state; after an error, the server decides"
        ),
        line=29,
        sentence=DRIVEN,
        over=[t, i],
        given=t.latest == i,
        then=image(i, t, IMAGES) & implies(i.is_(*UNFINISHED_ERRORS), t.is_(*AFTER_AN_ERROR)),
    ),
    Invariant(
        name="task-keeps-up-with-its-instance",
        says=(
            "a task is in the state that corresponds to its latest instance's state, unless the instance has an error"
        ),
        line=29,
        sentence=DRIVEN,
        over=[t, i],
        given=t.latest == i,
        then=image(i, t, IMAGES),
    ),
    StepInvariant(
        name="errors-are-triaged",
        says="a task whose instance comes to an error becomes Triaging",
        line=80,
        sentence="Of note are the myriad of error states that can occur on the scheduler and worker node. Each results in a Triaging state in the universal FSM.",
        over=[t, i],
        given=(i.task == t) & ~i.is_(*UNFINISHED_ERRORS) & after(i.is_(*TASK_ERRORS)),
        then=after(t.is_("Triaging")),
    ),
    Invariant(
        name="done-iff-an-instance-is-done",
        says="a task is Done exactly if an instance of it is",
        line=65,
        sentence="- DONE (D) = All work has finished successfully.",
        over=[t],
        then=iff(t.is_("Done"), exists(i, (i.task == t) & i.is_("Done"))),
    ),
    Invariant(
        name="done-has-succeeded",
        says="the command of a Done instance has ended with success",
        line=65,
        sentence="- DONE (D) = All work has finished successfully.",
        over=[i],
        given=i.is_("Done"),
        then=i.command == "succeeded",
    ),
    StepInvariant(
        name="aborted-is-never-instantiated",
        says="no instance of an Aborted task is Instantiated, and no new one is made",
        line=61,
        sentence="- ABORTED (A) = Client failed to do all necessary work; scheduler cannot begin instantiation. This is fatal.",
        over=[t, i],
        given=t.is_("Aborted"),
        then=implies(i.task == t, after(~i.is_("Instantiated"))) & implies(i.task != t, after(i.task != t)),
    ),
    Invariant(
        name="one-live-instance",
        says="no two instances of a task have a command that runs",
        line=155,
        sentence="**Future Question:** Should this pattern also be adopted in the Task Instance FSM as well?",
        over=[t, i, j],
        given=(i.task == t) & (j.task == t) & (i != j),
        then=~((i.command == "live") & (j.command == "live")),
    ),
    Invariant(
        name="halted-tasks-have-halted",
        says="no command of a Halted task runs",
        line=68,
        sentence="- HALTED (H) = Execution was stopped mid-run.",
        over=[t, i],
        given=t.is_("Halted") & (i.task == t),
        then=i.command != "live",
    ),
    StepInvariant(
        name="resources-grow-on-resource-errors",
        says="a task that is tried again after a resource error gets more resources",
        line=105,
        sentence=INCREASED,
        over=[t, i, j],
        given=(t.latest == i) & i.is_("ResourceError", "AdjustingResources") & after(t.latest == j) & (i != j),
        then=after(j.resources > i.resources),
    ),
    StepInvariant(
        name="resources-stay-otherwise",
        says="a task that is tried again for another reason gets the same resources",
        line=113,
        sentence="In addition it has a row added each time that a resource error occurs and the resources are be increased.",
        over=[t, i, j],
        given=(t.latest == i) & ~i.is_("ResourceError", "AdjustingResources") & after(t.latest == j) & (i != j),
        then=after(j.resources == i.resources),
    ),
    Invariant(
        name="an-instance-has-the-active-resources",
        says="a task's latest instance refers to the resources that are active",
        line=135,
        sentence="A new Task instance is created, referring to the new adjusted resource values",
        over=[t, i],
        given=t.latest == i,
        then=i.resources == t.resources,
    ),
]

# --- Properties of workflows

WORKFLOW_PROPERTIES = [
    Invariant(
        name="workflow-is-the-image-of-its-run",
        says=(
            "a workflow is in the state that corresponds to its latest run's state; after an error, the server decides"
        ),
        line=29,
        sentence=DRIVEN,
        over=[w, r],
        given=w.latest == r,
        then=image(r, w, RUN_IMAGES) & implies(r.is_(*RUN_ERRORS), w.is_(*AFTER_AN_ERROR)),
    ),
    Invariant(
        name="workflow-keeps-up-with-its-run",
        says="a workflow is in the state that corresponds to its latest run's state, unless the run has an error",
        line=29,
        sentence=DRIVEN,
        over=[w, r],
        given=w.latest == r,
        then=image(r, w, RUN_IMAGES),
    ),
    StepInvariant(
        name="run-errors-are-triaged",
        says="a workflow whose run comes to an error, or halts, becomes Triaging",
        line=66,
        sentence="- TRIAGING (T) = The cluster Job finished with some kind of error.",
        over=[w, r],
        given=(r.workflow == w) & ~r.is_(*RUN_ERRORS) & after(r.is_(*RUN_ERRORS)),
        then=after(w.is_("Triaging")),
    ),
    Invariant(
        name="done-iff-a-run-is-done",
        says="a workflow is Done exactly if a run of it is",
        line=65,
        sentence="- DONE (D) = All work has finished successfully.",
        over=[w],
        then=iff(w.is_("Done"), exists(r, (r.workflow == w) & r.is_("Done"))),
    ),
    Invariant(
        name="done-workflows-have-done-tasks",
        says="all tasks of a Done workflow are Done",
        line=65,
        sentence="- DONE (D) = All work has finished successfully.",
        over=[w, t],
        given=w.is_("Done") & (t.workflow == w),
        then=t.is_("Done"),
    ),
    StepInvariant(
        name="aborted-workflows-are-never-instantiated",
        says="no run of an Aborted workflow is Instantiated, and no new one is made",
        line=61,
        sentence="- ABORTED (A) = Client failed to do all necessary work; scheduler cannot begin instantiation. This is fatal.",
        over=[w, r],
        given=w.is_("Aborted"),
        then=implies(r.workflow == w, after(~r.is_("Instantiated"))) & implies(r.workflow != w, after(r.workflow != w)),
    ),
    Invariant(
        name="one-live-run",
        says="no two runs of a workflow have a process that runs",
        line=153,
        sentence=HALTED,
        over=[w, r, q],
        given=(r.workflow == w) & (q.workflow == w) & (r != q),
        then=~((r.process == "live") & (q.process == "live")),
    ),
    Invariant(
        name="halted-runs-have-halted",
        says="no process of a Halted run is running",
        line=153,
        sentence=HALTED,
        over=[r],
        given=r.is_("Halted"),
        then=r.process != "live",
    ),
    StepInvariant(
        name="halted-before-a-new-run",
        says="when a new run is made, no process of an earlier one runs any more",
        line=153,
        sentence=HALTED,
        over=[w, r, q],
        given=(r.workflow == w) & (q.workflow != w) & after(q.workflow == w),
        then=r.process != "live",
    ),
]

SAFETY: list[Property] = [*SHARED, *TASK_PROPERTIES, *WORKFLOW_PROPERTIES, *AUXILIARY_INVARIANTS]
