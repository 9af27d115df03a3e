"""All interpretations of the document: ``readings`` has those whose other answer changes the model, here are the others."""

from schedproof.model.lang import Reading

from .readings import READINGS

UNTRIED = (
    Reading(
        "the-figures-are-complete",
        6,
        "A transition that no figure shows is not allowed.",
        "The figures show the usual transitions, and others are allowed.",
        question="Is a transition allowed that no figure shows? The text says that allowed transitions are shown, and states none itself.",
        why="Figures with all transitions are the only source for what is forbidden.",
    ),
    Reading(
        "the-figures-are-those-of-2021",
        78,
        "The figures are those for which the text was written (facts 1.3, 1.4).",
        "They are the files that have these names today, drawn from the code in 2022 (facts 1.5, 1.6).",
        question="Which figures does the text mean? Two generations of figures have had the names that it gives.",
        why="Only those of 2021 have what the text describes: boxes of deployment units, a Triaging of all errors, and states of other agents.",
    ),
    Reading(
        "the-executor-is-the-worker",
        49,
        "The executor is the cluster with its worker nodes: what it claims or reports, the worker does.",
        "The executor is the cluster's own scheduler, an agent with errors of its own between submission and start.",
        question="The text has an executor here and in lines 62 and 63, and worker nodes elsewhere. Are they the same?",
        why="The figures have three deployment units, client, scheduler and worker, and no fourth for the executor (facts 1.1).",
    ),
    Reading(
        "instances-are-made-with-their-task",
        59,
        "The client makes the first instance of a task when it registers the task, and a run with its workflow.",
        "The scheduler makes an instance when it instantiates the task.",
        question="When is an instance created? Line 62 has the scheduler instantiate one, line 135 has it created after a resource error.",
        why="The figure of instances begins with the creation of one, in the client's box (facts 1.3).",
    ),
    Reading(
        "triaging-is-one-step",
        75,
        "Triaging has no sub-machine: the server decides in one transaction.",
        "Triaging has states of its own, for what is asked of the cluster before the decision.",
        question="Each state in -ing of a stateful deployment unit has a sub-machine. Is the server such a unit?",
        why="The figures draw none (facts 1.3, 1.4).",
    ),
    Reading(
        "the-reconciler-misses-nothing",
        124,
        "The reconciler comes to each resource error, at some time after it.",
        "It comes to each change of state once. If it dies after the server's answer, it never comes to that change again.",
        question="What does the reconciler remember of when it ran last, and does that survive its death?",
        why="The model has no memory of the reconciler. What it misses the server decides on: a task gets no more resources then.",
    ),
    Reading(
        "the-server-does-not-die",
        123,
        "Each request to the server is one transaction on its database. A death of the server has no effect.",
        "The server writes in several steps, and may die in between.",
        question="Is an update with all that it entails atomic?",
        why="The server keeps no state of its own in the text: all is in the database.",
    ),
    Reading(
        "runs-get-no-more-resources",
        105,
        "A run that had too few resources is tried again with the same ones.",
        "The resources of a run are increased as well.",
        question="The figure of runs has Resource Error (facts 1.4). Does the section on resources apply to runs?",
        why="The section has jobs and task instances only.",
    ),
    Reading(
        "tasks-and-runs-halt-apart",
        28,
        "When a run halts, fails or is lost, its workflow's tasks and their instances go on; a halted task is taken up by itself.",
        "They are stopped with the run, and taken up only with the next one.",
        question="What becomes of the instances of a run that ends before they do?",
        why="No sentence has a run stop instances. No configuration here has both a stopped run and tasks, so that nothing depends on it.",
    ),
)

INTERPRETATIONS = (*READINGS, *UNTRIED)
