"""Jobmon: agents that hand over control of tasks and workflows, read from "Jobmon's Finite State Machines" and from the facts.

Read this package beside the document (jobmon-finite-state-machines.rst). So far it has tables: ``universal`` is the document's machine
with its owners and roles, ``submachines`` what goes on inside of its states, ``shipped_tables`` what the code allows.
"""

from .repaired import REPAIRED
from .shipped import SHIPPED

__all__ = ["REPAIRED", "SHIPPED"]
