"""Auxiliary invariants on which the properties rest: the contents of the database, and of the agents' memory."""

from schedproof.model.lang import NONE, Invariant, iff, implies

from .machines import c, d, i, t

INCREASED = "If Jobmon detects that a job has died due to resource enforcing, the resources are increased and the job will be retried if it has not exceeded the maximum attempts."

RECORDS = [
    Invariant(
        name="instances-have-a-task",
        says="an instance in the database has a task and a run, of one workflow",
        sentence="section 3.1 of the facts: an instance is inserted for a task, by a run",
        over=[i],
        given=~i.is_("Absent"),
        then=(i.task != NONE) & (i.run != NONE) & (i.task.workflow == i.run.workflow),
    ),
    Invariant(
        name="latest-instances-are-there",
        says="the latest instance of a task is one of its own",
        sentence="section 3.1 of the facts: an instance is inserted for a task, in one transaction",
        over=[t, i],
        given=t.instance == i,
        then=~i.is_("Absent") & (i.task == t),
    ),
    Invariant(
        name="jobs-have-an-instance",
        says="every submitted job is an instance in the database",
        sentence="section 3.1 of the facts: the distributor submits what it has instantiated",
        over=[i],
        given=~i.job.is_("Absent"),
        then=~i.is_("Absent"),
    ),
    Invariant(
        name="distributors-have-what-was-queued",
        says=(
            "a distributor has in memory only instances that its run queued: each is still queued, or was ended "
            "meanwhile"
        ),
        sentence="section 3.1 of the facts: the distributor's loop on Q",
        over=[d, i],
        then=implies(d.listed.has(i), i.is_("Queued", "ErrorFatal") & (i.run == d.run))
        & implies(d.held.has(i), ~i.is_("Absent", "Queued") & (i.run == d.run)),
    ),
    Invariant(
        name="waiting-tasks-have-attempts-left",
        says="a task that waits to be queued may be attempted again",
        line=105,
        sentence=INCREASED,
        over=[t],
        given=t.is_("Registering", "AdjustingResources"),
        then=t.attempts < t.most,
    ),
    Invariant(
        name="runs-are-their-clients",
        says="a run is in the database once its client has registered it",
        sentence="section 3.5 of the facts: a client registers its run",
        over=[c],
        then=iff(c.run.is_("Absent"), c.is_("NotStarted", "ResumesCold", "ResumesHot")),
    ),
]
