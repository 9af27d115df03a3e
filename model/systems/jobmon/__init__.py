"""Jobmon: agents that hand over control of tasks and workflows, die, and come back.

``universal`` is the machine of the document (jobmon-finite-state-machines.rst) with its owners and roles, ``submachines`` what its figures have
inside of its states; ``as_written`` is the model of both, and repaired. ``shipped`` is the machine that was built, by the facts, and
``repaired`` what has to change in that. ``sorts`` are the kinds of objects of all of them.
"""

from .as_written import AS_WRITTEN
from .as_written import REPAIRED as AS_WRITTEN_REPAIRED
from .repaired import REPAIRED
from .shipped import SHIPPED

__all__ = ["AS_WRITTEN", "AS_WRITTEN_REPAIRED", "REPAIRED", "SHIPPED"]
