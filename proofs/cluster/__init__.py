"""Explorations on several machines: the parts of a search are workers of a Ray cluster.

``address`` reads where the cluster is, and ``connection`` starts or joins it: only there Ray is imported. ``worker`` is what
runs in a worker's process, and ``crew`` the search's side of it. The search itself is that of
:mod:`schedproof.proofs.compiled.search`, as in one process.

``graph`` is the full graph of a search, of which each worker keeps a part (``graph_edges``, ``graph_search``, ``graph_part``, with
inner loops in ``spread``), and ``room`` compares what it takes with the memory that is left. ``liveness`` checks properties on it.
"""

from .address import Address
from .connection import connected
from .crew import ClusterError, RemoteWorkers

__all__ = ["Address", "ClusterError", "RemoteWorkers", "connected"]
