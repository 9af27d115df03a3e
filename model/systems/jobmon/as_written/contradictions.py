"""Where the document contradicts itself or its figures.

If a run shows a contradiction as well, the contradiction names that finding.
"""

from schedproof.model.lang import Contradiction

CONTRADICTIONS = (
    Contradiction(
        "distributor-in-two-spellings",
        (
            (22, "- DISTRIBUTOR: the agent that decides **where** the defined compute instructions will execute."),
            (88, "- SCHEDULER -> DISTRIBUTOR"),
            (161, "- CLIENT -> DEFINER + CONTROLLER + DISTRIBUTER + OPERATOR"),
            (169, "- SCHEDULER -> DISTRIBUTER"),
        ),
        "One role is spelled in two ways.",
        "Distributor.",
    ),
    Contradiction(
        "a-is-two-states",
        (
            (61, "- ABORTED (A) = Client failed to do all necessary work; scheduler cannot begin instantiation."),
            (
                128,
                "#. The reconciler in the Python client moves the Task Instance into state A (Adjusting Resources) if the Task Instance has not reached its retry limit.",
            ),
        ),
        "One letter for two states, one of them fatal; the second is not among the states that are described.",
        "Two states: of tasks Aborted, of task instances Adjusting Resources as well.",
    ),
    Contradiction(
        "who-is-adjusted",
        (
            (
                128,
                "#. The reconciler in the Python client moves the Task Instance into state A (Adjusting Resources) if the Task Instance has not reached its retry limit.",
            ),
            (
                130,
                "#. **NEED HELP HERE** The Task Instance FSM retrieve Tasks queued for instantiation and jobs marked for Adjusting Resources.",
            ),
            (
                131,
                "It adds a new row with adjusted resources to the executor parameters set table for that job, and mark those as the active resources for that job to use, then it will queue it for instantiation using those resources",
            ),
        ),
        "Step 6 marks the task instance, step 7 retrieves jobs, that is tasks, that are marked; an older text has the job marked (facts 5.1).",
        "As step 6 has it: the instance is marked, and its task is queued.",
    ),
    Contradiction(
        "who-adjusts",
        (
            (
                130,
                "#. **NEED HELP HERE** The Task Instance FSM retrieve Tasks queued for instantiation and jobs marked for Adjusting Resources.",
            ),
            (
                91,
                "In the current implementation of the task instance FSM the client acts as a definer and a controller since the swarm is inside the client whereas the ``_adjust_resources_and_queue()`` method is in the swarm.",
            ),
        ),
        "A state machine retrieves nothing; the method that does what step 7 says is in the swarm, which is in the client.",
        "The client does it (facts 5.3).",
    ),
    Contradiction(
        "who-decides-on-resource-errors",
        (
            (
                49,
                "When an error is encountered in the scheduler or executor the web server decides which deployment unit will get control next.",
            ),
            (
                128,
                "#. The reconciler in the Python client moves the Task Instance into state A (Adjusting Resources) if the Task Instance has not reached its retry limit.",
            ),
        ),
        "The server decides what becomes of an error, and the reconciler decides what becomes of a resource error.",
        "Both do, in either order. The resources may then stay as they are.",
        violates=["resources-grow-on-resource-errors"],
    ),
    Contradiction(
        "adjusted-past-halted",
        (
            (68, "- HALTED (H) = Execution was stopped mid-run."),
            (
                131,
                "It adds a new row with adjusted resources to the executor parameters set table for that job, and mark those as the active resources for that job to use, then it will queue it for instantiation using those resources",
            ),
        ),
        "Resources are adjusted on the way from Halted to Registering in the figure (facts 1.2, 1.3); by the steps they are before anything "
        "is queued again, and neither state is passed.",
        "As the steps have it: from Triaging to Queued. The repaired variant goes the figure's way.",
    ),
    Contradiction(
        "queued-before-it-is-created",
        (
            (
                131,
                "It adds a new row with adjusted resources to the executor parameters set table for that job, and mark those as the active resources for that job to use, then it will queue it for instantiation using those resources",
            ),
            (135, "#. A new Task instance is created, referring to the new adjusted resource values"),
            (62, "- INSTANTIATING (I) = Scheduler is instantiating an instance on the executor."),
        ),
        "Step 7 queues what step 8 creates; and the figure has instances created by who registers and by who instantiates them (facts 1.3).",
        "An instance is created when its task is registered, or queued again.",
    ),
    Contradiction(
        "who-posts-resource-errors",
        (
            (
                122,
                "#. The Jobmon wrapper around the Cluster Task identifies the error and contacts the server with a state update to Z",
            ),
            (81, "Each unique state is driven by a different agent: client, scheduler, worker node."),
        ),
        "By step 2 the worker posts a resource error; in the figure the reconciler does (facts 1.3).",
        "The worker does.",
    ),
    Contradiction(
        "each-error-is-triaged",
        (
            (80, "Of note are the myriad of error states that can occur on the scheduler and worker node."),
            (80, "Each results in a Triaging state in the universal FSM."),
            (63, "- LAUNCHED (L) = Instantiation is complete."),
        ),
        "Two error states are set when the task is Launched (facts 1.3), from where no way leads to Triaging (facts 1.2).",
        "Nothing becomes of the task. It stays Launched.",
        violates=["errors-are-triaged", "signals-can-be-taken-up"],
    ),
    Contradiction(
        "one-owner-and-others-that-set-its-states",
        (
            (
                46,
                "When a deployment unit has control over the progression of the FSM it is specified by an **-ing** suffix unique to that deployment unit (REGISTERING, INSTANTIATING, RUNNING).",
            ),
            (81, "Each unique state is driven by a different agent: client, scheduler, worker node."),
        ),
        "A deployment unit has control, and yet client and reconciler set states in the boxes of scheduler and worker (facts 1.3, 1.4).",
        "They do.",
        violates=["only-the-owner-moves", "only-the-owner-moves-workflows"],
    ),
    Contradiction(
        "who-has-launched",
        (
            (
                46,
                "When a deployment unit has control over the progression of the FSM it is specified by an **-ing** suffix unique to that deployment unit (REGISTERING, INSTANTIATING, RUNNING).",
            ),
            (63, "Executor in control for Tasks."),
            (63, "Waiting for first scheduling loop for Workflows."),
        ),
        "An -ed state is a signal that nobody has taken up yet; but of this one the executor is in control, and in the figure it is the "
        "scheduler's (facts 1.2).",
        "A signal of the scheduler; the worker has control when the task is Running.",
    ),
    Contradiction(
        "triaging-has-no-deployment-unit",
        (
            (
                46,
                "When a deployment unit has control over the progression of the FSM it is specified by an **-ing** suffix unique to that deployment unit (REGISTERING, INSTANTIATING, RUNNING).",
            ),
            (
                49,
                "When an error is encountered in the scheduler or executor the web server decides which deployment unit will get control next.",
            ),
            (66, "- TRIAGING (T) = The cluster Job finished with some kind of error."),
        ),
        "Triaging ends in -ing, and is no deployment unit's: the server that decides then has no role (lines 20 to 23) and is not in the "
        "flow of deployment units (facts 1.1).",
        "The server owns Triaging (facts 1.2).",
    ),
    Contradiction(
        "triaged-is-not-only-what-has-finished",
        (
            (66, "- TRIAGING (T) = The cluster Job finished with some kind of error."),
            (
                153,
                "The key difference between the Workflow Run FSM and the Task Instance FSM is that the Workflow Run FSM mandates that the worker node signals back that the process has successfully halted before a new instance can be created.",
            ),
        ),
        "The cluster job of what is Triaging may not have finished: the reconciler holds it for lost by its heartbeat, or the client has "
        "only asked it to stop (facts 1.3).",
        "As the figures have it. Two commands of a task can then run.",
        violates=["one-live-instance"],
    ),
    Contradiction(
        "the-flow-has-no-aborted",
        (
            (
                51,
                "If the client encounters an error it is automatically considered fatal because the object will have insufficient compute instructions to continue execution.",
            ),
            (61, "This is fatal."),
            (33, "The deployment unit flow is below; the signal state is listed on the arrow."),
        ),
        "In the flow of deployment units no way leads from the client to the end; what ends in -ed is a signal, but Aborted and Failed "
        "are for nobody (facts 1.1).",
        "Aborted is an end.",
    ),
    Contradiction(
        "the-schedulers-errors-are-never-fatal-in-the-flow",
        (
            (
                49,
                "When an error is encountered in the scheduler or executor the web server decides which deployment unit will get control next.",
            ),
            (51, "Alternatively, if all retries are used then the error is fatal and the FSM terminates."),
        ),
        "In the flow of deployment units the scheduler's errors can be recovered only, those of the worker can also be fatal, or "
        "halt it (facts 1.1).",
        "As the universal machine has it: the server decides on both alike.",
    ),
    Contradiction(
        "error-recoverable-is-no-state",
        (
            (33, "The deployment unit flow is below; the signal state is listed on the arrow."),
            (66, "- TRIAGING (T) = The cluster Job finished with some kind of error."),
            (67, "- FAILED (F) = Encountered a fatal error or have reached the maximum number of attempts."),
        ),
        "The flow's signals ERROR_RECOVERABLE and ERROR_FATAL are no states of the list; what is called Failed there is Error Fatal in "
        "the figures (facts 1.1, 1.2).",
        "Triaging and then Queued again; Failed.",
    ),
    Contradiction(
        "exceeded-or-reached",
        (
            (67, "- FAILED (F) = Encountered a fatal error or have reached the maximum number of attempts."),
            (
                105,
                "If Jobmon detects that a job has died due to resource enforcing, the resources are increased and the job will be retried if it has not exceeded the maximum attempts.",
            ),
            (
                128,
                "#. The reconciler in the Python client moves the Task Instance into state A (Adjusting Resources) if the Task Instance has not reached its retry limit.",
            ),
        ),
        "What has reached the maximum fails, and is tried again if it has not exceeded it; and attempts are a task's, not an instance's.",
        "As many attempts of a task as its maximum.",
    ),
    Contradiction(
        "workflows-have-no-scheduler",
        (
            (62, "- INSTANTIATING (I) = Scheduler is instantiating an instance on the executor."),
            (162, "- SCHEDULER -> N/A"),
            (163, "- WORKER NODE -> N/A"),
            (
                153,
                "The key difference between the Workflow Run FSM and the Task Instance FSM is that the Workflow Run FSM mandates that the worker node signals back that the process has successfully halted before a new instance can be created.",
            ),
        ),
        "The universal machine is of workflows, too, and their runs have boxes of a scheduler and of a worker (facts 1.4), which they do "
        "not have: it is all the client.",
        "The client in these roles, which the model distinguishes as the figure does.",
    ),
    Contradiction(
        "jobs-and-dags",
        (
            (
                10,
                "A workflow for one particular domain object (e.g. Task) is often spread across multiple deployment units.",
            ),
            (111, "Each job has the original parameters requested and the validated resources."),
            (138, "The query to retrieve all resource entries for all jobs in a dag is::"),
            (
                131,
                "It adds a new row with adjusted resources to the executor parameters set table for that job, and mark those as the active resources for that job to use, then it will queue it for instantiation using those resources",
            ),
            (141, "FROM executor_parameter_set EPS"),
        ),
        "Tasks and workflows are called jobs and dags, and the table has two names.",
        "Tasks, workflows; the active row of the table is a number, how often the resources were increased.",
    ),
    Contradiction(
        "one-role-or-several",
        (
            (
                17,
                "Each deployment unit can act in one of four roles during the progression of a domain object through its finite state machine.",
            ),
            (87, "- CLIENT -> DEFINER + CONTROLLER"),
            (161, "- CLIENT -> DEFINER + CONTROLLER + DISTRIBUTER + OPERATOR"),
            (162, "- SCHEDULER -> N/A"),
        ),
        "A unit acts in one role, and the client has two or four, others none.",
        "A unit may have several roles, or none. No state depends on roles.",
    ),
    Contradiction(
        "terminal-states-of-neither-kind",
        (
            (
                31,
                "The terminal state is 1. a signal for the next deployment unit to begin working, or 2. that an unrecoverable error has been encountered.",
            ),
            (
                49,
                "When an error is encountered in the scheduler or executor the web server decides which deployment unit will get control next.",
            ),
            (65, "- DONE (D) = All work has finished successfully."),
        ),
        "A unit ends with a signal to the next one or with an unrecoverable error. Done is neither, and nor is an error after which the task "
        "is tried again.",
        "Done is an end, and after an error the server has control.",
    ),
    Contradiction(
        "who-signals-halted",
        (
            (33, "The deployment unit flow is below; the signal state is listed on the arrow."),
            (
                49,
                "When an error is encountered in the scheduler or executor the web server decides which deployment unit will get control next.",
            ),
            (68, "- HALTED (H) = Execution was stopped mid-run."),
        ),
        "In the flow of deployment units the worker signals Halted to the client (facts 1.1); in the universal machine the server does, after "
        "Triaging (facts 1.2).",
        "The server does.",
    ),
    Contradiction(
        "halted-without-the-workers-signal",
        (
            (
                153,
                "The key difference between the Workflow Run FSM and the Task Instance FSM is that the Workflow Run FSM mandates that the worker node signals back that the process has successfully halted before a new instance can be created.",
            ),
        ),
        "In the figure a run also becomes Halted by the reconciler, and by the client if it has not started, without a signal of the worker "
        "(facts 1.4).",
        "As the figure has it.",
        violates=["halted-runs-have-halted"],
    ),
    Contradiction(
        "new-runs-without-a-halt",
        (
            (
                44,
                "The deployment unit FSM can be generalized into a universal FSM for progression of tasks and workflows through the deployment units by adding a processing state for each deployment unit.",
            ),
            (
                49,
                "When an error is encountered in the scheduler or executor the web server decides which deployment unit will get control next.",
            ),
            (
                153,
                "The key difference between the Workflow Run FSM and the Task Instance FSM is that the Workflow Run FSM mandates that the worker node signals back that the process has successfully halted before a new instance can be created.",
            ),
        ),
        "A new run is created after an error as well, and then nothing has halted: in the universal machine the way from Triaging to Queued "
        "has no condition (facts 1.2).",
        "Only a resume waits for a halt.",
        violates=["halted-before-a-new-run", "one-live-run"],
    ),
)
