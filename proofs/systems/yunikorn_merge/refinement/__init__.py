"""The refinement check of YuniKorn's merged scheduler against its model.

Each operation of the scheduler is one step of the model, taken by one thread; the check of the locks covers
interference between threads.

- ``component``: the scheduler, the resource manager's requests, and what it has received.
- ``meaning``: the abstraction function. ``explore``: the exploration.
"""
