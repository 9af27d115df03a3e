"""The actions of v0.12.2's shim, and what happens to the pods and nodes that it stands for (facts 4).

``shim_messages`` has the effects of messages. An event that the shim's dispatcher holds for later is an action that
the state allows. Where such an event depends on a check that is made only once, the object records that the event has
come (``run_due``).

Four events that nobody fires, KillApplication among them, are in the tables only. The model leaves out
resynchronisation. A pod changes only when it gets a node, ends or is deleted.
"""

from schedproof.model.lang import Action, Term, Var, exists, forall, implies, variable

from .channel import e
from .shim_machines import b, m, t, u, z
from .sorts import ShimApplication

other = variable(ShimApplication, "c")

# In a configuration without a scheduler object the shim has always been running.
RUNNING = ~exists(z, ~z.is_("Running"))
UP = ~exists(z, ~z.is_("Recovering", "Running"))
RECOVERING = exists(z, z.is_("Recovering"))
DOWN = exists(z, ~z.is_("Recovering", "Running"))

LISTED = ("pending", "withdrawn", "assigned", "deleting")


def one_of(pod: Term, values: tuple[str, ...]) -> Term:
    """True if ``pod`` has one of ``values``."""
    matches: Term = pod == values[0]
    for value in values[1:]:
        matches = matches | (pod == value)
    return matches


GOING = one_of(t.pod, ("withdrawn", "deleting"))


def of(task: Var, application: Term) -> Term:
    """True if ``task`` is a pod of ``application``."""
    return task.application == application


def gang(application: Term) -> Term:
    """True if ``application`` has task groups, and so placeholders."""
    return exists(u, of(u, application) & u.ask.placeholder)


def all_placeholders(application: Term, state: str, *, but: Var | None = None) -> Term:
    """True if every placeholder of ``application``, except ``but``, is in ``state``."""
    matches = of(u, application) & u.ask.placeholder
    return forall(u, implies(matches & (u != but) if but is not None else matches, u.is_(state)))


ALL_NEW = forall(u, implies(of(u, b), u.is_("New")))
HAS_PODS = exists(u, of(u, b) & ~u.ask.placeholder & one_of(u.pod, LISTED))

# --- the scheduler (4.4)

# A registration is a call that waits its turn: everything that the dead process sent before has arrived. This is our
# interpretation; section 4.4 has only the events.
register = Action(
    "register",
    [z],
    [z.is_("New"), ~exists(e, e.is_("under_way") & (e.channel == "core"))],
    [z.fires("RegisterScheduler")],
    "the shim {z} registers",
    fact="4.4, scheduler.go:88",
)
registered = Action(
    "registered",
    [z],
    [z.is_("Registering")],
    [z.fires("RegisterSchedulerSucceed")],
    "the core accepts the registration of {z}",
    fact="4.4, scheduler.go:91",
)
registration_fails = Action(
    "registration_fails",
    [z],
    [z.is_("Registering"), z.mortal],
    [z.fires("RegisterSchedulerFailed")],
    "the core does not accept the registration of {z}, and its process ends",
    fact="4.4, scheduler.go:94",
)
recover = Action(
    "recover",
    [z],
    [z.is_("Registered")],
    [z.fires("RecoverScheduler")],
    "{z} begins to recover",
    fact="4.4, scheduler.go:97",
)

# The informers report a pod that is made during the recovery when they start (4.4). An application with only such
# pods is submitted then.
RUNS = exists(u, of(u, b) & one_of(u.pod, ("assigned", "deleting")))
STILL_TO_RECOVER = exists(b, b.is_("Recovering") | (b.is_("New") & HAS_PODS & RUNS)) | exists(
    m, ~m.deleted & ~m.is_("Healthy", "Draining", "Rejected")
)

recovered = Action(
    "recovered",
    [z],
    [z.is_("Recovering"), ~STILL_TO_RECOVER],
    [z.fires("RecoverSchedulerSucceed")],
    "{z} has recovered its applications and nodes",
    fact="4.4, scheduler.go:100",
)
# 30 s are longer than any answer takes: the time runs out only if the answer never comes.
recovery_fails = Action(
    "recovery_fails",
    [z],
    [
        z.is_("Recovering"),
        exists(b, b.is_("Recovering") & ~exists(e, e.is_("under_way") & (e.application == b.core)))
        | exists(m, m.is_("Recovering") & ~exists(e, e.is_("under_way") & (e.node == m.core))),
    ],
    [z.fires("RecoverSchedulerFailed")],
    "the time for the recovery of {z} is over, and its process ends",
    fact="4.4, scheduler.go:103",
)

# --- applications (4.1)

submit_application = Action(
    "submit_application",
    [b],
    [b.is_("New"), RUNNING, HAS_PODS],
    [b.fires("SubmitApplication")],
    "{b} is submitted",
    fact="4.1, application.go:367-375",
)
recover_application = Action(
    "recover_application",
    [b],
    [b.is_("New"), RECOVERING, HAS_PODS],
    [b.fires("RecoverApplication")],
    "{b} is recovered: it is submitted again",
    fact="4.1, appmgmt_recovery.go:45-74",
)
try_reserve = Action(
    "try_reserve",
    [b],
    [b.is_("Accepted"), RUNNING, gang(b), ALL_NEW],
    [b.fires("TryReserve")],
    "{b} reserves with placeholders",
    fact="4.1, application.go:494-539",
)
skip_reservation = Action(
    "skip_reservation",
    [b],
    [b.is_("Accepted"), RUNNING, ~gang(b) | ~ALL_NEW],
    [b.fires("RunApplication")],
    "{b} runs without a reservation",
    fact="4.1, application.go:494-539",
)
create_placeholder = Action(
    "create_placeholder",
    [t],
    [t.is_("New"), t.pod == "absent", t.ask.placeholder, t.application.is_("Reserving"), UP],
    [t.fires("change", pod="pending")],
    "the pod of the placeholder {t} is made",
    fact="4.1, application.go:541-552",
)
placeholders_fail = Action(
    "placeholders_fail",
    [b],
    [b.is_("Reserving"), b.troubled, UP, exists(u, of(u, b) & u.ask.placeholder & (u.pod == "absent"))],
    [b.fires("RunApplication")],
    "a placeholder of {b} can not be made, and it runs without",
    fact="4.1, application.go:541-552",
)
run_when_due = Action(
    "run_when_due",
    [b],
    [b.run_due, UP, b.is_("Accepted", "Reserving", "Resuming", "Running")],
    [b.fires("RunApplication")],
    "{b} runs: its last placeholder was bound, or is gone",
    fact="4.1, application.go:554-573 and 696-705",
)
fail_rejected = Action(
    "fail_rejected",
    [b],
    [b.is_("Rejected"), UP],
    [b.fires("FailApplication")],
    "{b} was rejected, and has failed",
    fact="4.1, application.go:135",
)
shim_fails = Action(
    "shim_fails",
    [b],
    [b.is_("Submitted", "Accepted", "Reserving", "Running"), b.troubled, UP],
    [b.fires("FailApplication")],
    "{b} fails on the shim's side: an error of submitting it, or a Spark operator says so",
    fact="4.1, application.go:138",
)
shim_completes = Action(
    "shim_completes",
    [b],
    [b.is_("Running"), b.troubled, UP],
    [b.fires("CompleteApplication")],
    "a Spark operator says that {b} is completed",
    fact="4.1, spark.go:114",
)

# --- tasks and their pods (4.2)

create_pod = Action(
    "create_pod",
    [t],
    [t.is_("New"), t.pod == "absent", ~t.ask.placeholder],
    [t.fires("change", pod="pending")],
    "a user creates the pod of {t}",
    fact="4.2",
)
init_task = Action(
    "init_task",
    [t],
    [
        t.is_("New"),
        one_of(t.pod, ("pending", "withdrawn")),
        (t.ask.placeholder & t.application.is_("Reserving")) | (~t.ask.placeholder & t.application.is_("Running")),
        RUNNING,
    ],
    [t.fires("InitTask")],
    "{t} is taken up",
    fact="4.2, task.go:382-433",
)
submit_task = Action(
    "submit_task", [t], [t.is_("Pending"), UP], [t.fires("SubmitTask")], "{t} asks", fact="4.2, task.go:333-335"
)
bind = Action(
    "bind",
    [t],
    [t.is_("Allocated"), t.pod == "pending", UP],
    [t.fires("TaskBound")],
    "the pod of {t} is bound",
    fact="4.2, task.go:341-405",
)
bind_fails = Action(
    "bind_fails",
    [t],
    [t.is_("Allocated"), (t.pod == "withdrawn") | ((t.pod == "pending") & t.application.troubled), UP],
    [t.fires("TaskFail")],
    "the pod of {t} can not be bound",
    fact="4.2, task.go:341-405",
)
fail_rejected_task = Action(
    "fail_rejected_task",
    [t],
    [t.is_("Rejected"), UP],
    [t.fires("TaskFail")],
    "{t} was rejected, and has failed",
    fact="4.2, task.go:125",
)
end_pod = Action(
    "end_pod",
    [t],
    [t.pod == "assigned", ~t.ask.placeholder, UP, ~t.is_("New")],
    [t.fires("CompleteTask", pod="ended")],
    "the pod of {t} ends",
    fact="4.2, general.go:266-320",
)
delete_pod = Action(
    "delete_pod",
    [t],
    [t.pod == "assigned"],
    [t.fires("doom", pod="deleting")],
    "somebody deletes the pod of {t}",
    fact="4.2, general.go:266-320",
)
delete_pending_pod = Action(
    "delete_pending_pod",
    [t],
    [t.pod == "pending"],
    [t.fires("doom", pod="withdrawn")],
    "somebody deletes the pod of {t}, which has no node",
    fact="4.2, general.go:266-320",
)
pod_is_gone = Action(
    "pod_is_gone",
    [t],
    [GOING, UP],
    [t.fires("CompleteTask", pod="deleted")],
    "the pod of {t} is gone",
    fact="4.2, general.go:266-320",
)
# After a crash every task is New. The shim learns what happened to the pods meanwhile when it lists them.
end_pod_unobserved = Action(
    "end_pod_unseen",
    [t],
    [t.is_("New"), t.pod == "assigned", ~t.ask.placeholder, DOWN],
    [t.fires("change", pod="ended")],
    "the pod of {t} ends while there is no shim",
    fact="4.2",
)
pod_is_gone_unobserved = Action(
    "pod_is_gone_unseen",
    [t],
    [t.is_("New"), GOING, DOWN],
    [t.fires("change", pod="deleted")],
    "the pod of {t} goes while there is no shim",
    fact="4.2",
)

# The shim wanted the pod deleted, and died before it could ask Kubernetes. For simplicity a deletion by people can be
# lost too.
deletion_is_lost, deletion_of_a_bound_pod_is_lost = [
    Action(
        name,
        [t],
        [t.is_("New"), t.pod == pod, DOWN],
        [t.fires("change", pod=before)],
        f"the shim has died before Kubernetes heard that the pod of {{t}}, which is {before}, is to go",
        fact="4.1, application.go:114-131",
    )
    for name, pod, before in (
        ("deletion_is_lost", "withdrawn", "pending"),
        ("deletion_of_a_bound_pod_is_lost", "deleting", "assigned"),
    )
]

# --- nodes (4.3)

add_node = Action(
    "add_node",
    [m],
    [m.is_("New"), ~m.deleted, UP, forall(other, ~other.is_("Recovering"))],  # applications first (4.4)
    [m.fires("RecoverNode")],
    "{m} is registered",
    fact="4.3, node.go:72",
)
node_is_ready = Action(
    "node_is_ready",
    [m],
    [m.is_("Accepted"), m.schedulable, ~m.deleted, UP],
    [m.fires("NodeReady")],
    "{m} is ready",
    fact="4.3, node.go:80",
)
node_is_unschedulable = Action(
    "node_is_unschedulable",
    [m],
    [m.is_("Accepted"), ~m.schedulable, ~m.deleted, UP],
    [m.fires("DrainNode", cordoned=m.cordoned)],
    "{m} was unschedulable when it was made",
    fact="4.3, node.go:88",
)
# The shim forwards a change in one state only (3, nodes.go:137-159); in the others only Kubernetes knows of it. People
# are slower than messages: they change a node again only after the core has received the last change.
HEARD = ~exists(e, e.is_("under_way") & (e.node == m.core))
cordon = Action(
    "cordon",
    [m],
    [m.is_("Healthy"), ~m.cordoned, ~m.deleted, HEARD],
    [m.fires("DrainNode", cordoned=True)],
    "{m} is cordoned",
    fact="3, nodes.go:137-159",
)
cordon_unheard = Action(
    "cordon_unheard",
    [m],
    [~m.is_("Healthy"), ~m.cordoned, ~m.deleted],
    [m.fires("mark", cordoned=True)],
    "{m} is cordoned, and the shim does not forward it",
    fact="3, nodes.go:137-159",
)
uncordon = Action(
    "uncordon",
    [m],
    [m.is_("Draining"), m.cordoned, ~m.deleted, HEARD],
    [m.fires("RestoreNode", cordoned=False)],
    "{m} is uncordoned",
    fact="3, nodes.go:137-159",
)
uncordon_unheard = Action(
    "uncordon_unheard",
    [m],
    [~m.is_("Draining"), m.cordoned, ~m.deleted],
    [m.fires("mark", cordoned=False)],
    "{m} is uncordoned, and the shim does not forward it",
    fact="3, nodes.go:137-159",
)
delete_node = Action(
    "delete_node",
    [m],
    [~m.deleted, m.is_("Healthy", "Draining"), HEARD],
    [m.fires("delete")],
    "{m} is deleted",
    fact="3, context.go:598-653",
)

delete_node_unobserved = Action(
    "delete_node_unseen",
    [m],
    [~m.deleted, m.is_("New"), DOWN],
    [m.fires("delete")],
    "{m} is deleted while there is no shim",
    fact="3, context.go:598-653",
)

SCHEDULER = [register, registered, registration_fails, recover, recovered, recovery_fails]
APPLICATIONS = [
    *(submit_application, recover_application, try_reserve, skip_reservation, create_placeholder, placeholders_fail),
    *(run_when_due, fail_rejected, shim_fails, shim_completes),
]
TASKS = [init_task, submit_task, bind, bind_fails, fail_rejected_task]
PODS = [
    *(create_pod, end_pod, delete_pod, pod_is_gone, delete_pending_pod),
    *(end_pod_unobserved, pod_is_gone_unobserved, deletion_is_lost, deletion_of_a_bound_pod_is_lost),
]
NODES = [
    add_node,
    node_is_ready,
    node_is_unschedulable,
    cordon,
    cordon_unheard,
    uncordon,
    uncordon_unheard,
    delete_node,
    delete_node_unobserved,
]
OWN_ACTIONS = [*SCHEDULER, *APPLICATIONS, *TASKS, *PODS, *NODES]
