"""Jobmon: agents that hand over control of tasks and workflows, die, and come back.

Modules:

* ``sorts``: the sorts of objects of all variants.
* ``universal``: the machine of the document (jobmon-finite-state-machines.rst), with its owners and roles.
* ``submachines``: the machines that the document's figures draw inside its states.
* ``as_written``: the model of both, and its repaired variant.
* ``shipped``: the machine that was built, by the facts.
* ``read_then_write``: that machine, with the server's read and its write taken apart.
* ``repaired``: the changes that the shipped machine needs.
"""

from .as_written import AS_WRITTEN
from .as_written import REPAIRED as AS_WRITTEN_REPAIRED
from .repaired import REPAIRED
from .shipped import SHIPPED

__all__ = ["AS_WRITTEN", "AS_WRITTEN_REPAIRED", "REPAIRED", "SHIPPED"]
