"""A queue whose claims expire: what docs and comments of the service say, as a model."""

from schedproof.model.lang import (
    NONE,
    Action,
    AlwaysCanReach,
    Attribute,
    Event,
    Invariant,
    LifeCycle,
    Machine,
    Model,
    Ref,
    Row,
    Sort,
    State,
    given,
    iff,
    variables,
)

Job, Worker = Sort("Job", "j"), Sort("Worker", "w")
(j,) = variables(Job, "j")
(w,) = variables(Worker, "w")

JOB = Machine(
    Job,
    states=[State("Queued"), State("Claimed"), State("Done")],
    attributes=[Attribute("worker", Ref(Worker))],
    events=[Event("claim", {"by": Ref(Worker)})],
)
WORKER = Machine(Worker)

TABLES = [
    Row(Job, "claim", "Queued", "Claimed", worker=given("by")),
    Row(Job, "expire", "Claimed", "Queued", worker=NONE),
    Row(Job, "finish", "Claimed", "Done", worker=NONE),
]

claim = Action("claim", [w, j], [j.is_("Queued")], [j.fires("claim", by=w)], "{w} claims {j}", by=w)
expire = Action("expire", [j], [j.is_("Claimed")], [j.fires("expire")], "the claim of {j} expires")
finish = Action(
    "finish",
    [w, j],
    [j.is_("Claimed"), j.worker == w],
    [j.fires("finish")],
    "{w} finishes {j}, which it has claimed",
    by=w,
)

PROPERTIES = [
    Invariant(
        name="claimed-by-a-worker",
        says="a job has a worker exactly as long as it is claimed",
        over=[j],
        then=iff(j.is_("Claimed"), j.worker != NONE),
    ),
    LifeCycle(
        name="claimed-twice",
        says="a job can be claimed anew after its claim has expired",
        sort=Job,
        states=["Queued", "Claimed", "Queued", "Claimed", "Done"],
    ),
    AlwaysCanReach(name="jobs-get-done", says="every job can still be done", over=[j], goal=j.is_("Done")),
]

AS_WRITTEN = Model(
    system="job-queue",
    variant="as-written",
    about="claims expire, and only the holder of a claim finishes the job",
    machines=[JOB, WORKER],
    rows=TABLES,
    actions=[claim, expire, finish],
    rules=[],
    properties=PROPERTIES,
    default_scope={"Job": 2, "Worker": 2},
)
