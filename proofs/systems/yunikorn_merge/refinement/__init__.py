"""YuniKorn's merged scheduler and its model side by side.

Each operation of the scheduler is one step of the model, taken by one thread; that threads do not disturb each other
is for the locks. ``component`` has the scheduler and what the resource manager has asked and heard, ``meaning`` maps both
to a state of the model, ``explore`` goes through all that can happen.
"""
