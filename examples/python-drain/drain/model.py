"""Hosts that are drained for maintenance: no job starts on them any longer, and they shut down once they are empty."""

from schedproof.model.lang import (
    NONE,
    Action,
    AlwaysCanReach,
    Attribute,
    Event,
    Invariant,
    Machine,
    Model,
    Ref,
    Row,
    Sort,
    State,
    exists,
    given,
    iff,
    variables,
)

Host, Job = Sort("Host", "h"), Sort("Job", "j")
(h,) = variables(Host, "h")
(j,) = variables(Job, "j")

HOST = Machine(Host, states=[State("Up"), State("Draining"), State("Down")])
JOB = Machine(
    Job,
    states=[State("Pending"), State("Running"), State("Finished")],
    attributes=[Attribute("host", Ref(Host))],
    events=[Event("start", {"on": Ref(Host)})],
)

TABLES = [
    Row(Host, "drain", "Up", "Draining"),
    Row(Host, "shut_down", "Draining", "Down"),
    Row(Host, "boot", "Down", "Up"),
    Row(Job, "start", "Pending", "Running", host=given("on")),
    Row(Job, "finish", "Running", "Finished", host=NONE),
    Row(Job, "evict", "Running", "Pending", host=NONE),
]

start = Action("start", [j, h], [j.is_("Pending"), h.is_("Up")], [j.fires("start", on=h)], "{j} starts on {h}")
finish = Action("finish", [j], [j.is_("Running")], [j.fires("finish")], "{j} finishes")
drain = Action("drain", [h], [h.is_("Up")], [h.fires("drain")], "{h} is drained")
evict = Action(
    "evict", [j, h], [j.host == h, h.is_("Draining")], [j.fires("evict")], "{j} is evicted from {h}, which is drained"
)
shut_down = Action(
    "shut_down",
    [h],
    [h.is_("Draining"), ~exists(j, j.host == h)],
    [h.fires("shut_down")],
    "{h}, which is empty, shuts down",
)
boot = Action("boot", [h], [h.is_("Down")], [h.fires("boot")], "{h} boots")

PROPERTIES = [
    Invariant(
        name="runs-on-a-host",
        says="a job has a host exactly as long as it runs",
        over=[j],
        then=iff(j.is_("Running"), j.host != NONE),
    ),
    Invariant(
        name="down-hosts-are-empty",
        says="no job runs on a host that is down",
        over=[j, h],
        given=h.is_("Down"),
        then=j.host != h,
    ),
    AlwaysCanReach(name="hosts-can-be-mended", says="every host can be shut down", over=[h], goal=h.is_("Down")),
]

AS_WRITTEN = Model(
    system="host-drain",
    variant="as-written",
    about="a drained host evicts its jobs and shuts down",
    machines=[HOST, JOB],
    rows=TABLES,
    actions=[start, finish, drain, evict, shut_down, boot],
    rules=[],
    properties=PROPERTIES,
    default_scope={"Host": 2, "Job": 2},
)
