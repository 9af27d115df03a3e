"""Jobmon as its document describes it: instances that drive tasks and workflows from agent to agent.

Read this package beside the document (jobmon-finite-state-machines.rst): ``machines`` holds the universal machine and the figures'
sub-machines, ``tasks`` and ``runs`` what agents, cluster and server do, ``properties`` and ``progress`` what is promised, ``configurations``
what is explored, ``contradictions`` and ``readings`` what can be read in two ways, ``repairs`` what has to change.
"""

from .variants import AS_WRITTEN, REPAIRED

__all__ = ["AS_WRITTEN", "REPAIRED"]
