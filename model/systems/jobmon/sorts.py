"""What is read, and the kinds of objects: a workflow of tasks, and what runs each of them, once or again."""

from pathlib import Path

from schedproof.model.lang import Document, Sort

DOCUMENT = Document(
    "jobmon-finite-state-machines.rst",
    "Jobmon's Finite State Machines",
    Path(__file__).with_name("quotes.json"),
    Path(__file__).with_name("facts.json"),
)
"""Lines are of this; what runs, and not what it says, is told by sections of the facts."""

Workflow = Sort("Workflow", "w")
"""What a client defines: tasks that are to be done (lines 28 to 30)."""

WorkflowRun = Sort("WorkflowRun", "r")
"""An instance of a workflow: one client's attempt to have it done (lines 28 to 30)."""

Task = Sort("Task", "t")
"""A command that is to be done once (lines 28 to 30)."""

TaskInstance = Sort("TaskInstance", "i")
"""An attempt at a task (lines 28 to 30)."""

Client = Sort("Client", "c")
"""The process that a user starts to have a workflow done: one for each run."""

Distributor = Sort("Distributor", "d")
"""The process that brings task instances to the cluster."""

Job = Sort("Job", "j")
"""What the cluster has of a task instance: a wrapper (the worker), and the command that it runs."""
