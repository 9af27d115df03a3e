"""The refinement check: each act of Jobmon's reference server and agents is a sequence of steps of the repaired model.

The two graphs differ: the agents choose one order of their acts, and the model allows more orders.
"""
