"""YuniKorn's core and shim together, and the model of both: whatever the two do is steps of the model.

The graphs are not the same, as they are for the core alone: the shim's one queue brings an order that the
model does not have, and of what Kubernetes does the shim hears later. So the model can do more.
"""
