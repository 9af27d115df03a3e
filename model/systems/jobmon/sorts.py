"""The document, and the sorts: a workflow of tasks, and the objects that run each of them, once or again."""

from pathlib import Path

from schedproof.model.lang import Document, Sort

DOCUMENT = Document(
    "jobmon-finite-state-machines.rst",
    "Jobmon's Finite State Machines",
    Path(__file__).with_name("quotes.json"),
    Path(__file__).with_name("facts.json"),
)
"""Line numbers refer to this document. Sections of the facts describe the running system, which the document does not.
"""

Workflow = Sort("Workflow", "w")
"""What a client defines: a set of tasks to run (lines 28 to 30)."""

WorkflowRun = Sort("WorkflowRun", "r")
"""An instance of a workflow: one client's attempt to run it (lines 28 to 30)."""

Task = Sort("Task", "t")
"""A command to be run once (lines 28 to 30)."""

TaskInstance = Sort("TaskInstance", "i")
"""An attempt at a task (lines 28 to 30)."""

Client = Sort("Client", "c")
"""The process that a user starts to run a workflow: one for each run."""

Distributor = Sort("Distributor", "d")
"""The process that submits task instances to the cluster."""

Job = Sort("Job", "j")
"""A task instance on the cluster: a wrapper (the worker), and the command that it runs."""
