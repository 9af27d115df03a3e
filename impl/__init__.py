"""What runs: machines generated from the models, and reference schedulers that stand on their own.

- ``machines``: one object's machine, generated from its sort's transition table.
- ``cascade``: a whole system of such machines; guards and trigger rules are callbacks.
- ``triggers``, ``codec``, ``values``: rules ready to run, names and numbers, attribute values.
- ``store``, ``clock``, ``locks``, ``table_machine``, ``choice``, ``errors``: what several reference schedulers stand on.
- ``scheduler_interface``: what a resource manager and YuniKorn's schedulers say to each other.
- ``systems``: a folder for each reference scheduler; none imports another one, and all are written from the documents.
"""
