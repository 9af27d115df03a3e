"""YuniKorn's core and shim together against the model of both: every move of the two is steps of the model.

This is a simulation, not equality of graphs as for the core alone, because the model can do more. The shim's one
queue imposes an order that the model does not have, and the shim learns later what Kubernetes does.
"""
