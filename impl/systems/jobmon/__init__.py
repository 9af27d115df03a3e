"""The repaired Jobmon as a reference implementation: a server on a database, and agents that only send it requests.

Every move is one transaction of the server (:class:`.server.Server`), checked against the database inside that
transaction. The agents are clients, distributors, workers and the reaper (:mod:`.client`, :mod:`.distributor`,
:mod:`.worker`, :mod:`.reaper`). An agent keeps no state that matters, and may die between any two steps. The database
knows of a command before the command may act. The next attempt follows only when it is certain that nothing of the
command is left.

``python -m schedproof.impl.systems.jobmon`` runs each of them as a process. :mod:`.world` holds all of them in one
value, for explorations. The code is written from the document, the facts and the repairs in words, not from the model.
This package imports nothing, so that a worker starts fast.
"""
