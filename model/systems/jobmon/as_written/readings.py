"""Text that allows two interpretations, and the properties that depend on the interpretation chosen here.

An element of an alternative replaces the row, rule, action or property of the model with the same name.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from schedproof.model.lang import (
    NONE,
    Action,
    DeadlockFree,
    Invariant,
    LeadsTo,
    Property,
    Reading,
    Row,
    given,
    implies,
    me,
)
from schedproof.model.systems.jobmon.sorts import Task, TaskInstance

from . import repairs, runs, tasks
from .machines import IMAGES, UNFINISHED_ERRORS, i, j, t
from .progress import PROGRESS, everything_ends
from .properties import AFTER_AN_ERROR, TASK_PROPERTIES, image
from .run_readings import RUN_READINGS
from .server_readings import SERVER_READINGS

RETRIED: Mapping[str, tuple[str, ...]] = {
    "retry": ("NoExecutorId", "UnknownError", "ApplicationError"),
    "retry_unchanged": ("ResourceError", "AdjustingResources"),
}


def prop(name: str) -> Invariant:
    """Returns the invariant of tasks with that name."""
    return next(p for p in TASK_PROPERTIES if isinstance(p, Invariant) and p.name == name)


def unlisted(*names: str) -> Iterator[Property]:
    """Yields the liveness properties that list one of these actions, without them."""

    def rest(listed: Sequence[str]) -> list[str]:
        return [name for name in listed if name not in names]

    for each in PROGRESS:
        if isinstance(each, LeadsTo) and {*names} & {*each.weak, *each.without}:
            yield replace(each, weak=rest(each.weak), without=rest(each.without))
        if isinstance(each, DeadlockFree) and {*names} & {*each.without}:
            yield replace(each, without=rest(each.without))


def fair(*names: str) -> Property:
    """Returns the property that everything ends if these actions are done eventually as well."""
    return replace(everything_ends, weak=[*everything_ends.weak, *names])


def report(name: str) -> Action:
    """Returns the worker's action of that name."""
    return next(action for action in tasks.WORKER if action.name == name)


DEATHS = ("client_dies", "scheduler_dies", "worker_dies", "run_forgotten", "run_dies")

SUBMITTED = implies(i.is_("BatchExecutor"), t.is_("Instantiating", "Launched"))
OTHERS = {state: stands_for for state, stands_for in IMAGES.items() if state != "BatchExecutor"}

READINGS = (
    Reading(
        "the-figures-are-complete",
        6,
        "A transition that no figure shows is not allowed.",
        "Others are allowed as well: what comes to an error, or is lost, becomes Triaging from each state in -ing, and from Launched.",
        adds=[*repairs.LAUNCHED_CAN_ERR.adds, *repairs.INSTANTIATED_CAN_BE_LOST.adds],
        rests=[
            "errors-are-triaged",
            "instantiating-ends",
            "run-errors-are-triaged",
            "signals-can-be-taken-up",
            "task-is-the-image-of-its-instance",
            "workflow-is-the-image-of-its-run",
            "workflow-signals-can-be-taken-up",
        ],
        question="Is a transition allowed that no figure shows? The text says that allowed transitions are shown, and states none itself.",
        why="Figures with all transitions are the only source for what is forbidden.",
    ),
    Reading(
        "a-retry-is-a-new-instance",
        135,
        "What is tried again gets a new instance, whatever the error was.",
        "Only what gets more resources does, or is taken up after a halt; else the instance itself is queued again, as the figure draws "
        "it (facts 1.3). If its earlier command still runs, the state knows of the later only; and properties of new instances require "
        "nothing of it.",
        adds=[
            *[
                Row(TaskInstance, "requeue", state, "Queued", fact="1.3", command="none")
                for states in RETRIED.values()
                for state in states
            ],
            *[
                Action(
                    name,
                    [t, i],
                    when=[t.is_("Triaging"), t.latest == i, i.is_(*states), t.attempts < t.maximum],
                    fires=[t.fires("retry", by="server", instance=i), i.fires("requeue")],
                    says="the server has {t} tried again, by {i} once more",
                    line=50,
                )
                for name, states in RETRIED.items()
            ],
        ],
        rests=["resources-grow-on-resource-errors"],
        question="Is an attempt after an error a new instance, or the same one again?",
        why="Step 8 creates one. For other errors only the figure has an arrow back to Queued, and does not say of which object.",
    ),
    Reading(
        "the-maximum-is-reached",
        107,
        "What has been attempted as often as its maximum is not tried again, as lines 67 and 129 have it.",
        "It may be tried once more: it has not exceeded the maximum.",
        adds=[
            *[
                replace(action, when=[*action.when[:2], t.attempts <= t.maximum, *action.when[3:]])
                for action in (tasks.retry, tasks.retry_unchanged)
            ],
            replace(tasks.reconcile, when=[*tasks.reconcile.when[:2], i.task.attempts <= i.task.maximum]),
        ],
        breaks=["attempts-within-the-maximum", "marked-tasks-have-attempts-left"],
        question="Does the maximum count the first attempt, or only the retries (line 51)? Is what has reached it tried once more?",
        why="Line 67 has attempts, and reaching their maximum is enough.",
    ),
    Reading(
        "stopped-attempts-go-on",
        67,
        "What was halted and is taken up again goes on with its attempt: the attempts that count are those after an error.",
        "It is one more attempt.",
        adds=[
            Row(
                Task,
                "resume",
                "Halted",
                "Registering",
                fact="1.2",
                latest=given("instance"),
                attempts=me.attempts + 1,
                mover=given("by"),
            )
        ],
        breaks=["attempts-within-the-maximum"],
        question="Does an attempt count that was stopped and is taken up again?",
        why="Line 67 is about errors, and a stop is none. The implementation sets the count back (facts 3.5).",
    ),
    Reading(
        "the-worker-posts-resource-errors",
        122,
        "The worker reports a resource error to the server.",
        "The reconciler does, as in the figure (facts 1.3).",
        adds=[
            tasks.drives("exceed", "err", "client", 122),
            replace(report("report_resources"), says="the reconciler finds that {i} had too few resources"),
        ],
        question="Who reports a resource error?",
        why="Step 2 names the wrapper around the task.",
    ),
    Reading(
        "the-server-decides-on-all-errors",
        49,
        "The server decides on resource errors as on others, and may have the task tried again as it is.",
        "It leaves resource errors to the reconciler while attempts are left.",
        drops=["retry_unchanged"],
        adds=[replace(everything_ends, weak=[name for name in everything_ends.weak if name != "retry_unchanged"])],
        rests=["resources-grow-on-resource-errors"],
        question="Do steps 6 and 7 replace the server's decision, or come beside it?",
        why="Line 49 has no exception for resource errors.",
    ),
    Reading(
        "submitted-is-launched",
        63,
        "A task is Launched as soon as its instance is submitted (Batch Executor, facts 1.3).",
        "The scheduler posts Launched afterwards; an error before that leads from Instantiating to Triaging. One after that still has no way.",
        drops=["launch is its task's launch"],
        adds=[
            Action(
                "post_launched",
                [t, i],
                when=[t.latest == i, i.is_("BatchExecutor"), t.is_("Instantiating")],
                fires=[t.fires("launch", by="scheduler")],
                says="the scheduler posts that {t} is launched",
                line=63,
            ),
            replace(tasks.start, when=[*tasks.start.when, i.task.is_("Launched")]),
            tasks.drives("lose", "err", "client", 80, i.task.is_("Instantiating", "Running")),
            tasks.drives("kill", "err", "client", 80, i.task.is_("Instantiating", "Running")),
            replace(
                prop("task-is-the-image-of-its-instance"),
                then=image(i, t, OTHERS) & SUBMITTED & implies(i.is_(*UNFINISHED_ERRORS), t.is_(*AFTER_AN_ERROR)),
            ),
            replace(prop("task-keeps-up-with-its-instance"), then=image(i, t, OTHERS) & SUBMITTED),
        ],
        question="Is Launched posted in the step that submits the instance?",
        why="The figure draws Batch Executor as the signal of its box (facts 1.3).",
    ),
    Reading(
        "workers-wait-for-the-signal",
        54,
        "A worker begins only what it can claim: a job that starts after its instance was given up does nothing.",
        "Its command runs all the same.",
        adds=[
            Action(
                "start_late",
                [i],
                when=[i.is_("UnknownError", "KillSelf"), i.command == "none"],
                fires=[i.fires("exit", how="live")],
                says="the cluster starts the command of {i}, which nobody waits for any more",
                line=54,
            )
        ],
        question="May a job that is on the cluster begin when nobody waits for it any more?",
        why="Each deployment unit waits for its signal state before it begins.",
    ),
    Reading(
        "halted-is-what-was-stopped",
        68,
        "The server has halted what the client wanted to be stopped, and nothing else.",
        "It may have halted whatever came to an error.",
        adds=[replace(tasks.halt, when=tasks.halt.when[:1])],
        question="Which tasks does the server have halted?",
        why="The definition of Halted has no other cause.",
    ),
    Reading(
        "agents-may-die",
        54,
        "An agent may die between any two of its transactions, and then posts nothing.",
        "It does not: whatever happens, its try/except block posts a signal.",
        adds=[*unlisted(*DEATHS)],
        drops=[*DEATHS, "the client forgets", "the scheduler forgets"],
        question="May an agent die before its loop posts a signal of success or of an error?",
        why="The text wants work to be resumed from the database (line 94), and the figure has a reconciler for what is lost (facts 1.3).",
        rests=["instantiating-ends", "registering-ends"],
    ),
    Reading(
        "agents-come-back-without-memory",
        54,
        "An agent that comes back waits for signals, and does not go on with what it had claimed.",
        "It finds in the database what it had claimed, and goes on with it.",
        adds=[
            *(replace(each, when=each.when[:1]) for each in (tasks.queue, tasks.abort, tasks.launch, tasks.get_no_id)),
            *(replace(each, when=each.when[:1]) for each in (runs.bind, runs.abort, runs.launch, runs.get_no_id)),
        ],
        question="What becomes of a state in -ing whose agent has died?",
        why="The loop waits for a signal state, and a state in -ing is none. What is submitted twice would run twice.",
        rests=["instantiating-ends", "registering-ends"],
    ),
    Reading(
        "one-client-and-one-scheduler",
        54,
        "All tasks have the same client and the same scheduler: one death leaves all that either has claimed.",
        "Each task has its own.",
        adds=[
            Action(
                "client_dies",
                [i],
                when=[i.is_("Registered"), i.at_hand, i.task.mortal],
                fires=[i.fires("forget")],
                says="the client of {i} dies and comes back",
                crash=True,
                line=54,
            ),
            Action(
                "scheduler_dies",
                [i],
                when=[i.is_("Instantiated"), i.at_hand, i.task.mortal],
                fires=[i.fires("forget")],
                says="the scheduler of {i} dies and comes back",
                crash=True,
                line=54,
            ),
        ],
        drops=["the client forgets", "the scheduler forgets"],
        question="How many clients and schedulers are there?",
        why="The text names one of each. Runs have one each in the model, since each run has a client of its own.",
    ),
    Reading(
        "a-task-follows-at-once",
        29,
        "An instance and its task move in one transaction of the server.",
        "The task follows later. Tried for the end with success.",
        adds=[
            Action(
                "follow",
                [t],
                when=[t.is_("Running"), t.latest.is_("Done")],
                fires=[t.fires("finish", by="worker")],
                says="{t} follows its instance, which is done",
                line=29,
            ),
            fair("follow"),
        ],
        drops=["finish is its task's finish"],
        question="The instances drive the transitions of tasks. In the same transaction, or afterwards?",
        why="The text names no agent that would move the task later, and no state in between.",
        breaks=["done-iff-an-instance-is-done", "task-keeps-up-with-its-instance"],
    ),
    Reading(
        "commands-run-on",
        66,
        "The command of an instance runs on when client or reconciler set its state.",
        "It ends with that transaction: what is Triaging has finished on the cluster.",
        adds=[
            Row(TaskInstance, "kill", "Running", "KillSelf", fact="1.3", command="gone"),
            Row(TaskInstance, "lose", "Running", "UnknownError", fact="1.3", command="gone"),
        ],
        question="Is the job on the cluster over when the database has an error state for it?",
        why="A transaction on the database does not reach the cluster. The name Kill Self says that the command ends itself.",
        rests=["halted-tasks-have-halted", "one-live-instance"],
    ),
    Reading(
        "tasks-do-not-wait-for-a-halt",
        155,
        "The server has a task tried again or halted without a signal that its command has ended.",
        "It waits for that signal, as it does for runs.",
        adds=[
            replace(tasks.retry, when=[*tasks.retry.when, t.latest.command != "live"]),
            replace(tasks.halt, when=[*tasks.halt.when, t.latest.command != "live"]),
        ],
        question="Must a task wait for the signal that its command has ended, as a run does? The text asks this, and does not answer.",
        why="Line 153 states that waiting is the difference between runs and task instances.",
        rests=["halted-tasks-have-halted", "one-live-instance"],
    ),
    Reading(
        "live-instances-may-be-taken-for-lost",
        80,
        "The reconciler may hold an instance for lost whose command runs, or has not started yet.",
        "It holds for lost only what has died.",
        adds=[replace(tasks.lose, when=[tasks.lose.when[0], i.command == "gone"])],
        question="How does the reconciler know that an instance is lost?",
        why="The text names no means. With heartbeats, as in the implementation, a late one looks like a death (facts 3.4).",
    ),
    Reading(
        "only-what-is-submitted-is-missed",
        81,
        "The reconciler looks for what is lost in Batch Executor and Running only, as the figure draws it.",
        "It also holds for lost what is Instantiated, and whose scheduler has died.",
        adds=[*repairs.INSTANTIATED_CAN_BE_LOST.adds],
        question="Who notices that a scheduler has died with what it had claimed?",
        why="The text names nobody. The figures have the reconciler's arrows in no other states (facts 1.3, 1.4).",
        rests=["instantiating-ends"],
    ),
    Reading(
        "launched-has-no-way-to-triaging",
        81,
        "The task stays Launched when its instance comes to an error in Batch Executor: the universal machine has no other arrow.",
        "The task becomes Triaging, since each error results in it.",
        adds=[*repairs.LAUNCHED_CAN_ERR.adds],
        question="Text and figure differ: which of them holds?",
        why="Only the figures show transitions, and a transition that they do not show is not allowed (line 6).",
        rests=[
            "errors-are-triaged",
            "run-errors-are-triaged",
            "signals-can-be-taken-up",
            "task-is-the-image-of-its-instance",
            "workflow-is-the-image-of-its-run",
            "workflow-signals-can-be-taken-up",
        ],
    ),
    Reading(
        "only-the-latest-is-adjusted",
        128,
        "The reconciler marks an instance only if it is the latest of its task.",
        "It marks any instance with a resource error, even if the task has been tried again.",
        adds=[replace(tasks.reconcile, when=[tasks.reconcile.when[0], tasks.reconcile.when[2]])],
        question="May the reconciler come to an instance after the server had its task tried again?",
        why="A mark on an earlier instance has no effect: step 7 queues a task only by its latest one.",
    ),
    Reading(
        "adjusting-passes-no-halt",
        131,
        "A task that is adjusted goes from Triaging to Queued, as the steps describe it.",
        "It goes by Halted to Registering, where the figure has the entry Adjust Resources (facts 1.2).",
        adds=[
            Row(
                Task,
                "adjust",
                "Halted",
                "Registering",
                fact="1.2",
                latest=given("instance"),
                attempts=me.attempts + 1,
                resources=me.resources + 1,
                mover=given("by"),
            ),
            Action(
                "halt_marked",
                [t],
                when=[t.is_("Triaging"), t.latest.is_("AdjustingResources")],
                fires=[t.fires("halt", by="server")],
                says="the server has {t} halted, which is marked for adjusting",
                fact="1.2",
            ),
            replace(
                tasks.adjust,
                when=[*tasks.adjust.when[:2], t.is_("Halted"), *tasks.adjust.when[3:]],
                fires=[
                    t.fires("adjust", by="client", instance=j),
                    j.fires("create", task=t, resources=t.resources + 1),
                ],
            ),
            replace(tasks.resume, when=[*tasks.resume.when, ~t.latest.is_("AdjustingResources")]),
            fair("halt_marked"),
        ],
        drops=["Task.adjust from Triaging"],
        question="In which state is the task while its resources are adjusted?",
        why="Step 7 says that it is queued, and names no other state.",
    ),
    Reading(
        "active-resources-stay-active",
        113,
        "What is tried again after another error, or taken up after a halt, has the resources that were active.",
        "It has those that were requested originally.",
        adds=[
            replace(
                tasks.retry,
                fires=[t.fires("retry", by="server", instance=j), j.fires("renew", task=t, resources=0)],
            ),
            replace(
                tasks.resume,
                fires=[t.fires("resume", by="client", instance=j), j.fires("create", task=t, resources=0)],
            ),
        ],
        question="Which resources does an attempt have that follows no resource error?",
        why="A row is added only after a resource error, and the rows so marked are the active ones (line 133).",
        breaks=["an-instance-has-the-active-resources", "resources-stay-otherwise"],
    ),
    Reading(
        "only-spent-attempts-are-fatal",
        67,
        "No error of scheduler or worker is fatal while attempts are left.",
        "Some are: the server may let a task or workflow fail at once.",
        adds=[
            replace(tasks.give_up, when=tasks.give_up.when[:2]),
            replace(runs.give_up, when=runs.give_up.when[:2]),
        ],
        question="Which errors are fatal? Line 67 has fatal errors beside the maximum of attempts, and names only the client's (line 52).",
        why="Line 51 calls an error fatal if all retries are used, and the client's error has a state of its own.",
        breaks=["fails-when-all-is-used", "workflow-fails-when-all-is-used"],
    ),
    Reading(
        "what-was-stopped-is-not-tried-again",
        68,
        "The server has halted what was stopped, and neither has it tried again nor lets it fail.",
        "Having been stopped is an error like others.",
        adds=[
            replace(
                tasks.retry,
                when=[tasks.retry.when[0], t.latest.is_(*RETRIED["retry"], "KillSelf"), *tasks.retry.when[2:]],
            ),
            replace(tasks.give_up, when=[tasks.give_up.when[0], tasks.give_up.when[2]]),
            replace(runs.retry, when=[runs.retry.when[0], *runs.retry.when[2:]]),
            replace(runs.give_up, when=[runs.give_up.when[0], runs.give_up.when[2]]),
        ],
        question="By what does the server decide for Halted?",
        why="Otherwise a client could not stop anything, since the server might start it again at once.",
        breaks=["stopped-is-halted", "stopped-workflow-is-halted"],
    ),
    Reading(
        "late-reports-change-nothing",
        55,
        "The success of an instance that was held for lost is ignored.",
        "The instance is Done, and so is its task unless it has gone on.",
        adds=[
            Row(TaskInstance, "finish", "UnknownError", "Done", line=65),
            Row(Task, "finish", "Triaging", "Done", line=65, mover=given("by")),
            replace(report("report_success"), when=[i.is_("Running", "UnknownError"), i.command == "succeeded"]),
            tasks.drives("finish", "finish", "worker", 65, i.task.latest == i, i.task.is_("Running", "Triaging")),
        ],
        question="What does the server do with a signal for which the table has no transition?",
        why="The figure has no arrow out of Unknown Error (facts 1.3).",
        breaks=[
            "done-iff-an-instance-is-done",
            "earlier-instances-ended-in-an-error",
            "task-keeps-up-with-its-instance",
        ],
    ),
    Reading(
        "the-client-fails-only-when-it-registers",
        52,
        "Errors of the client are those in Registering.",
        "An error while it adjusts resources is fatal as well.",
        adds=[
            Row(Task, "abort", "Triaging", "Aborted", line=52, mover=given("by")),
            Action(
                "abort_adjusting",
                [i, t],
                when=[i.is_("AdjustingResources"), t.latest == i, t.is_("Triaging")],
                fires=[t.fires("abort", by="client")],
                says="the client fails to increase the resources of {t}, and aborts it",
                line=52,
            ),
        ],
        question="The client also adjusts resources and resumes: what if it comes to an error there?",
        why="The figure has an arrow to Aborted from Registering only (facts 1.2).",
    ),
    Reading(
        "the-worker-begins-after-the-post",
        63,
        "The scheduler submits an instance and posts that it is launched in one step, so that no worker begins earlier.",
        "The worker may report that it runs before the scheduler has posted.",
        adds=[
            Row(TaskInstance, "run", "Instantiated", "Running", line=64, command="live", at_hand=False),
            Row(Task, "run", "Instantiating", "Running", line=64, mover=given("by")),
            Action(
                "start_early",
                [i],
                when=[i.is_("Instantiated"), i.at_hand],
                fires=[i.fires("run")],
                says="the worker claims {i} before the scheduler has posted that it is launched",
                line=64,
            ),
        ],
        question="A job is on the cluster before the scheduler can post that it is. What if its worker is faster, or the scheduler dies in between?",
        why="The figure has no arrow from Instantiated to Running; the implementation has one (facts 2.1).",
    ),
    Reading(
        "tasks-do-not-wait-for-their-run",
        28,
        "A task is queued whether or not its workflow is Running.",
        "It is queued only by a run that is Running: Launched workflows wait for their first scheduling loop (line 63).",
        adds=[
            replace(
                tasks.queue,
                when=[*tasks.queue.when, implies(i.task.workflow != NONE, i.task.workflow.is_("Running"))],
            )
        ],
        question="The two machines are linked. Which states of a workflow does a task need to go on?",
        why="The text names no condition of one on the other, except that a Done workflow has finished all its work (line 65).",
    ),
    Reading(
        "wrappers-outlive-their-commands",
        122,
        "The wrapper of a command that has ended lives until it has reported the end.",
        "It may die before that, and the end is lost.",
        adds=[
            Action(
                "wrapper_dies",
                [i],
                when=[i.is_("Running"), (i.command == "succeeded") | (i.command == "failed"), i.task.mortal],
                fires=[i.fires("exit", how="gone")],
                says="the wrapper of {i} dies before it has reported the end of its command",
                crash=True,
                line=54,
            )
        ],
        question="Can the wrapper die by itself?",
        why="The reconciler then holds the instance for lost, as after a death of both: finished work is done again.",
    ),
    Reading(
        "submitted-jobs-can-start",
        63,
        "A job that was submitted can start as long as its instance waits for it.",
        "The cluster may lose it before it starts.",
        adds=[
            Row(TaskInstance, "exit", "BatchExecutor", "BatchExecutor", line=63, command=given("how")),
            Action(
                "lose_job",
                [i],
                when=[i.is_("BatchExecutor"), i.command == "none", i.task.mortal],
                fires=[i.fires("exit", how="gone")],
                says="the cluster loses the job of {i}, which has not started yet",
                crash=True,
                line=63,
            ),
            replace(tasks.start, when=[*tasks.start.when, i.command == "none"]),
        ],
        question="The executor is in control of what is Launched. Does it always start it?",
        why="No sentence has an error of the executor before the start.",
    ),
    *RUN_READINGS,
    *SERVER_READINGS,
)
