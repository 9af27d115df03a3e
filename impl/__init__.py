"""What runs: machines generated from the models, and the reference schedulers built on them.

- ``machines``: one object's machine, generated from its sort's transition table.
- ``cascade``: a whole system of such machines; guards and trigger rules are callbacks.
- ``triggers``, ``codec``, ``values``: rules ready to run, names and numbers, attribute values.
- ``hived``: a reference scheduler, written by hand from the document.
"""
