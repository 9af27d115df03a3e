"""Jobmon as its document describes it: instances that drive tasks and workflows from agent to agent.

Read this package beside the document (jobmon-finite-state-machines.rst):

* ``machines``: the universal machine and the figures' sub-machines.
* ``tasks`` and ``runs``: the actions of agents, cluster and server.
* ``properties`` and ``progress``: the properties that the document requires.
* ``configurations``: the configurations that are explored.
* ``contradictions`` and ``interpretations``: where the document contradicts itself, or allows two interpretations. Those whose
  other answer can be tried are in ``readings`` and ``run_readings``.
* ``repairs``: the changes that the document needs.
"""

from .variants import AS_WRITTEN, REPAIRED

__all__ = ["AS_WRITTEN", "REPAIRED"]
