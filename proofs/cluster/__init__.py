"""Explorations on several machines: the parts of a search are workers of a Ray cluster.

``address`` reads where the cluster is, and ``connection`` starts or joins it: only there Ray is imported. ``worker`` is what
runs in a worker's process, and ``crew`` the search's side of it. The search itself is that of
:mod:`schedproof.proofs.compiled.search`, as in one process.
"""

from .address import Address
from .connection import connected
from .crew import ClusterError, RemoteWorkers

__all__ = ["Address", "ClusterError", "RemoteWorkers", "connected"]
