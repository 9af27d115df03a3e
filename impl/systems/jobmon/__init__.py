"""A reference implementation of Jobmon, repaired: a server on a database, and agents that only ask it.

Every move is a transaction of the server (:class:`.server.Server`), checked by what the database says in it. Clients,
distributors, workers and the reaper (:mod:`.client`, :mod:`.distributor`, :mod:`.worker`, :mod:`.reaper`) keep nothing that
matters, and may die between any two steps; a command that may act is known to the database before it does, and is
followed by another attempt only when nothing is left of it, for certain. ``python -m schedproof.impl.systems.jobmon`` runs
each as a process; :mod:`.world` has all of them in one value, for explorations. Nothing is imported here, so that a
worker is up quickly. It is written from the document, the facts and the repairs in words, not from the model.
"""
