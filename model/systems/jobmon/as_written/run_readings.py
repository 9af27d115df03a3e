"""Interpretations of what the text says about workflows and their runs; ``readings`` has those about tasks."""

from dataclasses import replace

from schedproof.model.lang import NONE, Action, LeadsTo, Reading, Row, Rule, exists, implies
from schedproof.model.systems.jobmon.sorts import WorkflowRun

from . import runs, tasks
from .machines import i, r, t, w
from .progress import PROGRESS

(workflows_end,) = (each for each in PROGRESS if isinstance(each, LeadsTo) and each.name == "workflows-end")

RUN_READINGS = (
    Reading(
        "workflows-are-tried-again",
        50,
        "After an error of a run, the server has its workflow tried again by a new run, until its attempts are used.",
        "Runs are not tried again: their error is fatal.",
        adds=[
            replace(runs.give_up, when=runs.give_up.when[:2]),
            replace(workflows_end, weak=[name for name in workflows_end.weak if name != "retry_workflow"]),
        ],
        drops=["retry_workflow"],
        question="Who starts a run again? A run is its client's, and the server has no way to start a client.",
        why="The universal machine is one for tasks and workflows (line 44), and has the arrow from Triaging to Queued (facts 1.2).",
        breaks=["workflow-fails-when-all-is-used"],
    ),
    Reading(
        "live-runs-may-be-taken-for-lost",
        66,
        "The reconciler may hold a run for lost whose process is alive.",
        "It holds for lost only what has not started or has died: what is Triaging has finished.",
        adds=[replace(runs.lose, when=[*runs.lose.when, r.process != "live"])],
        question="How does the reconciler know that a run is lost?",
        why="As for instances: no means is named, and a late heartbeat looks like a death (facts 3.4).",
    ),
    Reading(
        "a-forced-halt-is-no-proof",
        154,
        "The reconciler may set a run that was asked to halt to Halted while its process is alive.",
        "It does so only after the process has ended.",
        adds=[replace(runs.force, when=[*runs.force.when, r.process != "live"])],
        question="What does the second arrow to Halted, the reconciler's, stand for (facts 1.4)?",
        why="The figure gives it no condition. A worker that is alive has an arrow of its own.",
        rests=["halted-runs-have-halted"],
    ),
    Reading(
        "new-runs-do-not-wait",
        153,
        "Only a halt that was asked for is waited for. After another error, or a forced halt, a new run is made at once.",
        "No new run is made while the process of an earlier one is alive.",
        adds=[
            replace(runs.retry, when=[*runs.retry.when, w.latest.process != "live"]),
            replace(runs.resume, when=[*runs.resume.when, w.latest.process != "live"]),
        ],
        question="Before which new instances must the process have halted: those of a resume, or all?",
        why="The figure has the confirmation only on the way to Halted, and the server's Triaging and Queued as for tasks (facts 1.4).",
        rests=["halted-before-a-new-run", "one-live-run"],
    ),
    Reading(
        "runs-fail-at-any-time",
        66,
        "A run may end with an error whatever its tasks are.",
        "It ends with an error only if one of its tasks has failed or was aborted.",
        adds=[
            replace(
                runs.err,
                when=[*runs.err.when, exists(t, (t.workflow == r.workflow) & t.is_("Failed", "Aborted"))],
            )
        ],
        question="Which errors does a run have? And what does it do when a task of it cannot be done any more?",
        why="The figure has Runtime Error, without a cause (facts 1.4); no sentence has a task's failure end its workflow.",
    ),
    Reading(
        "a-run-ends-when-it-reports",
        55,
        "The end of a run and its report are one step.",
        "The process ends first, and may be held for lost before its end is reported.",
        adds=[
            Row(WorkflowRun, "finish", "Running", "Done", line=65),
            Row(WorkflowRun, "err", "Running", "RuntimeError", fact="1.4"),
            Action(
                "succeed_run",
                [r],
                when=[*runs.finish.when],
                fires=[r.fires("exit", how="succeeded")],
                says="the process of {r} ends with success",
                line=65,
            ),
            replace(runs.finish, when=[r.is_("Running"), r.process == "succeeded"]),
            Action(
                "err_run",
                [r],
                when=[*runs.err.when],
                fires=[r.fires("exit", how="failed")],
                says="the process of {r} ends with an error",
                line=66,
            ),
            replace(runs.err, when=[r.is_("Running"), r.process == "failed"]),
            replace(workflows_end, weak=[*workflows_end.weak, "succeed_run", "err_run"]),
        ],
        question="Who reports the end of a run, and when?",
        why="The client is scheduler and worker of its runs (line 161), so that no wrapper reports for it.",
    ),
    Reading(
        "tasks-and-runs-halt-apart",
        28,
        "When a run halts, fails or is lost, its workflow's tasks and their instances go on; a halted task is taken up by itself.",
        "They are stopped with the run, and taken up only while the next one runs.",
        adds=[
            *(
                Rule(
                    f"{event} stops what the run has under way",
                    r.fires(event),
                    [i.is_("BatchExecutor", "Running"), i.task.workflow == r.workflow],
                    i.fires("kill"),
                    line=28,
                )
                for event in ("halt", "force", "err", "exceed", "lose")
            ),
            replace(
                tasks.resume,
                when=[*tasks.resume.when, implies(t.workflow != NONE, t.workflow.is_("Running"))],
            ),
        ],
        question="What becomes of the instances of a run that ends before they do?",
        why="No sentence has a run stop instances.",
    ),
)
