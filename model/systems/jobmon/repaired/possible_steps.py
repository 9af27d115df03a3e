"""What a client, a command, its wrapper and the cluster may do in one step, whatever the other agents do."""

from schedproof.model.lang import AlwaysCanReach
from schedproof.model.systems.jobmon.shipped.auxiliary_invariants import INCREASED
from schedproof.model.systems.jobmon.shipped.machines import c, i
from schedproof.model.systems.jobmon.shipped.properties import WORK

from .properties import others

RUNS = i.job.is_("Running")
COMMANDS = [
    AlwaysCanReach(
        name=name, says=says, line=line, sentence=sentence, over=[i], given=given, goal=goal, without=others(action)
    )
    for name, says, line, sentence, given, goal, action in (
        (
            "commands-may-succeed",
            "a command that runs may succeed",
            *(55, WORK, RUNS, i.job.is_("Succeeded"), "command_succeeds"),
        ),
        (
            "commands-may-fail",
            "a command that runs may fail, where commands may",
            *(55, WORK, RUNS & i.job.fallible, i.job.is_("Failed"), "command_fails"),
        ),
        (
            "commands-may-run-out-of-resources",
            "the cluster may end a command that has asked for too few resources, where commands may fail",
            *(105, INCREASED, RUNS & i.job.fallible, i.job.is_("OutOfResources"), "command_runs_out"),
        ),
    )
]
STOPPED = AlwaysCanReach(
    name="commands-can-be-stopped",
    says="a wrapper can stop its command as soon as its instance is to end",
    sentence="fact 3.1: a worker kills its command",
    over=[i],
    given=RUNS & i.doomed,
    goal=i.job.is_("Stopped"),
    without=others("stop_command"),
)
LINKED = AlwaysCanReach(
    name="clients-can-link-their-run",
    says="a client that has registered its run can link it, in whichever state the last run has left the workflow",
    sentence="fact 2.4: F->G, H->G, A->G",
    over=[c],
    given=c.is_("Running") & c.run.is_("Registered") & ~c.run.workflow.is_("Done"),
    goal=c.run.is_("Linking"),
    without=others("link"),
)
