"""Auxiliary invariants on which the properties rest: which objects belong together, and what has happened before."""

from schedproof.model.lang import NONE, Invariant, exists, implies

from .machines import RUN_ERRORS, UNFINISHED_ERRORS, i, r, t, w

AUXILIARY_INVARIANTS = [
    Invariant(
        name="tasks-have-a-latest-instance",
        says="exactly a task that exists has a latest instance",
        line=29,
        over=[t],
        then=implies(t.is_("Absent"), t.latest == NONE) & implies(~t.is_("Absent"), t.latest != NONE),
    ),
    Invariant(
        name="latest-instances-are-the-tasks",
        says="a task's latest instance exists, and belongs to the task",
        line=29,
        over=[t, i],
        given=t.latest == i,
        then=(i.task == t) & ~i.is_("Absent"),
    ),
    Invariant(
        name="instances-have-a-task",
        says="an instance that exists belongs to a task that exists",
        line=29,
        over=[i],
        then=implies(i.is_("Absent"), i.task == NONE)
        & implies(~i.is_("Absent"), exists(t, (i.task == t) & ~t.is_("Absent"))),
    ),
    Invariant(
        name="earlier-instances-ended-in-an-error",
        says="every instance of a task but the latest ended in an error",
        line=66,
        over=[t, i],
        given=(i.task == t) & (t.latest != i),
        then=i.is_(*UNFINISHED_ERRORS),
    ),
    Invariant(
        name="commands-run-from-running-on",
        says="the command of an instance runs while the instance is Running, or, if others set its state, KillSelf or UnknownError",
        line=64,
        over=[i],
        given=i.command == "live",
        then=i.is_("Running", "KillSelf", "UnknownError"),
    ),
    Invariant(
        name="resources-are-increased-once-an-attempt",
        says="the resources have been increased less often than the task has been attempted",
        line=105,
        over=[t],
        given=~t.is_("Absent"),
        then=t.resources < t.attempts,
    ),
    Invariant(
        name="absent-tasks-have-asked-for-nothing",
        says="the resources of a task that does not exist have not been increased",
        line=111,
        over=[t],
        given=t.is_("Absent"),
        then=t.resources == 0,
    ),
    Invariant(
        name="workflows-have-a-latest-run",
        says="exactly a workflow that exists has a latest run",
        line=29,
        over=[w],
        then=implies(w.is_("Absent"), w.latest == NONE) & implies(~w.is_("Absent"), w.latest != NONE),
    ),
    Invariant(
        name="latest-runs-are-the-workflows",
        says="a workflow's latest run exists, and belongs to the workflow",
        line=29,
        over=[w, r],
        given=w.latest == r,
        then=(r.workflow == w) & ~r.is_("Absent"),
    ),
    Invariant(
        name="runs-have-a-workflow",
        says="a run that exists belongs to a workflow that exists",
        line=29,
        over=[r],
        then=implies(r.is_("Absent"), r.workflow == NONE)
        & implies(~r.is_("Absent"), exists(w, (r.workflow == w) & ~w.is_("Absent"))),
    ),
    Invariant(
        name="earlier-runs-ended-in-an-error",
        says="every run of a workflow but the latest ended in an error, or halted",
        line=66,
        over=[w, r],
        given=(r.workflow == w) & (w.latest != r),
        then=r.is_(*RUN_ERRORS),
    ),
    Invariant(
        name="halted-workflows-have-a-halted-run",
        says="the latest run of a Halted workflow has halted",
        line=68,
        over=[w, r],
        given=w.is_("Halted") & (w.latest == r),
        then=r.is_("Halted"),
    ),
    Invariant(
        name="processes-run-from-running-on",
        says="the process of a run lives while the run is Running, or, if others set its state, UnknownError, Resume or Halted",
        line=64,
        over=[r],
        given=r.process == "live",
        then=r.is_("Running", "Resume", "UnknownError", "Halted"),
    ),
    Invariant(
        name="marked-tasks-have-attempts-left",
        says="a task whose latest instance is marked for adjusting has attempts left",
        line=128,
        over=[t, i],
        given=(t.latest == i) & i.is_("AdjustingResources"),
        then=t.attempts < t.maximum,
    ),
]
